/*===- quantile.c - Quantiles of rows ------------------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/kernels.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST };

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The place of q among n sorted numbers. PyTorch rounds q to the tensor's
 * dtype, but not the product: as float32, 0.1 of 11 numbers lies above 1. */
static double place_of(double q, int64_t n, int single) {
  return (single ? (double)(float)q : q) * (double)(n - 1);
}

static double quantile(const double *sorted, double place, int64_t mode) {
  double low = floor(place), high = ceil(place);
  if (mode == NEAREST)
    return sorted[(int64_t)nearbyint(place)];
  if (mode == LOWER || mode == HIGHER)
    return sorted[(int64_t)(mode == LOWER ? low : high)];
  double weight = mode == MIDPOINT ? 0.5 : place - low;
  double a = sorted[(int64_t)low], b = sorted[(int64_t)high];
  return weight < 0.5 ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}

int32_t ft_k_quantile(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor, *q = call->args[1].tensor;
  int ignore_nan = call->args[2].integer != 0;
  int64_t mode = call->args[3].integer;
  int single = call->args[4].integer != 0;
  int64_t rows = x->shape[0], n = x->shape[1], count = q->shape[0];
  const double *row = x->data, *wanted = q->data;
  double *out = call->results[0].data, *sorted = call->results[1].data;
  for (int64_t r = 0; r < rows; ++r, row += n) {
    int64_t numbers = 0;
    for (int64_t i = 0; i < n; ++i)
      if (!isnan(row[i]))
        sorted[numbers++] = row[i];
    int none = numbers == 0 || (!ignore_nan && numbers < n);
    if (!none)
      qsort(sorted, (size_t)numbers, sizeof *sorted, ascending);
    for (int64_t k = 0; k < count; ++k) {
      if (!(wanted[k] >= 0 && wanted[k] <= 1))
        return call->fail(call, FT_ERROR_TENSOR, "q is not between 0 and 1");
      double y = NAN;
      if (!none)
        y = quantile(sorted, place_of(wanted[k], numbers, single), mode);
      out[k * rows + r] = y;
    }
  }
  return FT_OK;
}
