"""`assert_conflict_free` and the pytest plugin."""

from __future__ import annotations

import json

import pytest

import ptxaudit
from ptxaudit.testing import assert_conflict_free
from ptxaudit.ui import assertions

pytest_plugins = ["pytester"]

KERNEL = """
extern "C" __global__ void k(const float* in, float* out, int n) {
    __shared__ float s[2048];
    s[threadIdx.x * STRIDE] = in[0];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
"""
LAUNCH = {"kernel": "k", "grid": (1,), "block": (32,)}


def check(stride=32, **options):
    return assert_conflict_free(KERNEL, defines=(f"STRIDE={stride}",), **{"launch": LAUNCH, **options})


def test_kernel_without_conflicts_passes_and_returns_its_report():
    assert check(33).kernels[0].totals.excess == 0


def test_conflict_fails_with_its_line_and_the_table():
    with pytest.raises(AssertionError) as caught:
        check()
    text = str(caught.value)
    assert (
        text.startswith("1 conflict\n")
        and ":4: PA002: st.shared.f32: 31 excess wavefronts" in text
        and "stride 128 bytes" in text
    )


@pytest.mark.parametrize("allow", ["k", ["PA002"], ["*:4"], {"k": 31}, {"*:4": 100}, ["nothing", "PA002"]])
def test_allowed_conflicts_pass(allow):
    check(allow=allow)


@pytest.mark.parametrize("allow", [["PA001"], ["*:5"], ["other"], {"k": 30}])
def test_conflicts_beyond_the_allowance_fail(allow):
    with pytest.raises(AssertionError):
        check(allow=allow)


@pytest.mark.parametrize("most", [27, 28])
def test_allowance_for_global_memory_is_in_sectors(most):
    """32 sectors instead of 4 that would hold the bytes."""
    source = 'extern "C" __global__ void g(float* out) {\n    out[threadIdx.x * 32] = 1;\n}'
    options = {"launch": {**LAUNCH, "kernel": "g"}, "rules": ["PA011"], "space": "global", "allow": {"g": most}}
    if most == 28:
        assert assert_conflict_free(source, **options).kernels[0].memory[0].sectors_excess == 28
    else:
        with pytest.raises(AssertionError, match="PA011"):
            assert_conflict_free(source, **options)


def test_selected_rules_decide():
    check(rules=["load-conflict"])
    with pytest.raises(ptxaudit.InputError, match="no rule"):
        check(rules=["PA999"])


def test_unproved_site_fails_unless_not_strict():
    guess = KERNEL.replace("* STRIDE", "* n")
    with pytest.raises(AssertionError, match="not proved free of conflicts"):
        assert_conflict_free(guess, launch=LAUNCH)
    assert_conflict_free(guess, launch=LAUNCH, strict=False)
    assert_conflict_free(guess, launch={**LAUNCH, "params": (None, None, 33)})


def test_launches_are_given_in_any_form(tmp_path):
    file = tmp_path / "l.toml"
    file.write_text('[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [32]\n')
    for launch in (ptxaudit.Launch(**LAUNCH), [LAUNCH, ptxaudit.Launch("k", grid=2, block=32)], file, str(file)):
        assert check(33, launch=launch).kernels[0].launch.block == (32, 1, 1)


def test_artifact_is_accepted_as_source(tmp_path):
    from ptxaudit.frontend.compile.nvrtc import compile_source

    cubin = tmp_path / "k.cubin"
    cubin.write_bytes(compile_source(KERNEL, defines=["STRIDE=32"]).cubin)
    with pytest.raises(AssertionError, match="STS"):
        assert_conflict_free(cubin, launch=LAUNCH)


def test_unauditable_source_raises_an_input_error():
    with pytest.raises(ptxaudit.InputError, match="undefined"):
        assert_conflict_free(KERNEL, launch=LAUNCH)  # no STRIDE
    with pytest.raises(ptxaudit.InputError, match="no kernel"):
        check(33, kernels=["other"])


TEST = f'''
from ptxaudit.testing import assert_conflict_free, defaults
KERNEL = """{KERNEL}"""
LAUNCH = {LAUNCH!r}

def test_good():
    assert_conflict_free(KERNEL, launch=LAUNCH, defines=("STRIDE=1",))
    assert_conflict_free(KERNEL, launch=LAUNCH, defines=("STRIDE=33",))

def test_bad(conflict_free):
    conflict_free(KERNEL, launch=LAUNCH, defines=("STRIDE=32",))
'''


def test_plugin_has_a_fixture_and_writes_reports(pytester, monkeypatch):
    monkeypatch.setattr(assertions, "defaults", assertions.Defaults())
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess(
        "-p", "ptxaudit.pytest_plugin", "--ptxaudit-report", "kept", "-q", "-p", "no:cacheprovider"
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*AssertionError: 1 conflict*", "*PA002*"])
    names = sorted(path.name for path in (pytester.path / "kept").iterdir())
    assert (
        len(names) == 6
        and any(name.endswith("test_good-2.html") for name in names)
        and any(name.endswith("test_bad.html") for name in names)
    )
    (bad,) = (pytester.path / "kept").glob("*test_bad.json")
    assert json.loads(bad.read_text())["kernels"][0]["totals"]["excess"] == 31


def test_plugin_selects_the_toolchain(pytester, monkeypatch):
    monkeypatch.setattr(assertions, "defaults", assertions.Defaults())
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess(
        "-p", "ptxaudit.pytest_plugin", "--ptxaudit-toolchain", "9.1", "-q", "-p", "no:cacheprovider"
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*there is no CUDA release '9.1'*"])
