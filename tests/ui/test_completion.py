"""Shells complete commands, options and their values; docs/terminal.md has the lines that enable it."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner
from paths import ROOT

from ptxaudit.ui.cli import main

PAGE = (ROOT / "docs/terminal.md").read_text(encoding="utf-8")
SETUP = re.findall(r"^_PTXAUDIT_COMPLETE=(\w+)_source ptxaudit > ", PAGE, re.MULTILINE)


def asked(line):
    """The completions of a line's last word: (kind, word)."""
    environment = {
        "_PTXAUDIT_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    done = CliRunner(env=environment).invoke(main, [], prog_name="ptxaudit")
    assert done.exit_code == 0, done.output
    return [tuple(answer.split(",")) for answer in done.stdout.splitlines()]


@pytest.fixture
def command(tmp_path):
    """A folder that contains the command, as an installation does."""
    program = tmp_path / "bin" / "ptxaudit"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom ptxaudit.ui.cli import main\nmain()\n")
    program.chmod(0o755)
    return program


def words(answers):
    assert all(kind == "plain" for kind, _ in answers)
    return [word for _, word in answers]


@pytest.mark.parametrize(
    "line, offered",
    [
        ("ptxaudit au", ["audit"]),
        ("ptxaudit baseline up", ["update"]),
        ("ptxaudit audit --ov", ["--overview"]),
        ("ptxaudit audit --format g", ["github", "gitlab", "gcc"]),
        ("ptxaudit audit --arch sm_12", ["sm_120", "sm_120a", "sm_120f", "sm_121", "sm_121a", "sm_121f"]),
        ("ptxaudit audit --machine kep", ["kepler-4byte", "kepler-8byte"]),
        ("ptxaudit machines tes", ["tesla"]),
        ("ptxaudit rule pa01", ["PA010", "PA011", "PA012", "PA013", "PA014"]),
        ("ptxaudit audit --ignore PA001", ["PA001"]),
        ("ptxaudit audit --fail-on pa00", [f"PA00{n}" for n in range(1, 10)]),
    ],
)
def test_commands_options_and_values_are_completed(line, offered):
    assert words(asked(line)) == offered


@pytest.mark.parametrize(
    "line, kind",
    [
        ("ptxaudit audit ker", "file"),
        ("ptxaudit explain ker", "file"),
        ("ptxaudit diff ker", "file"),
        ("ptxaudit baseline update base", "file"),
        ("ptxaudit compare rep", "file"),
        ("ptxaudit audit --launch lau", "file"),
        ("ptxaudit audit -I inc", "dir"),
    ],
)
def test_files_and_folders_are_completed_by_the_shell(line, kind):
    assert asked(line) == [(kind, line.split(" ")[-1])]


def test_page_names_every_supported_shell():
    assert SETUP == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", SETUP)
def test_documented_lines_define_the_completion(command, shell):
    done = subprocess.run(
        [command],
        env=os.environ | {"_PTXAUDIT_COMPLETE": f"{shell}_source", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "_ptxaudit_completion" in done.stdout and f"_PTXAUDIT_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_the_documented_setup(command, tmp_path):
    """Runs the page's line for bash, with a separate home folder, and then the function that the tab key calls."""
    (setup,) = re.findall(r"^(_PTXAUDIT_COMPLETE=bash_source .*)$", PAGE, re.MULTILINE)
    script = f"""{setup}
. ~/.bashrc
COMP_WORDS=(ptxaudit audit --format mark) COMP_CWORD=3
_ptxaudit_completion ptxaudit
echo "completed: ${{COMPREPLY[*]}}"
"""
    environment = os.environ | {
        "HOME": str(tmp_path),
        "PATH": os.pathsep.join([str(command.parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert "completed: markdown" in done.stdout
