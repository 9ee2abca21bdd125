/*===- train.c - Forward and backward of a model that is trained ---- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program takes and gives tensors in an order of its own; its places say what
 * each is to the user. Values that forward saves live in a handle, which has
 * the arena of both programs, and memory for those whose sizes the data decide;
 * the next forward uses it again:
 *
 *   forward   inputs, state            -> outputs, saved      (handle out)
 *   backward  inputs, state, saved, tangents -> gradients     (handle in)
 *   update    state, gradients, optimizer's state, hyperparameters -> in place
 *   step      all, the handle stays inside
 *===----------------------------------------------------------------------===*/
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/*===- Saved values -------------------------------------------------------===*/

typedef struct saved_value {
  uint8_t *block;
  size_t bytes; /* of the block */
  DLTensor tensor;
} saved_value;

typedef struct ft_saved {
  struct ft_saved *next; /* in ft_model.held */
  ft_arena arena;
  int32_t count;
  int64_t *layout; /* sizes and strides of all */
  saved_value values[];
} ft_saved;

static void saved_free(ft_saved *saved) {
  if (!saved)
    return;
  for (int32_t i = 0; i < saved->count; ++i)
    ft_free_block(saved->values[i].block);
  ft_free_block(saved->arena.data);
  free(saved->layout);
  free(saved);
}

void ft_drop_saved(ft_model *model) {
  saved_free(atomic_exchange(&model->kept, NULL));
  while (model->held) {
    ft_saved *next = model->held->next;
    saved_free(model->held);
    model->held = next;
  }
}

/* The caller has it from now on. */
static void saved_hold(ft_model *model, ft_saved *saved) {
  pthread_mutex_lock(&model->held_lock);
  saved->next = model->held;
  model->held = saved;
  pthread_mutex_unlock(&model->held_lock);
}

/* Takes a handle back; NULL: it is none, or was taken back before. It is looked
 * at only when it is known to be one. */
static ft_saved *saved_regain(ft_model *model, const void *handle) {
  pthread_mutex_lock(&model->held_lock);
  ft_saved **at = &model->held;
  while (*at && *at != handle)
    at = &(*at)->next;
  ft_saved *saved = *at;
  if (saved)
    *at = saved->next;
  pthread_mutex_unlock(&model->held_lock);
  return saved;
}

static void saved_give(ft_model *model, ft_saved *saved) {
  saved_free(atomic_exchange(&model->kept, saved));
}

/* What forward returns at a place of kind FT_PLACE_SAVED. */
static const ft_value_info *saved_info(int32_t index) {
  const ft_program_desc *forward = ft_gen_desc.training->programs[0];
  for (int32_t i = 0; i < forward->desc.info.num_outputs; ++i)
    if (forward->outputs[i].kind == FT_PLACE_SAVED &&
        forward->outputs[i].index == index)
      return forward->desc.info.outputs[i];
  return NULL;
}

static ft_saved *saved_take(ft_model *model) {
  ft_saved *saved = atomic_exchange(&model->kept, NULL);
  if (saved)
    return saved;
  int32_t count = ft_gen_desc.training->num_saved;
  saved = calloc(1, sizeof *saved + (size_t)count * sizeof(saved_value));
  if (!saved)
    return NULL;
  saved->count = count;
  size_t words = 1;
  for (int32_t i = 0; i < count; ++i)
    words += 2 * (size_t)saved_info(i)->ndim;
  saved->layout = calloc(words, sizeof *saved->layout);
  if (!saved->layout) {
    free(saved);
    return NULL;
  }
  int64_t *at = saved->layout;
  for (int32_t i = 0; i < count; ++i) {
    const ft_value_info *info = saved_info(i);
    DLTensor *tensor = &saved->values[i].tensor;
    tensor->device = info->device;
    tensor->dtype = info->dtype;
    tensor->ndim = info->ndim;
    tensor->shape = at;
    tensor->strides = at + info->ndim;
    at += 2 * info->ndim;
  }
  return saved;
}

void ft_model_release(ft_model *model, void *saved) {
  ft_saved *ours = model ? saved_regain(model, saved) : NULL;
  if (ours)
    saved_give(model, ours);
}

/*===- Tensors by place ---------------------------------------------------===*/

typedef struct training {
  ft_model *model;
  const ft_train_call *call;
  const ft_call_options *options;
  ft_saved *saved;
  DLTensor *tangents;       /* [num_outputs] */
  DLTensor *input_tangents; /* [num_inputs] */
  DLTensor hypers[FT_NUM_HYPERPARAMETERS];
} training;

static DLTensor *at_place(const training *t, ft_place place) {
  switch (place.kind) {
  case FT_PLACE_INPUT:
    return (DLTensor *)(uintptr_t)&t->call->inputs[place.index];
  case FT_PLACE_OUTPUT:
    return &t->call->outputs[place.index];
  case FT_PLACE_STATE:
    return &t->call->state[place.index];
  case FT_PLACE_TANGENT:
    return &t->tangents[place.index];
  case FT_PLACE_INPUT_TANGENT:
    return &t->input_tangents[place.index];
  case FT_PLACE_GRADIENT:
    return &t->call->gradients[place.index];
  case FT_PLACE_INPUT_GRADIENT:
    return &t->call->input_gradients[place.index];
  case FT_PLACE_OPTIMIZER:
    return &t->call->optimizer[place.index];
  case FT_PLACE_HYPERPARAMETER:
    return (DLTensor *)(uintptr_t)&t->hypers[place.index];
  default:
    return &t->saved->values[place.index].tensor;
  }
}

typedef struct allocation {
  const training *training;
  const ft_place *outputs;
} allocation;

/* Memory for what forward saves; the caller's for everything else. */
static void *allocate(void *user, int32_t index, DLDataType dtype, int32_t ndim,
                      const int64_t *shape, size_t bytes, size_t alignment) {
  const allocation *a = user;
  ft_place place = a->outputs[index];
  if (place.kind != FT_PLACE_SAVED) {
    const ft_call_options *options = a->training->options;
    return options->allocate
               ? options->allocate(options->allocate_user, place.index, dtype,
                                   ndim, shape, bytes, alignment)
               : NULL;
  }
  saved_value *value = &a->training->saved->values[place.index];
  if (!value->block || value->bytes < bytes) {
    ft_free_block(value->block);
    value->bytes = bytes ? bytes : 1;
    value->block = ft_alloc_block(value->bytes);
  }
  return value->block;
}

static bool run_program(training *t, int which, ft_status *status) {
  const ft_program_desc *program = ft_gen_desc.training->programs[which];
  const ft_model_info *info = &program->desc.info;
  size_t count = (size_t)info->num_inputs + (size_t)info->num_outputs;
  DLTensor *tensors = calloc(count + 1, sizeof *tensors);
  if (!tensors)
    return ft_fail(status, FT_ERROR_MEMORY, "no memory for a call of \"%s\"",
                   ft_gen_desc.info.name);
  DLTensor *outputs = tensors + info->num_inputs;
  for (int32_t i = 0; i < info->num_inputs; ++i)
    tensors[i] = *at_place(t, program->inputs[i]);
  for (int32_t i = 0; i < info->num_outputs; ++i) {
    outputs[i] = *at_place(t, program->outputs[i]);
    if (program->outputs[i].kind == FT_PLACE_SAVED)
      outputs[i].data = NULL;
  }
  allocation user = {t, program->outputs};
  ft_call_options options = *t->options;
  options.allocate = allocate;
  options.allocate_user = &user;
  bool done = ft_run_program(
      t->model, &program->desc, &t->model->programs[which],
      t->saved ? &t->saved->arena : NULL, tensors, outputs, &options, status);
  for (int32_t i = 0; i < info->num_outputs && done; ++i)
    *at_place(t, program->outputs[i]) = outputs[i];
  free(tensors);
  return done;
}

DLTensor *ft_train_inputs(const ft_program_desc *program,
                          const DLTensor *inputs) {
  const ft_model_info *info = &program->desc.info;
  DLTensor *tensors = calloc((size_t)info->num_inputs + 1, sizeof *tensors);
  for (int32_t i = 0; tensors && i < info->num_inputs; ++i) {
    const ft_value_info *value = info->inputs[i];
    if (program->inputs[i].kind == FT_PLACE_INPUT) {
      tensors[i] = inputs[program->inputs[i].index];
      continue;
    }
    tensors[i].device = value->device;
    tensors[i].dtype = value->dtype;
    tensors[i].ndim = value->ndim;
    tensors[i].shape = (int64_t *)(uintptr_t)value->sizes;
  }
  return tensors;
}

/*===- Tangents -----------------------------------------------------------===*/

/* Element i of an array of ones of some floating-point dtype. */
static bool fill_ones(DLTensor *tensor, int64_t count) {
  uint8_t code = tensor->dtype.code, bits = tensor->dtype.bits;
  for (int64_t i = 0; i < count; ++i) {
    if (code == kDLFloat && bits == 32)
      ((float *)tensor->data)[i] = 1;
    else if (code == kDLFloat && bits == 64)
      ((double *)tensor->data)[i] = 1;
    else if (code == kDLFloat && bits == 16)
      ((uint16_t *)tensor->data)[i] = 0x3c00;
    else if (code == kDLBfloat && bits == 16)
      ((uint16_t *)tensor->data)[i] = 0x3f80;
    else if (code == kDLComplex && bits == 64)
      ((float *)tensor->data)[2 * i] = 1;
    else if (code == kDLComplex && bits == 128)
      ((double *)tensor->data)[2 * i] = 1;
    else
      return false;
  }
  return true;
}

/* Tangents that the caller has not given. */
typedef struct made_tangents {
  DLTensor *outputs, *inputs; /* arrays, or NULL */
  void **blocks;              /* memory of tensors in them */
  int32_t count;
} made_tangents;

/* A row-major tensor of the sizes of `like`, of zeros. */
static bool make_zeros(made_tangents *made, DLTensor *tensor,
                       const DLTensor *like) {
  *tensor = *like;
  int64_t count = ft_kernel_numel(like);
  size_t bytes = (size_t)count * (size_t)(tensor->dtype.bits / 8);
  tensor->strides = NULL;
  tensor->byte_offset = 0;
  tensor->data = calloc(bytes + 1, 1);
  made->blocks[made->count++] = tensor->data;
  return tensor->data;
}

/* The caller's tangents; ones of the sizes of the outputs without these, zeros
 * of the sizes of inputs. */
static bool use_tangents(training *t, made_tangents *made, ft_status *status) {
  const ft_train_call *call = t->call;
  const ft_program_desc *backward = ft_gen_desc.training->programs[1];
  size_t inputs = (size_t)call->num_inputs, outputs = (size_t)call->num_outputs;
  made->blocks = calloc(inputs + outputs + 1, sizeof *made->blocks);
  made->inputs = calloc(inputs + 1, sizeof *made->inputs);
  if (call->input_tangents && made->inputs && inputs)
    memcpy(made->inputs, call->input_tangents, inputs * sizeof *made->inputs);
  if (!call->tangents)
    made->outputs = calloc(outputs + 1, sizeof *made->outputs);
  t->input_tangents = made->inputs;
  t->tangents =
      made->outputs ? made->outputs : (DLTensor *)(uintptr_t)call->tangents;
  bool good = made->blocks && t->input_tangents && t->tangents;
  for (int32_t i = 0; good && i < backward->desc.info.num_inputs; ++i) {
    ft_place place = backward->inputs[i];
    DLTensor *tensor = at_place(t, place);
    if (place.kind == FT_PLACE_INPUT_TANGENT && !tensor->data)
      good = make_zeros(made, tensor, &call->inputs[place.index]);
    if (place.kind != FT_PLACE_TANGENT || call->tangents)
      continue;
    good = make_zeros(made, tensor, &call->outputs[place.index]);
    if (good && !fill_ones(tensor, ft_kernel_numel(tensor)))
      return ft_fail(status, FT_ERROR_TENSOR,
                     "train: output %d has no tangent of ones", place.index);
  }
  return good || ft_fail(status, FT_ERROR_MEMORY, "no memory for tangents");
}

static void free_tangents(made_tangents *made) {
  for (int32_t i = 0; made->blocks && i < made->count; ++i)
    free(made->blocks[i]);
  free(made->blocks);
  free(made->inputs);
  free(made->outputs);
}

/*===- The update of parameters -------------------------------------------===*/

static bool update(training *t, const ft_optimizer_options *o,
                   ft_status *status) {
  double values[] = {
#define FT_HYPER_REAL(field) o->field,
#define FT_HYPER_FLAG(field) o->field,
#include "hyperparameters.def"
  };
  for (int32_t i = 0; i < FT_NUM_HYPERPARAMETERS; ++i)
    t->hypers[i] = ft_tensor(&values[i], kDLFloat, 64, 0, NULL);
  return run_program(t, 2, status);
}

/*===- The call -----------------------------------------------------------===*/

static bool check_array(const char *what, int32_t expected, int32_t got,
                        const void *tensors, ft_status *status) {
  if (got != expected)
    return ft_fail(status, FT_ERROR_TENSOR, "train: expected %d %s, got %d",
                   expected, what, got);
  return !expected || tensors ||
         ft_fail(status, FT_ERROR_ARGUMENT, "train: the array of %s is null",
                 what);
}

static bool check_call(const ft_model *model, const ft_train_call *call,
                       ft_status *status) {
  const ft_model_info *info = &ft_gen_desc.info;
  if (!model)
    return ft_fail(status, FT_ERROR_ARGUMENT, "train: model is null");
  int32_t phase = call->phase;
  if (phase != FT_TRAIN_FORWARD && phase != FT_TRAIN_BACKWARD &&
      phase != FT_TRAIN_STEP && phase != FT_TRAIN_UPDATE)
    return ft_fail(status, FT_ERROR_ARGUMENT, "train: there is no phase %d",
                   phase);
  bool updates = phase == FT_TRAIN_UPDATE;
  if ((!updates && (!check_array("inputs", info->num_inputs, call->num_inputs,
                                 call->inputs, status) ||
                    !check_array("outputs", info->num_outputs,
                                 call->num_outputs, call->outputs, status))) ||
      !check_array("states", info->num_state, call->num_state, call->state,
                   status))
    return false;
  if (phase != FT_TRAIN_FORWARD && info->num_state && !call->gradients)
    return ft_fail(status, FT_ERROR_ARGUMENT,
                   "train: the array of gradients is null");
  for (int32_t i = 0; i < info->num_inputs; ++i)
    if ((phase == FT_TRAIN_BACKWARD || phase == FT_TRAIN_STEP) &&
        (info->inputs[i]->flags & FT_VALUE_GRADIENT) && !call->input_gradients)
      return ft_fail(status, FT_ERROR_ARGUMENT,
                     "train: the array of gradients of inputs is null");
  if ((updates || call->optimizer || call->optimizer_options) &&
      !info->optimizer_name)
    return ft_fail(status, FT_ERROR_UNSUPPORTED,
                   "train: \"%s\" was compiled without an optimizer",
                   info->name);
  if ((updates || phase == FT_TRAIN_STEP) && info->num_optimizer &&
      !call->optimizer)
    return ft_fail(status, FT_ERROR_ARGUMENT,
                   "train: the array of the optimizer's state is null");
  if (phase != FT_TRAIN_STEP && !updates && !call->saved)
    return ft_fail(status, FT_ERROR_ARGUMENT, "train: saved is null");
  return true;
}

static bool forward(training *t, ft_status *status) {
  t->saved = saved_take(t->model);
  if (!t->saved)
    return ft_fail(status, FT_ERROR_MEMORY, "no memory for saved values");
  t->saved->arena.filled = false;
  if (run_program(t, 0, status)) {
    t->saved->arena.filled = true;
    return true;
  }
  saved_give(t->model, t->saved);
  t->saved = NULL;
  return false;
}

static bool backward(training *t, ft_status *status) {
  made_tangents made = {0};
  bool done = use_tangents(t, &made, status) && run_program(t, 1, status);
  free_tangents(&made);
  saved_give(t->model, t->saved);
  t->saved = NULL;
  return done;
}

static void run_phase(training *t, const ft_optimizer_options *optimizer,
                      ft_status *status) {
  const ft_train_call *call = t->call;
  switch (call->phase) {
  case FT_TRAIN_FORWARD:
    if (forward(t, status)) {
      saved_hold(t->model, t->saved);
      *call->saved = t->saved;
    }
    break;
  case FT_TRAIN_BACKWARD:
    t->saved = saved_regain(t->model, *call->saved);
    if (!t->saved) {
      ft_fail(status, FT_ERROR_ARGUMENT,
              "train: saved is not what a forward of this model made, or was "
              "given back");
      break;
    }
    *call->saved = NULL;
    backward(t, status);
    break;
  case FT_TRAIN_UPDATE:
    update(t, optimizer, status);
    break;
  default:
    if (forward(t, status) && backward(t, status) &&
        ft_gen_desc.info.optimizer_name)
      update(t, optimizer, status);
  }
}

ft_status ft_model_train(ft_model *model, const ft_train_call *given) {
  ft_status status;
  ft_set_ok(&status);
  ft_train_call call;
  ft_call_options options;
  if (!ft_gen_desc.training)
    ft_fail(&status, FT_ERROR_UNSUPPORTED,
            "\"%s\" was compiled for inference; training needs a model "
            "compiled with --training",
            ft_gen_desc.info.name);
  else if (!given)
    ft_fail(&status, FT_ERROR_ARGUMENT, "train: call is null");
  if (status.code != FT_OK ||
      !ft_read_options("ft_train_call", given, &call, sizeof call, &status) ||
      !check_call(model, &call, &status) ||
      !ft_read_call_options("train", call.options, &options, &status))
    return status;
  training t = {.model = model, .call = &call, .options = &options};
  ft_optimizer_options optimizer;
  if (!ft_gen_desc.info.optimizer_name ||
      ft_read_hyperparameters(call.optimizer_options, &optimizer, &status))
    run_phase(&t, &optimizer, &status);
  return status;
}

/*===- Parameters ---------------------------------------------------------===*/

ft_status ft_model_load_parameters(ft_model *model, DLTensor *state,
                                   int32_t num_state) {
  const ft_model_info *info = &ft_gen_desc.info;
  ft_status status;
  ft_set_ok(&status);
  if (!model)
    ft_fail(&status, FT_ERROR_ARGUMENT, "load_parameters: model is null");
  else if (!ft_gen_desc.training)
    ft_fail(&status, FT_ERROR_UNSUPPORTED,
            "\"%s\" was compiled for inference; training needs a model "
            "compiled with --training",
            info->name);
  else if (num_state != info->num_state || (num_state && !state))
    ft_fail(&status, FT_ERROR_TENSOR,
            "load_parameters: expected %d tensors, got %d", info->num_state,
            state ? num_state : 0);
  for (int32_t i = 0; i < info->num_state && status.code == FT_OK; ++i) {
    const ft_value_info *value = info->state[i];
    bool parameter = value->flags & FT_VALUE_PARAMETER;
    ft_span span;
    if (ft_check_tensor(parameter ? "parameter" : "buffer", value, &state[i],
                        true, &span, &status))
      ft_copy_out(value,
                  model->weights.data +
                      ft_gen_desc.state_places[i].weights_offset,
                  &state[i]);
  }
  return status;
}
