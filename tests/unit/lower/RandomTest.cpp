//===- RandomTest.cpp - What compiled programs draw ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything is a function of the seed, so no test can fail by chance: limits
// are those that a right distribution exceeds once in a thousand seeds.

#include "runtime/kernels/philox.h"
#include "tests/unit/lower/RandomProgram.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

using namespace ft;
using conformance::HostTensor;

namespace {
const std::string kMany = "100000";

/// Kolmogorov and Smirnov: the largest distance between the distribution of the
/// numbers and `expected`, times the root of their number.
double distance(std::vector<double> x,
                const std::function<double(double)> &expected) {
  std::sort(x.begin(), x.end());
  double most = 0, n = static_cast<double>(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    double f = expected(x[i]);
    most = std::max({most, f - static_cast<double>(i) / n,
                     static_cast<double>(i + 1) / n - f});
  }
  return most * std::sqrt(n);
}
constexpr double kDistance = 1.95;

double normalBelow(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// Pearson's chi-square of counts as a normal number (Wilson and Hilferty): how
/// many standard deviations it lies above what is expected.
double excess(const std::vector<double> &x,
              const std::map<double, double> &chance) {
  std::map<double, double> counts;
  for (double v : x)
    ++counts[v];
  double n = static_cast<double>(x.size()), sum = 0, cells = 0;
  double restCount = n, restChance = 1;
  for (auto [value, p] : chance) {
    if (p * n < 10)
      continue;
    double d = counts[value] - n * p;
    sum += d * d / (n * p);
    ++cells;
    restCount -= counts[value];
    restChance -= p;
  }
  if (restChance * n > 10) {
    double d = restCount - n * restChance;
    sum += d * d / (n * restChance);
    ++cells;
  } else if (restChance < 1e-9 && restCount > 0) {
    return INFINITY; // a value that cannot be
  }
  double spread = 2 / (9 * (cells - 1));
  return (std::cbrt(sum / (cells - 1)) - (1 - spread)) / std::sqrt(spread);
}
constexpr double kExcess = 3.1;

double mean(const std::vector<double> &x) {
  return std::accumulate(x.begin(), x.end(), 0.0) /
         static_cast<double>(x.size());
}
double variance(const std::vector<double> &x) {
  double m = mean(x), sum = 0;
  for (double v : x)
    sum += (v - m) * (v - m);
  return sum / static_cast<double>(x.size() - 1);
}
std::pair<double, double> range(const std::vector<double> &x) {
  auto [low, high] = std::minmax_element(x.begin(), x.end());
  return {*low, *high};
}
} // namespace

TEST(Random, ContinuousDistributions) {
  RandomProgram program;
  struct Row {
    std::string op, args, kwargs;
    std::function<double(double)> below;
  };
  std::vector<Row> rows;
  std::string x = "X float64 [" + kMany + "] 0";
  auto uniform = [](double v) { return std::clamp(v, 0.0, 1.0); };
  for (const char *dtype : {"float32", "float64"}) {
    std::string kwargs = R"("dtype": {"dtype": ")" + std::string(dtype) + "\"}";
    rows.push_back({"rand.default", "[" + kMany + "]", kwargs, uniform});
    rows.push_back({"rand_like.default", x, kwargs, uniform});
    rows.push_back({"randn.default", "[250, 400]", kwargs, normalBelow});
    rows.push_back({"randn_like.default", x, kwargs, normalBelow});
  }
  rows.push_back({"uniform.default", x + ", -2.0, 3.0", "",
                  [](double v) { return (v + 2) / 5; }});
  rows.push_back({"normal.float_float", "1.0, 3.0, [" + kMany + "]", "",
                  [](double v) { return normalBelow((v - 1) / 3); }});
  rows.push_back({"normal.Tensor_float", "X float32 [" + kMany + "] 2, 0.5", "",
                  [](double v) { return normalBelow((v - 2) / 0.5); }});
  rows.push_back({"normal.float_Tensor", "2.0, X float32 [" + kMany + "] 4", "",
                  [](double v) { return normalBelow((v - 2) / 4); }});
  rows.push_back({"normal.Tensor_Tensor",
                  "X float32 [100,1] 2, X float32 [1000] 4", "",
                  [](double v) { return normalBelow((v - 2) / 4); }});
  rows.push_back({"exponential.default", x + ", 2.0", "",
                  [](double v) { return -std::expm1(-2 * v); }});
  rows.push_back({"cauchy.default", x + ", 1.0, 2.0", "", [](double v) {
                    return 0.5 + std::atan((v - 1) / 2) / M_PI;
                  }});
  rows.push_back({"log_normal.default", x + ", 0.5, 0.25", "", [](double v) {
                    return normalBelow((std::log(v) - 0.5) / 0.25);
                  }});
  // Of shape 3: 1 - e^-x (1 + x + x^2/2). Of shape 1/2: chi-square's half.
  rows.push_back(
      {"_standard_gamma.default", "X float64 [" + kMany + "] 3", "",
       [](double v) { return 1 - std::exp(-v) * (1 + v + v * v / 2); }});
  rows.push_back({"_standard_gamma.default", "X float64 [" + kMany + "] 0.5",
                  "", [](double v) { return std::erf(std::sqrt(v)); }});
  // Of two equal shapes 1: uniform.
  rows.push_back(
      {"_sample_dirichlet.default", "X float32 [50000,2] 1", "", uniform});
  for (const Row &row : rows)
    program.call(row.op, row.args, row.kwargs);
  ASSERT_EQ(program.compile(), "");
  auto instance = program.load();
  auto results = instance.forward();
  ASSERT_EQ(instance.message, "");
  for (size_t i = 0; i < rows.size(); ++i) {
    auto x = numbers(results[i]);
    EXPECT_EQ(x.size(), 100000U) << rows[i].op;
    EXPECT_LT(distance(x, rows[i].below), kDistance) << rows[i].op;
  }
}

TEST(Random, DiscreteDistributions) {
  RandomProgram program;
  std::string x = "X float32 [" + kMany + "] ", size = "[" + kMany + "]";
  std::map<double, double> dice, coin{{0, 0.7}, {1, 0.3}}, first, wide;
  for (int i = -3; i < 4; ++i)
    dice[i] = 1.0 / 7;
  for (int k = 1; k < 60; ++k)
    first[k] = 0.3 * std::pow(0.7, k - 1);
  for (int k = 0; k < 5; ++k)
    wide[k] = 0.2;
  auto poisson = [](double rate) {
    std::map<double, double> p;
    for (int k = 0; k < 2 * rate + 40; ++k)
      p[k] = std::exp(k * std::log(rate) - rate - std::lgamma(k + 1.0));
    return p;
  };
  auto binomial = [](int n, double q) {
    std::map<double, double> p;
    for (int k = 0; k <= n; ++k)
      p[k] = std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) -
                      std::lgamma(n - k + 1.0) + k * std::log(q) +
                      (n - k) * std::log1p(-q));
    return p;
  };
  struct Row {
    std::string op, args;
    std::map<double, double> chance;
  };
  std::vector<Row> rows = {
      {"randint.low", "-3, 4, " + size, dice},
      {"randint.default", "5, " + size, wide},
      {"randint_like.default", x + "0, 5", wide},
      {"randint_like.low_dtype", x + "0, -3, 4", dice},
      {"randint_like.Tensor", x + "0, X int64 [] 5", wide},
      {"random.from", x + "0, -3, 4", dice},
      {"random.to", "X int64 [" + kMany + "] 0, 5", wide},
      {"bernoulli.p", x + "0, 0.3", coin},
      {"bernoulli.default", "X float64 [" + kMany + "] 0.3", coin},
      {"bernoulli.Tensor", x + "0, X float64 [] 0.3", coin},
      {"geometric.default", x + "0, 0.3", first},
      {"geometric.default", "X int64 [" + kMany + "] 0, 0.3", first},
      {"poisson.default", x + "3.5", poisson(3.5)},
      {"poisson.default", "X float64 [" + kMany + "] 40", poisson(40)},
      {"binomial.default", x + "12, X float32 [" + kMany + "] 0.25",
       binomial(12, 0.25)},
      {"binomial.default",
       "X float64 [" + kMany + "] 100, X float64 [" + kMany + "] 0.625",
       binomial(100, 0.625)},
      {"multinomial.default", "X float32 [5] 2.5, " + kMany + ", true", wide}};
  for (const Row &row : rows)
    program.call(row.op, row.args);
  ASSERT_EQ(program.compile(), "");
  auto instance = program.load();
  auto results = instance.forward();
  ASSERT_EQ(instance.message, "");
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_LT(excess(numbers(results[i]), rows[i].chance), kExcess)
        << rows[i].op << " " << rows[i].args;
}

TEST(Random, EveryDTypeStaysInRange) {
  RandomProgram program;
  const std::vector<std::pair<std::string, double>> largest = {
      {"bool", 1},         {"uint8", 255},        {"int8", 127},
      {"int16", 32767},    {"int32", 2147483647}, {"int64", 0x1p63},
      {"float16", 2048},   {"bfloat16", 256},     {"float32", 16777216},
      {"float64", 0x1p53},
  };
  std::vector<std::string> floats = {"float16", "bfloat16", "float32",
                                     "float64"};
  auto of = [](const std::string &dtype) {
    return R"("dtype": {"dtype": ")" + dtype + "\"}";
  };
  for (const std::string &dtype : floats) {
    program.call("rand.default", "[" + kMany + "]", of(dtype));
    program.call("randn.default", "[" + kMany + "]", of(dtype));
  }
  for (auto &[dtype, limit] : largest)
    program.call("randint.low",
                 dtype == "bool" ? "0, 2, [20000]" : "3, 120, [20000]",
                 of(dtype));
  size_t complexPart =
      program.call("randn.default", "[" + kMany + "]", of("complex64"));
  program.call("rand.default", "[" + kMany + "]", of("complex128"));
  size_t whole = program.call("random.from",
                              "X int64 [20000] 0, -9223372036854775808, null");
  program.call("random.default", "X int64 [20000] 0");
  program.call("random.default", "X float32 [20000] 0");
  ASSERT_EQ(program.compile(), "");
  auto r = program.load().forward();
  for (size_t i = 0; i < floats.size(); ++i) {
    auto [low, high] = range(numbers(r[2 * i]));
    EXPECT_GE(low, 0) << floats[i];
    EXPECT_LT(high, 1) << floats[i];
    EXPECT_GT(high, 0.99) << floats[i];
    auto normal = numbers(r[2 * i + 1]);
    EXPECT_NEAR(mean(normal), 0, 0.012) << floats[i];
    EXPECT_NEAR(variance(normal), 1, 0.015) << floats[i];
  }
  for (size_t i = 0; i < largest.size(); ++i) {
    auto [low, high] = range(numbers(r[2 * floats.size() + i]));
    bool truth = largest[i].first == "bool";
    EXPECT_EQ(low, truth ? 0 : 3) << largest[i].first;
    EXPECT_EQ(high, truth ? 1 : 119) << largest[i].first;
  }
  // The variance of a complex number is that of both parts together.
  EXPECT_NEAR(variance(numbers(r[complexPart])), 0.5, 0.01);
  EXPECT_LT(range(numbers(r[complexPart + 1])).second, 1);
  EXPECT_LT(range(numbers(r[whole])).first, -0x1p62);
  EXPECT_GT(range(numbers(r[whole])).second, 0x1p62);
  EXPECT_GE(range(numbers(r[whole + 1])).first, 0);
  EXPECT_GT(range(numbers(r[whole + 1])).second, 0x1p62);
  EXPECT_LE(range(numbers(r[whole + 2])).second, 0x1p24);
}

TEST(Random, SeedsCallsAndThreads) {
  RandomProgram program;
  program.call("rand.default", "[300, 100]");
  program.call("rand.default", "[300, 100]");
  program.call("poisson.default", "X float32 [5000] 20");
  program.call("randperm.default", "1000");
  ASSERT_EQ(program.compile(), "");
  auto bytes = [](const RandomProgram::Tensors &tensors) {
    std::vector<std::vector<char>> all;
    for (const HostTensor &t : tensors)
      all.push_back(t.bytes);
    return all;
  };
  auto one = program.load(), same = program.load(), other = program.load(7);
  auto first = bytes(one.forward()), second = bytes(one.forward(0, 1));
  // Two operators, two calls and two seeds give different numbers.
  EXPECT_NE(first[0], first[1]);
  auto otherFirst = bytes(other.forward());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_NE(first[i], second[i]) << i;
    EXPECT_NE(first[i], otherFirst[i]) << i;
  }
  // The same seed and number of the call give the same, on any threads.
  EXPECT_EQ(bytes(same.forward(0, 1)), first);
  EXPECT_EQ(bytes(same.forward(0, 2)), second);
  EXPECT_EQ(bytes(same.forward(1)), first);
  EXPECT_EQ(bytes(other.forward(1)), otherFirst);
}

// What generated code draws is what runtime/kernels/philox.h says.
TEST(Random, IsPhilox) {
  uint32_t words[4];
  ft_philox(0, 0, 0, words);
  EXPECT_EQ(words[0], 0x6627E8D5U);
  EXPECT_EQ(words[3], 0x9B00DBD8U);
  ft_philox(~0ULL, ~0ULL, ~0ULL, words);
  EXPECT_EQ(words[0], 0x408F276DU);
  EXPECT_EQ(words[3], 0x6D5451FDU);

  RandomProgram program;
  program.call("random.from", "X int64 [5,7] 0, -9223372036854775808, null");
  ASSERT_EQ(program.compile(), "");
  auto r = program.load(0x123456789ABCDEF0).forward(3);
  for (uint64_t i = 0; i < 35; ++i) {
    ft_philox(0x123456789ABCDEF0, uint64_t(3) << 20, i, words);
    uint64_t bits = uint64_t(words[1]) << 32 | words[0];
    EXPECT_EQ(static_cast<uint64_t>(r[0].view().integerAt(i)),
              bits + (uint64_t(1) << 63));
  }
}

TEST(Random, PermutationsAndSamples) {
  RandomProgram program;
  program.call("randperm.default", "1000");
  program.call("randperm.default", "1000", R"("dtype": {"dtype": "float32"})");
  program.call("randperm.default", "0");
  program.call("randperm.default", "1");
  program.call("multinomial.default", "X float32 [20,50] 1, 50");
  program.call("multinomial.default", "X float64 [50] 1, 3");
  program.call("rand.default", "[3, 0]");
  program.call("rand.default", "[1]");
  program.call("randn.default", "[]");
  program.call("poisson.default", "X float32 [0] 1");
  ASSERT_EQ(program.compile(), "");
  auto instance = program.load();
  auto r = instance.forward();
  ASSERT_EQ(instance.message, "");
  std::vector<double> order(1000);
  std::iota(order.begin(), order.end(), 0);
  for (int i : {0, 1}) {
    auto x = numbers(r[i]);
    EXPECT_FALSE(std::is_sorted(x.begin(), x.end()));
    std::sort(x.begin(), x.end());
    EXPECT_EQ(x, order);
  }
  EXPECT_EQ(numbers(r[3]), std::vector<double>{0});
  // Without replacement, all of them are a permutation.
  auto rows = numbers(r[4]);
  for (int row = 0; row < 20; ++row) {
    std::vector<double> x(rows.begin() + row * 50,
                          rows.begin() + (row + 1) * 50);
    std::sort(x.begin(), x.end());
    EXPECT_EQ(x, std::vector<double>(order.begin(), order.begin() + 50));
  }
  auto few = numbers(r[5]);
  EXPECT_NE(few[0], few[1]);
  EXPECT_NE(few[1], few[2]);
  EXPECT_NE(few[0], few[2]);
}

TEST(Random, Dropout) {
  RandomProgram program;
  std::string x = "X float32 [10,20,500] 2";
  program.call("dropout.default", x + ", 0.25, true");
  size_t native =
      program.call("native_dropout.default", x + ", 0.25, true", "", 2);
  size_t feature =
      program.call("feature_dropout.default", "X float32 [100,200,5] 2, 0.25, "
                                              "true");
  size_t alpha = program.call("alpha_dropout.default", x + ", 0.25, true");
  size_t featureAlpha = program.call("feature_alpha_dropout.default",
                                     "X float32 [100,200,5] 2, 0.25, true");
  size_t fused = program.call("_fused_dropout.default", x + ", 0.75", "", 2);
  size_t all = program.call("dropout.default", x + ", 1.0, true");
  size_t none = program.call("dropout.default", x + ", 0.5, false");
  size_t slopes = program.call("rrelu.default",
                               "X float32 [" + kMany + "] -1, 0.1, 0.3, true");
  size_t noise = program.call(
      "rrelu_with_noise_functional.default",
      "X float32 [1000] -2, X float32 [1000] 0, 0.1, 0.3, true", "", 2);
  size_t positive =
      program.call("rrelu_with_noise_functional.default",
                   "X float32 [10] 2, X float32 [10] 0, 0.1, 0.3, true", "", 2);
  ASSERT_EQ(program.compile(), "");
  auto instance = program.load();
  auto r = instance.forward();
  ASSERT_EQ(instance.message, "");
  // The slopes are those that the result was made with.
  auto result = numbers(r[noise]), slope = numbers(r[noise + 1]);
  for (size_t i = 0; i < result.size(); ++i)
    ASSERT_EQ(result[i], -2 * slope[i]);
  EXPECT_EQ(range(numbers(r[positive + 1])), std::pair(1.0, 1.0));
  std::map<double, double> kept{{0, 0.25}, {2 / 0.75f, 0.75}};
  EXPECT_LT(excess(numbers(r[0]), kept), kExcess);
  EXPECT_LT(excess(numbers(r[fused]), kept), kExcess);
  for (size_t at : {native, fused}) {
    auto y = numbers(r[at]), mask = numbers(r[at + 1]);
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i] != 0, mask[i] == 1);
  }
  for (size_t at : {feature, featureAlpha}) {
    auto y = numbers(r[at]);
    std::vector<double> channels;
    for (size_t i = 0; i < y.size(); i += 5) {
      channels.push_back(y[i]);
      for (size_t j = 1; j < 5; ++j)
        ASSERT_EQ(y[i], y[i + j]);
    }
    std::map<double, double> chance;
    auto [low, high] = range(channels);
    chance[low] = 0.25;
    chance[high] = 0.75;
    EXPECT_LT(excess(channels, chance), kExcess);
  }
  double a =
      1 /
      std::sqrt((1.7580993408473766 * 1.7580993408473766 * 0.25 + 1) * 0.75);
  double shift = 1.7580993408473766 * a * 0.25;
  auto [low, high] = range(numbers(r[alpha]));
  EXPECT_NEAR(low, shift - 1.7580993408473766 * a, 1e-6);
  EXPECT_NEAR(high, 2 * a + shift, 1e-6);
  EXPECT_EQ(range(numbers(r[all])), std::pair(0.0, 0.0));
  EXPECT_EQ(range(numbers(r[none])), std::pair(2.0, 2.0));
  EXPECT_LT(
      distance(numbers(r[slopes]), [](double v) { return (v + 0.3) / 0.2; }),
      kDistance);
}

TEST(Random, BadParametersFailTheCall) {
  const std::pair<const char *, const char *> rows[] = {
      {"poisson.default", "X float32 [3] -1"},
      {"poisson.default", "X float32 [3] nan"},
      {"multinomial.default", "X float32 [3] -1, 2"},
      {"multinomial.default", "X float32 [3] 0, 2"}};
  for (auto [op, args] : rows) {
    RandomProgram program;
    program.call(op, args);
    ASSERT_EQ(program.compile(), "");
    auto instance = program.load();
    instance.forward();
    EXPECT_NE(instance.message, "") << op;
  }
}
