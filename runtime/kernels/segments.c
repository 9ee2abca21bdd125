/*===- segments.c - Rows that belong together ----------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Bags of embedding_bag, segments of segment_reduce: consecutive rows, given
 * by where they start or how long they are. Which segment a row is in is found
 * in one pass; what is done with it is a fold at indices (update.c).
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/elements.h"
#include "runtime/kernels/kernels.h"

static int64_t integer_at(const DLTensor *t, int64_t i) {
  return ft_integer_at(t->dtype, (const char *)t->data +
                                     i * t->strides[0] * ft_element_size(t));
}

/* starts or lengths, whether they are lengths, number of segments -> the
 * segment of each row, -1 if there is none. A start behind those of the
 * segments ends the last one. */
int32_t ft_k_segment_of(const ft_kernel_call *call) {
  const DLTensor *given = call->args[0].tensor;
  bool by_length = call->args[1].integer;
  int64_t count = call->args[2].integer, known = given->shape[0];
  const DLTensor *result = &call->results[0];
  int64_t *to = result->data, step = result->strides[0];
  int64_t rows = result->shape[0], segment = -1, next = 0;
  if (by_length) {
    for (int64_t s = 0; s < count && s < known; ++s)
      for (int64_t n = integer_at(given, s); n > 0 && next < rows; --n)
        to[next++ * step] = s;
    for (; next < rows; ++next)
      to[next * step] = -1;
    return FT_OK;
  }
  for (int64_t row = 0; row < rows; ++row) {
    while (next < known && integer_at(given, next) <= row)
      segment = next++;
    to[row * step] = segment < count ? segment : -1;
  }
  return FT_OK;
}

/* A bag starts with its first row and takes what is larger; a NaN is taken only
 * as the first, as PyTorch's kernel has it. */
#define MAXIMA(T)                                                              \
  do {                                                                         \
    const T *from = (const T *)rows->data + row * rows->strides[0];            \
    T *best = (T *)out->data + bag * out->strides[0];                          \
    int64_t *where = (int64_t *)most->data + bag * most->strides[0];           \
    for (int64_t d = 0; d < rows->shape[1]; ++d) {                             \
      T v = from[d * rows->strides[1]], *b = best + d * out->strides[1];       \
      if (fresh || v > *b) {                                                   \
        *b = v;                                                                \
        where[d * most->strides[1]] = word;                                    \
      }                                                                        \
    }                                                                          \
  } while (0)

/* rows [n, width] (float32 or float64), the bag of each (or -1), its word
 * (integers), a word that is left out -> maxima of each bag, words where they
 * stand (int64), number of rows of each bag (int64) */
int32_t ft_k_bag_maxima(const ft_kernel_call *call) {
  const DLTensor *rows = call->args[0].tensor, *bags = call->args[1].tensor;
  const DLTensor *words = call->args[2].tensor;
  int64_t padding = call->args[3].integer;
  const DLTensor *out = &call->results[0], *most = &call->results[1];
  const DLTensor *counts = &call->results[2];
  int64_t num_bags = out->shape[0];
  for (int64_t b = 0; b < num_bags; ++b) {
    ((int64_t *)counts->data)[b * counts->strides[0]] = 0;
    for (int64_t d = 0; d < out->shape[1]; ++d) {
      int64_t at = b * out->strides[0] + d * out->strides[1];
      if (out->dtype.bits == 64)
        ((double *)out->data)[at] = 0;
      else
        ((float *)out->data)[at] = 0;
      ((int64_t *)most->data)[b * most->strides[0] + d * most->strides[1]] = 0;
    }
  }
  for (int64_t row = 0; row < rows->shape[0]; ++row) {
    int64_t bag = integer_at(bags, row), word = integer_at(words, row);
    if (bag < 0 || bag >= num_bags || word == padding)
      continue;
    int64_t *count = (int64_t *)counts->data + bag * counts->strides[0];
    bool fresh = (*count)++ == 0;
    if (rows->dtype.bits == 64)
      MAXIMA(double);
    else
      MAXIMA(float);
  }
  return FT_OK;
}
