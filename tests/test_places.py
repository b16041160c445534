"""Where machine code finds values that the launch specifies: PTX that stores a special register, on every
architecture.
"""

from __future__ import annotations

import pytest
from machine_code import ARCHITECTURES, from_ptx

from ptxaudit.frontend.sass.lift import lift_cubin
from ptxaudit.ir import nodes as ir

NAMES = (
    "tid.x",
    "tid.y",
    "tid.z",
    "ntid.x",
    "ntid.y",
    "ntid.z",
    "ctaid.x",
    "ctaid.y",
    "ctaid.z",
    "nctaid.x",
    "nctaid.y",
    "nctaid.z",
    "laneid",
    "lanemask_lt",
    "lanemask_eq",
    "lanemask_ge",
)
CLUSTER = ("cluster_nctaid.x", "cluster_nctaid.y", "cluster_nctarank", "nclusterid.x")
KERNEL = """.visible .entry k(.param .u64 p)
{ .reg .u32 %%r<%d>; .reg .u64 %%d<3>; ld.param.u64 %%d1, [p]; %s ret; }
"""
STORED = 0x10  # bytes between the stores


def specials(names: tuple[str, ...], arch: str) -> dict[str, set[str]]:
    """name -> the special registers that reach its store in the lifted machine code."""
    body = " ".join(
        f"mov.u32 %r{at}, %{name}; st.volatile.global.u32 [%d1+{STORED * at}], %r{at};" for at, name in enumerate(names)
    )
    function = lift_cubin(from_ptx(KERNEL % (len(names), body), arch), "k.cubin").functions["k"]
    defined: dict[str, set[str]] = {}
    out: dict[str, set[str]] = {}
    for instruction in function.instructions:
        for op in instruction.ops:
            found = {source.name for source in op.src if isinstance(source, ir.Special)}
            found = found.union(*(defined.get(source.name, ()) for source in op.src if isinstance(source, ir.Reg)))
            if op.name == "store" and op.space == "global":
                out[names[op.offset // STORED]] = defined.get(op.src[1].name, set())
            for register in op.dst:
                if register is not None:
                    defined[register.name] = found
    return out


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_special_registers_and_the_drivers_constants(arch):
    assert specials(NAMES, arch) == {name: {name} for name in NAMES}


@pytest.mark.parametrize("arch", [arch for arch in ARCHITECTURES if int(arch[3:]) >= 90])
def test_what_the_driver_says_of_clusters(arch):
    assert specials(CLUSTER, arch) == {name: {name} for name in CLUSTER}
