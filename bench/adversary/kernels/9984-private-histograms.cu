// launch 1 128 n=5
// launch 2 96 n=12
// launch 1 77 n=31
// launch 1 256 n=2
// Histograms private to warps: counts, adds, a CAS loop among lanes that collide (each loses as often as it has rivals), packed 16-bit halves, 64-bit max/add/CAS with one lane to a word, exchanges whose answer is the next address.
typedef unsigned long long u64;
extern "C" __global__ void k9984(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned counts[8][67], sums[8][130], raced[8][65], halves[8][33], chain[8][128], incs[8][61], ors[8][67], flips[8][126];
    __shared__ u64 wide[8][97];
    __shared__ float reals[8][32];
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = (blockDim.x + 31) / 32;
    const unsigned mask = warp * 32 + 32 <= blockDim.x ? ~0u : (1u << (blockDim.x & 31)) - 1;
    for (unsigned i = t; i < 8 * 130; i += blockDim.x) {
        ((unsigned*)sums)[i] = 0;
        if (i < 8 * 67) ((unsigned*)counts)[i] = ((unsigned*)ors)[i] = 0;
        if (i < 8 * 61) ((unsigned*)incs)[i] = 0;
        if (i < 8 * 126) ((unsigned*)flips)[i] = i;
        if (i < 8 * 65) ((unsigned*)raced)[i] = 0;
        if (i < 8 * 33) ((unsigned*)halves)[i] = 0;
        if (i < 8 * 97) ((u64*)wide)[i] = i;
        if (i < 8 * 32) ((float*)reals)[i] = 0;
        if (i < 8 * 128) ((unsigned*)chain)[i] = i * 37 & 127;
    }
    __syncthreads();
    unsigned acc = 0, at = lane;
    const unsigned trips = 2 + __popc(src[(warp * 211 + n) & 4095]) % 5;
    for (unsigned r = 0; r < trips; r++) {
        const unsigned v = src[(t * (r + 1) * 3 + n * 57 + blockIdx.x * 9) & 4095], kind = (v >> (r & 3)) & 7;
        switch (kind) {
            case 0: atomicAdd(&counts[warp][v % 67], 1u); break;
            case 1:
                atomicAdd(&sums[warp][(v * 2) % 130], v);
            case 2: {
                unsigned* const to = &raced[warp][(v >> 3) % (5 + r * 12)];
                unsigned old = *(volatile unsigned*)to, was;
                do { was = old; old = atomicCAS(to, was, was + (1u << (r * 6)) + (v & 1)); } while (old != was);
                break;
            }
            case 3: {
                const unsigned b = v % 66, up = b & 1 ? 16 : 0;
                atomicAdd(&halves[warp][b >> 1], 1u << up);
                if (v & 64) break;
            }
            case 4:
                atomicAdd(&reals[warp][(v + lane / 4) & 31], f);
                break;
            case 5: atomicMax(&sums[warp][(v * 2 | 1) % 130], v); atomicXor(&flips[warp][lane * 4 + 1], v); break;
            case 6: atomicInc(&incs[warp][v & 60], 5); break;
            default: atomicOr(&ors[warp][66 - (v & 63)], 1u << (r + lane & 31));
        }
        __syncwarp(mask);
        const unsigned own = (lane * (2 * r + 3) + n) & 31;
        u64* const w = &wide[warp][own * (1 + r % 3)];
        if ((v ^ r) & 1) acc += (unsigned)atomicMax(w, (u64)v << 32 | lane);
        else if (v & 2) acc += (unsigned)atomicAdd(w, (u64)v * 0x100000001ull);
        else {
            u64 old = *w, was;
            unsigned turns = 1 + (v >> 2 & 3);
            do { was = turns > 1 ? ~old : old; old = atomicCAS(w, was, was + v); } while (--turns);
            acc ^= (unsigned)old;
        }
        if (r % 2 == 0) at = atomicExch(&chain[warp][lane * 4 + (at & 3)], at * 5 + r & 127);
        __syncwarp(mask);
        acc += chain[warp][(at ^ lane) & 127] + (unsigned)(wide[warp][at % 97] >> 32);
        const unsigned busy = __ballot_sync(mask, (at & 12) == 4);
        if (busy) {
            const unsigned lead = __ffs(busy) - 1, share = __shfl_sync(mask, at, lead);
            if (busy >> lane & 1) acc += counts[warp][share % 64 + __popc(busy & (1u << lane) - 1) % 3] >> 31;
            else acc += raced[warp][(share + lane * 2) % 65];
        }
        __syncwarp(mask);
    }
    __syncthreads();
    for (unsigned b = t; b < 67; b += blockDim.x) {
        unsigned total = 0;
        for (unsigned w = 0; w < warps; w++) total += counts[w][b];
        for (unsigned w = 0; w < warps; w++) { if (total & 1u << w) continue; total += sums[w][b * 2 % 130] + raced[w][b % 65] + (ors[w][b] ^ flips[w][b * 2 % 126]) - incs[w][b % 61]; }
        acc += total;
        for (unsigned w = b & 7, k = 0; k < (unsigned)__popc(total); k++, w = w + 3 & 7) acc ^= halves[w][(b + k * 4) % 33];
    }
    acc += (unsigned)reals[warp][(at >> 2) & 31];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
