"""The base of a report's parts, and their conversion to plain values."""

from __future__ import annotations

import json
from typing import Any

from msgspec import to_builtins

from ptxaudit.base.records import Record


class Entry(Record, forbid_unknown_fields=True):
    """A part of a report; unknown keys are errors."""


def plain(value: Any) -> Any:
    """Converts records to dicts and tuples to lists, recursively: the value that reading its JSON would give."""
    return json.loads(json.dumps(to_builtins(value)))
