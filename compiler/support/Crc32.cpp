//===- Crc32.cpp - The checksum of zip archives ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message is a polynomial over GF(2), and its CRC the remainder modulo P of
// degree 32. Sixteen bytes V at the head of a message can be moved D bits
// towards its end without changing the remainder: V is replaced by
// V * (x^D mod P), added (xor) to the bytes that stand there. So four lanes of
// 16 bytes are folded onto the next 64 bytes (D = 512) for as long as there
// are any, then onto one another (D = 128); the 16 bytes that are left stand
// for all that was read, and the portable form ends the work.
//
// Bits are reflected: bit i of a 128-bit register is the coefficient of
// x^(127 - i), so the low half L and the high half H mean L * x^64 + H. A
// carry-less product of two 64-bit halves comes out one bit too low, which the
// constants make up for: x^(D + 63) for the low half, x^(D - 1) for the high.
//
// Cost: 2 multiplications for each 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/support/Crc32.h"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ft {

uint32_t crc32Portable(llvm::ArrayRef<uint8_t> bytes, uint32_t crc) {
  return static_cast<uint32_t>(crc32_z(crc, bytes.data(), bytes.size()));
}

#if defined(__x86_64__)

/// x^n mod P, as a half of a register: bit i is the coefficient of x^(63 - i).
static constexpr uint64_t power(unsigned n) {
  uint32_t r = 0x80000000; // x^0; bit i is the coefficient of x^(31 - i)
  for (unsigned i = 0; i < n; ++i)
    r = (r >> 1) ^ (r & 1 ? 0xEDB88320 : 0);
  return static_cast<uint64_t>(r) << 32;
}

#define FT_CLMUL __attribute__((target("pclmul,sse2")))

template <unsigned kBits>
FT_CLMUL static __m128i fold(__m128i v, __m128i at) {
  constexpr uint64_t kLow = power(kBits + 63), kHigh = power(kBits - 1);
  const __m128i k =
      _mm_set_epi64x(static_cast<int64_t>(kHigh), static_cast<int64_t>(kLow));
  return _mm_xor_si128(at, _mm_xor_si128(_mm_clmulepi64_si128(v, k, 0x00),
                                         _mm_clmulepi64_si128(v, k, 0x11)));
}

FT_CLMUL static uint32_t crc32Folded(llvm::ArrayRef<uint8_t> bytes,
                                     uint32_t crc) {
  auto load = [&](size_t lane) FT_CLMUL {
    return _mm_loadu_si128(
        reinterpret_cast<const __m128i *>(bytes.data() + 16 * lane));
  };
  __m128i lanes[4] = {load(0), load(1), load(2), load(3)};
  // The register's start value is added to the first four bytes.
  lanes[0] =
      _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int32_t>(~crc)));
  for (bytes = bytes.drop_front(64); bytes.size() >= 64;
       bytes = bytes.drop_front(64))
    for (size_t i = 0; i < 4; ++i)
      lanes[i] = fold<512>(lanes[i], load(i));
  for (size_t i = 1; i < 4; ++i)
    lanes[i] = fold<128>(lanes[i - 1], lanes[i]);
  uint8_t head[16];
  _mm_storeu_si128(reinterpret_cast<__m128i *>(head), lanes[3]);
  // zlib inverts what it is given: all ones is a register of zero.
  return crc32Portable(bytes, crc32Portable(head, 0xFFFFFFFF));
}

uint32_t crc32(llvm::ArrayRef<uint8_t> bytes, uint32_t crc) {
  static const bool kHasClmul = __builtin_cpu_supports("pclmul");
  return kHasClmul && bytes.size() >= 64 ? crc32Folded(bytes, crc)
                                         : crc32Portable(bytes, crc);
}

#else

uint32_t crc32(llvm::ArrayRef<uint8_t> bytes, uint32_t crc) {
  return crc32Portable(bytes, crc);
}

#endif

} // namespace ft
