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
  bool custom; /* not a kernel of runtime/kernels */
  DLTensor *results;
  int32_t num_results;
  const struct found_result *found; /* [num_results] */
};

/* Of a result whose sizes the kernel finds. */
struct found_result {
  bool is_found;
  int32_t output;       /* of the model, or -1 */
  const int64_t *order; /* of its dims in memory */
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

/* What a user's kernel forgets to write must not be what the memory held: the
 * same call would give other numbers each time. Those of runtime/kernels write
 * everything, and have scratch memory among their results. */
static void clear_result(const struct kernel_host *host, DLTensor *result) {
  if (host->custom && bytes_of(result))
    memset(result->data, 0, (size_t)bytes_of(result));
}

/* Sizes that depend on data, and with them the memory. */
static DLTensor *find_result(const struct kernel_host *host, int32_t index,
                             const int64_t *sizes) {
  DLTensor *result = &host->results[index];
  const struct found_result *found = &host->found[index];
  memcpy(result->shape, sizes, (size_t)result->ndim * sizeof *sizes);
  if (!ft_find_output(host->exec, found->output, found->order, result))
    return NULL;
  clear_result(host, result);
  return result;
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
  bool unknown = false;
  for (int32_t d = 0; same && d < ndim; ++d) {
    unknown |= result->shape[d] < 0;
    same = result->shape[d] < 0 ? sizes[d] >= 0 : sizes[d] == result->shape[d];
  }
  if (same && unknown)
    return find_result(host, index, sizes);
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

/* Words before the sizes of a tensor. */
enum { DTYPE, COPY_FROM, OUTPUT, ROOM, RANK, TENSOR_HEAD };

static bool has_unknown(const int64_t *at) {
  for (int64_t d = 0; d < at[RANK]; ++d)
    if (at[TENSOR_HEAD + d] < 0)
      return true;
  return false;
}

/* For --check-accesses: is all that the kernel is told of a tensor there? */
static bool is_there(ft_exec *exec, const char *op, int64_t number,
                     const DLTensor *t, int64_t room) {
  int64_t last = 0;
  for (int32_t d = 0; d < t->ndim; ++d) {
    if (t->shape[d] <= 0)
      return true;
    last += (t->shape[d] - 1) * t->strides[d];
  }
  int64_t bytes = (last + 1) * (t->dtype.bits / 8);
  if (room < 0 || (last >= 0 && bytes <= room))
    return true;
  ft_text text = {.size = 0};
  ft_text_add(&text, "%s: tensor %d of the call ends at byte %lld of %lld", op,
              (int)number, (long long)bytes, (long long)room);
  ft_rt_fail(exec, FT_ERROR_ACCESS, text.chars);
  return false;
}

int ft_rt_call_kernel(ft_exec *exec, ft_kernel_fn kernel, const int64_t *words,
                      void **data) {
  int64_t num_tensors = words[FT_KC_TENSORS], num_items = words[FT_KC_ITEMS];
  int64_t num_results = words[FT_KC_RESULTS];
  DLTensor tensors[num_tensors + 1];
  ft_kernel_arg items[num_items + 1];
  struct found_result found[num_results + 1];
  /* Sizes and strides of results that the kernel finds. */
  int64_t layouts[words[FT_KC_FOUND] + 1], *layout = layouts;
  const int64_t *at = words + FT_KC_HEAD;
  const char *op = (const char *)words + words[FT_KC_OP];
  for (int64_t i = 0; i < num_tensors; ++i) {
    DLTensor *t = &tensors[i];
    int64_t from = at[COPY_FROM], rank = at[RANK];
    t->data = data[i];
    t->device.device_type = kDLCPU;
    t->device.device_id = 0;
    t->dtype = dtype_of(at[DTYPE]);
    t->ndim = (int32_t)rank;
    /* DLPack does not say const; kernel.h does. */
    t->shape = (int64_t *)(uintptr_t)(at + TENSOR_HEAD);
    t->strides = t->shape + rank;
    t->byte_offset = 0;
    if (i >= num_tensors - num_results) {
      struct found_result *f = &found[i - (num_tensors - num_results)];
      f->is_found = has_unknown(at);
      f->output = (int32_t)at[OUTPUT];
      f->order = t->strides;
      if (f->is_found) {
        memcpy(layout, t->shape, (size_t)(2 * rank) * sizeof *layout);
        t->shape = layout;
        t->strides = layout + rank;
        layout += 2 * rank;
      }
    }
    if (!is_there(exec, op, i, t, at[ROOM]))
      return FT_ERROR_ACCESS;
    if (from >= 0)
      memcpy(t->data, data[from], (size_t)bytes_of(t));
    at += TENSOR_HEAD + 2 * rank;
  }
  for (int64_t i = 0; i < num_items; ++i, at += 3)
    items[i] = item_of(words, at, tensors, items);

  struct kernel_host host = {exec,
                             op,
                             strstr(op, "::") != NULL,
                             tensors + num_tensors - num_results,
                             (int32_t)num_results,
                             found};
  for (int64_t i = 0; i < num_results; ++i)
    if (!found[i].is_found)
      clear_result(&host, &host.results[i]);
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
    return kernel_fail(&call, code, NULL);
  for (int32_t i = 0; i < host.num_results; ++i)
    for (int32_t d = 0; found[i].is_found && d < host.results[i].ndim; ++d)
      if (host.results[i].shape[d] < 0) {
        ft_text text = {.size = 0};
        ft_text_add(&text, "its kernel did not ask for result %d", (int)i);
        return kernel_fail(&call, FT_ERROR_ARGUMENT, text.chars);
      }
  for (int32_t i = 0; i < host.num_results; ++i)
    if (found[i].is_found)
      data[num_tensors - num_results + i] =
          (uint8_t *)host.results[i].data + host.results[i].byte_offset;
  if (words[FT_KC_SIZES] >= 0) {
    int64_t *to = tensors[words[FT_KC_SIZES]].data;
    for (int32_t i = 0; i < host.num_results; ++i)
      for (int32_t d = 0; found[i].is_found && d < host.results[i].ndim; ++d)
        *to++ = host.results[i].shape[d];
  }
  return FT_OK;
}
