"""Numbers and texts as the page's script reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ptxaudit.base.status import Status
from ptxaudit.report.model import Pattern, Site


class Texts:
    """Numbers each distinct text; 0 is the empty text."""

    def __init__(self) -> None:
        self.all: list[str] = [""]
        self._numbers: dict[str, int] = {}

    def of(self, text: str | None) -> int | None:
        """The number of a text, or None for an empty one."""
        if not text:
            return None
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.all)
            self.all.append(text)
        return number


def present(**entries: Any) -> dict[str, Any]:
    """The entries except those that are None, "" or an empty sequence; zeros stay."""
    return {key: value for key, value in entries.items() if value is not None and value not in ("", [], ())}


def short(name: str, most: int) -> str:
    """A name with the middle of a long one replaced by a digest, so that different names stay different."""
    if len(name) <= most:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name[: most * 3 // 4]} …{digest}… {name[-most // 4 :]}"


def steps(addresses: Sequence[int]) -> list[int]:
    """The first address, then pairs of step and repetitions: 0, 4, 8, 12 -> [0, 4, 3]."""
    found = [addresses[0]]
    before = addresses[0]
    for address in addresses[1:]:
        step, before = address - before, address
        if len(found) > 1 and found[-2] == step:
            found[-1] += 1
        else:
            found += [step, 1]
    return found


def agree(addresses: Sequence[int], active: int) -> bool:
    """Whether every active lane i has an inactive or equal partner i^1, or every one such a partner i^2.

    The same as `banks.count.pairs_agree`.
    """
    for distance in (1, 2):
        if all(
            not (active >> i & 1 and active >> i + distance & 1) or addresses[i] == addresses[i + distance]
            for i in range(len(addresses))
            if not i & distance and i + distance < len(addresses)
        ):
            return True
    return False


def chosen(patterns: Sequence[Pattern], most: int) -> list[Pattern]:
    """The costliest pattern first, then the most frequent ones."""
    if not patterns:
        return []
    worst = max(patterns, key=lambda one: (one.low - one.ideal, one.high, one.count or 0))
    others = sorted((one for one in patterns if one is not worst), key=lambda one: -(one.count or 0))
    return [worst, *others[: most - 1]]


def around(lines: Iterable[int], last: int, reach: int) -> list[int]:
    """Line numbers, from 1, that are near one of `lines`."""
    wanted = {near for line in lines for near in range(max(1, line - reach), min(last, line + reach) + 1)}
    return sorted(wanted)


def place_of(offset: int | None, ptx_line: int | None) -> int | None:
    return offset if offset is not None else ptx_line


def span_of(span: Any) -> list[int] | None:
    return None if span is None else [span.low, span.high]


def value_of(value: Any) -> str:
    text = "…" if isinstance(value, Mapping) else str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def trips_of(site: Site) -> list[list[int]] | None:
    """[requests, wavefronts, ideal, number of consecutive trips with these figures]."""
    if len(site.trips) < 2 or site.status is not Status.EXACT:
        return None
    found: list[list[int]] = []
    for trip in site.trips:
        row = [trip.requests, trip.wavefronts, trip.ideal]
        if found and found[-1][:3] == row:
            found[-1][3] += 1
        else:
            found.append([*row, 1])
    return found
