"""Random integer expressions as CUDA C and as Python: both must compute the same number.

    generate(Random(1), 3)  ->  Expression("(u32)(a / ((b & 0x7f) | 1))", "u32", <function of the variables>)

Types: i32, u32, i64, u64. The Python function wraps as the machine does; signed overflow does not occur (all
arithmetic is unsigned inside).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

C_TYPES = {"i32": "int", "u32": "unsigned", "i64": "long long", "u64": "unsigned long long"}
VARIABLES = {"a": "i32", "b": "i32", "c": "u32", "d": "u32", "e": "i64", "f": "u64", "t": "u32"}


def width(kind: str) -> int:
    return int(kind[1:])


def wrap(value: int, kind: str) -> int:
    """A number as its type represents it: signed ones may be negative."""
    bits = width(kind)
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "i" and value >> (bits - 1) else value


@dataclass(frozen=True)
class Expression:
    text: str
    kind: str
    value: Callable[[dict[str, int]], int]


def cast(x: Expression, kind: str) -> Expression:
    return Expression(f"({C_TYPES[kind]})({x.text})", kind, lambda env: wrap(x.value(env), kind))


def _leaf(rng: Random, kind: str) -> Expression:
    names = [name for name, k in VARIABLES.items() if k == kind]
    if names and rng.random() < 0.75:
        name = rng.choice(names)
        return Expression(name, kind, lambda env: env[name])
    if rng.random() < 0.5:
        other = rng.choice(list(VARIABLES))
        return cast(Expression(other, VARIABLES[other], lambda env: env[other]), kind)
    number = rng.choice([0, 1, 3, 7, 31, 33, 96, 255, 1000, 0x12345678, rng.getrandbits(31)])
    return Expression(f"({C_TYPES[kind]}){number}", kind, lambda env: number)


def _wrapped(function, kind):
    unsigned = "u" + kind[1:]
    return lambda *v: wrap(function(*(wrap(x, unsigned) for x in v)), kind)


def _binary(rng: Random, x: Expression, y: Expression) -> Expression:
    kind = x.kind
    bits, unsigned = width(kind), C_TYPES["u" + kind[1:]]
    pick = rng.choice(["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%", "min", "max", "?", "=="])
    if pick in "+-*":
        function = {"+": lambda p, q: p + q, "-": lambda p, q: p - q, "*": lambda p, q: p * q}[pick]
        run = _wrapped(function, kind)
        return Expression(
            f"({C_TYPES[kind]})(({unsigned}){x.text} {pick} ({unsigned}){y.text})",
            kind,
            lambda env: run(x.value(env), y.value(env)),
        )
    if pick in "&|^":
        function = {"&": lambda p, q: p & q, "|": lambda p, q: p | q, "^": lambda p, q: p ^ q}[pick]
        return Expression(f"({x.text} {pick} {y.text})", kind, lambda env: function(x.value(env), y.value(env)))
    if pick == "<<":
        return Expression(
            f"({C_TYPES[kind]})(({unsigned}){x.text} << ({y.text} & {bits - 1}))",
            kind,
            lambda env: wrap(x.value(env) << (y.value(env) & bits - 1), kind),
        )
    if pick == ">>":
        return Expression(
            f"({x.text} >> ({y.text} & {bits - 1}))", kind, lambda env: x.value(env) >> (y.value(env) & bits - 1)
        )
    if pick in "/%":
        limit = rng.choice([0xFF, 0xFFFF, (1 << (bits - 1)) - 1])
        constant = rng.random() < 0.4
        divisor = rng.choice([3, 7, 10, 33, 96, 1 << 5, 641]) if constant else None
        text = f"({C_TYPES[kind]}){divisor}" if constant else f"(({y.text} & {limit}) | 1)"

        def divide(env):
            p, q = x.value(env), divisor if constant else (y.value(env) & limit) | 1
            quotient = abs(p) // q * (1 if p >= 0 else -1)
            return quotient if pick == "/" else p - quotient * q

        return Expression(f"({x.text} {pick} {text})", kind, divide)
    if pick in ("min", "max"):
        function = min if pick == "min" else max
        sign = "<" if pick == "min" else ">"
        return Expression(
            f"(({x.text}) {sign} ({y.text}) ? ({x.text}) : ({y.text}))",
            kind,
            lambda env: function(x.value(env), y.value(env)),
        )
    sign = rng.choice(["<", "<=", ">", ">=", "==", "!="])
    compare = {
        "<": lambda p, q: p < q,
        "<=": lambda p, q: p <= q,
        ">": lambda p, q: p > q,
        ">=": lambda p, q: p >= q,
        "==": lambda p, q: p == q,
        "!=": lambda p, q: p != q,
    }[sign]
    if pick == "==":
        return Expression(
            f"({C_TYPES[kind]})({x.text} {sign} {y.text})", kind, lambda env: int(compare(x.value(env), y.value(env)))
        )
    z = _leaf(rng, kind)
    return Expression(
        f"({x.text} {sign} {y.text} ? {z.text} : {x.text})",
        kind,
        lambda env: z.value(env) if compare(x.value(env), y.value(env)) else x.value(env),
    )


def _unary(rng: Random, x: Expression) -> Expression:
    kind, bits = x.kind, width(x.kind)
    pick = rng.choice(
        ["-", "~", "popc", "clz", "brev", "narrow", "abs", "ffs", "byte_perm", "mulhi", "funnel", "float"]
    )
    if pick == "-":
        return Expression(
            f"({C_TYPES[kind]})(-({C_TYPES['u' + kind[1:]]}){x.text})", kind, lambda env: wrap(-x.value(env), kind)
        )
    if pick == "~":
        return Expression(f"(~{x.text})", kind, lambda env: wrap(~x.value(env), kind))
    plain = lambda env: x.value(env) & ((1 << bits) - 1)
    suffix = "ll" if bits == 64 else ""
    if pick == "popc":
        return Expression(f"({C_TYPES[kind]})__popc{suffix}({x.text})", kind, lambda env: plain(env).bit_count())
    if pick == "clz":
        return Expression(f"({C_TYPES[kind]})__clz{suffix}({x.text})", kind, lambda env: bits - plain(env).bit_length())
    if pick == "ffs":
        return Expression(
            f"({C_TYPES[kind]})__ffs{suffix}({x.text})", kind, lambda env: (plain(env) & -plain(env)).bit_length()
        )
    if pick == "brev":
        return Expression(
            f"({C_TYPES[kind]})__brev{suffix}({x.text})",
            kind,
            lambda env: wrap(int(f"{plain(env):0{bits}b}"[::-1], 2), kind),
        )
    if pick == "narrow":
        name, to = rng.choice(
            [("signed char", "i8"), ("unsigned char", "u8"), ("short", "i16"), ("unsigned short", "u16")]
        )
        return Expression(f"({C_TYPES[kind]})({name})({x.text})", kind, lambda env: wrap(wrap(x.value(env), to), kind))
    if pick == "abs" and kind == "i32":
        return Expression(f"abs({x.text} >> 1)", kind, lambda env: abs(x.value(env) >> 1))
    if bits == 32:
        y = _leaf(rng, "u32")
        if pick == "byte_perm":
            selector = rng.choice([0x3210, 0x7531, 0x0123, 0x4321, 0x5410, 0x7632])

            def permute(env):
                data = (wrap(y.value(env), "u32") << 32 | plain(env)).to_bytes(8, "little")
                return wrap(int.from_bytes(bytes(data[selector >> 4 * k & 7] for k in range(4)), "little"), kind)

            return Expression(f"({C_TYPES[kind]})__byte_perm({x.text}, {y.text}, {selector})", kind, permute)
        if pick == "mulhi":
            return Expression(
                f"({C_TYPES[kind]})__umulhi({x.text}, {y.text})",
                kind,
                lambda env: wrap(plain(env) * wrap(y.value(env), "u32") >> 32, kind),
            )
        if pick == "funnel":
            n = rng.choice([3, 8, 17, 31])
            return Expression(
                f"({C_TYPES[kind]})__funnelshift_l({x.text}, {y.text}, {n})",
                kind,
                lambda env: wrap((wrap(y.value(env), "u32") << 32 | plain(env)) << n >> 32, kind),
            )
        if pick == "float":
            return Expression(
                f"({C_TYPES[kind]})((float)({x.text} & 0xffff) * 0.5f)",
                kind,
                lambda env: wrap((plain(env) & 0xFFFF) // 2, kind),
            )
    return x


def generate(rng: Random, depth: int, kind: str | None = None) -> Expression:
    kind = kind or rng.choice(list(C_TYPES))
    if depth == 0:
        return _leaf(rng, kind)
    roll = rng.random()
    if roll < 0.6:
        return _binary(rng, generate(rng, depth - 1, kind), generate(rng, rng.randrange(depth), kind))
    if roll < 0.85:
        return _unary(rng, generate(rng, depth - 1, kind))
    return cast(generate(rng, depth - 1), kind)


def kernel(name: str, expressions: list[Expression]) -> str:
    """A kernel that stores every expression, as 64 bits each."""
    stores = "\n".join(f"  out[{i}] = (unsigned long long)({e.text});" for i, e in enumerate(expressions))
    return f"""extern "C" __global__ void {name}(unsigned long long *out, int a, int b, unsigned c, unsigned d, long long e, unsigned long long f)
{{
  unsigned t = threadIdx.x;
{stores}
}}
"""
