// launch 1 64 n=6
// launch 2 9x7x2 n=305419896
// launch 3 77 n=4294967295
// Bit fields and shifts by counts beyond the width: bfe, bfi, bfind, fns, lop3, prmt in all modes, shf clamped and wrapped,
// mad.hi, mul24, sad, szext, bmsk, cvt.pack, slct, with positions and lengths that vary by lane, trip and stored word.
#define OP2(name, text) __device__ __forceinline__ unsigned name(unsigned a, unsigned b) { unsigned d; asm(text " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); return d; }
#define OP3(name, text) __device__ __forceinline__ unsigned name(unsigned a, unsigned b, unsigned c) { unsigned d; asm(text " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }
OP3(bfe_u, "bfe.u32") OP3(bfe_s, "bfe.s32") OP3(fns, "fns.b32") OP3(sad_s, "sad.s32") OP3(sad_u, "sad.u32")
OP3(f4e, "prmt.b32.f4e") OP3(b4e, "prmt.b32.b4e") OP3(rc8, "prmt.b32.rc8") OP3(ecl, "prmt.b32.ecl") OP3(ecr, "prmt.b32.ecr") OP3(rc16, "prmt.b32.rc16") OP3(prmt, "prmt.b32")
OP3(shf_lc, "shf.l.clamp.b32") OP3(shf_lw, "shf.l.wrap.b32") OP3(shf_rc, "shf.r.clamp.b32") OP3(shf_rw, "shf.r.wrap.b32")
OP3(mad_hi_s, "mad.hi.s32") OP3(mad24_hi, "mad24.hi.s32") OP3(mad24_lo, "mad24.lo.u32") OP3(slct, "slct.b32.s32")
OP3(pack8, "cvt.pack.sat.u8.s32.b32") OP3(pack4, "cvt.pack.sat.s4.s32.b32")
OP2(mul24_hi, "mul24.hi.u32") OP2(mul24_lo, "mul24.lo.s32") OP2(szext_c, "szext.clamp.s32") OP2(szext_w, "szext.wrap.u32")
OP2(bmsk_c, "bmsk.clamp.b32") OP2(bmsk_w, "bmsk.wrap.b32") OP2(pack16, "cvt.pack.sat.s16.s32") OP2(shl, "shl.b32") OP2(shr_s, "shr.s32") OP2(shr_u, "shr.u32")

__device__ __forceinline__ unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 0x01000193u + (a >> 7); }

extern "C" __global__ void k9887(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned s[1024];
    __shared__ unsigned char bytes[1024];
    __shared__ unsigned fields[256];
    __shared__ unsigned turned[128];
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned all = blockDim.x * blockDim.y * blockDim.z;
    const unsigned lane = t & 31;
    for (unsigned i = t; i < 1024; i += all) {
        s[i] = i * 7;
        bytes[i] = static_cast<unsigned char>(i * 11 + n);
    }
    for (unsigned i = t; i < 256; i += all) fields[i] = i * 0x9E3779B9u ^ n;
    __syncthreads();
    unsigned acc = 0;
    const unsigned w = fields[t & 255], v = n * 0x85EBCA6Bu + t;

    // fields: position and length pass 31, only their low bytes count
    unsigned placed;
    unsigned long long field64, placed64;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(placed) : "r"(w), "r"(t * 33), "r"(256 + lane), "r"(lane >> 1));
    asm("bfe.s64 %0, %1, %2, %3;" : "=l"(field64) : "l"((unsigned long long)v << 32 | w), "r"(lane * 2 + 5), "r"(lane + 3));
    asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(placed64) : "l"(field64), "l"((unsigned long long)w), "r"(lane + 28), "r"(8));
    acc = mix(acc, s[(bfe_u(w, lane * 3, 10 - (lane & 7)) + bfe_s(w, 250 + lane, lane) * 2) & 1023]);
    acc = mix(acc, s[placed & 1023]);
    acc = mix(acc, s[(unsigned)((field64 >> (lane & 7)) + (placed64 >> 27)) & 1023]);

    // leading, trailing, nth bits; nothing found is -1
    unsigned first_s, first_u, shift_u;
    asm("bfind.s32 %0, %1;" : "=r"(first_s) : "r"((int)(lane - 7) >> (lane & 3)));
    asm("bfind.u32 %0, %1;" : "=r"(first_u) : "r"(w >> lane));
    asm("bfind.shiftamt.u64 %0, %1;" : "=r"(shift_u) : "l"((unsigned long long)t << lane));
    acc = mix(acc, s[(first_s * 32 + first_u + shift_u * 16 + __ffs(t & 12) + __clz(t & 63) * 2) & 1023]);
    acc = mix(acc, s[(fns(w, lane, (t & 7) - 4) * 32 + (__brev(t) >> 22)) & 1023]);
    acc = mix(acc, s[(__popcll(field64) * 8 + __clzll(placed64 >> lane) + (__brevll(t) >> 60)) & 1023]);

    // tables of three inputs
    unsigned majority, odd;
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(majority) : "r"(t * 32), "r"(t * 3), "r"(n));
    asm("lop3.b32 %0, %1, %2, %3, 0x2d;" : "=r"(odd) : "r"(t), "r"(w), "r"(n >> 3));
    acc = mix(acc, s[(majority + odd) & 1023]);

    // permutations of bytes; the default mode copies signs
    const unsigned lanes4 = lane * 0x01010101u, signs = 0x80017f02u + lanes4;
    acc = mix(acc, bytes[((f4e(w, signs, lane) >> 5) + (b4e(lanes4, w, t) ^ rc8(signs, w, lane))) & 1023]);
    acc = mix(acc, s[(ecl(signs, w, lane) + ecr(w, signs, lane) + rc16(t * 0x00200003u, 0, lane)) & 1023]);
    acc = mix(acc, s[(prmt(signs, lanes4, 0xba98u + t) ^ __byte_perm(signs, w, 0x0c4du ^ t)) & 1023]);

    // shifts of 32 and more: to nothing, to signs, around, or held at 32
    acc = mix(acc, s[(shl(t * 9, lane * 2) + shr_u(w, lane + 20) + shr_s(w, lane * 3)) & 1023]);
    acc = mix(acc, s[(shf_lc(t * 5, t, lane * 4) + shf_lw(t, t * 5, lane * 4) * 2) & 1023]);
    acc = mix(acc, s[(shf_rc(w, lane, lane + 16) + shf_rw(w, t, lane + 16) * 2) & 1023]);
    acc = mix(acc, s[(__funnelshift_l(t, w, 255 - lane) ^ __funnelshift_rc(w, t, lane * 7)) & 1023]);

    // products of 24 bits and high halves, distances
    acc = mix(acc, s[(mad_hi_s(w, lane << 25, t) + mad24_hi(w, v, lane) + (mul24_hi(w, n + t) ^ mul24_lo(0xff800000u + t, lane * 4))) & 1023]);
    acc = mix(acc, s[(mad24_lo(n, t + 0xff000000u, lane) + sad_s(t - 16, 16 - t, lane) + (sad_u(lane - 16, 16 - lane, t) >> (lane & 1) * 22)) & 1023]);

    // extensions, masks, packing with saturation, selection by sign
    acc = mix(acc, s[(szext_c(w, lane + 3) + szext_w(w, lane + 24) + (bmsk_c(lane & 15, lane) ^ bmsk_w(lane * 5, lane * 3))) & 1023]);
    acc = mix(acc, s[(pack16((t - 32) << 12, t * 3) + pack8(t * 40 - 600, 300 - t * 10, lane << 16)) & 1023]);
    acc = mix(acc, s[(pack4(t - 12, lane - 3, lane * 0x111) + slct(t * 32, t, lane - (n & 31))) & 1023]);

    // in trips: the word found decides the next field, and a neighbour turns it
    unsigned at = t;
#pragma unroll 1
    for (unsigned trip = 0; trip < 5; ++trip) {
        at = bfe_u(s[at & 1023] * 0x2545u + trip, lane - trip, 12);
        turned[t] = shf_rw(at, at ^ n, trip * lane);
        __syncthreads();
        at += turned[(t ^ 1) < all ? t ^ 1 : 0] + bytes[(at >> 3) & 1023];
        __syncthreads();
    }
    acc = mix(acc, fields[bfe_u(src[t & 1023], lane, 8)] + at);
    out[(blockIdx.x * all + t) & 65535] = acc;
}
