//===- Segments.cpp - Rows that belong together ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/Segments.h"

#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/Updates.h"

using namespace mlir;

namespace ft {

static LoweredTensor segmentOf(LowerCall &c, LoweredTensor given, bool byLength,
                               Dim count, Dim n) {
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
