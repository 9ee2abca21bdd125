//===- ConstantFold.cpp - Elements of tiny tensors -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/ConstantFold.h"

#include "dialects/ft/CustomOps.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace llvm;

namespace ft {

namespace {
using Fold = ConstantPtr (*)(FakeCall &, const TensorMeta &result);

struct FoldRow {
  StringRef name;
  Fold fold;
};

/// One element, of whatever dtype.
struct Number {
  bool isReal = false;
  int64_t integer = 0;
  double real = 0;
  double asReal() const { return isReal ? real : static_cast<double>(integer); }
};

class Builder {
public:
  explicit Builder(DType dtype) { value->dtype = dtype; }
  void add(Number n) {
    if (value->isReal())
      value->reals.push_back(rounded(n.asReal()));
    else if (value->dtype == DType::Bool)
      value->integers.push_back(n.isReal ? n.real != 0 : n.integer != 0);
    else if (n.isReal && !(std::fabs(n.real) < 9e18))
      overflow = true;
    else
      value->integers.push_back(
          wrapped(n.isReal ? static_cast<int64_t>(n.real) : n.integer));
  }
  ConstantPtr finish() { return overflow ? nullptr : value; }

private:
  double rounded(double v) const {
    return value->dtype == DType::F64 ? v : static_cast<float>(v);
  }
  int64_t wrapped(int64_t v) const {
    switch (value->dtype) {
    case DType::I32:
      return static_cast<int32_t>(v);
    case DType::I16:
      return static_cast<int16_t>(v);
    case DType::I8:
      return static_cast<int8_t>(v);
    case DType::U8:
      return static_cast<uint8_t>(v);
    default:
      return v;
    }
  }
  std::shared_ptr<ConstantValue> value = std::make_shared<ConstantValue>();
  bool overflow = false;
};
} // namespace

static Number at(const ConstantValue &v, size_t i) {
  return v.isReal() ? Number{true, 0, v.reals[i]}
                    : Number{false, v.integers[i], 0};
}

/// Nothing for a tensor, a symbol, or a number of the run.
static std::optional<Number> literal(const Arg &arg) {
  if (!arg.known)
    return std::nullopt;
  if (arg.kind == Arg::Int && arg.dim.isStatic())
    return Number{false, arg.dim.value(), 0};
  if (arg.kind == Arg::Bool)
    return Number{false, arg.boolean, 0};
  if (arg.kind == Arg::Float)
    return Number{true, 0, arg.real};
  return std::nullopt;
}

/// Half precision is left out: its rounding is not worth having here.
static bool carriesValues(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F64 ||
         (isIntegral(dtype) && dtype != DType::U64);
}

static std::optional<int64_t> smallCount(const TensorMeta &t) {
  if (!carriesValues(t.dtype))
    return std::nullopt;
  Dim n = t.numel();
  if (!n.isStatic() || n.value() < 0 ||
      n.value() > ConstantValue::kMostElements)
    return std::nullopt;
  return n.value();
}

//===----------------------------------------------------------------------===//
// Made of numbers
//===----------------------------------------------------------------------===//

static ConstantPtr filled(const TensorMeta &result, Number n) {
  Builder out(result.dtype);
  for (int64_t i = 0, count = *smallCount(result); i < count; ++i)
    out.add(n);
  return out.finish();
}

template <int Value>
static ConstantPtr fill(FakeCall &, const TensorMeta &result) {
  return filled(result, {false, Value, 0});
}

template <unsigned Arg>
static ConstantPtr fillWith(FakeCall &c, const TensorMeta &result) {
  std::optional<Number> n = literal(c.arg(Arg));
  return n ? filled(result, *n) : nullptr;
}

/// `Start` and `Step`: their positions, -1 for 0 and 1.
template <int Start, int Step>
static ConstantPtr arange(FakeCall &c, const TensorMeta &result) {
  std::optional<Number> start = Number(), step = Number{false, 1, 0};
  if (Start >= 0)
    start = literal(c.arg(Start));
  if (Step >= 0)
    step = literal(c.arg(Step));
  if (!start || !step)
    return nullptr;
  Builder out(result.dtype);
  for (int64_t i = 0, count = *smallCount(result); i < count; ++i)
    if (start->isReal || step->isReal)
      out.add({true, 0, start->asReal() + double(i) * step->asReal()});
    else
      out.add({false, start->integer + i * step->integer, 0});
  return out.finish();
}

//===----------------------------------------------------------------------===//
// Made of constants
//===----------------------------------------------------------------------===//

/// The elements of argument 0 in their order, in the result's dtype.
static ConstantPtr same(FakeCall &c, const TensorMeta &result) {
  const ConstantValue *value = c.constant(0);
  if (!value || static_cast<int64_t>(value->size()) != *smallCount(result))
    return nullptr;
  Builder out(result.dtype);
  for (size_t i = 0; i < value->size(); ++i)
    out.add(at(*value, i));
  return out.finish();
}

/// The row-major number, in a tensor of `sizes`, of the element that stands at
/// row-major place `flat` of the tensor of `whole` that it broadcasts to.
static int64_t broadcastIndex(int64_t flat, ArrayRef<Dim> whole,
                              ArrayRef<Dim> sizes) {
  int64_t index = 0, stride = 1;
  size_t shift = whole.size() - sizes.size();
  for (size_t d = whole.size(); d-- > shift;) {
    int64_t place = flat % whole[d].value();
    flat /= whole[d].value();
    int64_t size = sizes[d - shift].value();
    index += (size == 1 ? 0 : place) * stride;
    stride *= size;
  }
  return index;
}

using Operation = std::optional<Number> (*)(Number, Number);

template <Operation Compute, bool HasAlpha = false>
static ConstantPtr binary(FakeCall &c, const TensorMeta &result) {
  if (HasAlpha && !(c.arg(2).kind == Arg::Int && c.arg(2).dim.is(1)))
    return nullptr;
  const ConstantValue *values[2] = {c.constant(0), c.constant(1)};
  std::optional<Number> numbers[2] = {literal(c.arg(0)), literal(c.arg(1))};
  Builder out(result.dtype);
  for (int64_t i = 0, count = *smallCount(result); i < count; ++i) {
    Number sides[2];
    for (unsigned s = 0; s < 2; ++s) {
      if (values[s])
        sides[s] =
            at(*values[s], broadcastIndex(i, result.sizes, c.tensor(s).sizes));
      else if (numbers[s])
        sides[s] = *numbers[s];
      else
        return nullptr;
    }
    std::optional<Number> n = Compute(sides[0], sides[1]);
    if (!n)
      return nullptr;
    out.add(*n);
  }
  return out.finish();
}

template <typename Integers, typename Reals>
static std::optional<Number> apply(Number a, Number b, Integers integers,
                                   Reals reals) {
  if (a.isReal || b.isReal)
    return Number{true, 0, reals(a.asReal(), b.asReal())};
  return Number{false, integers(a.integer, b.integer), 0};
}

static int64_t wrap(uint64_t v) { return static_cast<int64_t>(v); }

static std::optional<Number> sumOf(Number a, Number b) {
  return apply(
      a, b,
      [](int64_t x, int64_t y) { return wrap(uint64_t(x) + uint64_t(y)); },
      std::plus<double>());
}
static std::optional<Number> difference(Number a, Number b) {
  return apply(
      a, b,
      [](int64_t x, int64_t y) { return wrap(uint64_t(x) - uint64_t(y)); },
      std::minus<double>());
}
static std::optional<Number> productOf(Number a, Number b) {
  return apply(
      a, b,
      [](int64_t x, int64_t y) { return wrap(uint64_t(x) * uint64_t(y)); },
      std::multiplies<double>());
}
static std::optional<Number> quotient(Number a, Number b) {
  return Number{true, 0, a.asReal() / b.asReal()};
}
static std::optional<Number> floorQuotient(Number a, Number b) {
  if (a.isReal || b.isReal)
    return Number{true, 0, std::floor(a.asReal() / b.asReal())};
  if (b.integer == 0)
    return std::nullopt;
  return Number{false, floorDiv(Dim(a.integer), Dim(b.integer)).value(), 0};
}
static std::optional<Number> smaller(Number a, Number b) {
  return apply(
      a, b, [](int64_t x, int64_t y) { return std::min(x, y); },
      [](double x, double y) { return std::fmin(x, y); });
}
static std::optional<Number> larger(Number a, Number b) {
  return apply(
      a, b, [](int64_t x, int64_t y) { return std::max(x, y); },
      [](double x, double y) { return std::fmax(x, y); });
}

/// All elements to one.
template <Operation Compute, int Start>
static ConstantPtr reduce(FakeCall &c, const TensorMeta &result) {
  const ConstantValue *value = c.constant(0);
  if (!value || !result.sizes.empty())
    return nullptr;
  Number total = {false, Start, 0};
  for (size_t i = 0; i < value->size(); ++i) {
    std::optional<Number> next = Compute(total, at(*value, i));
    if (!next)
      return nullptr;
    total = *next;
  }
  Builder out(result.dtype);
  out.add(total);
  return out.finish();
}

/// Along the outermost dim the elements of the parts just follow each other;
/// other dims are left out.
template <bool NewDim>
static ConstantPtr join(FakeCall &c, const TensorMeta &result) {
  if (!c.dim(1).is(0) && !(c.dim(1).is(-1) && result.sizes.size() == 1))
    return nullptr;
  Builder out(result.dtype);
  int64_t count = 0;
  for (const Arg &item : c.arg(0).list) {
    const ConstantValue *value =
        item.kind == Arg::Tensor ? c.constantOperand(item.operand) : nullptr;
    if (!value)
      return nullptr;
    count += static_cast<int64_t>(value->size());
    for (size_t i = 0; i < value->size(); ++i)
      out.add(at(*value, i));
  }
  return count == *smallCount(result) ? out.finish() : nullptr;
}

/// A view whose elements are found by its strides, from one whose elements lie
/// row-major in memory: select, slice, transpose, expand, unbind.
static ConstantPtr viewed(FakeCall &c, const TensorMeta &result) {
  const ConstantValue *value = c.constant(0);
  const TensorMeta &self = c.tensor(0);
  if (!value || !result.isStatic() || !self.isStatic() || !isContiguous(self))
    return nullptr;
  int64_t start = result.offset.value() - self.offset.value();
  Builder out(result.dtype);
  for (int64_t i = 0, count = *smallCount(result); i < count; ++i) {
    int64_t flat = i, place = start;
    for (size_t d = result.sizes.size(); d-- > 0;) {
      place += flat % result.sizes[d].value() * result.strides[d].value();
      flat /= result.sizes[d].value();
    }
    if (place < 0 || place >= static_cast<int64_t>(value->size()))
      return nullptr;
    out.add(at(*value, place));
  }
  return out.finish();
}

static const FoldRow kRows[] = {
    {"_to_copy.default", same},
    {"_unsafe_view.default", same},
    {"add.Scalar", binary<sumOf, true>},
    {"add.Tensor", binary<sumOf, true>},
    {"alias.default", same},
    {"arange.default", arange<-1, -1>},
    {"arange.start", arange<0, -1>},
    {"arange.start_step", arange<0, 2>},
    {"cat.default", join<false>},
    {"clone.default", same},
    {"contiguous.default", same},
    {"detach.default", same},
    {"detach_.default", same},
    {"div.Scalar", binary<quotient>},
    {"div.Tensor", binary<quotient>},
    {"expand.default", viewed},
    {"flatten.using_ints", same},
    {"floor_divide.Scalar", binary<floorQuotient>},
    {"floor_divide.default", binary<floorQuotient>},
    {"full.default", fillWith<1>},
    {"full_like.default", fillWith<1>},
    {"lift.default", same},
    {"lift_fresh.default", same},
    {"lift_fresh_copy.default", same},
    {"maximum.default", binary<larger>},
    {"minimum.default", binary<smaller>},
    {"mul.Scalar", binary<productOf>},
    {"mul.Tensor", binary<productOf>},
    {"new_full.default", fillWith<2>},
    {"new_ones.default", fill<1>},
    {"new_zeros.default", fill<0>},
    {"ones.default", fill<1>},
    {"ones_like.default", fill<1>},
    {"permute.default", viewed},
    {"prod.default", reduce<productOf, 1>},
    {"reshape.default", same},
    {"scalar_tensor.default", fillWith<0>},
    {"select.int", viewed},
    {"slice.Tensor", viewed},
    {"split.Tensor", viewed},
    {"split_with_sizes.default", viewed},
    {"squeeze.default", same},
    {"squeeze.dim", same},
    {"squeeze.dims", same},
    {"stack.default", join<true>},
    {"sub.Scalar", binary<difference, true>},
    {"sub.Tensor", binary<difference, true>},
    {"sum.default", reduce<sumOf, 0>},
    {"t.default", viewed},
    {"to.device", same},
    {"to.dtype", same},
    {"to.dtype_layout", same},
    {"transpose.int", viewed},
    {"unbind.int", viewed},
    {"unsqueeze.default", same},
    {"view.default", same},
    {"zeros.default", fill<0>},
    {"zeros_like.default", fill<0>},
};

static std::vector<Fold> tableOfFolds() {
  const SchemaTable &schemas = SchemaTable::get();
  std::vector<Fold> table(schemas.all().size(), nullptr);
  for (const FoldRow &row : kRows)
    if (const Schema *schema = schemas.find(row.name))
      table[schema->index] = row.fold;
  return table;
}

void foldConstants(FakeCall &call) {
  if (customOp(call.schema()))
    return;
  static const std::vector<Fold> folds = tableOfFolds();
  Fold fold = folds[call.schema().index];
  if (!fold)
    return;
  for (FakeResult &result : call.results) {
    if (result.kind != FakeResult::Tensor || !smallCount(result.meta))
      continue;
    result.constant = fold(call, result.meta);
    if (result.constant)
      call.bypass = "constant";
  }
}

} // namespace ft
