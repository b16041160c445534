"""Determines which shared variables an access with an unknown address may touch, by following the variables'
addresses.

    mov r1, tile;  add r2, r1, r9;  ld.shared [r2]        the access may touch tile
    mov r1, tile;  shr r2, r1, 4;   wgmma … desc r2       tile is read through a descriptor
    mov r1, tile;  st.local [l], r1                       the address of tile is kept in memory: any access may touch it
    mov r1, bar;   mbarrier.init [r1], 32                 bar is touched by an instruction that is not a site

This is a flow-insensitive taint analysis over register names: it overapproximates. Machine code has no variables; an
access with an unknown address may touch everything there (`Reach.everything`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.engine.ops.table import OPS
from ptxaudit.ir.nodes import Address, Function, Instruction, Op, Reg

_COMPARES = "setp."
_LOCAL, _ANYWHERE = (
    "\0local",
    "\0",
)  # places other than registers: the contents of local memory; memory at large, or a routine
_MEMORY = frozenset(("load", "store", "atom"))
_MAY_BE_LOCAL = ("local", "generic")
_NONE: frozenset[str] = frozenset()
_Flow = tuple[int, bool, Op]  # an instruction's index, whether it is not a site, one of its operations
_VALUES = frozenset(
    ("cvta", "isspacep", "shfl", "vote", "match", "redux", "readfirstlane", "mapa", "getctarank")
)  # first words of operations that only compute values, besides OPS


class Reach(Record):
    """variables: site (instruction index) -> shared variables whose addresses its registers may hold. escaped: those
    whose addresses may be anywhere. everything: the code has no variables. others: variable -> the first instruction
    that is not a site and uses its address for anything but computing values."""

    variables: dict[int, frozenset[str]]
    escaped: frozenset[str]
    everything: bool
    others: dict[str, int] = field(default_factory=dict)

    def may_touch(self, index: int, variable: str) -> bool:
        """Whether an instruction's access may touch a variable, judging by its registers."""
        return self.everything or variable in self.variables.get(index, ()) or variable in self.escaped


def reach(function: Function) -> Reach:
    """Follows the addresses of a function's shared variables."""
    if function.absolute_shared:
        return Reach({}, frozenset(), True)
    readers: dict[str, list[_Flow]] = defaultdict(list)
    work: list[_Flow] = []
    for i in function.instructions:
        for op in i.ops:
            flow = i.index, i.site is None, op
            for s in op.src:
                if type(s) is Reg:
                    readers[s.name].append(flow)
                elif type(s) is Address and _of(s, {}):
                    work.append(flow)
            if op.name == "load" and op.space in _MAY_BE_LOCAL:
                readers[_LOCAL].append(flow)
    held: dict[str, frozenset[str]] = {}
    others: dict[str, int] = {}
    while work:
        index, plain, op = work.pop()
        for place, found in _followed(op, plain, held):
            if not found <= held.get(place, _NONE):
                held[place] = found | held.get(place, _NONE)
                work += readers[place]
        if plain and _unknown(op):
            for variable in _NONE.union(*(_of(s, held) for s in op.src)):
                others[variable] = min(index, others.get(variable, index))
    sites = {i.index: _all_of(i, held) for i in function.instructions if i.site is not None}
    return Reach(sites, held.get(_ANYWHERE, _NONE), False, others)


def _unknown(op: Op) -> bool:
    """It may do more than compute a value from its operands: a call, or an unmodelled instruction."""
    known = op.name in OPS or op.name in _MEMORY or op.name.startswith(_COMPARES)
    return not known and op.name.partition(".")[0] not in _VALUES


def _of(operand: object, held: Mapping[str, frozenset[str]]) -> frozenset[str]:
    if isinstance(operand, Address):
        return frozenset((operand.name,)) if operand.space.startswith("shared") else _NONE
    return held.get(operand.name, _NONE) if isinstance(operand, Reg) else _NONE


def _followed(op: Op, plain: bool, held: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, frozenset[str]]]:
    """(a place, the addresses that one operation may leave there). plain: its instruction is not a site."""
    if op.name.startswith(_COMPARES):
        return
    read = [_of(s, held) for s in op.src]
    found = _NONE.union(*read)
    if op.name in _MEMORY:
        yield _LOCAL if op.space == "local" else _ANYWHERE, _NONE.union(*read[1:])
        found = held.get(_LOCAL, _NONE) if op.name == "load" and op.space in _MAY_BE_LOCAL else _NONE
    elif plain and _unknown(op):
        yield _ANYWHERE, found
    for d in op.dst:
        if d is not None:
            yield d.name, found


def _all_of(instruction: Instruction, held: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Every variable that an access's operands may lead to, including through descriptors."""
    site = instruction.site
    own = () if site is None else (site.address, site.source, site.source_size)
    operands = [*own, *(s for op in instruction.ops for s in op.src)]
    return _NONE.union(*(_of(o, held) for o in operands))
