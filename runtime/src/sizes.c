/*===- sizes.c - The sizes of one call ------------------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One compiled model serves all sizes in the declared ranges. Its sizes are
 * expressions of symbols, and each symbol is read from one dim of one input:
 *
 *   x [batch, 2*half]   mask [batch]   y [batch, half + 1]
 *
 * A call solves batch = x.shape[0] and half = x.shape[1] / 2, checks their
 * ranges, lets generated code check the other guards and work out every size
 * and stride (ft_gen_sizes), and compares all dims of the inputs with these:
 * mask's with batch. What then reads sizes and strides finds those of this
 * call in work->values.
 *
 * Cost: linear in the number of dims, which is nothing beside any model.
 *===----------------------------------------------------------------------===*/
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>

/*===- Reading symbols ----------------------------------------------------===*/

static bool out_of_range(const ft_symbol_info *symbol, int64_t value) {
  return value < symbol->lower || value > symbol->upper;
}

/* No tensor is that large, and sums of two such sizes do not overflow. */
static const int64_t kMostElements = (int64_t)1 << 60;

/* The size of the dim that `symbol` is read from, where the symbol is `value`;
 * no size is that large where 64 bits are not enough. */
static int64_t dim_of(const ft_symbol_info *symbol, int64_t value) {
  int64_t size;
  if (__builtin_mul_overflow(symbol->scale, value, &size) ||
      __builtin_add_overflow(size, symbol->offset, &size))
    return INT64_MAX;
  return size;
}

static bool read_symbol(const ft_symbol_info *symbol, const DLTensor *inputs,
                        const ft_model_info *model, int64_t *value,
                        ft_status *status) {
  const ft_value_info *info = model->inputs[symbol->input];
  int64_t size = inputs[symbol->input].shape[symbol->dim];
  ft_text dim = {.size = 0};
  ft_text_add(&dim, "input \"%s\": dim %d (%s) is %" PRId64, info->name,
              symbol->dim, info->dims[symbol->dim], size);
  if (size < 0)
    return ft_fail(status, FT_ERROR_TENSOR, "%s, which no size is", dim.chars);
  int64_t rest;
  if (__builtin_sub_overflow(size, symbol->offset, &rest))
    rest = size;
  if (rest % symbol->scale == 0) {
    *value = rest / symbol->scale;
    if (!out_of_range(symbol, *value))
      return size <= kMostElements ||
             ft_fail(status, FT_ERROR_MEMORY, "%s, more than memory can hold",
                     dim.chars);
    bool low = *value < symbol->lower;
    return ft_fail(status, FT_ERROR_GUARD, "%s, must be at %s %" PRId64,
                   dim.chars, low ? "least" : "most",
                   dim_of(symbol, low ? symbol->lower : symbol->upper));
  }
  if (symbol->offset == 0)
    return ft_fail(status, FT_ERROR_GUARD, "%s, must be a multiple of %" PRId64,
                   dim.chars, symbol->scale);
  return ft_fail(status, FT_ERROR_GUARD, "%s, which it is for no whole %s",
                 dim.chars, symbol->title);
}

static bool read_symbols(ft_workspace *work, const DLTensor *inputs,
                         ft_status *status) {
  const ft_model_info *info = &work->desc->info;
  for (int32_t i = 0; i < info->num_symbols; ++i) {
    const ft_symbol_info *symbol = info->symbols[i];
    work->sizes[i] = 0;
    if (symbol->input >= 0 &&
        !read_symbol(symbol, inputs, info, &work->sizes[i], status))
      return false;
  }
  return true;
}

/*===- What follows from them ---------------------------------------------===*/

static bool in_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/* Does `word` stand in `text`, not as a part of another name? */
static bool mentions(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *at = text; length && (at = strstr(at, word)); ++at) {
    if ((at == text || !in_name(at[-1])) && !in_name(at[length]))
      return true;
  }
  return false;
}

/* The symbols of `about` and their values: "batch is 2, seq is 7"; with
 * `places` also where they come from: "batch, dim 0 of input "x", is 2". Those
 * that the data decide have a value once the program `ran`. */
static void add_symbols(ft_text *text, const ft_workspace *work,
                        const char *about, bool places, bool ran) {
  const ft_model_info *info = &work->desc->info;
  bool first = true;
  for (int32_t i = 0; i < info->num_symbols; ++i) {
    const ft_symbol_info *symbol = info->symbols[i];
    if ((symbol->input < 0 && !ran) || !mentions(about, symbol->title))
      continue;
    ft_text_add(text, "%s%s", first ? "" : "; ", symbol->title);
    if (places && symbol->input >= 0)
      ft_text_add(text, ", dim %d of input \"%s\",", symbol->dim,
                  info->inputs[symbol->input]->name);
    ft_text_add(text, " is %" PRId64, work->sizes[i]);
    first = false;
  }
}

void ft_tell_sizes(const ft_workspace *work, bool ran, ft_status *status) {
  if (status->code != FT_ERROR_GUARD)
    return;
  ft_text values = {.size = 0};
  add_symbols(&values, work, status->message, true, ran);
  size_t used = strlen(status->message);
  if (values.size)
    snprintf(status->message + used, sizeof status->message - used, ": %s",
             values.chars);
}

static bool check_fits(const ft_workspace *work, ft_status *status) {
  const ft_model_info *info = &work->desc->info;
  for (int32_t i = 0; i < info->num_inputs + info->num_outputs; ++i) {
    const ft_value_info *value = work->values[i];
    bool input = i < info->num_inputs;
    if (ft_layout_fits(value))
      continue;
    ft_text dims = {.size = 0};
    ft_text_add_dims(&dims, value);
    return ft_fail(status, FT_ERROR_MEMORY,
                   "%s \"%s\": %s is more than memory can hold",
                   input ? "input" : "output", value->name, dims.chars);
  }
  return true;
}

static bool work_out(ft_workspace *work, ft_status *status) {
  const ft_model_info *info = &work->desc->info;
  ft_exec *exec = &work->exec;
  atomic_store(&exec->failed, 0);
  int code = work->desc->sizes(exec, work->sizes, work->layout);
  if (atomic_load(&exec->failed)) {
    *status = exec->status;
    ft_tell_sizes(work, false, status);
    return false;
  }
  if (code != FT_OK)
    return ft_fail(status, code, "the sizes are refused with code %d", code);
  if (!check_fits(work, status))
    return false;
  int64_t bytes = *work->arena_word;
  if (bytes < 0 || bytes > INT64_MAX / 4)
    return ft_fail(status, FT_ERROR_MEMORY,
                   "a call of \"%s\" with these sizes needs more memory than "
                   "there can be",
                   info->name);
  work->arena_needed = (size_t)bytes;
  return true;
}

/* Sizes that the last call found are those of that call. */
static void forget_found(ft_workspace *work) {
  const ft_model_info *info = &work->desc->info;
  for (int32_t i = 0; i < info->num_outputs; ++i) {
    int32_t at = info->num_inputs + i;
    const ft_value_info *own = &work->own[at], *model = info->outputs[i];
    size_t bytes = (size_t)own->ndim * sizeof(int64_t);
    if (work->values[at] != own || !bytes)
      continue;
    memcpy((int64_t *)(uintptr_t)own->sizes, model->sizes, bytes);
    memcpy((int64_t *)(uintptr_t)own->strides, model->strides, bytes);
  }
  work->arena_needed = (size_t)info->arena_bytes;
}

/*===- Comparing ----------------------------------------------------------===*/

/* A size of an input that differs from what the others say. */
static bool wrong_size(const ft_workspace *work, int32_t input, int32_t dim,
                       int64_t got, ft_status *status) {
  const ft_model_info *info = &work->desc->info;
  const ft_value_info *value = work->values[input];
  const char *text = value->dims[dim];
  ft_text why = {.size = 0};
  for (int32_t i = 0; i < info->num_symbols && !why.size; ++i) {
    const ft_symbol_info *symbol = info->symbols[i];
    if (symbol->input < 0 || (symbol->input == input && symbol->dim == dim))
      continue;
    const ft_value_info *source = info->inputs[symbol->input];
    /* The same expression: the dim that it was read from tells more. */
    if (strcmp(source->dims[symbol->dim], text))
      continue;
    ft_text_add(&why, "as dim %d (%s)", symbol->dim, text);
    if (symbol->input != input)
      ft_text_add(&why, " of input \"%s\"", source->name);
  }
  if (!why.size) {
    ft_text values = {.size = 0};
    add_symbols(&values, work, text, false, false);
    ft_text_add(&why, "%s%s%s", text, values.size ? ", where " : "",
                values.chars);
  }
  return ft_fail(status, FT_ERROR_GUARD,
                 "input \"%s\": dim %d is %" PRId64 ", must be %" PRId64 ", %s",
                 value->name, dim, got, value->sizes[dim], why.chars);
}

static bool compare_inputs(const ft_workspace *work, const DLTensor *inputs,
                           ft_status *status) {
  for (int32_t i = 0; i < work->desc->info.num_inputs; ++i) {
    const ft_value_info *value = work->values[i];
    for (int32_t d = 0; d < value->ndim; ++d)
      if (inputs[i].shape[d] != value->sizes[d])
        return wrong_size(work, i, d, inputs[i].shape[d], status);
  }
  return true;
}

/*===- The two ways in ----------------------------------------------------===*/

bool ft_size_call(ft_workspace *work, const DLTensor *inputs,
                  ft_status *status) {
  const ft_model_info *info = &work->desc->info;
  for (int32_t i = 0; i < info->num_inputs; ++i)
    if (!ft_check_kind("input", info->inputs[i], &inputs[i], status))
      return false;
  if (work->desc->sizes)
    return read_symbols(work, inputs, status) && work_out(work, status) &&
           compare_inputs(work, inputs, status);
  forget_found(work);
  return true;
}

bool ft_size_query(ft_workspace *work, const int64_t *values,
                   ft_status *status) {
  const ft_model_info *info = &work->desc->info;
  if (!work->desc->sizes) {
    forget_found(work);
    return true;
  }
  for (int32_t i = 0; i < info->num_symbols; ++i) {
    const ft_symbol_info *symbol = info->symbols[i];
    work->sizes[i] = symbol->input >= 0 ? values[i] : 0;
    if (work->sizes[i] > kMostElements)
      return ft_fail(status, FT_ERROR_MEMORY,
                     "%s is %" PRId64 ", more than memory can hold",
                     symbol->title, values[i]);
    if (symbol->input < 0 || !out_of_range(symbol, values[i]))
      continue;
    bool low = values[i] < symbol->lower;
    return ft_fail(status, FT_ERROR_GUARD,
                   "%s is %" PRId64 ", must be at %s %" PRId64, symbol->title,
                   values[i], low ? "least" : "most",
                   low ? symbol->lower : symbol->upper);
  }
  return work_out(work, status);
}
