"""Rules and limits of global and local memory, registers and occupancy on the command line.

What they deny, and what they do not.
"""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from ptxaudit.review.rules import RULES
from ptxaudit.ui.cli import main

OF_MEMORY = ("PA008", "PA011", "PA012", "PA013", "PA014")

SPILLED = """
extern "C" __global__ void __launch_bounds__(1024, 2) k(const float* in, float* out, int n) {
    float v[64];
    for (int i = 0; i < 64; i++) v[i] = in[threadIdx.x + i * 1024];
    for (int r = 0; r < n; r++) for (int i = 0; i < 64; i++) v[i] = v[i] * v[(i + 7) % 64] + 1.0f;
    for (int i = 0; i < 64; i++) out[threadIdx.x * 2 + i * 2048] = v[i];
}
"""
LAUNCH = ("--grid", "2", "--block", "1024", "--param", "n=3", "--assume", "*%256")


def audit(folder, text: str, *arguments: str):
    (folder / "k.cu").write_text(text)
    return CliRunner().invoke(main, ["audit", str(folder / "k.cu"), "--no-config", *arguments])


@pytest.fixture(scope="module")
def spilled(tmp_path_factory):
    return tmp_path_factory.mktemp("spilled")


@pytest.fixture
def kept(spilled, monkeypatch):
    """A folder with a cache, so that its kernel is examined once and each limit judges the kept result."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(spilled / "cache"))
    monkeypatch.delenv("PTXAUDIT_CACHE")
    return spilled


def arguments_of(options: dict) -> list[str]:
    found = [word for name in ("space", "isa", "arch") if name in options for word in (f"--{name}", options[name])]
    found += [word for name, bytes_ in options.get("assume", {}).items() for word in ("--assume", f"{name}%{bytes_}")]
    (launch,) = options.get("launches") or ({},)
    for name in ("grid", "block"):
        if name in launch:
            found += [f"--{name}", ",".join(map(str, launch[name]))]
    for at, value in enumerate(launch.get("params") or ()):
        found += ["--param", f"{at}={value}"] if value is not None else []
    return found


@pytest.mark.parametrize("rule", OF_MEMORY)
def test_memory_rule_denies_its_example(rule, tmp_path):
    example = RULES[rule].example
    arguments = [*arguments_of(example.options), "--fail-on", rule]
    found = audit(tmp_path, example.triggers, *arguments)
    assert found.exit_code == 1 and rule in found.output, found.output
    clean = audit(tmp_path, example.clean, *arguments)
    assert clean.exit_code == 0, clean.output


@pytest.mark.parametrize("first, status", [(1, 1), (4, 0)])
def test_misaligned_vector_is_denied(first, status, tmp_path):
    text = """extern "C" __global__ void k(const float* in, float4* out, int n) {
        out[threadIdx.x] = *reinterpret_cast<const float4*>(in + n + 4 * threadIdx.x); }"""
    launch = ("--grid", "1", "--block", "32", "--param", f"n={first}", "--assume", "*%256")
    found = audit(tmp_path, text, "--space", "global", *launch, "--fail-on", "PA006")
    assert found.exit_code == status and ("PA006" in found.output) == bool(status), found.output


@pytest.mark.parametrize(
    "limit, status",
    [
        ("spills=0", 1),
        ("spills=1000000", 0),
        ("registers=31", 1),
        ("registers=32", 0),
        ("stack=0", 1),
        ("stack=100000", 0),
        ("occupancy=100", 0),
        ("sectors-excess=4", 1),
        ("sectors-excess=29", 0),
    ],
)
def test_exceeded_memory_limit_is_denied(limit, status, kept):
    """Two blocks of 1,024 threads leave 32 registers per thread; stores 8 bytes apart move 8 sectors instead of 4."""
    found = audit(kept, SPILLED, *LAUNCH, "--isa", "sass", "--space", "all", "--fail-on", limit)
    assert found.exit_code == status, found.output[-2000:]


def test_occupancy_below_a_limit_is_denied(tmp_path):
    text = SPILLED.replace("__launch_bounds__(1024, 2)", "__launch_bounds__(1024, 1)")
    arguments = [*LAUNCH, "--isa", "sass", "--fail-on"]
    assert audit(tmp_path, text, *arguments, "occupancy=50").exit_code == 0
    assert audit(tmp_path, text, *arguments, "occupancy=51").exit_code == 1
