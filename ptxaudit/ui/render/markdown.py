"""Writes Markdown for a pull request or a job summary: the findings, then a table per kernel."""

from __future__ import annotations

from ptxaudit.base.words import plural
from ptxaudit.report.model import Kernel
from ptxaudit.report.paths import below
from ptxaudit.ui.render.checked import Checked, Result
from ptxaudit.ui.render.markdown_text import code, escaped, fitting, plain
from ptxaudit.ui.render.memory import memory_lines, others_line
from ptxaudit.ui.render.problems import problem_text
from ptxaudit.ui.render.rows import closing_lines
from ptxaudit.ui.render.sections import header_lines
from ptxaudit.ui.render.tables import tables_of

MARK = {"error": "🔴", "warning": "🟠", "note": "⚪"}
MOST_FINDINGS = 100


def markdown(checked: Checked) -> str:
    """The whole report."""
    results = checked.open_results
    worst = [result for result in results if result.level != "note"]
    outcome = plural(len(worst), "finding") if worst else "no finding"
    if len(results) > len(worst):
        outcome += f", {plural(len(results) - len(worst), 'note')}"
    report = checked.report
    closing = (*closing_lines(report), *memory_lines(report), others_line(report))
    blocks = [f"## ptxaudit: {outcome}", "  \n".join(map(plain, filter(None, closing)))]
    blocks += [_problem(problem_text(problem)) for problem in checked.report.problems]
    if results:
        blocks.append(
            "\n".join(
                ["| | rule | place | what |", "|---|---|---|---|", *(_finding(one) for one in results[:MOST_FINDINGS])]
            )
        )
    if len(results) > MOST_FINDINGS:
        blocks.append(f"and {plural(len(results) - MOST_FINDINGS, 'more finding')}")
    blocks += _allowed(checked)
    kernels = [_kernel(kernel) for kernel in report.kernels if kernel.accesses]
    return "\n\n".join(fitting(blocks, kernels)) + "\n"


def _finding(result: Result) -> str:
    where = result.file + (f":{result.place.line}" if result.place.line else "")
    kernel = f" *in* `{code(result.finding.kernel.demangled)}`" if result.finding.kernel else ""
    return f"| {MARK[result.level]} | {result.rule.id} | `{code(where)}` | {plain(result.message)}{kernel} |"


def _allowed(checked: Checked) -> list[str]:
    """The findings that comments allow, and the comments that no longer match anything."""
    allowed = [result for result in checked.results if result.allowed]
    lines = [
        f"- {one.rule.id} at `{code(one.file)}:{one.place.line}` is allowed: {plain(one.allowed.reason)}"
        for one in allowed
        if one.allowed
    ]
    for stale in checked.stale_suppressions:
        lines.append(
            f"- the suppression of {stale.rule} at `{code(below(stale.file, checked.root))}:{stale.line}` no longer"
            " matches anything"
        )
    return ["\n".join(lines)] if lines else []


def _kernel(kernel: Kernel) -> str:
    name, *facts = header_lines(kernel)
    lines = ["<details>", f"<summary><code>{escaped(name)}</code> {escaped(facts[0].strip())}</summary>", ""]
    lines += [f"{plain(fact.strip())}  " for fact in facts[1:]] + ([""] if facts[1:] else [])
    for at, table in enumerate(tables_of(kernel)):
        lines += ([""] if at else []) + ([f"{table.title}:", ""] if table.title else [])
        lines.append("| " + " | ".join(table.columns) + " |")
        lines.append("|" + "|".join("---:" if column in table.numeric else "---" for column in table.columns) + "|")
        lines += ["| " + " | ".join(plain(cell) for cell in row.cells) + " |" for row in table.rows]
    lines += ["", *(f"{plain(sentence)}  " for sentence in kernel.shares_say)] if kernel.shares_say else []
    return "\n".join([*lines, "", "</details>"])


def _problem(text: str) -> str:
    return "```\n" + text.replace("```", "'''") + "\n```"
