"""Shortens the demangled names of kernels so that they stay distinguishable.

void cub::CUB_300001_SM_900::detail::reduce::DeviceReduceKernel<
    cub::CUB_300001_SM_900::detail::reduce::policy_hub<float, unsigned int, cuda::std::__4::plus<void>>::Policy1000,
    float*, unsigned int, cuda::std::__4::plus<void>, float>(float*, float*)

at most 100    DeviceReduceKernel<policy_hub<…>::Policy1000, float*, unsigned int, plus<…>, float> at most 70
DeviceReduceKernel<policy_hub<…>::Policy1000, float*, unsigned int, …>
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from ptxaudit.base.words import bare_name, cut_at

ELLIPSIS = "…"
MOST_TITLE = 160  # characters of a name above a table: longer names are not readable
CONTEXT = 8  # characters before the first difference
_TAGS = re.compile(r"\[abi:\w+\]")
_QUALIFIERS = re.compile(r"(?:(?:\w+|\(anonymous namespace\))::)+(?=\w)")


def short_name(name: str, most: int) -> str:
    """The first of these forms with at most `most` characters.

    The name without ABI tags, which Numba inserts; without return type and parameters; without namespaces; without
    the arguments of its template arguments; with only its first template arguments. Otherwise, the name is cut.
    """
    return next((form for form in _forms(name) if len(form) <= most), None) or _first_arguments(
        list(_forms(name))[-1], most
    )


def title_width(width: int | None) -> int:
    """The maximum length of a name above its table, which has one line."""
    return MOST_TITLE if width is None else min(width, MOST_TITLE)


def distinct_names(names: Iterable[str], most: int) -> dict[str, str]:
    """name -> short name. Names that would be equal are shown from where they differ, to stay distinct."""
    short = {name: short_name(name, most) for name in dict.fromkeys(names)}
    alike: dict[str, list[str]] = {}
    for name, text in short.items():
        alike.setdefault(text, []).append(name)
    for group in alike.values():
        if len(group) > 1:
            begin = len(os.path.commonprefix(group))
            for at, name in enumerate(group, 1):
                short[name] = _where_it_differs(name, begin, most, at)
    return short


def _where_it_differs(name: str, begin: int, most: int, at: int) -> str:
    """The name's head, the text after the prefix shared with others, and its number among them."""
    head = _QUALIFIERS.sub("", bare_name(name)).partition("<")[0]
    own = name[max(0, begin - CONTEXT) :]
    number = f" [{at}]"
    room = max(CONTEXT, most - len(head) - len(number) - 2 * len(ELLIPSIS) - 1)
    return f"{cut_at(head, most // 2)}<{ELLIPSIS}{cut_at(own, room)}{number}"


def short_pair(old: str, new: str, most: int) -> tuple[str, str]:
    """Two names shortened in the same way, so that their difference stays visible."""
    for one, other in zip(_forms(old), _forms(new), strict=True):
        if max(len(one), len(other)) <= most and (one != other or old == new):
            return one, other
    cut = cut_at(bare_name(old), most), cut_at(bare_name(new), most)
    return cut if cut[0] != cut[1] else (short_name(old, most), short_name(new, most))


def _forms(name: str) -> Iterator[str]:
    name = _TAGS.sub("", name)
    yield name
    bare = bare_name(name)
    yield bare
    plain = _QUALIFIERS.sub("", bare)
    yield plain
    yield _flat(plain)


def _flat(name: str) -> str:
    """The name without the arguments of template arguments."""
    out: list[str] = []
    depth = 0
    for letter in name:
        depth -= letter == ">"
        if depth < 2:
            out.append(letter)
        depth += letter == "<"
        if letter == "<" and depth == 2:
            out.append(ELLIPSIS)
    return "".join(out) if depth == 0 else name


def _first_arguments(name: str, most: int) -> str:
    """The name with as many of its template arguments as fit."""
    head, bracket, rest = name.partition("<")
    if not bracket or not rest.endswith(">") or len(head) + len("<…>") > most:
        return cut_at(name, most)
    kept, depth = "", 0
    for at, letter in enumerate(rest):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            longer = rest[:at] + ", "
            if len(head) + len(longer) + len("<…>") > most:
                break
            kept = longer
    return f"{head}<{kept}{ELLIPSIS}>"
