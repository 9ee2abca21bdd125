/*===- driver.h - What is used of the CUDA driver ------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The driver's interface (CUDA Driver API, 12.0) as far as models need it, so
 * that no toolkit is needed to build the runtime. The library is opened when
 * the first model that has code for a device is called.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_CUDA_DRIVER_H
#define FORETRACE_RUNTIME_CUDA_DRIVER_H

#include <stddef.h>

typedef int CUresult; /* 0: success */
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef unsigned long long CUdeviceptr;

enum {
  FT_CU_OUT_OF_MEMORY = 2,
  FT_CU_CAPABILITY_MAJOR = 75, /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_… */
  FT_CU_CAPABILITY_MINOR = 76,
  FT_CU_EVENT_DISABLE_TIMING = 2
};

/* FT_DRIVER(name, symbol, parameters): the functions, with the suffix of the
 * version whose parameters these are. */
#define FT_DRIVER_FUNCTIONS                                                    \
  FT_DRIVER(init, "cuInit", (unsigned flags))                                  \
  FT_DRIVER(device_count, "cuDeviceGetCount", (int *count))                    \
  FT_DRIVER(device_get, "cuDeviceGet", (CUdevice * device, int ordinal))       \
  FT_DRIVER(device_attribute, "cuDeviceGetAttribute",                          \
            (int *value, int attribute, CUdevice device))                      \
  FT_DRIVER(context_retain, "cuDevicePrimaryCtxRetain",                        \
            (CUcontext * context, CUdevice device))                            \
  FT_DRIVER(context_release, "cuDevicePrimaryCtxRelease_v2",                   \
            (CUdevice device))                                                 \
  FT_DRIVER(context_push, "cuCtxPushCurrent_v2", (CUcontext context))          \
  FT_DRIVER(context_pop, "cuCtxPopCurrent_v2", (CUcontext * context))          \
  FT_DRIVER(module_load, "cuModuleLoadData",                                   \
            (CUmodule * module, const void *image))                            \
  FT_DRIVER(module_unload, "cuModuleUnload", (CUmodule module))                \
  FT_DRIVER(module_function, "cuModuleGetFunction",                            \
            (CUfunction * function, CUmodule module, const char *name))        \
  FT_DRIVER(memory_alloc, "cuMemAlloc_v2", (CUdeviceptr * at, size_t bytes))   \
  FT_DRIVER(memory_free, "cuMemFree_v2", (CUdeviceptr at))                     \
  FT_DRIVER(copy_in, "cuMemcpyHtoDAsync_v2",                                   \
            (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)) \
  FT_DRIVER(copy_out, "cuMemcpyDtoHAsync_v2",                                  \
            (void *to, CUdeviceptr from, size_t bytes, CUstream stream))       \
  FT_DRIVER(launch, "cuLaunchKernel",                                          \
            (CUfunction function, unsigned gx, unsigned gy, unsigned gz,       \
             unsigned bx, unsigned by, unsigned bz, unsigned shared,           \
             CUstream stream, void **parameters, void **extra))                \
  FT_DRIVER(stream_wait, "cuStreamSynchronize", (CUstream stream))             \
  FT_DRIVER(stream_wait_event, "cuStreamWaitEvent",                            \
            (CUstream stream, CUevent event, unsigned flags))                  \
  FT_DRIVER(event_create, "cuEventCreate", (CUevent * event, unsigned flags))  \
  FT_DRIVER(event_record, "cuEventRecord", (CUevent event, CUstream stream))   \
  FT_DRIVER(event_wait, "cuEventSynchronize", (CUevent event))                 \
  FT_DRIVER(event_destroy, "cuEventDestroy_v2", (CUevent event))               \
  FT_DRIVER(error_text, "cuGetErrorString", (CUresult code, const char **text))

typedef struct ft_driver {
#define FT_DRIVER(name, symbol, parameters) CUresult(*name) parameters;
  FT_DRIVER_FUNCTIONS
#undef FT_DRIVER
} ft_driver;

#endif /* FORETRACE_RUNTIME_CUDA_DRIVER_H */
