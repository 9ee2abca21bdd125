//===- RuleCall.cpp - Builds operations for a rule -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/RuleCall.h"

#include "compiler/fake/FakePropagate.h"
#include "compiler/fake/FakeScope.h"
#include "compiler/fake/OpCall.h"
#include "dialects/ft/ArgFit.h"
#include "dialects/ft/CustomOps.h"

#include <cmath>
#include <complex>

using namespace mlir;

namespace ft {

RuleCall::RuleCall(RuleBuilder &to, Operation *forward) : to(to), op(forward) {
  if (schemaOf(forward))
    call_ = AtenCall::decode(forward);
}

void RuleCall::fail(const Twine &why) {
  if (!hasFailed)
    emitError(op->getLoc())
        << "[FT0801] the derivative of "
        << (call_.schema ? shownName(schema())
                         : op->getName().getStringRef().str())
        << ": " << why;
  hasFailed = true;
}

//===----------------------------------------------------------------------===//
// The forward call
//===----------------------------------------------------------------------===//

/// `named`: integers that have an expression are that, not the operation that
/// made them, which backward could not do again (`item`).
static Term termOf(const AtenCall &call, const Arg &arg, bool named) {
  if (arg.operand >= 0) {
    Value value = call.operands[arg.operand];
    std::optional<Dim> number;
    if (named && arg.kind == Arg::Int)
      number = annotatedNumber(value);
    return number ? Term(*number) : Term(value);
  }
  if (arg.kind != Arg::List)
    return Term(arg);
  std::vector<Term> items;
  for (const Arg &item : arg.list)
    items.push_back(termOf(call, item, named));
  return Term(std::move(items));
}

Term RuleCall::arg(unsigned index) const {
  return termOf(call_, call_.args[index], /*named=*/!to.varied);
}

Term RuleCall::arg(StringRef name) {
  int index = schema().argIndex(name);
  if (index >= 0)
    return arg(static_cast<unsigned>(index));
  fail("the rule names '" + name + "', which is no argument");
  return {};
}

Term RuleCall::result(unsigned index) const {
  Value value = op->getResult(index);
  return isa<NoneType>(value.getType()) ? Term::none() : Term(value);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// Terms as the arguments of a call, whose operands are collected.
class Encoder {
public:
  explicit Encoder(AtenCall &call) : call(call) {}

  Arg encode(const Term &term) {
    switch (term.kind()) {
    case Term::Zero:
    case Term::None:
      return Arg::none();
    case Term::Tensor:
      return operand(term.value(), Arg::tensor(0));
    case Term::Plain:
      return term.value() ? operand(term.value(), term.arg()) : term.arg();
    case Term::List:
      break;
    }
    std::vector<Arg> items;
    for (const Term &item : term.items())
      items.push_back(encode(item));
    return Arg::listOf(std::move(items));
  }

private:
  Arg operand(Value value, Arg arg) {
    call.operands.push_back(value);
    arg.operand = static_cast<int>(call.operands.size()) - 1;
    return arg;
  }
  AtenCall &call;
};
} // namespace

/// One number where a list is asked for is a list of it.
static Term asDeclared(const Term &term, const SchemaType &type) {
  bool one = type.list && type.kind == SchemaType::Int && term.isNumber();
  return one ? Term(std::vector<Term>{term}) : term;
}

/// The arguments in the order of the schema; nothing if they do not fit it.
static std::optional<AtenCall> bindTerms(const Schema &schema,
                                         ArrayRef<Term> arguments) {
  AtenCall call;
  call.schema = &schema;
  Encoder encoder(call);
  size_t positional = 0, keywords = 0;
  for (const Term &term : arguments)
    ++(term.name().empty() ? positional : keywords);
  if (positional > schema.args.size())
    return std::nullopt;
  for (auto [i, formal] : llvm::enumerate(schema.args)) {
    const Term *given = i < positional ? &arguments[i] : nullptr;
    for (const Term &term : arguments.drop_front(positional))
      if (term.name() == formal.name) {
        if (given)
          return std::nullopt;
        given = &term;
        --keywords;
      }
    if (!given && !formal.hasDefault)
      return std::nullopt;
    Arg arg = given ? encoder.encode(asDeclared(*given, formal.type))
                    : formal.defaultValue;
    if (!fitsType(arg, formal.type))
      return std::nullopt;
    call.args.push_back(std::move(arg));
  }
  if (keywords)
    return std::nullopt;
  return call;
}

/// The overloads of a name that write nothing, in the order of the table.
static ArrayRef<const Schema *> overloadsOf(StringRef base) {
  static const llvm::StringMap<std::vector<const Schema *>> byBase = [] {
    llvm::StringMap<std::vector<const Schema *>> map;
    for (const Schema &schema : SchemaTable::get().all())
      if (!schema.mutates)
        map[schema.base].push_back(&schema);
    return map;
  }();
  auto found = byBase.find(base);
  if (found == byBase.end())
    return {};
  return found->second;
}

std::vector<Term> RuleCall::callAll(StringRef name, ArrayRef<Term> arguments,
                                    size_t listLength) {
  if (failed())
    return {};
  std::optional<AtenCall> made;
  if (name.contains('.')) {
    if (const Schema *schema = SchemaTable::get().find(name))
      made = bindTerms(*schema, arguments);
  } else {
    for (const Schema *schema : overloadsOf(name))
      if ((made = bindTerms(*schema, arguments)))
        break;
  }
  if (!made) {
    fail("no overload of '" + name + "' takes what its rule gives it");
    return {};
  }
  size_t results = made->schema->returns.size();
  if (results == 1 && made->schema->returns[0].list)
    results = listLength;
  SmallVector<Type> types(results, unknownTensorType(op->getContext()));
  Operation *built = made->build(to.builder, op->getLoc(), types);
  if (mlir::failed(propagateOp(built, to.cache, to.scope))) {
    hasFailed = true; // reported
    return {};
  }
  std::vector<Term> terms;
  for (Value value : built->getResults())
    terms.push_back(isa<NoneType>(value.getType()) ? Term::none()
                                                   : Term(value));
  return terms;
}

Term RuleCall::call(StringRef name, ArrayRef<Term> arguments) {
  std::vector<Term> results = callAll(name, arguments);
  return results.empty() ? Term() : results.front();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static bool isKnownTo(const Term &term, double value) {
  return term.isKnown() && term.arg().kind != Arg::Complex &&
         term.number() == value;
}

/// Numbers that are known, computed now; integers stay integers.
static std::optional<Term> fold(StringRef name, const Term &a, const Term &b) {
  if (!a.isKnown() || !b.isKnown())
    return std::nullopt;
  bool complex = a.arg().kind == Arg::Complex || b.arg().kind == Arg::Complex;
  if (complex) {
    std::complex<double> x(a.number(), a.arg().imag),
        y(b.number(), b.arg().imag);
    x = name == "add"   ? x + y
        : name == "sub" ? x - y
        : name == "mul" ? x * y
                        : x / y;
    return Term(Arg::complex(x.real(), x.imag()));
  }
  auto isInteger = [](const Term &t) { return t.arg().kind != Arg::Float; };
  if (isInteger(a) && isInteger(b) && name != "div") {
    Dim x = a.dim(), y = b.dim();
    return Term(name == "add" ? x + y : name == "sub" ? x - y : x * y);
  }
  if (isInteger(a) && isInteger(b) && b.integer() != 0 &&
      a.integer() % b.integer() == 0 && a.dim().isStatic())
    return Term(a.integer() / b.integer());
  double x = a.number(), y = b.number();
  if (std::isnan(x) || std::isnan(y))
    return std::nullopt;
  return Term(name == "add"   ? x + y
              : name == "sub" ? x - y
              : name == "mul" ? x * y
                              : x / y);
}

Term RuleCall::arithmetic(StringRef name, const Term &a, const Term &b) {
  if (std::optional<Term> known = fold(name, a, b))
    return *known;
  if (a.isTensor())
    return call(name, {a, b});
  if (!b.isTensor()) {
    fail("it computes with numbers of the run");
    return {};
  }
  if (name == "sub")
    return call("rsub", {b, a});
  if (name == "div")
    return mul(call("reciprocal", {b}), a);
  return call(name, {b, a});
}

Term RuleCall::add(const Term &a, const Term &b) {
  if (a.isZero() || isKnownTo(a, 0))
    return b;
  return b.isZero() || isKnownTo(b, 0) ? a : arithmetic("add", a, b);
}

Term RuleCall::sub(const Term &a, const Term &b) {
  if (b.isZero() || isKnownTo(b, 0))
    return a;
  return a.isZero() ? neg(b) : arithmetic("sub", a, b);
}

Term RuleCall::mul(const Term &a, const Term &b) {
  if (a.isZero() || b.isZero())
    return {};
  if (isKnownTo(a, 1))
    return b;
  return isKnownTo(b, 1) ? a : arithmetic("mul", a, b);
}

Term RuleCall::div(const Term &a, const Term &b) {
  if (a.isZero() || isKnownTo(b, 1))
    return a;
  return arithmetic("div", a, b);
}

Term RuleCall::neg(const Term &a) {
  if (a.isZero())
    return a;
  return a.isTensor() ? call("neg", {a}) : mul(a, -1);
}

bool RuleCall::isComplex(const Term &tensor) {
  return tensor.isTensor() && ft::isComplex(dtype(tensor));
}

Term RuleCall::conj(const Term &a) {
  if (isComplex(a))
    return call("conj_physical", {a});
  if (a.isKnown() && a.arg().kind == Arg::Complex)
    return Term(Arg::complex(a.arg().real, -a.arg().imag));
  return a;
}

Term RuleCall::adjoint(const Term &a) {
  return conj(call("transpose", {a, -2, -1}));
}

Term RuleCall::real(const Term &a) {
  if (!isComplex(a))
    return a;
  return call("select", {call("view_as_real", {a}), -1, 0});
}

Term RuleCall::cast(const Term &a, DType wanted) {
  if (!a.isTensor() || dtype(a) == wanted)
    return a;
  return call("_to_copy", {a, Term(wanted).named("dtype")});
}

Term RuleCall::laidOut(const Term &a, const TensorMeta &like) {
  if (!a.isTensor() || meta(a).strides == like.strides)
    return a;
  Term place = call("new_empty_strided", {a, like.sizes, like.strides});
  return call("copy", {place, a});
}

Term RuleCall::defined(const Term &a, const Term &like) {
  return a.isZero() ? call("zeros_like", {like}) : a;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

TensorMeta RuleCall::meta(const Term &tensor) {
  std::optional<TensorMeta> known;
  if (tensor.isTensor())
    known = metaOf(tensor.value());
  return known ? *known : TensorMeta();
}

int64_t RuleCall::wrap(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + std::max<int64_t>(rank, 1) : dim;
}

SmallVector<int64_t> RuleCall::dimsOf(const Term &dim, int64_t rank) {
  SmallVector<int64_t> dims;
  if (dim.isNumber())
    dims.push_back(wrap(dim.integer(), rank));
  for (const Term &item : dim.items())
    dims.push_back(wrap(item.integer(), rank));
  if (dims.empty())
    for (int64_t d = 0; d < rank; ++d)
      dims.push_back(d);
  llvm::sort(dims);
  return dims;
}

Term RuleCall::restoreDims(const Term &reduced, const Term &x, const Term &dim,
                           bool keepdim) {
  int64_t n = rank(x);
  if (keepdim || n == 0 || !reduced.isTensor())
    return reduced;
  Term restored = reduced;
  if (rank(reduced) == n)
    return reduced;
  for (int64_t d : dimsOf(dim, n))
    restored = call("unsqueeze", {restored, d});
  return restored;
}

Dim RuleCall::reducedCount(const Term &x, const Term &dim) {
  Dims all = sizes(x);
  Dim count = 1;
  if (all.empty())
    return count;
  for (int64_t d : dimsOf(dim, rank(x)))
    count = count * all[d];
  return count;
}

Term RuleCall::sumTo(const Term &a, ArrayRef<Dim> wanted) {
  if (!a.isTensor())
    return a;
  Dims have = sizes(a);
  if (ArrayRef<Dim>(have) == wanted || have.size() < wanted.size())
    return a;
  size_t extra = have.size() - wanted.size();
  SmallVector<int64_t> leading, broadcast;
  bool open = false;
  for (size_t d = 0; d < extra; ++d)
    leading.push_back(static_cast<int64_t>(d));
  for (size_t d = 0; d < wanted.size(); ++d)
    if (wanted[d].is(1) && !have[extra + d].is(1))
      broadcast.push_back(static_cast<int64_t>(d));
    else
      open |= wanted[d] != have[extra + d];
  Term sum = a;
  if (!leading.empty())
    sum = call("sum.dim_IntList", {sum, ArrayRef<int64_t>(leading), false});
  if (!broadcast.empty())
    sum = call("sum.dim_IntList", {sum, ArrayRef<int64_t>(broadcast), true});
  // The run finds out, or two expressions are known to be one size.
  if (open && to.scope)
    sum = call("sum_to_size", {sum, wanted});
  return sum;
}

Term RuleCall::reshape(const Term &a, ArrayRef<Dim> wanted) {
  if (!a.isTensor() || ArrayRef<Dim>(sizes(a)) == wanted)
    return a;
  return call("reshape", {a, wanted});
}

Term RuleCall::cutTo(const Term &a, ArrayRef<Dim> wanted) {
  Term cut = a;
  for (auto [d, size] : llvm::enumerate(sizes(a)))
    if (d < wanted.size() && size != wanted[d])
      cut = call("narrow", {cut, static_cast<int64_t>(d), 0, wanted[d]});
  return cut;
}

Term RuleCall::padTo(const Term &a, ArrayRef<Dim> wanted) {
  Dims have = sizes(a);
  if (!a.isTensor() || ArrayRef<Dim>(have) == wanted ||
      have.size() != wanted.size())
    return a;
  std::vector<Term> pad; // the last dim first
  for (size_t d = have.size(); d-- > 0;) {
    pad.push_back(0);
    pad.push_back(wanted[d] - have[d]);
  }
  return call("constant_pad_nd", {a, pad, 0});
}

} // namespace ft
