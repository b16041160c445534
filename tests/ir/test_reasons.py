"""Why something is unknown: kinds decide, and one module turns them into words."""

from __future__ import annotations

import ast
import pickle
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from string import Formatter

import measured_kernels
import msgspec
import pytest
from long_kernel import HEAD, LONG, MACHINE, kernel

import ptxaudit
from ptxaudit.base.work import Account, Exhausted
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.domain.value import Uniform, because, opaque
from ptxaudit.engine.ops.table import OPS
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware import machines
from ptxaudit.ir import graph, operation_words
from ptxaudit.ir.link import link
from ptxaudit.ir.nodes import Source
from ptxaudit.ir.reasons import Kind, Reason, arguments, first_of, leading, sentence, several
from ptxaudit.ir.unknown_words import named
from ptxaudit.report.reader import parse_report

PACKAGE = Path(ptxaudit.__file__).parent
WORDS = PACKAGE / "ir" / "reasons.py"
PARSING = (
    "startswith",
    "endswith",
    "find",
    "index",
    "count",
    "partition",
    "rpartition",
    "split",
    "rsplit",
    "replace",
    "removeprefix",
    "removesuffix",
    "search",
    "match",
    "fullmatch",
    "findall",
    "finditer",
    "sub",
    "strip",
)

DATA = Uniform("loaded@3", 32, kind="loaded", key="data", data=True)
N = Uniform("n", 32, kind="parameter", key="n")


def texts(node: ast.AST) -> bool:
    """Whether a node is a reason in words: an attribute `reason`, a message's `what`, or a result of `sentence`."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("reason", "what")
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sentence"


def looks_into(node: ast.AST) -> bool:
    """Whether a node compares words, or searches them."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        operators = [type(o) for o in node.ops]
        if any(o in (ast.In, ast.NotIn) for o in operators) and any(texts(side) for side in node.comparators):
            return True
        kinds = (isinstance(side, ast.Attribute) and side.attr == "reason" for side in sides)
        return any(o not in (ast.Is, ast.IsNot) for o in operators) and any(kinds)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PARSING:
        return texts(node.func.value) or any(texts(argument) for argument in node.args)
    return False


@pytest.mark.parametrize(
    "code",
    [
        "'budget' in site.reason",
        "site.reason.startswith('x')",
        "site.reason == ''",
        "re.search('x', site.reason)",
        "error.what.endswith('y')",
        "sentence(r) != 'x'",
        "'x' in problem.what",
        "any(sign in site.reason for sign in SIGNS)",
    ],
)
def test_check_finds_text_comparisons_of_reasons(code):
    assert any(looks_into(node) for node in ast.walk(ast.parse(code))) or code.startswith("sentence")


def takes_text(node: ast.AST) -> bool:
    """Whether a node makes a reason from a text."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("Reason", "Lost", "one_of_each")
        and bool(node.args)
        and isinstance(node.args[0], (ast.Constant, ast.JoinedStr))
    )


@cache
def against_the_rules() -> dict[Callable[[ast.AST], bool], list[str]]:
    """Violations in the package of the rules for code that reads or makes reasons."""
    found: dict[Callable[[ast.AST], bool], list[str]] = {looks_into: [], takes_text: []}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            for rule, places in found.items():
                if rule(node) and not (rule is looks_into and path == WORDS):
                    places.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    return found


def test_no_module_parses_reason_texts():
    assert not against_the_rules()[looks_into]


def test_reasons_are_constructed_from_kinds():
    """No call that makes a reason passes a text instead of a kind."""
    assert takes_text(ast.parse("Reason('loaded from memory')").body[0].value)
    assert not against_the_rules()[takes_text]
    with pytest.raises(AttributeError):
        Reason("loaded from memory")


# --- the table ------------------------------------------------------------------------------


def example(kind: Kind) -> Reason:
    """A reason of a kind, with everything that its words may use."""
    row = kind.row
    inner = (Reason(Kind.LOADED, 0), Reason(Kind.PREDICATE))
    given = {
        Kind.SEVERAL: inner,
        Kind.LANES: inner,
        Kind.LANES_COST_ALIKE: inner,
        Kind.DATA_CAN_BE_SPECIFIED: (("a", "b"),),
        Kind.STORES_MAY_REACH: (("parameter 1", "keys"), ("0", "out")),
        Kind.DATA_MAY_CHANGE: (("parameter 1", "keys"),),
        Kind.DATA_DECIDES: (("a", "b", "parameter 2", "parameter 3, byte 8"),),
        Kind.DATA_AT_ADDRESSES: (("a", "parameter 3, byte 16"), ("0x7f0000000000", "0x7f0000001000")),
        Kind.ASKED: (("n", "the grid"), ("--param n", "--grid")),
    }.get(kind, tuple(range(4000, 4000 + len(row.names))))
    return Reason(kind, 0, given, (N, DATA), Reason(Kind.LOADED, 0))


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.text)
def test_every_kind_has_a_text(kind):
    function = kernel(LONG)
    text = sentence(example(kind), function)
    assert text and text == text.strip() and not text.endswith(".") and not re.search(r"[{}]|<Kind|Reason\(", text)
    if kind.row.placed:
        assert function.instructions[0].text.strip() in text
        assert "instruction 0" in sentence(example(kind))
    assert isinstance(arguments(example(kind)), dict)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.text)
    assert pickle.loads(pickle.dumps(kind)) is kind


@cache
def uses() -> Counter[str]:
    return Counter(
        name for path in PACKAGE.rglob("*.py") for name in re.findall(r"\bKind\.([A-Z_]+)", path.read_text())
    )


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.text)
def test_every_kind_of_reason_is_used(kind):
    assert uses()[kind.name], f"nothing makes a {kind.text}"


def test_rows_declare_the_fields_of_their_text():
    for kind in Kind:
        if isinstance(kind.row.words, str):
            fields = {name for _, name, _, _ in Formatter().parse(kind.row.words) if name}
            assert fields - {"at", "cause", "unknowns"} == set(kind.row.names)
    assert {kind.text for kind in Kind if kind.row.data} >= {"loaded", "read-copied", "barrier-answer"}


# --- reasons --------------------------------------------------------------------------------


def test_reason_is_about_data_by_kind_cause_or_unknown():
    assert Reason(Kind.LOADED).data and not Reason(Kind.ADDRESS).data
    assert (
        Reason(Kind.RUNS, cause=Reason(Kind.LOADED)).data and not Reason(Kind.RUNS, cause=Reason(Kind.PREDICATE)).data
    )
    assert Reason(Kind.UNKNOWNS, unknowns=(N, DATA)).data and not Reason(Kind.UNKNOWNS, unknowns=(N,)).data
    assert Reason(Kind.LANES, given=(Reason(Kind.PREDICATE), Reason(Kind.LOADED))).data
    assert Reason(Kind.UNKNOWN_SOURCES, given=("add",)).beside(DATA).data


def test_combined_reasons_are_deduplicated():
    a, b = Reason(Kind.LOADED, 1), Reason(Kind.ADDRESS)
    assert several(None, a) is a and several() is None and several(a, a) is a
    both = several(several(a, b), a, Reason(Kind.NO_LANE))
    assert both.given == (a, b, Reason(Kind.NO_LANE)) and leading(both) is a
    assert sentence(several(a, Reason(Kind.LOADED, 2), b)) == "a value loaded from memory; an unknown address"
    assert (
        both.of_kind(Kind.NO_LANE)
        and Reason(Kind.RUNS, cause=both).of_kind(Kind.ADDRESS)
        and not a.of_kind(Kind.ADDRESS)
    )


def test_first_of_prefers_the_first_reason_and_keeps_data():
    a, b, data = Reason(Kind.ADDRESS), Reason(Kind.NO_LANE), Reason(Kind.LOADED)
    assert first_of(a, b) is a and first_of(None, b) is b and first_of(data, a) is data and first_of(a, None) is a
    assert first_of(a, data).given == (a, data) and first_of(a, data).data


def test_long_names_of_unknowns_are_truncated():
    long = Uniform("(" * 100, 32, key="x")
    assert named([N, long, Uniform("y" * 100, 32, key="y", data=True)]) == f"n, {'(' * 60}…, data loaded from memory"


@pytest.mark.parametrize(
    "name, kind, called, option",
    [
        ("n", "parameter", "n", "--param n"),
        ("n[0:4]", "parameter", "n[0:4]", "--param n"),
        ("param_2", "parameter", "parameter 2", "--param 2"),
        ("param_2[4:8]", "parameter", "parameter 2 (bytes 4 to 7)", "--param 2"),
        ("pitches[4:8]", "symbol", "pitches[4:8]", "--symbol pitches"),
        ("ntid.x", "block shape", "ntid.x", "--block"),
    ],
)
def test_unknown_names_the_option_that_specifies_it(name, kind, called, option):
    reason = Reason(
        Kind.DEPENDS, unknowns=(Uniform(name, 32, kind=kind, key=name), Uniform("trip1", 32, kind="loop", key=1))
    )
    assert sentence(reason) == f"depends on {called}, which is not specified ({option}), and trip1"


def test_exhausted_budget_names_the_option():
    try:
        Account(5).spend(6, "running the launch")
    except Exhausted as spent:
        said = sentence(engine.not_begun(kernel(LONG), spent).sites[0].reason)
        assert said == "budget: running the launch takes more than 5 steps; raise --budget"


# --- in reports -----------------------------------------------------------------------------


def test_report_has_machine_readable_reasons(tmp_path):
    body = (
        "ld.param.u64 %rd1, [k_param_0];\nld.global.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, %r1;\n@%p1 st.shared.u32"
        " [%r3], %r1;\nbrev.b32 %r8, %r4;\nmad.lo.u32 %r8, %r8, %r1, %r2;\nst.shared.u32 [%r8], %r1;\nret;\n}\n"
    )
    (tmp_path / "k.ptx").write_text(HEAD + body)
    report = ptxaudit.audit(tmp_path / "k.ptx", launches=[Launch("k", grid=1, block=32)])
    guarded, scattered = report.sites
    assert (guarded.reason_kind, guarded.why.kind) == ("takes-part", "several") and guarded.why.data
    decides, hint = guarded.why.parts
    assert (decides.kind, decides.ptx_line) == ("takes-part", guarded.ptx_line) and decides.data
    assert (hint.kind, dict(hint.arguments)) == ("data-can-be-specified", {"pointers": ("0",)})
    deepest = list(decides.walk())[-1]
    assert deepest.data and (deepest.kind, deepest.ptx_line) == ("loaded", guarded.ptx_line - 2)
    assert scattered.why and not scattered.why.data and "param_1" in str(scattered.why)
    assert "parameter 1" in scattered.reason
    again = parse_report(report.to_json())
    assert again.sites == report.sites and again.to_json() == report.to_json()
    assert all((site.reason == "") == (site.why is None) == (site.reason_kind == "") for site in report.sites)


@pytest.mark.parametrize("name", measured_kernels.SETS)
def test_reasons_name_existing_instructions(name):
    """For measured kernels with nothing specified: every reason has words, and names instructions that exist."""
    for launch in measured_kernels.load(name)[::7]:
        function = link(launch.module, launch.module.functions[launch.launch.kernel])
        result = engine.evaluate(function, graph.build(function), machine=machines.get(function.arch))
        for site in result.sites:
            if site.reason is not None:
                assert sentence(site.reason, function)
                assert all(-1 <= reason.index < len(function.instructions) for reason in site.reason.all_of_it())


def test_reasons_of_copied_blocks_name_the_originals():
    """A loop with two entries is analysed on a copy of the function."""
    body = (
        "ld.param.u64 %rd1, [k_param_0];\nld.global.u32 %r9, [%rd1];\nsetp.lt.s32 %p1, %r4, 5;\n@%p1 bra"
        " M;\nL:\nadd.u32 %r4, %r4, 1;\nM:\nadd.u32 %r7, %r3, %r9;\nbrev.b32 %r7, %r7;\nmad.lo.u32 %r7, %r7, %r1,"
        " 4;\nst.shared.u32 [%r7], %r1;\nsetp.lt.s32 %p2, %r4, 100;\n@%p2 bra L;\nret;\n}\n"
    )
    function = kernel(HEAD + body)
    [site] = engine.evaluate(function, graph.build(function), machine=MACHINE).sites
    assert site.reason is not None
    for reason in site.reason.all_of_it():
        assert reason.index < len(function.instructions)
        if reason.kind is Kind.UNKNOWN_SOURCES:
            assert reason.given[0].split(".")[0] in function.instructions[reason.index].text


def test_long_data_formula_is_named_by_its_first_term():
    long = (
        "((!(answer of the barrier at agent_radix_sort_onesweep.cuh:360)) ? (value loaded at k.cu:12) : (value loaded"
        " at k.cu:14))"
    )
    words = sentence(Reason(Kind.UNKNOWNS, unknowns=(Uniform(long, key=(1,), data=True),)))
    assert words == "the answer of the barrier at agent_radix_sort_onesweep.cuh:360 and others"
    nothing = Uniform("a + " * 30, key=(2,), data=True)
    assert sentence(Reason(Kind.UNKNOWNS, unknowns=(nothing,))) == "data loaded from memory"


def test_loaded_value_is_named_by_its_line():
    function = kernel(LONG)
    here = msgspec.structs.replace(function.instructions[0], source=Source("/src/k.cu", 12))
    lined = msgspec.structs.replace(function, instructions=(here, *function.instructions[1:]))
    assert sentence(Reason(Kind.LOADED, 0), lined) == "a value loaded from memory at k.cu:12"
    assert sentence(Reason(Kind.LOADED, 0), function) == "a value loaded from memory at PTX line 10"
    assert sentence(Reason(Kind.LOADED, 0)) == "a value loaded from memory"
    value = Uniform("3*(value loaded at k.cu:9) + n", key=(1,), data=True)
    unplaced = Uniform("value loaded at +0x0120", key=(2,), data=True)
    found = Reason(Kind.UNKNOWN_SOURCES, 0, ("min.s",), (value, N, unplaced))
    assert sentence(found, lined) == (
        "the minimum at k.cu:12, computed from the value loaded at k.cu:9 and the value loaded at +0x0120"
    )
    assert (
        sentence(Reason(Kind.UNKNOWN_SOURCES, 0, ("min.s",), (N,)), lined) == "the minimum at k.cu:12, computed from n"
    )
    assert sentence(Reason(Kind.UNKNOWN_SOURCES, -1, ("min.s",)), lined) == "the minimum of unknown values"


def test_reason_names_pointers_whose_data_cannot_be_specified():
    names = ("parameter 2", "parameter 3, byte 8", "variable table", "d")
    assert sentence(Reason(Kind.DATA_DECIDES, given=(names[:1],))) == "the data of parameter 2 decides it"
    listed = "parameter 2, parameter 3, byte 8 and variable table and others"
    assert sentence(Reason(Kind.DATA_DECIDES, given=(names,))) == f"the data of {listed} decides it"


@pytest.mark.parametrize(
    "operation, words",
    [
        ("min.s", "the minimum"),
        ("setp.lt.u", "the comparison <"),
        ("fsetp.neu", "the comparison !="),
        ("fsetp.nan", "the comparison"),
        ("shr.s", "the >>"),
        ("add3.carry", "the sum"),
        ("mufu.rcp", "mufu.rcp"),
    ],
)
def test_operation_names(operation, words):
    assert operation_words.called(operation) == words


def test_every_operation_name_belongs_to_an_operation():
    stems = {name.partition(".")[0] for name in OPS}
    assert {name for name in stems if operation_words.called(name) != name} >= operation_words._OF_STEM.keys()


def test_register_that_other_warps_have_not_written_is_the_last_reason():
    """It hides why the warps that wrote it do not know its value."""
    elsewhere = opaque(32, Reason(Kind.UNWRITTEN_IN_SOME, given=("R3",)))
    carry, product = (opaque(32, Reason(kind)) for kind in (Kind.UNKNOWN_CARRY, Kind.MANY_FACTORS))
    assert because(elsewhere, carry, product) == carry.why == because(carry, elsewhere)
    assert because(elsewhere) == elsewhere.why
