"""The sides of a comparison: two inputs, or one input with several releases and architectures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.ui.commands._options import options_of

if TYPE_CHECKING:
    from ptxaudit.frontend.launch.launch import Launch
    from ptxaudit.frontend.options import Options
    from ptxaudit.review.diff.sides import Side

Variant = tuple[str, "str | None", "Side"]  # label, architecture if there are several, what to audit


def two_sides(inputs: tuple[str, ...], given: dict[str, Any]) -> tuple[list[Side], bool]:
    """(the old and the new side of OLD NEW, whether their launches are specified as counterparts).

    Raises InputError if more than two compilers or architectures are given.
    """
    from ptxaudit.review.diff.sides import Side

    archs, toolchains, assemblers = (given.pop(name) for name in ("archs", "toolchains", "assemblers"))
    if max(map(len, (archs, toolchains, assemblers))) > 2:
        raise InputError(
            "OLD and NEW are two sides, but more than two compilers or architectures are given",
            "give one or two, or a single INPUT",
        )
    given["isa"] = given["isa"] or ("both" if len(toolchains) == 2 else None)
    shared, launches = _options(given)
    return [
        Side(
            inputs[at],
            replace(
                shared,
                launches=launches[at],
                arch=_of(archs, at),
                toolchain=_of(toolchains, at),
                ptxas=_of(assemblers, at),
            ),
        )
        for at in range(2)
    ], launches[0] is not launches[1]


def variants(input: str, given: dict[str, Any]) -> list[Variant]:
    """One input with each release, for each architecture. Raises InputError if there are fewer than two variants."""
    from ptxaudit.review.diff.sides import Side

    archs, toolchains, assemblers = (
        tuple(dict.fromkeys(given.pop(name))) for name in ("archs", "toolchains", "assemblers")
    )
    releases = _releases(toolchains, assemblers)
    if len(releases) * max(1, len(archs)) < 2:
        raise InputError(
            "a diff has two sides, but only one input is given",
            "name OLD and NEW, or one INPUT with --toolchain A --toolchain B",
        )
    if given.get("old_launch") or given.get("new_launch"):
        raise InputError(
            "--old-launch and --new-launch apply to OLD and NEW, but only one input is given", "give --launch"
        )
    shared, _ = _options(given)
    return [
        (
            _label(toolchain, assembler),
            arch if len(archs) > 1 else None,
            Side(input, replace(shared, arch=arch, toolchain=toolchain, ptxas=assembler)),
        )
        for arch in archs or (None,)
        for toolchain, assembler in releases
    ]


def _releases(toolchains: tuple[str, ...], assemblers: tuple[str, ...]) -> list[tuple[str | None, str | None]]:
    """(compiler, assembler) of each variant: paired in order, or one of either for all of the other."""
    longest = max(len(toolchains), len(assemblers), 1)
    if any(1 < len(those) < longest for those in (toolchains, assemblers)):
        raise InputError(
            f"there are {len(toolchains)} --toolchain and {len(assemblers)} --ptxas",
            "give as many of one as of the other, or exactly one of either",
        )
    return [(_of(toolchains, at), _of(assemblers, at)) for at in range(longest)]


def _of(values: tuple[str, ...], at: int) -> str | None:
    return values[at % len(values)] if values else None


def _label(toolchain: str | None, assembler: str | None) -> str:
    return ", ".join(filter(None, (toolchain, assembler and f"ptxas {assembler}"))) or "installed"


def _options(given: dict[str, Any]) -> tuple[Options, tuple[tuple[Launch, ...], tuple[Launch, ...]]]:
    """The options that all sides share, and the launches of the old and the new side: the same object if shared."""
    from ptxaudit.frontend.launch.launch_file import read_launches

    own = given.pop("old_launch", None), given.pop("new_launch", None)
    if any(own) and given.get("launch_files"):
        raise InputError(
            "--launch and --old-launch, --new-launch exclude each other", "use --old-launch and --new-launch alone"
        )
    shared = options_of(given)
    if not any(own):
        return shared, (shared.launches, shared.launches)
    old, new = (tuple(read_launches(file)) if file else shared.launches for file in own)
    return shared, (old, new)
