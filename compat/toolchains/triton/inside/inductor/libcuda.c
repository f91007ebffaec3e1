/* Stands in for libcuda where there is no GPU: it answers the calls that launchers make, and those of the CUDA runtime that PyTorch
   makes for tensors without memory. It writes down what is loaded and launched into the file that $COMPAT_LAUNCHES names. Nothing is executed; a handle of a function is its name, and memory is the host's.

   One line each, with tabs between: "load", "launch NAME GRID_X GRID_Y GRID_Z BLOCK_X BLOCK_Y BLOCK_Z SHARED". */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned int u32;
typedef struct { u32 grid[3], block[3], shared; } Config; /* how CUlaunchConfig begins */
enum { OK = 0, INVALID_VALUE = 1, NO_BINARY = 200, NOT_FOUND = 301 };

static void tell(const char *format, ...) {
  const char *path = getenv("COMPAT_LAUNCHES");
  FILE *file = path ? fopen(path, "a") : NULL;
  va_list values;
  if (!file) return;
  va_start(values, format);
  vfprintf(file, format, values);
  va_end(values);
  fclose(file);
}
static int fact(const char *name, int otherwise) { const char *said = getenv(name); return said ? atoi(said) : otherwise; }
static int launch(const char *name, const u32 *grid, const u32 *block, u32 shared) {
  u32 blocks = grid[0] && grid[1] && grid[2], threads = block[0] * block[1] * block[2];
  if (!name || !blocks || !threads || threads > 1024 || shared > (u32)fact("COMPAT_SHARED_MEMORY", 49152)) return INVALID_VALUE;
  tell("launch\t%s\t%u\t%u\t%u\t%u\t%u\t%u\t%u\n", name, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared);
  return OK;
}

int cuModuleLoadData(void **module, const void *image) {
  if (!image || memcmp(image, "\177ELF", 4)) return NO_BINARY;
  tell("load\n");
  *module = (void *)1;
  return OK;
}
int cuModuleLoadDataEx(void **module, const void *image, u32 n, void *a, void *b) { return cuModuleLoadData(module, image); }
int cuModuleLoad(void **module, const char *path) {
  char magic[4] = "";
  FILE *file = fopen(path, "rb");
  if (!file) return NOT_FOUND;
  if (fread(magic, 1, 4, file) != 4) magic[0] = 0;
  fclose(file);
  return cuModuleLoadData(module, magic);
}
int cuModuleGetFunction(void **function, void *module, const char *name) { return (*function = strdup(name)) ? OK : NOT_FOUND; }
int cuLaunchKernel(void *name, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, void *stream, void **p, void **e) {
  u32 grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return launch(name, grid, block, shared);
}
int cuLaunchCooperativeKernel(void *name, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, void *stream, void **p) {
  return cuLaunchKernel(name, gx, gy, gz, bx, by, bz, shared, stream, p, NULL);
}
int cuLaunchKernelEx(const Config *config, void *name, void **p, void **e) {
  return launch(name, config->grid, config->block, config->shared);
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
  case 1: *value = 1024; break;                                  /* threads of a block */
  case 8: *value = 49152; break;                                 /* shared memory of a block, without opting in */
  case 10: *value = 32; break;                                   /* threads of a warp */
  case 12: case 82: *value = 65536; break;                       /* registers of a block, of a multiprocessor */
  case 16: *value = fact("COMPAT_MULTIPROCESSORS", 132); break;
  case 75: *value = fact("COMPAT_ARCH", 90) / 10; break;         /* compute capability: major, minor */
  case 76: *value = fact("COMPAT_ARCH", 90) % 10; break;
  case 81: case 97: *value = fact("COMPAT_SHARED_MEMORY", 49152); break; /* of a multiprocessor, of a block that opts in */
  default: *value = 1;
  }
  return OK;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) { *value = attribute == 0 ? 1024 : attribute == 4 ? 32 : 0; return OK; }
int cuFuncSetAttribute(void *function, int attribute, int value) { return OK; }
int cuFuncSetCacheConfig(void *function, int config) { return OK; }
int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer) { *(unsigned long long *)value = pointer; return OK; }
int cuGetErrorString(int error, const char **text) {
  *text = error == NO_BINARY ? "device kernel image is invalid" : error == NOT_FOUND ? "file not found" : "invalid argument";
  return OK;
}
int cuInit(u32 flags) { return OK; }
int cuDriverGetVersion(int *version) { *version = 12090; return OK; }
int cuDeviceGetCount(int *count) { *count = 1; return OK; }
int cuDeviceGet(int *device, int ordinal) { *device = 0; return OK; }
int cuCtxGetCurrent(void **context) { *context = (void *)1; return OK; }
int cuCtxSetCurrent(void *context) { return OK; }
int cuCtxGetDevice(int *device) { *device = 0; return OK; }
int cuCtxGetLimit(size_t *value, int limit) { *value = 1 << 20; return OK; }
int cuCtxSetLimit(int limit, size_t value) { return OK; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)1; return OK; }
int cuDevicePrimaryCtxGetState(int device, u32 *flags, int *active) { *flags = 0; *active = 1; return OK; }
int cuModuleUnload(void *module) { return OK; }
int cuStreamIsCapturing(void *stream, int *status) { *status = 0; return OK; }
int cuTensorMapEncodeTiled(void *map) { return OK; }
int cuTensorMapEncodeIm2col(void *map) { return OK; }
int cuOccupancyMaxActiveClusters(int *count, void *function, void *config) { *count = 1; return OK; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, void *function, int block, size_t shared) { *count = 1; return OK; }
int cuLinkCreate_v2(void) { return INVALID_VALUE; }
int cuLinkAddData_v2(void) { return INVALID_VALUE; }
int cuLinkComplete(void) { return INVALID_VALUE; }

/* The CUDA runtime. PyTorch's libraries find these before those of libcudart, if this library was loaded before them. */
int cudaGetDeviceCount(int *count) { *count = 1; return OK; }
int cudaGetDevice(int *device) { *device = 0; return OK; }
int cudaSetDevice(int device) { return OK; }
int cudaGetLastError(void) { return OK; }
int cudaDeviceSynchronize(void) { return OK; }
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -5; return OK; }
int cudaStreamCreateWithPriority(void **stream, u32 flags, int priority) { *stream = (void *)1; return OK; }
int cudaStreamIsCapturing(void *stream, int *status) { *status = 0; return OK; }
int cudaStreamSynchronize(void *stream) { return OK; }
int cudaStreamQuery(void *stream) { return OK; }
int cudaGetDeviceProperties(char *properties, int device) {
  /* The offsets of cudaDeviceProp in CUDA 11 to 13; the number of multiprocessors has moved in 13. */
  strcpy(properties, "GPU");
  *(size_t *)(properties + 288) = (size_t)80 << 30; /* bytes of memory */
  *(size_t *)(properties + 296) = 49152;            /* shared memory of a block */
  *(int *)(properties + 304) = 65536;               /* registers of a block */
  *(int *)(properties + 308) = 32;                  /* threads of a warp */
  *(int *)(properties + 320) = 1024;                /* threads of a block */
  *(int *)(properties + 360) = fact("COMPAT_ARCH", 90) / 10;
  *(int *)(properties + 364) = fact("COMPAT_ARCH", 90) % 10;
  *(int *)(properties + 384) = *(int *)(properties + 388) = fact("COMPAT_MULTIPROCESSORS", 132);
  return OK;
}
int cudaGetDeviceProperties_v2(char *properties, int device) { return cudaGetDeviceProperties(properties, device); }
