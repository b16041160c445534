// launch 1 64 n=3
// launch 2 96 n=4
// launch 2 128 n=2500
// Two buffers swapped by pointer, by index xor and by xor of byte offsets, an odd or unknown number of times, by the block, by a warp or by a lane for itself; a ring of three; tables written in one barrier phase and overwritten in the next.
extern "C" __global__ void k10013(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned buf[2][529], ring[3][131], s[1024], go;
    const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = blockDim.x >> 5;
    const unsigned v = src[(t * 3 + n) & 4095];
    unsigned acc = 0;
    for (unsigned i = t; i < 1024; i += blockDim.x) s[i] = i * 7;
    for (unsigned i = t; i < 529; i += blockDim.x) { buf[0][i] = i & 31; buf[1][i] = 5; }
    for (unsigned i = t; i < 131; i += blockDim.x) { ring[0][i] = i; ring[1][i] = i * 2; ring[2][i] = i * 4; }
    if (t == 0) go = 3 + src[n & 4095] % 4;
    __syncthreads();
    unsigned *p = buf[0], *q = buf[1];
    const unsigned trips = go;
    for (unsigned r = 0; r < trips; r++) {
        q[t] = (p[(t * 5 + r) % blockDim.x] * 3 + r) & 31;
        acc += s[p[t] * 32];
        if (r == 2 && warp == 0) p[200 + lane] = lane;
        __syncthreads();
        unsigned* const o = p; p = q; q = o;
        acc += s[p[t ^ 1] * 32 + (p == buf[1])];
    }
    acc += p[lane * 16] + q[lane * 16 + 1];
    acc += (lane & 1 ? p : q)[lane * 16];
    acc += s[(p == buf[trips & 1] ? lane * 32 : lane)];
    if (p != buf[trips & 1]) acc += s[lane * 32 + 1];
    acc += s[(p[200 + lane] * 33 + q[200 + lane]) & 1023];
    __syncthreads();

    unsigned side = 0;
    for (unsigned r = 0; r < 5; r++) {
        buf[side ^ 1][t] = buf[side][t] + (r == 3 ? 32 : 1);
        __syncthreads();
        side ^= 1;
        if (r & 1) acc += s[buf[side][t ^ 3] * 8 & 1023];
    }
    acc += s[buf[1][t] * 32 & 1023] + s[buf[0][t] * lane & 1023];
    acc += buf[side][lane * 8] + buf[side ^ 1][lane * 2];
    if (side == 0) acc += s[lane * 32 + 2];

    unsigned off = 0x40 + lane * 4;
    const unsigned by = 0x840 ^ (v & 1 ? 0xc00 : 0);
    for (unsigned r = 0; r < (trips | 1); r++) {
        acc += *(const unsigned*)((const char*)s + off);
        off ^= by;
    }
    acc += *(const unsigned*)((const char*)s + off * 2 % 4096);

    unsigned mine = warp & 1, flips = 0;
    for (unsigned r = 0; r < 4; r++)
        if (src[(n + warp * 11 + r) & 4095] & 1) { mine ^= 1; flips++; }
    acc += buf[mine][lane * 16];
    if ((flips & 1) != (mine ^ warp & 1)) acc += s[lane * 32 + 3];
    acc += s[flips * 32 + lane] + buf[mine ^ lane & 1][lane * 16 + 5];
    const unsigned *a = buf[0] + lane, *b = buf[1] + lane * 8;
    for (unsigned r = v & 3; r != 0; r--) { const unsigned* const o = a; a = b; b = o; acc += *a; }
    acc += *b;
    acc += a[lane & 7] ^ b[lane >> 1];
    __syncthreads();

    unsigned head = 0, tail = 2;
    for (unsigned r = 0; r < trips + 4; r++) {
        const unsigned step = r % 3 == head ? 1 : 16;
        acc += s[ring[head][lane * step & 127] * 8 & 1023];
        if (warp == r % warps) ring[tail][lane + 32 * (r & 3)] = (v & 3) + r;
        __syncthreads();
        head = head == 2 ? 0 : head + 1;
        tail = tail ? tail - 1 : 2;
        if (head == tail) { head = (head + 1) % 3; acc += s[lane * 16 + r]; }
        __syncthreads();
    }
    acc += s[(ring[head][lane] * 32 + ring[tail][lane * 4]) & 1023];
    acc += s[(head * 3 + tail) * lane];

    unsigned *x = buf[0], *y = buf[1];
    if (src[(n + 50) & 4095] & 1) { x = buf[1]; y = buf[0]; }
    if (warp == 0) { x[lane] = lane; y[lane] = lane * 2; }
    __syncthreads();
    acc += s[buf[0][lane] * 8 + buf[1][lane] * 8] + s[buf[0][lane] * 16];
    if (src[(n + 51) & 4095] & 1) { unsigned* const o = x; x = y; y = o; }
    acc += s[x[lane] * 16] ^ s[(x[lane] - y[lane]) * 32 & 1023];
    __syncthreads();
    if (warp == warps - 1) x[lane] = 32 - y[lane] / 2;
    __syncthreads();
    acc += s[(buf[0][lane] & 31) * 32] + s[(buf[1][lane] & 31) * 32];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
