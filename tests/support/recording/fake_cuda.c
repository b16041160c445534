/* A driver without a GPU, for tests of what is recorded: it loads, finds and launches, and computes nothing.
 *
 * Built as libcuda.so.1. A library of code is its bytes; a kernel is its name in one. At cuInit it loads the library that
 * CUDA_INJECTION64_PATH names, as the driver does, and a subscriber of fake_cupti.c is called around what it asked for.
 * PTXAUDIT_FAKE_SIZES tells the sizes of the parameters of all kernels, as the binary would: "8,4".
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct Library { char magic[8]; const void *code; size_t size; int loaded; struct Library *next; } Library;
typedef struct Kernel { char magic[8]; Library *library; char name[256]; } Kernel;

#define EXPORT __attribute__((visibility("default")))
static void (*loaded_code)(unsigned id, const void *code, size_t size);
static void (*call)(const char *api, const char *symbol, const void *params, int exit);

static void inject(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    int (*start)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;
    if (path && !library) fprintf(stderr, "fake driver: %s\n", dlerror());
    if (start) start();
    void *cupti = getenv("PTXAUDIT_CUPTI") ? dlopen(getenv("PTXAUDIT_CUPTI"), RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (cupti) *(void **)&loaded_code = dlsym(cupti, "fake_cupti_loaded");
    if (cupti) *(void **)&call = dlsym(cupti, "fake_cupti_call");
}

EXPORT CUresult cuInit(unsigned flags) {
    static int done;
    if (!done++) inject();
    return CUDA_SUCCESS;
}
EXPORT CUresult cuGetExportTable(const void **table, const CUuuid *id) { *table = NULL; return CUDA_ERROR_NOT_FOUND; }
EXPORT CUresult cuDriverGetVersion(int *version) { *version = 13000; return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGet(CUdevice *device, int at) { *device = at; return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGetCount(int *count) { *count = 1; return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice device) { snprintf(name, size, "fake"); return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { memset(uuid, 7, sizeof *uuid); return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
           : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
           : attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? 232448 : 1;
    return CUDA_SUCCESS;
}
static CUresult unsupported(void) { return CUDA_ERROR_NOT_SUPPORTED; }

/* The newest form of a function that is here. */
EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **out, int version, cuuint64_t flags, CUdriverProcAddressQueryResult *status) {
    static void *self;
    char name[128];
    Dl_info info;
    if (!self && dladdr((void *)cuInit, &info)) self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    snprintf(name, sizeof name, "%s_v2", symbol);
    *out = dlsym(self, name);
    if (!*out) *out = dlsym(self, symbol);
    if (!*out) *out = (void *)unsupported;
    if (getenv("PTXAUDIT_FAKE_TRACE")) fprintf(stderr, "%s %s\n", symbol, *out == (void *)unsupported ? "is not here" : "");
    if (status) *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
}
static int context;
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) { *out = (CUcontext)&context; return CUDA_SUCCESS; }
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetCurrent(CUcontext *out) { *out = (CUcontext)&context; return CUDA_SUCCESS; }
EXPORT CUresult cuCtxSetCurrent(CUcontext it) { return CUDA_SUCCESS; }
EXPORT CUresult cuCtxPushCurrent_v2(CUcontext it) { return CUDA_SUCCESS; }
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *out) { *out = (CUcontext)&context; return CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetDevice(CUdevice *device) { *device = 0; return CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext it) { *device = 0; return CUDA_SUCCESS; }
EXPORT CUresult cuCtxSynchronize(void) { return CUDA_SUCCESS; }
EXPORT CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) { *out = (CUstream)0x51; return CUDA_SUCCESS; }
EXPORT CUresult cuStreamDestroy_v2(CUstream stream) { return CUDA_SUCCESS; }
EXPORT CUresult cuStreamSynchronize(CUstream stream) { return CUDA_SUCCESS; }
EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext *out) { *out = (CUcontext)&context; return CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) { *least = *greatest = 0; return CUDA_SUCCESS; }
EXPORT CUresult cuGetErrorName(CUresult error, const char **text) { *text = "FAKE"; return CUDA_SUCCESS; }
EXPORT CUresult cuGetErrorString(CUresult error, const char **text) { *text = "an error of the fake driver"; return CUDA_SUCCESS; }

/* memory: the host's, of which the last allocation is known */
static CUdeviceptr begin_of;
static size_t bytes_of;
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size) {
    /* far from small numbers, as a device's addresses are; the heap of some Python builds is not */
    void *found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    begin_of = *out = (CUdeviceptr)found;
    bytes_of = size;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) { *free = *total = 1 << 30; return CUDA_SUCCESS; }
static int inside(CUdeviceptr at) { return bytes_of && at >= begin_of && at < begin_of + bytes_of; }
EXPORT CUresult cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr at) {
    if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER) *(CUdeviceptr *)out = at;
    else *(unsigned *)out = CU_MEMORYTYPE_DEVICE;
    return inside(at) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr at) {
    if (!inside(at)) return CUDA_ERROR_INVALID_VALUE;
    *base = begin_of;
    *size = bytes_of;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) { memcpy(to, (void *)from, size); return CUDA_SUCCESS; }
EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) { memcpy((void *)to, from, size); return CUDA_SUCCESS; }
EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *out) {
    *out = getenv("PTXAUDIT_FAKE_CAPTURE") ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

/* code: lazily loaded, as the driver does it, unless CUDA_MODULE_LOADING is EAGER */
static size_t elf_size(const unsigned char *code) {
    if (memcmp(code, "\177ELF", 4)) return strlen((const char *)code);
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)code;
    size_t sections = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
    size_t segments = head->e_phoff + (size_t)head->e_phnum * head->e_phentsize;
    return sections > segments ? sections : segments;
}
static unsigned next_id = 10;
static void loaded(Library *library) {
    if (!library->loaded++ && loaded_code) loaded_code(next_id++, library->code, library->size);
}
static Library *made(const void *code) {
    Library *library = calloc(1, sizeof *library);
    strcpy(library->magic, "library");
    library->code = code;
    library->size = elf_size(code);
    const char *loading = getenv("CUDA_MODULE_LOADING");
    if (loading && !strcmp(loading, "EAGER")) loaded(library);
    return library;
}
EXPORT CUresult cuModuleLoadData(CUmodule *out, const void *code) {
    struct { CUmodule *module; const void *image; } all = {out, code};
    if (call) call("cuModuleLoadData", NULL, &all, 0);
    *out = (CUmodule)made(code);
    loaded((Library *)*out);
    if (call) call("cuModuleLoadData", NULL, &all, 1);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleUnload(CUmodule module) { return CUDA_SUCCESS; }
EXPORT CUresult cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *o, void **v, unsigned n, CUlibraryOption *p, void **w, unsigned m) {
    *out = (CUlibrary)made(code);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuLibraryUnload(CUlibrary library) { return CUDA_SUCCESS; }
static Kernel *found(Library *library, const char *name) {
    Kernel *kernel = calloc(1, sizeof *kernel);
    strcpy(kernel->magic, "kernel");
    kernel->library = library;
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    return kernel;
}
EXPORT CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name) {
    *out = (CUkernel)found((Library *)library, name);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name) {
    *out = (CUfunction)found((Library *)module, name);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel) { *out = (CUfunction)kernel; return CUDA_SUCCESS; }
EXPORT CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel kernel) { *out = (CUlibrary)((Kernel *)kernel)->library; return CUDA_SUCCESS; }
EXPORT CUresult cuFuncGetModule(CUmodule *out, CUfunction function) { *out = (CUmodule)((Kernel *)function)->library; return CUDA_SUCCESS; }
EXPORT CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) { *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0; return CUDA_SUCCESS; }
EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) { return CUDA_SUCCESS; }
EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value) { return CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetLimit(size_t *value, CUlimit limit) { *value = 1024; return CUDA_SUCCESS; }
EXPORT CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) { return CUDA_SUCCESS; }
EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) { *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0; return CUDA_SUCCESS; }
EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
    const char *text = getenv("PTXAUDIT_FAKE_SIZES");
    size_t at = 0;
    for (size_t i = 0; text; i++) {
        size_t bytes = strtoul(text, NULL, 10);
        at = (at + bytes - 1) / bytes * bytes;
        if (i == index) { *offset = at; *size = bytes; return CUDA_SUCCESS; }
        at += bytes;
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
    return CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size) {
    return cuFuncGetParamInfo((CUfunction)kernel, index, offset, size);
}

typedef struct { const CUlaunchConfig *config; CUfunction f; void **params; void **extra; } LaunchEx;
typedef struct { CUfunction f; unsigned gx, gy, gz, bx, by, bz, shared; CUstream stream; void **params; void **extra; } Launch;
EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra) {
    LaunchEx all = {config, f, params, extra};
    Kernel *kernel = (Kernel *)f;
    if (call) call("cuLaunchKernelEx", kernel->name, &all, 0);
    loaded(kernel->library);
    if (call) call("cuLaunchKernelEx", kernel->name, &all, 1);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params, void **extra) {
    Launch all = {f, gx, gy, gz, bx, by, bz, shared, stream, params, extra};
    Kernel *kernel = (Kernel *)f;
    if (call) call("cuLaunchKernel", kernel->name, &all, 0);
    loaded(kernel->library);
    if (call) call("cuLaunchKernel", kernel->name, &all, 1);
    return CUDA_SUCCESS;
}
