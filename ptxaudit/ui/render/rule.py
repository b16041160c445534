"""Writes the documentation of rules: as a list, as text or Markdown, or as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ptxaudit.review.rules import Rule


def rule_list(rules: Iterable[Rule]) -> str:
    """One line per rule."""
    rules = list(rules)
    widest = max(len(rule.name) for rule in rules)
    return "".join(f"{rule.id}  {rule.name:<{widest}}  {rule.level:<7}  {rule.title}\n" for rule in rules)


def rule_text(rule: Rule, example: bool = False) -> str:
    """One page, which ends with how to allow a finding."""
    parts = [f"{rule.id} {rule.name} ({rule.level}): {rule.title}", rule.documentation]
    if example:
        parts += [
            "Triggers it:\n\n" + _indented(rule.example.triggers),
            "Does not:\n\n" + _indented(rule.example.clean),
        ]
    parts.append(
        f'To allow one: // ptxaudit: allow({rule.id}, "why")   on its line or the line above; the reason is required.'
    )
    return "\n\n".join(parts) + "\n"


def rule_markdown(rule: Rule, example: bool = False) -> str:
    """The same as Markdown."""
    parts = [
        f"## {rule.id} {rule.name}",
        f"*{rule.title}* ({rule.level})",
        rule.documentation.replace("What to do\n", "**What to do**\n\n"),
    ]
    if example:
        parts += ["Triggers it:", _block(rule.example.triggers), "Does not:", _block(rule.example.clean)]
    parts.append(f'Allow one with `// ptxaudit: allow({rule.id}, "why")` on its line or the line above.')
    return "\n\n".join(parts) + "\n"


def rule_dict(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "level": rule.level,
        "title": rule.title,
        "documentation": rule.documentation,
    }


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.strip().splitlines())


def _block(text: str) -> str:
    return f"```cuda\n{text.strip()}\n```"
