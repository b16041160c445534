"""The rules: one module each, `paNNN_name.py`, whose docstring is its documentation.

A module has a `RULE`: its id, name, title, severity, a function from a report to findings, and an example that
triggers it with one that does not. `RULES` is the table of them.
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
    """triggers, clean: CUDA source or PTX; options: of `ptxaudit.audit`, for both (launches: keyword arguments of
    `ptxaudit.Launch`); clean_options: for the second if its options differ."""

    triggers: str
    clean: str
    options: dict[str, Any] = field(default_factory=dict)
    clean_options: dict[str, Any] | None = None


class Rule(Record):
    """id: "PA001"; name: "load-conflict"; title: a few words; check: the findings in a report; concerns: whether the
    rule applies to a site in shared memory, of_memory: in global and local memory. Sites that it applies to and that
    have no finding provably comply."""

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
    """The rule with an id or a name, case-insensitive. Raises InputError listing the rules."""
    wanted = name.strip().lower()
    for rule in RULES.values():
        if wanted in (rule.id.lower(), rule.name):
            return rule
    raise InputError(f"there is no rule {name!r}", "choose one of these rules: " + ", ".join(RULES))


def find(report: Report, ignore: Collection[str] = ()) -> tuple[Finding, ...]:
    """All findings of all rules except those ignored (by id), in the order of the rules; those that the sources allow
    are marked."""
    found = [finding for rule in RULES.values() if rule.id not in ignore for finding in rule.check(report)]
    return tuple(allow(found, report.suppressions))


RULES: dict[str, Rule] = _load()
