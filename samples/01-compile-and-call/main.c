/* main.c - Calls a compiled model from C.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "mlp.h"

#include <stdio.h>
#include <stdlib.h>

static void check(ft_status status) {
  if (status.code == FT_OK)
    return;
  fprintf(stderr, "mlp: %s\n", status.message);
  exit(1);
}

int main(void) {
  ft_model *mlp;
  check(mlp_load(NULL, &mlp));

  float x[2][16], y[2][10];
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 16; ++column)
      x[row][column] = (float)(column - 8) / 8;

  check(mlp_forward(mlp, &x[0][0], &y[0][0], NULL));

  for (int column = 0; column < 10; ++column)
    printf("%9.5f\n", y[0][column]);
  mlp_unload(mlp);
  return 0;
}
