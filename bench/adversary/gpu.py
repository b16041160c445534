"""Measures a plan on a GPU: first finds launches that hang or fault, without the profiler, then profiles the others.

    python -m bench.adversary.gpu run FOLDER -o OUT --seconds 240     everything, until the time is over
    python -m bench.adversary.gpu run FOLDER -o OUT --way memory      also the sectors of global and local memory
    python -m bench.adversary.gpu trial FOLDER -o OUT                 how long each way to profile takes

Needs Python, numpy, cuda-bindings and Nsight Compute; of this repository, only `bench/profiled.py`,
`bench/archives.py` and `bench/adversary`. OUT/part-N.json.gz has the results so far, OUT/failed.json the launches
that were left out, with the reasons.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench import archives
from bench.adversary.launching import launch, screen, supervised
from bench.adversary.plan import CUBINS, PLAN, read
from bench.adversary.results import KINDS, Parts, counted, join
from bench.profiled import BY_INSTRUCTION, OF_MEMORY, SECTOR_KINDS, SECTORS, WAVEFRONTS

WITHOUT_COPIES = ("_op_ld", "_op_st", "_op_atom")  # cp.async counts only in the total, which these lack
BATCH = 150  # launches per process of the profiler
ALIKE = 0.9  # share of the launches, in a trial: atomic loops differ from run to run


@dataclass(frozen=True)
class Way:
    """A way to call the profiler. kinds: of the hardware's totals; every few of them take another pass. memory: also
    global and local memory."""

    kinds: tuple[str, ...] = KINDS
    options: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    memory: bool = False

    def command(self, report: Path) -> tuple[str, ...]:
        of_memory = (*OF_MEMORY, *map(SECTORS.format, SECTOR_KINDS)) if self.memory else ()
        metrics = ",".join((*BY_INSTRUCTION, *map(WAVEFRONTS.format, self.kinds), *of_memory))
        untouched = ("--clock-control", "none", "--cache-control", "none")
        output = ("--metrics", metrics, "--force-overwrite", "--export", str(report))
        return (*self.before, "ncu", *untouched, *self.options, *output)


# Runs the program once per pass instead of replaying each launch. Address randomisation is off, or buffers would move.
REPLAYED = ("--replay-mode", "application", "--app-replay-match", "grid")
NOT_RANDOM = ("setarch", platform.machine(), "-R")

# Measured on an H100 (Nsight Compute 2025.3.1), 544 launches of 14 builds: "metrics" takes 206 ms per launch, in 4
# passes; with the section SourceCounters 6 passes, 40 % more.
WAYS = {
    "metrics": Way(),
    "few": Way(WITHOUT_COPIES),
    "application": Way(KINDS, REPLAYED, NOT_RANDOM),
    "application-few": Way(WITHOUT_COPIES, REPLAYED, NOT_RANDOM),
}
EVERY = WAYS | {"memory": Way(memory=True)}  # a trial compares those without


def unpack(folder: Path, work: Path) -> Path:
    """Unpacks the plan and the cubins into a folder, and returns it."""
    made = work / "plan"
    made.mkdir(parents=True, exist_ok=True)
    archives.unpack(folder / CUBINS, made)
    (made / PLAN).write_bytes((folder / PLAN).read_bytes())
    return made


def run(folder: Path, out: Path, work: Path, seconds: float, way: str, batch: int) -> None:
    """Screens and measures the whole plan, until the time is over."""
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
        ran = supervised(made, left[:batch], notes, EVERY[way].command(report), end, work / f"{at}.log")
        failed |= ran.failed
        seen = len(ran.done) + len(ran.failed)
        print(f"batch {at}: {len(ran.done)} launches in {ran.seconds:.1f} s, {len(ran.failed)} failed", flush=True)
        if not seen:
            print((work / f"{at}.log").read_text(errors="replace")[-1500:])
            seen = 1
        left = left[seen:]
        if report.exists():
            readers.append(
                (
                    subprocess.Popen(
                        [
                            sys.executable,
                            "-m",
                            "bench.adversary.gpu",
                            "join",
                            str(made),
                            str(report),
                            str(notes),
                            str(joined),
                        ]
                    ),
                    joined,
                )
            )
        readers = collect(parts, readers, wait=False)
        at += 1
        (out / "failed.json").write_text(json.dumps(failed, indent=0))
    collect(parts, readers, wait=True)
    print(f"{len(left)} launches were not measured; {seconds - (end - time.monotonic()):.1f} s", flush=True)


def collect(
    parts: Parts, readers: list[tuple[subprocess.Popen, Path]], wait: bool
) -> list[tuple[subprocess.Popen, Path]]:
    """Adds what the processes that read reports have finished; returns those that still run."""
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
    """Times each way to profile on the first launches; returns the fastest one with the same figures as the first."""
    out.mkdir(parents=True, exist_ok=True)
    made = unpack(folder, work)
    numbers, _ = screen(made, work, list(range(count)), time.monotonic() + 60)
    found: dict[str, tuple[float, list]] = {}
    for way in WAYS:
        report, notes, joined = (
            work / f"trial-{way}.ncu-rep",
            work / f"trial-{way}.notes",
            work / f"trial-{way}.json.gz",
        )
        ran = supervised(
            made, numbers, notes, WAYS[way].command(report), time.monotonic() + most, work / f"trial-{way}.log"
        )
        stamps = [note["at"] for note in ran.done]
        each = (stamps[-1] - stamps[0]) / (len(stamps) - 1) if len(stamps) > 1 else float("inf")
        if report.exists():
            subprocess.run(
                [sys.executable, "-m", "bench.adversary.gpu", "join", str(made), str(report), str(notes), str(joined)]
            )
        figures = counted(joined) if joined.exists() else []
        log = (work / f"trial-{way}.log").read_text(errors="replace")
        print(
            f"{way}: {len(ran.done)} launches in {ran.seconds:.1f} s, {each * 1000:.0f} ms "
            f"each{'' if figures else ': no figures: ' + log[-600:]}",
            flush=True,
        )
        found[way] = (ran.seconds / max(len(ran.done), 1), figures)
    reference = found["metrics"][1]
    same = [
        way
        for way, (_, figures) in found.items()
        if figures and sum(a == b for a, b in zip(figures, reference)) >= ALIKE * len(reference)
    ]
    print("same figures:", same, flush=True)
    return min(same or ["metrics"], key=lambda way: found[way][0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "trial"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("-o", "--out", type=Path, required=True)
        command.add_argument("--work", type=Path, default=Path("/tmp/adversary"))
        command.add_argument(
            "--trial", type=int, default=0 if name == "run" else 20, help="launches to try the ways on"
        )
        command.add_argument("--seconds", type=float, default=240)
        command.add_argument("--way", choices=EVERY, default="metrics")
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
