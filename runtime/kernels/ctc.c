/*===- ctc.c - Connectionist temporal classification ---------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The probability that T steps spell a target (Graves et al., 2006): repeated
 * classes are one, blanks are nothing. The states are the target with blanks
 * around each class; a step stays, goes to the next state, or jumps over a
 * blank between two different classes:
 *
 *   a b   ->   - a - b -      alpha[t][s]: all ways to be in state s at step t
 *
 * beta does the same from the end; alpha + beta is what a state contributes.
 * All in logarithms and in double.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/elements.h"
#include "runtime/kernels/kernels.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct ctc {
  const double *log_probs; /* [steps, batch, classes] */
  const int64_t *target;
  int64_t steps, batch, classes, blank;
  int64_t element;       /* of the batch */
  int64_t input, length; /* of this element */
} ctc;

static double log_add(double a, double b) {
  double most = a > b ? a : b;
  if (most == -INFINITY)
    return most;
  return most + log(exp(a - most) + exp(b - most));
}

static int64_t class_of(const ctc *c, int64_t state) {
  return state % 2 ? c->target[state / 2] : c->blank;
}

static double log_prob(const ctc *c, int64_t step, int64_t class) {
  return c->log_probs[(step * c->batch + c->element) * c->classes + class];
}

/* May state s be reached from s - 2? */
static int jumps(const ctc *c, int64_t s) {
  return s % 2 && s >= 2 && class_of(c, s) != class_of(c, s - 2);
}

/* Element `element`; args: log_probs, targets, input and target lengths, all
 * int64, row-major; targets [batch, most] or one after the other. */
static int32_t ctc_at(const ft_kernel_call *call, int64_t element, int64_t most,
                      int64_t blank, ctc *c) {
  const DLTensor *probs = call->args[0].tensor, *targets = call->args[1].tensor;
  const int64_t *inputs = call->args[2].tensor->data;
  const int64_t *lengths = call->args[3].tensor->data;
  int64_t start = 0;
  for (int64_t i = 0; i < element; ++i)
    start += lengths[i];
  c->log_probs = probs->data;
  c->steps = probs->shape[0];
  c->batch = probs->shape[1];
  c->classes = probs->shape[2];
  c->blank = blank;
  c->element = element;
  c->input = inputs[element];
  c->length = lengths[element];
  int64_t room = most;
  if (targets->ndim == 2) {
    start = element * targets->shape[1];
    if (targets->shape[1] < room)
      room = targets->shape[1];
  } else if (targets->shape[0] - start < room) {
    room = targets->shape[0] - start;
  }
  if (c->input < 0 || c->input > c->steps)
    return call->fail(call, FT_ERROR_TENSOR, "an input length is out of range");
  if (c->length < 0 || c->length > room)
    return call->fail(call, FT_ERROR_TENSOR, "a target length is out of range");
  c->target = (const int64_t *)targets->data + start;
  for (int64_t i = 0; i < c->length; ++i)
    if (c->target[i] < 0 || c->target[i] >= c->classes)
      return call->fail(call, FT_ERROR_INDEX, "a target is no class");
  return FT_OK;
}

int32_t ft_k_ctc_loss(const ft_kernel_call *call) {
  const DLTensor *log_alpha = &call->results[1];
  int64_t states = log_alpha->shape[2], steps = log_alpha->shape[1];
  double *loss = call->results[0].data, *alpha = log_alpha->data;
  for (int64_t b = 0; b < log_alpha->shape[0]; ++b, alpha += steps * states) {
    ctc c;
    int32_t code = ctc_at(call, b, states / 2, call->args[4].integer, &c);
    if (code != FT_OK)
      return code;
    for (int64_t i = 0; i < steps * states; ++i)
      alpha[i] = -INFINITY;
    if (c.input == 0) {
      loss[b] = c.length == 0 ? 0 : INFINITY;
      continue;
    }
    int64_t used = 2 * c.length + 1;
    alpha[0] = log_prob(&c, 0, c.blank);
    if (c.length > 0)
      alpha[1] = log_prob(&c, 0, c.target[0]);
    for (int64_t t = 1; t < c.input; ++t) {
      const double *before = alpha + (t - 1) * states;
      double *now = alpha + t * states;
      for (int64_t s = 0; s < used; ++s) {
        double sum = before[s];
        if (s > 0)
          sum = log_add(sum, before[s - 1]);
        if (jumps(&c, s))
          sum = log_add(sum, before[s - 2]);
        now[s] = sum + log_prob(&c, t, class_of(&c, s));
      }
    }
    const double *end = alpha + (c.input - 1) * states;
    double sum = end[used - 1];
    if (c.length > 0)
      sum = log_add(sum, end[used - 2]);
    loss[b] = -sum;
  }
  return FT_OK;
}

int32_t ft_k_ctc_states(const ft_kernel_call *call) {
  const DLTensor *alpha = call->args[0].tensor, *lengths = call->args[1].tensor;
  const int64_t *length = lengths->data;
  int64_t longest = 0, room = alpha->shape[2];
  for (int64_t b = 0; b < alpha->shape[0]; ++b)
    longest = length[b] > longest ? length[b] : longest;
  int64_t shape[3] = {alpha->shape[0], alpha->shape[1], 2 * longest + 1};
  DLTensor *result = call->result(call, 0, alpha->dtype, 3, shape);
  if (!result)
    return FT_ERROR_TENSOR;
  size_t bytes = (size_t)ft_element_size(alpha);
  const char *from = alpha->data;
  char *to = result->data;
  for (int64_t row = 0; row < shape[0] * shape[1]; ++row)
    memcpy(to + (size_t)(row * shape[2]) * bytes,
           from + (size_t)(row * room) * bytes, (size_t)shape[2] * bytes);
  return FT_OK;
}

/* args, after the first four: grad [batch], losses [batch], log_alpha, blank,
 * zero_infinity. Scratch: two rows of beta. */
int32_t ft_k_ctc_loss_backward(const ft_kernel_call *call) {
  const double *grad = call->args[4].tensor->data;
  const double *losses = call->args[5].tensor->data;
  const DLTensor *log_alpha = call->args[6].tensor;
  int zero_infinity = call->args[8].integer != 0;
  int64_t states = log_alpha->shape[2], steps = log_alpha->shape[1];
  const double *alpha = log_alpha->data;
  double *out = call->results[0].data, *scratch = call->results[1].data;
  for (int64_t b = 0; b < log_alpha->shape[0]; ++b, alpha += steps * states) {
    ctc c;
    int32_t code = ctc_at(call, b, states / 2, call->args[7].integer, &c);
    if (code != FT_OK)
      return code;
    int none = zero_infinity && losses[b] == INFINITY;
    int64_t used = 2 * c.length + 1;
    double *after = scratch, *beta = scratch + states;
    for (int64_t t = c.steps - 1; t >= 0; --t) {
      double *to = out + (t * c.batch + b) * c.classes;
      for (int64_t k = 0; k < c.classes; ++k)
        to[k] = none || t >= c.input ? 0 : -INFINITY;
      if (none || t >= c.input)
        continue;
      for (int64_t s = 0; s < used; ++s) {
        double sum = -INFINITY;
        if (t == c.input - 1) {
          sum = s >= used - 2 ? 0 : sum;
        } else {
          sum = after[s];
          if (s + 1 < used)
            sum = log_add(sum, after[s + 1]);
          if (s + 2 < used && jumps(&c, s + 2))
            sum = log_add(sum, after[s + 2]);
        }
        int64_t k = class_of(&c, s);
        beta[s] = sum + log_prob(&c, t, k);
        to[k] = log_add(to[k], alpha[t * states + s] + beta[s]);
      }
      for (int64_t k = 0; k < c.classes; ++k) {
        double p = log_prob(&c, t, k);
        to[k] = (exp(p) - exp(to[k] + losses[b] - p)) * grad[b];
      }
      double *kept = after;
      after = beta;
      beta = kept;
    }
  }
  return FT_OK;
}
