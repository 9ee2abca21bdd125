//===- GradCheck.h - Derivatives against central differences ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program f of float64 tensors is compiled with its backward. At inputs x,
// for random directions v and tangents t, the gradient g = J^H t must satisfy
//
//   Re <g, v> = Re <t, (f(x + h v) - f(x - h v)) / 2h>
//
// which two more runs of the same artefact tell for all its programs at once.
//
// Elements of f that are not finite near x, or whose second difference is that
// of a kink, get the tangent 0; a program whose difference still changes with h
// is undecided.
//
// `twice`: the joint graph of f is the function that is checked, with its
// tangents as inputs and its gradients as outputs, so that every rule is
// applied to what rules gave.

#ifndef FORETRACE_TESTS_RANDOM_GRADCHECK_H
#define FORETRACE_TESTS_RANDOM_GRADCHECK_H

#include "tests/conformance/CompiledModel.h"
#include "tests/conformance/ScratchFolder.h"
#include "tests/random/Program.h"

#include <functional>
#include <map>
#include <set>

namespace ft {
class Session;
}

namespace ft::random {

/// A program of one call of an operator that has a derivative, on float64
/// inputs; `only` (a glob) restricts the operators. Without steps if none can
/// be made.
Program differentiableCall(uint64_t seed, llvm::StringRef only);

/// Gives elements that share memory, by strides of 0, the number of the first.
void shareElements(const TensorMeta &meta, Tensor &data);

/// Whether operand `operand` of the call has a derivative.
bool asksGradient(const Step &step, unsigned operand);

/// The operator whose backward has a call of `schema`, with operands that are
/// no free choice: it is not drawn itself, but checked as the second derivative
/// of that. Empty for all others.
llvm::StringRef derivedFrom(const Schema &schema);

/// The operators that have a derivative and are not drawn, each with the
/// reason: "linalg_eig.default: eigenvectors …".
std::vector<std::string> undrawnOps();

class GradCheck {
public:
  bool twice = false;
  /// Compile each call for all sizes.
  bool symbolic = false;
  std::function<void(const Program &, const std::string &why)> onFailure;
  std::function<void(const Program &, const std::string &why)> onUnsupported;

  /// Checks the programs as one artefact; where that does not compile, parts.
  void run(llvm::ArrayRef<Program> programs);

  int64_t checked = 0, undecided = 0, unsupported = 0, failed = 0;
  std::map<std::string, int64_t> calls;
  /// `twice`: the operators that joint graphs have.
  std::set<std::string> inJointGraphs;

private:
  using Batch = llvm::ArrayRef<const Program *>;
  void run(Batch batch);
  std::string attempt(Batch batch);
  std::string build(Session &session, Batch batch);
  std::string joint(const std::string &text);
  /// Nothing is judged where the run fails, which the answer tells.
  std::string judge(Batch batch, const std::string &library);
  void settle(const Program &program, const std::string &why);

  conformance::ScratchFolder scratch;
  unsigned artefacts = 0;
};

} // namespace ft::random

#endif // FORETRACE_TESTS_RANDOM_GRADCHECK_H
