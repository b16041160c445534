"""docs/architecture.md is true: what it names exists, and every module at the top of the package is named."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "ptxaudit"
PAGE = (CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMES = {name for name in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL))}

# Words of the page in code style that are no part of the package.
OTHER = {"examine_kernels", "unknown", "python -m ptxaudit", "%ctaid"}


def exists(name):
    as_module = PACKAGE / name.replace(".", "/")
    return (CHECKOUT / name).exists() or (PACKAGE / name).exists() or as_module.with_suffix(".py").exists() or as_module.is_dir()


@pytest.mark.parametrize("name", sorted(NAMES - OTHER))
def test_what_the_page_names_exists(name):
    assert exists(name), f"docs/architecture.md names {name}"


def test_the_other_words_are_on_the_page():
    assert OTHER <= NAMES


def test_every_module_of_the_picture_exists():
    picture = re.search(r"```\n(.*?)```", PAGE, re.DOTALL)[1]
    for name in re.findall(r"\b(?:ptx|sass)\.\w+", picture):
        assert name == "ptx.parse" or exists(name), name
    for name in ("nvrtc", "nvcc", "artifacts", "launch_file", "graph", "lanes", "machines", "banks", "assemble", "report", "render", "diff", "gate", "compare"):
        assert name in picture and exists(name), name


def test_every_module_at_the_top_of_the_package_is_named():
    there = {path.stem for path in PACKAGE.glob("*.py")} | {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    missing = there - {"__init__", "__pycache__"} - NAMES
    assert not missing, f"docs/architecture.md does not mention {', '.join(sorted(missing))}"
