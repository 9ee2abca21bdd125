/*===- outputs.c - Where the outputs of a call go ------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Most outputs are known before the call: they are checked, or get memory, when
 * it starts. Of an output whose sizes depend on data (nonzero, unique) only the
 * kernel that computes it knows how large it is; it asks for the memory when it
 * does, by ft_find_output. Sizes that are not known before are -1.
 *===----------------------------------------------------------------------===*/
#include "internal.h"

#include <inttypes.h>

enum { FT_MOST_DIMS = 64 }; /* as the compiler's tensors */

bool ft_spans_meet(const ft_span *a, const ft_span *b) {
  return a->bytes && b->bytes && a->data < b->data + b->bytes &&
         b->data < a->data + a->bytes;
}

void ft_describe_output(const ft_value_info *info, DLTensor *output) {
  output->device = info->device;
  output->dtype = info->dtype;
  output->ndim = info->ndim;
  size_t bytes = (size_t)info->ndim * sizeof(int64_t);
  if (output->shape && bytes)
    memcpy(output->shape, info->sizes, bytes);
  if (output->strides && bytes)
    memcpy(output->strides, info->strides, bytes);
}

/* Memory for an output that came without: in the traced strides when the
 * caller has room to be told them, else row-major. */
static bool allocate_output(const ft_value_info *info, int32_t index,
                            DLTensor *output, const ft_call_options *options,
                            ft_status *status) {
  if (!options->allocate)
    return ft_fail(status, FT_ERROR_TENSOR,
                   "output \"%s\": data is null and the call has no allocate",
                   info->name);
  size_t bytes = output->strides ? ft_layout_bytes(info)
                                 : (size_t)ft_count_elements(info) *
                                       ft_element_bytes(info->dtype);
  void *data = options->allocate(options->allocate_user, index, info->dtype,
                                 info->ndim, info->sizes, bytes, 64);
  if (!data && bytes)
    return ft_fail(status, FT_ERROR_MEMORY,
                   "output \"%s\": no memory for %zu bytes", info->name, bytes);
  ft_describe_output(info, output);
  output->data = data;
  output->byte_offset = 0;
  return true;
}

bool ft_check_output(const ft_value_info *info, int32_t index, DLTensor *output,
                     const ft_call_options *options, ft_span *span,
                     ft_status *status) {
  if (output->data || ft_count_elements(info) == 0) {
    if (output->data)
      return ft_check_tensor("output", info, output, true, span, status);
    /* Nothing to write: an empty output needs no memory. */
    ft_describe_output(info, output);
    return true;
  }
  if (!allocate_output(info, index, output, options, status))
    return false;
  span->data = output->data;
  span->bytes = ft_layout_bytes(info);
  return true;
}

/*===- Outputs that a kernel finds ----------------------------------------===*/

bool ft_check_found_output(const ft_value_info *info, const DLTensor *output,
                           ft_span *span, ft_status *status) {
  span->data = NULL;
  span->bytes = 0;
  if (!output->shape)
    return ft_fail(status, FT_ERROR_TENSOR,
                   "output \"%s\": its sizes depend on data, and there is no "
                   "shape to tell them in",
                   info->name);
  return true;
}

static bool same_sizes(const DLTensor *tensor, int32_t ndim,
                       const int64_t *sizes) {
  bool same = tensor->ndim == ndim;
  for (int32_t i = 0; same && i < ndim; ++i)
    same = tensor->shape[i] == sizes[i];
  return same;
}

static bool find_output(ft_exec *exec, int32_t index, const ft_value_info *info,
                        ft_status *status) {
  DLTensor *output = &exec->outputs[index];
  if (output->data && !same_sizes(output, info->ndim, info->sizes)) {
    ft_text found = {.size = 0}, given = {.size = 0};
    ft_text_add_list(&found, info->sizes, info->ndim);
    ft_text_add_list(&given, output->shape, output->ndim);
    return ft_fail(status, FT_ERROR_TENSOR,
                   "output \"%s\": the call found sizes %s, the tensor given "
                   "for it has %s",
                   info->name, found.chars, given.chars);
  }
  const ft_model_info *model = &exec->work->desc->info;
  ft_span *spans = exec->work->spans, *span = &spans[model->num_inputs + index];
  if (!ft_check_output(info, index, output, exec->options, span, status))
    return false;
  for (int32_t i = 0; i < model->num_inputs + model->num_outputs; ++i) {
    const ft_span *other = &spans[i];
    if (other == span || !ft_spans_meet(other, span))
      continue;
    bool input = i < model->num_inputs;
    const ft_value_info *value = exec->work->values[i];
    return ft_fail(status, FT_ERROR_TENSOR,
                   "output \"%s\" shares memory with %s \"%s\"", info->name,
                   input ? "input" : "output", value->name);
  }
  return true;
}

void *ft_rt_output(ft_exec *exec, int32_t index, const int64_t *sizes,
                   const int64_t *strides) {
  ft_workspace *w = exec->work;
  int32_t number = exec->work->desc->info.num_inputs + index;
  ft_value_info *info = &w->own[number];
  ft_status status;
  ft_set_ok(&status);
  for (int32_t d = 0; d < info->ndim; ++d) {
    /* Stand in w->layout, which belongs to this call. */
    ((int64_t *)(uintptr_t)info->sizes)[d] = sizes[d];
    ((int64_t *)(uintptr_t)info->strides)[d] = strides[d];
    if (sizes[d] < 0)
      ft_fail(&status, FT_ERROR_TENSOR,
              "output \"%s\": the call found size %" PRId64 " for dim %d",
              info->name, sizes[d], d);
  }
  if (status.code == FT_OK && !ft_layout_fits(info))
    ft_fail(&status, FT_ERROR_MEMORY,
            "output \"%s\" has more elements than memory can hold", info->name);
  if (status.code != FT_OK || !find_output(exec, index, info, &status)) {
    ft_rt_fail(exec, status.code, status.message);
    return NULL;
  }
  DLTensor *output = &exec->outputs[index];
  w->outputs[index] =
      ft_count_elements(info) && ft_has_layout(info, output)
          ? w->spans[number].data
          : ft_rt_temporary(exec, (int64_t)ft_layout_bytes(info));
  return w->outputs[index];
}

bool ft_find_output(ft_exec *exec, int32_t index, const int64_t *order,
                    DLTensor *result) {
  int64_t strides[FT_MOST_DIMS], step = 1;
  for (int32_t p = result->ndim; p-- > 0;) {
    strides[order[p]] = step;
    int64_t size = result->shape[order[p]];
    if (__builtin_mul_overflow(step, size > 0 ? size : 1, &step) ||
        step > INT64_MAX / 32) {
      ft_rt_fail(exec, FT_ERROR_MEMORY, "a result has too many elements");
      return false;
    }
  }
  /* Other kernels may read it: it is in the model's own order of dims, and
   * what the caller has in another one is a copy. */
  memcpy(result->strides, strides, (size_t)result->ndim * sizeof *strides);
  result->byte_offset = 0;
  result->data =
      index >= 0
          ? ft_rt_output(exec, index, result->shape, strides)
          : ft_rt_temporary(exec, ft_kernel_numel(result) *
                                      (int64_t)ft_element_bytes(result->dtype));
  return result->data != NULL;
}
