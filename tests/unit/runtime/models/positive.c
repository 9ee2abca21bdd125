/* positive.c - columns[:, i] = where the i-th positive element of x[2, 3] is:
 * an output whose sizes a kernel finds.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "foretrace/kernel.h"

#include "runtime/src/abi.h"
#include "runtime/src/kernel_call.h"

static int32_t positive(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  const DLDataType i64 = {kDLInt, 64, 1};
  const float *data = x->data;
  int64_t sizes[2] = {2, 0};
  for (int i = 0; i < 6; ++i)
    sizes[1] += data[i] > 0;
  if (sizes[1] == 6) /* for the test of a kernel that forgets to ask */
    return FT_OK;
  DLTensor *y = call->result(call, 0, i64, 2, sizes);
  if (!y)
    return FT_ERROR_TENSOR;
  int64_t *to = y->data;
  for (int64_t i = 0; i < 6; ++i)
    if (data[i] > 0) {
      to[0] = i / 3;
      to[y->strides[0]] = i % 3;
      to += y->strides[1];
    }
  return FT_OK;
}

int ft_gen_forward(ft_exec *exec, void *const *inputs, void *const *outputs,
                   unsigned char *arena, const unsigned char *weights,
                   unsigned char *state, int64_t *sizes) {
  enum { WORDS = FT_KC_HEAD + 9 + 9 + 3 };
  static const struct {
    int64_t words[WORDS];
    char name[16];
  } description = {
      {[FT_KC_OP] = WORDS * 8,
       [FT_KC_TENSORS] = 2,
       [FT_KC_RESULTS] = 1,
       [FT_KC_ARGS] = 1,
       [FT_KC_ITEMS] = 1,
       [FT_KC_SIZES] = -1,
       [FT_KC_FOUND] = 4,
       /* float32 [2, 3] */
       [FT_KC_HEAD] = kDLFloat | 32 << 8,
       -1,
       -1,
       -1,
       2,
       2,
       3,
       3,
       1,
       /* int64 [2, found], output 0; the columns stand side by side */
       kDLInt | 64 << 8,
       -1,
       0,
       -1,
       2,
       2,
       -1,
       1,
       0,
       /* the argument */
       FT_ARG_TENSOR,
       0,
       0},
      "positive"};
  void *data[] = {inputs[0], 0};
  return ft_rt_call_kernel(exec, positive, description.words, data);
}
