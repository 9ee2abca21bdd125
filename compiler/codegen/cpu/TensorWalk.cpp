//===- TensorWalk.cpp - What reading one tensor element involves ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/TensorWalk.h"

#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace ft {

Value memoryOf(Value tensor) {
  if (auto op = tensor.getDefiningOp<bufferization::ToTensorOp>())
    return op.getBuffer();
  return Value();
}

SmallVector<int64_t> staticStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  if (type.getLayout().isIdentity()) {
    // MLIR gives no strides for shapes with a 0.
    int64_t stride = 1;
    for (int64_t size : llvm::reverse(type.getShape())) {
      strides.push_back(stride);
      stride *= std::max<int64_t>(size, 1);
    }
    std::reverse(strides.begin(), strides.end());
    return strides;
  }
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)))
    strides.assign(type.getRank(), ShapedType::kDynamic);
  return strides;
}

IndexExpr offsetOf(Value memref, ArrayRef<IndexExpr> coords,
                   IndexSpace &space) {
  IndexExpr offset;
  for (auto [e, s] : llvm::zip(coords, space.sizes->strides(memref)))
    offset = offset + e * s;
  return offset;
}

static std::optional<Dims> numbers(ArrayRef<OpFoldResult> values) {
  Dims dims;
  for (OpFoldResult value : values) {
    std::optional<Dim> d = KernelSizes::dimOf(value);
    if (!d)
      return std::nullopt;
    dims.push_back(*d);
  }
  return dims;
}

std::optional<ViewStep>
stepThroughView(Operation *op, ArrayRef<IndexExpr> coords, IndexSpace &space) {
  ViewStep step;
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    step.source = cast.getSource();
    step.coords.assign(coords.begin(), coords.end());
    return step;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    auto offsets = numbers(slice.getMixedOffsets());
    auto strides = numbers(slice.getMixedStrides());
    if (!offsets || !strides)
      return std::nullopt;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    unsigned next = 0;
    for (unsigned d = 0; d < offsets->size(); ++d) {
      IndexExpr at = dropped.test(d) ? IndexExpr() : coords[next++];
      step.coords.push_back(at * (*strides)[d] + IndexExpr((*offsets)[d]));
    }
    step.source = slice.getSource();
    return step;
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    auto shape = space.sizes->of(expand.getResult());
    if (!shape)
      return std::nullopt;
    for (const auto &group : expand.getReassociationIndices()) {
      IndexExpr at;
      for (int64_t d : group)
        at = at * (*shape)[d] + coords[d];
      step.coords.push_back(at);
    }
    step.source = expand.getSrc();
    return step;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    auto shape = space.sizes->of(collapse.getSrc());
    if (!shape)
      return std::nullopt;
    // A size of 0 counts as 1: then nothing is read.
    auto least = [](Dim d) { return d.is(0) ? Dim(1) : d; };
    for (auto [i, group] :
         llvm::enumerate(collapse.getReassociationIndices())) {
      Dim inner = 1;
      SmallVector<IndexExpr> reversed;
      for (int64_t d : llvm::reverse(group)) {
        IndexExpr e = space.floorDiv(coords[i], inner);
        // The outermost needs no modulo: the coordinate is in range.
        reversed.push_back(
            d == group.front() ? e : space.mod(e, least((*shape)[d])));
        inner = inner * least((*shape)[d]);
      }
      llvm::append_range(step.coords, llvm::reverse(reversed));
    }
    // A scalar as a tensor of units: nothing to split.
    if (collapse.getReassociationIndices().empty())
      step.coords.assign(shape->size(), IndexExpr());
    step.source = collapse.getSrc();
    return step;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    auto low = numbers(pad.getMixedLowPad());
    Value fill = pad.getConstantPaddingValue();
    auto shape = space.sizes->of(pad.getSource());
    if (!low || !fill || !shape)
      return std::nullopt;
    for (unsigned d = 0; d < shape->size(); ++d) {
      IndexExpr at = coords[d] + IndexExpr((*low)[d] * -1);
      step.coords.push_back(at);
      step.conditions.push_back({at, 0, (*shape)[d]});
    }
    step.source = pad.getSource();
    step.otherwise = fill;
    return step;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    auto offsets = numbers(insert.getMixedOffsets());
    auto strides = numbers(insert.getMixedStrides());
    auto sizes = numbers(insert.getMixedSizes());
    if (!offsets || !strides || !sizes)
      return std::nullopt;
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    for (unsigned d = 0; d < offsets->size(); ++d) {
      IndexExpr at = coords[d] + IndexExpr((*offsets)[d] * -1);
      Dim stride = (*strides)[d];
      if (!stride.is(1))
        step.conditions.push_back({space.mod(at, stride), 0, 1});
      at = space.floorDiv(at, stride);
      step.conditions.push_back({at, 0, (*sizes)[d]});
      if (!dropped.test(d))
        step.coords.push_back(at);
    }
    step.source = insert.getSource();
    step.otherwise = insert.getDest();
    return step;
  }
  return std::nullopt;
}

bool loopsFromResult(linalg::GenericOp op, unsigned result,
                     ArrayRef<IndexExpr> coords, Coords &dims,
                     IndexSpace &space) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  SmallVector<bool> known(op.getNumLoops(), false);
  Dims sizes = space.sizes->loops(op);
  dims.assign(op.getNumLoops(), IndexExpr());
  for (auto [i, e] : llvm::enumerate(map.getResults()))
    if (auto d = dyn_cast<AffineDimExpr>(e)) {
      if (!known[d.getPosition()])
        dims[d.getPosition()] = coords[i];
      known[d.getPosition()] = true;
    }
  auto iterators = op.getIteratorTypesArray();
  for (unsigned d = 0; d < known.size(); ++d)
    if (!known[d] && iterators[d] == utils::IteratorType::parallel &&
        !sizes[d].is(1))
      return false;
  return true;
}

std::optional<IndexExpr> affineIndex(Value value, ArrayRef<IndexExpr> dims,
                                     IndexSpace &space) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return dims[index.getDim()];
  if (auto size = dyn_cast<SizeOp>(op))
    return IndexExpr(size.dim());
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return IndexExpr(constant.getSExtValue());
  if (!value.getType().isIndex())
    return std::nullopt;
  if (op->getNumOperands() != 2)
    return std::nullopt;
  auto l = affineIndex(op->getOperand(0), dims, space);
  auto r = affineIndex(op->getOperand(1), dims, space);
  if (!l || !r)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *l + *r;
  if (isa<arith::SubIOp>(op))
    return *l + *r * -1;
  if (isa<arith::MulIOp>(op)) {
    if (r->isConstant())
      return *l * r->constant;
    if (l->isConstant())
      return *r * l->constant;
    return std::nullopt;
  }
  bool positive = r->isConstant() && space.nonNegative(r->constant - Dim(1)) &&
                  space.nonNegative(*l);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op) && positive)
    return space.floorDiv(*l, r->constant);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op) && positive)
    return space.mod(*l, r->constant);
  return std::nullopt;
}

int64_t bodyOpCost(Operation *op) {
  if (isa<math::ExpOp, math::Exp2Op, math::TanhOp, math::ErfOp, math::LogOp,
          math::SinOp, math::CosOp, math::ExpM1Op, math::Log1pOp, math::Log2Op,
          math::Log10Op>(op))
    return 20;
  if (isa<math::PowFOp, math::TanOp, math::AtanOp, math::Atan2Op, math::ErfcOp,
          math::AsinOp, math::AcosOp, math::SinhOp, math::CoshOp>(op))
    return 40;
  if (isa<arith::DivFOp, arith::RemFOp, math::SqrtOp, math::RsqrtOp>(op))
    return 6;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return 10;
  if (isa<arith::ConstantOp, linalg::YieldOp, linalg::IndexOp>(op))
    return 0;
  if (op->getNumRegions()) // a loop of some steps
    return 100;
  return 1;
}

SmallVector<Value> usedBy(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  values.append(captured.begin(), captured.end());
  return values;
}

bool runsLaneByLane(Operation *op) {
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return !matchPattern(op->getOperand(1), m_Constant());
  if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
      op->getNumResults() != 1 || !isa<FloatType>(op->getResult(0).getType()))
    return false;
  if (isa<math::AbsFOp, math::SqrtOp, math::RsqrtOp, math::FloorOp,
          math::CeilOp, math::TruncOp, math::RoundEvenOp, math::CopySignOp,
          math::FmaOp>(op))
    return false;
  if (isa<math::PowFOp>(op) && matchPattern(op->getOperand(1), m_Constant()))
    return false;
  // What MathLowering has polynomials for.
  return op->getResult(0).getType().isF64() ||
         !isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp,
              math::Log2Op, math::Log10Op, math::Log1pOp, math::TanhOp,
              math::ErfOp, math::SinOp, math::CosOp, math::TanOp>(op);
}

void TensorWalk::addAccess(Value memory, IndexExpr offset, Type element) {
  if (auto c = dyn_cast<ComplexType>(element))
    element = c.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  accesses.push_back(
      {memory, std::move(offset), std::max<int64_t>(bits / 8, 1), times});
}

bool TensorWalk::read(Value tensor, ArrayRef<IndexExpr> coords) {
  if (leaves.contains(tensor))
    return true;
  for (const Visit &v : visited)
    if (v.tensor == tensor && ArrayRef<IndexExpr>(v.coords) == coords)
      return true;
  visited.push_back({tensor, Coords(coords.begin(), coords.end()), within});

  if (Value memory = memoryOf(tensor)) {
    auto type = cast<MemRefType>(memory.getType());
    addAccess(memory, offsetOf(memory, coords, space), type.getElementType());
    return true;
  }
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return false;
  if (isa<tensor::EmptyOp, linalg::FillOp, tensor::SplatOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!cast<DenseElementsAttr>(constant.getValue()).isSplat()) {
      IndexExpr offset;
      for (auto [e, s] : llvm::zip(coords, type.getShape()))
        offset = offset * Dim(s) + e;
      addAccess(tensor, offset, type.getElementType());
    }
    return true;
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    Dim start = 0;
    for (Value input : concat.getInputs()) {
      Coords at(coords.begin(), coords.end());
      at[concat.getDim()] = at[concat.getDim()] + IndexExpr(start * -1);
      auto shape = space.sizes->of(input);
      if (!shape || !read(input, at))
        return false;
      start = start + (*shape)[concat.getDim()];
    }
    return true;
  }
  if (auto view = stepThroughView(op, coords, space)) {
    for (const IndexCondition &c : view->conditions)
      conditional |= !space.within(c.expr, c.low, c.high);
    if (view->otherwise && isa<RankedTensorType>(view->otherwise.getType()) &&
        !read(view->otherwise, coords))
      return false;
    return read(view->source, view->coords);
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic) {
    unsupported = op;
    return false;
  }
  Coords dims;
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  if (!loopsFromResult(generic, result, coords, dims, space)) {
    unsupported = op;
    return false;
  }
  int64_t outer = times;
  Operation *outerWithin = within;
  if (generic.getNumReductionLoops()) {
    int64_t points = 1;
    Dims sizes = space.sizes->loops(generic);
    for (auto [d, kind] : llvm::enumerate(generic.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction) {
        dims[d] = space.of(space.addCounter(Value(), sizes[d]));
        points *= space.sizes->estimate(sizes[d], 0);
      }
    reductions.push_back(
        {generic, Coords(coords.begin(), coords.end()), points});
    times *= std::max<int64_t>(points, 1);
    // The initial values.
    for (OpOperand &init : generic.getDpsInitsMutable())
      if (!read(init.get(), coords))
        return false;
    within = generic;
  }
  bool ok = readBody(generic, dims);
  times = outer;
  within = outerWithin;
  return ok;
}

SmallVector<Value> TensorWalk::pointwise() const {
  SmallVector<Value> values;
  for (const Visit &v : visited) {
    auto op = v.tensor.getDefiningOp<linalg::GenericOp>();
    if (op && !op.getNumReductionLoops() &&
        !llvm::is_contained(values, v.tensor))
      values.push_back(v.tensor);
  }
  return values;
}

bool TensorWalk::readBody(linalg::GenericOp op, ArrayRef<IndexExpr> dims) {
  llvm::DenseSet<Value> seen;
  for (Operation &inner : *op.getBody()) {
    cost += bodyOpCost(&inner) * times;
    laneByLane |= runsLaneByLane(&inner);
    for (Type t : inner.getResultTypes())
      if (t.isIntOrFloat())
        valueBytes =
            std::max<int64_t>(valueBytes, t.getIntOrFloatBitWidth() / 8);
  }
  for (Value v : op.getBody()->getTerminator()->getOperands())
    if (!readScalar(v, op, dims, seen)) {
      if (!unsupported)
        unsupported = op;
      return false;
    }
  return true;
}

bool TensorWalk::readScalar(Value value, linalg::GenericOp op,
                            ArrayRef<IndexExpr> dims,
                            llvm::DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return true;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    if (arg.getOwner() != op.getBody())
      return true;
    OpOperand &operand = op->getOpOperand(arg.getArgNumber());
    if (!isa<RankedTensorType>(operand.get().getType()))
      return true;
    // The accumulator is no memory; a pointwise op's init is.
    if (op.getNumReductionLoops() &&
        arg.getArgNumber() >= unsigned(op.getNumDpsInputs()))
      return true;
    Coords at;
    for (AffineExpr e : op.getMatchingIndexingMap(&operand).getResults())
      at.push_back(space.evaluate(e, dims));
    return read(operand.get(), at);
  }
  Operation *inner = value.getDefiningOp();
  if (inner->getBlock() != op.getBody())
    return true;
  if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
    Coords at;
    for (Value index : extract.getIndices()) {
      if (auto e = affineIndex(index, dims, space)) {
        at.push_back(*e);
        continue;
      }
      size_t before = accesses.size();
      if (!readScalar(index, op, dims, seen))
        return false;
      // The number depends on what its own reads depend on.
      IndexExpr depends;
      for (size_t i = before; i < accesses.size(); ++i)
        depends = depends + accesses[i].offset;
      for (const IndexExpr &d : dims)
        if (before == accesses.size())
          depends = depends + d;
      unsigned atom = space.addLanes(Value(), Dim(int64_t(1) << 40));
      space.setNumerator(atom, depends);
      at.push_back(space.of(atom));
    }
    return read(extract.getTensor(), at);
  }
  // What a loop inside reads may be anywhere.
  bool readable = true;
  for (Region &region : inner->getRegions())
    region.walk([&](tensor::ExtractOp extract) {
      IndexExpr depends;
      for (const IndexExpr &d : dims)
        depends = depends + d;
      Coords at;
      for (size_t i = 0; i < extract.getIndices().size(); ++i) {
        unsigned atom = space.addLanes(Value(), Dim(int64_t(1) << 40));
        space.setNumerator(atom, depends);
        at.push_back(space.of(atom));
      }
      readable &= read(extract.getTensor(), at);
    });
  for (Value used : usedBy(inner))
    if (!readScalar(used, op, dims, seen))
      return false;
  return readable;
}

} // namespace ft
