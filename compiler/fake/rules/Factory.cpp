//===- Factory.cpp - Tensors made from sizes and numbers -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/rules/Factory.h"

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"
#include "dialects/ft/Promotion.h"

#include <cmath>

using namespace llvm;

namespace ft {

//===----------------------------------------------------------------------===//
// The common part
//===----------------------------------------------------------------------===//

FailureOr<FactoryOptions> factoryOptions(FakeCall &c, unsigned first) {
  FactoryOptions options;
  options.dtype = c.dtype(first);
  StringRef layout = c.optText(first + 1);
  if (!layout.empty() && layout != "strided" && layout != "torch.strided")
    return c.fail(FakeError::Unsupported, "layout " + layout +
                                              " is not supported, only "
                                              "strided tensors are");
  options.device = c.deviceArg(first + 2);
  if (first + 4 < c.arguments().size())
    options.format = c.optText(first + 4);
  return options;
}

DType numberDType(const Arg &number) {
  switch (number.kind) {
  case Arg::Bool:
    return DType::Bool;
  case Arg::Int:
    return DType::I64;
  case Arg::Complex:
    return toComplex(kDefaultFloat);
  default:
    return kDefaultFloat;
  }
}

static LogicalResult checkSizes(FakeCall &c, ArrayRef<Dim> sizes) {
  for (Dim d : sizes)
    if (c.lt(d, 0))
      return c.fail(FakeError::Dim,
                    "size " + d.str() + " must not be negative");
  return success();
}

LogicalResult makeTensor(FakeCall &c, ArrayRef<Dim> sizes, DType dtype,
                         const FactoryOptions &options) {
  if (failed(checkSizes(c, sizes)))
    return failure();
  TensorMeta out =
      TensorMeta::contiguous(dtype, sizes, options.device.value_or(c.device));
  if (!options.format.empty() && options.format != "preserve_format") {
    std::optional<Dims> strides = formatStrides(options.format, sizes, nullptr);
    if (!strides)
      return c.fail(FakeError::Dim, "memory format " + options.format +
                                        " does not fit " + Twine(sizes.size()) +
                                        " dims");
    out.strides = *strides;
  } else if (options.format == "preserve_format") {
    return c.fail(FakeError::Other,
                  "there is no tensor whose format could be preserved");
  }
  return c.fresh(std::move(out));
}

LogicalResult makeLike(FakeCall &c, const FactoryOptions &options) {
  TensorMeta out = c.tensor(0);
  StringRef format =
      options.format.empty() ? "preserve_format" : options.format;
  std::optional<Dims> strides = formatStrides(format, out.sizes, &out);
  if (!strides)
    return c.fail(FakeError::Dim, "memory format " + format + " does not fit " +
                                      Twine(out.rank()) + " dims");
  out.strides = *strides;
  out.dtype = options.dtype.value_or(out.dtype);
  out.device = options.device.value_or(out.device);
  out.offset = 0;
  out.conj = out.neg = false;
  return c.fresh(std::move(out));
}

//===----------------------------------------------------------------------===//
// Sizes given
//===----------------------------------------------------------------------===//

/// empty, zeros, ones: sizes, then the options.
static LogicalResult filled(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 1);
  if (failed(options))
    return failure();
  return makeTensor(c, c.dims(0), options->dtype.value_or(kDefaultFloat),
                    *options);
}

/// Source: the CPU kernels; PyTorch's shape functions for other devices do not
/// look at the value.
static LogicalResult checkFillValue(FakeCall &c, unsigned arg, DType dtype,
                                    Device device) {
  if (device.kind == Device::Cpu && c.arg(arg).kind == Arg::Complex &&
      !isComplex(dtype) && dtype != DType::Bool && c.arg(arg).imag != 0)
    return c.fail(FakeError::Dtype,
                  "a complex value does not fit a tensor of " +
                      dtypeName(dtype));
  return success();
}

static LogicalResult full(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 2);
  if (failed(options))
    return failure();
  DType dtype = options->dtype.value_or(numberDType(c.arg(1)));
  if (failed(checkFillValue(c, 1, dtype, options->device.value_or(c.device))))
    return failure();
  return makeTensor(c, c.dims(0), dtype, *options);
}

static LogicalResult scalarTensor(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 1);
  if (failed(options))
    return failure();
  DType dtype = options->dtype.value_or(kDefaultFloat);
  if (failed(checkFillValue(c, 0, dtype, options->device.value_or(c.device))))
    return failure();
  return makeTensor(c, {}, dtype, *options);
}

/// empty_strided and new_empty_strided.
template <unsigned First>
static LogicalResult strided(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, First + 2);
  if (failed(options))
    return failure();
  Dims sizes = c.dims(First), strides = c.dims(First + 1);
  if (sizes.size() != strides.size())
    return c.fail(FakeError::Shape, Twine(sizes.size()) + " sizes but " +
                                        Twine(strides.size()) + " strides");
  if (failed(checkSizes(c, sizes)) || failed(checkSizes(c, strides)))
    return failure();
  TensorMeta out;
  out.dtype =
      options->dtype.value_or(First ? c.tensor(0).dtype : kDefaultFloat);
  out.device = options->device.value_or(c.device);
  out.sizes = std::move(sizes);
  out.strides = std::move(strides);
  return c.fresh(std::move(out));
}

static LogicalResult emptyPermuted(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 2);
  if (failed(options))
    return failure();
  Dims sizes = c.dims(0);
  if (sizes.size() != c.length(1))
    return c.fail(FakeError::Dim, "the layout names " + Twine(c.length(1)) +
                                      " dims of " + Twine(sizes.size()));
  auto order = c.wrapDims(1, sizes.size(), /*emptyIsAll=*/false);
  if (failed(order))
    return failure();
  for (Dim d : c.dims(1))
    if (c.lt(d, 0))
      return c.fail(FakeError::Dim,
                    "dim " + d.str() + " of the layout must not be negative");
  if (failed(checkSizes(c, sizes)))
    return failure();
  TensorMeta out;
  out.dtype = options->dtype.value_or(kDefaultFloat);
  out.device = options->device.value_or(c.device);
  out.strides = denseStrides(sizes, *order);
  out.sizes = std::move(sizes);
  return c.fresh(std::move(out));
}

//===----------------------------------------------------------------------===//
// Like another tensor
//===----------------------------------------------------------------------===//

static LogicalResult like(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 1);
  return failed(options) ? failure() : makeLike(c, *options);
}

static LogicalResult fullLike(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 2);
  if (failed(options) ||
      failed(checkFillValue(c, 1, options->dtype.value_or(c.tensor(0).dtype),
                            options->device.value_or(c.device))))
    return failure();
  return makeLike(c, *options);
}

/// new_empty, new_ones, new_zeros, new_full: self, sizes, …, options.
template <unsigned First>
static LogicalResult fresh(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, First);
  if (failed(options))
    return failure();
  return makeTensor(c, c.dims(1), options->dtype.value_or(c.tensor(0).dtype),
                    *options);
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// ceil((end - start) / step), in integers where all three are.
static FailureOr<Dim> rangeLength(FakeCall &c, Arg start, Arg end, Arg step,
                                  DType dtype) {
  auto real = [](const Arg &a) {
    return a.kind == Arg::Float  ? a.real
           : a.kind == Arg::Bool ? double(a.boolean)
                                 : double(a.dim.value());
  };
  auto isInt = [](const Arg &a) {
    return a.kind == Arg::Int || a.kind == Arg::Bool;
  };
  for (const Arg *a : {&start, &end, &step})
    if (!a->isNumber() || a->kind == Arg::Complex)
      return c.fail(FakeError::Dtype,
                    "arange needs real numbers, not a " +
                        Twine(a->kind == Arg::Complex ? "complex one"
                                                      : "value that is none"));
  if (isInt(start) && isInt(end) && isInt(step)) {
    for (Arg *a : {&start, &end, &step})
      if (a->kind == Arg::Bool)
        a->dim = a->boolean;
    Dim by = step.dim;
    if (!by.isStatic() || by.is(0))
      return c.fail(FakeError::Other, "arange's step must not be 0");
    bool up = by.value() > 0;
    if (up ? c.lt(end.dim, start.dim) : c.lt(start.dim, end.dim))
      return c.fail(FakeError::Other, "arange's bounds " + start.dim.str() +
                                          " and " + end.dim.str() +
                                          " do not fit the sign of its step " +
                                          by.str());
    return up ? ceilDiv(end.dim - start.dim, by)
              : ceilDiv(start.dim - end.dim, Dim(0) - by);
  }
  for (const Arg *a : {&start, &end, &step})
    if (a->kind == Arg::Int && !a->dim.isStatic())
      return c.fail(FakeError::Undecided, "the length of a range with floating "
                                          "and symbolic bounds is not known");
  double from = real(start), to = real(end), by = real(step);
  // An integer tensor's bounds are cut to integers first.
  if (isIntegral(dtype) && dtype != DType::Bool) {
    from = std::trunc(from);
    to = std::trunc(to);
    by = std::trunc(by);
  }
  if (by == 0 || !std::isfinite(from) || !std::isfinite(to))
    return c.fail(FakeError::Other,
                  "arange needs finite bounds and a step other than 0, not " +
                      std::to_string(from) + ", " + std::to_string(to) +
                      " and " + std::to_string(by));
  if ((to - from) * by < 0)
    return c.fail(FakeError::Other, "arange's bounds " + std::to_string(from) +
                                        " and " + std::to_string(to) +
                                        " do not fit the sign of its step " +
                                        std::to_string(by));
  double length = std::ceil((to - from) / by);
  if (length > 9e18)
    return c.fail(FakeError::Other, "arange from " + std::to_string(from) +
                                        " to " + std::to_string(to) + " by " +
                                        std::to_string(by) +
                                        " has too many elements");
  return Dim(static_cast<int64_t>(length));
}

template <unsigned Numbers>
static LogicalResult arange(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, Numbers);
  if (failed(options))
    return failure();
  Arg start = Numbers == 1 ? Arg::integer(0) : c.arg(0);
  Arg end = Numbers == 1 ? c.arg(0) : c.arg(1);
  Arg step = Numbers == 3 ? c.arg(2) : Arg::integer(1);
  bool integral = true;
  for (const Arg *a : {&start, &end, &step})
    integral &= a->kind == Arg::Int || a->kind == Arg::Bool;
  DType dtype = options->dtype.value_or(integral ? DType::I64 : kDefaultFloat);
  FailureOr<Dim> length = rangeLength(c, start, end, step, dtype);
  if (failed(length))
    return failure();
  return makeTensor(c, *length, dtype, *options);
}

/// The deprecated `range`, whose end is included. Numbers of an integer dtype
/// are cut to integers before they are counted.
template <unsigned Numbers>
static LogicalResult rangeClosed(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, Numbers);
  if (failed(options))
    return failure();
  DType dtype = options->dtype.value_or(kDefaultFloat);
  auto number = [&](unsigned i) {
    return isIntegral(dtype) ? std::trunc(c.number(i)) : c.number(i);
  };
  double start = number(0), end = number(1);
  double step = Numbers == 3 ? number(2) : 1;
  if (step == 0 || (end - start) * step < 0)
    return c.fail(FakeError::Other, "range's bounds " + std::to_string(start) +
                                        " and " + std::to_string(end) +
                                        " do not fit the sign of its step " +
                                        std::to_string(step));
  auto length = static_cast<int64_t>((end - start) / step) + 1;
  return makeTensor(c, {Dim(length)}, dtype, *options);
}

template <unsigned First>
static LogicalResult linspace(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, First);
  if (failed(options))
    return failure();
  bool complex = false;
  for (unsigned i : {0u, 1u}) {
    const TensorMeta *bound = c.optTensor(i);
    if (bound && !bound->sizes.empty())
      return c.fail(FakeError::Dim, c.schema().base +
                                        "'s bounds must have no dims, not " +
                                        Twine(bound->rank()));
    complex |= bound ? isComplex(bound->dtype) : c.arg(i).kind == Arg::Complex;
  }
  if (c.lt(c.dim(2), 0))
    return c.fail(FakeError::Other, "the number of steps must not be negative, "
                                    "it is " +
                                        c.dim(2).str());
  DType natural = complex ? toComplex(kDefaultFloat) : kDefaultFloat;
  DType dtype = options->dtype.value_or(natural);
  if (complex && !isComplex(dtype))
    return c.fail(FakeError::Dtype,
                  "complex bounds do not fit a tensor of " + dtypeName(dtype));
  return makeTensor(c, {c.dim(2)}, dtype, *options);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

template <unsigned First>
static LogicalResult eye(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, First);
  if (failed(options))
    return failure();
  Dim sizes[] = {c.dim(0), First == 2 ? c.dim(1) : c.dim(0)};
  return makeTensor(c, sizes, options->dtype.value_or(kDefaultFloat), *options);
}

/// The number of entries of a rows × columns matrix on and below a diagonal.
///   rows 3, columns 4, offset 0: 1 + 2 + 3 = 6
static int64_t trilCount(int64_t rows, int64_t columns, int64_t offset) {
  // Row r has offset + r + 1 entries, at least 0 and at most `columns`.
  int64_t first = std::clamp<int64_t>(-offset, 0, rows);
  int64_t full = std::clamp<int64_t>(columns - offset - 1, first, rows);
  int64_t growing = full - first;
  return growing * (offset + first + 1) + growing * (growing - 1) / 2 +
         (rows - full) * columns;
}

template <bool Upper>
static LogicalResult triangleIndices(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 3);
  if (failed(options))
    return failure();
  Dim rows = c.dim(0), columns = c.dim(1), offset = c.dim(2);
  if (failed(checkSizes(c, {rows, columns})))
    return failure();
  DType dtype = options->dtype.value_or(DType::I64);
  if (dtype != DType::I64 && dtype != DType::I32)
    return c.fail(FakeError::Unsupported, c.schema().base +
                                              " gives int32 or int64, not " +
                                              dtypeName(dtype));
  if (!rows.isStatic() || !columns.isStatic() || !offset.isStatic())
    return c.fail(FakeError::Undecided,
                  "the number of indices is not known for symbolic sizes");
  constexpr int64_t kMost = int64_t(1) << 31;
  if (rows.value() > kMost || columns.value() > kMost ||
      offset.value() > kMost || offset.value() < -kMost)
    return c.fail(FakeError::Other, "a matrix of " + rows.str() + " × " +
                                        columns.str() + " with diagonal " +
                                        offset.str() + " is too large");
  int64_t below =
      trilCount(rows.value(), columns.value(), offset.value() - Upper);
  int64_t count = Upper ? rows.value() * columns.value() - below : below;
  return makeTensor(c, {Dim(2), Dim(count)}, dtype, *options);
}

/// Windows of signal processing: argument 0 is the length.
template <unsigned First>
static LogicalResult window(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, First);
  if (failed(options))
    return failure();
  DType dtype = options->dtype.value_or(kDefaultFloat);
  if (!isFloating(dtype))
    return c.fail(FakeError::Dtype, c.schema().base +
                                        " needs a floating dtype, not " +
                                        dtypeName(dtype));
  return makeTensor(c, {c.dim(0)}, dtype, *options);
}

/// fft_fftfreq: n values; fft_rfftfreq: n / 2 + 1.
template <bool Half>
static LogicalResult frequencies(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 2);
  if (failed(options))
    return failure();
  Dim n = c.dim(0);
  DType dtype = options->dtype.value_or(kDefaultFloat);
  if (isIntegral(dtype))
    return c.fail(FakeError::Dtype, c.schema().base +
                                        " needs a floating dtype, not " +
                                        dtypeName(dtype));
  return makeTensor(c, {Half ? floorDiv(n, 2) + 1 : n}, dtype, *options);
}

static LogicalResult vander(FakeCall &c) {
  const TensorMeta &x = c.tensor(0);
  bool batched = c.schema().base == "linalg_vander";
  if (batched ? x.sizes.empty() : x.rank() != 1)
    return c.fail(FakeError::Dim, c.schema().base + " does not take " +
                                      Twine(x.rank()) + " dims");
  Dims sizes = x.sizes;
  sizes.push_back(c.isNone(1) ? x.sizes.back() : c.dim(1));
  if (c.lt(sizes.back(), batched ? 1 : 0))
    return c.fail(FakeError::Shape, "the number of columns must be at least " +
                                        Twine(batched ? 1 : 0) + ", it is " +
                                        sizes.back().str());
  return c.fresh(
      TensorMeta::contiguous(integralToLong(x.dtype), sizes, c.device));
}

ArrayRef<FakeRuleRow> factoryRules() {
  static const FakeRuleRow rows[] = {
      {"arange.default", arange<1>},
      {"arange.start", arange<2>},
      {"arange.start_step", arange<3>},
      {"bartlett_window.default", window<1>},
      {"bartlett_window.periodic", window<2>},
      {"blackman_window.default", window<1>},
      {"blackman_window.periodic", window<2>},
      {"empty.memory_format", filled},
      {"empty_like.default", like},
      {"empty_permuted.default", emptyPermuted},
      {"empty_strided.default", strided<0>},
      {"eye.default", eye<1>},
      {"eye.m", eye<2>},
      {"fft_fftfreq.default", frequencies<false>},
      {"fft_rfftfreq.default", frequencies<true>},
      {"full.default", full},
      {"full_like.default", fullLike},
      {"hamming_window.default", window<1>},
      {"hamming_window.periodic", window<2>},
      {"hamming_window.periodic_alpha", window<3>},
      {"hamming_window.periodic_alpha_beta", window<4>},
      {"hann_window.default", window<1>},
      {"hann_window.periodic", window<2>},
      {"kaiser_window.beta", window<3>},
      {"kaiser_window.default", window<1>},
      {"kaiser_window.periodic", window<2>},
      {"linalg_vander.default", vander},
      {"linspace.Scalar_Tensor", linspace<3>, DevicePolicy::First},
      {"linspace.Tensor_Scalar", linspace<3>, DevicePolicy::First},
      {"linspace.Tensor_Tensor", linspace<3>, DevicePolicy::First},
      {"linspace.default", linspace<3>},
      {"logspace.Scalar_Tensor", linspace<4>, DevicePolicy::First},
      {"logspace.Tensor_Scalar", linspace<4>, DevicePolicy::First},
      {"logspace.Tensor_Tensor", linspace<4>, DevicePolicy::First},
      {"logspace.default", linspace<4>},
      {"new_empty.default", fresh<2>},
      {"new_empty_strided.default", strided<1>},
      {"new_full.default", fresh<3>},
      {"new_ones.default", fresh<2>},
      {"new_zeros.default", fresh<2>},
      {"ones.default", filled},
      {"ones_like.default", like},
      {"range.default", rangeClosed<2>},
      {"range.step", rangeClosed<3>},
      {"scalar_tensor.default", scalarTensor},
      {"tril_indices.default", triangleIndices<false>},
      {"triu_indices.default", triangleIndices<true>},
      {"vander.default", vander},
      {"zeros.default", filled},
      {"zeros_like.default", like},
  };
  return rows;
}

} // namespace ft
