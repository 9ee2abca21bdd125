//===- Mode.cpp - Lowering of mode and hash_tensor -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

/// Tensors without dims as vectors of one.
static LoweredTensor withDims(LowerCall &c, LoweredTensor x) {
  return x.rank() ? x : c.reshape(x, {1});
}

static LogicalResult setReshaped(LowerCall &c, unsigned r, LoweredTensor t) {
  SmallVector<int64_t, 6> sizes;
  for (const Dim &d : c.resultMeta(r).sizes)
    sizes.push_back(d.value());
  c.setResult(r, c.cast(c.reshape(t, sizes), c.resultMeta(r).dtype));
  return success();
}

/// (self, dim, keepdim) -> values, indices: the most frequent value, of equally
/// frequent ones the smallest, where it stands last. Each element is counted
/// against its row.
static LogicalResult mode(LowerCall &c) {
  LoweredTensor x = withDims(c, c.operand(0));
  unsigned rank = x.rank(), dim = LowerCall::wrapDim(c.integer(1), rank);
  DType dtype = x.dtype;
  bool isUnsigned = dtype == DType::Bool || ft::isUnsigned(dtype);
  SmallVector<AffineExpr, 6> here, other;
  for (unsigned d = 0; d < rank; ++d) {
    here.push_back(c.dim(d));
    other.push_back(c.dim(d == dim ? rank : d));
  }
  SmallVector<Iterator> iterators(rank + 1, Iterator::Parallel);
  iterators.back() = Iterator::Reduction;
  LoweredTensor counts =
      c.generic({Access{x, here}, Access{x, other}},
                Access{c.filledInt(x.sizes(), DType::I64, 0), here}, iterators,
                [&](ScalarBuilder &s, ValueRange v) {
                  Value same = s.cmp(Cmp::Eq, v[0], v[1]);
                  return SmallVector<Value>{
                      s.add(v[2], s.cast(same, DType::Bool, DType::I64))};
                })[0];
  c.newGroup();
  Start none{DType::I64, 0, -1};
  auto best = reduceTo(
      c, {x, counts}, dim, c.flag(2), {none, lowestOf(dtype), none},
      [&](ReduceStep &r) {
        ScalarBuilder &s = r.s;
        Value value = r.elements[0], at = r.position(dim);
        // A NaN equals nothing; it counts once, and as the largest value.
        Value count =
            s.maximum(r.elements[1], s.constantInt(r.elements[1].getType(), 1));
        Value most = r.accumulators[0], kept = r.accumulators[1];
        Value where = r.accumulators[2];
        auto both = [&](Value a, Value b) {
          return arith::AndIOp::create(s.b, s.loc, a, b).getResult();
        };
        auto either = [&](Value a, Value b) {
          return arith::OrIOp::create(s.b, s.loc, a, b).getResult();
        };
        Value smaller = s.cmp(Cmp::Lt, value, kept, isUnsigned);
        Value same = s.cmp(Cmp::Eq, value, kept);
        if (isFloating(dtype)) {
          Value no = isNan(s, value), keptNo = isNan(s, kept);
          Value yes = s.cmp(Cmp::Eq, value, value);
          smaller = either(smaller, both(keptNo, yes));
          same = either(same, both(no, keptNo));
        }
        Value later = both(same, s.cmp(Cmp::Gt, at, where));
        Value better =
            either(s.cmp(Cmp::Gt, count, most),
                   both(s.cmp(Cmp::Eq, count, most), either(smaller, later)));
        return SmallVector<Value>{s.select(better, count, most),
                                  s.select(better, value, kept),
                                  s.select(better, at, where)};
      });
  (void)setReshaped(c, 0, best[1]);
  return setReshaped(c, 1, best[2]);
}

/// (self, dim, *, keepdim, mode): the exclusive or of the elements as 64 bits,
/// floats as those of float64.
static LogicalResult hashTensor(LowerCall &c) {
  LoweredTensor x = withDims(c, c.operand(0));
  DType dtype = x.dtype;
  if (isComplex(dtype) || c.integer(3) != 0)
    return c.unsupported("complex tensors, and modes other than 0");
  SmallVector<unsigned> dims = reducedDims(c, 1, x.rank());
  Start zero{DType::I64, 0, 0};
  auto r = reduceTo(c, x, dims, c.flag(2), zero, [&](ReduceStep &step) {
    ScalarBuilder &s = step.s;
    Value v = step.elements[0];
    Value bits = isFloating(dtype)
                     ? arith::BitcastOp::create(s.b, s.loc, s.b.getI64Type(),
                                                s.cast(v, dtype, DType::F64))
                           .getResult()
                     : s.cast(v, dtype, DType::I64);
    return SmallVector<Value>{
        arith::XOrIOp::create(s.b, s.loc, step.accumulators[0], bits)};
  });
  return setReshaped(c, 0, r[0]);
}

static const LowerRuleRow kRows[] = {
    {"hash_tensor.default", hashTensor},
    {"mode.default", mode},
};

ArrayRef<LowerRuleRow> modeLowerRules() { return kRows; }

} // namespace ft
