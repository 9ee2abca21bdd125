/* The kernel of demo::pair_distance. It becomes part of each model that calls
 * the operator. */
#include "foretrace/kernel.h"

#include <math.h>

struct pairs {
  const DLTensor *a, *b;
  DLTensor *result;
  double p;
};

/* Rows [low, high) of the result. Strides are the annotated ones: read them. */
static void rows(void *args, int64_t low, int64_t high) {
  const struct pairs *s = args;
  const float *a = s->a->data, *b = s->b->data;
  float *result = s->result->data;
  int64_t columns = s->b->shape[0], depth = s->a->shape[1];
  for (int64_t i = low; i < high; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        double d = (double)a[i * s->a->strides[0] + k * s->a->strides[1]] -
                   (double)b[j * s->b->strides[0] + k * s->b->strides[1]];
        sum += pow(fabs(d), s->p);
      }
      result[i * s->result->strides[0] + j * s->result->strides[1]] =
          (float)pow(sum, 1 / s->p);
    }
}

int32_t demo_pair_distance(const ft_kernel_call *call) {
  struct pairs s = {call->args[0].tensor, call->args[1].tensor, NULL,
                    call->args[2].real};
  if (s.p <= 0)
    return call->fail(call, FT_ERROR_ARGUMENT, "p must be positive");
  int64_t sizes[2] = {s.a->shape[0], s.b->shape[0]};
  s.result = call->result(call, 0, s.a->dtype, 2, sizes);
  if (!s.result)
    return FT_ERROR_TENSOR;
  call->parallel_for(call, rows, &s, sizes[0], 64);
  return FT_OK;
}
