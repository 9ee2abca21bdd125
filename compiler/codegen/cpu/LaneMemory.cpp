//===- LaneMemory.cpp - Numbers, masks, loads and stores of lanes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/TensorReader.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value TensorReader::index(int64_t c) {
  return arith::ConstantIndexOp::create(b, loc, c);
}

Value TensorReader::index(Dim d) {
  if (d.isStatic())
    return index(d.value());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(afterSizes);
  return sizeCode.emit(b, loc, d, [&](StringRef name) -> Value {
    if (Value argument = space.sizes->symbol(name))
      return arguments.lookup(argument);
    return index(0);
  });
}

VectorType TensorReader::vectorOf(Type element) const {
  return VectorType::get({int64_t(lanes.width)}, element);
}

Value TensorReader::broadcast(Value v) {
  if (lanes.width == 1 || isa<VectorType>(v.getType()))
    return v;
  return vector::BroadcastOp::create(b, loc, vectorOf(v.getType()), v);
}

Value TensorReader::zero(Type element) {
  if (auto c = dyn_cast<ComplexType>(element)) {
    Attribute part = b.getZeroAttr(c.getElementType());
    return complex::ConstantOp::create(b, loc, element,
                                       b.getArrayAttr({part, part}));
  }
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
}

/// Whether division atoms in `e` are the same for all lanes although they
/// contain the lane counter: the lanes do not cross a multiple of the
/// denominator. (n floordiv 32 for 16 lanes from a multiple of 16.)
static bool uniformDivision(IndexSpace &space, const IndexSpace::Atom &atom,
                            const Lanes &lanes) {
  if (space.dividesBy(atom.numerator, lanes.atom))
    return false;
  for (auto [id, c] : atom.numerator.terms)
    if (space.atom(id).kind == IndexSpace::Kind::Lanes)
      return false;
  Dim stride = atom.numerator.coefficient(lanes.atom);
  if (!stride.isStatic() || stride.value() <= 0)
    return stride.is(0);
  int64_t span = stride.value() * int64_t(lanes.width);
  int64_t base = space.divisor(atom.numerator);
  return knownDivisor(atom.denominator) % span == 0 && base % span == 0;
}

bool TensorReader::varies(const IndexExpr &e) {
  if (lanes.width == 1)
    return false;
  for (const auto &[id, c] : e.terms) {
    if (id == lanes.atom)
      return true;
    const IndexSpace::Atom &a = space.atom(id);
    if (a.kind == IndexSpace::Kind::Lanes)
      return true;
    if (a.kind == IndexSpace::Kind::Division && varies(a.numerator) &&
        !uniformDivision(space, a, lanes))
      return true;
  }
  return false;
}

Value TensorReader::scalarIndex(const IndexExpr &e) {
  Value sum;
  for (auto [id, c] : e.terms) {
    const IndexSpace::Atom a = space.atom(id);
    Value v;
    if (a.kind == IndexSpace::Kind::Division) {
      Value n = scalarIndex(a.numerator);
      if (space.nonNegative(a.numerator))
        v = arith::DivUIOp::create(b, loc, n, index(a.denominator));
      else
        v = arith::FloorDivSIOp::create(b, loc, n, index(a.denominator));
    } else {
      v = a.value;
    }
    if (!c.is(1))
      v = arith::MulIOp::create(b, loc, v, index(c));
    sum = sum ? arith::AddIOp::create(b, loc, sum, v).getResult() : v;
  }
  if (!sum)
    return index(e.constant);
  if (!e.constant.is(0))
    sum = arith::AddIOp::create(b, loc, sum, index(e.constant));
  return sum;
}

Value TensorReader::vectorIndex(const IndexExpr &e) {
  VectorType type = vectorOf(b.getI64Type());
  auto splat = [&](Dim x) -> Value {
    if (x.isStatic())
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(type, x.value()));
    return broadcast(
        arith::IndexCastOp::create(b, loc, b.getI64Type(), index(x)));
  };
  // The part that is the same for all lanes, then the others one by one.
  IndexExpr uniform(e.constant);
  Value sum;
  auto add = [&](Value v) {
    sum = sum ? arith::AddIOp::create(b, loc, sum, v).getResult() : v;
  };
  for (auto [id, c] : e.terms) {
    IndexExpr term;
    term.terms.push_back({id, c});
    if (!varies(term)) {
      uniform = uniform + term;
      continue;
    }
    const IndexSpace::Atom a = space.atom(id);
    Value v;
    if (id == lanes.atom) {
      int64_t each = c.isStatic() ? c.value() : 1;
      SmallVector<int64_t> steps;
      for (unsigned l = 0; l < lanes.width; ++l)
        steps.push_back(int64_t(l) * each);
      uniform = uniform + term; // the value at lane 0
      Value all = arith::ConstantOp::create(
          b, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(steps)));
      if (!c.isStatic())
        all = arith::MulIOp::create(b, loc, all, splat(c));
      add(all);
      continue;
    }
    if (a.kind == IndexSpace::Kind::Division) {
      Value n = vectorIndex(a.numerator);
      if (space.nonNegative(a.numerator)) {
        // 32-bit divisions are far cheaper where they are enough.
        Dim top = space.range(a.numerator)->second;
        if (top.isStatic() && a.denominator.isStatic() &&
            top.value() < (int64_t(1) << 31) - 64) {
          VectorType narrow = vectorOf(b.getI32Type());
          Value t = arith::TruncIOp::create(b, loc, narrow, n);
          Value d = arith::ConstantOp::create(
              b, loc,
              DenseElementsAttr::get(narrow, int32_t(a.denominator.value())));
          v = arith::ExtUIOp::create(b, loc, type,
                                     arith::DivUIOp::create(b, loc, t, d));
        } else {
          v = arith::DivUIOp::create(b, loc, n, splat(a.denominator));
        }
      } else {
        v = arith::FloorDivSIOp::create(b, loc, n, splat(a.denominator));
      }
    } else {
      v = a.value;
    }
    if (!c.is(1))
      v = arith::MulIOp::create(b, loc, v, splat(c));
    add(v);
  }
  if (!uniform.isConstant() || !uniform.constant.is(0) || !sum) {
    Value s = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                         scalarIndex(uniform));
    add(broadcast(s));
  }
  return sum;
}

Value TensorReader::maskBelow(Value count) {
  VectorType type = vectorOf(b.getI32Type());
  SmallVector<int32_t> steps;
  for (unsigned l = 0; l < lanes.width; ++l)
    steps.push_back(l);
  Value iota = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(steps)));
  // Counts that 32 bits do not hold are of all lanes.
  Value most = arith::MinSIOp::create(b, loc, count, index(lanes.width));
  Value n = arith::IndexCastOp::create(b, loc, b.getI32Type(), most);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, iota,
                               broadcast(n));
}

Value TensorReader::fullMask() {
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(vectorOf(b.getI1Type()), true));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The type of an element in memory, for address arithmetic and scalar loads.
static Type memoryType(Type element, OpBuilder &b) {
  if (auto c = dyn_cast<ComplexType>(element))
    return LLVM::LLVMStructType::getLiteral(
        b.getContext(), {c.getElementType(), c.getElementType()});
  if (element.isIndex())
    return b.getI64Type();
  if (element.isInteger(1))
    return b.getI8Type();
  // As bits: targets without these types convert them when they move them.
  if (element.isBF16())
    return b.getI16Type();
  return element;
}

static unsigned alignmentOf(Type element) {
  if (auto c = dyn_cast<ComplexType>(element))
    element = c.getElementType();
  return std::max(1u,
                  element.isIndex() ? 8u : element.getIntOrFloatBitWidth() / 8);
}

/// A constant part is added last, so that reads of neighbours share the rest.
Value TensorReader::address(Value pointer, Type element,
                            const IndexExpr &offset) {
  Type type = memoryType(element, b);
  Type ptr = pointer.getType();
  IndexExpr variable = offset;
  int64_t fixed = 0;
  if (offset.constant.isStatic()) {
    fixed = offset.constant.value();
    variable.constant = 0;
  }
  if (!variable.isConstant() || !variable.constant.is(0)) {
    Value at = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                          scalarIndex(variable));
    pointer = LLVM::GEPOp::create(b, loc, ptr, type, pointer,
                                  ArrayRef<LLVM::GEPArg>{at},
                                  LLVM::GEPNoWrapFlags::inbounds);
  }
  if (fixed) {
    if (llvm::isInt<31>(fixed)) {
      pointer = LLVM::GEPOp::create(b, loc, ptr, type, pointer,
                                    ArrayRef<LLVM::GEPArg>{int32_t(fixed)});
    } else {
      Value at = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(fixed));
      pointer = LLVM::GEPOp::create(b, loc, ptr, type, pointer,
                                    ArrayRef<LLVM::GEPArg>{at});
    }
  }
  return pointer;
}

/// Stride between lanes if it is the same for all.
static std::optional<Dim> laneStride(TensorReader &r, const IndexExpr &e) {
  Dim stride = e.coefficient(r.lanes.atom);
  IndexExpr lane;
  if (!stride.is(0))
    lane.terms.push_back({r.lanes.atom, stride});
  if (r.varies(e + lane * -1))
    return std::nullopt;
  return stride;
}

Value TensorReader::load(Value pointer, Type element, const IndexExpr &offset) {
  unsigned align = alignmentOf(element);
  auto narrow = [&](Value v) -> Value {
    if (element.isBF16()) {
      Type t = isa<VectorType>(v.getType()) ? Type(vectorOf(element)) : element;
      return arith::BitcastOp::create(b, loc, t, v);
    }
    if (!element.isInteger(1))
      return v;
    Value z = arith::ConstantOp::create(b, loc, b.getZeroAttr(v.getType()));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, z);
  };
  Type stored = memoryType(element, b);
  if (!varies(offset)) {
    Value at = address(pointer, element, offset);
    Value v = LLVM::LoadOp::create(b, loc, stored, at, align);
    if (auto c = dyn_cast<ComplexType>(element)) {
      Value re = LLVM::ExtractValueOp::create(b, loc, v, 0);
      Value im = LLVM::ExtractValueOp::create(b, loc, v, 1);
      return complex::CreateOp::create(b, loc, element, re, im);
    }
    if (element.isIndex())
      return arith::IndexCastOp::create(b, loc, element, v);
    return narrow(v);
  }
  VectorType type = vectorOf(stored);
  auto stride = laneStride(*this, offset);
  Value v;
  if (stride && stride->is(1)) {
    Value at = address(pointer, element, offset);
    if (lanes.mask) {
      Value pass = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
      v = LLVM::MaskedLoadOp::create(b, loc, type, at, lanes.mask, pass,
                                     b.getI32IntegerAttr(align), UnitAttr());
    } else {
      v = LLVM::LoadOp::create(b, loc, type, at, align);
    }
  } else {
    Value at = vectorIndex(offset);
    VectorType pointers = vectorOf(pointer.getType());
    Value ptrs = LLVM::GEPOp::create(b, loc, pointers, stored, pointer,
                                     ArrayRef<LLVM::GEPArg>{at});
    Value pass = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    v = LLVM::masked_gather::create(
        b, loc, type, ptrs, lanes.mask ? lanes.mask : fullMask(),
        ValueRange{pass}, b.getI32IntegerAttr(align));
  }
  if (element.isIndex())
    return arith::IndexCastOp::create(b, loc, vectorOf(element), v);
  return narrow(v);
}

void TensorReader::store(Value pointer, Type element, const IndexExpr &offset,
                         Value value) {
  unsigned align = alignmentOf(element);
  bool vector = lanes.width > 1 && varies(offset);
  if (vector)
    value = broadcast(value);
  else if (isa<VectorType>(value.getType())) // one element for all lanes
    value = vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{0});
  if (element.isInteger(1)) {
    Type wide = vector ? Type(vectorOf(b.getI8Type())) : b.getI8Type();
    value = arith::ExtUIOp::create(b, loc, wide, value);
  }
  if (element.isBF16()) {
    Type bits = vector ? Type(vectorOf(b.getI16Type())) : b.getI16Type();
    value = arith::BitcastOp::create(b, loc, bits, value);
  }
  if (element.isIndex()) {
    Type wide = vector ? Type(vectorOf(b.getI64Type())) : b.getI64Type();
    value = arith::IndexCastOp::create(b, loc, wide, value);
  }
  if (!vector) {
    Value at = address(pointer, element, offset);
    if (auto c = dyn_cast<ComplexType>(element)) {
      Type part = c.getElementType();
      Value re = complex::ReOp::create(b, loc, part, value);
      Value im = complex::ImOp::create(b, loc, part, value);
      LLVM::StoreOp::create(b, loc, re, at, align);
      Value second = LLVM::GEPOp::create(b, loc, at.getType(), part, at,
                                         ArrayRef<LLVM::GEPArg>{int32_t(1)});
      LLVM::StoreOp::create(b, loc, im, second, align);
      return;
    }
    LLVM::StoreOp::create(b, loc, value, at, align);
    return;
  }
  auto stride = laneStride(*this, offset);
  if (stride && stride->is(1)) {
    Value at = address(pointer, element, offset);
    if (lanes.mask)
      LLVM::MaskedStoreOp::create(b, loc, value, at, lanes.mask,
                                  b.getI32IntegerAttr(align));
    else
      LLVM::StoreOp::create(b, loc, value, at, align);
    return;
  }
  Type stored = memoryType(element, b);
  Value at = vectorIndex(offset);
  Value ptrs = LLVM::GEPOp::create(b, loc, vectorOf(pointer.getType()), stored,
                                   pointer, ArrayRef<LLVM::GEPArg>{at});
  LLVM::masked_scatter::create(b, loc, value, ptrs,
                               lanes.mask ? lanes.mask : fullMask(),
                               b.getI32IntegerAttr(align));
}

Value TensorReader::loadRow(Value pointer, Type element,
                            const IndexExpr &offset) {
  Value at = address(pointer, element, offset);
  Type type = lanes.width > 1 ? Type(vectorOf(element)) : element;
  return LLVM::LoadOp::create(b, loc, type, at, alignmentOf(element));
}

void TensorReader::storeRow(Value pointer, Type element,
                            const IndexExpr &offset, Value value) {
  Value at = address(pointer, element, offset);
  LLVM::StoreOp::create(b, loc, broadcast(value), at, alignmentOf(element));
}

void TensorReader::write(Value memref, ArrayRef<IndexExpr> coords,
                         Value value) {
  auto type = cast<MemRefType>(memref.getType());
  store(pointerOf(memref), type.getElementType(),
        offsetOf(memref, coords, space), value);
}

Value TensorReader::stackArray(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  Operation *f = b.getInsertionBlock()->getParentOp();
  auto func = dyn_cast<func::FuncOp>(f);
  if (!func)
    func = f->getParentOfType<func::FuncOp>();
  b.setInsertionPointToStart(&func.front());
  Value n = arith::ConstantOp::create(
      b, loc, b.getI64IntegerAttr(std::max<int64_t>(count, 1)));
  return LLVM::AllocaOp::create(b, loc,
                                LLVM::LLVMPointerType::get(b.getContext()),
                                memoryType(element, b), n, 64);
}

Value TensorReader::constantPointer(arith::ConstantOp op) {
  Value &known = constantPointers[op.getResult()];
  if (known)
    return known;
  auto type = cast<RankedTensorType>(op.getType());
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  Type element = type.getElementType();
  if (!dense || element.isIndex() || isa<ComplexType>(element)) {
    failed = op;
    return Value();
  }
  OpBuilder::InsertionGuard guard(b);
  Operation *f = b.getInsertionBlock()->getParentOp();
  auto func = dyn_cast<func::FuncOp>(f);
  if (!func)
    func = f->getParentOfType<func::FuncOp>();
  auto module = func->getParentOfType<ModuleOp>();
  // i1 is a byte in memory.
  if (element.isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool x : dense.getValues<bool>())
      bytes.push_back(x);
    element = b.getI8Type();
    dense =
        DenseElementsAttr::get(RankedTensorType::get(type.getShape(), element),
                               ArrayRef<int8_t>(bytes));
  }
  int64_t count = type.getNumElements();
  auto flat = RankedTensorType::get({count}, element);
  std::string name =
      (func.getName() + "$const" + llvm::Twine(constantPointers.size())).str();
  b.setInsertionPointToStart(module.getBody());
  auto global = LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(element, count), /*isConstant=*/true,
      LLVM::Linkage::Internal, name, dense.reshape(flat), /*alignment=*/64);
  b.setInsertionPointToStart(&func.front());
  known = LLVM::AddressOfOp::create(b, loc, global);
  return known;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value> TensorReader::loop(Value low, Value high, int64_t step,
                                      Dim size, int64_t divisor,
                                      ValueRange carried, LoopBody body) {
  auto f = scf::ForOp::create(b, loc, low, high, index(step), carried);
  OpBuilder::InsertionGuard guard(b);
  Scope scope(*this);
  b.setInsertionPointToStart(f.getBody());
  unsigned atom = space.addCounter(f.getInductionVar(), size, divisor);
  SmallVector<Value> next = body(atom, f.getRegionIterArgs());
  // A loop without results got its terminator when it was made.
  if (!carried.empty())
    scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(f.getResults());
}

unsigned TensorReader::preferredWidth(int64_t bytes, int64_t cost,
                                      int64_t extent, bool laneByLane) const {
  if (scalarOnly)
    return 1;
  int64_t native = std::max<int64_t>(target.isa.vectorBytes / bytes, 1);
  // Four registers hide the latency of one addition; where the body is a long
  // polynomial, two leave room for its temporaries.
  int64_t width = native * (cost > 15 ? 2 : 4);
  width = std::min<int64_t>(width, 64);
  // Taken apart, a wide vector is many calls and gains nothing.
  if (laneByLane)
    width = std::min<int64_t>(native, 8);
  while (width > 1 && width / 2 >= extent)
    width /= 2;
  if (!target.isa.maskedMemory && width > extent)
    width /= 2;
  return width;
}

} // namespace ft
