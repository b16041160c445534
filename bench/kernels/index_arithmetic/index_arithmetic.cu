// Shared-memory indices that need computation: divisions, remainders, bit tricks, tables, floats, loops
// whose number of trips is computed, three-dimensional blocks, recursion, early exits.

__constant__ int permutation[64] = {
    5, 12, 33, 60, 1, 44, 27, 18, 9, 50, 63, 2, 31, 40, 21, 14, 7, 58, 35, 24, 49, 0, 11, 62, 3, 38, 29, 16, 55, 42, 19, 26,
    13, 52, 47, 34, 61, 8, 23, 30, 39, 4, 57, 46, 15, 28, 41, 54, 17, 6, 59, 36, 25, 48, 43, 10, 53, 32, 37, 20, 51, 22, 45, 56};

extern "C" __global__ void divisions(const int* in, int* out, int a, int b, unsigned c) {
    __shared__ int s[512];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 256] = in[t + 256];
    __syncthreads();
    int sum = s[t / 7] + s[t % 7 * 13] + s[t * 1000 / 1001] + s[t / a] + s[t % a] + s[(t * b / a) & 511];
    sum += s[(unsigned)t / c] + s[(unsigned)t % c] + s[(t - 128) / a + 256] + s[(t - 128) % a + 256];
    sum += s[(long long)t * 1234567891011LL / 12345678901LL % 512] + s[(unsigned long long)t * 77 % (unsigned long long)c];
    out[t] = sum;
}

extern "C" __global__ void bits(const int* in, int* out, unsigned mask, int shift) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[__brev(t) >> 24] = in[t];
    __syncthreads();
    int gray = t ^ t >> 1, morton = 0;
    for (int i = 0; i < 4; i++) morton |= (t >> i & 1) << 2 * i | (t >> (i + 4) & 1) << (2 * i + 1);
    int sum = s[gray] + s[morton] + s[__popc(t) * 8] + s[__clz(t) & 255] + s[__ffs(t)];
    sum += s[__funnelshift_l(t, t, shift) & 255] + s[(t & mask) | (t >> shift & ~mask & 255)] + s[__byte_perm(t, t << 4, 0x4140) & 255];
    sum += s[t * 2654435761u >> 24] + s[min(max(t - 5, shift), 200)] + s[abs(t - 128)] + s[__mulhi(t << 20, t << 16) & 255] + s[__umul24(t, 5) & 255];
    out[t] = sum;
}

extern "C" __global__ void tables(const int* in, int* out, int steps) {
    __shared__ int s[64], order[64];
    int t = threadIdx.x;
    s[permutation[t]] = in[t];
    order[t] = (t * 37 + 11) & 63;
    __syncthreads();
    int sum = 0, at = t;
    for (int i = 0; i < steps; i++) { at = order[at]; sum += s[at]; }
    unsigned char nibble[4] = {3, 1, 0, 2};
    sum += s[nibble[t & 3] * 16 + t / 4];
    out[t] = sum;
}

extern "C" __global__ void floats(const float* in, float* out, float scale, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    float x = t * scale;
    float sum = s[int(x) & 255] + s[__float2int_rn(x * 0.75f) & 255] + s[int(sqrtf(float(t * t))) & 255] + s[int(floorf(t / 3.0f))];
    sum += s[int(double(t) * 0.3) & 255] + s[__float2int_rd((t + 0.5f) / n) & 255] + s[int(fmodf(float(t), 7.0f))] + s[__float2uint_rz(t * (1.0f / 16))];
    out[t] = sum;
}

extern "C" __global__ void trips(const int* in, int* out, int n) {
    __shared__ int s[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += blockDim.x) s[i] = in[i];
    __syncthreads();
    int sum = 0;
    for (int i = t; i < n; i += i / 4 + 1) sum += s[i];
    for (int i = n; i > 1; i = i % 2 ? 3 * i + 1 : i / 2) sum += s[(i + t) & 1023];
    int a = t + 1, b = n;
    while (b) { int r = a % b; a = b; b = r; sum += s[a & 1023]; }
    for (int i = 0; i < t % 5; i++) for (int j = i; j < 4; j++) { if (j == 2) continue; if (i + j > 6) break; sum += s[i * 32 + j + t]; }
    switch (t % 6) {
    case 0: sum += s[t]; break;
    case 1: sum += s[t * 2];
    case 2: sum += s[t * 3]; break;
    case 3: sum -= s[t + 7]; break;
    case 4: sum ^= s[t | 64]; break;
    default: sum *= s[t & 15];
    }
    out[t] = sum;
}

__device__ __noinline__ int depth(const int* s, int at, int level) {
    if (level == 0) return s[at & 255];
    return depth(s, 2 * at + 1, level - 1) + depth(s, 2 * at + 2, level - 1);
}

extern "C" __global__ void recursion(const int* in, int* out, int levels) {
    __shared__ int s[256];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = depth(s, threadIdx.x / 32, levels);
}

extern "C" __global__ void solid(const float* in, float* out, int nx, int ny, int nz) {
    __shared__ float s[6][10][10];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int gx = blockIdx.x * 8 + x, gy = blockIdx.y * 8 + y, gz = blockIdx.z * 4 + z;
    if (gx >= nx) return;
    bool inside = gy < ny && gz < nz;
    s[z + 1][y + 1][x + 1] = inside ? in[(gz * ny + gy) * nx + gx] : 0;
    if (x == 0) s[z + 1][y + 1][0] = gx > 0 && inside ? in[(gz * ny + gy) * nx + gx - 1] : 0;
    if (x == 7) s[z + 1][y + 1][9] = gx + 1 < nx && inside ? in[(gz * ny + gy) * nx + gx + 1] : 0;
    if (y == 0) s[z + 1][0][x + 1] = 0;
    if (y == 7) s[z + 1][9][x + 1] = 0;
    if (z == 0) s[0][y + 1][x + 1] = 0;
    if (z == 3) s[5][y + 1][x + 1] = 0;
    __syncthreads();
    if (inside) out[(gz * ny + gy) * nx + gx] = s[z][y + 1][x + 1] + s[z + 2][y + 1][x + 1] + s[z + 1][y][x + 1] + s[z + 1][y + 2][x + 1] + s[z + 1][y + 1][x] + s[z + 1][y + 1][x + 2];
}

struct Particle { float3 position; float mass; short2 cell; char kind; };

extern "C" __global__ void structures(const Particle* in, float* out, int n) {
    __shared__ Particle particles[64];
    int t = threadIdx.x;
    if (t < n) particles[t] = in[blockIdx.x * n + t];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < n; i++) {
        const Particle& other = particles[(t + i) % n];
        if (other.kind != particles[t % n].kind) continue;
        sum += other.mass * (other.position.x + other.position.y) + other.cell.y;
    }
    out[blockIdx.x * blockDim.x + t] = sum;
}

// Register arrays that are indexed by the thread spill to local memory, then decide places.
extern "C" __global__ void spilled(const int* in, int* out, int n) {
    __shared__ int s[256];
    int places[16], t = threadIdx.x;
    for (int i = 0; i < 16; i++) places[i] = (i * n + t) & 255;
    s[t] = in[t];
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < n; i++) sum += s[places[(i + t) & 15]];
    out[t] = sum;
}
