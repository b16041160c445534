"""Assembles a page from a template, the style, a script, and the data as JSON.

No name or source text can end the script element or run as a script: the JSON escapes every `<`, `>` and `&`, the
template escapes the rest of the page, and the page's policy allows one script and one style by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from ptxaudit.base import resources

if TYPE_CHECKING:
    from jinja2 import Template

FOLDER = "ui/render/page/"
_UNSAFE = "<>&\u2028\u2029"


def written(template: str, script: str, data: Any, **more: Any) -> str:
    """The page. template, script: files of this package; data: the script's input; more: variables of the template."""
    style, code = part("page.css"), part(script)
    return _template(template).render(
        policy=policy(style, code),
        style=style,
        script=code,
        data="" if data is None else embedded(data),
        **more,
    )


def policy(style: str, script: str) -> str:
    """A policy that loads nothing from elsewhere and allows only this style and this script."""
    return (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """A digest as a Content-Security-Policy source."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def embedded(data: Any) -> str:
    """JSON that is safe inside a script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in _UNSAFE:
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@cache
def part(name: str) -> str:
    """A file of this package with a newline before and after it, as between the tags: the digest covers both."""
    return "\n" + resources.data(FOLDER + name).read_text(encoding="utf-8").strip() + "\n"


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def source(name: str) -> str:
        return resources.data(FOLDER + name).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(source), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name)
