//===- GuardTest.cpp - .mlir text that is too deep to parse ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gtest/gtest.h"

#include "compiler/support/Diagnostics.h"
#include "compiler/support/TextGuard.h"

using namespace ft;

namespace {

std::string message(llvm::Error error) {
  if (!error)
    return "ok";
  Diagnostic d = takeDiagnostics(std::move(error))[0];
  return (diagCode(d.id) + " " + d.message).str();
}
std::string mlir(const std::string &text) {
  return message(guardMlirText(text, "a.mlir"));
}
std::string repeat(const std::string &text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i)
    out += text;
  return out;
}

constexpr char kDeep[] =
    "FT0105 line 1: the text is nested deeper than 256 levels";
constexpr char kLong[] =
    "FT0105 line 1: an expression has more than 256 operators";

TEST(Guard, MlirBrackets) {
  EXPECT_EQ(mlir(repeat("[", 256)), "ok");
  for (const char *bracket : {"[", "(", "{", "<"})
    EXPECT_EQ(mlir(repeat(bracket, 257)), kDeep);
  EXPECT_EQ(mlir("\"" + repeat("[", 1000) + "\""), "ok");
  EXPECT_EQ(mlir("// " + repeat("[", 1000)), "ok");
  EXPECT_EQ(mlir(repeat("tuple<() -> tuple<>>, ", 1000)), "ok");
  // Arrows and comparisons close nothing.
  EXPECT_EQ(mlir(repeat("( -> (a >= b > c, ", 129)), kDeep);
  // A comparison that looks like an open bracket ends with the one around it.
  EXPECT_EQ(mlir(repeat("(a < b)", 1000)), "ok");
}

TEST(Guard, MlirPrefixOperators) {
  EXPECT_EQ(mlir("affine_map<(d0) -> (" + repeat("-", 254) + "d0)>"), "ok");
  EXPECT_EQ(mlir("affine_map<(d0) -> (" + repeat("- ", 20000) + "d0)>"), kDeep);
  // Brackets and signs add up.
  EXPECT_EQ(mlir(repeat("(--", 86)), kDeep);
  EXPECT_EQ(mlir("dense<[" + repeat("-1, ", 1000) + "]>"), "ok");
  EXPECT_EQ(mlir("dense<[" + repeat("1.0e-05, ", 1000) + "]>"), "ok");
}

TEST(Guard, MlirChains) {
  EXPECT_EQ(mlir("affine_map<(d0) -> (d0" + repeat(" + d0", 20000) + ")>"),
            kLong);
  EXPECT_EQ(mlir("affine_map<(d0) -> (d0" + repeat(" floordiv 2", 300) + ")>"),
            kLong);
  EXPECT_EQ(mlir("affine_map<(d0) -> (" + repeat("d0 + 1, ", 1000) + ")>"),
            "ok");
  EXPECT_EQ(mlir("{" +
                 repeat("%0 = \"x\"() {a = -1 : i32} : () -> f32\n", 1000) +
                 "}"),
            "ok");
}

TEST(Guard, MlirAliases) {
  std::string chain = "#a0 = [1]\n", bomb = chain, wide = chain;
  for (int i = 1; i <= 300; ++i) {
    std::string name = "#a" + std::to_string(i), last = std::to_string(i - 1);
    chain += name + " =\n [\n#a" + last + "]\n";
    bomb += name + " = [#a" + last + ", #a" + last + "]\n";
    wide += name + " = [#a0, #a0]\n";
  }
  EXPECT_NE(mlir(chain).find("nested deeper"), std::string::npos);
  EXPECT_EQ(mlir(bomb),
            "FT0105 line 21: an alias stands for too many attributes");
  EXPECT_EQ(mlir(wide), "ok");
  // What follows a definition does not belong to it.
  EXPECT_EQ(mlir("#loc = loc(unknown)\nmodule {" + repeat("{", 200) +
                 repeat("}", 200) + "}\n#loc1 = loc(" + repeat("(", 100) +
                 "#loc" + repeat(")", 100) + ")\n"),
            "ok");
}

} // namespace
