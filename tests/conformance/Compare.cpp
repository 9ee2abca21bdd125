//===- Compare.cpp - When two tensors are equal ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/Compare.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <cstdio>

using namespace ft;
using namespace ft::conformance;

using Number = std::complex<double>;

Tolerance ft::conformance::toleranceFor(DType dtype, Accuracy accuracy) {
  switch (dtype) {
  case DType::F64:
  case DType::C128:
    return {1e-9, 1e-10};
  case DType::F32:
  case DType::C64:
    switch (accuracy) {
    case Accuracy::Pointwise:
      return {1e-5, 1e-6};
    case Accuracy::Accumulated:
      return {1e-4, 1e-5};
    case Accuracy::ModelGradient:
      return {1e-3, 1e-4};
    }
    return {};
  case DType::F16:
  case DType::C32:
    return {2e-3, 1e-3};
  case DType::BF16:
    return {1.6e-2, 1e-2};
  default:
    return {};
  }
}

Accuracy ft::conformance::accuracyOfFamily(llvm::StringRef family) {
  return llvm::StringSwitch<Accuracy>(family)
      .Cases({"pointwise", "view", "copy", "cat", "factory", "indexing", "sort",
              "random", "sym"},
             Accuracy::Pointwise)
      .Default(Accuracy::Accumulated);
}

static bool isNaN(Number x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}
static bool isInf(Number x) {
  return std::isinf(x.real()) || std::isinf(x.imag());
}

static bool signsDiffer(Number a, Number b) {
  return std::signbit(a.real()) != std::signbit(b.real()) ||
         std::signbit(a.imag()) != std::signbit(b.imag());
}

namespace {
/// One tensor of right values with the bound that goes with it.
struct Target {
  TensorView view;
  Tolerance tolerance;
  double scale = 1;

  Target(const TensorView &view, Tolerance tolerance)
      : view(view), tolerance(tolerance) {
    for (int64_t i = 0, n = view.numel(); i < n; ++i) {
      double size = std::abs(view.at(i));
      if (std::isfinite(size))
        scale = std::max(scale, size);
    }
  }

  bool accepts(Number got, int64_t i) const {
    Number want = view.at(i);
    if (isNaN(want) || isNaN(got))
      return isNaN(want) && isNaN(got);
    if (isInf(want) || isInf(got))
      return want == got;
    return std::abs(got - want) <=
           tolerance.relative * std::abs(want) + tolerance.absolute * scale;
  }
};
} // namespace

static std::string text(const TensorView &view, int64_t i) {
  if (isIntegral(view.dtype))
    return std::to_string(view.integerAt(i));
  Number value = view.at(i);
  char buffer[80];
  std::snprintf(buffer, sizeof buffer, "%.9g", value.real());
  if (!isComplex(view.dtype))
    return buffer;
  std::snprintf(buffer, sizeof buffer, "(%.9g, %.9g)", value.real(),
                value.imag());
  return buffer;
}

static std::string shapeText(const TensorView &view) {
  std::string result = dtypeName(view.dtype).str() + " [";
  llvm::interleave(
      view.shape, [&](int64_t size) { result += std::to_string(size); },
      [&] { result += ", "; });
  return result + "]";
}

std::optional<std::string>
ft::conformance::compareTensors(const TensorView &got, const TensorView &want,
                                Accuracy accuracy, const TensorView *want64,
                                bool signedZero) {
  if (got.dtype != want.dtype || got.shape != want.shape)
    return "expected " + shapeText(want) + ", got " + shapeText(got);
  Target first(want, toleranceFor(want.dtype, accuracy));
  std::optional<Target> second;
  if (want64 && want64->shape == want.shape && !isIntegral(want.dtype))
    second.emplace(*want64, first.tolerance);

  int64_t differing = 0, worst = -1, n = want.numel();
  double worstError = -1;
  for (int64_t i = 0; i < n; ++i) {
    bool same;
    double error = 0;
    if (isIntegral(want.dtype)) {
      same = got.integerAt(i) == want.integerAt(i);
    } else {
      Number x = got.at(i), y = want.at(i);
      same = first.accepts(x, i) ||
             (second && !isNaN(y) && !isInf(y) && second->accepts(x, i));
      if (same && signedZero && x == 0.0 && y == 0.0)
        same = !signsDiffer(x, y);
      error = std::abs(x - y);
      if (!std::isfinite(error))
        error = HUGE_VAL;
    }
    if (same)
      continue;
    ++differing;
    if (error > worstError) {
      worstError = error;
      worst = i;
    }
  }
  if (!differing)
    return std::nullopt;
  return want.indexText(worst) + ": expected " + text(want, worst) + ", got " +
         text(got, worst) + " (" + std::to_string(differing) + " of " +
         std::to_string(n) + " differ)";
}

/// The distance between neighbours of `x` in the dtype.
static double unitOfLastPlace(DType dtype, double x) {
  int digits = 0, least = 0; // of the mantissa; exponent of the smallest normal
  switch (dtype) {
  case DType::F64:
  case DType::C128:
    digits = 53, least = -1022;
    break;
  case DType::F32:
  case DType::C64:
    digits = 24, least = -126;
    break;
  case DType::F16:
  case DType::C32:
    digits = 11, least = -14;
    break;
  case DType::BF16:
    digits = 8, least = -126;
    break;
  default:
    return 0;
  }
  int exponent = x == 0 ? least : std::max(std::ilogb(x), least);
  return std::ldexp(1.0, exponent - digits + 1);
}

std::optional<std::string>
ft::conformance::compareErrors(const TensorView &got, const TensorView &want,
                               const TensorView &want64) {
  if (isIntegral(got.dtype) || got.shape != want64.shape ||
      got.shape != want.shape)
    return std::nullopt;
  double ours = 0, theirs = 0, largest = 0;
  for (int64_t i = 0, n = got.numel(); i < n; ++i) {
    Number x = got.at(i), y = want.at(i), exact = want64.at(i);
    if (!std::isfinite(std::abs(x)) || !std::isfinite(std::abs(y)) ||
        !std::isfinite(std::abs(exact)))
      continue;
    ours = std::max(ours, std::abs(x - exact));
    theirs = std::max(theirs, std::abs(y - exact));
    largest = std::max(largest, std::abs(exact));
  }
  double unit = unitOfLastPlace(got.dtype, largest);
  if (ours <= std::max(2 * theirs, 4 * unit))
    return std::nullopt;
  char buffer[160];
  std::snprintf(buffer, sizeof buffer,
                "has an error of %.3g; PyTorch's is %.3g, a unit of the last "
                "place %.3g",
                ours, theirs, unit);
  return buffer;
}
