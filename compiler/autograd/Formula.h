//===- Formula.h - Derivatives as text -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The expressions of the tables in rules/*.def. A name is an argument of the
// forward call, `result` or `result1` one of its results, `grad` or `grad1` the
// gradient of one; any other function is a call of an ft operator.
//
//   "grad * conj(other)"
//   "where(self > threshold, grad, 0)"
//   "restore(grad, self, dim, keepdim) / count(self, dim)"
//   "native_layer_norm(input, normalized_shape, weight, bias, eps)[0]"
//
//   expression  numbers, 'text', true, false, none, pi, [a, b], f(a, key = b),
//               a[1], -a, !a, a * b, a / b, a + b, a - b,
//               a < b (<=, >, >=, ==, !=), a && b, a || b, a ? b : c
//
// What is known (sizes, numbers, none, text) is computed when the rule runs: a
// condition of ?: must be. Comparisons of tensors are calls. Functions of the
// language itself:
//
//   conj(x) real(x) imag(x)       of a real x: x, x and no gradient
//   sizes(x) size(x, d) numel(x) rank(x)
//   restore(g, x, dim, keepdim)   g with the dims that a reduction has dropped
//   count(x, dim)                 elements of x in one result of a reduction
//   like(x, y)                    x in the dtype of y
//   reshape(x, y or sizes)        x with the sizes of y
//   zeros(x)                      no gradient is zeros of the size of x
//
// Cost: parsing once for each row of the table; evaluation one call for each
// operation.

#ifndef FORETRACE_COMPILER_AUTOGRAD_FORMULA_H
#define FORETRACE_COMPILER_AUTOGRAD_FORMULA_H

#include "compiler/autograd/GradCall.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ft {

class Formula {
public:
  /// Fails with the place and what was expected there.
  static llvm::Expected<Formula> parse(llvm::StringRef text);

  llvm::StringRef text() const { return source; }
  /// Names that are neither functions nor `grad…` or `result…`.
  std::vector<std::string> argumentNames() const;
  /// Functions that are called and not of the language itself.
  std::vector<std::string> operatorNames() const;

  /// `grads` is null in a formula of a forward call, where `grad` is an error.
  Term evaluate(RuleCall &call, GradCall *grads) const;

  struct Node {
    enum Kind : uint8_t {
      Constant,
      Name,
      Call,
      List,
      Index,
      Unary,
      Binary,
      Choice
    };
    Kind kind = Constant;
    /// Name, Call: the name; Unary, Binary: the operator.
    std::string text;
    Term constant;
    /// Operands; keyword names of a call's arguments beside them.
    std::vector<unsigned> children;
    std::vector<std::string> keywords;
  };

private:
  std::string source;
  /// Children stand before their parents; the last one is the root.
  std::vector<Node> nodes;
};

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_FORMULA_H
