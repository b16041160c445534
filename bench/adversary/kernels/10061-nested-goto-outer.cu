// launch 2 96 n=12
// launch 1 48 n=7
// launch 3 16x5 n=20
// nested loops that lanes leave in different trips: goto to the outer loop, continue, goto past both; byte stores and 8-byte loads indexed by both trips
extern "C" __global__ void k10061(unsigned* out, const unsigned* src, unsigned n, float f)
{
    __shared__ unsigned s[1024];
    __shared__ uint2 pair[256];
    __shared__ unsigned char bytes[1024];
    const unsigned nt = blockDim.x * blockDim.y;
    const unsigned t = threadIdx.y * blockDim.x + threadIdx.x;
    for (unsigned i = t; i < 1024; i += nt) {
        s[i] = src[(i + blockIdx.x * 5) & 4095];
        bytes[i ^ 3] = (unsigned char)i;
        if (i < 256) pair[i] = make_uint2(i, i * 3);
    }
    __syncthreads();
    unsigned acc = 0;
    for (unsigned row = 0; row < n; ++row) {
        const unsigned v = src[(row * 17 + t * 3) & 4095];
        if ((row + t) % 6 == 5) continue;
        for (unsigned col = 0; col < 9; ++col) {
            if (((v >> col) & 7) == 5) goto next_row;
            acc += s[(row * 33 + col * (t & 15)) & 1023];
            for (unsigned k = col; k < 9; k += (t & 3) + 1) {
                if (k + row == (t & 31)) goto next_col;
                acc ^= pair[(t + k * 8 + col) & 255].y;
            }
            bytes[(t * 5 + col * 64) & 1023] = (unsigned char)(v + col);
        next_col:
            if (row > 4 && ((t * 7) & 31) == row + col) goto done;
        }
        pair[(t * (row | 1)) & 255] = make_uint2(v, row);
    next_row:
        acc += bytes[(row * 4 + t * 2) & 1023];
    }
done:
    acc += s[(t * 32 + t / 32) & 1023];
    out[(blockIdx.x * nt + t) & 4095] = acc + (unsigned)f;
}
