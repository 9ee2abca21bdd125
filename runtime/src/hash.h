/*===- hash.h - A 64-bit hash of bytes ------------------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The XXH64 function (a public algorithm), in pieces: weights files are hashed
 * while they are written and, on request, when they are loaded. It finds
 * damage and mix-ups; it is no defence against a forger. About 10 GB/s.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_HASH_H
#define FORETRACE_RUNTIME_HASH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ft_hash {
  uint64_t lanes[4];
  uint64_t seed;
  uint64_t total;
  uint8_t tail[32]; /* the last total % 32 bytes */
} ft_hash;

void ft_hash_init(ft_hash *hash, uint64_t seed);
void ft_hash_add(ft_hash *hash, const void *data, size_t bytes);
uint64_t ft_hash_value(const ft_hash *hash);

/* All at once, seed 0. */
uint64_t ft_hash_bytes(const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* FORETRACE_RUNTIME_HASH_H */
