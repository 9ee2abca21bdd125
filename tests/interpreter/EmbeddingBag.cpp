//===- EmbeddingBag.cpp - Bags of rows, and their gradients ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bag b holds the indices from offsets[b] up to offsets[b + 1].

#include "tests/interpreter/Families.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
enum Mode : int64_t { Sum = 0, Mean = 1, Max = 2 };
} // namespace

static int64_t paddingOf(const Call &call, int64_t rows) {
  int i = call.schema.argIndex("padding_idx");
  if (i < 0 || !call.has(i))
    return -1;
  int64_t padding = call.integer(i);
  // Only the form with an optional index counts from the end.
  return padding < 0 && call.schema.overload == "padding_idx" ? padding + rows
                                                              : padding;
}

/// The bag of each index.
static std::vector<int64_t> bagsOf(Call &call, const Tensor &offsets,
                                   int64_t bags, int64_t indices) {
  std::vector<int64_t> bag(indices, 0);
  for (int64_t b = 0; b < bags; ++b) {
    int64_t from = offsets.integer(b);
    if (from < 0 || from > indices || (b == 0 && from != 0))
      call.refuse("an offset out of range");
    for (int64_t i = std::max<int64_t>(from, 0); i < indices; ++i)
      bag[i] = b;
  }
  return bag;
}

/// (weight, indices, offsets, scale_grad_by_freq, mode, sparse,
/// per_sample_weights, include_last_offset, padding_idx): bags, bag of each
/// index, sizes of bags (0 for sums), indices of maxima.
static void embeddingBag(Call &call) {
  const Tensor &weight = call.tensor(0), &indices = call.tensor(1),
               &offsets = call.tensor(2);
  const Tensor *factors = call.optTensor(6);
  int64_t mode = call.integer(4), padding = paddingOf(call, weight.shape[0]);
  Tensor &out = call.out();
  int64_t bags = out.shape[0], width = out.shape[1], n = indices.numel();
  if (call.flag(7) && offsets.integer(bags) != n)
    return call.open("a last offset that is not the number of indices");
  std::vector<int64_t> bag = bagsOf(call, offsets, bags, n);
  std::vector<int64_t> counts(bags), maxima(bags * width);
  std::vector<double> sums(bags * width);
  for (int64_t i = 0; i < n; ++i) {
    int64_t row = indices.integer(i), b = bag[i];
    if (row < 0 || row >= weight.shape[0])
      return call.refuse("an index out of range");
    if (row == padding)
      continue;
    for (int64_t d = 0; d < width; ++d) {
      double x = weight.real(row * width + d), &y = sums[b * width + d];
      if (mode != Max) {
        y += x * (factors ? factors->real(i) : 1);
        continue;
      }
      if (std::isnan(x))
        return call.open("a maximum of NaN");
      if (counts[b] == 0 || x > y) {
        y = x;
        maxima[b * width + d] = row;
      }
    }
    ++counts[b];
  }
  for (int64_t i = 0; i < bags * width; ++i)
    out.setReal(i,
                mode == Mean
                    ? sums[i] / double(std::max<int64_t>(counts[i / width], 1))
                    : sums[i]);
  for (int64_t i = 0, m = call.out(1).numel(); i < m; ++i)
    call.out(1).setInteger(i, bag[i]);
  for (int64_t b = 0; mode != Sum && b < bags; ++b)
    call.out(2).setInteger(b, counts[b]);
  for (int64_t i = 0, m = call.out(3).numel(); i < m; ++i)
    call.out(3).setInteger(i, mode == Max                ? maxima[i]
                              : mode == Mean && i < bags ? counts[i]
                                                         : 0);
}

/// (grad, indices, [offsets,] offset2bag, bag_size, maximum_indices,
/// num_weights, scale_grad_by_freq, mode, [sparse,] per_sample_weights,
/// padding_idx)
static void embeddingBagBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &indices = call.tensor(1);
  bool dense = call.base() == "_embedding_bag_dense_backward";
  unsigned at = dense ? 2 : 3;
  const Tensor &given = call.tensor(at), &sizes = call.tensor(at + 1),
               &maxima = call.tensor(at + 2);
  int64_t rows = call.integer(at + 3), mode = call.integer(at + 5);
  const Tensor *factors = call.optTensor(dense ? at + 6 : at + 7);
  int64_t padding = paddingOf(call, rows), n = indices.numel();
  int64_t bags = grad.shape[0], width = grad.shape[1];
  std::vector<double> sums(rows * width);
  if (mode == Max) {
    for (int64_t i = 0; i < bags * width; ++i)
      if (sizes.integer(i / width))
        sums[maxima.integer(i) * width + i % width] += grad.real(i);
  } else {
    std::vector<int64_t> bag, uses(rows);
    if (dense)
      for (int64_t i = 0; i < n; ++i)
        bag.push_back(given.integer(i));
    else
      bag = bagsOf(call, call.tensor(2), bags, n);
    for (int64_t i = 0; i < n; ++i)
      ++uses[indices.integer(i)];
    for (int64_t i = 0; i < n; ++i) {
      int64_t row = indices.integer(i), b = bag[i];
      if (row == padding)
        continue;
      double factor = factors ? factors->real(i) : 1;
      if (call.flag(at + 4))
        factor /= double(uses[row]);
      if (mode == Mean)
        factor /= double(std::max<int64_t>(sizes.integer(b), 1));
      for (int64_t d = 0; d < width; ++d)
        sums[row * width + d] += grad.real(b * width + d) * factor;
    }
  }
  for (size_t i = 0; i < sums.size(); ++i)
    call.out().setReal(i, sums[i]);
}

/// (grad, weight, indices, offsets, offset2bag, mode, padding_idx)
static void perSampleBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &weight = call.tensor(1),
               &indices = call.tensor(2);
  int64_t padding = paddingOf(call, weight.shape[0]), width = grad.shape[1];
  std::vector<int64_t> bag =
      bagsOf(call, call.tensor(3), grad.shape[0], indices.numel());
  for (int64_t i = 0, n = indices.numel(); i < n; ++i) {
    int64_t row = indices.integer(i);
    double sum = 0;
    for (int64_t d = 0; row != padding && d < width; ++d)
      sum += grad.real(bag[i] * width + d) * weight.real(row * width + d);
    call.out().setReal(i, sum);
  }
}

/// (self, indices, max_norm, norm_type): rows that are named and too long are
/// scaled down.
static void embeddingRenorm(Call &call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(1);
  double most = call.number(2), p = call.number(3);
  Tensor &out = call.out();
  for (int64_t i = 0, n = self.numel(); i < n; ++i)
    out.set(i, self, i);
  int64_t width = self.shape[1];
  for (int64_t i = 0, n = indices.numel(); i < n; ++i) {
    int64_t row = indices.integer(i);
    if (row < 0 || row >= self.shape[0])
      return call.refuse("an index out of range");
    double norm = 0;
    for (int64_t d = 0; d < width; ++d) {
      double a = std::abs(self.real(row * width + d));
      norm = std::isnan(a) || std::isnan(norm) ? std::nan("")
             : std::isinf(p)                   ? std::max(norm, a)
                                               : norm + std::pow(a, p);
    }
    norm = std::isinf(p) ? norm : std::pow(norm, 1 / p);
    if (norm > most)
      for (int64_t d = 0; d < width; ++d)
        out.setReal(row * width + d,
                    self.real(row * width + d) * (most / (norm + 1e-7)));
  }
}

static void oneHot(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t classes = call.out().shape.back();
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    if (self.integer(i) < 0 || self.integer(i) >= classes)
      return call.refuse("a class out of range");
    call.out().setInteger(i * classes + self.integer(i), 1);
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::embeddingBagOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"_embedding_bag.default", embeddingBag, Accumulated},
      {"_embedding_bag_forward_only.default", embeddingBag, Accumulated},
      {"embedding_bag.default", embeddingBag, Accumulated},
      {"embedding_bag.padding_idx", embeddingBag, Accumulated},
      {"_embedding_bag_backward.default", embeddingBagBackward, Accumulated},
      {"_embedding_bag_dense_backward.default", embeddingBagBackward,
       Accumulated},
      {"_embedding_bag_per_sample_weights_backward.default", perSampleBackward,
       Accumulated},
      {"embedding_renorm.default", embeddingRenorm, Accumulated},
      {"one_hot.default", oneHot, Exact},
  };
  return rows;
}
