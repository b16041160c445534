"""The Triton kernels to compile: operations by type, tile, warps and stages.

    python -m bench.languages.triton_cases FOLDER

Seeded: the same each time with the same Triton. Needs Triton, no GPU.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from bench.languages import triton_kernels as kernels
from bench.languages.plan import Buffer, Compiled, write

SEED = 12
FIRST_SEED = 20000  # of the plan's numbers, after those of generated kernels
TARGET = GPUTarget("cuda", 90, 32)
NUMPY = {
    "fp64": "float64",
    "fp32": "float32",
    "fp16": "float16",
    "bf16": "uint16",
    "fp8e5": "uint8",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
}
ALIGNED = 16  # pointers are multiples of it, and numbers if the kernel may know


@dataclass(frozen=True)
class Case:
    """One kernel. types: of its arguments, "*fp16" for a buffer of them; values: of the arguments that are numbers."""

    kernel: Any
    types: dict[str, str]
    constants: dict[str, Any]
    warps: int
    grid: tuple[int, int, int] = (1, 1, 1)
    stages: int = 1
    values: dict[str, int | float] = field(default_factory=dict)
    aligned: bool = True


def pointers(type_: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, f"*{type_}")


def numbers(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "i32")


def products(random: Random) -> Iterator[Case]:
    tiles = [(16, 16, 32, 1, 2), (32, 32, 32, 2, 3), (64, 64, 32, 4, 3), (64, 128, 32, 4, 2), (128, 64, 32, 8, 3)]
    tiles += [(32, 64, 64, 4, 4), (16, 64, 128, 4, 1), (128, 128, 32, 8, 2), (64, 32, 32, 2, 5)]
    for type_, out, sums, precision in (
        ("fp16", "fp16", "fp32", "tf32"),
        ("fp16", "fp16", "fp16", "tf32"),
        ("bf16", "bf16", "fp32", "tf32"),
        ("fp32", "fp32", "fp32", "tf32"),
        ("fp32", "fp32", "fp32", "tf32x3"),
        ("fp32", "fp32", "fp32", "ieee"),
        ("fp64", "fp64", "fp64", "ieee"),
        ("fp8e5", "fp16", "fp32", "tf32"),
        ("i8", "i32", "i32", "tf32"),
    ):
        for m, n, k, warps, stages in random.sample(tiles, 4):
            if type_ == "fp64" and m * n > 4096:
                continue  # its operands need more shared memory than there is
            turned = {"TA": random.random() < 0.3, "TB": random.random() < 0.4}
            after = random.choice((0, 3) if type_ == "i8" else (0, 0, 1, 2, 3))
            accumulated = {"fp16": tl.float16, "fp32": tl.float32, "fp64": tl.float64, "i32": tl.int32}[sums]
            size = max(m, n)
            yield Case(
                kernels.matmul,
                pointers(type_, "a", "b") | pointers(out, "c") | numbers("n", "k", "sa", "sb"),
                {"M": m, "N": n, "K": k, **turned, "EPI": after, "PREC": precision, "ACC": accumulated},
                warps,
                (size // m, size // n, 1),
                stages,
                {"n": size, "k": k, "sa": size if turned["TA"] else k, "sb": k if turned["TB"] else size},
            )


def parts_of_products(_: Random) -> Iterator[Case]:
    for m, n, k, warps, *whole in (
        (64, 64, 32, 4, 100, 70, 50),
        (32, 32, 16, 2, 33, 47, 40),
        (128, 64, 32, 4, 128, 64, 31),
        (16, 128, 64, 8, 17, 130, 96),
    ):
        yield Case(
            kernels.matmul_masked,
            pointers("fp16", "a", "b", "c") | numbers("m", "n", "k"),
            {"M": m, "N": n, "K": k},
            warps,
            (-(-whole[0] // m), -(-whole[1] // n), 1),
            3,
            dict(zip("mnk", whole, strict=True)),
            aligned=False,
        )
    for m, n, k, warps in ((16, 64, 64, 4), (64, 64, 32, 4), (32, 32, 32, 2)):
        yield Case(
            kernels.moe,
            pointers("fp16", "x") | pointers("i32", "ids") | pointers("fp16", "w", "y") | numbers("n", "k"),
            {"E": 4, "M": m, "N": n, "K": k},
            warps,
            (2, 1, 1),
            3,
            {"n": n, "k": 64},
        )


def attentions(_: Random) -> Iterator[Case]:
    for m, n, d, warps, causal, type_ in (
        (64, 64, 64, 4, False, "fp16"),
        (128, 64, 64, 8, True, "fp16"),
        (64, 32, 128, 4, True, "bf16"),
        (16, 32, 32, 1, False, "fp16"),
        (128, 128, 64, 8, False, "bf16"),
        (32, 16, 64, 2, True, "fp16"),
        (64, 64, 32, 4, True, "fp32"),
    ):
        yield Case(
            kernels.attention,
            pointers(type_, "q", "k", "v", "out") | {"length": "i32", "scale": "fp32"},
            {"M": m, "N": n, "D": d, "CAUSAL": causal},
            warps,
            (2 if m < 128 else 1, 1, 1),
            3,
            {"length": 128, "scale": 0.125},
        )


SHAPES = [(16, 64, 1), (64, 16, 4), (32, 128, 4), (128, 32, 8), (512, 4, 8), (64, 64, 2), (64, 64, 16)]


def reductions(random: Random) -> Iterator[Case]:
    for type_ in ("fp64", "fp32", "fp16", "i64", "i32", "i8"):
        for m, n, warps in random.sample([*SHAPES, (4, 512, 4), (8, 256, 16)], 5):
            chosen = {"M": m, "N": n, "AX": random.randrange(2), "OP": random.randrange(5)}
            yield Case(kernels.reduce2, pointers(type_, "x", "y") | numbers("n"), chosen, warps, values={"n": n})
    for a, b, c, warps in ((4, 16, 32, 4), (16, 8, 8, 2), (32, 4, 16, 8), (2, 64, 8, 4), (8, 8, 64, 1)):
        for type_ in random.sample(["fp32", "fp16", "i32", "i64"], 2):
            constants = {"A": a, "B": b, "C": c, "AX": random.randrange(3)}
            yield Case(kernels.reduce3, pointers(type_, "x", "y"), constants, warps)
    for m, n, warps in ((64, 32, 4), (16, 64, 2), (128, 16, 8)):
        types = pointers("fp32", "x", "y") | numbers("n")
        yield Case(kernels.seqreduce, types, {"M": m, "N": n}, warps, values={"n": 64})
    for n, block, warps in ((1000, 1024, 4), (777, 1024, 8), (4096, 4096, 16), (300, 512, 1)):
        yield Case(
            kernels.layernorm,
            pointers("fp32", "x", "w", "b", "y") | {"n": "i32", "eps": "fp32"},
            {"B": block},
            warps,
            (3, 1, 1),
            values={"n": n, "eps": 1e-5},
            aligned=False,
        )


def scans(random: Random) -> Iterator[Case]:
    for type_ in ("fp32", "fp16", "i64", "i32"):
        for m, n, warps in random.sample([*SHAPES, (1, 2048, 4), (2, 1024, 2)], 4):
            axis = random.randrange(2) if m > 1 else 1
            chosen = {"M": m, "N": n, "AX": axis, "REV": random.random() < 0.4, "OP": random.randrange(3)}
            yield Case(kernels.scan2, pointers(type_, "x", "y") | numbers("n"), chosen, warps, values={"n": n})


def orders(random: Random) -> Iterator[Case]:
    rows = [(1, 512, 4), (4, 128, 4), (16, 64, 2), (2, 1024, 8), (64, 16, 4), (1, 256, 1)]
    for type_ in ("fp32", "i32", "i16", "i8"):
        for m, n, warps in random.sample(rows, 3):
            yield Case(kernels.sort1, pointers(type_, "x", "y"), {"M": m, "N": n, "OP": random.randrange(3)}, warps)
    for block, warps in ((256, 4), (1024, 8)):
        types = pointers("i32", "x", "y") | numbers("n")
        yield Case(kernels.while_scan, types, {"B": block}, warps, values={"n": 500})


def lookups(random: Random) -> Iterator[Case]:
    tables = [(64, 32, 16, 0, 4), (128, 16, 64, 0, 8), (32, 64, 64, 1, 2), (16, 256, 128, 1, 4), (8, 8, 8, 0, 1)]
    tables += [(256, 16, 256, 0, 4), (4, 512, 512, 1, 8)]
    for type_ in ("fp32", "fp16", "i64", "i8"):
        for m, n, k, axis, warps in random.sample(tables, 3):
            types = pointers(type_, "x") | pointers("i32", "i") | pointers(type_, "y")
            yield Case(kernels.gather2, types, {"M": m, "N": n, "K": k, "AX": axis}, warps)
    for block, bins, masked, warps in (
        (1024, 64, False, 4),
        (2048, 256, True, 8),
        (512, 16, True, 1),
        (4096, 1024, False, 8),
        (256, 8, False, 2),
        (1024, 32, True, 16),
    ):
        constants = {"B": block, "BINS": bins, "MASK": masked}
        types = pointers("i32", "x", "y") | numbers("n")
        yield Case(kernels.hist, types, constants, warps, (2, 1, 1), values={"n": block + block // 3})


def layouts(random: Random) -> Iterator[Case]:
    for type_ in ("fp32", "fp16", "i64", "i8"):
        for operation in range(6):
            m, n = random.choice([(16, 64), (64, 64), (128, 32), (32, 128), (64, 16)])
            constants = {"M": m, "N": n, "OP": operation}
            yield Case(kernels.shuffle_shapes, pointers(type_, "x", "y"), constants, random.choice([1, 2, 4, 8]))
    for m, n, warps, type_ in ((64, 64, 4, "fp16"), (32, 64, 2, "fp32"), (128, 32, 8, "fp16"), (64, 128, 4, "i8")):
        yield Case(
            kernels.desc_copy,
            pointers(type_, "x", "y") | numbers("n", "m"),
            {"M": m, "N": n},
            warps,
            stages=2,
            values={"n": m, "m": 128},
        )
    for m, n, k, warps, apart in ((64, 64, 64, 4, 0), (128, 128, 64, 8, 0), (128, 64, 64, 4, 1), (64, 128, 32, 4, 1)):
        yield Case(
            kernels.desc_matmul,
            pointers("fp16", "a", "b", "c") | numbers("n", "k"),
            {"M": m, "N": n, "K": k, "WS": bool(apart)},
            warps,
            stages=3,
            values={"n": max(m, n), "k": 128},
        )


def cases() -> Iterator[Case]:
    random = Random(SEED)
    for group in (products, parts_of_products, attentions, reductions, scans, orders, lookups, layouts):
        yield from group(random)


def compile_case(number: int, case: Case) -> Compiled:
    known = {
        (i,): [["tt.divisibility", ALIGNED]]
        for i, (name, type_) in enumerate(case.types.items())
        if case.aligned and (type_.startswith("*") or case.values[name] % ALIGNED == 0)
    }
    source = ASTSource(case.kernel, case.types | dict.fromkeys(case.constants, "constexpr"), case.constants, known)
    made = triton.compile(source, target=TARGET, options={"num_warps": case.warps, "num_stages": case.stages})
    ptx = made.asm["ptx"]
    taken = re.search(r"\.entry [^(]*\((.*?)\)", ptx, re.DOTALL)[1].count(".param")
    threads = int(re.search(r"\.(?:req|max)ntid (\d+)", ptx)[1])
    return Compiled(
        f"triton{number:03}_{case.kernel.__name__}",
        case.kernel.__name__,
        made.asm["cubin"],
        ptx,
        made.metadata.name,
        case.grid,
        (threads, 1, 1),
        made.metadata.shared,
        tuple(Buffer(NUMPY[type_[1:]]) if type_[0] == "*" else case.values[name] for name, type_ in case.types.items()),
        f"triton {triton.__version__}",
        taken - len(case.types),
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), (compile_case(i, one) for i, one in enumerate(cases())), FIRST_SEED)
