"""Float operations compared with the results of an H100: 484 operations, as PTX and as the machine code that ptxas
emits.

Where the engine knows a result, it equals the GPU's bit for bit; the unknown ones are listed here.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from paths import DATA
from stored import stored

from bench.special_functions import data, operations
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.frontend.sass.lift import lift_cubin
from ptxaudit.ir.link import link

MEASURED = np.load(DATA / data.NAME)
EVERY = operations.every()
PARTS = 4
# opcodes with unknown results in machine code and in PTX, as regular expressions
OPEN_CODE = (r"(add|mul|fma)\..*ftz.*f16", r"(min|max)\.xorsign.*", r"cvt\.rn\.relu.*", r"tanh.*")
OPEN_PTX = (
    r"(min|max)\.xorsign.*",
    r"(abs|neg)\.ftz.*",
    r"cvt\..*\.[us]8\.f(16|64)",
    r"cvt\..*sat\..*f64.*",
    r"cvt\.rn\.relu.*",
    r"(sin|cos|tanh)\..*",
    r"(rsqrt|rcp)\..*approx.*f64",
    r"testp.*",
)
# PTX: where candidates agree, or no operand is a signalling NaN
PARTLY = (
    r"(min|max)\..*",
    r"(div|rcp|sqrt|rsqrt|ex2|lg2)\.(approx|full).*",
    r"cvt\.r.\.ftz\.f32\.f64",
)


@cache
def functions(kind: str):
    text = operations.module(EVERY, "sm_90")
    if kind == "ptx":
        return lift_module(parse_module(text))
    return lift_cubin(assemble(text, "sm_90").cubin, "operations.cubin")


def evaluated(kind: str, at: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(results, where they are known, the GPU's)."""
    operation = EVERY[at]
    expected = MEASURED[f"operations/{operation.ptx}"].astype(np.uint64)
    count = len(expected)
    threads = -(-count // 32) * 32
    names = [kind if f"operands/{kind}" in MEASURED.files else "i" for kind in operation.sources]
    given = np.zeros((len(names), threads), np.uint64)
    for k, name in enumerate(names):
        given[k, :count] = MEASURED[f"operands/{name}"][k][:count]
    module = functions(kind)
    launch = Launch(f"op{at}", grid=1, block=threads, params=[np.zeros(threads, np.uint64), given.reshape(-1), threads])
    numbers, known = stored(link(module, module.functions[f"op{at}"]), launch, threads)
    return numbers[:count], known[:count], expected


def lost(ptx: str, results: np.ndarray) -> np.ndarray:
    """Where a result, or one of two halves, is NaN."""
    kind = next((m for m in ptx.split(".") if m in ("f16", "f16x2", "f32", "f64")), "")
    if not kind or ptx.startswith("set"):
        return np.zeros(len(results), bool)
    parts = results.astype({"f16": "<u2", "f16x2": "<u4", "f32": "<u4", "f64": "<u8"}[kind])
    floats = parts.view({"f16": "<f2", "f16x2": "<f2", "f32": "<f4", "f64": "<f8"}[kind])
    return np.isnan(floats.reshape(len(results), -1)).any(axis=1)


def is_open(ptx: str, patterns: tuple[str, ...]) -> bool:
    return any(re.fullmatch(pattern, ptx) for pattern in patterns)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", ["machine code", "ptx"])
def test_float_results_match_the_gpu(kind, part):
    for at in range(part, len(EVERY), PARTS):
        ptx = EVERY[at].ptx
        numbers, known, expected = evaluated(kind, at)
        wrong = np.flatnonzero(known & (numbers != expected))
        assert not len(wrong), f"{ptx}: {[(hex(numbers[k]), hex(expected[k])) for k in wrong[:3]]}"
        if is_open(ptx, OPEN_CODE if kind == "machine code" else OPEN_PTX):
            assert not known.any(), f"{ptx} is known"
        elif kind == "ptx" and is_open(ptx, PARTLY):
            assert known.any(), f"{ptx}: nothing is known"
        else:
            known |= lost(ptx, expected) & (kind == "ptx")  # which NaN results depends on ptxas
            assert known.all(), f"{ptx}: {np.count_nonzero(~known)} are not known"
