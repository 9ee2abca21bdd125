/*===- program.c - One run of a program ------------------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A model is one program; one that is trained has several (forward, backward,
 * update), which train.c runs one after the other. A run solves its sizes,
 * checks every tensor, and copies those whose layout is not the traced one
 * through scratch: nothing is written before all is known to be right.
 *===----------------------------------------------------------------------===*/
#include "../cuda/device.h"
#include "internal.h"
#include "sanitize.h"

#include <string.h>

/* Adds what a copy of the value takes to *total, on a 64-byte boundary. */
static size_t reserve(size_t *total, const ft_value_info *info) {
  size_t at = *total;
  *total += (ft_layout_bytes(info) + 63) / 64 * 64;
  return at;
}

/* Stands in `inputs`/`outputs` until the scratch is allocated. */
static void *const kInScratch = (void *)(uintptr_t)1;

typedef struct call {
  int32_t num_inputs, num_outputs;
  const DLTensor *inputs;
  DLTensor *outputs;
  ft_workspace *work;
  const ft_value_info *const *in; /* what they have to be, see work->values */
  const ft_value_info *const *out;
  size_t scratch_bytes;
} call;

/* The host can copy only what is in its memory. */
static bool on_host(const char *what, const ft_value_info *info,
                    const DLTensor *tensor, ft_status *status) {
  if (tensor->device.device_type == kDLCPU)
    return true;
  ft_text device = {.size = 0}, strides = {.size = 0};
  ft_text_add_device(&device, tensor->device);
  ft_text_add_list(&strides, info->strides, info->ndim);
  return ft_fail(status, FT_ERROR_TENSOR,
                 "%s \"%s\": on %s it must have the strides %s, and share no "
                 "memory with what the call writes",
                 what, info->name, device.chars, strides.chars);
}

/* Every tensor is checked, outputs get memory, and those that cannot be used
 * in place are marked to go through scratch. */
static bool prepare(call *c, const ft_call_options *options,
                    ft_status *status) {
  if (!ft_size_call(c->work, c->inputs, status))
    return false;
  ft_span *in = c->work->spans, *out = in + c->num_inputs;
  for (int32_t i = 0; i < c->num_inputs; ++i) {
    bool written = c->in[i]->flags & FT_VALUE_WRITTEN;
    in[i].bytes = 0;
    if (!(c->in[i]->flags & FT_VALUE_IN_ARENA) &&
        !ft_check_tensor("input", c->in[i], &c->inputs[i], written, &in[i],
                         status))
      return false;
    /* The program reads the other one as it was before. */
    for (int32_t j = 0; j < i; ++j) {
      bool either = written || (c->in[j]->flags & FT_VALUE_WRITTEN);
      if (either && ft_spans_meet(&in[i], &in[j]))
        return ft_fail(status, FT_ERROR_TENSOR,
                       "inputs \"%s\" and \"%s\" share memory, and the "
                       "model writes \"%s\"",
                       c->in[j]->name, c->in[i]->name,
                       c->in[written ? i : j]->name);
    }
  }
  for (int32_t i = 0; i < c->num_outputs; ++i) {
    if (c->out[i]->flags & FT_VALUE_IN_ARENA) {
      ft_describe_output(c->out[i], &c->outputs[i]);
      out[i].bytes = 0;
      continue;
    }
    if (!(ft_is_found(c->out[i])
              ? ft_check_found_output(c->out[i], &c->outputs[i], &out[i],
                                      status)
              : ft_check_output(c->out[i], i, &c->outputs[i], options, &out[i],
                                status)))
      return false;
    for (int32_t j = 0; j < i; ++j)
      if (ft_spans_meet(&out[i], &out[j]))
        return ft_fail(status, FT_ERROR_TENSOR,
                       "outputs \"%s\" and \"%s\" share memory",
                       c->out[j]->name, c->out[i]->name);
  }
  c->scratch_bytes = 0;
  for (int32_t i = 0; i < c->num_inputs; ++i) {
    bool in_place = (c->in[i]->flags & FT_VALUE_IN_ARENA) ||
                    ft_has_layout(c->in[i], &c->inputs[i]);
    /* Written while other values are still read from there? */
    for (int32_t j = 0; j < c->num_outputs && in_place; ++j)
      in_place = !ft_spans_meet(&in[i], &out[j]);
    if (!in_place && !on_host("input", c->in[i], &c->inputs[i], status))
      return false;
    c->work->inputs[i] = in_place ? in[i].data : kInScratch;
    if (!in_place)
      reserve(&c->scratch_bytes, c->in[i]);
  }
  for (int32_t i = 0; i < c->num_outputs; ++i) {
    /* Has no memory before the call finds its sizes. */
    bool in_place = ft_is_found(c->out[i]) ||
                    (c->out[i]->flags & FT_VALUE_IN_ARENA) ||
                    ft_has_layout(c->out[i], &c->outputs[i]);
    if (!in_place && !on_host("output", c->out[i], &c->outputs[i], status))
      return false;
    c->work->outputs[i] = in_place ? out[i].data : kInScratch;
    if (!in_place)
      reserve(&c->scratch_bytes, c->out[i]);
  }
  return true;
}

/* Gives the marked tensors their places, in the order that prepare counted. */
static bool fill_scratch(call *c, ft_status *status) {
  if (!c->scratch_bytes)
    return true;
  uint8_t *scratch = ft_workspace_scratch(c->work, c->scratch_bytes);
  if (!scratch)
    return ft_fail(status, FT_ERROR_MEMORY, "no memory for copies of inputs");
  ft_close_memory(scratch, c->scratch_bytes);
  size_t used = 0;
  for (int32_t i = 0; i < c->num_inputs; ++i)
    if (c->work->inputs[i] == kInScratch) {
      c->work->inputs[i] = scratch + reserve(&used, c->in[i]);
      ft_open_memory(c->work->inputs[i], ft_layout_bytes(c->in[i]));
      ft_copy_in(c->in[i], c->work->inputs[i], &c->inputs[i]);
    }
  for (int32_t i = 0; i < c->num_outputs; ++i)
    if (c->work->outputs[i] == kInScratch) {
      c->work->outputs[i] = scratch + reserve(&used, c->out[i]);
      ft_open_memory(c->work->outputs[i], ft_layout_bytes(c->out[i]));
    }
  return true;
}

static void write_back(call *c) {
  const ft_span *in = c->work->spans, *out = in + c->num_inputs;
  for (int32_t i = 0; i < c->num_inputs; ++i)
    if ((c->in[i]->flags & FT_VALUE_WRITTEN) &&
        c->work->inputs[i] != in[i].data) {
      DLTensor to = c->inputs[i];
      ft_copy_out(c->in[i], c->work->inputs[i], &to);
    }
  for (int32_t i = 0; i < c->num_outputs; ++i)
    if (c->work->outputs[i] != out[i].data)
      ft_copy_out(c->out[i], c->work->outputs[i], &c->outputs[i]);
}

static bool run(ft_model *model, call *c, const ft_call_options *options,
                ft_status *status) {
  if (!prepare(c, options, status) || !fill_scratch(c, status))
    return false;
  const ft_model_desc *desc = c->work->desc;
  const uint8_t *weights = NULL;
  uint8_t *arena = NULL;
  ft_device_call gpu = {.work = c->work, .stream = options->stream};
  if (desc->cuda) {
    if (!ft_device_open(model, &gpu.device, status) ||
        !ft_device_enter(&gpu, c->inputs, c->outputs, status))
      return false;
    arena = ft_device_arena(&gpu);
    weights = ft_device_weights(&gpu);
  }
  /* What code on the host is given: its own memory, unless all is the GPU's. */
  bool on_host = !desc->cuda || desc->cuda->mixed;
  if (on_host) {
    arena = ft_workspace_arena(c->work);
    weights = model->weights.data;
  }
  if (!arena && on_host) {
    if (desc->cuda)
      ft_device_leave(&gpu, false, status);
    return ft_fail(status, FT_ERROR_MEMORY,
                   "no memory for a call of \"%s\": it works in %zu bytes",
                   c->work->desc->info.name, c->work->arena_needed);
  }
  /* What nothing has written is no number that looks right. */
  if (!desc->cuda) {
    if (FT_SANITIZED && !c->work->arena.filled)
      memset(arena, 0xfb, c->work->arena_needed);
    ft_close_memory(arena, c->work->arena_needed);
  }
  ft_exec *exec = &c->work->exec;
  exec->threads = options->threads ? options->threads : model->threads;
  exec->parallel_for = options->parallel_for;
  exec->parallel_for_user = options->parallel_for_user;
  uint64_t started = atomic_fetch_add(&model->calls, 1) + 1;
  exec->seed = model->seed;
  exec->offset =
      ft_call_offset(options->random_call ? options->random_call : started);
  exec->work = c->work;
  exec->outputs = c->outputs;
  exec->options = options;
  exec->device = desc->cuda ? &gpu : NULL;
  atomic_store(&exec->failed, 0);
  if (model->state)
    pthread_mutex_lock(&model->state_lock);
  int code =
      desc->forward(exec, c->work->inputs, c->work->outputs, arena,
                    weights + desc->weights_base, model->state, c->work->sizes);
  if (model->state)
    pthread_mutex_unlock(&model->state_lock);
  if (!desc->cuda)
    ft_open_memory(arena, c->work->arena_needed);
  bool ran = !atomic_load(&exec->failed) && code == 0;
  bool left = !desc->cuda || ft_device_leave(&gpu, ran, status);
  if (atomic_load(&exec->failed)) {
    *status = exec->status;
    ft_tell_sizes(c->work, true, status);
  } else if (code != 0)
    ft_fail(status, code, "the call failed with code %d", code);
  else if (left && ft_check_accesses(status))
    write_back(c);
  ft_free_temporaries(exec);
  return status->code == FT_OK;
}

static void swap_arenas(ft_arena *a, ft_arena *b) {
  ft_arena other = *a;
  *a = *b;
  *b = other;
}

bool ft_run_program(ft_model *model, const ft_model_desc *desc,
                    ft_workspace_cache *cache, ft_arena *arena,
                    const DLTensor *inputs, DLTensor *outputs,
                    const ft_call_options *options, ft_status *status) {
  call c = {.num_inputs = desc->info.num_inputs,
            .num_outputs = desc->info.num_outputs,
            .inputs = inputs,
            .outputs = outputs};
  c.work = ft_workspace_take(cache, desc, status);
  if (!c.work)
    return false;
  c.in = c.work->values;
  c.out = c.in + c.num_inputs;
  if (arena)
    swap_arenas(&c.work->arena, arena);
  bool done = run(model, &c, options, status);
  if (arena)
    swap_arenas(&c.work->arena, arena);
  ft_workspace_give(cache, c.work);
  return done;
}
