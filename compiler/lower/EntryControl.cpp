//===- EntryControl.cpp - Branches and loops of a call --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/runtime.h"

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
    how.devices = schedule.devices;
    FailureOr<Schedule> inner = Schedule::build(graph, how);
    if (failed(inner))
      return mlir::failure();
    EntryEmitter emitter(module, *inner, options, name);
    if (failed(emitter.plan()))
      return mlir::failure();
    inner->memory.solve();
    numbers.insert_range(emitter.numbers);
    Dim bytes = inner->memory.arenaBytes();
    if (makesKernels()) {
      emitter.emit(inner->memory.slotBytes().size());
      // Another program of the same artefact has functions of these names.
      module.lookupSymbol(name)->setAttr(
          "llvm.linkage",
          LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    }
    call.given.clear();
    for (unsigned r = 0; r < graph.getNumResults(); ++r)
      call.given.push_back(graph.getResultAttr(r, names::kGives) != nullptr);
    graph.erase();
    most = maxDim(most, bytes);
  }
  call.scratch = static_cast<int>(
      schedule.memory.add(most, schedule.atHints(most), now, now));
  for (unsigned i = 0; i < call.graphs.getCarried(); ++i) {
    Value v = call.graphs.getResult(i);
    Dim bytes = bytesOf(v);
    bool isLate = schedule.placements.lookup(v).region == ft::Region::Late;
    call.seconds.push_back(
        isLate ? -1
               : static_cast<int>(schedule.memory.add(
                     bytes, schedule.atHints(bytes), now, now)));
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

bool EntryEmitter::makesMemory(const PlannedCall &call, unsigned r) const {
  Value v = call.graphs->getResult(r);
  return call.given[r] &&
         schedule.placements.lookup(v).region == ft::Region::Late;
}

void EntryEmitter::emitGraphs(const PlannedCall &call) {
  RunGraphsOp op = call.graphs;
  SmallVector<Value> operands, results;
  for (Value v : op.getOperands())
    operands.push_back(addressOf(v, schedule.placements.lookup(v)));
  for (unsigned r = 0; r < op.getNumResults(); ++r) {
    Value v = op.getResult(r);
    if (makesMemory(call, r)) {
      results.push_back(LLVM::ZeroOp::create(b, loc, pointer()));
      continue;
    }
    allocateLate(v);
    results.push_back(addressOf(v, schedule.placements.lookup(v)));
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
    if (makesMemory(call, r))
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
///
/// Where the body finds the size of y, it makes the memory of a slice, and the
/// first step tells that of the result, to which slices are copied.
void EntryEmitter::emitScan(const PlannedCall &call, ArrayRef<Value> operands,
                            ArrayRef<Value> results) {
  RunGraphsOp op = call.graphs;
  FoundSlices found;
  for (unsigned r = op.getCarried(); r < results.size(); ++r)
    if (makesMemory(call, r))
      found.results.push_back(r);
  startSlices(op, found);
  Carried carried = startLoop(call, operands, results);
  if (!found.state.empty())
    found.state.front() = carried.mark;
  size_t first = carried.current.size();
  size_t sliced = op->getAttrOfType<IntegerAttr>(names::kSliced).getInt();
  SmallVector<Value> steps, strides;
  for (size_t i = first; i < first + sliced; ++i)
    steps.push_back(sliceBytes(op.getOperand(static_cast<unsigned>(i))));
  for (size_t r = first; r < results.size(); ++r)
    strides.push_back(makesMemory(call, static_cast<unsigned>(r))
                          ? Value()
                          : sliceBytes(op.getResult(static_cast<unsigned>(r))));
  Dim positions =
      (*schedule.sizes.of(op.getOperand(static_cast<unsigned>(first))))[0];
  Value length = asI64(sizeValue(positions));

  SmallVector<Type> types = {b.getI64Type()};
  types.append(found.state.size(), pointer());
  Block *head = newBlock(types), *body = newBlock(), *after = newBlock();
  SmallVector<Value> start = {constant64(0)};
  llvm::append_range(start, found.state);
  cf::BranchOp::create(b, loc, head, start);
  b.setInsertionPointToEnd(head);
  Value i = head->getArgument(0);
  found.state.assign(head->args_begin() + 1, head->args_end());
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
    inputs.push_back(sliceAt(operands[first + k], steps[k], position));
  llvm::append_range(inputs, operands.drop_front(first + sliced));
  for (size_t k = 0; k < strides.size(); ++k)
    outputs.push_back(strides[k]
                          ? sliceAt(results[first + k], strides[k], position)
                          : results[first + k]);
  Value given = callGraph(op, 0, inputs, outputs, call.scratch);
  if (!found.results.empty()) {
    keepSlices(op, found, i, position, given);
    carried.mark = found.state.front();
  }
  nextIteration(carried);
  SmallVector<Value> again = {next};
  llvm::append_range(again, found.state);
  cf::BranchOp::create(b, loc, head, again);
  b.setInsertionPointToEnd(after);
  for (auto [k, r] : llvm::enumerate(found.results))
    lateBuffers[schedule.placements.lookup(op.getResult(r)).index] =
        head->getArgument(static_cast<unsigned>(k + 2));
}

Value EntryEmitter::sliceBytes(Value v) {
  Dims sizes = llvm::to_vector<6>(*schedule.sizes.of(v));
  sizes.erase(sizes.begin());
  auto type = cast<RankedTensorType>(v.getType());
  return asI64(sizeValue(tensorBytes(sizes, type.getElementType())));
}

Value EntryEmitter::sliceAt(Value start, Value bytes, Value position) {
  Value offset = arith::MulIOp::create(b, loc, bytes, position);
  return LLVM::GEPOp::create(b, loc, pointer(), b.getI8Type(), start,
                             ValueRange{offset});
}

void EntryEmitter::startSlices(RunGraphsOp op, FoundSlices &found) {
  if (found.results.empty())
    return;
  found.state.emplace_back();
  // Without a step nothing is found, and the results are empty.
  auto words = cast<ArrayAttr>(op->getAttrOfType<ArrayAttr>(names::kTells)[0])
                   .getAsValueRange<StringAttr>();
  for (StringRef symbol : words) {
    if (!found.symbols.empty() && found.symbols.back() == symbol)
      continue;
    found.symbols.push_back(symbol);
    LLVM::StoreOp::create(b, loc, constant64(0), sizeSlot(symbol));
  }
  found.sizes = stackWords(static_cast<int64_t>(found.symbols.size()));
  for (unsigned r : found.results)
    found.state.push_back(temporary(bytesOf(op.getResult(r))));
}

void EntryEmitter::keepSlices(RunGraphsOp op, FoundSlices &found, Value step,
                              Value position, Value given) {
  Block *first = newBlock(), *later = newBlock();
  Block *join = newBlock(SmallVector<Type>(found.state.size(), pointer()));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, step,
                                        constant64(0));
  cf::CondBranchOp::create(b, loc, isFirst, first, ValueRange{}, later,
                           ValueRange{});
  auto sizeOf = [&](unsigned s) {
    return LLVM::LoadOp::create(b, loc, b.getI64Type(),
                                sizeSlot(found.symbols[s]));
  };
  // What this step keeps stays until the call ends: the results lie above it.
  b.setInsertionPointToEnd(first);
  SmallVector<Value> made = {Value()};
  for (unsigned r : found.results)
    made.push_back(temporary(bytesOf(op.getResult(r))));
  auto mark = externalTo(pointer(), "ft_rt_mark", pointer());
  made.front() =
      LLVM::CallOp::create(b, loc, mark, entry.getArgument(kExec)).getResult();
  for (unsigned s = 0; s < found.symbols.size(); ++s)
    LLVM::StoreOp::create(b, loc, sizeOf(s), elementAt(found.sizes, s));
  cf::BranchOp::create(b, loc, join, made);
  b.setInsertionPointToEnd(later);
  for (unsigned s = 0; s < found.symbols.size(); ++s) {
    Value before =
        LLVM::LoadOp::create(b, loc, b.getI64Type(), elementAt(found.sizes, s));
    Value bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                      sizeOf(s), before);
    splitOn(bad, [&] {
      auto fail =
          external("ft_rt_fail", {pointer(), b.getI32Type(), pointer()});
      std::string sentence =
          found.symbols[s].str() + " must be the same in all steps of a scan";
      return LLVM::CallOp::create(b, loc, fail,
                                  ValueRange{entry.getArgument(kExec),
                                             constant32(FT_ERROR_GUARD),
                                             stringConstant(sentence)})
          .getResult();
    });
  }
  cf::BranchOp::create(b, loc, join, found.state);
  b.setInsertionPointToEnd(join);
  found.state.assign(join->args_begin(), join->args_end());
  for (auto [k, r] : llvm::enumerate(found.results)) {
    Value bytes = sliceBytes(op.getResult(r));
    Value slice = LLVM::LoadOp::create(b, loc, pointer(), elementAt(given, r));
    LLVM::MemcpyOp::create(b, loc, sliceAt(found.state[k + 1], bytes, position),
                           slice, bytes, /*isVolatile=*/false);
  }
}

} // namespace ft
