/*===- arena.c - The memory that one call works in ------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A call takes a workspace from the model's slots, or makes one when all are
 * in use, and puts it back: concurrent calls never share one, and a later call
 * finds its pages already touched. A slot is swapped atomically, so taking and
 * giving need no lock.
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "../cuda/device.h"
#include "internal.h"
#include "sanitize.h"

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
  if (block)
    ft_close_gap((uint8_t *)block + bytes, rounded - bytes);
  return block;
}

void ft_free_block(void *block) { free(block); }

static void workspace_free(ft_workspace *w) {
  if (!w)
    return;
  ft_device_drop(w);
  ft_free_block(w->arena.data);
  ft_free_block(w->scratch);
  free(w->inputs);
  free(w->spans);
  free(w->values);
  free(w->own);
  free(w->layout);
  free(w);
}

/* Words of ft_gen_sizes' layout. */
static size_t layout_words(const ft_value_info *const *values, int32_t n) {
  size_t words = 0;
  for (int32_t i = 0; i < n; ++i)
    words += 2 * (size_t)values[i]->ndim;
  return words;
}

static int64_t *add_values(ft_workspace *w, const ft_value_info *const *values,
                           int32_t n, int32_t first, int64_t *at) {
  for (int32_t i = 0; i < n; ++i) {
    ft_value_info *own = &w->own[first + i];
    *own = *values[i];
    own->sizes = at;
    own->strides = at + own->ndim;
    at += 2 * own->ndim;
    w->values[first + i] =
        w->desc->sizes || ft_is_found(values[i]) ? own : values[i];
  }
  return at;
}

static ft_workspace *workspace_new(const ft_model_desc *desc) {
  const ft_model_info *info = &desc->info;
  size_t inputs = (size_t)info->num_inputs, outputs = (size_t)info->num_outputs;
  ft_workspace *w = calloc(1, sizeof *w);
  if (!w)
    return NULL;
  w->desc = desc;
  w->inputs = calloc(inputs + outputs + 1, sizeof *w->inputs);
  w->spans = calloc(inputs + outputs + 1, sizeof *w->spans);
  w->values = calloc(inputs + outputs + 1, sizeof *w->values);
  w->own = calloc(inputs + outputs + 1, sizeof *w->own);
  size_t words = layout_words(info->inputs, info->num_inputs) +
                 layout_words(info->outputs, info->num_outputs) + 1;
  w->layout = calloc(words + (size_t)info->num_symbols, sizeof *w->layout);
  if (!w->inputs || !w->spans || !w->values || !w->own || !w->layout) {
    workspace_free(w);
    return NULL;
  }
  w->outputs = w->inputs + inputs;
  if (info->num_symbols)
    w->sizes = w->layout + words;
  int64_t *at = add_values(w, info->inputs, info->num_inputs, 0, w->layout);
  w->arena_word =
      add_values(w, info->outputs, info->num_outputs, info->num_inputs, at);
  return w;
}

ft_workspace *ft_workspace_take(ft_workspace_cache *cache,
                                const ft_model_desc *desc, ft_status *status) {
  for (int i = 0; i < FT_KEPT_WORKSPACES; ++i) {
    if (!atomic_load_explicit(&cache->slots[i], memory_order_relaxed))
      continue;
    ft_workspace *w = atomic_exchange(&cache->slots[i], NULL);
    if (w)
      return w;
  }
  ft_workspace *w = workspace_new(desc);
  if (!w)
    ft_fail(status, FT_ERROR_MEMORY, "no memory for a call of \"%s\"",
            desc->info.name);
  return w;
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

/* A block that had to grow may have to again, as when sequences get longer with
 * each call: room for that is added, where there is memory. */
static uint8_t *grow(uint8_t **block, size_t *have, size_t bytes) {
  if (*block && bytes <= *have)
    return *block;
  size_t room = *block ? bytes / 8 : 0;
  ft_free_block(*block);
  *have = bytes + room;
  *block = ft_alloc_block(*have);
  if (!*block && room) {
    *have = bytes;
    *block = ft_alloc_block(*have);
  }
  if (!*block)
    *have = 0;
  return *block;
}

uint8_t *ft_workspace_arena(ft_workspace *w) {
  if (w->arena.filled)
    return w->arena_needed <= w->arena.bytes ? w->arena.data : NULL;
  return grow(&w->arena.data, &w->arena.bytes, w->arena_needed);
}

uint8_t *ft_workspace_scratch(ft_workspace *w, size_t bytes) {
  return grow(&w->scratch, &w->scratch_bytes, bytes);
}
