"""The pre-commit hooks, `make lint` and CI run the same checks."""

from __future__ import annotations

import re
import subprocess

from paths import ROOT

HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")


def test_pre_commit_hooks_run_the_commands_of_make_lint():
    """A hook that takes the changed files runs the same command on them as `make lint` on "."."""
    told = subprocess.run(
        ["make", "--dry-run", "--silent", "lint", "VENV=.venv"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    made = [line.removesuffix(" .") for line in told.splitlines() if re.match(r"\.venv/bin/(?!python)", line)]
    assert re.findall(r"entry: (.+)", HOOKS) == made
    assert len(made) >= 5


def test_only_ruff_hooks_receive_file_names():
    """ruff checks the changed files; the other hooks check all, as each file may contradict any other."""
    for hook in HOOKS.split("      - id: ")[1:]:
        assert ("pass_filenames: false" in hook) == ("entry: .venv/bin/ruff" not in hook), hook


def test_ci_runs_make_lint():
    assert "make lint" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
