//===- DataSizes.cpp - Lowering of results of unknown size ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How large these results are is found by the kernels that compute them
// (runtime/kernels); the model returns them as they are.

#include "compiler/lower/rules/DataSizes.h"

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/Scratch.h"

using namespace mlir;

namespace ft {

/// Calls a kernel whose results are those of the operator.
static LogicalResult callWith(LowerCall &c, StringRef name,
                              ArrayRef<LoweredTensor> ins,
                              ArrayRef<Arg> numbers, Dim scratchBytes = 64) {
  std::vector<KernelResult> outs;
  for (unsigned r = 0; r < c.numResults(); ++r)
    outs.push_back(kernelResult(c, r));
  SmallVector<LoweredTensor> results =
      callKernel(c, name, ins, numbers, outs, {1, scratchBytes});
  for (auto [r, result] : llvm::enumerate(results))
    c.setResult(static_cast<unsigned>(r), result);
  return success();
}

/// As much as kernels ask for (scratch.h) for `words` numbers of 8 bytes.
static Dim scratchOf(Dim words) { return ft_scratch_of(8, words, 1); }

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

static LogicalResult nonzero(LowerCall &c) {
  return callWith(c, "nonzero", c.operand(0), {});
}

/// One result for each dim.
static LogicalResult nonzeroLists(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  if (x.rank() == 0)
    x = c.reshape(x, {1});
  return callWith(c, "nonzero_lists", x, {});
}

static LogicalResult maskedSelect(LowerCall &c) {
  return callWith(c, "masked_select", {c.operand(0), c.operand(1)}, {});
}

LogicalResult lowerMaskedIndex(LowerCall &c, ArrayRef<Value> tensors) {
  SmallVector<LoweredTensor> ins = {c.operand(0)};
  SmallVector<Arg> starts;
  int64_t dim = 0;
  Dim listed = 0;
  for (Value v : tensors) {
    if (!v) {
      ++dim;
      continue;
    }
    LoweredTensor index = c.operandOf(v);
    ins.push_back(index);
    starts.push_back(Arg::integer(dim));
    bool mask = index.dtype == DType::Bool || index.dtype == DType::U8;
    dim += mask ? index.rank() : 1;
    if (mask)
      listed = listed + product(index.dims()) * Dim(index.rank());
  }
  return callWith(c, "index", ins, starts, scratchOf(listed));
}

//===----------------------------------------------------------------------===//
// Distinct values
//===----------------------------------------------------------------------===//

static LogicalResult uniqueOf(LowerCall &c, bool sorted, bool inverse,
                              bool counts) {
  LoweredTensor x = c.operand(0);
  return callWith(c, "unique", x,
                  {Arg::truth(sorted), Arg::truth(inverse), Arg::truth(counts)},
                  scratchOf(product(x.dims()) * Dim(5)));
}

/// PyTorch sorts whether it is asked to or not.
static LogicalResult unique(LowerCall &c) {
  return uniqueOf(c, true, c.flag(2), false);
}
static LogicalResult unique2(LowerCall &c) {
  return uniqueOf(c, true, c.flag(2), c.flag(3));
}

/// All results are computed whether they are asked for or not.
static LogicalResult uniqueAlong(LowerCall &c, unsigned dimArg, bool sorted) {
  LoweredTensor x = c.operand(0);
  unsigned dim = LowerCall::wrapDim(c.integer(dimArg), x.rank());
  Dim n = x.dims()[dim];
  Dim width = n.is(0) ? Dim(0) : floorDiv(product(x.dims()), n);
  return callWith(c, "unique_dim", x, {Arg::integer(dim), Arg::truth(sorted)},
                  scratchOf(n * width + n * Dim(4)));
}

static LogicalResult uniqueDim(LowerCall &c) { return uniqueAlong(c, 1, true); }

static LogicalResult uniqueDimConsecutive(LowerCall &c) {
  return uniqueAlong(c, 1, false);
}

/// (self, return_inverse, return_counts, dim)
static LogicalResult uniqueConsecutive(LowerCall &c) {
  if (c.isNone(3) || (c.operand(0).rank() == 1 && c.integer(3) == 0))
    return uniqueOf(c, false, c.flag(1), c.flag(2));
  return uniqueAlong(c, 3, false);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// (self, weights, minlength)
static LogicalResult bincount(LowerCall &c) {
  SmallVector<LoweredTensor> ins = {c.operand(0)};
  if (!c.isNone(1))
    ins.push_back(c.cast(c.operand(1), c.resultMeta(0).dtype));
  if (ins[0].rank() == 0)
    ins[0] = c.reshape(ins[0], {1});
  return callWith(c, "bincount", ins, Arg::integer(c.dimArg(2)));
}

/// The size that the program says, or -1.
static Arg sizeOr(LowerCall &c, unsigned arg) {
  return Arg::integer(c.isNone(arg) ? Dim(-1) : c.dimArg(arg));
}

/// (repeats, *, output_size)
static LogicalResult repeatInterleave(LowerCall &c) {
  return callWith(c, "repeat_interleave", c.operand(0), sizeOr(c, 1));
}

/// (self, repeats, dim, *, output_size)
static LogicalResult repeatInterleaveAlong(LowerCall &c) {
  LoweredTensor x = c.operand(0), repeats = c.operand(1);
  if (c.isNone(2) || x.rank() == 0)
    x = c.reshape(c.toRowMajor(x), product(x.dims()));
  if (repeats.rank() == 0)
    repeats = c.reshape(repeats, {1});
  int64_t dim = c.isNone(2) ? 0 : LowerCall::wrapDim(c.integer(2), x.rank());
  return callWith(c, "repeat_interleave_dim", {x, repeats},
                  {Arg::integer(dim), sizeOr(c, 3)});
}

static constexpr auto kConstant = Numbers::Constant;
static constexpr auto kFound = ResultSizes::Found;

static const LowerRuleRow kRows[] = {
    {"_unique.default", unique, kConstant, kFound, Shapes::Symbolic},
    {"_unique2.default", unique2, kConstant, kFound, Shapes::Symbolic},
    {"argwhere.default", nonzero, kConstant, kFound, Shapes::Symbolic},
    {"bincount.default", bincount, kConstant, kFound, Shapes::Symbolic},
    {"masked_select.default", maskedSelect, kConstant, kFound,
     Shapes::Symbolic},
    {"nonzero.default", nonzero, kConstant, kFound, Shapes::Symbolic},
    {"nonzero_numpy.default", nonzeroLists, kConstant, kFound,
     Shapes::Symbolic},
    {"where.default", nonzeroLists, kConstant, kFound, Shapes::Symbolic},
    {"repeat_interleave.Tensor", repeatInterleave, kConstant, kFound,
     Shapes::Symbolic},
    {"repeat_interleave.self_Tensor", repeatInterleaveAlong, kConstant, kFound,
     Shapes::Symbolic},
    {"unique_consecutive.default", uniqueConsecutive, kConstant, kFound,
     Shapes::Symbolic},
    {"unique_dim.default", uniqueDim, kConstant, kFound, Shapes::Symbolic},
    {"unique_dim_consecutive.default", uniqueDimConsecutive, kConstant, kFound,
     Shapes::Symbolic},
};

ArrayRef<LowerRuleRow> dataSizesLowerRules() { return kRows; }

} // namespace ft
