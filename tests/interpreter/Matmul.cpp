//===- Matmul.cpp - Matrix products ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Promotion.h"
#include "tests/interpreter/Families.h"
#include "tests/interpreter/Finite.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
/// A sum of products in whichever numbers the dtype has.
struct Accumulator {
  bool whole, complex;
  uint64_t integer = 0;
  Complex number = 0;

  explicit Accumulator(DType dtype)
      : whole(isIntegral(dtype)), complex(isComplex(dtype)) {}
  void add(const Tensor &a, int64_t i, const Tensor &b, int64_t j) {
    if (whole)
      integer += static_cast<uint64_t>(a.integer(i)) *
                 static_cast<uint64_t>(b.integer(j));
    else if (complex)
      number += a.complex(i) * b.complex(j);
    else
      number += a.real(i) * b.real(j);
  }
  void store(Tensor &out, int64_t i) const {
    if (whole)
      out.setInteger(i, static_cast<int64_t>(integer));
    else
      out.setComplex(i, number);
  }
};
} // namespace

/// [B…, M, K] times [B…, K, N]; batch dims broadcast.
static Tensor product(const Tensor &a, const Tensor &b, DType dtype) {
  size_t ra = a.shape.size(), rb = b.shape.size();
  int64_t m = a.shape[ra - 2], k = a.shape[ra - 1], n = b.shape[rb - 1];
  Shape batchA(a.shape.begin(), a.shape.end() - 2);
  Shape batchB(b.shape.begin(), b.shape.end() - 2);
  Shape batch(std::max(batchA.size(), batchB.size()), 1);
  for (const Shape *shape : {&batchA, &batchB})
    for (size_t d = 0; d < shape->size(); ++d)
      if ((*shape)[d] != 1)
        batch[batch.size() - shape->size() + d] = (*shape)[d];
  Shape shape = batch;
  shape.push_back(m);
  shape.push_back(n);
  Tensor out(dtype, shape);
  forEachIndex(batch, [&](Index index, int64_t which) {
    int64_t at = flattenBroadcast(batchA, index) * m * k;
    int64_t bt = flattenBroadcast(batchB, index) * k * n;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        Accumulator sum(dtype);
        for (int64_t l = 0; l < k; ++l)
          sum.add(a, at + i * k + l, b, bt + l * n + j);
        sum.store(out, (which * m + i) * n + j);
      }
  });
  return out;
}

static Tensor matrixProduct(const Tensor &first, const Tensor &second,
                            DType dtype) {
  Tensor a = first, b = second;
  Shape shape;
  if (a.rank() == 1)
    a = a.reshaped({1, a.shape[0]});
  if (b.rank() == 1)
    b = b.reshaped({b.shape[0], 1});
  Tensor out = product(a, b, dtype);
  shape = out.shape;
  if (second.rank() == 1)
    shape.pop_back();
  if (first.rank() == 1)
    shape.erase(shape.end() - (second.rank() == 1 ? 1 : 2));
  return out.reshaped(shape);
}

static void matmul(Call &call) {
  call.out() = matrixProduct(call.tensor(0), call.tensor(1), call.out().dtype);
}

/// β self + α (a b), where β = 0 leaves self out, NaN and all.
static void addProduct(Call &call, const Tensor &self, const Tensor &wide,
                       unsigned beta) {
  Tensor &out = call.out();
  forEachIndex(out.shape, [&](Index index, int64_t i) {
    int64_t s = flattenBroadcast(self.shape, index);
    if (out.whole()) {
      out.setInteger(i, call.integer(beta) * self.integer(s) +
                            call.integer(beta + 1) * wide.integer(i));
      return;
    }
    Complex b = call.complex(beta), a = call.complex(beta + 1);
    Complex x = self.complex(s), y = wide.complex(i);
    if (!isComplex(out.dtype))
      out.setReal(i, (b == 0. ? 0 : b.real() * x.real()) + a.real() * y.real());
    else
      out.setComplex(i, (b == 0. ? 0. : b * x) + a * y);
  });
}

static DType widest(DType dtype) {
  return isComplex(dtype)    ? DType::C128
         : isIntegral(dtype) ? dtype
                             : DType::F64;
}

static void addmm(Call &call) {
  Tensor wide =
      matrixProduct(call.tensor(1), call.tensor(2), widest(call.out().dtype));
  addProduct(call, call.tensor(0), wide, call.schema.argIndex("beta"));
}

/// addmm, then the positive part or GELU of what that was rounded to.
static void addmmActivation(Call &call) {
  addmm(call);
  Tensor &out = call.out();
  bool gelu = call.flag(call.schema.argIndex("use_gelu"));
  for (int64_t i = 0, n = out.numel(); i < n; ++i) {
    double x = out.real(i);
    if (!std::isfinite(x)) // rounded or not before the activation
      call.open("an activation of what overflowed");
    out.setReal(i, gelu    ? 0.5 * x * (1 + std::erf(x * M_SQRT1_2))
                   : x < 0 ? 0
                           : x);
  }
}

static void addr(Call &call) {
  const Tensor &a = call.tensor(1), &b = call.tensor(2);
  Tensor wide = product(a.reshaped({a.numel(), 1}), b.reshaped({1, b.numel()}),
                        widest(call.out().dtype));
  addProduct(call, call.tensor(0), wide, 3);
}

static void addbmm(Call &call) {
  DType dtype = widest(call.out().dtype);
  Tensor each = product(call.tensor(1), call.tensor(2), dtype);
  Tensor wide(dtype, {each.shape[1], each.shape[2]});
  for (int64_t i = 0, n = each.numel(), m = wide.numel(); i < n; ++i)
    if (wide.whole())
      wide.setInteger(i % m, wide.integer(i % m) + each.integer(i));
    else
      wide.setComplex(i % m, wide.complex(i % m) + each.complex(i));
  addProduct(call, call.tensor(0), wide, 3);
}

static void dot(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  bool conjugate = call.base() == "vdot";
  Accumulator sum(call.out().dtype);
  for (int64_t i = 0, n = a.numel(); i < n; ++i) {
    if (conjugate && isComplex(a.dtype))
      sum.number += std::conj(a.complex(i)) * b.complex(i);
    else
      sum.add(a, i, b, i);
  }
  sum.store(call.out(), 0);
}

static void outer(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  if (isFloating(call.out().dtype)) { // a product, not a sum of one: -0 stays
    forEachIndex(call.out().shape, [&](Index index, int64_t i) {
      call.out().setReal(i, a.real(index[0]) * b.real(index[1]));
    });
    return;
  }
  call.out() = product(a.reshaped({a.numel(), 1}), b.reshaped({1, b.numel()}),
                       call.out().dtype);
}

/// x Wᵀ + b.
static void linear(Call &call) {
  const Tensor &x = call.tensor(0), &w = call.tensor(1);
  const Tensor *bias = call.optTensor(2);
  Tensor &out = call.out();
  int64_t k = w.shape.back(), n = w.rank() == 2 ? w.shape[0] : 1;
  for (int64_t i = 0, total = out.numel(); i < total; ++i) {
    int64_t row = i / n, column = i % n;
    Accumulator sum(out.dtype);
    for (int64_t l = 0; l < k; ++l)
      sum.add(x, row * k + l, w, column * k + l);
    if (bias) {
      int64_t b = bias->numel() == 1 ? 0 : column;
      sum.number += bias->complex(b);
      sum.integer += static_cast<uint64_t>(bias->integer(b));
    }
    sum.store(out, i);
  }
}

static void cosineSimilarity(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  double eps = call.number(3);
  Shape shape(std::max(a.rank(), b.rank()), 1);
  for (const Tensor *t : {&a, &b})
    for (int64_t d = 0; d < t->rank(); ++d)
      if (t->shape[d] != 1)
        shape[shape.size() - t->rank() + d] = t->shape[d];
  int64_t dim = call.dim(2, shape.size());
  forEachIndex(call.out().shape, [&](Index index, int64_t i) {
    Shape at(index.begin(), index.end());
    if (!shape.empty())
      at.insert(at.begin() + dim, 0);
    double dot = 0, squareA = 0, squareB = 0;
    for (int64_t k = 0, n = shape.empty() ? 1 : shape[dim]; k < n; ++k) {
      if (!shape.empty())
        at[dim] = k;
      double x = a.real(flattenBroadcast(a.shape, at));
      double y = b.real(flattenBroadcast(b.shape, at));
      dot += x * y;
      squareA += x * x;
      squareB += y * y;
    }
    call.out().setReal(i, dot / (std::max(std::sqrt(squareA), eps) *
                                 std::max(std::sqrt(squareB), eps)));
  });
}

/// Σ |x - y|^p ^ (1/p)
static double distance(const Tensor &a, int64_t i, const Tensor &b, int64_t j,
                       int64_t n, double p) {
  double total = 0;
  for (int64_t k = 0; k < n; ++k) {
    double d = std::abs(a.real(i + k) - b.real(j + k));
    if (std::isnan(d))
      total = d;
    else if (p == 0)
      total += d != 0;
    else if (std::isinf(p))
      total = std::max(total, d);
    else
      total += std::pow(d, p);
  }
  return p == 0 || std::isinf(p) ? total : std::pow(total, 1 / p);
}

static void cdist(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  bool euclidean = call.base() == "_euclidean_dist";
  double p = euclidean ? 2 : call.number(2);
  Tensor &out = call.out();
  int64_t m = a.shape.back();
  forEachIndex(out.shape, [&](Index index, int64_t i) {
    Shape at(index.begin(), index.end() - 1), bt = at;
    bt.back() = index.back();
    Shape rowsA(a.shape.begin(), a.shape.end() - 1);
    Shape rowsB(b.shape.begin(), b.shape.end() - 1);
    out.setReal(i, distance(a, flattenBroadcast(rowsA, at) * m, b,
                            flattenBroadcast(rowsB, bt) * m, m, p));
  });
}

static void pdist(Call &call) {
  const Tensor &a = call.tensor(0);
  int64_t n = a.shape[0], m = a.shape[1], next = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j)
      call.out().setReal(next++,
                         distance(a, i * m, a, j * m, m, call.number(1)));
}

/// Letters of a dim each; what is not in the result is summed.
static void einsum(Call &call) {
  llvm::StringRef equation = call.text(0);
  std::string text;
  for (char c : equation)
    if (c != ' ')
      text += c;
  size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find('.') != std::string::npos)
    return call.open("an equation without a result or with dots");
  std::vector<std::string> terms(1);
  for (char c : text.substr(0, arrow)) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  std::string result = text.substr(arrow + 2);
  std::vector<const Tensor *> tensors = call.tensors(1);
  int64_t sizes[128];
  std::fill_n(sizes, 128, 1);
  std::string letters = result;
  openIfNotFinite(call, "infinities in several sums");
  for (size_t t = 0; t < terms.size(); ++t)
    for (size_t d = 0; d < terms[t].size(); ++d) {
      if (tensors[t]->shape[d] != 1)
        sizes[int(terms[t][d])] = tensors[t]->shape[d];
      if (letters.find(terms[t][d]) == std::string::npos)
        letters += terms[t][d];
    }
  Shape outer, whole;
  for (char c : letters)
    whole.push_back(sizes[int(c)]);
  outer.assign(whole.begin(), whole.begin() + result.size());
  Tensor &out = call.out();
  std::vector<Complex> sums(numelOf(outer));
  forEachIndex(whole, [&](Index index, int64_t) {
    Complex value = 1;
    for (size_t t = 0; t < terms.size(); ++t) {
      Shape at;
      for (char c : terms[t])
        at.push_back(index[letters.find(c)]);
      value *= tensors[t]->complex(flattenBroadcast(tensors[t]->shape, at));
    }
    sums[flatten(outer, index.take_front(outer.size()))] += value;
  });
  for (size_t i = 0; i < sums.size(); ++i)
    out.setComplex(i, sums[i]);
}

/// x1 W x2 + b for each output feature.
static void bilinear(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1), &w = call.tensor(2);
  const Tensor *bias = call.optTensor(3);
  openIfNotFinite(call, "infinities in several sums");
  int64_t features = w.shape[0], n = w.shape[1], m = w.shape[2];
  for (int64_t i = 0, total = call.out().numel(); i < total; ++i) {
    int64_t row = i / features, f = i % features;
    double sum = bias ? bias->real(f) : 0;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t k = 0; k < m; ++k)
        sum += a.real(row * n + j) * w.real((f * n + j) * m + k) *
               b.real(row * m + k);
    call.out().setReal(i, sum);
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::matmulOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"mm.default", matmul, Accumulated},
      {"bmm.default", matmul, Accumulated},
      {"mv.default", matmul, Accumulated},
      {"matmul.default", matmul, Accumulated},
      {"linalg_matmul.default", matmul, Accumulated},
      {"mm.dtype", matmul, Accumulated},
      {"bmm.dtype", matmul, Accumulated},
      {"_int_mm.default", matmul, Accumulated},
      {"addmm.default", addmm, Accumulated},
      {"addmm.dtype", addmm, Accumulated},
      {"baddbmm.dtype", addmm, Accumulated},
      {"_addmm_activation.default", addmmActivation, Accumulated},
      {"addmv.default", addmm, Accumulated},
      {"baddbmm.default", addmm, Accumulated},
      {"addr.default", addr, Accumulated},
      {"addbmm.default", addbmm, Accumulated},
      {"dot.default", dot, Accumulated},
      {"vdot.default", dot, Accumulated},
      {"outer.default", outer, Elementary},
      {"ger.default", outer, Elementary},
      {"linear.default", linear, Accumulated},
      {"cosine_similarity.default", cosineSimilarity, Accumulated},
      {"_cdist_forward.default", cdist, Accumulated},
      {"cdist.default", cdist, Accumulated},
      {"_euclidean_dist.default", cdist, Accumulated},
      {"_pdist_forward.default", pdist, Accumulated},
      {"pdist.default", pdist, Accumulated},
      {"einsum.default", einsum, Accumulated},
      {"bilinear.default", bilinear, Accumulated},
  };
  return rows;
}
