/* Kernels of the operators that Operators.c registers. */
#include "foretrace/kernel.h"

#include <math.h>

/* The place of element `index` (row-major) of a tensor. */
static int64_t place(const DLTensor *t, int64_t index) {
  int64_t at = 0;
  for (int32_t d = t->ndim; d-- > 0;) {
    at += index % t->shape[d] * t->strides[d];
    index /= t->shape[d];
  }
  return at;
}
static float *element(const DLTensor *t, int64_t index) {
  return (float *)t->data + place(t, index);
}

/* Does not come back. */
int32_t test_crash(const ft_kernel_call *call) {
  (void)call;
  __builtin_trap();
}

/* Needs more stack than there is, unless the call has no arguments. */
static int32_t deep(volatile char *above) {
  volatile char frame[4096];
  frame[0] = above[0];
  return frame[0] ? deep(frame) + frame[0] : 0;
}

int32_t test_overflow(const ft_kernel_call *call) {
  volatile char first = (char)call->num_args;
  return deep(&first);
}

/* Says that all is well, and has not even asked for its result. */
int32_t test_nothing(const ft_kernel_call *call) {
  (void)call;
  return FT_OK;
}

int32_t test_scale(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  DLTensor *y = call->result(call, 0, x->dtype, x->ndim, x->shape);
  if (!y)
    return FT_ERROR_TENSOR;
  for (int64_t i = 0; i < ft_kernel_numel(x); ++i)
    *element(y, i) = (float)call->args[1].real * *element(x, i);
  return FT_OK;
}

int32_t test_scale_backward(const ft_kernel_call *call) {
  const DLTensor *grad = call->args[0].tensor;
  DLTensor *y = &call->results[0];
  for (int64_t i = 0; i < ft_kernel_numel(grad); ++i)
    *element(y, i) = (float)call->args[1].real * *element(grad, i);
  return FT_OK;
}

int32_t test_fill(const ft_kernel_call *call) {
  DLTensor *x = call->args[0].tensor;
  for (int64_t i = 0; i < ft_kernel_numel(x); ++i)
    *element(x, i) = (float)call->args[1].integer;
  return FT_OK;
}

/* Adds to x, and returns what x held. */
int32_t test_exchange_add(const ft_kernel_call *call) {
  DLTensor *x = call->args[0].tensor, *old = &call->results[0];
  for (int64_t i = 0; i < ft_kernel_numel(x); ++i) {
    *element(old, i) = *element(x, i);
    *element(x, i) += (float)call->args[1].real;
  }
  return FT_OK;
}

int32_t test_min_max(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  float *low = call->results[0].data, *high = call->results[1].data;
  *low = INFINITY;
  *high = -INFINITY;
  for (int64_t i = 0; i < ft_kernel_numel(x); ++i) {
    *low = fminf(*low, *element(x, i));
    *high = fmaxf(*high, *element(x, i));
  }
  return FT_OK;
}

int32_t test_transpose(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  if (x->ndim != 2)
    return call->fail(call, FT_ERROR_TENSOR, "x must have 2 dims");
  int64_t sizes[2] = {x->shape[1], x->shape[0]};
  DLTensor *y = call->result(call, 0, x->dtype, 2, sizes);
  if (!y)
    return FT_ERROR_TENSOR;
  for (int64_t i = 0; i < sizes[0]; ++i)
    for (int64_t j = 0; j < sizes[1]; ++j)
      *element(y, i * sizes[1] + j) = *element(x, j * sizes[0] + i);
  return FT_OK;
}

int32_t test_strides(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  for (int32_t d = 0; d < x->ndim; ++d)
    ((float *)call->results[0].data)[d] = (float)x->strides[d];
  return FT_OK;
}

/* The sum of all xs, b and dims; mode "negative" turns its sign. */
int32_t test_gather_all(const ft_kernel_call *call) {
  const ft_kernel_arg *xs = &call->args[0], *b = &call->args[1],
                      *dims = &call->args[2], *mode = &call->args[3];
  double sum = 0;
  for (int32_t k = 0; k < xs->count; ++k)
    for (int64_t i = 0; i < ft_kernel_numel(xs->list[k].tensor); ++i)
      sum += *element(xs->list[k].tensor, i);
  if (b->kind == FT_ARG_TENSOR)
    for (int64_t i = 0; i < ft_kernel_numel(b->tensor); ++i)
      sum += *element(b->tensor, i);
  for (int32_t k = 0; k < dims->count; ++k)
    sum += (double)dims->list[k].integer;
  if (strcmp(mode->text, "negative") == 0)
    sum = -sum;
  *(float *)call->results[0].data = (float)sum;
  return FT_OK;
}

int32_t test_fails(const ft_kernel_call *call) {
  return call->fail(call, FT_ERROR_INDEX, "element 3 of x is negative");
}

int32_t test_lies(const ft_kernel_call *call) {
  int64_t sizes[1] = {1000000};
  const DLTensor *x = call->args[0].tensor;
  return call->result(call, 0, x->dtype, 1, sizes) ? FT_OK : FT_ERROR_TENSOR;
}

int32_t test_sizeless(const ft_kernel_call *call) {
  const DLTensor *x = call->args[0].tensor;
  return call->result(call, 0, x->dtype, x->ndim, NULL) ? FT_OK
                                                        : FT_ERROR_TENSOR;
}

/* Codes that runtime.h does not have. */
int32_t test_odd_code(const ft_kernel_call *call) {
  (void)call;
  return 77;
}
int32_t test_odd_fail(const ft_kernel_call *call) {
  return call->fail(call, -12345, "element 3 of x is odd");
}

int32_t test_crashes(const ft_kernel_call *call) {
  *(volatile int *)16 = (int)call->num_args;
  return FT_OK;
}

int32_t test_hangs(const ft_kernel_call *call) {
  for (volatile int64_t i = 0; i >= 0;)
    i = call->num_args;
  return FT_OK;
}

int32_t test_forgets(const ft_kernel_call *call) {
  (void)call;
  return FT_OK;
}
