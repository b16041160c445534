"""The cost of requests whose base is known up to a multiple of a power of two: the range over the residues left open.

    4·lane + base, base a multiple of 64      128 bytes: 1 wavefront at 0 and at 64, a figure
    4·lane + base, base a multiple of 4       1 or 2 wavefronts: a range, by the place of the array

(The base is known as a congruence: Granger, "Static analysis of arithmetical congruences", 1989. A rule's *invariant
shift* is the modulus after which it repeats.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import Struct, field

from ptxaudit.base.arrays import anywhere, distinct
from ptxaudit.base.work import REQUEST, Account
from ptxaudit.engine.answer.footprint import FARTHEST
from ptxaudit.engine.answer.result import Case, ranges
from ptxaudit.engine.answer.totals import Widened
from ptxaudit.hardware import banks
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.hardware.memory import sectors
from ptxaudit.ir.reasons import Kind, Reason, several

SCORING = "scoring requests"
ANY = -1  # requests whose bases differ: their place is unknown

_Columns = tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]  # addresses, active, sources, filled


def rule_range(machine: Machine, access: banks.Access) -> Reason | None:
    """Why a machine's rule gives a range for requests of an access; None if it gives a figure."""
    said = machine.why_range(access)
    return Reason(Kind.RULE_RANGE, given=(said,)) if said else None


class Scoring(Struct, eq=False):
    """Scores requests by a machine's rule for one access.

    by_base: (step, below) -> base modulo the shift -> [low, high, least ideal, greatest ideal] of the requests whose
    base is a multiple of this step, less so many bytes;
    by_place: they depend on the base; loose: why a range remains although the addresses are known up to a shift;
    evidence: the machine's for this access, "by rule" as soon as one request is.
    """

    machine: Machine
    access: banks.Access
    account: Account  # pays for the scoring, or raises Exhausted
    by_base: dict[tuple[int, int], dict[int, list[int]]] = field(default_factory=dict)
    by_place: bool = False
    loose: Reason | None = None
    evidence: str = ""

    def __post_init__(self) -> None:
        self.evidence = self.machine.evidence(self.access)

    def score(
        self,
        addresses: np.ndarray,
        active: np.ndarray,
        sources: np.ndarray | None,
        steps: np.ndarray,
        words: np.ndarray,
        filled: np.ndarray | None = None,
        known: banks.Scores | None = None,
        below: np.ndarray | None = None,
    ) -> Widened:
        """The scores of all requests, widened over the residues of a base that is not known well enough.

        Where words are known only modulo a line, the range is from all words equal to all words distinct: these are
        the extremes, as no rule lets fewer distinct words cost more. known: the rule's scores, if already computed.
        below: (n,) as in `Folded`, ANY for None; 0 if not given.
        """
        shift = self.machine.invariant_shift(self.access)
        if known is None:
            known = self._by_rule(addresses, active, sources, filled)
        else:
            self.account.spend(REQUEST + len(addresses), SCORING)
        scores = known
        if scores.lines_low is not None and anywhere(scores.lines_low < scores.lines):
            self.loose = self.loose or Reason(Kind.ZERO_LANES)
        out = Widened.of(scores)
        columns: _Columns = addresses, active, sources, filled
        self._over_words(out, columns, words)
        if not anywhere(steps < shift):
            _put(self.by_base, range(0, shift, shift), 0, 0, out.low, out.high, out.ideal)
            return out
        below = np.zeros(len(steps), np.int64) if below is None else below
        for step in distinct(steps).tolist():
            for less in distinct(below[steps == step]).tolist():
                rows = np.flatnonzero((steps == step) & (below == less))
                self._over_residues(out, columns, words, rows, range(0, shift, step), less)
        loose = steps < shift
        if anywhere((out.low < out.high)[loose]) or anywhere((np.asarray(scores.ideal) != out.ideal)[loose]):
            same = Reason(Kind.SAME_WORDS) if anywhere(words[loose]) else None
            self.loose = self.loose or several(same, Reason(Kind.BASE, given=(shift,)))
            self.by_place = True
        return out

    def _over_words(self, out: Widened, columns: _Columns, words: np.ndarray) -> None:
        """Widens the scores of requests whose lanes may or may not share a word.

        words: (n,) bytes, each lane's address is known up to a multiple of them; 0: it is known.
        """
        if not anywhere(words):
            return
        rows = np.flatnonzero(words)
        s = self._by_rule(*_apart(_of_rows(columns, rows), words[rows]))
        if anywhere(out.low[rows] != s.high) or anywhere(out.ideal[rows] != s.ideal):
            self.loose = self.loose or Reason(Kind.SAME_WORDS)
        _widen(out, rows, s)

    def _over_residues(
        self, out: Widened, columns: _Columns, words: np.ndarray, rows: np.ndarray, residues: range, below: int
    ) -> None:
        """Widens the scores of the requests `rows`, whose base may be any of the residues: 0, for which they are
        scored already, and more. below: as in `score`."""
        _put(self.by_base, residues, below, 0, out.low[rows], out.high[rows], out.ideal[rows])
        own, words = _of_rows(columns, rows), words[rows]
        some = np.flatnonzero(words)
        apart = _apart(_of_rows(own, some), words[some])
        for residue, s in self._moved(own, words, residues[1:]):
            _put(self.by_base, residues, below, residue, s.low, s.high, s.ideal)
            if s.lines is not None and out.lines is not None and not self.loose and self.access.space == "shared":
                if anywhere(out.lines[rows] != s.lines):
                    self.loose = Reason(Kind.BASE, given=(residues.stop,))
            _widen(out, rows, s)
            if len(some):
                s = self._by_rule(apart[0] + residue, *apart[1:])
                _put(self.by_base, residues, below, residue, s.low, s.high, s.ideal)
                _widen(out, rows[some], s)

    def _moved(self, columns: _Columns, words: np.ndarray, residues: range) -> Iterator[tuple[int, banks.Scores]]:
        """The scores of the requests with all addresses moved by each residue; lanes that may share a word do."""
        addresses, active, sources, filled = columns
        line = words[:, None]
        if sources is None and filled is None and sectors.moves(self.access, residues.step) and not anywhere(words):
            for moved in sectors.moved(self.access, addresses, active, residues, self.evidence):
                self.account.spend(REQUEST + len(addresses), SCORING)
                yield moved
            return
        for residue in residues:
            there = addresses + residue
            there = np.where(line > 0, there % np.maximum(line, 1), there)
            yield residue, self._by_rule(there, active, sources, filled)

    def _by_rule(
        self, addresses: np.ndarray, active: np.ndarray, sources: np.ndarray | None, filled: np.ndarray | None
    ) -> banks.Scores:
        self.account.spend(REQUEST + len(addresses), SCORING)
        return banks.score(self.machine, self.access, addresses, active, sources, zero_filled=filled)

    def figures(self, addresses: np.ndarray, active: np.ndarray, zeros: int) -> np.ndarray:
        """(3, n): least and most wavefronts and the ideal of each request. Arguments: as in `SiteRecord.add`."""
        shift = self.machine.invariant_shift(self.access)
        step = min(1 << zeros, shift)
        align = self.access.align
        if step < min(shift, align):
            step = min(shift, align)
            addresses = addresses - np.where(active, addresses, FARTHEST).min(axis=1, keepdims=True)
        addresses = np.where(active, addresses, 0)
        n = len(addresses)
        scores = self.score(addresses, active, None, np.full(n, step), np.zeros(n, np.int64))
        return np.stack([scores.low, scores.high, scores.ideal])

    def base_cases(self) -> tuple[Case, ...]:
        """The figures of a request by the place of the array."""
        return base_cases(self.machine.invariant_shift(self.access), self.by_base.values())


def base_cases(shift: int, by_base: Iterable[dict[int, list[int]]]) -> tuple[Case, ...]:
    """The figures of all requests by the place of the array.

    by_base: base modulo the shift -> [low, high, least ideal, greatest ideal], for each kind of request. Those that
    never have a base with some residue, as theirs is better known, may cost all that they cost elsewhere.
    """
    kinds = list(by_base)
    folded: dict[tuple[int, ...], list[int]] = {}
    for residue in sorted({residue for figures in kinds for residue in figures}):
        each = [figures[residue] if residue in figures else _hull(figures.values()) for figures in kinds]
        folded.setdefault(tuple(_hull(each)), []).append(residue)
    return tuple(
        Case(f"base mod {shift} in {ranges(where)}", low, high, ideal if ideal == ideal_most else None)
        for (low, high, ideal, ideal_most), where in folded.items()
    )


def _of_rows(columns: _Columns, rows: np.ndarray) -> _Columns:
    addresses, active, sources, filled = columns
    sources, filled = (None if array is None else array[rows] for array in (sources, filled))
    return addresses[rows], active[rows], sources, filled


def _apart(columns: _Columns, words: np.ndarray) -> _Columns:
    """The requests with a word of its own for every lane. words: (n,), as in `Scoring.score`."""
    addresses, active, sources, filled = columns
    return addresses + words[:, None] * np.arange(addresses.shape[1])[None, :], active, sources, filled


def _widen(out: Widened, rows: np.ndarray, s: banks.Scores) -> None:
    """Widens the scores of some requests by those that they have at another place."""
    out.low[rows] = np.minimum(out.low[rows], s.low)
    out.high[rows] = np.maximum(out.high[rows], s.high)
    out.ideal[rows] = np.minimum(out.ideal[rows], s.ideal)
    out.ideal_most[rows] = np.maximum(out.ideal_most[rows], s.ideal)
    out.ways[rows] = np.maximum(out.ways[rows], s.ways)
    if out.lines is None or out.lines_low is None or out.lines_ideal is None or s.lines is None:
        return
    out.lines[rows] = np.maximum(out.lines[rows], s.lines)
    out.lines_low[rows] = np.minimum(out.lines_low[rows], s.lines if s.lines_low is None else s.lines_low)
    out.lines_ideal[rows] = np.minimum(out.lines_ideal[rows], s.lines_ideal)


def _put(
    by_base: dict[tuple[int, int], dict[int, list[int]]],
    residues: range,
    below: int,
    residue: int,
    *figures: np.ndarray,
) -> None:
    """Widens the cost of the requests whose base is a multiple of a step, at one of the residues. below: as in `score`.
    figures: the least and the most of each, and its ideal."""
    if not len(figures[0]):
        return
    low, high, ideal = figures
    residue = 0 if below == ANY else (residue - below) % residues.stop
    mine, now = (
        by_base.setdefault((residues.step, below), {}),
        [int(low.min()), int(high.max()), int(ideal.min()), int(ideal.max())],
    )
    mine[residue] = _hull([mine.get(residue, now), now])


def _hull(figures: Iterable[list[int]]) -> list[int]:
    """[low, high, least ideal, greatest ideal] over several of them."""
    low, high, ideal, ideal_most = zip(*figures)
    return [min(low), max(high), min(ideal), max(ideal_most)]
