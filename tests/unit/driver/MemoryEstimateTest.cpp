//===- MemoryEstimateTest.cpp ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/MemoryEstimate.h"

#include "compiler/driver/MemoryCurve.h"

#include <gtest/gtest.h>

using namespace ft;

/// Two layers, whose batch BATCH is a number or a symbol.
static const char *const kLayers = R"(
!x = tensor<BATCHx16xf32, #ft.meta<SIZEScpu>>
!w = tensor<16x16xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize", ft.model = "layers"} {
  SYMBOL
  func.func @forward(%w: !w {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad},
                     %x: !x {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (!x {ft.name = "y", ft.role = "output"}) {
    %0 = ft.mm(%x, %w) : (!x, !w) -> !x
    %1 = ft.gelu(%0) : (!x) -> !x
    %2 = ft.mm(%1, %w) : (!x, !w) -> !x
    %3 = ft.gelu(%2) : (!x) -> !x
    return %3 : !x
  }
}
)";

static std::string replaced(std::string text, const std::string &what,
                            const std::string &with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

static std::string layersOf(int64_t batch) {
  return replaced(
      replaced(replaced(kLayers, "BATCH", std::to_string(batch)), "SIZES", ""),
      "SYMBOL", "");
}

static std::string dynamicLayers() {
  return replaced(
      replaced(replaced(kLayers, "BATCH", "?"), "SIZES", "[s0], "), "SYMBOL",
      R"(ft.symbol "s0" {hint = 4 : i64, lower = 1 : i64, source = "x:0", title = "batch"})");
}

static std::optional<MemoryEstimate> estimated(const std::string &text,
                                               const EstimateRequest &request,
                                               const std::string &budget = "") {
  Options options;
  options.training = true;
  options.memoryBudget = budget;
  Session session(options);
  std::optional<MemoryEstimate> memory;
  if (session.loadText(text, "layers.mlir"))
    memory = estimateMemory(session, request);
  for (const Diagnostic &d : session.diagnostics())
    ADD_FAILURE() << d.render();
  return memory;
}

TEST(MemoryEstimate, Bytes) {
  EXPECT_EQ(parseBytes("4096"), 4096);
  EXPECT_EQ(parseBytes("1.5KiB"), 1536);
  EXPECT_EQ(parseBytes("80 GiB"), int64_t(80) << 30);
  EXPECT_EQ(parseBytes("2MB"), 2000000);
  for (const char *text :
       {"", "GiB", "-1", "1XB", "1..5", "1e30TB", "9000000TiB", "nan", "0x10"})
    EXPECT_EQ(parseBytes(text), std::nullopt) << text;
}

/// The size that fits, and the next one, as models of just that size.
TEST(MemoryEstimate, TheLargestBatchIsTheLargest) {
  for (int64_t memory : {8000, 20000, 1 << 20, 12345678}) {
    EstimateRequest request;
    request.memory = memory;
    request.solve = "batch";
    std::optional<MemoryEstimate> dynamic = estimated(dynamicLayers(), request);
    ASSERT_TRUE(dynamic && dynamic->largest);
    int64_t largest = dynamic->largest->value;
    std::optional<MemoryEstimate> at = estimated(layersOf(largest), {}),
                                  next = estimated(layersOf(largest + 1), {});
    ASSERT_TRUE(at && next);
    EXPECT_EQ(at->totalBytes, dynamic->largest->bytes);
    EXPECT_EQ(next->totalBytes, dynamic->largest->nextBytes);
    EXPECT_LE(at->totalBytes, memory);
    EXPECT_GT(next->totalBytes, memory);
  }
}

TEST(MemoryEstimate, OptimizerState) {
  EstimateRequest request;
  for (auto [name, copies] : {std::pair{"", 0},
                              {"sgd", 0},
                              {"momentum", 1},
                              {"adam", 2},
                              {"adamw", 2}}) {
    request.optimizer = name;
    std::optional<MemoryEstimate> memory = estimated(layersOf(4), request);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->gradientsBytes, 1024);
    EXPECT_EQ(memory->optimizerBytes, 1024 * copies) << name;
  }
}

/// Rows by budget are those of the partition with that budget.
TEST(MemoryEstimate, BudgetsAreWhatTheyGive) {
  std::optional<MemoryEstimate> memory = estimated(layersOf(64), {});
  ASSERT_TRUE(memory);
  ASSERT_GE(memory->budgets.size(), 3u);
  EXPECT_EQ(memory->budgets.front().bytes, memory->activationsBytes);
  for (const ActivationsByBudget &row : memory->budgets) {
    std::optional<MemoryEstimate> with =
        estimated(layersOf(64), {}, std::to_string(row.budget));
    ASSERT_TRUE(with);
    EXPECT_EQ(with->activationsBytes, row.bytes) << row.budget;
  }
}

/// A budget in bytes is the peak of some row of the curve; a lower one never
/// gives a higher peak.
TEST(MemoryEstimate, BudgetsInBytesAreMonotone) {
  Options options;
  options.training = true;
  Session session(options);
  ASSERT_TRUE(session.loadText(layersOf(64), "layers.mlir"));
  std::optional<std::vector<CurvePoint>> curve = memoryCurve(session);
  ASSERT_TRUE(curve);
  int64_t least = curve->front().peakBytes;
  for (const CurvePoint &point : *curve)
    least = std::min(least, point.peakBytes);
  int64_t before = curve->front().peakBytes;
  for (int64_t budget = before; budget >= least; budget -= 512) {
    std::optional<MemoryEstimate> memory =
        estimated(layersOf(64), {}, std::to_string(budget) + "B");
    ASSERT_TRUE(memory);
    EXPECT_LE(memory->peakBytes, std::min(budget, before));
    before = memory->peakBytes;
  }
}
