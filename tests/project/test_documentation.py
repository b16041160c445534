"""The output of commands shown in docs/ is current, and the site (`make docs`) has every page.

`python tests/support/readme.py --write docs/tutorial.md` rewrites the outputs of a page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import readme
from paths import ROOT
from releases import having

import ptxaudit
from ptxaudit.ir.reasons import Kind
from ptxaudit.ui.cli import main

DOCS = ROOT / "docs"
SITE = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
PAGES = sorted(DOCS.rglob("*.md"))
RELEASES = re.compile(r"--toolchain (\d+\.\d+)")
RUN = [page for page in PAGES if page not in readme.BY_BLOCK and readme.blocks(page.read_text(encoding="utf-8"))]


def name(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("page", RUN, ids=name)
def test_page_shows_the_current_output(page):
    text = page.read_text(encoding="utf-8")
    having(*RELEASES.findall(text))
    if "$ cmake" in text and not shutil.which("cmake"):
        pytest.skip("there is no cmake on this machine")
    with readme.working_folder() as folder:
        assert readme.comparable(readme.filled(text, folder)) == readme.comparable(text)


def test_guides_show_commands():
    assert {*DOCS.glob("howto/*.md"), DOCS / "tutorial.md", DOCS / "accuracy.md"} <= set(RUN)


@pytest.mark.parametrize("file", ["commands.md", "python.md", "reasons.md"])
def test_reference_pages_are_current(file):
    """`make reference` writes it, in a separate process: other tests change the help texts of commands."""
    code = "import json; from bench import reference_doc; print(json.dumps(reference_doc.pages()))"
    made = subprocess.run([sys.executable, "-c", code], cwd=DOCS.parent, capture_output=True, check=True).stdout
    assert (DOCS / "reference" / file).read_text(encoding="utf-8") == json.loads(made)[file]


def test_reference_has_every_command_name_and_reason():
    from bench import reference_doc

    pages = reference_doc.pages()
    assert re.findall(r"^## (\w+)$", pages["commands.md"], re.MULTILINE) == main.list_commands(None)
    assert set(re.findall(r"^## (\w+)$", pages["python.md"], re.MULTILINE)) == set(ptxaudit.__all__) - {"__version__"}
    rows = re.findall(r"^\| `([\w-]+)` \| (.+) \|.*\|$", pages["reasons.md"], re.MULTILINE)
    assert [kind for kind, _ in rows] == [kind.text for kind in Kind] and all(words.strip() for _, words in rows)


def test_every_page_is_in_the_navigation_once():
    listed = re.findall(r"([\w/-]+\.md)$", SITE.partition("\nnav:\n")[2].partition("\nvalidation:")[0], re.MULTILINE)
    assert sorted(listed) == [name(page) for page in PAGES]


def test_site_builds_without_warnings(tmp_path):
    mkdocs = shutil.which("mkdocs", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if mkdocs is None:
        pytest.skip("needs mkdocs: make docs")
    done = subprocess.run(
        [mkdocs, "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert (tmp_path / "site" / "tutorial" / "index.html").exists()
