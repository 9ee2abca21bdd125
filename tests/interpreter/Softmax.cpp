//===- Softmax.cpp - Softmax and its gradients ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Lines.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

static void softmax(Call &call) {
  bool logarithm = call.base().contains("log");
  bool safe = call.base() == "_safe_softmax";
  // Converted to the dtype of the result first, where one is asked for.
  Tensor self = call.tensor(0);
  int dtype = call.schema.argIndex("dtype");
  if (dtype >= 0 && call.has(dtype))
    self = self.to(call.out().dtype);
  Lines lines(self.shape, call.dim(1, self.rank()));
  for (int64_t l = 0; l < lines.count; ++l) {
    double most = -HUGE_VAL, total = 0;
    bool nan = false;
    for (int64_t k = 0; k < lines.length; ++k) {
      double x = self.real(lines.at(l, k));
      nan |= std::isnan(x);
      most = std::max(most, x);
    }
    if (nan)
      most = std::nan("");
    for (int64_t k = 0; k < lines.length; ++k)
      total += std::exp(self.real(lines.at(l, k)) - most);
    for (int64_t k = 0; k < lines.length; ++k) {
      double x = self.real(lines.at(l, k)) - most;
      double y = logarithm ? x - std::log(total) : std::exp(x) / total;
      call.out().setReal(lines.at(l, k), safe && most == -HUGE_VAL ? 0 : y);
    }
  }
}

// dx = y (g - Σ g y), or g - exp(y) Σ g for the logarithm.
static void softmaxBackward(Call &call) {
  bool logarithm = call.base().contains("log");
  const Tensor &grad = call.tensor(0), &output = call.tensor(1);
  Lines lines(grad.shape, call.dim(2, grad.rank()));
  for (int64_t l = 0; l < lines.count; ++l) {
    double total = 0;
    for (int64_t k = 0; k < lines.length; ++k) {
      int64_t i = lines.at(l, k);
      total += grad.real(i) * (logarithm ? 1 : output.real(i));
    }
    for (int64_t k = 0; k < lines.length; ++k) {
      int64_t i = lines.at(l, k);
      double g = grad.real(i), y = output.real(i);
      call.out().setReal(i,
                         logarithm ? g - std::exp(y) * total : y * (g - total));
    }
  }
}

/// Whether an element of `shape` is left out: the mask is of rows and columns
/// (type 0), of sequences and columns (1), or of all elements.
static bool masked(const Tensor &mask, Index index, int64_t type) {
  if (type == 0)
    return mask.integer(flatten(mask.shape, index.take_back(2)));
  if (type == 1)
    return mask.integer(flatten(mask.shape, {index.front(), index.back()}));
  return mask.integer(flatten(mask.shape, index));
}

/// (self, mask, dim, mask_type)
static void maskedSoftmax(Call &call) {
  const Tensor &self = call.tensor(0), &mask = call.tensor(1);
  int64_t type = call.has(3) ? call.integer(3) : 2;
  int64_t dim = call.has(2) ? call.dim(2, self.rank()) : self.rank() - 1;
  std::vector<bool> out;
  forEachIndex(self.shape, [&](Index index, int64_t) {
    out.push_back(masked(mask, index, type));
  });
  Lines lines(self.shape, dim);
  for (int64_t l = 0; l < lines.count; ++l) {
    double most = -HUGE_VAL, total = 0;
    for (int64_t k = 0; k < lines.length; ++k)
      if (int64_t i = lines.at(l, k); !out[i])
        most = std::max(most, self.real(i));
    for (int64_t k = 0; k < lines.length; ++k)
      if (int64_t i = lines.at(l, k); !out[i])
        total += std::exp(self.real(i) - most);
    for (int64_t k = 0; k < lines.length; ++k) {
      int64_t i = lines.at(l, k); // where all is masked 0 / 0
      call.out().setReal(i,
                         (out[i] ? 0 : std::exp(self.real(i) - most)) / total);
    }
  }
}

/// (grad, output, mask, dim)
static void maskedSoftmaxBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &output = call.tensor(1),
               &mask = call.tensor(2);
  int64_t dim = call.has(3) ? call.dim(3, grad.rank()) : grad.rank() - 1;
  Lines lines(grad.shape, dim);
  for (int64_t l = 0; l < lines.count; ++l) {
    double total = 0;
    for (int64_t k = 0; k < lines.length; ++k)
      if (int64_t i = lines.at(l, k); !mask.integer(i))
        total += grad.real(i) * output.real(i);
    for (int64_t k = 0; k < lines.length; ++k)
      if (int64_t i = lines.at(l, k); !mask.integer(i))
        call.out().setReal(i, output.real(i) * (grad.real(i) - total));
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::softmaxOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"_softmax.default", softmax, Accumulated},
      {"_log_softmax.default", softmax, Accumulated},
      {"_safe_softmax.default", softmax, Accumulated},
      {"softmax.int", softmax, Accumulated},
      {"log_softmax.int", softmax, Accumulated},
      {"special_softmax.default", softmax, Accumulated},
      {"special_log_softmax.default", softmax, Accumulated},
      {"_masked_softmax.default", maskedSoftmax, Accumulated},
      {"_masked_softmax_backward.default", maskedSoftmaxBackward, Accumulated},
      {"_softmax_backward_data.default", softmaxBackward, Accumulated},
      {"_log_softmax_backward_data.default", softmaxBackward, Accumulated},
  };
  return rows;
}
