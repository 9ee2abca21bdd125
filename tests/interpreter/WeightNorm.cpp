//===- WeightNorm.cpp - Weights as a direction and a length ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Finite.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
/// w = g v / ‖v‖, with one length for each index of `dim`, or one for all (-1).
struct Slices {
  int64_t count = 1, inner = 1;
  Slices(const Tensor &v, int64_t dim) {
    if (dim == -1)
      return;
    count = v.shape[dim];
    for (int64_t d = dim + 1; d < v.rank(); ++d)
      inner *= v.shape[d];
  }
  int64_t of(int64_t i) const { return i / inner % count; }
};
} // namespace

/// (v, g, dim): w, and the norms.
static void weightNorm(Call &call) {
  const Tensor &v = call.tensor(0), &g = call.tensor(1);
  Slices slices(v, call.integer(2));
  std::vector<double> squares(slices.count);
  for (int64_t i = 0, n = v.numel(); i < n; ++i)
    squares[slices.of(i)] += v.real(i) * v.real(i);
  for (int64_t i = 0, n = v.numel(); i < n; ++i) {
    int64_t s = slices.of(i);
    call.out().setReal(i, v.real(i) * g.real(s) / std::sqrt(squares[s]));
  }
  for (int64_t s = 0; call.results.size() > 1 && s < slices.count; ++s)
    call.out(1).setReal(s, std::sqrt(squares[s]));
}

/// (grad, v, g, norms, dim): of v and of g.
static void weightNormBackward(Call &call) {
  openIfNotFinite(call, "infinities in two terms");
  const Tensor &grad = call.tensor(0), &v = call.tensor(1), &g = call.tensor(2),
               &norms = call.tensor(3);
  Slices slices(v, call.integer(4));
  std::vector<double> dots(slices.count);
  for (int64_t i = 0, n = v.numel(); i < n; ++i)
    dots[slices.of(i)] += v.real(i) * grad.real(i);
  for (int64_t i = 0, n = v.numel(); i < n; ++i) {
    int64_t s = slices.of(i);
    double norm = norms.real(s), along = v.real(i) * dots[s] / (norm * norm);
    double across = grad.real(i) - along;
    if (std::abs(across) < 1e-5 * std::abs(along))
      call.open("terms that cancel"); // as in a slice of one element
    call.out(0).setReal(i, g.real(s) / norm * across);
  }
  for (int64_t s = 0; s < slices.count; ++s)
    call.out(1).setReal(s, dots[s] / norms.real(s));
}

llvm::ArrayRef<OpRow> ft::interpreter::weightNormOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"_weight_norm.default", weightNorm, Accumulated},
      {"_weight_norm_interface.default", weightNorm, Accumulated},
      {"_weight_norm_interface_backward.default", weightNormBackward,
       Accumulated},
      {"_weight_norm_differentiable_backward.default", weightNormBackward,
       Accumulated},
  };
  return rows;
}
