/*===- kernel.c - Calls the kernels of custom operators ------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "foretrace/kernel.h"

#include "internal.h"
#include "kernel_call.h"

enum { FT_MOST_DIMS = 64 }; /* as the compiler's tensors */

struct kernel_host {
  ft_exec *exec;
  const char *op;
  DLTensor *results;
  int32_t num_results;
};

static DLDataType dtype_of(int64_t word) {
  DLDataType dtype = {(uint8_t)(word & 0xff), (uint8_t)(word >> 8 & 0xff), 1};
  return dtype;
}

static int64_t bytes_of(const DLTensor *t) {
  return ft_kernel_numel(t) * (t->dtype.bits / 8);
}

/*===- What a kernel calls ------------------------------------------------===*/

static int32_t kernel_fail(const ft_kernel_call *call, int32_t code,
                           const char *message) {
  const struct kernel_host *host = call->host;
  ft_text text = {.size = 0};
  ft_text_add(&text, "%s: %s", host->op,
              message ? message : "its kernel failed");
  /* Callers tell failures apart by codes: no others may reach them. */
  if (code < FT_OK || code > FT_ERROR_MEMORY)
    ft_text_add(&text, " (code %d, which is no FT_ERROR_ value)", (int)code);
  if (code <= FT_OK || code > FT_ERROR_MEMORY)
    code = FT_ERROR_ARGUMENT;
  ft_rt_fail(host->exec, code, text.chars);
  return code;
}

/* A kernel and a fake rule that disagree must not write out of bounds. */
static DLTensor *kernel_result(const ft_kernel_call *call, int32_t index,
                               DLDataType dtype, int32_t ndim,
                               const int64_t *sizes) {
  const struct kernel_host *host = call->host;
  ft_text text = {.size = 0};
  if (index < 0 || index >= host->num_results) {
    ft_text_add(&text, "its kernel asks for result %d of %d", (int)index,
                (int)host->num_results);
    kernel_fail(call, FT_ERROR_ARGUMENT, text.chars);
    return NULL;
  }
  if (ndim < 0 || ndim > FT_MOST_DIMS || (ndim > 0 && !sizes)) {
    ft_text_add(&text, "its kernel asks for result %d with %d dims", (int)index,
                (int)ndim);
    ft_text_add(&text, ndim > 0 && !sizes ? ", without sizes (NULL)"
                                          : ", which no tensor can have");
    kernel_fail(call, FT_ERROR_TENSOR, text.chars);
    return NULL;
  }
  DLTensor *result = &host->results[index];
  bool same = dtype.code == result->dtype.code &&
              dtype.bits == result->dtype.bits && ndim == result->ndim;
  for (int32_t d = 0; same && d < ndim; ++d)
    same = sizes[d] == result->shape[d];
  if (same)
    return result;
  ft_text_add(&text, "its kernel writes result %d as ", (int)index);
  ft_text_add_dtype(&text, dtype);
  ft_text_add(&text, " ");
  ft_text_add_list(&text, sizes, ndim);
  ft_text_add(&text, ", its fake rule gave ");
  ft_text_add_dtype(&text, result->dtype);
  ft_text_add(&text, " ");
  ft_text_add_list(&text, result->shape, result->ndim);
  kernel_fail(call, FT_ERROR_TENSOR, text.chars);
  return NULL;
}

static void kernel_parallel_for(const ft_kernel_call *call,
                                void (*body)(void *args, int64_t lo,
                                             int64_t hi),
                                void *args, int64_t n, int64_t grain) {
  const struct kernel_host *host = call->host;
  if (n > 0)
    ft_rt_parallel_for(host->exec, body, args, n, grain > 0 ? grain : 1);
}

/*===- The call -----------------------------------------------------------===*/

static ft_kernel_arg item_of(const int64_t *words, const int64_t *item,
                             DLTensor *tensors, const ft_kernel_arg *items) {
  ft_kernel_arg arg = {.kind = (int32_t)item[0], .count = (int32_t)item[2]};
  int64_t value = item[1];
  switch (arg.kind) {
  case FT_ARG_TENSOR:
    arg.tensor = &tensors[value];
    break;
  case FT_ARG_FLOAT:
    memcpy(&arg.real, &value, sizeof arg.real);
    break;
  case FT_ARG_STRING:
    arg.text = (const char *)words + value;
    break;
  case FT_ARG_DTYPE:
    arg.dtype = dtype_of(value);
    break;
  case FT_ARG_DEVICE:
    arg.device.device_type = (DLDeviceType)(value & 0xff);
    arg.device.device_id = (int32_t)(value >> 8);
    break;
  case FT_ARG_LIST:
    arg.list = &items[value];
    break;
  default:
    arg.integer = value;
    break;
  }
  return arg;
}

int ft_rt_call_kernel(ft_exec *exec, ft_kernel_fn kernel, const int64_t *words,
                      void *const *data) {
  int64_t num_tensors = words[FT_KC_TENSORS], num_items = words[FT_KC_ITEMS];
  DLTensor tensors[num_tensors + 1];
  ft_kernel_arg items[num_items + 1];
  const int64_t *at = words + FT_KC_HEAD;
  for (int64_t i = 0; i < num_tensors; ++i) {
    DLTensor *t = &tensors[i];
    int64_t from = at[1];
    t->data = data[i];
    t->device.device_type = kDLCPU;
    t->device.device_id = 0;
    t->dtype = dtype_of(at[0]);
    t->ndim = (int32_t)at[2];
    /* DLPack does not say const; kernel.h does. */
    t->shape = (int64_t *)(uintptr_t)(at + 3);
    t->strides = t->shape + t->ndim;
    t->byte_offset = 0;
    if (from >= 0)
      memcpy(t->data, data[from], (size_t)bytes_of(t));
    at += 3 + 2 * t->ndim;
  }
  for (int64_t i = 0; i < num_items; ++i, at += 3)
    items[i] = item_of(words, at, tensors, items);

  struct kernel_host host = {exec, (const char *)words + words[FT_KC_OP],
                             tensors + num_tensors - words[FT_KC_RESULTS],
                             (int32_t)words[FT_KC_RESULTS]};
  ft_kernel_call call = {.struct_size = sizeof call,
                         .op = host.op,
                         .num_args = (int32_t)words[FT_KC_ARGS],
                         .num_results = host.num_results,
                         .args = items,
                         .results = host.results,
                         .host = &host,
                         .result = kernel_result,
                         .fail = kernel_fail,
                         .parallel_for = kernel_parallel_for,
                         .seed = exec->seed,
                         .offset = exec->offset++};
  int32_t code = kernel(&call);
  /* The first reason stays: this one only if the kernel gave none. */
  if (code != FT_OK)
    code = kernel_fail(&call, code, NULL);
  return code;
}
