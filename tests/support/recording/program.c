/* A program without Python: it loads two modules and launches a kernel of each, with parameters one by one and in one
 * buffer, changes what its pointer leads to in between, and ends with status 7. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static void *contents(const char *path) {
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    void *data = calloc(1, (size_t)size + 1);
    rewind(file);
    return fread(data, 1, (size_t)size, file) == (size_t)size ? data : NULL;
}

int main(int count, char **paths) {
    CUmodule one, two;
    CUfunction transpose, both;
    CUdeviceptr memory, nothing = 0;
    int numbers[256], n = 128;
    float scale = 0.5f;
    if (count < 3 || cuInit(0)) return 1;
    if (cuModuleLoadData(&one, contents(paths[1])) || cuModuleLoadData(&two, contents(paths[2]))) return 2;
    if (cuModuleGetFunction(&transpose, one, "transpose") || cuModuleGetFunction(&both, two, "both_ways")) return 3;
    if (cuMemAlloc(&memory, sizeof numbers)) return 4;
    for (int i = 0; i < 256; i++) numbers[i] = i;
    cuMemcpyHtoD(memory, numbers, sizeof numbers);
    void *parameters[] = {&memory, &nothing, &n, &scale, &nothing, &nothing};
    for (int i = 0; i < 3; i++)
        if (cuLaunchKernel(transpose, 4, 4, 1, 128, 1, 1, 4096, 0, parameters, 0)) return 5;
    struct { CUdeviceptr x, y; int n; float scale; CUdeviceptr a, b; } buffer = {memory, 0, n, scale, 0, 0};
    size_t size = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    cuMemcpyHtoD(memory, &n, sizeof n);
    if (cuLaunchKernel(transpose, 1, 1, 1, 128, 1, 1, 4096, 0, 0, extra)) return 6;
    if (cuLaunchKernel(both, 2, 1, 1, 256, 1, 1, 16384, 0, parameters, 0)) return 6;
    cuModuleUnload(one);
    return 7;
}
