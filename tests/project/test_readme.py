"""README and the tour show the actual output, block by block; `python tests/support/readme.py --write` rewrites it."""

import contextlib
import pkgutil
import re
import shlex
import shutil
from functools import cache

import pytest
import readme
from click.testing import CliRunner
from paths import ROOT
from releases import having

from ptxaudit.ui import commands
from ptxaudit.ui.cli import main

TEXTS = {page.name: page.read_text(encoding="utf-8") for page in readme.BY_BLOCK}
BLOCKS = [(name, *block) for name, text in TEXTS.items() for block in readme.blocks(text)]
RELEASES = re.compile(r"(?:--toolchain|--good|--bad) (\d+\.\d+)")
ASKED_IN_VAIN = "the package index could not be reached"
SCREEN = 80  # lines
TABLE = re.findall(r"^\| [\w ,'-]+ \| `ptxaudit ([^`]+)` \|", TEXTS["README.md"], re.MULTILINE)


@pytest.fixture(scope="module")
def folders():
    with contextlib.ExitStack() as stack:
        yield {name: stack.enter_context(readme.working_folder()) for name in TEXTS}


@cache
def written(kind, content, folder):
    return readme.rewritten(kind, content, folder)


@pytest.mark.parametrize(
    "at", range(len(BLOCKS)), ids=[f"{name}-{content.splitlines()[0][:40]}" for name, _, content in BLOCKS]
)
def test_block_shows_the_current_output(at, folders):
    name, kind, content = BLOCKS[at]
    having(*RELEASES.findall(content))
    if ASKED_IN_VAIN in written(kind, content, folders[name]):
        pytest.skip(ASKED_IN_VAIN)
    assert readme.comparable(written(kind, content, folders[name])) == readme.comparable(content)


@pytest.mark.parametrize("name", TEXTS)
def test_every_block_is_checked(name):
    of_page = [block for block in BLOCKS if block[0] == name]
    assert len(re.findall(r"^```\w*$", TEXTS[name], re.MULTILINE)) == 2 * len(of_page)


def test_every_command_is_shown():
    shown = set(re.findall(r"ptxaudit (\w+)", "".join(TEXTS.values())))
    assert {m.name for m in pkgutil.iter_modules(commands.__path__) if not m.name.startswith("_")} <= shown


@pytest.mark.parametrize("name", TEXTS)
def test_named_paths_and_links_exist(name):
    text = TEXTS[name]
    here = ROOT if name == "README.md" else readme.TOUR.parent
    for path in re.findall(r"`([\w./-]+/[\w./-]*|Makefile)`", text):
        assert (ROOT / path).exists(), path
    for link in re.findall(r"\]\(([\w./-]+)\)", text):
        assert (here / link).exists(), link


def test_readme_has_its_sections_and_one_picture():
    text = TEXTS["README.md"]
    assert len(text.splitlines()) <= SCREEN
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Why", "How", "Where to look next"]
    assert text.count("![") == 1 and text.index("make audit") < text.index("make test") < text.index("## Why")


def test_readme_or_index_links_every_page():
    reached = set(re.findall(r"\]\(docs/([\w./-]+)\)", TEXTS["README.md"]))
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [page.relative_to(readme.TOUR.parent).as_posix() for page in readme.TOUR.parent.rglob("*.md")]
    elsewhere = {"machine_code.md", "operations.md"}  # linked from coverage.md and from architecture.md
    assert {page for page in pages if page not in reached and f"({page})" not in index} == elsewhere


@pytest.mark.parametrize("command", TABLE)
def test_commands_of_the_readme_run(command, tmp_path, monkeypatch):
    if command.startswith("record"):
        assert command == "record -- python -m train"
        return  # tests/ui/test_recording_program.py
    having(*RELEASES.findall(command))
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "samples" / "basic" / "basic.cu", "k.cu")
    done = CliRunner().invoke(main, shlex.split(command))
    assert done.exit_code == ("--fail-on" in command), done.output


def test_speed_page_quotes_every_figure_of_the_bench():
    from bench.figures import FIGURES

    page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    quoted = re.search(r"<!-- bench -->\n(.*?)<!-- /bench -->", page, re.DOTALL)[1]
    rows = [
        re.fullmatch(r"\| .+ \| [\d.]+ \| .+ \| `python -m bench (\w+)` \|", row) for row in quoted.splitlines()[2:]
    ]
    assert {row[1] for row in rows} == set(FIGURES)
