"""`ptxaudit score`: the cost of one request given by hand, its lane-by-bank map, and the explanation."""

from __future__ import annotations

from typing import Any

import click

from ptxaudit.ui.commands._options import table_width_option

_EPILOG = """
Addresses are in bytes, one per lane, decimal or hexadecimal; START:STOP:STEP is a range, and A*N repeats A.

\b
  ptxaudit score ld.shared.v4.b32 --addresses 0:512:16
  ptxaudit score LDS --addresses 0:4096:128 --active 0xffff
  ptxaudit score 'cp.async.ca.shared.global 16' --addresses 0:512:16 --sources 0:2048:64
  ptxaudit score 'red.shared.add.u32 1' --addresses '0*32'
  ptxaudit score ld.shared.f32 --addresses 0:16:4 --machine banks=4,word=4,threads=4,broadcast=any
"""


@click.command(epilog=_EPILOG)
@click.argument("opcode")
@click.option("--addresses", required=True, metavar="LIST", help="Shared-memory address of each lane, in bytes.")
@click.option("--active", metavar="MASK", help="Active lanes, bit i for lane i. [all]")
@click.option("--sources", metavar="LIST", help="Global source address of each lane (cp.async).")
@click.option("--zero-filled", metavar="MASK", help="Lanes that write zeros instead of copying (cp.async).")
@click.option("--arch", metavar="sm_NN", help="Apply the rules of this architecture. [sm_90]")
@click.option("--machine", metavar="NAME", help="Apply the rules of this machine; see `ptxaudit machines`.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@table_width_option
def command(
    opcode: str,
    addresses: str,
    active: str | None,
    sources: str | None,
    zero_filled: str | None,
    arch: str | None,
    machine: str | None,
    form: str,
    width: int | None,
) -> None:
    """Count the wavefronts of one warp request; OPCODE is PTX (ld.shared.v4.b32) or SASS (LDS.128)."""
    from ptxaudit.hardware.scoring import score_request

    given: dict[str, Any] = {
        "addresses": numbers(addresses, "--addresses"),
        "active": None if active is None else mask(active, "--active"),
        "sources": None if sources is None else numbers(sources, "--sources"),
        "zero_filled": 0 if zero_filled is None else mask(zero_filled, "--zero-filled"),
    }
    result = score_request(opcode, arch=arch, machine=machine, **given)
    if form == "json":
        import json

        from ptxaudit.ui.render.request import request_dict

        click.echo(json.dumps(request_dict(result, **given), indent=2))
        return
    from rich.console import Console

    from ptxaudit.ui.render.request import request_text

    console = Console(soft_wrap=width is None, highlight=False, width=width)
    width = width or (console.width if console.is_terminal else None)
    console.print(request_text(result, width=width, **given))


MOST_NUMBERS = 1024


def numbers(text: str, option: str) -> list[int]:
    """Parses "0,4,0x10", "0:512:16", "8*16" and mixtures of these, in order."""
    result: list[int] = []
    for part in text.replace(" ", ",").split(","):
        if part:
            result += _part(part, option)
        if len(result) > MOST_NUMBERS:
            raise _error(f"more than {MOST_NUMBERS} numbers", option, "give one number per lane")
    return result


def _part(part: str, option: str) -> list[int]:
    try:
        if ":" in part:
            first, stop, *step = (int(field, 0) for field in part.split(":"))
            return list(range(first, stop, *step)[: MOST_NUMBERS + 1])
        value, star, times = part.partition("*")
        return [int(value, 0)] * (min(int(times, 0), MOST_NUMBERS + 1) if star else 1)
    except (ValueError, TypeError):
        raise _error(
            f"{part!r} is not a number, a range or a repetition",
            option,
            "write 0,4,8 or 0:128:4 (start:stop:step) or 0*32 (32 times 0)",
        ) from None


def mask(text: str, option: str) -> int:
    """Parses an integer such as 0xffff, 0b1111 or 15."""
    try:
        return int(text, 0)
    except ValueError:
        raise _error(f"{text!r} is not a mask", option, "a mask is a number such as 0xffff: bit i is lane i") from None


def _error(what: str, option: str, hint: str) -> Exception:
    from ptxaudit.base.errors import InputError

    return InputError(f"{option}: {what}", hint)
