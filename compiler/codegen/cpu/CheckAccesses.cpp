//===- CheckAccesses.cpp - Guards the memory accesses of kernels ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: tests/unit/codegen/CheckAccessesTest.cpp

#include "compiler/codegen/cpu/CheckAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ft {

namespace {

/// One load or store.
struct Access {
  OpOperand *address; ///< a pointer, or a vector of them
  OpOperand *mask;    ///< null: all of it is touched
  Type type;          ///< what is moved
  int64_t alignment;
  bool store;
};

class AccessChecker {
public:
  AccessChecker(func::FuncOp kernel, ArrayRef<CheckedBuffer> buffers)
      : kernel(kernel), buffers(buffers.begin(), buffers.end()), b(kernel),
        loc(kernel.getLoc()) {}

  LogicalResult run();

private:
  std::optional<Access> accessOf(Operation *op);
  const CheckedBuffer *bufferOf(Value address);
  LogicalResult guard(Operation *op, Access access);
  void report(Value bad, Value at, const Access &access,
              const CheckedBuffer &buffer);

  Value constant(int64_t x) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(x));
  }
  Value compare(arith::CmpIPredicate p, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, p, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value addressNumber(Value p, Type type) {
    return LLVM::PtrToIntOp::create(b, loc, type, p);
  }
  /// 0 <= at && at + bytes <= limit, and the alignment of the address.
  Value inside(Value at, Value address, int64_t bytes, Value limit,
               int64_t alignment);
  Value spread(Value scalar, Type like) {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? vector::BroadcastOp::create(b, loc, vector, scalar)
                  : scalar;
  }
  Value text(const std::string &what);

  func::FuncOp kernel;
  SmallVector<CheckedBuffer> buffers;
  OpBuilder b;
  Location loc;
  Value aside;
  unsigned accesses = 0;
};

} // namespace

/// Bytes of a type as it is in memory.
static int64_t bytesOf(Type type) {
  return llvm::TypeSwitch<Type, int64_t>(type)
      .Case([](VectorType t) {
        return t.getNumElements() * bytesOf(t.getElementType());
      })
      .Case([](LLVM::LLVMArrayType t) {
        return int64_t(t.getNumElements()) * bytesOf(t.getElementType());
      })
      .Case([](LLVM::LLVMStructType t) { // of equal parts
        return int64_t(t.getBody().size()) * bytesOf(t.getBody().front());
      })
      .Default([](Type t) {
        return t.isIntOrFloat() ? (t.getIntOrFloatBitWidth() + 7) / 8 : 8;
      });
}

std::optional<Access> AccessChecker::accessOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Access>>(op)
      .Case([](LLVM::LoadOp o) {
        return Access{&o.getAddrMutable(), nullptr, o.getType(),
                      int64_t(o.getAlignment().value_or(1)), false};
      })
      .Case([](LLVM::StoreOp o) {
        return Access{&o.getAddrMutable(), nullptr, o.getValue().getType(),
                      int64_t(o.getAlignment().value_or(1)), true};
      })
      .Case([](LLVM::MaskedLoadOp o) {
        return Access{&o.getDataMutable(), &o.getMaskMutable(), o.getType(),
                      int64_t(o.getAlignment()), false};
      })
      .Case([](LLVM::MaskedStoreOp o) {
        return Access{&o.getDataMutable(), &o.getMaskMutable(),
                      o.getValue().getType(), int64_t(o.getAlignment()), true};
      })
      .Case([](LLVM::masked_gather o) {
        return Access{&o.getPtrsMutable(), &o.getMaskMutable(), o.getType(),
                      int64_t(o.getAlignment()), false};
      })
      .Case([](LLVM::masked_scatter o) {
        return Access{&o.getPtrsMutable(), &o.getMaskMutable(),
                      o.getValue().getType(), int64_t(o.getAlignment()), true};
      })
      .Default([](Operation *) { return std::nullopt; });
}

const CheckedBuffer *AccessChecker::bufferOf(Value address) {
  Value root = address;
  while (auto gep = root.getDefiningOp<LLVM::GEPOp>())
    root = gep.getBase();
  for (const CheckedBuffer &buffer : buffers)
    if (buffer.pointer == root)
      return &buffer;
  // What the kernel has itself.
  OpBuilder::InsertionGuard guard(b);
  Operation *op = root.getDefiningOp();
  if (auto alloca = dyn_cast_or_null<LLVM::AllocaOp>(op)) {
    b.setInsertionPointAfter(op);
    Value bytes = arith::MulIOp::create(
        b, loc, alloca.getArraySize(), constant(bytesOf(alloca.getElemType())));
    bytes = arith::IndexCastOp::create(b, loc, b.getIndexType(), bytes);
    buffers.push_back({root, bytes, "an array of the kernel"});
    return &buffers.back();
  }
  if (auto addressOf = dyn_cast_or_null<LLVM::AddressOfOp>(op)) {
    auto module = kernel->getParentOfType<ModuleOp>();
    auto global =
        module.lookupSymbol<LLVM::GlobalOp>(addressOf.getGlobalName());
    if (!global)
      return nullptr;
    b.setInsertionPointAfter(op);
    Value bytes =
        arith::ConstantIndexOp::create(b, loc, bytesOf(global.getGlobalType()));
    buffers.push_back({root, bytes, "a constant"});
    return &buffers.back();
  }
  return nullptr;
}

Value AccessChecker::inside(Value at, Value address, int64_t bytes, Value limit,
                            int64_t alignment) {
  Type type = at.getType();
  auto all = [&](int64_t x) { return spread(constant(x), type); };
  Value last = arith::SubIOp::create(b, loc, limit, constant(bytes));
  Value ok = both(compare(arith::CmpIPredicate::sge, at, all(0)),
                  compare(arith::CmpIPredicate::sle, at, spread(last, type)));
  if (alignment <= 1)
    return ok;
  Value rest = both(addressNumber(address, type), all(alignment - 1));
  return both(ok, compare(arith::CmpIPredicate::eq, rest, all(0)));
}

Value AccessChecker::text(const std::string &what) {
  auto module = kernel->getParentOfType<ModuleOp>();
  std::string name =
      (kernel.getName() + "$access" + llvm::Twine(accesses)).str();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), what.size() + 1);
  auto global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                                       LLVM::Linkage::Internal, name,
                                       b.getStringAttr(what + '\0'));
  b.setInsertionPointToStart(&kernel.front());
  return LLVM::AddressOfOp::create(b, loc, global);
}

/// Calls ft_rt_fail_access if `bad`.
void AccessChecker::report(Value bad, Value at, const Access &access,
                           const CheckedBuffer &buffer) {
  constexpr llvm::StringLiteral kName = "ft_rt_fail_access";
  auto module = kernel->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(kName);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                    {pointer, b.getI64Type(), b.getI64Type()});
    callee = LLVM::LLVMFuncOp::create(b, loc, kName, type);
  }
  std::string what;
  llvm::raw_string_ostream os(what);
  os << "kernel \"" << kernel.getName() << "\": access " << accesses << ", a "
     << (access.store ? "store to " : "load from ") << buffer.name << " of "
     << access.type << " aligned to " << access.alignment;
  Value where = text(what);
  auto branch = scf::IfOp::create(b, loc, bad);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value limit =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), buffer.bytes);
  LLVM::CallOp::create(b, loc, callee, ValueRange{where, at, limit});
}

LogicalResult AccessChecker::guard(Operation *op, Access access) {
  Value address = access.address->get();
  const CheckedBuffer *found = bufferOf(address);
  if (!found)
    return op->emitError("checks of accesses do not know what this address "
                         "belongs to");
  CheckedBuffer buffer = *found;
  b.setInsertionPoint(op);
  ++accesses;
  Type i64 = b.getI64Type();
  Value start = addressNumber(buffer.pointer, i64);
  Value limit = arith::IndexCastOp::create(b, loc, i64, buffer.bytes);
  if (!access.mask) {
    Value at =
        arith::SubIOp::create(b, loc, addressNumber(address, i64), start);
    Value ok =
        inside(at, address, bytesOf(access.type), limit, access.alignment);
    Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    report(arith::XOrIOp::create(b, loc, ok, yes), at, access, buffer);
    access.address->set(arith::SelectOp::create(b, loc, ok, address, aside));
    return success();
  }

  // Lane by lane: those outside are taken out of the mask.
  auto type = cast<VectorType>(access.type);
  int64_t bytes = bytesOf(type.getElementType());
  auto wide = VectorType::get(type.getShape(), i64);
  Value at, ok;
  if (isa<VectorType>(address.getType())) {
    Value numbers = addressNumber(address, wide);
    at = arith::SubIOp::create(b, loc, numbers, spread(start, wide));
    ok = inside(at, address, bytes, limit, access.alignment);
  } else {
    Value first =
        arith::SubIOp::create(b, loc, addressNumber(address, i64), start);
    SmallVector<int64_t> steps;
    for (int64_t l = 0; l < type.getNumElements(); ++l)
      steps.push_back(l * bytes);
    Value lanes = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(wide, ArrayRef<int64_t>(steps)));
    at = arith::AddIOp::create(b, loc, spread(first, wide), lanes);
    ok = inside(at, address, bytes, limit, 1);
    Value rest =
        both(addressNumber(address, i64), constant(access.alignment - 1));
    Value aligned = compare(arith::CmpIPredicate::eq, rest, constant(0));
    ok = both(ok, spread(aligned, ok.getType()));
  }
  Value mask = access.mask->get();
  Value kept = both(mask, ok);
  Value lost = arith::XOrIOp::create(b, loc, mask, kept);
  Value bad =
      vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, lost);
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(wide));
  Value badAt = vector::ReductionOp::create(
      b, loc, vector::CombiningKind::MAXUI,
      arith::SelectOp::create(b, loc, lost, at, none));
  report(bad, badAt, access, buffer);
  access.mask->set(kept);
  return success();
}

LogicalResult AccessChecker::run() {
  SmallVector<std::pair<Operation *, Access>> found;
  Operation *unknown = nullptr;
  int64_t widest = 64;
  kernel.walk([&](Operation *op) {
    if (std::optional<Access> access = accessOf(op)) {
      found.push_back({op, *access});
      widest = std::max(widest, bytesOf(access->type));
    } else if (auto gep = dyn_cast<LLVM::GEPOp>(op)) {
      // The address of an access that does not happen means nothing yet.
      gep.setNoWrapFlags(LLVM::GEPNoWrapFlags::none);
    } else if (!isa<LLVM::AllocaOp>(op) && op->getNumRegions() == 0 &&
               !op->hasTrait<OpTrait::IsTerminator>() &&
               !isMemoryEffectFree(op)) {
      unknown = op;
    }
  });
  if (unknown)
    return unknown->emitError("checks of accesses do not know this access");
  if (found.empty())
    return success();
  b.setInsertionPointToStart(&kernel.front());
  aside =
      LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                             b.getI8Type(), constant(widest), 64);
  for (auto &[op, access] : found)
    if (failed(guard(op, access)))
      return failure();
  return success();
}

LogicalResult checkAccesses(func::FuncOp kernel,
                            ArrayRef<CheckedBuffer> buffers) {
  return AccessChecker(kernel, buffers).run();
}

} // namespace ft
