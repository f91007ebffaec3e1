/* A stand-in for libcuda: as much of the driver's interface as the launcher uses, on a machine without a GPU.
 *
 * Device memory is memory of the process. A module is whatever it is given; what a kernel does follows from the name of its entry, and
 * is done when it is launched. An error of a kernel stays, as on a GPU: every call after it has the same answer.
 *
 * It is one GPU of sm_90 with the same number everywhere, unless STANDIN_COUNT, STANDIN_ARCH and STANDIN_UUID say otherwise.
 *
 *   compat_canary(x, y)            y = x + 1, for 256 numbers; wrong with STANDIN_CANARY=wrong
 *   add(x, y, out, n)              out = x + y, for n numbers of one block of the grid each
 *   add_scratch(x, y, out, n, s)   the same, by way of scratch memory
 *   wrong(x, y, out, n)            out = x - y
 *   racy(x, y, out, n)             the same as add, and in every third launch not
 *   late(x, y, out, n)             the same as add, and wrong from the 20th launch on
 *   beside(x, y, out, n)           the same as add, and one number behind the end of out
 *   reads_behind(x, y, out, n)     the same as add, and the last number is what stands behind x
 *   hides_behind(x, y, out, n)     the same as add, and the last number is the larger of that and what stands behind x
 *   wrong_beside(x, y, out, n)     x - y, and one number behind the end of out
 *   spoils(x, y, out, n)           the same as add, and x = 0
 *   out_of_bounds(x, y, out, n)    an illegal address
 *   hangs(x, y, out, n)            never ends
 *   dies(x, y, out, n)             ends the process
 *   kernel(…)                      nothing
 *   by_code(x, …, out, n)          what its machine code has to do with: nothing where that stores nothing, else out = x; where it has the
 *                                  number 1234.5 in it, STANDIN_AS=racy makes every third launch another, and STANDIN_AS=wrong all of
 *                                  them, if STANDIN_BREAKS is "old", for what Triton before 3.2 made, or the version of the assembler
 *                                  ("128")
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int CUresult;
enum { INVALID_VALUE = 1, NO_DEVICE = 100, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, OUT_OF_RESOURCES = 701,
       INVALID_CLUSTER_SIZE = 912 };

typedef struct {
    int assembler, is_old, stores, is_marked;
    int parameters;
    size_t sizes[16];
} Module;

typedef struct {
    char name[64];
    int parameters;
    size_t sizes[16];
    int shared, takes_large_clusters;
    int launches;
    Module module;
} Kernel;

typedef struct {
    int id;
    char pad[4];
    union { unsigned cluster[3]; char pad[64]; } value;
} Attribute;

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    Attribute *attributes;
    unsigned count;
} Config;

static const int opt_in_shared = 232448;
static CUresult lasting = 0;
static int hanging = 0;

/* A process sees none where CUDA_VISIBLE_DEVICES is empty. */
CUresult cuInit(unsigned flags) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible && !*visible ? NO_DEVICE : 0;
}
CUresult cuDeviceGetCount(int *count) {
    const char *said = getenv("STANDIN_COUNT");
    *count = said && !getenv("CUDA_VISIBLE_DEVICES") ? atoi(said) : 1;
    return 0;
}
CUresult cuDeviceGetUuid_v2(char *uuid, int device) {
    const char *said = getenv("STANDIN_UUID");
    memset(uuid, 0, 16);
    snprintf(uuid, 15, "%s", said ? said : "stand-in");
    uuid[15] = device;
    return 0;
}
CUresult cuDriverGetVersion(int *version) { *version = 13000; return 0; }
CUresult cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
CUresult cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "stand-in"); return 0; }

static int arch(void) {
    const char *said = getenv("STANDIN_ARCH");
    return said ? atoi(said) : 90;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, int device) {
    switch (attribute) {
    case 1: *value = 1024; return 0;
    case 16: *value = 4; return 0;
    case 38: *value = 1 << 16; return 0;
    case 75: *value = arch() / 10; return 0;
    case 76: *value = arch() % 10; return 0;
    case 97: *value = opt_in_shared; return 0;
    default: return INVALID_VALUE;
    }
}

CUresult cuDevicePrimaryCtxRetain(void **context, int device) { *context = &lasting; return lasting; }
CUresult cuCtxSetCurrent(void *context) { return lasting; }

CUresult cuCtxSynchronize(void) {
    while (hanging)
        pause();
    return lasting;
}

/* Attributes of a kernel: of its parameters, of the assembler, and .maxntid, which Triton before 3.2 gives. */
static void read_attributes(Module *module, const uint8_t *at, const uint8_t *end) {
    while (at + 4 <= end) {
        int size = at[0] == 4 ? at[2] | at[3] << 8 : 0;
        if (at[0] == 4 && at[1] == 0x37)
            module->assembler = *(int *)(at + 4);
        if (at[0] == 4 && at[1] == 0x05)
            module->is_old = 1;
        if (at[0] == 4 && at[1] == 0x17) {
            int ordinal = *(uint16_t *)(at + 8);
            module->sizes[ordinal] = *(uint32_t *)(at + 12) >> 18;
            module->parameters = ordinal >= module->parameters ? ordinal + 1 : module->parameters;
        }
        at += 4 + size;
    }
}

/* Instructions of 16 bytes: whether one stores, and whether one has the number in it. */
static void read_code(Module *module, const uint8_t *at, const uint8_t *end) {
    for (; at + 16 <= end; at += 16) {
        const uint32_t *words = (const uint32_t *)at;
        module->stores += (words[0] & 0xfff) == 0x986;
        for (int word = 1; word < 4; word++)
            module->is_marked |= words[word] == 0x449a5000;
    }
}

static void read_binary(Module *module, const uint8_t *image) {
    const uint8_t *sections = image + *(uint64_t *)(image + 0x28);
    int size = *(uint16_t *)(image + 0x3a), count = *(uint16_t *)(image + 0x3c), names = *(uint16_t *)(image + 0x3e);
    const char *texts = (const char *)image + *(uint64_t *)(sections + names * size + 0x18);
    for (int number = 0; number < count; number++) {
        const uint8_t *section = sections + number * size;
        const char *name = texts + *(uint32_t *)section;
        const uint8_t *begin = image + *(uint64_t *)(section + 0x18), *end = begin + *(uint64_t *)(section + 0x20);
        if (!strncmp(name, ".nv.info.", 9))
            read_attributes(module, begin, end);
        if (!strncmp(name, ".text.", 6))
            read_code(module, begin, end);
    }
}

CUresult cuModuleLoadData(void **module, const void *image) {
    Module *read = calloc(1, sizeof(Module));
    if (!memcmp(image, "\177ELF", 4))
        read_binary(read, image);
    *module = read;
    return lasting;
}
CUresult cuModuleUnload(void *module) { free(module); return lasting; }

CUresult cuModuleGetFunction(void **function, void *module, const char *name) {
    static const char *known[] = {"compat_canary", "add", "add_scratch", "wrong", "racy", "late", "beside", "spoils", "out_of_bounds",
                                  "hangs", "dies", "reads_behind", "hides_behind", "wrong_beside", "by_code", "many_registers",
                                  "kernel"};
    Kernel *kernel = calloc(1, sizeof(Kernel));
    *function = kernel;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i])) {
            snprintf(kernel->name, sizeof kernel->name, "%s", name);
            kernel->parameters = !strcmp(name, "compat_canary") ? 2 : !strcmp(name, "add_scratch") ? 5 : 4;
            for (int p = 0; p < kernel->parameters; p++)
                kernel->sizes[p] = p == 3 ? 4 : 8;
            kernel->module = *(Module *)module;
            if (kernel->module.assembler) {
                kernel->parameters = kernel->module.parameters;
                memcpy(kernel->sizes, kernel->module.sizes, sizeof kernel->sizes);
            }
            return lasting;
        }
    return lasting ? lasting : NOT_FOUND;
}

/* A map is a list of what it was asked for: element, rank, swizzle, filling, promotion, address, sizes, strides, and the block. */
CUresult cuTensorMapEncodeTiled(void *map, int element, unsigned rank, void *address, const uint64_t *sizes, const uint64_t *strides,
                                const unsigned *block, const unsigned *steps, int interleave, int swizzle, int promotion, int filling) {
    uint64_t *written = map;
    if ((uintptr_t)map % 64 || (uintptr_t)address % 16 || interleave)
        return INVALID_VALUE;
    for (unsigned axis = 0; axis + 1 < rank; axis++)
        if (strides[axis] % 16)
            return INVALID_VALUE;
    memset(map, 0, 128);
    for (unsigned axis = 0; axis < rank; axis++) {
        written[2 + axis] = sizes[axis];
        written[7 + axis] = axis + 1 < rank ? strides[axis] : 0;
        written[12 + axis] = block[axis] | (uint64_t)steps[axis] << 32;
    }
    written[0] = element | rank << 8 | swizzle << 16 | filling << 24 | (uint64_t)promotion << 32;
    written[1] = (uintptr_t)address;
    return 0;
}

CUresult cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size) {
    Kernel *kernel = function;
    if (index >= (size_t)kernel->parameters)
        return INVALID_VALUE;
    *offset = 8 * index;
    *size = kernel->sizes[index];
    return 0;
}

/* A kernel with many registers is launched in small blocks only. */
static int most_threads(const Kernel *kernel) { return strcmp(kernel->name, "many_registers") ? 1024 : 256; }

CUresult cuFuncGetAttribute(int *value, int attribute, void *function) {
    *value = most_threads(function);
    return attribute ? INVALID_VALUE : 0;
}

CUresult cuFuncSetAttribute(void *function, int attribute, int value) {
    if (attribute == 8) {
        if (value > opt_in_shared)
            return INVALID_VALUE;
        ((Kernel *)function)->shared = value;
    }
    if (attribute == 14)
        ((Kernel *)function)->takes_large_clusters = value;
    return lasting;
}

static int is_broken(const Module *module) {
    const char *what = getenv("STANDIN_BREAKS");
    return what && module->is_marked && (!strcmp(what, "old") ? module->is_old : atoi(what) == module->assembler);
}

/* The output is the last pointer before the first number: what follows are pointers to scratch memory. */
static void run_by_code(Kernel *kernel, unsigned blocks, void **parameters) {
    const char *as = getenv("STANDIN_AS");
    int pointers = 0, n = (int)blocks;
    while (pointers < kernel->parameters && kernel->sizes[pointers] == 8)
        pointers++;
    if (pointers < kernel->parameters)
        n = *(int *)parameters[pointers] < n ? *(int *)parameters[pointers] : n;
    kernel->launches++;
    if (!kernel->module.stores || !pointers)
        return;
    float *out = *(float **)parameters[pointers - 1], *x = *(float **)parameters[0];
    int broken = is_broken(&kernel->module);
    for (int i = 0; i < n; i++)
        out[i] = (pointers > 1 ? x[i] : 1) + (broken && as && !strcmp(as, "wrong") ? 7 : 0);
    if (broken && as && !strcmp(as, "racy") && kernel->launches % 3 == 0)
        out[0] += 1;
}

static void run(Kernel *kernel, unsigned blocks, void **parameters) {
    const char *name = kernel->name;
    if (!strcmp(name, "kernel"))
        return;
    if (!strcmp(name, "by_code")) {
        run_by_code(kernel, blocks, parameters);
        return;
    }
    float *x = *(float **)parameters[0], *y = *(float **)parameters[1];
    if (!strcmp(name, "compat_canary")) {
        const char *mood = getenv("STANDIN_CANARY");
        for (int i = 0; i < 256; i++)
            y[i] = x[i] + (mood && !strcmp(mood, "wrong") ? 2 : 1);
        return;
    }
    float *out = *(float **)parameters[2];
    int n = *(int *)parameters[3];
    if (!strcmp(name, "out_of_bounds")) {
        lasting = ILLEGAL_ADDRESS;
        return;
    }
    if (!strcmp(name, "hangs")) {
        hanging = 1;
        return;
    }
    if (!strcmp(name, "dies"))
        raise(SIGKILL);
    if (!strcmp(name, "add_scratch")) {
        float *scratch = *(float **)parameters[4];
        memcpy(scratch, x, sizeof(float) * blocks);
        x = scratch;
    }
    kernel->launches++;
    for (int i = 0; i < n && i < (int)blocks; i++)
        out[i] = !strncmp(name, "wrong", 5) ? x[i] - y[i] : x[i] + y[i];
    if (!strcmp(name, "racy") && kernel->launches % 3 == 0)
        out[0] += 1;
    if (!strcmp(name, "late") && kernel->launches >= 20)
        out[n - 1] += 1;
    if (!strcmp(name, "beside") || !strcmp(name, "wrong_beside"))
        out[n] = 0;
    if (!strcmp(name, "hides_behind") && x[n] > out[n - 1])
        out[n - 1] = x[n];
    if (!strcmp(name, "reads_behind"))
        out[n - 1] = x[n];
    if (!strcmp(name, "spoils"))
        x[0] = 0;
}

CUresult cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **parameters, void **extra) {
    Kernel *kernel = function;
    if (lasting)
        return lasting;
    if (bx * by * bz > 1024 || (shared > 49152 && (int)shared > kernel->shared))
        return INVALID_VALUE;
    if (bx * by * bz > most_threads(kernel))
        return OUT_OF_RESOURCES;
    run(kernel, gx * gy * gz, parameters);
    return 0;
}

/* Two blocks on each of four multiprocessors. */
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
    *blocks = 2;
    return 0;
}

CUresult cuLaunchKernelEx(const Config *config, void *function, void **parameters, void **extra) {
    for (unsigned number = 0; number < config->count; number++) {
        const unsigned *cluster = config->attributes[number].value.cluster;
        if (config->attributes[number].id == 4 &&
            cluster[0] * cluster[1] * cluster[2] > (((Kernel *)function)->takes_large_clusters ? 16 : 8))
            return INVALID_CLUSTER_SIZE;
    }
    return cuLaunchKernel(function, config->grid[0], config->grid[1], config->grid[2], config->block[0], config->block[1],
                          config->block[2], config->shared, config->stream, parameters, extra);
}

CUresult cuMemsetD8Async(uint64_t address, unsigned char value, size_t count, void *stream) {
    memset((void *)address, value, count);
    return lasting;
}

CUresult cuEventCreate(void **event, unsigned flags) { *event = calloc(1, sizeof(struct timespec)); return lasting; }
CUresult cuEventRecord(void *event, void *stream) { clock_gettime(CLOCK_MONOTONIC, event); return lasting; }
CUresult cuEventDestroy_v2(void *event) { free(event); return lasting; }

CUresult cuEventElapsedTime(float *milliseconds, void *start, void *end) {
    struct timespec *a = start, *b = end;
    *milliseconds = (b->tv_sec - a->tv_sec) * 1e3 + (b->tv_nsec - a->tv_nsec) / 1e6;
    return lasting;
}

CUresult cuGetErrorName(CUresult code, const char **name) {
    *name = code == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : code == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" :
            code == NOT_FOUND ? "CUDA_ERROR_NOT_FOUND" : code == NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" :
            code == OUT_OF_RESOURCES ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" : NULL;
    return *name ? 0 : INVALID_VALUE;
}
