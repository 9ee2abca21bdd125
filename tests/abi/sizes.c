/* sizes.c - A program in the common subset of C99 and C++ that calls the model
 * "halves", which serves all sizes, through its typed wrapper.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "halves.h"

#include <stdio.h>

int main(void) {
  const float x[] = {1, 2, 3, 4, 5, 6, 7, 8}, mask[] = {1, 10};
  const float tail[] = {100, 200, 300, 400, 500};
  float y[4];
  ft_model *model = NULL;
  ft_status status;

  status = halves_load(NULL, &model);
  if (status.code != FT_OK) {
    fprintf(stderr, "%s\n", status.message);
    return 1;
  }
  /* y[batch, half]: the halves of x's rows, added */
  status = halves_forward(model, 2, 2, x, mask, tail, y, NULL);
  if (status.code != FT_OK || y[0] != 104 || y[1] != 206 || y[2] != 220 ||
      y[3] != 340) {
    fprintf(stderr, "%s: %g %g %g %g\n", status.message, y[0], y[1], y[2],
            y[3]);
    return 1;
  }
  status = halves_forward(model, 1, 4, x, mask, tail, y, NULL);
  if (status.code != FT_OK || y[3] == 340) {
    fprintf(stderr, "%s: %g\n", status.message, y[3]);
    return 1;
  }
  status = halves_forward(model, 65, 2, x, mask, tail, y, NULL);
  if (status.code != FT_ERROR_GUARD ||
      strcmp(status.message, "batch is 65, must be at most 64")) {
    fprintf(stderr, "%s\n", status.message);
    return 1;
  }
  halves_unload(model);
  return 0;
}
