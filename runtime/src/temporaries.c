/*===- temporaries.c - Memory for results of unplanned sizes -------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The arena holds what the compiler could plan. A result whose size only its
 * kernel finds gets a block of its own. Each block starts with a pointer to the
 * one before it: a call's blocks are a stack, freed down to a mark (the end of
 * a loop's iteration) or altogether when the call ends.
 *===----------------------------------------------------------------------===*/
#include "internal.h"
#include "sanitize.h"

void *ft_rt_temporary(ft_exec *exec, int64_t bytes) {
  const int64_t head = 64; /* keeps the alignment */
  uint8_t *block = bytes >= 0 && bytes <= INT64_MAX - head
                       ? ft_alloc_block((size_t)(bytes + head))
                       : NULL;
  if (!block) {
    ft_rt_fail(exec, FT_ERROR_MEMORY, "no memory for a result");
    return NULL;
  }
  memcpy(block, &exec->temporaries, sizeof exec->temporaries);
  exec->temporaries = block;
  ft_close_gap(block + sizeof exec->temporaries,
               (size_t)head - sizeof exec->temporaries);
  return block + head;
}

void *ft_rt_mark(ft_exec *exec) { return exec->temporaries; }

void ft_rt_release(ft_exec *exec, void *mark) {
  while (exec->temporaries != mark) {
    void *block = exec->temporaries;
    memcpy(&exec->temporaries, block, sizeof exec->temporaries);
    ft_free_block(block);
  }
}

void ft_free_temporaries(ft_exec *exec) { ft_rt_release(exec, NULL); }
