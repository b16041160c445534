"""The implementation of `ptxaudit.testing`: `assert_conflict_free` audits and fails with the lines that conflict.

    def test_transpose():
        assert_conflict_free("transpose.cu", launch={"kernel": "transpose", "grid": (2, 2), "block": (32, 32)})

No GPU is needed. In pytest, `--ptxaudit-toolchain 12.9` runs the same assertions with another CUDA release, and
`--ptxaudit-report DIR` keeps an HTML and a JSON report of each.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ptxaudit.base.errors import InputError

if TYPE_CHECKING:
    from ptxaudit.frontend.launch.launch import Launch
    from ptxaudit.report.model import Report
    from ptxaudit.review.findings import Finding

RULES = ("PA001", "PA002", "PA003", "PA004")
LONGEST_NAME = 200  # of a file, in characters


@dataclass
class Defaults:
    """The options that the pytest plugin sets for every assertion; kept: the number of reports written per test."""

    toolchain: str | None = None
    report_folder: str | None = None
    kept: Counter[str] = field(default_factory=Counter)


defaults = Defaults()


def assert_conflict_free(
    source: Any,
    *,
    launch: Launch | Mapping[str, Any] | str | os.PathLike[str] | Sequence[Launch | Mapping[str, Any]] | None = None,
    allow: Iterable[str] | Mapping[str, int] = (),
    rules: Iterable[str] = RULES,
    strict: bool = True,
    **options: Any,
) -> Report:
    """Audits and raises AssertionError where a request takes more wavefronts than its ideal.

    source: an input of `ptxaudit.audit`: a path of a source or compiled file, text, bytes, an object with code.
    launch: a `ptxaudit.Launch`, its arguments as a dict, several of these, or a launch file.
    allow: places ("k.cu:14"), kernels (names or globs) or rules ("PA003") that may conflict; a mapping gives the
    largest accepted excess of one request: {"k.cu:14": 1}.
    rules: the rules that count, by id or name.
    strict: a site that cannot be proved free of conflicts fails too.
    options: of `ptxaudit.audit`: arch, isa, kernels, defines, …

    Returns the report. Raises InputError if something cannot be audited.
    """
    from ptxaudit.review import rules as known
    from ptxaudit.review.audit import audit
    from ptxaudit.review.rules import find

    if defaults.toolchain is not None:
        options.setdefault("toolchain", defaults.toolchain)
    wanted = {known.get(rule).id for rule in rules}
    limits = _limits(allow)
    report = audit(source, launches=_launches(launch), **options)
    _keep(report)
    report.raise_for_problems()
    if not report.kernels:
        raise InputError("there is no kernel to check", "check the source and the kernels= argument")
    found = [finding for finding in find(report) if finding.rule in wanted and finding.allowed is None]
    against = [finding for finding in found if (strict or finding.certain) and not _accepted(finding, limits)]
    if against:
        raise AssertionError(_message(report, against))
    return report


def _limits(allow: Iterable[str] | Mapping[str, int]) -> dict[str, int | None]:
    if isinstance(allow, str):
        allow = (allow,)
    return dict(allow) if isinstance(allow, Mapping) else dict.fromkeys(allow)


def _accepted(finding: Finding, limits: Mapping[str, int | None]) -> bool:
    """Whether an entry names the finding's rule, place or kernel, and allows its excess."""
    from ptxaudit.frontend.launch.launch import Launch
    from ptxaudit.review.figures import above_ideal

    site, high = finding.site, None
    if site is not None:
        _, high = above_ideal(site)
    for name, limit in limits.items():
        where = f"{PurePath(finding.where.file).name}:{finding.where.line}"
        named = (
            name == finding.rule
            or fnmatchcase(where, name)
            or finding.kernel is not None
            and Launch(name).matches(finding.kernel.name)
        )
        if named and (limit is None or high is not None and high <= limit):
            return True
    return False


def _launches(given: Any) -> tuple[Launch, ...]:
    from ptxaudit.frontend.launch.launch import Launch
    from ptxaudit.frontend.launch.launch_file import read_launches

    if given is None:
        return ()
    if isinstance(given, (str, os.PathLike)):
        return tuple(read_launches(given))
    several = [given] if isinstance(given, (Launch, Mapping)) else given
    return tuple(one if isinstance(one, Launch) else Launch(**one) for one in several)


def _message(report: Report, findings: Sequence[Finding]) -> str:
    """The conflicts line by line, then the tables of their kernels."""
    from ptxaudit.base.words import plural
    from ptxaudit.review.findings import fold
    from ptxaudit.ui.render.text import kernel_text

    folded = fold(findings)
    sure = sum(one.finding.certain for one in folded)
    counts = [plural(sure, "conflict")] if sure else []
    if len(folded) > sure:
        counts.append(
            f"{plural(len(folded) - sure, 'site')} not proved free of conflicts (pass strict=False to allow them)"
        )
    lines = [", ".join(counts)]
    for one in folded:
        place = one.finding.where
        lines.append(f"  {PurePath(place.file).name}:{place.line}: {one.finding.rule}: {one.what}")
    concerned = {id(finding.kernel) for finding in findings}
    tables = [kernel_text(kernel) for kernel in report.kernels if id(kernel) in concerned]
    return "\n\n".join(["\n".join(lines), *tables])


def _keep(report: Report) -> None:
    """Writes the report beside those of other tests if --ptxaudit-report is given."""
    if defaults.report_folder is None:
        return
    import re
    from pathlib import Path

    from ptxaudit.base.outputs import write
    from ptxaudit.ui.render.checked import Checked
    from ptxaudit.ui.render.html import html

    test = os.environ.get("PYTEST_CURRENT_TEST", "assertion").rsplit(" (", 1)[0]
    stem = re.sub(r"\W+", "-", test).strip("-")[-LONGEST_NAME:]
    defaults.kept[stem] += 1
    if defaults.kept[stem] > 1:
        stem += f"-{defaults.kept[stem]}"
    folder = Path(defaults.report_folder)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / f"{stem}.html", [html(Checked(report))])
    write(folder / f"{stem}.json", report.json_pieces())
