// launch 2 64 n=3
// launch 1 96 n=700
// launch 1 128 n=0
// Lanes form a pipeline: one waits (spin on a volatile word, some with nanosleep) until its left neighbour has done the same round, so lanes are in different rounds by need; quarters also meet at __syncwarp with a mask in the other loop.
extern "C" __global__ void k10028(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(16) unsigned tab[32 + 31 * 40];
    __shared__ unsigned put[12 * 159];
    __shared__ volatile unsigned done[128];
    __shared__ volatile unsigned gate[4];
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
    for (unsigned i = t; i < 32 + 31 * 40; i += blockDim.x) tab[i] = i * 3;
    done[t] = 0;
    if (lane == 0) gate[warp] = 0;
    __syncthreads();
    const unsigned own = src[(t * 5 + n) & 4095], rounds = 5 + n % 4;
    unsigned acc = own;
    for (unsigned r = 0; r < rounds; r++) {
        acc += tab[lane + 31 * r];
        if (lane % 8 != 0) {
            while (done[t - 1] <= r) { if (lane & 1) __nanosleep(20 + lane); }
            __threadfence_block();
            acc ^= tab[lane + 31 * (r + 3)];
        } else if ((own + r) % 3 == 1) {
            __nanosleep(100);
            done[t] = r + 1;
            continue;
        }
        put[r * 159 + t] = acc;
        { const uint2 w = ((const uint2*)tab)[lane + 15 * r]; acc += w.x ^ (w.y << 1); }
        __threadfence_block();
        done[t] = r + 1;
        if ((own >> r) & 1) continue;
        acc += tab[lane + 31 * (r + 1)];
    }
    const unsigned mask = 0xffu << (lane & 24), mates = (lane >> 3) + 2;
    for (unsigned r = 0; r < mates * 2; r++) {
        if ((lane ^ r) & 1) acc += tab[lane + 31 * r];
        else { __nanosleep(10 * (lane & 3)); acc ^= tab[lane + 31 * (r + 9)]; }
        __syncwarp(mask);
        acc += tab[lane + 31 * (r + 2)];
        if (r == 3 && (lane & 24) == 16) break;
    }
    // the last lane opens the gate for the others, who then go on in a loop of their own length
    if (lane == 31) { acc += tab[31 + 31 * 7]; __threadfence_block(); gate[warp] = 1; }
    else while (gate[warp] == 0) if (lane % 5 == 0) __nanosleep(50);
    for (unsigned r = 0; r <= (own & 7); r++) { acc += tab[lane + 31 * r]; if (acc % 9 == 8) { r++; continue; } acc ^= r; }
    __syncthreads();
    acc += put[(t ^ 1)] + tab[lane];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
