// Gravitation of all bodies on all: tiles of bodies in shared memory, read by broadcast.

constexpr int kTile = 128;

extern "C" __global__ void __launch_bounds__(kTile) nbody(const float4* bodies, float4* acceleration, int n) {
    __shared__ float4 tile[kTile];
    int i = blockIdx.x * kTile + threadIdx.x;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int j0 = 0; j0 < n; j0 += kTile) {
        tile[threadIdx.x] = bodies[j0 + threadIdx.x];     // site: tile-store
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < kTile; ++j) {
            float4 other = tile[j];                       // site: broadcast
            float dx = other.x - me.x;
            float dy = other.y - me.y;
            float dz = other.z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f);
            float s = other.w * r * r * r;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    acceleration[i] = {ax, ay, az, 0};
}
