//===- Foreach.cpp - Derivatives of operators on lists ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operator on lists of tensors is one call of the operator that its name
// says for each place of the lists:
//
//   _foreach_add.List([a, b], [c, d])  ->  add(a, c), add(b, d)

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

/// The operator for one place; a bound that is a number is a clamp.
static std::string nameOfOne(const Schema &schema) {
  llvm::StringRef name = schema.base;
  name.consume_front("_foreach_");
  bool byNumber = schema.overload != "List";
  if (name == "maximum" && byNumber)
    return "clamp_min";
  if (name == "minimum" && byNumber)
    return "clamp_max";
  if (name == "norm")
    return "linalg_vector_norm";
  return name == "zero" ? "zeros_like" : name.str();
}

static std::vector<Term> forEach(RuleCall &c) {
  std::string one = nameOfOne(c.schema());
  std::vector<Term> results;
  for (size_t i = 0; i < c.operation()->getNumResults(); ++i) {
    std::vector<Term> arguments;
    for (auto [k, formal] : llvm::enumerate(c.schema().args)) {
      Term term = c.arg(static_cast<unsigned>(k));
      if (term.isList())
        term = Term(term.items()[i]);
      // The norm has other arguments before its dtype.
      arguments.push_back(formal.name == "dtype" ? term.named("dtype") : term);
    }
    results.push_back(c.call(one, arguments));
  }
  return results;
}

llvm::ArrayRef<ExpandRow> foreachExpansions() {
  static constexpr ExpandRow kRows[] = {
#define FT_FOREACH(name) {"_foreach_" name, forEach},
      // clang-format off: one line each
      FT_FOREACH("abs.default")
      FT_FOREACH("acos.default")
      FT_FOREACH("add.List")
      FT_FOREACH("add.Scalar")
      FT_FOREACH("add.ScalarList")
      FT_FOREACH("add.Tensor")
      FT_FOREACH("addcdiv.Scalar")
      FT_FOREACH("addcdiv.ScalarList")
      FT_FOREACH("addcdiv.Tensor")
      FT_FOREACH("addcmul.Scalar")
      FT_FOREACH("addcmul.ScalarList")
      FT_FOREACH("addcmul.Tensor")
      FT_FOREACH("asin.default")
      FT_FOREACH("atan.default")
      FT_FOREACH("ceil.default")
      FT_FOREACH("clamp_max.List")
      FT_FOREACH("clamp_max.Scalar")
      FT_FOREACH("clamp_max.ScalarList")
      FT_FOREACH("clamp_min.List")
      FT_FOREACH("clamp_min.Scalar")
      FT_FOREACH("clamp_min.ScalarList")
      FT_FOREACH("clone.default")
      FT_FOREACH("copy.default")
      FT_FOREACH("cos.default")
      FT_FOREACH("cosh.default")
      FT_FOREACH("div.List")
      FT_FOREACH("div.Scalar")
      FT_FOREACH("div.ScalarList")
      FT_FOREACH("div.Tensor")
      FT_FOREACH("erf.default")
      FT_FOREACH("erfc.default")
      FT_FOREACH("exp.default")
      FT_FOREACH("expm1.default")
      FT_FOREACH("floor.default")
      FT_FOREACH("frac.default")
      FT_FOREACH("lerp.List")
      FT_FOREACH("lerp.Scalar")
      FT_FOREACH("lerp.ScalarList")
      FT_FOREACH("lgamma.default")
      FT_FOREACH("log.default")
      FT_FOREACH("log10.default")
      FT_FOREACH("log1p.default")
      FT_FOREACH("log2.default")
      FT_FOREACH("max.default")
      FT_FOREACH("maximum.List")
      FT_FOREACH("maximum.Scalar")
      FT_FOREACH("maximum.ScalarList")
      FT_FOREACH("minimum.List")
      FT_FOREACH("minimum.Scalar")
      FT_FOREACH("minimum.ScalarList")
      FT_FOREACH("mm.default")
      FT_FOREACH("mul.List")
      FT_FOREACH("mul.Scalar")
      FT_FOREACH("mul.ScalarList")
      FT_FOREACH("mul.Tensor")
      FT_FOREACH("neg.default")
      FT_FOREACH("norm.Scalar")
      FT_FOREACH("pow.List")
      FT_FOREACH("pow.Scalar")
      FT_FOREACH("pow.ScalarAndTensor")
      FT_FOREACH("pow.ScalarList")
      FT_FOREACH("reciprocal.default")
      FT_FOREACH("round.default")
      FT_FOREACH("rsqrt.default")
      FT_FOREACH("sigmoid.default")
      FT_FOREACH("sign.default")
      FT_FOREACH("sin.default")
      FT_FOREACH("sinh.default")
      FT_FOREACH("sqrt.default")
      FT_FOREACH("sub.List")
      FT_FOREACH("sub.Scalar")
      FT_FOREACH("sub.ScalarList")
      FT_FOREACH("tan.default")
      FT_FOREACH("tanh.default")
      FT_FOREACH("trunc.default")
      FT_FOREACH("zero.default")
  // clang-format on
#undef FT_FOREACH
  };
  return kRows;
}

} // namespace ft
