"""Joins reports of the profiler with the launches that they measure, in few files.

join(folder, report, notes, output)     one process's launches as one document
Parts(out).add(output)                  OUT/part-N.json.gz, rewritten as it grows
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from bench.adversary.launching import notes_in
from bench.adversary.plan import read
from bench.profiled import (
    SECTOR_KINDS,
    SECTORS,
    SITE_COLUMNS,
    WAVEFRONTS,
    device_line,
    executed_of,
    import_ncu_report,
    memory_of,
    sites_of,
    totals_of,
)

KINDS = ("", "_op_ld", "_op_st", "_op_atom", "_op_misc")  # of the hardware's totals
PART = 450  # launches per file of results


def join(folder: Path, report: Path, notes: Path, output: Path) -> None:
    """Joins a report with the notes of the process, in order, into one document; leaves out launches that moved."""
    plan = read(folder)
    lines = notes_in(notes)
    done = [note for note in lines if "done" in note]
    context = import_ncu_report().load_report(str(report))
    actions = [
        context.range_by_idx(r).action_by_idx(a)
        for r in range(context.num_ranges())
        for a in range(context.range_by_idx(r).num_actions())
    ]
    launches, code = [], {}
    for action, note in zip(actions, done):
        entry = plan[note["done"]]
        if entry["kernel"] not in (names := names_of(action)):
            raise SystemExit(f"{names} in the report, {entry['kernel']} in the notes")
        if note["moved"]:
            continue
        rows, opcodes = executed_of(action)
        launches.append(
            entry
            | {
                "number": note["done"],
                "at": note["at"],
                "workload": str(entry["seed"]),
                "param_bytes": note["param_bytes"],
                "addresses": note["addresses"],
                "params_by": "this launch",
                "sites": sites_of(action),
                "hardware": totals_of(action, WAVEFRONTS, KINDS),
                "executed": [list(column) for column in zip(*rows)],
            }
            | _memory(action)
        )
        code.setdefault(entry["cubin"], {}).update(opcodes)
    document = {
        "device": next(note["device"] for note in lines if "device" in note),
        "launches": launches,
        "code": code,
        "site_columns": SITE_COLUMNS,
        "executed_columns": ["offset", "inst_executed", "thread_inst_executed_true"],
        "param_bytes": "the parameter buffer of this launch",
    }
    write(output, document)
    print(f"{len(actions)} launches in the report, {len(done)} noted, {sum(note['moved'] for note in done)} moved")


def _memory(action: Any) -> dict[str, Any]:
    """The counts of global and local memory, if they were measured."""
    rows = memory_of(action)
    return {"memory": rows, "sectors": totals_of(action, SECTORS, SECTOR_KINDS)} if rows else {}


def names_of(action: Any) -> tuple[str, ...]:
    """The function's name, and the mangled one, which includes template arguments."""
    return action.name(), action.name(action.NameBase_MANGLED)


def write(path: Path, document: dict[str, Any]) -> None:
    scratch = path.with_suffix(".tmp")
    scratch.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0))
    scratch.replace(path)


class Parts:
    """Results in few files, each rewritten as it grows."""

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


def counted(path: Path) -> list[list[tuple[int, int, int]]]:
    """(place, wavefronts, requests) of every access of each launch, by instruction."""
    document = json.loads(gzip.decompress(path.read_bytes()))
    return [[(site[0], site[2], site[4]) for site in one["sites"]] for one in document["launches"]]
