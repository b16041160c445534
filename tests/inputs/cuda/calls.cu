// Functions that are not inlined: structs by value, recursion, pointers to functions, virtual calls.
struct Small { float x, y, z; };
struct Mixed { char c; long long q; short h[3]; double d; };

__device__ __noinline__ Small scale(Small s, float k) { return {s.x * k, s.y * k, s.z * k}; }
__device__ __noinline__ Mixed bump(Mixed m, int i) { m.q += i; m.h[i % 3] ^= m.c; m.d *= 2; return m; }
__device__ __noinline__ int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }
__device__ __noinline__ unsigned char narrow(signed char a, unsigned short b, bool c) { return c ? a : b; }

__device__ float add_one(float x) { return x + 1; }
__device__ float halve(float x) { return x * 0.5f; }
__device__ float (*table[2])(float) = {add_one, halve};

struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape { float a; __device__ float area() const override { return a * a; } };
struct Circle : Shape { float r; __device__ float area() const override { return r * r * 3.14159f; } };

extern "C" __global__ void structs(Small* out, Mixed* mixed, Small in, Mixed m, int i) {
    __shared__ Small tile[64];
    tile[threadIdx.x] = scale(in, threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
    mixed[threadIdx.x] = bump(m, i);
}
extern "C" __global__ void recursive(int* out, int a) { out[threadIdx.x] = gcd(a, threadIdx.x); }
extern "C" __global__ void narrows(unsigned char* out, int a) { out[threadIdx.x] = narrow(a, threadIdx.x, a > 3); }
extern "C" __global__ void pointers(float* out, int which) { out[threadIdx.x] = table[which](out[threadIdx.x]); }
extern "C" __global__ void virtuals(float* out, int which) {
    Square square; Circle circle; square.a = out[0]; circle.r = out[1];
    const Shape* shape = which ? (const Shape*)&square : (const Shape*)&circle;
    out[threadIdx.x] = shape->area();
}
