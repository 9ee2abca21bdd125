/* lookup.c - y[i] = table[index[i]], failing on a bad index from inside a
 * parallel loop.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/src/abi.h"

struct frame {
  ft_exec *exec;
  const int64_t *index;
  const float *table;
  float *y;
};

static void elements(void *args, int64_t lo, int64_t hi) {
  struct frame *f = args;
  for (int64_t i = lo; i < hi; ++i) {
    if (f->index[i] < 0 || f->index[i] >= 5) {
      ft_rt_fail_index(f->exec, "embedding", f->index[i], 5);
      return;
    }
    f->y[i] = f->table[f->index[i]];
  }
}

int ft_gen_forward(ft_exec *exec, void *const *inputs, void *const *outputs,
                   unsigned char *arena, const unsigned char *weights,
                   unsigned char *state, int64_t *sizes) {
  struct frame f = {exec, inputs[0], (const float *)weights, outputs[0]};
  ft_rt_parallel_for(exec, elements, &f, 8, 1);
  return 0;
}
