/*===- overflow.c - A sanitized model sees an input that is too short - C11
 * -===* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Gives mlp.so, compiled with --sanitize address, an input of [2, 16] whose
 * memory ends `argv[2]` floats early. With 0 the call succeeds; otherwise
 * AddressSanitizer ends the program, naming the kernel.
 *===----------------------------------------------------------------------===*/
#include "foretrace/runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static DLTensor matrix(float *data, int64_t *shape) {
  DLTensor t = {0};
  t.data = data;
  t.device.device_type = kDLCPU;
  t.ndim = 2;
  t.dtype = (DLDataType){kDLFloat, 32, 1};
  t.shape = shape;
  return t;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  size_t missing = (size_t)atoi(argv[2]);
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  ft_api_getter getter = (ft_api_getter)dlsym(library, FT_API_SYMBOL);
  const ft_api *api = getter();
  ft_model *model;
  ft_status status = api->load(NULL, &model);
  int64_t in_shape[] = {2, 16}, out_shape[] = {2, 10};
  float *x = calloc(32 - missing, sizeof *x), *y = calloc(20, sizeof *y);
  DLTensor in = matrix(x, in_shape), out = matrix(y, out_shape);
  if (status.code == FT_OK)
    status = api->forward(model, &in, 1, &out, 1, NULL);
  printf("code %d %s\n", status.code, status.message);
  api->unload(model);
  free(x);
  free(y);
  return status.code;
}
