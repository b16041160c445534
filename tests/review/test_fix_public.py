"""Conflicts that people asked about in public, each repaired; and another tool's suggestions for kernels of
`fix_kernels`, evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from fix_kernels import STRUCTURES, VECTORS, ldmatrix, transpose
from paths import ROOT

from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.launch_file import read_launches
from ptxaudit.frontend.options import Options
from ptxaudit.hardware import machines
from ptxaudit.pipeline.collect import Part
from ptxaudit.pipeline.examine import examine
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.review.fix.arrays import arrays_of
from ptxaudit.review.fix.cost import Costs
from ptxaudit.review.fix.layouts import SAME
from ptxaudit.review.fix.run import fix

FOLDER = ROOT / "bench" / "repairs" / "public_cases"

# kernel: (current excess, the best repair, CuTe's name of another repair)
PUBLIC = {
    "ldmatrix_m_major": (1792, "pad the row to 136 halves", "Swizzle<3, 3, 4>"),
    "swizzled_by_wrong_bits": (128, "swizzle: tile[r][c ^ ((r << 1) & 8)]", "Swizzle<1, 3, 4>"),
    "padded_in_vain": (896, "rows of 34 floats instead of 32", "Swizzle<4, 0, 4>"),
    "handed_over": (7168, "exchange the dimensions: rows[c][r]", "Swizzle<3, 0, 4>"),
}


@pytest.mark.parametrize("kernel", PUBLIC)
def test_public_case_is_repaired_to_its_optimum(kernel) -> None:
    excess, best, swizzle = PUBLIC[kernel]
    launches = [launch for launch in read_launches(FOLDER / "launch.toml") if kernel in launch.kernel]
    (array,) = fix([str(FOLDER / "public_cases.cu")], Options(launches=launches, kernels=(f"*{kernel}*",))).arrays
    assert (
        array.excess == excess
        and array.repairs[0].summary == best
        and swizzle in [repair.cute for repair in array.repairs]
    )
    assert all(repair.excess == 0 and repair.compiled and repair.best_of_all for repair in array.repairs)


def test_padding_in_vain_is_named() -> None:
    launches = [launch for launch in read_launches(FOLDER / "launch.toml") if "vain" in launch.kernel]
    (array,) = fix([str(FOLDER / "public_cases.cu")], Options(launches=launches, kernels=("*vain*",))).arrays
    assert array.hints[0].startswith(
        "declared with rows of 17 elements, indexed with rows of 16: the padding of block is unused"
    )


# --- another tool's suggestions -----------------------------------------------------------------


@dataclass(frozen=True)
class Suggested:
    """A map of offsets as cuxray 0.6.0 prints it."""

    map: Callable[[np.ndarray], np.ndarray]
    kind: str = "suggested"
    period: int = 1 << 14

    def place(self, offsets: np.ndarray) -> np.ndarray:
        return self.map(np.asarray(offsets, np.int64))

    def whole(self, width: int, size: int) -> bool:
        """Whether vectors of `width` bytes stay whole and aligned."""
        starts = np.arange(0, size, width, dtype=np.int64)
        return not (self.place(starts) % width).any() and all(
            (self.place(starts + i) == self.place(starts) + i).all() for i in range(width)
        )


def bytes_swizzled(shift: int, mask: int) -> Suggested:
    return Suggested(lambda x: x ^ (x >> shift & mask))


def words_swizzled(shift: int, mask: int) -> Suggested:
    return Suggested(lambda x: (x // 4 ^ (x // 4 >> shift & mask)) * 4 + x % 4)


def padded(row: int, to: int) -> Suggested:
    return Suggested(lambda x: x + x // row * (to - row), period=row * 128)


def examined(source: str, launch: Launch | None, tmp_path: Path) -> Examined:
    file = tmp_path / "k.cu"
    file.write_text(source)
    (kernel,) = examine([str(file)], Options(launches=[launch], keep=True, isa="sass"), Part())
    return kernel


COLUMNS, PAIRS = Launch("columns", grid=1, block=256), Launch("pairs", grid=3, block=256)
SUGGESTIONS = {
    # `solve` and `report`: kernel, suggestion, whether vectors stay whole, remaining excess
    "float 32 x 32": (transpose("float", 32, 32), bytes_swizzled(5, 0x7C), True, 0),
    "float 16 x 16": (transpose("float", 16, 16), bytes_swizzled(4, 0x38), True, 0),
    "double 16 x 16": (transpose("double", 16, 16), bytes_swizzled(4, 0x78), True, 0),
    "ldmatrix, 64 bytes": (ldmatrix(32, False), bytes_swizzled(3, 0x30), True, 0),
    "ldmatrix, 64 bytes, an alternative": (ldmatrix(32, False), bytes_swizzled(2, 0x70), True, 0),
    "columns filled by float4, swizzled": ((VECTORS, COLUMNS), words_swizzled(5, 31), False, None),
    "columns filled by float4, padded": ((VECTORS, COLUMNS), padded(128, 132), False, None),
    "columns filled by float4, the stores' own": ((VECTORS, COLUMNS), bytes_swizzled(1, 0x10), True, 992),
    "columns filled by float4, the loads' own": ((VECTORS, COLUMNS), bytes_swizzled(5, 0x7C), False, None),
    "structures": ((STRUCTURES, PAIRS), words_swizzled(5, 7), False, None),
}


@pytest.mark.parametrize("case", SUGGESTIONS)
def test_suggestions_of_another_tool_have_the_documented_costs(case, tmp_path) -> None:
    """docs/fixes.md has the table. Where a vector is split, the access faults or reads other words."""
    (source, launch), layout, whole, left = SUGGESTIONS[case]
    kernel = examined(source, launch, tmp_path)
    array = max(arrays_of(kernel), key=lambda one: len(one.uses))
    assert not array.refused
    width = max(use.access.width or 1 for use in array.uses)
    assert layout.whole(width, array.size or 4096) == whole
    if left is not None:
        costs = Costs(machines.get("sm_90"), array.uses, array.align)
        assert costs.total(SAME).excess > 0 and costs.total(layout).excess == left
