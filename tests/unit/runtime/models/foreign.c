/* foreign.c - calls what no model may call.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/src/abi.h"

double cblas_ddot(void);
int system(const char *);

int ft_gen_forward(ft_exec *exec, void *const *inputs, void *const *outputs,
                   unsigned char *arena, const unsigned char *weights,
                   unsigned char *state, int64_t *sizes) {
  return system("true") + (int)cblas_ddot();
}
