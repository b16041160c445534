// Conway's game of life on bytes, a tile with its halo in shared memory, several steps a load.

constexpr int kTile = 64;
constexpr int kHalo = 4;
constexpr int kSize = kTile + 2 * kHalo;   // 72 bytes a row: 18 words

extern "C" __global__ void __launch_bounds__(256) life(const unsigned char* in, unsigned char* out, int n) {
    __shared__ alignas(16) unsigned char cells[2][kSize][kSize];
    int tid = threadIdx.x;
    int x0 = blockIdx.x * kTile - kHalo;
    int y0 = blockIdx.y * kTile - kHalo;
    for (int i = tid; i < kSize * kSize; i += 256) {
        int x = (x0 + i % kSize + n) % n;
        int y = (y0 + i / kSize + n) % n;
        cells[0][i / kSize][i % kSize] = in[y * n + x];                              // site: fill
    }
    for (int step = 0; step < kHalo; ++step) {
        __syncthreads();
        auto& from = cells[step % 2];
        auto& to = cells[1 - step % 2];
        int margin = step + 1;
        int size = kSize - 2 * margin;
        for (int i = tid; i < size * size; i += 256) {
            int x = margin + i % size;
            int y = margin + i / size;
            int sum = from[y - 1][x - 1] + from[y - 1][x] + from[y - 1][x + 1] +     // site: neighbours
                      from[y][x - 1] + from[y][x + 1] +                              // site: neighbours
                      from[y + 1][x - 1] + from[y + 1][x] + from[y + 1][x + 1];      // site: neighbours
            to[y][x] = sum == 3 || (sum == 2 && from[y][x]);                         // site: update
        }
    }
    __syncthreads();
    for (int i = tid; i < kTile * kTile; i += 256)
        out[(blockIdx.y * kTile + i / kTile) * n + blockIdx.x * kTile + i % kTile] = cells[0][kHalo + i / kTile][kHalo + i % kTile];   // site: back
}
