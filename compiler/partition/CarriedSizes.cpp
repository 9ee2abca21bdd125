//===- CarriedSizes.cpp - Sizes that backward knows from nothing * C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/CarriedSizes.h"

#include "compiler/fake/OpCall.h"
#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ft {

static void addSymbols(Dim dim, llvm::StringSet<> &names) {
  if (!dim.isStatic())
    dim.symbolic().collectSymbols(names);
}

static void addSymbols(const Arg &arg, llvm::StringSet<> &names) {
  addSymbols(arg.dim, names);
  for (const Arg &element : arg.list)
    addSymbols(element, names);
}

/// Those of a tensor's sizes, or of a number.
static void addSymbols(Value value, llvm::StringSet<> &names) {
  if (std::optional<TensorMeta> meta = metaOf(value)) {
    for (Dim d : meta->sizes)
      addSymbols(d, names);
  } else if (std::optional<Dim> number = annotatedNumber(value)) {
    addSymbols(*number, names);
  }
}

/// The symbols that a program reads from the sizes of an argument: 2*s + 1 says
/// what s is, as compiler/lower/PlanSymbols has it, s*t and 4 - s say nothing.
static void addReadable(Value value, llvm::StringSet<> &names) {
  std::optional<TensorMeta> meta = metaOf(value);
  for (Dim d : meta ? meta->sizes : Dims()) {
    if (d.isStatic())
      continue;
    SymTerm storage;
    SymExpr::Affine sum = d.symbolic().affine(storage);
    if (sum.terms.size() == 1 && sum.terms[0].k >= 1 &&
        sum.terms[0].expr.kind() == SymKind::Symbol)
      names.insert(sum.terms[0].expr.name());
  }
}

/// What a call has to know: the symbols of its arguments.
static void addNeeds(Operation *op, llvm::StringSet<> &names) {
  op->walk([&](Operation *inner) {
    if (schemaOf(inner))
      for (const Arg &arg : AtenCall::decode(inner).args)
        addSymbols(arg, names);
  });
}

static void addMakes(Operation *op, llvm::StringSet<> &names) {
  for (Value result : op->getResults())
    addSymbols(result, names);
}

namespace {
/// Finds where a symbol comes from in the forward part of a joint graph.
class Origins {
public:
  explicit Origins(const JointGraph &graph) : joint(graph) {}

  std::optional<CarriedSize> find(StringRef name) const {
    for (BlockArgument argument : joint.body().getArguments())
      if (joint.kindOf(argument) != "tangent" && metaOf(argument) &&
          has(argument, name))
        return CarriedSize{{}, nullptr, argument};
    for (Operation &op : joint.body().without_terminator()) {
      if (joint.isLate(&op))
        continue;
      for (Value result : op.getResults())
        if (has(result, name))
          return madeBy(&op, result);
    }
    return std::nullopt;
  }

private:
  static bool has(Value value, StringRef name) {
    llvm::StringSet<> names;
    addSymbols(value, names);
    return names.contains(name);
  }

  /// Of `item` the result is a number: its operand is as good.
  static std::optional<CarriedSize> madeBy(Operation *op, Value result) {
    if (metaOf(result))
      return CarriedSize{{}, op, result};
    for (Value operand : op->getOperands())
      if (metaOf(operand))
        return CarriedSize{{}, op, operand};
    return std::nullopt;
  }

  const JointGraph &joint;
};
} // namespace

FailureOr<std::vector<CarriedSize>> carriedSizes(const JointGraph &joint,
                                                 ModuleOp module,
                                                 ArrayRef<Operation *> backward,
                                                 ArrayRef<Value> known) {
  llvm::StringSet<> have, missing;
  // All that an argument has must be known.
  for (Value value : known)
    addReadable(value, have);
  for (Value value : known) {
    llvm::StringSet<> sizes;
    addSymbols(value, sizes);
    for (const auto &size : sizes)
      if (!have.contains(size.getKey()))
        missing.insert(size.getKey());
  }
  for (Operation *op : backward) {
    llvm::StringSet<> needs;
    addNeeds(op, needs);
    for (const auto &need : needs)
      if (!have.contains(need.getKey()))
        missing.insert(need.getKey());
    addMakes(op, have);
  }
  SymContext &symbols =
      module.getContext()->getOrLoadDialect<FtDialect>()->symbolContext();
  std::vector<CarriedSize> carried;
  Origins origins(joint);
  for (auto symbol : module.getOps<SymbolOp>()) {
    if (!missing.contains(symbol.getSym()))
      continue;
    std::optional<CarriedSize> size = origins.find(symbol.getSym());
    llvm::Expected<SymExpr> parsed = symbols.parse(symbol.getSym());
    if (!parsed || !size) {
      llvm::consumeError(parsed.takeError());
      continue;
    }
    if (!symbol.getLower() || static_cast<int64_t>(*symbol.getLower()) < 0)
      return emitError(size->like.getLoc())
             << "[FT0903] the backward pass needs the number "
             << symbol.getSym()
             << ", which is kept only where it cannot be negative"
             << "\nhelp: torch._check(n >= 0) says so";
    carried.push_back({*parsed, size->maker, size->like});
  }
  return carried;
}

static TensorMeta emptyOf(SymExpr symbol, const TensorMeta &like) {
  TensorMeta meta = TensorMeta::contiguous(like.dtype, {Dim(symbol), Dim(0)});
  meta.device = like.device;
  return meta;
}

Type CarriedSize::type() const {
  return typeFromMeta(like.getContext(), emptyOf(symbol, *metaOf(like)));
}

Value CarriedSize::build(OpBuilder &b, Value source) const {
  AtenCall call;
  call.schema = SchemaTable::get().find("new_empty.default");
  call.operands = {source};
  call.args = {Arg::tensor(0),
               Arg::listOf({Arg::integer(Dim(symbol)), Arg::integer(Dim(0))})};
  while (call.args.size() < call.schema->args.size())
    call.args.push_back(call.schema->args[call.args.size()].defaultValue);
  return call.build(b, source.getLoc(), type())->getResult(0);
}

} // namespace ft
