// launch 1 16x6 n=1
// launch 2 17x5 n=2
// launch 1 32x3 n=4
// A plane with halos, loaded in linear order by division; a cross and a box, reflected at the borders; the maximum of a box is an address.
extern "C" __global__ void k9116(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ float plane[1024];
    __shared__ unsigned s[1024];
    int x = threadIdx.x, y = threadIdx.y, w = blockDim.x, h = blockDim.y, t = y * w + x, size = w * h, r = n, pitch = w + 2 * r, rows = h + 2 * r;
    unsigned acc = 0;
    for (int k = t; k < 1024; k += size) s[k] = k;
    for (int k = t; k < pitch * rows; k += size) {
        int gx = k % pitch - r, gy = k / pitch - r;
        if (gx < 0) gx = -gx;
        if (gx >= w) gx = 2 * w - 2 - gx;
        if (gy < 0) gy = -gy;
        if (gy >= h) gy = gy * 2 > 4 * h ? 0 : max(2 * h - 2 - gy, 0);
        plane[k] = (float)(src[(gy * 64 + gx + blockIdx.x * 7) & 2047] & 31);
    }
    __syncthreads();
    float cross = -4.0f * plane[(y + r) * pitch + x + r], top = 0.0f;
    for (int d = 1; d <= r; d++)
        cross += plane[(y + r - d) * pitch + x + r] + plane[(y + r + d) * pitch + x + r] + plane[(y + r) * pitch + x + r - d] + plane[(y + r) * pitch + x + r + d];
    for (int dy = -r; dy <= r; dy += r)
        for (int dx = -1; dx <= 1; dx++) top = fmaxf(top, plane[(y + r + dy) * pitch + x + r + dx]);
    acc += s[(unsigned)(int)top * 32 & 1023];
    acc += s[(unsigned)((int)cross + t * 4) & 1023];
    __syncthreads();
    plane[(y + r) * pitch + x + r] = top * 0.5f;
    if (x < r) plane[(y + r) * pitch + x] = plane[(y + r) * pitch + x + w + r] = (float)y;
    if (y < r) plane[y * pitch + x + r] = plane[(y + r + h) * pitch + x + r] = (float)x;
    __syncthreads();
    int column = t / h, row = t % h;
    float g = plane[(row + r) * pitch + column + r] + plane[row * pitch + column + r];
    acc += s[(unsigned)(int)(g * f) & 1023];
    s[(unsigned)(int)g * t & 1023] = acc;
    out[(blockIdx.x * size + t) & 2047] = acc;
}
