//===- TensorReader.cpp - Emits code for tensor elements ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/TensorReader.h"

#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ft {

TensorReader::TensorReader(OpBuilder &builder, Location loc,
                           const CpuTarget &target, KernelSizes &sizes,
                           llvm::DenseMap<Value, Value> arguments)
    : b(builder), loc(loc), target(target), space(&sizes),
      arguments(std::move(arguments)) {}

TensorReader::Scope::~Scope() {
  while (reader.undo.size() > mark) {
    reader.memory[reader.undo.back()].pop_back();
    reader.undo.pop_back();
  }
}

void TensorReader::remember(Value tensor, ArrayRef<IndexExpr> coords,
                            Value value) {
  memory[tensor].push_back(
      {Coords(coords.begin(), coords.end()), value, lanes.atom});
  undo.push_back(tensor);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Value TensorReader::read(Value tensor, ArrayRef<IndexExpr> coords) {
  if (failed)
    return Value();
  auto it = memory.find(tensor);
  if (it != memory.end())
    for (const Remembered &r : it->second)
      if (ArrayRef<IndexExpr>(r.coords) == coords &&
          (r.lane == lanes.atom || !isa<VectorType>(r.value.getType())))
        return r.value;
  Value value = readUncached(tensor, coords);
  // Loads are cheap to repeat, and the optimizer sees that they are the same.
  if (value && !memoryOf(tensor))
    remember(tensor, coords, value);
  return value;
}

Value TensorReader::readVector(Value tensor, ArrayRef<IndexExpr> coords) {
  Value v = read(tensor, coords);
  return v ? broadcast(v) : v;
}

Value TensorReader::readUncached(Value tensor, ArrayRef<IndexExpr> coords) {
  if (Value memref = memoryOf(tensor)) {
    auto type = cast<MemRefType>(memref.getType());
    return load(pointerOf(memref), type.getElementType(),
                offsetOf(memref, coords, space));
  }
  auto type = cast<RankedTensorType>(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  if (isa_and_nonnull<tensor::EmptyOp>(op))
    return zero(type.getElementType());
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(op))
    return outsideScalar(fill.getInputs()[0]);
  if (auto splat = dyn_cast_or_null<tensor::SplatOp>(op))
    return outsideScalar(splat.getInput());
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op)) {
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    if (dense.isSplat() && !isa<ComplexType>(type.getElementType()))
      return arith::ConstantOp::create(b, loc,
                                       dense.getSplatValue<TypedAttr>());
    Value pointer = constantPointer(constant);
    IndexExpr offset;
    for (auto [e, s] : llvm::zip(coords, type.getShape()))
      offset = offset * Dim(s) + e;
    return pointer ? load(pointer, type.getElementType(), offset) : Value();
  }
  if (isa_and_nonnull<tensor::ConcatOp>(op))
    return readConcat(op, coords);
  if (op)
    if (auto step = stepThroughView(op, coords, space))
      return readView(*step, tensor, coords);
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op))
    return readGeneric(generic, cast<OpResult>(tensor).getResultNumber(),
                       coords);
  failed = op ? op : tensor.getParentBlock()->getParentOp();
  return Value();
}

Value TensorReader::conditionMask(const IndexCondition &c) {
  Value v = vectorIndex(c.expr);
  auto constant = [&](Dim x) -> Value {
    if (x.isStatic())
      return arith::ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(cast<VectorType>(v.getType()), x.value()));
    return broadcast(
        arith::IndexCastOp::create(b, loc, b.getI64Type(), index(x)));
  };
  Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, v,
                                    constant(c.low));
  Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, v,
                                     constant(c.high));
  return arith::AndIOp::create(b, loc, low, high);
}

Value TensorReader::readView(const ViewStep &step, Value tensor,
                             ArrayRef<IndexExpr> coords) {
  Value all; // the condition on scalars
  Value mask;
  for (const IndexCondition &c : step.conditions) {
    if (space.within(c.expr, c.low, c.high))
      continue;
    if (varies(c.expr)) {
      Value m = conditionMask(c);
      mask = mask ? arith::AndIOp::create(b, loc, mask, m).getResult() : m;
      continue;
    }
    Value v = scalarIndex(c.expr);
    auto both = [&](arith::CmpIPredicate p, Dim x) {
      Value t = arith::CmpIOp::create(b, loc, p, v, index(x));
      all = all ? arith::AndIOp::create(b, loc, all, t).getResult() : t;
    };
    auto range = space.range(c.expr);
    if (!range || !space.nonNegative(range->first - c.low))
      both(arith::CmpIPredicate::sge, c.low);
    if (!range || !space.nonNegative(c.high - 1 - range->second))
      both(arith::CmpIPredicate::slt, c.high);
  }
  if (!all && !mask)
    return read(step.source, step.coords);

  auto otherwise = [&]() -> Value {
    return isa<RankedTensorType>(step.otherwise.getType())
               ? read(step.otherwise, coords)
               : outsideScalar(step.otherwise);
  };
  auto inside = [&]() -> Value {
    Lanes outer = lanes;
    if (mask)
      lanes.mask =
          outer.mask ? arith::AndIOp::create(b, loc, outer.mask, mask) : mask;
    Value v = read(step.source, step.coords);
    lanes = outer;
    if (!v || !mask)
      return v;
    Value other = otherwise();
    if (!other)
      return other;
    return arith::SelectOp::create(b, loc, mask, broadcast(v),
                                   broadcast(other));
  };
  Scope scope(*this);
  if (!all)
    return inside();

  // What a lane needs may not exist: the read stands under the condition.
  bool vector = lanes.width > 1;
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  Type type = vector ? Type(vectorOf(element)) : element;
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, all, true);
  OpBuilder::InsertionGuard guard(b);
  auto fillBranch = [&](Block *block, llvm::function_ref<Value()> make) {
    Scope inner(*this);
    b.setInsertionPointToStart(block);
    Value v = make();
    if (!v)
      v = zero(element);
    scf::YieldOp::create(b, loc, vector ? broadcast(v) : v);
  };
  fillBranch(branch.thenBlock(), inside);
  fillBranch(branch.elseBlock(), otherwise);
  return branch.getResult(0);
}

Value TensorReader::readConcat(Operation *op, ArrayRef<IndexExpr> coords) {
  auto concat = cast<tensor::ConcatOp>(op);
  unsigned dim = concat.getDim();
  auto type = concat.getResultType();
  // From the last input to the first: each covers the coordinates below its
  // end.
  Value result;
  auto whole = space.sizes->of(concat.getResult());
  if (!whole) {
    failed = op;
    return Value();
  }
  Dim start = (*whole)[dim];
  for (Value input : llvm::reverse(concat.getInputs())) {
    Dim size = (*space.sizes->of(input))[dim];
    start = start - size;
    ViewStep step;
    step.source = input;
    step.coords.assign(coords.begin(), coords.end());
    step.coords[dim] = step.coords[dim] + IndexExpr(start * -1);
    if (size.is(0))
      continue;
    if (!result) {
      // Lanes and branches that belong to other inputs read nothing here.
      step.otherwise = Value();
    }
    step.conditions.push_back({step.coords[dim], 0, size});
    Value otherwise = result;
    // A chain of selects: readView wants a scalar or a tensor, so the earlier
    // result is passed as a scalar that is already there.
    step.otherwise = otherwise ? otherwise : zero(type.getElementType());
    result = readView(step, op->getResult(0), coords);
    if (!result)
      return result;
  }
  return result ? result : zero(type.getElementType());
}

Value TensorReader::readGeneric(linalg::GenericOp op, unsigned result,
                                ArrayRef<IndexExpr> coords) {
  Coords dims;
  if (!loopsFromResult(op, result, coords, dims, space)) {
    failed = op;
    return Value();
  }
  SmallVector<Value> values;
  if (op.getNumReductionLoops()) {
    if (!reduce(op, dims, coords, values))
      return Value();
  } else {
    auto it = kept.find(op->getResult(result));
    IndexExpr offset;
    if (it != kept.end()) {
      for (auto [e, s] : llvm::zip(coords, it->second.strides))
        offset = offset + e * s;
      bool sameRow = it->second.complete;
      for (unsigned d = 0; sameRow && d < coords.size(); ++d)
        sameRow =
            !it->second.strides[d].is(0) || coords[d] == it->second.row[d];
      if (sameRow)
        return load(it->second.pointer, it->second.element, offset);
    }
    if (!evaluateBody(op, dims, {}, values))
      return Value();
    if (it != kept.end() && !reducing.empty() &&
        reducing.back() == it->second.writer) {
      it->second.row.assign(coords.begin(), coords.end());
      store(it->second.pointer, it->second.element, offset, values[result]);
    }
  }
  // Other results at the same coordinates, if their maps agree.
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (unsigned r = 0; r < values.size(); ++r)
    if (r != result &&
        op.getMatchingIndexingMap(op.getDpsInitOperand(r)) == map)
      remember(op->getResult(r), coords, values[r]);
  return values[result];
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Value TensorReader::outsideScalar(Value value) {
  if (Value mapped = arguments.lookup(value))
    return mapped;
  Operation *op = value.getDefiningOp();
  if (auto size = dyn_cast_or_null<SizeOp>(op))
    return index(size.dim());
  // A result made here already (concatenation).
  if (op && op->getParentRegion() != nullptr &&
      !isa<arith::ConstantOp, complex::ConstantOp>(op)) {
    bool ours = op->getParentOfType<func::FuncOp>() ==
                    b.getInsertionBlock()->getParentOp() ||
                op->getParentOfType<func::FuncOp>() ==
                    b.getInsertionBlock()
                        ->getParentOp()
                        ->getParentOfType<func::FuncOp>();
    if (ours)
      return value;
    // Scalar code of the kernel: computed again where it is needed.
    IRMapping map;
    for (Value operand : op->getOperands()) {
      Value v = outsideScalar(operand);
      if (!v)
        return Value();
      map.map(operand, v);
    }
    if (op->getNumRegions()) {
      failed = op;
      return Value();
    }
    return b.clone(*op, map)->getResult(
        cast<OpResult>(value).getResultNumber());
  }
  if (op)
    return b.clone(*op)->getResult(0);
  return value;
}

bool TensorReader::evaluateBody(linalg::GenericOp op, ArrayRef<IndexExpr> dims,
                                ValueRange carried,
                                SmallVectorImpl<Value> &yielded) {
  llvm::DenseMap<Value, Value> known;
  for (Value v : op.getBody()->getTerminator()->getOperands()) {
    Value r = evaluate(v, op, dims, carried, known);
    if (!r) {
      if (!failed)
        failed = op;
      return false;
    }
    yielded.push_back(r);
  }
  return true;
}

Value TensorReader::evaluate(Value value, linalg::GenericOp op,
                             ArrayRef<IndexExpr> dims, ValueRange carried,
                             llvm::DenseMap<Value, Value> &known) {
  if (Value v = known.lookup(value))
    return v;
  Value result;
  if (auto arg = dyn_cast<BlockArgument>(value);
      arg && arg.getOwner() == op.getBody()) {
    OpOperand &operand = op->getOpOperand(arg.getArgNumber());
    if (!carried.empty() &&
        arg.getArgNumber() >= unsigned(op.getNumDpsInputs()))
      result = carried[arg.getArgNumber() - op.getNumDpsInputs()];
    else if (!isa<RankedTensorType>(operand.get().getType()))
      result = outsideScalar(operand.get());
    else {
      Coords at;
      for (AffineExpr e : op.getMatchingIndexingMap(&operand).getResults())
        at.push_back(space.evaluate(e, dims));
      result = read(operand.get(), at);
    }
  } else if (!value.getDefiningOp() ||
             value.getDefiningOp()->getBlock() != op.getBody()) {
    result = outsideScalar(value);
  } else if (auto indexOp = value.getDefiningOp<linalg::IndexOp>()) {
    const IndexExpr &e = dims[indexOp.getDim()];
    if (varies(e))
      result = arith::IndexCastOp::create(b, loc, vectorOf(b.getIndexType()),
                                          vectorIndex(e));
    else
      result = scalarIndex(e);
  } else if (auto extract = value.getDefiningOp<tensor::ExtractOp>()) {
    Coords at;
    auto shape = space.sizes->of(extract.getTensor());
    if (!shape) {
      failed = op;
      return Value();
    }
    for (auto [d, i] : llvm::enumerate(extract.getIndices())) {
      // A counter of one step would be taken for 0.
      Dim size = (*shape)[d];
      if (size.isStatic())
        size = std::max<int64_t>(size.value(), 2);
      if (auto e = affineIndex(i, dims, space)) {
        at.push_back(*e);
        continue;
      }
      Value v = evaluate(i, op, dims, carried, known);
      if (!v)
        return Value();
      if (auto vt = dyn_cast<VectorType>(v.getType())) {
        Value wide =
            arith::IndexCastOp::create(b, loc, vectorOf(b.getI64Type()), v);
        at.push_back(space.of(space.addLanes(wide, size)));
      } else {
        at.push_back(space.of(space.addCounter(v, size)));
      }
    }
    result = read(extract.getTensor(), at);
  } else {
    Operation *inner = value.getDefiningOp();
    for (Value operand : usedBy(inner))
      if (!isa<RankedTensorType>(operand.getType()) &&
          !evaluate(operand, op, dims, carried, known))
        return Value();
    result = emitBodyOp(inner, known);
    if (!result)
      return Value();
    result = known.lookup(value);
  }
  if (result)
    known[value] = result;
  return result;
}

/// Copies one op of a body, on vectors if an operand is one.
Value TensorReader::emitBodyOp(Operation *op,
                               llvm::DenseMap<Value, Value> &known) {
  IRMapping map;
  bool vector = false;
  SmallVector<Value> operands = usedBy(op);
  llvm::erase_if(operands,
                 [](Value v) { return isa<RankedTensorType>(v.getType()); });
  for (Value operand : operands)
    vector |= isa<VectorType>(known.lookup(operand).getType());
  for (Value operand : operands) {
    Value v = known.lookup(operand);
    map.map(operand, vector ? broadcast(v) : v);
  }
  if (vector && !OpTrait::hasElementwiseMappableTraits(op)) {
    failed = op;
    return Value();
  }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op) &&
      vector && lanes.mask) {
    // Lanes that nobody asked for must not divide by zero: that traps.
    Value divisor = map.lookup(op->getOperand(1));
    Type t = divisor.getType();
    auto element = cast<VectorType>(t).getElementType();
    Value one = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(cast<VectorType>(t),
                               b.getIntegerAttr(element, 1)));
    map.map(op->getOperand(1),
            arith::SelectOp::create(b, loc, lanes.mask, divisor, one));
  }
  Operation *copy = b.clone(*op, map);
  copy->setLoc(loc);
  // What a loop reads is worked out inside of it.
  copy->walk([&](tensor::ExtractOp extract) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(extract);
    Scope scope(*this);
    Value tensor = extract.getTensor(), element;
    if (auto shape = space.sizes->of(tensor)) {
      Coords at;
      for (auto [size, i] : llvm::zip(*shape, extract.getIndices())) {
        // A counter of one step would be taken for 0.
        bool isOne = size.isStatic() && size.value() < 2;
        at.push_back(space.of(space.addCounter(i, isOne ? Dim(2) : size)));
      }
      element = read(tensor, at);
    }
    if (!element) {
      failed = op;
      return;
    }
    extract.replaceAllUsesWith(element);
    extract.erase();
  });
  if (failed)
    return Value();
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
    if (vector)
      to.setType(vectorOf(from.getType()));
    known[from] = to;
  }
  return copy->getResult(0);
}

} // namespace ft
