"""docs/architecture.md is accurate: what it names exists, every module of a package is named, in import order, and its
picture shows the actual imports. The other pages name nothing that does not exist, either.
"""

import ast
import re
import tomllib
from functools import cache

import pytest
from paths import ROOT

from bench import architecture

PACKAGE = ROOT / "ptxaudit"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMES = set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)))
ROWS = {row[0]: row[1] for row in re.findall(r"^\| `(\w+)` \|(.*)\|$", PAGE, re.MULTILINE)}
ENTRIES = {path.stem for path in PACKAGE.iterdir() if path.suffix in ("", ".py") and not path.name.startswith("__")}

# Words of the page in code style that are not part of the package.
OTHER = {"examine_kernels", "assert_conflict_free", "unknown", "%ctaid", "make architecture"}


def modules(folder):
    """Names of the modules and packages in a folder."""
    here = {path.stem for path in folder.glob("*.py")} | {path.name for path in folder.iterdir() if path.is_dir()}
    return {name for name in here if not name.startswith("__")}


@cache
def nodes_of(path):
    """All nodes of a file's syntax tree, which is parsed once for all tests."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module", autouse=True)
def the_trees_are_forgotten():
    yield
    nodes_of.cache_clear()


ALL = {name for folder in PACKAGE.rglob("*") if folder.is_dir() for name in modules(folder)} | ENTRIES


@pytest.mark.parametrize("name", sorted(NAMES - OTHER))
def test_names_on_the_page_exist(name):
    assert (ROOT / name).exists() or (PACKAGE / name).exists() or name in ALL, f"docs/architecture.md names {name}"


def test_exempt_names_are_on_the_page():
    assert OTHER <= NAMES


def test_modules_in_the_diagram_exist():
    picture = re.search(r"```\n(.*?)```", PAGE, re.DOTALL)[1]
    for package, name in re.findall(r"\b(ptx|sass)\.(\w+)", picture):
        assert (package, name) == ("sass", "parse") or (PACKAGE / "frontend" / package / f"{name}.py").exists(), name
    for name in ("nvrtc", "nvcc", "artifacts", "launch_file", "graph", "exec", "fixpoint", "machines", "banks", "gate"):
        assert name in picture and name in ALL, name


def test_package_has_at_most_ten_entries():
    assert len(ENTRIES) <= 10


def test_page_lists_the_packages_in_contract_order():
    """`lint-imports` enforces the contract; the page has the same order."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contract = next(one for one in settings["contracts"] if one["type"] == "layers")
    assert list(ROWS) == contract["layers"][::-1]
    assert set(ROWS) == ENTRIES and contract["exhaustive"]


@pytest.mark.parametrize("package", sorted(name for name in ENTRIES if (PACKAGE / name).is_dir()))
def test_every_module_is_named_in_the_row_of_its_package(package):
    named = {name.partition("/")[0] for name in re.findall(r"`([^`]+)`", ROWS[package])}
    missing = modules(PACKAGE / package) - {name.removesuffix(".py") for name in named}
    assert not missing, f"docs/architecture.md does not mention {', '.join(sorted(missing))} of {package}"


# --- the picture --------------------------------------------------------------------------------


def test_picture_is_up_to_date():
    drawn = architecture.PICTURE.read_text(encoding="utf-8")
    assert drawn == architecture.picture(), "draw it again: make architecture"
    assert architecture.PICTURE.name in PAGE


def test_picture_shows_every_package_and_upward_imports():
    order = architecture.doors()
    assert set(order) == ENTRIES
    for (one, two), count in architecture.imports().items():
        assert order.index(two) < order.index(one) and count > 0, (one, two)
    for door in order:
        named = {name.partition(" (")[0] for name in architecture.contents(door)}
        assert named == (modules(PACKAGE / door) & set(named) if (PACKAGE / door).is_dir() else set())


def test_imports_are_counted_once_per_module(tmp_path):
    file = tmp_path / "m.py"
    file.write_text(
        "import json\nimport ptxaudit.ir.graph\nfrom ptxaudit.base import words, files\n"
        "from ptxaudit.base.words import plural\ndef f():\n    from ptxaudit.ir.graph import build\n"
    )
    assert architecture.imported(file, architecture.modules()) == {"ir.graph", "base.words", "base.files"}


def test_boxes_in_the_picture_do_not_overlap():
    """Boxes do not overlap vertically, and no line of text is wider than its box."""
    found = architecture.rows()
    for above, below in zip(found, found[1:], strict=False):
        assert above.y + above.height < below.y
        assert above.out + architecture.BADGE_HIGH / 2 < above.into < above.y + above.height
    for row in found:
        assert all(len(line) * architecture.LETTER <= architecture.BOX - 2 * architecture.PADDING for line in row.lines)
    widest = max(len(str(count)) for count in architecture.imports().values())
    assert architecture.DIGIT * widest + 10 < architecture.COLUMN


# --- the glossary -------------------------------------------------------------------------------

GLOSSARY = [row.split(" | ") for row in re.findall(r"^\| (.+) \|$", PAGE.partition("## Glossary")[2], re.MULTILINE)][1:]
OURS = {"cohort", "invariant shift", "opaque", "site", "unknown lanes"}


def test_glossary_terms_have_an_explanation_and_a_source():
    terms = [row[0] for row in GLOSSARY]
    assert len(terms) > 25 and terms == sorted(terms)
    assert {row[0] for row in GLOSSARY if len(row) < 3 or not row[2].strip()} == OURS
    assert all(len(row[1]) > 10 for row in GLOSSARY)


# --- the other pages ----------------------------------------------------------------------------

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *ROOT.glob("[!.]*/README.md")]
PAGES += [path for path in (ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md") if path.exists()]
PLACES = re.compile(r"(?<![\w/.-])(?:ptxaudit|bench|tests|samples|docs|grammars)/[\w./*-]+")
DOTTED = re.compile(r"(?<![\w/.-])(?:ptxaudit|bench)(?:\.[a-z_]\w*)+")
FILES = re.compile(r"(?<![\w/.-])(?:[a-z_]+/)*[a-z_]\w*\.py\b")
OWN_FILES = [
    path.relative_to(ROOT).as_posix()
    for folder in ("ptxaudit", "bench", "tests", "samples")
    for path in (ROOT / folder).rglob("*.py")
]
PATTERNS = {
    "samples/NAME/NAME.cu",
    "samples/NAME/launch.toml",
    "tests/data/requests_sm140.json.gz",
}  # created by the reader
SETTINGS = {"ptxaudit.toml"}


def there_is(dotted):
    """Whether it is a module, or a name in one: exported by the package, or defined in the module."""
    path = ROOT.joinpath(*dotted.split("."))
    if path.is_dir() or path.with_suffix(".py").exists():
        return True
    inside = path.parent / "__init__.py" if path.parent.is_dir() else path.parent.with_suffix(".py")
    return inside.exists() and re.search(rf"\b{path.name}\b", inside.read_text(encoding="utf-8")) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_named_in_documentation_exist(page):
    text = page.read_text(encoding="utf-8")
    for made in re.findall(r"^`([^`\n]+)`:$", text, re.MULTILINE):  # files that CONTRIBUTING.md has the reader write
        if page.name == "CONTRIBUTING.md":
            text = text.replace(made, "").replace(made.removesuffix(".py").replace("/", "."), "")
    places = {found.rstrip(".") for found in PLACES.findall(text)} - PATTERNS
    assert not [place for place in places if not any(ROOT.glob(place))]
    assert not [name for name in set(DOTTED.findall(text)) - SETTINGS if not there_is(name)]
    assert not {found for found in FILES.findall(text) if not any(f"/{own}".endswith(f"/{found}") for own in OWN_FILES)}


# Text for the user in a reason, and keys that distinguish copies of an instruction: no meaning is taken from either.
NAMED_ONLY = {"evaluate.py": {"opcode"}, "memory/tables.py": {"opcode"}, "exec/running.py": {"opcode", "text"}}


@pytest.mark.parametrize(
    "module", sorted((PACKAGE / "engine").rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE / "engine"))
)
def test_engine_is_independent_of_the_instruction_set(module):
    """Nothing after `ir` knows whether an operation was PTX or SASS: the lifters attach the effect of a site's opcode,
    and state how the function reconverges and addresses memory; the engine reads neither `isa` nor the text of an
    instruction.
    """
    nodes = nodes_of(module)
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute)} & {"isa", "opcode", "text"}
    assert read <= NAMED_ONLY.get(str(module.relative_to(PACKAGE / "engine")), set())
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    names = {f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in called}
    assert "classify" not in names, "the lifters classify"


BEHIND = sorted(
    str(path.relative_to(PACKAGE))
    for folder in ("report", "review", "pipeline", "engine")
    for path in (PACKAGE / folder).rglob("*.py")
)


@pytest.mark.parametrize("module", [*BEHIND, "ir/operands.py", "ir/neighbours.py"])
def test_memory_of_an_access_follows_from_its_operations(module):
    """This holds for unmodelled accesses, too: the lifter records it (`frontend/sass/clobber.py`); no later stage
    parses an opcode.
    """
    nodes = nodes_of(PACKAGE / module)
    apart = [n.value for n in nodes if isinstance(n, ast.Attribute | ast.Subscript)]
    assert not [n for n in apart if isinstance(n, ast.Attribute) and n.attr == "opcode"]


RENDER = [str(path.relative_to(PACKAGE)) for path in sorted((PACKAGE / "ui/render").glob("*.py"))]


@pytest.mark.parametrize("module", [*BEHIND, *RENDER])
def test_later_stages_do_not_parse_opcodes(module):
    """The site (`ir/nodes.py`) or its access records what the spelling encodes."""
    nodes = nodes_of(PACKAGE / module)
    calls = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    begins = [n for n in calls if n.func.attr in ("startswith", "endswith", "removeprefix", "removesuffix")]
    of_text = [n for n in begins if isinstance(n.func.value, ast.Attribute) and n.func.value.attr in ("opcode", "text")]
    assert not [n for n in of_text if isinstance(n.args[0], ast.Constant)]


# A user selects one instruction set or both; of kernels in both, a report states which are shown, paired and judged.
OF_BOTH = {
    "pipeline/loading.py",
    "report/counterparts.py",
    "report/entries.py",
    "report/pairing.py",
    "review/divided.py",
    "review/fix/patch.py",
    "review/part.py",
    "review/profiles.py",
    "review/result_cache.py",
    "review/rules/pa007_split_access.py",
    "review/rules/pa012_same_address_global_atomics.py",
}


def test_later_stages_do_not_read_the_isa_of_a_function():
    """They use what the lifters state about the function: whether it runs as it stands, and how it is located."""
    found = set()
    for module in BEHIND:
        nodes = nodes_of(PACKAGE / module)
        compares = [n for n in nodes if isinstance(n, ast.Compare)]
        sides = [(n.left, *n.comparators) for n in compares]
        asks = [
            any(isinstance(x, ast.Attribute) and x.attr == "isa" for x in side)
            and any(isinstance(x, ast.Constant) for x in side)
            for side in sides
        ]
        found |= {module} if any(asks) else set()
    assert found == OF_BOTH


@pytest.mark.parametrize("module", [name for name in BEHIND if name.startswith(("report/", "review/"))])
def test_opcodes_are_classified_only_in_the_lifters(module):
    """`hardware` classifies opcodes and knows how accesses are spelled; `mix` asks it for the class of each opcode
    that a report counts.
    """
    nodes = nodes_of(PACKAGE / module)
    names = {alias.name for n in nodes if isinstance(n, ast.ImportFrom) for alias in n.names}
    assert "classify" not in names and ("class_of" not in names or module == "report/mix.py")
    assert not [n for n in nodes if isinstance(n, ast.Attribute) and n.attr == "classify"]


# --- size ---------------------------------------------------------------------------------------

MOST_LINES = 50  # per function
LONGER = {
    ("bench/adversary/features_agreed.py", "few"),  # a match statement: one case per kind of statement
    ("bench/calibrate/__main__.py", "main"),  # the table of its command-line options
    ("bench/calibrate/instructions.py", "_table"),  # a table with one line per family of instructions
    ("bench/hardware_doc.py", "_profiler"),  # one section of a page
}


def test_functions_have_at_most_50_lines():
    files = [file for name in ("ptxaudit", "bench") for file in (ROOT / name).rglob("*.py")]
    found = set()
    for file in files:
        for node in nodes_of(file):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if node.end_lineno - node.lineno + 1 > MOST_LINES:
                    found.add((file.relative_to(ROOT).as_posix(), node.name))
    assert len(files) > 500 and found == LONGER
