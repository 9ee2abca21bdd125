/*===- device.c - The part of a call that a GPU does ---------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "device.h"

#include "driver.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>

struct ft_device {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction *functions; /* of desc->cuda->kernels */
  CUdeviceptr weights;
};

struct ft_device_memory {
  ft_device *device;
  CUdeviceptr arena, copies;
  size_t arena_bytes, copies_bytes;
  CUevent done; /* all that was launched with this memory */
  bool used;
};

/*===- The driver ---------------------------------------------------------===*/

static ft_driver driver;

static bool open_driver(ft_status *status) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool opened;
  pthread_mutex_lock(&lock);
  if (!opened) {
    /* Stays open: kernels may run until the process ends. */
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const char *missing = library ? NULL : "libcuda.so.1";
#define FT_DRIVER(name, symbol, parameters)                                    \
  if (!missing) {                                                              \
    void *found = dlsym(library, symbol);                                      \
    memcpy(&driver.name, &found, sizeof found);                                \
    if (!found)                                                                \
      missing = symbol;                                                        \
  }
    FT_DRIVER_FUNCTIONS
#undef FT_DRIVER
    if (!library)
      ft_fail(status, FT_ERROR_DEVICE,
              "\"%s\" runs on a GPU, and there is no CUDA driver here: "
              "libcuda.so.1 cannot be opened",
              ft_gen_desc.info.name);
    else if (missing)
      ft_fail(status, FT_ERROR_DEVICE,
              "the CUDA driver is too old for \"%s\": it has no %s",
              ft_gen_desc.info.name, missing);
    opened = !missing;
  }
  bool ok = opened;
  pthread_mutex_unlock(&lock);
  return ok;
}

/* True if code is 0; else fails with "DOING: what the driver says". */
static bool check(CUresult code, const char *doing, ft_status *status) {
  if (code == 0)
    return true;
  const char *text = NULL;
  if (driver.error_text(code, &text) != 0 || !text)
    text = "no reason is known";
  return ft_fail(
      status, code == FT_CU_OUT_OF_MEMORY ? FT_ERROR_MEMORY : FT_ERROR_DEVICE,
      "%s: %s (CUDA error %d)", doing, text, code);
}

static void pop(void) {
  CUcontext old;
  driver.context_pop(&old);
}

/*===- Opening a model ----------------------------------------------------===*/

static bool check_capability(const ft_cuda_desc *cuda, CUdevice device,
                             bool *same_generation, ft_status *status) {
  int major = 0, minor = 0;
  if (!check(driver.device_attribute(&major, FT_CU_CAPABILITY_MAJOR, device),
             "asking for the GPU's kind", status) ||
      !check(driver.device_attribute(&minor, FT_CU_CAPABILITY_MINOR, device),
             "asking for the GPU's kind", status))
    return false;
  int32_t has = 10 * major + minor;
  *same_generation = major == cuda->sm / 10;
  if (cuda->exact ? has == cuda->sm : has >= cuda->sm)
    return true;
  return ft_fail(status, FT_ERROR_DEVICE,
                 "\"%s\" was compiled for sm_%d%s, and the GPU is sm_%d",
                 ft_gen_desc.info.name, cuda->sm,
                 cuda->exact ? " alone" : " and newer", has);
}

static bool load_kernels(ft_device *d, const ft_cuda_desc *cuda,
                         bool same_generation, ft_status *status) {
  if (!cuda->num_kernels)
    return true;
  /* The driver assembles PTX for GPUs that are newer. */
  bool loaded = cuda->cubin && same_generation &&
                driver.module_load(&d->module, cuda->cubin) == 0;
  if (!loaded && !check(driver.module_load(&d->module, cuda->ptx),
                        "loading the kernels", status))
    return false;
  d->functions = calloc((size_t)cuda->num_kernels, sizeof *d->functions);
  if (!d->functions)
    return ft_fail(status, FT_ERROR_MEMORY, "no memory for a list of kernels");
  for (int32_t i = 0; i < cuda->num_kernels; ++i)
    if (!check(driver.module_function(&d->functions[i], d->module,
                                      cuda->kernels[i]),
               cuda->kernels[i], status))
      return false;
  return true;
}

static bool load_weights(ft_device *d, const ft_model *model,
                         ft_status *status) {
  size_t bytes = (size_t)ft_gen_desc.info.weights_bytes;
  return !bytes ||
         (check(driver.memory_alloc(&d->weights, bytes),
                "memory for the weights", status) &&
          check(driver.copy_in(d->weights, model->weights.data, bytes, NULL),
                "copying the weights", status) &&
          check(driver.stream_wait(NULL), "copying the weights", status));
}

void ft_device_close(ft_device *d) {
  if (!d)
    return;
  if (d->context && driver.context_push(d->context) == 0) {
    if (d->weights)
      driver.memory_free(d->weights);
    if (d->module)
      driver.module_unload(d->module);
    pop();
  }
  if (d->context)
    driver.context_release(d->device);
  free(d->functions);
  free(d);
}

static ft_device *make_device(const ft_model *model, ft_status *status) {
  const ft_cuda_desc *cuda = ft_gen_desc.cuda;
  if (!open_driver(status) ||
      !check(driver.init(0), "starting the CUDA driver", status))
    return NULL;
  int count = 0;
  if (!check(driver.device_count(&count), "counting GPUs", status))
    return NULL;
  if (cuda->device >= count) {
    ft_fail(status, FT_ERROR_DEVICE,
            "\"%s\" runs on cuda:%d, and there are %d GPUs",
            ft_gen_desc.info.name, cuda->device, count);
    return NULL;
  }
  ft_device *d = calloc(1, sizeof *d);
  if (!d) {
    ft_fail(status, FT_ERROR_MEMORY, "no memory for a device");
    return NULL;
  }
  bool same_generation = false;
  if (!check(driver.device_get(&d->device, cuda->device), "finding the GPU",
             status) ||
      !check_capability(cuda, d->device, &same_generation, status) ||
      !check(driver.context_retain(&d->context, d->device), "opening the GPU",
             status) ||
      !check(driver.context_push(d->context), "opening the GPU", status)) {
    ft_device_close(d);
    return NULL;
  }
  bool ok = load_kernels(d, cuda, same_generation, status) &&
            load_weights(d, model, status);
  pop();
  if (ok)
    return d;
  ft_device_close(d);
  return NULL;
}

bool ft_device_open(ft_model *model, ft_device **device, ft_status *status) {
  pthread_mutex_lock(&model->device_lock);
  if (!model->device)
    model->device = make_device(model, status);
  *device = model->device;
  pthread_mutex_unlock(&model->device_lock);
  return *device != NULL;
}

/*===- A call -------------------------------------------------------------===*/

static bool grow(CUdeviceptr *block, size_t *have, size_t bytes,
                 const char *what, ft_status *status) {
  if (bytes <= *have)
    return true;
  if (*block)
    driver.memory_free(*block);
  *block = 0;
  *have = 0;
  if (!check(driver.memory_alloc(block, bytes), what, status))
    return false;
  *have = bytes;
  return true;
}

static bool get_memory(ft_device_call *c, size_t copies, ft_status *status) {
  ft_device_memory *m = c->work->device;
  if (!m) {
    m = calloc(1, sizeof *m);
    if (!m)
      return ft_fail(status, FT_ERROR_MEMORY, "no memory for a call");
    m->device = c->device;
    c->work->device = m;
  }
  if (!m->done &&
      !check(driver.event_create(&m->done, FT_CU_EVENT_DISABLE_TIMING),
             "making an event", status))
    return false;
  /* An earlier call may still work in it, on another stream; memory that is
   * freed must not be in use. */
  bool grows =
      c->work->arena_needed > m->arena_bytes || copies > m->copies_bytes;
  if (m->used && !check(grows ? driver.event_wait(m->done)
                              : driver.stream_wait_event(c->stream, m->done, 0),
                        "waiting for an earlier call", status))
    return false;
  return grow(&m->arena, &m->arena_bytes, c->work->arena_needed,
              "memory for the arena", status) &&
         grow(&m->copies, &m->copies_bytes, copies, "memory for copies",
              status);
}

static size_t padded(const ft_value_info *info) {
  return (ft_layout_bytes(info) + 255) / 256 * 256;
}

bool ft_device_enter(ft_device_call *c, const DLTensor *inputs,
                     const DLTensor *outputs, ft_status *status) {
  const ft_model_info *info = &c->work->desc->info;
  int32_t n = info->num_inputs, all = n + info->num_outputs;
  if (!check(driver.context_push(c->device->context), "entering the GPU",
             status))
    return false;
  size_t copies = 0;
  c->host = calloc((size_t)all + 1, sizeof *c->host);
  bool ok = c->host || ft_fail(status, FT_ERROR_MEMORY, "no memory for a call");
  for (int32_t i = 0; i < all && ok; ++i) {
    const DLTensor *t = i < n ? &inputs[i] : &outputs[i - n];
    void *at = i < n ? c->work->inputs[i] : c->work->outputs[i - n];
    if (t->device.device_type == kDLCPU &&
        c->work->values[i]->device.device_type == kDLCUDA &&
        ft_layout_bytes(c->work->values[i]))
      c->host[i] = at;
    if (c->host[i])
      copies += padded(c->work->values[i]);
  }
  /* The host's part of a call is done when the call returns. */
  c->copies = copies != 0 || ft_gen_desc.cuda->mixed;
  ok = ok && get_memory(c, copies, status);
  CUdeviceptr next = ok ? c->work->device->copies : 0;
  for (int32_t i = 0; i < all && ok; ++i) {
    if (!c->host[i])
      continue;
    void **slot = i < n ? &c->work->inputs[i] : &c->work->outputs[i - n];
    *slot = (void *)(uintptr_t)next;
    if (i < n)
      ok = check(driver.copy_in(next, c->host[i],
                                ft_layout_bytes(c->work->values[i]),
                                (CUstream)c->stream),
                 "copying an input", status);
    next += padded(c->work->values[i]);
  }
  return ok || ft_device_leave(c, false, status);
}

static bool copy_back(ft_device_call *c, ft_status *status) {
  const ft_model_info *info = &c->work->desc->info;
  int32_t n = info->num_inputs;
  for (int32_t i = 0; i < n + info->num_outputs; ++i) {
    const ft_value_info *value = c->work->values[i];
    if (!c->host[i] || (i < n && !(value->flags & FT_VALUE_WRITTEN)))
      continue;
    void **slot = i < n ? &c->work->inputs[i] : &c->work->outputs[i - n];
    if (!check(driver.copy_out(c->host[i], (CUdeviceptr)(uintptr_t)*slot,
                               ft_layout_bytes(value), (CUstream)c->stream),
               "copying an output", status))
      return false;
    *slot = c->host[i];
  }
  return check(driver.stream_wait((CUstream)c->stream), "running the kernels",
               status);
}

bool ft_device_leave(ft_device_call *c, bool ok, ft_status *status) {
  if (ok && c->copies)
    ok = copy_back(c, status);
  ft_device_memory *m = c->work->device;
  if (m && m->done && driver.event_record(m->done, (CUstream)c->stream) == 0)
    m->used = true;
  free(c->host);
  c->host = NULL;
  pop();
  return ok;
}

uint8_t *ft_device_arena(const ft_device_call *c) {
  return (uint8_t *)(uintptr_t)c->work->device->arena;
}

const uint8_t *ft_device_weights(const ft_device_call *c) {
  return (const uint8_t *)(uintptr_t)c->device->weights;
}

void ft_device_drop(ft_workspace *work) {
  ft_device_memory *m = work->device;
  if (!m)
    return;
  if (driver.context_push(m->device->context) == 0) {
    if (m->used)
      driver.event_wait(m->done);
    if (m->done)
      driver.event_destroy(m->done);
    if (m->arena)
      driver.memory_free(m->arena);
    if (m->copies)
      driver.memory_free(m->copies);
    pop();
  }
  free(m);
  work->device = NULL;
}

/*===- Called by generated code -------------------------------------------===*/

static void fail_call(ft_exec *exec, const ft_status *status) {
  ft_rt_fail(exec, status->code, status->message);
}

void ft_rt_cuda_launch(ft_exec *exec, int32_t kernel, int64_t blocks,
                       void **parameters) {
  if (atomic_load(&exec->failed) || blocks == 0)
    return;
  const ft_device_call *c = exec->device;
  ft_status status;
  ft_set_ok(&status);
  const char *name = ft_gen_desc.cuda->kernels[kernel];
  if (blocks < 0 || blocks > INT32_MAX)
    ft_fail(&status, FT_ERROR_MEMORY,
            "kernel \"%s\" would need %" PRId64 " blocks, more than a GPU runs",
            name, blocks);
  else
    check(driver.launch(c->device->functions[kernel], (unsigned)blocks, 1, 1,
                        (unsigned)ft_gen_desc.cuda->threads, 1, 1, 0,
                        (CUstream)c->stream, parameters, NULL),
          name, &status);
  if (status.code != FT_OK)
    fail_call(exec, &status);
}

unsigned char *ft_rt_cuda_arena(ft_exec *exec) {
  return ft_device_arena(exec->device);
}

const unsigned char *ft_rt_cuda_weights(ft_exec *exec) {
  return ft_device_weights(exec->device) + exec->work->desc->weights_base;
}

int ft_rt_cuda_copy(ft_exec *exec, void *to, const void *from, int64_t bytes,
                    int32_t to_gpu) {
  if (atomic_load(&exec->failed))
    return exec->status.code;
  CUstream stream = (CUstream)exec->device->stream;
  ft_status status;
  ft_set_ok(&status);
  bool ok = bytes == 0;
  if (!ok && to_gpu)
    ok = check(
        driver.copy_in((CUdeviceptr)(uintptr_t)to, from, (size_t)bytes, stream),
        "copying a value to the GPU", &status);
  else if (!ok)
    ok = check(driver.copy_out(to, (CUdeviceptr)(uintptr_t)from, (size_t)bytes,
                               stream),
               "copying a value from the GPU", &status) &&
         check(driver.stream_wait(stream), "running the kernels", &status);
  if (ok)
    return FT_OK;
  fail_call(exec, &status);
  return exec->status.code;
}

int ft_rt_cuda_read(ft_exec *exec, const void *from, int64_t bytes, void *to) {
  memset(to, 0, (size_t)bytes);
  if (!atomic_load(&exec->failed)) {
    CUstream stream = (CUstream)exec->device->stream;
    ft_status status;
    ft_set_ok(&status);
    if (!check(driver.copy_out(to, (CUdeviceptr)(uintptr_t)from, (size_t)bytes,
                               stream),
               "reading a number that the call needs", &status) ||
        !check(driver.stream_wait(stream), "running the kernels", &status))
      fail_call(exec, &status);
  }
  return atomic_load(&exec->failed) ? exec->status.code : FT_OK;
}
