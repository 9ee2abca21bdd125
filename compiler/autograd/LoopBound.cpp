//===- LoopBound.cpp - How often a loop runs -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/LoopBound.h"

#include "compiler/fake/ConstantAttr.h"
#include "compiler/fake/OpCall.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ft {

static std::optional<Dim> scalar(const AtenCall &call, const Arg &arg);

/// The one element of an integer tensor, or an integer, that is a constant or a
/// size.
static std::optional<Dim> constantOf(Value value) {
  if (!isa<TensorType>(value.getType()))
    return annotatedNumber(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (Value outside = capturedBy(argument))
      return constantOf(outside);
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto elements = function ? function.getArgAttrOfType<DenseIntElementsAttr>(
                                   argument.getArgNumber(), names::kConstant)
                             : DenseIntElementsAttr();
    if (!elements || elements.getNumElements() != 1)
      return std::nullopt;
    return Dim((*elements.value_begin<APInt>()).getSExtValue());
  }
  Operation *op = value.getDefiningOp();
  std::optional<TensorMeta> meta = metaOf(value);
  if (!schemaOf(op) || !meta || !meta->numel().is(1) ||
      !isIntegral(meta->dtype))
    return std::nullopt;
  AtenCall call = AtenCall::decode(op);
  StringRef base = call.schema->base;
  if (base == "zeros" || base == "new_zeros" || base == "zeros_like")
    return Dim(0);
  if (base == "ones" || base == "new_ones" || base == "ones_like")
    return Dim(1);
  if (base == "scalar_tensor")
    return scalar(call, call.args[0]);
  if (base == "full" || base == "full_like")
    return scalar(call, call.args[1]);
  if (llvm::is_contained({"lift_fresh_copy", "lift_fresh", "clone", "detach",
                          "detach_copy", "alias", "_to_copy", "to", "view",
                          "reshape", "squeeze", "unsqueeze"},
                         base))
    return constantOf(call.operands[0]);
  return std::nullopt;
}

static std::optional<Dim> scalar(const AtenCall &call, const Arg &arg) {
  if (arg.operand >= 0)
    return constantOf(call.operands[arg.operand]);
  return arg.kind == Arg::Int ? std::optional(arg.dim) : std::nullopt;
}

namespace {
/// counter < limit, counter >= limit, ….
struct Comparison {
  unsigned counter;
  StringRef relation;
  Dim limit;
};
} // namespace

static std::optional<Comparison> comparisonOf(Value condition) {
  Operation *op = condition.getDefiningOp();
  if (!op || !schemaOf(op))
    return std::nullopt;
  AtenCall call = AtenCall::decode(op);
  StringRef base = call.schema->base;
  if (call.args.size() < 2 || call.args[0].operand < 0)
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(call.operands[call.args[0].operand]);
  std::optional<Dim> limit = scalar(call, call.args[1]);
  if (!counter || capturedBy(counter) || !limit)
    return std::nullopt;
  base.consume_front("operator.");
  // Python's operators are overloads of "operator".
  if (base == "operator")
    base = call.schema->overload;
  return Comparison{counter.getArgNumber(), base, *limit};
}

/// What is added to carried value `i` in each iteration; 0 if that is not
/// known.
static int64_t stepOf(WhileOp loop, unsigned i) {
  Block &body = loop.getBodyRegion().front();
  Operation *op = body.getTerminator()->getOperand(i).getDefiningOp();
  if (!op || !schemaOf(op))
    return 0;
  AtenCall call = AtenCall::decode(op);
  StringRef base = call.schema->base;
  bool adds = base == "add" || call.schema->name == "operator.add";
  if (!adds || call.args.size() < 2 || call.args[0].operand < 0 ||
      call.operands[call.args[0].operand] != body.getArgument(i))
    return 0;
  std::optional<Dim> step = scalar(call, call.args[1]);
  if (!step || !step->isStatic() ||
      (call.args.size() > 2 && call.args[2] != Arg::integer(1)))
    return 0;
  return step->value();
}

static std::optional<Dim> countOf(WhileOp loop) {
  Block &holds = loop.getCondRegion().front();
  std::optional<Comparison> c =
      comparisonOf(holds.getTerminator()->getOperand(0));
  if (!c)
    return std::nullopt;
  std::optional<Dim> first = constantOf(loop.getInits()[c->counter]);
  int64_t step = stepOf(loop, c->counter);
  if (!first || step == 0)
    return std::nullopt;
  Dim distance = c->limit - *first;
  bool up = step > 0;
  if (c->relation == (up ? "le" : "ge"))
    distance = up ? distance + 1 : distance - 1;
  else if (c->relation != (up ? "lt" : "gt"))
    return std::nullopt;
  if (!up) {
    distance = Dim(0) - distance;
    step = -step;
  }
  if (step != 1)
    distance = ceilDiv(distance, Dim(step));
  return maxDim(distance, 0);
}

std::optional<LoopBound> boundOf(WhileOp loop) {
  if (std::optional<Dim> count = countOf(loop))
    return LoopBound{*count, true};
  if (auto declared = loop->getAttrOfType<IntegerAttr>(names::kBound))
    if (declared.getInt() >= 0)
      return LoopBound{Dim(declared.getInt()), false};
  return std::nullopt;
}

static StringRef firstName(Operation *op) {
  Attribute name = op->getAttr(names::kName);
  if (auto many = dyn_cast_or_null<ArrayAttr>(name))
    name = many.empty() ? Attribute() : many[0];
  auto one = dyn_cast_or_null<StringAttr>(name);
  return one ? one.getValue() : StringRef();
}

LogicalResult declareBounds(ModuleOp module, ArrayRef<std::string> bounds) {
  for (StringRef text : bounds) {
    auto [name, number] =
        text.contains('=') ? text.split('=') : std::pair(StringRef(), text);
    int64_t most = 0;
    if (number.getAsInteger(10, most) || most < 0)
      return emitError(module.getLoc())
             << "[FT0001] '" << text << "' is no bound of a loop"
             << "\nhelp: --loop-bound 64, --loop-bound while_loop=64";
    bool found = name.empty();
    module.walk([&](WhileOp loop) {
      bool meant = name.empty() ? !loop->hasAttr(names::kBound)
                                : firstName(loop) == name;
      if (!meant)
        return;
      found = true;
      loop->setAttr(names::kBound,
                    Builder(loop.getContext()).getI64IntegerAttr(most));
    });
    if (!found)
      return emitError(module.getLoc())
             << "[FT0001] no loop is called '" << name << "'";
  }
  return success();
}

} // namespace ft
