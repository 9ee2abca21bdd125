//===- Mode.cpp - Lowering of mode and hash_tensor -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/Search.h"
#include "compiler/lower/rules/Sorting.h"

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
  const TensorMeta &meta = c.resultMeta(r);
  c.setResult(r, c.cast(c.reshape(t, dimsOf(meta)), meta.dtype));
  return success();
}

/// (self, dim, keepdim) -> values, indices: the most frequent value, of equally
/// frequent ones the smallest, where it stands last. In a sorted line equal
/// elements are a run, whose ends each element looks for. A NaN equals nothing:
/// it counts once, as the largest value.
static LogicalResult mode(LowerCall &c) {
  DType given = c.operand(0).dtype;
  DType dtype = given == DType::Bool ? DType::U8 : given;
  LoweredTensor x = c.cast(withDims(c, c.operand(0)), dtype);
  unsigned rank = x.rank(), dim = LowerCall::wrapDim(c.integer(1), rank);
  Dim n = x.dims()[dim];
  Sorted sorted = sortLines(c, x, dim, false, n);
  c.newGroup();
  auto endOfRun = [&](ScalarBuilder &s, Value key, ArrayRef<Value> at,
                      bool right) {
    return binarySearch(c, s, key, n, right, dtype, [&](Value i) {
      SmallVector<Value> place(at);
      place.back() = i;
      return readAt(s, sorted.keys, place);
    });
  };
  LoweredTensor counts =
      generateFrom(c, sorted.keys, sorted.keys.dims(), DType::I64,
                   [&](ScalarBuilder &s, ValueRange v, ArrayRef<Value> at) {
                     Value length = s.sub(endOfRun(s, v[0], at, true),
                                          endOfRun(s, v[0], at, false));
                     Value count = fromIndex(s, length, DType::I64);
                     return s.maximum(count, s.one(count));
                   });
  c.newGroup();
  Start none{DType::I64, 0, -1};
  // The first of the longest runs.
  LoweredTensor first =
      reduceTo(c, counts, rank - 1, true, {none, none}, [&](ReduceStep &r) {
        ScalarBuilder &s = r.s;
        Value count = r.elements[0], at = r.position(rank - 1);
        Value most = r.accumulators[0], where = r.accumulators[1];
        Value earlier =
            s.mul(s.cmp(Cmp::Eq, count, most), s.cmp(Cmp::Lt, at, where));
        Value better = arith::OrIOp::create(
            s.b, s.loc, s.cmp(Cmp::Gt, count, most), earlier);
        return SmallVector<Value>{s.select(better, count, most),
                                  s.select(better, at, where)};
      })[1];
  c.newGroup();
  auto pick = [&](bool place) {
    return generateFrom(
        c, first, first.dims(), place ? DType::I64 : dtype,
        [&](ScalarBuilder &s, ValueRange v, ArrayRef<Value> at) {
          SmallVector<Value> where(at);
          where.back() = toIndex(s, v[0], DType::I64);
          Value key = readAt(s, sorted.keys, where);
          if (!place)
            return key;
          // Sorting is stable. Of NaN alone, the run is the whole line.
          Value end = endOfRun(s, key, at, true);
          where.back() = s.sub(end, s.constantInt(end.getType(), 1));
          return readAt(s, sorted.places, where);
        });
  };
  (void)setReshaped(c, 0, c.cast(pick(false), given));
  return setReshaped(c, 1, pick(true));
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
    anyShape("hash_tensor.default", hashTensor),
    anyShape("mode.default", mode),
};

ArrayRef<LowerRuleRow> modeLowerRules() { return kRows; }

} // namespace ft
