//===- IndexPlan.cpp - Advanced indexing, x[i, :, j] ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/IndexPlan.h"

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/LibraryKernel.h"

using namespace mlir;

namespace ft {

FailureOr<IndexPlan> IndexPlan::make(LowerCall &c, ArrayRef<Dim> sizes,
                                     ArrayRef<Value> tensors) {
  SmallVector<std::optional<LoweredTensor>, 6> indices(tensors.size());
  for (auto [d, v] : llvm::enumerate(tensors)) {
    if (!v)
      continue;
    indices[d] = c.operandOf(v);
    if (indices[d]->dtype == DType::Bool || indices[d]->dtype == DType::U8)
      return c.unsupported("indexing with a mask: the size of the result "
                           "depends on data");
  }
  return of(sizes, indices);
}

IndexPlan IndexPlan::of(ArrayRef<Dim> sizes, Indices indices) {
  IndexPlan plan;
  plan.indexOf.resize(sizes.size());
  int first = -1, last = -1;
  for (auto [d, index] : llvm::enumerate(indices)) {
    if (!index)
      continue;
    plan.broadcast = broadcastDims(plan.broadcast, index->dims());
    plan.indexOf[d] = index;
    first = first < 0 ? static_cast<int>(d) : first;
    last = static_cast<int>(d);
  }
  bool adjacent = true;
  for (int d = first; d <= last && d >= 0; ++d)
    adjacent &= plan.indexOf[d].has_value();
  plan.broadcastAt = adjacent && first > 0 ? static_cast<unsigned>(first) : 0;
  plan.resultDim.assign(sizes.size(), 0);
  auto append = [&] { llvm::append_range(plan.resultSizes, plan.broadcast); };
  bool placed = false;
  if (!adjacent || first <= 0) {
    append();
    placed = true;
  }
  for (unsigned d = 0; d < sizes.size(); ++d) {
    if (plan.indexOf[d]) {
      if (!placed)
        append();
      placed = true;
      continue;
    }
    plan.resultDim[d] = static_cast<unsigned>(plan.resultSizes.size());
    plan.resultSizes.push_back(sizes[d]);
  }
  return plan;
}

void IndexPlan::check(LowerCall &c, ArrayRef<Dim> sizes) const {
  for (auto [d, index] : llvm::enumerate(indexOf))
    if (index)
      c.checkIndex(*index, sizes[d] * -1, sizes[d], sizes[d]);
}

SmallVector<AffineExpr, 6> broadcastIndex(LowerCall &c,
                                          const LoweredTensor &tensor,
                                          ArrayRef<AffineExpr> at) {
  Dims sizes = tensor.dims();
  SmallVector<AffineExpr, 6> index;
  size_t lead = at.size() - sizes.size();
  for (size_t d = 0; d < sizes.size(); ++d)
    index.push_back(sizes[d] == 1 ? c.constant(0) : at[lead + d]);
  return index;
}

SmallVector<Access> IndexPlan::accesses(LowerCall &c, unsigned first) const {
  SmallVector<AffineExpr, 6> at;
  for (unsigned d = 0; d < broadcast.size(); ++d)
    at.push_back(c.dim(first + d));
  SmallVector<Access> all;
  for (const std::optional<LoweredTensor> &index : indexOf)
    if (index)
      all.push_back({*index, broadcastIndex(c, *index, at)});
  return all;
}

LoweredTensor inclusiveCount(LowerCall &c, LoweredTensor mask) {
  return callKernel(c, "running_count", mask, {},
                    KernelResult{mask.dims(), DType::I64}, {1, 64})[0];
}

} // namespace ft
