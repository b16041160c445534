// Switch tables, nested and irreducible loops, early exits, traps, assertions, printf.
#include <assert.h>

extern "C" __global__ void __launch_bounds__(128, 2) switch_table(int* out, int n) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    switch (n) {
        case 0: s[threadIdx.x * 2 % 128] = 1; break;
        case 1: s[threadIdx.x * 3 % 128] = out[1] + 5; break;
        case 2: s[threadIdx.x * 5 % 128] = out[2] * 3; break;
        case 3: out[7] = 4; break;
        case 4: s[threadIdx.x * 7 % 128] = out[n] - 2; break;
        case 5: out[9] = s[5]; break;
        case 6: s[threadIdx.x * 9 % 128] = 6; return;
        case 7: __trap();
        case 8: s[0] = out[3]; break;
        case 9: s[1] = out[4] ^ 77; break;
    }
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void collatz(unsigned* out, unsigned n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    if (x >= n) return;
    while (x > 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        for (unsigned i = 0; i < (x & 7); i += 2) if (x % (i + 3) == 0) steps += i;
        if (++steps > 1000) break;
    }
    assert(steps < 2000);
    out[threadIdx.x] = steps;
}

extern "C" __global__ void irreducible(int* out, int n) {
    int i = threadIdx.x, acc = 0;
    if (n > 5) goto inside;
    while (i < n) {
        acc += i;
    inside:
        acc ^= n;
        i += 3;
        if (acc == 12345) goto done;
    }
done:
    if (acc < 0) printf("negative %d %f %s\n", acc, 1.5, "text");
    out[threadIdx.x] = acc;
}

extern "C" __global__ void divisions(int* a, unsigned* b, long long* c, unsigned long long* d, int n) {
    int i = threadIdx.x;
    a[i] = a[i] / n + a[i] % 7;
    b[i] = b[i] / 13u + b[i] % (unsigned)n;
    c[i] = c[i] / n + c[i] % 1000003;
    d[i] = d[i] / (unsigned long long)c[i] + d[i] % 10;
}
