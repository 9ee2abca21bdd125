/*===- forward.c - Calls and queries of a model --------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static bool check_count(const char *what, int32_t expected, int32_t got,
                        const ft_value_info *const *infos,
                        const DLTensor *tensors, ft_status *status) {
  if (got != expected) {
    ft_text names = {.size = 0};
    for (int32_t i = 0; i < expected; ++i)
      ft_text_add(&names, "%s\"%s\"", i ? ", " : "", infos[i]->name);
    return ft_fail(status, FT_ERROR_TENSOR, "expected %d %s%s (%s), got %d",
                   expected, what, expected == 1 ? "" : "s", names.chars, got);
  }
  if (expected && !tensors)
    return ft_fail(status, FT_ERROR_ARGUMENT, "the array of %ss is null", what);
  return true;
}

static bool check_counts(const char *call, const ft_model *model,
                         const DLTensor *inputs, int32_t num_inputs,
                         const DLTensor *outputs, int32_t num_outputs,
                         ft_status *status) {
  const ft_model_info *info = &ft_gen_desc.info;
  if (!model)
    return ft_fail(status, FT_ERROR_ARGUMENT, "%s: model is null", call);
  return check_count("input", info->num_inputs, num_inputs, info->inputs,
                     inputs, status) &&
         check_count("output", info->num_outputs, num_outputs, info->outputs,
                     outputs, status);
}

/* What a query asks: the model, or the forward program of one that is trained.
 * Queries need the memory of sizes only. */
typedef struct query {
  const ft_model_desc *desc;
  ft_workspace_cache *cache;
  const ft_program_desc *program; /* NULL: the model is one */
} query;

static query query_of(ft_model *model) {
  query q = {&ft_gen_desc, &model->workspaces, NULL};
  if (ft_gen_desc.training) {
    q.program = ft_gen_desc.training->programs[0];
    q.desc = &q.program->desc;
    q.cache = &model->programs[0];
  }
  return q;
}

/* Where the user has it; -1 for a place of another kind. */
static int32_t user_index(ft_place place, int32_t kind) {
  return place.kind == kind ? place.index : -1;
}

ft_status ft_model_output_shapes(ft_model *model, const DLTensor *inputs,
                                 int32_t num_inputs, DLTensor *outputs,
                                 int32_t num_outputs) {
  ft_status status;
  ft_set_ok(&status);
  if (!check_counts("output_shapes", model, inputs, num_inputs, outputs,
                    num_outputs, &status))
    return status;
  query q = query_of(model);
  ft_workspace *work = ft_workspace_take(q.cache, q.desc, &status);
  if (!work)
    return status;
  const ft_model_info *program = &q.desc->info;
  DLTensor *made = NULL;
  const DLTensor *all = inputs;
  if (q.program)
    all = made = ft_train_inputs(q.program, inputs);
  if (!all && program->num_inputs)
    ft_fail(&status, FT_ERROR_MEMORY, "no memory for a query");
  else if (ft_size_call(work, all, &status))
    for (int32_t i = 0; i < program->num_outputs; ++i) {
      int32_t at =
          q.program ? user_index(q.program->outputs[i], FT_PLACE_OUTPUT) : i;
      if (at >= 0)
        ft_describe_output(work->values[program->num_inputs + i], &outputs[at]);
    }
  free(made);
  ft_workspace_give(q.cache, work);
  return status;
}

ft_status ft_model_input_shapes(ft_model *model, const int64_t *values,
                                int32_t num_values, DLTensor *inputs,
                                int32_t num_inputs) {
  const ft_model_info *info = &ft_gen_desc.info;
  ft_status status;
  ft_set_ok(&status);
  if (!model)
    ft_fail(&status, FT_ERROR_ARGUMENT, "input_shapes: model is null");
  else if (num_values != info->num_symbols)
    ft_fail(&status, FT_ERROR_ARGUMENT,
            "input_shapes: the model has %d symbols, got %d values",
            info->num_symbols, num_values);
  else if (num_values && !values)
    ft_fail(&status, FT_ERROR_ARGUMENT, "input_shapes: values is null");
  if (status.code != FT_OK ||
      !check_count("input", info->num_inputs, num_inputs, info->inputs, inputs,
                   &status))
    return status;
  query q = query_of(model);
  ft_workspace *work = ft_workspace_take(q.cache, q.desc, &status);
  if (!work)
    return status;
  if (ft_size_query(work, values, &status))
    for (int32_t i = 0; i < q.desc->info.num_inputs; ++i) {
      int32_t at =
          q.program ? user_index(q.program->inputs[i], FT_PLACE_INPUT) : i;
      if (at >= 0)
        ft_describe_output(work->values[i], &inputs[at]);
    }
  ft_workspace_give(q.cache, work);
  return status;
}

ft_status ft_model_forward(ft_model *model, const DLTensor *inputs,
                           int32_t num_inputs, DLTensor *outputs,
                           int32_t num_outputs, const ft_call_options *given) {
  ft_status status;
  ft_set_ok(&status);
  ft_call_options options;
  if (ft_gen_desc.training)
    ft_fail(&status, FT_ERROR_UNSUPPORTED,
            "forward: \"%s\" was compiled with --training: call train",
            ft_gen_desc.info.name);
  else if (check_counts("forward", model, inputs, num_inputs, outputs,
                        num_outputs, &status) &&
           ft_read_call_options("forward", given, &options, &status))
    ft_run_program(model, &ft_gen_desc, &model->workspaces, NULL, inputs,
                   outputs, &options, &status);
  return status;
}
