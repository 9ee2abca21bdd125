//===- Program.cpp - A small program with its right answer ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Program.h"

#include "dialects/ft/Promotion.h"

#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <set>

using namespace ft;
using namespace ft::random;
using interpreter::OpClass;

/// Whether PyTorch leaves the sign of a zero among the results open: of -0 and
/// 0 the larger is the one that its vector or its scalar loop sees last, and a
/// sum of them depends on the order.
static bool leavesSignOfZero(const Schema &schema, OpClass opClass) {
  static const llvm::StringSet<> kChoosing = {
      "amax",           "amin",      "aminmax", "clamp",
      "clamp_max",      "clamp_min", "clip",    "cummax",
      "cummin",         "fmax",      "fmin",    "hardtanh",
      "index_reduce",   "max",       "maximum", "min",
      "minimum",        "relu",      "relu6",   "scatter_reduce",
      "segment_reduce", "threshold"};
  llvm::StringRef base = schema.base;
  base.consume_front("_foreach_");
  base.consume_back("_");
  return opClass == OpClass::Accumulated || kChoosing.contains(base) ||
         base.contains("max_pool");
}

bool Program::leavesSigns() const {
  return llvm::any_of(steps, [&](const Step &step) {
    return leavesSignOfZero(*step.schema, OpClass::Exact) &&
           llvm::any_of(step.results, [&](int result) {
             const Tensor &tensor = values[result].data;
             for (int64_t i = 0, n = tensor.numel(); i < n; ++i)
               if (!tensor.whole() && tensor.complex(i) == 0.0)
                 return true;
             return false;
           });
  });
}

std::vector<TensorMeta> Program::metasOf(const Step &step) const {
  std::vector<TensorMeta> metas;
  for (int operand : step.operands)
    metas.push_back(values[operand].meta);
  return metas;
}

OpClass Program::classOf(const Step &step) const {
  std::vector<DType> types;
  for (int operand : step.operands)
    types.push_back(values[operand].meta.dtype);
  return interpreter::classOf(*step.schema, step.args, types);
}

std::vector<int> Program::inputs() const {
  std::vector<int> list;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].step < 0)
      list.push_back(static_cast<int>(i));
  return list;
}

void Program::build(conformance::GraphBuilder &graph,
                    llvm::StringRef prefix) const {
  std::vector<mlir::Value> built(values.size());
  for (int i : inputs()) {
    std::string name = (prefix + "_in" + llvm::Twine(i)).str();
    built[i] = graph.addInput(name, "input", name, values[i].meta);
  }
  for (auto [k, step] : llvm::enumerate(steps)) {
    llvm::SmallVector<mlir::Value> operands;
    for (int operand : step.operands)
      operands.push_back(built[operand]);
    std::string name = (prefix + "_op" + llvm::Twine(k)).str();
    mlir::Operation *op = graph.addCall(*step.schema, step.args, operands,
                                        step.results.size(), name);
    for (auto [value, result] : llvm::zip(step.results, op->getResults()))
      built[value] = result;
  }
  for (int output : outputs)
    graph.addOutput(built[output],
                    (prefix + "_out" + llvm::Twine(output)).str());
}

/// How far a right result may be off, relative to itself.
static double slack(DType dtype) {
  switch (toReal(dtype)) {
  case DType::F64:
    return 1e-12;
  case DType::F32:
    return 2e-6;
  case DType::F16:
    return 1e-3;
  default:
    return 8e-3;
  }
}

/// `terms` is the size of what the result may be a difference of.
static void shake(Tensor &tensor, OpClass opClass, Rng &rng, int direction,
                  double terms) {
  if (isIntegral(tensor.dtype))
    return;
  int64_t n = tensor.numel();
  double scale = 0, relative = slack(tensor.dtype);
  for (int64_t i = 0; i < n; ++i)
    if (double a = std::abs(tensor.complex(i)); std::isfinite(a))
      scale = std::max(scale, a);
  if (opClass != OpClass::Accumulated)
    scale = 0;
  auto moved = [&](double x) {
    if (!std::isfinite(x))
      return x;
    // No rule gives the sign of a zero that was not computed exactly.
    if (x == 0 && scale == 0 && direction != kSnap)
      return direction < 0 ? -0. : 0.;
    if (direction == kSnap)
      return std::abs(x) <= 0.25 * relative * std::max(scale, terms) ? 0 : x;
    double by = direction ? direction : 2 * rng.unit() - 1;
    return x + by * relative * (std::abs(x) + 0.25 * scale);
  };
  for (int64_t i = 0; i < n; ++i) {
    interpreter::Complex x = tensor.complex(i);
    if (isComplex(tensor.dtype)) {
      double size = std::abs(x); // complex errors are by modulus
      bool moves = std::isfinite(size) && direction != kSnap;
      double by = moves ? relative * size : 0;
      tensor.setComplex(i, {moved(x.real()) + by * (2 * rng.unit() - 1),
                            moved(x.imag()) + by * (2 * rng.unit() - 1)});
    } else {
      tensor.setReal(i, moved(x.real()));
    }
  }
}

static void setSignsOfZeros(Tensor &tensor, bool negative) {
  double zero = negative ? -0.0 : 0.0;
  auto chosen = [&](double x) { return x == 0 ? zero : x; };
  for (int64_t i = 0, n = tensor.numel(); i < n; ++i) {
    interpreter::Complex x = tensor.complex(i);
    if (isComplex(tensor.dtype))
      tensor.setComplex(i, {chosen(x.real()), chosen(x.imag())});
    else if (x.real() == 0)
      tensor.setReal(i, zero);
  }
}

/// Sums in another order, and means of them, are those of operands that are
/// off by a rounding each: that is what cancellation makes of them (x minus its
/// mean, where all x are nearly equal).
static void shakeOperand(Tensor &tensor, Rng &rng) {
  double unit = tensor.dtype == DType::F32 || tensor.dtype == DType::C64
                    ? 0x1p-23
                    : 0x1p-52;
  if (isIntegral(tensor.dtype) || dtypeBytes(toReal(tensor.dtype)) < 4)
    return; // 16-bit floats are summed in float32
  for (int64_t i = 0, n = tensor.numel(); i < n; ++i) {
    interpreter::Complex x = tensor.complex(i);
    if (std::isfinite(std::abs(x)))
      tensor.setComplex(i, x * (1 + unit * (2 * rng.unit() - 1)));
  }
}

/// Slopes are sums of a few terms that may cancel (silu's and hardswish's have
/// roots): what is left is no better than a rounded operand makes it.
static bool isSlope(const Schema &schema) {
  return schema.base.ends_with("_backward") || schema.base.ends_with("_jvp");
}

/// The largest finite number of the operands, 1 at most.
static double sizeOf(llvm::ArrayRef<Tensor> operands) {
  double size = 0;
  for (const Tensor &tensor : operands)
    for (int64_t i = 0, n = tensor.numel(); i < n; ++i)
      if (double a = std::abs(tensor.complex(i)); std::isfinite(a))
        size = std::max(size, a);
  return std::min(size, 1.);
}

std::vector<Tensor> Program::evaluate(Rng *jitter, int direction) const {
  std::vector<Tensor> computed(values.size());
  for (int i : inputs())
    computed[i] = values[i].data;
  for (const Step &step : steps) {
    std::vector<Tensor> operands;
    OpClass opClass = classOf(step);
    for (int operand : step.operands) {
      operands.push_back(computed[operand]);
      if (jitter && (opClass == OpClass::Accumulated ||
                     (opClass != OpClass::Exact && isSlope(*step.schema))))
        shakeOperand(operands.back(), *jitter);
    }
    std::vector<TensorMeta> metas;
    for (int result : step.results)
      metas.push_back(values[result].meta);
    interpreter::CallResult result =
        interpreter::evaluate(*step.schema, step.args, operands, metas);
    // Near a value that is open for other operands everything is possible.
    if (!result.error.empty() || !result.unspecified.empty())
      return {};
    for (auto [value, tensor] : llvm::zip(step.results, result.results)) {
      computed[value] = std::move(tensor);
      if (jitter && opClass != OpClass::Exact)
        shake(computed[value], opClass, *jitter, direction,
              opClass == OpClass::Accumulated ? sizeOf(operands) : 0);
      if (jitter && !computed[value].whole() &&
          leavesSignOfZero(*step.schema, opClass))
        setSignsOfZeros(computed[value], direction < 0);
    }
  }
  return computed;
}

Program Program::prunedTo(int output) const {
  std::set<int> needed = {output};
  std::vector<bool> keep(steps.size(), false);
  for (size_t k = steps.size(); k-- > 0;) {
    for (int result : steps[k].results)
      keep[k] = keep[k] || needed.count(result);
    if (keep[k])
      needed.insert(steps[k].operands.begin(), steps[k].operands.end());
  }
  Program result;
  result.seed = seed;
  result.opClass = opClass;
  std::vector<int> renamed(values.size(), -1);
  auto add = [&](int i, int step) {
    renamed[i] = static_cast<int>(result.values.size());
    result.values.push_back(values[i]);
    result.values.back().step = step;
  };
  for (int i : inputs())
    if (needed.count(i))
      add(i, -1);
  for (size_t k = 0; k < steps.size(); ++k) {
    if (!keep[k])
      continue;
    Step step = steps[k];
    for (int &operand : step.operands)
      operand = renamed[operand];
    for (int &value : step.results) {
      add(value, static_cast<int>(result.steps.size()));
      value = renamed[value];
    }
    result.steps.push_back(std::move(step));
  }
  result.outputs = {renamed[output]};
  const Value &value = result.values[renamed[output]];
  if (value.isFactor)
    result.outputs = result.steps[value.step].results;
  return result;
}

Program Program::cutAt(int value, int output) const {
  Program cut = *this;
  Step &step = cut.steps[values[value].step];
  // The step keeps a result of its own, which nothing reads.
  cut.values.push_back(cut.values[value]);
  for (int &result : step.results)
    if (result == value)
      result = static_cast<int>(cut.values.size()) - 1;
  cut.values[value].step = -1;
  return cut.prunedTo(output);
}
