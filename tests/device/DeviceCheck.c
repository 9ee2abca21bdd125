/*===- DeviceCheck.c - A model on a GPU beside itself on the CPU ----- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *   device-check CPU.so CUDA.so SECONDS
 *
 * Runs both artefacts of one model on the same inputs (floats uniform in
 * [-1, 1], integers 0, sizes at their hints) and prints one line:
 *
 *   ok|FAIL  worst difference  ms on the CPU  ms on the GPU
 *
 * The difference is relative to the largest value of an output. Times are the
 * least of calls within SECONDS each; on the GPU tensors are in its memory and
 * the call is waited for. Needs libc and the driver: it runs where the compiler
 * does not. Exit codes: 0, 1 if values differ, 2 if something is not there.
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "foretrace/runtime.h"

#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_DIMS = 64 };

_Noreturn static void stop(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(2);
}

static void check(ft_status status, const char *doing) {
  if (status.code != FT_OK)
    stop("%s: %s", doing, status.message);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/*===- The driver ---------------------------------------------------------===*/

static ft_driver driver;

static void open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    stop("there is no CUDA driver: %s", dlerror());
#define FT_DRIVER(name, symbol, parameters)                                    \
  *(void **)&driver.name = dlsym(library, symbol);                             \
  if (!driver.name)                                                            \
    stop("the driver has no " symbol);
  FT_DRIVER_FUNCTIONS
#undef FT_DRIVER
  CUdevice device = 0;
  CUcontext context = NULL;
  if (driver.init(0) || driver.device_get(&device, 0) ||
      driver.context_retain(&context, device) || driver.context_push(context))
    stop("there is no GPU that can be used");
}

static int wait_for_all(void) { return driver.stream_wait(NULL); }

/*===- Tensors ------------------------------------------------------------===*/

static int64_t elements(const DLTensor *t) {
  int64_t n = 1;
  for (int32_t d = 0; d < t->ndim; ++d)
    n *= t->shape[d];
  return n;
}

static size_t bytes_of(const DLTensor *t) {
  return (size_t)elements(t) * (size_t)((t->dtype.bits + 7) / 8);
}

static float half_to_float(uint16_t h) {
  int exponent = h >> 10 & 31;
  float fraction = (float)(h & 1023), sign = h >> 15 ? -1 : 1;
  if (exponent == 31)
    return fraction != 0 ? NAN : sign * INFINITY;
  return sign * (exponent ? ldexpf(1024 + fraction, exponent - 25)
                          : ldexpf(fraction, -24));
}

static double element(const DLTensor *t, int64_t i) {
  const char *data = t->data;
  switch (t->dtype.code) {
  case kDLFloat:
    if (t->dtype.bits == 64)
      return ((const double *)data)[i];
    return t->dtype.bits == 32 ? ((const float *)data)[i]
                               : half_to_float(((const uint16_t *)data)[i]);
  case kDLBfloat: {
    uint32_t bits = (uint32_t)((const uint16_t *)data)[i] << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
  }
  default:
    if (t->dtype.bits == 64)
      return (double)((const int64_t *)data)[i];
    if (t->dtype.bits == 32)
      return ((const int32_t *)data)[i];
    return ((const int8_t *)data)[i];
  }
}

static uint32_t random_bits(void) {
  static uint32_t state = 12345;
  state = state * 1664525 + 1013904223;
  return state >> 8;
}

static void fill(DLTensor *t) {
  memset(t->data, 0, bytes_of(t));
  for (int64_t i = 0, n = elements(t); i < n; ++i) {
    float v = (float)random_bits() / (float)(1 << 23) - 1;
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (t->dtype.code == kDLBfloat)
      ((uint16_t *)t->data)[i] = (uint16_t)(bits >> 16);
    else if (t->dtype.code == kDLFloat && t->dtype.bits == 32)
      ((float *)t->data)[i] = v;
    else if (t->dtype.code == kDLFloat && t->dtype.bits == 64)
      ((double *)t->data)[i] = v;
  }
}

/*===- A model ------------------------------------------------------------===*/

typedef struct model {
  const ft_api *api;
  ft_model *instance;
  DLTensor *inputs, *outputs;
  int32_t num_inputs, num_outputs;
} model;

static DLTensor *tensors(int32_t n) {
  DLTensor *list = calloc((size_t)n + 1, sizeof *list);
  int64_t *dims = calloc((size_t)n * MOST_DIMS + 1, sizeof *dims);
  if (!list || !dims)
    stop("no memory");
  for (int32_t i = 0; i < n; ++i)
    list[i].shape = dims + (size_t)i * MOST_DIMS;
  return list;
}

static model open_model(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    stop("%s", dlerror());
  ft_api_getter get;
  *(void **)&get = dlsym(library, FT_API_SYMBOL);
  if (!get)
    stop("%s is no compiled model", path);
  model m = {.api = get()};
  m.num_inputs = m.api->info->num_inputs;
  m.num_outputs = m.api->info->num_outputs;
  check(m.api->load(NULL, &m.instance), path);
  m.inputs = tensors(m.num_inputs);
  m.outputs = tensors(m.num_outputs);
  int32_t symbols = m.api->info->num_symbols;
  int64_t *hints = calloc((size_t)symbols + 1, sizeof *hints);
  for (int32_t i = 0; i < symbols; ++i)
    hints[i] = m.api->info->symbols[i]->hint;
  check(m.api->input_shapes(m.instance, hints, symbols, m.inputs, m.num_inputs),
        path);
  check(m.api->output_shapes(m.instance, m.inputs, m.num_inputs, m.outputs,
                             m.num_outputs),
        path);
  free(hints);
  return m;
}

static void on_host(DLTensor *list, int32_t n) {
  for (int32_t i = 0; i < n; ++i) {
    list[i].device = (DLDevice){kDLCPU, 0};
    list[i].strides = NULL;
    list[i].data = calloc(bytes_of(&list[i]) + 64, 1);
  }
}

static void run(const model *m, const char *doing) {
  check(m->api->forward(m->instance, m->inputs, m->num_inputs, m->outputs,
                        m->num_outputs, NULL),
        doing);
}

static double least_ms(const model *m, double seconds, int (*wait)(void),
                       const char *doing) {
  double least = INFINITY, end = now() + seconds;
  do {
    double start = now();
    run(m, doing);
    if (wait && wait())
      stop("%s: the GPU failed", doing);
    least = fmin(least, now() - start);
  } while (now() < end);
  return 1e3 * least;
}

/* Copies of tensors whose values the model has on the GPU. */
static void to_gpu(DLTensor *list, const ft_value_info *const *infos,
                   int32_t n) {
  for (int32_t i = 0; i < n; ++i) {
    CUdeviceptr at = 0;
    if (infos[i]->device.device_type != kDLCUDA)
      continue;
    if (driver.memory_alloc(&at, bytes_of(&list[i]) + 64) ||
        driver.copy_in(at, list[i].data, bytes_of(&list[i]), NULL) ||
        wait_for_all())
      stop("no memory on the GPU");
    list[i].data = (void *)(uintptr_t)at;
    list[i].device = infos[i]->device;
  }
}

static double worst_difference(const model *a, const model *b) {
  double worst = 0;
  for (int32_t o = 0; o < a->num_outputs; ++o) {
    double most = 0, off = 0;
    for (int64_t i = 0, n = elements(&a->outputs[o]); i < n; ++i) {
      double x = element(&a->outputs[o], i), y = element(&b->outputs[o], i);
      if (x != x || y != y ? (x == x) != (y == y) : 0)
        return INFINITY;
      if (x != x || x == y)
        continue;
      most = fmax(most, fabs(x));
      off = fmax(off, fabs(x - y));
    }
    if (off > 0)
      worst = fmax(worst, off / fmax(most, 1e-30));
  }
  return worst;
}

static double tolerance(const model *m) {
  double least = 1e-4;
  for (int32_t o = 0; o < m->num_outputs; ++o)
    if (m->outputs[o].dtype.bits == 16)
      least = 4e-2;
  return least;
}

int main(int argc, char **argv) {
  if (argc != 4)
    stop("device-check CPU.so CUDA.so SECONDS");
  double seconds = atof(argv[3]);
  open_driver();
  model cpu = open_model(argv[1]), gpu = open_model(argv[2]);
  if (cpu.num_inputs != gpu.num_inputs || cpu.num_outputs != gpu.num_outputs)
    stop("these are two models");
  on_host(cpu.inputs, cpu.num_inputs);
  on_host(cpu.outputs, cpu.num_outputs);
  on_host(gpu.outputs, gpu.num_outputs);
  for (int32_t i = 0; i < cpu.num_inputs; ++i) {
    fill(&cpu.inputs[i]);
    gpu.inputs[i].data = cpu.inputs[i].data;
    gpu.inputs[i].device = cpu.inputs[i].device;
    gpu.inputs[i].strides = NULL;
  }
  run(&cpu, argv[1]);
  run(&gpu, argv[2]);
  double difference = worst_difference(&cpu, &gpu);
  double cpu_ms = least_ms(&cpu, seconds, NULL, argv[1]);
  const ft_model_info *info = gpu.api->info;
  to_gpu(gpu.inputs, info->inputs, gpu.num_inputs);
  to_gpu(gpu.outputs, info->outputs, gpu.num_outputs);
  double gpu_ms = least_ms(&gpu, seconds, wait_for_all, argv[2]);
  int ok = difference <= tolerance(&cpu);
  printf("%s %.2e %.4f %.4f\n", ok ? "ok" : "FAIL", difference, cpu_ms, gpu_ms);
  return ok ? 0 : 1;
}
