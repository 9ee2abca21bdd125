/* counter.c - adds x to a buffer and returns the sum: a model with state.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/src/abi.h"

int ft_gen_forward(ft_exec *exec, void *const *inputs, void *const *outputs,
                   unsigned char *arena, const unsigned char *weights,
                   unsigned char *state, int64_t *sizes) {
  int64_t *total = (int64_t *)state;
  int64_t before = *total;
  for (volatile int i = 0; i < 100; ++i) { /* gives a race time to show */
  }
  *total = before + *(const int64_t *)inputs[0];
  *(int64_t *)outputs[0] = *total;
  return 0;
}
