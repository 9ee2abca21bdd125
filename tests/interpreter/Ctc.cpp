//===- Ctc.cpp - Connectionist temporal classification --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The labels of a sequence stand with blanks before, between and after them: S
// = 2 L + 1 states. A path stays in its state, goes to the next one, or skips a
// blank between two labels that differ. alpha[t, s] is the logarithm of the
// probability of all paths that are in s at t; beta that of all that go on from
// there. Both count what is emitted at t.

#include "tests/interpreter/Families.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

static double logAdd(double a, double b) {
  double most = std::max(a, b);
  return most == -HUGE_VAL
             ? most
             : most + std::log(std::exp(a - most) + std::exp(b - most));
}

namespace {
/// (log_probs [T, N, C] or [T, C], targets, input_lengths, target_lengths), of
/// which the first is argument `first`.
struct Sequences {
  const Tensor &logs, &targets;
  int64_t steps, batch, classes, blank;
  Shape inputLengths, targetLengths;

  Sequences(Call &call, unsigned first)
      : logs(call.tensor(first)), targets(call.tensor(first + 1)),
        steps(logs.shape[0]), batch(logs.rank() == 3 ? logs.shape[1] : 1),
        classes(logs.shape.back()),
        blank(call.integer(call.schema.argIndex("blank"))),
        inputLengths(lengths(call, first + 2)),
        targetLengths(lengths(call, first + 3)) {}

  static Shape lengths(Call &call, unsigned i) {
    if (call.args[i].kind != Arg::Tensor)
      return call.integers(i);
    Shape list;
    for (int64_t k = 0, n = call.tensor(i).numel(); k < n; ++k)
      list.push_back(call.tensor(i).integer(k));
    return list;
  }
  int64_t place(int64_t b, int64_t t, int64_t c) const {
    return (t * batch + b) * classes + c;
  }
  double log(int64_t b, int64_t t, int64_t c) const {
    return logs.real(place(b, t, c));
  }
  /// The class that state s of sequence b emits.
  int64_t label(int64_t b, int64_t s) const {
    if (s % 2 == 0)
      return blank;
    // Padded to one length, or one after the other.
    int64_t start = 0;
    if (targets.rank() == 2 && logs.rank() == 3)
      start = b * targets.shape[1];
    else
      for (int64_t k = 0; k < b; ++k)
        start += targetLengths[k];
    return targets.integer(start + s / 2);
  }
  int64_t states(int64_t b) const { return 2 * targetLengths[b] + 1; }
  /// Whether a path may go from s to s + 2.
  bool skips(int64_t b, int64_t s) const {
    return s % 2 == 1 && s + 2 < states(b) && label(b, s) != label(b, s + 2);
  }

  std::vector<std::vector<double>> alpha(int64_t b) const {
    int64_t length = inputLengths[b], count = states(b);
    std::vector<std::vector<double>> rows;
    for (int64_t t = 0; t < length; ++t) {
      std::vector<double> row(count, -HUGE_VAL);
      for (int64_t s = 0; s < count; ++s) {
        double from = t == 0 && s < 2 ? 0 : -HUGE_VAL;
        for (int64_t r = std::max<int64_t>(s - 2, 0); t > 0 && r <= s; ++r)
          if (r + 2 > s || skips(b, r))
            from = logAdd(from, rows[t - 1][r]);
        row[s] = from + log(b, t, label(b, s));
      }
      rows.push_back(row);
    }
    return rows;
  }
  std::vector<std::vector<double>> beta(int64_t b) const {
    int64_t length = inputLengths[b], count = states(b);
    std::vector<std::vector<double>> rows(
        length, std::vector<double>(count, -HUGE_VAL));
    for (int64_t t = length - 1; t >= 0; --t)
      for (int64_t s = 0; s < count; ++s) {
        double to = t == length - 1 && s >= count - 2 ? 0 : -HUGE_VAL;
        for (int64_t r = s; t < length - 1 && r < std::min(s + 3, count); ++r)
          if (r < s + 2 || skips(b, s))
            to = logAdd(to, rows[t + 1][r]);
        rows[t][s] = to + log(b, t, label(b, s));
      }
    return rows;
  }
  double loss(int64_t b, const std::vector<std::vector<double>> &rows) const {
    int64_t count = states(b);
    if (rows.empty()) // of nothing, to which only nothing leads
      return count == 1 ? 0 : HUGE_VAL;
    double total = rows.back()[count - 1];
    if (count > 1)
      total = logAdd(total, rows.back()[count - 2]);
    return -total;
  }
};
} // namespace

/// _ctc_loss: losses, and alpha, of which what no path has is left over.
static void ctcForward(Call &call) {
  Sequences s(call, 0);
  Tensor &alpha = call.out(1);
  for (int64_t b = 0; b < s.batch; ++b) {
    std::vector<std::vector<double>> rows = s.alpha(b);
    call.out(0).setReal(b, s.loss(b, rows));
    if (s.inputLengths[b] != alpha.shape[1] || s.states(b) != alpha.shape[2])
      call.leave(1);
    for (size_t t = 0; t < rows.size(); ++t)
      for (size_t k = 0; k < rows[t].size(); ++k)
        alpha.setReal((b * alpha.shape[1] + t) * alpha.shape[2] + k,
                      rows[t][k]);
  }
}

/// ctc_loss(…, blank, reduction, zero_infinity)
static void ctcLoss(Call &call) {
  Sequences s(call, 0);
  int64_t reduction = call.integer(5);
  double total = 0;
  for (int64_t b = 0; b < s.batch; ++b) {
    double value = s.loss(b, s.alpha(b));
    if (call.flag(6) && value == HUGE_VAL)
      value = 0;
    if (reduction == 0)
      call.out().setReal(b, value);
    total += reduction == 1
                 ? value / double(std::max<int64_t>(s.targetLengths[b], 1))
                 : value;
  }
  if (reduction != 0)
    call.out().setReal(0, reduction == 1 ? total / double(s.batch) : total);
}

/// (grad, log_probs, targets, lengths, lengths, losses, alpha, blank,
/// zero_infinity)
static void ctcBackward(Call &call) {
  Sequences s(call, 1);
  const Tensor &grad = call.tensor(0), &losses = call.tensor(5);
  for (int64_t b = 0; b < s.batch; ++b) {
    double loss = losses.real(b);
    if (call.flag(8) && loss == HUGE_VAL)
      continue;
    std::vector<std::vector<double>> alpha = s.alpha(b), beta = s.beta(b);
    for (size_t t = 0; t < alpha.size(); ++t) {
      std::vector<double> through(s.classes, -HUGE_VAL);
      for (size_t k = 0; k < alpha[t].size(); ++k) {
        double &sum = through[s.label(b, k)];
        sum = logAdd(sum, alpha[t][k] + beta[t][k]);
      }
      for (int64_t c = 0; c < s.classes; ++c) {
        double log = s.log(b, t, c);
        call.out().setReal(s.place(b, t, c),
                           (std::exp(log) - std::exp(through[c] + loss - log)) *
                               grad.real(b));
      }
    }
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::ctcOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"_ctc_loss.default", ctcForward, Accumulated},
      {"_ctc_loss.Tensor", ctcForward, Accumulated},
      {"ctc_loss.IntList", ctcLoss, Accumulated},
      {"ctc_loss.Tensor", ctcLoss, Accumulated},
      {"_ctc_loss_backward.default", ctcBackward, Accumulated},
      {"_ctc_loss_backward.Tensor", ctcBackward, Accumulated},
  };
  return rows;
}
