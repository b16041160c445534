"""The table of operations: every lifted operation has a row, and every transfer function of a row is sound.

Each domain of a row is compared with the operation's meaning on numbers: its result for unknown values must hold for
every number that they may be. A row without a function for a domain gives no information there. `LACKING` lists these
rows, so that a new operation either has its functions or is added to the list.
"""

import random

import numpy as np
import pytest
from observed_forms import LINES, OPCODES, lowered

from bench import operations_doc
from ptxaudit.engine.domain.known_bits import Tristate
from ptxaudit.engine.domain.value import DTYPES, Uniform, Value, constant, unknown
from ptxaudit.engine.exec import across_lanes
from ptxaudit.engine.ops import OPS, Origin
from ptxaudit.engine.ops.floats import FLOATS
from ptxaudit.engine.ops.narrow import NARROW
from ptxaudit.engine.ops.operations import apply, of_its_sources
from ptxaudit.engine.ops.ranges import Range
from ptxaudit.engine.ops.row import source_bits
from ptxaudit.frontend.ptx.lift import meaning
from ptxaudit.ir.nodes import COPY_ASYNC, STORE_MATRIX, Const, Op
from ptxaudit.ir.warp_operations import ACROSS, WARP

WIDTHS = (32, 64)
INTEGER = [name for name, row in OPS.items() if row.candidates is None and name not in FLOATS | NARROW]
ATTRIBUTES = {
    "lop3": [(0x96,), (0xE8,), (0xCA,), (0xC0,), (0xF8,), (0x00,)],
    "extract": [(0,), (8,), (16,)],
    "prmt": [(), ("",), ("f4e",), ("b4e",), ("rc8",), ("ecl",), ("ecr",), ("rc16",)],
    **dict.fromkeys(("shf.l", "shf.r", "szext.u", "szext.s", "bmsk"), [(), ("clamp",), ("wrap",)]),
    **dict.fromkeys(("bfind.u", "bfind.s"), [(), (True,)]),
}

# Operations whose result is unknown if a source is: without a rule for affine values, without one for known bits, or
# without a range for addresses computed with them.
LACKING = {
    "affine": "abs bfe.s bfi bfind.s bfind.u bmsk brev clz cnot fns mulhi.s mulhi.u popc sad.s sad.u szext.s",
    "bits": (
        "abs bfe.s bfi bfind.s bfind.u bmsk brev clz cnot div.s div.u fns madwide.s mov mulhi.s mulhi.u"
        " mulwide.s rem.s rem.u sad.s sad.u shf.l shf.r szext.s szext.u"
    ),
    "range": ("abs bfe.s bfi bfind.s bfind.u bmsk brev clz cnot fns neg prmt sad.s sad.u sext shf.r szext.s szext.u"),
}
# Operations without a row: memory, control, warp operations, unmodelled operations, and those that query the launch.
OTHER = {"load", "store", "atom", "clobber", "opaque", "cvta", "cvta.to", "isspacep", "mapa", "getctarank", "call"}
OTHER |= {COPY_ASYNC, STORE_MATRIX}


def emitted():
    """Names of all operations that the lifters emit for the known opcodes of either instruction set."""
    names = {op.name for line in LINES for op in lowered(*line).ops}
    rows = [meaning(opcode) for opcode in OPCODES]
    return names | {row.name for row in rows if type(row).__name__ == "Plain"}


def test_every_lifted_operation_has_a_row():
    stems = {name for name in emitted() if name not in OPS and not of_its_sources(name)}
    stems = {name for name in stems if name.partition(".")[0] not in WARP and not name.startswith("barrier.")}
    assert stems <= OTHER, sorted(stems - OTHER)


def test_warp_operations_are_executed_and_have_no_row():
    assert set(across_lanes.ACROSS) == set(ACROSS)
    assert not {name.partition(".")[0] for name in OPS} & WARP.keys()


@pytest.mark.parametrize("domain", sorted(LACKING))
def test_rows_without_a_transfer_function_are_listed(domain):
    lacking = {name for name in INTEGER if getattr(OPS[name], domain) is None and not OPS[name].predicate}
    assert lacking == set(LACKING[domain].split())


def numbers(name, bits, dice, limit=None):
    """A number for each source, among them edge cases."""
    row = OPS[name]
    count = 2 if row.widths == "o*" else len(row.widths)
    out = []
    for at, letter in enumerate(row.letters(count)):
        width = source_bits(letter, bits, bits // count if name == "cat" else bits)
        most = (1 << width) - 1 if limit is None or letter == "p" else min(limit, (1 << width) - 1)
        if letter == "c" and row.widths != "ccc":
            most = min(most, dice.choice((40, 300)))
        number = dice.choice((0, 1, most, most // 2 + 1, dice.randint(0, most), dice.randint(0, min(most, 64))))
        out.append((number or (at == 1 and row.undefined is not None), width))
    return [(int(number), width) for number, width in out]


def result(name, bits, attrs, sources):
    arrays = [np.full((1, 1), n, DTYPES[w]) for n, w in sources]
    out = OPS[name].concrete(bits, attrs, *arrays)
    return int((out[0] if isinstance(out, tuple) else out).flat[0])


def attributes(name, dice):
    return dice.choice(ATTRIBUTES.get(name, [()]))


@pytest.mark.parametrize("name", [name for name in INTEGER if OPS[name].range is not None])
def test_ranges_contain_all_results(name):
    dice, said = random.Random(name), 0
    for _ in range(400):
        bits = dice.choice(WIDTHS)
        attrs = attributes(name, dice)
        limit = dice.choice((3, 40, 300, 5000))
        ends = [numbers(name, bits, dice, limit) for _ in range(2)]
        fixed = dice.random() < 0.7
        spans = []
        for at, ((a, width), (b, _)) in enumerate(zip(*ends)):
            b = a if at and fixed or name.startswith("sh") and at else b
            spans.append((min(a, b), max(a, b), width))
        op = Op(name, bits=bits, attrs=attrs, src=tuple(Const(0, width) for *_, width in spans))
        found = OPS[name].range(op, *(Range(low, high) for low, high, _ in spans))
        if found is None or found.low < 0 or found.high >= 1 << bits:
            continue
        said += 1
        for _ in range(5):
            picked = [(dice.randint(low, high), width) for low, high, width in spans]
            if OPS[name].undefined is not None and not picked[1][0]:
                continue
            assert found.low <= result(name, bits, attrs, picked) <= found.high, (op, spans, picked)
    assert said > 20


@pytest.mark.parametrize("name", [name for name in INTEGER if OPS[name].range is not None])
def test_ranges_of_addresses_hold_for_every_placement_of_the_variable(name):
    """Some sources are offsets from the beginning of a variable.

    The range of the result is a range of numbers, or of offsets from that beginning.
    """
    dice = random.Random(name)
    for _ in range(600):
        bits = dice.choice(WIDTHS)
        attrs = attributes(name, dice)
        sources = numbers(name, bits, dice, dice.choice((3, 40, 300)))
        named = [width > 8 and dice.random() < 0.5 for _, width in sources]
        op = Op(name, bits=bits, attrs=attrs, src=tuple(Const(0, width) for _, width in sources))
        spans = [Range(number, number, "v" if is_address else "") for (number, _), is_address in zip(sources, named)]
        found = OPS[name].range(op, *spans)
        if found is None or not found.name and (found.low < 0 or found.high >= 1 << bits):
            continue
        for place in (0, 1, 256, 4096, 123457, 1 << 24):
            now = [
                ((number + place) % (1 << width) if is_address else number, width)
                for (number, width), is_address in zip(sources, named)
            ]
            out = result(name, bits, attrs, now) - (place if found.name else 0)
            most = (1 << bits) - 1
            assert (out - found.low) & most <= found.high - found.low, (op, spans, place)


@pytest.mark.parametrize("name", [n for n in INTEGER if OPS[n].linear and OPS[n].results == 1 and n != "extract"])
def test_linear_operations_of_stepping_sources_have_a_constant_step(name):
    """One source grows by the same number three times; the others do not change. (`extract` is linear only where it
    takes the lowest bits, which `trips` requires.)"""
    dice = random.Random(name)
    for _ in range(200):
        bits = dice.choice(WIDTHS)
        sources = numbers(name, bits, dice, 1000)
        moving = 0 if name in ("shl", "sext", "zext", "trunc") else dice.randrange(len(sources))
        step = dice.randint(0, 50)
        series = []
        for trip in range(4):
            now = [(n + step * trip * (at == moving), w) for at, (n, w) in enumerate(sources)]
            series.append(result(name, bits, attributes(name, dice), now))
        assert len({(b - a) % (1 << bits) for a, b in zip(series, series[1:])}) == 1, (name, sources, series)


@pytest.mark.parametrize("name", [name for name in INTEGER if OPS[name].bits is not None])
def test_known_bits_of_a_row_hold_for_every_number(name):
    """Some bits of the sources are unknown; the known bits of the result hold whatever their values."""
    dice, said = random.Random(name), 0
    for _ in range(150):
        bits = 64 if name.startswith(("mulwide", "madwide")) else 32 if name == "prmt" else dice.choice(WIDTHS)
        attrs = attributes(name, dice)
        sources = numbers(name, bits, dice, dice.choice((None, 100, 5000)))
        opened = [
            0 if dice.random() < 0.4 else sum({1 << dice.randrange(width) for _ in range(dice.randrange(4))})
            for _, width in sources
        ]
        given = [
            Tristate(*(np.full((1, 1), part, DTYPES[width]) for part in (number & ~mask, mask)))
            for (number, width), mask in zip(sources, opened, strict=True)
        ]
        found = OPS[name].bits(Op(name, bits=bits, attrs=attrs), *given)
        if found is None:
            continue
        known, unknown = int(found.bits.flat[0]), int(found.unknown.flat[0])
        assert not known & unknown and found.bits.dtype == DTYPES[bits]
        said += unknown != (1 << bits) - 1
        for _ in range(12):
            now = [
                (number & ~mask | dice.getrandbits(64) & mask, width)
                for (number, width), mask in zip(sources, opened, strict=True)
            ]
            assert result(name, bits, attrs, now) & ~unknown == known, (name, bits, attrs, sources, opened, now)
    assert said > 20


@pytest.mark.parametrize("name", [name for name in INTEGER if OPS[name].affine is not None])
def test_affine_rules_hold_for_every_value_of_the_unknown(name):
    """One source contains an unknown u with few values; the result holds for each of them."""
    dice, said = random.Random(name), 0
    for round in range(150):
        bits = 32 if name in ("prmt", "shf.l", "shf.r", "bfe.u", "szext.u") else dice.choice(WIDTHS)
        attrs = attributes(name, dice)
        sources = numbers(name, bits, dice, dice.choice((None, 100, 5000)))
        at = dice.choice([k for k, (_, width) in enumerate(sources) if width > 1] or [0])
        base, width = sources[at]
        if width == 1:
            continue
        most, step = dice.choice((1, 7)), dice.choice((1, 4, 64))
        u = Uniform(f"u{round}", width, 0, 0, most, "parameter", (name, round))
        values = [constant(n, w) if w > 1 else Value(np.full((1, 1), bool(n))) for n, w in sources]
        coefficient = np.full((1, 1), step, DTYPES[width])
        values[at] = Value(values[at].base, ((u, coefficient),))
        out = apply(Op(name, bits=bits, attrs=attrs), tuple(values))
        out = out[0] if isinstance(out, tuple) else out
        if out.poison is not None or any(v != u for v, _ in out.terms):
            continue
        said += 1
        for choice in range(most + 1):
            now = [*sources]
            now[at] = ((base + step * choice) % (1 << width), width)
            if OPS[name].undefined is not None and not now[1][0]:
                continue
            claimed = int(out.base.flat[0]) + sum(int(c.flat[0]) * choice for _, c in out.terms)
            known = min(bits if out.valid is None else out.valid, BITS_OF(out))
            assert (claimed - result(name, bits, attrs, now)) % (1 << known) == 0, (name, bits, attrs, now, out)
    assert said or OPS[name].predicate


def BITS_OF(value):
    return 1 if value.base.dtype == bool else value.bits


@pytest.mark.parametrize("name", [name for name in OPS if OPS[name].strict and OPS[name].results == 1])
def test_strict_operations_of_an_opaque_source_are_opaque(name):
    from ptxaudit.engine.domain.value import opaque
    from ptxaudit.ir.reasons import Kind, Reason

    widths = [source_bits(letter, 32, 32) for letter in OPS[name].letters(len(OPS[name].widths))]
    values = tuple(opaque(width, Reason(Kind.NO_RESULT, 0)) for width in widths)
    assert apply(Op(name, bits=32, attrs=("rn", False, False)), values).poison.all()


@pytest.mark.parametrize("name", [name for name in OPS if OPS[name].lone is not None])
def test_lone_predicate_holds_or_fails_in_at_most_one_lane(name):
    """The sources are a value that differs by lane and a uniform number, or predicates one of which is lone."""
    lanes = np.arange(32)[None, :]
    if OPS[name].predicate:
        n = Value(
            np.zeros((1, 1), np.uint32), ((Uniform("n", 32, kind="parameter", key="n"), np.ones((1, 1), np.uint32)),)
        )
        sources = [Value(lanes.astype(np.uint32)), n]
        every = [(sources[0].base, np.full((1, 1), k, np.uint32)) for k in range(40)]
    else:
        nobody, first = np.zeros((1, 32), bool), lanes == 0
        sources = [Value(nobody, poison=~nobody), Value(nobody, poison=~nobody)]
        sources[0].lone = name == "and", name == "or"
        flipped = name == "or"  # fails in at most one lane
        ones = [one ^ flipped for one in (nobody, first, lanes == 7)]
        every = [(one, other) for one in ones for other in (nobody, ~nobody, lanes % 2 == 0)]
    holds, fails = OPS[name].lone(Op(name, bits=32 if OPS[name].predicate else 1), *sources)
    assert holds or fails
    for numbers in every:
        out = np.broadcast_to(OPS[name].concrete(32, (), *numbers), (1, 32))
        assert not (holds and out.sum() > 1) and not (fails and (~out).sum() > 1), (name, numbers)


def test_operations_that_mix_address_bits_yield_numbers():
    """An operation whose result is a number mixes or truncates the bits of an address: the result is no moved
    address.
    """
    moves = {name for name, row in OPS.items() if row.origin not in (Origin.NUMBER, Origin.OPAQUE)}
    assert moves == set(
        "mov select add sub and or xor lop3 bfi mad madwide.u madwide.s add3.carry extract trunc cat prmt min.u max.u"
        " min.s max.s".split()
    )


def test_operations_page_is_generated_from_the_table():
    assert operations_doc.PAGE.read_text(encoding="utf-8") == operations_doc.page(), "make operations"


def test_unknown_helper_yields_one_term():
    """Tests the helper of this file: a value that contains an unknown."""
    u = Uniform("u", 32, 0, 0, 3, "parameter", "u")
    assert unknown(u).terms[0][0] is u
