"""For random arrays, accesses and layouts: the figures proved for a layout are those of an audit of the changed and
compiled source.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

import ptxaudit
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Part
from ptxaudit.pipeline.examine import examine
from ptxaudit.review.fix.candidates import candidates_of
from ptxaudit.review.fix.cost import Costs
from ptxaudit.review.fix.layouts import Chain, Order, Pad, Skew, Xor, one_to_one
from ptxaudit.review.fix.patch import Refused, changed, edits_of
from ptxaudit.review.fix.rewrite import rewrite
from ptxaudit.review.fix.search import Found

SIZES = {"float": 4, "double": 8, "short": 2, "float2": 8, "float4": 16}
THREADS = 64
SEEDS = range(16)


def kernel(random: random.Random) -> tuple[str, str, tuple[int, ...]]:
    """(source, type, dimensions) of a kernel that stores to an array and loads from it at random indices, all in
    bounds.
    """
    type = random.choice(list(SIZES))
    dims = random.choice(
        [(8, 16), (16, 16), (16, 32), (32, 32), (16, 24), (12, 20), (2, 8, 32), (4, 8, 16), (512,), (384,)]
    )
    store, *loads = ([expression(random, dim) for dim in dims] for _ in range(3))
    name = lambda indices: "tile" + "".join(f"[{index}]" for index in indices)
    return (
        f"""
extern "C" __global__ void k(const {type}* in, {type}* out) {{
    __shared__ {type} tile{"".join(f"[{dim}]" for dim in dims)};
    int tid = threadIdx.x;
    {name(store)} = in[tid];
    __syncthreads();
    for (int i = 0; i < 2; ++i) out[tid + {THREADS} * i] = {name(loads[0])};
    out[tid + {2 * THREADS}] = {name(loads[1])};
}}
""",
        type,
        dims,
    )


def expression(random: random.Random, dim: int) -> str:
    """An index below `dim`."""
    inner = random.choice(
        [
            "tid",
            "tid / 4",
            "tid * 2",
            "tid * 3 + 1",
            "tid / 8 + 5",
            "tid ^ 3",
            "tid % 8 * 4",
            "tid / 16 * 16",
            "7",
            "tid * 4 + tid / 8",
        ]
    )
    return f"({inner}) % {dim}"


def layout(random: random.Random, element: int, dims: tuple[int, ...]):
    """A layout that can be expressed in source code."""
    rows = [element]
    for dim in dims[::-1]:
        rows.append(rows[-1] * dim)
    row, count = (rows[1], rows[-1] // rows[1]) if len(dims) > 1 else (element * 32, rows[-1] // (element * 32))
    low = (row & -row) // element
    images = lambda bits: tuple(element * random.randrange(low) for _ in range(bits))
    more = lambda: element * random.randrange(1, 9)
    choices = [lambda: Pad(((row, more()),))]
    if low > 1:
        choices.append(lambda: Xor(row, images(random.randrange(1, 5))))
    if len(dims) > 1:
        choices.append(lambda: Skew(row, element * random.randrange(1, dims[-1])))
    if len(dims) == 2:
        choices.append(lambda: Order(row, count, element, element * random.randrange(5)))
    if len(dims) == 3:
        planes = rows[2]
        inner = more()
        choices.append(lambda: Pad(((row, inner), (planes, (row + inner) * random.randrange(1, 3)))))
    if len(dims) == 1 and random.random() < 0.3:
        choices = (
            [lambda: Xor(128, tuple(element * random.randrange(128 // element) for _ in range(3)))]
            if element < 128
            else choices
        )
    return random.choice(choices)()


def examined(source: str):
    part = Part()
    (found,) = examine([source], Options(launches=[Launch("k", grid=1, block=THREADS)], keep=True), part)
    assert not part.problems, part.problems
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_proved_figures_equal_an_audit_of_the_changed_code(seed) -> None:
    draw = random.Random(seed)
    source, type, dims = kernel(draw)
    before = examined(source)
    (one,) = candidates_of(before)
    assert one.declared.dims == dims and one.declared.element == SIZES[type] and not one.array.refused
    for _ in range(3):
        made = layout(draw, SIZES[type], dims)
        assert one_to_one(made, one.array.size)
        proved = Costs(before.machine, one.array.uses, one.array.align).under(made)
        code = rewrite(Found(made, sum(proved[1:], proved[0])), one.array, one.declared)
        assert code.declaration, made
        text = changed(source, list(edits_of(one.declared, Written(code))))
        after = ptxaudit.audit(text, launches=[Launch("k", grid=1, block=THREADS)])
        assert after.problems == ()
        (kernel_after,) = after.kernels
        figures, expected = Counter(), Counter()
        for site in kernel_after.sites:
            low, high = site.bounds or (site.wavefronts, site.wavefronts)
            figures.update({(site.access, "low"): low, (site.access, "high"): high})
        for use, figure in zip(one.array.uses, proved):
            expected.update({(use.access.access, "low"): figure.low, (use.access.access, "high"): figure.high})
        assert figures == expected, (made, text)
        assert kernel_after.shared_static >= before.entry.shared_static


class Written:
    """The part of a repair that `edits_of` reads."""

    def __init__(self, code):
        self.code = code


def test_proved_figures_of_chained_repairs_equal_an_audit() -> None:
    source = """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float tile[16][18];
    int tid = threadIdx.x;
    tile[tid / 16][tid % 16] = in[tid];
    __syncthreads();
    out[tid] = tile[tid % 16][tid / 16];
}
"""
    (one,) = candidates_of(examined(source))
    made = Chain(Pad(((72, -8),)), Xor(64, (4, 8, 16, 32)))
    proved = Costs(one.examined.machine, one.array.uses).under(made)
    code = rewrite(Found(made, proved[0]), one.array, one.declared)
    text = changed(source, list(edits_of(one.declared, Written(code))))
    assert "tile[16][16]" in text and "tile[tid / 16][(tid % 16) ^ ((tid / 16) & 15)]" in text
    report = ptxaudit.audit(text, launches=[Launch("k", grid=1, block=THREADS)])
    assert [site.wavefronts for site in report.sites] == [figure.low for figure in proved]


def test_overlapping_edits_are_refused() -> None:
    from ptxaudit.review.fix.rewrite import Edit

    with pytest.raises(Refused, match="two changes at one place"):
        changed("abcdef", [Edit(0, 3, "x"), Edit(2, 4, "y")])
    assert changed("abcdef", [Edit(4, 4, "-"), Edit(0, 2, "")]) == "cd-ef"
