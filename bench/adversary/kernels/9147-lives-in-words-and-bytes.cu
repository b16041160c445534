// launch 1 16x4 n=2
// launch 1 32x3 n=3
// launch 2 13x5 n=4
// The game of life on a torus of bytes with a table of rules, and in words of 32 cells by adders of bits; the populations are addresses.
extern "C" __global__ void k9147(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned char cell[2][400], rule[18];
    __shared__ unsigned board[2][32], s[1024];
    unsigned x = threadIdx.x, y = threadIdx.y, w = blockDim.x, h = blockDim.y, t = y * w + x, size = w * h, acc = 0, rows = 3 * h;
    for (unsigned k = t; k < 1024; k += size) s[k] = k;
    for (unsigned k = t; k < w * rows; k += size) cell[0][k] = (unsigned char)((src[k * 3] * 2654435761u >> 13) & 1);
    if (t < 18) rule[t] = t == 3 || t == 11 || t == 12;
    if (t < 32) board[0][t] = src[t * 7] * 0x9E3779B1u ^ 0x0ff0a5a5u >> (t & 7);
    __syncthreads();
    for (unsigned step = 0; step < n; step++) {
        const unsigned char* now = cell[step & 1];
        for (unsigned row = y; row < rows; row += h) {
            unsigned up = (row + rows - 1) % rows * w, mid = row * w, down = (row + 1 == rows ? 0 : row + 1) * w, left = x ? x - 1 : w - 1, right = (x + 1) % w;
            unsigned alive = now[up + left] + now[up + x] + now[up + right] + now[mid + left] + now[mid + right] + now[down + left] + now[down + x] + now[down + right];
            unsigned char next = rule[now[mid + x] * 9 + alive];
            cell[~step & 1][mid + x] = next;
            if (next) acc += s[(alive * 32 + row * 4 + x) & 1023];
        }
        if (t < 32) {
            unsigned a = board[step & 1][(t + 31) & 31], b = board[step & 1][t], c = board[step & 1][(t + 1) & 31], one = 0, two = 0, four = 0;
            unsigned part[8] = {a, c, a << 1 | a >> 31, a >> 1 | a << 31, b << 1 | b >> 31, b >> 1 | b << 31, c << 1 | c >> 31, __funnelshift_r(c, c, 1)};
#pragma unroll
            for (unsigned k = 0; k < 8; k++) {
                unsigned carry = one & part[k], more = two & carry;
                one ^= part[k]; two ^= carry; four |= more;
            }
            unsigned next = two & ~four & (one | b);
            board[~step & 1][t] = next;
            s[(__popc(next) * 32 + t * (step & 1)) & 1023] = next;
        }
        unsigned count = __syncthreads_count(cell[~step & 1][t]);
        acc += s[(count * t) & 1023];
    }
    acc += s[(board[n & 1][t & 31] >> 22) & 1023];
    out[(blockIdx.x * size + t) & 2047] = acc;
}
