// launch 1 32 n=4
// launch 2 64 n=6
// launch 1 55 n=3
// break and continue of outer loops from a switch in inner ones; lanes leave to four places, one of which re-enters the middle.
extern "C" __global__ void k9255(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 23 + 1) % 37; }
    __syncthreads();
    unsigned i, j = 0, hits = 0, path = 0;
    for (i = 0; i < n; i++) {
        for (j = l & 1; j < 7; j++) {
            switch (q[(l * 4 + i * 7 + j) & 1023] % 9) {
            case 0: hits++; acc += s[(l * 2 + j) & 1023]; continue;
            case 1: path |= 1; goto next_i;
            case 2: s[(l * 3 + i * 32) & 1023] = j; break;
            case 3: if (hits > 2) goto out_of_both; [[fallthrough]];
            case 4: j++; path ^= 2; break;
            case 5: if (!(path & 4)) { path |= 4; goto middle; } goto next_j;
            case 6: acc += s[(l * 4 + hits) & 1023]; hits += 2; break;
            default: ;
            }
        middle:
            s[(l + hits * 32) & 1023] = path;
            if ((path & 3) == 3 && (l & 4)) { path &= ~1u; break; }
        next_j:;
        }
        acc += s[(l * (j + 1)) & 1023];
        if (j == 8) continue;
    next_i:
        s[(l * (path + 2)) & 1023] = i;
        if (hits > 9) break;
    }
    acc += s[(l * hits) & 1023];
out_of_both:
    acc += s[(l * i + j * 33) & 1023];
    if (path & 4 && i < n) { path &= ~4u; hits = 0; s[(l * 8) & 1023] = i; if (q[l] & 1) { j = 5; goto middle2; } }
    while (hits--) { if (hits & 8) break; acc += s[(l + hits * 4) & 1023];
    middle2: j--; if (j > 20) break; if (hits > 100) hits = j & 3; s[(l * 6 + j) & 1023] = hits; }
    __syncthreads();
    acc += s[(l * (j & 31)) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
