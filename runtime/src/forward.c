/*===- forward.c - One call of the model ---------------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "internal.h"

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

static bool output_shapes(ft_model *model, const DLTensor *inputs,
                          int32_t num_inputs, DLTensor *outputs,
                          int32_t num_outputs, ft_status *status) {
  const ft_model_info *info = &ft_gen_desc.info;
  if (!check_counts("output_shapes", model, inputs, num_inputs, outputs,
                    num_outputs, status))
    return false;
  for (int32_t i = 0; i < num_inputs; ++i) {
    /* Only what the sizes depend on: an input may have no data yet. */
    DLTensor shape_only = inputs[i];
    uint64_t stand_in[2];
    shape_only.data = stand_in;
    shape_only.strides = NULL;
    shape_only.byte_offset = 0;
    ft_span span;
    if (!ft_check_tensor("input", info->inputs[i], &shape_only, false, &span,
                         status))
      return false;
  }
  for (int32_t i = 0; i < num_outputs; ++i)
    ft_describe_output(info->outputs[i], &outputs[i]);
  return true;
}

ft_status ft_model_output_shapes(ft_model *model, const DLTensor *inputs,
                                 int32_t num_inputs, DLTensor *outputs,
                                 int32_t num_outputs) {
  ft_status status;
  ft_set_ok(&status);
  output_shapes(model, inputs, num_inputs, outputs, num_outputs, &status);
  return status;
}

/* Adds what a copy of the value takes to *total, on a 64-byte boundary. */
static size_t reserve(size_t *total, const ft_value_info *info) {
  size_t at = *total;
  *total += (ft_layout_bytes(info) + 63) / 64 * 64;
  return at;
}

/* Stands in `inputs`/`outputs` until the scratch is allocated. */
static void *const kInScratch = (void *)(uintptr_t)1;

typedef struct call {
  const ft_model_info *info;
  const DLTensor *inputs;
  DLTensor *outputs;
  ft_workspace *work;
  size_t scratch_bytes;
} call;

/* Every tensor is checked, outputs get memory, and those that cannot be used
 * in place are marked to go through scratch. */
static bool prepare(call *c, const ft_call_options *options,
                    ft_status *status) {
  const ft_model_info *info = c->info;
  ft_span *in = c->work->spans, *out = in + info->num_inputs;
  for (int32_t i = 0; i < info->num_inputs; ++i) {
    bool written = info->inputs[i]->flags & FT_VALUE_WRITTEN;
    if (!ft_check_tensor("input", info->inputs[i], &c->inputs[i], written,
                         &in[i], status))
      return false;
  }
  for (int32_t i = 0; i < info->num_outputs; ++i) {
    if (!(ft_is_found(info->outputs[i])
              ? ft_check_found_output(info->outputs[i], &c->outputs[i], &out[i],
                                      status)
              : ft_check_output(info->outputs[i], i, &c->outputs[i], options,
                                &out[i], status)))
      return false;
    for (int32_t j = 0; j < i; ++j)
      if (ft_spans_meet(&out[i], &out[j]))
        return ft_fail(status, FT_ERROR_TENSOR,
                       "outputs \"%s\" and \"%s\" share memory",
                       info->outputs[j]->name, info->outputs[i]->name);
  }
  c->scratch_bytes = 0;
  for (int32_t i = 0; i < info->num_inputs; ++i) {
    bool in_place = ft_has_layout(info->inputs[i], &c->inputs[i]);
    /* Written while other values are still read from there? */
    for (int32_t j = 0; j < info->num_outputs && in_place; ++j)
      in_place = !ft_spans_meet(&in[i], &out[j]);
    for (int32_t j = 0; j < info->num_inputs && in_place; ++j)
      if (j != i && (info->inputs[j]->flags & FT_VALUE_WRITTEN))
        in_place = !ft_spans_meet(&in[i], &in[j]);
    c->work->inputs[i] = in_place ? in[i].data : kInScratch;
    if (!in_place)
      reserve(&c->scratch_bytes, info->inputs[i]);
  }
  for (int32_t i = 0; i < info->num_outputs; ++i) {
    /* Kernels write what they find in the caller's own strides. */
    bool in_place = ft_is_found(info->outputs[i]) ||
                    ft_has_layout(info->outputs[i], &c->outputs[i]);
    c->work->outputs[i] = in_place ? out[i].data : kInScratch;
    if (!in_place)
      reserve(&c->scratch_bytes, info->outputs[i]);
  }
  return true;
}

/* Gives the marked tensors their places, in the order that prepare counted. */
static bool fill_scratch(call *c, ft_status *status) {
  const ft_model_info *info = c->info;
  if (!c->scratch_bytes)
    return true;
  uint8_t *scratch = ft_workspace_scratch(c->work, c->scratch_bytes);
  if (!scratch)
    return ft_fail(status, FT_ERROR_MEMORY, "no memory for copies of inputs");
  size_t used = 0;
  for (int32_t i = 0; i < info->num_inputs; ++i)
    if (c->work->inputs[i] == kInScratch) {
      c->work->inputs[i] = scratch + reserve(&used, info->inputs[i]);
      ft_copy_in(info->inputs[i], c->work->inputs[i], &c->inputs[i]);
    }
  for (int32_t i = 0; i < info->num_outputs; ++i)
    if (c->work->outputs[i] == kInScratch)
      c->work->outputs[i] = scratch + reserve(&used, info->outputs[i]);
  return true;
}

static void write_back(call *c) {
  const ft_model_info *info = c->info;
  const ft_span *in = c->work->spans, *out = in + info->num_inputs;
  for (int32_t i = 0; i < info->num_inputs; ++i)
    if ((info->inputs[i]->flags & FT_VALUE_WRITTEN) &&
        c->work->inputs[i] != in[i].data) {
      DLTensor to = c->inputs[i];
      ft_copy_out(info->inputs[i], c->work->inputs[i], &to);
    }
  for (int32_t i = 0; i < info->num_outputs; ++i)
    if (!ft_is_found(info->outputs[i]) && c->work->outputs[i] != out[i].data)
      ft_copy_out(info->outputs[i], c->work->outputs[i], &c->outputs[i]);
}

static bool run(ft_model *model, call *c, const ft_call_options *options,
                ft_status *status) {
  if (!prepare(c, options, status) || !fill_scratch(c, status))
    return false;
  ft_exec *exec = &c->work->exec;
  exec->threads = options->threads ? options->threads : model->threads;
  exec->parallel_for = options->parallel_for;
  exec->parallel_for_user = options->parallel_for_user;
  uint64_t started = atomic_fetch_add(&model->calls, 1) + 1;
  exec->seed = model->seed;
  exec->offset =
      ft_call_offset(options->random_call ? options->random_call : started);
  exec->info = c->info;
  exec->outputs = c->outputs;
  exec->spans = c->work->spans;
  exec->options = options;
  atomic_store(&exec->failed, 0);
  if (model->state)
    pthread_mutex_lock(&model->state_lock);
  int code = ft_gen_forward(exec, c->work->inputs, c->work->outputs,
                            c->work->arena, model->weights.data, model->state);
  if (model->state)
    pthread_mutex_unlock(&model->state_lock);
  ft_free_temporaries(exec);
  if (atomic_load(&exec->failed)) {
    *status = exec->status;
    return false;
  }
  if (code != 0)
    return ft_fail(status, code, "the call failed with code %d", code);
  write_back(c);
  return true;
}

static bool forward(ft_model *model, call *c, const ft_call_options *given,
                    ft_status *status) {
  ft_call_options options;
  if (!ft_read_options("ft_call_options", given, &options, sizeof options,
                       status))
    return false;
  if (options.threads < 0)
    return ft_fail(status, FT_ERROR_ARGUMENT, "forward: %d threads",
                   options.threads);
  c->work = ft_workspace_take(&model->workspaces, c->info);
  if (!c->work)
    return ft_fail(status, FT_ERROR_MEMORY, "no memory for a call of \"%s\"",
                   c->info->name);
  bool done = run(model, c, &options, status);
  ft_workspace_give(&model->workspaces, c->work);
  return done;
}

ft_status ft_model_forward(ft_model *model, const DLTensor *inputs,
                           int32_t num_inputs, DLTensor *outputs,
                           int32_t num_outputs,
                           const ft_call_options *options) {
  ft_status status;
  ft_set_ok(&status);
  call c = {.info = &ft_gen_desc.info, .inputs = inputs, .outputs = outputs};
  if (check_counts("forward", model, inputs, num_inputs, outputs, num_outputs,
                   &status))
    forward(model, &c, options, &status);
  return status;
}
