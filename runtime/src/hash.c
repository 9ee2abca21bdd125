/*===- hash.c - A 64-bit hash of bytes ------------------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "hash.h"

#include <string.h>

static const uint64_t kPrime1 = 0x9e3779b185ebca87u;
static const uint64_t kPrime2 = 0xc2b2ae3d27d4eb4fu;
static const uint64_t kPrime3 = 0x165667b19e3779f9u;
static const uint64_t kPrime4 = 0x85ebca77c2b2ae63u;
static const uint64_t kPrime5 = 0x27d4eb2f165667c5u;

static uint64_t rotate(uint64_t x, int by) {
  return (x << by) | (x >> (64 - by));
}

static uint64_t load64(const uint8_t *p) {
  uint64_t x;
  memcpy(&x, p, sizeof x);
  return x;
}

static uint64_t load32(const uint8_t *p) {
  uint32_t x;
  memcpy(&x, p, sizeof x);
  return x;
}

static uint64_t mix(uint64_t lane, uint64_t input) {
  return rotate(lane + input * kPrime2, 31) * kPrime1;
}

void ft_hash_init(ft_hash *hash, uint64_t seed) {
  hash->lanes[0] = seed + kPrime1 + kPrime2;
  hash->lanes[1] = seed + kPrime2;
  hash->lanes[2] = seed;
  hash->lanes[3] = seed - kPrime1;
  hash->seed = seed;
  hash->total = 0;
}

/* Whole stripes of 32 bytes: four independent lanes. */
static void add_stripes(ft_hash *hash, const uint8_t *p, size_t stripes) {
  uint64_t a = hash->lanes[0], b = hash->lanes[1];
  uint64_t c = hash->lanes[2], d = hash->lanes[3];
  for (; stripes; --stripes, p += 32) {
    a = mix(a, load64(p));
    b = mix(b, load64(p + 8));
    c = mix(c, load64(p + 16));
    d = mix(d, load64(p + 24));
  }
  hash->lanes[0] = a;
  hash->lanes[1] = b;
  hash->lanes[2] = c;
  hash->lanes[3] = d;
}

void ft_hash_add(ft_hash *hash, const void *data, size_t bytes) {
  const uint8_t *p = data;
  size_t held = hash->total % 32;
  hash->total += bytes;
  if (held) {
    size_t take = 32 - held < bytes ? 32 - held : bytes;
    memcpy(hash->tail + held, p, take);
    if (held + take < 32)
      return;
    add_stripes(hash, hash->tail, 1);
    p += take;
    bytes -= take;
  }
  add_stripes(hash, p, bytes / 32);
  if (bytes % 32)
    memcpy(hash->tail, p + bytes / 32 * 32, bytes % 32);
}

uint64_t ft_hash_value(const ft_hash *hash) {
  uint64_t h;
  if (hash->total >= 32) {
    const uint64_t *v = hash->lanes;
    h = rotate(v[0], 1) + rotate(v[1], 7) + rotate(v[2], 12) + rotate(v[3], 18);
    for (int i = 0; i < 4; ++i)
      h = (h ^ mix(0, v[i])) * kPrime1 + kPrime4;
  } else {
    h = hash->seed + kPrime5;
  }
  h += hash->total;
  const uint8_t *p = hash->tail;
  size_t left = hash->total % 32;
  for (; left >= 8; left -= 8, p += 8)
    h = rotate(h ^ mix(0, load64(p)), 27) * kPrime1 + kPrime4;
  if (left >= 4) {
    h = rotate(h ^ (load32(p) * kPrime1), 23) * kPrime2 + kPrime3;
    left -= 4;
    p += 4;
  }
  for (; left; --left, ++p)
    h = rotate(h ^ (*p * kPrime5), 11) * kPrime1;
  h = (h ^ (h >> 33)) * kPrime2;
  h = (h ^ (h >> 29)) * kPrime3;
  return h ^ (h >> 32);
}

uint64_t ft_hash_bytes(const void *data, size_t bytes) {
  ft_hash hash;
  ft_hash_init(&hash, 0);
  ft_hash_add(&hash, data, bytes);
  return ft_hash_value(&hash);
}
