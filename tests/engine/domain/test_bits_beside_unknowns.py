"""Known bits of values that contain unknowns, against every number: ranks of lanes after a shuffled count."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from machine_code import PROLOGUE
from test_known_bits import SHAPES, WHY, numbers, some

import ptxaudit
from ptxaudit.engine.domain import known_bits
from ptxaudit.engine.domain.value import DTYPES, Uniform, Value
from ptxaudit.engine.memory.registers import blend
from ptxaudit.engine.ops import operations
from ptxaudit.ir.nodes import Op, Reg

N = Uniform("n", kind="parameter", key=("param", 0, 32))
OF_N = (0, 1, 5, 0xFFFFFFFF)


def beside(parts, width, factor):
    """A value of two lanes with known and unknown bits, plus a multiple of an unknown."""
    base, sure = (
        np.array([[n & (1 << width) - 1 for n in column]], DTYPES[width])
        for column in zip(*[(b, ~u) for b, u in parts])
    )
    poison = sure != np.array((1 << width) - 1, DTYPES[width])
    terms = ((N, np.full((1, 1), factor, DTYPES[width])),) if factor else ()
    return Value(base, terms, None, poison, WHY, sure) if poison.any() else Value(base, terms)


def at(value, lane, n):
    """(known bits, unknown bits, multiples of unknowns) of a lane where the unknown is this number; None: nothing is
    known.
    """
    part = known_bits.known_part(value)
    unknown, bits = (int(np.broadcast_to(a, (1, 2))[0, lane]) for a in (part.unknown, part.bits))
    more = 0
    for u, c in value.terms:
        if u.kind != known_bits.CONSTANT and u != N:
            return None
        more += (u.key if u.kind == known_bits.CONSTANT else n) * int(np.broadcast_to(c, (1, 2))[0, lane])
    return bits, unknown, more


def holds_for_every_number(name, lanes, factors, out):
    """What is claimed of a result holds for every number that the sources may be in each lane."""
    width, widths, _, attributes = SHAPES[name]
    for lane, n in itertools.product(range(2), OF_N):
        found = at(out, lane, n)
        if found is None:
            continue
        bits, unknown, more = found
        for chosen in itertools.product(*(numbers(*one) for one in lanes[lane])):
            arrays = [
                np.array([[c + f * n & (1 << w) - 1]], DTYPES[w])
                for c, f, w in zip(chosen, factors, widths, strict=True)
            ]
            result = int(operations.OPS[name].concrete(width, attributes, *arrays).flat[0])
            assert (result - more) & (1 << width) - 1 & ~unknown == bits, (name, chosen, n, lane)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", SHAPES)
def test_known_bits_of_sums_with_unknowns_hold_for_every_value(name, seed):
    rng = random.Random(f"{name} {seed}")
    width, widths, constants, attributes = SHAPES[name]
    lanes = [[some(rng, w, k in constants) for k, w in enumerate(widths)] for _ in range(2)]
    for k in constants:
        lanes[1][k] = lanes[0][k] = (rng.randrange(33), 0) if name.startswith(("sh", "bfe")) else lanes[0][k]
    factors = [0 if k in constants else rng.choice((0, 1, 4, 128, 1 << w - 1)) for k, w in enumerate(widths)]
    values = [beside([lane[k] for lane in lanes], w, factors[k]) for k, w in enumerate(widths)]
    values = [Value(v.base[:, :1]) if k in constants else v for k, v in enumerate(values)]
    out = operations.apply(Op(name, (Reg("r", width),), bits=width, attrs=attributes), tuple(values))
    if out.valid is None:
        holds_for_every_number(name, lanes, factors, out)


def low_bits_of(parts, width, factor):
    """A value of two lanes of which only the bits below the lowest unknown bit are known."""
    together = parts[0][1] | parts[1][1]
    low = (together & -together).bit_length() - 1 if together else width
    base = np.array([[b & (1 << low) - 1 for b, _ in parts]], DTYPES[width])
    terms = ((N, np.full((1, 1), factor, DTYPES[width])),) if factor else ()
    return Value(base, terms) if low == width else Value(base, terms, valid=low, why=WHY)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", ["add", "sub", "mul", "mad", "shl"])
def test_known_low_bits_of_a_sum_with_unknown_lanes(name, seed):
    """If one source is known only in its low bits, and another only in some lanes, a result claims no other bits."""
    rng = random.Random(f"{name} {seed}")
    width, widths, constants, attributes = SHAPES[name]
    lanes = [[some(rng, w, k in constants) for k, w in enumerate(widths)] for _ in range(2)]
    for k in constants:
        lanes[1][k] = lanes[0][k] = (rng.randrange(33), 0) if name == "shl" else lanes[0][k]
    known = rng.randrange(len(widths))  # this source is fully known in the second lane
    lanes[1][known] = lanes[1][known][0], 0
    factors = [0 if k in constants else rng.choice((0, 1, 4, 128)) for k in range(len(widths))]
    values = [
        (beside if k == known else low_bits_of)([lane[k] for lane in lanes], w, factors[k])
        for k, w in enumerate(widths)
    ]
    values = [Value(v.base[:, :1]) if k in constants else v for k, v in enumerate(values)]
    out = operations.apply(Op(name, (Reg("r", width),), bits=width, attrs=attributes), tuple(values))
    holds_for_every_number(name, lanes, factors, out)


@pytest.mark.parametrize("seed", range(20))
def test_blend_keeps_the_known_bits_of_each_lane(seed):
    rng = random.Random(seed)
    old, new = ([some(rng, 32) for _ in range(2)] for _ in range(2))
    factors = rng.choice((0, 1, 4)), rng.choice((0, 1, 4))
    mask = np.array([[True, False]])
    out = blend(beside(old, 32, factors[0]), beside(new, 32, factors[1]), mask)
    for lane, (parts, factor) in enumerate([(new, factors[1]), (old, factors[0])]):
        for n in OF_N:
            bits, unknown, more = at(out, lane, n)
            for number in numbers(*parts[lane]):
                assert (number + factor * n - more) & 0xFFFFFFFF & ~unknown == bits


RANKED = """.visible .entry k(.param .u64 p, .param .u32 n)
{{ .reg .b32 %t, %n, %v, %b, %r, %c, %a, %l, %o; .reg .b64 %d, %e; .reg .pred %p, %q;
 .shared .align 4 .b8 s[8192]; .shared .align 4 .b8 count[4];
 mov.u32 %t, %tid.x; ld.param.u32 %n, [n]; ld.param.u64 %d, [p]; mul.wide.u32 %e, %t, 4; add.u64 %d, %d, %e;
 ld.global.u32 %v, [%d]; setp.le.s32 %p, %v, %n; vote.sync.ballot.b32 %b, !%p, -1; @%p bra L;
 mov.u32 %l, %laneid; mov.u32 %o, %lanemask_lt; and.b32 %r, %b, %o; popc.b32 %r, %r; mov.b32 %c, 0;
 {source}
 add.u32 %r, %r, %c; mov.u32 %a, s; mad.lo.u32 %a, %r, {stride}, %a; st.shared.u32 [%a], %v;
 L: ret; }}
"""


@pytest.mark.parametrize(
    ("source", "stride", "each"),
    [
        ("", 4, (1, 1)),
        ("ld.param.u32 %c, [n];", 4, (1, 1)),
        ("", 8, (1, 2)),
        ("", 128, (1, 32)),
        ("and.b32 %c, %v, 32;", 4, (1, 2)),
        ("mov.b32 %c, %v;", 4, (1, 32)),
        ("popc.b32 %c, %v;", 4, (1, 4)),
    ],
)
def test_requests_at_lane_ranks_have_a_proved_cost(source, stride, each):
    text = PROLOGUE.format(arch="sm_90") + RANKED.format(source=source, stride=stride)
    launches = [ptxaudit.Launch("k", grid=(2,), block=(64,))]
    (site,) = ptxaudit.audit(text, isa="ptx", arch="sm_90", launches=launches).sites
    assert (site.per_request.low, site.per_request.high) == each, (site.status, site.reason)
    assert (site.status == "invariant") is (each[0] == each[1])
