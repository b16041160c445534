"""Parses as much of CUDA C++ as is needed to find a shared array's declaration and its accesses: tokens, brackets,
constants.

    template <int N> __global__ void k() { __shared__ float tile[N][N + 1]; … tile[y][x] … }
 -> Declaration("tile", type="float", dims=("N", "N + 1"), line=1, function="k", templates=("N",))
    Access(line=1, indices=("y", "x"))

This parses text, not C++: macros are not expanded, names are not looked up. Code that changes a source by these
results compiles the changed source and checks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from ptxaudit.base.records import Record

_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<text>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>(?:0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*(?:\.[\d']*)?(?:[eE][+-]?\d+)?
      |\.\d+(?:[eE][+-]?\d+)?)[uUlLfFzZ]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign>->\*?|\+\+|--|<<=?|>>=?|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|\.\.\.|.)
""",
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE | re.DOTALL)
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)((?:[^\n\\]|\\.|\\\n)*)", re.DOTALL)
_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
_SPECIFIERS = frozenset(("extern", "static", "volatile", "const", "constexpr", "inline", "__shared__"))
_ALIGNS = frozenset(("alignas", "__align__", "__attribute__"))
_CONTROL = frozenset(("if", "for", "while", "switch", "catch"))


class Token(Record):
    """kind: "name" | "number" | "sign" | "text". start, end: places in the text; line: from 1."""

    kind: str
    text: str
    start: int
    end: int
    line: int


class Span(Record):
    """A part of the text."""

    text: str
    start: int
    end: int


class Declaration(Record):
    """A `__shared__` variable. dims: its brackets; statement: from its first word to the semicolon; alone: it is the
    only variable of the statement. function: the one that contains it, "" at file scope; scope: places of the
    enclosing braces (the ends of the file if there are none); templates: names of the function's template parameters.
    body: it is declared together with the body of a structure."""

    file: str
    name: str
    type: Span
    dims: tuple[Span, ...]
    line: int
    statement: Span
    alone: bool
    external: bool
    function: str
    scope: tuple[int, int]
    templates: tuple[str, ...]
    body: bool
    place: int


class Access(Record):
    """A use of an array's name. indices: in its brackets; member: of the element, "" if none is named; of_address:
    its address is taken; of_size: its size is; start, end: from the name to the last bracket or member."""

    line: int
    indices: tuple[Span, ...]
    member: str
    of_address: bool
    of_size: bool
    start: int
    end: int


class Text:
    """The tokens of one source file. macros: name -> (it takes arguments, body)."""

    def __init__(self, text: str, file: str = ""):
        self.text, self.file = text, file
        self.macros: dict[str, tuple[bool, str]] = {}
        code = _DIRECTIVE.sub(self._directive, _without_comments(text))
        self.tokens = list(_tokens(code))

    def _directive(self, match: re.Match[str]) -> str:
        """Records what a directive defines, and replaces it with blanks."""
        if define := _DEFINE.match(match[0]):
            self.macros[define[1]] = bool(define[2]), define[3].replace("\\\n", " ").strip()
        return re.sub(r"[^\n]", " ", match[0])

    @cached_property
    def pairs(self) -> dict[int, int]:
        """Index of an opening token -> index of its closing token."""
        stack, out = [], {}
        for at, token in enumerate(self.tokens):
            if token.text in _OPENING:
                stack.append(at)
            elif token.text in _CLOSING and stack and _OPENING[self.tokens[stack[-1]].text] == token.text:
                out[stack.pop()] = at
        return out

    @cached_property
    def openings(self) -> dict[int, int]:
        """The inverse of `pairs`."""
        return {closing: opening for opening, closing in self.pairs.items()}

    def span(self, first: int, last: int) -> Span:
        """The text of tokens first … last."""
        start, end = self.tokens[first].start, self.tokens[last].end
        return Span(self.text[start:end], start, end)

    def macros_with(self, name: str) -> list[str]:
        """Macros with a name in their bodies."""
        return [macro for macro, (_, body) in self.macros.items() if re.search(rf"\b{re.escape(name)}\b", body)]

    # --- declarations ---

    @cached_property
    def declarations(self) -> tuple[Declaration, ...]:
        """All shared variables that the text declares."""
        found: list[Declaration] = []
        for at, token in enumerate(self.tokens):
            if token.text == "__shared__" and token.kind == "name":
                found += self._declared(at)
        return tuple(found)

    def _declared(self, at: int) -> Iterator[Declaration]:
        """The variables of one statement."""
        begin = at
        while begin > 0 and (self.tokens[begin - 1].text in _SPECIFIERS or self._is_align(begin - 1)):
            begin = self.openings[begin - 1] - 1 if self.tokens[begin - 1].text == ")" else begin - 1
        end = self._statement_end(at)
        if end is None:
            return
        cuts = list(self._declarators(at + 1, end))
        statement = self.span(begin, end)
        external = any(token.text == "extern" for token in self.tokens[begin:end])
        function, scope, templates = self._around(begin)
        type_span = None
        for name_at, dims_at in cuts:
            if type_span is None:
                first = next(
                    (k for k in self._without_aligns(at + 1, name_at) if self.tokens[k].text not in _SPECIFIERS),
                    name_at,
                )
                if first == name_at:
                    return
                type_span = self.span(first, name_at - 1)
            dims = tuple(self._inside(opening) for opening in dims_at)
            body = "{" in type_span.text
            yield Declaration(
                self.file,
                self.tokens[name_at].text,
                type_span,
                dims,
                self.tokens[name_at].line,
                statement,
                len(cuts) == 1,
                external,
                function,
                scope,
                templates,
                body,
                self.tokens[name_at].start,
            )

    def _is_align(self, at: int) -> bool:
        """The closing bracket of alignas(16)."""
        opening = self.openings.get(at)
        return (
            self.tokens[at].text == ")"
            and opening is not None
            and opening > 0
            and self.tokens[opening - 1].text in _ALIGNS
        )

    def _without_aligns(self, first: int, last: int) -> Iterator[int]:
        at = first
        while at < last:
            if self.tokens[at].text in _ALIGNS and self.tokens[at + 1].text == "(":
                at = self.pairs.get(at + 1, at + 1)
            else:
                yield at
            at += 1

    def _statement_end(self, at: int) -> int | None:
        """The semicolon that ends a statement."""
        while at < len(self.tokens):
            if self.tokens[at].text == ";":
                return at
            if self.tokens[at].text in _CLOSING:
                return None
            at = self.pairs.get(at, at) + 1
        return None

    def _declarators(self, first: int, end: int) -> Iterator[tuple[int, list[int]]]:
        """(the name, the opening brackets of its dimensions) of each variable of a statement."""
        depth, at, name = 0, first, -1
        dims: list[int] = []
        while at <= end:
            token = self.tokens[at]
            if token.text == "<" and self.tokens[at - 1].kind == "name":
                depth += 1
            elif token.text in (">", ">>") and depth:
                depth -= len(token.text)
            elif depth <= 0 and token.text == "[":
                name = name if dims else at - 1
                dims.append(at)
            elif depth <= 0 and token.text in (",", ";", "="):
                name = name if dims else at - 1
                if self.tokens[name].kind == "name" and self.tokens[name - 1].text not in ("*", "&", "::"):
                    yield name, dims
                dims = []
                if token.text == "=":
                    return
            at = self.pairs.get(at, at) + 1

    def _inside(self, opening: int) -> Span:
        """The text between brackets."""
        start, end = self.tokens[opening].end, self.tokens[self.pairs[opening]].start
        return Span(self.text[start:end].strip(), start, end)

    def _around(self, at: int) -> tuple[str, tuple[int, int], tuple[str, ...]]:
        """(function, braces, template parameters) that enclose a token."""
        inner: tuple[int, int] | None = None
        for opening in sorted(
            (o for o, c in self.pairs.items() if o < at < c and self.tokens[o].text == "{"), reverse=True
        ):
            place = self.tokens[opening].start, self.tokens[self.pairs[opening]].end
            inner = inner or place
            head = opening - 1
            while head > 0 and (self.tokens[head].text in ("const", "noexcept", "override", "mutable")):
                head -= 1
            if (
                head > 0
                and self.tokens[head].text == ")"
                and (start := self.openings.get(head))
                and self.tokens[start - 1].kind == "name"
                and self.tokens[start - 1].text not in _CONTROL
            ):
                return self.tokens[start - 1].text, inner, self.template_names(start - 1)
        return "", inner or (0, len(self.text)), ()

    def template_names(self, name: int) -> tuple[str, ...]:
        """Names of the template parameters before a function's head."""
        at = name
        while at > 0 and self.tokens[at - 1].text not in (";", "}", "{"):
            at = self.openings.get(at - 1, at - 1)
        names: list[str] = []
        while at < name:
            if self.tokens[at].text == "template" and self.tokens[at + 1].text == "<":
                depth, last = 0, ""
                for token in self.tokens[at + 1 : name]:
                    depth += {"<": 1, ">": -1, ">>": -2}.get(token.text, 0)
                    if token.text in (",", "=") and depth == 1 or depth <= 0:
                        names += [last] if last else []
                        last = ""
                        if depth <= 0:
                            break
                    elif token.kind == "name" and depth == 1 and not (names and last and self.tokens[at].text == "="):
                        last = token.text
                return tuple(names)
            at += 1
        return ()

    # --- accesses ---

    def accesses(self, declaration: Declaration) -> list[Access]:
        """The uses of a variable's name in its scope, except in its declaration."""
        return [
            self._access(at)
            for at, token in enumerate(self.tokens)
            if token.text == declaration.name
            and token.kind == "name"
            and declaration.scope[0] <= token.start < declaration.scope[1]
            and token.start > declaration.place
            and self.tokens[at - 1].text not in (".", "->", "::")
        ]

    def _access(self, at: int) -> Access:
        indices, end, member = [], at, ""
        while end + 1 < len(self.tokens) and self.tokens[end + 1].text == "[" and end + 1 in self.pairs:
            indices.append(self._inside(end + 1))
            end = self.pairs[end + 1]
        if end + 2 < len(self.tokens) and self.tokens[end + 1].text == "." and self.tokens[end + 2].kind == "name":
            member, end = self.tokens[end + 2].text, end + 2
        before = self.tokens[at - 1]
        unary = before.text == "&" and (
            self.tokens[at - 2].kind == "sign"
            and self.tokens[at - 2].text not in (")", "]")
            or self.tokens[at - 2].text == "return"
        )
        first = at
        while self.tokens[first - 1].text in ("(", "*"):
            first -= 1
        size, line = self.tokens[first - 1].text in ("sizeof", "decltype"), self.tokens[at].line
        return Access(line, tuple(indices), member, unary, size, self.tokens[at].start, self.tokens[end].end)

    # --- constants ---

    @cached_property
    def constants(self) -> dict[str, str]:
        """name -> text of its value: constexpr and const variables, enumerators, macros without arguments."""
        out = {name: body for name, (takes, body) in self.macros.items() if not takes and body}
        for at, token in enumerate(self.tokens[:-2]):
            if (
                token.kind == "name"
                and self.tokens[at + 1].text == "="
                and at
                and (self.tokens[at - 1].kind == "name" or self.tokens[at - 1].text in ("{", ","))
            ):
                end = at + 2
                while end < len(self.tokens) and self.tokens[end].text not in (";", ",", "}"):
                    end = self.pairs.get(end, end) + 1
                head = [t.text for t in self.tokens[max(0, at - 4) : at]]
                if end > at + 2 and (
                    "constexpr" in head or "const" in head or "enum" in head or self.tokens[at - 1].text in ("{", ",")
                ):
                    out.setdefault(
                        token.text,
                        self.text[self.tokens[at + 2].start : self.tokens[min(end, len(self.tokens)) - 1].end],
                    )
        return out


def _without_comments(text: str) -> str:
    """The text with comments replaced by blanks: places stay valid."""
    return re.sub(
        r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/',
        lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0]),
        text,
        flags=re.DOTALL,
    )


def _tokens(text: str) -> Iterator[Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind is not None and kind != "blank":
            yield Token(kind, match[0], match.start(), match.end(), line)
        line += match[0].count("\n")


@lru_cache(maxsize=64)
def read(text: str, file: str = "") -> Text:
    """The tokens of a text, cached."""
    return Text(text, file)


# --- the value of a constant expression ----------------------------------------------------------

_LEVELS = (("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
SIZES = {
    "char": 1,
    "short": 2,
    "int": 4,
    "float": 4,
    "unsigned": 4,
    "double": 8,
    "half": 2,
    "__half": 2,
    "__nv_bfloat16": 2,
    "float2": 8,
    "float4": 16,
    "int4": 16,
    "uint4": 16,
    "int2": 8,
    "uint32_t": 4,
    "int32_t": 4,
    "uint64_t": 8,
    "uint8_t": 1,
    "uint16_t": 2,
}
_MOST_DEPTH = 32


def value_of(expression: str, names: Mapping[str, str | int]) -> int | None:
    """The value of an integer constant expression, None if it cannot be determined. names: the values of names."""
    try:
        return _Value(list(_tokens(expression)), names, 0).whole()
    except (ValueError, ZeroDivisionError, RecursionError):
        return None


class _Value:
    """Evaluates +, -, *, /, %, shifts, &, |, ^, brackets, sizeof of common types, and names."""

    def __init__(self, tokens: Sequence[Token], names: Mapping[str, str | int], depth: int):
        self.tokens, self.names, self.depth, self.at = tokens, names, depth, 0
        if depth > _MOST_DEPTH:
            raise ValueError("names go round")

    def whole(self) -> int:
        number = self._level(0)
        if self.at != len(self.tokens):
            raise ValueError("more than one expression")
        return number

    def _level(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._unary()
        left = self._level(level + 1)
        while self.at < len(self.tokens) and self.tokens[self.at].text in _LEVELS[level]:
            sign = self.tokens[self.at].text
            self.at += 1
            left = _applied(sign, left, self._level(level + 1))
        return left

    def _unary(self) -> int:
        if self.at >= len(self.tokens):
            raise ValueError("an operand is missing")
        token = self.tokens[self.at]
        self.at += 1
        if token.text in ("-", "+"):
            return -self._unary() if token.text == "-" else self._unary()
        if token.text == "(":
            number = self._level(0)
            self._expect(")")
            return number
        if token.text == "sizeof":
            self._expect("(")
            name = self.tokens[self.at].text
            self.at += 1
            self._expect(")")
            return SIZES[name] if name in SIZES else _refuse()
        if token.kind == "number":
            return int(token.text.rstrip("uUlLzZ").replace("'", ""), 0)
        if token.kind == "name" and token.text in self.names:
            held = self.names[token.text]
            return held if isinstance(held, int) else _Value(list(_tokens(held)), self.names, self.depth + 1).whole()
        return _refuse()

    def _expect(self, text: str) -> None:
        if self.at >= len(self.tokens) or self.tokens[self.at].text != text:
            raise ValueError(f"{text} is missing")
        self.at += 1


def _refuse() -> int:
    raise ValueError("not a constant")


def _applied(sign: str, a: int, b: int) -> int:
    if sign in ("/", "%"):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)  # towards zero, as in C++
        return quotient if sign == "/" else a - b * quotient
    return {
        "|": a | b,
        "^": a ^ b,
        "&": a & b,
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "<<": a << min(b, 64) if b >= 0 else 0,
        ">>": a >> min(b, 64) if b >= 0 else 0,
    }[sign]
