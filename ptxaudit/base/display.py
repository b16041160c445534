"""How records show themselves, in a notebook and as text: what writes them is found by its name, as records import no
page."""

from __future__ import annotations

from importlib import import_module
from typing import Any

NOTEBOOK = "ptxaudit.ui.render.notebook"
TEXT = "ptxaudit.ui.render.overview"


def html(function: str, record: Any) -> str:
    """A record as a fragment of HTML, by a function of the module that writes them."""
    found: str = getattr(import_module(NOTEBOOK), function)(record)
    return found


def text(function: str, record: Any) -> str:
    """A record as a few lines of text, by a function of the module that writes these."""
    found: str = getattr(import_module(TEXT), function)(record)
    return found
