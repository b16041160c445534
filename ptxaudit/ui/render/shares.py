"""The costliest loops and lines of a kernel with their cost, and where the excess comes from.

78% of shared wavefronts are replays, all in the loop at k.cu:120 loop       depth  trips  accesses  wavefronts
excess  share  sectors  excess  share      spills k.cu:120       1     16         3       1,024     992  78.0%
512       0  50.0%  64 sectors
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxaudit.base.words import number
from ptxaudit.report.model import Share
from ptxaudit.ui.render.rows import Note, Row, Tone, cut

FIGURES = ("depth", "trips", "accesses", "wavefronts", "excess", "share", "sectors", "excess", "share", "spills")


def share_row(share: Share, kernel: Sequence[str] = ()) -> Row:
    """The row of a loop, or of a line with its text. kernel: the name of its kernel, if there are several."""
    place, *figures = _cells(share)
    return Row((place, *kernel, *figures), _notes(share), _tone(share))


def _notes(share: Share) -> tuple[Note, ...]:
    at = share.place.rpartition(":")[2]
    return (Note("source", cut(share.text), int(at)),) if share.text and at.isdigit() else ()


def _tone(share: Share) -> Tone:
    return "bad" if share.excess or share.sectors_excess else "open" if share.open else "good"


def _cells(share: Share) -> tuple[str, ...]:
    left = f" ({share.open} open)" if share.open else ""
    spills = [f"{number(share.spill_wavefronts)} wavefronts"] if share.spill_wavefronts else []
    spills += [f"{number(share.spill_sectors)} sectors"] if share.spill_sectors else []
    return (
        share.place,
        number(share.depth),
        "–" if share.trips is None else f"{share.trips:,.4g}",
        number(share.sites) + left,
        number(share.wavefronts),
        number(share.excess),
        _percent(share.share),
        number(share.sectors),
        number(share.sectors_excess),
        _percent(share.sectors_share),
        ", ".join(spills) or "0",
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
