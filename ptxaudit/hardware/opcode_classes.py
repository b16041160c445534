"""The class of an opcode, and the width of a load or store, for both instruction sets.

    LDS.128                shared-load, 16 bytes per lane
    fma.rn.f32             float
    ld.global.v2.u32       global-load, 8 bytes per lane

The class depends only on the opcode: on its first word and, in PTX, on its type. Opcodes in no table are "other".
"""

from __future__ import annotations

import re
from functools import lru_cache

# In the order of reports.
CLASSES = (
    "shared-load",
    "shared-store",
    "shared-atomic",
    "async-copy",
    "global-load",
    "global-store",
    "global-atomic",
    "local-load",
    "local-store",
    "generic-load",
    "generic-store",
    "generic-atomic",
    "constant-load",
    "texture",
    "tensor",
    "float",
    "half",
    "double",
    "special",
    "integer",
    "conversion",
    "move",
    "warp",
    "barrier",
    "control",
    "other",
)
SPACES = ("shared", "global", "local", "generic")

NEVER = "@!PT"  # the guard of an instruction that no lane executes

_SASS: dict[str, str] = {
    head: name
    for name, heads in {
        "shared-load": "LDS LDSM",
        "shared-store": "STS STSM STAS",
        "shared-atomic": "ATOMS REDAS",
        "async-copy": "LDGSTS UBLKCP UBLKRED UTMALDG UTMASTG UTMAREDG UTMACCTL UTMACMDFLUSH UBLKPF UTMAPF",
        "global-load": "LDG",
        "global-store": "STG",
        "global-atomic": "ATOMG RED REDG",
        "local-load": "LDL",
        "local-store": "STL",
        "generic-load": "LD",
        "generic-store": "ST",
        "generic-atomic": "ATOM",
        "constant-load": "LDC ULDC LDCU",
        "texture": "TEX TLD TLD4 TXD TMML TXQ TXA SULD SUST SURED SUATOM SUQ",
        "tensor": (
            "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA DGMMA UTCHMMA UTCQMMA UTCIMMA UTCOMMA UTCMXQMMA"
            " UTCCP UTCSHIFT LDTM STTM"
        ),
        "float": (
            "FADD FMUL FFMA FMNMX FMNMX3 FSEL FSETP FSET FCHK FSWZADD FADD2 FMUL2 FFMA2 FADD32I FMUL32I FFMA32I FHADD"
            " FHFMA UFADD UFMUL UFFMA UFSEL UFSETP UFSET UFMNMX"
        ),
        "half": "HADD2 HMUL2 HFMA2 HMNMX2 HSET2 HSETP2 HADD2_32I HMUL2_32I HFMA2_32I VHMNMX",
        "double": "DADD DMUL DFMA DMNMX DSETP",
        "special": "MUFU",
        "integer": (
            "IADD IADD3 IMAD IMUL LEA LOP LOP3 SHF SHL SHR ISETP IMNMX IABS IDP IDP4A VABSDIFF VABSDIFF4 VIADD"
            " VIADDMNMX VIMNMX VIMNMX3 BMSK SGXT BREV POPC FLO ISCADD ISCADD32I XMAD IADD32I LOP32I IMUL32I UIADD3"
            " UIMAD ULEA ULOP ULOP3 USHF USHL USHR UISETP UIMNMX UIABS UBMSK USGXT UBREV UPOPC UFLO UVIADD UVIMNMX"
        ),
        "conversion": "F2F F2FP F2I F2IP I2F I2FP I2I I2IP FRND UF2F UF2FP UF2I UI2F UI2FP UFRND",
        "move": (
            "MOV MOV32I UMOV SEL USEL PRMT UPRMT S2R S2UR CS2R CS2UR R2UR UR2R P2R R2P UP2UR UR2UP R2B B2R PLOP3 UPLOP3"
            " PSETP MOVM LEPC"
        ),
        "warp": "SHFL VOTE VOTEU MATCH REDUX CREDUX ELECT WARPSYNC",
        "barrier": (
            "BAR MEMBAR DEPBAR LDGDEPBAR ERRBAR CGAERRBAR FENCE SYNCS ARRIVES UCGABAR_ARV UCGABAR_WAIT NANOSLEEP"
            " WARPGROUP WARPGROUPDEPBAR UTCBAR ACQBULK CCTL CCTLL UCCTL YIELD"
        ),
        "control": (
            "BRA BRX JMP JMX BRXU JMXU CALL RET EXIT BSSY BSYNC BREAK BMOV RPCMOV KILL BPT RTT PREEXIT ENDCOLLECTIVE"
            " ACQSHMINIT USETMAXREG USETSHMSZ"
        ),
    }.items()
    for head in heads.split()
}

# First words of PTX, of which the longest match wins; arithmetic is distinguished by its type.
_PTX: tuple[tuple[str, str], ...] = tuple(
    sorted(
        (
            (head, name)
            for name, heads in {
                "async-copy": "cp.async cp.reduce.async st.async red.async",
                "tensor": "mma wmma wgmma tcgen05",
                "shared-load": "ldmatrix",
                "shared-store": "stmatrix",
                "texture": "tex tld4 txq suld sust sured suq istypep",
                "conversion": "cvt",
                "special": "sin cos ex2 lg2 tanh rsqrt rcp sqrt",
                "move": "mov selp slct prmt cvta mapa isspacep movmatrix getctarank",
                "warp": "shfl vote match redux activemask elect",
                "barrier": (
                    "bar barrier membar fence mbarrier cp.async.wait_group cp.async.wait_all cp.async.commit_group"
                    " cp.async.bulk.commit_group cp.async.bulk.wait_group cp.async.mbarrier griddepcontrol discard"
                    " prefetch prefetchu applypriority createpolicy nanosleep wgmma.fence wgmma.commit_group"
                    " wgmma.wait_group tcgen05.wait tcgen05.fence tcgen05.commit"
                ),
                "control": "bra brx.idx call ret exit trap brkpt",
                "integer": (
                    "add addc sub subc mul mad madc mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe"
                    " bfi szext bmsk dp4a dp2a and or xor not cnot lop3 shf shl shr fma set setp testp copysign"
                ),
            }.items()
            for head in heads.split()
        ),
        key=lambda row: -len(row[0]),
    )
)

_TYPED = {
    "f16": "half",
    "f16x2": "half",
    "bf16": "half",
    "bf16x2": "half",
    "f32": "float",
    "f32x2": "float",
    "tf32": "float",
    "f64": "double",
}
_MEMORY = {"ld": "load", "ldu": "load", "st": "store", "atom": "atomic", "red": "atomic"}
_SPACED = {"global": "global", "shared": "shared", "local": "local", "const": "constant", "param": "constant"}

_SASS_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "U64": 8, "S64": 8, "128": 16, "256": 32}
_PTX_TYPE = re.compile(r"[bsuf](8|16|32|64|128)$")
_VECTOR = re.compile(r"v([248])$")
_WORD_BYTES = 4


@lru_cache(maxsize=4096)
def class_of(opcode: str) -> str:
    """The class of an opcode of either instruction set."""
    if opcode.startswith(NEVER):
        return "other"
    head, *modifiers = opcode.split(".")
    if head[:1].isupper():
        return _SASS.get(head, "other")
    if head in _MEMORY and "async" not in modifiers:
        space = next((_SPACED[m.partition("::")[0]] for m in modifiers if m.partition("::")[0] in _SPACED), "generic")
        if space == "constant":  # parameters of calls, the only ones that are stored, are in registers
            return "constant-load" if _MEMORY[head] == "load" else "move"
        return f"{space}-{_MEMORY[head]}"
    name = next((name for words, name in _PTX if opcode == words or opcode.startswith(words + ".")), "other")
    return _TYPED.get(modifiers[-1], name) if name == "integer" and modifiers else name


@lru_cache(maxsize=4096)
def width_of(opcode: str) -> int | None:
    """Bytes per lane of a load or store; None for other opcodes, atomics, matrix rows and copies."""
    space, _, kind = class_of(opcode).rpartition("-")
    if (
        space not in SPACES
        or kind not in ("load", "store")
        or opcode.startswith(("LDSM", "STSM", "ldmatrix", "stmatrix", "STAS"))
    ):
        return None
    modifiers = opcode.split(".")[1:]
    if opcode[:1].isupper():
        return next((_SASS_BYTES[m] for m in modifiers if m in _SASS_BYTES), _WORD_BYTES)
    sized = _PTX_TYPE.match(modifiers[-1]) if modifiers else None
    elements = next((int(found[1]) for m in modifiers if (found := _VECTOR.match(m))), 1)
    return int(sized[1]) // 8 * elements if sized else None


def is_of_stack(opcode: str) -> bool:
    """Whether the opcode is a load or store of local memory, as every spill to it is; no spill has a generic
    address."""
    return class_of(opcode) in ("local-load", "local-store")
