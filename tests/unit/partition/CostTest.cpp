//===- CostTest.cpp - The cost contract of operators -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/Cost.h"

#include "gtest/gtest.h"

#include "llvm/ADT/StringSet.h"

#include <initializer_list>

using namespace ft;

namespace {

struct CostTest : ::testing::Test {
  SymContext ctx;
  std::vector<TensorMeta> operands;

  /// An f32 operand; its argument.
  Arg x(std::initializer_list<Dim> sizes, DType dtype = DType::F32) {
    operands.push_back(TensorMeta::contiguous(dtype, Dims(sizes)));
    return Arg::tensor(static_cast<int>(operands.size()) - 1);
  }
  static Arg list(std::initializer_list<int64_t> values) {
    std::vector<Arg> all;
    for (int64_t v : values)
      all.push_back(Arg::integer(v));
    return Arg::listOf(all);
  }

  /// Arguments that are left out have their defaults.
  OpCost cost(llvm::StringRef name, std::vector<Arg> args,
              std::initializer_list<Dims> results) {
    const Schema *schema = SchemaTable::get().find(name);
    if (!schema) {
      ADD_FAILURE() << "no overload " << name.str();
      return {};
    }
    while (args.size() < schema->args.size())
      args.push_back(schema->args[args.size()].defaultValue);
    std::vector<TensorMeta> metas;
    for (const Dims &sizes : results)
      metas.push_back(TensorMeta::contiguous(DType::F32, sizes));
    return costOf(*schema, args, operands, metas);
  }
  /// "expensive 1024 flops, 768 + 128 bytes"
  std::string text(llvm::StringRef name, std::vector<Arg> args,
                   std::initializer_list<Dims> results) {
    OpCost c = cost(name, std::move(args), results);
    operands.clear();
    return recomputeClassName(c.recompute).str() + " " + c.flops.str() +
           " flops, " + c.bytesRead.str() + " + " + c.bytesWritten.str() +
           " bytes";
  }
};

TEST_F(CostTest, EveryOverloadHasAClass) {
  llvm::StringSet<> families;
#define FT_COST_FAMILY(family, recompute, work, factor)                        \
  families.insert(#family);
#define FT_COST(name, recompute, work, factor)
#include "compiler/partition/Cost.def"
  for (const Schema &schema : SchemaTable::get().all()) {
    EXPECT_TRUE(families.contains(schema.family)) << schema.family.str();
    if (schema.mutates)
      EXPECT_EQ(recomputeClass(schema), RecomputeClass::Never)
          << schema.name.str();
  }
}

TEST_F(CostTest, ExceptionsNameOperators) {
  llvm::StringSet<> known, rows;
  for (const Schema &schema : SchemaTable::get().all()) {
    known.insert(schema.base);
    known.insert(schema.name);
  }
#define FT_COST_FAMILY(family, recompute, work, factor)
#define FT_COST(name, recompute, work, factor)                                 \
  EXPECT_TRUE(known.contains(#name)) << #name;                                 \
  EXPECT_TRUE(rows.insert(#name).second) << #name;
#include "compiler/partition/Cost.def"
}

TEST_F(CostTest, Classes) {
  auto of = [](llvm::StringRef name) {
    return recomputeClassName(recomputeClass(*SchemaTable::get().find(name)));
  };
  EXPECT_EQ(of("permute.default"), "view");
  EXPECT_EQ(of("sym_size.int"), "view");
  EXPECT_EQ(of("add.Tensor"), "pointwise");
  EXPECT_EQ(of("clone.default"), "pointwise");
  EXPECT_EQ(of("sum.dim_IntList"), "reduction");
  EXPECT_EQ(of("native_layer_norm.default"), "reduction");
  EXPECT_EQ(of("mm.default"), "expensive");
  EXPECT_EQ(of("sort.default"), "expensive");
  EXPECT_EQ(of("rand_like.default"), "never");
  EXPECT_EQ(of("native_dropout_backward.default"), "pointwise");
  EXPECT_EQ(of("nonzero.default"), "never");
  EXPECT_EQ(of("item.default"), "never");
  EXPECT_EQ(of("add_.Tensor"), "never");
  EXPECT_EQ(of("t_.default"), "never");
  EXPECT_EQ(of("repeat_interleave.Tensor"), "never");
  EXPECT_EQ(of("repeat_interleave.self_int"), "pointwise");
}

TEST_F(CostTest, Pointwise) {
  EXPECT_EQ(text("add.Tensor", {x({4, 8}), x({8})}, {{4, 8}}),
            "pointwise 32 flops, 160 + 128 bytes");
  EXPECT_EQ(text("exp.default", {x({4, 8})}, {{4, 8}}),
            "pointwise 320 flops, 128 + 128 bytes");
  EXPECT_EQ(text("permute.default", {x({4, 8}), list({1, 0})}, {{8, 4}}),
            "view 0 flops, 0 + 0 bytes");
  // An expanded operand is read once.
  Arg expanded = x({4, 8});
  operands[0].strides = {0, 1};
  EXPECT_EQ(text("relu.default", {expanded}, {{4, 8}}),
            "pointwise 32 flops, 32 + 128 bytes");
}

TEST_F(CostTest, Reductions) {
  EXPECT_EQ(text("sum.dim_IntList", {x({4, 8}), list({1})}, {{4}}),
            "reduction 32 flops, 128 + 16 bytes");
  EXPECT_EQ(
      text("max_pool2d.default", {x({1, 2, 8, 8}), list({2})}, {{1, 2, 4, 4}}),
      "reduction 128 flops, 512 + 128 bytes");
}

TEST_F(CostTest, Products) {
  EXPECT_EQ(text("mm.default", {x({8, 16}), x({16, 4})}, {{8, 4}}),
            "expensive 1024 flops, 768 + 128 bytes");
  EXPECT_EQ(text("addmm.default", {x({4}), x({8, 16}), x({16, 4})}, {{8, 4}}),
            "expensive 1024 flops, 784 + 128 bytes");
  EXPECT_EQ(text("linear.default", {x({2, 3, 16}), x({4, 16})}, {{2, 3, 4}}),
            "expensive 768 flops, 640 + 96 bytes");
  EXPECT_EQ(text("bmm.default", {x({2, 8, 16}), x({2, 16, 4})}, {{2, 8, 4}}),
            "expensive 2048 flops, 1536 + 256 bytes");
  EXPECT_EQ(text("addbmm.default", {x({8, 4}), x({2, 8, 16}), x({2, 16, 4})},
                 {{8, 4}}),
            "expensive 2048 flops, 1664 + 128 bytes");
  EXPECT_EQ(text("dot.default", {x({16}), x({16})}, {Dims()}),
            "expensive 32 flops, 128 + 4 bytes");
  EXPECT_EQ(text("chain_matmul.default",
                 {Arg::listOf({x({2, 3}), x({3, 5}), x({5, 7})})}, {{2, 7}}),
            "expensive 200 flops, 224 + 56 bytes");
}

TEST_F(CostTest, Einsum) {
  auto einsum = [&](const char *equation, std::vector<Arg> tensors,
                    const Dims &result) {
    return cost("einsum.default",
                {Arg::string(equation), Arg::listOf(std::move(tensors))},
                {result})
        .flops.str();
  };
  EXPECT_EQ(einsum("ik,kj->ij", {x({8, 16}), x({16, 4})}, {8, 4}), "1024");
  operands.clear();
  EXPECT_EQ(einsum("b h q d, b h k d -> b h q k",
                   {x({2, 3, 4, 8}), x({2, 3, 5, 8})}, {2, 3, 4, 5}),
            "1920");
  operands.clear();
  EXPECT_EQ(einsum("...ik,...kj", {x({2, 8, 16}), x({2, 16, 4})}, {2, 8, 4}),
            "2048");
  operands.clear();
  EXPECT_EQ(einsum("ij->ji", {x({2, 3})}, {3, 2}), "12");
}

TEST_F(CostTest, Convolutions) {
  EXPECT_EQ(text("conv2d.default", {x({1, 8, 6, 6}), x({4, 8, 3, 3})},
                 {{1, 4, 4, 4}}),
            "expensive 9216 flops, 2304 + 256 bytes");
  // Depthwise: each channel has its own filter.
  EXPECT_EQ(
      cost("conv2d.default", {x({1, 8, 6, 6}), x({8, 1, 3, 3})}, {{1, 8, 4, 4}})
          .flops.str(),
      "2304");
  operands.clear();
  EXPECT_EQ(cost("conv_transpose2d.input", {x({1, 8, 4, 4}), x({8, 4, 3, 3})},
                 {{1, 4, 6, 6}})
                .flops.str(),
            "9216");
  operands.clear();
  Arg mask =
      Arg::listOf({Arg::truth(true), Arg::truth(true), Arg::truth(true)});
  EXPECT_EQ(cost("convolution_backward.default",
                 {x({1, 4, 4, 4}), x({1, 8, 6, 6}), x({4, 8, 3, 3}),
                  Arg::none(), list({1, 1}), list({0, 0}), list({1, 1}),
                  Arg::truth(false), list({0, 0}), Arg::integer(1), mask},
                 {{1, 8, 6, 6}, {4, 8, 3, 3}, {4}})
                .flops.str(),
            "18496"); // twice the forward, and a sum
}

TEST_F(CostTest, AttentionAndRecurrence) {
  // 2*3*4*5 scores, each 2*8 for q·k, 2*8 for p·v and 14 for the softmax.
  Arg q = x({2, 3, 4, 8}), k = x({2, 3, 5, 8}), v = x({2, 3, 5, 8});
  OpCost c =
      cost("scaled_dot_product_attention.default", {q, k, v}, {{2, 3, 4, 8}});
  EXPECT_EQ(c.flops.str(), "5520");
  EXPECT_EQ(c.recompute, RecomputeClass::Expensive);
  c = cost("scaled_dot_product_attention.default",
           {q, k, v, Arg::none(), Arg::floating(0.1)}, {{2, 3, 4, 8}});
  EXPECT_EQ(c.recompute, RecomputeClass::Never);

  operands.clear();
  Arg input = x({7, 2, 5}), state = x({2, 3});
  EXPECT_EQ(
      cost("gru_cell.default", {input, state, x({9, 5}), x({9, 3})}, {{2, 3}})
          .flops.str(),
      "2016"); // 14 positions of 72 weights
}

TEST_F(CostTest, GathersReadWhatTheyGive) {
  EXPECT_EQ(text("embedding.default", {x({1000, 16}), x({2, 3}, DType::I64)},
                 {{2, 3, 16}}),
            "pointwise 0 flops, 432 + 384 bytes");
}

TEST_F(CostTest, SymbolicSizes) {
  Dim b(ctx.symbol("b"));
  EXPECT_EQ(text("linear.default", {x({b, 16}), x({4, 16})}, {{b, 4}}),
            "expensive 128*b flops, 64*b + 256 + 16*b bytes");
  EXPECT_EQ(text("relu.default", {x({b, b + Dim(1)})}, {{b, b + Dim(1)}}),
            "pointwise b**2 + b flops, 4*b**2 + 4*b + 4*b**2 + 4*b bytes");
}

} // namespace
