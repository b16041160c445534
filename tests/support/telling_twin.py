"""One kernel with three levels of specified inputs, compared with the twin."""

from __future__ import annotations

from random import Random

from twin import compare

from ptxaudit.engine.memory.environment import Facts

# what is specified -> (whether the number, the second parameter, is; whether the grid is)
TOLD = {"nothing": (False, False), "the launch": (False, True), "the number too": (True, True)}
BLOCK = (96, 1, 1)


def hold(text: str, told: str, alike: int | None, seed: int) -> None:
    """alike: how many sites have one cost per request if the number is not specified; None: any."""
    number, launch = TOLD[told]
    verdict = compare.partly(
        *(text, "k", (2, 1, 1), BLOCK, (None, 5), (False, number)),
        seed=seed,
        runs=4,
        facts=Facts() if launch else Facts(block=BLOCK),
        with_launch=launch,
        rng=Random(5),
    )
    assert not verdict.wrong, "\n".join(verdict.wrong)
    if not number and alike is not None:
        assert verdict.exact == alike, verdict.others
