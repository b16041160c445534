"""docs/architecture.md is true: what it names exists, every module of a package is named, in the order of the imports."""

import re
import tomllib
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "ptxaudit"
PAGE = (CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMES = set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)))
ROWS = {row[0]: row[1] for row in re.findall(r"^\| `(\w+)` \|(.*)\|$", PAGE, re.MULTILINE)}
ENTRIES = {path.stem for path in PACKAGE.iterdir() if path.suffix in ("", ".py") and not path.name.startswith("__")}

# Words of the page in code style that are no part of the package.
OTHER = {"examine_kernels", "assert_conflict_free", "unknown", "%ctaid"}


def modules(folder):
    """Names of the modules and packages in a folder."""
    here = {path.stem for path in folder.glob("*.py")} | {path.name for path in folder.iterdir() if path.is_dir()}
    return {name for name in here if not name.startswith("__")}


ALL = {name for folder in PACKAGE.rglob("*") if folder.is_dir() for name in modules(folder)} | ENTRIES


@pytest.mark.parametrize("name", sorted(NAMES - OTHER))
def test_what_the_page_names_exists(name):
    assert (CHECKOUT / name).exists() or (PACKAGE / name).exists() or name in ALL, f"docs/architecture.md names {name}"


def test_the_other_words_are_on_the_page():
    assert OTHER <= NAMES


def test_every_module_of_the_picture_exists():
    picture = re.search(r"```\n(.*?)```", PAGE, re.DOTALL)[1]
    for package, name in re.findall(r"\b(ptx|sass)\.(\w+)", picture):
        assert (package, name) == ("sass", "parse") or (PACKAGE / "frontend" / package / f"{name}.py").exists(), name
    for name in ("nvrtc", "nvcc", "artifacts", "launch_file", "graph", "exec", "fixpoint", "machines", "banks", "gate"):
        assert name in picture and name in ALL, name


def test_at_most_ten_doors():
    assert len(ENTRIES) <= 10


def test_the_packages_are_those_of_the_contract_in_its_order():
    """`lint-imports` holds the contract; the page says the same."""
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = settings["contracts"]
    assert list(ROWS) == contract["layers"][::-1]
    assert set(ROWS) == ENTRIES and contract["exhaustive"]


@pytest.mark.parametrize("package", sorted(name for name in ENTRIES if (PACKAGE / name).is_dir()))
def test_every_module_of_a_package_is_named_in_its_row(package):
    named = {name.partition("/")[0] for name in re.findall(r"`([^`]+)`", ROWS[package])}
    missing = modules(PACKAGE / package) - {name.removesuffix(".py") for name in named}
    assert not missing, f"docs/architecture.md does not mention {', '.join(sorted(missing))} of {package}"
