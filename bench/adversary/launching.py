"""Runs the launches of a plan, in child processes that are killed when they make no progress.

    screen(folder, work, [0, 1, 2], end)    ->  ([0, 2], {1: "it stood still"})

The process (`launch`) records each launch before and after it, as one line of JSON, so that its progress is known
however it ended.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.adversary.plan import read
from bench.adversary.program import Fill
from bench.profiled import Gpu

STACK_BYTES = 8192  # per thread: recursive functions, built without optimisation
SLOT_BYTES = 1 << 16  # per buffer: four times the range of the kernels' indices
STILL = 8.0  # seconds without a launch, after which a process is killed
STILL_PROFILED = 40.0  # the same under the profiler


class Launcher:
    """Buffers at fixed addresses, and modules loaded one after the other."""

    def __init__(self, folder: Path) -> None:
        self.gpu, self.folder = Gpu(), folder
        self.gpu.call(self.gpu.driver.cuCtxSetLimit, self.gpu.driver.CUlimit.CU_LIMIT_STACK_SIZE, STACK_BYTES)
        self.slots: dict[str, int] = {}
        self.loaded: tuple[str, Any, dict[str, Any]] = ("", None, {})

    def slot(self, name: str, size: int = 0) -> int:
        """The address of a buffer, which the first of its launches allocates. size: of its contents, in bytes."""
        if name not in self.slots:
            self.slots[name] = int(self.gpu.call(self.gpu.driver.cuMemAlloc, max(size, SLOT_BYTES)))
        return self.slots[name]

    def module(self, cubin: str) -> tuple[Any, dict[str, Any]]:
        gpu = self.gpu
        if self.loaded[0] != cubin:
            if self.loaded[1] is not None:
                gpu.call(gpu.driver.cuModuleUnload, self.loaded[1])
            module = gpu.call(gpu.driver.cuModuleLoadData, (self.folder / cubin).read_bytes())
            count = gpu.call(gpu.driver.cuModuleGetFunctionCount, module)
            functions = gpu.call(gpu.driver.cuModuleEnumerateFunctions, count, module)
            self.loaded = (cubin, module, {gpu.call(gpu.driver.cuFuncGetName, f).decode(): f for f in functions})
        return self.loaded[1], self.loaded[2]

    def launch(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Runs one launch, with memory as its plan specifies; returns its parameter bytes and addresses."""
        gpu = self.gpu
        module, functions = self.module(entry["cubin"])
        for name, fill in entry["buffers"].items():
            data = Fill(**fill).data()
            gpu.write(self.slot(name, data.nbytes), data)
        for name, fill in entry["symbols"].items():
            status, place, _ = gpu.driver.cuModuleGetGlobal(module, name.encode())
            if int(status) == 0:  # nonzero if the compiler dropped it
                gpu.write(place, Fill(**fill).data())
        function = functions[entry["kernel"]]
        places = gpu.parameters(function)
        raw = bytearray(max((offset + size for offset, size in places), default=0))
        addresses = {}
        for (offset, size), parameter in zip(places, entry["parameters"], strict=True):
            if parameter["kind"] == "buffer":
                addresses[parameter["name"]] = self.slot(parameter["value"])
            raw[offset : offset + size] = self.bytes_of(parameter, size)
        cluster = entry["cluster"] if any(number > 1 for number in entry["cluster"]) else None
        gpu.launch(function, entry["grid"], entry["block"], cluster, entry["dynamic_shared"], bytes(raw))
        return {"param_bytes": bytes(raw).hex(), "addresses": addresses}

    def bytes_of(self, parameter: dict[str, Any], size: int) -> bytes:
        value = parameter["value"]
        match parameter["kind"]:
            case "buffer":
                return self.slot(value).to_bytes(size, "little")
            case "low":
                return (self.slot(value) & 0xFFFFFFFF).to_bytes(size, "little")
            case "high":
                return (self.slot(value) >> 32).to_bytes(size, "little")
            case "bytes":
                return bytes.fromhex(value)
        if isinstance(value, float):
            return struct.pack("<f" if size == 4 else "<d", value)
        return (value % (1 << 8 * size)).to_bytes(size, "little")


def launch(folder: Path, numbers: list[int], notes: Path) -> int:
    """Runs some launches of the plan, in order, with a line in `notes` before and after each.

    Returns 3 if the context is lost. A profiler may run the process once per pass: a launch whose buffers had other
    addresses in the pass before is recorded as moved.
    """
    plan = read(folder)
    before = {note["done"]: note["addresses"] for note in notes_in(notes) if "done" in note}
    launcher = Launcher(folder)
    with notes.open("w") as out:

        def note(**line: Any) -> None:
            out.write(json.dumps(line) + "\n")
            out.flush()

        note(device=launcher.gpu.name())
        for number in numbers:
            note(begin=number)
            try:
                done = launcher.launch(plan[number])
                note(
                    done=number,
                    at=time.time(),
                    moved=before.get(number, done["addresses"]) != done["addresses"],
                    **done,
                )
            except Exception as error:
                lost = int(launcher.gpu.driver.cuCtxSynchronize()[0]) != 0
                note(failed=number, why=str(error), lost=lost)
                if lost:
                    return 3
    return 0


def notes_in(path: Path) -> list[dict[str, Any]]:
    """The notes of a process, in order; none if there is no such file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


# --- processes ----------------------------------------------------------------------------------

LAUNCH = (sys.executable, "-m", "bench.adversary.gpu", "launch")


@dataclass
class Ran:
    """The notes of a process: the completed launches, in order, and why others failed."""

    done: list[dict[str, Any]]
    failed: dict[int, str]
    device: str
    seconds: float


def supervised(
    folder: Path,
    numbers: list[int],
    notes: Path,
    before: tuple[str, ...] = (),
    end: float = float("inf"),
    log: Path | None = None,
) -> Ran:
    """Runs `launch` in a process, under `before` (the profiler), with a limit on time and on lack of progress."""
    notes.unlink(missing_ok=True)
    listed = notes.with_suffix(".numbers")
    listed.write_text(json.dumps(numbers))
    command = [*before, *LAUNCH, str(folder), str(listed), str(notes)]
    started, most = time.monotonic(), STILL_PROFILED if before else STILL
    with (log or Path(os.devnull)).open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        size, moved = -1, time.monotonic()
        why = ""
        while process.poll() is None:
            time.sleep(0.05)
            now = notes.stat().st_size if notes.exists() else 0
            if now != size:
                size, moved = now, time.monotonic()
            if time.monotonic() - moved > most or time.monotonic() > end:
                why = "it stood still" if time.monotonic() - moved > most else "the time was over"
                _stop(process, polite=bool(before))
                break
    ran = Ran([], {}, "", time.monotonic() - started)
    begun: int | None = None
    for note in notes_in(notes):
        if "device" in note:
            ran.device = note["device"]
        elif "begin" in note:
            begun = note["begin"]
        else:
            begun = None
            if "done" in note:
                ran.done.append(note)
            else:
                ran.failed[note["failed"]] = note["why"]
    if begun is not None:
        ran.failed[begun] = why or f"the process ended with {process.returncode}"
    return ran


def _stop(process: subprocess.Popen, polite: bool) -> None:
    """Ends a process started here; with signals that the profiler handles first, so that it writes its results."""
    for sign, wait in (((signal.SIGINT, 5), (signal.SIGTERM, 3)) if polite else ()) + ((signal.SIGKILL, 10),):
        try:
            os.killpg(process.pid, sign)
            process.wait(wait)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def screen(folder: Path, work: Path, numbers: list[int], end: float) -> tuple[list[int], dict[int, str]]:
    """(launches that terminate, the others with reasons): runs all of them once, without the profiler.

    After one that fails, the others of its cubin are left out.
    """
    plan = read(folder)
    good: list[int] = []
    failed: dict[int, str] = {}
    left = numbers
    while left and time.monotonic() < end:
        ran = supervised(folder, left, work / "screen.notes", end=end, log=work / "screen.log")
        good += [note["done"] for note in ran.done]
        failed |= ran.failed
        seen = len(ran.done) + len(ran.failed)
        if not seen:
            failed |= {left[0]: "the process did not start"}
            seen = 1
        left = left[seen:]
        lost = {plan[number]["cubin"]: number for number in ran.failed if left and number == max(ran.failed)}
        failed |= {number: f"as {lost[plan[number]['cubin']]}" for number in left if plan[number]["cubin"] in lost}
        left = [number for number in left if number not in failed]
    return good, failed
