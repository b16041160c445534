"""How records display themselves, in a notebook and as text.

The renderers are imported by name when they are needed, because records must not import `ui`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

NOTEBOOK = "ptxaudit.ui.render.notebook"
TEXT = "ptxaudit.ui.render.overview"


def html(function: str, record: Any) -> str:
    """A record as a fragment of HTML, written by a function of the notebook renderer."""
    found: str = getattr(import_module(NOTEBOOK), function)(record)
    return found


def text(function: str, record: Any) -> str:
    """A record as a few lines of text, written by a function of the text renderer."""
    found: str = getattr(import_module(TEXT), function)(record)
    return found
