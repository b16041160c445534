"""Chooses the measured launches that every test run audits: few, that reach each branch and line of ptxaudit as all do.

    python tests/support/choose_launches.py -j 2        -> tests/measured/launches.json; Python 3.12 or later

Of each set (tests/data), with each of its tellings, some launches are candidates: one in `OF_BUILD` of each build of a
kernel, or one in `OF_KERNEL` of each kernel where not everything is specified. Each is audited while `sys.monitoring`
records which lines it reaches and which way each branch goes. Greedily, the launches are taken that reach most of what
has not been reached `TWICE` yet, for their time. `make adversary-check` audits all launches.
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

import against_counts  # noqa: E402

import ptxaudit  # noqa: E402
from bench.adversary import telling, truth  # noqa: E402
from bench.adversary.check import audit  # noqa: E402
from bench.adversary.claims import Verdict  # noqa: E402

TWICE = 2
WHOLE = ("told", "placed")  # tellings that specify everything that decides a count
OF_BUILD, OF_KERNEL = 2, 6
OVERHEAD = 0.05  # seconds for each launch, besides its audit
PACKAGE = str(Path(ptxaudit.__file__).parent)


class Reached:
    """The lines and the ways of branches of the package that run from `begin` to `end`."""

    def __init__(self) -> None:
        # the module has it since Python 3.12, and the project is typed for 3.11
        self.tool: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self._branches: dict[tuple[int, int], int | tuple[int, int]] = {}
        self._lines: set[tuple[int, int]] = set()
        self._codes: dict[int, CodeType] = {}
        self._names: dict[int, str] = {}
        self._id = self.tool.PROFILER_ID
        self._events = self.tool.events.BRANCH | self.tool.events.LINE
        self.tool.use_tool_id(self._id, "reached")
        self.tool.register_callback(self._id, self.tool.events.BRANCH, self._branch)
        self.tool.register_callback(self._id, self.tool.events.LINE, self._line)

    def _branch(self, code: CodeType, at: int, to: int) -> Any:
        if not code.co_filename.startswith(PACKAGE):
            return self.tool.DISABLE
        self._codes[id(code)] = code
        before = self._branches.setdefault((id(code), at), to)
        if before == to:
            return None  # until it goes the other way
        if isinstance(before, int):
            self._branches[id(code), at] = before, to
        return self.tool.DISABLE

    def _line(self, code: CodeType, number: int) -> Any:
        if code.co_filename.startswith(PACKAGE):
            self._codes[id(code)] = code
            self._lines.add((id(code), number))
        return self.tool.DISABLE

    def begin(self) -> None:
        self._branches.clear()
        self._lines.clear()
        self.tool.set_events(self._id, self._events)
        self.tool.restart_events()

    def end(self) -> frozenset[int]:
        """What was reached, each as a number that is the same in every process."""
        self.tool.set_events(self._id, 0)
        ways = ((k, to) for k, both in self._branches.items() for to in ((both,) if isinstance(both, int) else both))
        names = [f"{self._name(code)} {at} to {to}" for (code, at), to in ways]
        names += [f"{self._name(code)} line {number}" for code, number in self._lines]
        return frozenset(zlib.crc32(name.encode()) << 32 | zlib.adler32(name.encode()) for name in names)

    def _name(self, code: int) -> str:
        if code not in self._names:
            one = self._codes[code]
            self._names[code] = f"{one.co_filename[len(PACKAGE) :]}:{one.co_firstlineno} {one.co_qualname}"
        return self._names[code]


recorder = cache(Reached)  # one of a process


@dataclass(frozen=True)
class Candidate:
    folder: str
    how: str
    space: str
    launch: tuple[str, int]
    seconds: float
    equal: int
    reached: frozenset[int]


def candidates(launches: Iterable[truth.Truth], how: str) -> Iterator[truth.Truth]:
    """Some of the launches to which a telling applies."""
    of = [one for one in launches if telling.applies(how, one.entry, one.module.functions[one.entry["kernel"]])]
    step = OF_BUILD if how in WHOLE else OF_KERNEL
    for (seed, _), group in groupby(of, lambda one: (one.entry["seed"], one.entry["build"] if how in WHOLE else "")):
        of_one = list(group)
        yield from of_one[seed % min(step, len(of_one)) :: step]


def of_folder(folder: str, tellings: list[tuple[str, str]]) -> list[Candidate]:
    """tellings: each with the memory whose accesses are checked."""
    reached, launches, found = recorder(), against_counts.load(folder), []
    for how, space in tellings:
        for one in candidates(launches, how):
            reached.begin()
            begun = time.process_time()
            checked = audit(one, how, "sass", space)
            seconds = time.process_time() - begun
            equal = sum(finding.verdict is Verdict.EQUAL for finding in checked.findings)
            key = against_counts.key(one)
            found.append(Candidate(folder, how, space, key, seconds, equal, reached.end()))
    return found


def cover(every: list[Candidate]) -> list[Candidate]:
    """Some that reach together, `TWICE` or as often as there are candidates that do, what all of them reach."""
    often = Counter(one for candidate in every for one in candidate.reached)
    left = {one: min(TWICE, count) for one, count in often.items()}

    def gain(candidate: Candidate) -> float:
        return sum(left[one] > 0 for one in candidate.reached) / (candidate.seconds + OVERHEAD)

    heap = [(-gain(candidate), at) for at, candidate in enumerate(every)]
    heapq.heapify(heap)
    taken = []
    while heap:
        _, at = heapq.heappop(heap)
        now = gain(every[at])  # it can only have shrunk
        if heap and -now > heap[0][0]:
            heapq.heappush(heap, (-now, at))
        elif now:
            taken.append(every[at])
            for one in every[at].reached:
                left[one] -= 1
    return taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", "--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    tellings = {name: list(group) for name, group in groupby(against_counts.TELLINGS, lambda one: one[0])}
    with ProcessPoolExecutor(jobs) as pool:
        made = pool.map(of_folder, tellings, [[one[1:] for one in group] for group in tellings.values()])
        every = [candidate for found in made for candidate in found]
    taken = cover(every)
    sets = []
    for folder, how, space in against_counts.TELLINGS:
        of = sorted((one for one in taken if (one.folder, one.how) == (folder, how)), key=lambda one: one.launch)
        launches: dict[str, list[int]] = {}
        for one in of:
            launches.setdefault(one.launch[0], []).append(one.launch[1])
        equal = sum(one.equal for one in of)
        sets.append({"folder": folder, "telling": how, "memory": space, "equal": equal, "launches": launches})
    text = ",\n".join(json.dumps(one) for one in sets)
    against_counts.LAUNCHES.write_text(f"[\n{text}\n]\n")
    spent = [sum(one.seconds for one in some) for some in (every, taken)]
    print(f"{len(taken)} of {len(every)} launches; {spent[1]:.0f} of {spent[0]:.0f} s")


if __name__ == "__main__":
    main()
