"""Wavefronts of one request, by loops over lanes: the rule of `reference` that applies to each PTX opcode.

Uses nothing of the package, neither its classification of opcodes nor its records.
"""

from __future__ import annotations

import reference

from .code import WIDTH

LANES, WORD = 32, 4
_COPY_WITHOUT_A_COUNT = "cg"  # no counter includes cp.async.cg
_COMBINED = ("add", "min", "max", "and", "or", "xor")  # ptxas may let one lane act for all that share an address
_COUNTED = {"add": 1, "inc": 0xFFFF_FFFF}  # constants for which ptxas may count the lanes and add once
_SINGLE = {  # operations that are one instruction; the others are loops
    **dict.fromkeys((o, t) for o in ("add", "min", "max") for t in ("u32", "s32")),
    **dict.fromkeys((o, "b32") for o in ("and", "or", "xor")),
    **dict.fromkeys([("inc", "u32"), ("dec", "u32"), *(("exch", f"b{n}") for n in (32, 64, 128))]),
}
Score = tuple[int | None, int | None, int | None]
UNCOUNTED: Score = (None, None, None)


def score(
    opcode: str,
    size: int | None,
    addresses: dict[int, int],
    sources: dict[int, int] | None = None,
    added: int | None = None,
    zeros=(),
) -> Score:
    """(low, high, ideal) of one request with an active lane.

    size: cp.async's bytes; added: an atomic's constant; zeros: lanes of a cp.async that write zeros, apart from those
    that copy.
    """
    base, *words = opcode.split(".")
    if base not in ("ld", "st", "ldmatrix", "stmatrix", "cp", "atom", "red"):
        return UNCOUNTED
    width = WIDTH.get(words[-1], 0) // 8
    lanes, row = sorted(addresses), [addresses.get(lane, 0) for lane in range(LANES)]
    if base in ("ld", "st"):
        width *= next((int(w[1]) for w in words if w in ("v2", "v4", "v8")), 1)
        generic = not any(w.startswith("shared") for w in words)  # whose loads do not merge
        return exact("store" if generic else {"ld": "load", "st": "store"}[base], width, lanes, row)
    if base in ("ldmatrix", "stmatrix"):
        rows = 8 * next(int(w[1]) for w in words if w in ("x1", "x2", "x4"))
        ordinary = "m8n8" in words and "b16" in words
        return exact(base, 16, [lane for lane in lanes if lane < rows], row) if ordinary else UNCOUNTED
    if base == "cp":
        copy = _COPY_WITHOUT_A_COUNT not in words and size is not None and sources is not None
        return copied(size, lanes, row, sources, set(zeros)) if copy else UNCOUNTED
    return atomic(
        next(w for w in words if w in (*_COMBINED, "inc", "dec", "exch", "cas")), words[-1], lanes, row, added
    )


def exact(operation: str, width: int, lanes: list[int], row: list[int]) -> Score:
    wavefronts, ideal, _ = reference.modern(operation, width, lanes, row)
    return wavefronts, wavefronts, ideal


def copied(width: int, lanes: list[int], row: list[int], sources: dict[int, int], zeros: set[int]) -> Score:
    """The wavefronts of cp.async.ca.

    Lanes that copy and lanes that write zeros are served separately, the latter like stores that serialise equal
    slots; or all of them together, where the sources are in L1.
    """
    low = high = ideal = 0
    size = 128 // width
    for start in range(0, LANES, size):
        group = [lane for lane in lanes if start <= lane < start + size]
        copying, stored = [l for l in group if l not in zeros], [l for l in group if l in zeros]
        least, most = reference.copy_bounds(width, copying, row, [sources.get(lane, 0) for lane in range(LANES)])
        zero = reference.modern("cp.async", width, stored, row)[0]
        least, most = least + zero, most + zero
        if copying and stored:
            free, held = (beside_zeros(width, group, row, sources, zeros, holding) for holding in (False, True))
            if len({sources.get(lane, 0) // 128 for lane in copying}) == 1:
                least, most = min(least, free), max(most, held)
            else:
                least = max(least - zero, reference.modern("cp.async", width, group, row)[0])
                most = len(group)
        low, high, ideal = low + least, high + most, ideal + bool(group)
    return low, high, ideal


def beside_zeros(
    width: int, lanes: list[int], row: list[int], sources: dict[int, int], zeros: set[int], holding: bool
) -> int:
    """Wavefronts where all sources are in L1.

    In lane order, each lane is one round after the last on its destination slot and, if it copies, on its source
    slot. holding: zeros delay later copies from their source slots.
    """
    slots = 128 // width
    rounds: dict[int, int] = {}
    last: dict[tuple[str, int, int], int] = {}
    for lane in lanes:
        group = lane // slots
        to = "to", group, row[lane] // width % slots
        source = "source", group, sources.get(lane, 0) // width % slots
        now = 1 + max(last.get(to, 0), 0 if lane in zeros else last.get(source, 0))
        last[to] = now
        if holding or lane not in zeros:
            last[source] = max(last.get(source, 0), now)
        rounds[group] = max(rounds.get(group, 0), now)
    return sum(rounds.values())


def atomic(operation: str, kind: str, lanes: list[int], row: list[int], added: int | None) -> Score:
    """added: the operand, if it is a constant."""
    width = WIDTH[kind] // 8
    if operation == "cas" and width > 2:
        return exact("cas", width, lanes, row)
    if (operation, kind) not in _SINGLE:
        return looped(width, lanes, row)
    most, ideal, _ = reference.modern("atomic", width, lanes, row)
    low = most
    if added is not None and _COUNTED.get(operation) == added & 0xFFFF_FFFF:
        low = min(most, reference.worst_bank(lanes, row, width))
    elif added is not None and operation in _COMBINED and len({row[lane] for lane in lanes}) == 1:
        low = min(most, 1)
    return low, most, ideal


def looped(width: int, lanes: list[int], row: list[int]) -> Score:
    """A load, and passes each of which serves at least one lane per bank (for 16 bits: per word)."""
    load, ideal, _ = reference.modern("load", width, lanes, row)
    if width < WORD:
        swap = 2 * reference.fullest(lanes, row, WORD, 32)
        words = [row[lane] // WORD for lane in lanes]
        passes = max(map(words.count, words))
    else:
        swap = reference.modern("cast", width, lanes, row)[0]
        passes = reference.fullest(lanes, row, width, 128 // width)
    return load, passes * (load + swap), ideal
