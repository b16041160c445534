"""Shows one request in detail: the lanes of each group, the words they need in each bank, and why.

    groups(sm_90, LDS.64, addresses, active)
        Group(lanes=(0, …, 15), active=(0, …, 15), slots={0: {0: (0,), 128: (8,)}, …}, wavefronts=2)
    reasons(…)
        "2 groups of 16 lanes; no merge: lanes 0 and 1 differ, and so do lanes 0 and 2"
        "lanes 0-15 take 2 wavefronts: bank 0 has 2 words, 0x0 (lane 0) and 0x80 (lane 8)"

The figures are those of `score`; `explain` and `ptxaudit score` show this.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.hardware.banks.count import group_of_lane, pairs_agree, score
from ptxaudit.hardware.machine_model import Count, Counted, Machine, Rule, Uncertainty
from ptxaudit.ir.access import Access

Row = Sequence[int] | np.ndarray  # one figure per lane


class Group(Record):
    """Lanes that are served together.

    lanes: all its lanes; active: the active ones.
    slots: {slot: {address of the word: its lanes}}, both in ascending order. A slot is as wide as
        one lane's access: `banks_of` has the banks that it covers. For cp.async.cg a slot is a class of lines.
    wavefronts: the cost of the group before CAS's doubling; the minimum if only a range is known;
        None for cp.async.cg, whose groups have no cost of their own.
    """

    lanes: tuple[int, ...]
    active: tuple[int, ...]
    slots: dict[int, dict[int, tuple[int, ...]]]
    wavefronts: int | None


def groups(machine: Machine, access: Access, addresses: Row, active: Row) -> tuple[Group, ...]:
    """The groups of one request in lane order, including those without an active lane.

    addresses: one integer per lane (bytes). active: one boolean per lane. Raises InputError if `score` does.
    """
    addresses, active = np.asarray(addresses, np.int64)[None, :], np.asarray(active, bool)[None, :]
    score(machine, access, addresses, active)  # raises if it cannot be scored
    count = machine.known_rule(access).count
    lanes = access.address_lanes or addresses.shape[1]
    addresses, active = addresses[:, :lanes], active[:, :lanes]
    number = group_of_lane(count.paired if _merges(count, addresses, active) else count.lanes, lanes)
    result = []
    for g in range(int(number[-1]) + 1):
        members = tuple(int(i) for i in np.flatnonzero(number == g))
        on = tuple(i for i in members if active[0, i])
        slots: dict[int, dict[int, list[int]]] = {}
        for lane in on:
            slot, word = place(count, int(addresses[0, lane]))
            slots.setdefault(slot, {}).setdefault(word, []).append(lane)
        ordered = {slot: {word: tuple(slots[slot][word]) for word in sorted(slots[slot])} for slot in sorted(slots)}
        result.append(Group(members, on, ordered, _cost(count, ordered)))
    return tuple(result)


def _merges(count: Count, addresses: np.ndarray, active: np.ndarray) -> bool:
    return bool(count.paired) and bool(pairs_agree(addresses, active)[0])


def place(count: Count, address: int) -> tuple[int, int]:
    """(slot, address of the word) of an address; lanes on equal words have equal results."""
    if count.what is Counted.LINES:
        line = address // count.row
        return line % count.slots, line * count.row
    slot = address // count.unit % count.slots
    if count.row != count.unit * count.slots:  # addresses in one row of a slot never conflict
        return slot, address // count.row * count.row
    return slot, address // count.unit * count.unit


def banks_of(machine: Machine, count: Count, slot: int) -> range:
    """The banks that a slot covers."""
    wide = count.unit // machine.word
    return range(slot * wide, (slot + 1) * wide)


def _cost(count: Count, slots: dict[int, dict[int, tuple[int, ...]]]) -> int | None:
    if count.what is Counted.LINES:
        return None
    if not slots:
        return 0
    if count.what is Counted.ONCE:
        return 1
    if count.what is Counted.WORDS:
        return max(len(words) for words in slots.values())
    if count.what is Counted.LANES:
        return max(lanes_in(words) for words in slots.values())
    from ptxaudit.hardware.banks.broadcast import steps

    on = np.array([[word for words in slots.values() for word, lanes in words.items() for _ in lanes]], np.int64)
    fewest, *_ = steps(count, on, np.ones(on.shape, bool))
    return int(fewest[0])


def lanes_in(words: dict[int, tuple[int, ...]]) -> int:
    """The number of lanes on the words of one slot."""
    return sum(map(len, words.values()))


# --- why ------------------------------------------------------------------------------------


def reasons(
    machine: Machine,
    access: Access,
    addresses: Row,
    active: Row,
    sources: Row | None = None,
    zero_filled: Row | None = None,
) -> tuple[str, ...]:
    """Sentences that explain the figure of one request: the groups, the merge, the worst group, why a range.

    Arguments as one row of `score`'s. Raises InputError if `score` does.
    """
    rule = machine.known_rule(access)
    parts = groups(machine, access, addresses, active)
    if not any(part.active for part in parts):
        return ("no lane is active: the request costs nothing",)
    if rule.count.what is Counted.LINES:
        return _why_lines(machine, access, addresses, active, zero_filled)
    said = [_why_groups(rule.count, parts, addresses, active), *_why_worst(machine, rule, parts)]
    if rule.split > 1:
        said.append(
            f"the access is {rule.split} requests of {rule.count.unit} bytes per lane, each of which costs this"
        )
    if rule.count.factor > 1:
        what = "each group takes" if rule.count.what is Counted.ONCE else "compare-and-swap takes every wavefront"
        said.append(f"{what} {rule.count.factor} {'wavefronts' if rule.count.what is Counted.ONCE else 'times'}")
    said += _why_range(machine, rule, access, addresses, active, sources, zero_filled)
    return tuple(said)


def _why_groups(count: Count, parts: tuple[Group, ...], addresses: Row, active: Row) -> str:
    size = len(parts[0].lanes)
    text = f"one group of {size} lanes" if len(parts) == 1 else f"{len(parts)} groups of {size} lanes"
    empty = sum(not part.active for part in parts)
    if empty:
        text += f", {empty} without an active lane"
    if not count.paired:
        return text
    apart = [_first_apart(addresses, active, distance) for distance in (1, 2)]
    by_one, by_two = apart
    if by_one is None or by_two is None:
        return f"{text}: merged, because every active lane i agrees with lane i^{1 + apart.index(None)}"
    (a, b), (c, d) = by_one, by_two
    return f"{text}: not merged, because lanes {a} and {b} differ (i^1), and lanes {c} and {d} (i^2)"


def _first_apart(addresses: Row, active: Row, distance: int) -> tuple[int, int] | None:
    for lane, address in enumerate(addresses):
        other = lane ^ distance
        if active[lane] and active[other] and address != addresses[other]:
            return lane, other
    return None


def _why_worst(machine: Machine, rule: Rule, parts: tuple[Group, ...]) -> list[str]:
    if rule.count.what is Counted.ONCE:
        waiting = max(lanes_in(words) for part in parts for words in part.slots.values())
        return [
            (
                f"one lane per bank succeeds and the others retry: at least {waiting} passes"
                if waiting > 1
                else "every lane succeeds in this pass, if no other warp came first"
            )
        ]
    worst = max((part for part in parts if part.active), key=lambda part: part.wavefronts or 0)
    if worst.wavefronts == 1:
        return [
            (
                "no two words of a group share a bank"
                if rule.count.what is Counted.WORDS
                else "no two lanes of a group share a bank"
            )
        ]
    weight = len if rule.count.what is Counted.WORDS else lanes_in
    slot, words = max(worst.slots.items(), key=lambda item: weight(item[1]))
    banks = banks_of(machine, rule.count, slot)
    where = f"bank {banks[0]}" if len(banks) == 1 else f"banks {banks[0]}-{banks[-1]}"
    verb = "has" if len(banks) == 1 else "have"
    what = f"{len(words)} words" if weight is len else f"{lanes_in(words)} lanes"
    shown = [f"{address:#x} ({lane_text(lanes)})" for address, lanes in list(words.items())[:_SHOWN]]
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return [
        f"{lane_text(worst.lanes)} take {worst.wavefronts} wavefronts: {where} {verb} {what}, {', '.join(shown)}{more}"
    ]


_SHOWN = 4


def _why_lines(
    machine: Machine, access: Access, addresses: Row, active: Row, zero_filled: Row | None
) -> tuple[str, ...]:
    count, active = machine.known_rule(access).count, np.asarray(active, bool)
    copying = active if zero_filled is None else active & ~np.asarray(zero_filled, bool)
    stored = (
        ()
        if copying.sum() == active.sum()
        else ("lanes that write zeros are stored separately, as by STS.128, and count for no line",)
    )
    parts = groups(machine, access, addresses, copying)
    classes = [sum(len(part.slots.get(c, ())) for part in parts) for c in range(count.slots)]
    pairs = ", ".join(f"class {c}: {n}" for c, n in enumerate(classes))
    k = max(classes)
    again, fresh = machine.cycles_of(k), machine.cycles_of(k, fresh=True)
    took = (
        ()
        if again is None or fresh is None or not k
        else (
            (
                f"such requests took {_span(again)} cycles on {machine.name} when the same sources are read again,"
                f" those of k = 1 {_span(machine.cycles_of(1))}; {_span(fresh)} and"
                f" {_span(machine.cycles_of(1, fresh=True))} when each reads new ones: timing, not a counter"
            ),
        )
    )
    return (
        (
            f"pairs of (group of {count.lanes} lanes, {count.row}-byte destination line) by line mod {count.slots}:"
            f" {pairs}; k is the largest"
        ),
        *stored,
        ("no hardware counter covers the wavefronts of cp.async.cg, and profilers report 0 conflicts for any pattern"),
        *took,
    )


def _span(interval: tuple[float, float] | None) -> str:
    assert interval is not None
    return f"{interval[0]:g} to {interval[1]:g}"


def _why_range(
    machine: Machine,
    rule: Rule,
    access: Access,
    addresses: Row,
    active: Row,
    sources: Row | None,
    zero_filled: Row | None,
) -> list[str]:
    def row(values: Row, kind: type) -> np.ndarray:
        return np.asarray(values, kind)[None, :]

    scores = score(
        machine,
        access,
        row(addresses, np.int64),
        row(active, bool),
        None if sources is None else row(sources, np.int64),
        zero_filled=None if zero_filled is None else row(zero_filled, bool),
    )
    said = []
    if rule.uncertainty is Uncertainty.SOURCES and zero_filled is not None and np.any(zero_filled):
        said.append(
            "lanes that write zeros are served separately from those that copy, or together with them if their"
            " sources are in L1"
        )
    elif rule.uncertainty is Uncertainty.SOURCES and sources is not None:
        without_sources = score(machine, access, row(addresses, np.int64), row(active, bool))
        if scores.low[0] > without_sources.low[0]:
            said.append(
                f"the sources cost more than the banks: lanes on one {rule.count.unit}-byte slot of their source lines,"
                " and lanes that wait for such a lane, are served one after another"
            )
    if scores.low[0] == scores.high[0]:
        return said
    if rule.uncertainty is Uncertainty.SOURCES and sources is None:
        said.append("a range: the source addresses are not specified, and it " + rule.why)
    elif machine.why_range(access):
        said.append("a range: " + machine.why_range(access))
    if access.address_lanes is not None and not np.asarray(active).all():
        said.append(
            "a range: lanes are off, which PTX leaves undefined; an H200 counted no wavefront for any such access"
        )
    if access.zero_fill and zero_filled is None:
        said.append(
            "a range: lanes that write zeros may be served separately from those that copy; which lanes is not"
            " specified"
        )
    return said


def lane_text(lanes: tuple[int, ...]) -> str:
    """(0, 1, 2, 3, 8) -> "lanes 0-3, 8"."""
    runs: list[list[int]] = []
    for lane in lanes:
        if runs and lane == runs[-1][1] + 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    text = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
    return f"lane {text}" if len(lanes) == 1 else f"lanes {text}"
