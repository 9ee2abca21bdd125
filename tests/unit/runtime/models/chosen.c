/* chosen.c - y[2, found] = the rows x and -x of the positive elements of x, the
 * output's memory asked for when their number is known.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/src/abi.h"

enum { N, FOUND };

int ft_gen_forward(ft_exec *exec, void *const *inputs, void *const *outputs,
                   unsigned char *arena, const unsigned char *weights,
                   unsigned char *state, int64_t *sizes) {
  const float *x = inputs[0];
  float *kept = ft_rt_temporary(exec, 4 * sizes[N]);
  if (!kept)
    return FT_ERROR_MEMORY;
  for (int64_t i = 0; i < sizes[N]; ++i)
    if (x[i] > 0)
      kept[sizes[FOUND]++] = x[i];
  int64_t n = sizes[FOUND], shape[2] = {2, n}, strides[2] = {1, 2};
  float *y = ft_rt_output(exec, 0, shape, strides);
  if (!y)
    return FT_ERROR_MEMORY;
  for (int64_t i = 0; i < n; ++i) {
    y[2 * i] = kept[i];
    y[2 * i + 1] = -kept[i];
  }
  return 0;
}

int ft_gen_sizes(ft_exec *exec, const int64_t *sizes, int64_t *layout) {
  layout[0] = sizes[N];
  layout[1] = 1;
  layout[2] = 2;
  layout[3] = -1;
  layout[4] = 1;
  layout[5] = 2;
  layout[6] = 0;
  return 0;
}
