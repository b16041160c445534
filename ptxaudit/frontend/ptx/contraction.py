"""Sums that ptxas may contract with a product into one fused multiply-add, so that the product is not rounded.

    mul.f32 %f1, %f2, %f3;
    mov.b32 %r1, %f1;  mov.b32 %f4, %r1;
    add.f32 %f5, %f4, %f6;            FFMA %f5, %f2, %f3, %f6: the last bit of %f5 is unknown

Products and sums that do not specify their rounding may be contracted ("Floating Point Instructions", add and mul),
and so may approximate quotients, which ptxas makes of a reciprocal and a product. ptxas first removes what it can show
to be a copy: moves, packing, `abs` of a square, `max` of equal operands, `x * 1`, stores and loads of local memory.
Therefore a product counts as an operand of every sum that it reaches through operations that may return one of their
operands: all but comparisons, conversions between floats and integers, and roundings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ptxaudit.ir import nodes as ir

FORMATS = [f"{ftz}.{kind}" for ftz in ("", ".ftz") for kind in ("f16", "f32", "f64")]
SUMS = frozenset(f"{name}{form}" for name in ("add", "sub") for form in FORMATS)
PRODUCTS = frozenset(f"mul{form}" for form in FORMATS)
"""Floating-point products that do not specify their rounding: ptxas may fuse them."""

QUOTIENTS = ("div.approx", "div.full", "rcp.approx")  # products of a reciprocal, or of one and a power of two
NO_COPIES = (
    "setp.",
    "fsetp.",
    "f2i.",
    "i2f.",
    "frcp",
    "fsqrt",
    "sqrt.",
    "rsqrt.",
    "ex2.",
    "lg2.",
    "sin.",
    "cos.",
    "tanh.",
)
"""Operations that never return one of their operands."""

ONES = {16: 0x3C00, 32: 0x3F800000, 64: 0x3FF0000000000000}
SPACES = ("global", "shared", "local")
READ_ONLY = ("param", "const")

Node = tuple[str, str]  # (function, register), or (where it is shared, what): a state space, arguments, results


def contracted(functions: dict[str, ir.Function]) -> dict[str, ir.Function]:
    """The functions with unmodelled operations in place of the sums that may be contracted."""
    changed = dict(functions)
    for group in _groups(functions.values()):
        sums = [
            (f, i) for f in group for i in f.instructions if i.opcode in SUMS and i.ops[-1].name in ("fadd", "fsub")
        ]
        if not sums:
            continue
        products = _reached(group)
        found: dict[str, dict[int, ir.Instruction]] = defaultdict(dict)
        for f, i in sums:
            if any(type(source) is ir.Reg and (f.name, source.name) in products for source in i.ops[-1].src):
                found[f.name][i.index] = _unknown(i)
        for name, those in found.items():
            all_of_it = tuple(those.get(i.index, i) for i in functions[name].instructions)
            changed[name] = replace(functions[name], instructions=all_of_it)
    return changed


def _unknown(old: ir.Instruction) -> ir.Instruction:
    op = old.ops[-1]
    fused = replace(op, name=f"{old.opcode} of a product, perhaps fused", attrs=())
    return replace(old, ops=(*old.ops[:-1], fused))


def _groups(functions: Iterable[ir.Function]) -> Iterator[list[ir.Function]]:
    """Functions between which values may pass: kernels without calls by themselves, all others together."""
    together = []
    for f in functions:
        if f.entry and not any(i.control is not None and i.control.kind == "call" for i in f.instructions):
            yield [f]
        else:
            together.append(f)
    yield together


def _reached(group: list[ir.Function]) -> set[Node]:
    """The registers of some functions that may hold a product of which only a copy was made."""
    products: set[Node] = set()
    leads: dict[Node, list[Node]] = defaultdict(list)
    for f in group:
        for i in f.instructions:
            for op in i.ops:
                if op.name == "fmul" and i.opcode in PRODUCTS or op.name in QUOTIENTS:
                    products.update((f.name, d.name) for d in op.dst if d is not None)
                elif i.opcode not in SUMS or op.name not in ("fadd", "fsub"):
                    for source, target in _copies(f.name, op):
                        leads[source].append(target)
        for register in f.arguments:
            leads["", "arguments"].append((f.name, register.name))
        for register in f.results:
            leads[f.name, register.name].append(("", "results"))
    waiting = list(products)
    while waiting:
        for target in leads.get(waiting.pop(), ()):
            if target not in products:
                products.add(target)
                waiting.append(target)
    return products


def _copies(function: str, op: ir.Op) -> Iterator[tuple[Node, Node]]:
    """(from, to): where an operation may copy a float."""
    if op.name.startswith(NO_COPIES):
        return
    inputs: list[Node] = [(function, source.name) for source in _copied(op) if type(source) is ir.Reg]
    outputs: list[Node] = [(function, d.name) for d in op.dst if d is not None]
    if op.name == "call":
        yield from ((source, ("", "arguments")) for source in inputs)
        yield from ((("", "results"), target) for target in outputs)
        return
    if op.space and not op.space.startswith(READ_ONLY):
        inputs, outputs = inputs + _memory(op.space), outputs + (_memory(op.space) if op.name != "load" else [])
    if op.name == ir.COPY_ASYNC:
        inputs.append(("", "global"))
    yield from ((source, target) for source in inputs for target in outputs)


def _memory(space: str) -> list[Node]:
    space = "shared" if space == ir.MATRICES else space.partition("::")[0]
    return [("", name) for name in ((space,) if space in SPACES else SPACES)]


def _copied(op: ir.Op) -> tuple[ir.Operand, ...]:
    """The operands that the result may equal whatever they are.

    ptxas removes a rounded product with a register that is one, but no rounded sum with one that is zero.
    """
    match op.name:
        case "load":
            return ()
        case "f2f" if op.attrs[:1] and op.attrs[0].endswith("i"):  # to an integer, by an FRND
            return ()
        case "store" | "atom" | ir.STORE_MATRIX:
            return op.src[1:]
        case "fmul" | "fdiv":
            return tuple(a for a, b in _with_other(op) if type(b) is ir.Reg or _is(b, ONES.get(op.bits, 0), op.bits))
        case "fadd" | "fsub":
            return tuple(a for a, b in _with_other(op) if _is(b, 0, op.bits))
        case "fma":
            a, b, c = op.src
            one, zero = ONES.get(op.bits, 0), _is(c, 0, op.bits)
            factors = [x for x, y in ((a, b), (b, a)) if zero and _is(y, one, op.bits)]
            return (*factors, c) if _is(a, 0, op.bits) or _is(b, 0, op.bits) else tuple(factors)
    return op.src


def _with_other(op: ir.Op) -> tuple[tuple[ir.Operand, ir.Operand], ...]:
    a, b = op.src
    return ((a, b), (b, a))


def _is(operand: ir.Operand, magnitude: int, bits: int) -> bool:
    """Whether an operand is a constant that equals a number or its negation."""
    return isinstance(operand, ir.Const) and operand.value & (1 << bits - 1) - 1 == magnitude
