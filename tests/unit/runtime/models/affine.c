/* affine.c - y = x * scale + shift, row by row in parallel: a stand-in for
 * generated code that reads weights.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/src/abi.h"

enum { COLUMNS = 3 };

struct frame {
  const float *x, *scale, *shift;
  float *y;
};

static void rows(void *args, int64_t lo, int64_t hi) {
  struct frame *f = args;
  for (int64_t r = lo; r < hi; ++r)
    for (int64_t c = 0; c < COLUMNS; ++c)
      f->y[r * COLUMNS + c] = f->x[r * COLUMNS + c] * f->scale[c] + f->shift[c];
}

int ft_gen_forward(ft_exec *exec, void *const *inputs, void *const *outputs,
                   unsigned char *arena, const unsigned char *weights,
                   unsigned char *state, int64_t *sizes) {
  struct frame f = {inputs[0], (const float *)weights,
                    (const float *)(weights + 64), outputs[0]};
  ft_rt_parallel_for(exec, rows, &f, 4, 1);
  return 0;
}
