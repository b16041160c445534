// A hash table in shared memory: open addressing, insertion by compare-and-swap, then look-ups.

constexpr unsigned kSlots = 1024;
constexpr unsigned kEmpty = 0xffffffffu;

__device__ unsigned hash(unsigned key) {
    key ^= key >> 16;
    key *= 0x85ebca6bu;
    key ^= key >> 13;
    return key;
}

extern "C" __global__ void hash_join(const unsigned* build, const unsigned* probe, unsigned* matches, int n) {
    __shared__ unsigned keys[kSlots];
    __shared__ unsigned values[kSlots];
    int tid = threadIdx.x;
    for (int i = tid; i < kSlots; i += blockDim.x) keys[i] = kEmpty;           // site: clear
    __syncthreads();
    for (int i = tid; i < n; i += blockDim.x) {
        unsigned key = build[i];
        unsigned slot = hash(key) % kSlots;
        for (;;) {
            unsigned seen = atomicCAS(&keys[slot], kEmpty, key);               // site: insert
            if (seen == kEmpty || seen == key) break;
            slot = (slot + 1) % kSlots;
        }
        values[slot] = i;                                                      // site: value-store
    }
    __syncthreads();
    for (int i = tid; i < n; i += blockDim.x) {
        unsigned key = probe[blockIdx.x * n + i];
        unsigned slot = hash(key) % kSlots;
        unsigned match = kEmpty;
        while (keys[slot] != kEmpty) {                                         // site: look-up
            if (keys[slot] == key) {                                           // site: look-up
                match = values[slot];                                          // site: value-load
                break;
            }
            slot = (slot + 1) % kSlots;
        }
        matches[blockIdx.x * n + i] = match;
    }
}
