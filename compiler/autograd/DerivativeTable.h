//===- DerivativeTable.h - The derivative of each overload -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One entry for each overload that has a derivative, from the formulas of
// rules/*.def and the functions of rules/*.cpp:
//
//   FT_PARTIAL("sin.default", "self", "cos(self)")      grad * conj(partial)
//   FT_GRADIENT("mm.default", "self", "…grad…")          the gradient itself
//   FT_EXPAND("layer_norm.default", "native_layer_norm(…)[0]")
//       the call is replaced by others, which have derivatives
//   FT_SAME("view_copy.default", "view.default")         as another overload
//   FT_CONSTANT("argmax.default")
//       the results are locally constant, or no function of the input's values:
//       no gradient flows through it
//   FT_CONSTANT_RESULTS("native_batch_norm.default", 1, 2)
//       the same of results 1 to 2 only
//
// An overload has formulas for all of its differentiable arguments or a
// function. Of results that are integers or bools none is asked for. Those
// without either are listed in Without.def, with the reason.

#ifndef FORETRACE_COMPILER_AUTOGRAD_DERIVATIVETABLE_H
#define FORETRACE_COMPILER_AUTOGRAD_DERIVATIVETABLE_H

#include "compiler/autograd/Formula.h"

#include <string>
#include <vector>

namespace ft {

/// Sets the gradients of the arguments that need one.
using DerivativeFunction = void (*)(GradCall &);
/// Gives a replacement for each result of the call (zero terms where nothing
/// replaces it); an empty list leaves the call as it is.
using ExpandFunction = std::vector<Term> (*)(RuleCall &);

struct Derivative {
  enum Kind : uint8_t { Missing, Formulas, Function, Constant };
  Kind kind = Missing;
  struct Row {
    std::string argument;
    /// The formula is the partial derivative, not yet times the gradient.
    bool isPartial;
    Formula formula;
  };
  std::vector<Row> formulas;
  DerivativeFunction function = nullptr;
  /// Tried before anything else.
  std::vector<Formula> expansion;
  ExpandFunction expand = nullptr;
  /// A bit for each result that no gradient flows through.
  uint32_t constantResults = 0;

  bool expands() const { return expand || !expansion.empty(); }
  /// Whether a gradient can flow through the call.
  bool exists() const { return kind == Formulas || kind == Function; }
};

/// The entry of an overload of ATen; kind Missing if it has none.
const Derivative &derivativeOf(const Schema &schema);

/// Why an overload of ATen has none: "PyTorch has none either"; empty for one
/// that has an entry.
std::string whyNoDerivative(const Schema &schema);

/// What is wrong with the tables themselves: formulas that do not parse, rows
/// for what does not exist. Empty in a sound build; a test asks.
std::vector<std::string> checkDerivativeTables();

/// The functions of one family, in rules/Name.cpp.
struct DerivativeRow {
  llvm::StringLiteral name;
  DerivativeFunction function;
};
struct ExpandRow {
  llvm::StringLiteral name;
  ExpandFunction function;
};

#define FT_DERIVATIVE_FAMILY(name)                                             \
  llvm::ArrayRef<DerivativeRow> name##Derivatives();
#define FT_EXPAND_FAMILY(name) llvm::ArrayRef<ExpandRow> name##Expansions();
#include "compiler/autograd/Families.def"

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_DERIVATIVETABLE_H
