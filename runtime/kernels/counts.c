/*===- counts.c - Sizes that are sums or maxima of data ------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/elements.h"
#include "runtime/kernels/kernels.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t element(const DLTensor *t, int64_t i) {
  return ft_integer_at(t->dtype, (const char *)t->data +
                                     i * t->strides[0] * ft_element_size(t));
}

/* The largest element + 1; 0 for none. -1 after a failure: an element that is
 * negative, or has no bin in any tensor (an unsigned one beyond int64 reads as
 * negative). */
static int64_t end_of(const ft_kernel_call *call, const DLTensor *t) {
  int64_t end = 0;
  for (int64_t i = 0; i < t->shape[0]; ++i) {
    int64_t v = element(t, i);
    bool huge = v == INT64_MAX || (v < 0 && t->dtype.code == kDLUInt);
    if (v < 0 || huge) {
      char text[96];
      snprintf(text, sizeof text,
               huge ? "element %" PRId64 " of its input, %" PRIu64
                      ", is too large to count up to"
                    : "element %" PRId64 " of its input is negative, %" PRId64,
               i, v);
      call->fail(call, FT_ERROR_INDEX, text);
      return -1;
    }
    end = v >= end ? v + 1 : end;
  }
  return end;
}

/* x, least size, weights (float32 or float64), if any */
int32_t ft_k_bincount(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  bool weighted = call->num_args > 2;
  const DLTensor *weights = weighted ? call->args[1].tensor : NULL;
  int64_t least = call->args[call->num_args - 1].integer, end = end_of(call, x);
  const DLDataType i64 = {kDLInt, 64, 1};
  if (end < 0)
    return FT_ERROR_INDEX;
  end = end > least ? end : least;
  DLTensor *result =
      call->result(call, 0, weighted ? weights->dtype : i64, 1, &end);
  if (!result)
    return FT_ERROR_TENSOR;
  int64_t step = result->strides[0], size = ft_element_size(result);
  char *to = result->data;
  for (int64_t i = 0; i < end; ++i)
    memset(to + i * step * size, 0, (size_t)size);
  for (int64_t i = 0; i < x->shape[0]; ++i) {
    int64_t at = element(x, i) * step;
    if (!weighted)
      ++((int64_t *)to)[at];
    else if (size == 8)
      ((double *)to)[at] += ((double *)weights->data)[i * weights->strides[0]];
    else
      ((float *)to)[at] += ((float *)weights->data)[i * weights->strides[0]];
  }
  return FT_OK;
}

/* The sum of the repeats of `n` things, each `repeats[i]` (or the only one);
 * -1 after a failure. */
static int64_t total_of(const ft_kernel_call *call, const DLTensor *repeats,
                        int64_t n) {
  int64_t total = 0, step = repeats->shape[0] == 1 ? 0 : 1;
  for (int64_t i = 0; i < n; ++i) {
    int64_t count = element(repeats, i * step);
    if (count < 0) {
      call->fail(call, FT_ERROR_INDEX, "its repeats must not be negative");
      return -1;
    }
    if (__builtin_add_overflow(total, count, &total)) {
      call->fail(call, FT_ERROR_MEMORY, "its result has too many elements");
      return -1;
    }
  }
  return total;
}

/* repeats, size of the result or -1 -> the index of each repeated element */
int32_t ft_k_repeat_interleave(const ft_kernel_call *call) {
  const DLTensor *repeats = call->args[0].tensor;
  int64_t total = total_of(call, repeats, repeats->shape[0]);
  if (total < 0)
    return FT_ERROR_INDEX;
  if (call->args[1].integer >= 0 && call->args[1].integer != total)
    return call->fail(call, FT_ERROR_TENSOR,
                      "output_size is not the sum of its repeats");
  DLTensor *result = call->result(call, 0, repeats->dtype, 1, &total);
  if (!result)
    return FT_ERROR_TENSOR;
  int64_t size = ft_element_size(result), next = 0;
  for (int64_t i = 0; i < repeats->shape[0]; ++i)
    for (int64_t k = element(repeats, i); k > 0; --k, ++next)
      memcpy((char *)result->data + next * result->strides[0] * size, &i,
             (size_t)size); /* little endian */
  return FT_OK;
}

/* x, repeats, dim, size of the result along dim or -1 */
int32_t ft_k_repeat_interleave_dim(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor, *repeats = call->args[1].tensor;
  int32_t dim = (int32_t)call->args[2].integer;
  int64_t n = x->shape[dim], total = total_of(call, repeats, n);
  if (total < 0)
    return FT_ERROR_INDEX;
  if (call->args[3].integer >= 0 && call->args[3].integer != total)
    return call->fail(call, FT_ERROR_TENSOR,
                      "output_size is not the sum of its repeats");
  int64_t shape[FT_KERNEL_DIMS], slice[FT_KERNEL_DIMS];
  int64_t to_strides[FT_KERNEL_DIMS], from_strides[FT_KERNEL_DIMS];
  memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
  memcpy(slice, x->shape, (size_t)x->ndim * sizeof *slice);
  shape[dim] = total;
  slice[dim] = 1;
  DLTensor *result = call->result(call, 0, x->dtype, x->ndim, shape);
  if (!result)
    return FT_ERROR_TENSOR;
  int64_t size = ft_element_size(x), next = 0;
  for (int32_t d = 0; d < x->ndim; ++d) {
    to_strides[d] = result->strides[d] * size;
    from_strides[d] = x->strides[d] * size;
  }
  int64_t step = repeats->shape[0] == 1 ? 0 : 1;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = element(repeats, i * step); k > 0; --k, ++next)
      ft_copy_elements(
          x->ndim, slice, (char *)result->data + next * to_strides[dim],
          to_strides, (const char *)x->data + i * from_strides[dim],
          from_strides, size);
  return FT_OK;
}
