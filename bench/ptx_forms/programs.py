"""The programs that are executed: an opcode with operands of its types, in several variants.

    add.s32 %o_32_0, %s32_0, %s32_1;        registers; also: constants, a predicate before it, one register for several
                                            operands, registers wider than the type (cvt), a carry before and after

Registers `%CLASS_K` hold inputs (`inputs`); `%o_BITS_K` are results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from bench.ptx_forms import inputs
from ptxaudit.frontend.ptx.types import TYPES

COUNT = "count"  # positions, lengths and shift counts
ARITY = dict.fromkeys(
    "mad mad24 sad fma madc bfi lop3 prmt shf dp4a dp2a vabsdiff4 fns bfe".split(), 3
) | dict.fromkeys("abs neg popc clz bfind brev not cnot rcp sqrt rsqrt ex2 lg2 sin cos tanh testp".split(), 1)
TABLES = (0x96, 0xCA, 0x1E, 0x80)
COMPARISONS = frozenset(("setp", "set"))
BOOLEAN = frozenset(("and", "or", "xor"))


@dataclass(frozen=True)
class Program:
    """lines: of PTX; results: the registers whose values are compared, with their bits."""

    opcode: str
    lines: tuple[str, ...]
    results: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, record: dict[str, Any]) -> Program:
        """The program that `dataclasses.asdict` and JSON have stored."""
        results = tuple((register, bits) for register, bits in record["results"])
        return cls(record["opcode"], tuple(record["lines"]), results)

    @property
    def text(self) -> str:
        return "  ".join(self.lines)


@dataclass(frozen=True)
class Operands:
    """Classes of inputs. results: bits. extra: text after the last source."""

    results: tuple[int, ...]
    sources: tuple[str, ...]
    extra: str = ""


def operands(opcode: str) -> Operands:
    """The operands of an opcode, as the manual lists them."""
    base, *modifiers = opcode.split(".")
    names = [m for m in modifiers if m in TYPES]
    last = names[-1] if names else "b32"
    bits, same = register(last), (last,) * ARITY.get(base, 2)
    match base:
        case "mul" | "mad" if "wide" in modifiers:
            return Operands((2 * bits,), (last, last, *([f"b{2 * bits}"] if base == "mad" else [])))
        case "popc" | "clz" | "bfind":
            return Operands((32,), same)
        case "bfe" | "bfi":
            return Operands((bits,), (last,) * (1 + (base == "bfi")) + (COUNT, COUNT))
        case "szext" | "shl" | "shr":
            return Operands((bits,), (last, COUNT))
        case "shf":
            return Operands((bits,), (last, last, COUNT))
        case "bmsk":
            return Operands((bits,), (COUNT, COUNT))
        case "fns":
            return Operands((bits,), (last, COUNT, COUNT))
        case "selp":
            return Operands((bits,), (last, last, "pred"))
        case "slct":
            return Operands((register(names[0]),), (names[0], names[0], names[1]))
        case "set" | "setp":
            result = 1 if base == "setp" else register(names[0])
            two = base == "setp" and last in ("f16x2", "bf16x2")
            return Operands((result,) * (1 + two), (last, last, *(["pred"] if BOOLEAN.intersection(modifiers) else [])))
        case "testp":
            return Operands((1,), same)
        case "cvt" if "pack" in modifiers:
            return Operands((32,), ("s32", "s32", *(["b32"] if len(names) == 3 or modifiers[-1] == "b32" else [])))
        case "cvt":
            packed = names[0].endswith("x2") and names[1] == "f32"
            return Operands((register(names[0]),), (last,) * (1 + packed))
        case "vabsdiff4":
            return Operands((32,), ("u32",) * 3)
        case "vadd" | "vsub" | "vshl" | "vshr":
            return Operands((32,), (names[1], names[2], *(["b32"] if "add" in modifiers else [])))
        case "dp4a" | "dp2a":
            return Operands((32,), (names[0], names[1], "b32"))
    return Operands((bits,), same)


def register(name: str) -> int:
    """Bits of a register that holds the type."""
    return max(TYPES[name].bits, 16) if name != "pred" else 1


def result(bits: int, k: int = 0) -> str:
    return f"%o_{bits}_{k}"


def programs(opcode: str, rng: Random) -> Iterator[Program]:
    """The variants of an opcode. The first has plain registers."""
    shape = operands(opcode)
    if opcode.startswith("lop3"):
        for table in TABLES:
            yield from _variants(opcode, Operands(shape.results, shape.sources, f", {table:#x}"), rng)
    elif opcode.split(".")[0] in ("addc", "subc", "madc") or ".cc" in opcode:
        yield from _carries(opcode, shape)
    else:
        yield from _variants(opcode, shape, rng)
        if opcode.startswith("cvt"):
            yield from _wider(opcode, shape)


def _program(opcode: str, shape: Operands, sources: list[str], guard: str = "", target: str = "") -> Program:
    targets = [result(bits, k) for k, bits in enumerate(shape.results)]
    written = target or "|".join(targets)
    line = f"{guard}{opcode} {written}, {', '.join(sources)}{shape.extra};"
    before = [f"mov.b{shape.results[0]} {targets[0]}, {inputs.register(f'b{shape.results[0]}', 3)};"] if guard else []
    return Program(opcode, (*before, line), tuple(zip(targets, shape.results)))


def _variants(opcode: str, shape: Operands, rng: Random) -> Iterator[Program]:
    names = [inputs.register(kind, k) for k, kind in enumerate(shape.sources)]
    yield _program(opcode, shape, names)
    constants = [inputs.constant(kind, rng) for kind in shape.sources]
    plain = [k for k, kind in enumerate(shape.sources) if kind != "pred"]
    for some in sorted({(k,) for k in plain} | {tuple(plain)}):
        yield _program(opcode, shape, [constants[k] if k in some else name for k, name in enumerate(names)])
    for k, kind in enumerate(shape.sources):
        for constant in inputs.special_constants(kind):
            yield _program(opcode, shape, [*names[:k], constant, *names[k + 1 :]])
    specials = [inputs.special_constants(kind) or [constant] for kind, constant in zip(shape.sources, constants)]
    several = 20 if any(kind.startswith("f") for kind in shape.sources) else 5
    for _ in range(several):
        yield _program(opcode, shape, [rng.choice(some) for some in specials])
    for _ in range(several):
        yield _moved(opcode, shape, names, rng)
    if len(shape.results) == 1 and shape.results[0] > 1:
        yield _program(opcode, shape, names, guard="@%pred_1 ")
        yield _program(opcode, shape, names, guard="@!%pred_2 ")
    if "pred" in shape.sources:
        yield _program(opcode, shape, [f"!{n}" if n.startswith("%pred") else n for n in names])
    if opcode.startswith("setp") and len(shape.results) == 1:
        yield _program(opcode, Operands((1, 1), shape.sources), names)
        yield _program(opcode, shape, names, target=f"{result(1)}|{result(1)}")
        if "pred" in shape.sources:
            for k in (0, 1):
                both = _program(opcode, Operands((1, 1), shape.sources), [*names[:-1], result(1, k)])
                yield Program(opcode, (f"mov.pred {result(1, k)}, {names[-1]};", *both.lines), both.results)
    if len(shape.sources) > 1 and len(set(shape.sources[:2])) == 1:
        yield _program(opcode, shape, [names[0], names[0], *names[2:]])
        yield (
            _program(opcode, shape, [names[0]] * len(names))
            if len(set(shape.sources)) == 1 < len(names) - 1
            else (_program(opcode, shape, [names[1], names[0], *names[2:]]))
        )
    yield from _overwritten(opcode, shape, names)


def _moved(opcode: str, shape: Operands, names: list[str], rng: Random) -> Program:
    """With constants that registers hold: ptxas propagates them."""
    lines, sources = [], list(names)
    for k, kind in enumerate(shape.sources):
        width = inputs.bits(kind)
        if kind != "pred" and rng.random() < 0.7:
            some = inputs.special_words(kind)
            sources[k] = result(width, k + 1) if width != shape.results[0] else result(width, (k + 2) % 4 or 3)
            lines.append(f"mov.b{width} {sources[k]}, {rng.choice(some):#x};")
    program = _program(opcode, shape, sources)
    return Program(opcode, (*lines, *program.lines), program.results)


def _overwritten(opcode: str, shape: Operands, names: list[str]) -> Iterator[Program]:
    """The result in the register of a source."""
    for k, kind in enumerate(shape.sources):
        bits = inputs.bits(kind)
        if bits == shape.results[0]:
            target = result(bits)
            copy = "mov.pred" if bits == 1 else f"mov.b{bits}"
            sources = [target if at == k else name for at, name in enumerate(names)]
            program = _program(opcode, shape, sources)
            yield Program(opcode, (f"{copy} {target}, {names[k]};", *program.lines), program.results)


def _wider(opcode: str, shape: Operands) -> Iterator[Program]:
    """cvt with registers wider than its types."""
    for bits in (16, 32, 64):
        for source in (16, 32, 64):
            if len(shape.sources) == 1 and (bits, source) != (shape.results[0], inputs.bits(shape.sources[0])):
                name = inputs.register(shape.sources[0] if source == inputs.bits(shape.sources[0]) else f"b{source}", 0)
                yield _program(opcode, Operands((bits,), shape.sources), [name])


def _carries(opcode: str, shape: Operands) -> Iterator[Program]:
    """With a carry before it, and one that is read after it."""
    names = [inputs.register(kind, k) for k, kind in enumerate(shape.sources)]
    bits = shape.results[0]
    yield from _with_carries(opcode, shape, _program(opcode, shape, names))
    for k in range(len(names)):
        own = _program(opcode, shape, [*names[:k], result(bits), *names[k + 1 :]])
        moved = Program(opcode, (f"mov.b{bits} {result(bits)}, {names[k]};", *own.lines), own.results)
        yield from _with_carries(opcode, shape, moved)


def _with_carries(opcode: str, shape: Operands, own: Program) -> Iterator[Program]:
    bits = shape.results[0]
    read = opcode.split(".")[0] in ("addc", "subc", "madc")
    befores = ("add.cc.u32 %o_32_1, %u32_2, %u32_3;", "sub.cc.u32 %o_32_1, %u32_2, %u32_3;") if read else ("",)
    afters = ("addc.u32 %o_32_2, 0, 0;", "subc.u32 %o_32_2, %u32_3, %u32_2;") if ".cc" in opcode else ("",)
    for before in befores:
        for after in afters:
            lines = tuple(line for line in (before, *own.lines, after) if line)
            yield Program(opcode, lines, ((result(bits), bits), *([("%o_32_2", 32)] if after else [])))


def by_hand() -> Iterator[Program]:
    """mov of parts and vectors."""
    b16, b32, b64 = ([inputs.register(f"b{n}", k) for k in range(4)] for n in (16, 32, 64))
    o16, o32 = ([result(n, k) for k in range(4)] for n in (16, 32))
    yield Program("mov.b32", (f"mov.b32 {{{o16[0]}, {o16[1]}}}, {b32[0]};",), ((o16[0], 16), (o16[1], 16)))
    yield Program("mov.b64", (f"mov.b64 {{{o32[0]}, {o32[1]}}}, {b64[0]};",), ((o32[0], 32), (o32[1], 32)))
    yield Program("mov.b64", (f"mov.b64 {{{', '.join(o16)}}}, {b64[0]};",), tuple((o, 16) for o in o16))
    yield Program("mov.b32", (f"mov.b32 {o32[0]}, {{{b16[0]}, {b16[1]}}};",), ((o32[0], 32),))
    yield Program("mov.b64", (f"mov.b64 {result(64)}, {{{b32[0]}, {b32[1]}}};",), ((result(64), 64),))
    yield Program("mov.b64", (f"mov.b64 {result(64)}, {{{', '.join(b16)}}};",), ((result(64), 64),))
    yield Program(
        "mov.b64",
        (f"mov.b64 {{{o32[0]}, _}}, {b64[0]};", f"mov.b64 {{_, {o32[1]}}}, {b64[0]};"),
        ((o32[0], 32), (o32[1], 32)),
    )
    for kind in ("u16", "s32", "f32", "b64", "f64"):
        yield Program(
            f"mov.{kind}",
            (f"mov.{kind} {result(inputs.bits(kind))}, {inputs.register(kind, 0)};",),
            ((result(inputs.bits(kind)), inputs.bits(kind)),),
        )
