"""Shared by the opcode decoders: why an access is listed without a figure, and warpgroup matrix products."""

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
        "a bulk copy is issued once and executed by the copy engine: no wavefront counter includes it. On an H200, each"
        " row of a box takes one cycle per 100 bytes to shared memory, at least one, and one cycle per 32 bytes from"
        " shared memory, in every swizzle mode"
    ),
    "bulk copy, other form": (
        "a bulk copy is issued once and executed by the copy engine, not lane by lane; whether a wavefront counter"
        " counts this form was not measured"
    ),
    "wgmma": (
        "the tensor core reads the operands of a warpgroup's matrix product: the counter has their bytes / 128, N/4"
        " for B and 16 for an A in shared memory, for every swizzle mode, major and stride; the time does not depend on"
        " the layout either (measured on an H200)"
    ),
    "tcgen05": "the tensor-core operands and copies of sm_100 are read through descriptors: not measured",
    "mbarrier": (
        "no wavefront counter includes arrivals and tests. On an H200, lanes on one barrier are served together, and"
        " several barriers one after the other, in some 11 cycles each"
    ),
    "mbarrier.init": (
        "counted with shuffles and the like (op_misc), not with loads and stores: 1 per barrier that the lanes"
        " initialise, in any bank. On an H200 each takes some 52 cycles"
    ),
    "mbarrier.noComplete": (
        "an H200 counts 1 with shuffles and the like (op_misc), for any lanes and barriers, for an arrival that"
        " completes no phase or for the code that the compiler emits after it: not measured separately"
    ),
    "remote": (
        "the address may be in another block of the cluster, where no wavefront counter includes loads and stores and"
        " an atomic counts 1: an H200 transfers the 32-byte sectors that the lanes touch, whatever their banks. In"
        " the block's own memory the access costs the same as .shared"
    ),
    "async store": (
        "sent through the cluster network, also to the block's own memory: no wavefront counter includes it. On an H200"
        " a warp takes 10 cycles for consecutive words, up to 48 for words 16 bytes or more apart, 123 for one word"
    ),
    "multimem": "multimem accesses the memory of several GPUs, not shared memory",
    "wmma": (
        "one address for a whole fragment, which ptxas compiles to LDSM, LDS or STS depending on shape, type, layout"
        " and generation: `audit` scores those"
    ),
    "bulk store": "a bulk store of zeros is issued once: not measured",
    "other": "written by hardware other than the load-store unit: not measured",
}
"""The report's word for an access without a figure -> why it has none."""

# part of an opcode's name -> a row of `UNSCORED` more specific than its word; these accesses are counted
_FORMS = {
    "mbarrier.init": "mbarrier.init",
    "SYNCS.EXCH": "mbarrier.init",
    "noComplete": "mbarrier.noComplete",
    "TMASK": "mbarrier.noComplete",
}

# Opcodes that add nothing to the wavefront counters in a launch with nothing else, as far as measured (tests/data:
# timing_sm90, tensor_sm90, forms_sm90), but perhaps to op_misc, which no figure includes: initialisations, arrivals,
# tests and byte counts of barriers, here and in another block of the cluster; copies of bytes and of tiles of a
# tensor, and reductions with them. (Compiled when they are first needed.)
_INTO = r"mbarrier::complete_tx::bytes(\.multicast::cluster)?(\.L2::cache_hint)?"
_OUT = r"bulk_group(\.L2::cache_hint)?"
_REDUCTION = r"(add|min|max|inc|dec|and|or|xor)"
_TYPE = r"(noftz\.)?[busf]+(16|32|64)"
_UNCOUNTED = {
    "ptx": (
        r"mbarrier\.[\w.:]+|cp\.async\.mbarrier\.arrive[\w.:]+"
        rf"|cp\.async\.bulk\.shared::(cta|cluster)\.global\.{_INTO}"
        r"|cp\.async\.bulk\.shared::cluster\.shared::cta\.mbarrier::complete_tx::bytes"
        rf"|cp\.async\.bulk\.global\.shared::cta\.{_OUT}"
        rf"|cp\.async\.bulk\.tensor\.[1-5]d\.shared::(cta|cluster)\.global(\.tile|\.im2col)?\.{_INTO}"
        rf"|cp\.async\.bulk\.tensor\.[1-5]d\.global\.shared::cta(\.tile|\.im2col_no_offs)?\.{_OUT}"
        rf"|cp\.reduce\.async\.bulk\.global\.shared::cta\.{_OUT}\.{_REDUCTION}\.{_TYPE}"
        rf"|cp\.reduce\.async\.bulk\.shared::cluster\.shared::cta\.mbarrier::complete_tx::bytes\.{_REDUCTION}\.{_TYPE}"
        rf"|cp\.reduce\.async\.bulk\.tensor\.[1-5]d\.global\.shared::cta\.{_REDUCTION}(\.tile|\.im2col_no_offs)?\.{_OUT}"
    ),
    "sass": (
        r"SYNCS\.(ARRIVE|PHASECHK|EXCH)\.[\w.]+|ARRIVES\.LDGSTSBAR[\w.]*|UBLKCP\.(S\.G(\.MULTICAST)?|G\.S|S\.S)"
        r"|UBLKRED\.[GS]\.S\.[\w.]+|UTMALDG\.[1-5]D(\.IM2COL)?(\.MULTICAST)?|UTMASTG\.[1-5]D(\.IM2COL)?"
        r"|UTMAREDG\.[1-5]D(\.IM2COL)?\.[A-Z]+"
    ),
}


def listed(opcode: str, name: str, isa: Literal["ptx", "sass"], word: str) -> Access:
    """An access that is listed under the report's word. name: the opcode's first word."""
    if word == "wgmma":
        return product(name if isa == "ptx" else opcode, isa)
    form = next((row for part, row in _FORMS.items() if part in name), word)
    if form in (word, "mbarrier.init") and re.fullmatch(_UNCOUNTED[isa], name):
        return Access(opcode, isa, word, sass=name if isa == "sass" else "", charge=(0, 0), unscored=UNSCORED[form])
    return Access(opcode, isa, word, unscored=UNSCORED["bulk copy, other form" if form == "bulk copy" else form])


MEASURED = frozenset(("bulk copy", "wgmma", "mbarrier", "remote", "async store"))  # but not lane by lane

_PRODUCT = re.compile(r"\.m64n(\d+)k\d+\.|GMMA(?:\.SP)?\.64x(\d+)x\d+\b")


def product(opcode: str, isa: Literal["ptx", "sass"]) -> Access:
    """A wgmma: listed, with the counter's charge per warpgroup if the opcode specifies N.

    The charge is (A in registers, A in shared memory). In a sparse product, A has half its bytes, and B is twice as
    deep (tests/data/forms_sm90.json.gz).
    """
    found = _PRODUCT.search(opcode)
    if found is None:
        return Access(opcode, isa, "wgmma", unscored=UNSCORED["wgmma"])
    sparse = ".sp." in opcode.lower()
    b = int(found[1] or found[2]) * (_OPERAND_BYTES << sparse) // LINE_BYTES
    a = _PRODUCT_ROWS * _OPERAND_BYTES // LINE_BYTES
    sass = opcode if isa == "sass" else _machine_product(opcode)
    return Access(
        opcode,
        isa,
        "wgmma",
        sass=sass,
        charge=(b, a + b),
        unscored=(
            f"the counter has {b} wavefronts per warpgroup for B, and {a} more for an A that is read through a"
            " descriptor, for every swizzle mode, major and stride; the time does not depend on the layout either"
            " (measured on an H200)"
        ),
    )


_WGMMA = re.compile(r"wgmma\.mma_async(\.sp)?\.sync\.aligned\.m64n(\d+)k(\d+)\.(\w+)\.(\w+)\.(\w+)(?:\.and\.popc)?$")
_HEADS = {
    "f16": "HGMMA",
    "bf16": "HGMMA",
    "tf32": "HGMMA",
    "e4m3": "QGMMA",
    "e5m2": "QGMMA",
    "s8": "IGMMA",
    "u8": "IGMMA",
}


def _machine_product(opcode: str) -> str:
    """The machine instruction of a wgmma, "" if unknown (from ptxas 13.0; tests check each measured form)."""
    found = _WGMMA.match(opcode)
    if found is None:
        return ""
    sparse, n, k, sums, a, b = found.groups()
    shape = f"{'.SP' if sparse else ''}.64x{n}x{k}"
    if a == "b1":
        return f"BGMMA{shape}.AND.POPC"
    if a not in _HEADS:
        return ""
    types = {"HGMMA": "" if a == "f16" else f".{a}"}.get(_HEADS[a], f".{a}.{b}").upper()
    return f"{_HEADS[a]}{shape}{'' if sums == 's32' else f'.{sums.upper()}'}{types}"


_OPERAND_BYTES = 32  # of a row of A as stored and, if A is dense, of a column of B, in one wgmma of any type
_PRODUCT_ROWS = 64
LINE_BYTES = 128  # of all banks together
