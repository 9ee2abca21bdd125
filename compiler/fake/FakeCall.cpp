//===- FakeCall.cpp - One ATen call, seen by its fake rule -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/FakeCall.h"

#include "compiler/shape/Broadcast.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace llvm;

namespace ft {

SmallVector<const TensorMeta *, 8> FakeCall::tensors(unsigned i) const {
  SmallVector<const TensorMeta *, 8> list;
  for (const Arg &item : args[i].list)
    list.push_back(item.kind == Arg::Tensor ? &operands[item.operand]
                                            : nullptr);
  return list;
}

std::string FakeCall::nameOf(const TensorMeta *tensor) const {
  for (auto [arg, schema] : zip(args, schemaRef.args)) {
    if (arg.kind == Arg::Tensor && &operands[arg.operand] == tensor)
      return ("'" + schema.name + "'").str();
    for (auto [i, item] : enumerate(arg.list))
      if (item.kind == Arg::Tensor && &operands[item.operand] == tensor)
        return ("'" + schema.name + "[" + Twine(i) + "]'").str();
  }
  return "an operand";
}

std::string FakeCall::show(const TensorMeta &tensor) const {
  std::string name = nameOf(&tensor);
  return name.front() == '\'' ? name + " (" + tensor.str() + ")" : tensor.str();
}

std::string FakeCall::sizeAt(const TensorMeta &tensor, int64_t dim) const {
  if (dim < 0)
    dim += tensor.rank();
  return ("dim " + Twine(dim) + " of " + nameOf(&tensor) + " has size " +
          tensor.sizes[dim].str())
      .str();
}

std::string unlike(ArrayRef<Dim> a, ArrayRef<Dim> b) {
  if (a.size() != b.size())
    return (": " + Twine(a.size()) + " and " + Twine(b.size()) + " dims").str();
  for (auto [d, x, y] : enumerate(a, b))
    if (!x.identical(y))
      return (": " + x.str() + " and " + y.str() + " at dim " + Twine(d)).str();
  return "";
}

static Dim dimOf(const Arg &arg) {
  if (arg.kind == Arg::Bool)
    return arg.boolean ? 1 : 0;
  return arg.dim;
}

Dims FakeCall::dims(unsigned i) const {
  Dims list;
  // One number stands for as many as the schema asks for.
  if (args[i].kind == Arg::Int)
    list.assign(std::max(1, schemaRef.args[i].type.fixedLength), args[i].dim);
  for (const Arg &item : args[i].list)
    list.push_back(dimOf(item));
  return list;
}

double FakeCall::number(unsigned i) const {
  const Arg &arg = args[i];
  if (arg.kind == Arg::Int)
    return static_cast<double>(arg.dim.isStatic() ? arg.dim.value() : 0);
  if (arg.kind == Arg::Bool)
    return arg.boolean ? 1 : 0;
  return arg.real;
}

/// Facts are only added while a walk goes on, but for those of a region, which
/// end with it; a cache of the walk must not keep what follows from them.
static void noteFacts(FakeCall &call) {
  if (call.scope->env().inRegion())
    call.bypass = "facts of a region";
}

std::optional<bool> FakeCall::decide(SymExpr (SymContext::*relation)(SymExpr,
                                                                     SymExpr),
                                     Dim a, Dim b) {
  SymContext &symbols = scope->symbols();
  bool guarded = false;
  std::optional<bool> known =
      scope->decide((symbols.*relation)(a.toExpr(symbols), b.toExpr(symbols)),
                    schemaRef.base, guarded);
  if (guarded)
    bypass = "a guard";
  else
    noteFacts(*this);
  return known;
}

std::optional<bool> FakeCall::known(SymExpr (SymContext::*relation)(SymExpr,
                                                                    SymExpr),
                                    Dim a, Dim b) {
  if (!scope)
    return std::nullopt;
  SymContext &symbols = scope->symbols();
  noteFacts(*this);
  return scope->answer(
      (symbols.*relation)(a.toExpr(symbols), b.toExpr(symbols)));
}

bool FakeCall::surelyEq(Dim a, Dim b) {
  if (a.identical(b) || (a.isStatic() && b.isStatic()))
    return a.identical(b);
  return known(&SymContext::eq, a, b).value_or(false);
}

bool FakeCall::surelyLt(Dim a, Dim b) {
  if (a.isStatic() && b.isStatic())
    return a.value() < b.value();
  return !a.identical(b) && known(&SymContext::lt, a, b).value_or(false);
}

bool FakeCall::demands(SymExpr predicate) {
  if (!scope || !predicate)
    return true;
  if (std::optional<bool> answer = scope->answer(predicate)) {
    noteFacts(*this);
    return *answer;
  }
  bool guarded = false;
  bool taken = scope->choose({predicate}, schemaRef.base, guarded).has_value();
  bypass = guarded ? StringRef("a guard") : bypass;
  return taken || scope->env().hint(predicate).value_or(1) != 0;
}

bool FakeCall::isEmpty(Dim d) {
  if (d.isStatic() || !scope)
    return d.is(0);
  SymContext &symbols = scope->symbols();
  return !demands(symbols.ge(d.symbolic(), symbols.constant(1)));
}

bool FakeCall::exceeds(Dim a, Dim b) {
  if (a.isStatic() && b.isStatic())
    return a.value() > b.value();
  if (!scope)
    return false;
  SymContext &symbols = scope->symbols();
  return !demands(symbols.le(a.toExpr(symbols), b.toExpr(symbols)));
}

std::optional<int64_t> FakeCall::example(Dim d) const {
  if (d.isStatic())
    return d.value();
  return scope ? scope->env().hint(d.symbolic()) : std::nullopt;
}

/// Of two expressions of one size the one that says it with less.
static Dim simpler(Dim a, Dim b) {
  if (a.isStatic() || b.isStatic())
    return a.isStatic() ? a : b;
  return b.symbolic().size() < a.symbolic().size() ? b : a;
}

bool FakeCall::isPositive(Dim size) {
  if (size.isStatic())
    return size.value() > 0;
  SymContext &symbols = scope->symbols();
  return scope->answer(symbols.ge(size.symbolic(), symbols.constant(1)))
      .value_or(false);
}

/// The size that two open sizes broadcast to: the other where one is 1.
std::optional<Dim> FakeCall::broadcastSize(Dim a, Dim b, bool mayStayOpen,
                                           bool &open) {
  if (!scope)
    return eq(a, b) ? std::optional(a) : std::nullopt;
  SymContext &symbols = scope->symbols();
  SymExpr x = a.toExpr(symbols), y = b.toExpr(symbols);
  SymExpr one = symbols.constant(1);
  bool guarded = false;
  std::optional<size_t> taken =
      scope->choose({symbols.eq(x, y), symbols.eq(y, one), symbols.eq(x, one)},
                    schemaRef.base, guarded, mayStayOpen ? 1 : SIZE_MAX);
  if (guarded)
    bypass = "a guard";
  if (taken == 3) {
    open = true;
    // One that is not 1 is the result's.
    for (auto [size, other] : {std::pair(x, a), {y, b}})
      if (scope->answer(symbols.ne(size, one)).value_or(false))
        return other;
    SymExpr both = ft::broadcastSize(x, y, isPositive(a) && isPositive(b));
    return both ? std::optional(Dim(both)) : std::nullopt;
  }
  if (taken)
    return *taken == 0 ? simpler(a, b) : *taken == 1 ? a : b;
  // A size that only the run knows is taken not to be 1, as PyTorch does; that
  // the two are equal is then for the run to check. One that cannot equal the
  // other must be 1: x[i, mask] with two indices and a mask of one element.
  if (symbols.hasUnbacked(x) || symbols.hasUnbacked(y)) {
    if (scope->require(symbols.eq(x, y), schemaRef.base)) {
      bypass = "fact";
      return simpler(a, b);
    }
    for (auto [size, other] : {std::pair(x, b), {y, a}})
      if (symbols.hasUnbacked(size) &&
          scope->require(symbols.eq(size, one), schemaRef.base)) {
        bypass = "fact";
        return other;
      }
  }
  return eq(a, b) ? std::optional(a) : std::nullopt;
}

bool FakeCall::eq(Dim a, Dim b) {
  if (a.identical(b))
    return true;
  if (a.isStatic() && b.isStatic())
    return false;
  if (scope) {
    if (std::optional<bool> known = decide(&SymContext::eq, a, b))
      return *known;
  }
  if (undecided.empty())
    undecided = a.str() + " == " + b.str();
  return false;
}

bool FakeCall::mustEq(Dim a, Dim b) {
  if (!scope || a.identical(b) || (a.isStatic() && b.isStatic()))
    return eq(a, b);
  SymContext &symbols = scope->symbols();
  SymExpr same = symbols.eq(a.toExpr(symbols), b.toExpr(symbols));
  bool guarded = false;
  // A trace has no place for a check; stage fake makes it when it walks again.
  if (!symbols.hasUnbacked(same) || scope->answer(same) ||
      (!scope->choose({same}, schemaRef.base, guarded) &&
       !scope->require(same, schemaRef.base)))
    return eq(a, b);
  bypass = guarded ? "a guard" : "fact";
  return true;
}

bool FakeCall::lt(Dim a, Dim b) {
  if (a.isStatic() && b.isStatic())
    return a.value() < b.value();
  if (a.identical(b))
    return false;
  if (scope) {
    if (std::optional<bool> known = decide(&SymContext::lt, a, b))
      return *known;
  }
  if (undecided.empty())
    undecided = a.str() + " < " + b.str();
  return false;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

FailureOr<int64_t> FakeCall::wrapIndex(Dim d, int64_t rank) {
  int64_t dims = std::max<int64_t>(rank, 1);
  if (!d.isStatic())
    return fail(FakeError::Dim,
                "a dim index must be a plain integer, not " + d.str());
  int64_t v = d.value();
  if (v < -dims || v >= dims)
    return fail(FakeError::Dim, "dim " + Twine(v) + " is out of range for " +
                                    Twine(rank) + " dims (expected " +
                                    Twine(-dims) + " to " + Twine(dims - 1) +
                                    ")");
  return v < 0 ? v + dims : v;
}

FailureOr<SmallVector<int64_t, 6>> FakeCall::wrapDims(unsigned i, int64_t rank,
                                                      bool emptyIsAll) {
  SmallVector<int64_t, 6> list;
  Dims given = isNone(i) ? Dims() : dims(i);
  if (given.empty() && emptyIsAll) {
    for (int64_t d = 0; d < rank; ++d)
      list.push_back(d);
    return list;
  }
  SmallBitVector seen(std::max<int64_t>(rank, 1));
  for (Dim d : given) {
    FailureOr<int64_t> index = wrapIndex(d, rank);
    if (failed(index))
      return failure();
    if (seen.test(*index))
      return fail(FakeError::Dim, "dim " + Twine(*index) +
                                      " appears twice in the list of dims");
    seen.set(*index);
    list.push_back(*index);
  }
  return list;
}

std::optional<unsigned> FakeCall::operandOf(const TensorMeta *tensor) const {
  if (tensor < operands.begin() || tensor >= operands.end())
    return std::nullopt;
  return static_cast<unsigned>(tensor - operands.begin());
}

FailureOr<Dims> FakeCall::broadcast(ArrayRef<const TensorMeta *> tensors,
                                    ArrayRef<const TensorMeta *> named,
                                    std::optional<size_t> behind) {
  Dims sizes;
  // Whether the tensors are operands, but for their last dims.
  ArrayRef<const TensorMeta *> given = behind ? named : tensors;
  bool mayStayOpen = spreads && scope && all_of(given, [&](auto *t) {
                       return operandOf(t).has_value();
                     });
  bool open = false;
  // The first operand that has a size other than 1 at that dim.
  auto giverOf = [&](size_t fromLast) -> size_t {
    for (auto [i, t] : enumerate(tensors))
      if (fromLast < t->sizes.size() &&
          !t->sizes[t->sizes.size() - 1 - fromLast].is(1))
        return i;
    return 0;
  };
  auto nameAt = [&](size_t i) {
    return nameOf(named.empty() ? tensors[i] : named[i]);
  };
  for (auto [i, t] : enumerate(tensors)) {
    size_t rank = t->sizes.size();
    if (rank > sizes.size())
      sizes.insert(sizes.begin(), rank - sizes.size(), Dim(1));
    size_t shift = sizes.size() - rank;
    for (size_t d = 0; d < rank; ++d) {
      Dim &have = sizes[shift + d];
      Dim next = t->sizes[d];
      if (have.identical(next) || next.is(1))
        continue;
      if (have.is(1)) {
        have = next;
        continue;
      }
      std::optional<Dim> common = broadcastSize(have, next, mayStayOpen, open);
      if (!common)
        return fail(FakeError::Shape,
                    "sizes " + have.str() + " of " +
                        nameAt(giverOf(rank - 1 - d)) + " and " + next.str() +
                        " of " + nameAt(i) + " do not broadcast at dim " +
                        Twine(shift + d) + " of " + Twine(sizes.size()));
      have = *common;
    }
  }
  if (!open)
    return sizes;
  bypass = "sizes of the run";
  for (auto [i, t] : enumerate(tensors)) {
    size_t shift = sizes.size() - t->sizes.size();
    for (auto [d, own] : enumerate(t->sizes))
      if (!own.is(1) && !surelyEq(own, sizes[shift + d]))
        scope->noteSpread(*operandOf(given[i]), d, sizes[shift + d]);
  }
  return sizes;
}

FakeCall::Fit FakeCall::fit(Dim from, Dim to, bool mayStayOpen) {
  if (from.identical(to))
    return Fit::Same;
  if (from.is(1))
    return Fit::Repeated;
  if (!scope || from.isStatic())
    return eq(from, to) ? Fit::Same : Fit::No;
  SymContext &symbols = scope->symbols();
  SymExpr x = from.symbolic();
  bool guarded = false;
  std::optional<size_t> taken = scope->choose(
      {symbols.eq(x, to.toExpr(symbols)), symbols.eq(x, symbols.constant(1))},
      schemaRef.base, guarded, mayStayOpen ? 1 : SIZE_MAX);
  if (guarded)
    bypass = "a guard";
  else
    noteFacts(*this);
  if (taken == 2)
    bypass = "sizes of the run";
  if (taken)
    return *taken == 0 ? Fit::Same : *taken == 1 ? Fit::Repeated : Fit::Either;
  return eq(from, to) ? Fit::Same : Fit::No;
}

Dim FakeCall::broadcastStride(Dim from, Dim stride) {
  return stride * broadcastStep(from, isPositive(from));
}

LogicalResult FakeCall::broadcastTo(ArrayRef<Dim> from, ArrayRef<Dim> to,
                                    const TensorMeta *named) {
  std::string name = named ? nameOf(named) : "a tensor";
  if (from.size() > to.size())
    return fail(FakeError::Shape, name + " has " + Twine(from.size()) +
                                      " dims, which do not broadcast to " +
                                      Twine(to.size()) + " dims");
  size_t shift = to.size() - from.size();
  std::optional<unsigned> operand;
  if (spreads && scope && named)
    operand = operandOf(named);
  for (size_t d = 0; d < from.size(); ++d) {
    Fit how = fit(from[d], to[shift + d], operand.has_value());
    if (how == Fit::No)
      return fail(FakeError::Shape,
                  "size " + from[d].str() + " of " + name + " at dim " +
                      Twine(d) + " does not broadcast to " +
                      to[shift + d].str() + " at dim " + Twine(shift + d));
    // `from` may be the last dims of it only.
    if (how == Fit::Either)
      scope->noteSpread(*operand, named->sizes.size() - from.size() + d,
                        to[shift + d]);
  }
  return success();
}

bool FakeCall::sameSizes(ArrayRef<Dim> a, ArrayRef<Dim> b) {
  if (a.size() != b.size())
    return false;
  for (auto [x, y] : zip(a, b))
    if (!eq(x, y))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult FakeCall::fresh(TensorMeta meta) {
  FakeResult &result = results.emplace_back();
  result.meta = std::move(meta);
  return success();
}

LogicalResult FakeCall::view(TensorMeta meta, unsigned argIndex) {
  FakeResult &result = results.emplace_back();
  result.meta = std::move(meta);
  result.alias = args[argIndex].operand;
  return success();
}

LogicalResult FakeCall::undefined() {
  results.emplace_back().kind = FakeResult::Undefined;
  return success();
}

LogicalResult FakeCall::integer(Dim value) {
  FakeResult &result = results.emplace_back();
  result.kind = FakeResult::Int;
  result.value = value;
  return success();
}

LogicalResult FakeCall::truth(bool value) {
  FakeResult &result = results.emplace_back();
  result.kind = FakeResult::Bool;
  result.value = value ? 1 : 0;
  return success();
}

LogicalResult FakeCall::scalar(FakeResult::Kind kind, SymExpr symbol) {
  FakeResult &result = results.emplace_back();
  result.kind = kind;
  if (symbol)
    result.value = Dim(symbol);
  return success();
}

LogicalResult FakeCall::truth(SymExpr predicate) {
  if (predicate && scope && !predicate.isTrue() && !predicate.isFalse()) {
    noteFacts(*this);
    if (std::optional<bool> known = scope->answer(predicate))
      return truth(*known);
  }
  if (predicate.isTrue() || predicate.isFalse())
    return truth(predicate.isTrue());
  return scalar(FakeResult::Bool, predicate);
}

std::optional<Dim> FakeCall::truthOf(unsigned i) const {
  const Arg &arg = args[i];
  if (arg.kind == Arg::Int)
    return arg.dim;
  if (arg.kind != Arg::Bool)
    return std::nullopt;
  if (arg.known)
    return Dim(arg.boolean);
  return arg.dim.isStatic() ? std::nullopt : std::optional(arg.dim);
}

//===----------------------------------------------------------------------===//
// Numbers that data decide
//===----------------------------------------------------------------------===//

LogicalResult FakeCall::needsData(const Twine &what) {
  bypass = "new symbol";
  if (scope && scope->allowsDataDependent())
    return success();
  return fail(FakeError::DataDependent, what + " depends on data");
}

FailureOr<Dim> FakeCall::unbackedSize(int64_t lower, std::optional<Dim> upper,
                                      std::optional<unsigned> memoOf) {
  if (failed(needsData("the size of " + schemaRef.base + "'s result")))
    return failure();
  uint64_t key = 0;
  if (memoOf && args[*memoOf].kind == Arg::Tensor)
    if (auto operand = static_cast<size_t>(args[*memoOf].operand);
        operand < operandKeys.size())
      key = operandKeys[operand];
  if (key)
    if (std::optional<Dim> known = scope->remembered(key, schemaRef.base))
      return *known;
  Dim made = scope->unbackedInteger(lower, upper, schemaRef.base);
  if (key)
    scope->remember(key, schemaRef.base, made);
  return made;
}

LogicalResult FakeCall::fail(FakeError why, const Twine &text) {
  category = why;
  message = text.str();
  results.clear();
  return failure();
}

} // namespace ft
