/*===- index.c - Advanced indexing with masks ----------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * x[i, :, m] with index tensors and masks. A mask over k dims stands for k
 * index tensors, the columns of its nonzero; then all of them are broadcast
 * against each other:
 *
 *   x [4, 5, 6], m [4, 5] with 3 true elements   rows, columns of 3 each
 *   x[m]                                         x[rows, columns]: [3, 6]
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/elements.h"
#include "runtime/kernels/kernels.h"

/* The index of one dim of x, over the broadcast shape. */
typedef struct dim_index {
  const char *data;
  DLDataType dtype;
  int32_t ndim;
  int64_t shape[FT_KERNEL_DIMS];
  int64_t stride[FT_KERNEL_DIMS]; /* in bytes */
} dim_index;

typedef struct indexing {
  const DLTensor *x;
  dim_index of[FT_KERNEL_DIMS]; /* by dim of x; data NULL: not indexed */
  bool indexed[FT_KERNEL_DIMS];
  int32_t ndim; /* of the broadcast shape */
  int64_t shape[FT_KERNEL_DIMS];
} indexing;

/* The coordinates of the true elements, one list of int64 for each dim. */
static int64_t *list_true(const DLTensor *mask, int64_t *lists, indexing *all,
                          int32_t first) {
  int64_t most = ft_kernel_numel(mask);
  int64_t count = ft_list_true(mask, lists, 1, most);
  for (int32_t d = 0; d < mask->ndim; ++d) {
    dim_index *index = &all->of[first + d];
    *index = (dim_index){.data = (const char *)(lists + d * most),
                         .dtype = {kDLInt, 64, 1},
                         .ndim = 1,
                         .shape = {count},
                         .stride = {sizeof(int64_t)}};
    all->indexed[first + d] = true;
  }
  return lists + mask->ndim * most;
}

static void take_index(const DLTensor *t, indexing *all, int32_t dim) {
  dim_index *index = &all->of[dim];
  index->data = t->data;
  index->dtype = t->dtype;
  index->ndim = t->ndim;
  for (int32_t d = 0; d < t->ndim; ++d) {
    index->shape[d] = t->shape[d];
    index->stride[d] = t->strides[d] * ft_element_size(t);
  }
  all->indexed[dim] = true;
}

static int32_t broadcast_all(const ft_kernel_call *call, indexing *all) {
  all->ndim = 0;
  for (int32_t k = 0; k < all->x->ndim; ++k) {
    const dim_index *index = &all->of[k];
    if (!all->indexed[k])
      continue;
    int32_t grow = index->ndim - all->ndim;
    if (grow > 0) {
      memmove(all->shape + grow, all->shape, sizeof(int64_t) * all->ndim);
      for (int32_t d = 0; d < grow; ++d)
        all->shape[d] = 1;
      all->ndim = index->ndim;
    }
    for (int32_t d = 0; d < index->ndim; ++d) {
      int64_t *size = &all->shape[all->ndim - index->ndim + d];
      if (*size == 1)
        *size = index->shape[d];
      else if (index->shape[d] != 1 && index->shape[d] != *size)
        return call->fail(call, FT_ERROR_TENSOR,
                          "its masks select different numbers of elements");
    }
  }
  return FT_OK;
}

/* Where the broadcast dims stand in the result: in front, unless the indexed
 * dims are neighbours. */
static int32_t place_of_broadcast(const indexing *all) {
  int32_t first = -1, last = -1;
  for (int32_t d = 0; d < all->x->ndim; ++d)
    if (all->indexed[d]) {
      first = first < 0 ? d : first;
      last = d;
    }
  for (int32_t d = first; d >= 0 && d <= last; ++d)
    if (!all->indexed[d])
      return 0;
  return first < 0 ? 0 : first;
}

/* The element of x that the indices at a position of the broadcast shape name;
 * false if one is out of range. */
static bool element_at(const ft_kernel_call *call, const indexing *all,
                       const int64_t *at, const char **element) {
  const char *from = all->x->data;
  for (int32_t k = 0; k < all->x->ndim; ++k) {
    if (!all->indexed[k])
      continue;
    const dim_index *index = &all->of[k];
    int64_t offset = 0, size = all->x->shape[k];
    for (int32_t d = 0; d < index->ndim; ++d)
      if (index->shape[d] != 1)
        offset += at[all->ndim - index->ndim + d] * index->stride[d];
    int64_t i = ft_integer_at(index->dtype, index->data + offset);
    if (i < -size || i >= size) {
      call->fail(call, FT_ERROR_INDEX, "an index is out of range");
      return false;
    }
    from +=
        (i < 0 ? i + size : i) * all->x->strides[k] * ft_element_size(all->x);
  }
  *element = from;
  return true;
}

/* x, index tensors and masks; for each of these the dim of x that it starts
 * at. */
int32_t ft_k_index(const ft_kernel_call *call) {
  indexing all = {.x = call->args[0].tensor};
  const DLTensor *x = all.x;
  int32_t count = (call->num_args - 1) / 2;
  int64_t *lists = (int64_t *)ft_scratch_memory(call);
  for (int32_t i = 0; i < count; ++i) {
    const DLTensor *t = call->args[1 + i].tensor;
    int32_t dim = (int32_t)call->args[1 + count + i].integer;
    if (t->dtype.code == FT_DL_BOOL || t->dtype.code == kDLUInt)
      lists = list_true(t, lists, &all, dim);
    else
      take_index(t, &all, dim);
  }
  int32_t code = broadcast_all(call, &all);
  if (code != FT_OK)
    return code;
  /* The result: dims of x that stay, the broadcast dims among them. */
  int64_t sizes[2 * FT_KERNEL_DIMS], kept[FT_KERNEL_DIMS];
  int64_t kept_from[FT_KERNEL_DIMS];
  int32_t place = place_of_broadcast(&all), rank = 0, num_kept = 0;
  int32_t kept_dim[FT_KERNEL_DIMS];
  for (int32_t d = 0; d <= x->ndim; ++d) {
    if (d == place)
      for (int32_t b = 0; b < all.ndim; ++b)
        sizes[rank++] = all.shape[b];
    if (d == x->ndim || all.indexed[d])
      continue;
    kept_dim[num_kept] = rank;
    kept_from[num_kept] = x->strides[d] * ft_element_size(x);
    kept[num_kept++] = x->shape[d];
    sizes[rank++] = x->shape[d];
  }
  if (rank > FT_KERNEL_DIMS)
    return call->fail(call, FT_ERROR_TENSOR, "its result has too many dims");
  DLTensor *result = call->result(call, 0, x->dtype, rank, sizes);
  if (!result)
    return FT_ERROR_TENSOR;
  int64_t element = ft_element_size(x), kept_to[FT_KERNEL_DIMS];
  for (int32_t d = 0; d < num_kept; ++d)
    kept_to[d] = result->strides[kept_dim[d]] * element;
  if (ft_kernel_numel(result) == 0)
    return FT_OK;
  for (ft_rows r = ft_rows_of(all.ndim, all.shape, NULL, NULL, NULL); !r.done;
       ft_next_row(&r))
    for (int64_t i = 0; i < r.length; ++i) {
      if (all.ndim)
        r.index[r.outer] = i;
      const char *from;
      if (!element_at(call, &all, r.index, &from))
        return FT_ERROR_INDEX;
      char *to = result->data;
      for (int32_t d = 0; d < all.ndim; ++d)
        to += r.index[d] * result->strides[place + d] * element;
      ft_copy_elements(num_kept, kept, to, kept_to, from, kept_from, element);
    }
  return FT_OK;
}
