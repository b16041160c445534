"""Lowers warp-wide operations: shuffles, votes, matches, reductions, elections.

SHFL.BFLY PT, R4, R7, 0x10, 0x1f     R4, _ = shfl.bfly(R7, 16, 31)
VOTE.ANY R9, PT, P0                  R9 = vote.ballot(P0)
REDUX.MAX.S32 UR8, R3                UR8 = redux.max.s(R3)
R2UR P1, UR4, R2                     UR4 = R2 of the first active lane, P1 = R2 != UR4
"""

from __future__ import annotations

from ptxaudit.frontend.sass.builder import Builder, NoMeaning
from ptxaudit.frontend.sass.rows import Row
from ptxaudit.frontend.sass.syntax import Register

_SHUFFLES = {"IDX": "idx", "UP": "up", "DOWN": "down", "BFLY": "bfly"}
_VOTES = {"ANY": "any", "ALL": "all", "EQ": "uni"}
_MATCHES = {"ANY": "any", "ALL": "all"}


def _kind(b: Builder, kinds: dict[str, str]) -> str:
    kind = next((kinds[mark] for mark in b.marks if mark in kinds), None)
    if kind is None:
        raise NoMeaning
    return kind


def shuffle(b: Builder) -> None:
    """SHFL P, R, value, lane, clamp: over the active lanes."""
    results = (b.destination(b.operand(1)), b.destination(b.operand(0)))
    b.emit(f"shfl.{_kind(b, _SHUFFLES)}", results, tuple(b.integer(b.operand(i)) for i in (2, 3, 4)))


def vote(b: Builder) -> None:
    """VOTE and VOTEU: [ballot register,] predicate, vote. Without a register only the predicate."""
    operands = list(b.operands)
    source = b.predicate(operands.pop())
    for operand in operands:
        if operand.is_zero:
            continue
        name = _kind(b, _VOTES) if operand.is_predicate else "ballot"
        b.emit(f"vote.{name}", (b.destination(operand),), (source,), 1 if operand.is_predicate else 32)


def match(b: Builder) -> None:
    """MATCH.ANY R, value; MATCH.ALL P, R, value."""
    operands = list(b.operands)
    value = b.pair(operands.pop()) if b.has("U64") else b.integer(operands.pop())
    bits = value.bits
    agree = next((b.destination(o) for o in operands if isinstance(o, Register) and o.is_predicate), None)
    lanes = next((b.destination(o) for o in operands if isinstance(o, Register) and not o.is_predicate), None)
    b.emit(f"match.{_kind(b, _MATCHES)}", (lanes, agree), (value,), bits)


_REDUCTIONS = {"SUM": "add", "OR": "or", "XOR": "xor", "AND": "and"}


def reduction(b: Builder) -> None:
    """REDUX and CREDUX: one integer from all active lanes."""
    name = next((_REDUCTIONS[mark] for mark in b.marks if mark in _REDUCTIONS), None)
    if name is None:
        least = "min" if b.has("MIN") else "max" if b.has("MAX") else None
        name = f"{least}.{'s' if b.has('S32') else 'u'}" if least else "and"
    b.write(b.operand(0), f"redux.{name}", b.integer(b.operand(1)))


def election(b: Builder) -> None:
    """ELECT P, UR, PT: one active lane."""
    predicate, lane = b.destination(b.operand(0)), b.destination(b.operand(1))
    if len(b.operands) == 3 and not (b.operand(2).is_zero and not b.operand(2).negated):
        raise NoMeaning
    b.emit("elect", (lane, predicate), ())


def to_uniform(b: Builder) -> None:
    """R2UR [P,] UR, value: the number of the first active lane, and the lanes whose number differs from it. .FILL
    restores what a MOV.SPILL has kept (in all code seen).

    (Measured on an H100: P in 35 warps, with five sets of active lanes and seven of numbers.)
    """
    if len(b.operands) == 2:
        return b.write(b.operand(0), "readfirstlane", b.integer(b.operand(1)))
    if b.guard is not None or b.marks:
        raise NoMeaning
    value = b.integer(b.operand(2))
    of_first = b.compute("readfirstlane", value)
    b.write(b.operand(1), "mov", of_first)
    b.write(b.operand(0), "setp.ne", value, of_first)


_VOTE = Row(vote, f"({'|'.join(_VOTES)})", "R?P{2}")
_REDUCTION = Row(reduction, "(SUM|MIN|MAX) S32? / OR / XOR / AND / ", "RR")

LOWERINGS = {
    "SHFL": Row(shuffle, f"({'|'.join(_SHUFFLES)})", "PRRI{2}"),
    "VOTE": _VOTE,
    "VOTEU": _VOTE,
    "MATCH": Row(match, f"({'|'.join(_MATCHES)}) U64?", "P?RR"),
    "REDUX": _REDUCTION,
    "CREDUX": _REDUCTION,
    "ELECT": Row(election, "", "PRP?"),
    "R2UR": Row(to_uniform, "(BROADCAST|FILL)?", "P?RI"),
}
