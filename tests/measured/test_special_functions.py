"""MUFU on sm_90: `engine.ops.mufu`, compared with an H100's results for all inputs.

Also tests how its coefficients are found.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from paths import DATA

from bench.special_functions import build, check, data, fit
from ptxaudit.base import resources
from ptxaudit.engine.ops import mufu
from ptxaudit.engine.ops.floats import division_check
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.hardware import machines

MEASURED = np.load(DATA / data.NAME)
FUNCTIONS = sorted(key.split("/")[1] for key in MEASURED.files if key.startswith("checksums/"))
NAN = 0x7FFFFFFF

# function: {input: result}, measured on an H100
VALUES = {
    "rcp": {
        0x3F800000: 0x3F800000,
        0x3F800001: 0x3F7FFFFE,
        0x40400000: 0x3EAAAAAB,
        0x42040000: 0x3CF83E0F,
        0: 0x7F800000,
        0x807FFFFF: 0xFF800000,
        0x7E800000: 0x00800000,
        0x7E800001: 0,
        0xFF800000: 0x80000000,
        0xFF800001: NAN,
    },
    "rsq": {
        0x3F800000: 0x3F800000,
        0x3F800001: 0x3F7FFFFE,
        0x40000000: 0x3F3504F2,
        0x3FFFFFFF: 0x3F3504F4,
        0x80000000: 0xFF800000,
        0xBF800000: NAN,
        0x7F800000: 0,
    },
    "sqrt": {
        0x3F800000: 0x3F800000,
        0x40000000: 0x3FB504F3,
        0x407FFFFF: 0x3FFFFFFF,
        0x80000001: 0x80000000,
        0x7F800000: 0x7F800000,
        0xBF800000: NAN,
    },
    "ex2": {
        0: 0x3F800000,
        0x3F800000: 0x40000000,
        0xBF800000: 0x3F000000,
        0xBF800001: 0x3EFFFFFE,
        0x3F000000: 0x3FB504F3,
        0xBF000000: 0x3F3504F2,
        0x43000000: 0x7F800000,
        0xC3000000: 0,
        0x7FC00000: NAN,
    },
    "lg2": {
        0x3F800000: 0,
        0x3F800001: 0x3495F600,
        0x3F000000: 0xBF7FFFFE,
        0x40000000: 0x3F800000,
        0x3F7FFFFF: 0xB24B4000,
        0: 0xFF800000,
        0xBF800000: NAN,
    },
    "sin": {
        0: 0,
        0x80000000: 0x80000000,
        0x3E800000: 0x3F800000,
        0x3F000000: 0x80000000,
        0x3F000001: 0xB4C91200,
        0xBF000001: 0x34C91200,
        0x7F800000: NAN,
    },
    "cos": {0: 0x3F800000, 0x3F000000: 0xBF800000, 0x3F400000: 0, 0x3F7FFFFF: 0x3F800000, 0x7F800000: NAN},
    "rcp64h": {0x3FF00000: 0x3FF00000, 0x3FF00001: 0x3FEFFFFE, 0x7FD00000: 0x00100000, 0x7FD00001: 0, 0: 0x7FF00000},
    "rsq64h": {0x3FF00000: 0x3FF00000, 0x40000000: 0x3FE6A09E, 0x40000001: 0x3FE6A09D, 0xC0000000: NAN},
}
# sign and exponent field of the inputs that are tested; all upper words of doubles with these fields
CLASSES = ((0, 127), (0, 128), (1, 126), (0, 255))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_mufu_results_match_measured_values(name):
    numbers = np.array(list(VALUES[name]), np.uint32)
    assert [hex(n) for n in mufu.FUNCTIONS[name](numbers)] == [hex(n) for n in VALUES[name].values()]


# Results of whole periods that several tests use.
SEVERAL_TIMES = {("rcp", 0, 127), ("sqrt", 0, 127), ("sqrt", 0, 128)}
_results: dict[tuple[str, int, int], np.ndarray] = {}


def blocks(name: str, sign: int, exponent: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(inputs, results) of one sign and exponent field, in parts."""
    key = name, sign, exponent
    bits = 31 - data.EXPONENT_BITS.get(name, 8)
    first, size = sign << 31 | exponent << bits, 1 << min(bits, 14)  # arrays that fit in a cache
    if key in SEVERAL_TIMES and key not in _results:
        _results[key] = np.empty(1 << bits, np.uint32)
        for at in range(0, 1 << bits, size):
            x = np.arange(first + at, first + at + size, dtype=np.uint32)
            _results[key][at : at + size] = mufu.FUNCTIONS[name](x)
    for at in range(0, 1 << bits, size):
        x = np.arange(first + at, first + at + size, dtype=np.uint32)
        yield x, _results[key][at : at + size] if key in _results else mufu.FUNCTIONS[name](x)


def results(name: str, exponent: int) -> np.ndarray:
    """The results for all fractions."""
    return np.concatenate([made for _, made in blocks(name, 0, exponent)])


def sums_of_blocks(name: str, sign: int, exponent: int) -> int:
    return sum(int(check._mixed(x, y).sum(dtype=np.uint64)) for x, y in blocks(name, sign, exponent)) % (1 << 64)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_mufu_checksums_match_for_all_inputs_of_some_exponents(name):
    """`python -m bench.special_functions check` tests all of them."""
    for sign, exponent in CLASSES:
        assert sums_of_blocks(name, sign, exponent) == MEASURED[f"checksums/{name}"][sign, exponent], (sign, exponent)


def test_mufu_rcp_is_not_correctly_rounded():
    """RCP is one unit from correct rounding for one fraction in eight, and for some whole numbers."""

    def apart(x: np.ndarray, found: np.ndarray) -> np.ndarray:
        rounded = (1 / x.view(np.float32).astype(np.float64)).astype(np.float32).view(np.uint32)
        return found.astype(np.int64) - rounded

    period = [apart(*block) for block in blocks("rcp", 0, 127)]
    assert sum(map(np.count_nonzero, period)) == 1_108_522 and max(int(np.abs(one).max()) for one in period) == 1
    whole = np.arange(1, 65537).astype(np.float32).view(np.uint32)
    assert np.count_nonzero(apart(whole, mufu.rcp(whole))) == 8801


def test_fchk_depends_on_exponents_alone():
    """FCHK requests the slow path based on the exponents alone."""
    asked = np.unpackbits(MEASURED["check"]).reshape(256, 256, -1)
    assert (asked == asked[:, :, :1]).all()
    a, b = np.meshgrid(
        np.arange(256, dtype=np.uint32) << np.uint32(23),
        np.arange(256, dtype=np.uint32) << np.uint32(23),
        indexing="ij",
    )
    assert (division_check(32, (), a | np.uint32(5), b | np.uint32(1 << 31)) == asked[:, :, 0].astype(bool)).all()


@pytest.mark.parametrize("name, exponents", [("rcp", (127,)), ("sqrt", (127, 128)), ("sin", (125,))])
def test_fit_reproduces_the_tables(name, exponents):
    """From results that the tables give, `fit` derives the tables."""
    periods = {e: results(name, e) for e in exponents}
    some = range(0, 128 if name != "sin" else 64, 37)
    assert fit.fitted(name, periods, some) == [tuple(mufu.tables()[name][k]) for k in some]


def test_tables_are_stored_as_fit_prints_them():
    text = resources.data("hardware/special_functions.json").read_text(encoding="utf-8")
    assert all(fit.as_json(name, rows) in text for name, rows in mufu.tables().items())


def test_sm_90_declares_the_measured_functions():
    assert (
        set(FUNCTIONS) | {"ex2.f16", "ex2.bf16"}
        == machines.get("sm_90").measurements.special.measured
        == set(mufu.FUNCTIONS)
    )
    assert machines.get("sm_90").measurements.special.division_check
    for other in ("sm_75", "sm_80", "sm_86", "sm_89", "sm_100", "sm_120"):
        assert (
            not machines.get(other).measurements.special.measured
            and not machines.get(other).measurements.special.division_check
        )


def test_measurement_kernels_are_edited_in_machine_code():
    """The measurement kernels: arguments of SIN and COS are revolutions, and the fast path of a division is marked."""
    made = assemble(compile_source(build.HERE / "functions.cu", arch="sm_90").ptx, "sm_90").cubin
    before, after = (disassemble([read_cubin(cubin, "functions.cubin")])[0] for cubin in (made, build.edited(made)))
    turns = [line.text for name in ("dump_sin", "sum_cos") for line in before[name] if line.opcode == "FMUL.RZ"]
    assert turns and not any("0.159" in line.text for lines in after.values() for line in lines)
    changed = [(old.opcode, new.text) for old, new in zip(before["fchk"], after["fchk"]) if old.text != new.text]
    assert [opcode for opcode, _ in changed] == ["FFMA"] and "0x12345678" in changed[0][1]
