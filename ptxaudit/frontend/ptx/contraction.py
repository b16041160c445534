"""Sums that ptxas may contract with a product into one fused multiply-add, so that the product is not rounded.

    mul.f32 %f1, %f2, %f3;
    mov.b32 %r1, %f1;  mov.b32 %f4, %r1;
    add.f32 %f5, %f4, %f6;            FFMA %f5, %f2, %f3, %f6: the last bit of %f5 is unknown

Products and sums that do not specify their rounding may be contracted ("Floating Point Instructions", add and mul),
and so may approximate quotients, which ptxas makes of a reciprocal and a product. ptxas first removes what it can show
to be a copy: moves, packing, `abs` of a square, `max` of equal operands, `x * 1`, stores and loads of local memory.
Therefore a product counts as an operand of every sum that it reaches through operations that may return one of their
operands: all but comparisons, conversions between floats and integers, and roundings.

A sum has one of two results then, contracted or not, which are computed where the factors can be followed (`_Factors`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ptxaudit.ir import nodes as ir

TYPES = ("f16", "f32", "f64", "f16x2", "bf16", "bf16x2")
FORMATS = [f"{ftz}.{kind}" for ftz in ("", ".ftz") for kind in TYPES]
SUMS = frozenset(
    f"{name}{form}" for name in ("add", "sub") for form in (*FORMATS, ".sat.f16", ".sat.f32", ".sat.f16x2")
) | frozenset(f"{name}.ftz.sat.{kind}" for name in ("add", "sub") for kind in TYPES)
ADDITIONS = ("fadd", "fsub", "fadd.bf16")
PRODUCTS = frozenset(f"mul{form}" for form in FORMATS)
"""Floating-point products that do not specify their rounding: ptxas may fuse them, but not those that saturate."""

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
    """The functions with other operations in place of the sums that may be contracted.

    A sum has one of a few results if the factors of the products are known (`fadd.contracted`, `fsub.contracted`),
    else it is unmodelled.
    """
    changed = dict(functions)
    for group in _groups(functions.values()):
        kinds = dict.fromkeys(_kind(i.opcode) for f in group for i in f.instructions if i.opcode in SUMS)
        for kind in kinds:
            products = _reached(group, kind)
            for f in group:
                now = changed[f.name]
                sums = {
                    (i.index, at)
                    for i in now.instructions
                    for at in _sums(i, kind)
                    if any(type(source) is ir.Reg and (f.name, source.name) in products for source in i.ops[at].src)
                }
                if sums:
                    changed[f.name] = _Factors(now, kind, products, sums).rewritten()
    return changed


def _kind(opcode: str) -> str:
    """The format of a product or sum: only products of the format of a sum are contracted with it."""
    return opcode.rpartition(".")[2].removesuffix("x2")


def _sums(i: ir.Instruction, kind: str) -> list[int]:
    """The positions of the operations of an instruction that ptxas may contract."""
    if i.opcode not in SUMS or _kind(i.opcode) != kind:
        return []
    return [at for at, op in enumerate(i.ops) if op.name in ADDITIONS]


class _Factors:
    """The factors of the products that reach sums of a function, kept in registers of their own.

    mul.f32 %f1, %f2, %f3          %f1@x = %f2;  %f1@y = %f3;  %f1 = fmul(%f2, %f3)
    neg.f32 %f4, %f1               %f4@x = fneg(%f1@x);  %f4@y = %f1@y;  %f4 = fneg(%f1)
    add.f32 %f5, %f4, %f6          %f5 = fadd.contracted(%f4, %f6, %f4@x, %f4@y)

    A register that is no product where it is written otherwise has itself and one as factors. Registers that a product
    reaches in other ways than by these three operations have none.
    """

    def __init__(self, f: ir.Function, kind: str, products: set[Node], sums: set[tuple[int, int]]):
        self.f, self.kind, self.sums = f, kind, sums
        self.at = {i.index: i for i in f.instructions}
        self.products = {name for function, name in products if function == f.name}
        self.written: dict[str, list[tuple[ir.Op, bool]]] = defaultdict(list)  # (operation, whether it is a product)
        for i in f.instructions:
            for op in i.ops:
                for d in op.dst:
                    if d is not None and d.name in self.products:
                        self.written[d.name].append((op, _is_product(i, op, kind)))
        self.without = self._without() | {register.name for register in f.arguments}
        self.wanted: set[str] = set()

    def _without(self) -> set[str]:
        """The registers without factors."""
        leads: dict[str, list[str]] = defaultdict(list)
        waiting = []
        for name, ways in self.written.items():
            for op, product in ways:
                if not product and not self._is_other(op) and not self._is_copy(op):
                    waiting.append(name)
                elif product and not self._may_be_factors(op):
                    waiting.append(name)
                elif not product and self._is_copy(op):
                    leads[op.src[0].name].append(name)  # type: ignore[union-attr]  # a register
        out = set(waiting)
        while waiting:
            more = [name for name in leads[waiting.pop()] if name not in out]
            out.update(more)
            waiting += more
        return out

    def _is_other(self, op: ir.Op) -> bool:
        """Whether the result is no product of another register."""
        return op.name not in QUOTIENTS and not any(
            source == ("", "arguments") or source[0] == "" or source[1] in self.products
            for source, _ in _copies(self.f.name, op)
        )

    def _is_copy(self, op: ir.Op) -> bool:
        """Whether the result is a product with the factors of the source, but for their signs."""
        (source, *more), (target, *_) = op.src or (None,), op.dst or (None,)
        return (
            op.name in ("mov", "fneg", "fabs")
            and not more
            and type(source) is type(target) is ir.Reg
            and source.bits == target.bits == op.bits
            and source.name in self.products
        )

    def _may_be_factors(self, op: ir.Op) -> bool:
        """Whether no factor is one, so that the product is a copy of the other, which may be a product."""
        return not any(
            type(a) is ir.Reg and a.name in self.products and _is(b, ONES.get(op.bits, 0), op.bits)
            for a, b in _with_other(op)
        )

    def rewritten(self) -> ir.Function:
        forms = {op.attrs[1:2] for i in self.f.instructions for op in i.ops if _is_product(i, op, self.kind)}
        forms |= {i.ops[at].attrs[1:2] for i in self.f.instructions for at in _sums(i, self.kind)}
        made = {(i, at): self._sum(i, self.at[i].ops[at], len(forms) == 1) for i, at in self.sums}
        waiting = list(self.wanted)
        while waiting:
            more = {op.src[0].name for op, product in self.written[waiting.pop()] if not product and self._is_copy(op)}  # type: ignore[union-attr]
            waiting += more - self.wanted
            self.wanted |= more
        return replace(self.f, instructions=tuple(self._instruction(i, made) for i in self.f.instructions))

    def _sum(self, index: int, op: ir.Op, uniform: bool) -> ir.Op:
        """The operation in place of a sum. uniform: subnormal numbers are treated alike by all products and sums."""
        which = [type(source) is ir.Reg and source.name in self.products for source in op.src]
        names = [source.name for source, product in zip(op.src, which) if product and isinstance(source, ir.Reg)]
        if not uniform or not self.without.isdisjoint(names) or op.name not in ("fadd", "fsub"):
            opcode = self.at[index].opcode
            return replace(op, name=f"{opcode} of a product, perhaps fused", attrs=())
        self.wanted.update(names)
        factors = tuple(_factor(name, side, op.bits) for name in names for side in "xy")
        mode, ftz, saturated = (*op.attrs, False)[:3]
        return replace(op, name=f"{op.name}.contracted", src=(*op.src, *factors), attrs=(mode, ftz, saturated, *which))

    def _instruction(self, i: ir.Instruction, made: dict[tuple[int, int], ir.Op]) -> ir.Instruction:
        ops: list[ir.Op] = []
        for at, op in enumerate(i.ops):
            target = op.dst[0] if len(op.dst) == 1 else None
            if target is None or target.name not in self.wanted:
                ops.append(made.get((i.index, at), op))
                continue
            if _is_product(i, op, self.kind):
                ops += [*self._of_product(target, op), op]
            elif self._is_copy(op):
                ops += [*self._of_copy(target, op), op]
            else:
                one = ir.Const(ONES[target.bits], target.bits)
                ops.append(made.get((i.index, at), op))
                ops += [_written(op, target.name, side, value) for side, value in (("x", target), ("y", one))]
        return (
            i
            if len(ops) == len(i.ops) and not any((i.index, at) in made for at in range(len(ops)))
            else replace(i, ops=tuple(ops))
        )

    def _of_product(self, target: ir.Reg, op: ir.Op) -> Iterator[ir.Op]:
        for side, (a, b) in zip("xy", _with_other(op)):
            if type(a) is ir.Reg and a.name in self.products and type(b) is ir.Reg:  # where that is one, ptxas may know
                size, copied = ir.Reg(f"{target.name}@{side}size", op.bits), ir.Reg(f"{target.name}@{side}one", 1)
                yield ir.Op("fabs", (size,), (b,), op.bits)
                yield ir.Op("fsetp.eq", (copied,), (size, ir.Const(ONES[op.bits], op.bits)), op.bits)
                unknown = ir.Unknown("a factor of a product that may be a copy of another one", op.bits)
                factor = _factor(target.name, side, op.bits)
                yield ir.Op("select", (factor,), (unknown, a, copied), op.bits, (), op.guard)
            else:
                yield _written(op, target.name, side, a)

    @staticmethod
    def _of_copy(target: ir.Reg, op: ir.Op) -> Iterator[ir.Op]:
        for side in "xy":
            source = _factor(op.src[0].name, side, op.bits)  # type: ignore[union-attr]  # a register
            name = "mov" if op.name == "fneg" and side == "y" else op.name
            yield ir.Op(name, (_factor(target.name, side, op.bits),), (source,), op.bits, op.attrs, op.guard)


def _is_product(i: ir.Instruction, op: ir.Op, kind: str) -> bool:
    return op.name in ("fmul", "fmul.bf16") and i.opcode in PRODUCTS and _kind(i.opcode) == kind


def _factor(name: str, side: str, bits: int) -> ir.Reg:
    return ir.Reg(f"{name}@{side}", bits)


def _written(op: ir.Op, name: str, side: str, value: ir.Operand) -> ir.Op:
    """Writes a factor of what an operation writes."""
    return ir.Op("mov", (_factor(name, side, op.bits),), (value,), op.bits, (), op.guard)


def _groups(functions: Iterable[ir.Function]) -> Iterator[list[ir.Function]]:
    """Functions between which values may pass: kernels without calls by themselves, all others together."""
    together = []
    for f in functions:
        if f.entry and not any(i.control is not None and i.control.kind == "call" for i in f.instructions):
            yield [f]
        else:
            together.append(f)
    yield together


def _reached(group: list[ir.Function], kind: str) -> set[Node]:
    """The registers of some functions that may hold a product of a format of which only a copy was made."""
    products: set[Node] = set()
    leads: dict[Node, list[Node]] = defaultdict(list)
    for f in group:
        for i in f.instructions:
            for op in i.ops:
                if _is_product(i, op, kind) or op.name in QUOTIENTS and kind == "f32":
                    products.update((f.name, d.name) for d in op.dst if d is not None)
                elif i.opcode not in SUMS or op.name not in ADDITIONS:
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
