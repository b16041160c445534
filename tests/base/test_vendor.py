"""The vendor's programs under limits: one that takes too much, or hangs, is one message, and leaves nothing behind."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ptxaudit.base import vendor
from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import TOOL_TIME

START_A_CHILD = "import os, subprocess, sys, time; child = subprocess.Popen([sys.executable, '-c', {code!r}]); "


@pytest.fixture
def tight(monkeypatch):
    """Sets limits that a test soon reaches: tight(TOOL_OUTPUT=1 << 20)."""

    def set_limits(**most: int) -> None:
        for name, amount in most.items():
            monkeypatch.setattr(vendor, name, replace(getattr(vendor, name), most=amount))

    monkeypatch.setattr(vendor, "LOOK_EVERY", 0.05)
    return set_limits


def refused(code: str, most=TOOL_TIME) -> InputError:
    with pytest.raises(InputError) as caught:
        vendor.run([sys.executable, "-c", code], most)
    return caught.value


def test_endless_tool_is_killed_at_the_processor_time_limit(tight):
    tight()
    error = refused("while True: pass", replace(TOOL_TIME, most=0))  # rounded up to 1 whole second
    assert "took too long" in error.what and "`time of a tool`" in error.what + error.hint


def test_unwatched_tool_is_killed_by_the_operating_system(tight, monkeypatch):
    """The operating system's own limit applies where the watch does not."""
    tight()
    monkeypatch.setattr(vendor, "SPARE", 0)
    monkeypatch.setattr(vendor.Watch, "look", lambda self: None)
    assert "took too long" in refused("while True: pass", replace(TOOL_TIME, most=1)).what


def test_idle_tool_is_killed(tight):
    tight(STALLED=1)
    begin = time.monotonic()
    error = refused("import time; time.sleep(1000)")
    assert "waits for input that never arrives" in error.what and "`standstill of a tool`" in error.what + error.hint
    assert time.monotonic() - begin < 100


def test_tool_with_endless_output_is_killed(tight):
    tight(TOOL_OUTPUT=1 << 20)
    assert "writes too much" in refused("while True: print('x' * 9999)").what


def test_tool_output_file_beyond_the_limit_is_a_message(tight, tmp_path):
    tight(TOOL_FILE=1 << 20)
    code = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
    code += f"open({str(tmp_path / 'f')!r}, 'wb').write(b'x' * (4 << 20))"
    assert "a file that is too large" in refused(code).what
    assert (tmp_path / "f").stat().st_size <= 1 << 20


def test_children_of_a_tool_end_with_it(tight, tmp_path):
    tight(STALLED=1)
    alive = tmp_path / "pid"
    code = START_A_CHILD.format(code="import time; time.sleep(1000)") + (
        f"open({str(alive)!r}, 'w').write(str(child.pid)); time.sleep(1000)"
    )
    refused(code)
    process = Path("/proc") / alive.read_text()
    for _ in range(200):
        if not process.exists() or "Z" in (process / "stat").read_text().rpartition(")")[2].split()[0]:
            return
        time.sleep(0.05)
    raise AssertionError("a child of a program that was ended is still there")


def test_memory_of_a_tool_is_limited(tight):
    """The limit is set once the program runs, so it waits a moment before it allocates too much."""
    tight(TOOL_MEMORY=256 << 20)
    code = "import time; time.sleep(1); bytearray(256 << 20)"
    done = vendor.run([sys.executable, "-c", code], TOOL_TIME)
    assert done.status == 1 and "MemoryError" in done.err
    tight(TOOL_MEMORY=4 << 30)
    assert vendor.run([sys.executable, "-c", code], TOOL_TIME).status == 0
