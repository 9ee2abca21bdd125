//===- Sym.cpp - Numbers that programs compute with ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of tensors and Python's operators on them, as exported graphs use them.

#include "compiler/fake/rules/Families.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace llvm;

namespace ft {

static LogicalResult truth(FakeCall &c, bool value) { return c.truth(value); }

//===----------------------------------------------------------------------===//
// Tensors → numbers
//===----------------------------------------------------------------------===//

template <Dims TensorMeta::*List>
static LogicalResult entry(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.sizes.empty())
    return c.fail(FakeError::Dim, "the tensor has no dims");
  FailureOr<int64_t> dim = c.wrapDim(1, self.rank());
  return failed(dim) ? failure() : c.integer((self.*List)[*dim]);
}

template <Dims TensorMeta::*List>
static LogicalResult entries(FakeCall &c) {
  for (Dim d : c.tensor(0).*List)
    (void)c.integer(d);
  return success();
}

static LogicalResult numel(FakeCall &c) {
  return c.integer(c.tensor(0).numel());
}
static LogicalResult offset(FakeCall &c) {
  return c.integer(c.tensor(0).offset);
}
static LogicalResult rank(FakeCall &c) { return c.integer(c.tensor(0).rank()); }
static LogicalResult contiguous(FakeCall &c) {
  return truth(c, isContiguous(c.tensor(0)));
}
static LogicalResult complex(FakeCall &c) {
  return truth(c, isComplex(c.tensor(0).dtype));
}
static LogicalResult floating(FakeCall &c) {
  return truth(c, isFloating(c.tensor(0).dtype));
}
static LogicalResult sameSize(FakeCall &c) {
  return truth(c, c.sameSizes(c.tensor(0).sizes, c.tensor(1).sizes));
}

static LogicalResult item(FakeCall &c) {
  // PyTorch's shape function of the inner form does not look.
  bool looks = c.schema().base == "item" || c.device.kind == Device::Cpu;
  if (looks && !c.mustEq(c.tensor(0).numel(), 1))
    return c.fail(FakeError::Other, "a tensor of " + c.tensor(0).numel().str() +
                                        " elements is no number");
  DType dtype = c.tensor(0).dtype;
  if (const ConstantValue *known = c.constant(0); known && known->size() == 1) {
    c.bypass = "constant";
    if (known->isReal())
      return c.scalar(FakeResult::Float);
    return dtype == DType::Bool ? c.truth(known->integers[0] != 0)
                                : c.integer(known->integers[0]);
  }
  if (isComplex(dtype))
    return c.fail(FakeError::Unsupported,
                  "the value of " + c.schema().base +
                      " is complex; such numbers have no symbols");
  if (failed(c.needsData("the value of " + c.schema().base)))
    return failure();
  if (isFloating(dtype))
    return c.scalar(FakeResult::Float, c.scope->unbackedFloat(c.schema().base));
  // A bool is the question whether a number is 1.
  bool isBool = dtype == DType::Bool;
  FailureOr<Dim> number =
      c.unbackedSize(isBool ? 0 : Interval::kMin,
                     isBool ? std::optional<Dim>(1) : std::nullopt, 0);
  if (failed(number))
    return failure();
  if (!isBool)
    return c.integer(*number);
  SymContext &symbols = c.scope->symbols();
  return c.truth(symbols.eq(number->symbolic(), symbols.constant(1)));
}

//===----------------------------------------------------------------------===//
// Python's operators
//===----------------------------------------------------------------------===//

/// Numbers that are not integers are known at run time only.
static bool integers(FakeCall &c) {
  for (const Arg &arg : c.arguments())
    if (arg.kind != Arg::Int && arg.kind != Arg::Bool)
      return false;
  return true;
}

static Dim number(FakeCall &c, unsigned i) {
  const Arg &arg = c.arg(i);
  return arg.kind == Arg::Bool ? Dim(arg.boolean) : arg.dim;
}

static Dim sumOf(Dim a, Dim b) { return a + b; }
static Dim difference(Dim a, Dim b) { return a - b; }
static Dim productOf(Dim a, Dim b) { return a * b; }

template <Dim (*Operation)(Dim, Dim)>
static LogicalResult arithmetic(FakeCall &c) {
  if (!integers(c))
    return c.scalar(FakeResult::Float);
  return c.integer(Operation(number(c, 0), number(c, 1)));
}

template <Dim (*Operation)(Dim, Dim)>
static LogicalResult division(FakeCall &c) {
  if (!integers(c))
    return c.scalar(FakeResult::Float);
  if (number(c, 1).is(0))
    return c.fail(FakeError::Other, "division by zero");
  return c.integer(Operation(number(c, 0), number(c, 1)));
}

static LogicalResult negate(FakeCall &c) {
  if (!integers(c))
    return c.scalar(FakeResult::Float);
  return c.integer(Dim(0) - number(c, 0));
}

static LogicalResult identity(FakeCall &c) {
  if (!integers(c))
    return c.scalar(FakeResult::Float);
  return c.integer(number(c, 0));
}

/// What is left open is no error: it matters only to whoever goes by it.
template <SymExpr (SymContext::*Relation)(SymExpr, SymExpr)>
static LogicalResult compare(FakeCall &c) {
  std::optional<Dim> a = c.truthOf(0), b = c.truthOf(1);
  if (!a || !b)
    return c.scalar(FakeResult::Bool);
  if (a->isStatic() && b->isStatic()) {
    static SymContext plain;
    return c.truth((plain.*Relation)(plain.constant(a->value()),
                                     plain.constant(b->value())));
  }
  // Truth values are only ever compared with numbers by mistake.
  if (!a->isStatic() && a->symbolic().isPredicate())
    return c.scalar(FakeResult::Bool);
  SymContext &symbols = (a->isStatic() ? *b : *a).symbolic().context();
  return c.truth((symbols.*Relation)(a->toExpr(symbols), b->toExpr(symbols)));
}

/// The predicate that a truth value is.
static SymExpr predicateOf(Dim truth, SymContext &symbols) {
  return truth.isStatic() ? symbols.boolean(!truth.is(0))
         : truth.symbolic().isPredicate()
             ? truth.symbolic()
             : symbols.ne(truth.symbolic(), symbols.constant(0));
}

/// and, or: one side may settle it whatever the other is.
template <bool Settles>
static LogicalResult connect(FakeCall &c) {
  std::optional<Dim> a = c.truthOf(0), b = c.truthOf(1);
  auto settles = [](std::optional<Dim> side) {
    return side && side->isStatic() && side->is(0) != Settles;
  };
  if (settles(a) || settles(b))
    return c.truth(Settles);
  if (!a || !b)
    return c.scalar(FakeResult::Bool);
  if (a->isStatic() && b->isStatic())
    return c.truth(!Settles);
  SymContext &symbols = (a->isStatic() ? *b : *a).symbolic().context();
  SymExpr sides[] = {predicateOf(*a, symbols), predicateOf(*b, symbols)};
  return c.truth(Settles ? symbols.logicalOr(sides)
                         : symbols.logicalAnd(sides));
}

static LogicalResult no(FakeCall &c) {
  std::optional<Dim> a = c.truthOf(0);
  if (!a)
    return c.scalar(FakeResult::Bool);
  if (a->isStatic())
    return c.truth(a->is(0));
  SymContext &symbols = a->symbolic().context();
  return c.truth(symbols.logicalNot(predicateOf(*a, symbols)));
}

static LogicalResult sum(FakeCall &c) {
  Dim total = 0;
  for (Dim d : c.dims(0))
    total = total + d;
  return c.integer(total);
}

static LogicalResult choose(FakeCall &c) {
  std::optional<Dim> which = c.truthOf(0);
  const Arg &yes = c.arg(1), &otherwise = c.arg(2);
  if (yes.kind != Arg::Int || otherwise.kind != Arg::Int)
    return c.scalar(FakeResult::Float);
  if (which && which->isStatic())
    return c.integer(which->is(0) ? otherwise.dim : yes.dim);
  if (yes.dim == otherwise.dim)
    return c.integer(yes.dim);
  FailureOr<Dim> either = c.unbackedSize(Interval::kMin, std::nullopt);
  return failed(either) ? failure() : c.integer(*either);
}

/// A float made an integer: of an unknown one, an unknown integer.
static LogicalResult toInteger(FakeCall &c) {
  if (integers(c))
    return c.integer(number(c, 0));
  if (c.arg(0).kind == Arg::Float && c.arg(0).known)
    return c.integer(static_cast<int64_t>(c.arg(0).real));
  FailureOr<Dim> unknown = c.unbackedSize(Interval::kMin, std::nullopt);
  return failed(unknown) ? failure() : c.integer(*unknown);
}

/// math.ceil, math.floor, math.trunc, round: of a float that is not known, an
/// unknown integer.
template <double (*Round)(double)>
static LogicalResult rounded(FakeCall &c) {
  const Arg &x = c.arg(0);
  if (x.kind != Arg::Float || !x.known)
    return toInteger(c);
  double value = Round(x.real);
  if (!(std::fabs(value) < 0x1p63))
    return c.fail(FakeError::Other, "the number " + std::to_string(value) +
                                        " does not fit 64 bits");
  return c.integer(static_cast<int64_t>(value));
}

/// a ** b, of integers for small exponents: others, and negative ones, are
/// known at run time only.
static LogicalResult power(FakeCall &c) {
  if (!integers(c) || !number(c, 1).isStatic() || number(c, 1).value() < 0)
    return c.scalar(FakeResult::Float);
  int64_t exponent = number(c, 1).value();
  Dim base = number(c, 0);
  if (exponent > 64)
    return base.is(0) || base.is(1)
               ? c.integer(base)
               : c.fail(FakeError::Other, "the power " + base.str() + " ** " +
                                              Twine(exponent) +
                                              " does not fit 64 bits");
  Dim result = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    int64_t checked = 0;
    if (base.isStatic() && result.isStatic() &&
        MulOverflow(result.value(), base.value(), checked))
      return c.fail(FakeError::Other, "the power " + base.str() + " ** " +
                                          Twine(exponent) +
                                          " does not fit 64 bits");
    result = result * base;
  }
  return c.integer(result);
}

/// a << b and a >> b: products and quotients with powers of two.
template <bool Left>
static LogicalResult shift(FakeCall &c) {
  Dim a = number(c, 0), by = number(c, 1);
  if (by.isStatic() && by.value() < 0)
    return c.fail(FakeError::Other, "a shift by " + by.str() + " bits");
  if (!by.isStatic() || by.value() > 62) {
    FailureOr<Dim> unknown = c.unbackedSize(Interval::kMin, std::nullopt);
    return failed(unknown) ? failure() : c.integer(*unknown);
  }
  Dim factor = int64_t(1) << by.value();
  int64_t checked = 0;
  if (Left && a.isStatic() && MulOverflow(a.value(), factor.value(), checked))
    return c.fail(FakeError::Other,
                  a.str() + " << " + by.str() + " does not fit 64 bits");
  return c.integer(Left ? a * factor : floorDiv(a, factor));
}

static LogicalResult someFloat(FakeCall &c) {
  return c.scalar(FakeResult::Float);
}

ArrayRef<FakeRuleRow> symRules() {
  static const FakeRuleRow rows[] = {
      {"_local_scalar_dense.default", item},
      {"builtins.round", rounded<std::nearbyint>},
      {"dim.default", rank},
      {"is_complex.default", complex},
      {"is_floating_point.default", floating},
      {"is_same_size.default", sameSize},
      {"item.default", item},
      {"math.ceil", rounded<std::ceil>},
      {"math.floor", rounded<std::floor>},
      {"math.trunc", rounded<std::trunc>},
      {"numel.default", numel},
      {"operator.add", arithmetic<sumOf>},
      {"operator.and_", connect<false>},
      {"operator.eq", compare<&SymContext::eq>},
      {"operator.floordiv", division<floorDiv>},
      {"operator.ge", compare<&SymContext::ge>},
      {"operator.gt", compare<&SymContext::gt>},
      {"operator.le", compare<&SymContext::le>},
      {"operator.lshift", shift<true>},
      {"operator.lt", compare<&SymContext::lt>},
      {"operator.mod", division<mod>},
      {"operator.mul", arithmetic<productOf>},
      {"operator.ne", compare<&SymContext::ne>},
      {"operator.neg", negate},
      {"operator.or_", connect<true>},
      {"operator.pos", identity},
      {"operator.pow", power},
      {"operator.rshift", shift<false>},
      {"operator.sub", arithmetic<difference>},
      {"operator.truediv", someFloat},
      {"size.default", entries<&TensorMeta::sizes>},
      {"size.int", entry<&TensorMeta::sizes>},
      {"stride.default", entries<&TensorMeta::strides>},
      {"stride.int", entry<&TensorMeta::strides>},
      {"sym_is_contiguous.default", contiguous},
      {"sym_numel.default", numel},
      {"sym_size.default", entries<&TensorMeta::sizes>},
      {"sym_size.int", entry<&TensorMeta::sizes>},
      {"sym_storage_offset.default", offset},
      {"sym_stride.default", entries<&TensorMeta::strides>},
      {"sym_stride.int", entry<&TensorMeta::strides>},
      {"torch.sym_float", someFloat},
      {"torch.sym_int", toInteger},
      {"torch.sym_ite", choose},
      {"torch.sym_max", arithmetic<maxDim>},
      {"torch.sym_min", arithmetic<minDim>},
      {"torch.sym_not", no},
      {"torch.sym_sqrt", someFloat},
      {"torch.sym_sum", sum},
      {"torch._sym_sqrt", someFloat},
  };
  return rows;
}

} // namespace ft
