// Warps with different roles: some fetch tiles into a ring in shared memory, the others compute.

constexpr int kTile = 512;
constexpr int kStages = 4;

// Named barriers: warp 0 produces, warps 1-4 consume. Barrier 1 + s: stage s is full; 1 + kStages + s: it is empty.
extern "C" __global__ void __launch_bounds__(160) named_barriers(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float ring[kStages][kTile];
    int tid = threadIdx.x;
    in += blockIdx.x * tiles * kTile;
    if (tid < 32) {
        for (int t = 0; t < tiles; ++t) {
            int stage = t % kStages;
            if (t >= kStages) asm volatile("bar.sync %0, 160;" :: "r"(1 + kStages + stage) : "memory");
            for (int i = tid; i < kTile / 4; i += 32)
                reinterpret_cast<float4*>(ring[stage])[i] = reinterpret_cast<const float4*>(in + t * kTile)[i];   // site: produce
            asm volatile("bar.arrive %0, 160;" :: "r"(1 + stage) : "memory");
        }
    } else {
        float sum = 0;
        for (int t = 0; t < tiles; ++t) {
            int stage = t % kStages;
            asm volatile("bar.sync %0, 160;" :: "r"(1 + stage) : "memory");
            for (int i = tid - 32; i < kTile; i += 128) sum += ring[stage][i];                                    // site: consume
            if (t + kStages < tiles) asm volatile("bar.arrive %0, 160;" :: "r"(1 + kStages + stage) : "memory");
        }
        out[blockIdx.x * 128 + tid - 32] = sum;
    }
}

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void wait(unsigned barrier, unsigned phase) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra.uni finished;\n"
        "bra.uni again;\n"
        "finished:\n"
        "}\n" :: "r"(barrier), "r"(phase) : "memory");
}

// mbarriers and the bulk copy engine: one thread fetches 2 KB at a time, 128 threads add up.
extern "C" __global__ void __launch_bounds__(160) bulk_copies(const float* in, float* out, int tiles) {
    __shared__ alignas(128) float ring[kStages][kTile];
    __shared__ alignas(8) unsigned long long full[kStages], empty[kStages];
    int tid = threadIdx.x;
    in += blockIdx.x * tiles * kTile;
    if (tid == 0) {
        for (int s = 0; s < kStages; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(&full[s])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" :: "r"(shared_address(&empty[s])));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (tid < 32) {
        if (tid == 0) {
            for (int t = 0; t < tiles; ++t) {
                int stage = t % kStages;
                if (t >= kStages) wait(shared_address(&empty[stage]), (t / kStages - 1) & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                             :: "r"(shared_address(&full[stage])), "r"(kTile * 4) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"   // site: bulk
                             :: "r"(shared_address(ring[stage])), "l"(in + t * kTile), "r"(kTile * 4), "r"(shared_address(&full[stage])) : "memory");
            }
        }
    } else {
        float4 sum = {0, 0, 0, 0};
        for (int t = 0; t < tiles; ++t) {
            int stage = t % kStages;
            wait(shared_address(&full[stage]), t / kStages & 1);
            float4 v = reinterpret_cast<const float4*>(ring[stage])[tid - 32];                                       // site: consume4
            sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(&empty[stage])) : "memory");
        }
        out[blockIdx.x * 128 + tid - 32] = sum.x + sum.y + sum.z + sum.w;
    }
}

// Four warps, four roles by a switch, each with its own access pattern to the shared tile.
extern "C" __global__ void __launch_bounds__(128) roles(const float* in, float* out) {
    __shared__ float tile[32 * 32];
    int lane = threadIdx.x % 32;
    int role = threadIdx.x / 32;
    for (int i = threadIdx.x; i < 1024; i += 128) tile[i] = in[blockIdx.x * 1024 + i];   // site: roles-fill
    __syncthreads();
    float result = 0;
    switch (role) {
        case 0:
            for (int i = 0; i < 32; ++i) result += tile[i * 32 + lane];                  // site: column-sums
            break;
        case 1:
            for (int i = 0; i < 32; ++i) result += tile[lane * 32 + i];                  // site: row-sums
            break;
        case 2:
            for (int i = 0; i < 32; ++i) result += tile[lane * 32 + (i + lane) % 32];    // site: rotated-row-sums
            break;
        default:
            result = tile[lane * 33];                                                    // site: diagonal
            break;
    }
    out[blockIdx.x * 128 + threadIdx.x] = result;
}
