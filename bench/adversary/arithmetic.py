"""Arithmetic as templates: each family is a list of expressions that nvcc and NVRTC take, by what they give.

    "u": unsigned 32-bit, "f": float, "w": unsigned 64-bit, "d": double

Places in a template: {u} {f} {w} {d} stand for a smaller expression of that type, {p} for one from 1 to 16, {l} for one
from 0 to 31, {k} for a constant, {m} for a mask, {s} for a shift below 8. Names that are not the language's are in
HELPERS.
"""

from __future__ import annotations

import re

CONSTANTS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 36, 48, 63, 64, 65, 96, 100, 127, 129, 255, 0x1F3,
             0x1001, 0x10001, 0x80000001, 0xFFFFFFF0)
MASKS = (1, 3, 6, 7, 15, 24, 28, 31, 33, 48, 63, 127, 0xF0, 255, 0x3FF, 0xFFFF, 0xF0F0F0F, 0xFFFFFFFC, 0xFFFFFFFF)

BASIC = {
    "u": (
        "({u} + {u})", "({u} - {u})", "({u} * {k}u)", "({u} ^ {u})", "({u} & {m}u)", "({u} | {u})", "({u} << {s})",
        "({u} >> {s})",
        "({u} * {u})", "({u} < {u} ? {u} : {u})", "min({u}, {u})", "max({u}, {u})", "(~{u})",
        "(unsigned)((int){u} >> {s})", "({u} + {k}u)",
        "(unsigned)min((int){u}, (int){u})", "(({u} & {m}u) * {k}u + {u})", "(({u} & {m}u) ^ ({u} >> {s}))",
        "(unsigned)abs((int){u})",
        "((int){u} < (int){u} ? {u} : {u})", "({u} & 1u ? {u} : {u})", "({u} % {k}u)", "({u} / {k}u)",
        "(unsigned)((int){u} / {kk})",
    ),
}

FAMILIES: dict[str, dict[str, tuple[str, ...]]] = {
    "division": {
        "u": (
            "({u} / {p})", "({u} % {p})", "(unsigned)((int){u} / (int){p})", "(unsigned)((int){u} % (int){p})",
            "(unsigned)((int){u} / -(int){p})", "(unsigned)((int){u} % ((int)({u} & 31u) - 40))",
            "({u} / (({u} & 0xffffu) + 1u))",
            "({u} % (({u} >> 8) + 1u))", "(unsigned)((unsigned short){u} / (unsigned short){p})",
            "(unsigned)((unsigned short){u} % (unsigned short){p})",
            "(unsigned)((short){u} / (short){p})", "(unsigned)((signed char){u} % (signed char){p})",
            "(unsigned)((unsigned char){u} / (unsigned char){p})",
            "(unsigned)({w} / {p})", "(unsigned)({w} % {p})", "(unsigned)((long long){w} / (long long){p})",
            "(unsigned)((long long){w} % -(long long){p})",
            "(unsigned)({w} / (({w} >> 20) + 1ull))", "(unsigned)({w} % (({w} & 0xffffffffffull) + 3ull))",
            "({u} / {k}u % {p})",
        ),
    },
    "packed": {
        "u": (
            "__vadd2({u}, {u})", "__vadd4({u}, {u})", "__vsub2({u}, {u})", "__vsub4({u}, {u})", "__vavgu4({u}, {u})",
            "__vavgs2({u}, {u})",
            "__vabsdiffu4({u}, {u})", "__vabsdiffs2({u}, {u})", "__vmaxs2({u}, {u})", "__vminu4({u}, {u})",
            "__vmaxu2({u}, {u})", "__vcmpgtu4({u}, {u})",
            "__vcmpeq2({u}, {u})", "__vseteq4({u}, {u})", "__vsetltu2({u}, {u})", "__vsads4({u}, {u})",
            "__vsadu2({u}, {u})", "__vneg2({u})", "__vnegss4({u})",
            "__vaddss2({u}, {u})", "__vaddus4({u}, {u})", "__vsubus2({u}, {u})", "__vsubss4({u}, {u})",
            "__vabs2({u})", "__vabsss4({u})", "__vhaddu4({u}, {u})",
            "__dp4a({u}, {u}, {u})", "(unsigned)__dp4a((int){u}, (int){u}, (int){u})", "__dp2a_lo({u}, {u}, {u})",
            "(unsigned)__dp2a_hi((int){u}, (int){u}, (int){u})",
            "__byte_perm({u}, {u}, {u})", "__byte_perm({u}, {u}, {k}u)", "__byte_perm({u}, 0u, 0x4321u)",
            "__viaddmax_u32({u}, {u}, {u})",
            "(unsigned)__vimax3_s32((int){u}, (int){u}, (int){u})", "__vimin3_u32({u}, {u}, {u})",
            "(unsigned)__vimax_s32_relu((int){u}, (int){u})",
            "__vimax3_s16x2({u}, {u}, {u})", "__viaddmin_s16x2({u}, {u}, {u})", "__vimin_s16x2_relu({u}, {u})",
            "__viaddmax_s16x2_relu({u}, {u}, {u})",
            "__vimin3_u16x2({u}, {u}, {u})", "(unsigned)__viaddmin_s32_relu((int){u}, (int){u}, (int){u})",
            "adv_vset({u}, {u})", "adv_vadd({u}, {u}, {u})",
            "adv_vmad({u}, {u}, {u})", "adv_vshl({u}, {u})", "adv_vadd2({u}, {u}, {u})", "adv_dp4a_us({u}, {u}, {u})",
            "adv_bmax({u}, {u})",
        ),
    },
    "bits": {
        "u": (
            "__brev({u})", "(unsigned)__clz({u})", "(unsigned)__ffs({u})", "(unsigned)__popc({u})",
            "__fns({u}, {l}, (int)({u} & 7u) - 3)", "(unsigned)__clzll({w})",
            "(unsigned)__popcll({w})", "(unsigned)__ffsll({w})", "(unsigned)__brevll({w})", "adv_bfe({u}, {u}, {u})",
            "adv_bfes({u}, {u}, {u})", "adv_bfi({u}, {u}, {u}, {u})",
            "adv_bfind({u})", "adv_bfinds({u})", "adv_lop3({u}, {u}, {u})", "adv_szext({u}, {u})",
            "adv_bmsk({u}, {u})", "adv_prmt_f4e({u}, {u}, {u})",
            "adv_prmt_rc8({u}, {u})", "adv_prmt_ecl({u}, {u})", "__sad((int){u}, (int){u}, {u})",
            "__usad({u}, {u}, {u})", "__umul24({u}, {u})",
            "(unsigned)__mul24((int){u}, (int){u})", "__umulhi({u}, {u})", "(unsigned)__mulhi((int){u}, (int){u})",
            "__uhadd({u}, {u})", "(unsigned)__rhadd((int){u}, (int){u})",
            "(1u << {l})", "((1u << {l}) - 1u)", "({u} & (0u - {u}))", "(({u} >> {l}) & 1u)",
            "(unsigned)((int){u} >> (int){l})", "adv_sat({u}, {u})", "adv_cvtpack({u}, {u})",
        ),
    },
    "funnel": {
        "u": (
            "__funnelshift_l({u}, {u}, {u})", "__funnelshift_r({u}, {u}, {u})", "__funnelshift_lc({u}, {u}, {u})",
            "__funnelshift_rc({u}, {u}, {u})",
            "__funnelshift_l({u}, {u}, {k}u)", "(unsigned)({w} >> {l})", "(unsigned)(({w} << {l}) >> 32)",
            "(unsigned)((long long){w} >> {l})", "adv_shl({u}, {u})",
            "adv_shr({u}, {u})", "adv_shrs({u}, {u})", "({u} << {l} | {u} >> (32u - ({l} | 1u)))",
        ),
        "w": ("({w} << {l})", "({w} >> {l})", "(unsigned long long)((long long){w} >> {l})"),
    },
    "wide": {
        "u": (
            "(unsigned)({w} >> 32)", "(unsigned)({w} >> {s})", "(unsigned){w}", "(unsigned)__umul64hi({w}, {w})",
            "(unsigned)__mul64hi((long long){w}, (long long){w})",
            "({w} < {w} ? {u} : {u})", "((long long){w} < (long long){w} ? {u} : {u})",
            "adv_addc({u}, {u}, {u}, {u})", "adv_madhicc({u}, {u}, {u})",
            "(unsigned)min({w}, {w})",
        ),
        "w": (
            "({w} + {w})", "({w} - {w})", "({w} * {k}ull)", "({w} ^ {w})", "((unsigned long long){u} * {u})",
            "((unsigned long long){u} << 32 | {u})",
            "({w} & {m}ull)", "max({w}, {w})", "({w} * {w})", "(unsigned long long)((long long)(int){u} * (int){u})",
            "((unsigned long long)(long long)(int){u})",
        ),
    },
    "fast_float": {
        "u": (
            "(unsigned)fabsf(__fdividef({f}, {pf}))", "(unsigned)(int)(__fdividef({f}, {pf}) - 1.0f)",
            "__float2uint_rn(__frcp_rn({pf}) * {f})",
            "(unsigned)(int)(1.0f / {pf} * {f})", "(unsigned)(int)(adv_rcp({pf}) * 16777216.0f + 1.0f)",
            "(unsigned)(int)(adv_rsqrt({pf}) * {f})",
            "(unsigned)(int)(sqrtf({pf}) * {k}.0f)", "(unsigned)(int)(adv_sqrt({pf}) * {k}.0f)",
            "(unsigned)(int)(__expf({sf}) * {k}.0f)",
            "(unsigned)(int)(__log2f({pf}) * {k}.0f)", "(unsigned)(int)(__sinf({sf}) * 100.0f)",
            "(unsigned)(int)(cosf({sf}) * 100.0f)", "(unsigned)(int)(powf({pf}, 0.5f) * 3.0f)",
            "(unsigned)(int)(exp2f({sf}) * 5.0f)", "(unsigned)(int)(tanhf({sf}) * 31.0f)",
            "__float_as_uint(adv_rcp({pf}))", "__float_as_uint(adv_rsqrt({pf}))", "__float_as_uint({f} / {pf})",
            "__float_as_uint(adv_ex2({sf}))", "__float_as_uint(adv_lg2({pf}))",
            "(unsigned)(int)(fmaf(adv_rcp({pf}), 16777216.0f, 1.0f))", "(unsigned)(int)(fmodf({pf}, 3.0f) * 4.0f)",
            "(unsigned)(int)({pf} * adv_rcp_ftz({pf}))", "(unsigned)(int)(atan2f({pf}, {pf}) * 20.0f)",
            "(unsigned)(int)(1.0f / sqrtf({pf}) * 64.0f)", "(unsigned)(int)(rsqrtf({pf}) * 64.0f)",
            "(unsigned)(int)(logf({pf}) * 9.0f)", "(unsigned)(int)(expf({sf}) * 9.0f)",
            "(unsigned)(int)(cbrtf({pf}) * 9.0f)", "(unsigned)(int)(erff({sf}) * 33.0f)",
        ),
    },
    "float": {
        "u": (
            "(unsigned)(int){f}", "__float2uint_rn({f})", "(unsigned)__float2int_ru({f})",
            "(unsigned)__float2int_rd({f})", "__float2uint_rz(fabsf({f}))",
            "__float_as_uint({f})", "(__float_as_uint({f}) >> 19)", "({f} < {f} ? {u} : {u})",
            "(isnan({f} - {f}) ? {u} : {u})", "(unsigned)(int)rintf({f})",
            "(unsigned)(int)floorf({f})", "(unsigned)(int)truncf({f} * 1.5f)", "(unsigned)llrintf({f})",
            "(unsigned)(unsigned char)(int){f}", "(unsigned)(short)(int){f}",
            "(unsigned)(int)(__saturatef({f} * 0.01f) * 63.0f)", "(unsigned)ilogbf({pf})",
            "(unsigned)(int)ldexpf({f}, 3)", "(unsigned)(int)fminf({f}, {f})", "(unsigned)(int)fmaxf({f}, -{f})",
            "(unsigned)(int)copysignf({f}, {f})", "adv_cvtsat({f})", "(unsigned)(int)frexpf_({f})",
            "(unsigned)__float2ll_rn({f})", "(signbit({f}) ? {u} : {u})",
        ),
        "f": (
            "({f} + {f})", "({f} - {f})", "({f} * {f})", "fmaf({f}, {f}, {f})", "__fadd_rz({f}, {f})",
            "__fmul_rd({f}, {f})", "__fmaf_ru({f}, {f}, {f})", "({f} / {pf})",
            "__fdiv_rd({f}, {pf})", "__fsqrt_rn({pf})", "__fsqrt_rz({pf})", "__frcp_ru({pf})", "fabsf({f})",
            "fminf({f}, {f})", "(-{f})", "roundf({f})", "__uint2float_rz({u})",
            "__int2float_rd((int){u})", "__uint_as_float({u})", "({f} > {f} ? {f} : {f})", "({f} * 0.0625f)",
            "({f} * 1.7f)", "__fsub_ru({f}, {f})", "__frsqrt_rn({pf})",
        ),
    },
    "double_half": {
        "u": (
            "(unsigned)(int){d}", "__double2uint_rn({d})", "(unsigned)(long long){d}",
            "(unsigned)__double2hiint({d})", "(unsigned)__double2loint({d})", "({d} < {d} ? {u} : {u})",
            "(unsigned)(int)({d} / ((double){p} + 0.5))", "(unsigned)(int)(sqrt((double)({u} & 0xfffffu)) * 3.0)",
            "adv_half2({u}, {u})", "adv_hfma({u}, {u}, {u})", "adv_hlt({u}, {u}, {u})",
            "adv_f16({f})", "adv_bf16({f})", "(unsigned)(int)floor({d})",
            "(unsigned)(int)(1.0 / ((double){p}) * 840.0)", "adv_i2h({u})", "(unsigned)(int)__double2float_rd({d})",
        ),
        "d": ("(double)(int){u}", "({d} + {d})", "({d} * {d})", "fma({d}, {d}, {d})", "(double){f}",
              "((double){u} * 0.001)",
              "__dadd_rz({d}, {d})", "fmin({d}, {d})", "fabs({d})"),
    },
}

FLOAT_LEAVES = ("(float)({u} & 1023u)", "(float)(int)({u} & 255u)", "f0", "f1", "1.5f", "0.1f", "-3.0f",
                "(float)threadIdx.x", "(float)blockDim.x")
POSITIVE_FLOAT = "(float)({u} % 1000u + 1u)"
SMALL_FLOAT = "((float)({u} & 63u) * 0.125f - 3.0f)"
WIDE_LEAVES = ("(unsigned long long){u}", "w0", "w1", "((unsigned long long){u} << 33)", "0x123456789abcdefull")
DOUBLE_LEAVES = ("(double)({u} & 0xffffu)", "0.75", "(double)f0")


def _asm(name: str, ptx: str, count: int, kind: str = "unsigned", result: str = "unsigned") -> str:
    """A device function around one PTX instruction: %0 is the result, %1 to %count its arguments."""
    letter = {"unsigned": "r", "float": "f"}
    names = "abcd"[:count]
    arguments = ", ".join(f"{kind} {name}" for name in names)
    operands = ", ".join(f'"{letter[kind]}"({name})' for name in names)
    body = f'{result} r; asm("{ptx}" : "={letter[result]}"(r) : {operands}); return r;'
    return f"__device__ __forceinline__ {result} {name}({arguments}) {{ {body} }}"


HELPERS = {
    "adv_vset": _asm("adv_vset", "vset.u32.u32.lt %0, %1.b1, %2.h0;", 2),
    "adv_vadd": _asm("adv_vadd", "vadd.u32.u32.u32.sat.add %0, %1.b2, %2.h1, %3;", 3),
    "adv_vmad": _asm("adv_vmad", "vmad.u32.u32.u32 %0, %1.h0, %2.b1, %3;", 3),
    "adv_vshl": _asm("adv_vshl", "vshl.u32.u32.u32.wrap %0, %1, %2;", 2),
    "adv_vadd2": _asm("adv_vadd2", "vadd2.u32.u32.u32.add %0, %1, %2, %3;", 3),
    "adv_dp4a_us": _asm("adv_dp4a_us", "dp4a.u32.s32 %0, %1, %2, %3;", 3),
    "adv_bmax": "__device__ __forceinline__ unsigned adv_bmax(unsigned a, unsigned b) { "
                "bool first; unsigned r = __vibmax_u32(a, b, &first); return first ? r : r + 7u; }",
    "adv_bfe": _asm("adv_bfe", "bfe.u32 %0, %1, %2, %3;", 3),
    "adv_bfes": _asm("adv_bfes", "bfe.s32 %0, %1, %2, %3;", 3),
    "adv_bfi": _asm("adv_bfi", "bfi.b32 %0, %1, %2, %3, %4;", 4),
    "adv_bfind": _asm("adv_bfind", "bfind.u32 %0, %1;", 1),
    "adv_bfinds": _asm("adv_bfinds", "bfind.shiftamt.s32 %0, %1;", 1),
    "adv_lop3": _asm("adv_lop3", "lop3.b32 %0, %1, %2, %3, 0x96;", 3),
    "adv_szext": _asm("adv_szext", "szext.clamp.s32 %0, %1, %2;", 2),
    "adv_bmsk": _asm("adv_bmsk", "bmsk.wrap.b32 %0, %1, %2;", 2),
    "adv_prmt_f4e": _asm("adv_prmt_f4e", "prmt.b32.f4e %0, %1, %2, %3;", 3),
    "adv_prmt_rc8": _asm("adv_prmt_rc8", "prmt.b32.rc8 %0, %1, 0, %2;", 2),
    "adv_prmt_ecl": _asm("adv_prmt_ecl", "prmt.b32.ecl %0, %1, 0, %2;", 2),
    "adv_sat": _asm("adv_sat", "add.sat.s32 %0, %1, %2;", 2),
    "adv_cvtpack": _asm("adv_cvtpack", "cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;", 2),
    "adv_shl": _asm("adv_shl", "shl.b32 %0, %1, %2;", 2),
    "adv_shr": _asm("adv_shr", "shr.u32 %0, %1, %2;", 2),
    "adv_shrs": _asm("adv_shrs", "shr.s32 %0, %1, %2;", 2),
    "adv_addc": _asm("adv_addc", "{ .reg .u32 x; add.cc.u32 x, %1, %2; addc.u32 %0, %3, %4; }", 4),
    "adv_madhicc": _asm("adv_madhicc", "{ .reg .u32 x; mad.lo.cc.u32 x, %1, %2, %3; madc.hi.u32 %0, %1, %2, 0; }", 3),
    "adv_rcp": _asm("adv_rcp", "rcp.approx.f32 %0, %1;", 1, "float", "float"),
    "adv_rcp_ftz": _asm("adv_rcp_ftz", "rcp.approx.ftz.f32 %0, %1;", 1, "float", "float"),
    "adv_rsqrt": _asm("adv_rsqrt", "rsqrt.approx.f32 %0, %1;", 1, "float", "float"),
    "adv_sqrt": _asm("adv_sqrt", "sqrt.approx.ftz.f32 %0, %1;", 1, "float", "float"),
    "adv_ex2": _asm("adv_ex2", "ex2.approx.f32 %0, %1;", 1, "float", "float"),
    "adv_lg2": _asm("adv_lg2", "lg2.approx.f32 %0, %1;", 1, "float", "float"),
    "adv_cvtsat": _asm("adv_cvtsat", "cvt.rni.sat.u8.f32 %0, %1;", 1, "float"),
    "frexpf_": "__device__ __forceinline__ float frexpf_(float x) { "
               "int e; float m = frexpf(x, &e); return m * 8.0f + (float)e; }",
    "adv_half2": '__device__ __forceinline__ unsigned adv_half2(unsigned a, unsigned b) { unsigned r; '
                 'asm("{ .reg .f16x2 x, y, z; mov.b32 x, %1; mov.b32 y, %2; add.f16x2 z, x, y; mov.b32 %0, z; }" '
                 ': "=r"(r) : "r"(a), "r"(b)); return r; }',
    "adv_hfma": '__device__ __forceinline__ unsigned adv_hfma(unsigned a, unsigned b, unsigned c) { unsigned r; '
                'asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }',
    "adv_hlt": '__device__ __forceinline__ unsigned adv_hlt(unsigned a, unsigned b, unsigned c) { unsigned r; '
               'asm("{ .reg .pred p, q; .reg .u32 x; setp.lt.f16x2 p|q, %1, %2; selp.u32 x, %3, 5, p; '
               'selp.u32 %0, x, 9, q; }" '
               ': "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }',
    "adv_f16": '__device__ __forceinline__ unsigned adv_f16(float a) { '
               'unsigned short h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a)); return h; }',
    "adv_bf16": '__device__ __forceinline__ unsigned adv_bf16(float a) { '
                'unsigned short h; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(a)); return h; }',
    "adv_i2h": '__device__ __forceinline__ unsigned adv_i2h(unsigned a) { '
               'unsigned short h; asm("cvt.rz.f16.u32 %0, %1;" : "=h"(h) : "r"(a)); return h; }',
}
_NAME = re.compile(r"\b\w+\b")


def helpers_of(text: str) -> list[str]:
    """The definitions of the helpers that a text names."""
    names = set(_NAME.findall(text))
    return [definition for name, definition in HELPERS.items() if name in names]
