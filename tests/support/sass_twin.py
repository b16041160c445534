"""A slow, simple interpreter of lifted machine code: one thread at a time, plain Python integers.

    run(function, params, tid=(3, 0, 0))  ->  {address: byte} of everything it stored to global memory

It shares nothing with `ptxaudit.engine`; tests use it to compare the lifter with source-level arithmetic.
Instructions that communicate across lanes are rejected.
"""

from __future__ import annotations

import struct
from fractions import Fraction

from ptxaudit.ir import nodes as ir

MOST_STEPS = 200_000
GLOBAL, SHARED, LOCAL = "global", "shared", "local"


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def mask(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


# --- floats, exactly ------------------------------------------------------------------------

_FORMATS = {16: ("<e", 10, -14, 15), 32: ("<f", 23, -126, 127), 64: ("<d", 52, -1022, 1023)}


def to_float(pattern: int, bits: int) -> float:
    return struct.unpack(_FORMATS[bits][0], pattern.to_bytes(bits // 8, "little"))[0]


def bits_of(value: float, bits: int) -> int:
    return int.from_bytes(struct.pack(_FORMATS[bits][0], value), "little")


def rounded(exact: Fraction, bits: int, mode: str, zero_sign: int = 0) -> int:
    """The bit pattern of an exact number rounded to a format ("rn", "rz", "rm", "rp")."""
    _, digits, least, most = _FORMATS[bits]
    if exact == 0:
        return zero_sign << (bits - 1)
    sign, size = int(exact < 0), abs(exact)
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length(), least)
    while size < Fraction(2) ** exponent and exponent > least:
        exponent -= 1
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - digits)
    whole = size // unit
    rest = size - whole * unit
    up = {
        "rn": rest * 2 > unit or rest * 2 == unit and whole % 2,
        "rz": False,
        "rp": rest and not sign,
        "rm": rest and sign,
    }[mode]
    whole += int(bool(up))
    value = whole * unit
    if value >= Fraction(2) ** (most + 1):
        return (sign << (bits - 1)) | bits_of(float("inf"), bits)
    return (sign << (bits - 1)) | bits_of(float(value), bits)


def _exact(pattern: int, bits: int) -> Fraction | None:
    value = to_float(pattern, bits)
    return None if value != value or value in (float("inf"), float("-inf")) else Fraction(value)


def _flush(pattern: int, ftz: bool) -> int:
    return pattern & 0x80000000 if ftz and not pattern & 0x7F800000 else pattern


def _arithmetic(op: ir.Op, function, *sources: int) -> int:
    mode, ftz = (op.attrs + ("rn", False))[:2] if len(op.attrs) < 2 else op.attrs[:2]
    parts = [_exact(_flush(s, ftz), op.bits) for s in sources]
    if None in parts:
        values = [to_float(s, op.bits) for s in sources]
        return bits_of(function(*values), op.bits)
    return _flush(rounded(function(*parts), op.bits, mode), ftz)


_WHOLE = {
    "rni": lambda x: round(x),
    "rzi": lambda x: int(x),
    "rmi": lambda x: x.__floor__(),
    "rpi": lambda x: x.__ceil__(),
}


def _to_integer(op: ir.Op, pattern: int, source_bits: int, is_signed: bool) -> int:
    low, high = (-(1 << (op.bits - 1)), (1 << (op.bits - 1)) - 1) if is_signed else (0, (1 << op.bits) - 1)
    value = to_float(pattern, source_bits)
    if value != value:
        return 0
    if value in (float("inf"), float("-inf")):
        return mask(high if value > 0 else low, op.bits)
    return mask(min(max(_WHOLE[op.attrs[0]](Fraction(value)), low), high), op.bits)


# --- the machine ----------------------------------------------------------------------------


class Thread:
    """One thread. specials: values by PTX name; nudge: units in the last place added to MUFU.RCP."""

    def __init__(
        self,
        function: ir.Function,
        params: bytes,
        specials: dict[str, int],
        memory: dict[int, int] | None = None,
        nudge: int = 0,
    ):
        self.function, self.params, self.specials, self.nudge = function, params, specials, nudge
        self.registers: dict[str, int] = {}
        self.memory = {GLOBAL: dict(memory or {}), SHARED: {}, LOCAL: {}}
        self.calls: list[int] = []

    def read(self, source: ir.Operand) -> int:
        match source:
            case ir.Reg():
                return self.registers[source.name]
            case ir.Const():
                return source.value
            case ir.Special():
                return mask(self.specials[source.name], source.bits)
        raise NotImplementedError(str(source))

    def holds(self, guard: ir.Guard | None) -> bool:
        return guard is None or bool(self.read(guard.reg)) != guard.negated

    def run(self) -> dict[int, int]:
        place = 0
        for _ in range(MOST_STEPS):
            instruction = self.function.instructions[place]
            for op in instruction.ops:
                if self.holds(op.guard):
                    self.execute(op)
            following = self.transfer(instruction, place)
            if following is None:
                return self.memory[GLOBAL]
            place = following
        raise TimeoutError("too many steps")

    def transfer(self, instruction: ir.Instruction, place: int) -> int | None:
        control = instruction.control
        if control is None or not self.holds(control.guard):
            return place + 1
        match control.kind:
            case "branch":
                return control.targets[0]
            case "exit":
                return None
            case "call":
                self.calls.append(place + 1)
                return control.targets[0]
            case "ret":
                return self.calls.pop() if self.calls else None
            case "switch":
                return control.targets[self.read(control.selector)]
        return place + 1

    def execute(self, op: ir.Op) -> None:
        if op.name == "load":
            return self.load(op)
        if op.name == "store":
            return self.store(op)
        if op.name.startswith("barrier."):
            return None
        values = [self.read(s) for s in op.src]
        try:
            function = OPERATIONS[op.name]
        except KeyError:
            raise NotImplementedError(op.name) from None
        if op.name == "mufu.rcp":
            result = (
                rounded(1 / _exact(values[0], 32), 32, "rn") + self.nudge
                if values[0] & 0x7FFFFFFF
                else values[0] | 0x7F800000
            )
        else:
            result = function(op, values)
        results = result if isinstance(result, tuple) else (result,)
        for register, value in zip(op.dst, results):
            if register is not None:
                self.registers[register.name] = mask(int(value), register.bits)
        return None

    def space(self, op: ir.Op):
        return self.memory[op.space]

    def load(self, op: ir.Op) -> None:
        width, is_signed = op.attrs
        size = width // 8
        start = self.read(op.src[0]) + op.offset
        for k, register in enumerate(op.dst):
            at = start + k * size
            if op.space == "param":
                raw = self.params[at : at + size]
            elif op.space.startswith("const:"):
                table = next(
                    v for v in self.function.variables if v.space == op.space and v.address <= at < v.address + v.size
                )
                raw = table.data[at - table.address : at - table.address + size]
            else:
                cells = self.space(op)
                raw = bytes(cells[at + j] for j in range(size))
            value = int.from_bytes(raw, "little")
            if register is not None:
                self.registers[register.name] = mask(signed(value, width) if is_signed else value, register.bits)

    def store(self, op: ir.Op) -> None:
        size = op.attrs[0] // 8
        start = self.read(op.src[0]) + op.offset
        cells = self.space(op)
        for k, source in enumerate(op.src[1:]):
            value = self.read(source)
            for j in range(size):
                cells[start + k * size + j] = value >> (8 * j) & 0xFF


def _carry(op, v):
    total = sum(v)
    return total, total >> op.bits >= 1, total >> op.bits >= 2


def _lop3(op, v):
    a, b, c = v
    out = 0
    for i in range(op.bits):
        row = (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)
        out |= (op.attrs[0] >> row & 1) << i
    return out


def _funnel(op, v, left):
    low, high, n = v
    n = n & 31 if op.attrs[0] == "wrap" else min(n, 32)
    wide = high << 32 | low
    return wide << n >> 32 if left else wide >> n


_ORDERS = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


def _prmt(op, v):
    a, b, selector = v
    if op.attrs[0]:
        selector = int(_ORDERS[op.attrs[0].lower()][selector & 3], 16)
    data = (b << 32 | a).to_bytes(8, "little")
    out = []
    for k in range(4):
        s = selector >> 4 * k & 15
        byte = data[s & 7]
        out.append((0xFF if byte & 0x80 else 0) if s & 8 else byte)
    return int.from_bytes(bytes(out), "little")


def _szext(op, v, is_signed):
    a, n = v
    n = n & 31 if op.attrs and op.attrs[0] == "wrap" else min(n, 32)
    field = mask(a, n)
    return signed(field, n) if is_signed and n else field


def _bfe(op, v):
    a, place, length = v
    return mask(a >> (place & 255), min(length & 255, op.bits))


def _bfe_s(op, v):
    a, place, length = signed(v[0], op.bits), v[1] & 255, v[2] & 255
    return signed(mask(a >> min(place, op.bits - 1), length), length) if length else 0


def _bfi(op, v):
    a, b, place, length = v
    place, length = place & 255, length & 255
    field = mask((1 << length) - 1 << place, op.bits) if place < op.bits else 0
    return b & ~field | a << place & field


def _bmsk(op, v):
    begin, length = (x & 31 if op.attrs and op.attrs[0] == "wrap" else min(x, 32) for x in v)
    return mask((1 << length) - 1 << begin, 32)


def _sad(is_signed):
    def run(op, v):
        a, b = (signed(x, op.bits) if is_signed else x for x in v[:2])
        return abs(a - b) + v[2]

    return run


def _cat(op, v):
    return sum(value << at for value, at in zip(v, range(0, op.bits, op.bits // len(v))))


def _leading(v, is_signed, bits, from_top):
    if is_signed and v >> (bits - 1):
        v = mask(~v, bits)
    place = v.bit_length() - 1
    return 0xFFFFFFFF if v == 0 else bits - 1 - place if from_top else place


def _compare(name, is_signed):
    def run(op, v):
        a, b = (signed(x, op.bits) for x in v) if is_signed else v
        return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[name]

    return run


def _float_compare(name):
    def run(op, v):
        a, b = (to_float(x, op.bits) for x in v)
        nan = a != a or b != b
        if name in ("num", "nan"):
            return nan == (name == "nan")
        base = name.rstrip("u") if name not in ("equ", "neu") else name[:2]
        yes = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[base]
        return nan or yes if name.endswith("u") else yes and not nan

    return run


def _source_bits(op) -> int:
    return op.src[0].bits


OPERATIONS = {
    "mov": lambda op, v: v[0],
    "zext": lambda op, v: v[0],
    "trunc": lambda op, v: v[0],
    "sext": lambda op, v: signed(v[0], _source_bits(op)),
    "extract": lambda op, v: v[0] >> op.attrs[0],
    "cat": _cat,
    "select": lambda op, v: v[0] if v[2] else v[1],
    "add": lambda op, v: v[0] + v[1],
    "sub": lambda op, v: v[0] - v[1],
    "mul": lambda op, v: v[0] * v[1],
    "mad": lambda op, v: v[0] * v[1] + v[2],
    "neg": lambda op, v: -v[0],
    "abs": lambda op, v: abs(signed(v[0], op.bits)),
    "mulhi.u": lambda op, v: v[0] * v[1] >> op.bits,
    "mulhi.s": lambda op, v: signed(v[0], op.bits) * signed(v[1], op.bits) >> op.bits,
    "mulwide.u": lambda op, v: v[0] * v[1],
    "mulwide.s": lambda op, v: signed(v[0], 32) * signed(v[1], 32),
    "madwide.u": lambda op, v: v[0] * v[1] + v[2],
    "madwide.s": lambda op, v: signed(v[0], 32) * signed(v[1], 32) + v[2],
    "min.u": lambda op, v: min(v),
    "max.u": lambda op, v: max(v),
    "min.s": lambda op, v: min(v, key=lambda x: signed(x, op.bits)),
    "max.s": lambda op, v: max(v, key=lambda x: signed(x, op.bits)),
    "add3.carry": _carry,
    "lop3": _lop3,
    "and": lambda op, v: v[0] & v[1],
    "or": lambda op, v: v[0] | v[1],
    "xor": lambda op, v: v[0] ^ v[1],
    "not": lambda op, v: mask(~v[0], op.bits),
    "shl": lambda op, v: v[0] << min(v[1], op.bits),
    "shr.u": lambda op, v: v[0] >> v[1],
    "shr.s": lambda op, v: signed(v[0], op.bits) >> min(v[1], op.bits - 1),
    "shf.l": lambda op, v: _funnel(op, v, True),
    "shf.r": lambda op, v: _funnel(op, v, False),
    "prmt": _prmt,
    "szext.s": lambda op, v: _szext(op, v, True),
    "szext.u": lambda op, v: _szext(op, v, False),
    "bfe.u": _bfe,
    "bfe.s": _bfe_s,
    "sad.u": _sad(False),
    "sad.s": _sad(True),
    "bmsk": _bmsk,
    "bfi": _bfi,
    "popc": lambda op, v: v[0].bit_count(),
    "clz": lambda op, v: _source_bits(op) - v[0].bit_length(),
    "brev": lambda op, v: int(f"{v[0]:0{op.bits}b}"[::-1], 2),
    "bfind.u": lambda op, v: _leading(v[0], False, _source_bits(op), op.attrs[0]),
    "bfind.s": lambda op, v: _leading(v[0], True, _source_bits(op), op.attrs[0]),
    "i2f.s": lambda op, v: rounded(Fraction(signed(v[0], _source_bits(op))), op.bits, op.attrs[0]),
    "i2f.u": lambda op, v: rounded(Fraction(v[0]), op.bits, op.attrs[0]),
    "f2i.s": lambda op, v: _to_integer(op, _flush(v[0], op.attrs[1]), _source_bits(op), True),
    "f2i.u": lambda op, v: _to_integer(op, _flush(v[0], op.attrs[1]), _source_bits(op), False),
    "f2f": lambda op, v: rounded(_exact(v[0], _source_bits(op)), op.bits, op.attrs[0]),
    "fadd": lambda op, v: _arithmetic(op, lambda a, b: a + b, *v),
    "fmul": lambda op, v: _arithmetic(op, lambda a, b: a * b, *v),
    "fma": lambda op, v: _arithmetic(op, lambda a, b, c: a * b + c, *v),
    "fmin": lambda op, v: _arithmetic(op, min, *v),
    "fmax": lambda op, v: _arithmetic(op, max, *v),
    "fneg": lambda op, v: v[0] ^ 1 << (op.bits - 1),
    "fabs": lambda op, v: v[0] & ~(1 << (op.bits - 1)),
    "mufu.rcp": None,
}
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    OPERATIONS[f"setp.{_name}"] = OPERATIONS[f"setp.{_name}.u"] = _compare(_name, False)
    OPERATIONS[f"setp.{_name}.s"] = _compare(_name, True)
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
    OPERATIONS[f"fsetp.{_name}"] = _float_compare(_name)
