// launch 1 32 n=5
// launch 1 8x5 n=3
// launch 2 16x4x1 n=11
// The same particles as an array of structs, as a struct of arrays and as an array of structs of arrays; indices cross over.
struct Part { float x, y, z; int cell; unsigned short kind[2]; };
template <int N> struct Soa { float x[N], y[N], z[N]; int cell[N]; unsigned short kind[N][2]; };
struct Tile { Soa<8> at[12]; };
extern "C" __global__ void k9303(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned s[1024];
    __shared__ Part a[80];
    __shared__ Soa<80> b;
    __shared__ Tile c;
    unsigned T = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x, acc = 0;
    for (unsigned k = t; k < 1024; k += T) s[k] = k;
    if (t < 80) {
        Part mine = {(float)t * f, (float)(t % 7) - 3.0f, f, (int)(t * n) - 50, {(unsigned short)t, (unsigned short)(t ^ n)}};
        a[t] = mine;
    }
    __syncthreads();
    if (t < 80) {
        unsigned from = (t * 3) % (T < 80 ? T : 80);
        b.x[t] = a[from].x; b.y[t] = a[from].y; b.z[t] = a[from].z * 2.0f;
        b.cell[from] = a[t].cell;
        b.kind[t][0] = a[from].kind[1]; b.kind[t][1] = a[from].kind[t & 1];
    }
    __syncthreads();
    Soa<8>& home = c.at[t >> 3 < 12 ? t >> 3 : 0];
    home.x[t & 7] = b.x[t]; home.cell[t & 7] = b.kind[t][0]; home.kind[t & 7][t >> 3 & 1] = (unsigned short)(t * 3);
    __syncthreads();
    acc += s[(unsigned)(int)(home.x[t & 7] * 4.0f) & 1023];
    acc += s[(home.cell[t & 7] * 8 + home.kind[t & 7][t >> 3 & 1]) & 1023];
    if (b.y[t] < 0.0f) s[(b.kind[t][1] * 5) & 1023] = acc;
    unsigned steps = 0;
    for (float y = b.y[t]; y <= b.z[t]; y += 1.0f) { acc += s[(t * 2 + steps * 31) & 1023]; steps++; }
    a[t].kind[0] = (unsigned short)steps;
    Part copy = a[t];
    acc += s[(copy.kind[0] * 32 + copy.kind[1]) & 1023];
    out[(blockIdx.x * T + t) & 2047] = acc;
}
