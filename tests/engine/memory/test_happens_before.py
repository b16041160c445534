"""The order of accesses of one warp (`ptxaudit.engine.memory.happens_before`, `cells`), against sets of all that precedes.

A history is a sequence of accesses to one byte by lanes that are issued together, and of meetings of lanes. The plain
model keeps, for each lane, the set of accesses that precede whatever it does next.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from ptxaudit.engine.domain.lanes import LANES, pack, unpack
from ptxaudit.engine.domain.rounds import NotAffine
from ptxaudit.engine.memory.cells import Bytes, Cells, Unsafe
from ptxaudit.engine.memory.happens_before import HappensBefore, alike
from ptxaudit.engine.memory.updates import MIXED, Update

HISTORIES = 480
OTHER = ("added", "begun", "limit", "log")
FEW = 3  # lanes that take part, so that many accesses are ordered


def some_lanes(dice: random.Random) -> np.ndarray:
    mask = np.zeros(LANES, bool)
    mask[dice.sample(range(FEW), dice.randint(1, FEW))] = True
    return mask


class Model:
    """before: lane -> the accesses that precede whatever it does next, each with its lane."""

    def __init__(self) -> None:
        self.before: list[set[tuple[int, int]]] = [set() for _ in range(LANES)]

    def meet(self, mask: np.ndarray) -> None:
        lanes = np.flatnonzero(mask)
        known = set().union(*(self.before[lane] for lane in lanes))
        for lane in lanes:
            self.before[lane] = set(known)

    def access(self, number: int, lanes: np.ndarray, together: np.ndarray | None) -> set[tuple[int, int]]:
        """What precedes an access by each of these lanes. together: those that are issued at once."""
        if together is not None:
            self.meet(together)
        each = [set(self.before[lane]) for lane in np.flatnonzero(lanes)]
        for lane in np.flatnonzero(lanes):
            self.before[lane].add((number, int(lane)))
        if together is not None:
            self.meet(together)
        return set.intersection(*each)


@pytest.mark.parametrize("seed", range(20))
def test_ordering_matches_the_reference_model(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(HISTORIES // 20):
        order, model = HappensBefore(1, lambda size: None), Model()
        row, clock, done = np.zeros(1, np.int64), 0, list[tuple[int, int]]()
        marks = []
        for _ in range(30):
            what = dice.random()
            if what < 0.45:
                lane = dice.randrange(FEW)
                clock += 1
                order.accessed[row] = clock
                model.before[lane].add((clock, lane))
                done.append((clock, lane))
            elif what < 0.9:
                mask = some_lanes(dice)
                order.meet(row, mask[None], clock)
                model.meet(mask)
            elif what < 0.95:
                marks.append((order.mark(), [set(s) for s in model.before], list(done)))
            elif marks:  # a trip that is rolled back
                mark, before, done = marks.pop()
                order.restore(mark)
                model.before = before
            past = order.past(row, None)
            for lane in range(FEW):
                for when, by in done:
                    if by != lane:
                        words = None if past is None else past.words(np.array([lane]), np.array([when]))
                        found = words is not None and bool(unpack(words)[0, by])
                        assert found == ((when, by) in model.before[lane]), (seed, lane, when, by)


def access(lanes: np.ndarray, together: np.ndarray | None, order: HappensBefore, synced: int) -> Bytes:
    """One byte, at cell 0, accessed by these lanes of warp 0."""
    which = np.flatnonzero(lanes)
    full = lambda number, dtype: np.full(len(which), number, dtype)
    group = (np.uint32(1) << which.astype(np.uint32)) if together is None else full(pack(together), np.uint32)
    past = order.past(np.zeros(1, np.int64), None if together is None else together[None])
    zeros = full(0, np.int64)
    return Bytes(zeros, full(0, np.int32), full(0, np.int16), full(synced, np.int64), group, group, which, zeros, past)


Step = tuple[str, np.ndarray, np.ndarray]  # "meet", "store" or "load", the lanes that are together, those that access


def history(dice: random.Random) -> list[Step]:
    out: list[Step] = []
    for _ in range(dice.randint(2, 14)):
        together = some_lanes(dice)
        what = dice.choices(("meet", "store", "load"), (5, 2, 3))[0]
        lanes = together & np.array([dice.random() < 0.6 for _ in range(LANES)])
        if what == "store":
            lanes = lanes & (np.arange(LANES) == lanes.argmax())
        if what == "meet" or lanes.any():
            out.append((what, together, lanes))
    return out


def run(steps: list[Step], explicit: bool, distrusted: frozenset[int]) -> dict[int, int | None]:
    """load -> the number of the store that it reads, None if that is not known. Raises Unsafe."""
    cells, order = Cells(1, 1), HappensBefore(1, lambda size: None)
    cells.grow(1)
    return play(cells, order, steps, 1, explicit, distrusted)


def play(
    cells: Cells, order: HappensBefore, steps: list[Step], first: int, explicit: bool, distrusted: frozenset[int]
) -> dict[int, int | None]:
    """As `run`. first: the number of the first step."""
    row = np.zeros(1, np.int64)
    found: dict[int, int | None] = {}
    for number, (what, together, lanes) in enumerate(steps, first):
        if what != "meet":
            order.accessed[:] = number
            at = access(lanes, together if explicit else None, order, -1)
            if what == "store":
                value = np.full(len(at.cell), number, np.uint8)
                cells.write(at, number, value, value > 0, np.zeros_like(value), False)
            else:
                found[number] = None
                if number not in distrusted:
                    value, sure, _, _ = cells.read(at, number, number)
                    found[number] = int(value[0]) if sure.all() else None
        if what == "meet" or explicit:  # lanes that part were together until then
            order.meet(row, together[None], number)
    return found


Accesses = set[tuple[int, int]]  # of a step's number by a lane


def modelled(steps: list[Step], explicit: bool) -> tuple[dict[int, Accesses], dict[int, Accesses]]:
    """(step -> the accesses that precede it, step -> its own), by the model."""
    model = Model()
    before: dict[int, Accesses] = {}
    for number, (what, together, lanes) in enumerate(steps, 1):
        if what == "meet":
            model.meet(together)
        else:
            before[number] = model.access(number, lanes, together if explicit else None)
    return before, {n: {(n, int(lane)) for lane in np.flatnonzero(steps[n - 1][2])} for n in before}


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_load_is_known_if_all_stores_are_ordered_with_it(seed: int, explicit: bool) -> None:
    """explicit: lanes of an access are issued together, as in machine code."""
    dice = random.Random(f"{seed} {explicit}")
    known = 0
    for _ in range(HISTORIES // 10):
        steps = history(dice)
        before, made = modelled(steps, explicit)
        stores = [n for n in before if steps[n - 1][0] == "store"]
        distrusted: frozenset[int] = frozenset()
        while True:
            try:
                found = run(steps, explicit, distrusted)
                break
            except Unsafe as unsafe:
                assert unsafe.loads - distrusted
                distrusted |= unsafe.loads
        for load, value in found.items():
            earlier = [s for s in stores if s < load]
            last = max(earlier, default=0)
            fixed = bool(earlier) and all(made[s] <= before[load] for s in earlier)
            fixed = fixed and all(made[s] <= before[last] for s in earlier if s != last)
            fixed = fixed and all(made[load] <= before[s] for s in stores if s > load)
            if value is not None:
                assert fixed and value == last, (load, steps)
                known += 1
            elif explicit and load not in distrusted:
                assert not fixed, (load, steps)
    assert known


def test_lanes_are_grouped_by_equal_masks() -> None:
    words = np.zeros((2, LANES), np.uint32)
    words[0, :4], words[0, 4:8], words[1, :2] = 0xF, 0xF0, 3
    mask = words != 0
    found = [pack(lanes).tolist() for lanes in alike(words, mask)]
    assert found == [[0xF, 3], [0xF0, 0]]


def test_copied_rows_are_independent() -> None:
    order = HappensBefore(2, lambda size: None)
    mask = np.zeros((2, LANES), bool)
    mask[:, :3] = True
    order.accessed[:] = 5
    order.meet(np.arange(2), mask, 5)
    order.expand(np.array([0, 0, 1]))
    past = order.past(np.arange(3), None)
    assert past is not None
    assert unpack(past.words(np.array([2 * LANES + 1]), np.array([5])))[0, :4].tolist() == [True, True, True, False]
    assert not past.words(np.array([2 * LANES + 1]), np.array([6])).any()


@pytest.mark.parametrize("seed", range(10))
def test_undone_accesses_leave_no_trace(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(20):
        first, second = history(dice), history(dice)
        cells, order = Cells(1, 1), HappensBefore(1, lambda size: None)
        cells.grow(1)
        distrusted = frozenset(range(100))  # nothing is trusted: no store tears a load
        play(cells, order, first, 1, True, distrusted)
        cells.begin(len(first))
        before, mark = (
            {name: getattr(cells, name).copy() for name in cells.__slots__ if name not in OTHER},
            order.mark(),
        )
        times = None if order.times is None else order.times.copy()
        play(cells, order, second, 1 + len(first), True, distrusted)
        cells.undo()
        order.restore(mark)
        assert all(np.array_equal(getattr(cells, name), values) for name, values in before.items())
        assert (order.times is None) if times is None else np.array_equal(order.times, times)


# --- atomic operations on a word ------------------------------------------------------------

WORD = 4  # bytes
ADD, MAX = (Update(kind, WORD, MIXED + 1 + at) for at, kind in enumerate(("add", "max")))


def word_history(dice: random.Random) -> list[Step]:
    """With "add" and "max", by some lanes or all that are together, for "store"."""
    out: list[Step] = []
    for what, together, lanes in history(dice):
        if what == "store":
            what, lanes = dice.choice(("add", "add", "add", "max")), dice.choice((together, lanes))
        out.append((what, together, lanes))
    return out


def play_word(
    cells: Cells, order: HappensBefore, steps: list[Step], first: int, explicit: bool, distrusted: frozenset[int]
) -> dict[int, int | None]:
    """load -> the word that it reads, None if that is not known. Raises Unsafe, NotAffine."""
    found: dict[int, int | None] = {}
    row, byte = np.zeros(1, np.int64), np.arange(WORD)
    for number, (what, together, lanes) in enumerate(steps, first):
        if what != "meet":
            order.accessed[:] = number
            one = access(lanes, together if explicit else None, order, -1)
            at = one.some(np.repeat(np.arange(len(one.cell)), WORD))
            at.cell[:] = at.byte[:] = np.tile(byte, len(one.cell))
            if what == "load":
                found[number] = None
                if number not in distrusted:
                    value, sure, _, _ = cells.read(at, number, number)
                    found[number] = int(value[:WORD].view(np.uint32)[0]) if sure.all() else None
            elif what == "store":
                value = np.full(len(at.cell), number, np.uint8)
                cells.write(at, number, value, value > 0, np.zeros_like(value), False)
            else:
                operands = np.full((len(one.cell), 1), 1 if what == "add" else 9, np.uint32)
                plain = np.zeros(len(operands), np.uint8)
                cells.update_words(
                    at, number, ADD if what == "add" else MAX, operands, plain == 0, plain, 1, forgets(number)
                )
        if what == "meet" or explicit:
            order.meet(row, together[None], number)
    return found


def forgets(number: int) -> bool:
    """In a round, every other operation may make its word unknown."""
    return number % 2 == 0


def zeroed() -> Cells:
    """A word that was 0 before the epoch."""
    cells = Cells(1, WORD)
    cells.grow(WORD)
    cells.known[:] = True
    return cells


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_atomic_word_is_known_if_all_operations_are_ordered_with_the_load(seed: int, explicit: bool) -> None:
    """Sums in any order among themselves; else, each with those that follow it."""
    dice = random.Random(f"{seed} {explicit} word")
    known = mixed = 0
    for _ in range(HISTORIES // 10):
        steps = word_history(dice)
        before, made = modelled(steps, explicit)
        updates = [n for n in before if steps[n - 1][0] != "load"]
        distrusted: frozenset[int] = frozenset()
        while True:
            try:
                found = play_word(zeroed(), HappensBefore(1, lambda size: None), steps, 1, explicit, distrusted)
                break
            except Unsafe as unsafe:
                assert unsafe.loads - distrusted
                distrusted |= unsafe.loads
        for load, value in found.items():
            if value is None:
                continue
            earlier = [s for s in updates if s < load]
            assert all(made[s] <= before[load] for s in earlier), (load, steps)
            assert all(made[load] <= before[s] for s in updates if s > load), (load, steps)
            kinds = [steps[s - 1][0] for s in earlier]
            pairs = [(s, t) for s in earlier for t in earlier if s < t and steps[s - 1][0] != steps[t - 1][0]]
            assert all(made[s] <= before[t] for s, t in pairs), (load, steps)
            word = 0
            for s, kind in zip(earlier, kinds):
                word = word + len(made[s]) if kind == "add" else max(word, 9)
            assert value == word, (load, steps)
            known, mixed = known + bool(earlier), mixed + bool(pairs)
    assert known and (mixed or not explicit)


@pytest.mark.parametrize("seed", range(10))
def test_undone_atomic_operations_leave_no_trace(seed: int) -> None:
    dice, stopped = random.Random(f"{seed} back"), 0
    for _ in range(40):
        first, second = word_history(dice), [*history(dice), *word_history(dice)]
        dice.shuffle(second)
        cells, order = zeroed(), HappensBefore(1, lambda size: None)
        try:
            play_word(cells, order, first, 1, True, frozenset())
        except Unsafe:
            continue
        before = {name: getattr(cells, name).copy() for name in cells.__slots__ if name not in OTHER}
        cells.begin(len(first))
        try:
            play_word(cells, order, second, 1 + len(first), True, frozenset())
        except (NotAffine, Unsafe):
            stopped += 1
        cells.undo()
        assert all(np.array_equal(getattr(cells, name), values) for name, values in before.items())
    assert stopped
