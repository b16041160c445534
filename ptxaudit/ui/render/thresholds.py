"""Writes what the limits of a diff deny or could not judge, as lines for stderr.

denied by registers+8: transpose(float*): registers 32 → 40 not judged by wavefronts+5%: 2 kernels, in which it is
unknown on at least one side
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ptxaudit.base.words import plural
from ptxaudit.review.diff.thresholds import WORSE, Crossing, Judged
from ptxaudit.ui.render.change_rows import ARROW, LONGEST_NAME, figure_text, name_of


def judged_lines(judged: Judged, strict: bool = False, name: str = "") -> Iterator[str]:
    """One line per denial, and one for each limit with unjudged kernels. name: a prefix for what is compared."""
    for crossing in judged.crossings:
        yield f"denied by {name}{crossing.threshold}: {crossing_text(crossing)}"
    for threshold, count in Counter(threshold for threshold, _ in judged.unjudged).items():
        word = "denied by" if strict else "not judged by"
        yield f"{word} {name}{threshold}: {plural(count, 'kernel')}, in which it is unknown on at least one side" + (
            " (--strict)" if strict else ""
        )


def crossing_text(crossing: Crossing) -> str:
    """ "transpose(float*): registers 32 → 40", "in total: wavefronts 64 → 96"."""
    who = name_of(crossing.kernel, LONGEST_NAME) if crossing.kernel is not None else "in total"
    if crossing.threshold.name == WORSE:
        return f"{who}: got worse"
    return f"{who}: {crossing.threshold.name} {figure_text(crossing.old)}{ARROW}{figure_text(crossing.new)}"
