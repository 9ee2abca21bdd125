//===- Search.cpp - Binary searches in bodies -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/Search.h"

#include "compiler/lower/Gather.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <bit>

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

/// The first element that `isBeyond` holds for, as it does for all after it.
static Value partitionPoint(LowerCall &c, ScalarBuilder &s, Dim n,
                            llvm::function_ref<Value(Value)> element,
                            llvm::function_ref<Value(Value)> isBeyond) {
  auto number = [&](int64_t v) { return s.constantInt(s.b.getIndexType(), v); };
  Value last = sizeIndex(c, s, n - 1);
  auto halve = [&](Value low, Value high) {
    Value mid = arith::ShRUIOp::create(s.b, s.loc, s.add(low, high), number(1));
    Value stop = isBeyond(element(s.minimum(mid, last)));
    return std::pair(s.select(stop, low, s.add(mid, number(1))),
                     s.select(stop, mid, high));
  };
  Value low = number(0), high = sizeIndex(c, s, n);
  if (!n.isStatic()) {
    auto isOpen = [&](OpBuilder &b, Location at, ValueRange v) {
      scf::ConditionOp::create(b, at, s.cmp(Cmp::Lt, v[0], v[1]), v);
    };
    auto step = [&](OpBuilder &b, Location at, ValueRange v) {
      auto [up, down] = halve(v[0], v[1]);
      scf::YieldOp::create(b, at, ValueRange{up, down});
    };
    SmallVector<Type> types(2, low.getType());
    return scf::WhileOp::create(s.b, s.loc, types, ValueRange{low, high},
                                isOpen, step)
        .getResult(0);
  }
  // Branches cost more than steps that no longer change anything.
  for (int k = std::bit_width(static_cast<uint64_t>(n.value())); k; --k) {
    Value open = s.cmp(Cmp::Lt, low, high);
    auto [up, down] = halve(low, high);
    low = s.select(open, up, low);
    high = s.select(open, down, high);
  }
  return low;
}

Value binarySearch(LowerCall &c, ScalarBuilder &s, Value value, Dim n,
                   bool right, DType dtype,
                   llvm::function_ref<Value(Value)> element) {
  return partitionPoint(c, s, n, element, [&](Value e) {
    // Written so that NaN goes to the end.
    return s.cmp(right ? Cmp::Gt : Cmp::Ge, e, value, isUnsigned(dtype));
  });
}

Value lowerBound(LowerCall &c, ScalarBuilder &s, Value value, Dim n,
                 DType dtype, llvm::function_ref<Value(Value)> element) {
  return partitionPoint(c, s, n, element, [&](Value e) {
    Value less = s.cmp(Cmp::Lt, e, value, isUnsigned(dtype));
    return s.select(less, s.zero(less), s.one(less));
  });
}

} // namespace ft
