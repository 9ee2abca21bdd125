//===- PromotionTest.cpp - Examples of type promotion ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Promotion.h"

#include "Calls.h"
#include "gtest/gtest.h"

using namespace ft;

namespace {

/// The dtype of an op over a tensor with dims or without, or a number.
std::string promote(std::vector<TensorMeta> tensors,
                    std::vector<Arg> numbers = {}) {
  TypePromotion types;
  for (const TensorMeta &t : tensors)
    types.add(t);
  for (const Arg &n : numbers)
    types.add(n);
  std::optional<DType> dtype = types.result();
  return dtype ? dtypeName(*dtype).str() : "refused";
}

TEST(Promotion, SmallestTypeThatHoldsBoth) {
  struct Row {
    DType a, b, want;
  };
  for (const Row &row : {Row{DType::U8, DType::I8, DType::I16},
                         Row{DType::U8, DType::I16, DType::I16},
                         Row{DType::F16, DType::BF16, DType::F32},
                         Row{DType::I64, DType::F16, DType::F16},
                         Row{DType::Bool, DType::U8, DType::U8},
                         Row{DType::C64, DType::F64, DType::C128},
                         Row{DType::BF16, DType::C32, DType::C64},
                         Row{DType::U16, DType::F32, DType::F32}}) {
    EXPECT_EQ(promoteTypes(row.a, row.b), row.want);
    EXPECT_EQ(promoteTypes(row.b, row.a), row.want);
  }
}

TEST(Promotion, RefusesTypesOutsideTheLattice) {
  EXPECT_FALSE(promoteTypes(DType::U16, DType::U8));
  EXPECT_FALSE(promoteTypes(DType::U16, DType::I32));
  EXPECT_FALSE(promoteTypes(DType::F8E4M3FN, DType::F32));
}

TEST(Promotion, TensorsWithoutDimsCountByCategoryOnly) {
  EXPECT_EQ(promote({typed(DType::I32, {2}), typed(DType::F16)}), "float16");
  EXPECT_EQ(promote({typed(DType::U8, {2}), typed(DType::I64)}), "uint8");
  EXPECT_EQ(promote({typed(DType::Bool, {2}), typed(DType::I8)}), "int8");
  EXPECT_EQ(promote({typed(DType::BF16, {2}), typed(DType::F64)}), "bfloat16");
  EXPECT_EQ(promote({typed(DType::I64, {2}), typed(DType::F16, {2})}),
            "float16");
  // Complex keeps the precision of the float above it.
  EXPECT_EQ(promote({typed(DType::F16, {2}), typed(DType::C128)}), "complex32");
}

TEST(Promotion, NumbersBringTheDefaultDType) {
  EXPECT_EQ(promote({typed(DType::I32, {2})}, {Arg::floating(1.5)}), "float32");
  EXPECT_EQ(promote({typed(DType::Bool, {2})}, {Arg::integer(2)}), "int64");
  EXPECT_EQ(promote({typed(DType::U8, {2})}, {Arg::integer(300)}), "uint8");
  EXPECT_EQ(promote({typed(DType::F16, {2})}, {Arg::floating(1.5)}), "float16");
  EXPECT_EQ(promote({typed(DType::F16, {2})}, {Arg::complex(0, 1)}),
            "complex32");
  EXPECT_EQ(promote({typed(DType::I32, {2})}, {Arg::complex(0, 1)}),
            "complex64");
  EXPECT_EQ(promote({typed(DType::Bool, {2})}, {Arg::truth(true)}), "bool");
}

TEST(Promotion, WritesDoNotGoDownInCategory) {
  EXPECT_FALSE(canCast(DType::F32, DType::I64));
  EXPECT_FALSE(canCast(DType::C64, DType::F32));
  EXPECT_FALSE(canCast(DType::I32, DType::Bool));
  EXPECT_TRUE(canCast(DType::F64, DType::F16));
  EXPECT_TRUE(canCast(DType::Bool, DType::U8));
}

} // namespace
