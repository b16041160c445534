"""Reads a JSON report back; a truncated file or another schema is an InputError that says so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.report.model import AGAIN, Report, report_from_dict
from ptxaudit.report.shown import shown

__all__ = ["json_of", "parse_report", "read_report", "report_from_dict"]

MOST_DIGITS = 100  # of a figure: more cannot be divided, or shown as a share
_LONG, _LONG_BYTES = re.compile(rf"\d{{{MOST_DIGITS}}}"), re.compile(rb"\d{%d}" % MOST_DIGITS)


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
    except ValueError as error:  # a number with more digits than Python reads
        raise InputError(f"this is not a report: {error}", AGAIN, file) from None
    return report_from_dict(data, file)


def json_of(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError if it is not JSON, or if a number has too many digits for a
    figure."""
    # also matches the digits of parameter bytes, which are not a number
    long = _LONG.search(text) if isinstance(text, str) else _LONG_BYTES.search(text)
    return json.loads(text, parse_int=_figure) if long else json.loads(text)


def _figure(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a figure of {len(digits):,} digits")
    return int(digits)
