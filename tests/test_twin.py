"""The lane engine against the interpreter of `tests/twin` on random kernels; bench/fuzz.py runs more of them.

A failure names the seed: `python bench/fuzz.py --start SEED --seeds 1 --print` shows the kernel.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from twin import compare, generate
from twin.code import flatten
from twin.meeting import meeting

from ptxaudit.frontend.ptx.parse import parse_module

SPECIFIED = 160  # kernels with everything told, in groups of 20
NOT_SPECIFIED = 60  # with parameters, or the launch, not specified
GROUP = 20
ONCE_WRONG = (80010,)  # lanes that may have ended meet others that have not


@pytest.mark.parametrize("start", range(0, SPECIFIED, GROUP))
def test_exact_answers_are_the_twins(start):
    verdict = compare.Verdict()
    for seed in range(start, start + GROUP):
        k = generate.kernel(seed, small=True)
        compare.told(k, verdict)
    assert not verdict.wrong, "\n".join(verdict.wrong)
    assert verdict.exact > 0.8 * verdict.sites, Counter(verdict.others)


@pytest.mark.parametrize("start", range(1000, 1000 + NOT_SPECIFIED, GROUP))
def test_ranges_contain_what_the_twin_sees(start):
    verdict = compare.Verdict()
    for seed in range(start, start + GROUP):
        compare.not_told(seed, generate.kernel(seed, small=True), verdict, runs=2)
    assert not verdict.wrong, "\n".join(verdict.wrong)


# --- regressions: kernels as text, each with the sites' (requests, active, wavefronts, ideal) ------

CASES = sorted((Path(__file__).parent / "cases" / "twin").glob("*.ptx"))


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path):
    """First comment lines: `// launch grid block params`, as Python values."""
    text = path.read_text()
    words = dict(line[3:].split(" = ", 1) for line in text.splitlines() if line.startswith("// ") and " = " in line)
    read = {
        k: tuple(None if x.strip() == "?" else int(x) for x in v.split(","))
        for k, v in words.items()
        if k in ("grid", "block", "params")
    }
    verdict = compare.full(text, "k", read["grid"], read["block"], read["params"])
    assert not verdict.wrong, "\n".join(verdict.wrong)
    assert verdict.exact >= int(words["exact sites"]), verdict.others


# --- the twin itself ------------------------------------------------------------------------------


def test_the_generator_reaches_everything():
    seen = set()
    for seed in range(SPECIFIED):
        seen |= generate.kernel(seed, small=True).features
    assert seen == {
        "branch",
        "loop",
        "long loop",
        "switch",
        "break",
        "continue",
        "early end",
        "across",
        "local",
        "call",
        "generic",
        "cluster",
        "shortcut",
        "do while",
        "two entries",
        "roles",
        "constant table",
        "shared table",
        "rank",
        "leader",
        "either space",
        "loaded",
        "parted",
    }


def test_a_wrong_engine_would_be_seen(monkeypatch):
    """The comparison can fail: an engine whose `xor` is `or` is caught."""
    from ptxaudit.engine.ops import operations

    monkeypatch.setitem(operations.OPS, "xor", operations.OPS["or"])
    verdict = compare.Verdict()
    for seed in range(25):
        k = generate.kernel(seed, small=True, straight=True)
        compare.told(k, verdict)
    assert verdict.wrong


def test_meeting_places():
    """Lanes that return early do not hold the others back; what follows a loop is no early return."""
    code = flatten(
        parse_module("""
.version 8.5
.target sm_90
.address_size 64
.entry k() { .reg .pred %p<4>;
@%p1 bra $JOIN;
@%p2 ret;
bar.sync 0;
$JOIN: bar.sync 1;
$LOOP: @%p3 bra $OUT;
bar.sync 2;
bra $LOOP;
$OUT: ret; }
""")
    )[0]["k"]
    assert meeting(code)[0] == 3
    assert meeting(code)[4] == 7


@pytest.mark.parametrize("seed", ONCE_WRONG)
def test_seeds_that_were_wrong_once(seed):
    verdict = compare.not_told(seed, generate.kernel(seed), compare.Verdict())
    assert not verdict.wrong, "\n".join(verdict.wrong)
