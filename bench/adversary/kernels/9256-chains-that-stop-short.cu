// launch 1 32 n=2
// launch 2 64 n=5
// launch 1 36 n=3
// Long short-circuit chains, nested conditional operators and comma lists whose terms load and store; a mask of the terms that ran.
extern "C" __global__ void k9256(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024], q[1024];
    unsigned t = threadIdx.x, nt = blockDim.x, l = t & 31, w = t >> 5, acc = 0;
    for (unsigned k = t; k < 1024; k += nt) { s[k] = k; q[k] = (k * 9 + 4) & 31; }
    __syncthreads();
    unsigned ran = 0;
    auto T = [&](unsigned bit, unsigned step, bool b) { ran |= 1u << bit; acc += s[(l * step + bit * 32) & 1023]; return b; };
    auto S = [&](unsigned bit, unsigned step, bool b) { ran |= 1u << bit; s[(l * step + bit) & 1023] = ran; return b; };
    if ((T(0, 2, l & 1) && S(1, 3, q[l] > 9)) || (T(2, 4, l & 4) && (S(3, 5, q[l] & 2) || T(4, 6, n & 1))) || !S(5, 8, l < 20)) acc += s[(l * (ran & 31)) & 1023];
    else s[(l * (ran >> 1)) & 1023] = ran;
    unsigned x = l & 2 ? T(6, 7, q[l + 1] > 15) ? S(7, 9, true) ? 3 : 4 : (l & 8) && S(8, 10, l & 16) ? 5 : 6 : T(9, 16, ran & 8) ? 1 : (S(10, 1, false), 2);
    acc += s[(l * x) & 1023];
    for (unsigned i = 0; i < n && (T(11, i + 1, true), ran & 0xFF) != 0 && !(q[(l + i) & 1023] == 22 && S(12, 32, true)); i++, x ^= i & 1 ? 3 : 0)
        if (bool a = T(13, x, q[(l * i) & 1023] & 4); a != (x > 3 && S(14, 12, i & 1))) continue;
        else if (a |= S(15, 11, false); a) break;
    acc += s[(__popc(ran) * l) & 1023];
    bool p = ran & 0x80, z = ran & 0x10, y = (p & z) ^ (l & 1), v = y ? p || T(16, 2, z) : z && T(17, 4, p);
    s[(l * (p + 2 * z + 4 * y + 8 * v)) & 1023] = acc;
    __syncwarp(__activemask());
    acc += s[(l * ((ran >> 6) & 15)) & 1023];
    out[(blockIdx.x * nt + t) & 2047] = acc + l + w;
}
