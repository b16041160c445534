"""The table of docs/speed.md: rows measured again are replaced, the others are kept."""

from __future__ import annotations

from bench.__main__ import table
from bench.figure import Figure

SMALL, TINY = Figure("one kernel", 0.3, 0.6, "s"), Figure("a tiny file", 0.5, 0.25, "s")


def test_rows_that_were_not_measured_again_are_kept_in_place():
    whole = table({"tiny": [TINY], "small": [SMALL]})
    assert whole.splitlines()[2:] == [
        "| one kernel | 0.50 | 0.6 s | `python -m bench small` |",
        "| a tiny file | 2.00 | 0.25 s | `python -m bench tiny` |",
    ]
    again = table({"tiny": [Figure("a tiny file", 0.25, 0.25, "s"), Figure("again", 0.1, 0.2, "s")]}, whole)
    assert again.splitlines()[2:] == [
        "| one kernel | 0.50 | 0.6 s | `python -m bench small` |",
        "| a tiny file | 1.00 | 0.25 s | `python -m bench tiny` |",
        "| again | 0.50 | 0.2 s | `python -m bench tiny` |",
    ]
