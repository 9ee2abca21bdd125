/*===- model.c - Instances, and the table of functions -------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "../cuda/device.h"
#include "internal.h"

#include <stdlib.h>

/*===- Load and unload ----------------------------------------------------===*/

static void model_unload(ft_model *model) {
  if (!model)
    return;
  ft_workspace_clear(&model->workspaces);
  for (int i = 0; i < FT_TRAIN_PROGRAMS; ++i)
    ft_workspace_clear(&model->programs[i]);
  ft_drop_saved(model);
  pthread_mutex_destroy(&model->held_lock);
  ft_device_close(model->device);
  pthread_mutex_destroy(&model->device_lock);
  ft_weights_close(&model->weights);
  ft_free_block(model->state);
  pthread_mutex_destroy(&model->state_lock);
  free(model);
}

static bool fill_model(ft_model *model, const ft_load_options *options,
                       ft_status *status) {
  const ft_model_info *info = &ft_gen_desc.info;
  if (!ft_weights_open(&ft_gen_desc, options->weights_path, &model->weights,
                       status))
    return false;
  if (options->verify_weights &&
      !ft_weights_verify(&ft_gen_desc, &model->weights, status))
    return false;
  model->threads = options->threads ? options->threads : ft_count_cpus();
  model->seed = options->seed;
  if (info->state_bytes) {
    model->state = ft_alloc_block((size_t)info->state_bytes);
    if (!model->state)
      return ft_fail(status, FT_ERROR_MEMORY,
                     "no memory for the buffers of \"%s\"", info->name);
    memset(model->state, 0, (size_t)info->state_bytes);
    ft_copy_initial_state(model);
  }
  return true;
}

static bool load(const ft_load_options *given, ft_model **out,
                 ft_status *status) {
  if (!out)
    return ft_fail(status, FT_ERROR_ARGUMENT, "load: model is null");
  *out = NULL;
  ft_load_options options;
  if (!ft_read_options("ft_load_options", given, &options, sizeof options,
                       status) ||
      !ft_check_cpu(&ft_gen_desc, status))
    return false;
  if (options.threads < 0)
    return ft_fail(status, FT_ERROR_ARGUMENT, "load: %d threads",
                   options.threads);
  ft_model *model = calloc(1, sizeof *model);
  if (!model)
    return ft_fail(status, FT_ERROR_MEMORY,
                   "no memory for an instance of \"%s\"",
                   ft_gen_desc.info.name);
  pthread_mutex_init(&model->state_lock, NULL);
  pthread_mutex_init(&model->device_lock, NULL);
  pthread_mutex_init(&model->held_lock, NULL);
  if (!fill_model(model, &options, status)) {
    model_unload(model);
    return false;
  }
  *out = model;
  return true;
}

static ft_status model_load(const ft_load_options *options, ft_model **model) {
  ft_status status;
  ft_set_ok(&status);
  load(options, model, &status);
  return status;
}

static ft_status model_verify_weights(ft_model *model) {
  ft_status status;
  ft_set_ok(&status);
  if (!model)
    ft_fail(&status, FT_ERROR_ARGUMENT, "verify_weights: model is null");
  else
    ft_weights_verify(&ft_gen_desc, &model->weights, &status);
  return status;
}

/*===- The table ----------------------------------------------------------===*/

__attribute__((visibility("default"))) const ft_api *foretrace_model_v1(void) {
  static const ft_api kApi = {
      .struct_size = sizeof(ft_api),
      .info = &ft_gen_desc.info,
      .load = model_load,
      .unload = model_unload,
      .output_shapes = ft_model_output_shapes,
      .forward = ft_model_forward,
      .read_state = ft_model_read_state,
      .write_state = ft_model_write_state,
      .reset_state = ft_model_reset_state,
      .verify_weights = model_verify_weights,
      .load_parameters = ft_model_load_parameters,
      .train = ft_model_train,
      .input_shapes = ft_model_input_shapes,
      .release = ft_model_release,
      .init_optimizer = ft_model_init_optimizer,
  };
  return &kApi;
}
