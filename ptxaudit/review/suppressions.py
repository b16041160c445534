"""Reads `// ptxaudit: allow(PA001, "why")` in sources: which findings are allowed, and why.

    s[tid * 32] = x;   // ptxaudit: allow(PA002, "runs once")      applies to its own line
    // ptxaudit: allow(PA001, PA002, "cold path")                  applies to the next statement
    float y = s[tid * 32] +
              s[tid * 16];

A comment without a rule or a reason is an InputError at its place: a suppression that silently did nothing would be
worse than none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.source_files import Roots
from ptxaudit.report.model import Problem, Report, Source, Suppression

MARK = "ptxaudit:"
LONGEST = 10  # lines of a statement, in each direction
HINT = 'write it as // ptxaudit: allow(PA001, "why")'
_COMMENT = re.compile(r"(?://|/\*)\s*ptxaudit:\s*(?P<body>.*)")
_STRING = re.compile(r"""'(?:\\.|[^'\\])'|"(?:\\.|[^"\\])*\"""")
_REMARK = re.compile(r"//.*|/\*.*?(?:\*/|$)")
_ALLOW = re.compile(r'allow\(\s*(?P<rules>[\w-]+(?:\s*,\s*[\w-]+)*)\s*(?:,\s*(?:"(?P<reason>[^"]*)")?\s*)?\)')
_ONLY_COMMENT = re.compile(r"\s*(?://.*|/\*.*\*/\s*|\*.*)?")


def suppressions_of(report: Report, roots: Roots) -> tuple[list[Suppression], list[InputError]]:
    """The suppressions in the source files that a report names and that may be read, and the errors in others."""
    found: list[Suppression] = []
    errors: list[InputError] = []
    inputs = {_real(entry.path): entry.path for entry in report.inputs}
    for file in source_files(report):
        for one in read_suppressions(_text(file, roots), file):
            if isinstance(one, InputError):
                one.file = inputs.get(_real(file), file)  # as the user spelt it
                errors.append(one)
            else:
                found.append(one)
    return found, errors


def with_suppressions(report: Report, roots: Roots) -> Report:
    """The report with the suppressions of its sources; malformed ones become problems."""
    found, errors = suppressions_of(report, roots)
    problems = (*report.problems, *map(Problem.of, errors))
    return replace(report, suppressions=tuple(found), problems=problems) if found or errors else report


def source_files(report: Report) -> list[str]:
    """The sources of a report: the files in its line tables, by those names, and its CUDA and PTX inputs."""
    files: dict[str, str] = {}
    seen: set[str] = set()
    for kernel in report.kernels:
        for source in (
            *(site.source for site in kernel.sites),
            *(site.source for site in kernel.memory),
            *(access.source for access in kernel.local),
        ):
            for file in _files(source):
                if file not in seen:
                    seen.add(file)
                    files.setdefault(_real(file), file)
    for entry in report.inputs:
        if entry.kind in ("cuda", "ptx"):
            files.setdefault(_real(entry.path), entry.path)
    return list(files.values())


def _real(file: str) -> str:
    try:
        return os.path.realpath(file)
    except (OSError, ValueError):  # it contains a zero byte
        return file


def _files(source: Source | None) -> Iterator[str]:
    if source is not None:
        yield source.file
        yield from (frame.file for frame in source.inlined)


def _text(file: str, roots: Roots) -> str:
    """The file's text; "" if it is unavailable or has no comment for this tool."""
    data = roots.read(file) or b""
    return data.decode("utf-8", "replace") if MARK.encode() in data else ""


def read_suppressions(text: str, file: str) -> Iterator[Suppression | InputError]:
    """The suppressions in one source, in order."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if MARK not in line or not (comment := _comment(line)):
            continue
        target = _next_code(lines, number) if _ONLY_COMMENT.fullmatch(line[: comment.start()]) else number
        for one in _parse(comment["body"], file, number, comment.start() + 1, target):
            yield one if isinstance(one, InputError) else replace(one, statement=_statement(lines, target))


def _comment(line: str) -> re.Match[str] | None:
    """The comment for this tool in a line; text in a string does not count."""
    outside = _COMMENT.search(_STRING.sub(lambda literal: " " * len(literal[0]), line))
    return outside and _COMMENT.match(line, outside.start())


def _parse(body: str, file: str, line: int, column: int, target: int) -> Iterator[Suppression | InputError]:
    from ptxaudit.review import rules

    match = _ALLOW.match(body)
    if match is None:
        yield InputError("this ptxaudit comment cannot be parsed", HINT, file, line, column)
        return
    if not (match["reason"] or "").strip():
        yield InputError(f"the suppression of {match['rules']} gives no reason", HINT, file, line, column)
        return
    for name in re.split(r"\s*,\s*", match["rules"]):
        try:
            rule = rules.get(name)
        except InputError as error:
            yield InputError(error.what, error.hint, file, line, column)
        else:
            yield Suppression(rule.id, match["reason"].strip(), file, line, target)


def _statement(lines: list[str], target: int) -> tuple[int, int] | None:
    """The first and the last line of the statement that contains a line; None if it is that line alone."""
    first = last = target
    while first > 1 and target - first < LONGEST and not _ends(lines[first - 2]):
        first -= 1
    while last < len(lines) and last - target < LONGEST and not _ends(lines[last - 1]):
        last += 1
    while first < target and not _code(lines[first - 1]):
        first += 1
    return None if first == last else (first, last)


def _ends(line: str) -> bool:
    """A statement, a block, a label or a directive ends with this line, or the line is blank."""
    code = _code(line)
    return code.endswith((";", "{", "}", ":")) or code.startswith("#") or not line.strip()


def _code(line: str) -> str:
    """A line without its comments, and with empty strings."""
    return _REMARK.sub("", _STRING.sub('""', line)).strip()


def _next_code(lines: list[str], number: int) -> int:
    """The number of the next line with code; the last line's if there is none."""
    for at in range(number, len(lines)):
        if lines[at].strip() and not _ONLY_COMMENT.fullmatch(lines[at]):
            return at + 1
    return len(lines)
