"""README shows what really comes out, block by block; `python -m tests.readme --write` writes it anew."""

import pkgutil
import re
from functools import cache

import pytest
import readme
from releases import having

from ptxaudit.ui import commands

TEXT = readme.README.read_text(encoding="utf-8")
BLOCKS = readme.blocks(TEXT)
RELEASES = re.compile(r"(?:--toolchain|--good|--bad) (\d+\.\d+)")
ASKED_IN_VAIN = "the package index could not be asked"


@pytest.fixture(scope="module")
def folder():
    with readme.working_folder() as path:
        yield path


@cache
def written(kind, content, folder):
    return readme.rewritten(kind, content, folder)


@pytest.mark.parametrize("at", range(len(BLOCKS)), ids=[content.split("\n")[0][:40] for _, content in BLOCKS])
def test_a_block_shows_what_comes_out(at, folder):
    kind, content = BLOCKS[at]
    having(*RELEASES.findall(content))
    if ASKED_IN_VAIN in written(kind, content, folder):
        pytest.skip(ASKED_IN_VAIN)
    assert readme.comparable(written(kind, content, folder)) == readme.comparable(content)


def test_no_block_is_of_another_kind():
    assert len(re.findall(r"^```\w*$", TEXT, re.MULTILINE)) == 2 * len(BLOCKS)


def test_every_command_is_shown():
    shown = set(re.findall(r"ptxaudit (\w+)", TEXT))
    assert {m.name for m in pkgutil.iter_modules(commands.__path__) if not m.name.startswith("_")} <= shown


def test_what_it_points_to_exists():
    for path in re.findall(r"`([\w./-]+/[\w./-]*|Makefile)`", TEXT):
        assert (readme.CHECKOUT / path).exists(), path


def test_every_figure_of_the_bench_is_quoted_with_its_ratio():
    from bench.figures import FIGURES

    quoted = re.search(r"<!-- bench -->\n(.*?)<!-- /bench -->", TEXT, re.DOTALL)[1]
    rows = [
        re.fullmatch(r"\| .+ \| [\d.]+ \| .+ \| `python -m bench (\w+)` \|", row) for row in quoted.splitlines()[2:]
    ]
    assert {row[1] for row in rows} == set(FIGURES)
