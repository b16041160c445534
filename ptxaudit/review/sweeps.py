"""Audits a family of launches, for tuning: which block, pitch or tile has the least conflicts.

    sweep("k.cu", {"pitch": "32:34"}, block=…)  ->  Sweep with, for each kernel, the points
        pitch 32: 4,096 wavefronts, ideal 128      worst
        pitch 33:   128 wavefronts, ideal 128      best
        pitch 34:   256 wavefronts, ideal 128

An axis is a name and its values; the points are all combinations. A source is compiled once for each combination of
macros; all its launches share parsing, lifting and graphs.

Points are compared by wavefronts per ideal wavefront (not by wavefronts: a smaller block does less work): over the
launch if every point has these figures, else for one request of each site. A point with sites of unknown cost comes
after those without.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.exact import distinct, exactly
from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.version import __version__
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.values import value_of
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Part, Progress, silent, unmatched
from ptxaudit.pipeline.examine import examine
from ptxaudit.report.model import Input, Kernel, LaunchRecord, Problem, Site, Span, Tool, plain, shape
from ptxaudit.report.paths import place

SCHEMA = "ptxaudit/sweep/1"
MOST_POINTS = 10_000
DIMENSIONS = ("block", "grid", "cluster")
LAUNCH_NAMES = (*DIMENSIONS, "dynamic_shared")

_RANGE = re.compile(r"(-?\w+):(-?\w+)(?::(-?\w+))?")
_DEFINE = re.compile(r"(?:-D|D:)\s*(\w+)")
_HINT = "write block=32:1024:32 (from:to:step), pitch=32,33,40, block=16x16,32x8 or -DTILE=16,32"


@dataclass(frozen=True)
class Axis:
    """name: as the user wrote it; kind: "block", "grid", "cluster", "dynamic_shared", "define" or "param"; key: the
    macro or the parameter; values: in order."""

    name: str
    kind: str
    key: str
    values: tuple[Any, ...]


class Point(Record):
    """One launch of one kernel. at: the value of each axis; refused: why it is impossible ("" otherwise).

    requests to excess are sums over the launch if every site has one, else None; per_request and ideal_per_request
    sum one request of every site whose cost is known, if only as a range; open: the number of sites with unknown
    cost; open_reason: the most frequent reason at sites without a single cost. most_at: the site with the most
    excess.
    """

    at: dict[str, Any]
    launch: LaunchRecord | None = None
    refused: str = ""
    status: dict[str, int] | None = None
    open: int = 0
    open_reason: str = ""
    requests: int | None = None
    wavefronts: Span | None = None
    ideal: int | None = None
    per_request: Span | None = None
    ideal_per_request: int | None = None
    ways: int | None = None
    most_at: str = ""

    @property
    def over_launch(self) -> bool:
        return self.wavefronts is not None


class Swept(Record):
    """One kernel. basis: "launch" or "request", by which points are compared; best, worst: positions in `points`,
    None if none could be evaluated; equal_best: how many are as good as the best."""

    name: str
    demangled: str
    isa: str
    arch: str
    input: str
    machine: str
    assumed: tuple[str, ...]
    points: tuple[Point, ...]
    basis: str
    best: int | None
    worst: int | None
    equal_best: int


class Sweep(Record):
    """The results of one sweep."""

    tool: Tool
    axes: tuple[Axis, ...]
    inputs: tuple[Input, ...]
    kernels: tuple[Swept, ...]
    problems: tuple[Problem, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **plain(self)}

    def to_json(self, indent: int | None = 2) -> str:
        import json

        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False) + "\n"


def sweep(inputs: Any, axes: Mapping[str, Any], *, progress: Progress = silent, **options: Any) -> Sweep:
    """Audits inputs under every combination of the axes.

    axes: name -> values, a list or text as on the command line: {"block": [(16, 16), (32, 8)],
    "pitch": "32:72", "-DTILE": [16, 32]}. options: as for `audit`; their launches are varied.
    Raises InputError for axes and options that cannot be used.
    """
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    return run(given, [axis_of(name, values) for name, values in axes.items()], Options(**options), progress)


# --- axes -------------------------------------------------------------------------------------


def parse_axis(text: str) -> Axis:
    """Parses an axis as the command line has it. Raises InputError."""
    name, equals, values = text.strip().partition("=")
    if not equals or not name.strip() or not values.strip():
        raise InputError(f"--sweep {text} is not NAME=VALUES", _HINT)
    return axis_of(name.strip(), values)


def axis_of(name: str, values: Any) -> Axis:
    """An axis with a name and values: text as on the command line, or a sequence."""
    define = _DEFINE.fullmatch(name)
    plain_name = name.replace("-", "_")
    kind = "define" if define else plain_name if plain_name in LAUNCH_NAMES else "param"
    written = _values(name, values, kind) if isinstance(values, str) else list(values)
    if kind in DIMENSIONS:
        written = [_dims(name, value) for value in written]
    if not written:
        raise InputError(f"--sweep {name} has no values", _HINT)
    return Axis(name, kind, define[1] if define else name if kind == "param" else kind, distinct(written))


def _values(name: str, text: str, kind: str) -> list[Any]:
    """ "1:3" -> [1, 2, 3]; "16,32" -> [16, 32]; "16x16,8" -> ["16x16", 8]; ranges and values may be mixed."""
    found: list[Any] = []
    for part in text.split(","):
        part = part.strip()
        if match := _RANGE.fullmatch(part):
            found += _range(name, part, match)
        elif not part:
            raise InputError(f"--sweep {name}={text} has an empty value", _HINT)
        else:
            found.append(part if kind == "define" or kind in DIMENSIONS else value_of(part))
    return found


def _range(name: str, text: str, match: re.Match[str]) -> range:
    try:
        low, high, step = int(match[1], 0), int(match[2], 0), int(match[3] or "1", 0)
    except ValueError:
        raise InputError(f"--sweep {name}={text} is not a range of whole numbers", _HINT) from None
    if step < 1 or high < low:
        raise InputError(
            f"--sweep {name}={text} is an empty range", "write from:to:step, in increasing order, ends included"
        )
    if (high - low) // step >= MOST_POINTS:
        raise InputError(f"--sweep {name}={text} has more than {MOST_POINTS:,} values", "take larger steps")
    return range(low, high + 1, step)


def _dims(name: str, value: Any) -> tuple[int, ...]:
    """16, (16, 16), "16x16" as extents; the limits of CUDA are checked with each launch."""
    parts = (
        re.split(r"[x×*]", value) if isinstance(value, str) else list(value) if isinstance(value, Sequence) else [value]
    )
    try:
        return tuple(int(part) for part in parts)
    except (ValueError, TypeError):
        raise InputError(f"--sweep {name}: {value!r} is not 1 to 3 numbers", _HINT) from None


# --- running ----------------------------------------------------------------------------------


@dataclass
class _Group:
    """The points of one kernel, instruction set and base launch, by their number."""

    entry: Kernel
    points: dict[int, Point]


def run(inputs: Sequence[Any], axes: Sequence[Axis], options: Options, progress: Progress = silent) -> Sweep:
    """`sweep` with its axes and options as records."""
    _check(axes)
    launch_axes = [axis for axis in axes if axis.kind != "define"]
    define_axes = [axis for axis in axes if axis.kind == "define"]
    points = [
        dict(zip((axis.name for axis in axes), combination))
        for combination in itertools.product(*(axis.values for axis in axes))
    ]
    bases = options.launches or (Launch("*"),)
    groups: dict[tuple[Any, ...], _Group] = {}
    refused: dict[tuple[int, int], InputError] = {}
    parts = []
    for defined in itertools.product(*(axis.values for axis in define_axes)):
        chosen = {axis.name: value for axis, value in zip(define_axes, defined)}
        mine = [
            at for at, point in enumerate(points) if exactly({name: point[name] for name in chosen}) == exactly(chosen)
        ]
        launches = _launches(bases, launch_axes, {at: points[at] for at in mine}, refused)
        macros = tuple(f"{axis.key}={value}" for axis, value in zip(define_axes, defined))
        with_macros = replace(options, launches=launches, defines=options.defines + macros)
        part = Part()
        parts.append(part)
        if not launches:
            continue
        _examine(inputs, with_macros, part, progress, points, groups)
        if define_axes:
            part.problems += [_not_compiled(entry) for entry in part.inputs if entry.kind != "cuda"]
        if not part.failed:
            part.problems += [
                Problem.of(error) for error in unmatched([(replace(with_macros, launches=options.launches), [part])])
            ]
    if refused and len(refused) == len(bases) * len(points):
        first = next(iter(refused.values()))
        raise InputError(f"no launch of this sweep is possible: {first.what}", first.hint, first.file, first.line)
    return Sweep(
        Tool("ptxaudit", __version__),
        tuple(axes),
        tuple(dict.fromkeys(one for part in parts for one in part.inputs)),
        tuple(_swept(key[-1], group, points, refused) for key, group in groups.items()),
        tuple(dict.fromkeys(problem for part in parts for problem in part.problems)),
    )


def _launches(
    bases: Sequence[Launch],
    axes: Sequence[Axis],
    points: Mapping[int, dict[str, Any]],
    refused: dict[tuple[int, int], InputError],
) -> tuple[Launch, ...]:
    """Each base launch at each point, labelled (base, point). refused: receives the errors of impossible ones."""
    launches = []
    for base_number, base in enumerate(bases):
        for at, point in points.items():
            try:
                launches.append(_varied(base, axes, point, (base_number, at)))
            except InputError as error:
                refused[base_number, at] = error
    return tuple(launches)


def _examine(
    inputs: Sequence[Any],
    options: Options,
    part: Part,
    progress: Progress,
    points: Sequence[dict[str, Any]],
    groups: dict[tuple[Any, ...], _Group],
) -> None:
    """Adds the figures of each launch to its group, at its point."""
    for examined in examine(inputs, options, part, progress):
        entry, label = examined.entry, examined.launch.label if examined.launch else None
        if label is None:  # matched by no launch of the sweep
            continue
        base_number, at = label
        group = groups.setdefault((entry.input, entry.name, entry.isa, entry.arch, base_number), _Group(entry, {}))
        group.points[at] = _point(points[at], entry)


def _not_compiled(entry: Input) -> Problem:
    return Problem(
        "this input is already compiled: --sweep -D has no effect", "name the source, or leave out -D", entry.path
    )


def _check(axes: Sequence[Axis]) -> None:
    if not axes:
        raise InputError("there is nothing to sweep over", _HINT)
    for name, count in Counter(f"{axis.kind} {axis.key}" for axis in axes).items():
        if count > 1:
            raise InputError(f"--sweep names {name.split()[-1]} twice", "give all its values together: pitch=32:40,48")
    count = prod(len(axis.values) for axis in axes)
    if count > MOST_POINTS:
        raise InputError(
            f"this makes {count:,} launches; the limit is {MOST_POINTS:,}", "use larger steps or fewer values"
        )


def _varied(base: Launch, axes: Iterable[Axis], point: Mapping[str, Any], label: Any) -> Launch:
    """The base launch at a point. Raises InputError for what CUDA would not launch."""
    changes: dict[str, Any] = {axis.kind: point[axis.name] for axis in axes if axis.kind != "param"}
    named = {axis.key: point[axis.name] for axis in axes if axis.kind == "param"}
    if named and base.param_bytes is not None:
        raise base.error(
            "param_bytes has the values of all parameters: none of them can be swept", "write params instead"
        )
    return dataclasses.replace(base, **changes, named={**base.named, **named}, label=label)


def _swept(
    base: int, group: _Group, points: Sequence[dict[str, Any]], refused: Mapping[tuple[int, int], InputError]
) -> Swept:
    entry = group.entry
    found = tuple(
        group.points.get(at)
        or Point(point, refused=refused[base, at].what if (base, at) in refused else "see the problems")
        for at, point in enumerate(points)
    )
    there = [at for at, point in enumerate(found) if not point.refused]
    basis = "launch" if all(found[at].over_launch for at in there) else "request"
    key = {at: rank(found[at], basis) for at in there}
    best = min(there, key=key.__getitem__, default=None)
    return Swept(
        entry.name,
        entry.demangled,
        entry.isa,
        entry.arch,
        entry.input,
        entry.machine,
        entry.assumed,
        found,
        basis,
        best,
        max(there, key=key.__getitem__, default=None),
        sum(key[at] == key[best] for at in there) if best is not None else 0,
    )


# --- one point --------------------------------------------------------------------------------


def _point(at: dict[str, Any], entry: Kernel) -> Point:
    """The figures of a kernel's entry at a point."""
    counted = [site for site in entry.sites if site.line_class_max is None]  # no counter covers cp.async.cg
    launched = [_over_launch(site) for site in counted]
    single = [_single(site) for site in counted]
    known = [one for one in single if one is not None]
    reasons = Counter(
        site.reason
        for site, one in zip(counted, single)
        if one is None or site.status is Status.CONDITIONAL and one[0] != one[1]
    ).most_common(1)
    worst = max(counted, key=_excess, default=None)
    whole = [one for one in launched if one is not None]
    complete = len(whole) == len(launched)
    return Point(
        at,
        entry.launch,
        status=dict(sorted(Counter(str(site.status) for site in entry.sites).items())),
        open=len(single) - len(known),
        open_reason=reasons[0][0] if reasons else "",
        requests=sum(site.requests or 0 for site in counted) if complete else None,
        wavefronts=Span(sum(one[0] for one in whole), sum(one[1] for one in whole)) if complete else None,
        ideal=sum(one[2] for one in whole) if complete else None,
        per_request=Span(sum(one[0] for one in known), sum(one[1] for one in known)) if known else None,
        ideal_per_request=sum(one[2] for one in known) if known else None,
        ways=max((site.ways for site in counted if site.ways is not None), default=None),
        most_at=f"{place(worst, entry)} {worst.opcode}" if worst is not None and _excess(worst) > 0 else "",
    )


def _over_launch(site: Site) -> tuple[int, int, int] | None:
    """(least, most, ideal) wavefronts of a site over the launch."""
    if site.status is Status.UNREACHED:
        return 0, 0, 0
    if site.ideal is None or site.requests is None:
        return None
    if site.wavefronts is not None:
        return site.wavefronts, site.wavefronts, site.ideal
    return (*site.bounds, site.ideal) if site.bounds else None


def _single(site: Site) -> tuple[int, int, int] | None:
    """(least, most, ideal) wavefronts of one request; None where unknown."""
    if site.status is Status.UNREACHED:
        return 0, 0, 0
    if site.status is Status.UNKNOWN or site.per_request is None or site.ideal_per_request is None:
        return None
    return site.per_request.low, site.per_request.high, site.ideal_per_request.high


def _excess(site: Site) -> int:
    if site.excess is not None:
        return site.excess
    return site.excess_per_request.high if site.excess_per_request else 0


def rank(point: Point, basis: str) -> tuple[float, ...]:
    """The sort key of points, best first."""
    cost, ideal = (point.wavefronts, point.ideal) if basis == "launch" else (point.per_request, point.ideal_per_request)
    if cost is None or not ideal:
        return (point.open, 1.0 if point.open == 0 else float("inf"))
    return (point.open, cost.high / ideal)


def written(value: Any) -> str:
    """A value of an axis for people: "32×8", "33"."""
    return shape(value) if isinstance(value, tuple) and value else str(value)


def settings(point: Point) -> Iterator[str]:
    """ "pitch=33" for each axis."""
    return (f"{name}={written(value)}" for name, value in point.at.items())
