"""Reports the processor time of the tests by file: their own, and that of the processes they start.

    python -m pytest -p bench.suite_time -n 2 --dist loadfile --no-loadscope-reorder      the costliest files, and the run
    python -m pytest -p bench.suite_time --suite-time 40           … the first 40 of them

User and system time of the process that runs a test and of all its descendants (/proc, Linux), including live ones: a
compiler that keeps running, or a browser, costs time in the file that gives it work. The rest of the run is a row of
its own: imports and collection in every process, pytest and pytest-xdist, and the inspection of processes. On a busy
machine the same work takes more processor time, by a third and more: figures to be compared have to be measured side
by side.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

_TICK = os.sysconf("SC_CLK_TCK")
_NAME = "processor time"
_BEGUN = pytest.StashKey[float]()


_looking = [0.0]  # seconds that `spent` has taken


def spent() -> float:
    """Seconds of this process, of the children that it has waited for, and of its live descendants."""
    begun = time.process_time()
    live = sum(map(_live, _below(os.getpid())))
    waited_for = os.times()
    now = time.process_time()
    _looking[0] += now - begun
    return now - _looking[0] + waited_for.children_user + waited_for.children_system + live


def _below(process: int) -> Iterator[int]:
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield int(child)
                yield from _below(int(child))


def _live(process: int) -> float:
    """Seconds of a running process, including the children that it has waited for."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return 0.0
    return sum(map(int, text.rpartition(")")[2].split()[11:15])) / _TICK


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--suite-time", type=int, default=20, metavar="N", help="the N files that cost most")


class Times:
    """seconds: by file; tests: how many of each."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        item.stash[_BEGUN] = spent()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
        report = yield
        if call.when == "teardown":  # in the process that ran it; the report goes to the one that prints
            report.user_properties.append((_NAME, spent() - item.stash[_BEGUN]))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            file = report.nodeid.partition("::")[0]
            self.tests[file] += 1
            self.seconds[file] += sum(value for name, value in report.user_properties if name == _NAME)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        terminalreporter.section("processor time")
        for file, seconds in self.seconds.most_common(config.getoption("--suite-time")):
            terminalreporter.line(f"{seconds:8.1f} s {self.tests[file]:6,} tests  {file}")
        tests, whole = self.seconds.total(), spent() + _looking[0]  # the processes of pytest-xdist have ended
        terminalreporter.line(f"{tests:8.1f} s {self.tests.total():6,} tests  in {len(self.seconds):,} files")
        terminalreporter.line(f"{whole - tests:8.1f} s {'':12}  imports, collection, pytest, and measuring this")
        terminalreporter.line(f"{whole:8.1f} s {'':12}  in all")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Times())
