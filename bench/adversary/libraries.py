"""Compares claims about library kernels with each other, without a GPU, under launches that are made up.

    python -m bench.adversary libraries FILE|FOLDER… [--arch sm_90] [--images 26] [--kernels 40] [--launches 2]

The kernels are chosen as `bench.specified` chooses them. Parameters are small numbers and pointers into one buffer of
small numbers, at random: a kernel that cannot make sense of them still runs, or does not, as its code says. What is
found with everything specified is compared with what is found with less (`agree.among_tellings`).

told      grid, block, the parameter buffer, and the contents of the memory that it points to
bytes     the same without the contents
shape     grid and block
block     the block alone
nothing   no launch
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np

from bench.adversary.agree import Clash, among_tellings, audited_under
from bench.specified import files, kernels_of, spread
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.artifacts.container import Image, NoDeviceCode, images, read_images
from ptxaudit.frontend.launch.buffers import Buffer
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.ir import nodes as ir

ADDRESS = 0x7F0000000000  # of the buffer
WORDS = 1 << 16
BLOCKS = (32, 64, 96, 128, 256, 512)
GRIDS = ((1,), (2,), (5,), (3, 2))
NUMBERS = (0, 1, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, 100, 128, 255, 256, 1000, 4096, 100_000)
BUDGET = 10.0


def launches(function: ir.Function, count: int) -> Iterator[dict[str, Launch | None]]:
    """For each of `count` launches of the kernel, what is specified under each telling."""
    for number in range(count):
        dice = random.Random(f"{function.name} {number}")
        block = function.block or (_block(function, dice),)
        grid = dice.choice(GRIDS)
        data = parameters(function, dice)
        dynamic = dice.choice((0, 1024, 16384, 49152)) if number else 16384
        with_shape = partial(Launch, function.name, grid=grid, block=block, dynamic_shared=dynamic)
        yield {
            "told": with_shape(param_bytes=data, memory=(_contents(dice),)),
            "bytes": with_shape(param_bytes=data),
            "shape": with_shape(),
            "block": Launch(function.name, block=block),
            "nothing": None,
        }


def _block(function: ir.Function, dice: random.Random) -> int:
    most = function.max_threads or 1024
    return (
        most if dice.random() < 0.5 and most < 1024 else dice.choice([one for one in BLOCKS if one <= most] or [most])
    )


def parameters(function: ir.Function, dice: random.Random) -> bytes:
    """A parameter buffer of small numbers and of pointers into the buffer."""
    size = max((one.offset + one.size for one in function.parameters), default=0)
    out = bytearray(size)
    for one in function.parameters:
        at, end = one.offset, one.offset + one.size
        while at < end:
            if at % 8 == 0 and end - at >= 8 and dice.random() < 0.6:
                value, width = ADDRESS + 256 * dice.randrange(WORDS * 4 // 2 // 256), 8
            else:
                value, width = dice.choice(NUMBERS), min(4, end - at)
            out[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "little")
            at += width
    return bytes(out)


def _contents(dice: random.Random) -> Buffer:
    made = np.random.default_rng(dice.randrange(1 << 30))
    match dice.randrange(4):
        case 0:
            words = np.zeros(WORDS, np.uint32)
        case 1:
            words = np.sort(made.integers(0, 5000, WORDS, np.uint32))
        case 2:
            words = made.integers(0, 64, WORDS, np.uint32)
        case _:
            words = made.integers(0, 1 << 32, WORDS, np.uint32)
    raw = words.view(np.uint8)
    raw.flags.writeable = False
    return Buffer(raw, "u32", words.shape, None, ADDRESS)


def run(
    paths: list[Path], arch: str, most_images: int, most: int, count: int, jobs: int
) -> Iterator[tuple[list[Clash], int]]:
    """(clashes, sites) of each image."""
    chosen = [
        (str(file), number)
        for path in paths
        for file in files(path)
        for number in spread(range(len(_images(str(file), arch))), most_images)
    ]
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(_image, arch, most, count), chosen)


@cache
def _images(file: str, arch: str) -> list[Image]:
    try:
        return [one for one in images(file) if one.kind == "cubin" and one.arch == arch]
    except NoDeviceCode:
        return []


def _image(arch: str, most: int, count: int, chosen: tuple[str, int]) -> tuple[list[Clash], int]:
    file, at = chosen
    ((image, data),) = read_images([_images(file, arch)[at]])
    try:
        found = list(kernels_of(image, data, most))
    except InputError as error:
        return [Clash(image.name, "not read", str(error)[:300], "")], 0
    out: list[Clash] = []
    sites = 0
    for module, function in found:
        for number, under in enumerate(launches(function, count)):
            results = {how: audited_under(module, function.name, launch, BUDGET) for how, launch in under.items()}
            where = f"{file} {image.name} {function.name} launch {number}: {_shown(under['told'])}"
            out += among_tellings(where, results)
            sites += len(results["told"].sites)
    return out, sites


def _shown(launch: Launch | None) -> str:
    assert launch is not None
    return f"grid {launch.grid} block {launch.block} parameters {zlib.crc32(launch.param_bytes or b''):08x}"
