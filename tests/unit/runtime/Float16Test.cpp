//===- Float16Test.cpp - Conversions for old CPUs --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

// NOLINTBEGIN(bugprone-reserved-identifier): LLVM chose the names.
extern "C" {
float __extendhfsf2(_Float16);
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
__bf16 __truncsfbf2(float);
__bf16 __truncdfbf2(double);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace {

template <typename To, typename From>
To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

float extend(uint16_t half) { return __extendhfsf2(bits<_Float16>(half)); }
uint16_t half(float x) { return bits<uint16_t>(__truncsfhf2(x)); }
uint16_t halfOfDouble(double x) { return bits<uint16_t>(__truncdfhf2(x)); }
uint16_t bfloat(float x) { return bits<uint16_t>(__truncsfbf2(x)); }
uint16_t bfloatOfDouble(double x) { return bits<uint16_t>(__truncdfbf2(x)); }
float ofBfloat(uint16_t b) { return bits<float>(uint32_t(b) << 16); }

TEST(Float16, ExtensionIsTheFormula) {
  for (uint32_t h = 0; h < 0x8000; ++h) {
    int e = static_cast<int>(h >> 10), m = static_cast<int>(h & 0x3ff);
    float x = extend(static_cast<uint16_t>(h));
    if (e == 31)
      EXPECT_TRUE(m ? std::isnan(x) : std::isinf(x)) << h;
    else
      EXPECT_EQ(x, std::ldexp(e ? 1024 + m : m, (e ? e : 1) - 25)) << h;
    EXPECT_EQ(std::signbit(extend(static_cast<uint16_t>(h | 0x8000))), true);
  }
}

/// Rounds numbers at, and next to, the middle between neighbours.
template <typename Round, typename Value, typename Float>
void checkRounding(Round round, Value value, uint32_t infinity, Float) {
  for (uint32_t h = 0; h + 1 < infinity; ++h) {
    Float low = value(static_cast<uint16_t>(h));
    Float high = value(static_cast<uint16_t>(h + 1));
    Float middle = low + (high - low) / 2; // exact
    uint32_t even = h & 1 ? h + 1 : h;
    EXPECT_EQ(round(low), h);
    EXPECT_EQ(round(middle), even);
    EXPECT_EQ(round(std::nextafter(middle, low)), h);
    EXPECT_EQ(round(std::nextafter(middle, high)), h + 1);
    EXPECT_EQ(round(-middle), even | 0x8000);
  }
}

TEST(Float16, TruncationRoundsToNearestEven) {
  checkRounding(half, extend, 0x7c00, float());
  checkRounding(halfOfDouble, extend, 0x7c00, double());
  checkRounding(bfloatOfDouble, ofBfloat, 0x7f80, double());
  // Below the smallest normal float the middle is not exact in float.
  for (uint32_t b = 0x80; b + 1 < 0x7f80; ++b) {
    uint32_t middle = b << 16 | 0x8000;
    EXPECT_EQ(bfloat(bits<float>(middle)), b & 1 ? b + 1 : b);
    EXPECT_EQ(bfloat(bits<float>(middle - 1)), b);
    EXPECT_EQ(bfloat(bits<float>(middle + 1)), b + 1);
  }
}

TEST(Float16, Overflow) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(half(65504), 0x7bff);
  EXPECT_EQ(half(65519.996f), 0x7bff);
  EXPECT_EQ(half(65520), 0x7c00);
  EXPECT_EQ(half(-1e30f), 0xfc00);
  EXPECT_EQ(half(inf), 0x7c00);
  EXPECT_EQ(halfOfDouble(1e300), 0x7c00);
  EXPECT_EQ(bfloat(inf), 0x7f80);
  EXPECT_EQ(bfloat(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(bfloatOfDouble(1e300), 0x7f80);
}

TEST(Float16, NotANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(extend(half(static_cast<float>(nan)))));
  EXPECT_TRUE(std::isnan(extend(halfOfDouble(nan))));
  EXPECT_TRUE(std::isnan(ofBfloat(bfloat(static_cast<float>(nan)))));
  EXPECT_TRUE(std::isnan(ofBfloat(bfloatOfDouble(nan))));
  // A payload in the low bits only must not become infinity.
  EXPECT_TRUE(std::isnan(ofBfloat(bfloat(bits<float>(0x7f800001u)))));
  EXPECT_TRUE(std::isnan(extend(half(bits<float>(0x7f800001u)))));
}

} // namespace
