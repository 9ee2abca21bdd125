//===- Segments.cpp - Rows that belong together ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/Segments.h"

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/ScanByBlocks.h"
#include "compiler/lower/rules/Updates.h"
#include "runtime/kernels/scan.h"

using namespace mlir;

namespace ft {

/// Without the kernel: how many bounds are not behind the row, for each row by
/// itself. Rows from segment `count` on have none.
static LoweredTensor segmentByCounting(LowerCall &c, LoweredTensor bounds,
                                       int64_t first, Dim count, Dim n) {
  using Cmp = ScalarBuilder::Cmp;
  DType from = bounds.dtype;
  LoweredTensor start = c.filledInt({n}, DType::I64, first);
  c.newGroup();
  LoweredTensor passed =
      c.generic(Access{bounds, {c.dim(1)}}, Access{start, {c.dim(0)}},
                {Iterator::Parallel, Iterator::Reduction},
                [&](ScalarBuilder &s, ValueRange v) {
                  Value row = fromIndex(s, iterationIndex(s, 0), DType::I64);
                  Value isPassed =
                      s.cmp(Cmp::Le, s.cast(v[0], from, DType::I64), row);
                  return SmallVector<Value>{
                      s.add(v[1], s.cast(isPassed, DType::Bool, DType::I64))};
                })[0];
  return c.pointwise(passed, {n}, DType::I64,
                     [&](ScalarBuilder &s, ValueRange v) {
                       Value end = c.sizeIn(s, count, DType::I64);
                       return s.select(s.cmp(Cmp::Lt, v[0], end), v[0],
                                       s.constantInt(v[0].getType(), -1));
                     });
}

static LoweredTensor segmentOf(LowerCall &c, LoweredTensor given, bool byLength,
                               Dim count, Dim n) {
  if (isForGpu(c) && byLength)
    return segmentByCounting(
        c, scanByBlocks(c, c.cast(given, DType::I64), 0, FT_SCAN_SUM), 0, count,
        n);
  if (isForGpu(c))
    return segmentByCounting(c, given, -1, count, n);
  return callKernel(c, "segment_of", given,
                    {Arg::truth(byLength), Arg::integer(count)},
                    KernelResult{{n}, DType::I64}, {1, 64})[0];
}

LoweredTensor segmentsByStart(LowerCall &c, LoweredTensor starts, Dim count,
                              Dim n) {
  return segmentOf(c, starts, false, count, n);
}

LoweredTensor segmentsByLength(LowerCall &c, LoweredTensor lengths, Dim n) {
  return segmentOf(c, lengths, true, lengths.dims()[0], n);
}

LoweredTensor rowsOfSegments(LowerCall &c, LoweredTensor segments, Dim count,
                             std::optional<LoweredTensor> mask) {
  Updates u;
  u.fold = Fold::Sum;
  u.sizes = {count};
  u.dtype = DType::I64;
  u.loops = 1;
  u.from = {{UpdatePlace::Index, 0}};
  u.values = c.filledInt({}, DType::I64, 1);
  u.indices = {segments};
  u.mask = mask;
  u.skip = -1;
  return foldUpdates(c, u);
}

} // namespace ft
