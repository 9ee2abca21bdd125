//===- Judge.cpp - Whether a computed tensor is right ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Judge.h"

#include "dialects/ft/Promotion.h"
#include "tests/conformance/Compare.h"
#include "tests/conformance/Gauge.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace ft;
using namespace ft::random;
using interpreter::Complex;
using interpreter::OpClass;

Judge::Judge(const Program &program)
    : program(program), exactness(program.values.size(), OpClass::Exact) {
  for (const Step &step : program.steps) {
    OpClass worst = program.classOf(step);
    for (int operand : step.operands)
      worst = std::max(worst, exactness[operand]);
    for (int result : step.results)
      exactness[result] = worst;
  }
  bool inexact = program.leavesSigns();
  for (int output : program.outputs)
    inexact |= exactness[output] != OpClass::Exact;
  Rng rng(program.seed ^ 0x5EED);
  for (int direction : {1, -1, 0, kSnap})
    if (inexact)
      shaken.push_back(program.evaluate(&rng, direction));
}

static bool isNaN(Complex x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}
static bool isFinite(Complex x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}

static bool isInfinite(Complex x) {
  return std::isinf(x.real()) || std::isinf(x.imag());
}

/// The largest number of a dtype, and its least step.
static std::pair<double, double> limits(DType dtype) {
  switch (toReal(dtype)) {
  case DType::F16:
    return {65504, 0x1p-24};
  case DType::BF16:
    return {0x1.FEp127, 0x1p-133};
  case DType::F32:
    return {0x1.FFFFFEp127, 0x1p-149};
  default:
    return {0x1.FFFFFFFFFFFFFp1023, 0x1p-1074};
  }
}

std::string ft::random::elementText(const Tensor &tensor, int64_t i) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Complex x = tensor.complex(i);
  if (tensor.whole())
    os << tensor.integer(i);
  else if (isComplex(tensor.dtype))
    os << llvm::format("(%.17g, %.17g)", x.real(), x.imag());
  else // f32 and below are told apart by nine digits
    os << llvm::format(tensor.dtype == DType::F64 ? "%.17g" : "%.9g", x.real());
  return text;
}

bool ft::random::hasFactorCheck(const Schema &schema) {
  return schema.base.ends_with("eigh") || schema.base.ends_with("eig") ||
         schema.base.ends_with("eigvals") || schema.base.ends_with("svd");
}

std::optional<std::string>
Judge::checkFactors(llvm::ArrayRef<conformance::HostTensor> outputs) {
  for (const Step &step : program.steps) {
    std::vector<conformance::HostTensor> inputs;
    std::vector<conformance::TensorView> given, got;
    bool hasFactors = false, known = true;
    for (int operand : step.operands) {
      // What was computed on the way there is known up to roundings only.
      known &= program.values[operand].step < 0;
      inputs.push_back(program.values[operand].data.host());
    }
    for (int result : step.results) {
      hasFactors |= program.values[result].isFactor;
      auto found = llvm::find(program.outputs, result);
      if (found == program.outputs.end())
        known = false;
      else
        got.push_back(outputs[found - program.outputs.begin()].view());
    }
    if (!hasFactors || !known)
      continue;
    for (const conformance::HostTensor &input : inputs)
      given.push_back(input.view());
    conformance::OpCase call;
    call.schema = step.schema;
    call.args = step.args;
    if (auto problem = conformance::checkFactors(call, given, got))
      return step.schema->name.str() + ": " + *problem;
  }
  return std::nullopt;
}

std::optional<std::string> Judge::check(size_t k,
                                        const conformance::HostTensor &host) {
  int value = program.outputs[k];
  const Tensor &want = program.values[value].data;
  Tensor got(host.view());
  if (got.dtype != want.dtype || got.shape != want.shape)
    return "dtype or shape differ";
  if (program.values[value].isFactor) {
    elements += want.numel();
    return std::nullopt;
  }
  OpClass opClass = exactness[value];
  conformance::Tolerance tolerance;
  if (opClass != OpClass::Exact)
    tolerance = conformance::toleranceFor(
        want.dtype, opClass == OpClass::Accumulated
                        ? conformance::Accuracy::Accumulated
                        : conformance::Accuracy::Pointwise);
  auto [most, least] = limits(want.dtype);
  double scale = 1;
  int64_t n = want.numel();
  for (int64_t i = 0; opClass == OpClass::Accumulated && i < n; ++i)
    if (isFinite(want.complex(i)))
      scale = std::max(scale, std::abs(want.complex(i)));
  int64_t differing = 0, first = -1;
  for (int64_t i = 0; i < n; ++i) {
    ++elements;
    bool open = false, same = true;
    double deviation = 0;
    Complex x = got.complex(i), y = want.complex(i);
    for (const std::vector<Tensor> &run : shaken) {
      if (run.empty()) {
        open = true;
        break;
      }
      const Tensor &other = run[value];
      if (other.shape != want.shape) {
        open = true;
        break;
      }
      Complex z = other.complex(i);
      if (want.whole())
        open |= other.integer(i) != want.integer(i);
      else if (isNaN(y) != isNaN(z) || isFinite(y) != isFinite(z))
        open = true;
      else if (!isNaN(y) && !isFinite(y))
        open |= y != z; // infinity of the other sign
      else if (isFinite(y))
        deviation = std::max(deviation, std::abs(y - z));
    }
    if (opClass != OpClass::Exact && isFinite(y) && std::abs(y) > most / 64)
      open = true; // an intermediate result may overflow
    // Products of complex infinities by the plain formula are NaN, as in
    // PyTorch, or infinite by that of C, Annex G.
    open |= isComplex(want.dtype) && opClass != OpClass::Exact && isInfinite(y);
    // So near a pole that roundings decide the value, infinity among them.
    open |= isFinite(y) && deviation > 0.02 * std::max(std::abs(y), scale);
    if (want.whole()) {
      same = got.integer(i) == want.integer(i);
    } else if (isNaN(y) || isNaN(x)) {
      same = isNaN(x) && isNaN(y);
    } else if (!isFinite(y) || !isFinite(x)) {
      same = x == y;
    } else {
      double allowed = tolerance.relative * std::abs(y) +
                       tolerance.absolute * scale + 4 * deviation;
      if (opClass != OpClass::Exact)
        allowed += 2 * least;
      same = std::abs(x - y) <= allowed;
      if (signedZeros && opClass == OpClass::Exact)
        same &= std::signbit(x.real()) == std::signbit(y.real()) &&
                std::signbit(x.imag()) == std::signbit(y.imag());
    }
    if (open) {
      ++undecided;
      continue;
    }
    if (same)
      continue;
    ++differing;
    if (first < 0)
      first = i;
  }
  if (!differing)
    return std::nullopt;
  return want.host().view().indexText(first) + ": expected " +
         elementText(want, first) + ", got " + elementText(got, first) + " (" +
         std::to_string(differing) + " of " + std::to_string(n) + " differ)";
}
