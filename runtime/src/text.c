/*===- text.c - Pieces of the sentences in statuses ----------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void ft_text_add(ft_text *text, const char *format, ...) {
  size_t room = sizeof text->chars - text->size;
  va_list args;
  va_start(args, format);
  int added = vsnprintf(text->chars + text->size, room, format, args);
  va_end(args);
  if (added > 0)
    text->size += (size_t)added < room ? (size_t)added : room - 1;
}

void ft_text_add_dtype(ft_text *text, DLDataType dtype) {
  const char *kind = NULL;
  switch (dtype.code) {
  case kDLInt:
    kind = "int";
    break;
  case kDLUInt:
    kind = "uint";
    break;
  case kDLFloat:
    kind = "float";
    break;
  case kDLBfloat:
    kind = "bfloat";
    break;
  case kDLComplex:
    kind = "complex";
    break;
  case FT_DL_BOOL:
    if (dtype.bits == 8 && dtype.lanes == 1) {
      ft_text_add(text, "bool");
      return;
    }
    break;
  }
  if (kind)
    ft_text_add(text, "%s%d", kind, dtype.bits);
  else
    ft_text_add(text, "dtype(code %d, %d bits)", dtype.code, dtype.bits);
  if (dtype.lanes != 1)
    ft_text_add(text, "x%d", dtype.lanes);
}

void ft_text_add_device(ft_text *text, DLDevice device) {
  if (device.device_type == kDLCPU)
    ft_text_add(text, "cpu");
  else if (device.device_type == kDLCUDA)
    ft_text_add(text, "cuda:%d", device.device_id);
  else
    ft_text_add(text, "device %d:%d", (int)device.device_type,
                device.device_id);
}

void ft_text_add_list(ft_text *text, const int64_t *v, int32_t n) {
  ft_text_add(text, "[");
  /* A rank that nobody means is not followed out of bounds. */
  for (int32_t i = 0; i < n && i < 32; ++i)
    ft_text_add(text, "%s%" PRId64, i ? ", " : "", v[i]);
  ft_text_add(text, "]");
}

void ft_text_add_dims(ft_text *text, const ft_value_info *info) {
  ft_text_add(text, "[");
  for (int32_t i = 0; i < info->ndim; ++i)
    ft_text_add(text, "%s%s", i ? ", " : "", info->dims[i]);
  ft_text_add(text, "]");
  /* Names alone do not tell what would have been right. */
  bool named = false, known = true;
  for (int32_t i = 0; i < info->ndim; ++i) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, info->sizes[i]);
    named |= strcmp(digits, info->dims[i]) != 0;
    known &= info->sizes[i] >= 0;
  }
  if (named && known) {
    ft_text_add(text, " = ");
    ft_text_add_list(text, info->sizes, info->ndim);
  }
}
