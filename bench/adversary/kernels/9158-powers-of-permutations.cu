// launch 1 32 n=5
// launch 1 64 n=13
// launch 1 90 n=22
// Powers by squaring: of a permutation that all compose, of matrices modulo a prime per group of nine lanes; then cycles walked by lanes.
extern "C" __global__ void k9158(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned char base[2][96], power[2][96];
    __shared__ unsigned m[2][10 * 10], r[2][10 * 10], s[1024];
    unsigned t = threadIdx.x, size = blockDim.x, acc = 0, b = 0, p = 0, group = t / 9, i = t % 9 / 3, j = t % 3;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < 200; k += size) (&m[0][0])[k] = (&r[0][0])[k] = 0;
    __syncthreads();
    base[0][t] = (unsigned char)(size - 1 - t);
    power[0][t] = (unsigned char)t;
    m[0][group * 10 + i * 3 + j] = (src[group * 9 % 2048 + t] + t) % 97;
    r[0][group * 10 + i * 3 + j] = i == j;
    __syncthreads();
    if (t == 0)  // a shuffle by Fisher and Yates
        for (unsigned k = size - 1, x = n; k > 0; k--) {
            x = x * 1664525u + 1013904223u;
            unsigned o = (x >> 8) % (k + 1);
            unsigned char v = base[0][k]; base[0][k] = base[0][o]; base[0][o] = v;
        }
    __syncthreads();
    for (unsigned e = n; e; e >>= 1) {
        if (e & 1) {
            power[p ^ 1][t] = base[b][power[p][t]];
            unsigned sum = 0;
            for (unsigned k = 0; k < 3; k++) sum += r[p][group * 10 + i * 3 + k] * m[b][group * 10 + k * 3 + j];
            r[p ^ 1][group * 10 + i * 3 + j] = sum % 97;
            p ^= 1;
        }
        base[b ^ 1][t] = base[b][base[b][t]];
        unsigned sum = 0;
        for (unsigned k = 0; k < 3; k++) sum += m[b][group * 10 + i * 3 + k] * m[b][group * 10 + k * 3 + j];
        __syncthreads();
        m[b ^ 1][group * 10 + i * 3 + j] = sum % 97;
        b ^= 1;
        __syncthreads();
    }
    acc += s[(power[p][t] * 4u) & 1023] + s[(r[p][group * 10 + t % 9] * 8) & 1023];
    unsigned at = t, length = 0;
    do { at = power[p][at]; length++; } while (at != t && length < 30);
    s[(length * 32 + t) & 1023] = at;
    acc += s[(length * t) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
