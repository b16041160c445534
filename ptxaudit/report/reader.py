"""Reads a JSON report back; a half-cut file or another schema is an InputError that says so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypeVar

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.base.status import Status
from ptxaudit.base.typecheck import check_types
from ptxaudit.report.model import (
    SCHEMA,
    Code,
    Condition,
    Fix,
    Frame,
    Input,
    Kernel,
    LaunchRecord,
    Local,
    Loop,
    LoopShare,
    MemorySite,
    Moved,
    Occupancy,
    Pairing,
    Pattern,
    Problem,
    Replacement,
    Report,
    Seen,
    Site,
    Source,
    Span,
    Spills,
    Step,
    Suppression,
    Tool,
    Trip,
    Why,
)
from ptxaudit.report.shown import shown

Record = TypeVar("Record")
MOST_DIGITS = 100  # of a figure: what has more cannot be divided, or shown as a share
_LONG, _LONG_BYTES = re.compile(rf"\d{{{MOST_DIGITS}}}"), re.compile(rb"\d{%d}" % MOST_DIGITS)
AGAIN = "write it again with: ptxaudit audit INPUT --format json -o FILE"


def read_report(path: str | Path) -> Report:
    """The report in a file. Raises InputError with the file, and the line where JSON ends."""
    name = str(path)
    try:
        text = files.read_bytes(path, limits.DOCUMENT).decode("utf-8")
    except OSError as error:
        raise InputError(f"cannot read the report: {error.strerror}", "check the path", name) from None
    except UnicodeDecodeError:
        raise InputError("this is not a JSON report: the file is not UTF-8 text", AGAIN, name) from None
    return shown(parse_report(text, name))


def parse_report(text: str, file: str | None = None) -> Report:
    """The report in `text`; `file` is its name in messages."""
    try:
        data = json_of(text)
    except json.JSONDecodeError as error:
        cut = not text[error.pos :].strip() or error.msg.startswith("Unterminated")
        what = "the report ends in the middle: it was cut" if cut else f"this is not JSON: {error.msg}"
        raise InputError(what, AGAIN, file, error.lineno, error.colno) from None
    except RecursionError:
        raise InputError("this is not a report: it is nested too deeply", AGAIN, file) from None
    except ValueError as error:  # a number of more digits than Python reads
        raise InputError(f"this is not a report: {error}", AGAIN, file) from None
    return report_from_dict(data, file)


def json_of(text: str | bytes) -> Any:
    """What JSON says. Raises ValueError for what is none, and for a number of so many digits that it is no figure."""
    long = (_LONG if isinstance(text, str) else _LONG_BYTES).search(
        text
    )  # among the digits of parameter bytes too, which are no number
    return json.loads(text, parse_int=_figure) if long else json.loads(text)


def _figure(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a figure of {len(digits):,} digits")
    return int(digits)


def report_from_dict(data: Any, file: str | None = None, what: str = "report") -> Report:
    """The report of a parsed document, which the user calls `what`. Raises InputError for another schema or a missing
    key.
    """
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema is None:
        raise InputError(f'this is not a ptxaudit {what}: there is no "schema": "{SCHEMA}" in it', AGAIN, file)
    if schema != SCHEMA:
        raise InputError(f'the {what} has schema "{schema}"; this version reads "{SCHEMA}"', AGAIN, file)
    try:
        report = Report(
            tool=Tool(**data["tool"]),
            inputs=tuple(Input(**entry) for entry in data["inputs"]),
            kernels=tuple(_kernel(entry) for entry in data["kernels"]),
            problems=tuple(Problem(**entry) for entry in data["problems"]),
            suppressions=tuple(
                Suppression(**{key: _tuple(value) for key, value in entry.items()})
                for entry in data.get("suppressions", ())
            ),
        )
        check_types(report)
        return report
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        missing = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"the {what} does not keep to its schema: {missing}", AGAIN, file) from None


def _launch(entry: dict[str, Any]) -> LaunchRecord:
    symbols = entry.get("symbols")
    of_symbols = symbols and {name: _tuple(value) for name, value in symbols.items()}
    return LaunchRecord(**{key: _tuple(value) for key, value in entry.items()} | {"symbols": of_symbols})


def _kernel(entry: dict[str, Any]) -> Kernel:
    launch = entry["launch"]
    return Kernel(
        name=entry["name"],
        demangled=entry["demangled"],
        isa=entry["isa"],
        arch=entry["arch"],
        input=entry["input"],
        machine=entry["machine"],
        launch=launch and _launch(launch),
        assumed=tuple(entry["assumed"]),
        notes=tuple(entry["notes"]),
        shared_static=entry["shared_static"],
        sites=tuple(_site(site) for site in entry["sites"] if site.get("space", "shared") == "shared"),
        memory=tuple(_memory_site(site) for site in entry["sites"] if site.get("space", "shared") != "shared"),
        registers=entry.get("registers"),
        instructions=entry.get("instructions"),
        stack=entry.get("stack"),
        barriers=entry.get("barriers"),
        spills=_record(Spills, entry.get("spills")),
        occupancy=_occupancy(entry.get("occupancy")),
        code=_record(Code, entry.get("code")),
        loop_shares=tuple(LoopShare(**loop) for loop in entry.get("loop_shares", ())),
        local=tuple(Local(**(local | {"source": _source(local["source"])})) for local in entry.get("local", ())),
        loops=tuple(Loop(**(loop | {"sites": _tuple(loop["sites"])})) for loop in entry.get("loops", ())),
    )


def _record(cls: type[Record], entry: dict[str, Any] | None) -> Record | None:
    return None if entry is None else cls(**entry)


def _occupancy(entry: dict[str, Any] | None) -> Occupancy | None:
    return (
        None
        if entry is None
        else Occupancy(**entry | {"steps": tuple(Step(**step) for step in entry.get("steps", ()))})
    )


def _site(entry: dict[str, Any]) -> Site:
    read = {
        "source": _source,
        "status": Status,
        "bounds": _tuple,
        "per_request": _span,
        "ideal_per_request": _span,
        "excess_per_request": _span,
        "conditions": lambda rows: tuple(Condition(**row) for row in rows),
        "trips": lambda rows: tuple(Trip(**row) for row in rows),
        "fix": _fix,
        "patterns": lambda rows: tuple(map(_pattern, rows)),
        "unaligned": _tuple,
        "why": _why,
        "pairing": lambda entry: entry and Pairing(**{key: _tuple(value) for key, value in entry.items()}),
    }
    if "line_class_proved" not in entry and entry["lines"] is not None:  # an older report, of which k was the figure
        entry = entry | {"line_class_proved": entry["line_class_max"], "lines_proved": entry["lines"]}
    return Site(**{key: read[key](value) if key in read else value for key, value in entry.items()})


def _tuples(cls: type[Record], entry: dict[str, Any]) -> Record:
    """A record whose lists are tuples."""
    return cls(**{key: _tuple(value) for key, value in entry.items()})


def _pattern(entry: dict[str, Any]) -> Pattern:
    return _tuples(Pattern, entry | {"seen": tuple(Seen(**one) for one in entry["seen"])})


def _fix(entry: dict[str, Any] | None) -> Fix | None:
    if entry is None:
        return None
    moved = entry.get("moved")
    replacements = tuple(Replacement(**one) for one in entry["replacements"])
    return Fix(**entry | {"replacements": replacements, "moved": moved and _tuples(Moved, moved)})


def _memory_site(entry: dict[str, Any]) -> MemorySite:
    read = {
        "source": _source,
        "status": Status,
        "bounds": _tuple,
        **dict.fromkeys(("per_request", "ideal_per_request", "excess_per_request"), _span),
        "conditions": lambda rows: tuple(Condition(**row) for row in rows),
        "trips": lambda rows: tuple(Trip(**row) for row in rows),
        "unaligned": _tuple,
        "why": _why,
    }
    return MemorySite(**{key: read[key](value) if key in read else value for key, value in entry.items()})


def _why(entry: dict[str, Any] | None) -> Why | None:
    if entry is None:
        return None
    inner = {
        "unknowns": tuple(entry["unknowns"]),
        "parts": tuple(_why(part) for part in entry["parts"]),
        "cause": _why(entry["cause"]),
    }
    return Why(**(entry | inner))


def _source(entry: dict[str, Any] | None) -> Source | None:
    if entry is None:
        return None
    inlined = tuple(Frame(**frame) for frame in entry["inlined"])
    return Source(entry["file"], entry["line"], entry["column"], entry["text"], inlined)


def _span(entry: dict[str, Any] | None) -> Span | None:
    return None if entry is None else Span(**entry)


def _tuple(value: Any) -> Any:
    return tuple(_tuple(item) for item in value) if isinstance(value, list) else value
