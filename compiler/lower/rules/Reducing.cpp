//===- Reducing.cpp - Reductions with any accumulators ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;

namespace ft {

Start lowestOf(DType dtype) {
  if (isFloating(dtype))
    return {dtype, -std::numeric_limits<double>::infinity(), std::nullopt};
  if (dtype == DType::Bool || isUnsigned(dtype))
    return {dtype, 0, 0};
  int64_t bits = 8 * dtypeBytes(dtype);
  return {dtype, 0, std::numeric_limits<int64_t>::min() >> (64 - bits)};
}

Start highestOf(DType dtype) {
  if (isFloating(dtype))
    return {dtype, std::numeric_limits<double>::infinity(), std::nullopt};
  if (dtype == DType::Bool)
    return {dtype, 1, 1};
  int64_t bits = 8 * dtypeBytes(dtype);
  // Unsigned: all bits set, which is -1 in the signless storage type.
  if (isUnsigned(dtype))
    return {dtype, 0, -1};
  return {dtype, 0, std::numeric_limits<int64_t>::max() >> (64 - bits)};
}

LoweredTensor filledWith(LowerCall &c, const SizeList &sizes,
                         const Start &start) {
  return start.exact ? c.filledInt(sizes, start.dtype, *start.exact)
                     : c.filled(sizes, start.dtype, start.number);
}

Value loopIndex(ScalarBuilder &s, unsigned loop) {
  Value index = linalg::IndexOp::create(s.b, s.loc, loop);
  return arith::IndexCastOp::create(s.b, s.loc, s.b.getI64Type(), index);
}

Value ReduceStep::position(unsigned logicalDim) {
  return loopIndex(s, loops[logicalDim]);
}

Value isNan(ScalarBuilder &s, Value x) {
  if (!isa<FloatType, ComplexType>(x.getType()))
    return arith::ConstantIntOp::create(s.b, s.loc, 0, 1);
  return s.cmp(ScalarBuilder::Cmp::Ne, x, x);
}

Value elementAt(ScalarBuilder &s, const LoweredTensor &t,
                ArrayRef<Value> index) {
  SmallVector<Value> physical;
  for (unsigned logical : t.order)
    physical.push_back(arith::IndexCastOp::create(
        s.b, s.loc, s.b.getIndexType(), index[logical]));
  Value v = tensor::ExtractOp::create(s.b, s.loc, t.value, physical);
  if (t.dtype == DType::Bool)
    v = s.cmp(ScalarBuilder::Cmp::Ne, v, s.zero(v));
  return v;
}

SmallVector<unsigned> allDims(unsigned rank) {
  SmallVector<unsigned> dims(rank);
  for (unsigned d = 0; d < rank; ++d)
    dims[d] = d;
  return dims;
}

SmallVector<unsigned> reducedDims(LowerCall &c, unsigned arg, unsigned rank) {
  SmallVector<unsigned> dims;
  if (!c.isNone(arg)) {
    // A single number stands for a list of one.
    SmallVector<int64_t, 6> given =
        c.call().args[arg].kind == Arg::List
            ? c.integers(arg)
            : SmallVector<int64_t, 6>{c.integer(arg)};
    for (int64_t d : given)
      if (rank)
        dims.push_back(LowerCall::wrapDim(d, rank));
    if (!given.empty())
      return dims;
  }
  return allDims(rank);
}

Dim elementsAlong(const LoweredTensor &t, ArrayRef<unsigned> dims) {
  Dim count = 1;
  Dims sizes = t.dims();
  for (unsigned d : dims)
    count = count * sizes[d];
  return count;
}

int64_t countOf(const LoweredTensor &t, ArrayRef<unsigned> dims) {
  return elementsAlong(t, dims).value();
}

SmallVector<LoweredTensor> reduceTo(LowerCall &c, ArrayRef<LoweredTensor> ins,
                                    ArrayRef<unsigned> dims, bool keepDim,
                                    ArrayRef<Start> starts, ReduceBody body) {
  const LoweredTensor &in = ins[0];
  Dims sizes = in.dims();
  unsigned rank = in.rank();
  SmallVector<bool> reduced(rank, false);
  for (unsigned d : dims)
    reduced[d] = true;

  // Parallel dims first, then the reduced ones, both in physical order.
  SmallVector<unsigned> loops(rank);
  SmallVector<Iterator> iterators;
  for (Iterator kind : {Iterator::Parallel, Iterator::Reduction})
    for (unsigned logical : in.order)
      if (reduced[logical] == (kind == Iterator::Reduction)) {
        loops[logical] = static_cast<unsigned>(iterators.size());
        iterators.push_back(kind);
      }

  SmallVector<Access> inputs;
  for (const LoweredTensor &t : ins) {
    Dims own = t.dims();
    Access a{t, {}};
    for (unsigned j = 0; j < rank; ++j)
      a.index.push_back(own[j] == 1 && sizes[j] != 1 ? c.constant(0)
                                                     : c.dim(loops[j]));
    inputs.push_back(std::move(a));
  }

  // The results first without the reduced dims, in the order that is left.
  SmallVector<AffineExpr, 6> index;
  Dims keptSizes;
  SmallVector<unsigned, 6> position(rank);
  for (unsigned j = 0; j < rank; ++j) {
    position[j] = static_cast<unsigned>(keptSizes.size());
    if (!reduced[j]) {
      keptSizes.push_back(sizes[j]);
      index.push_back(c.dim(loops[j]));
    }
  }
  SmallVector<unsigned, 6> order;
  for (unsigned logical : in.order)
    if (!reduced[logical])
      order.push_back(position[logical]);
  Dims physical;
  for (unsigned logical : order)
    physical.push_back(keptSizes[logical]);
  SmallVector<Access> outs;
  for (const Start &start : starts) {
    LoweredTensor t = filledWith(c, physical, start);
    t.order = order;
    t.setDims(keptSizes);
    outs.push_back({t, index});
  }
  SmallVector<LoweredTensor> results =
      c.generic(inputs, outs, iterators, [&](ScalarBuilder &s, ValueRange v) {
        ReduceStep step{s, v.take_front(ins.size()), v.drop_front(ins.size()),
                        loops};
        return body(step);
      });
  if (!keepDim || dims.empty())
    return results;

  // Unit dims come back where they were, physically too.
  Dims wide, logicalWide;
  for (unsigned logical : in.order)
    wide.push_back(reduced[logical] ? Dim(1) : sizes[logical]);
  for (unsigned j = 0; j < rank; ++j)
    logicalWide.push_back(reduced[j] ? Dim(1) : sizes[j]);
  for (LoweredTensor &t : results) {
    t = c.reshape(inMemoryOrder(t), wide);
    t.order = in.order;
    t.setDims(logicalWide);
  }
  return results;
}

LoweredTensor sumOf(LowerCall &c, LoweredTensor in, ArrayRef<unsigned> dims,
                    bool keepDim, DType accumulate,
                    llvm::function_ref<Value(ScalarBuilder &, Value)> f) {
  return reduceTo(c, in, dims, keepDim, Start{accumulate, 0, std::nullopt},
                  [&](ReduceStep &r) {
                    Value x = r.s.cast(r.elements[0], in.dtype, accumulate);
                    if (f)
                      x = f(r.s, x);
                    return SmallVector<Value>{r.s.add(r.accumulators[0], x)};
                  })[0];
}

/// Bools are compared as integers, which every kernel can.
static LoweredTensor extreme(LowerCall &c, LoweredTensor in,
                             ArrayRef<unsigned> dims, bool keepDim,
                             bool wantMax) {
  DType dtype = in.dtype == DType::Bool ? DType::I8 : in.dtype;
  Start start = wantMax ? lowestOf(dtype) : highestOf(dtype);
  LoweredTensor out = reduceTo(c, in, dims, keepDim, start, [&](ReduceStep &r) {
    Value x = r.s.cast(r.elements[0], in.dtype, dtype);
    Value best = r.accumulators[0];
    return SmallVector<Value>{wantMax
                                  ? r.s.maximum(best, x, isUnsigned(dtype))
                                  : r.s.minimum(best, x, isUnsigned(dtype))};
  })[0];
  return c.cast(out, in.dtype);
}

SmallVector<LoweredTensor> dotAndSquares(LowerCall &c, LoweredTensor a,
                                         LoweredTensor b, unsigned dim,
                                         DType accumulate) {
  Start zero{accumulate, 0, std::nullopt};
  return reduceTo(
      c, {a, b}, dim, false, {zero, zero, zero}, [&](ReduceStep &step) {
        ScalarBuilder &s = step.s;
        Value x = s.cast(step.elements[0], a.dtype, accumulate);
        Value y = s.cast(step.elements[1], b.dtype, accumulate);
        return SmallVector<Value>{s.add(step.accumulators[0], s.mul(x, y)),
                                  s.add(step.accumulators[1], s.mul(x, x)),
                                  s.add(step.accumulators[2], s.mul(y, y))};
      });
}

LoweredTensor maxOf(LowerCall &c, LoweredTensor in, ArrayRef<unsigned> dims,
                    bool keepDim) {
  return extreme(c, in, dims, keepDim, true);
}

LoweredTensor minOf(LowerCall &c, LoweredTensor in, ArrayRef<unsigned> dims,
                    bool keepDim) {
  return extreme(c, in, dims, keepDim, false);
}

} // namespace ft
