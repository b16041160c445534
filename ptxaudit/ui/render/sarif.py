"""Writes SARIF 2.1.0, for GitHub and other code scanning.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ptxaudit.report.model import Fix, Frame, Problem, Site, Source
from ptxaudit.report.paths import below
from ptxaudit.review.rules import RULES, Rule
from ptxaudit.ui.render.checked import Checked, Result
from ptxaudit.ui.render.rows import fix_line

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 25_000  # GitHub's limit for one run; the worst are kept
BASE = "SRCROOT"
FINGERPRINT = "ptxauditSite/v1"

_INDEX = {rule: at for at, rule in enumerate(RULES)}
_FIGURES = ("status", "requests", "wavefronts", "ideal", "excess", "ways", "sectors", "sectors_ideal", "sectors_excess")


def sarif(checked: Checked) -> str:
    """The whole log, with one run."""
    results = checked.results
    left_out = len(results) - MOST_RESULTS
    notifications = [notification(problem, checked.root) for problem in checked.report.problems]
    if left_out > 0:
        notifications.append(
            {
                "level": "warning",
                "message": {"text": f"{left_out:,} results were left out: a run holds {MOST_RESULTS:,}"},
            }
        )
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": checked.report.tool.name,
                "version": checked.report.tool.version,
                "rules": [_rule(rule) for rule in RULES.values()],
            }
        },
        "columnKind": "utf16CodeUnits",
        "invocations": [
            {"executionSuccessful": not checked.report.problems, "toolExecutionNotifications": notifications}
        ],
    }
    if checked.root is not None:
        run["originalUriBaseIds"] = {BASE: {"uri": f"file://{quote(PurePath(checked.root).as_posix())}/"}}
    # one result per line: json's indented output is ten times slower
    lines = ",\n".join(
        json.dumps(_result(result, checked.root), ensure_ascii=False) for result in results[:MOST_RESULTS]
    )
    head = json.dumps(run, indent=1, ensure_ascii=False).removesuffix("\n}")
    return f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{head},\n "results": [\n{lines}\n]}}]}}\n'


def _rule(rule: Rule) -> dict[str, Any]:
    from ptxaudit.ui.render.rule import rule_markdown, rule_text

    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.documentation.split("\n\n")[0]},
        "help": {"text": rule_text(rule), "markdown": rule_markdown(rule)},
        "defaultConfiguration": {"level": rule.level},
        "properties": {"tags": ["performance", "cuda", "shared-memory"]},
    }


def _result(result: Result, root: str | None) -> dict[str, Any]:
    kernel, site = result.finding.kernel, result.finding.site
    location: dict[str, Any] = {
        "physicalLocation": physical(result.file, result.place.line, result.place.column, result.place.text)
    }
    if kernel:
        location["logicalLocations"] = [
            {"fullyQualifiedName": kernel.demangled, "decoratedName": kernel.name, "kind": "function"}
        ]
    written: dict[str, Any] = {
        "ruleId": result.rule.id,
        "ruleIndex": _INDEX[result.rule.id],
        "level": result.level,
        "message": {"text": result.message + "."},
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: result.fingerprint},
    }
    if related := list(_related(result)):
        written["relatedLocations"] = [
            {
                "id": at,
                "message": {"text": message},
                "physicalLocation": physical(below(place.file, root), place.line, None, place.text),
            }
            for at, (place, message) in enumerate(related)
        ]
    if site:
        figures = {name: getattr(site, name, None) for name in _FIGURES}
        written["properties"] = {"site": site.id, "opcode": site.opcode} | {
            k: v for k, v in figures.items() if v is not None
        }
    if isinstance(site, Site) and site.fix:
        written["properties"]["fix"] = fix_line(site.fix).removeprefix("fix: ")
        if site.fix.replacements:
            written["fixes"] = [_fix(site.fix, root)]
    if result.allowed:
        written["suppressions"] = [{"kind": "inSource", "justification": result.allowed.reason}]
    if result.state:
        written["baselineState"] = result.state
    return written


def _fix(fix: Fix, root: str | None) -> dict[str, Any]:
    """A repair as changes to files."""
    changes: dict[str, list[dict[str, Any]]] = {}
    for one in fix.replacements:
        region = {
            "startLine": one.line,
            "startColumn": one.column,
            "endLine": one.end_line,
            "endColumn": one.end_column,
        }
        changes.setdefault(one.file, []).append({"deletedRegion": region, "insertedContent": {"text": one.text}})
    return {
        "description": {"text": fix_line(fix).removeprefix("fix: ")},
        "artifactChanges": [
            {"artifactLocation": _artifact(below(file, root)), "replacements": replacements}
            for file, replacements in changes.items()
        ],
    }


def _related(result: Result) -> Iterator[tuple[Source | Frame, str]]:
    """The places of the inline stack other than the one that is shown."""
    if result.source is None:
        return
    if result.place.file != result.source.file or result.place.line != result.source.line:
        yield result.source, "the access itself"
    for frame in result.source.inlined:
        if (frame.file, frame.line) != (result.place.file, result.place.line):
            yield frame, f"{frame.function or 'the code'} was inlined here"


@lru_cache(maxsize=1024)
def _artifact(file: str) -> dict[str, str]:
    path = PurePath(file)
    return (
        {"uri": f"file://{quote(path.as_posix())}"}
        if path.is_absolute()
        else {"uri": quote(path.as_posix()), "uriBaseId": BASE}
    )


def physical(file: str, line: int | None, column: int | None, text: str | None) -> dict[str, Any]:
    """SARIF's physicalLocation of a place; `file` is relative to the root if it is below it."""
    location: dict[str, Any] = {"artifactLocation": _artifact(file)}
    if line:
        region: dict[str, Any] = {"startLine": line}
        if column:
            region["startColumn"] = column
        if text:
            region["snippet"] = {"text": text}
        location["region"] = region
    return location


def notification(problem: Problem, root: str | None) -> dict[str, Any]:
    """The notification of a problem."""
    text = problem.what + (f": {problem.hint}" if problem.hint else "")
    written: dict[str, Any] = {"level": "error", "message": {"text": text}}
    if problem.file:
        written["locations"] = [
            {"physicalLocation": physical(below(problem.file, root), problem.line, problem.column, None)}
        ]
    return written
