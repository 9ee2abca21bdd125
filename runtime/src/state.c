/*===- state.c - Parameters and buffers of an instance -------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "internal.h"

void ft_copy_initial_state(ft_model *model) {
  for (int32_t i = 0; i < ft_gen_desc.info.num_state; ++i) {
    const ft_state_place *place = &ft_gen_desc.state_places[i];
    if (place->state_offset >= 0)
      memcpy(model->state + place->state_offset,
             model->weights.data + place->weights_offset,
             ft_layout_bytes(ft_gen_desc.info.state[i]));
  }
}

static const char *kind_name(const ft_value_info *info) {
  return info->flags & FT_VALUE_PARAMETER ? "parameter" : "buffer";
}

static bool check_state(const char *call, const ft_model *model, int32_t index,
                        const DLTensor *tensor, bool written,
                        ft_status *status) {
  const ft_model_info *info = &ft_gen_desc.info;
  if (!model || !tensor)
    return ft_fail(status, FT_ERROR_ARGUMENT, "%s: %s is null", call,
                   model ? "the tensor" : "model");
  if (index < 0 || index >= info->num_state)
    return ft_fail(status, FT_ERROR_ARGUMENT,
                   "%s: index %d, the model has %d parameters and buffers",
                   call, index, info->num_state);
  const ft_value_info *value = info->state[index];
  ft_span span;
  return ft_check_tensor(kind_name(value), value, tensor, written, &span,
                         status);
}

ft_status ft_model_read_state(ft_model *model, int32_t index, DLTensor *to) {
  ft_status status;
  ft_set_ok(&status);
  if (!check_state("read_state", model, index, to, true, &status))
    return status;
  const ft_value_info *value = ft_gen_desc.info.state[index];
  const ft_state_place *place = &ft_gen_desc.state_places[index];
  if (place->state_offset >= 0) {
    pthread_mutex_lock(&model->state_lock);
    ft_copy_out(value, model->state + place->state_offset, to);
    pthread_mutex_unlock(&model->state_lock);
  } else if (place->weights_offset >= 0) {
    ft_copy_out(value, model->weights.data + place->weights_offset, to);
  } else {
    ft_fail(&status, FT_ERROR_UNSUPPORTED,
            "%s \"%s\" was repacked at compile time and cannot be read",
            kind_name(value), value->name);
  }
  return status;
}

ft_status ft_model_write_state(ft_model *model, int32_t index,
                               const DLTensor *from) {
  ft_status status;
  ft_set_ok(&status);
  if (!check_state("write_state", model, index, from, false, &status))
    return status;
  const ft_value_info *value = ft_gen_desc.info.state[index];
  const ft_state_place *place = &ft_gen_desc.state_places[index];
  if (place->state_offset >= 0) {
    pthread_mutex_lock(&model->state_lock);
    ft_copy_in(value, model->state + place->state_offset, from);
    pthread_mutex_unlock(&model->state_lock);
  } else {
    ft_fail(&status, FT_ERROR_UNSUPPORTED,
            "%s \"%s\" is constant in this model and cannot be written",
            kind_name(value), value->name);
  }
  return status;
}

ft_status ft_model_reset_state(ft_model *model) {
  ft_status status;
  ft_set_ok(&status);
  if (!model) {
    ft_fail(&status, FT_ERROR_ARGUMENT, "reset_state: model is null");
  } else if (model->state) {
    pthread_mutex_lock(&model->state_lock);
    ft_copy_initial_state(model);
    pthread_mutex_unlock(&model->state_lock);
  }
  return status;
}
