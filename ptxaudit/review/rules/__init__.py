"""The rules: one module each, `paNNN_name.py`, whose docstring is its documentation.

A module has a `RULE`: its id, its name, a title, how grave it is, a function from a report to
findings, and an example that triggers it with one that does not. `RULES` is the table of them.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Collection, Iterable
from typing import Any, Literal

from msgspec import field
from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.report.model import Kernel, MemorySite, Report, Site
from ptxaudit.review.findings import Finding, allow

Level = Literal["error", "warning", "note"]


class Example(Record):
    """triggers, clean: CUDA source or PTX; options: of `ptxaudit.audit`, for both (launches: keyword
    arguments of `ptxaudit.Launch`); clean_options: for the second where it differs in them."""

    triggers: str
    clean: str
    options: dict[str, Any] = field(default_factory=dict)
    clean_options: dict[str, Any] | None = None


class Rule(Record):
    """id: "PA001"; name: "load-conflict"; title: a few words; check: the findings in a report; concerns: the sites of
    shared memory that it is about, of_memory: of global and local memory: those of them without a finding are proved to
    keep to it."""

    id: str
    name: str
    title: str
    level: Level
    check: Callable[[Report], Iterable[Finding]]
    example: Example
    concerns: Callable[[Kernel, Site], bool] = lambda kernel, site: False
    of_memory: Callable[[MemorySite], bool] = lambda site: False
    documentation: str = ""


def _load() -> dict[str, Rule]:
    rules = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("pa")):
        loaded = importlib.import_module(f"{__name__}.{module}")
        rule: Rule = loaded.RULE
        rules[rule.id] = replace(rule, documentation=inspect.cleandoc(loaded.__doc__ or ""))
    return rules


def get(name: str) -> Rule:
    """The rule of an id or a name, in any case. Raises InputError with the known ones."""
    wanted = name.strip().lower()
    for rule in RULES.values():
        if wanted in (rule.id.lower(), rule.name):
            return rule
    raise InputError(f"there is no rule {name!r}", "choose one of these rules: " + ", ".join(RULES))


def find(report: Report, ignore: Collection[str] = ()) -> tuple[Finding, ...]:
    """Everything that any rule finds, but those ignored (by id), in the order of the rules; what the
    sources allow is marked."""
    found = [finding for rule in RULES.values() if rule.id not in ignore for finding in rule.check(report)]
    return tuple(allow(found, report.suppressions))


RULES: dict[str, Rule] = _load()
