/* call.c - A program in the common subset of C99 and C++ that calls the model
 * "affine" through its typed wrappers and through the table.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "affine.h"
#include "affine.h" /* a header may be included twice */

#include <stdio.h>

int main(void) {
  float x[AFFINE_NUM_INPUTS * 12] = {0}, y[12], z[12];
  ft_model *model = NULL;
  ft_status status;
  const int64_t shape[] = {4, 3};
  DLTensor in, out;
  int i;

  status = affine_load(NULL, &model);
  if (status.code != FT_OK) {
    fprintf(stderr, "%s\n", status.message);
    return 1;
  }
  x[11] = 1;
  status = affine_forward(model, x, y, NULL);
  if (status.code != FT_OK || y[0] != 10 || y[11] != 34) {
    fprintf(stderr, "%s: %g %g\n", status.message, y[0], y[11]);
    return 1;
  }

  in = ft_tensor(x, kDLFloat, 32, 2, shape);
  out = ft_tensor(z, kDLFloat, 32, 2, shape);
  status = affine_api()->forward(model, &in, 1, &out, 1, NULL);
  for (i = 0; i < 12; ++i)
    if (z[i] != y[i])
      return 1;
  if (affine_load_parameters(model, NULL, 0).code != FT_ERROR_UNSUPPORTED)
    return 1;
  affine_unload(model);
  return status.code;
}
