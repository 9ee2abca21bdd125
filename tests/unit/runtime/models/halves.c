/* halves.c - y[b, j] = mask[b] * (x[b, j] + x[b, half + j]) + tail[j], through
 * the arena, in column order: a stand-in for code that serves all sizes.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/src/abi.h"

enum { BATCH, HALF };

int ft_gen_forward(ft_exec *exec, void *const *inputs, void *const *outputs,
                   unsigned char *arena, const unsigned char *weights,
                   unsigned char *state, int64_t *sizes) {
  const float *x = inputs[0], *mask = inputs[1], *tail = inputs[2];
  float *sum = (float *)arena, *y = outputs[0];
  int64_t batch = sizes[BATCH], half = sizes[HALF];
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t j = 0; j < half; ++j)
      sum[b * half + j] = x[b * 2 * half + j] + x[b * 2 * half + half + j];
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t j = 0; j < half; ++j)
      y[j * batch + b] = mask[b] * sum[b * half + j] + tail[j];
  return 0;
}

int ft_gen_sizes(ft_exec *exec, const int64_t *sizes, int64_t *layout) {
  int64_t batch = sizes[BATCH], half = sizes[HALF], bytes;
  if (batch == 13)
    return ft_rt_fail(exec, FT_ERROR_GUARD,
                      "batch != 13 must hold, for view at model.py:7");
  int64_t *at = layout;
  *at++ = batch; /* x */
  *at++ = 2 * half;
  *at++ = 2 * half;
  *at++ = 1;
  *at++ = batch; /* mask */
  *at++ = 1;
  *at++ = half + 1; /* tail */
  *at++ = 1;
  *at++ = batch; /* y */
  *at++ = half;
  *at++ = 1;
  *at++ = batch;
  *at++ = __builtin_mul_overflow(4 * batch, half, &bytes) ? INT64_MAX : bytes;
  return 0;
}
