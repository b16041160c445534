// launch 1 64 n=19
// launch 3 13x5 n=2155905152
// launch 2 6x5x4 n=4294967295
// launch 1 256 n=1000003
// Bytes and halves within words: saturating, averaging and comparing intrinsics, dp4a and dp2a with mixed signs, scalar and vector
// video instructions with selectors, masks and second operations, three-way minima; sums in histograms become addresses.
__device__ __forceinline__ unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 0x01000193u + (a >> 7); }

#define VIDEO(name, text) \
    __device__ __forceinline__ unsigned name(unsigned a, unsigned b, unsigned c) \
    { \
        unsigned d; \
        asm(text : "=r"(d) : "r"(a), "r"(b), "r"(c)); \
        return d; \
    }
VIDEO(dot_us, "dp4a.u32.s32 %0, %1, %2, %3;")
VIDEO(dot_su, "dp4a.s32.u32 %0, %1, %2, %3;")
VIDEO(half_lo, "dp2a.lo.s32.u32 %0, %1, %2, %3;")
VIDEO(half_hi, "dp2a.hi.u32.s32 %0, %1, %2, %3;")
VIDEO(add_min, "vadd.s32.u32.s32.sat.min %0, %1.b2, %2.h1, %3;")
VIDEO(sub_into, "vsub.s32.s32.u32.sat %0.b1, %1.b3, %2.b0, %3;")
VIDEO(min_max, "vmin.s32.s32.u32.max %0, %1.h0, %2.b1, %3;")
VIDEO(max_into, "vmax.u32.s32.s32.sat %0.h1, %1.b0, %2.h0, %3;")
VIDEO(distance, "vabsdiff.u32.s32.s32.add %0, %1.b1, %2.b2, %3;")
VIDEO(left_clamp, "vshl.u32.u32.u32.clamp.add %0, %1.b0, %2.b0, %3;")
VIDEO(left_wrap, "vshl.u32.u32.u32.wrap.add %0, %1.h0, %2.b0, %3;")
VIDEO(right_clamp, "vshr.s32.s32.u32.clamp.add %0, %1, %2.b0, %3;")
VIDEO(scaled, "vmad.s32.s32.u32.shr7 %0, %1.h1, %2.b3, %3;")
VIDEO(scaled_sat, "vmad.s32.s32.s32.sat.shr15 %0, -%1, %2.h0, %3;")
VIDEO(count_less, "vset.s32.u32.lt.add %0, %1.b0, %2.b3, %3;")
VIDEO(set_into, "vset.u32.s32.ge %0.b2, %1.b1, %2.b1, %3;")
VIDEO(add4, "vadd4.u32.u32.s32.sat %0.b210, %1.b3012, %2.b7654, %3;")
VIDEO(sub2, "vsub2.s32.s32.s32.sat %0.h0, %1.h13, %2.h20, %3;")
VIDEO(average4, "vavrg4.s32.s32.s32 %0, %1, %2, %3;")
VIDEO(distances, "vabsdiff4.u32.u32.u32.add %0, %1, %2.b5410, %3;")
VIDEO(counts, "vset4.u32.s32.gt.add %0, %1, %2, %3;")
VIDEO(least2, "vmin2.s32.u32.s32.add %0, %1, %2.h01, %3;")

extern "C" __global__ void k9888(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned s[1024];
    __shared__ unsigned words[256];
    __shared__ unsigned bins[288];
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned all = blockDim.x * blockDim.y * blockDim.z;
    const unsigned lane = t & 31;
    for (unsigned i = t; i < 1024; i += all) s[i] = i * 3 + 2;
    for (unsigned i = t; i < 256; i += all) words[i] = (i * 0x01030507u) ^ (n * 0x9E37u);
    for (unsigned i = t; i < 288; i += all) bins[i] = 0;
    __syncthreads();
    unsigned acc = 0;
    const unsigned a = words[t * 5 & 255], b = words[(t + 128) & 255], ramp = t * 0x04030201u;

    // per byte and per half, wrapping against saturating
    acc = mix(acc, s[(__vadd4(a, ramp) ^ __vaddss4(a, ramp)) >> 22]);
    acc = mix(acc, s[(__vaddus2(ramp, b) + __vsubus4(ramp, 0x20202020u)) & 1023]);
    acc = mix(acc, s[(__vabsdiffs4(a, ramp) + __vavgs2(a, b) + __vavgu4(ramp, b)) >> 22]);
    acc = mix(acc, s[(__vhaddu4(ramp, a) + __vnegss2(0x80008000u + t) + __vabsss4(ramp ^ 0x80808080u)) & 1023]);
    acc = mix(acc, s[(__vsads4(a, ramp) + __vsadu2(b, ramp) * 2) & 1023]);
    acc = mix(acc, s[((__vcmpgts4(a, ramp) & 0x03e00f1fu) * 33 + (__vcmpltu2(b, ramp) & 0x00200001u)) & 1023]);
    acc = mix(acc, s[(__vseteq4(ramp, t * 0x04010203u) * lane + (__vmaxs2(a, ramp) >> 20) + __vminu4(b, ramp)) & 1023]);

    // sums of products into a histogram; the bins are read once they are complete
    const unsigned product = __dp4a(static_cast<int>(a), static_cast<int>(ramp), static_cast<int>(t)) + dot_us(ramp, b, lane);
    atomicAdd(&bins[product & 255], lane);
    atomicAdd(&bins[256 + ((dot_su(ramp, a, 7) + half_lo(a, b, t) + half_hi(ramp, a, n)) >> 5 & 31)], 1u);
    __syncthreads();
    acc = mix(acc, s[(bins[(t * 9) & 255] + bins[256 + lane] * 32) & 1023]);

    // scalar video instructions: selected parts, a second operation, a merged result
    acc = mix(acc, s[(add_min(ramp, b, 400) + sub_into(a, ramp, t * 4)) & 1023]);
    acc = mix(acc, s[(min_max(ramp - 0x4000, a, lane) + (max_into(a, ramp, t) >> 16) + distance(ramp, b, t)) & 1023]);
    acc = mix(acc, s[(left_clamp(t, lane * 2, t) + left_wrap(t, lane * 2, t) + right_clamp(a, lane + 8, t)) & 1023]);
    acc = mix(acc, s[(scaled(ramp, b, n) + scaled_sat(a, ramp, t << 10)) & 1023]);
    acc = mix(acc, s[(count_less(ramp, a, lane) * 32 + (set_into(ramp, b, t * 7) >> 8)) & 1023]);

    // vectors of two and four, over several trips through memory
    unsigned state = ramp + n;
#pragma unroll 1
    for (unsigned trip = 0; trip < 4; ++trip) {
        const unsigned other = words[(state >> (trip * 8)) & 255];
        state = add4(state, other, state + trip) ^ sub2(other, state, ramp);
        acc = mix(acc, s[(average4(state, other, t) + distances(state, other, trip)) & 1023]);
        state += counts(state, ramp, lane) * 0x101u + least2(other, state, t);
    }

    // three-way extremes with floors, and the predicates of which half won
    bool high, low;
    const unsigned best = __vibmax_s16x2(a, ramp, &high, &low);
    const int third = __viaddmax_s32_relu(static_cast<int>(t) - 40, static_cast<int>(lane), -5);
    acc = mix(acc, s[(__vimax3_s16x2(a, b, ramp) + __viaddmin_u16x2(ramp, b, a) + third * 32u) & 1023]);
    acc = mix(acc, s[((high ? best >> 16 : best) + (low ? lane * 32 : lane)) & 1023]);
    acc = mix(acc, s[__vabsdiffu4(src[t & 1023], ramp) >> 22]);
    out[(blockIdx.x * all + t) & 65535] = acc + __float_as_uint(f);
}
