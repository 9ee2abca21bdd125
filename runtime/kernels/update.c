/*===- update.c - Folding values into a tensor at indices ----------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Scatters, index_add, gradients of lookups: for each position of some loops,
 * in row-major order, a value is folded into one element of the result. Where
 * that stands is a loop or an element of an index tensor, for each dim.
 *
 *   result [rows, width], from = {index 0, loop 1}
 *   values [n, width], index 0 [n, 1]: the loops are [n, width]
 *   result[index[j], d] = fold(result[index[j], d], values[j, d])
 *
 * Values, mask and indices are aligned at the last loop and broadcast. So the
 * last of several assignments wins, and sums have one order. All indices are
 * checked before anything is written. Cost: elements of the result + updates.
 *
 * Threads divide a loop that is a dim of the result by itself: no two of them
 * write one element, and each element sees its updates in the same order.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/update.h"

#include "runtime/kernels/elements.h"
#include "runtime/kernels/kernels.h"

#include <complex.h>
#include <inttypes.h>
#include <stdio.h>

/*===- Folds --------------------------------------------------------------===*/

/* Folds n values, `step` bytes apart, into elements at `places` (in bytes from
 * `out`; negative: none), or without places at multiples of `out_step`. */
typedef void (*fold_fn)(char *out, int64_t out_step, const int64_t *places,
                        const char *values, int64_t step, int64_t n);

#define FOLD(name, T, result)                                                  \
  static void fold_##name(char *out, int64_t out_step, const int64_t *places,  \
                          const char *values, int64_t step, int64_t n) {       \
    const int64_t size = sizeof(T);                                            \
    if (places) {                                                              \
      for (int64_t i = 0; i < n; ++i) {                                        \
        if (places[i] < 0)                                                     \
          continue;                                                            \
        T *to = (T *)(out + places[i]), a = *to;                               \
        T v = *(const T *)(values + i * step);                                 \
        (void)a;                                                               \
        *to = (T)(result);                                                     \
      }                                                                        \
    } else if (out_step == size && step == size) {                             \
      T *restrict to = (T *)out;                                               \
      const T *restrict from = (const T *)values;                              \
      for (int64_t i = 0; i < n; ++i) {                                        \
        T a = to[i], v = from[i];                                              \
        (void)a;                                                               \
        to[i] = (T)(result);                                                   \
      }                                                                        \
    } else {                                                                   \
      for (int64_t i = 0; i < n; ++i) {                                        \
        T *to = (T *)(out + i * out_step), a = *to;                            \
        T v = *(const T *)(values + i * step);                                 \
        (void)a;                                                               \
        *to = (T)(result);                                                     \
      }                                                                        \
    }                                                                          \
  }

#define FOLDS(name, T, sum, product)                                           \
  FOLD(add_##name, T, sum)                                                     \
  FOLD(multiply_##name, T, product)
#define ORDERED_FOLDS(name, T)                                                 \
  FOLD(maximum_##name, T, a >= v || a != a ? a : v)                            \
  FOLD(minimum_##name, T, a <= v || a != a ? a : v)
/* Integers wrap around. */
#define INTEGER_FOLDS(name, T)                                                 \
  FOLDS(name, T, (uint64_t)a + (uint64_t)v, (uint64_t)a * (uint64_t)v)         \
  ORDERED_FOLDS(name, T)
#define REAL_FOLDS(name, T)                                                    \
  FOLDS(name, T, a + v, a * v)                                                 \
  ORDERED_FOLDS(name, T)

typedef float complex c64;
typedef double complex c128;

FOLD(assign_1, uint8_t, v)
FOLD(assign_2, uint16_t, v)
FOLD(assign_4, uint32_t, v)
FOLD(assign_8, uint64_t, v)
FOLD(assign_16, c128, v)
FOLD(or, uint8_t, a | v)
FOLD(and, uint8_t, a &v)
REAL_FOLDS(f32, float)
REAL_FOLDS(f64, double)
FOLDS(c64, c64, a + v, a *v)
FOLDS(c128, c128, a + v, a *v)
INTEGER_FOLDS(i8, int8_t)
INTEGER_FOLDS(i16, int16_t)
INTEGER_FOLDS(i32, int32_t)
INTEGER_FOLDS(i64, int64_t)
INTEGER_FOLDS(u8, uint8_t)
INTEGER_FOLDS(u16, uint16_t)
INTEGER_FOLDS(u32, uint32_t)
INTEGER_FOLDS(u64, uint64_t)

/* In the order of FT_UPDATE_ADD and what follows it. */
#define ALL_FOLDS(name)                                                        \
  {fold_add_##name, fold_multiply_##name, fold_maximum_##name,                 \
   fold_minimum_##name}

static fold_fn fold_of(int64_t fold, DLDataType dtype) {
  static const fold_fn kSigned[][4] = {ALL_FOLDS(i8), ALL_FOLDS(i16),
                                       ALL_FOLDS(i32), ALL_FOLDS(i64)};
  static const fold_fn kUnsigned[][4] = {ALL_FOLDS(u8), ALL_FOLDS(u16),
                                         ALL_FOLDS(u32), ALL_FOLDS(u64)};
  static const fold_fn kReal[][4] = {ALL_FOLDS(f32), ALL_FOLDS(f64)};
  static const fold_fn kComplex[][4] = {{fold_add_c64, fold_multiply_c64},
                                        {fold_add_c128, fold_multiply_c128}};
  static const fold_fn kBool[4] = {fold_or, fold_and, fold_or, fold_and};
  static const fold_fn kAssign[] = {fold_assign_1, fold_assign_2, fold_assign_4,
                                    fold_assign_8, fold_assign_16};
  /* 0 for 8 bits, 4 for 128. */
  int width = __builtin_ctz(dtype.bits) - 3;
  if (fold == FT_UPDATE_ASSIGN)
    return kAssign[width];
  fold -= FT_UPDATE_ADD;
  switch (dtype.code) {
  case FT_DL_BOOL:
    return kBool[fold];
  case kDLInt:
    return kSigned[width][fold];
  case kDLUInt:
    return kUnsigned[width][fold];
  case kDLFloat:
    return width < 2 ? NULL : kReal[width - 2][fold];
  case kDLComplex:
    return width < 3 ? NULL : kComplex[width - 3][fold];
  default:
    return NULL;
  }
}

/*===- What is walked -----------------------------------------------------===*/

/* The tensors of a walk: the result where loops are its dims, values, mask,
 * indices. */
enum { OUT, VALUES, MASK, INDEX, WALKED = INDEX + FT_KERNEL_DIMS };

typedef struct index_of {
  DLDataType dtype;
  int64_t stride; /* of its dim in the result, in bytes */
  int64_t size;   /* of its dim in the result */
} index_of;

typedef struct update {
  const ft_kernel_call *call;
  const DLTensor *out, *initial, *mask;
  fold_fn fold;
  int64_t flags, skip;
  ft_truth truth; /* of the mask */
  int32_t num_indices;
  const DLTensor *index_tensor[FT_KERNEL_DIMS];
  index_of index[FT_KERNEL_DIMS];
  int32_t loops, walked;
  int64_t size[FT_KERNEL_DIMS];
  char *base[WALKED];
  int64_t stride[WALKED][FT_KERNEL_DIMS]; /* in bytes */
  int32_t divided;                        /* the loop of threads, or -1 */
  bool varies; /* a mask or an index along the last loop */
} update;

static int64_t size_at(const DLTensor *t, int32_t loops, int32_t loop) {
  int32_t d = loop - (loops - t->ndim);
  return d < 0 ? 1 : t->shape[d];
}

static void broadcast(update *u, const DLTensor *t) {
  for (int32_t l = 0; l < u->loops; ++l)
    if (size_at(t, u->loops, l) != 1)
      u->size[l] = size_at(t, u->loops, l);
}

/* False if the tensor ends before the loops do. */
static bool walk(update *u, int32_t k, const DLTensor *t) {
  u->base[k] = t->data;
  for (int32_t l = 0; l < u->loops; ++l) {
    int32_t d = l - (u->loops - t->ndim);
    bool repeats = d < 0 || t->shape[d] == 1;
    if (!repeats && t->shape[d] < u->size[l])
      return false;
    u->stride[k][l] = repeats ? 0 : t->strides[d] * ft_element_size(t);
  }
  return true;
}

/* Takes loops of one step out, and makes one loop of two that are one for all
 * tensors, so that rows are long. */
static void simplify(update *u) {
  int32_t kept = 0;
  for (int32_t l = 0; l < u->loops; ++l) {
    if (u->size[l] == 1)
      continue;
    bool joins = kept > 0;
    for (int32_t k = 0; k < u->walked && joins; ++k)
      joins = u->stride[k][kept - 1] == u->stride[k][l] * u->size[l];
    int32_t to = joins ? kept - 1 : kept++;
    u->size[to] = u->size[l] * (joins ? u->size[to] : 1);
    for (int32_t k = 0; k < u->walked; ++k)
      u->stride[k][to] = u->stride[k][l];
  }
  if (kept == 0) {
    u->size[0] = 1;
    for (int32_t k = 0; k < u->walked; ++k)
      u->stride[k][0] = 0;
    kept = 1;
  }
  u->loops = kept;
  u->divided = -1;
  for (int32_t l = kept; l-- > 0;)
    if (u->stride[OUT][l])
      u->divided = l;
  u->varies = false;
  for (int32_t k = MASK; k < u->walked; ++k)
    u->varies |= u->stride[k][kept - 1] != 0;
}

static int32_t read_call(const ft_kernel_call *call, update *u) {
  int32_t tensors = 0;
  while (tensors < call->num_args && call->args[tensors].kind == FT_ARG_TENSOR)
    ++tensors;
  const ft_kernel_arg *number = call->args + tensors;
  u->call = call;
  u->out = &call->results[0];
  u->flags = number[1].integer;
  u->skip = number[2].integer;
  u->loops = (int32_t)number[3].integer;
  u->fold = fold_of(number[0].integer, u->out->dtype);
  if (!u->fold)
    return call->fail(call, FT_ERROR_TENSOR,
                      "no updates are defined for its dtype");
  int32_t next = 0;
  u->initial = u->flags & FT_UPDATE_INITIAL ? call->args[next++].tensor : NULL;
  const DLTensor *values = call->args[next++].tensor;
  u->mask = u->flags & FT_UPDATE_MASK ? call->args[next++].tensor : NULL;
  u->num_indices = tensors - next;
  for (int32_t k = 0; k < u->num_indices; ++k)
    u->index_tensor[k] = call->args[next + k].tensor;
  for (int32_t l = 0; l < u->loops; ++l)
    u->size[l] = 1;
  const ft_kernel_arg *from = number + 4;
  if (u->flags & FT_UPDATE_OWN) {
    broadcast(u, u->index_tensor[0]);
  } else {
    broadcast(u, values);
    if (u->mask)
      broadcast(u, u->mask);
    for (int32_t k = 0; k < u->num_indices; ++k)
      broadcast(u, u->index_tensor[k]);
  }
  u->base[OUT] = u->out->data;
  memset(u->stride[OUT], 0, sizeof u->stride[OUT]);
  bool fits = true;
  for (int32_t d = 0; d < u->out->ndim; ++d) {
    int64_t stride = u->out->strides[d] * ft_element_size(u->out);
    int64_t size = u->out->shape[d], at = from[d].integer;
    if (at >= 0) {
      u->index[at] = (index_of){u->index_tensor[at]->dtype, stride, size};
      continue;
    }
    int64_t loop = -1 - at;
    if (u->size[loop] == 1 && !(u->flags & FT_UPDATE_OWN))
      u->size[loop] = size;
    fits &= u->size[loop] <= size;
    u->stride[OUT][loop] = size == 1 ? 0 : stride;
  }
  u->walked = INDEX + u->num_indices;
  fits &= walk(u, VALUES, values);
  if (u->mask) {
    fits &= walk(u, MASK, u->mask);
    u->truth = ft_truth_of(u->mask->dtype);
  } else {
    u->base[MASK] = NULL;
    memset(u->stride[MASK], 0, sizeof u->stride[MASK]);
  }
  for (int32_t k = 0; k < u->num_indices; ++k)
    fits &= walk(u, INDEX + k, u->index_tensor[k]);
  return fits ? FT_OK
              : call->fail(call, FT_ERROR_TENSOR,
                           "the sizes of its values, indices and result do "
                           "not fit");
}

/*===- Indices ------------------------------------------------------------===*/

/* Indices are looked at in pieces of a row. */
enum { CHUNK = 256 };

#define READ(T)                                                                \
  for (int64_t i = 0; i < n; ++i)                                              \
    to[i] = (int64_t)*(const T *)(at + i * step);                              \
  break

/* n integers, `step` bytes apart: as they stand if they can, else in `to`. */
static const int64_t *integers_at(DLDataType dtype, const char *at,
                                  int64_t step, int64_t *to, int64_t n) {
  if (dtype.bits == 64 && step == sizeof *to)
    return (const int64_t *)at;
  bool is_signed = dtype.code == kDLInt;
  switch (dtype.bits) {
  case 64:
    READ(int64_t);
  case 32:
    if (is_signed)
      READ(int32_t);
    READ(uint32_t);
  case 16:
    if (is_signed)
      READ(int16_t);
    READ(uint16_t);
  default:
    if (is_signed)
      READ(int8_t);
    READ(uint8_t);
  }
  return to;
}

static int32_t fail_index(const update *u, int64_t value, int64_t size) {
  char text[96];
  snprintf(text, sizeof text,
           "index %" PRId64 " is out of range for size %" PRId64, value, size);
  return u->call->fail(u->call, FT_ERROR_INDEX, text);
}

static int32_t check_index(const update *u, int32_t k) {
  const DLTensor *t = u->index_tensor[k];
  int64_t size = u->index[k].size, low = u->flags & FT_UPDATE_WRAP ? -size : 0;
  uint64_t range = (uint64_t)(size - low);
  /* Indices of updates that are left out may be anything. */
  const DLTensor *mask = u->mask;
  int64_t buffer[CHUNK];
  for (ft_rows r = mask ? ft_rows_of(u->loops, u->size, t, mask, NULL)
                        : ft_rows_of(t->ndim, t->shape, t, NULL, NULL);
       !r.done; ft_next_row(&r)) {
    const char *at = (const char *)t->data + r.offset[0];
    const char *on = mask ? (const char *)mask->data + r.offset[1] : NULL;
    for (int64_t first = 0; first < r.length; first += CHUNK) {
      int64_t n = r.length - first < CHUNK ? r.length - first : CHUNK;
      const int64_t *values =
          integers_at(t->dtype, at + first * r.step[0], r.step[0], buffer, n);
      bool outside = false;
      for (int64_t i = 0; i < n; ++i)
        outside |= (uint64_t)values[i] - (uint64_t)low >= range;
      for (int64_t i = 0; outside && i < n; ++i) {
        bool left_out =
            (mask && !ft_is_true(u->truth, on + (first + i) * r.step[1])) ||
            (u->flags & FT_UPDATE_SKIP && values[i] == u->skip);
        if (!left_out && (uint64_t)values[i] - (uint64_t)low >= range)
          return fail_index(u, values[i], size);
      }
    }
  }
  return FT_OK;
}

/*===- The start ----------------------------------------------------------===*/

static bool is_dense(const DLTensor *t) {
  int64_t stride = 1;
  for (int32_t d = t->ndim; d-- > 0;) {
    if (t->shape[d] != 1 && t->strides[d] != stride)
      return false;
    stride *= t->shape[d];
  }
  return true;
}

static void start_range(void *args, int64_t lo, int64_t hi) {
  const update *u = args;
  char *to = (char *)u->out->data + lo;
  if (u->initial)
    memcpy(to, (const char *)u->initial->data + lo, (size_t)(hi - lo));
  else
    memset(to, 0, (size_t)(hi - lo));
}

static void start(update *u) {
  const DLTensor *out = u->out, *initial = u->initial;
  int64_t size = ft_element_size(out);
  if (is_dense(out) && (!initial || is_dense(initial))) {
    u->call->parallel_for(u->call, start_range, u, ft_kernel_numel(out) * size,
                          1 << 20);
    return;
  }
  static const char kZero[16];
  int64_t to[FT_KERNEL_DIMS], from[FT_KERNEL_DIMS];
  for (int32_t d = 0; d < out->ndim; ++d) {
    to[d] = out->strides[d] * size;
    from[d] = initial ? initial->strides[d] * size : 0;
  }
  ft_copy_elements(out->ndim, out->shape, out->data, to,
                   initial ? initial->data : kZero, from, size);
}

/*===- The updates --------------------------------------------------------===*/

/* Adds to places (in bytes) what index k says. */
static void add_places(const update *u, int32_t k, const char *at, int64_t step,
                       int64_t *places, int64_t n) {
  const index_of *index = &u->index[k];
  uint64_t wrap = (uint64_t)index->size, stride = (uint64_t)index->stride;
  int64_t buffer[CHUNK];
  const int64_t *values = integers_at(index->dtype, at, step, buffer, n);
  /* In unsigned numbers: what a mask leaves out may be anything. */
  if (u->flags & FT_UPDATE_WRAP)
    for (int64_t i = 0; i < n; ++i) {
      uint64_t row = (uint64_t)values[i] + (values[i] < 0 ? wrap : 0);
      places[i] = (int64_t)((uint64_t)places[i] + row * stride);
    }
  else
    for (int64_t i = 0; i < n; ++i)
      places[i] = (int64_t)((uint64_t)places[i] + (uint64_t)values[i] * stride);
  if (u->flags & FT_UPDATE_SKIP)
    for (int64_t i = 0; i < n; ++i)
      if (values[i] == u->skip)
        places[i] = INT64_MIN / 2;
}

/* One row, from where `at` points. */
static void update_row(const update *u, char *const *at, int64_t n) {
  int64_t step[WALKED], places[CHUNK];
  int32_t last = u->loops - 1;
  for (int32_t k = 0; k < u->walked; ++k)
    step[k] = u->stride[k][last];
  if (!u->varies) {
    places[0] = 0;
    if (u->mask && !ft_is_true(u->truth, at[MASK]))
      return;
    for (int32_t k = 0; k < u->num_indices; ++k)
      add_places(u, k, at[INDEX + k], 0, places, 1);
    if (places[0] >= 0)
      u->fold(at[OUT] + places[0], step[OUT], NULL, at[VALUES], step[VALUES],
              n);
    return;
  }
  for (int64_t first = 0; first < n; first += CHUNK) {
    int64_t count = n - first < CHUNK ? n - first : CHUNK;
    for (int64_t i = 0; i < count; ++i)
      places[i] = (first + i) * step[OUT];
    for (int32_t k = 0; k < u->num_indices; ++k)
      add_places(u, k, at[INDEX + k] + first * step[INDEX + k], step[INDEX + k],
                 places, count);
    if (u->mask)
      for (int64_t i = 0; i < count; ++i)
        if (!ft_is_true(u->truth, at[MASK] + (first + i) * step[MASK]))
          places[i] = -1;
    u->fold(at[OUT], 0, places, at[VALUES] + first * step[VALUES], step[VALUES],
            count);
  }
}

/* Steps lo … hi of the divided loop, all of the others. */
static void update_range(void *args, int64_t lo, int64_t hi) {
  const update *u = args;
  int64_t size[FT_KERNEL_DIMS], index[FT_KERNEL_DIMS];
  char *at[WALKED];
  int32_t last = u->loops - 1;
  for (int32_t l = 0; l <= last; ++l) {
    size[l] = l == u->divided ? hi - lo : u->size[l];
    index[l] = 0;
  }
  for (int32_t k = 0; k < u->walked; ++k)
    at[k] = u->base[k] + (u->divided >= 0 ? lo * u->stride[k][u->divided] : 0);
  for (;;) {
    update_row(u, at, size[last]);
    int32_t l = last - 1;
    for (; l >= 0; --l) {
      for (int32_t k = 0; k < u->walked; ++k)
        at[k] += u->stride[k][l];
      if (++index[l] < size[l])
        break;
      for (int32_t k = 0; k < u->walked; ++k)
        at[k] -= u->stride[k][l] * size[l];
      index[l] = 0;
    }
    if (l < 0)
      return;
  }
}

/* The start (if flagged), values, mask (if flagged), indices; fold, flags,
 * skip, number of loops, and for each dim of the result: the index tensor that
 * it is read from, or -1 - its loop. */
int32_t ft_k_update(const ft_kernel_call *call) {
  update u;
  int32_t code = read_call(call, &u);
  if (code != FT_OK)
    return code;
  int64_t updates = 1;
  for (int32_t l = 0; l < u.loops; ++l)
    updates *= u.size[l];
  for (int32_t k = 0; k < u.num_indices && updates; ++k)
    if ((code = check_index(&u, k)) != FT_OK)
      return code;
  start(&u);
  if (updates == 0)
    return FT_OK;
  simplify(&u);
  int64_t steps = u.divided < 0 ? 1 : u.size[u.divided];
  int64_t grain = 1 + 32768 / (updates / steps);
  if (steps <= grain)
    update_range(&u, 0, steps);
  else
    call->parallel_for(call, update_range, &u, steps, grain);
  return FT_OK;
}
