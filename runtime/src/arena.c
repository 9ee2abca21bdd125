/*===- arena.c - The memory that one call works in ------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A call takes a workspace from the model's slots, or makes one when all are
 * in use, and puts it back: concurrent calls never share one, and a later call
 * finds its pages already touched. A slot is swapped atomically, so taking and
 * giving need no lock.
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "internal.h"

#include <stdlib.h>
#include <sys/mman.h>

void *ft_alloc_block(size_t bytes) {
  const size_t huge = (size_t)2 << 20;
  size_t alignment = bytes >= huge ? huge : 64;
  if (bytes > SIZE_MAX - alignment)
    return NULL;
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *block = aligned_alloc(alignment, rounded ? rounded : alignment);
  /* Fewer page faults and TLB misses; nothing depends on it. */
  if (block && bytes >= huge)
    madvise(block, rounded, MADV_HUGEPAGE);
  return block;
}

void ft_free_block(void *block) { free(block); }

static void workspace_free(ft_workspace *w) {
  if (!w)
    return;
  ft_free_block(w->arena);
  ft_free_block(w->scratch);
  free(w->inputs);
  free(w->spans);
  free(w);
}

static ft_workspace *workspace_new(const ft_model_info *info) {
  size_t inputs = (size_t)info->num_inputs, outputs = (size_t)info->num_outputs;
  ft_workspace *w = calloc(1, sizeof *w);
  if (!w)
    return NULL;
  w->arena = ft_alloc_block((size_t)info->arena_bytes);
  w->inputs = calloc(inputs + outputs + 1, sizeof *w->inputs);
  w->spans = calloc(inputs + outputs + 1, sizeof *w->spans);
  if (!w->arena || !w->inputs || !w->spans) {
    workspace_free(w);
    return NULL;
  }
  w->outputs = w->inputs + inputs;
  return w;
}

ft_workspace *ft_workspace_take(ft_workspace_cache *cache,
                                const ft_model_info *info) {
  for (int i = 0; i < FT_KEPT_WORKSPACES; ++i) {
    if (!atomic_load_explicit(&cache->slots[i], memory_order_relaxed))
      continue;
    ft_workspace *w = atomic_exchange(&cache->slots[i], NULL);
    if (w)
      return w;
  }
  return workspace_new(info);
}

void ft_workspace_give(ft_workspace_cache *cache, ft_workspace *workspace) {
  for (int i = 0; i < FT_KEPT_WORKSPACES; ++i) {
    ft_workspace *empty = NULL;
    if (atomic_compare_exchange_strong(&cache->slots[i], &empty, workspace))
      return;
  }
  workspace_free(workspace);
}

void ft_workspace_clear(ft_workspace_cache *cache) {
  for (int i = 0; i < FT_KEPT_WORKSPACES; ++i)
    workspace_free(atomic_exchange(&cache->slots[i], NULL));
}

uint8_t *ft_workspace_scratch(ft_workspace *workspace, size_t bytes) {
  if (bytes > workspace->scratch_bytes) {
    ft_free_block(workspace->scratch);
    workspace->scratch = ft_alloc_block(bytes);
    workspace->scratch_bytes = workspace->scratch ? bytes : 0;
  }
  return workspace->scratch;
}
