//===- VocabularyTest.cpp - ATen's calls as C++ reads them -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/trace.h"

#include "compiler/driver/Session.h"
#include "dialects/ft/Schema.h"

#include <gtest/gtest.h>

using namespace ft;

namespace {
/// x is float32 [2, 3, 4], m is float32 [4, 4], i is int64 [3].
struct Case {
  const char *line;
  Tensor (*call)(Tensor x, Tensor m, Tensor i);
  const char *operation; // of the last operation: name and plain arguments
  const char *result;

  // What gtest calls a failing case.
  [[maybe_unused]] friend void PrintTo(const Case &c, std::ostream *os) {
    *os << c.line;
  }
};
} // namespace

#define CASE(expression, operation, result)                                    \
  {#expression,                                                                \
   [](Tensor x, Tensor m, Tensor i) -> Tensor { return expression; },          \
   operation, result}

static const Case kCases[] = {
    // Overloads
    CASE(x + x, "ft.add(%x, %x)", "float32 [2, 3, 4] cpu"),
    CASE(x + 2, "ft.add(%x, 2)", "float32 [2, 3, 4] cpu"),
    CASE(2.5 - x, "ft.rsub.Scalar(%x, 2.5", "float32 [2, 3, 4] cpu"),
    CASE(x > 0, "ft.gt.Scalar(%x, 0)", "bool [2, 3, 4] cpu"),
    CASE(x == x, "ft.eq(%x, %x)", "bool [2, 3, 4] cpu"),
    CASE(-x, "ft.neg(%x)", "float32 [2, 3, 4] cpu"),
    CASE(x.sum(), "ft.sum(%x)", "float32 [] cpu"),
    CASE(x.sum(1), "ft.sum.dim_IntList(%x, [1])", "float32 [2, 4] cpu"),
    CASE(x.sum({0, -1}, true), "[0, -1], true", "float32 [1, 3, 1] cpu"),
    CASE(x.var(1), "ft.var.correction(%x, [1])", "float32 [2, 4] cpu"),
    CASE(x.var(false), "var.default\"(%x, false)", "float32 [] cpu"),
    CASE(x.all(), "all.default\"(%x)", "bool [] cpu"),
    CASE(x.all(0), "all.dim\"(%x, 0)", "bool [3, 4] cpu"),
    CASE(x.argmax(1), "ft.argmax(%x, 1)", "int64 [2, 4] cpu"),
    CASE(x.pow(2), "ft.pow.Tensor_Scalar(%x, 2)", "float32 [2, 3, 4] cpu"),
    CASE(ops::pow(2, x), "pow.Scalar\"(2, %x)", "float32 [2, 3, 4] cpu"),
    CASE(x.clamp(0, 6), "ft.clamp(%x, 0, 6)", "float32 [2, 3, 4] cpu"),
    CASE(x.clamp({}, 6), "ft.clamp(%x, max = 6)", "float32 [2, 3, 4] cpu"),
    CASE(x.div(x, "floor"), "ft.div.Tensor_mode(%x, %x",
         "float32 [2, 3, 4] cpu"),
    CASE(std::get<0>(x.max(1)), "ft.max.dim(%x, 1)", "float32 [2, 4] cpu"),
    CASE(x.max(), "max.default\"(%x)", "float32 [] cpu"),
    // Lists, sizes and numbers
    CASE(x.view({6, -1}), "(%x, [6, -1])", "float32 [6, 4] cpu"),
    CASE(x.view({x.size(0) * 3, 4}), "(%x, [6, 4])", "float32 [6, 4] cpu"),
    CASE(x.permute({2, 0, 1}), "(%x, [2, 0, 1])",
         "float32 [4, 2, 3] strides [1, 12, 4] cpu"),
    CASE(x.transpose(0, 1), "(%x, 0, 1)",
         "float32 [3, 2, 4] strides [4, 12, 1] cpu"),
    CASE(x[1], "ft.select.int(%x, 0, 1)", "float32 [3, 4] offset 12 cpu"),
    CASE(x.split(2, 1)[1], "ft.split.Tensor(%x, 2, 1)",
         "float32 [2, 1, 4] strides [12, 4, 1] offset 8 cpu"),
    CASE(ops::cat({x, x}, 1), "ft.cat([%x, %x], 1)", "float32 [2, 6, 4] cpu"),
    CASE(ops::stack({x, x}), "ft.stack([%x, %x])", "float32 [2, 2, 3, 4] cpu"),
    CASE(ops::index(x, {{}, i}), "(%x, [none, %i])", "float32 [2, 3, 4] cpu"),
    CASE(ops::einsum("abc,cd->abd", {x, m}), "\"abc,cd->abd\"",
         "float32 [2, 3, 4] cpu"),
    CASE(ops::max_pool2d(x, 2), "(%x, [2, 2])", "float32 [2, 1, 2] cpu"),
    // Optional tensors, dtypes, devices, layouts
    CASE(ops::linear(x, m), "ft.linear(%x, %m)", "float32 [2, 3, 4] cpu"),
    CASE(ops::layer_norm(x, {4}, {}, {}, 1e-6), "eps = 1",
         "float32 [2, 3, 4] cpu"),
    CASE(x.to(kFloat16), "(%x, float16)", "float16 [2, 3, 4] cpu"),
    CASE(x.softmax(-1), "ft.softmax.int(%x, -1)", "float32 [2, 3, 4] cpu"),
    CASE(ops::zeros({2, 3}, kInt32), "dtype = int32", "int32 [2, 3] cpu"),
    CASE(ops::zeros({2}, {}, cuda(1)), "#ft.device<cuda:1>",
         "float32 [2] cuda:1"),
    CASE(ops::arange(10), "(10)", "int64 [10] cpu"),
    CASE(ops::full({2}, 1.5), "([2], 1.5", "float32 [2] cpu"),
    CASE(x.contiguous(MemoryFormat::Contiguous), "(%x)",
         "float32 [2, 3, 4] cpu"),
    CASE(ops::embedding(m, i), "(%m, %i)", "float32 [3, 4] cpu"),
    CASE(ops::where(x > 0, x, m[0][0]), "ft.where", "float32 [2, 3, 4] cpu"),
    // By name
    CASE(ft::call("add.Tensor", {x, 2})[0], "ft.add(%x, 2)",
         "float32 [2, 3, 4] cpu"),
    CASE(ft::call("max_pool2d", {x, 2})[0], "(%x, [2, 2])",
         "float32 [2, 1, 2] cpu"),
    CASE(ft::call("layer_norm", {x, std::vector<int64_t>{4}, {}, {}, 1})[0],
         "eps = 1", "float32 [2, 3, 4] cpu"),
    CASE(ft::call("cat", {std::vector{x, x}, -1})[0], "ft.cat([%x, %x], -1)",
         "float32 [2, 3, 8] cpu"),
    // Writing
    CASE(x.add_(1), "add_.Scalar\"(%x, 1)", "float32 [2, 3, 4] cpu"),
    CASE(ops::mul_out(x, x, x), "mul.out\"(%x, %x, out = %x)",
         "float32 [2, 3, 4] cpu"),
};

namespace {
class Vocabulary : public testing::TestWithParam<Case> {};
} // namespace

TEST_P(Vocabulary, Call) {
  const Case &c = GetParam();
  FakeMode mode;
  FakeMode::Scope scope(mode);
  Tensor x = mode.input("x", {2, 3, 4});
  Tensor m = mode.input("m", {4, 4});
  Tensor i = mode.input("i", {{3}, kInt64});
  Tensor result = c.call(x, m, i);
  ASSERT_TRUE(mode.ok()) << mode.error().render();
  EXPECT_EQ(result.str(), c.result);
  std::string text = mode.print();
  for (auto [argument, name] :
       {std::pair("%arg0", "%x"), {"%arg1", "%m"}, {"%arg2", "%i"}})
    for (size_t at; (at = text.find(argument)) != std::string::npos;)
      text.replace(at, 5, name);
  EXPECT_NE(text.find(c.operation), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Calls, Vocabulary, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case> &info) {
                           std::string name = std::to_string(info.index) + "_";
                           for (const char *at = info.param.line; *at; ++at)
                             if (isalnum(*at))
                               name += *at;
                           return name;
                         });

TEST(Numbers, OfSizesArePlain) {
  FakeMode mode;
  Tensor x = mode.input("x", {7, 3});
  SymInt n = x.size(0);
  EXPECT_TRUE(n.isStatic());
  EXPECT_EQ((n + 1) * 2 - 1, 15);
  EXPECT_EQ(n / 2, 3);
  EXPECT_EQ(SymInt(-7) / 2, -4);
  EXPECT_EQ(SymInt(-7) % 4, 1);
  EXPECT_TRUE(n > 2 && n <= 7 && n != 8);
  EXPECT_EQ(n.str(), "7");
  EXPECT_EQ(mode.numOperations(), 0u);
}

TEST(NamedCalls, AreRefusedLikeOthers) {
  FakeMode mode;
  Tensor x = mode.input("x", {7, 3});
  EXPECT_FALSE(ft::call("demo::scale", {x})[0].ok());
  EXPECT_EQ(mode.error().message, "operator 'demo::scale' is not known");
  EXPECT_FALSE(ft::call("relu", {x, x})[0].ok());
  EXPECT_FALSE(ft::call("mm", {x})[0].ok());
  EXPECT_FALSE(ft::call("mm", {x, x})[0].ok());
  EXPECT_FALSE(ft::call("select.int", {x, 0.5, 1})[0].ok());
  EXPECT_FALSE(ft::call("cat", {x})[0].ok());
  EXPECT_EQ(mode.errorCount(), 6u);
}

namespace {
/// Something of the type that the schema asks for, for most calls not what they
/// need.
Argument something(const SchemaType &type, const Tensor &tensor, int64_t n) {
  switch (type.kind) {
  case SchemaType::Tensor:
    return type.list ? Argument(std::vector{tensor, tensor}) : Argument(tensor);
  case SchemaType::Int:
    return type.list ? Argument(std::vector<int64_t>{n, n}) : Argument(n);
  case SchemaType::Float:
    return type.list ? Argument(std::vector<double>{0.5}) : Argument(0.5);
  case SchemaType::Bool:
    return n > 0;
  case SchemaType::Scalar:
    return n;
  case SchemaType::Str:
    return "x";
  case SchemaType::DType:
    return kFloat64;
  case SchemaType::Device:
    return kMeta;
  default:
    return {};
  }
}
} // namespace

// Every overload of the table takes nonsense, or refuses it, and the trace is
// as sound as before.
TEST(NamedCalls, OfEveryOverloadSurviveNonsense) {
  size_t done = 0;
  for (std::vector<int64_t> sizes :
       {std::vector<int64_t>{}, {0}, {2, 3}, {2, 0, 3, 3}})
    for (int64_t n : {-7, 0, 1}) {
      FakeMode mode;
      FakeMode::Scope scope(mode);
      for (const Schema &schema : SchemaTable::get().all()) {
        Tensor x = mode.input(schema.name.str(), {sizes});
        std::vector<Argument> arguments;
        for (const SchemaArg &arg : schema.args)
          arguments.push_back(something(arg.type, x, n));
        Tensors results = ft::call(schema.name.str(), arguments);
        done += results.size() > 0;
        (void)ft::call(schema.name.str(), {});
      }
      // What was taken is a module that reads back.
      Session session;
      bool read = session.loadText(mode.print(), "nonsense.mlir");
      EXPECT_TRUE(read) << session.diagnostics()[0].render();
    }
  EXPECT_GT(done, 1000u);
}
