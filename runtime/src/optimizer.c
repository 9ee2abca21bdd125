/*===- optimizer.c - What an update of parameters is given ---------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "internal.h"

#include <math.h>
#include <stdlib.h>

/* As torch.optim: what it refuses, and in its words where these are short. */
static bool check_hypers(const ft_optimizer_options *o, ft_status *status) {
  const struct {
    const char *name;
    double value, below; /* 0 <= value < below */
  } rows[] = {{"lr", o->lr, INFINITY},
              {"momentum", o->momentum, INFINITY},
              {"weight_decay", o->weight_decay, INFINITY},
              {"eps", o->eps, INFINITY},
              {"beta1", o->beta1, 1},
              {"beta2", o->beta2, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (!(rows[i].value >= 0 && rows[i].value < rows[i].below))
      return ft_fail(status, FT_ERROR_ARGUMENT,
                     "train: %s is %g, must be at least 0 and %s", rows[i].name,
                     rows[i].value,
                     rows[i].below == 1 ? "less than 1" : "finite");
  if (!isfinite(o->dampening))
    return ft_fail(status, FT_ERROR_ARGUMENT, "train: dampening is %g",
                   o->dampening);
  if ((o->nesterov | o->maximize) & ~1)
    return ft_fail(status, FT_ERROR_ARGUMENT,
                   "train: nesterov and maximize are 0 or 1");
  if (o->nesterov && !(o->momentum > 0 && o->dampening == 0))
    return ft_fail(status, FT_ERROR_ARGUMENT,
                   "train: nesterov needs momentum and no dampening");
  return true;
}

bool ft_read_hyperparameters(const ft_optimizer_options *given,
                             ft_optimizer_options *o, ft_status *status) {
  const ft_model_info *info = &ft_gen_desc.info;
  return ft_read_options("ft_optimizer_options",
                         given ? given : info->optimizer_defaults, o, sizeof *o,
                         status) &&
         check_hypers(o, status);
}

ft_status ft_model_init_optimizer(ft_model *model, DLTensor *optimizer,
                                  int32_t num_optimizer) {
  const ft_model_info *info = &ft_gen_desc.info;
  ft_status status;
  ft_set_ok(&status);
  if (!model)
    ft_fail(&status, FT_ERROR_ARGUMENT, "init_optimizer: model is null");
  else if (!info->optimizer_name)
    ft_fail(&status, FT_ERROR_UNSUPPORTED,
            "init_optimizer: \"%s\" was compiled without an optimizer",
            info->name);
  else if (num_optimizer != info->num_optimizer ||
           (num_optimizer && !optimizer))
    ft_fail(&status, FT_ERROR_TENSOR,
            "init_optimizer: expected %d tensors, got %d", info->num_optimizer,
            optimizer ? num_optimizer : 0);
  for (int32_t i = 0; i < info->num_optimizer && status.code == FT_OK; ++i) {
    const ft_value_info *value = info->optimizer[i];
    ft_span span;
    if (!ft_check_tensor("state", value, &optimizer[i], true, &span, &status))
      break;
    void *zeros = calloc(ft_layout_bytes(value) + 1, 1);
    if (zeros)
      ft_copy_out(value, zeros, &optimizer[i]);
    else
      ft_fail(&status, FT_ERROR_MEMORY, "no memory for the optimizer's state");
    free(zeros);
  }
  return status;
}
