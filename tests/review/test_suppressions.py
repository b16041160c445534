"""Inline suppressions: the line that they apply to, that they give a reason, and that they name real rules."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.report.model import Suppression
from ptxaudit.review.findings import stale_suppressions
from ptxaudit.review.rules import find
from ptxaudit.review.suppressions import read_suppressions
from ptxaudit.ui.cli import main

KERNEL = """\
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[1024];
    s[threadIdx.x * 32] = in[0];%s
    __syncthreads();
%s
    out[threadIdx.x] = s[threadIdx.x * 32];
}
"""


def read(text):
    return list(read_suppressions(text, "k.cu"))


@pytest.mark.parametrize(
    "text, line, target",
    [
        ('int a;  // ptxaudit: allow(PA001, "why")', 1, 1),
        ('//ptxaudit:allow( PA001 ,"why" )\nint a;', 1, 2),
        ('// ptxaudit: allow(load-conflict, "why")\n\n// more\nint a;', 1, 4),
        ('int a; /* ptxaudit: allow(PA001, "why") */', 1, 1),
    ],
)
def test_target_line_of_a_suppression(text, line, target):
    assert read(text) == [Suppression("PA001", "why", "k.cu", line, target)]


SEVERAL = """\
a();
// ptxaudit: allow(PA001, "why")
x = s[i] +   // one; two {
    s[j] /* ; */ +

    s[k];
b();
for (int i = 0;
     i < 4; ++i)
    y = f("};", s[i],
          s[j]);  // ptxaudit: allow(PA001, "why")
#pragma unroll
z = s[0]
  + s[1]; // ptxaudit: allow(PA001, "why")
"""


def test_suppression_covers_the_whole_statement():
    assert [(one.line, one.target, one.statement) for one in read(SEVERAL)] == [
        (2, 3, (3, 5)),
        (11, 11, (9, 11)),
        (14, 14, (13, 14)),
    ]


@pytest.mark.parametrize("at", [4, 5])
def test_suppression_applies_on_any_line_of_the_statement(at, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body = ["    float y = s[threadIdx.x]", "        + s[threadIdx.x * 32]", "        + s[threadIdx.x * 16];"]
    body[at - 4] += '    // ptxaudit: allow(PA001, "a table")'
    (tmp_path / "k.cu").write_text(
        "\n".join(
            [
                'extern "C" __global__ void k(float* p) {',
                "    __shared__ float s[1024];",
                "    s[threadIdx.x] = p[0]; __syncthreads();",
                *body,
                "    p[0] = y;",
                "}",
            ]
        )
    )
    result = CliRunner().invoke(main, ["audit", "k.cu", "--grid", "1", "--block", "32", "--fail-on", "PA001"])
    assert result.exit_code == 0 and "2 allowed by comments" in result.stderr, result.stderr


def test_comment_may_allow_several_rules():
    assert [s.rule for s in read('int a; // ptxaudit: allow(PA001, pa002, "why")')] == ["PA001", "PA002"]


@pytest.mark.parametrize(
    "comment, what",
    [
        ("allow(PA001)", "gives no reason"),
        ('allow(PA001, "")', "gives no reason"),
        ('allow(PA001, "  ")', "gives no reason"),
        ("allow(PA001, why)", "gives no reason"),
        ('allow(PA999, "why")', "no rule 'PA999'"),
        ("alow(PA001)", "cannot be parsed"),
        ("", "cannot be parsed"),
    ],
)
def test_malformed_suppression_is_an_error_with_its_location(comment, what):
    (error,) = read(f"\nint a; // ptxaudit: {comment}")
    assert isinstance(error, InputError)
    assert what in error.what and (error.file, error.line, error.column) == ("k.cu", 2, 8)


def test_other_comments_and_strings_are_ignored():
    assert read('// see ptxaudit: it counts\nconst char* a = "ptxaudit: b";\nint b; // nolint') == []
    assert read('const char* a = "// ptxaudit: allow(PA001)";') == []
    (one,) = read('char a = \'"\';   // ptxaudit: allow(PA001, "a quote")')
    assert one.reason == "a quote"


def audited(tmp_path, monkeypatch, own="", above=""):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL % (own, above))
    return ptxaudit.audit("k.cu", launches=[ptxaudit.Launch("k", grid=1, block=32)])


def test_allowed_finding_has_its_reason(tmp_path, monkeypatch):
    report = audited(
        tmp_path, monkeypatch, ' // ptxaudit: allow(PA002, "once")', '    // ptxaudit: allow(PA001, "cold")'
    )
    assert {f.rule: f.allowed and f.allowed.reason for f in find(report)} == {"PA001": "cold", "PA002": "once"}
    assert stale_suppressions(report, find(report)) == ()
    assert ptxaudit.Report.from_dict(report.to_dict()).suppressions == report.suppressions


def test_stale_suppression_is_a_warning(tmp_path, monkeypatch):
    audited(tmp_path, monkeypatch, ' // ptxaudit: allow(PA001, "never a load")')
    result = CliRunner().invoke(main, ["audit", "k.cu", "--grid", "1", "--block", "32"])
    assert result.exit_code == 0
    assert "k.cu:3: the suppression of PA001 no longer matches anything" in result.stderr


def test_suppression_without_a_reason_exits_with_status_2(tmp_path, monkeypatch):
    audited(tmp_path, monkeypatch, " // ptxaudit: allow(PA001)")
    result = CliRunner().invoke(main, ["audit", "k.cu"])
    assert result.exit_code == 2
    assert "the suppression of PA001 gives no reason" in result.stderr and "--> k.cu:3:34" in result.stderr


TWO = """
__device__ float get(float* s, int i) {
    return s[i * 32];    // ptxaudit: allow(PA001, "wherever it is called")
}
extern "C" __global__ void one(float* p, int n) {
    __shared__ float s[1024];
    s[threadIdx.x * 32] = 1;    // ptxaudit: allow(PA002, "once")
    __syncthreads();
    if (n > 9)
        p[threadIdx.x] = get(s, threadIdx.x);    // ptxaudit: allow(PA001, "here as well")
}
extern "C" __global__ void two(float* p) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;    // ptxaudit: allow(PA002, "it did, once")
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x ^ 1];
}
"""


@pytest.mark.parametrize(
    "arguments, stale",
    [
        (("--param", "n=10"), [14]),
        (("--param", "n=1"), [14]),  # not reached: no conclusion
        (("--kernel", "one"), []),  # a part of the file: no conclusion either
        (("--ignore", "PA002"), [14]),  # an allowed rule stays allowed
    ],
)
def test_staleness_is_judged_only_for_audited_kernels(tmp_path, monkeypatch, arguments, stale):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(TWO)
    (tmp_path / "l.toml").write_text(
        "".join(
            f'[[launch]]\nkernel = "{name}"\ngrid = [1]\nblock = [32]\nparams = {params}\n'
            for name, params in (
                ("one", ["?", int(arguments[1][2:]) if arguments[0] == "--param" else 10]),
                ("two", ["?"]),
            )
            if arguments != ("--kernel", "one") or name == "one"
        )
    )
    given = [
        "audit",
        "k.cu",
        "--launch",
        "l.toml",
        "--fail-on",
        "excess=1",
        *(() if arguments[0] == "--param" else arguments),
    ]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 0, result.stderr
    found = [int(line.split(":")[2]) for line in result.stderr.splitlines() if "no longer matches anything" in line]
    assert found == stale


def test_stale_suppression_in_a_header_mentions_other_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.cuh").write_text(
        '__device__ void put(volatile float* s, int i) {\n  s[i] = 1;   // ptxaudit: allow(PA002, "elsewhere")\n}\n'
    )
    (tmp_path / "k.cu").write_text(
        '#include "h.cuh"\nextern "C" __global__ void k() { __shared__ volatile float s[64]; put(s, threadIdx.x); }\n'
    )
    text = CliRunner().invoke(main, ["audit", "k.cu", "--grid", "1", "--block", "32"]).stderr
    assert (
        text
        == "warning: h.cuh:2: the suppression of PA002 no longer matches anything in these inputs: delete it unless other"
        " inputs need it\n"
    )
