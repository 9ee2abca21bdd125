/*===- sanitize.c - What instrumented code opens and closes --------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "sanitize.h"

#include "abi.h"

void ft_rt_open(const void *start, int64_t bytes) {
  if (bytes > 0)
    ft_open_memory(start, (size_t)bytes);
}

void ft_rt_close(const void *start, int64_t bytes) {
  if (bytes > 0)
    ft_close_memory(start, (size_t)bytes);
}

void ft_rt_close_gap(const void *start, int64_t bytes) {
  if (bytes > 0)
    ft_close_gap(start, (size_t)bytes);
}
