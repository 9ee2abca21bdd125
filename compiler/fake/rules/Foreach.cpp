//===- Foreach.cpp - Elementwise ops over lists of tensors -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry i of each list is one elementwise call, with its own device.

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"

using namespace llvm;

namespace ft {

/// The call on entry `i` of the lists, for the device walk.
static LogicalResult deviceOf(FakeCall &c, ArrayRef<const TensorMeta *> entry) {
  const TensorMeta *common = entry.front();
  for (const TensorMeta *t : entry) {
    bool scalar = t->sizes.empty() && t->device.kind == Device::Cpu;
    if (t->device == common->device || scalar)
      continue;
    if (common->sizes.empty() && common->device.kind == Device::Cpu) {
      common = t;
      continue;
    }
    return devicesDiffer(c, *common, *t);
  }
  c.device = common->device;
  return success();
}

/// The number of entries, which all lists but those of no part must have.
static FailureOr<size_t> entryCount(FakeCall &c) {
  size_t count = c.length(c.arg(0).kind == Arg::List ? 0 : 1);
  for (auto [i, arg] : enumerate(c.arguments())) {
    if (arg.kind != Arg::List)
      continue;
    if (arg.list.size() != count)
      return c.fail(FakeError::Other, "the lists have " + Twine(count) +
                                          " and " + Twine(arg.list.size()) +
                                          " entries");
    if (c.schema().isTensorArg(i) && is_contained(c.tensors(i), nullptr))
      return c.fail(FakeError::Other, "an entry of a list is missing");
  }
  if (count == 0)
    return c.fail(FakeError::Other, "the lists have no entries");
  return count;
}

/// Which tensors and numbers take part in promotion.
enum class Typed : uint8_t {
  /// All tensors, and numbers that are operands: the first two arguments.
  Operands,
  /// Tensors only: weights and factors are converted.
  Tensors,
  /// As before, and all tensors must have one dtype.
  OneDType
};

/// One elementwise call for each entry; `last`: the arguments behind it are
/// factors of their own kind.
static LogicalResult eachEntry(FakeCall &c, Promote kind, Typed typed,
                               unsigned last) {
  FailureOr<size_t> count = entryCount(c);
  if (failed(count))
    return failure();
  int scale = c.schema().argIndex("alpha");
  for (size_t entry = 0; entry < *count; ++entry) {
    SmallVector<const TensorMeta *, 4> tensors;
    TypePromotion types;
    for (auto [i, arg] : enumerate(c.arguments().take_front(last))) {
      const Arg &own = arg.kind == Arg::List ? arg.list[entry] : arg;
      if (own.kind == Arg::Tensor) {
        tensors.push_back(&c.tensorOperands()[own.operand]);
        types.add(*tensors.back());
      } else if (typed == Typed::Operands && i < 2) {
        types.add(own);
      }
    }
    if (typed == Typed::OneDType)
      for (const TensorMeta *t : tensors)
        if (failed(oneDType(c, *tensors.front(), *t)))
          return failure();
    std::optional<DType> dtype = types.result();
    if (!dtype)
      return noCommonDType(c, types);
    if (scale >= 0 && failed(checkScale(c, c.arg(scale), *dtype)))
      return failure();
    if (failed(deviceOf(c, tensors)) ||
        failed(elementwise(c, tensors, promoted(*dtype, kind))))
      return failure();
  }
  return success();
}

template <Promote Kind, Typed Which = Typed::Operands>
static LogicalResult foreach (FakeCall &c) {
  return eachEntry(c, Kind, Which, c.arguments().size());
}

/// neg and sub are not defined for bool.
template <FakeRule Rule>
static LogicalResult notBool(FakeCall &c) {
  if (failed(Rule(c)))
    return failure();
  for (const FakeResult &result : c.results)
    if (result.meta.dtype == DType::Bool)
      return c.fail(FakeError::Dtype,
                    c.schema().base + " is not defined for bool");
  return success();
}

/// addcdiv divides no integers.
template <FakeRule Rule>
static LogicalResult notIntegral(FakeCall &c) {
  if (failed(Rule(c)))
    return failure();
  for (const FakeResult &result : c.results)
    if (isIntegral(result.meta.dtype))
      return c.fail(FakeError::Dtype, c.schema().base + " is not defined for " +
                                          dtypeName(result.meta.dtype));
  return success();
}

/// addcmul, addcdiv with a tensor of factors, one for each entry.
static LogicalResult foreachFactors(FakeCall &c) {
  const TensorMeta &factors = c.tensor(3);
  if (factors.device.kind != Device::Cpu)
    return c.fail(FakeError::Device,
                  "the scalars must be on cpu, not on " + factors.device.str());
  if (factors.rank() != 1)
    return c.fail(FakeError::Dim,
                  "the scalars need 1 dim, they have " + Twine(factors.rank()));
  if (!c.mustEq(factors.sizes[0], Dim(int64_t(c.length(0)))))
    return c.fail(FakeError::Shape, "there are " + factors.sizes[0].str() +
                                        " scalars for " + Twine(c.length(0)) +
                                        " entries");
  return eachEntry(c, Promote::Default, Typed::Tensors, 3);
}

/// The results are the lists that are written: checked, then nothing returned.
template <FakeRule Rule>
static LogicalResult into(FakeCall &c) {
  if (failed(Rule(c)))
    return failure();
  auto targets = c.tensors(0);
  for (auto [target, result] : zip(targets, c.results)) {
    if (!c.sameSizes(target->sizes, result.meta.sizes))
      return c.fail(FakeError::Shape, "the result " + result.meta.str() +
                                          " does not have the size of the "
                                          "tensor that is written, " +
                                          target->str());
    if (!canCast(result.meta.dtype, target->dtype))
      return c.fail(FakeError::Dtype,
                    "a result of " + dtypeName(result.meta.dtype) +
                        " cannot be written into a tensor of " +
                        dtypeName(target->dtype));
  }
  c.results.clear();
  return success();
}

static LogicalResult foreachCopy(FakeCall &c) {
  auto targets = c.tensors(0), sources = c.tensors(1);
  if (targets.size() != sources.size() || is_contained(targets, nullptr) ||
      is_contained(sources, nullptr))
    return c.fail(FakeError::Other, "the lists have " + Twine(targets.size()) +
                                        " and " + Twine(sources.size()) +
                                        " entries");
  for (auto [target, source] : zip(targets, sources)) {
    if (failed(c.broadcastTo(source->sizes, target->sizes, source)))
      return failure();
    TensorMeta out = *target;
    out.strides = likeStrides(*target);
    out.offset = 0;
    (void)c.fresh(std::move(out));
  }
  return success();
}

static LogicalResult foreachClone(FakeCall &c) {
  StringRef format = c.arguments().size() > 1 ? c.optText(1) : "";
  for (const TensorMeta *t : c.tensors(0)) {
    if (!t)
      return c.fail(FakeError::Other, "an entry of the list is missing");
    TensorMeta out = *t;
    std::optional<Dims> strides =
        format.empty() ? cloneStrides(*t) : formatStrides(format, t->sizes, t);
    if (!strides)
      return c.fail(FakeError::Dim,
                    "memory format " + format + " does not fit " + c.show(*t));
    out.strides = *strides;
    out.offset = 0;
    (void)c.fresh(std::move(out));
  }
  return success();
}

/// One number of each tensor: a norm or, if `Extremum`, its greatest element.
template <bool Extremum>
static LogicalResult foreachReduce(FakeCall &c) {
  FailureOr<size_t> count = entryCount(c);
  if (failed(count))
    return failure();
  for (const TensorMeta *t : c.tensors(0)) {
    DType dtype = t->dtype;
    if (Extremum && c.isEmpty(t->numel()))
      return c.fail(FakeError::Other,
                    "the greatest element of nothing, " + c.show(*t));
    if (!Extremum && !isFloating(dtype) && !isComplex(dtype))
      return c.fail(FakeError::Dtype, "a norm needs a floating or complex "
                                      "dtype, not " +
                                          dtypeName(dtype));
    if (!Extremum)
      dtype = toReal(c.dtype(2).value_or(dtype));
    (void)c.fresh(TensorMeta::contiguous(dtype, {}, t->device));
  }
  return success();
}

static LogicalResult foreachMm(FakeCall &c) {
  FailureOr<size_t> count = entryCount(c);
  if (failed(count))
    return failure();
  for (auto [a, b] : zip(c.tensors(0), c.tensors(1))) {
    if (a->rank() != 2 || b->rank() != 2)
      return c.fail(FakeError::Dim, "products need 2 dims, not " + a->str() +
                                        " and " + b->str());
    if (!c.mustEq(a->sizes[1], b->sizes[0]))
      return c.fail(FakeError::Shape,
                    "the inner sizes differ: " + c.sizeAt(*a, 1) + ", " +
                        c.sizeAt(*b, 0));
    if (failed(deviceOf(c, {a, b})) || failed(oneDType(c, *a, *b)))
      return failure();
    (void)c.fresh(
        TensorMeta::contiguous(a->dtype, {a->sizes[0], b->sizes[1]}, c.device));
  }
  return success();
}

namespace {
/// Ops with one rule: each name with each overload, functional and in place.
struct Group {
  FakeRule rule, into;
  std::vector<StringRef> overloads, names;
};
} // namespace

static std::vector<Group> groups() {
  using enum Promote;
  std::vector<StringRef> unary = {"default"};
  std::vector<StringRef> binary = {"List", "Scalar", "ScalarList"};
  std::vector<StringRef> arithmetic = {"List", "Scalar", "ScalarList",
                                       "Tensor"};
  constexpr auto weighted = foreach<Default, Typed::Tensors>;
  return {
      {foreach<IntToFloat>,
       into<foreach<IntToFloat>>,
       unary,
       {"acos",  "asin", "atan",       "cos",    "cosh",    "erf",
        "erfc",  "exp",  "expm1",      "lgamma", "log",     "log10",
        "log1p", "log2", "reciprocal", "rsqrt",  "sigmoid", "sin",
        "sinh",  "sqrt", "tan",        "tanh"}},
      {foreach<Default>,
       into<foreach<Default>>,
       unary,
       {"ceil", "floor", "frac", "round", "sign", "trunc"}},
      {notBool<foreach<Default>>,
       into<notBool<foreach<Default>>>,
       unary,
       {"neg"}},
      {foreach<ComplexToFloat>, into<foreach<ComplexToFloat>>, unary, {"abs"}},
      {foreachClone, into<foreachClone>, unary, {"clone", "zero"}},
      {foreachCopy, into<foreachCopy>, unary, {"copy"}},
      {foreachMm, nullptr, unary, {"mm"}},
      {foreachReduce<true>, nullptr, unary, {"max"}},
      {foreachReduce<false>, nullptr, {"Scalar"}, {"norm", "powsum"}},
      {foreach<Default>, into<foreach<Default>>, arithmetic, {"add", "mul"}},
      {notBool<foreach<Default>>,
       into<notBool<foreach<Default>>>,
       arithmetic,
       {"sub"}},
      {foreach<IntToFloat>, into<foreach<IntToFloat>>, arithmetic, {"div"}},
      {foreach<Default>,
       into<foreach<Default>>,
       binary,
       {"clamp_max", "clamp_min", "maximum", "minimum", "pow"}},
      {foreach<Default>, nullptr, {"ScalarAndTensor"}, {"pow"}},
      {foreach<Default, Typed::OneDType>,
       into<foreach<Default, Typed::OneDType>>,
       binary,
       {"lerp"}},
      {weighted, into<weighted>, {"Scalar", "ScalarList"}, {"addcmul"}},
      {notIntegral<weighted>,
       into<notIntegral<weighted>>,
       {"Scalar", "ScalarList"},
       {"addcdiv"}},
      {foreachFactors, into<foreachFactors>, {"Tensor"}, {"addcmul"}},
      {notIntegral<foreachFactors>,
       into<notIntegral<foreachFactors>>,
       {"Tensor"},
       {"addcdiv"}},
  };
}

/// Keeps the texts that the rows refer to.
static std::vector<FakeRuleRow> expand() {
  std::vector<FakeRuleRow> rows;
  static std::vector<std::unique_ptr<std::string>> texts;
  auto add = [&](const Twine &name, FakeRule rule) {
    texts.push_back(std::make_unique<std::string>(name.str()));
    rows.push_back({*texts.back(), rule, DevicePolicy::First});
  };
  for (const Group &group : groups())
    for (StringRef name : group.names)
      for (StringRef overload : group.overloads) {
        add("_foreach_" + name + "." + overload, group.rule);
        if (group.into)
          add("_foreach_" + name + "_." + overload, group.into);
      }
  return rows;
}

ArrayRef<FakeRuleRow> foreachRules() {
  static const std::vector<FakeRuleRow> rows = expand();
  return rows;
}

} // namespace ft
