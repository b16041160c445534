// launch 1 128 n=3
// launch 2 8x10 n=6
// launch 3 96 n=9
// launch 1 16x2x2 n=12
// Fragments by ldmatrix, stmatrix, movmatrix, mma and wmma of halves, bytes and doubles, in swizzled, padded and strided tiles; rows
// come from a table, lanes whose addresses nobody uses point at one bank, and products are addresses. The ragged warp only watches.
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda_fp16.h>
#include <mma.h>
namespace wmma = nvcuda::wmma;
using cuda::std::array;

__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ array<unsigned, 4> load4(const __half* p) {
    array<unsigned, 4> r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at(p)) : "memory");
    return r;
}

__device__ array<unsigned, 2> load2_transposed(const __half* p) {
    array<unsigned, 2> r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at(p)) : "memory");
    return r;
}

__device__ unsigned load1(const __half* p) {
    unsigned r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at(p)) : "memory");
    return r;
}

__device__ void multiply(array<float, 4>& d, const array<unsigned, 4>& a, const array<unsigned, 2>& b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void multiply(array<int, 4>& d, const array<unsigned, 4>& a, const array<unsigned, 2>& b) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __half* twisted(__half* tile, unsigned row, unsigned chunk) { return tile + row * 64 + ((chunk ^ row) & 7) * 8; }

__device__ unsigned word(const signed char* p) { return *reinterpret_cast<const unsigned*>(p); }

extern "C" __global__ void k9902(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ __align__(128) __half tile[64 * 64], padded[64 * 24];
    __shared__ __align__(128) signed char bytes[48 * 48];
    __shared__ __align__(128) float sums[4][16 * 20];
    __shared__ __align__(128) double grid[8 * 10], squares[4][8 * 12];
    __shared__ __align__(16) int whole[4][16 * 24];
    __shared__ cuda::std::complex<double> spins[64];
    __shared__ short rows[64];
    __shared__ unsigned table[1024];
    const unsigned T = blockDim.x * blockDim.y * blockDim.z, t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned l = t & 31, w = t / 32, g = l / 4, q = l & 3, b = blockIdx.x;
    unsigned acc = 0;
    cuda::std::layout_stride::mapping<cuda::std::extents<int, 64, 16>> pitch(cuda::std::extents<int, 64, 16>(), array<int, 2>{24, 1});
    cuda::std::mdspan<__half, cuda::std::extents<int, 64, 16>, cuda::std::layout_stride> view(padded, pitch);
    for (unsigned i = t; i < 4096; i += T) *(twisted(tile, i / 64, i % 64 / 8) + i % 8) = __float2half(float((i / 64 * 3 + i % 64 + n) & 3));
    for (unsigned i = t; i < 1024; i += T) { view(i / 16, i % 16) = __float2half(float((i / 16 + i * 5 + b) % 3)); table[i] = (i * 9 + n) & 1023; }
    for (unsigned i = t; i < 512; i += T) padded[i / 8 * 24 + 16 + i % 8] = __float2half(1.f);
    for (unsigned i = t; i < 48 * 48; i += T) bytes[i] = (signed char)(i < 32 * 48 ? (i * 7 % 5) : src[(b * 64 + i) & 4095] & 3);
    for (unsigned i = t; i < 80; i += T) grid[i] = (i * 3 + n) % 8 * 0.5;
    for (unsigned i = t; i < 64; i += T) { rows[i] = short((i * 5 + n) & 63); spins[i] = {i * 1., n * 1.}; }
    __syncthreads();

    array<float, 4> d = {0.f, 0.f, 0.f, 0.f};
    array<int, 4> e = {1, 2, 3, 4};
    const bool full = (w + 1) * 32 <= T;
    if (full) {
        // rows by the table, chunks twisted by the row; the upper half of the warp gives addresses that an x2 does not use
        for (unsigned k = 0; k < 4; k++) {
            const unsigned row = rows[(w * 16 + (l & 15)) & 63];
            array<unsigned, 4> a = load4(twisted(tile, row, k * 2 + (l >> 4)));
            array<unsigned, 2> c = load2_transposed(l < 16 ? padded + (k * 16 + l) * 24 + (w & 1) * 8 : tile + (l & 15) * 64);
            multiply(d, a, c);
            acc += table[((unsigned)d[0] * 2 + (unsigned)d[3]) & 1023];
        }
        // the same with the wrong pitch: rows 128 bytes apart in one chunk, rows that are the same, and only eight lanes that count
        const unsigned plain = load1(l < 8 ? tile + l * 64 + (n & 7) * 8 : tile + (l & 3) * 64);
        const unsigned same = load1(padded + (l & (n & 7)) * 24);
        acc += table[(__half2uint_rz(__low2half(*reinterpret_cast<const __half2*>(&plain))) * 32 + l) & 1023] + (same & 0xffff);
        for (unsigned k = 0; k < 2; k++) {                     // bytes: the second operand is computed, then from src
            const signed char* left = bytes + g * 48 + q * 4;
            const signed char* right = bytes + (k ? 32 + g : 8 + g) * 48 + q * 4;
            multiply(e, {word(left), word(left + 8 * 48), word(left + 16), word(left + 8 * 48 + 16)}, {word(right), word(right + 16)});
            acc += table[(e[0] * 4 + e[3]) & 1023];
        }
    }
    __syncthreads();

    // fragments go back transposed into the rows of this warp; the chunk is turned by the product of the lane's own row
    if (full) {
        unsigned two[4], turned;
        for (int i = 0; i < 4; i++) two[i] = __float_as_uint(d[i]) >> 16 | (l * 4 + i) << 16;
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(l * 3 | (w + n) << 16));
        const unsigned row = w * 16 + (l & 15);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                     :: "r"(at(twisted(tile, row, (l >> 4) + (w & 2)))), "r"(two[0]), "r"(two[1]), "r"(two[2]), "r"(turned) : "memory");
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                     :: "r"(at(l < 16 ? padded + row * 24 + 16 : tile)), "r"(two[3]), "r"(turned) : "memory");
        __syncwarp();
        const unsigned short* back = reinterpret_cast<const unsigned short*>(twisted(tile, w * 16 + 8 + (l & 7), 1 + (w & 2)));
        acc += table[(back[l >> 3] * 8) & 1023] + table[back[(l >> 3) + 4] & 1023];
        acc += table[(reinterpret_cast<const unsigned short*>(padded)[(w * 16 + 8 + (l & 7)) * 24 + 16 + (l >> 3)] * 2) & 1023];

        // wmma with pitches of 24, 20, 48, 10 and 12 elements
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> ha;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> hb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> hc;
        wmma::fill_fragment(hc, float(w));
        wmma::load_matrix_sync(ha, padded + w * 16 * 24, 24);
        wmma::load_matrix_sync(hb, padded + (w ^ 1) % (T / 32) * 16 * 24, 24);
        wmma::mma_sync(hc, ha, hb, hc);
        wmma::store_matrix_sync(sums[w], hc, 20, w & 1 ? wmma::mem_col_major : wmma::mem_row_major);
        wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> sa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> sb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, int> sc;
        wmma::fill_fragment(sc, (int)n);
        wmma::load_matrix_sync(sa, bytes, 48);
        wmma::load_matrix_sync(sb, bytes + 16 * 48 + 32, 48);
        wmma::mma_sync(sc, sa, sb, sc);
        wmma::store_matrix_sync(whole[w], sc, 24, wmma::mem_col_major);
        wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> da;
        wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> db;
        wmma::fragment<wmma::accumulator, 8, 8, 4, double> dc;
        wmma::fill_fragment(dc, 0.25);
        wmma::load_matrix_sync(da, grid, 10);
        wmma::load_matrix_sync(db, grid + 40, 10);
        wmma::mma_sync(dc, da, db, dc);
        wmma::store_matrix_sync(squares[w], dc, 12, wmma::mem_row_major);
    }
    __syncthreads();

    // everyone, the ragged warp too, reads products of a neighbouring full warp as addresses
    const unsigned from = (w + 1) % (T / 32);
    cuda::std::span<const int> products(whole[from], 16 * 24);
    cuda::std::optional<cuda::std::complex<double>> spin;
    if (l % 3) spin = spins[(products[(l & 15) * 24 + (l >> 4)] * 3) & 63] * spins[rows[l] & 63];
    acc += table[(unsigned)sums[from][(l & 15) * 20 + (l >> 4)] * 4 & 1023] + table[(unsigned)(squares[from][(l & 7) * 12 + l / 8] * 8) & 1023];
    acc += table[(unsigned)products[(l * 5) % 16 + 24 * (w & 7)] & 1023] + table[spin ? (unsigned)spin->imag() & 1023 : l * 32];
    out[b * T + t] = acc + (unsigned)e[1] + (unsigned)d[1];
}
