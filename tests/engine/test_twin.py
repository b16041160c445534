"""The engine, compared with the interpreter of `tests/support/twin` on random kernels; bench/fuzz.py runs more of them.

A failure names the seed: `python bench/fuzz.py --start SEED --seeds 1 --print` shows the kernel.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from paths import CASES, INPUTS
from twin import compare, count, generate, parse
from twin.code import flatten
from twin.meeting import meeting

from ptxaudit import score_request
from ptxaudit.frontend.ptx import syntax
from ptxaudit.frontend.ptx.parse import parse_module

SPECIFIED = 160  # kernels with everything specified, in groups of 20
NOT_SPECIFIED = 60  # with parameters, or the launch, not specified
GROUP = 20
ONCE_WRONG = (80010,)  # lanes that may have exited reconverge with others that have not


@pytest.mark.parametrize("start", range(0, SPECIFIED, GROUP))
def test_exact_answers_equal_the_interpreter(start):
    verdict = compare.Verdict()
    for seed in range(start, start + GROUP):
        k = generate.kernel(seed, small=True)
        compare.told(k, verdict)
    assert not verdict.wrong and not verdict.unchecked, "\n".join(verdict.wrong + verdict.unchecked)
    assert verdict.exact > 0.8 * verdict.sites, Counter(verdict.others)


@pytest.mark.parametrize("start", range(1000, 1000 + NOT_SPECIFIED, GROUP))
def test_ranges_contain_the_interpreters_figures(start):
    verdict = compare.Verdict()
    for seed in range(start, start + GROUP):
        compare.not_told(seed, generate.kernel(seed, small=True), verdict, runs=2)
    assert not verdict.wrong and not verdict.unchecked, "\n".join(verdict.wrong + verdict.unchecked)


# --- regressions: kernels as text, each with the sites' (requests, active, wavefronts, ideal) ------

CASES = sorted((CASES / "twin").glob("*.ptx"))


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_formerly_wrong_kernel_agrees_with_the_interpreter(path):
    """The first comment lines are `// launch grid block params`, as Python values."""
    text = path.read_text()
    words = dict(line[3:].split(" = ", 1) for line in text.splitlines() if line.startswith("// ") and " = " in line)
    read = {
        k: tuple(None if x.strip() == "?" else int(x) for x in v.split(","))
        for k, v in words.items()
        if k in ("grid", "block", "params")
    }
    verdict = compare.full(text, "k", read["grid"], read["block"], read["params"])
    assert not verdict.wrong and not verdict.unchecked, "\n".join(verdict.wrong + verdict.unchecked)
    assert verdict.exact >= int(words["exact sites"]), verdict.others


# --- the twin itself ------------------------------------------------------------------------------


def test_generator_covers_every_feature():
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
        "some ended",
        "parted",
    }


def test_comparison_detects_a_wrong_engine(monkeypatch):
    """The comparison can fail: it detects an engine whose `xor` is `or`."""
    from ptxaudit.engine.ops import operations

    monkeypatch.setitem(operations.OPS, "xor", operations.OPS["or"])
    verdict = compare.Verdict()
    for seed in range(25):
        k = generate.kernel(seed, small=True, straight=True)
        compare.told(k, verdict)
    assert verdict.wrong


def test_reconvergence_points_ignore_early_returns():
    """Lanes that return early do not hold back the others; code after a loop is no early return."""
    code = flatten("""
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
""")[0]["k"]
    assert meeting(code)[0] == 3
    assert meeting(code)[4] == 7


@pytest.mark.parametrize("seed", ONCE_WRONG)
def test_formerly_wrong_seeds_agree_with_the_interpreter(seed):
    verdict = compare.not_told(seed, generate.kernel(seed), compare.Verdict())
    assert not verdict.wrong and not verdict.unchecked, "\n".join(verdict.wrong + verdict.unchecked)


def test_parsers_of_interpreter_and_package_agree():
    """Two parsers, one text: the same instructions with the same numbers of operands, in the same functions."""
    texts = [generate.kernel(seed).text for seed in range(0, 60, 3)] + [
        path.read_text() for path in sorted((INPUTS / "ptx").glob("*.ptx"))
    ]
    for text in texts:
        theirs = {}
        for item in parse_module(text).items:
            if isinstance(item, syntax.Function) and item.body is not None:
                theirs[item.name] = [
                    (i.line, i.opcode, i.guard and i.guard.name, len(i.operands)) for i in instructions(item.body)
                ]
        mine = {
            item.name: [(i.line, i.opcode, i.guard and i.guard.name, len(i.operands)) for i in instructions(item.body)]
            for item in parse.parse(text).items
            if isinstance(item, parse.Function) and item.body is not None
        }
        assert mine == theirs


def instructions(block):
    """The instructions of a body and of its nested blocks, in order."""
    for statement in block.statements:
        if isinstance(statement, parse.Block | syntax.Block):
            yield from instructions(statement)
        elif isinstance(statement, parse.Instruction | syntax.Instruction):
            yield statement


SCORED = (
    "ld.shared.u8 ld.shared.u32 ld.shared.v2.f32 ld.shared.v4.f32 st.shared.u16 st.shared.b64 st.shared.v4.u32 ld.u8 ld.v2.u32"
    " ld.v4.s32 st.v4.u32 atom.shared.add.u32 red.shared.add.u32 red.shared.inc.u32 atom.shared.min.s32 atom.add.u32"
    " atom.shared.exch.b64 atom.shared.exch.b128 atom.shared.cas.b16 atom.shared.cas.b32 atom.shared.cas.b64"
    " atom.shared.cas.b128 red.shared.add.f32 atom.shared.add.f64 red.shared.add.u64 atom.shared.add.noftz.f16"
    " ldmatrix.sync.aligned.m8n8.x1.shared.b16 stmatrix.sync.aligned.m8n8.x2.shared.b16"
    " ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 cp.async.ca.shared.global|4 cp.async.ca.shared.global|8"
    " cp.async.ca.shared.global|16"
).split()


@pytest.mark.parametrize("opcode", SCORED)
def test_wavefront_rules_of_interpreter_and_package_agree(opcode):
    dice = Random(opcode)
    name, _, size = opcode.partition("|")
    width = int(size) if size else 16 if "matrix" in name else count.WIDTH[name.split(".")[-1]] // 8
    width *= next((int(word[1]) for word in name.split(".") if word in ("v2", "v4")), 1)
    for _ in range(30):
        most, each = dice.choice((4, 40, 400)), dice.choice((1, 1, 2))
        row = [width * (dice.randrange(most) if each == 1 else lane // each * 3 % most) for lane in range(32)]
        lanes = range(32) if "matrix" in name or dice.random() < 0.4 else dice.sample(range(32), dice.randint(1, 32))
        sources = {lane: width * dice.randrange(most) for lane in lanes} if size else None
        zeros = [lane for lane in lanes if size and dice.random() < 0.1]
        added = dice.choice((None, 1, 5, 0xFFFF_FFFF)) if name.startswith(("red", "atom")) else None
        theirs = score_request(
            f"{name} {size}".strip(),
            row,
            sum(1 << lane for lane in lanes),
            sources=[sources.get(lane, 0) for lane in range(32)] if sources else None,
            operand=added,
            zero_filled=sum(1 << lane for lane in zeros),
        )
        mine = count.score(name, int(size) if size else None, {l: row[l] for l in lanes}, sources, added, zeros)
        assert mine == (*theirs.bounds, theirs.ideal)
