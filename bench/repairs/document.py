"""Writes the table of docs/fixes.md from the measurements.

{"kernel": "turn", "before": {"wavefronts": 4224, …}, …}
->  | turn | pad the row to 33 floats | 4,224 → 256 | 4,224 → 256 | … |
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "fixes.md"
MEASURED = ROOT / "tests" / "data" / "repairs_sm90.json.gz"
_MARKS = re.compile(r"(<!-- measured -->\n).*?(<!-- /measured -->)", re.DOTALL)
_SAME_TIME = 0.02  # relative difference between two timings of one kernel


def measured(file: Path = MEASURED) -> dict[str, Any]:
    """The document that `measure` writes."""
    data = file.read_bytes()
    return json.loads(gzip.decompress(data) if file.suffix == ".gz" else data)


def kept(document: dict[str, Any]) -> dict[str, Any]:
    """The part of the document that is committed."""
    wanted = (
        "case",
        "origin",
        "kernel",
        "demangled",
        "repairs",
        "bytes",
        "instructions",
        "same",
        "microseconds",
        "before",
        "after",
    )
    launches = []
    for launch in document["launches"]:
        shape = {key: launch["table"][key] for key in ("grid", "block", "params") if key in launch["table"]}
        launches.append({key: launch[key] for key in wanted} | {"launch": shape})
    return {key: document[key] for key in ("device", "compiler", "arch")} | {"launches": launches}


def counted(launch: dict[str, Any], side: str) -> int:
    """Wavefronts by the hardware's counter, without those that belong to no shared-memory instruction."""
    hardware = launch[side]["hardware"]
    return round(hardware[""] - (hardware["_op_misc"] or 0))


def table(document: dict[str, Any]) -> str:
    """The rows, beginning with the greatest gain."""
    rows = [
        (
            "| kernel | of | repair | excess predicted | wavefronts predicted | counted | shared bytes | instructions |"
            " time | |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for launch in sorted(document["launches"], key=lambda one: -_ratio(one)):
        before, after = launch["before"], launch["after"]
        excess = [side["wavefronts"] - side["ideal"] for side in (before, after)]
        name = re.sub(r"^void |\(.*", "", launch["demangled"])
        said = "<br>".join(repair.replace("|", "\\|") for repair in launch["repairs"])
        rows.append(
            f"| {name.partition('<')[0]} | {launch['origin']} | {said} | {_change(*excess)} |"
            f" {_change(before['wavefronts'], after['wavefronts'])} |"
            f" {_change(counted(launch, 'before'), counted(launch, 'after'))} | {_change(*launch['bytes'])} |"
            f" {_change(*launch['instructions'])} | {_time(launch)} |"
        )
    return "\n".join(rows) + "\n"


def _ratio(launch: dict[str, Any]) -> float:
    took = launch["microseconds"]
    return took["before"] / took["after"] if took else 0.0


def _change(before: float, after: float) -> str:
    return f"{before:,} → {after:,}" if before != after else f"{before:,}"


def _time(launch: dict[str, Any]) -> str:
    took = launch["microseconds"]
    if took is None:
        return "– | not timed"
    ratio = _ratio(launch)
    verdict = "the same" if abs(ratio - 1) <= _SAME_TIME else "faster" if ratio > 1 else "**slower**"
    return f"{took['before']:,.0f} → {took['after']:,.0f} µs | {ratio:.2f} {verdict}"


def document(measured: Path) -> None:
    """Keeps the measurements, and writes the page's table."""
    found = json.loads(measured.read_text()) if measured != MEASURED else globals()["measured"]()
    if measured != MEASURED:
        MEASURED.write_bytes(gzip.compress(json.dumps(kept(found), separators=(",", ":")).encode(), mtime=0))
        found = kept(found)
    PAGE.write_text(
        _MARKS.sub(lambda match: match[1] + table(found) + match[2], PAGE.read_text(encoding="utf-8")), encoding="utf-8"
    )
