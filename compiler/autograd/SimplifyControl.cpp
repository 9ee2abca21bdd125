//===- SimplifyControl.cpp - Loops in the form that is derived -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A while with a bound becomes a scan over as many positions:
//
//   %y = ft.while(%x) cond (%a) {C} do (%a) {B}
//   →  %n = arange(bound)
//      %y = ft.scan init(%x) over(%n)
//        do (%a, %i) { yield ft.cond(C(%a), %a) then {B} else {clone(%a)} }
//      _assert_async(logical_not(C(%y)))
//
// Once the condition does not hold, what is carried stays and so does that. If
// the loop tells how often it runs, the body is B alone and nothing is checked.

#include "compiler/autograd/ControlFlow.h"
#include "compiler/autograd/LoopBound.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ft {

static int64_t wrapped(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + rank : dim;
}

/// `x` with dim `from` moved to `to`.
static Term moved(RuleCall &call, const Term &x, int64_t from, int64_t to) {
  if (from == to)
    return x;
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < RuleCall::rank(x); ++d)
    if (d != from)
      dims.push_back(d);
  dims.insert(dims.begin() + to, from);
  return call.call("permute", {x, ArrayRef<int64_t>(dims)});
}

/// A scan over the first dim.
static FailureOr<Operation *> overFirstDim(ScanOp scan, RuleBuilder &to) {
  int64_t dim = scan.getDim();
  if (dim == 0)
    return scan.getOperation();
  RuleCall call(to, scan);
  size_t carried = scan.getInits().size();
  SmallVector<Value> operands(scan.getOperands());
  for (size_t i = 0; i < scan.getXs().size(); ++i) {
    Term x = operands[carried + i];
    operands[carried + i] =
        moved(call, x, wrapped(dim, RuleCall::rank(x)), 0).value();
  }
  if (call.failed())
    return failure();
  SmallVector<Type> types(scan->getResultTypes());
  for (Type &type : MutableArrayRef(types).drop_front(carried)) {
    TensorMeta meta = *metaFromType(type);
    int64_t d = wrapped(dim, meta.rank());
    Dim length = meta.sizes[d];
    meta.sizes.erase(meta.sizes.begin() + d);
    meta.sizes.insert(meta.sizes.begin(), length);
    type = typeFromMeta(
        scan.getContext(),
        TensorMeta::contiguous(meta.dtype, meta.sizes, meta.device));
  }
  OperationState state(scan.getLoc(), scan->getName());
  state.addOperands(operands);
  state.addTypes(types);
  state.addAttributes(scan->getAttrs());
  state.attributes.set("dim", to.builder.getI64IntegerAttr(0));
  state.attributes.erase(names::kDeclared);
  state.addRegion()->takeBody(scan.getBodyRegion());
  Operation *made = to.builder.create(state);
  for (OpResult result : scan->getResults()) {
    unsigned r = result.getResultNumber();
    Term now = made->getResult(r);
    if (r >= carried)
      now = moved(call, now, 0, wrapped(dim, RuleCall::rank(now)));
    if (call.failed())
      return failure();
    result.replaceAllUsesWith(now.value());
  }
  scan->erase();
  return made;
}

//===----------------------------------------------------------------------===//
// ft.while
//===----------------------------------------------------------------------===//

namespace {
class WhileToScan {
public:
  WhileToScan(WhileOp loop, RuleBuilder &to)
      : loop(loop), b(to.builder), call(to, loop),
        carried(static_cast<unsigned>(loop.getInits().size())) {}
  FailureOr<Operation *> run();

private:
  Value conditionOf(ValueRange values);
  LogicalResult buildBody(Block &block);
  LogicalResult checkEnd(Operation *scan);

  WhileOp loop;
  OpBuilder &b;
  RuleCall call;
  unsigned carried;
};
} // namespace

/// The condition of these values, at the insertion point.
Value WhileToScan::conditionOf(ValueRange values) {
  Block &holds = loop.getCondRegion().front();
  IRMapping map;
  map.map(holds.getArguments(), values);
  for (Operation &op : holds.without_terminator())
    b.clone(op, map);
  return map.lookupOrDefault(holds.getTerminator()->getOperand(0));
}

/// One iteration, if there is another one.
LogicalResult WhileToScan::buildBody(Block &block) {
  OpBuilder::InsertionGuard back(b);
  b.setInsertionPointToEnd(&block);
  for (Type type : ValueRange(loop.getInits()).getTypes())
    block.addArgument(type, loop.getLoc());
  block.addArgument(
      typeFromMeta(b.getContext(), TensorMeta::contiguous(DType::I64, {})),
      loop.getLoc());
  for (Type type : ValueRange(loop.getCaptured()).getTypes())
    block.addArgument(type, loop.getLoc());
  SmallVector<Value> values(block.getArguments());
  values.erase(values.begin() + carried);
  Value holds = conditionOf(values);
  OperationState state(loop.getLoc(), CondOp::getOperationName());
  state.addOperands(holds);
  state.addOperands(values);
  state.addTypes(loop->getResultTypes());
  if (Attribute numbers = loop->getAttr(names::kCarriedNumbers))
    state.addAttribute(names::kResultNumbers, numbers);
  state.addRegion()->takeBody(loop.getBodyRegion());
  Block &rest = state.addRegion()->emplaceBlock();
  {
    OpBuilder::InsertionGuard outside(b);
    b.setInsertionPointToEnd(&rest);
    SmallVector<Value> same;
    for (Value value : values) {
      Value argument = rest.addArgument(value.getType(), loop.getLoc());
      if (same.size() == carried)
        continue;
      if (isa<TensorType>(value.getType()))
        argument = call.call("clone", {argument}).value();
      same.push_back(argument);
    }
    if (call.failed())
      return failure();
    YieldOp::create(b, loop.getLoc(), same);
  }
  YieldOp::create(b, loop.getLoc(), b.create(state)->getResults());
  return success();
}

LogicalResult WhileToScan::checkEnd(Operation *scan) {
  SmallVector<Value> values(scan->getResults());
  llvm::append_range(values, loop.getCaptured());
  Term holds = conditionOf(values);
  if (!holds.isTensor())
    holds =
        call.call("scalar_tensor", {holds, Term(DType::Bool).named("dtype")});
  std::string text = "the loop '" + loop->getName().getStringRef().str() +
                     "' runs more often than it declares";
  Term over = call.call("logical_not", {holds});
  (void)call.callAll("_assert_async.msg", {over, Term(text.c_str())});
  return failure(call.failed());
}

FailureOr<Operation *> WhileToScan::run() {
  std::optional<LoopBound> bound = boundOf(loop);
  if (!bound) {
    call.fail("a loop that runs as often as the data say can only be derived "
              "if the most iterations are declared\nhelp: ft.bound on the "
              "loop, most_iterations of while_loop, --loop-bound N");
    return failure();
  }
  bool pure =
      llvm::all_of(loop.getCondRegion().front().without_terminator(),
                   [](Operation &op) { return isMemoryEffectFree(&op); });
  if (!pure && !bound->exact) {
    call.fail("its condition has effects, and would be asked once more");
    return failure();
  }
  Term positions = call.call("arange", {bound->count});
  if (call.failed())
    return failure();
  OperationState state(loop.getLoc(), ScanOp::getOperationName());
  state.addOperands(loop.getInits());
  state.addOperands(positions.value());
  state.addOperands(loop.getCaptured());
  state.addTypes(loop->getResultTypes());
  for (StringRef name :
       {StringRef(names::kName), StringRef(names::kNoGrad),
        StringRef(names::kCarriedNumbers), StringRef(names::kResultNumbers)})
    if (Attribute attribute = loop->getAttr(name))
      state.addAttribute(name, attribute);
  state.addAttribute(ScanOp::getOperandSegmentSizeAttr(),
                     b.getDenseI32ArrayAttr(
                         {static_cast<int32_t>(carried), 1,
                          static_cast<int32_t>(loop.getCaptured().size())}));
  Region *body = state.addRegion();
  if (bound->exact) {
    body->takeBody(loop.getBodyRegion());
    body->front().insertArgument(
        carried,
        typeFromMeta(b.getContext(), TensorMeta::contiguous(DType::I64, {})),
        loop.getLoc());
  } else if (failed(buildBody(body->emplaceBlock()))) {
    return failure();
  }
  Operation *scan = b.create(state);
  if (!bound->exact && failed(checkEnd(scan)))
    return failure();
  loop->replaceAllUsesWith(scan->getResults());
  loop->erase();
  return scan;
}

FailureOr<Operation *> simplifyControl(Operation *op, RuleBuilder &to) {
  if (auto scan = dyn_cast<ScanOp>(op))
    return overFirstDim(scan, to);
  if (auto loop = dyn_cast<WhileOp>(op))
    return WhileToScan(loop, to).run();
  return op;
}

} // namespace ft
