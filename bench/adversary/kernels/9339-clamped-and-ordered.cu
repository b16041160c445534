// launch 1 32 n=4
// launch 1 43 n=2147483647
// launch 2 64 n=2147483648
// Chains of min and max of both signs: clamps, medians, saturating sums, sorting networks of four, abs of the least integer, three-way minima and argmax.
extern "C" __global__ void k9339(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ int v[4][64];
    unsigned t = threadIdx.x, T = blockDim.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    for (unsigned k = 0; k < 4; k++) v[k][t] = (int)((t * (k * 2 + 3) * 29 + n) ^ (k & 1 ? 0x80000000u : 0u));
    __syncthreads();
    int a = v[0][t], b = v[1][(t + 1) % T], c = v[2][(t ^ 1) < T ? t ^ 1 : 0], d = v[3][T - 1 - t];
    acc += s[min(max(a, 0), 1023)];
    acc += s[min((unsigned)a, 1023u - t)];
    int med = max(min(a, b), min(max(a, b), c));
    acc += s[(unsigned)(med ^ med >> 9) & 1023];
    int mag = abs(a); if (mag < 0) s[(t * 8) & 1023] = acc; else acc += s[(unsigned)mag * 2 & 1023];
    acc += s[((unsigned)abs((int)(0x80000000u + (t & 1))) >> 22) + (t & 31)];
    int sat; asm("add.sat.s32 %0, %1, %2;" : "=r"(sat) : "r"(a), "r"(b)); acc += s[((unsigned)sat >> 22)];
    asm("sub.sat.s32 %0, %1, %2;" : "=r"(sat) : "r"(c), "r"(d));
    if (sat == (int)0x80000000) acc += s[(t * 4) & 1023]; else if (sat == 0x7FFFFFFF) s[(t * 2 + 1) & 1023] = acc;
    int w = min(a, b), x = max(a, b), y = min(c, d), z = max(c, d), lo = min(w, y), hi = max(x, z), m1 = max(w, y), m2 = min(x, z);
    acc += s[(unsigned)(lo >> 21) & 1023];
    acc += s[(unsigned)(hi - m2) & 1023];
    acc += s[(unsigned)(min(m1, m2) + (int)t * 3) & 1023];
    unsigned arg = 0; for (unsigned k = 1; k < 4; k++) arg = v[k][t] > v[arg][t] ? k : arg;
    acc += s[(arg * 256 + t * (arg + 1)) & 1023];
    int relu = __vimax_s32_relu(a, b), three = __vimin3_s32(a, c, d); bool first; int won = __vibmax_s32(a, d, &first);
    acc += s[(unsigned)(relu ^ three >> 3) & 1023];
    if (first) s[(unsigned)(won >> 20) & 1023] = acc;
    unsigned packed = __viaddmin_s16x2((unsigned)a, (unsigned)b, 0x00400100u);
    acc += s[(packed ^ packed >> 16) & 1023];
    long long far = llabs((long long)a * b); acc += s[(unsigned)min(far >> 30, 1023ll) & 1023];
    for (int k = max(a & 7, b & 3); k >= min(c & 3, 2); k -= 2) acc += s[(unsigned)(k * 33 + (int)t) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
