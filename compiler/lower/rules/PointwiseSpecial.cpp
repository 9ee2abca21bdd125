//===- PointwiseSpecial.cpp - Formulas of special functions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/PointwiseBody.h"

using namespace mlir;

namespace ft {

using P = PointwiseBody;

static constexpr double kSqrt1_2 = 0.70710678118654752440;

static Value erf(P &p) { return p.erf(p[0]); }
static Value erfc(P &p) { return p.erfc(p[0]); }

/// The normal distribution function, by erfc where erf would cancel.
static Value ndtr(P &p) {
  Value x = p.mul(p[0], kSqrt1_2);
  Value tail = p.mul(p.erfc(p.abs(x)), 0.5);
  Value middle = p.add(p.mul(p.erf(x), 0.5), 0.5);
  Value outer = p.select(p.lt(x, p.zero(x)), tail, p.sub(p.one(x), tail));
  return p.select(p.lt(p.abs(x), p.like(x, 1)), middle, outer);
}

static const FormulaRow kRows[] = {
    {"erf.default", erf},           {"special_erf.default", erf},
    {"erfc.default", erfc},         {"special_erfc.default", erfc},
    {"special_ndtr.default", ndtr},
};

ArrayRef<FormulaRow> specialFormulas() { return kRows; }

} // namespace ft
