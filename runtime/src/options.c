/*===- options.c - The structs of options that callers give ---------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "internal.h"

#include <string.h>

bool ft_read_options(const char *name, const void *from, void *to, size_t size,
                     ft_status *status) {
  memset(to, 0, size);
  if (!from)
    return true;
  size_t given = *(const size_t *)from;
  if (given < sizeof(size_t))
    return ft_fail(status, FT_ERROR_ARGUMENT,
                   "%s.struct_size is not set: start from %s_init()", name,
                   name);
  for (size_t i = size; i < given; ++i)
    if (((const uint8_t *)from)[i])
      return ft_fail(status, FT_ERROR_UNSUPPORTED,
                     "%s has a field set that this model does not know; "
                     "compile the model with a newer version",
                     name);
  memcpy(to, from, given < size ? given : size);
  return true;
}

bool ft_read_call_options(const char *call, const ft_call_options *given,
                          ft_call_options *options, ft_status *status) {
  if (!ft_read_options("ft_call_options", given, options, sizeof *options,
                       status))
    return false;
  return options->threads >= 0 ||
         ft_fail(status, FT_ERROR_ARGUMENT, "%s: %d threads", call,
                 options->threads);
}
