"""A kernel as plain C, compiled for the CPU: a third opinion on every address that a thread computes.

Each thread is one call of a C function with labels and gotos; a site records (line, address). Only for kernels
without communication between lanes (`generate.kernel(seed, lonely=True)`).

    shr.s32 %r5, %r4, 3;     ->   r5 = (u32)shr_s(32, r4, 3u);
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

from . import instructions, run
from .code import WIDTH, Imm, Many, Mem, Not, Place, Reg, Special, Step

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

PRELUDE = r"""
#include <stdint.h>
#include <string.h>
#include <math.h>
#include <fenv.h>
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
typedef int8_t s8; typedef int16_t s16; typedef int32_t s32; typedef int64_t s64;
typedef unsigned __int128 u128; typedef __int128 s128;
#define LOW(n) ((n) >= 64 ? ~(u64)0 : (((u64)1 << (n)) - 1))
static s64 sx(int n, u64 a) { return n == 64 ? (s64)a : (s64)(a << (64 - n)) >> (64 - n); }
static u64 shl(int n, u64 a, u32 k) { return k < (u32)n ? a << k : 0; }
static u64 shr_u(int n, u64 a, u32 k) { return k < (u32)n ? a >> k : 0; }
static u64 shr_s(int n, u64 a, u32 k) { return sx(n, a) >> (k < (u32)n ? k : n - 1); }
static u64 bfe_u(int n, u64 a, u32 p, u32 l) { p &= 255; l &= 255; return shr_u(n, a, p) & LOW(l); }
static u64 bfe_s(int n, u64 a, u32 p, u32 l) { u64 r; u32 t; p &= 255; l &= 255; if (!l) return 0;
  t = p + l - 1; if (t > (u32)n - 1) t = n - 1; r = 0;
  for (int i = 0; i < n; i++) r |= ((i < (int)l && p + i < (u32)n) ? a >> (p + i) & 1 : a >> t & 1) << i; return r; }
static u64 bfi(int n, u64 a, u64 b, u32 p, u32 l) { p &= 255; l &= 255; for (u32 i = 0; i < l && p + i < (u32)n; i++)
  b = (b & ~((u64)1 << (p + i))) | (a >> i & 1) << (p + i); return b; }
static u32 lop3(u32 a, u32 b, u32 c, u32 t) { u32 r = 0; for (int i = 0; i < 32; i++)
  r |= (t >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i; return r; }
static u64 brev(int n, u64 a) { u64 r = 0; for (int i = 0; i < n; i++) r |= (a >> i & 1) << (n - 1 - i); return r; }
static u32 clz(int n, u64 a) { return a ? __builtin_clzll(a) - (64 - n) : n; }
static u32 bfind_u(int n, u64 a) { return a ? 63 - __builtin_clzll(a) : ~0u; }
static u32 bfind_s(int n, u64 a) { return bfind_u(n, sx(n, a) < 0 ? ~a & LOW(n) : a); }
static u32 fns(u32 m, u32 b, s32 o) { if (b > 31) return ~0u; if (!o) return m >> b & 1 ? b : ~0u;
  int d = o > 0 ? 1 : -1, n = o > 0 ? o : -o; for (int i = b; i >= 0 && i < 32; i += d) if (m >> i & 1 && !--n) return i; return ~0u; }
static u32 prmt(u32 a, u32 b, u32 c, int mode) { u64 w = (u64)b << 32 | a; u32 r = 0; for (int i = 0; i < 4; i++) { int k, s = c & 3; u32 v;
  switch (mode) { case 0: k = c >> 4 * i & 7; break; case 1: k = s + i; break; case 2: k = (s - i) & 7; break; case 3: k = s; break;
    case 4: k = s > i ? s : i; break; case 5: k = s < i ? s : i; break; default: k = 2 * (s & 1) + (i & 1); }
  v = w >> 8 * k & 255; if (mode == 0 && c >> (4 * i + 3) & 1) v = v & 128 ? 255 : 0; r |= v << 8 * i; } return r; }
static u32 shf(u32 a, u32 b, u32 k, int left, int wrap) { u64 w = (u64)b << 32 | a; k = wrap ? k & 31 : k > 32 ? 32 : k;
  return left ? (u32)((w << k) >> 32) : (u32)(w >> k); }
static u32 bmsk(u32 a, u32 b, int wrap) { u32 r = 0; if (wrap) { a &= 31; b &= 31; } for (u64 i = 0; i < 32; i++) if (i >= a && i < (u64)a + b) r |= 1u << i; return r; }
static u32 szext(u32 a, u32 k, int s, int wrap) { k = wrap ? k & 31 : k > 32 ? 32 : k; if (!k) return 0; return s ? (u32)sx(k, a) : a & (u32)LOW(k); }
static u32 dp4a(u32 a, u32 b, u32 c, int s, int t) { for (int i = 0; i < 4; i++) c += (u32)((s ? (s32)(s8)(a >> 8 * i) : (s32)(u8)(a >> 8 * i)) * (t ? (s32)(s8)(b >> 8 * i) : (s32)(u8)(b >> 8 * i))); return c; }
static float bits32(u64 a) { u32 b = a; float f; memcpy(&f, &b, 4); return f; }
static double bits64(u64 a) { double f; memcpy(&f, &a, 8); return f; }
static u64 of32(float f) { u32 b; memcpy(&b, &f, 4); return f != f ? 0x7fffffffu : b; }
static u64 of64(double f) { u64 b; memcpy(&b, &f, 8); return b; }
static float flush(float f, int z) { return z && fabsf(f) < 1.17549435e-38f ? copysignf(0, f) : f; }
#define MODES "nzmp"
static void mode(char c) { fesetround(c == 'z' ? FE_TOWARDZERO : c == 'm' ? FE_DOWNWARD : c == 'p' ? FE_UPWARD : FE_TONEAREST); }
#define MADE(T, NAME, BITS, OF, FLUSH) \
static u64 NAME(char op, char m, int z, u64 p, u64 q, u64 r) { volatile T a = FLUSH(BITS(p), z), b = FLUSH(BITS(q), z), c = FLUSH(BITS(r), z), x; mode(m); \
  switch (op) { case '+': x = a + b; break; case '-': x = a - b; break; case '*': x = a * b; break; case '/': x = a / b; break; \
    case 'f': x = __builtin_choose_expr(sizeof(T) == 4, fmaf(a, b, c), fma(a, b, c)); break; case 'r': x = __builtin_choose_expr(sizeof(T) == 4, sqrtf(a), sqrt(a)); break; \
    case 'i': x = a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b; break; \
    case 'a': x = a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b; break; \
    default: x = __builtin_choose_expr(sizeof(T) == 4, rintf(a), rint(a)); } \
  T y = x; mode('n'); return OF(FLUSH(y, z)); }
#define KEEP(x, z) (x)
MADE(float, f32, bits32, of32, flush)
MADE(double, f64, bits64, of64, KEEP)
static u64 i2f(int to, char m, int s, u64 a) { volatile u64 u = a; volatile s64 i = a; volatile float f; volatile double d; mode(m);
  if (to == 32) { if (s) f = i; else f = u; } else { if (s) d = i; else d = u; } mode('n'); return to == 32 ? of32(f) : of64(d); }
static u64 narrow(char m, u64 a) { volatile double d = bits64(a); volatile float f; mode(m); f = d; mode('n'); return of32(f); }
static u64 f2i(int n, int s, char m, double x) { volatile double v = x, y; mode(m); y = rint(v); mode('n'); if (isnan(y)) return n == 64 ? (u64)1 << 63 : 0;
  if (s) { double top = ldexp(1, n - 1); return (u64)(y >= top ? (s64)LOW(n - 1) : y < -top ? -(s64)LOW(n - 1) - 1 : (s64)y) & LOW(n); }
  return y >= ldexp(1, n) ? LOW(n) : y <= 0 ? 0 : (u64)y; }
static u64 get(const u8 *m, u64 at, int n) { u64 r = 0; memcpy(&r, m + at, n); return r; }
static void set(u8 *m, u64 at, int n, u64 v) { memcpy(m + at, &v, n); }
typedef struct { u32 tid[3], ntid[3], ctaid[3], nctaid[3], laneid, warpid; } T;
static u64 *out; static u64 count, room;
static void note(u64 line, u64 address) { if (count + 2 <= room) { out[count] = line; out[count + 1] = address; } count += 2; }
"""

C_RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
PERMUTES = {"": 0, "f4e": 1, "b4e": 2, "rc8": 3, "ecl": 4, "ecr": 5, "rc16": 6}


class NotInC(Exception):
    """An instruction that this translation does not support."""


def name(reg: Reg) -> str:
    return re.sub(r"\W", "_", reg.name)


class Translation:
    """One kernel. parameters: its buffer; places: addresses of its variables, as in the twin."""

    def __init__(self, machine: run.Machine):
        self.machine, self.code = machine, machine.kernel

    def text(self) -> str:
        lines, registers = [], {}
        for step in self.code.steps:
            for o in [step.guard, *step.operands]:
                for reg in _registers(o):
                    registers[name(reg)] = reg.bits
        at_label = {}
        for label, at in self.code.labels.items():
            at_label.setdefault(at, []).append(re.sub(r"\W", "_", label))
        for at, step in enumerate(self.code.steps):
            lines += [f"{label}:;" for label in at_label.get(at, ())]
            guard = f"if ({'!' if step.negated else ''}{name(step.guard)}) " if step.guard else ""
            lines.append(f"  {guard}{{ {self.statement(step)} }}")
        lines += [f"{label}:;" for label in at_label.get(len(self.code.steps), ())]
        declared = "".join(f"  u{max(bits, 8)} {n} = 0;\n" for n, bits in registers.items())
        return (
            f"{PRELUDE}\n{self.tables()}\nstatic void thread(const T *t) {{\n  u8 loc[256] = {{0}}; u32 cc = 0;"
            f" (void)cc; (void)loc;\n{declared}" + "\n".join(lines) + "\n}\n" + LAUNCH
        )

    def value(self, o, bits: int) -> str:
        match o:
            case Reg():
                return f"((u{max(bits, 8)}){name(o)})" if bits > 1 else name(o)
            case Imm(value=v):
                return f"((u{max(bits, 8)}){v & ((1 << bits) - 1)}ull)"
            case Not(value=v):
                return f"(!{self.value(v, 1)})"
            case Special(name=n):
                stem, _, d = n.partition(".")
                return f"t->{stem}[{'xyz'.index(d)}]" if d else f"t->{stem}"
            case Place(space=space, name=n):
                return f"{self.machine.places[space, n] - (self.local if space == 'local' else 0)}ull"
        raise NotInC(str(o))

    @property
    def local(self) -> int:
        return min((a for (space, _), a in self.machine.places.items() if space == "local"), default=0)

    def statement(self, step: Step) -> str:
        base, *words = step.opcode.split(".")
        types = [w for w in words if w in WIDTH]
        t = types[-1] if types else ""
        n, s = WIDTH.get(t, 0), t[:1] == "s"
        ops = step.operands
        v = lambda i, bits=n: self.value(ops[i], bits)
        signed = lambda i, bits=n: f"sx({bits}, {v(i, bits)})" if s else v(i, bits)
        big = lambda i: f"(({'s' if s else 'u'}128){signed(i)})"
        put = lambda text: f"{name(ops[0])} = {text};"
        match base:
            case "bra":
                return f"goto {re.sub(r'[^A-Za-z0-9_]', '_', ops[0].name)};"
            case "brx":
                table = self.code.tables[ops[1].name]
                return (
                    f"switch ({v(0, 32)}) {{ "
                    + " ".join(f"case {i}: goto {re.sub(r'[^A-Za-z0-9_]', '_', x)};" for i, x in enumerate(table))
                    + " default: return; }"
                )
            case "ret" | "exit":
                return "return;"
            case "bar":
                return ""
            case "ld" | "st" | "atom" | "red" | "cp" | "ldmatrix" | "stmatrix":
                return self.memory(step, base, words, t)
            case "cvta":
                shift = instructions.SHARED_WINDOW if "shared" in words else instructions.LOCAL_WINDOW
                return put(f"{v(1, 64)} + {shift}ull")
            case "mov":
                if isinstance(ops[0], Many):
                    each = n // len(ops[0].items)
                    return " ".join(f"{name(r)} = {v(1)} >> {each * i};" for i, r in enumerate(ops[0].items))
                if isinstance(ops[1], Many):
                    each = n // len(ops[1].items)
                    return put(
                        " | ".join(f"((u64){self.value(r, each)} << {each * i})" for i, r in enumerate(ops[1].items))
                    )
                return put(v(1))
            case "cvt":
                return put(self.convert(types, words, ops))
            case "setp":
                return self.compare(words, t, ops)
            case "set":
                return put(f"{_relation(words[0], t, v(1), v(2), s, n)} ? ~0u : 0")
            case "add" | "sub" | "mul" | "div" | "fma" | "sqrt" | "min" | "max" if t[0] == "f":
                letter = {
                    "add": "+",
                    "sub": "-",
                    "mul": "*",
                    "div": "/",
                    "fma": "f",
                    "sqrt": "r",
                    "min": "i",
                    "max": "a",
                }[base]
                given = [v(k) for k in range(1, len(ops))] + ["0"] * (4 - len(ops))
                return put(f"{t}('{letter}', '{_rounding(words)}', {int('ftz' in words)}, {', '.join(given)})")
            case "neg" | "abs" if t[0] == "f":
                top = f"((u64)1 << {n - 1})"
                return put(f"{v(1)} ^ {top}" if base == "neg" else f"{v(1)} & ~{top}")
            case "add" if "cc" in words:
                return f"{{ u128 w = (u128){v(1)} + {v(2)}; cc = w >> {n}; {put('w')} }}"
            case "sub" if "cc" in words:
                return f"{{ cc = {v(1)} >= {v(2)}; {put(f'{v(1)} - {v(2)}')} }}"
            case "addc":
                return put(f"{v(1)} + {v(2)} + cc")
            case "subc":
                return put(f"{v(1)} - {v(2)} - !cc")
            case "add":
                return put(f"(u{n})({v(1)} + {v(2)})")
            case "sub":
                return put(f"(u{n})({v(1)} - {v(2)})")
            case "mul" | "mad":
                if "wide" in words:
                    product, width = f"(u{2 * n})({big(1)} * {big(2)})", 2 * n
                else:
                    product, width = f"(u{n})(({big(1)} * {big(2)}) >> {n if 'hi' in words else 0})", n
                return put(product if base == "mul" else f"(u{width})({product} + {v(3, width)})")
            case "mul24":
                f = (lambda i: f"sx(24, {v(i)} & 0xffffff)") if s else (lambda i: f"(u64)({v(i)} & 0xffffff)")
                return put(f"(u32)({f(1)} * {f(2)})")
            case "sad":
                return put(f"(u{n})({v(3)} + ({signed(1)} > {signed(2)} ? {v(1)} - {v(2)} : {v(2)} - {v(1)}))")
            case "div" | "rem":
                return put(f"(u{n})({big(1)} {'/' if base == 'div' else '%'} {big(2)})")
            case "neg":
                return put(f"(u{n})-{v(1)}")
            case "abs":
                return put(f"({signed(1)} < 0 ? (u{n})-{v(1)} : {v(1)})")
            case "min" | "max":
                return put(f"({signed(1)} {'<' if base == 'min' else '>'} {signed(2)} ? {v(1)} : {v(2)})")
            case "and" | "or" | "xor":
                return put(f"{v(1)} {dict(zip(('and', 'or', 'xor'), '&|^'))[base]} {v(2)}")
            case "not":
                return put(f"!{v(1)}" if n == 1 else f"~{v(1)}")
            case "cnot":
                return put(f"{v(1)} == 0")
            case "lop3":
                return put(f"lop3({v(1)}, {v(2)}, {v(3)}, {v(4)})")
            case "shl":
                return put(f"shl({n}, {v(1)}, {v(2, 32)})")
            case "shr":
                return put(f"shr_{'s' if s else 'u'}({n}, {v(1)}, {v(2, 32)})")
            case "shf":
                return put(f"shf({v(1)}, {v(2)}, {v(3)}, {int('l' in words)}, {int('wrap' in words)})")
            case "bfe":
                return put(f"bfe_{'s' if s else 'u'}({n}, {v(1)}, {v(2, 32)}, {v(3, 32)})")
            case "bfi":
                return put(f"bfi({n}, {v(1)}, {v(2)}, {v(3, 32)}, {v(4, 32)})")
            case "bmsk":
                return put(f"bmsk({v(1)}, {v(2)}, {int('wrap' in words)})")
            case "szext":
                return put(f"szext({v(1)}, {v(2)}, {int(s)}, {int('wrap' in words)})")
            case "brev":
                return put(f"brev({n}, {v(1)})")
            case "popc":
                return put(f"__builtin_popcountll({v(1)})")
            case "clz":
                return put(f"clz({n}, {v(1)})")
            case "bfind":
                found = f"bfind_{'s' if s else 'u'}({n}, {v(1)})"
                return put(f"{found} == ~0u ? ~0u : {n - 1} - {found}" if "shiftamt" in words else found)
            case "fns":
                return put(f"fns({v(1)}, {v(2)}, (s32){v(3)})")
            case "prmt":
                return put(f"prmt({v(1)}, {v(2)}, {v(3)}, {PERMUTES[next((w for w in words if w in PERMUTES), '')]})")
            case "selp":
                return put(f"{v(3, 1)} ? {v(1)} : {v(2)}")
            case "slct":
                return put(f"(s32){v(3)} >= 0 ? {v(1)} : {v(2)}")
            case "dp4a":
                return put(f"dp4a({v(1)}, {v(2)}, {v(3)}, {int(types[0][0] == 's')}, {int(types[1][0] == 's')})")
        raise NotInC(step.opcode)

    def convert(self, types, words, ops) -> str:
        to, of = types
        n, k = WIDTH[to], WIDTH[of]
        x = self.value(ops[1], k)
        number = f"sx({k}, {x})" if of[0] == "s" else x
        if "f16" in types:
            return (
                f"({{ _Float16 h_ = (_Float16)bits32({x}); u16 b_; memcpy(&b_, &h_, 2); b_; }})"
                if to == "f16"
                else f"({{ u16 b_ = {x}; _Float16 h_; memcpy(&h_, &b_, 2); of32((float)h_); }})"
            )
        if to[0] == of[0] == "f":
            if n == k:
                return f"{of}('w', '{_rounding(words)}', 0, {x}, 0, 0)"
            return f"narrow('{_rounding(words)}', {x})" if n < k else f"of64(bits32({x}))"
        if to[0] == "f":
            return f"i2f({n}, '{_rounding(words)}', {int(of[0] == 's')}, (u64){number})"
        if of[0] == "f":
            value = f"bits64({x})" if k == 64 else f"flush(bits32({x}), {int('ftz' in words)})"
            return f"f2i({n}, {int(to[0] == 's')}, '{_rounding(words)}', {value})"
        return f"({'s' if to[0] == 's' else 'u'}{n})({number})"

    def compare(self, words, t, ops) -> str:
        n, s = WIDTH[t], t[0] == "s"
        test = _relation(words[0], t, self.value(ops[1], n), self.value(ops[2], n), s, n)
        join = next((w for w in words if w in ("and", "or", "xor")), None)
        combined = lambda a: (
            f"({a} {dict(zip(('and', 'or', 'xor'), '&|^'))[join]} ({self.value(ops[3], 1)}))" if join else a
        )
        first, second = ops[0].items if isinstance(ops[0], Many) else (ops[0], None)
        text = f"{{ u8 a = {combined(test)}, b = {combined('(!' + test + ')')}; (void)b; {name(first)} = a;"
        return text + (f" {name(second)} = b; }}" if second is not None else " }")

    def memory(self, step: Step, base, words, t) -> str:
        space = next((w for w in words if w in ("const", "global", "shared", "local", "param")), "generic")
        where = next(o for o in step.operands if isinstance(o, Mem))
        n = WIDTH.get(t, 32)
        if space == "param":
            at = self.machine_offset(where)
            number = int.from_bytes(self.machine.parameters[at : at + n // 8], "little")
            text = f"sx({n}, {number}ull)" if t[0] == "s" else f"{number}ull"
            return f"{name(step.operands[0])} = {text};"
        if space in ("const", "global") and base == "ld":
            address = f"(u64)({self.value(where.base, 64)} + {where.offset})"
            return f"{name(step.operands[0])} = table({address}, {n // 8});"
        address = (
            f"(u{32 if space == 'shared' else 64})({self.value(where.base, 32 if space == 'shared' else 64)} +"
            f" {where.offset})"
        )
        if base in ("cp", "ldmatrix", "stmatrix") or space == "shared":
            other = step.operands[0]
            zero = (
                ""
                if base in ("st", "red", "cp", "stmatrix")
                else " ".join(f"{name(r)} = 0;" for r in _registers(other))
            )
            return f"note({step.line}, (u32)({self.value(where.base, 32)} + {where.offset})); {zero}"
        other = step.operands[1 if base == "st" else 0]
        items = other.items if isinstance(other, Many) else (other,)
        if space == "generic":
            local = f"{address} - {instructions.LOCAL_WINDOW}ull"
            body = (
                f"if ({address} >= {instructions.SHARED_WINDOW}ull) {{ note({step.line}, {address} -"
                f" {instructions.SHARED_WINDOW}ull); }} else {{ "
                + (
                    " ".join(
                        f"set(loc, {local} + {i * n // 8}, {n // 8}, {self.value(o, n)});" for i, o in enumerate(items)
                    )
                    if base == "st"
                    else ""
                )
                + " }"
            )
            return body + ("" if base == "st" else " ".join(f"{name(r)} = 0;" for r in items))
        if base == "st":
            return " ".join(
                f"set(loc, {address} + {i * n // 8}, {n // 8}, {self.value(o, n)});" for i, o in enumerate(items)
            )
        load = lambda i: f"get(loc, {address} + {i * n // 8}, {n // 8})"
        return " ".join(
            f"{name(r)} = {f'(u{r.bits})sx({n}, {load(i)})' if t[0] == 's' else load(i)};" for i, r in enumerate(items)
        )

    def machine_offset(self, where: Mem) -> int:
        return instructions.Instructions._offset(self.code, where.base.name) + where.offset

    def tables(self) -> str:
        """The initialised variables, in order of their addresses."""
        out, cases = [], []
        for k, v in enumerate(v for v in self.machine.globals.values() if v.data and v.space in ("const", "global")):
            at = self.machine.places[v.space, v.name]
            out.append(f"static const u8 data{k}[] = {{{', '.join(map(str, v.data))}}};")
            cases.append(f"if (at >= {at}ull && at + n <= {at + v.size}ull) return get(data{k}, at - {at}ull, n);")
        return "\n".join(out) + "\nstatic u64 table(u64 at, int n) { " + " ".join(cases) + " return 0; }\n"


LAUNCH = r"""
u64 launch(const u32 *grid, const u32 *block, u64 *to, u64 size) {
  out = to; room = size; count = 0;
  for (u32 c = 0; c < grid[0] * grid[1] * grid[2]; c++)
    for (u32 i = 0; i < block[0] * block[1] * block[2]; i++) {
      T t = {{i % block[0], i / block[0] % block[1], i / (block[0] * block[1])}, {block[0], block[1], block[2]},
             {c % grid[0], c / grid[0] % grid[1], c / (grid[0] * grid[1])}, {grid[0], grid[1], grid[2]}, i % 32, i / 32};
      note(~(u64)0, (u64)c << 32 | i);
      thread(&t);
    }
  return count;
}
"""


def _rounding(words) -> str:
    """The second letter of rn, rz, rm, rp, or of rni, rzi, rmi, rpi."""
    return next((w[1] for w in words if w in ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")), "n")


def _relation(relation: str, t: str, a: str, b: str, is_signed: bool, n: int) -> str:
    if t[0] != "f":
        x = (lambda v: f"sx({n}, {v})") if is_signed else (lambda v: v)
        return f"({x(a)} {C_RELATIONS[relation]} {x(b)})"
    a, b = f"bits{n}({a})", f"bits{n}({b})"
    lost = f"isunordered({a}, {b})"
    if relation in ("num", "nan"):
        return f"({'!' if relation == 'num' else ''}{lost})"
    if relation in C_RELATIONS:
        return f"(!{lost} && {a} {C_RELATIONS[relation]} {b})"
    return f"({lost} || {a} {C_RELATIONS[relation[:-1]]} {b})"


def _registers(o) -> list[Reg]:
    match o:
        case Reg():
            return [o]
        case Many(items=items):
            return [r for i in items for r in _registers(i)]
        case Not(value=v):
            return _registers(v)
        case Mem(base=b):
            return _registers(b)
    return []


def addresses(machine: run.Machine, folder: Path, grid, block) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """(block number, thread number) -> [(line, address), …] from the compiled C."""
    source, library = folder / "kernel.c", folder / "kernel.so"
    source.write_text(Translation(machine).text())
    subprocess.run(
        [
            COMPILER,
            "-O1",
            "-w",
            "-ffp-contract=off",
            "-frounding-math",
            "-fwrapv",
            "-shared",
            "-fPIC",
            "-o",
            str(library),
            str(source),
            "-lm",
        ],
        check=True,
    )
    call = ctypes.CDLL(str(library)).launch
    call.restype = ctypes.c_uint64
    room = 1 << 20
    numbers = (ctypes.c_uint64 * room)()
    used = call((ctypes.c_uint32 * 3)(*grid), (ctypes.c_uint32 * 3)(*block), numbers, ctypes.c_uint64(room))
    assert used <= room, "more accesses than the buffer holds"
    out: dict = {}
    for i in range(0, used, 2):
        if numbers[i] == (1 << 64) - 1:
            now = out[numbers[i + 1] >> 32, numbers[i + 1] & 0xFFFFFFFF] = []
        else:
            now.append((numbers[i], numbers[i + 1]))
    return out


def of_requests(requests, grid, block) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """The same from the twin's requests."""
    threads = block[0] * block[1] * block[2]
    out: dict = {(c, t): [] for c in range(grid[0] * grid[1] * grid[2]) for t in range(threads)}
    for r in requests:
        number = r.block[0] + grid[0] * (r.block[1] + grid[1] * r.block[2])
        for lane, address in r.addresses.items():
            out[number, r.warp * 32 + lane].append((r.line, address))
    return out
