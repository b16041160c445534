"""Launches: CUDA's limits, the kernel that a launch applies to, and the bytes of its parameters."""

import struct

import numpy as np
import pytest

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.matching import KernelNames, match, without_kernel
from ptxaudit.ir import nodes as ir

GEMM = "_Z4gemmIfLi128ELi8EEvPKT_S2_PT_iii"  # void gemm<float, 128, 8>(float const*, …, int, int, int)


def test_dimensions_are_completed_to_three():
    launch = Launch("k", grid=4, block=[16, 8], cluster=(2,), params=[None, [1, 2]])
    assert (launch.grid, launch.block, launch.cluster) == ((4, 1, 1), (16, 8, 1), (2, 1, 1))
    assert launch.params == (None, (1, 2)) and hash(launch)


def test_unspecified_fields_are_none():
    assert Launch("k", grid="?", block="?", dynamic_shared="?") == Launch("k")
    assert Launch("k").block is None


@pytest.mark.parametrize(
    "fields, what",
    [
        ({"block": 1025}, "block.x is 1025; CUDA allows at most 1024"),
        ({"block": (32, 33)}, "32 x 33 x 1 has 1056 threads"),
        ({"block": (1, 1, 65)}, "block.z is 65"),
        ({"block": (32, 0)}, "block.y is 0"),
        ({"block": -1}, "block.x is -1"),
        ({"block": True}, "block.x is True"),
        ({"block": 1.5}, "block is 1.5"),
        ({"block": "32"}, "block is '32'"),
        ({"block": ["32"]}, "block.x is '32'"),
        ({"block": []}, "block is []"),
        ({"block": (1, 1, 1, 1)}, "not 1 to 3 numbers"),
        ({"grid": (1, 65536)}, "grid.y is 65536"),
        ({"grid": 2**31}, "grid.x is 2147483648"),
        ({"grid": (4, 3), "cluster": (2, 2)}, "grid.y = 3 is not a multiple of cluster.y = 2"),
        ({"cluster": 32}, "a cluster of 32 blocks"),
        ({"dynamic_shared": -4}, "dynamic_shared is -4"),
        ({"dynamic_shared": "2k"}, "dynamic_shared is '2k'"),
        ({"params": 7}, "params is 7, not a list"),
        ({"params": "12"}, "params is '12', not a list"),
        ({"params": [], "param_bytes": b""}, "both params and param_bytes"),
        ({"param_bytes": "012"}, "pairs of hexadecimal digits"),
        ({"kernel": ""}, "the name of a kernel"),
        ({"kernel": 3}, "the name of a kernel"),
    ],
)
def test_launch_that_cuda_refuses_is_rejected(fields, what):
    with pytest.raises(InputError) as caught:
        Launch(**{"kernel": "k", **fields}, file="launch.toml", line=3)
    assert what in caught.value.what and (caught.value.file, caught.value.line) == ("launch.toml", 3)


def test_largest_launch_is_accepted():
    Launch("k", grid=(2**31 - 1, 65535, 65535), block=(16, 1, 64))


# --- matching kernels ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, matches",
    [
        (GEMM, True),
        ("gemm", True),
        ("gemm<float,128,8>", True),
        ("gemm<float, 128, 8>", True),
        ("gemm<float, *, 8>", True),
        ("gemm*", True),
        ("*", True),
        ("_Z4gemm*", True),
        ("gemm<double*", False),
        ("gem", False),
        ("float", False),
        ("void gemm<float,128,8>(float const*, float const*, float*, int, int, int)", True),
    ],
)
def test_kernel_matches_by_mangled_demangled_or_glob_name(name, matches):
    assert Launch(name).matches(GEMM) == matches


def test_launches_of_one_kernel_keep_their_order():
    launches = [Launch("gemm", block=32), Launch("other"), Launch("*", block=64)]
    assert match(launches, GEMM) == [launches[0], launches[2]]


def test_launch_of_an_unknown_kernel_suggests_a_name():
    assert without_kernel(Launch("gemm"), [KernelNames(["copy"]), KernelNames([GEMM])]) is None
    error = without_kernel(Launch("gemn<float,128,8>", file="l.toml", line=9), [KernelNames([GEMM])])
    assert (error.file, error.line) == ("l.toml", 9) and "did you mean gemm<float, 128, 8>?" in error.hint
    error = without_kernel(Launch("zzz"), [KernelNames(["copy", "sum"])])
    assert "copy, sum" in error.hint


# --- parameters -----------------------------------------------------------------------------------


def kernel(*parameters, name="k", isa="ptx"):
    """parameters: (type, size), placed one after the other at their alignment."""
    placed, offset = [], 0
    for index, (type, size) in enumerate(parameters):
        align = size if size in (1, 2, 4, 8) else 8
        offset = -(-offset // align) * align
        placed.append(ir.Parameter(f"k_param_{index}", offset, size, type))
        offset += size
    return ir.Function(name, isa, "sm_90", (), parameters=tuple(placed))


MIXED = kernel((".u64", 8), (".u32", 4), (".f32", 4), (".u8", 1), (".b8[16]", 16))


def test_parameter_values_are_packed_by_type():
    data, known = Launch("k", params=["?", -2, 1, True, [1, "?", 2.5, 4]]).buffer(MIXED)
    assert data == bytes(8) + struct.pack("<ifB7x", -2, 1.0, 1) + struct.pack("<iifi", 1, 0, 2.5, 4)
    assert known == bytes(8) + b"\1" * 9 + bytes(7) + b"\1" * 4 + bytes(4) + b"\1" * 8


def test_unspecified_parameter_bytes_are_unknown():
    data, known = Launch("k").buffer(MIXED)
    assert len(data) == len(known) == 40 and not any(known)


def test_parameters_are_specified_by_position_or_name():
    data, known = Launch("k", params=["?"] * 5, named={"1": 7, "k_param_3": 9}).buffer(MIXED)
    assert data[8] == 7 and data[16] == 9 and sum(known) == 5


@pytest.mark.parametrize(
    "value, data, known",
    [
        (bytes(range(16)), bytes(range(16)), b"\1" * 16),
        ("00 01 02 03 " + "ff" * 12, bytes(range(4)) + b"\xff" * 12, b"\1" * 16),
        ("00 ?? 02 03 " + "??" * 12, b"\0\0\2\3" + bytes(12), b"\1\0\1\1" + bytes(12)),
        ([1, 2], struct.pack("<qq", 1, 2), b"\1" * 16),
        (list(range(16)), bytes(range(16)), b"\1" * 16),
        (np.array([1.5, 2, 3, 4], np.float32), struct.pack("<4f", 1.5, 2, 3, 4), b"\1" * 16),
    ],
)
def test_structure_parameters_are_packed(value, data, known):
    assert Launch("k", params=[value]).buffer(kernel((".b8[16]", 16))) == (data, known)


@pytest.mark.parametrize(
    "name, value, data",
    [
        ("_Z1kf", 2, struct.pack("<f", 2)),  # the C++ name has type float
        ("_Z1ki", 2, struct.pack("<i", 2)),
        ("k", 2, struct.pack("<i", 2)),  # no type is stated: the value's own type
        ("k", 2.0, struct.pack("<f", 2)),
    ],
)
def test_untyped_machine_code_parameters_are_packed_by_size(name, value, data):
    assert Launch("k", params=[value]).buffer(kernel(("", 4), name=name, isa="sass"))[0] == data


def test_half_parameters_are_packed():
    assert Launch("k", params=[1.5]).buffer(kernel((".b8[2]", 2), name="_Z1k6__half"))[0] == struct.pack("<e", 1.5)
    with pytest.raises(InputError, match="hexadecimal digits instead"):
        Launch("k", params=[1.5]).buffer(kernel((".b8[2]", 2), name="_Z1k13__nv_bfloat16"))


@pytest.mark.parametrize(
    "params, what",
    [
        ([], "too few parameters: the launch has 0, k takes 5"),
        ([0] * 6, "too many parameters: the launch has 6, k takes 5"),
        (["?", 1.5, 0, 0, "?"], "parameter 1 of k (.u32, 4 bytes at 8): 1.5 is not a whole number"),
        (["?", 2**32, 0, 0, "?"], "4294967296 does not fit 4 bytes"),
        (["?", 0, 0, -129, "?"], "-129 does not fit 1 bytes"),
        (["?", 0, 1e300, 0, "?"], "does not fit a float of 4 bytes"),
        (["?", 0, 0, 0, 5], "a structure of 16 bytes takes"),
        (["?", 0, 0, 0, [1, 2, 3]], "3 numbers do not share 16 bytes"),
        (["?", 0, 0, 0, []], "0 numbers do not share"),
        (["?", 0, 0, 0, "0011"], "has 2 bytes for 16"),
        (["?", 0, 0, 0, b"x"], "1 bytes are given for 16"),
        (["?", 0, 0, 0, "n"], "'n' is neither a number, nor \"?\", nor pairs of hexadecimal digits"),
        (["?", 0, 0, 0, {}], "a buffer has either a file or values or zeros"),
    ],
)
def test_parameter_that_does_not_fit_is_rejected(params, what):
    with pytest.raises(InputError) as caught:
        Launch("k", params=params, file="l.toml", line=4).buffer(MIXED)
    assert what in caught.value.what and caught.value.place() == "l.toml:4"


def test_unknown_parameter_name_is_rejected():
    with pytest.raises(
        InputError, match="k has no parameter 'n'.*it has k_param_0, .* k_param_4: name one, or its position"
    ):
        Launch("k", named={"n": 1}).buffer(MIXED)


def test_parameters_as_raw_bytes():
    raw = bytes(range(40))
    assert Launch("k", param_bytes=raw.hex(" ")).buffer(MIXED) == (raw, b"\1" * 40)
    for size in (39, 41):
        with pytest.raises(InputError, match=f"has {size} bytes; the parameters of k are 40"):
            Launch("k", param_bytes=bytes(size)).buffer(MIXED)


def test_unnamed_parameter_is_named_by_its_number():
    """In formulas, without the mangled name of its kernel; and it can be specified by this name."""
    name = "_ZN5outer5inner28aKernelWithAVeryLongNameIfLi4ELi256EEEvPKfPfii"
    ptx = (
        f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry {name}(.param .u64 {name}_param_0,"
        f" .param .u32 {name}_param_1)\n{{ .reg .b32 %r<5>; .shared .b32 s[4096]; mov.u32 %r1, %tid.x;"
        f" ld.param.u32 %r2, [{name}_param_1]; mov.u32 %r3, s;\nmul.lo.u32 %r4, %r1, %r2; and.b32 %r4, %r4, 16380;"
        " add.u32 %r4, %r4, %r3; st.shared.u32 [%r4], %r1; ret; }\n"
    )
    (site,) = ptxaudit.audit(ptx, launches=[ptxaudit.Launch(name, grid=1, block=32)]).sites
    assert "_ZN" not in site.reason + (site.formula or "") and "(--param 1)" in site.reason
    for called in ("1", "param_1", f"{name}_param_1"):
        launch = ptxaudit.Launch(name, grid=1, block=32, named={called: 8})
        (site,) = ptxaudit.audit(ptx, launches=[launch]).sites
        assert (str(site.status), site.wavefronts) == ("exact", 2)
