// launch 1 96 n=3 shared=40960
// launch 2 58 n=8 shared=20480
// launch 3 32 n=17 shared=10240
// launch 1 127 n=30 shared=40960
// Values compacted by ballot into bytes, halves, words and 16-byte pieces, split by bits (radix) and spread to pitches, in dynamic shared memory.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanes_below() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// The lanes that this warp has (the last warp of a block may be short).
__device__ __forceinline__ unsigned lanes_live() { unsigned k = blockDim.x - (threadIdx.x & ~31u); return k >= 32 ? 0xffffffffu : (1u << k) - 1; }
// 1, 2, 4, 8, 16, 32, 33 or 31 words.
__device__ __forceinline__ unsigned stride_of(unsigned n) { n &= 7; return n == 6 ? 33 : n == 7 ? 31 : 1u << n; }
extern "C" __global__ void k9965(unsigned* out, const unsigned* src, unsigned n, float f)
{
    extern __shared__ uint4 dynamic[];
    const unsigned t = threadIdx.x, wid = t / 32, lane = lane_id(), lt = lanes_below(), live = lanes_live(), count = __popc(live);
    // Per warp: 4352 bytes of words, 2048 of 16-byte pieces, 2048 of halves, 1024 of bytes.
    unsigned char* room = reinterpret_cast<unsigned char*>(dynamic) + wid * 10240;
    unsigned* w = reinterpret_cast<unsigned*>(room);
    uint4* q = reinterpret_cast<uint4*>(room + 4352);
    unsigned short* h = reinterpret_cast<unsigned short*>(room + 6400);
    unsigned char* b = room + 8448;
    for (unsigned k = lane; k < 640; k += count) dynamic[wid * 640 + k] = make_uint4(k, k * 3, n, k ^ 7);
    __syncwarp(live);
    const unsigned st = stride_of(n), pitch = 1 + (n & 3), hop = 1u << (n % 5), leap = 1u << (n % 6);
    unsigned v = src[(blockIdx.x * 700 + t * 15 + n * 4) & 4095], acc = 0;
    __syncwarp(live);
    // Compacted: those kept, at the front in one width, those dropped, from the back in another.
    const unsigned keep = __ballot_sync(live, v % 5 < 3);
    if (keep >> lane & 1) {
        h[__popc(keep & lt) * hop * 2] = (unsigned short)v;
        b[__popc(keep & lt) * leap] = (unsigned char)v;
    } else {
        q[(31 - __popc((live & ~keep) & lt)) * pitch] = make_uint4(v, lane, keep, 1);
    }
    __syncwarp(live);
    if (lane < __popc(keep)) acc += h[lane * hop * 2] + b[lane * leap];
    else acc += q[(31 - (lane - __popc(keep))) * pitch].x;
    __syncwarp(live);
    // Split by four bits, the least first; each pass goes through shared memory at another stride.
    for (unsigned bit = 0; bit < 4; bit++) {
        const unsigned ones = __ballot_sync(live, v >> bit & 1), zeros = live & ~ones;
        const unsigned place = v >> bit & 1 ? __popc(zeros) + __popc(ones & lt) : __popc(zeros & lt);
        const unsigned s = bit == 0 ? st : bit == 1 ? 1 : bit == 2 ? 33 : 8;
        w[place * s] = v;
        __syncwarp(live);
        v = w[lane * s];
        __syncwarp(live);
        acc += w[(v * 2 + lane) & 1023] & 1;
        __syncwarp(live);
    }
    // Sorted by 16 classes now: where each class begins, and a scatter of its members in 16-byte pieces.
    const unsigned kind = v & 15, before = __shfl_sync(live, kind, lane ? lane - 1 : 0);
    const unsigned heads = __ballot_sync(live, lane == 0 || kind != before);
    const unsigned upto = heads & (lt | 1u << lane), start = 31 - __clz(upto), group = __popc(upto) - 1;
    if (heads >> lane & 1) w[group * leap] = lane;
    __syncwarp(live);
    acc += w[(group * leap) & 1023] + w[(start * 32 + kind) & 1023] + h[(group * 64 + (lane - start)) & 1023];
    q[(__brev(lane) >> 27) * 4] = make_uint4(v, start, group, lane);
    __syncwarp(live);
    const uint4 z = q[(start * 4 + (lane - start)) & 127];
    acc += z.x + z.y;
    acc += q[(group * 8 + lane) & 127].w + b[(kind * 64 + lane * 4) & 1023];
    // Two at a time, those whose class is of more than one member.
    const unsigned lonely = __ballot_sync(live, (heads >> lane & 1) && (lane + 1 >= count || heads >> ((lane + 1) & 31) & 1));
    if (!(lonely >> lane & 1)) {
        const unsigned m = live & ~lonely;
        const ulonglong2 y = reinterpret_cast<ulonglong2*>(q)[(__popc(m & lt) * 2 + __popc(lonely)) & 127];
        acc += (unsigned)y.x ^ (unsigned)y.y;
        acc += reinterpret_cast<uint2*>(w)[(__popc(m & lt) * 16 + start) & 511].y;
    }
    out[blockIdx.x * blockDim.x + t] = acc;
}
