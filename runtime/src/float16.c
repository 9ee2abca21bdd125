/*===- float16.c - Conversions that LLVM calls on old CPUs ---------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Code for a CPU without F16C or AVX-512 BF16 calls these by the names that
 * compiler-rt gives them; a model has no compiler-rt. Integer arithmetic only,
 * so that they never call themselves. Rounding is to nearest even.
 *===----------------------------------------------------------------------===*/
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static uint32_t float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* `value`, whose lowest `drop` (1 to 63) bits go, rounded to nearest even. */
static uint64_t round_off(uint64_t value, int drop) {
  uint64_t half = (uint64_t)1 << (drop - 1);
  uint64_t kept = value >> drop;
  uint64_t rest = value & (2 * half - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

/* An IEEE number of `mantissa` and `exponent` bits to half. */
static uint16_t to_half(uint64_t bits, int mantissa, int exponent) {
  uint16_t sign = (uint16_t)(bits >> (mantissa + exponent) << 15);
  int64_t top = ((int64_t)1 << exponent) - 1;
  int64_t e = (int64_t)(bits >> mantissa) & top;
  uint64_t m = bits & (((uint64_t)1 << mantissa) - 1);
  if (e == top) /* infinity, or a quiet NaN with what fits of its payload */
    return sign | 0x7c00 | (m ? 0x200 | (uint16_t)(m >> (mantissa - 10)) : 0);
  int64_t half_e = e - (top >> 1) + 15;
  if (half_e >= 31)
    return sign | 0x7c00;
  if (half_e > 0) /* a carry out of the mantissa counts the exponent up */
    return sign + (uint16_t)round_off(((uint64_t)half_e << mantissa) | m,
                                      mantissa - 10);
  if (half_e < -10)
    return sign;
  return sign | (uint16_t)round_off(((uint64_t)1 << mantissa) | m,
                                    mantissa - 10 + 1 - (int)half_e);
}

static uint32_t half_to_float_bits(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t e = half >> 10 & 31, m = half & 0x3ff;
  if (e == 31)
    return sign | 0x7f800000 | m << 13 | (m ? 0x400000 : 0);
  if (e)
    return sign | (e + 112) << 23 | m << 13;
  if (!m)
    return sign;
  int shift = __builtin_clz(m) - 21; /* brings the leading one to bit 10 */
  return sign | (uint32_t)(113 - shift) << 23 | (m << shift & 0x3ff) << 13;
}

static uint16_t to_bfloat(float x) {
  uint32_t bits = float_bits(x);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return (uint16_t)(bits >> 16) | 0x40;
  return (uint16_t)round_off(bits, 16);
}

/* A double as a float whose last bit is odd unless it is exact ("round to
 * odd"): rounding it again, to fewer bits, gives what one rounding gives. */
static float to_float_odd(double x) {
  float y = (float)x;
  uint32_t bits = float_bits(y);
  bool infinite = (bits & 0x7fffffff) == 0x7f800000;
  if (y == x || x != x || infinite || (bits & 1))
    return y;
  bool nearer_zero = __builtin_fabs((double)y) < __builtin_fabs(x);
  bits = nearer_zero ? bits + 1 : bits - 1;
  memcpy(&y, &bits, sizeof y);
  return y;
}

/*===- The names that LLVM knows ------------------------------------------===*/

typedef _Float16 half;
typedef __bf16 bfloat;

static half half_of(uint16_t bits) {
  half x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static bfloat bfloat_of(uint16_t bits) {
  bfloat x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

float __extendhfsf2(half x) {
  uint16_t in;
  memcpy(&in, &x, sizeof in);
  uint32_t out = half_to_float_bits(in);
  float y;
  memcpy(&y, &out, sizeof y);
  return y;
}

half __truncsfhf2(float x) { return half_of(to_half(float_bits(x), 23, 8)); }

half __truncdfhf2(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return half_of(to_half(bits, 52, 11));
}

bfloat __truncsfbf2(float x) { return bfloat_of(to_bfloat(x)); }

bfloat __truncdfbf2(double x) { return bfloat_of(to_bfloat(to_float_odd(x))); }
