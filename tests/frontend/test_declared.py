"""Every lowering declares the modifiers of an opcode that it understands, checked over all forms seen in compilers'
libraries and sources (`bench/forms.py` collects them): none is overlooked.
"""

from __future__ import annotations

import re

import pytest
from observed_forms import LINES, OPCODES, lowered

from ptxaudit.frontend.ptx.lift import ROWS as PTX_ROWS
from ptxaudit.frontend.ptx.lift import meaning, refusal
from ptxaudit.frontend.ptx.opcodes import Opcode
from ptxaudit.frontend.sass.builder import Builder
from ptxaudit.frontend.sass.clobber import is_listed
from ptxaudit.frontend.sass.lower import ROWS
from ptxaudit.ir.nodes import Unknown

UNDERSTOOD, UNDERSTOOD_PTX = 3_173, 815  # minimum numbers of forms and of opcodes

_CACHES = "CTA SM GPU SYS STRONG EF EL LU NA LTC128B CONSTANT U"
_REDUCED = "F16x2 F32 F64 FTZ RN S32"  # results of memory remain unknown anyway
# Modifiers without an effect on registers, on the location in memory, or on control flow.
NO_EFFECT = {
    **dict.fromkeys(("LDG", "LDL", "STG"), _CACHES),
    **dict.fromkeys(("RED", "REDG", "ATOMG"), f"{_CACHES} {_REDUCED}"),
    "BAR": "DEFER_BLOCKING",
    "BRA": "ANY",
    "BREAK": "RELIABLE",
    **dict.fromkeys(("BSSY", "BSYNC"), "RECONVERGENT RELIABLE"),
    "CALL": "NOINC",
    "RET": "NODEC",
    **dict.fromkeys(
        ("CCTL", "DEPBAR", "FENCE", "MEMBAR", "NANOSLEEP", "UBLKPF", "UTMACCTL", "WARPGROUP"),
        "E IVALL PF1 PF2 LE S T ALL CTA GPU SC SYNCS WARP L2 IV PF ARRIVE",
    ),
    "CS2R": "32",  # the default for a 32-bit register
    "IMAD": "IADD MOV SHL U32",  # how it is printed, and the lower word of a product
    "UIMAD": "U32",
    **dict.fromkeys(("ISETP", "UISETP"), "U32"),
    **dict.fromkeys(("REDUX", "VIMNMX", "UVIMNMX"), "S32"),
    "F2FP": "F32",  # not written before sm_89
    "HFMA2": "MMA",  # which pipe it uses
    "MOV": "SPILL",
    "R2UR": "BROADCAST FILL",
    "UTCATOMSWS": "2CTA ALIGN",  # free columns are not modelled
    "WARPSYNC": "ALL COLLECTIVE",
}
# … except where it matters: a comparison for equality is sign-independent, others are not.
SIGNED = re.compile(r"U?ISETP\.(EQ|NE)\.")


WITH_MEANING = [
    (opcode, operands)
    for opcode, operands in LINES
    if opcode.partition(".")[0] in ROWS and not lowered(opcode, operands).refused
]


def test_observed_sass_forms_are_mostly_supported() -> None:
    assert sum(not lowered(*line).refused for line in LINES) >= UNDERSTOOD


def test_every_observed_opcode_has_a_row() -> None:
    assert {opcode.partition(".")[0] for opcode, _ in LINES} - ROWS.keys() - {
        root for root in {o.partition(".")[0] for o, _ in LINES} if is_listed(root)
    } == set()


def test_unknown_modifier_of_an_opcode_is_refused() -> None:
    for opcode, operands in WITH_MEANING:
        parts = opcode.split(".")
        for at in range(1, len(parts) + 1):
            strange = lowered(".".join((*parts[:at], "STRANGE", *parts[at:])), operands)
            assert strange.refused, (opcode, operands)
            _nothing_is_kept(strange, lowered(opcode, operands))


def test_unknown_modifier_of_an_operand_is_refused() -> None:
    for opcode, operands in WITH_MEANING:
        parts = operands.split(", ")
        for at, operand in enumerate(parts):
            if re.fullmatch(r"U?R\d+", operand):
                strange = lowered(opcode, ", ".join((*parts[:at], f"{operand}.STRANGE", *parts[at + 1 :])))
                assert strange.refused, (opcode, operands, operand)


def _nothing_is_kept(strange: Builder, plain: Builder) -> None:
    """The results of the instruction are unknown or loaded; its access has no figure."""
    assert {op.name for op in strange.ops} <= {"opaque", "clobber", "load", "barrier.reset"}, (
        strange.opcode,
        strange.ops,
    )
    written = {d.name for op in plain.ops for d in op.dst if d is not None and not d.name.startswith("t")}
    lost = {d.name for op in strange.ops for d in op.dst if d is not None}
    assert written <= lost, (strange.opcode, written - lost)
    assert strange.site is None or strange.site.unscored or isinstance(strange.site.address, Unknown)


def test_every_declared_modifier_changes_the_operations() -> None:
    """Removing it changes the operations, unless it is in the table above."""
    silent = set()
    for opcode, operands in WITH_MEANING:
        parts = opcode.split(".")
        full = lowered(opcode, operands)
        for at in range(1, len(parts)):
            short = lowered(".".join((*parts[:at], *parts[at + 1 :])), operands)
            alike = not short.refused and (short.ops, short.control, short.site) == (full.ops, full.control, full.site)
            if alike and parts[at] not in NO_EFFECT.get(parts[0], "").split():
                silent.add((parts[0], parts[at]))
            assert not alike or parts[0] not in ("ISETP", "UISETP") or SIGNED.match(opcode), opcode
    assert silent == set()


@pytest.mark.parametrize(
    "opcode", ("VIADD", "VIADD.16x2", "VIMNMX.S16x2", "IADD3.X", "LOP3.LUT", "STRANGE", "BRA.STRANGE")
)
def test_unsupported_instruction_invalidates_what_it_may_write(opcode: str) -> None:
    """An opcode in no table may write every register; an unsupported branch may lead anywhere."""
    b = lowered(f"{opcode}.NEW", "R4, R8, R12")
    names = {d.name for op in b.ops for d in op.dst if d is not None}
    assert "R4" in names and {op.name for op in b.ops} <= {"opaque", "clobber"}
    assert ("UR7" in names and "R200" in names and "P3" in names) == (opcode in ("STRANGE", "BRA.STRANGE"))
    assert (b.control is not None and b.control.targets == ()) == (opcode == "BRA.STRANGE")


def test_observed_ptx_opcodes_are_mostly_supported() -> None:
    known = [opcode for opcode in OPCODES if opcode.partition(".")[0] in PTX_ROWS and meaning(opcode) is not None]
    assert len(known) >= UNDERSTOOD_PTX
    whole = {
        name for name, row in PTX_ROWS.items() if "*" in row.modifiers.split()
    }  # their results are unknown for any modifiers
    assert whole == {"tcgen05", "tensormap", "clusterlaunchcontrol", "mbarrier", "fence"}
    for opcode in known:
        parts = opcode.split(".")
        if parts[0] in whole:
            continue
        for at in range(1, len(parts) + 1):
            strange = ".".join((*parts[:at], "strange", *parts[at:]))
            assert meaning(strange) is None and refusal(strange).startswith(".strange is not"), strange


def test_ptx_opcodes_of_different_types_differ_in_meaning() -> None:
    """Among single operations on plain operands, no two opcodes with different types or roundings have the same
    meaning.
    """
    found: dict[object, str] = {}
    same = []
    for opcode in OPCODES:
        row = meaning(opcode) if opcode.partition(".")[0] in PTX_ROWS else None
        if type(row).__name__ == "Plain" and row.otherwise is None:
            o = Opcode(opcode)
            kinds = (row.name, row.bits, row.widths, row.attrs, row.floating)
            other = Opcode(found.setdefault((*kinds, o.base), opcode))
            if other.plain - {"rn", "lo"} != o.plain - {"rn", "lo"}:
                same.append((opcode, other.text))
    assert same == []
