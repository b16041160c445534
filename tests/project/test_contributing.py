"""The instructions of CONTRIBUTING.md work as written: each *how to add* is carried out in a copy of the repository,
where its commands fail before and print the stated output afterwards.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from paths import DATA, ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = {
    part.partition("\n")[0].strip(): part
    for part in re.split(r"^### … ", PAGE.partition("## Releases")[0], flags=re.M)[1:]
}
_BLOCK = re.compile(r"(?:^`([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WHOLE, LINKED = ("ptxaudit", "grammars", "bench/calibrate", "tests"), ("samples",)
SECONDS = 300


def changed(text: str, change: str) -> str:
    """A text after the hunks of a change, separated by "@@" lines. Each must match at exactly one place."""
    for hunk in re.split(r"^@@.*\n", change, flags=re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        assert all(line[0] in " +-" for line in lines if line.strip()), hunk
        before = "".join(line[1:] or "\n" for line in lines if line[0] != "+")
        after = "".join(line[1:] or "\n" for line in lines if line[0] != "-")
        assert ("\n" + text).count("\n" + before) == 1, f"this does not fit at one place:\n{before}"
        text = ("\n" + text).replace("\n" + before, "\n" + after)[1:]
    return text


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("copies")


@pytest.fixture
def copy(place):
    """The parts of the repository that the examples change or run. Every copy has the same path and modification times,
    so that byte code of unchanged modules remains valid for it and for the next copy.
    """
    root = place / "copy"
    shutil.rmtree(root, ignore_errors=True)
    for folder in WHOLE:
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__", "data"))
    for file in [*ROOT.glob("bench/*.py"), ROOT / "pyproject.toml"]:
        shutil.copy2(file, root / file.relative_to(ROOT))
    carry_byte_code(root)
    for folder in LINKED:
        (root / folder).symlink_to(ROOT / folder)
    (root / "tests" / "data").mkdir()
    requests = json.loads(gzip.decompress((DATA / "requests_sm90.json.gz").read_bytes()))
    some = [r for sass in ("LDS", "LDS.64") for r in [r for r in requests["requests"] if r["sass"] == sass][:15]]
    made = {
        "device": "NVIDIA X1 (sm_140)",
        "driver": "600.10",
        "profiler": "2027.1.0",
        "n": len(some),
        "requests": some,
    }
    (root / "tests" / "data" / "requests_sm140.json.gz").write_bytes(gzip.compress(json.dumps(made).encode()))
    return root


def carry_byte_code(root: Path) -> None:
    """Copies the byte code that this run compiled for the checkout to where Python looks for the copy's."""
    if byte_code(root).exists():
        return
    for folder in {path.parent for path in root.rglob("*.py")}:
        to = Path(byte_code(root), *folder.parts[1:])
        to.mkdir(parents=True, exist_ok=True)
        for made in Path(cache_from_source(ROOT / folder.relative_to(root) / "any.py")).parent.glob("*.pyc"):
            with suppress(FileNotFoundError):  # another process has just renamed it
                linked_or_copied(made, to / made.name)


def linked_or_copied(file: Path, to: Path) -> None:
    """For files that are never changed in place."""
    try:
        os.link(file, to)
    except FileNotFoundError:
        raise
    except OSError:  # another file system
        shutil.copy2(file, to)


def byte_code(root: Path) -> Path:
    return root.parent / "bytecode"


def run(command: str, folder: Path) -> tuple[int, str]:
    """Runs a command in the copy: (exit status, output)."""
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    more = {
        "PATH": path,
        "PYTHONPATH": str(folder),
        "COLUMNS": "200",
        "PTXAUDIT_CACHE": "0",
        "PYTHONPYCACHEPREFIX": str(byte_code(folder)),
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # pytest would rewrite the whole package, since its plugin is part of it
    }
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | more,
        timeout=SECONDS,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def commands(content: str) -> list[tuple[str, list[str]]]:
    """(command, lines that it must print) of a console block."""
    return [(part.partition("\n")[0], part.splitlines()[1:]) for part in re.split(r"^\$ ", content, flags=re.M)[1:]]


def follows(command: str, wanted: list[str], folder: Path) -> str:
    """The empty string if the command succeeds and prints the lines, otherwise its output."""
    status, printed = run(command, folder)
    said = " ".join(printed.split())
    return "" if status == 0 and all(line in said for line in wanted) else f"$ {command}\n{printed}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_instructions_work_as_written(name, copy):
    steps = _BLOCK.findall(EXAMPLES[name])
    told = [pair for _, kind, content in steps if kind == "console" for pair in commands(content)]
    assert told and sum(bool(path) for path, *_ in steps) > 0
    assert any(follows(command, wanted, copy) for command, wanted in told[:1]), f"{name} is there already"
    for path, kind, content in steps:
        if kind == "console":
            for command, wanted in commands(content):
                assert not (printed := follows(command, wanted, copy)), printed
            continue
        assert path, f"a block of {name} does not say where it goes"
        file = copy / path
        assert file.exists() == (kind == "diff"), path
        file.write_text(
            changed(file.read_text(encoding="utf-8"), content) if kind == "diff" else content, encoding="utf-8"
        )


def test_every_kind_of_addition_has_an_example():
    assert [name.split(",")[0] for name in EXAMPLES] == [
        "an opcode of PTX",
        "an opcode of machine code",
        "a machine generation",
        "a rule",
        "an output format",
    ]


def test_code_on_the_page_passes_the_linters(tmp_path):
    """New modules on the page pass the checks that run before a commit."""
    for at, (path, kind, content) in enumerate(_BLOCK.findall(PAGE)):
        if kind == "python":
            (tmp_path / f"m{at}.py").write_text(content)
    ruff = shutil.which("ruff", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if ruff is None:
        pytest.skip("needs ruff: make lint")
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [ruff, *command, "--config", ROOT / "pyproject.toml", tmp_path], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


def test_named_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"(?:^|`)make (\w+)", PAGE, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
