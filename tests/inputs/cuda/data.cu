// Variables of every kind: tables, pointers in initialisers, structs, extern arrays, local arrays.
struct Node { int key; const Node* next; short tag[2]; double weight; };
__constant__ float weights[3][4] = {{1, 2, 3, 4}, {5, 6}, {-1.5f, 1e-9f}};
__constant__ unsigned char bytes[300] = {255, 254, 0, 1};
__constant__ Node third = {3, nullptr, {1, -1}, 0.25};
__device__ Node second = {2, nullptr, {7, 9}, 1e300};
__device__ Node first = {1, &second, {-4, 5}, -2.0};
__device__ const int* into = &((const int*)&first)[1];
__device__ unsigned long long big = 0xFFFFFFFFFFFFFFFFull;
__device__ int zeros[1000];
__device__ char message[] = "a \"quoted\" text\n";
__device__ __managed__ int counter;
__shared__ int module_scope[32];
extern __shared__ __align__(16) unsigned char dynamic[];

extern "C" __global__ void read_all(double* out, int n) {
    __shared__ double own[33];
    float spill[40];
    for (int i = 0; i < 40; i++) spill[i] = weights[i % 3][i % 4] * n;
    own[threadIdx.x] = spill[n % 40] + bytes[n] + third.weight + third.tag[1];
    module_scope[threadIdx.x] = first.next->key + *into + (int)big + zeros[n] + message[n];
    reinterpret_cast<double2*>(dynamic)[threadIdx.x] = make_double2(own[threadIdx.x ^ 1], module_scope[n & 31]);
    atomicAdd(&counter, 1);
    __syncthreads();
    out[threadIdx.x] = reinterpret_cast<double*>(dynamic)[threadIdx.x * 3] + second.weight;
}
struct __align__(16) Aligned { int a[4]; };
struct Packed { char a; int b; char c[5]; };
extern "C" __global__ void parameters(char c, double d, Packed p, short s, Aligned a, const int* __restrict__ in, bool b, int* out) {
    __shared__ char narrow[512];
    narrow[threadIdx.x * c] = p.c[s % 5];
    __syncthreads();
    out[threadIdx.x] = narrow[threadIdx.x + p.b] + a.a[s & 3] + (int)d + in[threadIdx.x] + b;
}
extern "C" __global__ void grid_constant(const __grid_constant__ Packed p, int i, int* out) {
    out[threadIdx.x] = *(&p.b + i) + p.c[i];
}
