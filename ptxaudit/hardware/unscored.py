"""What readers of opcodes have in common: why an access is listed without a figure, and warpgroup products."""

from __future__ import annotations

import re
from typing import Literal

from ptxaudit.base.errors import InputError
from ptxaudit.ir.access import Access


def unknown(opcode: str, why: str, hint: str = "") -> InputError:
    """The error for an opcode that cannot be classified."""
    return InputError(f"opcode {opcode!r}: {why}", hint)


UNSCORED = {
    "bulk copy": (
        "a bulk copy is issued once and moved by the copy engine: no wavefront counter sees it. Timed on an H200, a row"
        " of a box takes a cycle on its way in, or one for each 100 bytes, and one for each 32 bytes on its way out,"
        " whatever the swizzle mode"
    ),
    "wgmma": (
        "the tensor core reads the operands of a warpgroup's matrix product: the counter charges their bytes / 128, N/4"
        " for B and 16 for an A in shared memory, whatever the swizzle mode, majors and strides, and in time layouts do"
        " not differ either (measured on an H200)"
    ),
    "tcgen05": "tensor-core operands and copies of sm_100 read shared memory through descriptors: not measured",
    "mbarrier": (
        "no wavefront counter sees arrivals and tests. Timed on an H200, lanes on one barrier are served together, and "
        "lanes on several one barrier after the other, some 11 cycles each"
    ),
    "mbarrier.init": (
        "counted with shuffles and the like (op_misc), not with loads and stores: 1 for each barrier that the lanes"
        " initialise, whatever its bank. Timed on an H200, some 52 cycles each"
    ),
    "mbarrier.noComplete": (
        "of an arrival that completes no phase, or of what the compiler writes behind it, an H200 counts 1 with"
        " shuffles and the like (op_misc), whatever the lanes and barriers: not measured apart"
    ),
    "remote": (
        "the address may lie in another block of the cluster, where no wavefront counter sees loads and stores and an"
        " atomic counts 1: an H200 moves the 32-byte sectors that the lanes touch, whatever their banks. In the block's"
        " own memory it costs what .shared does"
    ),
    "async store": (
        "sent through the cluster network, also to the block's own memory: no wavefront counter sees it. Timed on an"
        " H200, 10 cycles a warp for consecutive words, up to 48 for words 16 bytes or more apart, 123 for one word"
    ),
    "multimem": "multimem addresses memory of several GPUs, not shared memory banks",
    "wmma": (
        "one address of a whole fragment, of which ptxas makes LDSM, LDS or STS by shape, type, layout and generation:"
        " `audit` does so, too, and scores these"
    ),
    "bulk store": "a bulk store of zeros is issued once: not measured",
    "other": "written by hardware other than a warp's load-store path: not measured",
}
"""Reasons why an access is listed without a figure, by the report's word."""

# what the name of an opcode has in it -> the row of `UNSCORED` that tells more than its word: such are counted
_FORMS = {
    "mbarrier.init": "mbarrier.init",
    "SYNCS.EXCH": "mbarrier.init",
    "noComplete": "mbarrier.noComplete",
    "TMASK": "mbarrier.noComplete",
}

# What a launch of nothing else leaves the wavefront counters at, as far as it was measured (tests/data: timing_sm90,
# tensor_sm90): arrivals, tests and byte counts of barriers, here and in another block of the cluster; copies of bytes
# and of tiles of a tensor, and sums of them.
_UNCOUNTED = {
    "ptx": re.compile(
        r"mbarrier\.[\w.:]+|cp\.async\.mbarrier\.arrive[\w.:]+"
        r"|cp\.async\.bulk(\.tensor\.[2-5]d)?(\.shared::(cta|cluster)\.global(\.tile)?\.mbarrier::complete_tx::bytes"
        r"|\.global\.shared::cta(\.tile)?\.bulk_group)(\.L2::cache_hint)?"
        r"|cp\.reduce\.async\.bulk(\.tensor\.2d\.global\.shared::cta\.add(\.tile)?\.bulk_group"
        r"|\.global\.shared::cta\.bulk_group\.add\.u32)"
    ),
    "sass": re.compile(
        r"SYNCS\.(ARRIVE|PHASECHK)\.[\w.]+|ARRIVES\.LDGSTSBAR[\w.]*|UBLKCP\.(S\.G|G\.S)|UBLKRED\.G\.S\.ADD"
        r"|UTMA(LDG|STG)\.[2-5]D|UTMAREDG\.2D\.ADD"
    ),
}


def listed(opcode: str, name: str, isa: Literal["ptx", "sass"], word: str) -> Access:
    """An access that is listed by the report's word. name: the opcode's first word."""
    if word == "wgmma":
        return product(name if isa == "ptx" else opcode, isa)
    form = next((row for part, row in _FORMS.items() if part in name), word)
    if form != word or not _UNCOUNTED[isa].fullmatch(name):
        return Access(opcode, isa, word, unscored=UNSCORED[form])
    return Access(opcode, isa, word, sass=name if isa == "sass" else "", charge=(0, 0), unscored=UNSCORED[word])


MEASURED = frozenset(("bulk copy", "wgmma", "mbarrier", "remote", "async store"))  # otherwise than lane by lane

_PRODUCT = re.compile(r"\.m64n(\d+)k\d+\.|GMMA\.64x(\d+)x\d+\b")  # not of sparse ones, whose A has half the bytes


def product(opcode: str, isa: Literal["ptx", "sass"]) -> Access:
    """A wgmma: listed, with what the counter charges a warpgroup where the opcode tells N: (A in registers, A in shared
    memory).
    """
    found = None if ".sp" in opcode.lower() else _PRODUCT.search(opcode)
    if found is None:
        return Access(opcode, isa, "wgmma", unscored=UNSCORED["wgmma"])
    b = int(found[1] or found[2]) * _OPERAND_BYTES // LINE_BYTES
    a = _PRODUCT_ROWS * _OPERAND_BYTES // LINE_BYTES
    sass = opcode if isa == "sass" else _machine_product(opcode)
    return Access(
        opcode,
        isa,
        "wgmma",
        sass=sass,
        charge=(b, a + b),
        unscored=(
            f"the counter charges {b} wavefronts a warpgroup for B, and {a} more for A where it comes through a"
            " descriptor, whatever the swizzle mode, majors and strides; in time layouts do not differ either"
            " (measured on an H200)"
        ),
    )


_WGMMA = re.compile(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.f32\.(\w+)\.(\w+)$")
_GMMA_TYPES = {
    ("f16", "f16"): ("HGMMA", ""),
    ("bf16", "bf16"): ("HGMMA", ".BF16"),
    ("tf32", "tf32"): ("HGMMA", ".TF32"),
    ("e4m3", "e4m3"): ("QGMMA", ".E4M3.E4M3"),
}


def _machine_product(opcode: str) -> str:
    """The machine instruction of a wgmma with sums of 32 bits, "" of another one (read off ptxas 13.5; a test compiles
    them).
    """
    found = _WGMMA.match(opcode)
    if found is None:
        return ""
    head, types = _GMMA_TYPES.get((found[3], found[4]), ("", ""))
    return f"{head}.64x{found[1]}x{found[2]}.F32{types}" if head else ""


_OPERAND_BYTES = 32  # of a row of A and of a column of B in one wgmma, of every type
_PRODUCT_ROWS = 64
LINE_BYTES = 128  # of all banks together
