//===- CompileTest.cpp - What was traced compiles and runs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/trace.h"

#include "compiler/driver/Session.h"

#include <cmath>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <random>

using namespace ft;

namespace {
using Floats = std::vector<float>;

Floats randomFloats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Floats values(count);
  for (float &v : values)
    v = uniform(random);
  return values;
}

std::string rendered(const Session &session) {
  std::string text;
  for (const Diagnostic &d : session.diagnostics())
    text += d.render();
  return text;
}

/// Compiles the mode and calls the model with one float input and one output.
/// The input is written if the model writes it.
Floats compileAndRun(FakeMode &mode, const std::string &name, Floats &input,
                     std::vector<int64_t> inputShape, size_t outputSize,
                     std::string *refused = nullptr) {
  Session session;
  std::string base = testing::TempDir() + name;
  if (!session.load(mode) || !session.compile(base)) {
    ADD_FAILURE() << rendered(session);
    return {};
  }
  void *library = dlopen(session.files().library.c_str(), RTLD_NOW);
  if (!library) {
    ADD_FAILURE() << dlerror();
    return {};
  }
  auto getter = reinterpret_cast<ft_api_getter>(dlsym(library, FT_API_SYMBOL));
  const ft_api *api = getter();
  ft_model *model = nullptr;
  ft_status status = api->load(nullptr, &model);
  EXPECT_EQ(status.code, FT_OK) << status.message;
  DLTensor in =
      ft_tensor(input.data(), kDLFloat, 32,
                static_cast<int32_t>(inputShape.size()), inputShape.data());
  Floats output(outputSize);
  const ft_value_info &info = *api->info->outputs[0];
  DLTensor out = ft_tensor(output.data(), kDLFloat, 32, info.ndim, info.sizes);
  status = api->forward(model, &in, 1, &out, 1, nullptr);
  if (refused)
    *refused = status.message;
  else
    EXPECT_EQ(status.code, FT_OK) << status.message;
  api->unload(model);
  dlclose(library);
  return output;
}

/// x [rows, in] · wᵀ + b, w [out, in].
Floats linear(const Floats &x, const Floats &w, const Floats &b, size_t in) {
  size_t rows = x.size() / in, out = b.size();
  Floats y(rows * out);
  for (size_t r = 0; r < rows; ++r)
    for (size_t o = 0; o < out; ++o) {
      double sum = b[o];
      for (size_t i = 0; i < in; ++i)
        sum += double(x[r * in + i]) * w[o * in + i];
      y[r * out + o] = static_cast<float>(sum);
    }
  return y;
}

void expectNear(const Floats &got, const Floats &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], 2e-5) << "at " << i;
}
} // namespace

TEST(Compile, Mlp) {
  Floats w0 = randomFloats(32 * 16, 1), b0 = randomFloats(32, 2);
  Floats w1 = randomFloats(8 * 32, 3), b1 = randomFloats(8, 4);
  FakeMode mode;
  FakeMode::Scope scope(mode);
  auto weight = [&](const char *name, const Floats &data,
                    std::vector<int64_t> sizes) {
    return mode.fake(RealTensor(data.data(), std::move(sizes)), name,
                     TensorKind::Parameter);
  };
  Tensor x = mode.input("x", {4, 16});
  Tensor h = ops::linear(x, weight("0.weight", w0, {32, 16}),
                         weight("0.bias", b0, {32}));
  Tensor y = ops::linear(h.relu(), weight("1.weight", w1, {8, 32}),
                         weight("1.bias", b1, {8}));
  mode.output("y", y * 2 - 1);
  ASSERT_TRUE(mode.ok()) << mode.error().render();

  Floats input = randomFloats(4 * 16, 5);
  Floats expected = linear(input, w0, b0, 16);
  for (float &v : expected)
    v = std::max(v, 0.0f);
  expected = linear(expected, w1, b1, 32);
  for (float &v : expected)
    v = v * 2 - 1;
  expectNear(compileAndRun(mode, "mlp", input, {4, 16}, 4 * 8), expected);
}

// A pre-norm block: x + proj(attention(norm(x))), in two heads.
TEST(Compile, TransformerBlock) {
  constexpr int64_t kSteps = 5, kWidth = 8, kHeads = 2, kHead = 4;
  Floats gain = randomFloats(kWidth, 1), shift = randomFloats(kWidth, 2);
  Floats wqkv = randomFloats(3 * kWidth * kWidth, 3);
  Floats bqkv = randomFloats(3 * kWidth, 4);
  Floats wo = randomFloats(kWidth * kWidth, 5), bo = randomFloats(kWidth, 6);
  FakeMode mode;
  FakeMode::Scope scope(mode);
  auto weight = [&](const char *name, const Floats &data,
                    std::vector<int64_t> sizes) {
    return mode.fake(RealTensor(data.data(), std::move(sizes)), name,
                     TensorKind::Parameter);
  };
  Tensor x = mode.input("x", {1, kSteps, kWidth});
  Tensor h = ops::layer_norm(x, {kWidth}, weight("norm.weight", gain, {kWidth}),
                             weight("norm.bias", shift, {kWidth}));
  Tensor qkv = ops::linear(h, weight("qkv.weight", wqkv, {3 * kWidth, kWidth}),
                           weight("qkv.bias", bqkv, {3 * kWidth}));
  auto heads = [&](const Tensor &t) {
    return t.view({1, t.size(1), kHeads, kHead}).transpose(1, 2);
  };
  Tensors parts = qkv.split(kWidth, -1);
  Tensor a = ops::scaled_dot_product_attention(heads(parts[0]), heads(parts[1]),
                                               heads(parts[2]));
  a = a.transpose(1, 2).reshape({1, kSteps, -1});
  Tensor y = x + ops::linear(a, weight("out.weight", wo, {kWidth, kWidth}),
                             weight("out.bias", bo, {kWidth}));
  mode.output("y", y);
  ASSERT_TRUE(mode.ok()) << mode.error().render();
  EXPECT_EQ(y.str(), "float32 [1, 5, 8] cpu");

  Floats input = randomFloats(kSteps * kWidth, 7);
  Floats normed = input;
  for (int64_t s = 0; s < kSteps; ++s) {
    float *row = &normed[s * kWidth];
    double mean = 0, var = 0;
    for (int64_t i = 0; i < kWidth; ++i)
      mean += row[i] / double(kWidth);
    for (int64_t i = 0; i < kWidth; ++i)
      var += (row[i] - mean) * (row[i] - mean) / double(kWidth);
    for (int64_t i = 0; i < kWidth; ++i)
      row[i] = static_cast<float>(
          (row[i] - mean) / std::sqrt(var + 1e-5) * gain[i] + shift[i]);
  }
  Floats all = linear(normed, wqkv, bqkv, kWidth);
  auto at = [&](int64_t part, int64_t step, int64_t feature) {
    return all[step * 3 * kWidth + part * kWidth + feature];
  };
  Floats mixed(kSteps * kWidth);
  for (int64_t head = 0; head < kHeads; ++head)
    for (int64_t s = 0; s < kSteps; ++s) {
      double score[kSteps], total = 0;
      for (int64_t t = 0; t < kSteps; ++t) {
        double dot = 0;
        for (int64_t i = head * kHead; i < (head + 1) * kHead; ++i)
          dot += double(at(0, s, i)) * at(1, t, i);
        total += score[t] = std::exp(dot / std::sqrt(double(kHead)));
      }
      for (int64_t i = head * kHead; i < (head + 1) * kHead; ++i) {
        double sum = 0;
        for (int64_t t = 0; t < kSteps; ++t)
          sum += score[t] / total * at(2, t, i);
        mixed[s * kWidth + i] = static_cast<float>(sum);
      }
    }
  Floats expected = linear(mixed, wo, bo, kWidth);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] += input[i];
  expectNear(
      compileAndRun(mode, "block", input, {1, kSteps, kWidth}, kSteps * kWidth),
      expected);
}

// Two parameters that view one storage, as tied weights do.
TEST(Compile, TiedWeights) {
  Floats table = randomFloats(6 * 4, 1);
  FakeMode mode;
  FakeMode::Scope scope(mode);
  RealTensor whole(table.data(), {6, 4});
  RealTensor turned(table.data(), TensorDesc({4, 6}).strides({1, 4}));
  Tensor w = mode.fake(whole, "embed.weight", TensorKind::Parameter);
  Tensor t = mode.fake(turned, "head.weight", TensorKind::Parameter);
  EXPECT_TRUE(w.shares_storage(t));
  EXPECT_EQ(mode.numParameterElements(), 24);
  Tensor x = mode.input("x", {2, 6});
  mode.output("y", ops::mm(ops::mm(x, w), t));
  Floats input = randomFloats(12, 2), expected(12);
  for (size_t r = 0; r < 2; ++r)
    for (size_t o = 0; o < 6; ++o)
      for (size_t k = 0; k < 4; ++k)
        for (size_t i = 0; i < 6; ++i)
          expected[r * 6 + o] +=
              input[r * 6 + i] * table[i * 4 + k] * table[o * 4 + k];
  expectNear(compileAndRun(mode, "tied", input, {2, 6}, 12), expected);
}

// In-place calls write what their handle and all its views show.
TEST(Compile, Mutation) {
  FakeMode mode;
  FakeMode::Scope scope(mode);
  Tensor x = mode.input("x", {2, 3});
  Tensor y = x.clone();
  Tensor row = y[1];
  row.add_(y[0]).mul_(ops::scalar_tensor(2.0));
  y.t_();
  EXPECT_EQ(y.str(), "float32 [3, 2] strides [1, 3] cpu");
  mode.output("y", y.contiguous());
  ASSERT_TRUE(mode.ok()) << mode.error().render();
  Floats input = {1, 2, 3, 4, 5, 6};
  expectNear(compileAndRun(mode, "mutation", input, {2, 3}, 6),
             {1, 10, 2, 14, 3, 18});
}

// What a view of an input is written, the caller's tensor shows.
TEST(Compile, MutationOfAnInput) {
  FakeMode mode;
  FakeMode::Scope scope(mode);
  Tensor x = mode.input("x", {2, 2});
  Tensor column = x.select(1, 0);
  column.mul_(2);
  mode.output("y", column + 1);
  ASSERT_TRUE(mode.ok()) << mode.error().render();
  Floats input(4, 1.0f);
  expectNear(compileAndRun(mode, "written", input, {2, 2}, 2), {3, 3});
  expectNear(input, {2, 1, 2, 1});
}

TEST(Compile, ParametersWithoutData) {
  FakeMode mode;
  FakeMode::Scope scope(mode);
  mode.output("y", ops::linear(mode.input("x", {2, 3}),
                               mode.parameter("fc.weight", {4, 3})));
  Session session;
  ASSERT_TRUE(session.load(mode));
  EXPECT_TRUE(session.runTo(Stage::Codegen)) << rendered(session);
  EXPECT_FALSE(session.compile(testing::TempDir() + "nodata"));
  EXPECT_EQ(session.diagnostics().back().message,
            "the parameter 'fc.weight' was declared without data");
}

TEST(Compile, ErrorsOfTheTraceAreThoseOfTheSession) {
  FakeMode mode;
  mode.output("y", ops::mm(mode.input("a", {2, 3}), mode.input("b", {2, 3})));
  Session session;
  EXPECT_FALSE(session.load(mode));
  ASSERT_EQ(session.diagnostics().size(), 1u);
  EXPECT_EQ(session.diagnostics()[0].message, mode.error().message);
  EXPECT_EQ(session.exitCode(), 1);
}

/// Of three elements at most three are not 0, which cannot be seven: it must be
/// one, and is broadcast.
TEST(Compile, ASizeOfOneThatDataDecideIsBroadcast) {
  FakeModeOptions options;
  options.symbols = true;
  FakeMode mode(options);
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {3});
    Tensor at = ops::nonzero(x).select(1, 0) * 2;
    Tensor row = (at + 1).to(kFloat32);
    mode.output("y", row + ops::ones({7}));
  }
  Floats one = {0, 0, 5}, two = {1, 0, 5};
  Floats y = compileAndRun(mode, "one", one, {3}, 7);
  for (size_t i = 0; i < y.size(); ++i)
    EXPECT_EQ(y[i], 6.f);
  std::string refused;
  compileAndRun(mode, "one", two, {3}, 7, &refused);
  EXPECT_NE(refused.find("u0 == 1 must hold, for add"), std::string::npos)
      << refused;
}

/// Two examples: the dim in which they differ is dynamic, in one artefact.
TEST(Compile, DimsThatExamplesDifferInAreDynamic) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", {2, 3});
    // The program's view names the first example's size.
    mode.output("y", ops::relu(x).view({2, 3, 1}).sum(1));
  }
  Options options;
  options.examples = {"x=5x3"};
  Session session(options);
  std::string base = testing::TempDir() + "examples";
  ASSERT_TRUE(session.load(mode) && session.compile(base)) << rendered(session);
  void *library = dlopen(session.files().library.c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  auto getter = reinterpret_cast<ft_api_getter>(dlsym(library, FT_API_SYMBOL));
  const ft_api *api = getter();
  ft_model *model = nullptr;
  ft_status status = api->load(nullptr, &model);
  ASSERT_EQ(status.code, FT_OK) << status.message;
  for (int64_t rows : {2, 5, 7, 1, 0}) {
    Floats x = randomFloats(static_cast<size_t>(rows) * 3, 1);
    Floats y(static_cast<size_t>(rows));
    int64_t shape[] = {rows, 3}, outShape[] = {rows, 1};
    DLTensor in = ft_tensor(x.data(), kDLFloat, 32, 2, shape);
    DLTensor out = ft_tensor(y.data(), kDLFloat, 32, 2, outShape);
    status = api->forward(model, &in, 1, &out, 1, nullptr);
    ASSERT_EQ(status.code, FT_OK) << status.message;
    for (size_t r = 0; r < y.size(); ++r)
      EXPECT_NEAR(y[r],
                  std::max(x[r * 3], 0.f) + std::max(x[r * 3 + 1], 0.f) +
                      std::max(x[r * 3 + 2], 0.f),
                  1e-6);
  }
  // The other dim is what both examples have.
  Floats wide(8), y(2);
  int64_t shape[] = {2, 4}, outShape[] = {2, 1};
  DLTensor in = ft_tensor(wide.data(), kDLFloat, 32, 2, shape);
  DLTensor out = ft_tensor(y.data(), kDLFloat, 32, 2, outShape);
  EXPECT_NE(api->forward(model, &in, 1, &out, 1, nullptr).code, FT_OK);
  api->unload(model);
  dlclose(library);
}

/// A program that branches on a size serves the sizes of the side it took.
TEST(Compile, BranchesOnSizesAreChecked) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    Tensor x = mode.input("x", TensorDesc({8}).dynamic(0, "batch"));
    mode.output("y", x.size(0) <= 16 ? x * 2 : x * 3);
  }
  Session session;
  std::string base = testing::TempDir() + "branches";
  ASSERT_TRUE(session.load(mode) && session.compile(base)) << rendered(session);
  void *library = dlopen(session.files().library.c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  auto getter = reinterpret_cast<ft_api_getter>(dlsym(library, FT_API_SYMBOL));
  const ft_api *api = getter();
  ft_model *model = nullptr;
  ft_status status = api->load(nullptr, &model);
  ASSERT_EQ(status.code, FT_OK) << status.message;
  for (int64_t rows : {8, 0, 1, 16, 17}) {
    Floats x = randomFloats(static_cast<size_t>(rows), 1);
    Floats y(static_cast<size_t>(rows));
    DLTensor in = ft_tensor(x.data(), kDLFloat, 32, 1, &rows);
    DLTensor out = ft_tensor(y.data(), kDLFloat, 32, 1, &rows);
    status = api->forward(model, &in, 1, &out, 1, nullptr);
    if (rows > 16) {
      EXPECT_EQ(status.code, FT_ERROR_GUARD);
      EXPECT_STREQ(status.message,
                   "input \"x\": dim 0 (batch) is 17, must be at most 16");
      continue;
    }
    ASSERT_EQ(status.code, FT_OK) << status.message;
    for (size_t r = 0; r < y.size(); ++r)
      EXPECT_EQ(y[r], x[r] * 2);
  }
  api->unload(model);
  dlclose(library);
}

TEST(Compile, AnExampleOfOtherRankIsAnError) {
  FakeMode mode;
  {
    FakeMode::Scope scope(mode);
    mode.output("y", ops::relu(mode.input("x", {2, 3})));
  }
  Options options;
  options.examples = {"x=5"};
  Session session(options);
  ASSERT_TRUE(session.load(mode));
  EXPECT_FALSE(session.runTo(Stage::Fake));
  EXPECT_NE(rendered(session).find("does not have as many dims"),
            std::string::npos)
      << rendered(session);
}
