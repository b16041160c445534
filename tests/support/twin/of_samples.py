"""The kernels of `samples/` through the twin: `sample(folder)` compares each under its first launch, in few blocks."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from paths import SAMPLES

from ptxaudit.frontend.compile import nvrtc
from ptxaudit.frontend.launch.launch_file import read_launches
from ptxaudit.frontend.launch.matching import match
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.ir import graph
from ptxaudit.ir.link import link

from . import compare
from .run import TooLong


def folders() -> list[Path]:
    return [p for p in sorted(SAMPLES.iterdir()) if (p / f"{p.name}.cu").is_file()]


def sample(folder: Path, blocks: int = 2, most_steps: int = 60_000) -> tuple[compare.Verdict, list[str]]:
    """Compares a sample's kernels. blocks: limit in each dimension of the grid.

    Returns (the verdict, the kernels that were too long: more than most_steps warp instructions in the twin, or more
    than a quarter as many instructions in the text).
    """
    arch = "sm_90a" if "wgmma" in folder.name else "sm_90"
    text = nvrtc.compile_source(str(folder / f"{folder.name}.cu"), arch=arch).ptx
    module = lift_module(parse_module(text))
    launches = read_launches(folder / "launch.toml")
    total, too_long = compare.Verdict(), []
    for kernel in module.kernels():
        for launch in match(launches, kernel.name)[:1]:
            if not launch.cluster:
                launch = dataclasses.replace(launch, grid=tuple(min(n, blocks) for n in launch.grid))
            function = link(module, kernel)
            if len(function.instructions) > most_steps // 4:
                too_long.append(kernel.name)
                continue
            try:
                compare.launched(
                    text, function, graph.build(function), launch, 1, total, needed_only=True, most_steps=most_steps
                )
            except TooLong:
                too_long.append(kernel.name)
    return total, too_long
