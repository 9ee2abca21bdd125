//===- Search.cpp - Binary searches in bodies -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/Search.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <bit>

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

/// The first element that `isBeyond` holds for, as it does for all after it.
static Value partitionPoint(ScalarBuilder &s, int64_t n,
                            llvm::function_ref<Value(Value)> element,
                            llvm::function_ref<Value(Value)> isBeyond) {
  auto number = [&](int64_t v) { return s.constantInt(s.b.getIndexType(), v); };
  Value low = number(0), high = number(n);
  for (int steps = std::bit_width(static_cast<uint64_t>(n)); steps; --steps) {
    Value open = s.cmp(Cmp::Lt, low, high);
    Value mid = arith::ShRUIOp::create(s.b, s.loc, s.add(low, high), number(1));
    Value stop = isBeyond(element(s.minimum(mid, number(n - 1))));
    Value up = s.select(stop, low, s.add(mid, number(1)));
    Value down = s.select(stop, mid, high);
    low = s.select(open, up, low);
    high = s.select(open, down, high);
  }
  return low;
}

Value binarySearch(ScalarBuilder &s, Value value, int64_t n, bool right,
                   DType dtype, llvm::function_ref<Value(Value)> element) {
  return partitionPoint(s, n, element, [&](Value e) {
    // Written so that NaN goes to the end.
    return s.cmp(right ? Cmp::Gt : Cmp::Ge, e, value, isUnsigned(dtype));
  });
}

Value lowerBound(ScalarBuilder &s, Value value, int64_t n, DType dtype,
                 llvm::function_ref<Value(Value)> element) {
  return partitionPoint(s, n, element, [&](Value e) {
    Value less = s.cmp(Cmp::Lt, e, value, isUnsigned(dtype));
    return s.select(less, s.zero(less), s.one(less));
  });
}

} // namespace ft
