"""Measures a plan on a GPU: launches that hang or fault are found first, without the profiler, then the others are profiled.

    python -m bench.adversary.gpu run FOLDER -o OUT --seconds 240     everything, as far as the time goes
    python -m bench.adversary.gpu trial FOLDER -o OUT                 how long a launch takes under each way to call the profiler

Needs Python, numpy, cuda-bindings and Nsight Compute, and of this repository `bench/profiled.py` and `bench/adversary`.
OUT/part-N.json.gz has the results so far, OUT/failed.json what was left out and why. What runs on the GPU is a process of
its own (`launch`), which notes each launch before and after; one that stands still is killed and the next launches go on.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import signal
import struct
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.adversary.plan import CUBINS, read
from bench.adversary.program import Fill
from bench.profiled import (
    BY_INSTRUCTION,
    WAVEFRONTS,
    Gpu,
    device_line,
    executed_of,
    import_ncu_report,
    sites_of,
    totals_of,
)

KINDS = ("", "_op_ld", "_op_st", "_op_atom", "_op_misc")
WITHOUT_COPIES = ("_op_ld", "_op_st", "_op_atom")            # what is left of the whole is cp.async's: not to be had with these
STACK_BYTES = 8192               # of a thread: functions that call themselves, built without optimisation
SLOT_BYTES = 1 << 16             # of a buffer: four times what the kernels index
STILL = 8.0                      # seconds without a launch, after which a process is given up
STILL_PROFILED = 40.0            # the same under the profiler
BATCH = 150                      # launches a process of the profiler
PART = 450                       # launches a file of results


@dataclass(frozen=True)
class Way:
    """A way to call the profiler. kinds: of the hardware's totals; every few of them take a pass more."""

    kinds: tuple[str, ...] = KINDS
    options: tuple[str, ...] = ()

    def command(self, report: Path) -> tuple[str, ...]:
        metrics = (*BY_INSTRUCTION, *(WAVEFRONTS.format(kind) for kind in self.kinds))
        return ("ncu", "--clock-control", "none", "--cache-control", "none", *self.options, "--metrics", ",".join(metrics),
                "--force-overwrite", "--export", str(report))


# Timed on an H100 (Nsight Compute 2025.3.1), 544 launches of 14 builds: "metrics" 206 ms a launch in 4 passes; with the section
# SourceCounters 6 passes, 40 % more. "application" runs the program once a pass, and with that pointers may move between passes.
WAYS = {
    "metrics": Way(),
    "few": Way(WITHOUT_COPIES),
    "application": Way(options=("--replay-mode", "application", "--app-replay-match", "grid")),
    "application-few": Way(WITHOUT_COPIES, ("--replay-mode", "application", "--app-replay-match", "grid")),
}


# --- launching ----------------------------------------------------------------------------------

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
            if int(status) == 0:                     # 0 unless the compiler dropped it
                gpu.write(place, Fill(**fill).data())
        function = functions[entry["kernel"]]
        places = gpu.parameters(function)
        data = bytearray(max((offset + size for offset, size in places), default=0))
        addresses = {}
        for (offset, size), parameter in zip(places, entry["parameters"], strict=True):
            if parameter["kind"] == "buffer":
                addresses[parameter["name"]] = self.slot(parameter["value"])
            data[offset:offset + size] = self.bytes_of(parameter, size)
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
    """Launches some of the plan, in order; a line to `notes` before and after each. 3 when the context is lost."""
    plan = read(folder)
    launcher = Launcher(folder)
    with notes.open("w") as out:
        def note(**line: Any) -> None:
            out.write(json.dumps(line) + "\n")
            out.flush()

        note(device=launcher.gpu.name())
        for number in numbers:
            note(begin=number)
            try:
                note(done=number, at=time.time(), **launcher.launch(plan[number]))
            except Exception as error:
                lost = int(launcher.gpu.driver.cuCtxSynchronize()[0]) != 0
                note(failed=number, why=str(error), lost=lost)
                if lost:
                    return 3
    return 0


# --- processes ----------------------------------------------------------------------------------

LAUNCH = (sys.executable, "-m", "bench.adversary.gpu", "launch")


@dataclass
class Ran:
    """What a process noted: the launches done, in order, and why others were not."""

    done: list[dict[str, Any]]
    failed: dict[int, str]
    device: str
    seconds: float


def supervised(folder: Path, numbers: list[int], notes: Path, before: tuple[str, ...] = (), end: float = float("inf"), log: Path | None = None) -> Ran:
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
    for line in notes.read_text().splitlines() if notes.exists() else ():
        note = json.loads(line)
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
    """Ends a process that was started here, with its children; politely first, so that the profiler writes what it has."""
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


# --- reading ------------------------------------------------------------------------------------

def join(folder: Path, report: Path, notes: Path, output: Path) -> None:
    """Joins a report with what the process noted, in order, into one document."""
    plan = read(folder)
    lines = [json.loads(line) for line in notes.read_text().splitlines()]
    done = [note for note in lines if "done" in note]
    context = import_ncu_report().load_report(str(report))
    actions = [context.range_by_idx(r).action_by_idx(a) for r in range(context.num_ranges()) for a in range(context.range_by_idx(r).num_actions())]
    launches, code = [], {}
    for action, note in zip(actions, done):
        entry = plan[note["done"]]
        if action.name() != entry["kernel"]:
            raise SystemExit(f"{action.name()} in the report, {entry['kernel']} in the notes")
        rows, opcodes = executed_of(action)
        launches.append(entry | {
            "number": note["done"], "at": note["at"], "workload": str(entry["seed"]), "param_bytes": note["param_bytes"], "addresses": note["addresses"], "params_by": "this launch",
            "sites": sites_of(action), "hardware": totals_of(action, WAVEFRONTS, KINDS), "executed": [list(column) for column in zip(*rows)],
        })
        code.setdefault(entry["cubin"], {}).update(opcodes)
    document = {
        "device": next(note["device"] for note in lines if "device" in note), "launches": launches, "code": code,
        "site_columns": ["offset", "sass", "wavefronts (memory_l1_wavefronts_shared)", "ideal", "inst_executed", "thread_inst_executed_true"],
        "executed_columns": ["offset", "inst_executed", "thread_inst_executed_true"], "param_bytes": "the parameter buffer of this launch",
    }
    write(output, document)
    print(f"{len(actions)} launches in the report, {len(done)} noted")


def write(path: Path, document: dict[str, Any]) -> None:
    scratch = path.with_suffix(".tmp")
    scratch.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0))
    scratch.replace(path)


class Parts:
    """Results in few files, each written anew when more belongs into it."""

    def __init__(self, out: Path) -> None:
        self.out, self.number = out, 0
        self.document: dict[str, Any] | None = None

    def add(self, path: Path) -> int:
        new = json.loads(gzip.decompress(path.read_bytes()))
        if self.document is None or len(self.document["launches"]) >= PART:
            self.number += self.document is not None
            self.document = new | {"device": device_line(new["device"])}
        else:
            self.document["launches"] += new["launches"]
            for cubin, opcodes in new["code"].items():
                self.document["code"].setdefault(cubin, {}).update(opcodes)
        write(self.out / f"part-{self.number}.json.gz", self.document)
        return len(new["launches"])


# --- the whole ----------------------------------------------------------------------------------

def unpack(folder: Path, work: Path) -> Path:
    """A folder with the plan and the cubins."""
    made = work / "plan"
    made.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / CUBINS) as archive:
        archive.extractall(made, filter="data")
    (made / "plan.json.gz").write_bytes((folder / "plan.json.gz").read_bytes())
    return made


def run(folder: Path, out: Path, work: Path, seconds: float, way: str, batch: int) -> None:
    """Screens and measures the whole plan, as far as the time goes."""
    end = time.monotonic() + seconds
    out.mkdir(parents=True, exist_ok=True)
    made = unpack(folder, work)
    count = len(read(made))
    good, failed = screen(made, work, list(range(count)), end)
    print(f"{len(good)} of {count} launches end by themselves; {seconds - (end - time.monotonic()):.1f} s", flush=True)
    for number, why in failed.items():
        print(f"  {number}: {why}", flush=True)
    parts = Parts(out)
    readers: list[tuple[subprocess.Popen, Path]] = []
    left, at = good, 0
    while left and time.monotonic() < end:
        report, notes, joined = work / f"{at}.ncu-rep", work / f"{at}.notes", work / f"{at}.json.gz"
        ran = supervised(made, left[:batch], notes, WAYS[way].command(report), end, work / f"{at}.log")
        failed |= ran.failed
        seen = len(ran.done) + len(ran.failed)
        print(f"batch {at}: {len(ran.done)} launches in {ran.seconds:.1f} s, {len(ran.failed)} failed", flush=True)
        if not seen:
            print((work / f"{at}.log").read_text(errors="replace")[-1500:])
            seen = 1
        left = left[seen:]
        if report.exists():
            readers.append((subprocess.Popen([sys.executable, "-m", "bench.adversary.gpu", "join", str(made), str(report), str(notes), str(joined)]), joined))
        readers = collect(parts, readers, wait=False)
        at += 1
        (out / "failed.json").write_text(json.dumps(failed, indent=0))
    collect(parts, readers, wait=True)
    print(f"{len(left)} launches were not measured; {seconds - (end - time.monotonic()):.1f} s", flush=True)


def collect(parts: Parts, readers: list[tuple[subprocess.Popen, Path]], wait: bool) -> list[tuple[subprocess.Popen, Path]]:
    """Takes in what the processes that read reports have finished; the others."""
    left = []
    for process, joined in readers:
        if wait:
            process.wait()
        if process.poll() is None:
            left.append((process, joined))
        elif joined.exists():
            parts.add(joined)
    return left


def trial(folder: Path, out: Path, work: Path, count: int, most: float) -> str:
    """Times each way to call the profiler on the first launches; the fastest that gives the same figures as the first."""
    out.mkdir(parents=True, exist_ok=True)
    made = unpack(folder, work)
    numbers, _ = screen(made, work, list(range(count)), time.monotonic() + 60)
    found: dict[str, tuple[float, list]] = {}
    for way in WAYS:
        report, notes, joined = work / f"trial-{way}.ncu-rep", work / f"trial-{way}.notes", work / f"trial-{way}.json.gz"
        ran = supervised(made, numbers, notes, WAYS[way].command(report), time.monotonic() + most, work / f"trial-{way}.log")
        stamps = [note["at"] for note in ran.done]
        each = (stamps[-1] - stamps[0]) / (len(stamps) - 1) if len(stamps) > 1 else float("inf")
        if report.exists():
            subprocess.run([sys.executable, "-m", "bench.adversary.gpu", "join", str(made), str(report), str(notes), str(joined)])
        figures = counted(joined) if joined.exists() else []
        log = (work / f"trial-{way}.log").read_text(errors="replace")
        print(f"{way}: {len(ran.done)} launches in {ran.seconds:.1f} s, {each * 1000:.0f} ms each{'' if figures else ': no figures: ' + log[-600:]}", flush=True)
        found[way] = (ran.seconds / max(len(ran.done), 1), figures)
    reference = found["metrics"][1]
    same = [way for way, (_, figures) in found.items() if figures and sum(a == b for a, b in zip(figures, reference)) >= ALIKE * len(reference)]
    print("same figures:", same, flush=True)
    return min(same or ["metrics"], key=lambda way: found[way][0])


ALIKE = 0.9                      # of the launches: loops of atomics differ from run to run


def counted(path: Path) -> list[list[tuple[int, int, int]]]:
    """(place, wavefronts, requests) of every access of each launch, by instruction."""
    document = json.loads(gzip.decompress(path.read_bytes()))
    return [[(site[0], site[2], site[4]) for site in one["sites"]] for one in document["launches"]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "trial"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("-o", "--out", type=Path, required=True)
        command.add_argument("--work", type=Path, default=Path("/tmp/adversary"))
        command.add_argument("--trial", type=int, default=0 if name == "run" else 20, help="launches to try the ways on")
        command.add_argument("--seconds", type=float, default=240)
        command.add_argument("--way", choices=WAYS, default="metrics")
        command.add_argument("--batch", type=int, default=BATCH)
    command = commands.add_parser("launch")
    command.add_argument("folder", type=Path)
    command.add_argument("numbers", type=Path)
    command.add_argument("notes", type=Path)
    command = commands.add_parser("join")
    for name in ("folder", "report", "notes", "output"):
        command.add_argument(name, type=Path)
    chosen = parser.parse_args()
    if chosen.command == "launch":
        return launch(chosen.folder, json.loads(chosen.numbers.read_text()), chosen.notes)
    if chosen.command == "join":
        join(chosen.folder, chosen.report, chosen.notes, chosen.output)
        return 0
    chosen.work.mkdir(parents=True, exist_ok=True)
    way, begun = chosen.way, time.monotonic()
    if chosen.trial:
        way = trial(chosen.folder, chosen.out, chosen.work, chosen.trial, 60)
        print(f"the fastest: {way}", flush=True)
    if chosen.command == "run":
        run(chosen.folder, chosen.out, chosen.work, chosen.seconds - (time.monotonic() - begun), way, chosen.batch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
