"""PTX text and its results: the tree, the operations, the errors (tests/cases/ptx_*.txt)."""

from __future__ import annotations

import json

import pytest
import textcases
from lark import Tree
from msgspec import structs

from ptxaudit.base import resources
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend import parsers
from ptxaudit.frontend.ptx import build, opcodes, parse, printer
from ptxaudit.frontend.ptx.lift import ROWS, lift_module, meaning
from ptxaudit.frontend.ptx.syntax import Function, Instruction, Variable
from ptxaudit.ir import nodes as ir

FRAME = """.version 9.0
.target sm_90
.address_size 64
{module}
.visible .entry k(.param .u64 p, .param .align 8 .b8 q[24], .param .u32 n)
{{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b16 %rs<9>; .reg .b128 %q<3>;
.shared .align 16 .b8 s[64];
{body}
}}
"""


NOT_COMPARED = {Instruction: ("line", "text"), Variable: ("line",), Function: ("line",)}


def short(node) -> str:
    """A syntax value on one line: type names and values, without defaults and line numbers."""
    if isinstance(node, Record):
        fields = [
            f
            for f in structs.fields(node)
            if f.name not in NOT_COMPARED.get(type(node), ()) and (f.required or getattr(node, f.name) != f.default)
        ]
        named = [not f.required for f in fields]
        values = [short(getattr(node, f.name)) for f in fields]
        return (
            type(node).__name__
            + "("
            + ", ".join(f"{f.name}={v}" if n else v for f, v, n in zip(fields, values, named))
            + ")"
        )
    if isinstance(node, tuple):
        return "[" + ", ".join(map(short, node)) + "]"
    return str(node)


@pytest.mark.parametrize("case", textcases.read("ptx_syntax.txt"), ids=str)
def test_syntax_trees(case):
    tree = parse.parse_statements(case.input)
    assert "\n".join(map(short, tree)) == case.outputs["tree"]
    printed = "\n".join(line for statement in tree for line in printer.lines(statement))
    assert parse.parse_statements(printed) == tree


def effects(instruction: ir.Instruction) -> list[str]:
    """The operations, control and site of an instruction, one per line."""
    lines = [str(op) for op in instruction.ops]
    if c := instruction.control:
        words = [f"{c.guard} " if c.guard else "", c.kind]
        words += [
            f" to {', '.join(map(str, c.targets))}" if c.targets else "",
            f" by {c.selector}" if c.selector else "",
        ]
        lines.append("".join(words) + (f" {c.callee}" if c.callee else "") + (" uniform" if c.uniform else ""))
    if site := instruction.site:
        text = f"site {site.opcode} [{site.address}" + (f"+{site.offset}" if site.offset else "") + f"] {site.space}"
        text += f" guard {site.guard}" if site.guard else ""
        text += f" from [{site.source}+{site.source_offset}]" if site.source is not None else ""
        text += f" unless {site.ignore}" if site.ignore else ""
        text += f" bytes {site.source_size}" if site.source_size is not None else ""
        lines.append(text + (f" unscored: {site.unscored}" if site.unscored else ""))
    return lines


def lifted(text: str) -> ir.Module:
    body, _, module = text.partition("\nmodule:\n")
    return lift_module(parse.parse_module(FRAME.format(body=body, module=module)))


@pytest.mark.parametrize("case", textcases.read("ptx_lift.txt"), ids=str)
def test_lifted_operations(case):
    module = lifted(case.input)
    out = []
    for instruction in module.functions[case.outputs.get("of", "k")].instructions:
        if instruction.text == "ret":
            continue
        out += [f"{instruction.index}: {line}" for line in effects(instruction) or ["nothing"]]
    assert "\n".join(out) == case.outputs["effects"]


@pytest.mark.parametrize("case", textcases.read("ptx_errors.txt"), ids=str)
def test_syntax_errors(case):
    text = case.input.replace("\\0", "\0")
    with pytest.raises(InputError) as raised:
        lift_module(parse.parse_module(text, "k.ptx"))
    assert str(raised.value) == case.outputs["error"]


def test_every_rule_of_the_grammar_builds_a_value():
    rules = {r.alias or r.origin.name for r in parse.parser().rules}
    inner = {name for name in rules if name.startswith("_") or name in INLINE}
    assert rules - inner == set(build.RULES)


# Rules that always yield to their only child, or to an alias.
INLINE = {"item", "statement", "operand", "expression", "primary", "element", "cell"}


@pytest.mark.parametrize("name", sorted(ROWS))
def test_every_row_has_a_section_and_a_case(name):
    assert ROWS[name].section
    used = " ".join(case.input for case in textcases.read("ptx_lift.txt"))
    assert f"{name}." in used or f"{name};" in used or f"{name} " in used, "no case in ptx_lift.txt"


def test_unknown_modifier_has_no_meaning():
    for opcode in (
        "add.wrong.s32",
        "mad.lo.sat.s32",
        "cvt.rn.relu.f16.f32",
        "min.xorsign.abs.f32",
        "setp.lt.ftz.f64",
        "prmt.b32.xyz",
    ):
        assert meaning(opcode) is None


def test_opcode_is_split_into_modifiers():
    opcode = opcodes.Opcode("ld.global.L1::no_allocate.v2.f32")
    assert (opcode.base, opcode.plain) == ("ld", {"global", "L1::no_allocate", "v2"})


def test_lark_tree_of_a_single_name_is_built():
    assert isinstance(build.build(Tree("name", ["x"])), build.s.Name)


POSITIONS = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k() {
.loc 1 30 5
    bar.sync 0;
.loc 2 7 9, function_name $s, inlined_at 1 30 5
    bar.sync 1;
.loc 3 4 1, function_name $s+5, inlined_at 2 7 9
    bar.sync 2;
.loc 1 0 0
    bar.sync 3;
    ret;
}
.file 1 "a.cu"
.file 2 "load.cuh"
.file 3 "copy.cuh"
.section .debug_str {
$s: .b8 108,111,97,100,0
.b8 99,111,112,121,0
}
"""


def test_source_positions_and_inline_stacks_of_ptx():
    positions = [i.source for i in lift_module(parse.parse_module(POSITIONS)).functions["k"].instructions[:4]]
    outer, middle = ir.Frame("a.cu", 30, "load"), ir.Frame("load.cuh", 7, "copy")
    assert positions == [
        ir.Source("a.cu", 30, 5),
        ir.Source("load.cuh", 7, 9, (outer,)),
        ir.Source("copy.cuh", 4, 1, (middle, outer)),
        None,
    ]


def test_parameters_are_aligned():
    parameters = lifted("ret;").functions["k"].parameters
    assert [(p.name, p.offset, p.size, p.type) for p in parameters] == [
        ("p", 0, 8, ".u64"),
        ("q", 8, 24, ".b8[24]"),
        ("n", 32, 4, ".u32"),
    ]


VARIABLES = {
    ".const .align 4 .b8 t[4] = {1, 2};": ("const", 4, 4, b"\1\2\0\0"),
    ".global .u32 t[2][2] = {{1, 0}, {2, -1}};": (
        "global",
        16,
        4,
        bytes([1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255]),
    ),
    ".global .f32 t[2] = {1.0, 0f40000000};": ("global", 8, 4, b"\0\0\x80\x3f\0\0\0\x40"),
    ".global .u16 t = (3+4)*2;": ("global", 2, 2, b"\x0e\0"),
    ".global .b8 t[] = {72, 105, 0};": ("global", 3, 1, b"Hi\0"),
    ".global .u64 t = generic(s2);\n.shared .u32 s2;": ("global", 8, 8, None),
    ".global .v2 .u32 t;": ("global", 8, 8, None),
    ".extern .shared .align 16 .b8 t[];": ("shared", 0, 16, None),
    ".shared .f64 t[3][5];": ("shared", 120, 8, None),
}


@pytest.mark.parametrize("text", VARIABLES)
def test_variables_and_their_initial_values(text):
    variable = next(v for v in lifted("ret;\nmodule:\n" + text).functions["k"].variables if v.name == "t")
    assert (variable.space, variable.size, variable.align, variable.data) == VARIABLES[text]


def test_static_shared_memory_includes_callees():
    text = """mov.u32 %r1, a; call f;
module:
.shared .align 4 .b8 a[6]; .shared .u32 unused[99]; .func f () { .shared .align 8 .b8 b[8]; .reg .b32 %r<2>; mov.u32 %r1, b; ret; }"""
    assert lifted(text).functions["k"].shared_static == 14


def test_launch_bounds_of_ptx_kernels():
    text = """ret;
module:
.entry a .reqntid 32, 4 { ret; }
.entry b .maxntid 128 .minnctapersm 2 .reqnctapercluster 2, 1, 1 { ret; }"""
    f = lifted(text).functions
    assert (f["a"].block, f["a"].max_threads, f["b"].block, f["b"].max_threads, f["b"].cluster) == (
        (32, 4, 1),
        128,
        None,
        128,
        (2, 1, 1),
    )


@pytest.mark.parametrize("name", parsers.OPTIONS)
def test_packaged_parser_tables_equal_those_of_the_grammars(name, monkeypatch):
    """`python -m ptxaudit.frontend.parsers` generates them."""
    grammar = resources.grammar(f"{name}.lark")
    loaded, made = parsers._from_tables(name, grammar), parsers.built(name, grammar)
    assert loaded is not None
    assert {str(rule) for rule in loaded.rules} == {str(rule) for rule in made.rules}
    assert {(t.name, t.pattern.to_regexp()) for t in loaded.terminals} == {
        (t.name, t.pattern.to_regexp()) for t in made.terminals
    }


def test_parser_from_tables_gives_equal_trees():
    grammar = resources.grammar("ptx.lark")
    loaded, made = parsers._from_tables("ptx", grammar), parsers.built("ptx", grammar)
    for text in ("ret;", "@!%p1 bra $L;", "ld.shared.v2.f32 {%f1, %f2}, [s+8];", ".reg .b32 %r<9>;"):
        assert loaded.parse(text, start="statements") == made.parse(text, start="statements")


def test_parser_writes_no_table_to_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert parsers.parser.__wrapped__("ptx").parse("ret;", start="statements")
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize("tables", ["", "{", "[]", '{"of": 1}', '{"of": %s}'])
def test_invalid_parser_tables_are_rebuilt(tables, monkeypatch):
    read = resources.grammar
    of = json.dumps(parsers._of("sass", read("sass.lark")))
    monkeypatch.setattr(
        resources, "grammar", lambda name: tables.replace("%s", of) if name.endswith(".json") else read(name)
    )
    assert parsers.parser.__wrapped__("sass").parse("R2, 0x10")
