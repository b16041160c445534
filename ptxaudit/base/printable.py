"""Makes text of inputs safe to show: it moves no cursor, ends no line, and is no command to a build service.

    one_line("a\\nb\\x1b[2J")       ->  "a\\\\x0ab\\\\x1b[2J"
    output("::set-env name=X::y")  ->  "\\\\u003a:set-env name=X::y"

Names, paths and source lines come from files that nobody has checked. Terminal escapes are shown, not sent; a name is
one line, whatever it contains; bytes of a path that are not UTF-8 are shown as `\\xff`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ptxaudit.base.records import Record

Value = TypeVar("Value", bound="Record")

# Controls, line terminators other than \n, bidirectional overrides, surrogates. (Compiled when they are first needed.)
_NO_TEXT = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff"
_IN_LINE = f"[{_NO_TEXT}\\n]"
_IN_LINES = f"[{_NO_TEXT}]"
# GitHub treats a line as a command if it begins with ::, also after blanks, or has ##[…] anywhere; Azure has ##vso[…].
_COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#(?:vso)?\[)", re.MULTILINE)
_SIGNS = ("\n::", " ::", "\t::", "##")  # every command contains one of these
_FIRST_BYTE = 0xDC00  # Python decodes a byte that is not UTF-8 to a surrogate: this plus the byte
_SEVERAL_LINES = ("detail", "log")


def one_line(text: str) -> str:
    """The text with controls and line terminators escaped, except tabs."""
    return text if text.isprintable() else _changed(_IN_LINE, text)


def lines(text: str) -> str:
    """The text with controls escaped, except newlines and tabs."""
    return text if is_printable(text.replace("\n", "")) else _changed(_IN_LINES, text)


def output(text: str) -> str:
    """Text for people as it leaves the process: `lines` without commands to a build service."""
    text = lines(text)
    return _COMMAND.sub(_quoted, text) if text.startswith("::") or any(sign in text for sign in _SIGNS) else text


def json_output(text: str) -> str:
    """JSON of a report whose text is safe to show: escapes only commands that may stand anywhere in a line."""
    return _COMMAND.sub(_quoted, text) if "##" in text else text


def is_printable(text: str) -> bool:
    """Whether all of it but tabs is printable. A hundred megabytes are checked in a fraction of a second."""
    return text.replace("\t", "").isprintable()


def _changed(what: str, text: str) -> str:
    return re.sub(what, _shown, text) if re.search(what, text) else text


def _shown(found: re.Match[str]) -> str:
    number = ord(found[0])
    if 0x80 <= number - _FIRST_BYTE <= 0xFF:
        return f"\\x{number - _FIRST_BYTE:02x}"
    return f"\\x{number:02x}" if number < 0x20 else f"\\u{number:04x}"


def _quoted(found: re.Match[str]) -> str:
    """The escape of a command's first character, which is also valid in JSON."""
    return f"{found[1]}\\u003a" if found[0].endswith(":") else "\\u0023"


# --- records --------------------------------------------------------------------------------


def record(value: Value) -> Value:
    """The record with all its strings made safe to show; the record itself if they are already."""
    from msgspec.structs import replace  # a caller with only text needs no records

    changed = {}
    for name in value.__struct_fields__:
        old = getattr(value, name)
        new = lines(old) if name in _SEVERAL_LINES and type(old) is str else plain(old)
        if new is not old:
            changed[name] = new
    return replace(value, **changed) if changed else value


def plain(value: Any) -> Any:
    """`record` for a string, list, tuple, dict or record."""
    kind = type(value)
    if kind is str:
        return one_line(value)
    if kind is tuple or kind is list:
        new = kind([plain(item) for item in value])
        return value if all(one is other for one, other in zip(new, value)) else new
    if kind is dict:
        new = {plain(key): plain(item) for key, item in value.items()}
        return value if new == value else new
    return record(value) if hasattr(value, "__struct_fields__") else value
