"""Every command that prints tables accepts --width: no line is longer, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from paths import DATA, ROOT
from reports import kernel, report, site

from ptxaudit.ui.cli import main

SAMPLE = str(ROOT / "samples" / "transpose" / "transpose.cu")
LAUNCH = str(ROOT / "samples" / "transpose" / "launch.toml")
MEASURED = DATA
WIDTH = 60

NO_TABLE = {"launches", "recipe", "rule", "baseline"}  # these write files, or print pages or a line or two

COMMANDS = {
    "audit": [SAMPLE, "--launch", LAUNCH, "--kernel", "float_*"],
    "audit --list": [SAMPLE],
    "audit --sweep=n=64,128": [SAMPLE, "--kernel", "float_16_*", "--grid", "4,4", "--block", "16,16"],
    "calibrate": ["--results", str(MEASURED / "sparse_sm90.json.gz")],
    "explain": [SAMPLE, "transpose.cu:11", "--kernel", "float_16_pitch_17", "--launch", LAUNCH],
    "fix": [SAMPLE, "--launch", LAUNCH, "--kernel", "float_16_pitch_16"],
    "machines": [],
    "machines sm_90": [],
    "score": ["ld.shared.b32", "--addresses", "0:512:16"],
    "toolchains": [],
}


def run(name: str, arguments: list[str]) -> str:
    done = CliRunner().invoke(main, [*name.split(), *arguments], catch_exceptions=False)
    assert done.exit_code in (0, 1), done.output
    return done.stdout


def longest(text: str) -> int:
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("name", COMMANDS)
def test_lines_fit_the_width(name):
    plain, narrow = (run(name, [*COMMANDS[name], *width]) for width in ([], ["--width", str(WIDTH)]))
    assert longest(plain) > WIDTH >= longest(narrow) and narrow.strip()


@pytest.mark.parametrize("name", ["compare", "diff", "history"])
def test_lines_of_report_commands_fit_the_width(name, tmp_path):
    files = []
    for at, wavefronts in enumerate((64, 2048)):
        made = kernel(
            site(1, wavefronts=wavefronts, opcode="LDS", text="LDS R0, [R2]", offset=0, ptx_line=None),
            name="k" * 70,
            demangled="k" * 70,
            isa="sass",
        )
        files.append(str(tmp_path / f"{'report' * 9}-{at}.json"))
        Path(files[-1]).write_text(json.dumps(report(made).to_dict()))
    if name == "compare":
        files[1] = str(tmp_path / "source.csv")
        text = '"Kernel Name","{}",\n"Address","Source","Instructions Executed","L1 Wavefronts Shared"\n"0x10","LDS R0, [R2]","4","9"\n'
        Path(files[1]).write_text(text.format("k" * 70))
    plain, narrow = (run(name, [*files, *width]) for width in ([], ["--width", str(WIDTH)]))
    assert longest(plain) > WIDTH >= longest(narrow) and narrow.strip()


def test_width_does_not_change_json():
    one = ["score", "ld.shared.b32", "--addresses", "0:512:16", "--format", "json"]
    assert run(one[0], one[1:]) == run(one[0], [*one[1:], "--width", "40"])


@pytest.mark.parametrize("name", main.list_commands(None))
def test_every_command_with_tables_has_a_width_option(name):
    command = main.get_command(click.Context(main), name)
    options = {option for parameter in command.params for option in parameter.opts}
    assert ("--width" in options) != (name in NO_TABLE)
