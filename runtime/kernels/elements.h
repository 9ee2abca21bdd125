/*===- elements.h - Elements of any dtype --------------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels that select, sort or count look at elements in three ways: is it
 * zero, in what order do two stand, where does it go. Each is said once here,
 * in terms of the bits, so that such a kernel is written once for all dtypes.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNELS_ELEMENTS_H
#define FORETRACE_RUNTIME_KERNELS_ELEMENTS_H

#include "foretrace/kernel.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { FT_KERNEL_DIMS = 64 };

static inline int64_t ft_element_size(const DLTensor *t) {
  return t->dtype.bits / 8;
}

/* The bits of an element of at most 64. */
static inline uint64_t ft_bits_at(const char *at, int64_t size) {
  uint64_t bits = 0;
  switch (size) {
  case 1:
    return *(const uint8_t *)at;
  case 2: {
    uint16_t b;
    memcpy(&b, at, 2);
    return b;
  }
  case 4: {
    uint32_t b;
    memcpy(&b, at, 4);
    return b;
  }
  default:
    memcpy(&bits, at, 8);
    return bits;
  }
}

/* What of an element's bits makes it differ from zero: not the sign of a float
 * (of each part of a complex number). */
typedef struct ft_truth {
  uint64_t mask;
  int64_t size; /* of one load, at most 8 */
  bool pair;    /* a second load follows: complex128 */
} ft_truth;

static inline ft_truth ft_truth_of(DLDataType dtype) {
  ft_truth t = {~(uint64_t)0, dtype.bits / 8, false};
  uint64_t sign = (uint64_t)1 << (dtype.bits % 64 ? dtype.bits - 1 : 63);
  if (dtype.code == kDLFloat || dtype.code == kDLBfloat)
    t.mask = ~sign;
  if (dtype.code == kDLComplex) {
    t.pair = dtype.bits == 128;
    t.size = t.pair ? 8 : dtype.bits / 8;
    t.mask = t.pair             ? ~((uint64_t)1 << 63)
             : dtype.bits == 64 ? 0x7fffffff7fffffffu
                                : 0x7fff7fffu;
  }
  return t;
}

static inline bool ft_is_true(ft_truth t, const char *at) {
  uint64_t bits = ft_bits_at(at, t.size) & t.mask;
  if (t.pair)
    bits |= ft_bits_at(at + 8, 8) & t.mask;
  return bits != 0;
}

/* A number that orders elements of a dtype (not complex) as they are ordered:
 * zeros of both signs are equal, NaN comes last. */
static inline uint64_t ft_order_key(DLDataType dtype, const char *at) {
  uint64_t bits = ft_bits_at(at, dtype.bits / 8);
  uint64_t sign = (uint64_t)1 << (dtype.bits - 1);
  if (dtype.code == kDLInt)
    return bits ^ sign;
  if (dtype.code != kDLFloat && dtype.code != kDLBfloat)
    return bits;
  uint64_t infinity = dtype.code == kDLBfloat ? 0x7f80u
                      : dtype.bits == 16      ? 0x7c00u
                      : dtype.bits == 32      ? 0x7f800000u
                                              : 0x7ff0000000000000u;
  if ((bits & ~sign) > infinity)
    return ~(uint64_t)0;
  if ((bits & ~sign) == 0)
    return sign;
  return bits & sign ? 2 * sign - 1 - bits : bits | sign;
}
/* The key of NaN, which equals nothing, itself included. */
static inline bool ft_key_is_nan(DLDataType dtype, uint64_t key) {
  return (dtype.code == kDLFloat || dtype.code == kDLBfloat) &&
         key == ~(uint64_t)0;
}

/* An element of an integer tensor. */
static inline int64_t ft_integer_at(DLDataType dtype, const char *at) {
  uint64_t bits = ft_bits_at(at, dtype.bits / 8);
  if (dtype.code == kDLInt && dtype.bits < 64) {
    uint64_t sign = (uint64_t)1 << (dtype.bits - 1);
    return (int64_t)((bits ^ sign) - sign);
  }
  return (int64_t)bits;
}

static inline void ft_copy_element(char *to, const char *from, int64_t size) {
  switch (size) {
  case 1:
    *to = *from;
    break;
  case 2:
    memcpy(to, from, 2);
    break;
  case 4:
    memcpy(to, from, 4);
    break;
  case 8:
    memcpy(to, from, 8);
    break;
  default:
    memcpy(to, from, (size_t)size);
    break;
  }
}

/* Walks positions of a shape in row-major order, one row of the last dim after
 * the other, with the offset in bytes of each in some tensors.
 *
 *   for (ft_rows r = ft_rows_of(n, shape, …); !r.done; ft_next_row(&r))
 *     for (int64_t i = 0; i < r.length; ++i)
 *       … t0 + r.offset[0] + i * r.step[0] …
 *
 * A shape with a 0 has no rows; no dims are one row of one element. */
enum { FT_WALKED = 3 };
typedef struct ft_rows {
  int32_t outer; /* dims around the row */
  const int64_t *shape;
  int64_t length;
  int64_t index[FT_KERNEL_DIMS];
  int64_t offset[FT_WALKED];
  int64_t step[FT_WALKED];
  int64_t stride[FT_WALKED][FT_KERNEL_DIMS]; /* in bytes */
  bool done;
} ft_rows;

/* Tensors (NULL: none) are aligned at the last dim and broadcast to `shape`. */
ft_rows ft_rows_of(int32_t ndim, const int64_t *shape, const DLTensor *t0,
                   const DLTensor *t1, const DLTensor *t2);
void ft_next_row(ft_rows *rows);

/* Counts the elements that are true of a tensor broadcast to `shape`. */
int64_t ft_count_true(const DLTensor *t, int32_t ndim, const int64_t *shape);
/* Writes where the true elements of a tensor are, in row-major order: dim d of
 * the i-th to to[i * next + d * across]. Returns their number. */
int64_t ft_list_true(const DLTensor *t, int64_t *to, int64_t next,
                     int64_t across);

/* Copies elements of one shape from strides to strides (in bytes). */
void ft_copy_elements(int32_t ndim, const int64_t *shape, char *to,
                      const int64_t *to_strides, const char *from,
                      const int64_t *from_strides, int64_t size);

/* The scratch that lowering planned: the last result, its first piece. */
static inline char *ft_scratch_memory(const ft_kernel_call *call) {
  return (char *)call->results[call->num_results - 1].data;
}

#endif /* FORETRACE_RUNTIME_KERNELS_ELEMENTS_H */
