/* Records the modules that a program loads and the kernels that it launches, through CUPTI callbacks. The driver loads
 * this library if CUDA_INJECTION64_PATH names it, whatever language the program is written in.
 *
 *   PTXAUDIT_RECORD            folder: driver-PID-….jsonl, one JSON object per line, with counts, code and arrays
 *   PTXAUDIT_RECORD_LAUNCHES   distinct launches to keep per kernel
 *   PTXAUDIT_RECORD_ARRAYS     keep allocations behind pointers up to this size, in bytes
 *   PTXAUDIT_CUPTI             the CUPTI library
 *   PTXAUDIT_RECORD_TRACE      print each callback to standard error, to see what a driver does
 *
 * It reads the machine code of each module when it is loaded (CUPTI_CBID_RESOURCE_MODULE_LOADED) and, at each launch,
 * the sizes of the parameters (cuFuncGetParamInfo, CUDA 12.4) and their bytes. A kernel belongs to the module that was
 * loaded inside the call that created its CUmodule; if that was not seen, `modules.py` finds the module.
 * No error here reaches the program. No driver function is called while the lock is held, because the driver may hold
 * a lock of its own when it calls back.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if CUDA_VERSION < 12000
#error "CUDA 12.0 or later is needed"
#endif

#define EXPORT __attribute__((visibility("default")))
#define SLOTS 65536            /* distinct launches per process, as in inside/log.py */
#define MOST_PARAMETERS 4096
#define MOST_BYTES 32768       /* of all parameters */
#define MOST_KEPT 64           /* allocations to keep per launch */
#define ALIGNED 0xffu          /* the bits of a pointer that distinguish launches */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static char stem[128];
static int events = -1, trace;
static uint64_t *counts;
static unsigned slots, most_launches = 32;
static size_t most_array;

/* --- functions resolved at run time ----------------------------------------------------------------------------- */

static CUptiResult (*p_subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
static CUptiResult (*p_enable)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId);
static CUptiResult (*p_enable_domain)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain);
static CUptiResult (*p_explain)(CUptiResult, const char **);
static CUresult (*p_module_of)(CUmodule *, CUfunction);
static CUresult (*p_function_of)(CUfunction *, CUkernel);
static CUresult (*p_parameter)(CUfunction, size_t, size_t *, size_t *);
static CUresult (*p_parameter_of_kernel)(CUkernel, size_t, size_t *, size_t *);
static CUresult (*p_attribute)(int *, CUfunction_attribute, CUfunction);
static CUresult (*p_pointer)(void *, CUpointer_attribute, CUdeviceptr);
static CUresult (*p_range)(CUdeviceptr *, size_t *, CUdeviceptr);
static CUresult (*p_capturing)(CUstream, CUstreamCaptureStatus *);
static CUresult (*p_wait)(CUstream);
static CUresult (*p_read)(void *, CUdeviceptr, size_t);

/* --- writing ----------------------------------------------------------------------------------------------------- */

typedef struct { char *text; size_t size, room; } Text;

static void put(Text *out, const char *bytes, size_t size) {
    if (out->size + size + 1 > out->room) {
        size_t room = (out->size + size + 1) * 2;
        char *more = realloc(out->text, room);
        if (!more) return;
        out->text = more;
        out->room = room;
    }
    memcpy(out->text + out->size, bytes, size);
    out->text[out->size += size] = 0;
}

static void say(Text *out, const char *format, ...) {
    char line[256];
    va_list rest;
    va_start(rest, format);
    int size = vsnprintf(line, sizeof line, format, rest);
    va_end(rest);
    if (size > 0) put(out, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

static void quote(Text *out, const char *text) {
    put(out, "\"", 1);
    for (const unsigned char *at = (const unsigned char *)(text ? text : ""); *at; at++) {
        if (*at == '"' || *at == '\\') say(out, "\\%c", *at);
        else if (*at < 32 || *at > 126) say(out, "\\u%04x", *at);
        else put(out, (const char *)at, 1);
    }
    put(out, "\"", 1);
}

static void hex(Text *out, const unsigned char *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    for (size_t at = 0; at < size; at++) {
        char two[2] = {digits[bytes[at] >> 4], digits[bytes[at] & 15]};
        put(out, two, 2);
    }
}

static int opened(const char *suffix, int flags) {
    char path[4096];
    int size = snprintf(path, sizeof path, "%s/%s%s", folder, stem, suffix);
    return size < (int)sizeof path ? open(path, flags | O_CREAT | O_CLOEXEC, 0600) : -1;
}

/* Writes a line of the events and frees its text. */
static void tell(Text *line) {
    put(line, "\n", 1);
    if (events < 0) events = opened(".jsonl", O_WRONLY | O_APPEND);
    for (size_t at = 0; events >= 0 && line->text && at < line->size;) {
        ssize_t done = write(events, line->text + at, line->size - at);
        if (done <= 0) break;
        at += (size_t)done;
    }
    free(line->text);
}

static void note(const char *what, const char *why) {
    Text line = {0};
    char all[512];
    snprintf(all, sizeof all, "%s%s%s", what, why ? ": " : "", why ? why : "");
    say(&line, "{\"event\": \"note\", \"text\": ");
    quote(&line, all);
    say(&line, "}");
    tell(&line);
}

static int kept(const char *suffix, const void *head, size_t head_size, const void *data, size_t size) {
    int file = opened(suffix, O_WRONLY | O_TRUNC);
    if (file < 0) return 0;
    int whole = write(file, head, head_size) == (ssize_t)head_size;
    for (size_t at = 0; whole && at < size;) {
        ssize_t done = write(file, (const char *)data + at, size - at);
        if (done <= 0) whole = 0;
        else at += (size_t)done;
    }
    close(file);
    return whole;
}

/* --- modules ----------------------------------------------------------------------------------------------------- */

typedef struct Module { uint32_t id; unsigned number; CUmodule handle; struct Module *next; } Module;
static Module *modules;
static unsigned module_count;
static __thread Module *loaded_last;       /* within this thread's current driver call */
static __thread unsigned loaded_in_call;

static void module_loaded(const CUpti_ModuleResourceData *data) {
    Module *one = calloc(1, sizeof *one);
    if (!one) return;
    one->id = data->moduleId;
    one->number = ++module_count;
    one->next = modules;
    modules = one;
    loaded_last = one;
    loaded_in_call++;
    char suffix[32];
    snprintf(suffix, sizeof suffix, "-%u.cubin", one->number);
    int whole = data->pCubin && data->cubinSize && kept(suffix, "", 0, data->pCubin, data->cubinSize);
    Text line = {0};
    say(&line, "{\"event\": \"module\", \"module\": %u, \"file\": ", one->number);
    if (whole) say(&line, "\"%s%s\"}", stem, suffix);
    else say(&line, "null}");
    tell(&line);
}

static void forget_launches(void);      /* a handle may be reused after its module is unloaded */

static void module_unloaded(uint32_t id) {
    forget_launches();
    for (Module **at = &modules; *at; at = &(*at)->next)
        if ((*at)->id == id) {
            Module *one = *at;
            Text line = {0};
            say(&line, "{\"event\": \"unload\", \"module\": %u}", one->number);
            tell(&line);
            *at = one->next;
            if (loaded_last == one) loaded_last = NULL;
            free(one);
            return;
        }
}

static unsigned number_of(CUmodule handle) {
    for (Module *one = modules; handle && one; one = one->next)
        if (one->handle == handle) return one->number;
    return 0;
}

/* A call returned a module handle: that of the only module loaded inside the call, unless another one has it. */
static void module_seen(CUmodule handle) {
    if (handle && loaded_in_call == 1 && loaded_last && !loaded_last->handle && !number_of(handle)) loaded_last->handle = handle;
}

static CUfunction real_function(CUfunction function) {      /* of a CUkernel, which can also be launched */
    CUmodule handle;
    CUfunction real;
    if (!p_module_of || p_module_of(&handle, function) == CUDA_SUCCESS || !p_function_of) return function;
    return p_function_of(&real, (CUkernel)function) == CUDA_SUCCESS ? real : function;
}

static CUmodule handle_of(CUfunction real) {
    CUmodule handle;
    return p_module_of && p_module_of(&handle, real) == CUDA_SUCCESS ? handle : NULL;
}

/* The module of a kernel, or 0 and the candidates if its handle was not seen. */
static void tell_module(Text *line, CUmodule handle) {
    unsigned number = number_of(handle), count = 0;
    say(line, ", \"module\": %u", number);
    if (number) return;
    say(line, ", \"among\": [");
    for (Module *one = modules; one; one = one->next)
        if (!one->handle || !handle) say(line, "%s%u", count++ ? ", " : "", one->number);
    say(line, "]");
}

/* --- launches ---------------------------------------------------------------------------------------------------- */

typedef struct {
    CUfunction function;
    unsigned grid[3], block[3], cluster[3], shared;
    CUstream stream;
    void **parameters, **extra;
} Launch;

/* key: identifies a launch by its dimensions, then the bytes of its parameters with pointers reduced to their alignment. */
typedef struct Seen { uint64_t hash; size_t size; unsigned slot; struct Seen *next; unsigned char key[]; } Seen;
typedef struct OfKernel { CUfunction function; unsigned kept, more; struct OfKernel *next; } OfKernel;
static Seen *seen[1 << 14];
static OfKernel *kernels[1 << 10];

static void forget_launches(void) {
    for (unsigned at = 0; at < sizeof seen / sizeof *seen; at++)
        for (Seen *one = seen[at], *next; (seen[at] = one); one = next) next = one->next, free(one);
    for (unsigned at = 0; at < sizeof kernels / sizeof *kernels; at++)
        for (OfKernel *one = kernels[at], *next; (kernels[at] = one); one = next) next = one->next, free(one);
}

typedef struct { size_t offset, size; int pointer; } Place;
typedef struct {
    Place places[MOST_PARAMETERS];
    unsigned count;
    unsigned char bytes[MOST_BYTES];
    size_t size;
    int raw;      /* one buffer with unknown parameter offsets */
    unsigned char key[MOST_BYTES + 128];
    size_t key_size;
    uint64_t hash;
    Text memory, attributes;
    CUmodule handle;
} Values;
static __thread Values *values_of_thread;      /* of the thread's current launch */

static int is_pointer(const unsigned char *bytes) {
    uint64_t at;
    unsigned kind = 0;
    memcpy(&at, bytes, sizeof at);
    return at >> 12 && p_pointer && p_pointer(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)at) == CUDA_SUCCESS;
}

static int parameter(CUfunction function, size_t at, size_t *offset, size_t *size) {
    if (p_parameter && p_parameter(function, at, offset, size) == CUDA_SUCCESS) return 1;
    return p_parameter_of_kernel && p_parameter_of_kernel((CUkernel)function, at, offset, size) == CUDA_SUCCESS;
}

/* Reads the parameters of a launch as the kernel sees them. */
static void read_parameters(const Launch *launch, Values *values) {
    values->count = 0;
    values->size = 0;
    values->raw = 0;
    const void *buffer = NULL;
    size_t buffer_size = 0;
    for (void **at = launch->extra; !launch->parameters && at && at[0] != CU_LAUNCH_PARAM_END; at += 2) {
        if (at[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = at[1];
        else if (at[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) buffer_size = *(size_t *)at[1];
        else return;
    }
    size_t offset, size;
    while (values->count < MOST_PARAMETERS && parameter(launch->function, values->count, &offset, &size)) {
        if (offset + size > MOST_BYTES) return;
        Place *place = &values->places[values->count];
        const unsigned char *from = launch->parameters ? launch->parameters[values->count]
                                  : buffer && offset + size <= buffer_size ? (const unsigned char *)buffer + offset : NULL;
        if (!from) return;
        memcpy(values->bytes + offset, from, size);
        memset(values->bytes + values->size, 0, offset > values->size ? offset - values->size : 0);
        *place = (Place){offset, size, size == sizeof(CUdeviceptr) && is_pointer(values->bytes + offset)};
        values->size = offset + size;
        values->count++;
    }
    if (!values->count && buffer && buffer_size <= MOST_BYTES) {      /* an old driver does not know the offsets */
        memcpy(values->bytes, buffer, buffer_size);
        values->size = buffer_size;
        values->raw = 1;
    }
}

static uint64_t hash_of(const unsigned char *bytes, size_t size) {      /* FNV-1a; the bytes are compared as well */
    uint64_t hash = 1469598103934665603ull;
    for (size_t at = 0; at < size; at++) hash = (hash ^ bytes[at]) * 1099511628211ull;
    return hash;
}

static void make_key(const Launch *launch, Values *values) {
    struct { CUfunction function; unsigned numbers[10]; } head;
    memset(&head, 0, sizeof head);
    head.function = launch->function;
    memcpy(head.numbers, launch->grid, sizeof launch->grid);
    memcpy(head.numbers + 3, launch->block, sizeof launch->block);
    memcpy(head.numbers + 6, launch->cluster, sizeof launch->cluster);
    head.numbers[9] = launch->shared;
    memcpy(values->key, &head, sizeof head);
    unsigned char *bytes = values->key + sizeof head;
    memcpy(bytes, values->bytes, values->size);
    for (unsigned at = 0; at < values->count; at++)
        if (values->places[at].pointer) {
            uint64_t number;
            memcpy(&number, bytes + values->places[at].offset, sizeof number);
            number &= ALIGNED;
            memcpy(bytes + values->places[at].offset, &number, sizeof number);
        }
    values->key_size = sizeof head + values->size;
    values->hash = hash_of(values->key, values->key_size);
}

static Values *read_values(const Launch *launch) {
    if (!values_of_thread && !(values_of_thread = calloc(1, sizeof *values_of_thread))) return NULL;
    read_parameters(launch, values_of_thread);
    make_key(launch, values_of_thread);
    return values_of_thread;
}

static Seen *find(const Values *values) {
    for (Seen *one = seen[values->hash & ((1 << 14) - 1)]; one; one = one->next)
        if (one->hash == values->hash && one->size == values->key_size && !memcmp(one->key, values->key, one->size)) return one;
    return NULL;
}

static OfKernel *of_kernel(CUfunction function) {
    OfKernel **bucket = &kernels[(uintptr_t)function >> 4 & 1023], *one = *bucket;
    while (one && one->function != function) one = one->next;
    if (!one && (one = calloc(1, sizeof *one))) {
        one->function = function;
        one->next = *bucket;
        *bucket = one;
    }
    return one;
}

static unsigned new_slot(void) {
    if (!counts) {
        int file = opened("-counts.bin", O_RDWR);
        if (file < 0 || ftruncate(file, SLOTS * sizeof *counts)) return 0;
        void *mapped = mmap(NULL, SLOTS * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (mapped == MAP_FAILED) return 0;
        counts = mapped;
    }
    return slots + 1 < SLOTS ? ++slots : 0;
}

/* Pointers among a launch's parameters, also within structures. */
static unsigned pointers_of(const Values *values, CUdeviceptr *found) {
    unsigned count = 0;
    for (size_t at = 0; at + sizeof *found <= values->size && count < MOST_KEPT; at += sizeof *found)
        if (is_pointer(values->bytes + at)) memcpy(found + count++, values->bytes + at, sizeof *found);
    return count;
}

/* The memory behind a pointer: its allocation, or if that is larger than what is kept (the pool of a framework), from the pointer on, up
   to the next pointer of the launch. */
static int extent_of(CUdeviceptr pointer, const CUdeviceptr *others, unsigned count, CUdeviceptr *base, size_t *size) {
    if (!p_range || p_range(base, size, pointer) != CUDA_SUCCESS || !*size) return 0;
    if (*size <= most_array) return 1;
    CUdeviceptr end = *base + *size;
    if (end - pointer > most_array) end = pointer + most_array;
    for (unsigned at = 0; at < count; at++)
        if (others[at] > pointer && others[at] < end) end = others[at];
    *base = pointer;
    *size = end - pointer;
    return 1;
}

/* Copies the memory behind the launch's pointers to .npy files: numpy/lib/format.py, version 1.0. */
static void read_memory(const Launch *launch, Values *values) {
    static unsigned files;
    CUdeviceptr told[MOST_KEPT], pointers[MOST_KEPT];
    unsigned count = 0, ready = 0, all = pointers_of(values, pointers);
    Text *line = &values->memory;
    say(line, ", \"memory\": [");
    for (unsigned at = 0; at < all; at++) {
        CUdeviceptr base = 0;
        size_t size = 0;
        if (!extent_of(pointers[at], pointers, all, &base, &size)) continue;
        unsigned before = 0;
        while (before < count && told[before] != base) before++;
        if (before < count) continue;
        CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
        if (!ready && (!p_capturing || p_capturing(launch->stream, &capture) != CUDA_SUCCESS
                       || capture != CU_STREAM_CAPTURE_STATUS_NONE || !p_wait || p_wait(launch->stream) != CUDA_SUCCESS)) break;
        ready = 1;
        void *data = malloc(size);
        if (data && p_read && p_read(data, base, size) == CUDA_SUCCESS) {
            char head[128], suffix[32];
            memset(head, ' ', sizeof head);
            int used = snprintf(head + 10, sizeof head - 10, "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu,), }", size);
            memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
            head[10 + used] = ' ';
            head[127] = '\n';
            snprintf(suffix, sizeof suffix, "-%u.npy", __atomic_add_fetch(&files, 1, __ATOMIC_RELAXED));
            if (kept(suffix, head, sizeof head, data, size)) {
                say(line, "%s[%llu, \"%s%s\"]", count ? ", " : "", (unsigned long long)base, stem, suffix);
                told[count++] = base;
            }
        }
        free(data);
    }
    say(line, "]");
}

static void tell_dims(Text *line, const char *name, const unsigned *dims) {
    say(line, ", \"%s\": [%u, %u, %u]", name, dims[0], dims[1], dims[2]);
}

static void read_attributes(const Launch *launch, Values *values) {
    static const struct { const char *name; CUfunction_attribute attribute; } all[] = {
        {"registers", CU_FUNC_ATTRIBUTE_NUM_REGS},
        {"static", CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
        {"local", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES},
    };
    CUfunction real = real_function(launch->function);
    int value;
    values->handle = handle_of(real);
    for (unsigned at = 0; at < sizeof all / sizeof *all; at++)
        if (p_attribute && p_attribute(&value, all[at].attribute, real) == CUDA_SUCCESS)
            say(&values->attributes, ", \"%s\": %d", all[at].name, value);
}

static void clear(Text *text) {
    free(text->text);
    *text = (Text){0};
}

static void tell_values(Text *line, const Values *values) {
    if (values->raw) {
        say(line, ", \"param_bytes\": \"");
        hex(line, values->bytes, values->size);
        say(line, "\"");
        return;
    }
    say(line, ", \"params\": [");
    for (unsigned at = 0; at < values->count; at++) {
        const Place *place = &values->places[at];
        say(line, "%s\"%c:", at ? ", " : "", place->pointer ? 'p' : 'b');
        hex(line, values->bytes + place->offset, place->size);
        say(line, "\"");
    }
    say(line, "]");
}

static void tell_launch(const Launch *launch, const char *kernel, unsigned slot, const Values *values) {
    Text line = {0};
    say(&line, "{\"event\": \"launch\", \"slot\": %u, \"kernel\": ", slot);
    quote(&line, kernel);
    tell_module(&line, values->handle);
    tell_dims(&line, "grid", launch->grid);
    tell_dims(&line, "block", launch->block);
    if (launch->cluster[0]) tell_dims(&line, "cluster", launch->cluster);
    say(&line, ", \"shared\": %u", launch->shared);
    tell_values(&line, values);
    if (values->attributes.text) put(&line, values->attributes.text, values->attributes.size);
    if (values->memory.text) put(&line, values->memory.text, values->memory.size);
    say(&line, "}");
    tell(&line);
}

static void tell_more(OfKernel *kernel, const char *name, const Values *values) {
    Text line = {0};
    if (kernel->more || !(kernel->more = new_slot())) return;
    say(&line, "{\"event\": \"more\", \"slot\": %u, \"kernel\": ", kernel->more);
    quote(&line, name);
    tell_module(&line, values->handle);
    say(&line, "}");
    tell(&line);
}

/* Whether a launch must be written as an event; otherwise it is counted here. */
static int is_new(const Launch *launch, const Values *values) {
    pthread_mutex_lock(&lock);
    Seen *one = find(values);
    OfKernel *kernel = one ? NULL : of_kernel(launch->function);
    int more = kernel && kernel->kept >= most_launches;
    if (counts && one) counts[one->slot]++;
    else if (counts && more && kernel->more) counts[kernel->more]++;
    pthread_mutex_unlock(&lock);
    return kernel && !(more && kernel->more);
}

/* Before a launch: copies the memory that the kernel may change. */
static void launching(const Launch *launch) {
    Values *values = most_array ? read_values(launch) : NULL;
    if (!values) return;
    clear(&values->memory);
    pthread_mutex_lock(&lock);
    OfKernel *kernel = find(values) ? NULL : of_kernel(launch->function);
    int wanted = kernel && kernel->kept < most_launches;
    pthread_mutex_unlock(&lock);
    if (wanted) read_memory(launch, values);
}

static void launched(const Launch *launch, const char *name) {
    Values *values = read_values(launch);
    if (!values || !is_new(launch, values)) return;
    clear(&values->attributes);
    read_attributes(launch, values);
    pthread_mutex_lock(&lock);
    module_seen(values->handle);
    Seen *one = find(values);
    OfKernel *kernel = of_kernel(launch->function);
    unsigned slot = one ? one->slot : 0;
    if (!one && kernel && kernel->kept >= most_launches) {
        tell_more(kernel, name, values);
        slot = kernel->more;
    } else if (!one && kernel && (slot = new_slot()) && (one = malloc(sizeof *one + values->key_size))) {
        *one = (Seen){values->hash, values->key_size, slot, seen[values->hash & ((1 << 14) - 1)]};
        memcpy(one->key, values->key, values->key_size);
        seen[values->hash & ((1 << 14) - 1)] = one;
        kernel->kept++;
        tell_launch(launch, name, slot, values);
    }
    if (counts) counts[slot]++;
    pthread_mutex_unlock(&lock);
    clear(&values->memory);
}

/* --- callbacks --------------------------------------------------------------------------------------------------- */

static Launch plain(const cuLaunchKernel_params *p) {
    return (Launch){p->f, {p->gridDimX, p->gridDimY, p->gridDimZ}, {p->blockDimX, p->blockDimY, p->blockDimZ},
                    {0}, p->sharedMemBytes, p->hStream, p->kernelParams, p->extra};
}

static Launch cooperative(const cuLaunchCooperativeKernel_params *p) {
    return (Launch){p->f, {p->gridDimX, p->gridDimY, p->gridDimZ}, {p->blockDimX, p->blockDimY, p->blockDimZ},
                    {0}, p->sharedMemBytes, p->hStream, p->kernelParams, NULL};
}

static Launch extended(const cuLaunchKernelEx_params *p) {
    const CUlaunchConfig *c = p->config;
    Launch out = {p->f, {c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ},
                  {0}, c->sharedMemBytes, c->hStream, p->kernelParams, p->extra};
    for (unsigned at = 0; at < c->numAttrs; at++)
        if (c->attrs[at].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            out.cluster[0] = c->attrs[at].value.clusterDim.x;
            out.cluster[1] = c->attrs[at].value.clusterDim.y;
            out.cluster[2] = c->attrs[at].value.clusterDim.z;
        }
    return out;
}

/* A graph node has its parameters when it is created; it is counted once then, however often the graph runs. */
static int node(const CUDA_KERNEL_NODE_PARAMS *n, Launch *out) {
    CUfunction function = n->func ? n->func : (CUfunction)n->kern;
    *out = (Launch){function, {n->gridDimX, n->gridDimY, n->gridDimZ}, {n->blockDimX, n->blockDimY, n->blockDimZ},
                    {0}, n->sharedMemBytes, NULL, n->kernelParams, n->extra};
    return function != NULL;
}

static int launch_of(CUpti_CallbackId id, const void *params, Launch *out) {
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
        return *out = plain(params), 1;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        return *out = cooperative(params), 1;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
        return *out = extended(params), 1;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2:
        return node(((const cuGraphAddKernelNode_v2_params *)params)->nodeParams, out);
    default:
        return 0;
    }
}

static void module_call(CUpti_CallbackId id, const void *params) {
    const CUmodule *handle = NULL;
    CUmodule of_function;
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad: handle = ((const cuModuleLoad_params *)params)->module; break;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData: handle = ((const cuModuleLoadData_params *)params)->module; break;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx: handle = ((const cuModuleLoadDataEx_params *)params)->module; break;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary: handle = ((const cuModuleLoadFatBinary_params *)params)->module; break;
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryGetModule: handle = ((const cuLibraryGetModule_params *)params)->pMod; break;
    case CUPTI_DRIVER_TRACE_CBID_cuKernelGetFunction:      /* may load a module lazily */
        of_function = handle_of(*((const cuKernelGetFunction_params *)params)->pFunc);
        handle = &of_function;
        break;
    default: break;
    }
    if (!handle) return;
    pthread_mutex_lock(&lock);
    module_seen(*handle);
    pthread_mutex_unlock(&lock);
}

static __thread int asking;      /* set while this thread is in the recorder, whose own driver calls are not recorded */

static void driver_call(CUpti_CallbackId id, const CUpti_CallbackData *data) {
    Launch launch;
    if (data->callbackSite == CUPTI_API_ENTER) {
        loaded_in_call = 0;
        loaded_last = NULL;
        if (launch_of(id, data->functionParams, &launch)) launching(&launch);
        return;
    }
    const CUresult *result = data->functionReturnValue;
    if (result && *result != CUDA_SUCCESS) return;
    module_call(id, data->functionParams);
    if (launch_of(id, data->functionParams, &launch)) launched(&launch, data->symbolName);
}

static void resource(CUpti_CallbackId id, const CUpti_ModuleResourceData *module) {
    pthread_mutex_lock(&lock);
    if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) module_loaded(module);
    else if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) module_unloaded(module->moduleId);
    pthread_mutex_unlock(&lock);
}

static void CUPTIAPI called(void *own, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data) {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        const CUpti_CallbackData *call = data;
        if (trace)
            fprintf(stderr, "%s %s %s\n", call->callbackSite == CUPTI_API_ENTER ? ">" : "<", call->functionName,
                    call->symbolName ? call->symbolName : "");
        if (asking++ == 0) driver_call(id, call);
        asking--;
    } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        if (trace) fprintf(stderr, "resource %u\n", id);
        if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED || id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING)
            resource(id, ((const CUpti_ResourceData *)data)->resourceDescriptor);
    }
}

/* --- start ------------------------------------------------------------------------------------------------------- */

static void *cupti(void) {
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    const char *told = getenv("PTXAUDIT_CUPTI");
    void *library = told && *told ? dlopen(told, RTLD_NOW) : NULL;
    for (unsigned at = 0; !library && at < sizeof names / sizeof *names; at++) library = dlopen(names[at], RTLD_NOW);
    return library;
}

static void find_driver(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) return;
    *(void **)&p_module_of = dlsym(driver, "cuFuncGetModule");
    *(void **)&p_function_of = dlsym(driver, "cuKernelGetFunction");
    *(void **)&p_parameter = dlsym(driver, "cuFuncGetParamInfo");
    *(void **)&p_parameter_of_kernel = dlsym(driver, "cuKernelGetParamInfo");
    *(void **)&p_attribute = dlsym(driver, "cuFuncGetAttribute");
    *(void **)&p_pointer = dlsym(driver, "cuPointerGetAttribute");
    *(void **)&p_range = dlsym(driver, "cuMemGetAddressRange_v2");
    *(void **)&p_capturing = dlsym(driver, "cuStreamIsCapturing");
    *(void **)&p_wait = dlsym(driver, "cuStreamSynchronize");
    *(void **)&p_read = dlsym(driver, "cuMemcpyDtoH_v2");
}

static const CUpti_CallbackId wanted[] = {
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoad, CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx, CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2,
    CUPTI_DRIVER_TRACE_CBID_cuKernelGetFunction, CUPTI_DRIVER_TRACE_CBID_cuLibraryGetModule,
};

static CUptiResult listen(void) {
    CUpti_SubscriberHandle subscriber;
    CUptiResult result = p_subscribe(&subscriber, called, NULL);
    if (result != CUPTI_SUCCESS) return result;
    if (trace) return p_enable_domain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) ? CUPTI_ERROR_UNKNOWN
                    : p_enable_domain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE);
    for (unsigned at = 0; at < sizeof wanted / sizeof *wanted; at++)
        if ((result = p_enable(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, wanted[at])) != CUPTI_SUCCESS) return result;
    if ((result = p_enable(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED)) != CUPTI_SUCCESS)
        return result;
    return p_enable(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
}

static size_t number(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* The driver calls this when it is initialised. */
EXPORT int InitializeInjection(void) {
    struct timespec now = {0};
    folder = getenv("PTXAUDIT_RECORD");
    if (!folder || !*folder || *stem) return 1;
    folder = strdup(folder);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(stem, sizeof stem, "driver-%d-%llx", (int)getpid(), (unsigned long long)now.tv_sec * 1000000000ull + now.tv_nsec);
    trace = getenv("PTXAUDIT_RECORD_TRACE") != NULL;
    most_launches = (unsigned)number("PTXAUDIT_RECORD_LAUNCHES", 32);
    most_array = number("PTXAUDIT_RECORD_ARRAYS", 0);
    Text line = {0};
    say(&line, "{\"event\": \"start\", \"format\": 1, \"counts\": \"%s-counts.bin\"}", stem);
    tell(&line);
    void *library = cupti();
    if (!library) {
        note("CUPTI cannot be loaded", dlerror());
        return 1;
    }
    *(void **)&p_subscribe = dlsym(library, "cuptiSubscribe");
    *(void **)&p_enable = dlsym(library, "cuptiEnableCallback");
    *(void **)&p_enable_domain = dlsym(library, "cuptiEnableDomain");
    *(void **)&p_explain = dlsym(library, "cuptiGetResultString");
    if (!p_subscribe || !p_enable || !p_enable_domain) {
        note("CUPTI lacks cuptiSubscribe", NULL);
        return 1;
    }
    find_driver();
    CUptiResult result = listen();
    if (result != CUPTI_SUCCESS) {
        const char *why = "unknown error";
        if (p_explain) p_explain(result, &why);
        note("CUPTI does not let this program be recorded", why);
    }
    return 1;
}
