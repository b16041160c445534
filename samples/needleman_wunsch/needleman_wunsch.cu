// Sequence alignment: a 32 x 32 tile filled along its anti-diagonals by one warp.

constexpr int kTile = 32;

template <int Pitch>
__device__ void align(const int* similarity, int* scores, int n, int penalty, int diagonal) {
    __shared__ int s[kTile + 1][Pitch];
    __shared__ int sim[kTile][kTile];
    int tx = threadIdx.x;
    int bx = blockIdx.x;
    int by = diagonal - bx;
    int* tile = scores + by * kTile * n + bx * kTile;
    const int* cost = similarity + by * kTile * n + bx * kTile;
    for (int row = 0; row < kTile; ++row) sim[row][tx] = cost[row * n + tx];        // site: similarity-fill
    s[tx + 1][0] = tile[(tx + 1) * n];                                              // site: left-fill
    s[0][tx + 1] = tile[tx + 1];                                                    // site: top-fill
    if (tx == 0) s[0][0] = tile[0];                                                 // site: corner-fill
    __syncwarp();
    for (int d = 0; d < 2 * kTile - 1; ++d) {
        int x = tx + 1;
        int y = d - tx + 1;
        if (y >= 1 && y <= kTile)
            s[y][x] = max(s[y - 1][x - 1] + sim[y - 1][x - 1],                      // site: diagonal
                          max(s[y][x - 1] - penalty, s[y - 1][x] - penalty));       // site: neighbours
        __syncwarp();
    }
    for (int row = 0; row < kTile; ++row) tile[(row + 1) * n + tx + 1] = s[row + 1][tx + 1];   // site: back
}

// Neighbours on an anti-diagonal are pitch - 1 words apart: 32 words for pitch 33, the worst of all, 33 for pitch 34.
extern "C" __global__ void align_pitch_33(const int* similarity, int* scores, int n, int penalty, int diagonal) {
    align<33>(similarity, scores, n, penalty, diagonal);
}

extern "C" __global__ void align_pitch_34(const int* similarity, int* scores, int n, int penalty, int diagonal) {
    align<34>(similarity, scores, n, penalty, diagonal);
}
