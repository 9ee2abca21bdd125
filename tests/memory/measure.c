/*===- measure.c - The peak of a training step, by the operating system - C11 -*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * measure MODEL.so SIZE...
 *
 * Runs three steps of a model that was compiled with --training, with inputs of
 * zeros, each symbol being SIZE in the order of ft_model_info.symbols. Prints
 * three numbers of bytes: by how much the most memory that the process has had
 * (VmHWM) exceeds what it had before it loaded the model; the tensors that this
 * program allocated; what the model says of its arena (at the hints).
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "foretrace/runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static size_t allocated;

static long kilobytes(const char *field) {
  char line[256];
  long value = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field)))
      value = atol(line + strlen(field));
  if (file)
    fclose(file);
  return value;
}

static int failed(ft_status status) {
  if (status.code)
    fprintf(stderr, "%s\n", status.message);
  return status.code;
}

/* Written, so that its pages are there. */
static void fill(DLTensor *tensor) {
  size_t bytes = tensor->dtype.bits / 8;
  for (int i = 0; i < tensor->ndim; ++i)
    bytes *= (size_t)tensor->shape[i];
  tensor->data = malloc(bytes + 64);
  if (!tensor->data)
    exit(5);
  memset(tensor->data, 0, bytes);
  allocated += bytes;
}

static DLTensor *tensors(int count) {
  DLTensor *all = calloc((size_t)count + 1, sizeof *all);
  for (int i = 0; i < count; ++i)
    all[i].shape = calloc(64, sizeof(int64_t));
  return all;
}

static void describe(DLTensor *tensor, const ft_value_info *info) {
  tensor->dtype = info->dtype;
  tensor->device = info->device;
  tensor->ndim = info->ndim;
  for (int i = 0; i < info->ndim; ++i)
    tensor->shape[i] = info->sizes[i];
}

int main(int argc, char **argv) {
  long before = kilobytes("VmRSS:");
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!library) {
    fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "measure MODEL.so SIZE...");
    return 2;
  }
  ft_api_getter getter;
  *(void **)&getter = dlsym(library, FT_API_SYMBOL);
  const ft_api *api = getter();
  const ft_model_info *info = api->info;
  ft_load_options load = ft_load_options_init();
  load.threads = 1;
  ft_model *model;
  if (failed(api->load(&load, &model)))
    return 1;
  int64_t values[64] = {0};
  for (int i = 0; i < info->num_symbols && i < 64; ++i)
    values[i] = i + 2 < argc ? atoll(argv[i + 2]) : info->symbols[i]->hint;

  DLTensor *inputs = tensors(info->num_inputs);
  DLTensor *outputs = tensors(info->num_outputs);
  DLTensor *state = tensors(info->num_state);
  DLTensor *gradients = tensors(info->num_state);
  if (failed(api->input_shapes(model, values, info->num_symbols, inputs,
                               info->num_inputs)) ||
      failed(api->output_shapes(model, inputs, info->num_inputs, outputs,
                                info->num_outputs)))
    return 1;
  for (int i = 0; i < info->num_inputs; ++i)
    fill(&inputs[i]);
  for (int i = 0; i < info->num_outputs; ++i)
    fill(&outputs[i]);
  for (int i = 0; i < info->num_state; ++i) {
    describe(&state[i], info->state[i]);
    fill(&state[i]);
    describe(&gradients[i], info->state[i]);
    if (info->state[i]->flags & FT_VALUE_GRADIENT)
      fill(&gradients[i]);
  }
  if (failed(api->load_parameters(model, state, info->num_state)))
    return 1;
  ft_train_call call;
  memset(&call, 0, sizeof call);
  call.struct_size = sizeof call;
  call.phase = FT_TRAIN_STEP;
  call.num_inputs = info->num_inputs;
  call.num_outputs = info->num_outputs;
  call.num_state = info->num_state;
  call.inputs = inputs;
  call.outputs = outputs;
  call.state = state;
  call.gradients = gradients;
  for (int step = 0; step < 3; ++step)
    if (failed(api->train(model, &call)))
      return 1;
  printf("%ld %zu %llu\n", (kilobytes("VmHWM:") - before) * 1024, allocated,
         (unsigned long long)info->arena_bytes);
  return 0;
}
