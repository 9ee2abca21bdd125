/*===- model.c - The functions of ft_api ---------------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "internal.h"

#include <stdlib.h>

static const ft_model_desc *const kDesc = &ft_gen_desc;

/*===- Options ------------------------------------------------------------===*/

/* Copies the caller's options, whose struct may be older (shorter) or newer
 * (longer) than ours. What we do not know must be zero. */
static ft_status read_options(const char *name, const void *from, void *to,
                              size_t size) {
  memset(to, 0, size);
  if (!from)
    return ft_ok();
  size_t given = *(const size_t *)from;
  if (given < sizeof(size_t))
    return ft_fail(FT_ERROR_ARGUMENT,
                   "%s.struct_size is not set: start from %s_init()", name,
                   name);
  for (size_t i = size; i < given; ++i)
    if (((const uint8_t *)from)[i])
      return ft_fail(FT_ERROR_UNSUPPORTED,
                     "%s has a field set that this model does not know; "
                     "compile the model with a newer version",
                     name);
  memcpy(to, from, given < size ? given : size);
  return ft_ok();
}

/*===- Load and unload ----------------------------------------------------===*/

static void copy_initial_state(ft_model *model) {
  for (int32_t i = 0; i < kDesc->info.num_state; ++i) {
    const ft_state_place *place = &kDesc->state_places[i];
    if (place->state_offset >= 0)
      memcpy(model->state + place->state_offset,
             model->weights.data + place->weights_offset,
             ft_layout_bytes(kDesc->info.state[i]));
  }
}

static void model_unload(ft_model *model) {
  if (!model)
    return;
  ft_workspace_clear(&model->workspaces);
  ft_weights_close(&model->weights);
  ft_free_block(model->state);
  pthread_mutex_destroy(&model->state_lock);
  free(model);
}

static ft_status fill_model(ft_model *model, const ft_load_options *options) {
  ft_status status =
      ft_weights_open(kDesc, options->weights_path, &model->weights);
  if (status.code == FT_OK && options->verify_weights)
    status = ft_weights_verify(kDesc, &model->weights);
  if (status.code != FT_OK)
    return status;
  model->threads = options->threads ? options->threads : ft_count_cpus();
  if (kDesc->info.state_bytes) {
    model->state = ft_alloc_block((size_t)kDesc->info.state_bytes);
    if (!model->state)
      return ft_fail(FT_ERROR_MEMORY, "no memory for the buffers of \"%s\"",
                     kDesc->info.name);
    memset(model->state, 0, (size_t)kDesc->info.state_bytes);
    copy_initial_state(model);
  }
  return ft_ok();
}

static ft_status model_load(const ft_load_options *given, ft_model **out) {
  if (!out)
    return ft_fail(FT_ERROR_ARGUMENT, "load: model is null");
  *out = NULL;
  ft_load_options options;
  ft_status status =
      read_options("ft_load_options", given, &options, sizeof options);
  if (status.code == FT_OK)
    status = ft_check_cpu(kDesc);
  if (status.code != FT_OK)
    return status;
  if (options.threads < 0)
    return ft_fail(FT_ERROR_ARGUMENT, "load: %d threads", options.threads);
  ft_model *model = calloc(1, sizeof *model);
  if (!model)
    return ft_fail(FT_ERROR_MEMORY, "no memory for an instance of \"%s\"",
                   kDesc->info.name);
  pthread_mutex_init(&model->state_lock, NULL);
  status = fill_model(model, &options);
  if (status.code == FT_OK)
    *out = model;
  else
    model_unload(model);
  return status;
}

/*===- Forward ------------------------------------------------------------===*/

static ft_status check_count(const char *what, int32_t expected, int32_t got,
                             const ft_value_info *const *infos,
                             const DLTensor *tensors) {
  if (got != expected) {
    ft_text names = {.size = 0};
    for (int32_t i = 0; i < expected; ++i)
      ft_text_add(&names, "%s\"%s\"", i ? ", " : "", infos[i]->name);
    return ft_fail(FT_ERROR_TENSOR, "expected %d %s%s (%s), got %d", expected,
                   what, expected == 1 ? "" : "s", names.chars, got);
  }
  if (expected && !tensors)
    return ft_fail(FT_ERROR_ARGUMENT, "the array of %ss is null", what);
  return ft_ok();
}

/* What the outputs will be; sizes do not depend on the inputs' yet, which are
 * checked all the same. */
static void describe_output(const ft_value_info *info, DLTensor *output) {
  output->device = info->device;
  output->dtype = info->dtype;
  output->ndim = info->ndim;
  size_t bytes = (size_t)info->ndim * sizeof(int64_t);
  if (output->shape && bytes)
    memcpy(output->shape, info->sizes, bytes);
  if (output->strides && bytes)
    memcpy(output->strides, info->strides, bytes);
}

static ft_status model_output_shapes(ft_model *model, const DLTensor *inputs,
                                     int32_t num_inputs, DLTensor *outputs,
                                     int32_t num_outputs) {
  const ft_model_info *info = &kDesc->info;
  if (!model)
    return ft_fail(FT_ERROR_ARGUMENT, "output_shapes: model is null");
  ft_status status =
      check_count("input", info->num_inputs, num_inputs, info->inputs, inputs);
  if (status.code == FT_OK)
    status = check_count("output", info->num_outputs, num_outputs,
                         info->outputs, outputs);
  for (int32_t i = 0; i < num_inputs && status.code == FT_OK; ++i) {
    /* Only what the sizes depend on: an input may have no data yet. */
    DLTensor shape_only = inputs[i];
    uint64_t stand_in[2];
    shape_only.data = stand_in;
    shape_only.strides = NULL;
    shape_only.byte_offset = 0;
    ft_span span;
    status =
        ft_check_tensor("input", info->inputs[i], &shape_only, false, &span);
  }
  for (int32_t i = 0; i < num_outputs && status.code == FT_OK; ++i)
    describe_output(info->outputs[i], &outputs[i]);
  return status;
}

/* Memory for an output that came without: in the traced strides when the
 * caller has room to be told them, else row-major. */
static ft_status allocate_output(const ft_value_info *info, int32_t index,
                                 DLTensor *output,
                                 const ft_call_options *options) {
  if (!options->allocate)
    return ft_fail(FT_ERROR_TENSOR,
                   "output \"%s\": data is null and the call has no allocate",
                   info->name);
  size_t bytes = output->strides ? ft_layout_bytes(info)
                                 : (size_t)ft_count_elements(info) *
                                       ft_element_bytes(info->dtype);
  void *data = options->allocate(options->allocate_user, index, info->dtype,
                                 info->ndim, info->sizes, bytes, 64);
  if (!data && bytes)
    return ft_fail(FT_ERROR_MEMORY, "output \"%s\": no memory for %zu bytes",
                   info->name, bytes);
  describe_output(info, output);
  output->data = data;
  output->byte_offset = 0;
  return ft_ok();
}

static ft_status check_output(const ft_value_info *info, int32_t index,
                              DLTensor *output, const ft_call_options *options,
                              ft_span *span) {
  if (output->data || ft_count_elements(info) == 0) {
    if (output->data)
      return ft_check_tensor("output", info, output, true, span);
    /* Nothing to write: an empty output needs no memory. */
    describe_output(info, output);
    return ft_ok();
  }
  ft_status status = allocate_output(info, index, output, options);
  span->data = output->data;
  span->bytes = ft_layout_bytes(info);
  return status;
}

static bool spans_meet(const ft_span *a, const ft_span *b) {
  return a->bytes && b->bytes && a->data < b->data + b->bytes &&
         b->data < a->data + a->bytes;
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
static ft_status prepare(call *c, const ft_call_options *options) {
  const ft_model_info *info = c->info;
  ft_span *in = c->work->spans, *out = in + info->num_inputs;
  for (int32_t i = 0; i < info->num_inputs; ++i) {
    bool written = info->inputs[i]->flags & FT_VALUE_WRITTEN;
    ft_status status = ft_check_tensor("input", info->inputs[i], &c->inputs[i],
                                       written, &in[i]);
    if (status.code != FT_OK)
      return status;
  }
  for (int32_t i = 0; i < info->num_outputs; ++i) {
    ft_status status =
        check_output(info->outputs[i], i, &c->outputs[i], options, &out[i]);
    if (status.code != FT_OK)
      return status;
    for (int32_t j = 0; j < i; ++j)
      if (spans_meet(&out[i], &out[j]))
        return ft_fail(FT_ERROR_TENSOR,
                       "outputs \"%s\" and \"%s\" share memory",
                       info->outputs[j]->name, info->outputs[i]->name);
  }
  c->scratch_bytes = 0;
  for (int32_t i = 0; i < info->num_inputs; ++i) {
    bool in_place = ft_has_layout(info->inputs[i], &c->inputs[i]);
    /* Written while other values are still read from there? */
    for (int32_t j = 0; j < info->num_outputs && in_place; ++j)
      in_place = !spans_meet(&in[i], &out[j]);
    for (int32_t j = 0; j < info->num_inputs && in_place; ++j)
      if (j != i && (info->inputs[j]->flags & FT_VALUE_WRITTEN))
        in_place = !spans_meet(&in[i], &in[j]);
    c->work->inputs[i] = in_place ? in[i].data : kInScratch;
    if (!in_place)
      reserve(&c->scratch_bytes, info->inputs[i]);
  }
  for (int32_t i = 0; i < info->num_outputs; ++i) {
    bool in_place = ft_has_layout(info->outputs[i], &c->outputs[i]);
    c->work->outputs[i] = in_place ? out[i].data : kInScratch;
    if (!in_place)
      reserve(&c->scratch_bytes, info->outputs[i]);
  }
  return ft_ok();
}

/* Gives the marked tensors their places, in the order that prepare counted. */
static ft_status fill_scratch(call *c) {
  const ft_model_info *info = c->info;
  if (!c->scratch_bytes)
    return ft_ok();
  uint8_t *scratch = ft_workspace_scratch(c->work, c->scratch_bytes);
  if (!scratch)
    return ft_fail(FT_ERROR_MEMORY, "no memory for copies of inputs");
  size_t used = 0;
  for (int32_t i = 0; i < info->num_inputs; ++i)
    if (c->work->inputs[i] == kInScratch) {
      c->work->inputs[i] = scratch + reserve(&used, info->inputs[i]);
      ft_copy_in(info->inputs[i], c->work->inputs[i], &c->inputs[i]);
    }
  for (int32_t i = 0; i < info->num_outputs; ++i)
    if (c->work->outputs[i] == kInScratch)
      c->work->outputs[i] = scratch + reserve(&used, info->outputs[i]);
  return ft_ok();
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
    if (c->work->outputs[i] != out[i].data)
      ft_copy_out(info->outputs[i], c->work->outputs[i], &c->outputs[i]);
}

static ft_status run(ft_model *model, call *c, const ft_call_options *options) {
  ft_status status = prepare(c, options);
  if (status.code == FT_OK)
    status = fill_scratch(c);
  if (status.code != FT_OK)
    return status;
  ft_exec *exec = &c->work->exec;
  exec->threads = options->threads ? options->threads : model->threads;
  exec->parallel_for = options->parallel_for;
  exec->parallel_for_user = options->parallel_for_user;
  atomic_store(&exec->failed, 0);
  if (model->state)
    pthread_mutex_lock(&model->state_lock);
  int code = ft_gen_forward(exec, c->work->inputs, c->work->outputs,
                            c->work->arena, model->weights.data, model->state);
  if (model->state)
    pthread_mutex_unlock(&model->state_lock);
  if (atomic_load(&exec->failed))
    return exec->status;
  if (code != 0)
    return ft_fail(code, "the call failed with code %d", code);
  write_back(c);
  return ft_ok();
}

static ft_status model_forward(ft_model *model, const DLTensor *inputs,
                               int32_t num_inputs, DLTensor *outputs,
                               int32_t num_outputs,
                               const ft_call_options *given) {
  const ft_model_info *info = &kDesc->info;
  if (!model)
    return ft_fail(FT_ERROR_ARGUMENT, "forward: model is null");
  ft_call_options options;
  ft_status status =
      read_options("ft_call_options", given, &options, sizeof options);
  if (status.code == FT_OK && options.threads < 0)
    status = ft_fail(FT_ERROR_ARGUMENT, "forward: %d threads", options.threads);
  if (status.code == FT_OK)
    status = check_count("input", info->num_inputs, num_inputs, info->inputs,
                         inputs);
  if (status.code == FT_OK)
    status = check_count("output", info->num_outputs, num_outputs,
                         info->outputs, outputs);
  if (status.code != FT_OK)
    return status;
  call c = {.info = info, .inputs = inputs, .outputs = outputs};
  c.work = ft_workspace_take(&model->workspaces, info);
  if (!c.work)
    return ft_fail(FT_ERROR_MEMORY, "no memory for a call of \"%s\"",
                   info->name);
  status = run(model, &c, &options);
  ft_workspace_give(&model->workspaces, c.work);
  return status;
}

/*===- Parameters and buffers ---------------------------------------------===*/

static const char *kind_name(const ft_value_info *info) {
  return info->flags & FT_VALUE_PARAMETER ? "parameter" : "buffer";
}

static ft_status check_state(const char *call, ft_model *model, int32_t index,
                             const DLTensor *tensor, bool written) {
  const ft_model_info *info = &kDesc->info;
  if (!model || !tensor)
    return ft_fail(FT_ERROR_ARGUMENT, "%s: %s is null", call,
                   model ? "the tensor" : "model");
  if (index < 0 || index >= info->num_state)
    return ft_fail(FT_ERROR_ARGUMENT,
                   "%s: index %d, the model has %d parameters and buffers",
                   call, index, info->num_state);
  const ft_value_info *value = info->state[index];
  ft_span span;
  return ft_check_tensor(kind_name(value), value, tensor, written, &span);
}

static ft_status model_read_state(ft_model *model, int32_t index,
                                  DLTensor *to) {
  ft_status status = check_state("read_state", model, index, to, true);
  if (status.code != FT_OK)
    return status;
  const ft_value_info *value = kDesc->info.state[index];
  const ft_state_place *place = &kDesc->state_places[index];
  if (place->state_offset >= 0) {
    pthread_mutex_lock(&model->state_lock);
    ft_copy_out(value, model->state + place->state_offset, to);
    pthread_mutex_unlock(&model->state_lock);
  } else if (place->weights_offset >= 0) {
    ft_copy_out(value, model->weights.data + place->weights_offset, to);
  } else {
    return ft_fail(FT_ERROR_UNSUPPORTED,
                   "%s \"%s\" was repacked at compile time and cannot be read",
                   kind_name(value), value->name);
  }
  return ft_ok();
}

static ft_status model_write_state(ft_model *model, int32_t index,
                                   const DLTensor *from) {
  ft_status status = check_state("write_state", model, index, from, false);
  if (status.code != FT_OK)
    return status;
  const ft_value_info *value = kDesc->info.state[index];
  const ft_state_place *place = &kDesc->state_places[index];
  if (place->state_offset < 0)
    return ft_fail(FT_ERROR_UNSUPPORTED,
                   "%s \"%s\" is constant in this model and cannot be written",
                   kind_name(value), value->name);
  pthread_mutex_lock(&model->state_lock);
  ft_copy_in(value, model->state + place->state_offset, from);
  pthread_mutex_unlock(&model->state_lock);
  return ft_ok();
}

static ft_status model_reset_state(ft_model *model) {
  if (!model)
    return ft_fail(FT_ERROR_ARGUMENT, "reset_state: model is null");
  if (model->state) {
    pthread_mutex_lock(&model->state_lock);
    copy_initial_state(model);
    pthread_mutex_unlock(&model->state_lock);
  }
  return ft_ok();
}

static ft_status model_verify_weights(ft_model *model) {
  if (!model)
    return ft_fail(FT_ERROR_ARGUMENT, "verify_weights: model is null");
  return ft_weights_verify(kDesc, &model->weights);
}

/*===- Training -----------------------------------------------------------===*/

static ft_status no_training(void) {
  return ft_fail(FT_ERROR_UNSUPPORTED,
                 "\"%s\" was compiled for inference; training needs a model "
                 "compiled with --training",
                 kDesc->info.name);
}

static ft_status model_load_parameters(ft_model *model, DLTensor *state,
                                       int32_t num_state) {
  (void)model, (void)state, (void)num_state;
  return no_training();
}

static ft_status model_train(ft_model *model, const ft_train_call *call) {
  (void)model, (void)call;
  return no_training();
}

/*===- The table ----------------------------------------------------------===*/

__attribute__((visibility("default"))) const ft_api *foretrace_model_v1(void) {
  static const ft_api kApi = {
      .struct_size = sizeof(ft_api),
      .info = &ft_gen_desc.info,
      .load = model_load,
      .unload = model_unload,
      .output_shapes = model_output_shapes,
      .forward = model_forward,
      .read_state = model_read_state,
      .write_state = model_write_state,
      .reset_state = model_reset_state,
      .verify_weights = model_verify_weights,
      .load_parameters = model_load_parameters,
      .train = model_train,
  };
  return &kApi;
}
