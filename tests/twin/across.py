"""Operations in which lanes of a warp exchange data: shuffles, votes, matches, reductions."""

from __future__ import annotations

from .arith import mask, signed
from .code import WIDTH, Many
from .memory import junk


class Across:
    """Part of a warp; `value` and `write` are those of `Instructions`."""

    def _members(self, frame, operand, acting) -> list[int]:
        if operand is None:
            return acting
        return [l for l in acting if self.value(frame, operand, acting[0], 32) >> l & 1]

    def _shfl(self, frame, step, words, acting) -> None:
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
        members = self._members(frame, step.operands[2] if len(step.operands) > 2 else None, acting)
        yes = [l for l in members if self.value(frame, step.operands[1], l, 1)]
        result = {
            "all": len(yes) == len(members),
            "any": bool(yes),
            "uni": len(yes) in (0, len(members)),
            "ballot": sum(1 << l for l in yes),
        }[next(w for w in words if w in ("all", "any", "uni", "ballot"))]
        for l in acting:
            self.write(frame, step.operands[0], l, int(result))

    def _match(self, frame, step, words, acting) -> None:
        bits = WIDTH[words[-1]]
        members = self._members(frame, step.operands[2], acting)
        values = {l: self.value(frame, step.operands[1], l, bits) for l in members}
        first = step.operands[0]
        d, p = first.items if isinstance(first, Many) else (first, None)
        for l in acting:
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
        members = self._members(frame, step.operands[1], acting)
        d, p = step.operands[0].items
        for l in acting:
            self.write(frame, d, l, min(members))
            self.write(frame, p, l, int(l == min(members)))

    def _redux(self, frame, step, words, acting) -> None:
        members = self._members(frame, step.operands[2], acting)
        t = words[-1]
        read = lambda l: (
            signed(self.value(frame, step.operands[1], l, 32), 32)
            if t == "s32"
            else self.value(frame, step.operands[1], l, 32)
        )
        values = [read(l) for l in members]
        name = next(w for w in words if w in ("add", "min", "max", "and", "or", "xor"))
        out = values[0]
        for v in values[1:]:
            out = {
                "add": out + v,
                "min": min(out, v),
                "max": max(out, v),
                "and": out & v,
                "or": out | v,
                "xor": out ^ v,
            }[name]
        for l in acting:
            self.write(frame, step.operands[0], l, out & mask(32))
