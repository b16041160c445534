"""Properties: the vectorised score equals the reference's; shifts, bounds and chunks are as the records state."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxaudit.base.errors import InputError
from ptxaudit.hardware import banks, machines
from ptxaudit.hardware.banks import count as counting
from ptxaudit.hardware.machine_model import Counted, Uncertainty

WARP = 32
ROWS = 5
SPAN = 1 << 13

MODERN = {
    "LDS.U8": ("load", 1),
    "LDS.U16": ("load", 2),
    "LDS": ("load", 4),
    "LDS.64": ("load", 8),
    "LDS.128": ("load", 16),
    "STS.U8": ("store", 1),
    "STS": ("store", 4),
    "STS.64": ("store", 8),
    "STS.128": ("store", 16),
    "ATOMS.ADD": ("atomic", 4),
    "ATOMS.EXCH.64": ("atomic", 8),
    "ATOMS.POPC.INC.32": ("load", 4),
    "ATOMS.CAS": ("cas", 4),
    "ATOMS.CAS.64": ("cas", 8),
    "LDSM.16.M88": ("ldmatrix", 16),
    "LDSM.16.MT88.2": ("ldmatrix", 16),
    "STSM.16.M88.4": ("stmatrix", 16),
    "LD.E": ("store", 4),
    "LD.E.64": ("store", 8),
    "LD.E.128": ("store", 16),  # no merge
    "ATOMS.EXCH.128": ("atomic", 16),
    "ATOMS.CAS.128": ("cas", 16),
    "ATOMS.CAST.SPIN": ("cast", 4),
    "ATOMS.CAST.SPIN.64": ("cast", 8),
}


def units_of(drawn: bytes, lanes: int, most: int = SPAN // 16) -> list[int]:
    """The unit numbers of one request: strides, blocks, pairs, few words, anything."""
    shape, a, b, c = drawn[:4]
    match shape % 5:
        case 0:
            base, pitch, every = a % 64, b % 67, (1, 1, 2, 4, 8)[c % 5]
            return [(base + pitch * (lane // every)) % most for lane in range(lanes)]
        case 1:
            pitch, wide = 1 + a % 40, (2, 4, 8, 16)[b % 4]
            return [(pitch * (lane // wide) + lane % wide) % most for lane in range(lanes)]
        case 2:
            xor, pitch = a % 32, 1 + b % 33
            return [(pitch * lane ^ xor * (lane // 2)) % most for lane in range(lanes)]
    top = 41 if shape % 5 == 3 else most
    return (np.frombuffer(drawn[4:], "<u2") % top).tolist()


def mask_of(drawn: bytes, lanes: int) -> int:
    """The active lanes: all, any, or one of a few masks."""
    full = (1 << lanes) - 1
    some = [full, full, 0, 1, full >> lanes // 2, full // 3]
    return some[drawn[0] % 9] if drawn[0] % 9 < len(some) else int.from_bytes(drawn[1:], "little") & full


@cache
def requests(lanes=WARP, count=ROWS):
    """Some requests, each with its unit numbers and its active lanes.

    They are drawn as one string of bytes: drawing numbers or requests one by one took most of the time of these
    tests.
    """
    numbers, size = 4 + 2 * lanes, 4 + 2 * lanes + 1 + (lanes + 7) // 8

    def made(drawn: bytes) -> list[tuple[list[int], int]]:
        each = [drawn[at : at + size] for at in range(0, len(drawn), size)]
        return [(units_of(one[:numbers], lanes), mask_of(one[numbers:], lanes)) for one in each]

    return st.binary(min_size=count * size, max_size=count * size).map(made)


def on(mask, lanes=WARP):
    return [lane for lane in range(lanes) if mask >> lane & 1]


def scored(machine, access, addresses, mask_numbers, sources=None, **more):
    lanes = machine.lanes
    active = np.array([[m >> lane & 1 for lane in range(lanes)] for m in mask_numbers], bool)
    return banks.score(
        machine,
        access,
        np.array(addresses, np.int64),
        active,
        None if sources is None else np.array(sources, np.int64),
        **more,
    )


@pytest.mark.parametrize("opcode", MODERN)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_scores_of_modern_rules_equal_the_reference(opcode, data):
    operation, width = MODERN[opcode]
    access = banks.classify(opcode)
    matrix = access.address_lanes is not None
    drawn = data.draw(requests())
    rows = [[width * u for u in units] for units, _ in drawn]
    chosen = [(1 << WARP) - 1 if matrix else mask for _, mask in drawn]
    scores = scored(machines.get("sm_90"), access, rows, chosen)
    for i, (addresses, mask) in enumerate(zip(rows, chosen, strict=True)):
        lanes = on(mask)[: access.address_lanes]
        wavefronts, ideal, ways = reference.modern(operation, width, lanes, addresses)
        assert scores.low[i] == wavefronts
        assert scores.ideal[i] == ideal <= wavefronts
        assert scores.high[i] == wavefronts
        assert scores.ways[i] == ways


@pytest.mark.parametrize("opcode", ["LDGSTS.E", "LDGSTS.E.64", "LDGSTS.E.128"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_scores_of_copies_equal_the_reference(opcode, data):
    access, machine = banks.classify(opcode), machines.get("sm_90")
    width = access.width
    drawn, most = data.draw(requests()), data.draw(st.sampled_from([64, 512, 4096]))
    rows, chosen = [[width * u for u in units] for units, _ in drawn], [mask for _, mask in drawn]
    sources = [[width * (u * most // 512 % 5000) for u in units] for units, _ in data.draw(requests())]
    told, untold = scored(machine, access, rows, chosen, sources), scored(machine, access, rows, chosen)
    absent, present = (scored(machine, access, rows, chosen, sources, in_l1=known) for known in (False, True))
    for i, (addresses, mask) in enumerate(zip(rows, chosen, strict=True)):
        lanes = on(mask)
        low, high = reference.copy_bounds(width, lanes, addresses, sources[i])
        assert (told.low[i], told.high[i]) == (low, high)
        for scores, resident in ((absent, False), (present, True)):
            exact = reference.copy(width, lanes, addresses, sources[i], resident)
            assert scores.low[i] == scores.high[i] == exact
            assert scores.ideal[i] <= low <= exact <= high
        assert untold.low[i] <= low and high <= untold.high[i] == len(lanes)
        assert (told.ways[i] >= 0) == (low == high)


@settings(max_examples=80, deadline=None)
@given(rows=requests())
def test_line_classes_equal_the_reference(rows):
    scores = scored(
        machines.get("sm_90"),
        banks.classify("LDGSTS.E.BYPASS.128"),
        [[16 * u for u in r] for r, _ in rows],
        [m for _, m in rows],
    )
    for i, (row, mask) in enumerate(rows):
        assert scores.lines[i] == scores.lines_low[i] == reference.line_class_max(on(mask), [16 * u for u in row])
        assert scores.lines_ideal[i] == (mask != 0)
        assert scores.low[i] == (0 if mask == 0 else counting.UNKNOWN)


OLD = {
    "fermi": {1: (32, {}), 2: (32, {}), 4: (32, {}), 8: (16, {})},
    "kepler-4byte": {w: (32, {"segment": 64}) for w in (1, 2, 4, 8)},
    "kepler-8byte": {w: (32, {"word": 8}) for w in (1, 2, 4, 8)},
}


@pytest.mark.parametrize("name, width", [(name, width) for name in OLD for width in OLD[name]])
@settings(max_examples=40, deadline=None)
@given(rows=requests())
def test_scores_of_fermi_and_kepler_equal_the_reference(name, width, rows):
    size, how = OLD[name][width]
    addresses = [[width * u for u in row] for row, _ in rows]
    scores = scored(machines.get(name), banks.classify(f"st.shared.b{8 * width}"), addresses, [m for _, m in rows])
    for i, (_, mask) in enumerate(rows):
        each = [reference.worst_bank(g, addresses[i], width, **how) for g in reference.cut(on(mask), size) if g]
        assert (scores.low[i], scores.high[i], scores.ideal[i], scores.ways[i]) == (
            sum(each),
            sum(each),
            len(each),
            max(each, default=0),
        )


@settings(max_examples=60, deadline=None)
@given(rows=requests())
def test_wide_accesses_before_maxwell_are_ranges(rows):
    addresses, chosen = [[16 * u for u in row] for row, _ in rows], [m for _, m in rows]
    access = banks.classify("ld.shared.v4.f32")
    for name, how in (("kepler-4byte", {"segment": 64}), ("kepler-8byte", {"word": 8}), ("fermi", {})):
        scores = scored(machines.get(name), access, addresses, chosen)
        for i, mask in enumerate(chosen):
            quarters = [reference.worst_bank(g, addresses[i], 16, **how) for g in reference.cut(on(mask), 8) if g]
            whole = reference.worst_bank(on(mask), addresses[i], 16, **how)
            assert scores.ideal[i] <= scores.low[i] <= scores.high[i]
            if name == "fermi":
                ways = 1 + max(quarters) if quarters else 0
                assert (scores.low[i], scores.high[i], scores.ways[i]) == (
                    max(ways, sum(quarters)),
                    sum(quarters) + len(quarters),
                    ways,
                )
            else:
                assert (scores.low[i], scores.high[i]) == (whole, sum(quarters))


@settings(max_examples=80, deadline=None)
@given(
    data=st.data(),
    banks_=st.integers(1, 40),
    word=st.sampled_from([1, 2, 4, 8]),
    threads=st.integers(1, 40),
    broadcast=st.sampled_from(["any", "none"]),
    width=st.sampled_from([1, 2, 4, 8, 16]),
)
def test_scores_of_the_abstract_machine_equal_the_reference(data, banks_, word, threads, broadcast, width):
    machine = machines.get(f"banks={banks_},word={word},threads={threads},broadcast={broadcast}")
    ((units, mask),) = data.draw(requests(threads, 1))
    row = [width * u for u in units]
    scores = scored(machine, banks.classify(f"ld.shared.b{8 * width}"), [row], [mask])
    bounds, ideal = reference.generic(banks_, word, threads, broadcast, width, on(mask, threads), row)
    assert ((scores.low[0], scores.high[0]), scores.ideal[0]) == (bounds, ideal)


# --- every record: its shift, its bounds, its chunks ------------------------------------------

GENERIC = (
    "banks=4,word=4,threads=4,broadcast=any",
    "banks=12,word=4,threads=32,broadcast=one",
    "banks=12,word=8,threads=32,broadcast=none",
    "banks=16,word=2,threads=16,broadcast=any",
    "banks=1,word=1,threads=4,broadcast=none",
)
EXAMPLES = (
    "ld.b64",
    "ld.v2.b64",
    *(f"ld.shared.b{8 * w}" for w in (1, 2, 4, 8, 16)),
    *(f"st.shared.b{8 * w}" for w in (1, 2, 4, 8, 16)),
    "atom.shared.add.u32",
    "red.shared.max.s32",
    "atom.shared.exch.b32",
    "atom.shared.exch.b64",
    "atom.shared.exch.b128",
    "atom.shared.cas.b16",
    "atom.shared.cas.b32",
    "atom.shared.cas.b64",
    "atom.shared.cas.b128",
    "atom.shared.add.f32",
    "atom.shared.add.f64",
    "ATOMS.POPC.INC.32",
    "ATOMS.CAST.SPIN",
    "ATOMS.CAST.SPIN.64",
    "ATOMS.CAST.SPIN.128",
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16",
    "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8",
    "cp.async.ca.shared.global 4",
    "cp.async.ca.shared.global 8",
    "cp.async.ca.shared.global 16",
    "cp.async.cg.shared.global 16",
)
RULES = [
    (name, opcode)
    for name, opcode in product(
        ("sm_90", "sm_100a", "sm_75", "sm_50", "tesla", "fermi", "kepler-4byte", "kepler-8byte", *GENERIC), EXAMPLES
    )
    if not machines.get(name).refusal(banks.classify(opcode))
]


def _distinct():
    """One example of each rule and width: machines since Maxwell share theirs."""
    found = {}
    for name, opcode in RULES:
        access = banks.classify(opcode)
        found.setdefault(
            (id(machines.get(name).rule(access)), access.width, access.may_count, access.may_combine, access.x),
            (name, opcode),
        )
    return list(found.values())


DISTINCT = _distinct()


def test_examples_cover_every_rule():
    for name in {name for name, _ in RULES}:
        machine = machines.get(name)
        used = {id(machine.rule(banks.classify(opcode))) for n, opcode in RULES if n == name}
        assert used == {id(rule) for rule in machine.rules}, name


def figures(scores):
    return [
        None if a is None else a.tolist()
        for a in (scores.low, scores.high, scores.ideal, scores.ways, scores.lines, scores.lines_low)
    ]


@pytest.mark.parametrize("name, opcode", DISTINCT)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_invariant_shift_changes_no_score(name, opcode, data):
    machine, access = machines.get(name), banks.classify(opcode)
    shift = machine.invariant_shift(access)
    drawn = data.draw(requests(machine.lanes))
    rows, chosen = np.array([units for units, _ in drawn]) * access.width, [mask for _, mask in drawn]
    sources = rows[::-1] * 3 if access.access == "cp.async" else None
    times = data.draw(st.integers(-9, 99))
    before, after = (
        scored(machine, access, rows, chosen, sources),
        scored(machine, access, rows + times * shift, chosen, sources),
    )
    assert figures(before) == figures(after)
    if sources is not None:
        assert figures(before) == figures(
            scored(machine, access, rows, chosen, sources + times * machine.source_shift(access))
        )


@pytest.mark.parametrize("name, opcode", DISTINCT)
def test_half_the_invariant_shift_changes_a_score(name, opcode):
    machine, access = machines.get(name), banks.classify(opcode)
    shift = machine.invariant_shift(access)
    if shift == 1 and access.width == 1:
        return  # half a byte is not a shift
    half = shift // 2
    if half % access.align:
        with pytest.raises(InputError):  # … because it misaligns the access
            scored(machine, access, [[half] * machine.lanes], [1])
        return
    rng = np.random.default_rng(1)
    spans = np.repeat([machine.lanes // 2 + 1, 2 * machine.lanes, 20 * machine.lanes, SPAN], 50)
    rows = np.stack([rng.integers(0, max(2, span // access.width), machine.lanes) for span in spans]) * access.width
    sources = rows if access.access == "cp.async" else None
    everyone = [(1 << machine.lanes) - 1] * len(rows)
    assert figures(scored(machine, access, rows, everyone, sources)) != figures(
        scored(machine, access, rows + half, everyone, sources)
    )


@pytest.mark.parametrize("name, opcode", DISTINCT)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_bounds_hold_without_addresses(name, opcode, data):
    machine, access = machines.get(name), banks.classify(opcode)
    drawn = data.draw(requests(machine.lanes))
    rows, chosen = [[access.width * u for u in units] for units, _ in drawn], [mask for _, mask in drawn]
    scores = scored(machine, access, rows, chosen)
    for i, mask in enumerate(chosen):
        n = mask.bit_count()
        low, high = banks.bounds(machine, access, n, n)
        wide = banks.bounds(machine, access, max(0, n - 3), min(machine.lanes, n + 2))
        assert wide[0] <= low <= high <= wide[1]
        if scores.lines is not None:
            assert low <= scores.lines[i] <= high
        else:
            assert low <= scores.low[i] <= scores.high[i] <= high


@pytest.mark.parametrize("name, opcode", RULES)
def test_bounds_are_attained(name, opcode):
    """Both ends: no conflict at all, and all lanes in one bank."""
    machine, access = machines.get(name), banks.classify(opcode)
    rule = machine.rule(access)
    everyone = [(1 << machine.lanes) - 1]
    low, high = banks.bounds(machine, access, machine.lanes, machine.lanes)
    alone = [lane * 512 * rule.count.row for lane in range(machine.lanes)]
    same = [0] * machine.lanes
    apart = [lane * max(access.width, machine.word) for lane in range(machine.lanes)]
    scores = [scored(machine, access, [row], everyone) for row in (alone, same, apart)]
    assert high == max((s.high if s.lines is None else s.lines)[0] for s in scores)
    least = min((s.low if s.lines is None else s.lines)[0] for s in scores)
    assert low <= least
    if (
        rule.uncertainty is not Uncertainty.WAYS and rule.split == 1
    ):  # an even number of banks cannot serve aligned pairs of words at once
        assert low == least


def test_bounds_of_examples():
    sm_90 = machines.get("sm_90")
    assert banks.bounds(sm_90, banks.classify("LDS.128"), 32, 32) == (2, 32)
    assert banks.bounds(sm_90, banks.classify("STS.128"), 32, 32) == (4, 32)
    assert banks.bounds(sm_90, banks.classify("ATOMS.CAS.64"), 1, 32) == (2, 64)
    assert banks.bounds(sm_90, banks.classify("LDSM.16.M88"), 32, 32) == (1, 8)
    assert banks.bounds(sm_90, banks.classify("LDSM.16.M88.4"), 0, 32) == (0, 32)
    assert banks.bounds(sm_90, banks.classify("LDGSTS.E.128.ZFILL"), 32, 32) == (4, 32)
    assert banks.bounds(sm_90, banks.classify("LDS"), 0, 0) == (0, 0)
    with pytest.raises(InputError):
        banks.bounds(sm_90, banks.classify("LDS"), 3, 2)


@pytest.mark.parametrize(
    "opcode", ["LDS.64", "ATOMS.ADD", "LDGSTS.E", "LDGSTS.E.BYPASS.128", "atom.shared.add.f64", "LDSM.16.M88.2"]
)
def test_scores_are_independent_of_chunks(opcode, monkeypatch):
    machine, access = machines.get("sm_90"), banks.classify(opcode)
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 60, (97, WARP)) * 16
    active, sources = (
        rng.random((97, WARP)) < 0.9,
        None if "LDGSTS" not in opcode else rng.integers(0, 99, (97, WARP)) * 16,
    )
    whole = banks.score(machine, access, rows, active, sources)
    monkeypatch.setattr(counting, "CHUNK", 320)
    assert figures(whole) == figures(banks.score(machine, access, rows, active, sources))
    assert whole.evidence == banks.score(machine, access, rows, active, sources).evidence


def test_groups_of_a_request_add_up_to_its_score():
    rng = np.random.default_rng(5)
    for name, opcode in DISTINCT:
        machine, access = machines.get(name), banks.classify(opcode)
        rule = machine.rule(access)
        for top in (3, 9, 40, 300):
            row = rng.integers(0, top, machine.lanes) * access.width
            active = np.ones(machine.lanes, bool) if access.address_lanes else rng.random(machine.lanes) < 0.8
            parts = banks.groups(machine, access, row, active)
            assert sorted(lane for part in parts for lane in part.lanes) == list(
                range(access.address_lanes or machine.lanes)
            )
            assert all(
                sorted(lane for words in part.slots.values() for lanes in words.values() for lane in lanes)
                == list(part.active)
                for part in parts
            )
            scores = banks.score(machine, access, row[None, :], active[None, :])
            assert banks.reasons(machine, access, row, active)
            if rule.count.what is Counted.LINES:
                assert scores.lines[0] == max(sum(len(part.slots.get(c, ())) for part in parts) for c in range(4))
            elif not (access.may_count or access.may_combine or rule.uncertainty is Uncertainty.WAYS):
                assert scores.low[0] == sum(part.wavefronts for part in parts) * rule.count.factor * rule.split
                if scores.low[0] == scores.high[0]:
                    assert scores.ways[0] == max(part.wavefronts for part in parts)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_generic_load_range_in_a_cluster_contains_both_rules(data):
    """Wide loads merged there in measurements; for narrow ones both rules give the same."""
    machine = machines.get("sm_90")
    opcode, shared = data.draw(st.sampled_from([("LD.E", "LDS"), ("LD.E.64", "LDS.64"), ("LD.E.128", "LDS.128")]))
    access = banks.classify(opcode)
    drawn = data.draw(requests())
    rows, chosen = np.array([units for units, _ in drawn]) * access.width, [mask for _, mask in drawn]
    active = np.array([[m >> lane & 1 for lane in range(WARP)] for m in chosen], bool)
    either = banks.score(machine, access, rows, active, clustered=True)
    apart, merged = scored(machine, access, rows, chosen), scored(machine, banks.classify(shared), rows, chosen)
    assert (either.low == np.minimum(apart.low, merged.low)).all() and (
        either.high == np.maximum(apart.high, merged.high)
    ).all()
    assert (either.ideal <= either.low).all() and (
        (either.ways >= 0) == (either.low == either.high) & (apart.ideal == merged.ideal) & (apart.ways == merged.ways)
    ).all()
    for i, mask in enumerate(chosen):
        low, high = banks.bounds(machine, access, mask.bit_count(), mask.bit_count(), clustered=True)
        assert low <= either.low[i] <= either.high[i] <= high
