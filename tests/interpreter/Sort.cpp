//===- Sort.cpp - Order, ranks and membership -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Lines.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

/// a before b in ascending order; NaN after all numbers.
static bool before(const Tensor &t, int64_t a, int64_t b) {
  if (t.whole())
    return t.integer(a) < t.integer(b);
  double x = t.real(a), y = t.real(b);
  return !std::isnan(x) && (std::isnan(y) || x < y);
}

/// The positions of a line in stable order.
static std::vector<int64_t> ordered(const Tensor &self, const Lines &lines,
                                    int64_t line, bool descending) {
  std::vector<int64_t> order(lines.length);
  for (int64_t k = 0; k < lines.length; ++k)
    order[k] = k;
  llvm::sort(order, [&](int64_t a, int64_t b) {
    int64_t i = lines.at(line, a), j = lines.at(line, b);
    if (descending)
      std::swap(i, j);
    if (before(self, i, j) || before(self, j, i))
      return before(self, i, j);
    return a < b;
  });
  return order;
}

static void sort(Call &call) {
  const Tensor &self = call.tensor(0);
  int dim = call.schema.argIndex("dim");
  int descending = call.schema.argIndex("descending");
  Lines lines(self.shape, dim >= 0 ? call.dim(dim, self.rank()) : int64_t(0));
  bool indicesOnly = call.base() == "argsort";
  for (int64_t l = 0; l < lines.count; ++l) {
    std::vector<int64_t> order =
        ordered(self, lines, l, descending >= 0 && call.flag(descending));
    for (int64_t k = 0; k < lines.length; ++k) {
      if (!indicesOnly)
        call.out(0).set(lines.at(l, k), self, lines.at(l, order[k]));
      if (indicesOnly || call.results.size() > 1)
        call.results.back().setInteger(lines.at(l, k), order[k]);
    }
  }
}

/// Values are unique; which of several equal elements is named is open.
static void topk(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t k = call.integer(1), dim = call.dim(2, self.rank());
  bool largest = call.flag(3);
  if (!call.flag(4))
    call.open("an unsorted selection");
  if (self.rank() == 0)
    k = 1; // of k = 0 too: there is no dim that could be empty
  Lines lines(self.shape, dim), out(call.out().shape, dim);
  for (int64_t l = 0; l < lines.count; ++l) {
    std::vector<int64_t> order = ordered(self, lines, l, largest);
    for (int64_t j = 0; j < k && j < lines.length; ++j) {
      int64_t from = lines.at(l, order[j]);
      if (j + 1 < lines.length &&
          !before(self, from, lines.at(l, order[j + 1])) &&
          !before(self, lines.at(l, order[j + 1]), from))
        call.open("equal elements in a selection");
      call.out(0).set(out.at(l, j), self, from);
      call.out(1).setInteger(out.at(l, j), order[j]);
    }
  }
}

static void kthvalue(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t k = call.integer(1);
  Lines lines(self.shape, call.dim(2, self.rank()));
  for (int64_t l = 0; l < lines.count; ++l) {
    std::vector<int64_t> order = ordered(self, lines, l, false);
    int64_t chosen = order[k - 1];
    for (int64_t other : order)
      if (other != chosen &&
          !before(self, lines.at(l, other), lines.at(l, chosen)) &&
          !before(self, lines.at(l, chosen), lines.at(l, other)))
        call.open("equal elements in a selection");
    call.out(0).set(l, self, lines.at(l, chosen));
    call.out(1).setInteger(l, chosen);
  }
}

/// The number of boundaries before `value`, of `n` from `start`, taken through
/// `sorter` where there is one.
static int64_t rankIn(const Tensor &bounds, const Tensor *sorter, int64_t start,
                      int64_t n, const Tensor &values, int64_t i, bool right) {
  int64_t low = 0;
  for (; low < n; ++low) {
    int64_t k = start + (sorter ? sorter->integer(start + low) : low);
    bool whole = bounds.whole() && values.whole();
    bool beyond;
    if (whole) {
      beyond = right ? values.integer(i) < bounds.integer(k)
                     : values.integer(i) <= bounds.integer(k);
    } else {
      double x = values.real(i), b = bounds.real(k);
      beyond = !std::isnan(x) && (right ? x < b : x <= b);
      beyond |= std::isnan(b) && (!std::isnan(x) || !right);
    }
    if (beyond)
      break;
  }
  return low;
}

/// Whether n boundaries ascend, NaN last: else what is found depends on where
/// the search looks.
static bool ascends(const Tensor &bounds, const Tensor *sorter, int64_t start,
                    int64_t n) {
  auto at = [&](int64_t k) {
    return bounds.real(start + (sorter ? sorter->integer(start + k) : k));
  };
  for (int64_t k = 1; k < n; ++k)
    if (!std::isnan(at(k)) && !(at(k - 1) <= at(k)))
      return false;
  return true;
}

static Tensor numberAsTensor(const Call &call, unsigned i) {
  bool whole = call.args[i].kind != Arg::Float;
  Tensor value(whole ? DType::I64 : DType::F32, {});
  if (whole)
    value.setInteger(0, call.integer(i));
  else
    value.setReal(0, call.number(i));
  return value;
}

static void searchsorted(Call &call) {
  bool bucketize = call.base() == "bucketize";
  const Tensor &bounds = call.tensor(bucketize ? 1 : 0);
  unsigned valueAt = bucketize ? 0 : 1;
  Tensor values = call.optTensor(valueAt) ? call.tensor(valueAt)
                                          : numberAsTensor(call, valueAt);
  bool right = call.flag(3);
  const Tensor *sorter = nullptr;
  if (!bucketize) {
    if (call.args[4].kind == Arg::Str)
      right = call.text(4) == "right";
    sorter = call.optTensor(5);
  }
  int64_t n = bounds.shape.empty() ? 1 : bounds.shape.back();
  int64_t each = values.shape.empty() ? 1 : values.shape.back();
  for (int64_t start = 0; n && start < bounds.numel(); start += n)
    if (!ascends(bounds, sorter, start, n))
      call.open("boundaries that do not ascend");
  for (int64_t i = 0, total = values.numel(); i < total; ++i)
    call.out().setInteger(i, rankIn(bounds, sorter,
                                    bounds.rank() > 1 ? i / each * n : 0, n,
                                    values, i, right));
}

static void isin(Call &call) {
  Tensor elements =
      call.optTensor(0) ? call.tensor(0) : numberAsTensor(call, 0);
  Tensor tests = call.optTensor(1) ? call.tensor(1) : numberAsTensor(call, 1);
  bool invert = call.flag(3);
  for (int64_t i = 0, n = elements.numel(); i < n; ++i) {
    bool found = false;
    for (int64_t j = 0, m = tests.numel(); j < m; ++j)
      found |= elements.whole() && tests.whole()
                   ? elements.integer(i) == tests.integer(j)
                   : elements.real(i) == tests.real(j);
    call.out().setInteger(i, found != invert);
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::sortOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"sort.default", sort, Exact},
      {"sort.stable", sort, Exact},
      {"argsort.default", sort, Exact},
      {"argsort.stable", sort, Exact},
      {"msort.default", sort, Exact},
      {"topk.default", topk, Exact},
      {"kthvalue.default", kthvalue, Exact},
      {"searchsorted.Tensor", searchsorted, Exact},
      {"searchsorted.Scalar", searchsorted, Exact},
      {"bucketize.Tensor", searchsorted, Exact},
      {"bucketize.Scalar", searchsorted, Exact},
      {"isin.Tensor_Tensor", isin, Exact},
      {"isin.Tensor_Scalar", isin, Exact},
      {"isin.Scalar_Tensor", isin, Exact},
  };
  return rows;
}
