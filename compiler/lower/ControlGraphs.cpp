//===- ControlGraphs.cpp - Branches and loops as functions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/ControlGraphs.h"

#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

/// The annotation with row-major strides.
static Type rowMajorType(Type type) {
  std::optional<TensorMeta> meta = metaFromType(type);
  if (!meta)
    return type;
  TensorMeta plain = TensorMeta::contiguous(meta->dtype, meta->sizes);
  return typeFromMeta(type.getContext(), plain);
}

static func::FuncOp outline(ModuleOp module, Region &region) {
  std::string name;
  for (unsigned n = 0;; ++n) {
    name = "graph" + std::to_string(n);
    if (!module.lookupSymbol(name))
      break;
  }
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Block &block = region.front();
  Operation *yield = block.getTerminator();
  SmallVector<Type> arguments, results;
  for (BlockArgument arg : block.getArguments()) {
    arg.setType(rowMajorType(arg.getType()));
    arguments.push_back(arg.getType());
  }
  for (Value v : yield->getOperands())
    results.push_back(rowMajorType(v.getType()));
  auto function = func::FuncOp::create(b, region.getLoc(), name,
                                       b.getFunctionType(arguments, results));
  function.setPrivate();
  for (unsigned n = 0; n < arguments.size(); ++n) {
    function.setArgAttr(n, names::kKind, b.getStringAttr("input"));
    function.setArgAttr(n, names::kTarget,
                        b.getStringAttr("arg" + std::to_string(n)));
  }
  for (unsigned r = 0; r < results.size(); ++r) {
    function.setResultAttr(r, names::kName,
                           b.getStringAttr("out" + std::to_string(r)));
    function.setResultAttr(r, names::kRole, b.getStringAttr("output"));
  }
  function.getBody().takeBody(region);
  b.setInsertionPoint(yield);
  func::ReturnOp::create(b, yield->getLoc(), yield->getOperands());
  yield->erase();
  return function;
}

LogicalResult lowerControl(LowerState &state, Operation *op, OpBuilder &b,
                           SmallVectorImpl<func::FuncOp> &graphs) {
  if (!isa<CondOp, WhileOp>(op))
    return op->emitError("[FT0501] no code for ")
           << op->getName() << " yet\nhelp: `foretrace inspect --stage fake` "
           << "shows it";
  LowerCall c(state, op, b);
  SmallVector<Value> operands;
  for (Value v : op->getOperands()) {
    LoweredTensor t = c.operandOf(v);
    if (!t.value ||
        (!isa<TensorType>(v.getType()) && !v.getType().isInteger(1)))
      return op->emitError("[FT0501] no code for ")
             << op->getName() << " with a number as operand";
    operands.push_back(c.toRowMajor(t).value);
  }
  c.newGroup();
  auto module = state.target->getParentOfType<ModuleOp>();
  SmallVector<Attribute> names;
  for (Region &region : op->getRegions()) {
    graphs.push_back(outline(module, region));
    names.push_back(FlatSymbolRefAttr::get(graphs.back()));
  }
  SmallVector<Type> types;
  std::vector<Dims> sizes;
  for (Value v : op->getResults()) {
    std::optional<TensorMeta> meta = metaOf(v);
    if (!meta)
      return op->emitError("[FT0501] no code for ")
             << op->getName() << " with a number as result";
    if (!c.isDefined(*meta))
      return op->emitError("[FT0501] no code for branches with results of "
                           "different sizes: ")
             << meta->str();
    SmallVector<int64_t> shape;
    for (Dim d : meta->sizes)
      shape.push_back(d.isStatic() ? d.value() : ShapedType::kDynamic);
    types.push_back(
        RankedTensorType::get(shape, storageType(b.getContext(), meta->dtype)));
    sizes.push_back(Dims(meta->sizes.begin(), meta->sizes.end()));
  }
  auto loop = dyn_cast<WhileOp>(op);
  int64_t carried = loop ? static_cast<int64_t>(loop.getInits().size()) : 0;
  SmallVector<Attribute> types64;
  for (Value v : op->getResults())
    types64.push_back(TypeAttr::get(rowMajorType(v.getType())));
  auto run = RunGraphsOp::create(
      b, op->getLoc(), types, b.getStringAttr(loop ? "while" : "cond"),
      b.getArrayAttr(names), b.getI64IntegerAttr(carried), operands,
      b.getArrayAttr(types64));
  for (auto [r, v] : llvm::enumerate(op->getResults())) {
    LoweredTensor t = {run.getResult(static_cast<unsigned>(r)),
                       identityOrder(sizes[r].size()), metaOf(v)->dtype};
    t.setDims(sizes[r]);
    state.values[v] = t;
  }
  state.closeGroup(loop ? "while" : "cond");
  return success();
}

} // namespace ft
