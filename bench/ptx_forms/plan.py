"""Chooses programs and assembles them, to be executed by `measure`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from random import Random

import numpy as np

from bench.ptx_forms import inputs, kernel, opcodes
from bench.ptx_forms.programs import Program, by_hand, programs
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.ptx.lift import meaning

PLAN, INPUTS, AT_ONCE = "plan.json", "inputs.npy", 250
LEVELS = ("O3", "O0")
LARGE = 400  # opcodes of one base name: of more, each has some of the variants


def chosen(seed: int) -> list[Program]:
    """All programs that ptxas accepts."""
    rng = Random(seed)
    first = kernel.accepted([next(programs(text, Random(1))) for text in opcodes.modelled()])
    by_base: dict[str, list[str]] = defaultdict(list)
    for program in first:
        by_base[program.opcode.partition(".")[0]].append(program.opcode)
    made = list(by_hand())
    for several in by_base.values():
        for text in several:
            own = list(programs(text, rng))
            most = len(own) if len(several) < LARGE else 3
            made += [own[0], *rng.sample(own[1:], min(most, len(own) - 1))]
    return kernel.accepted(list(dict.fromkeys(made)))


def write(folder: Path, seed: int) -> int:
    """Writes the plan, and returns the number of its programs."""
    folder.mkdir(parents=True, exist_ok=True)
    all_of_them = chosen(seed)
    Random(seed).shuffle(all_of_them)  # expensive ones in different modules
    groups = [all_of_them[k : k + AT_ONCE] for k in range(0, len(all_of_them), AT_ONCE)]
    values = inputs.values(seed)
    np.save(folder / INPUTS, np.stack([values[register] for register in kernel.SLOTS]))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda numbered: _assembled(folder, *numbered), enumerate(groups)))
    (folder / PLAN).write_text(json.dumps([[asdict(p) for p in group] for group in groups]))
    return len(all_of_them)


def _assembled(folder: Path, number: int, group: Sequence[Program]) -> None:
    text, _ = kernel.source(group)
    for level in LEVELS:
        (folder / f"{level}-{number}.cubin").write_bytes(assemble(text, kernel.ARCH, (f"-{level}",)).cubin)


def read(folder: Path) -> list[list[Program]]:
    """The programs of each kernel."""
    return [[Program.of(p) for p in group] for group in json.loads((folder / PLAN).read_text())]


def unmodelled() -> list[str]:
    """The opcodes that ptxas accepts and to which no row gives a meaning."""
    bases = [base for base in (*opcodes.ROWS, *opcodes.UNMODELLED) if base not in opcodes.LEFT_OUT]
    texts = dict.fromkeys(text for base in bases for text in opcodes.candidates(base))
    open_ = []
    for text in texts:
        if meaning(text) is None:
            with suppress(LookupError):  # types of which no operands are known
                open_.append(next(programs(text, Random(1))))
    return [program.opcode for program in kernel.accepted(open_, 2000)]
