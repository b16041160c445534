"""Constant expressions evaluate as in ptxas: in 64 bits, signed or unsigned by the rules of the manual."""

from __future__ import annotations

from random import Random

import pytest
from machine_code import PROLOGUE, from_ptx, lines_of

from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module

KERNEL = """.visible .entry k(.param .u64 p)
{ .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; ld.const.u64 %rd2, [t]; st.global.u64 [%rd1], %rd2; ret; }
"""
VALUES = {
    "((1 << 63) >> 62) & 0xff": 0xFE,
    "(-1 > 0U) + 1": 2,
    "(-1 < 0x8000000000000000) + 1": 1,
    "(7 % -4) + 1": 8,
    "(-7 % 4) & 0xf": 1,
    "(.s64) 0xfffffffffffffff0 >> 60 & 0xff": 0xFF,
    "(.u64) -16 >> 60": 0xF,
    "-16 >> 60 & 0xff": 0xFF,
    "~0 >> 63": 1,
    "!5 - 1 >> 63": (1 << 64) - 1,
    "-7 / 2 & 0xff": 0xFD,
    "-7 / 2U": 0x7FFFFFFFFFFFFFFC,
    "-0xffffffffffffffff >> 1": 0,
    "(1 << 62) * 4 / 4 + 3": 3,
    "(1 ? -1 : 0) > 0": 0,
    "(1 == 1U) + (-1 == 0xffffffffffffffff)": 2,
    "017 + 0b101": 20,
}


def table(items: list[str], type: str = "u64") -> str:
    return f".const .align 8 .{type} t[{len(items)}] = {{{', '.join(items)}}};\n" + KERNEL


def ours(body: str) -> bytes | None:
    function = lift_module(parse_module(PROLOGUE.format(arch="sm_90") + body)).functions["k"]
    (found,) = (v.data for v in function.variables if v.name == "t")
    return found


def theirs(body: str) -> bytes:
    return lines_of(from_ptx(body))[0].functions[0].banks[3]


def test_initial_values_equal_those_of_ptxas():
    body = table(list(VALUES))
    wanted = b"".join(value.to_bytes(8, "little") for value in VALUES.values())
    assert ours(body) == wanted
    assert theirs(body)[: len(wanted)] == wanted


def test_initial_values_are_truncated_to_their_type():
    body = table(list(VALUES), "u16")
    assert ours(body) == theirs(body)[: 2 * len(VALUES)]


@pytest.mark.parametrize("text", VALUES)
def test_constant_expression_as_an_operand(text):
    body = f".visible .entry k() {{ .reg .b64 %r; mov.u64 %r, {text}; ret; }}"
    (op,) = lift_module(parse_module(PROLOGUE.format(arch="sm_90") + body)).functions["k"].instructions[0].ops
    assert op.src[0].value == VALUES[text]


@pytest.mark.parametrize("text", ("1 << 64", "1 >> -1", "5 / 0", "5 % 0U", "1.5 == 1.5", "1 ? -1 : 0U"))
def test_expression_on_which_ptxas_and_the_manual_disagree_is_unknown(text):
    body = f".visible .entry k() {{ .reg .b64 %r; mov.u64 %r, {text}; ret; }}"
    (op,) = lift_module(parse_module(PROLOGUE.format(arch="sm_90") + body)).functions["k"].instructions[0].ops
    assert str(op.src[0]).startswith("?")


def test_unsigned_offset_is_subtracted():
    body = ".visible .entry k() { .reg .b64 %r; .shared .b8 s[64]; mov.u64 %r, s + -4U; mov.u64 %r, s - 4U; ret; }"
    first, second, _ = lift_module(parse_module(PROLOGUE.format(arch="sm_90") + body)).functions["k"].instructions
    assert first.ops[0].src == second.ops[0].src
    assert first.ops[0].src[0].offset == -4


LITERALS = (
    "0 1 2 3 5 12 63 0xff -1 -2 -7 0U 1U 3U 017 0b101 0xffffffff 0x7fffffffffffffff 0x8000000000000000"
    " 0xffffffffffffffff 0xfffffffffffffff0 9223372036854775808"
).split()
OPERATORS = "+ - * & | ^ == != < > <= >= && ||".split()


def expression(rng: Random, depth: int) -> str:
    """Most operations have no parentheses, so that precedence matters."""
    if not depth:
        return rng.choice(LITERALS)
    kind, a, b = rng.randrange(10), expression(rng, depth - 1), expression(rng, depth - 1)
    if kind == 0:
        return f"({a})"
    if kind == 1:
        return f"{rng.choice('-~!+')}({a})"
    if kind == 2:
        return f"(.{rng.choice('su')}64)({a})"
    if kind == 3:
        kind = rng.choice("su")
        return f"({a} ? (.{kind}64)({b}) : (.{kind}64)({expression(rng, depth - 1)}))"
    if kind == 4:
        return f"{a} {rng.choice(('/', '%'))} {rng.choice(('3', '-3', '5U', '0x8000000000000000'))}"
    if kind == 5:
        return f"{a} {rng.choice(('<<', '>>'))} {rng.choice(('0', '1', '5U', '63'))}"
    return f"{a} {rng.choice(OPERATORS)} {b}"


@pytest.mark.parametrize("seed", range(3))
def test_random_expressions_equal_those_of_ptxas(seed):
    rng = Random(seed)
    every = [expression(rng, rng.randint(1, 4)) for _ in range(120)]
    texts = [text for text in every if ours(table([text])) is not None]  # excludes shifts by 64 or more
    assert len(texts) > 90
    mine, wanted = ours(table(texts)), theirs(table(texts))
    assert mine is not None
    wrong = [text for n, text in enumerate(texts) if mine[8 * n : 8 * n + 8] != wanted[8 * n : 8 * n + 8]]
    assert not wrong


ROWS = {
    "t[2][2] = {{1, 2}, {3, 4}}": (1, 2, 3, 4),
    "t[2][2] = {{1, 2}, {3}}": (1, 2, 3, 0),
    "t[2][2] = {{1}}": (1, 0, 0, 0),
    "t[][2] = {{1, 2}, {3}}": (1, 2, 3, 0),
    "t[2][2][2] = {{{1, 2}, {3, 4}}, {{5}}}": (1, 2, 3, 4, 5, 0, 0, 0),
    "t[2][2] = {}": (0, 0, 0, 0),
}
SHORT_ROWS = (
    "t[2][2] = {{1}, {2}}",
    "t[][2] = {{1}, {2}}",
    "t[2][2][2] = {{{1}, {2, 3}}}",
    "t[2][2][2] = {{{1, 2}}, {{3}}}",
)


@pytest.mark.parametrize("declared", ROWS)
def test_nested_initializers_equal_those_of_ptxas(declared):
    body = f".const .align 8 .u32 {declared};\n" + KERNEL
    wanted = b"".join(value.to_bytes(4, "little") for value in ROWS[declared])
    assert ours(body) == theirs(body)[: len(wanted)] == wanted


@pytest.mark.parametrize("declared", SHORT_ROWS)
def test_short_row_before_the_last_has_no_known_value(declared):
    """The manual ("Initializers") fills it with zeros; ptxas does not."""
    body = f".const .align 8 .u32 {declared};\n" + KERNEL
    assert ours(body) is None
    function = lift_module(parse_module(PROLOGUE.format(arch="sm_90") + body)).functions["k"]
    assert any("initial value of t is skipped" in note for note in function.notes)


def test_functions_in_a_short_row_remain_call_targets():
    text = ".func f() { ret; }\n.global .u64 t[2][2] = {{f}, {f}};\n" + KERNEL.replace("ld.const", "ld.global")
    function = lift_module(parse_module(PROLOGUE.format(arch="sm_90") + text)).functions["k"]
    assert [v.functions for v in function.variables if v.name == "t"] == [((-1, "f"), (-1, "f"))]
