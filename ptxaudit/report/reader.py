"""Reads a JSON report back; a half-cut file or another schema is an InputError that says so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from msgspec import ValidationError, convert
from msgspec.structs import replace

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.report.model import SCHEMA, Kernel, Report
from ptxaudit.report.shown import shown

MOST_DIGITS = 100  # of a figure: what has more cannot be divided, or shown as a share
_LONG, _LONG_BYTES = re.compile(rf"\d{{{MOST_DIGITS}}}"), re.compile(rb"\d{%d}" % MOST_DIGITS)
AGAIN = "write it again with: ptxaudit audit INPUT --format json -o FILE"
_MISSING = re.compile("Object missing required field `(.*?)`(.*)")


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
    # among the digits of parameter bytes too, which are no number
    long = _LONG.search(text) if isinstance(text, str) else _LONG_BYTES.search(text)
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
        report = convert(_told_apart(data), Report)
    except ValidationError as error:
        missing = _MISSING.fullmatch(str(error))
        what_is_wrong = f"there is no '{missing[1]}'{missing[2]}" if missing else str(error)
        raise InputError(f"the {what} does not keep to its schema: {what_is_wrong}", AGAIN, file) from None
    except RecursionError:
        raise InputError(f"this is not a {what}: it is nested too deeply", AGAIN, file) from None
    kernels = tuple(map(_of_older, report.kernels, data["kernels"]))
    return replace(report, kernels=kernels)


def _told_apart(data: dict[str, Any]) -> dict[str, Any]:
    """The document with the accesses to global and local memory beside the sites, as records have them. What is of no
    such form is left to the types."""
    kernels = data.get("kernels")
    if not isinstance(kernels, list):
        return data
    return {**data, "kernels": [_with_memory(kernel) for kernel in kernels]}


def _with_memory(kernel: Any) -> Any:
    sites = kernel.get("sites") if isinstance(kernel, dict) else None
    if not isinstance(sites, list):
        return kernel
    of_memory = [site for site in sites if not _of_shared(site)]
    return {**kernel, "sites": [site for site in sites if _of_shared(site)], "memory": of_memory}


def _of_shared(site: Any) -> bool:
    return not isinstance(site, dict) or site.get("space", "shared") == "shared"


def _of_older(kernel: Kernel, entry: dict[str, Any]) -> Kernel:
    """A kernel with all figures, of which an older report has one: k was the figure, and so what is proved."""
    entries = [site for site in entry["sites"] if _of_shared(site)]
    if all("line_class_proved" in site for site in entries):
        return kernel
    known = [site.lines is not None and "line_class_proved" not in of for site, of in zip(kernel.sites, entries)]
    sites = tuple(
        replace(site, line_class_proved=site.line_class_max, lines_proved=site.lines) if older else site
        for site, older in zip(kernel.sites, known)
    )
    return replace(kernel, sites=sites)
