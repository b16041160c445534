// launch 2 64 n=3
// launch 1 150 n=40
// launch 2x2 8x8x4 n=129
// launch 4 21 n=1
// goto into and out of three nested loops by lane and by warp, then returns of a warp and of lanes within nested loops, followed by
// barriers that count, by __syncwarp of those that stay, and by loops whose counters multiply or count down.
extern "C" __global__ void k9892(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned field[33 * 32], marks[512], pairs[512], loose[64];
    const unsigned T = blockDim.x * blockDim.y * blockDim.z;
    const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned lane = t & 31, w = t >> 5, block = blockIdx.x + gridDim.x * blockIdx.y;
    const unsigned mine = block * T + t;
    const unsigned here = T - w * 32 < 32 ? (1u << (T - w * 32)) - 1 : ~0u;
    const bool stays = lane % 5 != 3;
    const unsigned keep = __ballot_sync(here, stays);

    for (unsigned i = t; i < 33 * 32; i += T) field[i] = i * 5 + (i >> 4) * n;
    for (unsigned i = t; i < 512; i += T) { marks[i] = i * i >> 3; pairs[i] = i; }
    for (unsigned i = t; i < 64; i += T) loose[i] = src[i + block];
    __syncthreads();

    unsigned x = lane & 1, y = 0, z = w & 3, v = 0, steps = 0, hits = 0, acc = block, noise = 0;
    if (lane % 3 == 1) goto middle;
    if ((w & 1) && lane > 20) goto lower;
    for (x = 0; x < (lane & 3) + 2; ++x) {
        acc += field[(x * 33 + lane) & 1023];
        for (y = lane & 1; y < 6; y += 2) {
lower:
            acc ^= field[((y + 1) * lane + w) & 1023];
            for (z = 0; z < lane % 5; ++z) {
middle:
                if (++steps > 30 + lane) goto finished;
                v = field[(x * 33 + y * 5 + z * lane) & 1023];
                if ((v + n) % 11 == lane % 11) goto hit;
                if ((v & 7) == 6) goto next_row;
                if (v & 16) continue;
                acc += v;
resume:
                acc += marks[(z * 16 + lane) & 511];
            }
        }
next_row:
        if ((acc & 15) == 5) break;
    }
    goto finished;
hit:
    acc += marks[(hits * 8 + lane * 2) & 511];
    if (++hits < 4) goto resume;
    if (hits < 8 && (lane & 1)) {
        ++x;
        y = lane & 3;
        goto lower;
    }
finished:
    __syncwarp(here);

    for (unsigned i = 0; i < 3; ++i) {
        for (unsigned j = 0; j < 3 + (lane & 3) + i; ++j) {
            if (i == 1 && w == 1 && j == 1) { out[mine] = acc; return; }
            if (i == 2 && !stays && j >= (lane & 3)) { out[mine] = acc + noise; return; }
            if ((field[(i * 33 + j * lane) & 1023] & 3) == 1) continue;
            acc += marks[(j * 32 + lane * (i + 1)) & 511];
            for (int k = (int)(lane & 7) - 3; k > 0; k -= 2) {
                if (loose[(k * 8 + lane) & 63] % 5 == 0) { ++noise; break; }
                noise += field[(k * lane) & 1023];
            }
        }
        pairs[t] = acc;
        const unsigned odd = __syncthreads_count(acc & 1);
        acc += field[(odd * lane + i) & 1023] + pairs[(t + odd) % T];
        __syncthreads();
    }

    for (unsigned k = 1; k < 32; k *= 3) {
        pairs[t] = field[(acc + k * lane) & 1023];
        __syncwarp(keep);
        const unsigned peer = lane ^ k;
        if (keep >> peer & 1) acc += pairs[w * 32 + peer];
        __syncwarp(keep);
    }
    for (unsigned i = 4; i--;) {
        for (unsigned j = i; j < 5; ++j)
            if (w % 3 == 2 && i == 2 && j == 4) { out[mine] = acc; return; }
            else acc += marks[(acc + i * 64 + j) & 511];
        if (__syncthreads_or(acc % 31 == i)) acc += field[(lane * 33 + i) % (33 * 32)];
        else acc += field[(lane * 32 + i) & 1023];
    }
    out[mine] = acc + noise + (unsigned)(f < 0);
}
