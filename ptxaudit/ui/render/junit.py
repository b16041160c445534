"""Writes JUnit XML: a suite per kernel and launch, a case per source line with accesses to the audited memories.

A case fails if a rule of level warning or error has a certain finding there, and is skipped if its cost is unknown.
Problems are errors in a suite of their own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ptxaudit.base.status import Status
from ptxaudit.report.model import AnySite, Kernel, Problem
from ptxaudit.report.paths import below, place
from ptxaudit.review.findings import Finding
from ptxaudit.review.findings import fold as fold_findings
from ptxaudit.review.rules import RULES
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.memory import fold_memory
from ptxaudit.ui.render.problems import problem_text
from ptxaudit.ui.render.rows import fold

_NOT_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def junit(checked: Checked) -> str:
    """The whole document."""
    found: dict[int, list[Finding]] = defaultdict(list)
    for finding in checked.findings:
        known = checked.ratchet is not None and checked.ratchet.knows(finding)
        if finding.certain and finding.allowed is None and not known and RULES[finding.rule].level != "note":
            found[id(finding.site if finding.site is not None else finding.kernel)].append(finding)
    root = Element("testsuites", name="ptxaudit")
    for kernel in checked.report.kernels:
        _suite(root, kernel, found, checked)
    if checked.report.problems:
        _problems(root, checked.report.problems)
    for suite in root:
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(name, str(sum(case.find(tag) is not None for case in suite.iter("testcase"))))
        suite.set("tests", str(len(suite.findall("testcase"))))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(suites: Element, kernel: Kernel, found: dict[int, list[Finding]], checked: Checked) -> None:
    launch = f", {kernel.launch}" if kernel.launch else ""
    suite = SubElement(suites, "testsuite", name=_clean(f"{kernel.demangled} ({kernel.arch} {kernel.isa}{launch})"))
    groups: list[tuple[AnySite, ...]] = [*fold(kernel.sites), *fold_memory(kernel.memory)]
    for group in groups:
        _case(suite, kernel, group, [finding for site in group for finding in found.get(id(site), ())], checked)
    for finding in found.get(id(kernel), ()):
        case = SubElement(suite, "testcase", classname=_clean(kernel.demangled), name=RULES[finding.rule].title)
        _failure(case, [finding])


def _case(suite: Element, kernel: Kernel, group: Sequence[AnySite], findings: list[Finding], checked: Checked) -> None:
    site = group[0]
    name = f"{place(site, kernel)} {site.opcode}" + (f" ×{len(group)}" if len(group) > 1 else "")
    case = SubElement(suite, "testcase", classname=_clean(kernel.demangled), name=_clean(name))
    if site.source:
        shown = checked.place_of(site.source)
        case.set("file", _clean(below(shown.file, checked.root)))
        case.set("line", str(shown.line))
    if findings:
        _failure(case, findings)
    elif site.status is Status.UNKNOWN:
        SubElement(case, "skipped", message=_clean(site.reason or "its cost is unknown"))


def _failure(case: Element, findings: Iterable[Finding]) -> None:
    folded = sorted(fold_findings(findings), key=lambda one: -one.weight)
    failure = SubElement(case, "failure", type=folded[0].finding.rule, message=_clean(folded[0].what))
    failure.text = _clean("\n".join(f"{one.finding.rule}: {one.what}" for one in folded))


def _problems(root: Element, problems: Iterable[Problem]) -> None:
    suite = SubElement(root, "testsuite", name="inputs that could not be checked")
    for problem in problems:
        case = SubElement(
            suite, "testcase", classname=_clean(problem.file or "ptxaudit"), name=_clean(problem.kernel or problem.what)
        )
        error = SubElement(case, "error", type="problem", message=_clean(problem.what))
        error.text = _clean(problem_text(problem))


def _clean(text: str) -> str:
    """The text, with characters that XML does not allow replaced."""
    return _NOT_XML.sub("�", text)
