//===- ControlGraphs.cpp - Branches and loops as functions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/ControlGraphs.h"

#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

std::optional<DType> dtypeOfNumber(Type type) {
  if (type.isInteger(64))
    return DType::I64;
  if (type.isInteger(1))
    return DType::Bool;
  return type.isF64() ? std::optional(DType::F64) : std::nullopt;
}

static int64_t wrapped(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + rank : dim;
}

namespace {
class GraphBuilder {
public:
  GraphBuilder(LowerState &state, Operation *op, OpBuilder &b,
               SmallVectorImpl<func::FuncOp> &graphs)
      : state(state), op(op), b(b), graphs(graphs), call(state, op, b),
        scan(dyn_cast<ScanOp>(op)) {}

  LogicalResult run() {
    if (auto loop = dyn_cast<WhileOp>(op))
      carried = static_cast<unsigned>(loop.getInits().size());
    if (scan) {
      carried = static_cast<unsigned>(scan.getInits().size());
      sliced = static_cast<unsigned>(scan.getXs().size());
    }
    if (failed(takeOperands()))
      return failure();
    call.newGroup();
    if (failed(describeResults()))
      return failure();
    SmallVector<Attribute> symbols;
    if (llvm::any_of(results, [](const Result &r) { return r.given; }))
      for (Region &region : op->getRegions())
        tells.push_back(scan ? foundByBody() : told(region));
    for (Region &region : op->getRegions()) {
      graphs.push_back(outline(region));
      symbols.push_back(FlatSymbolRefAttr::get(graphs.back()));
    }
    create(symbols);
    for (const Result &r : results)
      for (Dim d : r.meta.sizes)
        if (!d.isStatic() && (scan || d.symbolic().kind() == SymKind::Symbol))
          for (const auto &symbol : symbolsOf(d))
            state.define(symbol.getKey());
    return success();
  }

private:
  StringRef kind() const {
    return isa<CondOp>(op) ? "cond" : scan ? "scan" : "while";
  }
  InFlightDiagnostic unsupported() {
    return op->emitError("[FT0501] no code for ") << op->getName();
  }

  //===--- Operands -------------------------------------------------------===//

  /// What the functions take, in the order of the regions' arguments.
  LogicalResult takeOperands() {
    for (auto [n, v] : llvm::enumerate(op->getOperands())) {
      auto i = static_cast<unsigned>(n);
      bool predicate = i == 0 && isa<CondOp>(op);
      bool captured = !predicate && i >= carried + sliced;
      if (captured && isKnownNumber(v)) {
        isGiven.push_back(false);
        continue;
      }
      LoweredTensor t = numberTensor(v);
      if (!t.value)
        return unsupported() << " with an operand of type " << v.getType();
      if (scan && i >= carried && i < carried + sliced)
        t = positionsFirst(t);
      if (predicate)
        t = call.reshape(call.cast(t, DType::Bool), {});
      operands.push_back(call.toRowMajor(t).value);
      if (!predicate)
        isGiven.push_back(true);
    }
    return success();
  }

  /// A number that the function can work out by itself.
  bool isKnownNumber(Value v) {
    if (isa<TensorType>(v.getType()))
      return false;
    std::optional<Dim> number = state.numberOf(v);
    return v.getDefiningOp<arith::ConstantOp>() ||
           (number && state.isDefined(*number));
  }

  /// A tensor, or a number as one of rank 0.
  LoweredTensor numberTensor(Value v) {
    LoweredTensor t = call.operandOf(v);
    auto constant = v.getDefiningOp<arith::ConstantOp>();
    std::optional<DType> dtype = dtypeOfNumber(v.getType());
    if (t.value || !constant || !dtype)
      return t;
    if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
      return call.filled({}, *dtype, real.getValueAsDouble());
    APInt value = cast<IntegerAttr>(constant.getValue()).getValue();
    return call.filledInt({}, *dtype,
                          *dtype == DType::Bool ? value.getZExtValue()
                                                : value.getSExtValue());
  }

  LoweredTensor positionsFirst(const LoweredTensor &t) {
    auto dim = static_cast<unsigned>(wrapped(scan.getDim(), t.rank()));
    SmallVector<unsigned> dims = {dim};
    for (unsigned d = 0; d < t.rank(); ++d)
      if (d != dim)
        dims.push_back(d);
    return call.permute(t, dims);
  }

  //===--- Results --------------------------------------------------------===//

  struct Result {
    TensorMeta meta;                ///< logical
    SmallVector<unsigned, 6> order; ///< of its memory
    Dims physical;
    bool given = false; ///< by the function, which alone knows how large it is
  };

  LogicalResult describeResults() {
    if (isa<WhileOp>(op)) {
      Value holds = op->getRegion(0).front().getTerminator()->getOperand(0);
      std::optional<TensorMeta> meta = metaOf(holds);
      if (meta && meta->dtype != DType::Bool)
        return unsupported() << " whose condition is " << meta->str();
    }
    for (OpResult v : op->getResults()) {
      Result r;
      if (std::optional<TensorMeta> meta = metaOf(v))
        r.meta = *meta;
      else if (std::optional<DType> dtype = dtypeOfNumber(v.getType()))
        r.meta = TensorMeta::contiguous(*dtype, {});
      else
        return unsupported() << " with a result of type " << v.getType();
      r.order = identityOrder(r.meta.sizes.size());
      if (scan && v.getResultNumber() >= carried) {
        auto dim = wrapped(scan.getDim(), r.meta.rank());
        r.order.erase(r.order.begin() + dim);
        r.order.insert(r.order.begin(), static_cast<unsigned>(dim));
      }
      for (unsigned d : r.order)
        r.physical.push_back(r.meta.sizes[d]);
      r.given = !call.isDefined(r.meta);
      bool isJoined = llvm::all_of(r.meta.sizes, [&](Dim d) {
        return state.isDefined(d) || d.symbolic().kind() == SymKind::Symbol;
      });
      // What a scan stacks has one size in all steps, which the run checks.
      bool isStacked = scan && v.getResultNumber() >= carried;
      if (r.given && !isStacked && (!isa<CondOp>(op) || !isJoined))
        return unsupported() << " whose results have sizes that its body "
                             << "decides: " << r.meta.str();
      results.push_back(std::move(r));
    }
    return success();
  }

  /// What stands behind the `ft.refine` that joins two branches.
  static Value unrefined(Value v) {
    auto refine = v.getDefiningOp<RefineOp>();
    return refine ? refine.getInput() : v;
  }

  /// Symbols and what they are when the region has run.
  ArrayAttr told(Region &region) {
    SmallVector<StringRef> names;
    SmallVector<std::string> texts;
    ValueRange yielded = region.front().getTerminator()->getOperands();
    for (auto [r, v] : llvm::zip(results, yielded)) {
      std::optional<TensorMeta> meta = metaOf(unrefined(v));
      if (!r.given || !meta)
        continue;
      for (auto [size, is] : llvm::zip(r.meta.sizes, meta->sizes))
        if (!size.isStatic() && !state.isDefined(size) && size != is) {
          texts.push_back(size.str());
          texts.push_back(is.str());
        }
    }
    for (const std::string &text : texts)
      names.push_back(text);
    return b.getStrArrayAttr(names);
  }

  static llvm::StringSet<> symbolsOf(Dim d) {
    llvm::StringSet<> names;
    if (!d.isStatic())
      d.symbolic().collectSymbols(names);
    return names;
  }

  /// The symbols that the body of a scan makes sizes of its results, in pairs
  /// as above.
  ArrayAttr foundByBody() {
    llvm::StringSet<> names;
    for (const Result &r : results)
      for (Dim d : r.given ? ArrayRef<Dim>(r.meta.sizes) : ArrayRef<Dim>())
        for (const auto &symbol : symbolsOf(d))
          if (!state.isDefined(
                  Dim(d.symbolic().context().symbol(symbol.getKey()))))
            names.insert(symbol.getKey());
    SmallVector<StringRef> pairs;
    for (const auto &name : names)
      pairs.append(2, name.getKey());
    return b.getStrArrayAttr(pairs);
  }

  //===--- Functions ------------------------------------------------------===//

  /// The annotation with row-major strides; of a number that of its tensor.
  static Type rowMajorType(Type type) {
    std::optional<TensorMeta> meta = metaFromType(type);
    if (!meta)
      return type;
    TensorMeta plain = TensorMeta::contiguous(meta->dtype, meta->sizes);
    return typeFromMeta(type.getContext(), plain);
  }

  func::FuncOp outline(Region &region) {
    auto module = state.target->getParentOfType<ModuleOp>();
    std::string name;
    for (unsigned n = 0;; ++n) {
      name = "graph" + std::to_string(n);
      if (!module.lookupSymbol(name))
        break;
    }
    OpBuilder builder(module.getContext());
    builder.setInsertionPointToEnd(module.getBody());
    Operation *yield = region.front().getTerminator();
    for (OpOperand &operand : yield->getOpOperands())
      if (auto refine = operand.get().getDefiningOp<RefineOp>()) {
        operand.set(refine.getInput());
        if (refine->use_empty())
          refine->erase();
      }
    SmallVector<Type> types, outputs;
    for (BlockArgument arg : region.getArguments()) {
      arg.setType(rowMajorType(arg.getType()));
      types.push_back(arg.getType());
    }
    for (Value v : yield->getOperands())
      outputs.push_back(rowMajorType(v.getType()));
    auto function =
        func::FuncOp::create(builder, region.getLoc(), name,
                             builder.getFunctionType(types, outputs));
    function.setPrivate();
    function->setAttr(names::kKnown, state.knownSymbols());
    function->setAttr(names::kTold, state.toldSymbols());
    for (unsigned n = 0; n < types.size(); ++n)
      describeArgument(function, region.getArgument(n), n);
    for (unsigned r = 0; r < outputs.size(); ++r) {
      function.setResultAttr(r, names::kName,
                             b.getStringAttr("out" + std::to_string(r)));
      function.setResultAttr(r, names::kRole, b.getStringAttr("output"));
      if (results[r].given)
        function.setResultAttr(r, names::kGives, b.getUnitAttr());
    }
    function.getBody().takeBody(region);
    builder.setInsertionPoint(yield);
    func::ReturnOp::create(builder, yield->getLoc(), yield->getOperands());
    yield->erase();
    return function;
  }

  void describeArgument(func::FuncOp function, BlockArgument arg, unsigned n) {
    StringAttr number = n < carried ? numberOfCarried(op, n) : StringAttr();
    if (isGiven[n]) {
      function.setArgAttr(n, names::kKind, b.getStringAttr("input"));
      function.setArgAttr(n, names::kTarget,
                          b.getStringAttr("arg" + std::to_string(n)));
    } else {
      Value outside = capturedBy(arg);
      if (auto constant = outside.getDefiningOp<arith::ConstantOp>()) {
        OpBuilder inside = OpBuilder::atBlockBegin(arg.getOwner());
        arg.replaceAllUsesWith(inside.clone(*constant)->getResult(0));
        return;
      }
      number = b.getStringAttr(state.numberOf(outside)->str());
    }
    if (number)
      function.setArgAttr(n, names::kValue, number);
  }

  //===--- The call -------------------------------------------------------===//

  void create(ArrayRef<Attribute> symbols) {
    SmallVector<Type> types;
    SmallVector<Attribute> annotated;
    for (const Result &r : results) {
      SmallVector<int64_t> shape;
      for (Dim d : r.physical)
        shape.push_back(d.isStatic() ? d.value() : ShapedType::kDynamic);
      types.push_back(RankedTensorType::get(
          shape, storageType(b.getContext(), r.meta.dtype)));
      annotated.push_back(TypeAttr::get(typeFromMeta(
          b.getContext(), TensorMeta::contiguous(r.meta.dtype, r.physical))));
    }
    auto run = RunGraphsOp::create(
        b, op->getLoc(), types, b.getStringAttr(kind()),
        b.getArrayAttr(symbols), b.getI64IntegerAttr(carried), operands,
        b.getArrayAttr(annotated));
    if (scan) {
      run->setAttr(names::kSliced, b.getI64IntegerAttr(sliced));
      if (scan.getReverse())
        run->setAttr(names::kReverse, b.getUnitAttr());
    }
    if (!tells.empty())
      run->setAttr(names::kTells, b.getArrayAttr(tells));
    for (auto [n, r] : llvm::enumerate(results)) {
      LoweredTensor t = {run.getResult(static_cast<unsigned>(n)), r.order,
                         r.meta.dtype};
      t.setDims(r.meta.sizes);
      state.values[op->getResult(static_cast<unsigned>(n))] = t;
    }
    state.closeGroup(kind());
  }

  LowerState &state;
  Operation *op;
  OpBuilder &b;
  SmallVectorImpl<func::FuncOp> &graphs;
  LowerCall call;
  ScanOp scan;
  unsigned carried = 0, sliced = 0;
  SmallVector<Value> operands;
  /// Of each argument of the regions: whether it is an operand of the call.
  SmallVector<bool> isGiven;
  std::vector<Result> results;
  SmallVector<Attribute> tells;
};
} // namespace

LogicalResult lowerControl(LowerState &state, Operation *op, OpBuilder &b,
                           SmallVectorImpl<func::FuncOp> &graphs) {
  return GraphBuilder(state, op, b, graphs).run();
}

} // namespace ft
