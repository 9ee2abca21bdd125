/*===- nonzero.c - Which elements are not zero ---------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Two passes: the first counts, which gives the size of the result; the second
 * writes.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/elements.h"
#include "runtime/kernels/kernels.h"

int32_t ft_k_nonzero(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  const DLDataType i64 = {kDLInt, 64, 1};
  const int64_t sizes[2] = {ft_count_true(x, x->ndim, x->shape), x->ndim};
  DLTensor *result = call->result(call, 0, i64, 2, sizes);
  if (!result)
    return FT_ERROR_TENSOR;
  if (result->data)
    ft_list_true(x, result->data, result->strides[0], result->strides[1]);
  return FT_OK;
}

/* The same, one result for each dim. */
int32_t ft_k_nonzero_lists(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  const DLDataType i64 = {kDLInt, 64, 1};
  const int64_t count = ft_count_true(x, x->ndim, x->shape);
  for (int32_t d = 0; d < x->ndim; ++d)
    if (!call->result(call, d, i64, 1, &count))
      return FT_ERROR_TENSOR;
  ft_truth truth = ft_truth_of(x->dtype);
  int64_t found = 0;
  for (ft_rows r = ft_rows_of(x->ndim, x->shape, x, NULL, NULL); !r.done;
       ft_next_row(&r)) {
    const char *at = (const char *)x->data + r.offset[0];
    for (int64_t i = 0; i < r.length; ++i, at += r.step[0]) {
      if (!ft_is_true(truth, at))
        continue;
      for (int32_t d = 0; d < x->ndim; ++d) {
        const DLTensor *to = &call->results[d];
        if (to->data)
          ((int64_t *)to->data)[found * to->strides[0]] =
              d == r.outer ? i : r.index[d];
      }
      ++found;
    }
  }
  return FT_OK;
}

/* The shape that two tensors are broadcast to. */
static int32_t broadcast(const DLTensor *a, const DLTensor *b, int64_t *shape) {
  int32_t ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
  for (int32_t d = 0; d < ndim; ++d) {
    int32_t ad = d - (ndim - a->ndim), bd = d - (ndim - b->ndim);
    int64_t size = ad >= 0 ? a->shape[ad] : 1;
    shape[d] = size == 1 && bd >= 0 ? b->shape[bd] : size;
  }
  return ndim;
}

int32_t ft_k_masked_select(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor, *mask = call->args[1].tensor;
  int64_t shape[FT_KERNEL_DIMS];
  int32_t ndim = broadcast(x, mask, shape);
  int64_t count = ft_count_true(mask, ndim, shape);
  DLTensor *result = call->result(call, 0, x->dtype, 1, &count);
  if (!result)
    return FT_ERROR_TENSOR;
  ft_truth truth = ft_truth_of(mask->dtype);
  int64_t size = ft_element_size(x), next = result->strides[0] * size;
  char *to = result->data;
  for (ft_rows r = ft_rows_of(ndim, shape, x, mask, NULL); !r.done;
       ft_next_row(&r)) {
    const char *from = (const char *)x->data + r.offset[0];
    const char *at = (const char *)mask->data + r.offset[1];
    for (int64_t i = 0; i < r.length; ++i)
      if (ft_is_true(truth, at + i * r.step[1])) {
        ft_copy_element(to, from + i * r.step[0], size);
        to += next;
      }
  }
  return FT_OK;
}

int32_t ft_k_running_count(const ft_kernel_call *call) {
  const DLTensor *mask = call->args[0].tensor;
  ft_truth truth = ft_truth_of(mask->dtype);
  int64_t *to = call->results[0].data, count = 0;
  int64_t next = call->results[0].strides[0];
  for (ft_rows r = ft_rows_of(mask->ndim, mask->shape, mask, NULL, NULL);
       !r.done; ft_next_row(&r)) {
    const char *at = (const char *)mask->data + r.offset[0];
    for (int64_t i = 0; i < r.length; ++i, at += r.step[0], to += next)
      *to = count += ft_is_true(truth, at);
  }
  return FT_OK;
}
