"""bench/corpus.py on PTX made here: what counts as answered, faults and timeouts, the results file."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys

import pytest
from paths import ROOT

from ptxaudit.engine.answer.result import SiteResult, Status
from ptxaudit.frontend.compile import nvrtc

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
FINE = (
    HEAD
    + """.visible .entry fine(.param .u64 p) {
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 16 .b8 s[4096];
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.s32 %r2, %r2, %r3;
    st.shared.u32 [%r2], %r1; ld.shared.u32 %r1, [%r3+8]; ret;
}
.visible .entry without_sites() { ret; }
"""
)


@pytest.fixture(scope="module")
def corpus():
    return importlib.import_module("bench.corpus")


@pytest.mark.parametrize(
    ("status", "per_request", "answered"),
    [
        (Status.EXACT, (3, 3), True),
        (Status.INVARIANT, (1, 1), True),
        (Status.CONDITIONAL, (1, 32), True),
        (Status.UNREACHED, None, True),
        (Status.BOUNDED, (2, 4), True),
        (Status.BOUNDED, (2, 5), False),
        (Status.BOUNDED, None, False),
        (Status.DATA_DEPENDENT, (1, 32), True),
        (Status.DATA_DEPENDENT, None, False),
        (Status.UNKNOWN, None, False),
        (Status.UNKNOWN, (1, 1), False),
    ],
)
def test_results_that_count_as_answered(corpus, status, per_request, answered) -> None:
    assert corpus.answers(SiteResult(0, status, per_request=per_request)) is answered


def test_line_classes_count_as_answered_without_wavefronts(corpus) -> None:
    assert corpus.answers(SiteResult(0, Status.BOUNDED, line_class_max=4))


def test_reasons_of_one_kind_are_one_class(corpus) -> None:
    assert corpus.reason_class("%r17 changes in a loop at 42") == corpus.reason_class("%rd3 changes in a loop at 7")


def test_shortened_long_names_remain_distinct(corpus) -> None:
    first, second = corpus.short("x" * 500 + "a"), corpus.short("x" * 500 + "b")
    assert len(first) == corpus.NAME_LENGTH and first != second
    assert corpus.short("kernel") == "kernel"


def test_bad_files_of_a_corpus_do_not_stop_the_others(corpus, tmp_path) -> None:
    """Two packages, one file that is not PTX, one that ptxas rejects; nothing stops the others."""
    for package, name, text in (
        ("one", "fine.ptx", FINE),
        ("one", "broken.ptx", FINE[:-20]),
        ("two", "refused.ptx", FINE.replace("shl.b32", "add.f64 %r2, %r1, %r1; shl.b32").replace("fine", "other")),
    ):
        (tmp_path / package).mkdir(exist_ok=True)
        (tmp_path / package / name).write_text(text)
    results = corpus.run(tmp_path, jobs=1)
    assert (results["kernels"], results["sites"], results["answered"]) == (2, 4, 4)
    assert results["status"] == {"conditional": 2, "invariant": 2}
    assert [c["file"] for c in results["crashes"]] == ["broken.ptx"]
    assert results["packages"]["two"]["share"] == 1.0
    assert results["processor_seconds"]["files_given_to_ptxas"] == 1 and results["processor_seconds"]["ratio"] > 0
    assert json.loads(corpus.written(results)) == json.loads(json.dumps(results))
    assert "2 kernels of 2 packages, 4 sites: 100.0% answered" in corpus.show(results)


def test_kernel_beyond_its_time_limit_is_a_timeout(corpus, tmp_path, monkeypatch) -> None:
    def forever(*arguments, **named):
        while True:
            pass

    monkeypatch.setattr(corpus.engine, "evaluate", forever)
    (tmp_path / "fine.ptx").write_text(FINE)
    record = corpus.audit_file(tmp_path / "fine.ptx", "one", budget=0.2)
    assert [k.fault for k in record.kernels] == ["time-out"]


def test_fault_is_recorded_with_its_location(corpus, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(corpus.graph, "build", lambda function: 1 // 0)
    (tmp_path / "fine.ptx").write_text(FINE)
    record = corpus.audit_file(tmp_path / "fine.ptx", "one")
    assert all(k.fault.startswith("ZeroDivisionError") and "test_corpus.py" in k.fault for k in record.kernels)


@pytest.mark.parametrize("sample", ["bitonic_sort", "transpose"])
def test_samples_audit_without_faults(corpus, sample, tmp_path) -> None:
    source = next((ROOT / "samples").glob(f"{sample}*/*.cu"))
    (tmp_path / "k.ptx").write_text(nvrtc.compile_source(source, "sm_90").ptx)
    record = corpus.audit_file(tmp_path / "k.ptx", "samples")
    assert record.kernels and all(k.answered == sum(k.sites.values()) and not k.fault for k in record.kernels)


def test_registers_of_128_bits_cause_no_fault(corpus, tmp_path) -> None:
    text = FINE.replace(
        "mov.u32 %r3, s;",
        "mov.u32 %r3, s; .reg .b128 %q<2>; ld.param.u64 %rd1, [p]; ld.global.b128 %q1, [%rd1]; mov.b128 {%rd2, %rd3},"
        " %q1; cvt.u32.u64 %r1, %rd2;",
    ).replace("[%r3+8]", "[%r1]")
    (tmp_path / "k.ptx").write_text(text)
    (kernel,) = corpus.audit_file(tmp_path / "k.ptx", "one").kernels
    assert not kernel.fault and sum(kernel.sites.values()) == 2


def test_coverage_page_is_generated_from_the_results() -> None:
    """docs/coverage.md is the output of `make coverage`."""
    spec = importlib.util.spec_from_file_location("coverage_page", ROOT / "bench" / "coverage.py")
    coverage = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(coverage)
    files = (coverage.CORPUS, coverage.ORACLE, coverage.MEMORY, coverage.SPECIFIED)
    results = [json.loads(path.read_text("utf-8")) for path in files]
    assert coverage.PAGE.read_text("utf-8") == coverage.page(*results)
    corpus, oracle, memory, specified = results
    assert all(one[how]["share"] > 0 for one in specified["packages"].values() for how in coverage.ASKED)
    assert memory["all_over_shared"] <= 1.6 and memory["faults"] == []
    assert corpus["kernels"] == len(corpus["per_kernel"]) and oracle["modules"] >= 200


OF_MEMORY = """.visible .entry copies(.param .u64 p, .param .u64 q) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4]; st.global.u32 [%rd5], %r2; ld.global.u32 %r3, [%rd1+4]; ret;
}
"""


def test_global_memory_sites_of_a_corpus_are_counted(tmp_path, monkeypatch, capsys):
    from bench import corpus_memory

    for package, text in (("one", HEAD + OF_MEMORY), ("other", FINE)):
        (tmp_path / package).mkdir()
        (tmp_path / package / "k.ptx").write_text(text)
    target = tmp_path / "results.json"
    monkeypatch.setattr(sys, "argv", ["corpus_memory", str(tmp_path), "-o", str(target)])
    assert corpus_memory.main() == 0
    found = json.loads(target.read_text())
    assert found["kernels"] == 3 and found["faults"] == []
    of_global = found["memories"]["global"]
    assert of_global["nothing"]["status"] == {"conditional": 2, "invariant": 1}
    assert of_global["launch"]["status"] == {"exact": 3} and of_global["launch"]["answered_share"] == 1
    assert found["memories"]["local"]["nothing"]["sites"] == 0
    assert set(found["processor_seconds"]["with_shared"]) == {"shared", "nothing", "launch"}
    assert json.loads(capsys.readouterr().out) == found
