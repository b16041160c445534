"""The cost of tests is reported by file, including the processes that they start (bench/suite_time.py)."""

from __future__ import annotations

import re

pytest_plugins = ["pytester"]

FILES = {
    "test_own": "import time\ndef test():\n    end = time.process_time() + 0.2\n    while time.process_time() < end: pass\n",
    "test_child": """
import subprocess, sys
BUSY = "import time\\nwhile time.process_time() < 0.2: pass\\nprint(1, flush=True)\\n"
def test_waited_for():
    subprocess.run([sys.executable, "-S", "-c", BUSY], check=True)
def test_live():
    test_live.child = subprocess.Popen([sys.executable, "-S", "-c", BUSY + "input()"], stdin=-1, stdout=-1)
    test_live.child.stdout.readline()
def test_ends():
    test_live.child.communicate(b"\\n")
""",
    "test_nothing": "def test(): pass\n",
}


def test_suite_time_includes_child_processes(pytester):
    pytester.makepyfile(**FILES)
    lines = pytester.runpytest_inprocess("-p", "bench.suite_time", "--suite-time", "3", "-p", "no:xdist").outlines
    found = [re.fullmatch(r" *([\d.]+) s +(?:(\d+) tests)?  (.+)", line) for line in lines]
    told = {match[3]: (float(match[1]), int(match[2] or 0)) for match in found if match}
    (rest, _), (whole, _) = told.pop("imports, collection, pytest, and measuring this"), told.pop("in all")
    assert list(told) == ["test_child.py", "test_own.py", "test_nothing.py", "in 3 files"]
    assert told["test_child.py"][0] >= 0.4 and told["test_own.py"][0] >= 0.2 > told["test_nothing.py"][0]
    assert [tests for _, tests in told.values()] == [3, 1, 1, 5]
    assert abs(told["in 3 files"][0] - sum(seconds for seconds, _ in list(told.values())[:3])) < 0.2
    assert rest > 0 and abs(whole - rest - told["in 3 files"][0]) < 0.2
