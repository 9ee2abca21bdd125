//===- MarginLoss.cpp - Losses of margins, distances and counts -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Losses.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

/// max(0, x), which keeps NaN.
static double positive(double x) { return x < 0 ? 0 : x; }

//===----------------------------------------------------------------------===//
// One score for each class
//===----------------------------------------------------------------------===//

namespace {
/// Scores [N, C], or [C], or one number.
struct Scores {
  int64_t rows, classes;
  explicit Scores(const Tensor &self)
      : rows(self.rank() == 2 ? self.shape[0] : 1),
        classes(self.rank() ? self.shape.back() : 1) {}
};
} // namespace

/// (self, target, p, margin, weight, reduction)
static void multiMargin(Call &call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  const Tensor *weight = call.optTensor(4);
  double p = call.number(2), margin = call.number(3);
  Scores s(x);
  std::vector<double> values;
  for (int64_t i = 0; i < s.rows; ++i) {
    int64_t target = y.integer(i);
    if (target < 0 || target >= s.classes)
      return call.refuse("a class out of range");
    double sum = 0;
    for (int64_t c = 0; c < s.classes; ++c) {
      double z =
          margin - x.real(i * s.classes + target) + x.real(i * s.classes + c);
      if (c != target && z > 0)
        sum += (p == 1 ? z : z * z) * (weight ? weight->real(target) : 1);
    }
    values.push_back(sum / double(s.classes));
  }
  reduceTo(call.out(), values, call.integer(5));
}

/// (grad, self, target, p, margin, weight, reduction)
static void multiMarginBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1), &y = call.tensor(2);
  const Tensor *weight = call.optTensor(5);
  double p = call.number(3), margin = call.number(4);
  Scores s(x);
  for (int64_t i = 0; i < s.rows; ++i) {
    int64_t target = y.integer(i), reduction = call.integer(6);
    if (target < 0 || target >= s.classes)
      return call.refuse("a class out of range");
    double scale = 1 / double(s.classes), own = 0,
           outer = grad.real(reduction == 0 ? i : 0);
    if (reduction == 1)
      scale /= double(s.rows);
    for (int64_t c = 0; c < s.classes; ++c) {
      double z =
          margin - x.real(i * s.classes + target) + x.real(i * s.classes + c);
      if (c == target)
        continue;
      double g =
          (p == 1 ? 1 : 2 * z) * scale * (weight ? weight->real(target) : 1);
      if (!(z > 0))
        g = 0;
      call.out().setReal(i * s.classes + c, g * outer); // 0 ∞ is NaN
      own -= g;
    }
    call.out().setReal(i * s.classes + target, own * outer);
  }
}

/// The targets of row i are what stands before the first -1.
static std::vector<int64_t> targetsOf(Call &call, const Tensor &y, int64_t i,
                                      int64_t classes) {
  std::vector<int64_t> targets;
  for (int64_t c = 0; c < classes; ++c) {
    int64_t target = y.integer(i * classes + c);
    if (target == -1)
      break;
    if (target < -1 || target >= classes)
      call.refuse("a class out of range");
    targets.push_back(target);
  }
  return targets;
}

/// (self, target, reduction): output, is_target
static void multilabelMargin(Call &call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  Scores s(x);
  std::vector<double> values;
  for (int64_t i = 0; i < s.rows; ++i) {
    std::vector<int64_t> targets = targetsOf(call, y, i, s.classes);
    std::vector<bool> isTarget(s.classes);
    if (!call.error.empty())
      return;
    for (int64_t t : targets)
      isTarget[t] = true;
    double sum = 0;
    for (int64_t t : targets)
      for (int64_t c = 0; c < s.classes; ++c) {
        double z = 1 - x.real(i * s.classes + t) + x.real(i * s.classes + c);
        if (!isTarget[c] && z > 0)
          sum += z;
      }
    values.push_back(sum / double(s.classes));
    for (int64_t c = 0; call.results.size() > 1 && c < s.classes; ++c)
      call.out(1).setReal(i * s.classes + c, isTarget[c]);
  }
  reduceTo(call.out(), values, call.integer(2));
}

/// (grad, self, target, reduction, is_target)
static void multilabelMarginBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1), &y = call.tensor(2);
  const Tensor &isTarget = call.tensor(4);
  int64_t reduction = call.integer(3);
  Scores s(x);
  std::vector<double> sums(x.numel());
  for (int64_t i = 0; i < s.rows; ++i) {
    double g = 1 / double(s.classes);
    if (reduction == 1)
      g /= double(s.rows);
    int64_t row = i * s.classes;
    for (int64_t t : targetsOf(call, y, i, s.classes))
      for (int64_t c = 0; c < s.classes; ++c)
        if (isTarget.real(row + c) == 0 &&
            1 - x.real(row + t) + x.real(row + c) > 0) {
          sums[row + t] -= g;
          sums[row + c] += g;
        }
    for (int64_t c = 0; c < s.classes; ++c)
      sums[row + c] *= grad.real(reduction == 0 ? i : 0);
  }
  for (size_t i = 0; i < sums.size(); ++i)
    call.out().setReal(i, sums[i]);
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// (self, target, margin, reduction), target 1 or -1; anything else takes both
/// terms.
static void hingeEmbedding(Call &call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  std::vector<double> values;
  forEachIndex(broadcastShape({&x, &y}), [&](Index index, int64_t) {
    double z = at(x, index), t = at(y, index);
    values.push_back((t == 1 ? 0 : positive(call.number(2) - z)) +
                     (t == -1 ? 0 : z));
  });
  reduceTo(call.out(), values, call.integer(3));
}

/// (input1, input2, target, margin, reduction)
static void marginRanking(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1), &y = call.tensor(2);
  std::vector<double> values;
  forEachIndex(broadcastShape({&a, &b, &y}), [&](Index index, int64_t) {
    values.push_back(positive(-at(y, index) * (at(a, index) - at(b, index)) +
                              call.number(3)));
  });
  reduceTo(call.out(), values, call.integer(4));
}

/// (input1, input2, target, margin, reduction) of rows.
static void cosineEmbedding(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1), &y = call.tensor(2);
  Scores s(a);
  std::vector<double> values;
  for (int64_t i = 0; i < s.rows; ++i) {
    double dot = 0, squareA = 1e-12, squareB = 1e-12, t = y.real(i);
    for (int64_t k = 0; k < s.classes; ++k) {
      double u = a.real(i * s.classes + k), v = b.real(i * s.classes + k);
      dot += u * v;
      squareA += u * u;
      squareB += v * v;
    }
    double cosine = dot / std::sqrt(squareA * squareB);
    values.push_back(t == 1    ? 1 - cosine
                     : t == -1 ? positive(cosine - call.number(3))
                               : 0);
  }
  reduceTo(call.out(), values, call.integer(4));
}

/// ‖a - b + eps‖ of each row.
static std::vector<double> distances(const Tensor &a, const Tensor &b, double p,
                                     double eps) {
  Shape shape = broadcastShape({&a, &b}), rows(shape.begin(), shape.end() - 1);
  std::vector<double> result;
  forEachIndex(rows, [&](Index index, int64_t) {
    Shape place(index.begin(), index.end());
    place.push_back(0);
    double total = 0;
    for (int64_t k = 0; k < shape.back(); ++k) {
      place.back() = k;
      double d = std::abs(at(a, place) - at(b, place) + eps);
      if (p != 0 && (std::isnan(d) || std::isnan(total)))
        total = std::nan("");
      else
        total = p == 0          ? total + (d != 0)
                : std::isinf(p) ? std::max(total, d)
                                : total + std::pow(d, p);
    }
    result.push_back(p == 0 || std::isinf(p) ? total : std::pow(total, 1 / p));
  });
  return result;
}

/// (x1, x2, p, eps, keepdim)
static void pairwiseDistance(Call &call) {
  std::vector<double> values =
      distances(call.tensor(0), call.tensor(1), call.number(2), call.number(3));
  reduceTo(call.out(), values, 0);
}

/// (anchor, positive, negative, margin, p, eps, swap, reduction)
static void tripletMargin(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1), &c = call.tensor(2);
  double p = call.number(4), eps = call.number(5);
  std::vector<double> near = distances(a, b, p, eps),
                      far = distances(a, c, p, eps),
                      other = distances(b, c, p, eps), values;
  for (size_t i = 0; i < near.size(); ++i) {
    if (near[i] + far[i] + other[i] > 200)
      return call.open("distances that cancel");
    values.push_back(
        positive(call.number(3) + near[i] -
                 (call.flag(6) ? std::min(far[i], other[i]) : far[i])));
  }
  reduceTo(call.out(), values, call.integer(7));
}

/// (input, target, log_input, full, eps, reduction)
static void poissonNll(Call &call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  std::vector<double> values;
  forEachIndex(broadcastShape({&x, &y}), [&](Index index, int64_t) {
    double z = at(x, index), t = at(y, index);
    double value = call.flag(2) ? std::exp(z) - t * z
                                : z - t * std::log(z + call.number(4));
    if (call.flag(3) && !(t <= 1)) // Stirling's formula
      value += t * std::log(t) - t + 0.5 * std::log(2 * M_PI * t);
    values.push_back(value);
  });
  reduceTo(call.out(), values, call.integer(5));
}

llvm::ArrayRef<OpRow> ft::interpreter::marginLossOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"multi_margin_loss.default", multiMargin, Accumulated},
      {"multi_margin_loss_backward.default", multiMarginBackward, Accumulated},
      {"multilabel_margin_loss.default", multilabelMargin, Accumulated},
      {"multilabel_margin_loss_forward.default", multilabelMargin, Accumulated},
      {"multilabel_margin_loss_backward.default", multilabelMarginBackward,
       Accumulated},
      {"hinge_embedding_loss.default", hingeEmbedding, Accumulated},
      {"margin_ranking_loss.default", marginRanking, Accumulated},
      {"cosine_embedding_loss.default", cosineEmbedding, Accumulated},
      {"pairwise_distance.default", pairwiseDistance, Accumulated},
      {"triplet_margin_loss.default", tripletMargin, Accumulated},
      {"poisson_nll_loss.default", poissonNll, Accumulated},
  };
  return rows;
}
