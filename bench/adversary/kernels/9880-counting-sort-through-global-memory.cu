// launch 1 64 n=5
// launch 3 100 n=18
// launch 2x2 8x9x4 n=31
// launch 4 33 n=0
// A counting sort whose keys, counts, ranks and sorted row all lie in out: counted with reductions, scanned in two halves in turn
// (which half holds the sum hangs on n), counters advanced in place while ranks are given; ranks and starts address shared memory.

// Inclusive sums of bins counters, in place or in the other half; returns the half that holds them.
__device__ unsigned scan(unsigned* halves, unsigned bins, unsigned t, unsigned nt) {
    unsigned turn = 0;
    #pragma unroll 1
    for (unsigned step = 1; step < bins; step *= 2, turn ^= 1) {
        const unsigned* from = halves + turn * 256;
        unsigned* to = halves + (turn ^ 1) * 256;
        for (unsigned i = t; i < bins; i += nt) to[i] = from[i] + (i >= step ? from[i - step] : 0);
        __syncthreads();
    }
    return turn;
}

extern "C" __global__ void k9880(unsigned* out, const unsigned* src, unsigned n, float f) {
    __shared__ unsigned sorted[1024];
    __shared__ unsigned long long pairs[640];
    __shared__ unsigned char bytes[2560];
    __shared__ unsigned start[257], table[1024];
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned nt = blockDim.x * blockDim.y * blockDim.z;
    const unsigned b = blockIdx.y * gridDim.x + blockIdx.x;
    unsigned* const region = out + b * 8192;
    unsigned* const keys = region;                      // up to 640
    unsigned* const counts = region + 1024;             // two halves of 256
    unsigned* const ranks = region + 2048;
    unsigned* const next = region + 3072;
    const unsigned size = nt * 2, bins = 40 + (n & 31) * 5;
    unsigned acc = 0;

    for (unsigned i = t; i < 1024; i += nt) { table[i] = i * 3 + 1; sorted[i] = 0; }
    for (unsigned i = t; i < 640; i += nt) pairs[i] = i;
    for (unsigned i = t; i < 2560; i += nt) bytes[i] = i;
    for (unsigned i = t; i < size; i += nt) keys[i] = (i * i + b * 3 + n) % bins;
    __syncthreads();

    #pragma unroll 1
    for (unsigned pass = 0; pass < 2 + (n & 1); pass++) {
        for (unsigned i = t; i < 512; i += nt) counts[i] = 0;
        __syncthreads();
        for (unsigned i = t; i < size; i += nt) atomicAdd(counts + keys[i], 1);
        __syncthreads();
        for (unsigned i = t; i < bins; i += nt) acc += table[(counts[i] * 32 + i) & 1023];     // before the sums
        const unsigned half = scan(counts, bins, t, nt);
        unsigned* const sums = counts + half * 256;
        for (unsigned i = t; i <= bins; i += nt) start[i] = i == 0 ? 0 : sums[i - 1];
        __syncthreads();

        // the thread of a digit walks the keys; its counter in out stands before its sum and moves up with every key
        for (unsigned d = t; d < bins; d += nt) {
            sums[d] = start[d];
            #pragma unroll 1
            for (unsigned i = 0; i < size; i++)
                if (keys[i] == d) ranks[i] = sums[d]++;
        }
        __syncthreads();
        for (unsigned i = t; i < size; i += nt) {
            const unsigned r = ranks[i];
            sorted[r] = keys[i];
            pairs[r] = (unsigned long long)i << 32 | keys[i];
            bytes[r * 4 + (i & 3)] = pass + i;
        }
        __syncthreads();
        for (unsigned d = t; d < bins; d += nt)         // segments of any length, some empty; the sums are ends by now
            for (unsigned i = start[d]; i < sums[d]; i++) acc += sorted[i] * 2 + (unsigned)(pairs[i] >> 32);
        for (unsigned i = t; i < size; i += nt) {
            acc += bytes[ranks[size - 1 - i] * 4 + (pass & 3)];
            next[sorted[i] == (i ? sorted[i - 1] : ~0u) ? i : i + 1024] = i - start[sorted[i]];
        }
        __syncthreads();
        // new keys out of place and place out of key, over the old ones
        for (unsigned i = t; i < size; i += nt) {
            const bool first = sorted[i] != (i ? sorted[i - 1] : ~0u);
            const unsigned old = keys[i];
            keys[i] = (next[first ? i + 1024 : i] * 5 + old + pass) % bins;
            acc += table[(old * 8 + keys[i]) & 1023];
        }
        __syncthreads();
    }

    // a part of the keys comes from src now: counted, summed and used as offsets in the same way
    for (unsigned i = t; i < 512; i += nt) counts[i] = 0;
    __syncthreads();
    for (unsigned i = t; i < size; i += nt) {
        if (i & 1) keys[i] = src[(b * 1024 + i) & 65535] % bins;
        atomicAdd(&counts[keys[i]], 1);
    }
    __syncthreads();
    const unsigned* sums = counts + scan(counts, bins, t, nt) * 256;
    for (unsigned i = t; i < size; i += nt) {
        const unsigned k = keys[i], from = k ? sums[k - 1] : 0;
        acc += sorted[from & 1023] + table[(sums[k] - from) * 4 & 1023];
    }
    acc += (unsigned)pairs[(sums[bins - 1] - t) % 640];              // the last sum is the number of keys, whatever they are
    __syncthreads();
    region[5120 + t] = acc + (f > 8.0f ? 1 : 0);
}
