/*===- tensor.c - Checks and copies of the caller's tensors --------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tensor is accepted when dtype, rank, sizes and device are the model's and
 * its memory can be read (or written) without doubt. Strides may differ from
 * the traced ones: then it is copied to or from the traced layout.
 *===----------------------------------------------------------------------===*/
#include "internal.h"

#include <inttypes.h>

size_t ft_element_bytes(DLDataType dtype) {
  return ((size_t)dtype.bits * dtype.lanes + 7) / 8;
}

int64_t ft_count_elements(const ft_value_info *info) {
  int64_t count = 1;
  for (int32_t i = 0; i < info->ndim; ++i)
    count *= info->sizes[i];
  return count;
}

size_t ft_layout_bytes(const ft_value_info *info) {
  if (ft_count_elements(info) == 0)
    return 0;
  int64_t last = 0;
  for (int32_t i = 0; i < info->ndim; ++i)
    last += (info->sizes[i] - 1) * info->strides[i];
  return (size_t)(last + 1) * ft_element_bytes(info->dtype);
}

bool ft_layout_fits(const ft_value_info *info) {
  const int64_t most = INT64_MAX / 4; /* with what is added for alignment */
  int64_t bytes = (int64_t)ft_element_bytes(info->dtype), count = bytes;
  int64_t span = bytes;
  for (int32_t i = 0; i < info->ndim; ++i)
    if (info->sizes[i] <= 0)
      return true;
  for (int32_t i = 0; i < info->ndim; ++i) {
    int64_t reach;
    if (__builtin_mul_overflow(count, info->sizes[i], &count) || count > most ||
        info->strides[i] < 0 ||
        __builtin_mul_overflow(info->sizes[i] - 1, info->strides[i], &reach) ||
        __builtin_mul_overflow(reach, bytes, &reach) ||
        __builtin_add_overflow(span, reach, &span) || span > most)
      return false;
  }
  return true;
}

void ft_row_major(const ft_value_info *info, int64_t *strides) {
  int64_t step = 1;
  for (int32_t i = info->ndim; i-- > 0;) {
    strides[i] = step;
    step *= info->sizes[i] > 0 ? info->sizes[i] : 1;
  }
}

/* The stride of one dim of a tensor whose sizes are those of `info`. */
static int64_t stride_of(const ft_value_info *info, const DLTensor *tensor,
                         int32_t dim) {
  if (tensor->strides)
    return tensor->strides[dim];
  int64_t step = 1;
  for (int32_t i = dim + 1; i < info->ndim; ++i)
    step *= info->sizes[i];
  return step;
}

bool ft_is_found(const ft_value_info *info) {
  for (int32_t i = 0; i < info->ndim; ++i)
    if (info->sizes[i] < 0)
      return true;
  return false;
}

bool ft_has_layout(const ft_value_info *info, const DLTensor *tensor) {
  if (ft_count_elements(info) == 0)
    return true;
  for (int32_t i = 0; i < info->ndim; ++i)
    if (info->sizes[i] != 1 && stride_of(info, tensor, i) != info->strides[i])
      return false;
  return true;
}

/*===- Checks -------------------------------------------------------------===*/

static bool same_shape(const ft_value_info *info, const DLTensor *tensor) {
  if (tensor->ndim != info->ndim)
    return false;
  for (int32_t i = 0; i < info->ndim; ++i)
    if (info->sizes[i] >= 0 && tensor->shape[i] != info->sizes[i])
      return false;
  return true;
}

static bool wrong_type(const char *what, const ft_value_info *info,
                       const DLTensor *tensor, ft_status *status) {
  ft_text expected = {.size = 0}, got = {.size = 0};
  ft_text_add_dtype(&expected, info->dtype);
  ft_text_add(&expected, " ");
  ft_text_add_dims(&expected, info);
  ft_text_add_dtype(&got, tensor->dtype);
  ft_text_add(&got, " ");
  ft_text_add_list(&got, tensor->shape, tensor->ndim);
  return ft_fail(status, FT_ERROR_TENSOR, "%s \"%s\": expected %s, got %s",
                 what, info->name, expected.chars, got.chars);
}

/* Do two elements of the tensor surely lie apart? Sufficient, in the usual
 * sense: from the smallest stride up, each exceeds all that is below it. */
static bool elements_apart(const ft_value_info *info, const DLTensor *tensor) {
  int64_t covered = 0; /* offset of the last element of the dims done */
  uint64_t done = 0;
  for (int32_t round = 0; round < info->ndim; ++round) {
    int32_t best = -1;
    int64_t best_stride = 0;
    for (int32_t i = 0; i < info->ndim; ++i) {
      if ((done >> i & 1) || info->sizes[i] == 1)
        continue;
      int64_t stride = stride_of(info, tensor, i);
      if (best < 0 || stride < best_stride) {
        best = i;
        best_stride = stride;
      }
    }
    if (best < 0)
      return true;
    if (best_stride <= covered)
      return false;
    covered += (info->sizes[best] - 1) * best_stride;
    done |= (uint64_t)1 << best;
  }
  return true;
}

static bool check_memory(const char *what, const ft_value_info *info,
                         const DLTensor *tensor, bool written, ft_span *span,
                         ft_status *status) {
  size_t element = ft_element_bytes(info->dtype);
  int64_t last = 0;
  for (int32_t i = 0; i < info->ndim; ++i) {
    int64_t stride = stride_of(info, tensor, i);
    int64_t reach;
    if (info->sizes[i] == 1)
      continue;
    if (stride < 0)
      return ft_fail(status, FT_ERROR_TENSOR,
                     "%s \"%s\": stride %" PRId64
                     " of dim %d is negative; pass a copy without gaps",
                     what, info->name, stride, i);
    if (__builtin_mul_overflow(info->sizes[i] - 1, stride, &reach) ||
        __builtin_add_overflow(last, reach, &last) || last > INT64_MAX / 32)
      return ft_fail(status, FT_ERROR_TENSOR,
                     "%s \"%s\": stride %" PRId64 " of dim %d is too large",
                     what, info->name, stride, i);
  }
  if (!tensor->data)
    return ft_fail(status, FT_ERROR_TENSOR, "%s \"%s\": data is null", what,
                   info->name);
  span->data = (uint8_t *)tensor->data + tensor->byte_offset;
  span->bytes = (size_t)(last + 1) * element;
  /* The parts of a complex number are what must be aligned. */
  size_t alignment = info->dtype.code == kDLComplex ? element / 2 : element;
  if ((uintptr_t)span->data % alignment)
    return ft_fail(status, FT_ERROR_TENSOR,
                   "%s \"%s\": data is not aligned to %zu bytes", what,
                   info->name, alignment);
  if (written && !elements_apart(info, tensor)) {
    ft_text strides = {.size = 0};
    ft_text_add_list(&strides, tensor->strides, info->ndim);
    return ft_fail(status, FT_ERROR_TENSOR,
                   "%s \"%s\": elements overlap in memory with strides %s, so "
                   "it cannot be written",
                   what, info->name, strides.chars);
  }
  return true;
}

bool ft_check_kind(const char *what, const ft_value_info *info,
                   const DLTensor *tensor, ft_status *status) {
  if (tensor->ndim < 0 || (tensor->ndim > 0 && !tensor->shape))
    return ft_fail(status, FT_ERROR_TENSOR,
                   "%s \"%s\": rank %d without a shape", what, info->name,
                   tensor->ndim);
  if (tensor->dtype.code != info->dtype.code ||
      tensor->dtype.bits != info->dtype.bits ||
      tensor->dtype.lanes != info->dtype.lanes || !same_shape(info, tensor))
    return wrong_type(what, info, tensor, status);
  /* Models for a GPU copy tensors of the host. */
  if (tensor->device.device_type != kDLCPU &&
      (tensor->device.device_type != info->device.device_type ||
       tensor->device.device_id != info->device.device_id)) {
    ft_text expected = {.size = 0}, got = {.size = 0};
    ft_text_add_device(&expected, info->device);
    ft_text_add_device(&got, tensor->device);
    return ft_fail(status, FT_ERROR_TENSOR,
                   "%s \"%s\": expected a tensor on %s, got one on %s", what,
                   info->name, expected.chars, got.chars);
  }
  return true;
}

bool ft_check_tensor(const char *what, const ft_value_info *info,
                     const DLTensor *tensor, bool written, ft_span *span,
                     ft_status *status) {
  span->data = NULL;
  span->bytes = 0;
  if (!ft_check_kind(what, info, tensor, status))
    return false;
  if (ft_count_elements(info) == 0)
    return true;
  return check_memory(what, info, tensor, written, span, status);
}

/*===- Copies -------------------------------------------------------------===*/

typedef struct copy_dim {
  int64_t size;
  int64_t to; /* strides in bytes */
  int64_t from;
} copy_dim;

static void copy_row(uint8_t *to, int64_t to_step, const uint8_t *from,
                     int64_t from_step, int64_t n, size_t element) {
  if (to_step == (int64_t)element && from_step == (int64_t)element) {
    memcpy(to, from, (size_t)n * element);
    return;
  }
#define FT_COPY_ELEMENTS(bytes)                                                \
  for (int64_t i = 0; i < n; ++i)                                              \
  memcpy(to + i * to_step, from + i * from_step, bytes)
  switch (element) {
  case 1:
    FT_COPY_ELEMENTS(1);
    break;
  case 2:
    FT_COPY_ELEMENTS(2);
    break;
  case 4:
    FT_COPY_ELEMENTS(4);
    break;
  case 8:
    FT_COPY_ELEMENTS(8);
    break;
  default:
    FT_COPY_ELEMENTS(element);
    break;
  }
#undef FT_COPY_ELEMENTS
}

/* Loops over the dims in the order of the target's strides, so that writes
 * advance; dims that continue each other on both sides become one. */
static void copy_strided(const ft_value_info *info, uint8_t *to,
                         const DLTensor *to_tensor, const uint8_t *from,
                         const DLTensor *from_tensor) {
  size_t element = ft_element_bytes(info->dtype);
  copy_dim dims[64];
  int32_t rank = 0;
  for (int32_t i = 0; i < info->ndim; ++i) {
    if (info->sizes[i] == 0)
      return;
    if (info->sizes[i] == 1)
      continue;
    copy_dim dim = {
        info->sizes[i],
        to_tensor ? stride_of(info, to_tensor, i) : info->strides[i],
        from_tensor ? stride_of(info, from_tensor, i) : info->strides[i]};
    dim.to *= (int64_t)element;
    dim.from *= (int64_t)element;
    int32_t at = rank++;
    for (; at > 0 && dims[at - 1].to < dim.to; --at)
      dims[at] = dims[at - 1];
    dims[at] = dim;
  }
  int32_t merged = 0;
  for (int32_t i = 1; i < rank; ++i) {
    copy_dim *outer = &dims[merged];
    if (outer->to == dims[i].size * dims[i].to &&
        outer->from == dims[i].size * dims[i].from) {
      outer->size *= dims[i].size;
      outer->to = dims[i].to;
      outer->from = dims[i].from;
    } else {
      dims[++merged] = dims[i];
    }
  }
  if (rank == 0) {
    memcpy(to, from, element);
    return;
  }
  rank = merged + 1;
  const copy_dim *row = &dims[rank - 1];
  int64_t index[64] = {0};
  for (;;) {
    copy_row(to, row->to, from, row->from, row->size, element);
    int32_t d = rank - 2;
    for (; d >= 0; --d) {
      to += dims[d].to;
      from += dims[d].from;
      if (++index[d] < dims[d].size)
        break;
      to -= dims[d].to * dims[d].size;
      from -= dims[d].from * dims[d].size;
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

void ft_copy_in(const ft_value_info *info, void *packed, const DLTensor *from) {
  copy_strided(info, packed, NULL,
               (const uint8_t *)from->data + from->byte_offset, from);
}

void ft_copy_out(const ft_value_info *info, const void *packed, DLTensor *to) {
  copy_strided(info, (uint8_t *)to->data + to->byte_offset, to, packed, NULL);
}
