/*===- philox.h - Philox-4x32-10 ------------------------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Counter-based random numbers (Salmon, Moraes, Dror, Shaw: Parallel random
 * numbers: as easy as 1, 2, 3; 2011): a block cipher of ten rounds turns a
 * counter of 128 bits under a key of 64 into 128 random bits. Here the key is
 * the seed; the counter is the element (low half) and the offset of the
 * operator (high half). There is no state, so elements may be drawn in any
 * order on any thread. compiler/lower/rules/Philox.cpp emits the same.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNELS_PHILOX_H
#define FORETRACE_RUNTIME_KERNELS_PHILOX_H

#include <stdint.h>

/* Four words of 32 random bits. */
static inline void ft_philox(uint64_t seed, uint64_t offset, uint64_t element,
                             uint32_t words[4]) {
  uint32_t c0 = (uint32_t)element, c1 = (uint32_t)(element >> 32);
  uint32_t c2 = (uint32_t)offset, c3 = (uint32_t)(offset >> 32);
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = (uint64_t)c0 * 0xD2511F53U, p1 = (uint64_t)c2 * 0xCD9E8D57U;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

/* A stream of numbers for one element: its blocks are counted in the upper 16
 * bits of the element, which no tensor needs. */
typedef struct ft_stream {
  uint64_t seed, offset, element;
  uint32_t words[4];
  int left;
} ft_stream;

static inline ft_stream ft_stream_at(uint64_t seed, uint64_t offset,
                                     uint64_t element) {
  ft_stream s = {seed, offset, element, {0, 0, 0, 0}, 0};
  return s;
}

static inline uint64_t ft_next_bits(ft_stream *s) {
  if (!s->left) {
    ft_philox(s->seed, s->offset, s->element, s->words);
    s->element += (uint64_t)1 << 48;
    s->left = 4;
  }
  s->left -= 2;
  return (uint64_t)s->words[s->left + 1] << 32 | s->words[s->left];
}

/* Inside (0, 1): the middle of one of 2^52 parts of it. */
static inline double ft_next_open(ft_stream *s) {
  return ((double)(ft_next_bits(s) >> 12) + 0.5) * 0x1p-52;
}

#endif /* FORETRACE_RUNTIME_KERNELS_PHILOX_H */
