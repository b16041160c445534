"""`ptxaudit toolchains`: lists the compilers and disassemblers found, and how to add others."""

from __future__ import annotations

import json

import click

from ptxaudit.frontend.compile import toolchains
from ptxaudit.ui.commands._options import table_width_option

HOW_TO_ADD = f"""\
To add one: `ptxaudit toolchains --fetch 12.9` (--toolchain 12.9 does so automatically), or install its wheels
into a folder of its own (pip install --target), or a CUDA toolkit, and name the folder in
{toolchains.VARIABLE} (several separated by ':'). CUDA_HOME, CUDA_PATH, /usr/local/cuda*, /opt/cuda* and
PATH are searched automatically. The first of each kind is the one in use."""


@click.command("toolchains")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--fetch",
    "releases",
    metavar="VERSION",
    multiple=True,
    help="Download this CUDA release first if it is missing. Repeatable.",
)
@table_width_option
def command(form: str, releases: tuple[str, ...], width: int | None) -> None:
    """List the NVRTC, ptxas, nvdisasm, cuobjdump and nvcc found, with version and path."""
    from ptxaudit.frontend.compile.toolchain_fetch import ensure
    from ptxaudit.ui.commands._progress import progress
    from ptxaudit.ui.commands._write import emit, in_width

    with progress() as step:
        for release in releases:
            step(f"downloading CUDA {release}")
            ensure("nvrtc", release)
        step("asking each tool for its version")
        tools = toolchains.everything()
    missing = [kind for kind in toolchains.KINDS if not toolchains.find(kind)]
    if form == "json":
        click.echo(
            json.dumps(
                {
                    "tools": [
                        {
                            "kind": t.kind,
                            "version": t.version,
                            "path": t.path,
                            "origin": t.origin,
                            "headers": list(t.headers),
                        }
                        for t in tools
                    ],
                    "missing": missing,
                },
                indent=2,
            )
        )
        return
    rows = _rows(tools, missing)
    widest = max(len(row[2]) for row in rows)
    lines = [f"{kind:<10} {version:<10} {origin:<{widest}} {path}".rstrip() for kind, version, origin, path in rows]
    emit(in_width("\n".join([*lines, "", HOW_TO_ADD, ""]), width), None)


def _rows(tools: list[toolchains.Tool], missing: list[str]) -> list[tuple[str, str, str, str]]:
    """(kind, version, origin, path): each kind named once, then the missing ones with how to install them."""
    rows, last = [], None
    for tool in tools:
        rows.append((tool.kind if tool.kind != last else "", tool.version or "?", tool.origin, tool.path))
        last = tool.kind
    return rows + [(kind, "none", "", toolchains.how_to_add(kind)) for kind in missing]
