//===- MatmulForms.cpp - Contractions and gradients of distances ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Finite.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
/// A sum in whichever numbers the dtype has.
struct Sum {
  const Tensor &like;
  uint64_t whole = 0;
  Complex number = 0;

  explicit Sum(const Tensor &like) : like(like) {}
  void add(const Tensor &a, int64_t i, const Tensor &b, int64_t j,
           bool conjugate = false) {
    if (like.whole())
      whole += static_cast<uint64_t>(a.integer(i)) *
               static_cast<uint64_t>(b.integer(j));
    else if (isComplex(like.dtype))
      number +=
          (conjugate ? std::conj(a.complex(i)) : a.complex(i)) * b.complex(j);
    else
      number += a.real(i) * b.real(j);
  }
  void store(Tensor &out, int64_t i) const {
    if (like.whole())
      out.setInteger(i, static_cast<int64_t>(whole));
    else
      out.setComplex(i, number);
  }
};
} // namespace

/// Σ over the last dims of both; with a scalar a product.
static void inner(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  Tensor &out = call.out();
  int64_t n = a.rank() && b.rank() ? a.shape.back() : 1;
  int64_t rows = n && b.numel() ? b.numel() / n : 0;
  for (int64_t i = 0, m = out.numel(); i < m; ++i) {
    Sum sum(out);
    for (int64_t k = 0; k < n; ++k)
      sum.add(a, (rows ? i / rows : 0) * n + k, b,
              (rows ? i % rows : 0) * n + k);
    sum.store(out, i);
  }
}

/// out[i m + j] = a[i] b[j] in each dim of m elements.
static void kron(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  size_t rank = call.out().shape.size();
  Shape outer = a.shape, own = b.shape;
  outer.insert(outer.begin(), rank - outer.size(), 1);
  own.insert(own.begin(), rank - own.size(), 1);
  forEachIndex(call.out().shape, [&](Index index, int64_t i) {
    Shape at, bt;
    for (size_t d = 0; d < rank; ++d) {
      at.push_back(index[d] / own[d]);
      bt.push_back(index[d] % own[d]);
    }
    Sum sum(call.out());
    sum.add(a, flatten(outer, at), b, flatten(own, bt));
    sum.store(call.out(), i);
  });
}

/// (x, y, dim): Σ conj(x) y.
static void vecdot(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  size_t rank = std::max(a.rank(), b.rank());
  int64_t dim = call.dim(2, rank), n = 1;
  for (const Tensor *t : {&a, &b})
    if (int64_t d = dim - int64_t(rank) + t->rank(); d >= 0 && t->shape[d] != 1)
      n = t->shape[d];
  forEachIndex(call.out().shape, [&](Index index, int64_t i) {
    Shape at(index.begin(), index.end());
    at.insert(at.begin() + dim, 0);
    Sum sum(call.out());
    for (int64_t k = 0; k < n; ++k) {
      at[dim] = k;
      sum.add(a, flattenBroadcast(a.shape, at), b,
              flattenBroadcast(b.shape, at), true);
    }
    sum.store(call.out(), i);
  });
}

/// (self, other, dims_self, dims_other); a dim of 1 meets any.
static void tensordot(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  Shape da = call.integers(2), db = call.integers(3), summed;
  std::vector<int64_t> freeA, freeB;
  for (size_t k = 0; k < da.size(); ++k) {
    da[k] += da[k] < 0 ? a.rank() : 0;
    db[k] += db[k] < 0 ? b.rank() : 0;
    if (a.shape[da[k]] != b.shape[db[k]])
      return call.open("contracted dims of which one is broadcast");
    summed.push_back(a.shape[da[k]]);
  }
  for (int64_t d = 0; d < a.rank(); ++d)
    if (std::find(da.begin(), da.end(), d) == da.end())
      freeA.push_back(d);
  for (int64_t d = 0; d < b.rank(); ++d)
    if (std::find(db.begin(), db.end(), d) == db.end())
      freeB.push_back(d);
  forEachIndex(call.out().shape, [&](Index index, int64_t i) {
    Shape at(a.rank()), bt(b.rank());
    for (size_t d = 0; d < freeA.size(); ++d)
      at[freeA[d]] = index[d];
    for (size_t d = 0; d < freeB.size(); ++d)
      bt[freeB[d]] = index[freeA.size() + d];
    Sum sum(call.out());
    forEachIndex(summed, [&](Index k, int64_t) {
      for (size_t d = 0; d < da.size(); ++d) {
        at[da[d]] = k[d];
        bt[db[d]] = k[d];
      }
      sum.add(a, flatten(a.shape, at), b, flatten(b.shape, bt));
    });
    sum.store(call.out(), i);
  });
}

/// A chain of matrices, from the left.
static void chain(Call &call) {
  openIfNotFinite(call, "infinities in several sums");
  std::vector<const Tensor *> list = call.tensors(0);
  Tensor left = *list[0];
  if (left.rank() == 1)
    left = left.reshaped({1, left.numel()});
  Tensor wide(isComplex(left.dtype) ? DType::C128
              : left.whole()        ? left.dtype
                                    : DType::F64,
              {});
  left = left.to(wide.dtype);
  for (size_t k = 1; k < list.size(); ++k) {
    const Tensor &b = *list[k];
    int64_t n = b.rank() == 1 ? 1 : b.shape[1], m = left.shape[1];
    Tensor next(wide.dtype, {left.shape[0], n});
    for (int64_t i = 0; i < next.numel(); ++i) {
      Sum sum(next);
      for (int64_t l = 0; l < m; ++l)
        sum.add(left, i / n * m + l, b, l * n + i % n);
      sum.store(next, i);
    }
    left = next;
  }
  for (int64_t i = 0, n = left.numel(); i < n; ++i)
    call.out().set(i, left, i);
}

/// x W^T with a factor for each row of W, which holds bytes.
static void int8PackMm(Call &call) {
  const Tensor &x = call.tensor(0), &w = call.tensor(1),
               &scale = call.tensor(2);
  int64_t n = w.shape[0], k = w.shape[1];
  for (int64_t i = 0, m = call.out().numel(); i < m; ++i) {
    double sum = 0;
    for (int64_t l = 0; l < k; ++l)
      sum += x.real(i / n * k + l) * w.real(i % n * k + l);
    call.out().setReal(i, sum * scale.real(i % n));
  }
}

/// (i1, i2, i3, expand1, expand2, expand3, sumdim): the product of the three
/// with dims of 1 put in, summed over `sumdim`.
static void trilinear(Call &call) {
  openIfNotFinite(call, "infinities in several sums");
  Tensor factors[3];
  Shape whole;
  for (int t = 0; t < 3; ++t) {
    factors[t] = call.tensor(t);
    for (int64_t d : call.integers(3 + t))
      factors[t].shape.insert(factors[t].shape.begin() + d, 1);
    whole.resize(factors[t].shape.size(), 1);
    for (size_t d = 0; d < whole.size(); ++d)
      if (factors[t].shape[d] != 1)
        whole[d] = factors[t].shape[d];
  }
  std::vector<bool> summed(whole.size());
  for (int64_t d : call.integers(6))
    summed[d] = true;
  std::vector<double> sums(call.out().numel());
  forEachIndex(whole, [&](Index index, int64_t) {
    Shape at;
    double product = 1;
    for (size_t d = 0; d < whole.size(); ++d)
      if (!summed[d])
        at.push_back(index[d]);
    for (const Tensor &t : factors)
      product *= t.real(flattenBroadcast(t.shape, index));
    sums[flatten(call.out().shape, at)] += product;
  });
  for (size_t i = 0; i < sums.size(); ++i)
    call.out().setReal(i, sums[i]);
}

/// What one element of a difference adds to its distance's derivative.
static double distanceD(DType dtype, double d, double g, double p,
                        double dist) {
  double size = std::abs(d), sign = d > 0 ? 1 : d < 0 ? -1 : d;
  if (p == 0)
    return 0;
  if (p == 1)
    return sign * g;
  if (std::isinf(p)) {
    double gap = roundTo(dtype, size) - dist;
    return sign * g * (gap == 0 ? 1 : std::isnan(gap) ? gap : 0);
  }
  if (dist == 0 || (p < 1 && d == 0))
    return 0;
  if (p == 2)
    return g * d / dist;
  double power =
      p < 2 ? sign * std::pow(size, p - 1) : d * std::pow(size, p - 2);
  return power * g / std::pow(dist, p - 1);
}

/// (grad, x1, x2, p, distances): of x1.
static void cdistBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &a = call.tensor(1), &b = call.tensor(2),
               &dist = call.tensor(4);
  int64_t m = a.shape.back();
  Shape rowsA(a.shape.begin(), a.shape.end() - 1);
  Shape rowsB(b.shape.begin(), b.shape.end() - 1);
  std::vector<double> sums(call.out().numel());
  Shape rowsOut(call.out().shape.begin(), call.out().shape.end() - 1);
  forEachIndex(dist.shape, [&](Index index, int64_t i) {
    Shape at(index.begin(), index.end() - 1), bt = at;
    bt.back() = index.back();
    int64_t ai = flattenBroadcast(rowsA, at) * m,
            bi = flattenBroadcast(rowsB, bt) * m,
            oi = flattenBroadcast(rowsOut, at) * m;
    for (int64_t k = 0; k < m; ++k)
      sums[oi + k] += distanceD(dist.dtype, a.real(ai + k) - b.real(bi + k),
                                grad.real(i), call.number(3), dist.real(i));
  });
  for (size_t i = 0; i < sums.size(); ++i)
    call.out().setReal(i, sums[i]);
}

/// (grad, self, p, distances)
static void pdistBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &a = call.tensor(1),
               &dist = call.tensor(3);
  int64_t n = a.shape[0], m = a.shape[1], pair = 0;
  std::vector<double> sums(a.numel());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j, ++pair)
      for (int64_t k = 0; k < m; ++k) {
        double g = distanceD(dist.dtype, a.real(i * m + k) - a.real(j * m + k),
                             grad.real(pair), call.number(2), dist.real(pair));
        sums[i * m + k] += g;
        sums[j * m + k] -= g;
      }
  for (size_t i = 0; i < sums.size(); ++i)
    call.out().setReal(i, sums[i]);
}

llvm::ArrayRef<OpRow> ft::interpreter::matmulFormsOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"inner.default", inner, Accumulated},
      {"kron.default", kron, Elementary},
      {"linalg_vecdot.default", vecdot, Accumulated},
      {"tensordot.default", tensordot, Accumulated},
      {"chain_matmul.default", chain, Accumulated},
      {"linalg_multi_dot.default", chain, Accumulated},
      {"_weight_int8pack_mm.default", int8PackMm, Accumulated},
      {"_trilinear.default", trilinear, Accumulated},
      {"_cdist_backward.default", cdistBackward, Accumulated},
      {"_pdist_backward.default", pdistBackward, Accumulated},
  };
  return rows;
}
