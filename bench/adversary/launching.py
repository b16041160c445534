"""Launches of a plan, in processes of their own that are given up when they stand still.

    screen(folder, work, [0, 1, 2], end)    ->  ([0, 2], {1: "it stood still"})

The process (`launch`) notes each launch before and after, a line of JSON each, so that what it did before it ended is
known however it ended.
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

STACK_BYTES = 8192  # of a thread: functions that call themselves, built without optimisation
SLOT_BYTES = 1 << 16  # of a buffer: four times what the kernels index
STILL = 8.0  # seconds without a launch, after which a process is given up
STILL_PROFILED = 40.0  # the same under the profiler


class Launcher:
    """Buffers at places that do not change, modules loaded one after the other."""

    def __init__(self, folder: Path) -> None:
        self.gpu, self.folder = Gpu(), folder
        self.gpu.call(self.gpu.driver.cuCtxSetLimit, self.gpu.driver.CUlimit.CU_LIMIT_STACK_SIZE, STACK_BYTES)
        self.slots: dict[str, int] = {}
        self.loaded: tuple[str, Any, dict[str, Any]] = ("", None, {})

    def slot(self, name: str) -> int:
        if name not in self.slots:
            self.slots[name] = int(self.gpu.call(self.gpu.driver.cuMemAlloc, SLOT_BYTES))
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
        """One launch, with memory as its plan says; the parameter bytes and addresses that it had."""
        gpu = self.gpu
        module, functions = self.module(entry["cubin"])
        for name, fill in entry["buffers"].items():
            gpu.write(self.slot(name), Fill(**fill).data())
        for name, fill in entry["symbols"].items():
            status, place, _ = gpu.driver.cuModuleGetGlobal(module, name.encode())
            if int(status) == 0:  # 0 unless the compiler dropped it
                gpu.write(place, Fill(**fill).data())
        function = functions[entry["kernel"]]
        places = gpu.parameters(function)
        data = bytearray(max((offset + size for offset, size in places), default=0))
        addresses = {}
        for (offset, size), parameter in zip(places, entry["parameters"], strict=True):
            if parameter["kind"] == "buffer":
                addresses[parameter["name"]] = self.slot(parameter["value"])
            data[offset : offset + size] = self.bytes_of(parameter, size)
        cluster = entry["cluster"] if any(number > 1 for number in entry["cluster"]) else None
        gpu.launch(function, entry["grid"], entry["block"], cluster, entry["dynamic_shared"], bytes(data))
        return {"param_bytes": bytes(data).hex(), "addresses": addresses}

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
    """Launches some of the plan, in order; a line to `notes` before and after each. 3 when the context is lost.

    A profiler may run the process once a pass: a launch whose buffers were elsewhere in the pass before is noted as
    moved.
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
    """What a process noted, in order; nothing where there is no such file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


# --- processes ----------------------------------------------------------------------------------

LAUNCH = (sys.executable, "-m", "bench.adversary.gpu", "launch")


@dataclass
class Ran:
    """What a process noted: the launches done, in order, and why others were not."""

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
    """Runs `launch` in a process, under `before` (the profiler); kills it when it stands still or the time is over."""
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
    """Ends a process that was started here; politely first, so that the profiler writes what it has."""
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
    """(launches that end, others with the reason): all of them once, without the profiler. After one that does not, the
    others of its cubin are left out."""
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
