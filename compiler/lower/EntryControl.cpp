//===- EntryControl.cpp - Branches and loops of a call --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/ControlGraphs.h"
#include "compiler/lower/EntryEmitter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace ft {

LogicalResult EntryEmitter::planGraphs(PlannedCall &call, unsigned now) {
  Dim most = 64;
  for (Attribute symbol : call.graphs.getGraphs()) {
    auto graph = module.lookupSymbol<func::FuncOp>(
        cast<FlatSymbolRefAttr>(symbol).getValue());
    std::string name = "ft_" + graph.getName().str();
    ScheduleOptions how;
    how.outer = &schedule.plan;
    how.redZone = options.redZone();
    FailureOr<Schedule> inner = Schedule::build(graph, how);
    if (failed(inner))
      return mlir::failure();
    EntryEmitter emitter(module, *inner, options, name);
    if (failed(emitter.plan()))
      return mlir::failure();
    inner->memory.solve();
    Dim bytes = emitter.emit(inner->memory.slotBytes().size());
    numbers.insert_range(emitter.numbers);
    // Another program of the same artefact has functions of these names.
    module.lookupSymbol(name)->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    call.given.clear();
    for (unsigned r = 0; r < graph.getNumResults(); ++r)
      call.given.push_back(graph.getResultAttr(r, names::kGives) != nullptr);
    graph.erase();
    most = maxDim(most, bytes);
  }
  call.scratch =
      static_cast<int>(schedule.memory.add(most, estimate(most), now, now));
  for (unsigned i = 0; i < call.graphs.getCarried(); ++i) {
    Value v = call.graphs.getResult(i);
    Dim bytes = bytesOf(v);
    bool isLate = schedule.placements.lookup(v).region == ft::Region::Late;
    call.seconds.push_back(isLate ? -1
                                  : static_cast<int>(schedule.memory.add(
                                        bytes, estimate(bytes), now, now)));
  }
  // What the condition gives.
  call.seconds.push_back(static_cast<int>(schedule.memory.add(64, now, now)));
  return success();
}

Value EntryEmitter::callGraph(RunGraphsOp op, unsigned which,
                              ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                              int scratch) {
  auto symbol = cast<FlatSymbolRefAttr>(op.getGraphs()[which]);
  auto function =
      module.lookupSymbol<func::FuncOp>(("ft_" + symbol.getValue()).str());
  Value given = pointerArray(outputs);
  Value code =
      func::CallOp::create(
          b, loc, function,
          ValueRange{entry.getArgument(kExec), pointerArray(inputs), given,
                     bufferAddress(scratch), entry.getArgument(kWeights),
                     entry.getArgument(kState), entry.getArgument(kSizes)})
          .getResult(0);
  splitOnCode(code);
  return given;
}

Value EntryEmitter::isTrue(Value address) {
  Value flag = LLVM::LoadOp::create(b, loc, b.getI8Type(), address);
  Value zero = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, flag, zero);
}

void EntryEmitter::emitGraphs(const PlannedCall &call) {
  RunGraphsOp op = call.graphs;
  SmallVector<Value> operands, results;
  for (Value v : op.getOperands())
    operands.push_back(addressOf(v, schedule.placements.lookup(v)));
  for (auto [given, v] : llvm::zip(call.given, op.getResults())) {
    Placement place = schedule.placements.lookup(v);
    if (given && place.region == ft::Region::Late) {
      results.push_back(LLVM::ZeroOp::create(b, loc, pointer()));
      continue;
    }
    allocateLate(v);
    results.push_back(addressOf(v, place));
  }
  SmallVector<Value> tensors(op.getOperands());
  llvm::append_range(tensors, op.getResults());
  markTensors("ft_rt_open", tensors);
  markBuffers("ft_rt_open", call.seconds);
  if (op.getKind() == "cond")
    emitCond(call, operands, results);
  else if (op.getKind() == "scan")
    emitScan(call, operands, results);
  else
    emitWhile(call, operands, results);
  markTensors("ft_rt_close", tensors);
  markBuffers("ft_rt_close", call.seconds);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

void EntryEmitter::setTold(RunGraphsOp op, unsigned which) {
  auto tells = op->getAttrOfType<ArrayAttr>(names::kTells);
  if (!tells)
    return;
  auto *dialect = b.getContext()->getLoadedDialect<FtDialect>();
  auto words = cast<ArrayAttr>(tells[which]).getAsValueRange<StringAttr>();
  for (auto it = words.begin(); it != words.end(); ++it) {
    StringRef symbol = *it++;
    llvm::Expected<SymExpr> e = dialect->symbolContext().parse(*it);
    if (!e || !*e) {
      llvm::consumeError(e.takeError());
      continue;
    }
    LLVM::StoreOp::create(b, loc, asI64(sizeValue(Dim(*e))), sizeSlot(symbol));
  }
}

void EntryEmitter::emitCond(const PlannedCall &call, ArrayRef<Value> operands,
                            ArrayRef<Value> results) {
  RunGraphsOp op = call.graphs;
  // Where the branch put the results whose memory it made.
  SmallVector<unsigned> made;
  for (unsigned r = 0; r < results.size(); ++r)
    if (call.given[r] &&
        schedule.placements.lookup(op.getResult(r)).region == ft::Region::Late)
      made.push_back(r);
  Value chosen = isTrue(operands[0]);
  Block *sides[] = {newBlock(), newBlock()};
  Block *after = newBlock(SmallVector<Type>(made.size(), pointer()));
  cf::CondBranchOp::create(b, loc, chosen, sides[0], ValueRange{}, sides[1],
                           ValueRange{});
  for (unsigned which : {0U, 1U}) {
    b.setInsertionPointToEnd(sides[which]);
    auto before = exact;
    Value outputs =
        callGraph(op, which, operands.drop_front(), results, call.scratch);
    setTold(op, which);
    exact = before; // what one side checked
    SmallVector<Value> at;
    for (unsigned r : made)
      at.push_back(
          LLVM::LoadOp::create(b, loc, pointer(), elementAt(outputs, r)));
    cf::BranchOp::create(b, loc, after, at);
  }
  b.setInsertionPointToEnd(after);
  for (auto [argument, r] : llvm::zip(after->getArguments(), made))
    lateBuffers[schedule.placements.lookup(op.getResult(r)).index] = argument;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

EntryEmitter::Carried EntryEmitter::startLoop(const PlannedCall &call,
                                              ArrayRef<Value> operands,
                                              ArrayRef<Value> results) {
  RunGraphsOp op = call.graphs;
  Carried c;
  for (unsigned i = 0; i < op.getCarried(); ++i) {
    Dim bytes = bytesOf(op.getResult(i));
    int second = call.seconds[i];
    c.current.push_back(results[i]);
    c.next.push_back(second < 0 ? temporary(bytes) : bufferAddress(second));
    c.bytes.push_back(asI64(sizeValue(bytes)));
    LLVM::MemcpyOp::create(b, loc, results[i], operands[i], c.bytes.back(),
                           /*isVolatile=*/false);
  }
  auto mark = externalTo(pointer(), "ft_rt_mark", pointer());
  c.mark =
      LLVM::CallOp::create(b, loc, mark, entry.getArgument(kExec)).getResult();
  return c;
}

void EntryEmitter::nextIteration(const Carried &c) {
  for (auto [to, from, bytes] : llvm::zip(c.current, c.next, c.bytes))
    LLVM::MemcpyOp::create(b, loc, to, from, bytes, /*isVolatile=*/false);
  auto release = externalTo(LLVM::LLVMVoidType::get(b.getContext()),
                            "ft_rt_release", {pointer(), pointer()});
  LLVM::CallOp::create(b, loc, release,
                       ValueRange{entry.getArgument(kExec), c.mark});
}

void EntryEmitter::emitWhile(const PlannedCall &call, ArrayRef<Value> operands,
                             ArrayRef<Value> results) {
  RunGraphsOp op = call.graphs;
  Carried carried = startLoop(call, operands, results);
  SmallVector<Value> inputs(carried.current);
  llvm::append_range(inputs, operands.drop_front(inputs.size()));
  Value condition = bufferAddress(call.seconds.back());
  Block *head = newBlock(), *body = newBlock(), *after = newBlock();
  cf::BranchOp::create(b, loc, head);
  b.setInsertionPointToEnd(head);
  callGraph(op, 0, inputs, condition, call.scratch);
  cf::CondBranchOp::create(b, loc, isTrue(condition), body, ValueRange{}, after,
                           ValueRange{});
  b.setInsertionPointToEnd(body);
  callGraph(op, 1, inputs, carried.next, call.scratch);
  nextIteration(carried);
  cf::BranchOp::create(b, loc, head);
  b.setInsertionPointToEnd(after);
}

/// for (i = 0; i < length; ++i) body(carried, x + p * |x[0]|, captured)
///     -> (next, y + p * |y[0]|), p = i, or length - 1 - i
void EntryEmitter::emitScan(const PlannedCall &call, ArrayRef<Value> operands,
                            ArrayRef<Value> results) {
  RunGraphsOp op = call.graphs;
  Carried carried = startLoop(call, operands, results);
  size_t first = carried.current.size();
  size_t sliced = op->getAttrOfType<IntegerAttr>(names::kSliced).getInt();
  // The bytes of one position.
  auto step = [&](Value v) {
    Dims sizes = llvm::to_vector<6>(*schedule.sizes.of(v));
    sizes.erase(sizes.begin());
    auto type = cast<RankedTensorType>(v.getType());
    return asI64(sizeValue(tensorBytes(sizes, type.getElementType())));
  };
  SmallVector<Value> steps, strides;
  for (size_t i = first; i < first + sliced; ++i)
    steps.push_back(step(op.getOperand(static_cast<unsigned>(i))));
  for (size_t r = first; r < results.size(); ++r)
    strides.push_back(step(op.getResult(static_cast<unsigned>(r))));
  Dim positions =
      (*schedule.sizes.of(op.getOperand(static_cast<unsigned>(first))))[0];
  Value length = asI64(sizeValue(positions));
  auto at = [&](Value start, Value bytes, Value position) -> Value {
    Value offset = arith::MulIOp::create(b, loc, bytes, position);
    return LLVM::GEPOp::create(b, loc, pointer(), b.getI8Type(), start,
                               ValueRange{offset});
  };

  Block *head = newBlock(b.getI64Type()), *body = newBlock(),
        *after = newBlock();
  cf::BranchOp::create(b, loc, head, constant64(0));
  b.setInsertionPointToEnd(head);
  Value i = head->getArgument(0);
  Value more =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, i, length);
  cf::CondBranchOp::create(b, loc, more, body, ValueRange{}, after,
                           ValueRange{});
  b.setInsertionPointToEnd(body);
  Value next = arith::AddIOp::create(b, loc, i, constant64(1));
  Value position = i;
  if (op->hasAttr(names::kReverse))
    position = arith::SubIOp::create(b, loc, length, next);
  SmallVector<Value> inputs(carried.current), outputs(carried.next);
  for (size_t k = 0; k < sliced; ++k)
    inputs.push_back(at(operands[first + k], steps[k], position));
  llvm::append_range(inputs, operands.drop_front(first + sliced));
  for (size_t k = 0; k < strides.size(); ++k)
    outputs.push_back(at(results[first + k], strides[k], position));
  callGraph(op, 0, inputs, outputs, call.scratch);
  nextIteration(carried);
  cf::BranchOp::create(b, loc, head, next);
  b.setInsertionPointToEnd(after);
}

} // namespace ft
