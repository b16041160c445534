"""The chapter of docs/hardware.md about wmma: the requests of each access, and their counters."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from bench.fragments import BITS
from ptxaudit.frontend.ptx.fragments import requests
from ptxaudit.hardware.banks import classify

DATA = Path(__file__).resolve().parent.parent / "tests" / "data" / "fragments_sm90.json.gz"

# operand, shape, type, layout in which memory runs along the fragment, and the other one
SHOWN = (
    ("a", "m16n16k16", "f16"),
    ("b", "m16n16k16", "f16"),
    ("a", "m32n8k16", "bf16"),
    ("b", "m32n8k16", "bf16"),
    ("d", "m16n16k16", "f16"),
    ("d", "m16n16k16", "f32"),
    ("d", "m8n32k16", "f32"),
    ("a", "m16n16k16", "s8"),
    ("a", "m16n16k8", "tf32"),
    ("a", "m8n8k4", "f64"),
    ("d", "m8n8k4", "f64"),
    ("a", "m8n8k32", "s4"),
    ("a", "m8n8k128", "b1"),
)
GENERATIONS = {"ampere": "sm_80 and later", "turing": "sm_75", "volta": "sm_70, sm_72"}
SEVERAL = {("ampere", "turing"): "sm_75 and later", ("ampere", "turing", "volta"): "all"}
COUNTED = (
    "a_m16n16k16_f16_row",
    "b_m16n16k16_f16_row",
    "c_m16n16k16_f32_row",
    "d_m16n16k16_f32_row",
    "d_m16n16k16_f32_col",
    "d_m16n16k16_f16_row",
    "a_m16n16k16_s8_row",
    "a_m16n16k16_s8_col",
    "a_m16n16k8_tf32_row",
    "b_m16n16k8_tf32_row",
    "a_m8n8k4_f64_row",
    "d_m8n8k4_f64_row",
)
_WORDS = """
In PTX, `wmma.load` and `wmma.store` have one address and a stride, and do not specify which lane accesses which elements. ptxas decides this.
Releases 11.8, 12.9, 13.0 and 13.5 translate every access in the same way, for a stride in a register, a constant or no stride, with and without
optimisation, and for all architectures of a generation (`python -m bench.fragments compare`; tests/frontend/test_fragments.py).
`ptxaudit/frontend/ptx/fragments.py` has the table. An access makes one request for each machine instruction that it is compiled to. These differ
by a shift of whole rows, so that each costs the same.

In the table *along* means that memory runs along the inner axis of the product (a row-major, b column-major, c and d row-major; for m8n32k16 c and
d column-major), *across* the other layout. In the blocks of LDSM eight lanes give the addresses of eight rows. In all other blocks, on sm_75 and
later, lane l is at row l / 4 and column l % 4, or in layout *across* at column l / 4 and row l % 4; the column counts the consecutive elements of a
lane along the inner axis, as many as fill 4 bytes, or 2 of accumulators. Without `.shared` there is no LDSM: it is replaced by `LD` of 4 bytes per
lane, one for each block, with another cost (LDSM of one block serves 8 rows of 16 bytes, LD of 4 bytes the same bytes with 32 lanes).
"""


def chapter() -> Iterator[str]:
    document = json.loads(gzip.decompress(DATA.read_bytes()))
    yield "## Fragments: wmma.load and wmma.store"
    yield _WORDS
    yield "| fragment | generation | along | across |"
    yield "|---|---|---|---|"
    for operand, shape, kind in SHOWN:
        alike: dict[tuple[str, ...], list[str]] = {}
        for generation in GENERATIONS:
            made = tuple(
                _made(operand, shape, kind, layout, generation) for layout in _layouts(operand, shape, generation)
            )
            if any(made):
                alike.setdefault(made, []).append(generation)
        for (along, across), generations in alike.items():
            words = SEVERAL[tuple(generations)] if len(generations) > 1 else GENERATIONS[generations[0]]
            yield f"| {operand}, {shape}, {kind} | {words} | {along or '-'} | {across or '-'} |"
    yield ""
    launches = document["launches"]
    yield (
        f"`tests/data/{DATA.name}`: {document['device']}. {len(launches):,} launches of one warp and one access, for every"
        f" operand, shape, type and layout of sm_90, {sum('generic' in name for name, *_ in launches)} of them without"
        " `.shared`; all requests and wavefronts are as in the table and the rules above. Wavefronts counted"
        " for a whole access with `.shared`, by the stride in bytes:"
    )
    yield ""
    strides = sorted({_bytes(name, ldm) for name, ldm, *_ in launches if name in COUNTED})
    yield "| fragment | requests | " + " | ".join(map(str, strides)) + " |"
    yield "|---" * (len(strides) + 2) + "|"
    for name in COUNTED:
        found = {
            _bytes(name, ldm): (number, loads + stores) for of, ldm, number, loads, stores in launches if of == name
        }
        number = next(iter(found.values()))[0]
        yield (
            f"| {name.replace('_', ' ')} | {number} | "
            + " | ".join(str(found[s][1]) if s in found else "" for s in strides)
            + " |"
        )
    yield ""
    yield (
        "For the other generations the table holds for the code that ptxas generates, and the cost of each instruction"
        " *by rule*. The code for sm_70 and sm_72 is in `tests/data/fragments_sm70.txt`."
    )
    yield ""


def _layouts(operand: str, shape: str, generation: str) -> tuple[str, str]:
    """(along, across)"""
    along = "col" if operand == "b" or operand in "cd" and shape == "m8n32k16" and generation != "volta" else "row"
    return along, "row" if along == "col" else "col"


def _made(operand: str, shape: str, kind: str, layout: str, generation: str) -> str:
    """The instructions of an access, like "4 STS.64"."""
    if kind in ("s4", "b1") and layout != ("col" if operand == "b" else "row"):
        return ""
    made = requests(
        f"wmma.{'store' if operand == 'd' else 'load'}.{operand}.sync.aligned.{layout}.{shape}.shared.{kind}",
        generation,
    )
    return f"{len(made.starts)} {classify(made.opcode).sass}" if made else ""


def _bytes(name: str, ldm: int) -> int:
    return ldm * BITS[name.split("_")[2]] // 8
