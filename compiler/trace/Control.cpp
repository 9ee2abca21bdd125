//===- Control.cpp - Branches and loops in a trace -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region is traced into a block of its own, by calling the program's function
// with handles of the block's arguments. What it uses of outside is captured on
// the way (TraceState::visible), each region by itself; an op's regions then
// get one argument for each tensor that any of them has captured:
//
//   then uses a, b; else uses c, a     captured: a, b, c
//   then (%a, %b, %c)                  else (%a, %b, %c)
//
// The op's rule (fake/ControlFlow.h) then says what the results are.
//
// An exception of the program's function does not come here, see Regions.cpp.
//
// Cost: the rule walks each region once more.

#include "compiler/fake/ControlFlow.h"
#include "compiler/fake/StrideRules.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/trace/CallSite.h"
#include "compiler/trace/Regions.h"
#include "dialects/ft/FtControl.h"

#include "mlir/IR/Diagnostics.h"

using namespace llvm;

namespace ft::detail {

/// Each level is walked once more by each around it, and no text that is nested
/// deeper than 256 levels can be read back.
static constexpr size_t kMostRegions = 200;

namespace {
/// One region after it was traced.
struct Traced {
  std::unique_ptr<mlir::Region> region = std::make_unique<mlir::Region>();
  TraceRegion scope;
};

class ControlCall {
public:
  ControlCall(StringRef name, const Here &here, const bool &thrown)
      : site(name, here), thrown(thrown) {}
  /// Numbers that a region made may outlive it in the program.
  ~ControlCall() {
    for (Traced &traced : regions)
      if (traced.region)
        site.trace->deadRegions.push_back(std::move(traced.region));
  }
  ControlCall(const ControlCall &) = delete;
  ControlCall &operator=(const ControlCall &) = delete;

  bool note(TensorList list);
  bool operands(StringRef argument, TensorList list,
                SmallVectorImpl<uint32_t> &ids);
  /// A region with an argument for each of `types`. False after an error.
  bool trace(const Region &body, ArrayRef<mlir::Type> types, bool needsGrad);
  /// Gives all regions the arguments for what one of them has captured.
  void alignCaptures(size_t ownArguments);
  Tensors build(mlir::OperationState &op, bool needsGrad);
  Tensors failed() const { return Tensors({}, site.failedResult()); }
  mlir::OperationState operation(StringRef mnemonic);
  SmallVector<mlir::Value> values(ArrayRef<uint32_t> ids) const;
  SmallVector<mlir::Type> types(ArrayRef<uint32_t> ids) const;
  bool anyGrad(ArrayRef<uint32_t> ids) const;

  CallSite site;
  /// Whether the program's function has thrown.
  const bool &thrown;
  std::vector<Traced> regions;
  /// What the regions have captured, as the region around the op sees it.
  SmallVector<uint32_t> captured;
  /// How many values the last region yields.
  size_t yielded = 0;
  std::string name;

private:
  void end(Traced &traced, uint32_t firstTensor);
  bool report(const mlir::Diagnostic &diagnostic);
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool ControlCall::note(TensorList list) {
  return all_of(ArrayRef(list.data(), list.size()),
                [&](const Tensor &t) { return site.note(t); });
}

bool ControlCall::operands(StringRef argument, TensorList list,
                           SmallVectorImpl<uint32_t> &ids) {
  for (size_t i = 0; i < list.size(); ++i) {
    std::string which = (argument + "[" + Twine(i) + "]").str();
    if (!list.data()[i].defined()) {
      site.refuse(DiagId::TraceMisuse,
                  which + " of " + site.callee + " is undefined");
      return false;
    }
    std::optional<uint32_t> id = site.resolve(which, list.data()[i]);
    if (!id)
      return false;
    ids.push_back(*id);
  }
  return true;
}

SmallVector<mlir::Value> ControlCall::values(ArrayRef<uint32_t> ids) const {
  return map_to_vector(
      ids, [&](uint32_t id) { return site.trace->tensors[id].value; });
}

SmallVector<mlir::Type> ControlCall::types(ArrayRef<uint32_t> ids) const {
  return map_to_vector(values(ids),
                       [](mlir::Value value) { return value.getType(); });
}

bool ControlCall::anyGrad(ArrayRef<uint32_t> ids) const {
  return gradEnabled() && any_of(ids, [&](uint32_t id) {
           return site.trace->tensors[id].requiresGrad;
         });
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

bool ControlCall::trace(const Region &body, ArrayRef<mlir::Type> types,
                        bool needsGrad) {
  TraceState &state = *site.trace;
  if (!body) {
    site.refuse(DiagId::FakeOther,
                "a region of " + site.callee + " is no function");
    return false;
  }
  if (state.regions.size() >= kMostRegions) {
    site.refuse(DiagId::TooDeep, "branches and loops are nested deeper than " +
                                     std::to_string(kMostRegions) + " levels");
    return false;
  }
  Traced &traced = regions.emplace_back();
  mlir::Block &block = traced.region->emplaceBlock();
  mlir::OpBuilder::InsertionGuard outside(state.builder);
  state.builder.setInsertionPointToEnd(&block);
  uint32_t firstTensor = static_cast<uint32_t>(state.tensors.size());
  state.regions.push_back({++state.lastRegion, &block, {}});

  std::vector<Tensor> arguments;
  for (mlir::Type type : types) {
    mlir::Value value =
        block.addArgument(type, state.location(site.here, "argument"));
    uint32_t id =
        state.addTensor(value, *metaFromType(type), state.addStorage());
    TraceTensor &tensor = state.tensors[id];
    tensor.requiresGrad = needsGrad && (isFloating(tensor.meta.dtype) ||
                                        isComplex(tensor.meta.dtype));
    tensor.leaf = !tensor.requiresGrad;
    arguments.push_back(state.handle(id));
  }
  std::vector<Tensor> results =
      body(Tensors(std::move(arguments), state.failedTensor()));
  SmallVector<uint32_t> ids;
  CallSite inside(site.callee, site.here);
  bool ok = !thrown;
  for (const Tensor &t : results)
    ok = ok && inside.note(t);
  // The handles may be of another mode, if the function opened a scope.
  ok = ok && operands("result", results, ids);
  if (ok) {
    YieldOp::create(state.builder, state.location(site.here, "yield"),
                    values(ids));
    yielded = ids.size();
  }
  end(traced, firstTensor);
  return ok;
}

/// Handles of what a region made are of no use behind it.
void ControlCall::end(Traced &traced, uint32_t firstTensor) {
  TraceState &state = *site.trace;
  traced.scope = std::move(state.regions.back());
  state.regions.pop_back();
  for (size_t id = firstTensor; id < state.tensors.size(); ++id)
    if (state.tensors[id].region == traced.scope.number)
      state.tensors[id].value = {};
}

void ControlCall::alignCaptures(size_t ownArguments) {
  SetVector<uint32_t> all;
  for (Traced &traced : regions)
    for (auto &[outer, inner] : traced.scope.captures)
      all.insert(outer);
  captured.assign(all.begin(), all.end());
  for (Traced &traced : regions) {
    mlir::Block &block = traced.region->front();
    unsigned count = block.getNumArguments();
    // Captured ones stand behind the region's own, in the order of captures.
    for (uint32_t outer : captured) {
      mlir::Value value = site.trace->tensors[outer].value;
      mlir::BlockArgument argument =
          block.addArgument(value.getType(), value.getLoc());
      auto it = traced.scope.captures.find(outer);
      if (it == traced.scope.captures.end())
        continue;
      auto position = static_cast<unsigned>(
          ownArguments +
          static_cast<size_t>(it - traced.scope.captures.begin()));
      block.getArgument(position).replaceAllUsesWith(argument);
    }
    block.eraseArguments(static_cast<unsigned>(ownArguments),
                         count - static_cast<unsigned>(ownArguments));
  }
}

//===----------------------------------------------------------------------===//
// The operation
//===----------------------------------------------------------------------===//

mlir::OperationState ControlCall::operation(StringRef mnemonic) {
  name = site.trace->uniqueName(mnemonic);
  mlir::OperationState op(site.trace->location(site.here, name),
                          "ft." + mnemonic.str());
  for (Traced &traced : regions)
    op.addRegion(std::move(traced.region));
  return op;
}

Tensors ControlCall::build(mlir::OperationState &state, bool needsGrad) {
  TraceState &trace = *site.trace;
  mlir::Builder &b = trace.builder;
  for (size_t i = 0; i < yielded; ++i)
    state.addTypes(unknownTensorType(trace.context.get()));
  if (yielded == 1) {
    state.addAttribute(names::kName, b.getStringAttr(name));
  } else {
    SmallVector<mlir::Attribute> all;
    for (size_t i = 0; i < yielded; ++i)
      all.push_back(
          b.getStringAttr(trace.uniqueName((name + "_" + Twine(i)).str())));
    state.addAttribute(names::kName, b.getArrayAttr(all));
  }
  if (!gradEnabled())
    state.addAttribute(names::kNoGrad, b.getUnitAttr());
  mlir::Operation *op = trace.builder.create(state);

  std::string message;
  mlir::ScopedDiagnosticHandler handler(trace.context.get(),
                                        [&](mlir::Diagnostic &d) {
                                          if (message.empty())
                                            message = d.str();
                                        });
  Propagator walk;
  walk.setScope(trace.scope.get());
  if (mlir::failed(annotateControl(walk, op)) ||
      mlir::failed(checkRegionStorages(op))) {
    for (mlir::Region &region : op->getRegions())
      trace.deadRegions.emplace_back(std::make_unique<mlir::Region>())
          ->takeBody(region);
    op->erase();
    // "[FT0302] …"
    StringRef text = message;
    DiagId id = DiagId::FakeOther;
    if (text.starts_with("[FT") && text.size() > 8 &&
        findDiag(text.slice(1, 7), id))
      text = text.drop_front(8).ltrim();
    auto [what, help] = text.split("\nhelp: ");
    site.refuse(id, what, help);
    return failed();
  }
  // The walk has made the symbols of the regions anew.
  op->walk([&](mlir::Operation *inside) {
    if (!inside->hasAttr(names::kValue) || inside->getNumResults() != 1)
      return;
    if (std::optional<Dim> number = walk.numberOf(inside->getResult(0)))
      inside->setAttr(names::kValue, b.getStringAttr(number->str()));
  });
  ++trace.operations;
  std::vector<Tensor> results;
  for (mlir::Value value : op->getResults()) {
    std::optional<TensorMeta> meta = metaFromType(value.getType());
    if (!meta) {
      site.refuse(DiagId::FakeOther,
                  "a result of " + site.callee + " is no tensor with a layout");
      return failed();
    }
    bool differentiable =
        needsGrad && (isFloating(meta->dtype) || isComplex(meta->dtype));
    uint32_t id = trace.addTensor(value, *meta, trace.addStorage());
    trace.tensors[id].requiresGrad = differentiable;
    trace.tensors[id].leaf = !differentiable;
    results.push_back(trace.handle(id));
  }
  return Tensors(std::move(results), trace.failedTensor());
}

//===----------------------------------------------------------------------===//
// The three of them
//===----------------------------------------------------------------------===//

Tensors traceCond(const Tensor &predicate, TensorList operands,
                  const Region &then, const Region &otherwise, Here here,
                  const bool &thrown) {
  ControlCall call("cond", here, thrown);
  SmallVector<uint32_t> condition, ids;
  if (!call.note({predicate}) || !call.note(operands) || !call.site.settle() ||
      !call.operands("predicate", {predicate}, condition) ||
      !call.operands("operands", operands, ids))
    return call.failed();
  bool grad = call.anyGrad(ids);
  SmallVector<mlir::Type> types = call.types(ids);
  if (!call.trace(then, types, grad))
    return call.failed();
  size_t expected = call.yielded;
  if (!call.trace(otherwise, types, grad))
    return call.failed();
  if (call.yielded != expected) {
    call.site.refuse(DiagId::FakeOther, "the branches of cond return " +
                                            Twine(expected) + " and " +
                                            Twine(call.yielded) + " tensors");
    return call.failed();
  }
  call.alignCaptures(types.size());
  mlir::OperationState op = call.operation("cond");
  op.addOperands(call.values(condition));
  op.addOperands(call.values(ids));
  op.addOperands(call.values(call.captured));
  return call.build(op, grad || call.anyGrad(call.captured));
}

Tensors traceWhile(TensorList init, const Region &condition, const Region &body,
                   int64_t most, Here here, const bool &thrown) {
  ControlCall call("while_loop", here, thrown);
  SmallVector<uint32_t> ids;
  if (!call.note(init) || !call.site.settle() ||
      !call.operands("init", init, ids))
    return call.failed();
  bool grad = call.anyGrad(ids);
  SmallVector<mlir::Type> types = call.types(ids);
  for (mlir::Type &type : types) {
    // What is carried is dense: the op's rule clones what is not.
    TensorMeta meta = *metaFromType(type);
    meta.strides = cloneStrides(meta);
    meta.offset = 0;
    meta.conj = meta.neg = false;
    type = typeFromMeta(call.site.trace->context.get(), meta);
  }
  if (!call.trace(condition, types, grad) || !call.trace(body, types, grad))
    return call.failed();
  if (call.yielded != ids.size()) {
    call.site.refuse(DiagId::FakeOther,
                     "the body of while_loop returns " + Twine(call.yielded) +
                         " tensors, it carries " + Twine(ids.size()));
    return call.failed();
  }
  call.alignCaptures(types.size());
  mlir::OperationState op = call.operation("while");
  op.addOperands(call.values(ids));
  op.addOperands(call.values(call.captured));
  op.addAttribute(WhileOp::getOperandSegmentSizeAttr(),
                  mlir::DenseI32ArrayAttr::get(
                      call.site.trace->context.get(),
                      {static_cast<int32_t>(ids.size()),
                       static_cast<int32_t>(call.captured.size())}));
  if (most > 0)
    op.addAttribute(names::kBound,
                    call.site.trace->builder.getI64IntegerAttr(most));
  return call.build(op, grad || call.anyGrad(call.captured));
}

Tensors traceScan(TensorList init, TensorList xs, const Region &body,
                  int64_t dim, bool reverse, Here here, const bool &thrown) {
  ControlCall call("scan", here, thrown);
  SmallVector<uint32_t> carried, over;
  if (!call.note(init) || !call.note(xs) || !call.site.settle() ||
      !call.operands("init", init, carried) || !call.operands("xs", xs, over))
    return call.failed();
  TraceState &trace = *call.site.trace;
  SmallVector<mlir::Type> types;
  for (mlir::Type type : call.types(carried)) {
    TensorMeta meta = *metaFromType(type);
    meta.strides = cloneStrides(meta);
    meta.offset = 0;
    types.push_back(typeFromMeta(trace.context.get(), meta));
  }
  for (uint32_t id : over) {
    TensorMeta meta = trace.tensors[id].meta;
    int64_t rank = meta.rank(), at = dim < 0 ? dim + rank : dim;
    if (at < 0 || at >= rank) {
      call.site.refuse(DiagId::FakeIndex,
                       "dim " + Twine(dim) +
                           " of scan is out of range for its operand " +
                           meta.str());
      return call.failed();
    }
    meta.sizes.erase(meta.sizes.begin() + at);
    types.push_back(typeFromMeta(
        trace.context.get(),
        TensorMeta::contiguous(meta.dtype, meta.sizes, meta.device)));
  }
  bool grad = call.anyGrad(carried) || call.anyGrad(over);
  if (!call.trace(body, types, grad))
    return call.failed();
  if (call.yielded < carried.size()) {
    call.site.refuse(DiagId::FakeOther,
                     "the body of scan returns " + Twine(call.yielded) +
                         " tensors, it carries " + Twine(carried.size()));
    return call.failed();
  }
  call.alignCaptures(types.size());
  mlir::OperationState op = call.operation("scan");
  mlir::Builder &b = trace.builder;
  op.addOperands(call.values(carried));
  op.addOperands(call.values(over));
  op.addOperands(call.values(call.captured));
  op.addAttribute(
      ScanOp::getOperandSegmentSizeAttr(),
      mlir::DenseI32ArrayAttr::get(
          trace.context.get(), {static_cast<int32_t>(carried.size()),
                                static_cast<int32_t>(over.size()),
                                static_cast<int32_t>(call.captured.size())}));
  op.addAttribute("dim", b.getI64IntegerAttr(dim));
  if (reverse)
    op.addAttribute("reverse", b.getUnitAttr());
  return call.build(op, grad || call.anyGrad(call.captured));
}

} // namespace ft::detail
