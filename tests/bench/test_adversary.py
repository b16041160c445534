"""The generator of adversarial kernels, and the comparison of claims with counts (bench/adversary)."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from paths import ROOT, TESTS

from bench.adversary import agree, builds, by_hand, claims, generate, launching, plan, report, results, truth
from bench.adversary.check import Checked
from bench.adversary.claims import Finding, Verdict
from bench.adversary.dice import Dice
from bench.adversary.program import Fill, variants
from ptxaudit.base.status import Status
from ptxaudit.engine.answer.result import Pattern, SiteResult
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.ir.reasons import Kind, Reason
from ptxaudit.report.model import Condition, Kernel, Site, Span
from ptxaudit.review.compare import Counted, Profile, compare

LANES = 32


# --- the generator ------------------------------------------------------------------------------


def test_dice_is_deterministic() -> None:
    dice = Dice(17)
    assert [dice.below(1000) for _ in range(4)] == [Dice(17).below(1000), *[dice_at(17, n) for n in (1, 2, 3)]]
    assert Dice(1).word() != Dice(2).word()
    assert Dice(5).sample(range(10), 3) == sorted(Dice(5).sample(range(10), 3))


def dice_at(seed: int, number: int) -> int:
    dice = Dice(seed)
    return [dice.below(1000) for _ in range(number + 1)][-1]


def test_seed_generates_one_source_in_every_process() -> None:
    code = (
        "from bench.adversary.generate import program; import hashlib; "
        "print([hashlib.sha256(program(s).source().encode()).hexdigest() for s in range(0, 60, 7)])"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(texts) == 1


def test_consecutive_seeds_start_with_each_feature_in_turn() -> None:
    assert [generate.program(seed).features[0] for seed in range(len(generate.NAMES))] == list(generate.NAMES)


@pytest.mark.parametrize("feature", generate.NAMES)
def test_each_feature_compiles(feature: str) -> None:
    made = generate.program(generate.NAMES.index(feature) + 1000, only=(feature,))
    assert builds.compile_build(made, "nvrtc-O3").cubin


@pytest.mark.parametrize("seed", range(40, 400, 60))
def test_seeds_compile_in_each_nvrtc_build(seed: int) -> None:
    assert builds.compile_build(
        generate.program(seed), ("nvrtc-G", "nvrtc-O0", "nvrtc-fast", "nvrtc-r24", "nvrtc-O1", "nvrtc-O3")[seed // 60]
    ).cubin


def test_generated_launches_stay_within_their_buffers() -> None:
    for seed in range(150):
        made = generate.program(seed)
        assert made.shapes
        for shape in made.shapes:
            assert prod(shape.grid) * prod(shape.block) <= 4096
            assert prod(shape.block) <= 512
            assert all(blocks % size == 0 for blocks, size in zip(shape.grid, shape.cluster or (1, 1, 1)))
            assert {p.name for p in made.parameters if p.kind in ("number", "bytes")} == set(shape.values)
        assert "return;" not in made.source() or not generate.TOGETHER & set(made.features)


def test_fill_generates_its_formula() -> None:
    data = Fill(count=100, step=7, shift=3, modulo=50, low=5).data()
    assert data.dtype == np.uint32
    assert data.tolist() == [(i * 7 ^ i >> 3) % 50 + 5 for i in range(100)]


def test_variants_omit_statements() -> None:
    made = generate.program(3)
    smaller = list(variants(made))
    assert len(smaller) > 20
    assert all(len(one.source().splitlines()) < len(made.source().splitlines()) for one in smaller)
    some = [one.source() for one in smaller[:: len(smaller) // 4]]
    built = compile_source(together(some), arch=builds.arch_of(made.seed))
    assert built.cubin and built.ptx.count(".visible .entry ") == len(some) == 5


def together(sources: Sequence[str]) -> str:
    """One source, each in a namespace of its own: NVRTC takes more than a second for the headers that they share."""
    headers = dict.fromkeys(re.findall(r"^#include .*\n", "".join(sources), re.MULTILINE))
    apart = (text.replace('extern "C" ', "") for text in sources)
    parts = (f"namespace n{at} {{\n{text}}}\n" for at, text in enumerate(apart))
    return "".join([*headers, *parts])


def test_plans_cover_every_build() -> None:
    first = len(generate.NAMES)
    met = {build for round in range(len(builds.NAMES)) for build in plan.builds_of(round * first, 3)}
    assert met == set(builds.NAMES)


# --- locating code -----------------------------------------------------------------------------


def ran(base: int, count: int, opcodes: list[str] | None = None) -> dict[int, str]:
    return {base + 16 * at: opcodes[at] if opcodes else "" for at in range(count)}


def test_sections_are_located_by_opcodes() -> None:
    sections = {
        "k": ["MOV", "CALL", "LDS", "EXIT"],
        "f": ["STS", "RET", "NOP"],
        "g": ["ADD", "BRA", "LDS", "RET"],
        "unused": ["STS", "EXIT"],
    }
    opcodes = ran(0, 2, sections["f"]) | ran(1280, 4, sections["k"])
    assert truth.locate(sorted(opcodes), opcodes, sections, "k") == {"f": 0, "k": 1280}


def test_sections_without_opcodes_are_located_by_branches() -> None:
    sections = {"k": ["MOV", "CALL", "EXIT"], "f": ["STS", "ADD", "MUL", "RET"], "g": ["STS", "BRA", "ADD", "RET"]}
    jumped = {0: "", 16: "", 48: ""}  # the third instruction is skipped: only g has a branch there
    opcodes = jumped | ran(256, 3, sections["k"])
    assert truth.locate(sorted(opcodes), opcodes, sections, "k") == {"g": 0, "k": 256}


def test_sections_are_located_by_counted_memory_accesses() -> None:
    sections = {"k": ["MOV", "CALL", "EXIT"], "f": ["ADD", "MUL", "RET"], "g": ["ADD", "LDS", "RET"]}
    opcodes = ran(0, 3) | ran(256, 3, sections["k"])
    assert truth.locate(sorted(opcodes), opcodes, sections, "k", frozenset((16,))) == {"g": 0, "k": 256}


def test_sections_with_equal_opcodes_are_exchangeable() -> None:
    sections = {"k": ["MOV", "CALL", "EXIT"], "f": ["ATOM", "RET"], "g": ["ATOM", "RET"]}
    assert truth.exchangeable(sections) == {"f": 32, "g": 32}


def test_locate_refuses_code_without_a_section() -> None:
    with pytest.raises(truth.NotLocated):
        truth.locate([0, 16], {0: "MOV", 16: "FADD"}, {"k": ["MOV", "EXIT"]}, "k")


# --- claims -------------------------------------------------------------------------------------


def site(status: Status = Status.EXACT, opcode: str = "LDS", **figures) -> Site:
    given = (
        {"requests": 4, "active_requests": 4, "wavefronts": 8, "ideal": 4, "excess": 4, "ways": 2}
        if status is Status.EXACT
        else {}
    )
    return Site("k:load", 0x20, None, opcode, f"{opcode} R0, [R2]", "load", 4, None, status, **given | figures)


def pattern(count: int, lanes: int, cost: int = 2) -> Pattern:
    active = np.arange(LANES) < lanes
    return Pattern(np.arange(LANES) * 8, active, count, cost, cost, 1, cost)


def judged(one: Site, warps: int, threads: int, wavefronts: int, patterns: tuple[Pattern, ...] = ()) -> Finding:
    kernel = Kernel("k", "k", "sass", "sm_90", "x", "sm_90", None, (), (), 0, (one,))
    comparison = compare(kernel, Profile("k", (Counted(0x20, one.text, warps, wavefronts, 1),)))
    result = SiteResult(0, one.status, patterns=patterns)
    found = list(
        claims.findings(
            comparison,
            {0x20: result},
            {0x20: truth.Counts("k", 0x20, warps, threads, wavefronts, 1, one.text)},
            [],
            True,
        )
    )
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    "one, counted, verdict, kind",
    [
        (site(), (4, 128, 8), Verdict.EQUAL, ""),
        (site(), (4, 128, 9), Verdict.WRONG, "compare"),
        (site(), (5, 128, 8), Verdict.WRONG, "compare"),
        (site(active_requests=2), (4, 128, 8), Verdict.WRONG, "active"),  # 128 lanes are at least 4 requests
        (site(ways=1), (4, 128, 8), Verdict.WRONG, "inside"),
        (site(Status.UNREACHED), (0, 0, 0), Verdict.EQUAL, ""),
        (site(Status.UNREACHED), (1, 1, 1), Verdict.WRONG, "compare"),
        (site(Status.UNREACHED, "LD.E"), (1, 1, 0), Verdict.WRONG, "generic"),
        (site(Status.INVARIANT, per_request=Span(2, 2)), (4, 128, 8), Verdict.WITHIN, ""),
        (site(Status.INVARIANT, per_request=Span(2, 2)), (4, 128, 7), Verdict.WRONG, "each"),
        (
            site(Status.INVARIANT, per_request=Span(2, 2)),
            (4, 20, 2),
            Verdict.WITHIN,
            "",
        ),  # three of the four requests have no active lane
        (
            site(Status.CONDITIONAL, conditions=(Condition("a", 1, 1), Condition("b", 4, 4)), per_request=Span(1, 4)),
            (4, 128, 17),
            Verdict.WRONG,
            "conditions",
        ),
        (
            site(Status.CONDITIONAL, conditions=(Condition("a", 1, 1), Condition("b", 4, 4)), per_request=Span(1, 4)),
            (4, 128, 9),
            Verdict.OPEN,
            "",
        ),
        (site(Status.INVARIANT, "LDS.64", per_request=Span(1, 1)), (4, 128, 8), Verdict.DISPUTED, ""),
        (site(Status.UNKNOWN), (4, 128, 8), Verdict.OPEN, ""),
    ],
    ids=str,
)
def test_claims_are_compared_with_counts(one: Site, counted, verdict: Verdict, kind: str) -> None:
    found = judged(one, *counted)
    assert (found.verdict, found.kind) == (verdict, kind), found


def test_pattern_lanes_are_compared_with_the_thread_count() -> None:
    assert judged(site(), 4, 104, 8, (pattern(3, 32), pattern(1, 8))).verdict is Verdict.EQUAL
    assert judged(site(), 4, 105, 8, (pattern(3, 32), pattern(1, 8))).kind == "lanes"


def test_report_lists_wrong_claims() -> None:
    wrong = Finding(Verdict.WRONG, 0x20, "LDS R0, [R2]", "compare", "exact, wavefronts 8", "9 wavefronts", 12)
    one = Checked(
        17, "nvcc-O0", ("goto",), 3, "seed 17 nvcc-O0 #3", "told", (wrong, replace(wrong, verdict=Verdict.EQUAL))
    )
    text = report.text([one, replace(one, telling="bytes")])
    assert "compare under told, bytes: exact, wavefronts 8" in text
    assert "goto" in text and "nvcc-O0" in text


# --- claims against each other ------------------------------------------------------------------


def result(status: Status = Status.EXACT, **figures) -> SiteResult:
    given = (
        {"requests": 4, "active_requests": 4, "wavefronts": 8, "ideal": 4, "ways": 2, "patterns": (pattern(4, 32),)}
        if status is Status.EXACT
        else {}
    )
    return SiteResult(0, status, **given | figures)


@pytest.mark.parametrize(
    "other, why",
    [
        (result(), ""),
        (result(wavefronts=9), "wavefronts"),
        (result(Status.UNREACHED), "reached or not"),
        (result(Status.INVARIANT, per_request=(2, 2)), ""),
        (result(Status.INVARIANT, per_request=(1, 1)), "a request costs 2 to 2"),
        (result(Status.BOUNDED, bounds=(9, 12), requests=4), "bounds"),
        (result(Status.DATA_DEPENDENT, requests=5), "requests"),
        (result(Status.UNKNOWN), ""),
    ],
)
def test_contradictory_claims_are_excluded(other: SiteResult, why: str) -> None:
    assert agree.excluded(result(), other) == why


def test_claims_about_a_seed_agree_across_specifications() -> None:
    clashes, sites = agree.check(60, "nvrtc-O3")
    assert sites > 20
    assert [str(clash) for clash in clashes] == []


def test_claims_about_a_plan_of_handwritten_kernels_agree(tmp_path: Path) -> None:
    """Their parameters include a float."""
    made = by_hand.programs(frozenset({9007}))
    plan.write(tmp_path, by_hand.compiled(made, ["nvrtc-O1"]), 2)
    ((clashes, sites),) = agree.run_plan(tmp_path, 1)
    assert sites > 8 and [str(clash) for clash in clashes] == []
    assert list(agree.run_plan(tmp_path, 1, seeds=[1])) == []


def test_agreement_compares_every_access() -> None:
    """Also those on one line of PTX, of which the first is wrong."""
    text = """.version 8.5
.target sm_90
.address_size 64
.entry k() { .reg .b32 %r<6>; .shared .align 16 .b8 s[1024]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;
mad.lo.u32 %r3, %r1, 4, %r2; ld.shared.u32 %r4, [%r3]; mad.lo.u32 %r3, %r1, 8, %r2; ld.shared.u32 %r5, [%r3];
ret; }"""
    launch = {
        "kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "cluster": [0, 0, 0], "dynamic_shared": 0,
        "parameters": [], "buffers": {}, "symbols": {}, "addresses": {},
    }  # fmt: skip
    one = agree.audited(lift_module(parse_module(text)), "k", launch, "told")
    assert [site.wavefronts for site in one.sites.values()] == [1, 2]
    assert [one.by_id[site.id].wavefronts for site in one.entry.sites] == [1, 2]
    first = min(one.sites)
    other = replace(one, sites=one.sites | {first: msgspec.structs.replace(one.sites[first], wavefronts=2)})
    ((clash,),) = [list(agree.among_tellings("here", {"told": one, "placed": other}))]
    assert clash.what.endswith("ld.shared.u32 %r4, [%r3] (shared): wavefronts")


def test_claims_have_a_text() -> None:
    assert agree.words(result(Status.UNREACHED)).endswith("a request None")  # it has no reason
    lost = Reason(Kind.MATCH, 0)
    assert agree.words(result(Status.UNKNOWN, reason=lost)).endswith(str(lost)[:160])


# --- on a GPU, without one ----------------------------------------------------------------------


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    entries = [{"cubin": f"k{at // 2}.cubin", "kernel": f"k{at // 2}", "seed": at // 2} for at in range(6)]
    (tmp_path / plan.PLAN).write_bytes(gzip.compress(json.dumps(entries).encode()))
    return tmp_path


def test_hanging_launch_loses_only_its_cubin(planned: Path, monkeypatch, tmp_path: Path) -> None:
    def supervised(folder, numbers, notes, **more):
        if 2 not in numbers:
            return launching.Ran([{"done": n} for n in numbers], {}, "GPU", 0.1)
        done = numbers[: numbers.index(2)]
        return launching.Ran([{"done": n} for n in done], {2: "it stood still"}, "GPU", 9.0)

    monkeypatch.setattr(launching, "supervised", supervised)
    good, failed = launching.screen(planned, tmp_path, list(range(6)), float("inf"))
    assert good == [0, 1, 4, 5]
    assert failed == {2: "it stood still", 3: "as 2"}


def test_stalled_process_is_killed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(launching, "STILL", 0.5)
    script = tmp_path / "slow.py"
    script.write_text(
        "import sys, time, json\nopen(sys.argv[-1], 'w').write(json.dumps({'begin': 7}) + chr(10))\ntime.sleep(60)\n"
    )
    monkeypatch.setattr(launching, "LAUNCH", (sys.executable, str(script)))
    found = launching.supervised(tmp_path, [7, 8], tmp_path / "notes")
    assert found.done == []
    assert found.failed == {7: "it stood still"}
    assert found.seconds < 20


@pytest.mark.parametrize("names", [("k1", "k1"), ("k", "k1")], ids=["c", "mangled"])
def test_results_are_joined_with_their_launches(names: tuple[str, str], planned: Path, monkeypatch, tmp_path) -> None:
    action = SimpleNamespace(name=lambda base=0: names[base], NameBase_MANGLED=1)
    one = SimpleNamespace(num_actions=lambda: 1, action_by_idx=lambda i: action)
    context = SimpleNamespace(num_ranges=lambda: 1, range_by_idx=lambda i: one)
    monkeypatch.setattr(results, "import_ncu_report", lambda: SimpleNamespace(load_report=lambda path: context))
    monkeypatch.setattr(results, "executed_of", lambda action: ([(0, 4, 128), (16, 4, 128)], {0: "MOV", 16: "LDS"}))
    monkeypatch.setattr(results, "sites_of", lambda action: [[16, "LDS R0, [R2]", 8, 4, 4, 128]])
    monkeypatch.setattr(results, "totals_of", lambda action, pattern, kinds: {"_op_ld": 8.0})
    monkeypatch.setattr(results, "memory_of", lambda action: [[0, 4, 4, 0, 1]])
    monkeypatch.setattr(results, "device_line", lambda name: name)
    notes = tmp_path / "notes"
    notes.write_text(
        "\n".join(
            map(
                json.dumps,
                (
                    {"device": "GPU"},
                    {"begin": 2},
                    {"done": 2, "at": 1.0, "moved": False, "param_bytes": "00", "addresses": {"out": 256}},
                ),
            )
        )
    )
    results.join(planned, tmp_path / "r.ncu-rep", notes, tmp_path / "joined.json.gz")
    parts = results.Parts(tmp_path)
    assert parts.add(tmp_path / "joined.json.gz") == parts.add(tmp_path / "joined.json.gz") == 1
    document = json.loads(gzip.decompress((tmp_path / "part-0.json.gz").read_bytes()))
    assert document["device"] == "GPU"
    assert len(document["launches"]) == 2
    launch = document["launches"][0]
    assert launch["executed"] == [[0, 16], [4, 4], [128, 128]]
    assert launch["addresses"] == {"out": 256}
    assert launch["memory"] == [[0, 4, 4, 0, 1]] and launch["sectors"] == {"_op_ld": 8.0}
    assert document["code"] == {"k1.cubin": {"0": "MOV", "16": "LDS"}}


def test_handwritten_kernels_are_read_with_their_launches() -> None:
    programs = list(by_hand.programs())
    assert len({made.seed for made in programs}) == len(programs) > 40
    for made in programs:
        assert made.shapes and f" {made.name}(" in made.source()
        assert made.source().startswith("// launch ") and {p.name for p in made.parameters} == {"out", "src", "n", "f"}
    assert by_hand.programs(frozenset((9017,))).__next__().shapes[0].cluster == (2, 1, 1)


@pytest.mark.parametrize("number", [made.seed for made in by_hand.programs() if made.seed % 24 == 1])
def test_handwritten_kernels_compile(number: int) -> None:
    (made,) = by_hand.programs(frozenset((number,)))
    assert builds.compile_build(made, "nvrtc-O3").cubin


def test_truth_page_names_existing_tests() -> None:
    """docs/truth.md: `test_file.py::test_name`, and `::test_name` in the file named last."""
    named: list[tuple[str, str]] = []
    file = ""
    for path, test in re.findall(r"`(test_\w+\.py)?(?:::(test_\w+))?`", (ROOT / "docs" / "truth.md").read_text()):
        file = path or file
        if path or test:
            named.append((file, test))
    assert len(named) > 40
    for file, test in named:
        (found,) = TESTS.rglob(file)
        text = found.read_text()
        assert not test or f"def {test}(" in text, (file, test)
