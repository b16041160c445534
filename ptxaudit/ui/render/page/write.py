"""Puts a page together: a template, the style, a script, and the data as JSON between them.

Whatever names and sources hold, nothing of it ends the script element, and no script of it runs: in the JSON every
`<`, `>` and `&` is an escape, the rest of the page is escaped by the template, and the page's policy allows one script
and one style by their digests.
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
    """The page. template, script: files of this package; data: what the script draws from; more: for the template."""
    style, code = part("page.css"), part(script)
    return _template(template).render(
        policy=policy(style, code),
        style=style,
        script=code,
        data="" if data is None else embedded(data),
        **more,
    )


def policy(style: str, script: str) -> str:
    """Nothing is loaded from anywhere; this style and this script are the only ones that count."""
    return (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """As a Content-Security-Policy has it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def embedded(data: Any) -> str:
    """JSON that can stand in a script element of a page."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in _UNSAFE:
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@cache
def part(name: str) -> str:
    """A file of this package, with a line end before and after it, as it stands between the tags."""
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
