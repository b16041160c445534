"""Speculation: trips of a loop are tried on the state of a run, and rolled back unless they confirm a hypothesis.

    with attempt(run, warps, meetings, accesses) as tried:
        …                           registers, barriers, living lanes and visits change
        tried.unchanged(...)        a trip leaves everything but registers as it found it
        tried.kept = True           otherwise all is rolled back

If a trip begins in a state that differs from that of the first one only in its registers, the registers alone
determine what it does (`induction`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ptxaudit.engine.exec.accesses import Accesses
from ptxaudit.engine.exec.convergence import Warps
from ptxaudit.engine.exec.meetings import Meetings
from ptxaudit.engine.exec.running import Run
from ptxaudit.engine.memory.registers import Registers

OF_BARRIERS = ("words", "firm", "opened", "shared", "used")  # of `Warps`: barrier -> an array over the warps
OF_GROUPS = ("loose", "ever_loose", "stopped", "free", "occupied", "covered")  # … arrays over the warps

Left = dict[tuple[Any, ...], np.ndarray]  # what a trip leaves besides registers, (rows, …) arrays


class Attempt:
    """The parts of a run while trips of a loop are tried.

    kept: their effects are not rolled back; rounds: how often those on shared memory then repeat.
    """

    def __init__(self, run: Run, warps: Warps, meetings: Meetings, accesses: Accesses):
        self.run, self.warps, self.meetings, self.accesses = run, warps, meetings, accesses
        self.kept, self.rounds = False, 1
        self.before: Left = {}

    def begin(self, rows: np.ndarray | None) -> None:
        """Copies everything that the run changes in place. rows: they replace the run's rows."""
        run = self.run
        run.heap, run.waiting, run.held = [], [], []
        run.registers = Registers(run.registers.rows, dict(run.registers.values))
        if rows is None:
            rows, run.alive = np.arange(run.registers.rows), run.alive.copy()
        else:
            run.expand(rows, run.low[rows], run.high[rows], lambda cohort: cohort)
        self.meetings.expand(rows)
        self.meetings.calls_diverge = dict(self.meetings.calls_diverge)
        self.accesses.expand(rows)
        self.warps.expand(rows, lambda cohort: (cohort, np.arange(len(cohort.rows))))
        self.before = {key: array.copy() for key, array in self.left().items()}

    def left(self) -> Left:
        """What a trip leaves to the next besides registers: living lanes, convergence barriers, places of waiting
        lanes.
        """
        found: Left = {("alive",): self.run.alive}
        found |= {("met", place): words for place, words in self.meetings.barriers.items()}
        for kind in OF_BARRIERS:
            found |= {(kind, name): array for name, array in getattr(self.warps, kind).items()}
        return found | {(kind,): getattr(self.warps, kind) for kind in OF_GROUPS}

    def unchanged(self, rows: int) -> bool:
        """The first rows have what they had at the beginning, and no lanes wait or are suspended.

        Anything absent at the beginning counts as zeros. The times at which barriers were set are not compared: they
        only order the barriers set within the trip.
        """
        if self.run.heap or self.run.held or self.warps.others():
            return False
        before: Callable[[tuple[Any, ...], np.ndarray], np.ndarray] = lambda key, array: (
            self.before[key][:rows] if key in self.before else np.zeros_like(array)
        )
        left = ((key, array[:rows]) for key, array in self.left().items() if key[0] != "opened")
        return all(array.tobytes() == before(key, array).tobytes() for key, array in left)


@contextmanager
def attempt(
    run: Run, warps: Warps, meetings: Meetings, accesses: Accesses, rows: np.ndarray | None = None
) -> Iterator[Attempt]:
    """Runs trips, rolled back unless `kept` is set.

    rows: of the run, each as often as it takes part; None: all of them once.
    """
    saved = [(part, dict(vars(part))) for part in (run, run.env, warps, meetings, accesses)]
    records = [(r, r.undecided, r.meeting_assumed) for r in {id(r): r for r in run.records.values()}.values()]
    was_trying = run.env.trying
    mark = None if run.shadow is None else run.shadow.mark()
    tried = Attempt(run, warps, meetings, accesses)
    try:
        tried.begin(rows)
        run.env.trying = True
        yield tried
    finally:
        run.round, run.env.trying = None, was_trying
        if not tried.kept:
            for part, attributes in saved:
                vars(part).update(attributes)
            for record, undecided, met in records:
                record.undecided, record.meeting_assumed = undecided, met
            if run.shadow is not None and mark is not None:
                run.shadow.restore(mark)
        elif run.shadow is not None:
            run.shadow.keep(tried.rounds)
        accesses.places.forget()
