//===- IncompleteGamma.cpp - Lowering of igamma and igammac ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Their series have as many terms as the numbers ask for, so they are a C
// kernel, in float64 for all dtypes.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/PointwiseBody.h"

using namespace mlir;

namespace ft {

template <bool Upper>
static LogicalResult incompleteGamma(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  Sizes sizes = dimsOf(meta);
  SmallVector<LoweredTensor> ins;
  for (unsigned arg : {0U, 1U})
    ins.push_back(
        c.toRowMajor(c.expand(c.cast(c.operand(arg), DType::F64), sizes)));
  auto r = callKernel(c, "incomplete_gamma", ins, Arg::truth(Upper),
                      {{sizes, DType::F64}}, {1, 64});
  c.setResult(0, c.cast(r[0], meta.dtype));
  return success();
}

ArrayRef<LowerRuleRow> incompleteGammaLowerRules() {
  static const LowerRuleRow rows[] = {
      anyShape("igamma.default", incompleteGamma<false>),
      anyShape("igammac.default", incompleteGamma<true>),
      anyShape("special_gammainc.default", incompleteGamma<false>),
      anyShape("special_gammaincc.default", incompleteGamma<true>),
  };
  return rows;
}

} // namespace ft
