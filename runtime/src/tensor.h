/*===- tensor.h - Checks and copies of the caller's tensors --------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_TENSOR_H
#define FORETRACE_RUNTIME_TENSOR_H

#include "foretrace/runtime.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a tensor covers: element 0 and the bytes from there to its end. */
typedef struct ft_span {
  uint8_t *data;
  size_t bytes;
} ft_span;

size_t ft_element_bytes(DLDataType dtype);
/* Elements of a shape, and how many elements a strided layout spans. The
 * shape is known to be a model's own. */
int64_t ft_count_elements(const ft_value_info *info);
size_t ft_layout_bytes(const ft_value_info *info);
/* May both be counted? Sizes and strides that a call works out need not be
 * small; some size may be unknown (-1), which passes. */
bool ft_layout_fits(const ft_value_info *info);
/* Does some size depend on data? Such an output is checked before the call for
 * room to tell its sizes, and the rest when a kernel has found them. */
bool ft_is_found(const ft_value_info *info);

/* The part of ft_check_tensor that needs no memory: dtype, rank, sizes as far
 * as the model knows them (those that are -1 may be any), device. */
bool ft_check_kind(const char *what, const ft_value_info *info,
                   const DLTensor *tensor, ft_status *status);
/* Compares a caller's tensor with what the model says: `what` is "input",
 * "output", "parameter" or "buffer". `written` refuses overlapping elements.
 * On success *span tells the memory. */
bool ft_check_tensor(const char *what, const ft_value_info *info,
                     const DLTensor *tensor, bool written, ft_span *span,
                     ft_status *status);

/* Is the tensor laid out as traced? Dims of size 1 have no stride to differ. */
bool ft_has_layout(const ft_value_info *info, const DLTensor *tensor);
/* The row-major strides of the model's value. */
void ft_row_major(const ft_value_info *info, int64_t *strides);

/* Copies between the traced layout (`packed` side) and the tensor's own. */
void ft_copy_in(const ft_value_info *info, void *packed, const DLTensor *from);
void ft_copy_out(const ft_value_info *info, const void *packed, DLTensor *to);

#ifdef __cplusplus
}
#endif

#endif /* FORETRACE_RUNTIME_TENSOR_H */
