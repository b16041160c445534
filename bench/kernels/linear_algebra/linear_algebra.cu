// Small dense algebra in shared memory: batched inverses, LU with pivots, QR by Householder, triangular solves,
// Jacobi rotations, matrix powers, band matrices.

template <typename T, int N>
__device__ void inverse(const T* in, T* out, int batch) {
    constexpr int PerBlock = 4;
    __shared__ T matrices[PerBlock][N][2 * N + 1];
    int which = blockIdx.x * PerBlock + threadIdx.y, column = threadIdx.x;
    T (&a)[N][2 * N + 1] = matrices[threadIdx.y];
    bool active = which < batch;
    if (active) for (int row = 0; row < N; row++) {
        a[row][column] = column < N ? in[(which * N + row) * N + column] + (row == column ? T(4) : T(0)) : T(row == column - N);
    }
    __syncthreads();
    for (int pivot = 0; pivot < N; pivot++) {
        T scale = active ? T(1) / a[pivot][pivot] : T(0);
        __syncthreads();
        if (active) a[pivot][column] *= scale;
        __syncthreads();
        if (active) for (int row = 0; row < N; row++) {
            if (row == pivot) continue;
            T factor = a[row][pivot];
            __syncwarp(__activemask());
            a[row][column] -= factor * a[pivot][column];
        }
        __syncthreads();
    }
    if (active && column >= N) for (int row = 0; row < N; row++) out[(which * N + row) * N + column - N] = a[row][column];
}

extern "C" __global__ void inverse_float_8(const float* in, float* out, int batch) { inverse<float, 8>(in, out, batch); }
extern "C" __global__ void inverse_double_6(const double* in, double* out, int batch) { inverse<double, 6>(in, out, batch); }

// Row pivots come from the data: which rows are exchanged is not known, whether is.
extern "C" __global__ void lu_pivot(float* in, int n) {
    extern __shared__ float m[];
    __shared__ int pivot;
    int t = threadIdx.x;
    for (int row = 0; row < n; row++) if (t < n) m[row * (n + 1) + t] = in[row * n + t];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (t == 0) {
            int best = k;
            for (int row = k + 1; row < n; row++) if (fabsf(m[row * (n + 1) + k]) > fabsf(m[best * (n + 1) + k])) best = row;
            pivot = best;
        }
        __syncthreads();
        if (pivot != k && t < n) { float swap = m[k * (n + 1) + t]; m[k * (n + 1) + t] = m[pivot * (n + 1) + t]; m[pivot * (n + 1) + t] = swap; }
        __syncthreads();
        if (t > k && t < n) {
            float factor = m[t * (n + 1) + k] / m[k * (n + 1) + k];
            m[t * (n + 1) + k] = factor;
            for (int column = k + 1; column < n; column++) m[t * (n + 1) + column] -= factor * m[k * (n + 1) + column];
        }
        __syncthreads();
    }
    for (int row = 0; row < n; row++) if (t < n) in[row * n + t] = m[row * (n + 1) + t];
}

extern "C" __global__ void householder(float* in, int rows, int columns) {
    extern __shared__ float q[];
    __shared__ float sums[4];
    int t = threadIdx.x;
    for (int i = t; i < rows * columns; i += blockDim.x) q[i] = in[i];
    __syncthreads();
    for (int k = 0; k < columns; k++) {
        float norm = 0;
        for (int row = k + t; row < rows; row += blockDim.x) norm += q[row * columns + k] * q[row * columns + k];
        for (int d = 16; d; d >>= 1) norm += __shfl_xor_sync(~0u, norm, d);
        if (t % 32 == 0) sums[t / 32] = norm;
        __syncthreads();
        norm = sqrtf(sums[0] + sums[1] + sums[2] + sums[3]);
        __syncthreads();
        for (int column = k + 1 + t / 32; column < columns; column += 4) {
            float dot = 0;
            for (int row = k + t % 32; row < rows; row += 32) dot += q[row * columns + k] * q[row * columns + column];
            for (int d = 16; d; d >>= 1) dot += __shfl_xor_sync(~0u, dot, d);
            for (int row = k + t % 32; row < rows; row += 32) q[row * columns + column] -= 2 * dot / (norm + 1) * q[row * columns + k];
        }
        __syncthreads();
    }
    for (int i = t; i < rows * columns; i += blockDim.x) in[i] = q[i];
}

// Forward substitution, a column of the right-hand side a thread.
extern "C" __global__ void triangular(const float* l, float* b, int n) {
    __shared__ float lower[32][33];
    __shared__ float right[32][64];
    int t = threadIdx.x;
    for (int i = t; i < n * n; i += 64) lower[i / n][i % n] = l[i];
    for (int row = 0; row < n; row++) right[row][t] = b[row * 64 + t];
    __syncthreads();
    for (int row = 0; row < n; row++) {
        float value = right[row][t];
        for (int k = 0; k < row; k++) value -= lower[row][k] * right[k][t];
        right[row][t] = value / (lower[row][row] + 1);
    }
    for (int row = 0; row < n; row++) b[row * 64 + t] = right[row][t];
}

// One-sided Jacobi on a round-robin schedule: pairs (i, j) of a tournament.
extern "C" __global__ void jacobi(float* in, int sweeps) {
    constexpr int N = 16, Rows = 32;
    __shared__ float a[N][Rows + 1];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int c = warp; c < N; c += 8) a[c][lane] = in[c * Rows + lane];
    __syncthreads();
    for (int sweep = 0; sweep < sweeps; sweep++)
        for (int round = 0; round < N - 1; round++) {
            int i = warp == 0 ? 0 : (round + warp - 1) % (N - 1) + 1, j = (round + N - 2 - warp) % (N - 1) + 1;
            float x = a[i][lane], y = a[j][lane], alpha = x * x, beta = y * y, gamma = x * y;
            for (int d = 16; d; d >>= 1) { alpha += __shfl_xor_sync(~0u, alpha, d); beta += __shfl_xor_sync(~0u, beta, d); gamma += __shfl_xor_sync(~0u, gamma, d); }
            float t = gamma / (fabsf(beta - alpha) + 1), c = rsqrtf(1 + t * t), s = c * t;
            a[i][lane] = c * x - s * y;
            a[j][lane] = s * x + c * y;
            __syncthreads();
        }
    for (int c = warp; c < N; c += 8) in[c * Rows + lane] = a[c][lane];
}

extern "C" __global__ void power(float* in, int exponent) {
    __shared__ float base[16][16], result[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    base[y][x] = in[y * 16 + x];
    result[y][x] = x == y;
    __syncthreads();
    for (int e = exponent; e > 0; e >>= 1) {
        float product = 0, square = 0;
        for (int k = 0; k < 16; k++) {
            if (e & 1) product += result[y][k] * base[k][x];
            square += base[y][k] * base[k][x];
        }
        __syncthreads();
        if (e & 1) result[y][x] = product;
        base[y][x] = square;
        __syncthreads();
    }
    in[y * 16 + x] = result[y][x];
}
