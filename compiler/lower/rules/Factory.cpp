//===- Factory.cpp - Lowering of operators that make tensors --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "dialects/ft/Promotion.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace ft {

static LoweredTensor filledAs(LowerCall &c, const Arg &value) {
  const TensorMeta &meta = c.resultMeta(0);
  Dims sizes = dimsOf(meta);
  if (value.kind == Arg::Int)
    return c.filledInt(sizes, meta.dtype, value.dim.value());
  return c.filled(sizes, meta.dtype,
                  value.kind == Arg::Bool ? double(value.boolean) : value.real);
}

template <int kValue>
static LogicalResult constantFill(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, c.filledInt(dimsOf(meta), meta.dtype, kValue));
  return success();
}

static LogicalResult fillWith(LowerCall &c, unsigned arg) {
  const Arg &value = c.call().args[arg];
  const TensorMeta &meta = c.resultMeta(0);
  if (value.kind == Arg::Complex) {
    Dims sizes = dimsOf(meta);
    if (!isComplex(meta.dtype))
      return c.unsupported("a complex number for a real tensor");
    c.setResult(
        0,
        generate(c, sizes, meta.dtype, [&](ScalarBuilder &s, ArrayRef<Value>) {
          Type type = computeType(c.context(), meta.dtype);
          Type part = cast<ComplexType>(type).getElementType();
          return Value(complex::CreateOp::create(s.b, s.loc, type,
                                                 s.constant(part, value.real),
                                                 s.constant(part, value.imag)));
        }));
    return success();
  }
  if (!isRuntimeNumber(value)) {
    c.setResult(0, filledAs(c, value));
    return success();
  }
  LoweredTensor number = c.operand(arg);
  c.setResult(0, c.pointwise(number, meta, [&](ScalarBuilder &s, ValueRange v) {
    return s.cast(v[0], number.dtype, meta.dtype);
  }));
  return success();
}

static LogicalResult scalarTensor(LowerCall &c) { return fillWith(c, 0); }
static LogicalResult full(LowerCall &c) { return fillWith(c, 1); }
static LogicalResult newFull(LowerCall &c) { return fillWith(c, 2); }

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// start + i step: integers exactly, floats in double as ATen does.
static LogicalResult sequence(LowerCall &c, const Arg &start, const Arg &step) {
  const TensorMeta &meta = c.resultMeta(0);
  bool exact = isIntegral(meta.dtype);
  DType work = exact ? DType::I64 : DType::F64;
  auto valueOf = [&](ScalarBuilder &s, const Arg &a) {
    Type type = computeType(c.context(), work);
    if (a.kind == Arg::Int)
      return c.sizeIn(s, a.dim, work);
    double real = a.kind == Arg::Bool ? double(a.boolean) : a.real;
    return exact ? s.constantInt(type, static_cast<int64_t>(real))
                 : s.constant(type, real);
  };
  c.setResult(
      0, generate(c, dimsOf(meta), meta.dtype,
                  [&](ScalarBuilder &s, ArrayRef<Value> at) {
                    Value i = fromIndex(s, at[0], work);
                    Value from = valueOf(s, start), by = valueOf(s, step);
                    return s.cast(s.add(from, s.mul(i, by)), work, meta.dtype);
                  }));
  return success();
}

static LogicalResult arangeEnd(LowerCall &c) {
  return sequence(c, Arg::integer(0), Arg::integer(1));
}
static LogicalResult arangeStart(LowerCall &c) {
  return sequence(c, c.call().args[0], Arg::integer(1));
}
static LogicalResult arangeStep(LowerCall &c) {
  return sequence(c, c.call().args[0], c.call().args[2]);
}

/// `steps` numbers from args[0] to args[1], both of which may be 0-dim tensors;
/// each half is counted from its own end, so that both ends are exact. Ends of
/// integers are cut to integers first, 0.7 to 0.
static LogicalResult spaced(LowerCall &c, bool logarithmic) {
  const TensorMeta &meta = c.resultMeta(0);
  Dims sizes = dimsOf(meta);
  Dim steps = sizes[0];
  DType work = isFloating(meta.dtype) || isIntegral(meta.dtype)
                   ? (meta.dtype == DType::F32 ? DType::F32 : DType::F64)
                   : meta.dtype;
  if (isComplex(meta.dtype))
    return c.unsupported("a complex sequence");
  double base = logarithmic ? c.number(3) : 0;
  auto end = [&](ScalarBuilder &s, unsigned arg) -> Value {
    const Arg &a = c.call().args[arg];
    Value x;
    if (a.kind == Arg::Int) {
      x = c.sizeIn(s, a.dim, work);
    } else if (a.kind != Arg::Tensor) {
      x = s.constant(computeType(c.context(), work), c.number(arg));
    } else {
      LoweredTensor t = c.operand(arg);
      x = s.cast(readAt(s, t, {}), t.dtype, work);
    }
    return isIntegral(meta.dtype) ? math::TruncOp::create(s.b, s.loc, x) : x;
  };
  c.setResult(
      0,
      generate(c, sizes, meta.dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        Value from = end(s, 0), to = end(s, 1);
        Type type = from.getType();
        Value i = fromIndex(s, at[0], work);
        Value gaps = c.sizeIn(s, maxDim(steps - 1, 1), work);
        Value step = s.div(s.sub(to, from), gaps);
        Value left = s.add(from, s.mul(step, i));
        Value rest = s.sub(c.sizeIn(s, steps - 1, work), i);
        Value right = s.sub(to, s.mul(step, rest));
        Value near = s.cmp(ScalarBuilder::Cmp::Lt, i,
                           c.sizeIn(s, floorDiv(steps, 2), work));
        left = s.select(near, left, right);
        // A single step is the start.
        if (steps.isStatic())
          left = steps.value() > 1 ? left : from;
        else
          left = s.select(
              s.cmp(ScalarBuilder::Cmp::Le, c.sizeIn(s, steps, work), s.one(i)),
              from, left);
        if (logarithmic)
          left = math::PowFOp::create(s.b, s.loc, s.constant(type, base), left);
        return s.cast(left, work, meta.dtype);
      }));
  return success();
}

static LogicalResult linspace(LowerCall &c) { return spaced(c, false); }
static LogicalResult logspace(LowerCall &c) { return spaced(c, true); }

static LogicalResult eye(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, generate(c, dimsOf(meta), meta.dtype,
                          [&](ScalarBuilder &s, ArrayRef<Value> at) {
                            Value on =
                                s.cmp(ScalarBuilder::Cmp::Eq, at[0], at[1]);
                            return s.cast(on, DType::Bool, meta.dtype);
                          }));
  return success();
}

/// The coordinates of a triangle's elements, row by row: a constant.
static LogicalResult triangleIndices(LowerCall &c, bool upper) {
  int64_t rows = c.integer(0), columns = c.integer(1), offset = c.integer(2);
  SmallVector<int64_t> values, second;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (upper ? j - i >= offset : j - i <= offset) {
        values.push_back(i);
        second.push_back(j);
      }
  values.append(second);
  LoweredTensor t =
      c.reshape(constantVector(c, values), dimsOf(c.resultMeta(0)));
  c.setResult(0, c.cast(t, c.resultMeta(0).dtype));
  return success();
}

static LogicalResult trilIndices(LowerCall &c) {
  return triangleIndices(c, false);
}
static LogicalResult triuIndices(LowerCall &c) {
  return triangleIndices(c, true);
}

//===----------------------------------------------------------------------===//
// Windows and frequencies
//===----------------------------------------------------------------------===//

/// A vector known at compile time.
static LogicalResult table(LowerCall &c,
                           llvm::function_ref<double(int64_t)> element) {
  const TensorMeta &meta = c.resultMeta(0);
  SmallVector<double> values;
  for (int64_t i = 0; i < meta.sizes[0].value(); ++i)
    values.push_back(element(i));
  LoweredTensor real = constantVector(c, values, toReal(meta.dtype));
  c.setResult(0, c.cast(real, meta.dtype));
  return success();
}

/// sum of a_k cos(2 pi k i / length), the length one more if not periodic.
static LogicalResult cosineWindow(LowerCall &c, bool periodic, double a0,
                                  double a1, double a2 = 0) {
  int64_t n = c.integer(0);
  double period = static_cast<double>(periodic ? n : n - 1);
  return table(c, [&](int64_t i) {
    if (n == 1)
      return 1.0;
    double angle = 2 * 3.14159265358979323846 * static_cast<double>(i) / period;
    return a0 + a1 * std::cos(angle) + a2 * std::cos(2 * angle);
  });
}

static bool isPeriodic(LowerCall &c) {
  int arg = c.call().schema->argIndex("periodic");
  return arg < 0 || c.flag(static_cast<unsigned>(arg));
}

static LogicalResult hannWindow(LowerCall &c) {
  return cosineWindow(c, isPeriodic(c), 0.5, -0.5);
}
static LogicalResult blackmanWindow(LowerCall &c) {
  return cosineWindow(c, isPeriodic(c), 0.42, -0.5, 0.08);
}
static LogicalResult hammingWindow(LowerCall &c) {
  int alpha = c.call().schema->argIndex("alpha");
  int beta = c.call().schema->argIndex("beta");
  return cosineWindow(
      c, isPeriodic(c),
      alpha < 0 ? 0.54 : c.number(static_cast<unsigned>(alpha)),
      -(beta < 0 ? 0.46 : c.number(static_cast<unsigned>(beta))));
}

static LogicalResult bartlettWindow(LowerCall &c) {
  int64_t n = c.integer(0);
  double period = static_cast<double>(isPeriodic(c) ? n : n - 1);
  return table(c, [&](int64_t i) {
    return n == 1 ? 1.0
                  : 1 - std::fabs(2 * static_cast<double>(i) / period - 1);
  });
}

static LogicalResult fftFrequencies(LowerCall &c, bool half) {
  int64_t n = c.integer(0);
  double spacing = c.number(1);
  return table(c, [&](int64_t i) {
    int64_t k = half || i < (n + 1) / 2 ? i : i - n;
    return static_cast<double>(k) / (static_cast<double>(n) * spacing);
  });
}
static LogicalResult fftfreq(LowerCall &c) { return fftFrequencies(c, false); }
static LogicalResult rfftfreq(LowerCall &c) { return fftFrequencies(c, true); }

static const LowerRuleRow kRows[] = {
    anyShape("zeros.default", constantFill<0>),
    anyShape("zeros_like.default", constantFill<0>),
    anyShape("new_zeros.default", constantFill<0>),
    anyShape("ones.default", constantFill<1>),
    anyShape("ones_like.default", constantFill<1>),
    anyShape("new_ones.default", constantFill<1>),
    // What is not initialised is zero: runs are the same each time.
    anyShape("empty.memory_format", constantFill<0>),
    anyShape("empty_like.default", constantFill<0>),
    anyShape("empty_permuted.default", constantFill<0>),
    anyShape("empty_strided.default", constantFill<0>),
    anyShape("new_empty.default", constantFill<0>),
    anyShape("new_empty_strided.default", constantFill<0>),
    anyShape("scalar_tensor.default", scalarTensor, Numbers::Runtime),
    anyShape("full.default", full, Numbers::Runtime),
    anyShape("full_like.default", full, Numbers::Runtime),
    anyShape("new_full.default", newFull, Numbers::Runtime),

    anyShape("arange.default", arangeEnd),
    anyShape("arange.start", arangeStart),
    anyShape("arange.start_step", arangeStep),
    anyShape("range.default", arangeStart),
    anyShape("range.step", arangeStep),
    anyShape("linspace.default", linspace),
    anyShape("linspace.Tensor_Tensor", linspace),
    anyShape("linspace.Tensor_Scalar", linspace),
    anyShape("linspace.Scalar_Tensor", linspace),
    anyShape("logspace.default", logspace),
    anyShape("logspace.Tensor_Tensor", logspace),
    anyShape("logspace.Tensor_Scalar", logspace),
    anyShape("logspace.Scalar_Tensor", logspace),
    anyShape("eye.default", eye),
    anyShape("eye.m", eye),
    {"tril_indices.default", trilIndices},
    {"triu_indices.default", triuIndices},

    {"hann_window.default", hannWindow},
    {"hann_window.periodic", hannWindow},
    {"hamming_window.default", hammingWindow},
    {"hamming_window.periodic", hammingWindow},
    {"hamming_window.periodic_alpha", hammingWindow},
    {"hamming_window.periodic_alpha_beta", hammingWindow},
    {"blackman_window.default", blackmanWindow},
    {"blackman_window.periodic", blackmanWindow},
    {"bartlett_window.default", bartlettWindow},
    {"bartlett_window.periodic", bartlettWindow},
    {"fft_fftfreq.default", fftfreq},
    {"fft_rfftfreq.default", rfftfreq},
};

ArrayRef<LowerRuleRow> factoryLowerRules() { return kRows; }

} // namespace ft
