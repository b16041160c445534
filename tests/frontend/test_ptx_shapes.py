"""Reading PTX by the shapes of its lines, compared with reading it with Lark alone, on generated lines."""

from __future__ import annotations

import random

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.ptx import printer
from ptxaudit.frontend.ptx import syntax as s
from ptxaudit.frontend.ptx.parse import parse_module, parse_plain

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"

names = st.sampled_from(
    ["%r1", "%rd12", "%p3", "%tid.x", "$L__BB0_1", "_", "s", "add", "_ZN3fooEv", "v.x", "%_x", "x0", "f0", "d1", "ret"]
)
numbers = st.sampled_from(
    ["0", "7", "-1", "0x1F", "017", "0b11", "5U", "0xFFu", "0f3F800000", "0d3FF0000000000000", "1.5", "-2.e3", "1e5"]
)
blank = st.sampled_from(["", " ", "\t", "  "])


@st.composite
def expressions(draw) -> str:
    """Names and numbers, alone or added up."""
    first = draw(st.one_of(names, numbers))
    if draw(st.booleans()):
        return first
    operator = draw(st.sampled_from(["+", "-", "+-", "|", "*", "<<", " + ", "&"]))
    return first + operator + draw(st.one_of(names, numbers))


@st.composite
def operands(draw) -> str:
    kind = draw(st.integers(0, 6))
    if kind < 3:
        return draw(st.one_of(names, numbers))
    space = draw(blank)
    if kind == 3:
        return f"[{space}{draw(expressions())}{space}]"
    items = f",{space}".join(draw(st.lists(expressions(), min_size=1, max_size=4)))
    if kind == 4:
        return "{" + items + space + "}"
    if kind == 5:
        return f"({space}{items})"
    return draw(
        st.sampled_from(["%r1|%p1", "!%p1", "{%f1,%f2}|%p2", f"[%rd1, {{{items}}}]", "-%r2.b0", "(1+2)*3", "1 ? 2 : 3"])
    )


opcodes = st.sampled_from(
    ["mov.u32", "ld.shared::cta.v2.f32", "call.uni", "ret", "setp.lt.and.s32", "bar .sync", "st.param.b32", "x"]
)
guards = st.sampled_from(["", "@%p1 ", "@!%p1 ", "@ ! p\t", "@%p1\n"])


@st.composite
def statements(draw) -> str:
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(
            st.sampled_from(
                [
                    ".loc 1 2 3",
                    ".loc 1 2 3, function_name $s+4, inlined_at 4 5 6",
                    ".reg .b32 %r<10>, t;",
                    '.pragma "a; // b";',
                    "{ .reg .pred p; @p bra L; }",
                    ".shared .align 4 .b8 x[4] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};",
                    "ts: .branchtargets A, B;",
                    "{",
                    "}",
                    ".param .align 8 .b8 a[16];",
                    "pr: .callprototype (.param .b32 _) _ (.param .b64 _);",
                    "{.reg .b32 t, u; add.u32 t,%r1,1;",
                    "mov.b32 {%r1,%r2}, %rd1;}",
                    "@%p1 mov.u32 %r1, 2; ret; }",
                    "call.uni (r), ",
                    "call (r), f,\n(\n// x\na, b\n)\n;",
                    "call f, (\n",
                    "%r1\n);",
                    "add.s32 %r1,\n%r2, 3; ret; add.s32 %r1,",
                    "bra L; L: ret;",
                    "} {",
                ]
            )
        )
    if kind == 1:
        return draw(names) + draw(blank) + ":"
    separator = draw(st.sampled_from([", ", ",", " ,\n\t", " , "]))
    written = separator.join(draw(st.lists(operands(), max_size=4)))
    ending = draw(st.sampled_from([";", ";", ";", " ;", "; // comment ;", ";\r", "; /* a */", ""]))
    return draw(guards) + draw(opcodes) + " " + written + ending


def outcome(parse, text: str):
    """The tree, or the message of the error."""
    try:
        return parse(text)
    except InputError as error:
        return str(error)


def line_numbers(node) -> list[int]:
    """The lines of all nodes, which a tree's equality ignores."""
    if isinstance(node, tuple):
        return [line for item in node for line in line_numbers(item)]
    if not isinstance(node, Record):
        return []
    own = [node.line] if isinstance(node, s.Instruction | s.Variable | s.Function) else []
    return own + [line for value in structs.asdict(node).values() for line in line_numbers(value)]


def texts(node) -> list[tuple[str, str]]:
    """(text that an instruction keeps, text that the printer writes) of each instruction."""
    if isinstance(node, s.Instruction):
        return [(node.text, printer.instruction_text(node))] if node.text else []
    if isinstance(node, tuple):
        return [pair for item in node for pair in texts(item)]
    return (
        [pair for value in structs.asdict(node).values() for pair in texts(value)] if isinstance(node, Record) else []
    )


@settings(max_examples=150, deadline=None)
@example(["mov.u32 {%r1,%r1}", "{"], "\n")
@example(["call (r), f,\n(\n// x\n\na, b\n)\n;", "call.uni (r), "], " ")
@given(st.lists(statements(), max_size=6), st.sampled_from(["\n", "\n", " ", "\n\n// x\n"]))
def test_line_shapes_parse_as_lark_does(lines, separator):
    text = HEAD + ".visible .entry k()\n{\n" + separator.join(lines) + "\nret;\n}\n"
    found, plain = outcome(parse_module, text), outcome(parse_plain, text)
    assert found == plain
    if not isinstance(found, str):
        assert line_numbers(found) == line_numbers(plain)
        assert all(known == printed for known, printed in texts(found))
        assert parse_plain(printer.module_text(found)) == found


items = st.sampled_from(
    [
        ".global .align 4 .b8 a[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};",
        ".global .u64 p = generic(a)+8;",
        ".extern .shared .align 16 .b8 s[];",
        ".const .f32 c[2][2] = {{1.0, 2}, {0f00000000}};",
        ".global .u8 m = 0xFF(a);",
        '.file 1 "a // b.cu", 1, 2',
        ".alias x, y;",
        ".weak .func f ;",
        ".func (.param .b32 r) g (.param .b32 a)",
        "{ ret; }",
        "{",
        "ret;",
        "}",
        ";",
        ".section .debug_str {",
        "$s: .b8 1,2,3,4,5,6,7,8",
        ".b8 1 // x",
        ".b32 $s+4",
        ".b64 .debug_line",
        ".b32 a-$s",
        ".visible .entry k(",
        ".param .u64 p",
        ",",
        ")",
        ".maxntid 1, 2, 3",
        "/* x",
        "*/",
        ".shared .u32 t[3] = {017, 0x10, 1U};",
        ".global .samplerref z = { filter_mode = linear };",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(items, max_size=12))
def test_line_shapes_at_module_scope_parse_as_lark_does(lines):
    text = HEAD + "\n".join(lines) + "\n"
    assert outcome(parse_module, text) == outcome(parse_plain, text)


def test_truncated_module_is_parsed_or_rejected_alike():
    """Every prefix of a module is parsed alike, or rejected alike with a location."""
    text = (
        HEAD
        + """.extern .func (.param .b32 r) vprintf (.param .b64 a);
.visible .entry k(.param .u64 p) .maxntid 128
{
	.reg .b32 %r<9>;
	.loc 1 5 3, function_name $s, inlined_at 1 2 3
	@!%p1 ld.shared.v2.u32 {%r1, %r2}, [%r3+16];
$L: bra.uni $L;
}
"""
    )
    cuts = range(len(HEAD), len(text))
    for cut in random.Random(1).sample(cuts, 60):
        assert outcome(parse_module, text[:cut]) == outcome(parse_plain, text[:cut])
