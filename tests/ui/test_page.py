"""The HTML page as a file: its content, its validity, its size, and the time to generate it."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import html5lib
import numpy as np
import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from pages import data_of, large, large_page, requests_report
from reports import kernel, report, site

import ptxaudit
from ptxaudit.frontend.launch.launch_file import read_launches
from ptxaudit.hardware import banks, machines
from ptxaudit.hardware.banks.count import pairs_agree
from ptxaudit.report.model import Loop, Problem, Seen, Source
from ptxaudit.ui.cli import main
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.html import html
from ptxaudit.ui.render.page import data as page_data
from samples import SAMPLES

HOSTILE = '</script><script>window.hacked = 1</script><!-- <img src=x onerror="window.hacked = 1"> \u2028 & \\u003c'
MOST_BYTES = 10_000_000
NESTED = """\
__global__ void k(float* out) {
    __shared__ float s[4096];
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        s[threadIdx.x * 2 + i] = i;
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < 8; j++) {
            sum += s[threadIdx.x * (j + 1)];
        }
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
"""


@pytest.fixture(scope="module")
def bitonic():
    folder = SAMPLES / "bitonic_sort"
    return ptxaudit.audit(
        folder / "bitonic_sort.cu", launches=read_launches(folder / "launch.toml"), patterns=True, fixes=True
    )


def hostile():
    one = site(
        3,
        wavefronts=64,
        source=Source(f"/src/{HOSTILE}.cu", 3, 1, HOSTILE),
        id=f"k@{HOSTILE}",
        cause=HOSTILE,
        reason=HOSTILE,
        formula=HOSTILE,
        text=HOSTILE,
        opcode=HOSTILE,
    )
    return report(
        kernel(one, name=HOSTILE, demangled=f"void {HOSTILE}<{'int, ' * 2000}int>()"),
        problems=[Problem(HOSTILE, HOSTILE)],
    )


# --- validity -------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [hostile(), requests_report(12), report()], ids=["hostile", "requests", "nothing"])
def test_page_is_valid_html(given):
    parser = html5lib.HTMLParser(strict=False)
    parser.parse(html(Checked(given)))
    assert [code for _, code, _ in parser.errors] == []


@pytest.mark.parametrize("make", [lambda: html(Checked(hostile())), lambda: html(Checked(requests_report(3)))])
def test_content_security_policy_allows_only_the_inline_script_and_style(make):
    page = make()
    tree = html5lib.parse(page, namespaceHTMLElements=False)
    policy = next(
        meta.get("content") for meta in tree.iter("meta") if meta.get("http-equiv") == "Content-Security-Policy"
    )
    scripts = [one for one in tree.iter("script") if one.get("type") != "application/json"]
    (style,) = tree.iter("style")
    assert len(scripts) == 1
    digests = [
        "sha256-" + base64.b64encode(hashlib.sha256(one.text.encode()).digest()).decode() for one in (style, scripts[0])
    ]
    assert policy.startswith(f"default-src 'none'; style-src '{digests[0]}'; script-src '{digests[1]}';")
    assert not any(
        "style" in one.attrib or any(name.startswith("on") for name in one.attrib)
        for one in tree.iter()
        if isinstance(one.tag, str)
    )


def test_page_is_self_contained():
    tree = html5lib.parse(html(Checked(hostile())), namespaceHTMLElements=False)
    for one in tree.iter():
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            assert one.get(name, "#").startswith("#"), (one.tag, one.get(name))
        assert one.tag not in ("link", "iframe", "object", "embed", "img", "base", "form")
    (style,) = tree.iter("style")
    code = [one.text for one in tree.iter("script") if one.get("type") != "application/json"][0]
    assert "url(" not in style.text and "@import" not in style.text
    assert not re.search(
        r"\bfetch\(|XMLHttpRequest|import\(|innerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", code
    )


def test_hostile_names_are_escaped_and_unchanged():
    given = hostile()
    page = html(Checked(given))
    assert "<script>window.hacked" not in page and "<img" not in page
    data = data_of(page)
    assert HOSTILE in data["texts"] and data["problems"][0].count("</script><script>window.hacked = 1</script>") == 2
    assert data["kernels"][0]["name"] == HOSTILE and len(data["kernels"][0]["dem"]) <= page_data.LONGEST_NAME + 20


def test_long_names_remain_distinct_on_the_page():
    names = [f"void k<{'int, ' * 2000}{end}, {'int, ' * 2000}int>()" for end in ("float", "double")]
    kernels = data_of(html(Checked(report(*(kernel(site(1), name=name, demangled=name) for name in names)))))["kernels"]
    assert (
        kernels[0]["dem"] != kernels[1]["dem"]
        and max(len(one["dem"]) for one in kernels) <= page_data.LONGEST_NAME + 20
    )


# --- size and time --------------------------------------------------------------------------


def test_page_of_5000_sites_is_below_10_megabytes():
    checked, material = large(5000)
    assert len(html(Checked(checked.report), material).encode()) < MOST_BYTES


def test_oversized_page_keeps_the_code_around_sites():
    data = data_of(large_page(5000))
    assert any(code.get("cut") for code in data["codes"]) or any("code" not in one for one in data["kernels"])
    assert any("some" in file for file in data["files"]) and any("lines" in file for file in data["files"])
    with_requests = [one for one in data["sites"] if "q" in one]
    assert len(with_requests) == 5000 and all(one["d"] >= len(one["q"]) for one in with_requests)


# --- the figures are the report's ---------------------------------------------------------------


def test_page_figures_equal_the_report(bitonic):
    data = data_of(html(Checked(bitonic)))
    for one, entry in zip(bitonic.every_site, data["sites"], strict=True):
        assert (one.requests, one.wavefronts, one.ideal, one.excess, one.ways) == tuple(
            entry.get(name) for name in ("n", "wf", "id", "ex", "ways")
        )
        assert str(one.status) == entry["st"] and len(entry["q"]) == min(len(one.patterns), page_data.MOST_PATTERNS)
        costliest = max(pattern.low - pattern.ideal for pattern in one.patterns)
        assert entry["q"][0]["lo"] - entry["q"][0]["id"] == costliest
    assert [(one["wavefronts"], one["excess"]) for one in data["kernels"]] == [
        (one.totals.wavefronts, one.totals.excess) for one in bitonic.kernels
    ]


def test_page_addresses_are_packed_losslessly():
    rng = np.random.default_rng(3)
    for _ in range(200):
        addresses = (rng.integers(0, 4, 32) * 4).tolist() if rng.random() < 0.5 else np.arange(0, 32 * 4, 4).tolist()
        packed = page_data.steps(addresses)
        back = [packed[0]]
        for step, times in zip(packed[1::2], packed[2::2], strict=True):
            back += [back[-1] + step * at for at in range(1, times + 1)]
        assert back == addresses
    assert page_data.steps(list(range(0, 128, 4))) == [0, 4, 31]


def test_page_merges_pairs_as_the_counting_rule_does():
    rng = np.random.default_rng(4)
    seen = set()
    for _ in range(400):
        addresses = rng.integers(0, 2, 32) * 4 if rng.random() < 0.4 else np.repeat(rng.integers(0, 9, 16) * 4, 2)
        active = rng.random(32) < rng.choice([0.1, 0.5, 1.0])
        expected = bool(pairs_agree(addresses[None, :], active[None, :])[0])
        mask = sum(1 << lane for lane in np.flatnonzero(active).tolist())
        assert page_data.agree(addresses.tolist(), mask) == expected
        seen.add(expected)
    assert seen == {True, False}


# --- data in the report for the page ---------------------------------------------------------------


def test_patterns_name_their_warps_and_trips(bitonic):
    """All blocks of this sample behave alike: a pattern occurs once for each warp, trip and block that it names."""
    blocks = 2
    looped = [one for one in bitonic.every_site if one.distinct == len(one.patterns) and one.requests is not None]
    assert any(len(one.patterns) > 4 for one in looped)
    for one in looped:
        assert sum(pattern.count for pattern in one.patterns) == one.active_requests
        for pattern in one.patterns:
            met = sum((entry.last - entry.first + 1) * entry.warps.bit_count() for entry in pattern.seen)
            assert met * blocks == pattern.count
        trips = [
            sum(
                pattern.low * blocks * entry.warps.bit_count()
                for pattern in one.patterns
                for entry in pattern.seen
                if entry.first <= at <= entry.last
            )
            for at in range(len(one.trips))
        ]
        assert trips == [trip.wavefronts for trip in one.trips]


def test_page_loops_have_their_lines_and_sites(tmp_path):
    (tmp_path / "k.cu").write_text(NESTED)
    found = ptxaudit.audit(tmp_path / "k.cu", launches=[ptxaudit.Launch("k", grid=(1,), block=(64,))], patterns=True)
    (entry,) = found.kernels
    outer, inner = entry.loops
    assert isinstance(outer, Loop) and (outer.depth, inner.depth) == (1, 2)
    assert (outer.first, outer.last) == (5, 12) and (inner.first, inner.last) in [(9, 10), (10, 10)]
    assert set(inner.sites) < set(outer.sites) == {one.id for one in entry.sites}
    assert ptxaudit.audit(tmp_path / "k.cu").kernels[0].loops == ()


def test_repair_shows_the_costliest_request_before_and_after(bitonic):
    machine, repaired = (
        machines.get("sm_90"),
        [one for one in bitonic.every_site if one.fix is not None and one.fix.moved is not None],
    )
    assert repaired
    for one in repaired:
        moved, access = one.fix.moved, banks.classify(one.scored_as.rpartition(" on ")[0])
        active = np.array([moved.active >> lane & 1 == 1 for lane in range(32)])[None, :]
        costs = tuple(
            int(banks.score(machine, access, np.array(places)[None, :], active).low[0])
            for places in (moved.before, moved.after)
        )
        assert costs == moved.wavefronts and costs[1] < costs[0] == max(pattern.low for pattern in one.patterns)


def test_report_with_patterns_reads_back_equal(bitonic):
    written = json.loads(bitonic.to_json())
    assert ptxaudit.Report.from_dict(written) == bitonic
    assert bitonic.sites[0].patterns[0].seen[0] == Seen(0, 0, 0xFFFF)


def test_report_of_an_earlier_version_is_rendered_without_patterns(bitonic):
    written = json.loads(bitonic.to_json())
    for entry in written["kernels"]:
        del entry["loops"]
        for one in entry["sites"]:
            for name in ("patterns", "distinct", "scored_as"):
                del one[name]
    read = ptxaudit.Report.from_dict(written)
    assert read.sites[0].patterns == () and read.sites[0].distinct is None
    assert "<h1" in html(Checked(read))


# --- the commands ------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "k.cu").write_text(NESTED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_page_contains_source_ptx_and_machine_code(here):
    done = CliRunner().invoke(
        main,
        [
            "audit",
            "k.cu",
            "--block",
            "64",
            "--grid",
            "1",
            "--isa",
            "both",
            "--format",
            "html",
            "-o",
            "k.html",
            "--no-config",
        ],
    )
    assert done.exit_code == 0, done.output
    data = data_of((here / "k.html").read_text())
    assert data["files"][0]["lines"] == NESTED.splitlines() and data["files"][0]["path"] == "k.cu"
    ptx, sass = data["kernels"]
    assert (ptx["pair"], sass["pair"]) == (1, 0)
    for one in (ptx, sass):
        code = data["codes"][one["code"]]
        sites = [entry for entry in data["sites"] if data["kernels"][entry["k"]] is one]
        assert sites and {entry["at"] for entry in sites} <= set(code["p"])
        assert {code["l"][code["p"].index(entry["at"])] for entry in sites} <= {6, 10}


def test_json_has_patterns_on_demand(here):
    def sites(*more):
        done = CliRunner().invoke(
            main, ["audit", "k.cu", "--block", "64", "--grid", "1", "--format", "json", "--no-config", *more]
        )
        return json.loads(done.stdout)["kernels"][0]["sites"]

    assert all(one["patterns"] for one in sites("--patterns")) and not any(one["patterns"] for one in sites())


def test_explain_writes_an_svg_picture(here):
    done = CliRunner().invoke(
        main, ["explain", "k.cu", "k.cu:10", "--block", "64", "--grid", "1", "--svg", "k.svg", "--no-config"]
    )
    assert done.exit_code == 0, done.output
    drawn = (here / "k.svg").read_text()
    tree = html5lib.parseFragment(drawn, namespaceHTMLElements=False)
    titles = [one.text for one in tree.iter() if str(one.tag).endswith("title")]
    assert any("8 wavefronts, ideal 1" in title for title in titles) and all(
        "k.cu:10" in title or "request then" in title for title in titles
    )
    refused = CliRunner().invoke(main, ["explain", "k.cu", "k.cu:10", "--svg", "k.cu", "--no-config"])
    assert refused.exit_code == 2 and (here / "k.cu").read_text() == NESTED


# --- notebooks ------------------------------------------------------------------------------------------


def test_notebook_shows_the_costliest_request_of_a_site(bitonic):
    one = max(bitonic.sites, key=lambda one: one.excess or 0)
    shown = one._repr_html_()
    assert f"<td>{one.excess:,}</td>" in shown and "<svg" in shown and one.cause in shown
    assert "<svg" not in replace(one, patterns=())._repr_html_()
    bad = site(1, text="<b>", cause="<i>")._repr_html_()
    assert "<b>&lt;" not in bad and "&lt;b&gt;" in bad and "&lt;i&gt;" in bad


def test_notebook_shows_scores_and_diffs():
    score = ptxaudit.score_request("ld.shared.f32", range(0, 4096, 128))
    assert "32 wavefronts, ideal 1" in score._repr_html_() and "<svg" in score._repr_html_()
    assert "request" not in repr(score) and score == ptxaudit.score_request("ld.shared.f32", range(0, 4096, 128))
    copied = ptxaudit.score_request("cp.async.cg.shared.global 16", range(0, 512, 16))._repr_html_()
    assert "no hardware counter covers its wavefronts" in copied and "<svg" not in copied
    from ptxaudit.review.diff.reports import diff_reports

    old, new = (
        report(kernel(site(1, wavefronts=8), demangled="k<a>()")),
        report(kernel(site(1, wavefronts=64), demangled="k<a>()")),
    )
    shown = diff_reports(old, new)._repr_html_()
    assert "got worse" in shown and "k&lt;a&gt;" in shown and "8 → 64" in shown
