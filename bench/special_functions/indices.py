"""CUDA kernels that compute an index with a division, a root or another function, and store it.

If `tell` is set, they also use it in shared memory.

    sdiv    v = (int)(x · 0x9E3779B9u) / (int)(x % 2 ? a + x : 0u - x);       x = 1, 2, …, one per thread; a = 37

`VARIANTS`: how they are compiled. Some are kernels for which the engine once gave wrong answers: an approximation
followed by what looks like the correction of a division.
"""

from __future__ import annotations

from collections.abc import Iterable

A = 37  # the kernels' parameter
BLOCK = 256  # threads
COUNT = 8192  # the x tried on a GPU
# name: (options of NVRTC, options of ptxas)
VARIANTS = {
    "O3": ((), ()),
    "fast": (("--use_fast_math",), ()),
    "loose": (("-ftz=true", "-prec-div=false", "-prec-sqrt=false", "-fmad=false"), ()),
    "O0": ((), ("-O0",)),
    "O1": ((), ("-O1", "--maxrregcount=24")),
    "G": (("-G",), ("-O0",)),
}

_HASH = "0x9E3779B97F4A7C15ull", "0xBF58476D1CE4E5B9ull"
_DOUBLE = "v = __double2loint(d) ^ __double2hiint(d);"
_FLOAT = "v = __float_as_uint({});"


def _approximate(instruction: str, operands: str = '"f"((float)x)') -> str:
    numbered = ", ".join(f"%{k}" for k in range(operands.count('"f"') + 1))
    return f'float r; asm volatile("{instruction} {numbered};" : "=f"(r) : {operands});'


def _wide(sign: str, operator: str) -> str:
    kind = "unsigned long long" if sign == "u" else "long long"
    cast = "" if sign == "u" else "(long long)"
    return (
        f"{kind} p = {cast}(x * {_HASH[0]}), q = {cast}(x * {_HASH[1]}) >> (x & 63) | 1, r = p {operator} q; "
        "v = (unsigned)r ^ (unsigned)(r >> 32);"
    )


def kernels() -> dict[str, str]:
    """{name: statements that set the unsigned v from the unsigned x and a}."""
    return _integers() | _floats() | _functions() | _indices()


def _integers() -> dict[str, str]:
    return {
        "udiv_xa": "v = x / a;",
        "urem_xa": "v = x % a;",
        "udiv_ax": "v = 0xDEADBEEFu / x;",
        "urem_ax": "v = 0xDEADBEEFu % x;",
        "udiv_big": "v = (x * 0x9E3779B9u) / (x * a | 1u);",
        "urem_big": "v = (x * 0x9E3779B9u) % ((x * a >> (x & 31)) | 1u);",
        "sdiv": "v = (int)(x * 0x9E3779B9u) / (int)(x % 2 ? a + x : 0u - x);",
        "srem": "v = (int)(x * 0x9E3779B9u) % (int)(x % 2 ? a + x : 0u - x);",
        "udiv64": _wide("u", "/"),
        "urem64": _wide("u", "%"),
        "sdiv64": _wide("s", "/"),
        "srem64": _wide("s", "%"),
        "udiv64small": "unsigned long long p = x * 12345ull, q = a; v = (unsigned)(p / q) + (unsigned)(p % (q + x));",
        "udiv16": "unsigned short p = x * 40503u, q = (unsigned short)(x | 1); v = p / q;",
        "sdiv16": "short p = x * 40503u, q = (short)(x | 1); v = p / q;",
        "urem16": "unsigned short p = x * 40503u, q = (unsigned short)(a + x % 77); v = p % q;",
        "udiv8": "unsigned char p = x * 167u, q = (unsigned char)(x >> 8 | 1); v = p / q * 256 + p % q;",
        "sdiv8": "signed char p = x * 167u, q = (signed char)(x >> 8 | 1); v = p / q * 256 + p % q;",
    }


def _floats() -> dict[str, str]:
    out = {
        "fdiv_ax": _FLOAT.format("(float)a / (float)x"),
        "frcp": _FLOAT.format("1.0f / (float)x"),
        "fdiv_bits": _FLOAT.format("__uint_as_float(x * 0x9E3779B9u) / __uint_as_float(x * 0x85EBCA6Bu)"),
        "rcp_raw": _approximate("rcp.approx.ftz.f32") + _FLOAT.format("r"),
        "rcp_fma": _approximate("rcp.approx.ftz.f32") + " v = (unsigned)fmaf(r, 16777216.0f, 1.0f);",
        "rcp_fma2": _approximate("rcp.approx.f32") + _FLOAT.format("fmaf(r, 16777216.0f, -1.0f)"),
        "rcp_mul1": _FLOAT.format("1.0f / (float)x * (float)(a * 65536u) + 1.0f"),
        "rcp_mulrz": _approximate("rcp.approx.ftz.f32")
        + " r = __int_as_float(__float_as_int(r * 65536.0f) + 2);"
        + _FLOAT.format("__fmul_rz(r, (float)a)"),
        "fdividef": _FLOAT.format("__fdividef((float)a * 65536.0f, (float)x) - 1.0f"),
        "divfull": _approximate("div.full.f32", '"f"((float)a), "f"((float)x)') + _FLOAT.format("r"),
        "sqrtf": _FLOAT.format("sqrtf((float)x)"),
        "sqrt_bits": _FLOAT.format("sqrtf(__uint_as_float(x * 0x9E3779B9u))"),
        "sqrt_approx": _approximate("sqrt.approx.f32") + _FLOAT.format("r"),
        "rsqrtf": _FLOAT.format("rsqrtf((float)x)"),
        "frsqrt_rn": _FLOAT.format("__frsqrt_rn((float)x)"),
        "drsqrt": "double d = rsqrt((double)x); " + _DOUBLE,
        "ddiv": "double d = (double)a / (double)x; " + _DOUBLE,
        "dsqrt": "double d = sqrt((double)x); " + _DOUBLE,
        "ddiv_bits": "double d = __longlong_as_double(x * 0x9E3779B97F4A7C15ll)"
        " / __longlong_as_double(x * 0xBF58476D1CE4E5B9ll); " + _DOUBLE,
        "dsqrt_bits": "double d = sqrt(__longlong_as_double(x * 0x9E3779B97F4A7C15ll)); " + _DOUBLE,
    }
    for mode in ("rn", "rz", "ru", "rd"):
        out[f"fdiv_{mode}"] = _FLOAT.format(f"__fdiv_{mode}((float)a, (float)x)")
        for name in ("rcp", "sqrt"):
            out[f"f{name}_{mode}"] = _FLOAT.format(f"__f{name}_{mode}((float)x)")
            out[f"d{name}_{mode}"] = f"double d = __d{name}_{mode}((double)x); " + _DOUBLE
        out[f"ddiv_{mode}"] = f"double d = __ddiv_{mode}((double)a, (double)x); " + _DOUBLE
    return out


def _functions() -> dict[str, str]:
    out = {
        name: _FLOAT.format(f"{name}((float)x * 0.001f)")
        for name in (
            "expf",
            "exp2f",
            "exp10f",
            "logf",
            "log2f",
            "log10f",
            "log1pf",
            "sinf",
            "cosf",
            "tanf",
            "tanhf",
            "cbrtf",
            "erff",
            "atanf",
        )
    }
    out |= {
        f"{name}_fast": _FLOAT.format(f"__{name}((float)x * 0.001f)")
        for name in ("expf", "exp10f", "logf", "log2f", "log10f", "sinf", "cosf", "tanf")
    }
    return out | {
        "powf": _FLOAT.format("powf((float)x, 0.37f)"),
        "powf_fast": _FLOAT.format("__powf((float)x, 0.37f)"),
        "hypotf": _FLOAT.format("hypotf((float)x, (float)a)"),
        "fmodf": _FLOAT.format("fmodf((float)x * 3.7f, (float)a)"),
        "remainderf": _FLOAT.format("remainderf((float)x * 3.7f, (float)a)"),
        "fmod": "v = (unsigned)fmod((double)x * 3.7, (double)a);",
        "exp": "v = __double2hiint(exp((double)x * 0.001));",
        "log": "double d = log((double)x); " + _DOUBLE,
        "pow": "double d = pow((double)x, 1.37); " + _DOUBLE,
        "sin": "double d = sin((double)x * 0.01); " + _DOUBLE,
        "cbrt": "double d = cbrt((double)x); " + _DOUBLE,
    }


def _indices() -> dict[str, str]:
    return {
        "fdiv_xa": "v = (unsigned)((float)x / (float)a * 64.0f);",
        "fdiv_floor": "v = (unsigned)floorf((float)x / (float)a) * 33 + (x % a);",
        "sqrt_row": "unsigned r = (unsigned)((sqrtf(8.0f * x + 1.0f) - 1.0f) / 2.0f); "
        "v = r * 33 + x - r * (r + 1) / 2;",
        "dfloor": "v = (unsigned)floor((double)x / a * 3.0) + (unsigned)(sqrt((double)x) * 7);",
        "twiddle": "float s, c; __sincosf(6.2831853f * (float)(x & 1023) / 1024.0f, &s, &c); "
        "v = (unsigned)(int)(s * 512.0f) & 1023 | ((unsigned)(int)(c * 512.0f) & 1023) << 16;",
        "texel": "float u = (x + 0.5f) / (float)a; v = (unsigned)(u * 255.0f) + ((unsigned)rintf(u * 100.0f) << 12);",
        "log2int": "v = (unsigned)log2f((float)x) * 32 + (unsigned)__log2f((float)x);",
        "round": "v = __float2int_rn((float)x / 3.0f) + (__float2uint_ru((float)x / 7.0f) << 8)"
        " + (__float2int_rd(-(float)x / 9.0f) << 16);",
        "halves": "__half h = __float2half_rn((float)x / (float)a); "
        "v = __half_as_ushort(h) + (__half2uint_rz(h) << 16);",
        "hdiv": "__half h = __hdiv(__uint2half_rn(x), __uint2half_rn(a)); v = __half_as_ushort(h);",
        "hrcp": "v = __half_as_ushort(hrcp(__uint2half_rn(x)));",
        "hsqrt": "v = __half_as_ushort(hsqrt(__uint2half_rn(x)));",
        "sat": "v = __float_as_uint(__saturatef((float)x / 5000.0f))"
        " + (unsigned)__float2half_rn(__saturatef((float)x / 70000.0f) * 100.0f);",
    }


def source(names: Iterable[str] | None = None) -> str:
    """CUDA source with a kernel `i_NAME(out, a, tell)` for each."""
    every = kernels()
    lines = ["#include <cuda_fp16.h>", "extern __shared__ unsigned table[];"]
    lines += [
        f'extern "C" __global__ void i_{name}(unsigned* out, unsigned a, unsigned tell) '
        f"{{ unsigned x = blockIdx.x * {BLOCK} + threadIdx.x + 1, v; {every[name]} out[x - 1] = v; "
        "if (tell) { table[v & 0xffff] = x; table[v >> 16] = x; } }"
        for name in names or every
    ]
    return "\n".join(lines) + "\n"
