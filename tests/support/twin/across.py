"""Operations in which lanes of a warp exchange data: shuffles, votes, matches, reductions.

Lanes at one instruction that name different member masks are different groups, each of which executes it for itself
(PTX ISA, "vote.sync": all threads in membermask execute the same instruction with the same mask).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from .arith import NoMeaning, mask, signed
from .code import WIDTH, Many
from .memory import junk


class Across:
    """Part of a warp; `value` and `write` are those of `Instructions`."""

    def _groups(self, frame, operand, acting) -> Iterator[tuple[list[int], list[int]]]:
        """(members, lanes) for each mask: the lanes that name it and are in it; all that name it.

        The result of a lane that is not in its own mask is undefined: it gets that of the members.
        """
        named: dict[int, list[int]] = {}
        for l in acting:
            named.setdefault(mask(32) if operand is None else self.value(frame, operand, l, 32), []).append(l)
        for word, lanes in named.items():
            yield [l for l in lanes if word >> l & 1], lanes

    def _shfl(self, frame, step, words, acting) -> None:
        for _, lanes in self._groups(frame, step.operands[4] if len(step.operands) > 4 else None, acting):
            self._shuffled(frame, step, words, lanes)

    def _shuffled(self, frame, step, words, acting) -> None:
        """One group of lanes; a lane outside of it does not participate."""
        mode = next(w for w in words if w in ("idx", "up", "down", "bfly"))
        first, a, b, c = step.operands[:4]
        d, p = first.items if isinstance(first, Many) else (first, None)
        values = {l: self.value(frame, a, l, 32) for l in acting}
        out = {}
        for l in acting:
            bv, cv = self.value(frame, b, l, 32) & 31, self.value(frame, c, l, 32)
            clamp, segment = cv & 31, cv >> 8 & 31
            top = l & segment | clamp & ~segment & 31
            low = l & segment
            match mode:
                case "up":
                    j = l - bv
                    inside = j >= top
                case "down":
                    j = l + bv
                    inside = j <= top
                case "bfly":
                    j = l ^ bv
                    inside = j <= top
                case _:
                    j = low | bv & ~segment & 31
                    inside = j <= top
            source = j if inside else l
            out[l] = (
                values[source] if source in values else junk("inactive", l, step.line, self.machine.seed),
                int(inside),
            )
        for l, (v, q) in out.items():
            self.write(frame, d, l, v)
            if p is not None:
                self.write(frame, p, l, q)

    def _vote(self, frame, step, words, acting) -> None:
        name = next(w for w in words if w in ("all", "any", "uni", "ballot"))
        for members, lanes in self._groups(frame, step.operands[2] if len(step.operands) > 2 else None, acting):
            yes = [l for l in members if self.value(frame, step.operands[1], l, 1)]
            result = {
                "all": len(yes) == len(members),
                "any": bool(yes),
                "uni": len(yes) in (0, len(members)),
                "ballot": sum(1 << l for l in yes),
            }[name]
            for l in lanes:
                self.write(frame, step.operands[0], l, int(result))

    def _match(self, frame, step, words, acting) -> None:
        bits = WIDTH[words[-1]]
        first = step.operands[0]
        d, p = first.items if isinstance(first, Many) else (first, None)
        for members, lanes in self._groups(frame, step.operands[2], acting):
            values = {l: self.value(frame, step.operands[1], l, bits) for l in members}
            for l in lanes:
                same = sum(1 << k for k in members if values[k] == values.get(l))
                if "all" in words:
                    whole = len(set(values.values())) == 1
                    same = sum(1 << k for k in members) if whole else 0
                    if p is not None:
                        self.write(frame, p, l, int(whole))
                self.write(frame, d, l, same)

    def _activemask(self, frame, step, words, acting) -> None:
        for l in acting:
            self.write(frame, step.operands[0], l, sum(1 << k for k in acting))

    def _elect(self, frame, step, words, acting) -> None:
        d, p = step.operands[0].items
        for members, lanes in self._groups(frame, step.operands[1], acting):
            for l in lanes:
                self.write(frame, d, l, min(members, default=0))
                self.write(frame, p, l, int(l == min(members, default=0)))

    def _redux(self, frame, step, words, acting) -> None:
        t = words[-1]
        if t not in ("u32", "s32", "b32"):
            raise NoMeaning(step.opcode)
        name = next(w for w in words if w in ("add", "min", "max", "and", "or", "xor"))
        join = {
            "add": lambda a, b: a + b,
            "min": min,
            "max": max,
            "and": lambda a, b: a & b,
            "or": lambda a, b: a | b,
            "xor": lambda a, b: a ^ b,
        }[name]
        for members, lanes in self._groups(frame, step.operands[2], acting):
            read = [self.value(frame, step.operands[1], l, 32) for l in members]
            out = reduce(join, (signed(x, 32) if t == "s32" else x for x in read)) if read else 0
            for l in lanes:
                self.write(frame, step.operands[0], l, out & mask(32))
