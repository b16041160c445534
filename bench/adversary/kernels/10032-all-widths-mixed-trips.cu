// launch 2 64 n=700
// launch 1 96 n=5
// launch 1 128 n=30
// A state machine by lane whose states touch shared memory by 1, 2, 4, 8 and 16 bytes and by atomics (add, exch, cas on own words), a state's row being how often the lane was in any state; float and data exits; ldmatrix from rows of the exit trip of one lane after all meet.
__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k10032(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ alignas(16) unsigned char raw[16 * (32 + 7 * 96)];
    __shared__ unsigned cells[24 * 159];
    unsigned* const words = (unsigned*)raw;
    const unsigned t = threadIdx.x, lane = t & 31;
    for (unsigned i = t; i < sizeof raw / 4; i += blockDim.x) words[i] = i * 0x01030507u;
    for (unsigned i = t; i < 24 * 159; i += blockDim.x) cells[i] = 0;
    __syncthreads();
    const unsigned own = src[(t * 3 + n) & 4095];
    unsigned acc = own, trip = 0, state = lane & 1;
    float g = f;
    enum { Byte, Half, Word, Two, Four, Add, Exch, Cas };
    for (;;) {
        if (trip >= 22) break;
        trip++;
        switch (state) {
            case Byte: acc += raw[4 * (lane + 31 * trip) + (trip & 3)]; state = acc & 1 ? Half : Two; continue;
            case Half: acc ^= ((const unsigned short*)raw)[2 * (lane + 31 * trip) + (own & 1)]; state = (lane + trip) & 3; break;
            case Word: acc += words[lane + 31 * trip]; state = Four - (own >> trip % 8 & 1); if (acc & 2) continue; break;
            case Two: { const uint2 w = ((const uint2*)raw)[lane + 15 * trip]; acc += w.x ^ w.y; state = Add + acc % 3; break; }
            case Four: { const uint4 w = ((const uint4*)raw)[lane + 7 * trip]; acc ^= w.x + w.w; if (lane & 8) { state = Byte; continue; } state = Exch; break; }
            case Add: acc += atomicAdd(cells + trip * 159 + t, own); state = own & 4 ? Four : Byte; continue;
            case Exch: acc ^= atomicExch(cells + trip * 159 + t, acc); state = Cas; if (trip > 15 + (lane & 3)) goto stop; break;
            default: acc += atomicCAS(cells + trip * 159 + t, 0u, trip); state = (acc >> 3) % 5; break;
        }
        g *= 1.25f;
        if (g > 20.0f + (float)(lane & 7)) { g = 1.0f; state = Word; continue; }
        if (src[(trip * 77 + t) & 4095] % 37 == 36) break;
        acc += words[lane + 31 * (trip + 1)];
    }
stop:
    acc += words[lane + 31 * trip];
    acc ^= ((const uint4*)raw)[lane + 7 * state].y;
    __syncthreads();
    const unsigned same = __shfl_sync(0xffffffffu, trip, n & 31);
    unsigned a = 0, b = 0;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "r"(sa(raw + 16 * ((lane & 15) * 7 + same))) : "memory");
    acc += a ^ b;
    __syncthreads();
    acc += cells[159 * 2 + (t ^ 1)] + words[lane];
    out[(blockIdx.x * blockDim.x + t) & 4095] = acc;
}
