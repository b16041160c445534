// launch 1 64 n=1
// launch 2 9x11 n=4294967295
// launch 2 4x5x6 n=2863311530
// launch 3 31 n=70000
// Carry chains of 96 and 128 bits that choose addresses and arrays; 64-bit pointers to global and shared memory stored, loaded,
// subtracted, wrapped and masked; differences of elements of 12 bytes; counters that pass 2^32; vectors with negative strides.
struct Triple { unsigned a, b, c; };

__device__ __forceinline__ unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 0x01000193u + (a >> 7); }

extern "C" __global__ void k9889(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ __align__(16) unsigned s[1024];
    __shared__ __align__(16) unsigned mirror[1024];
    __shared__ Triple triples[96];
    __shared__ const unsigned* rows[32];
    __shared__ const unsigned* shelves[32];
    __shared__ unsigned limbs[4 * 128];
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned all = blockDim.x * blockDim.y * blockDim.z;
    const unsigned lane = t & 31;
    for (unsigned i = t; i < 1024; i += all) {
        s[i] = i * 5 + 1;
        mirror[1023 - i] = i * 0x10001u;
    }
    for (unsigned i = t; i < 96; i += all) triples[i] = Triple{i * 7, i ^ n, ~i};
    for (unsigned i = t; i < 32; i += all) {
        rows[i] = src + (i * i * 17 & 511);
        shelves[i] = (i * 5 & 8) ? s + i * 8 : mirror + (n + i * 40 & 511);
    }
    __syncthreads();
    unsigned acc = 0;

    // 96 bits: the carry out of the top and the borrow of a difference
    unsigned x0 = ~t, x1 = n, x2 = 0xfffffffeu + (lane & 1), carry, borrow;
    asm("add.cc.u32 %0, %0, %4;\n\taddc.cc.u32 %1, %1, 0;\n\taddc.cc.u32 %2, %2, 1;\n\taddc.u32 %3, 0, 0;"
        : "+r"(x0), "+r"(x1), "+r"(x2), "=r"(carry) : "r"(n + lane));
    asm("{.reg .u32 z;\n\tsub.cc.u32 z, %1, %2;\n\tsubc.cc.u32 z, %3, %4;\n\tsubc.u32 %0, 0, 0;}"
        : "=r"(borrow) : "r"(x0), "r"(lane * 0x08000000u), "r"(x1 & 1), "r"(lane >> 4));
    acc = mix(acc, s[(carry * 32 * lane + x2 + x1 * 3) & 1023]);
    const unsigned* chosen = borrow ? mirror + 1023 - t : s + t * 2;
    acc = mix(acc, *chosen);

    // 128-bit multiplicative steps in limbs, kept in memory, every limb by its own stride
    limbs[t] = t * 2 + 1;
    limbs[128 + t] = n;
    limbs[256 + t] = 0;
    limbs[384 + t] = lane;
#pragma unroll 1
    for (unsigned trip = 0; trip < 4; ++trip) {
        const unsigned y0 = limbs[t], y1 = limbs[128 + t], y2 = limbs[256 + t], y3 = limbs[384 + t], m0 = 0xE4DD58B5u, m1 = 0xDA942042u;
        unsigned z0, z1, z2, z3;
        asm("mul.lo.u32 %0, %4, %8;\n\tmul.hi.u32 %1, %4, %8;\n\t"
            "mad.lo.cc.u32 %1, %5, %8, %1;\n\tmadc.hi.u32 %2, %5, %8, 0;\n\t"
            "mad.lo.cc.u32 %2, %6, %8, %2;\n\tmadc.hi.u32 %3, %6, %8, 0;\n\tmad.lo.u32 %3, %7, %8, %3;\n\t"
            "mad.lo.cc.u32 %1, %4, %9, %1;\n\tmadc.hi.cc.u32 %2, %4, %9, %2;\n\taddc.u32 %3, %3, 0;\n\t"
            "mad.lo.cc.u32 %2, %5, %9, %2;\n\tmadc.hi.u32 %3, %5, %9, %3;\n\tmad.lo.u32 %3, %6, %9, %3;"
            : "=&r"(z0), "=&r"(z1), "=&r"(z2), "=&r"(z3) : "r"(y0), "r"(y1), "r"(y2), "r"(y3), "r"(m0), "r"(m1));
        limbs[t] = z0;
        limbs[128 + t] = z1;
        limbs[256 + t] = z2;
        limbs[384 + t] = z3;
        acc = mix(acc, s[(z3 >> (trip * 7)) & 1023]);
    }

    // differences of pointers that are loaded: their base falls out
    const long long apart = rows[lane] - rows[(lane * 3 + n) & 31];
    acc = mix(acc, s[apart & 1023]);
    const Triple* p = triples + (t * 11 + n % 7) % 96;
    const Triple* q = reinterpret_cast<const Triple*>(reinterpret_cast<const char*>(triples) + (apart & 7) * 12);
    acc = mix(acc, s[((p - q) * 8) & 1023] + p->c + q->b);
    acc = mix(acc, shelves[(lane * 7) & 31][(t * 4) & 255]);

    // the base taken far away and back, its upper half through another register
    const unsigned long long base = reinterpret_cast<unsigned long long>(src), step = 0xfffffffd00000000ull + n * 4ull;
    unsigned long long far = base;
    for (unsigned trip = 0; trip < (lane & 3) + 1; ++trip) far += step;
    far = far - base + (static_cast<unsigned long long>(lane & 3) * 3 + 3 << 32);
    acc = mix(acc, s[((far >> 32) * 32 + far / 4 + t * 3) & 1023]);
    const unsigned long long mask = 0 - static_cast<unsigned long long>((x0 >> lane) & 1), here = reinterpret_cast<unsigned long long>(s);
    const unsigned long long there = here ^ ((here ^ reinterpret_cast<unsigned long long>(mirror)) & mask);
    acc = mix(acc, *reinterpret_cast<const unsigned*>(there + ((t * 36ull) & 4092)));

    // shared addresses in 32 and 64 bits, from the middle outwards; a product of 16 bits
    const unsigned middle = static_cast<unsigned>(__cvta_generic_to_shared(s + 512));
    unsigned one, two;
    asm volatile("{.reg .s16 h;\n\t.reg .s32 o;\n\tcvt.s16.s32 h, %2;\n\tmul.wide.s16 o, h, -12;\n\tadd.s32 o, o, %1;\n\tld.shared.u32 %0, [o+1024];}"
        : "=r"(one) : "r"(middle), "r"((t & 127) + 0x70000u));
    asm volatile("{.reg .u64 a, o;\n\tcvt.u64.u32 a, %1;\n\tmul.wide.s32 o, %2, -4;\n\tsub.cc.u64 a, a, o;\n\tld.shared.u32 %0, [a+-2048];}"
        : "=r"(two) : "r"(middle), "r"((t * 6) & 1023));
    acc = mix(acc, one + two);

    // vectors: quads backwards, pairs by three; a counter that passes 2^32
    const uint4 quad = reinterpret_cast<const uint4*>(s)[static_cast<int>(255 - t * 3) & 255];
    const uint2 pair = reinterpret_cast<const uint2*>(mirror + 1022)[-static_cast<int>((t * 3 + carry) & 511)];
    acc = mix(acc, quad.x + quad.w + pair.y);
#pragma unroll 1
    for (unsigned long long i = 0xffffffffull - (lane & 3); i < 0x100000003ull; i += 1 + (lane & 1))
        acc = mix(acc, s[(static_cast<unsigned>(i >> 30) * 37 + static_cast<unsigned>(i) * lane) & 1023]);
    const unsigned high = __umul64hi(src[t & 1023] * 0x9E3779B97F4A7C15ull, (static_cast<unsigned long long>(n) << 32) + t * 1024ull) >> 20;
    acc = mix(acc, s[high & 1023]);
    out[(blockIdx.x * all + t) & 65535] = acc + __float_as_uint(f);
}
