"""A part of a report, and what it is in plain values."""

from __future__ import annotations

import json
from typing import Any

from msgspec import to_builtins

from ptxaudit.base.records import Record


class Entry(Record, forbid_unknown_fields=True):
    """A part of the report of which no key is unknown."""


def plain(value: Any) -> Any:
    """Records as dicts and tuples as lists, all the way down: what `json` reads of what it writes."""
    return json.loads(json.dumps(to_builtins(value)))
