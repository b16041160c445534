"""Where machine code finds values that the launch specifies: PTX that stores a special register, on every
architecture.
"""

from __future__ import annotations

from math import gcd, prod

import numpy as np
import pytest
from machine_code import ARCHITECTURES, from_ptx

import ptxaudit
from ptxaudit.engine.memory.environment import reciprocals
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
def test_locations_of_special_registers_and_driver_constants(arch):
    assert specials(NAMES, arch) == {name: {name} for name in NAMES}


@pytest.mark.parametrize("arch", [arch for arch in ARCHITECTURES if int(arch[3:]) >= 90])
def test_locations_of_cluster_constants(arch):
    assert specials(CLUSTER, arch) == {name: {name} for name in CLUSTER}


OF_CLUSTERS = """.visible .entry k(.param .u64 p)
{ .reg .b32 %r<9>; .reg .pred %p<2>; .shared .align 16 .b8 s[8192];
  mov.u32 %r1, %tid.x; mov.u32 %r2, s; mov.u32 %r3, VALUE; add.u32 %r3, %r3, 1;
  shl.b32 %r4, %r1, 2; mad.lo.u32 %r5, %r3, %r4, %r2; st.shared.u32 [%r5], %r1; ret; }
"""
SIZES = ((1, 1, 1), (2, 1, 1), (3, 2, 1), (1, 5, 1), (2, 2, 2), (7, 1, 1))


@pytest.mark.parametrize("cluster", SIZES, ids=str)
@pytest.mark.parametrize(
    "name", ["clusterid.x", "cluster_ctaid.x", "cluster_ctaid.y", "cluster_ctaid.z", "clusterid.y"]
)
def test_block_index_in_its_cluster_is_computed_from_the_drivers_float(name, cluster):
    """Machine code computes it by a float of the driver."""
    grid, axis = tuple(3 * size for size in cluster), "xyz".index(name[-1])
    launch = ptxaudit.Launch("k", grid=grid, block=32, cluster=cluster)
    content = from_ptx(OF_CLUSTERS.replace("VALUE", f"%{name}"), "sm_90")
    (site,) = ptxaudit.audit(content, isa="sass", launches=[launch]).sites
    found = [divmod(at, cluster[axis])[name.startswith("cluster_ctaid")] for at in range(grid[axis])]
    others = prod(grid) // grid[axis]
    assert site.status == "exact" and site.wavefronts == others * sum(gcd(n + 1, 32) for n in found)


@pytest.mark.parametrize("cluster, expected", [((2, 1, 1), "exact"), ((1, 1, 1), "conditional"), (None, "conditional")])
def test_explicit_cluster_predicate(cluster, expected):
    body = OF_CLUSTERS.replace("mov.u32 %r3, VALUE", "mov.pred %p1, %is_explicit_cluster; selp.u32 %r3, 1, 2, %p1")
    launch = ptxaudit.Launch("k", grid=4, block=32, cluster=cluster)
    (site,) = ptxaudit.audit(from_ptx(body, "sm_90"), isa="sass", launches=[launch]).sites
    assert site.status == expected


@pytest.mark.parametrize("size", range(1, 17))
def test_reciprocals_of_cluster_sizes_divide_every_index(size):
    """Those that are considered are the only ones near 1 / size with quotients that are right for every index."""
    least, *_ = reciprocals(size)
    index = np.arange(1 << 16)
    below = np.nextafter(least, np.float32(0))
    assert (np.trunc(index.astype(np.float32) * least) == index // size).all()
    assert (np.trunc(index.astype(np.float32) * below) != index // size).any()
    assert least == np.float32(1) / np.float32(size)
