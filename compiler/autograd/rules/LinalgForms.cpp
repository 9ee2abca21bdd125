//===- LinalgForms.cpp - Matrix functions as others ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expansions of functions that are made of others, where a formula of one line
// does not do.

#include "compiler/autograd/rules/LinalgTerms.h"

#include <cmath>

namespace ft {

/// (self, other, dim): over the first dim of size 3 if none is given.
static std::vector<Term> cross(RuleCall &c) {
  Term self = c.arg(kFirst), other = c.arg(1U), dim = c.arg(2U);
  if (dim.isNone()) {
    Dims sizes = RuleCall::sizes(c.result(0));
    for (size_t d = 0; d < sizes.size() && dim.isNone(); ++d)
      if (sizes[d].is(3))
        dim = Term(static_cast<int64_t>(d));
  }
  return {c.call("linalg_cross", {self, other, dim.named("dim")})};
}

/// log det: of a real matrix of negative determinant NaN.
static std::vector<Term> logDeterminant(RuleCall &c) {
  std::vector<Term> parts = c.callAll("_linalg_slogdet", {c.arg(kFirst)});
  if (c.failed())
    return {};
  if (RuleCall::isComplex(parts[0]))
    return {c.add(c.call("log", {parts[0]}), parts[1])};
  return {c.call("masked_fill",
                 {parts[1], c.call("eq", {parts[0], -1}), std::nan("")})};
}

/// Vectors are asked for where the derivative needs them.
static std::vector<Term> spectrumOnly(RuleCall &c) {
  if (c.arg("compute_v").truth())
    return {};
  return {c.call("_linalg_eigh", {c.arg("A"), c.arg("UPLO"), true})};
}

static std::vector<Term> singularValuesOnly(RuleCall &c) {
  if (c.arg("compute_uv").truth())
    return {};
  std::vector<Term> parts =
      c.callAll("_linalg_svd",
                {c.arg("A"), false, true, c.arg("driver").named("driver")});
  if (c.failed())
    return {};
  return {Term(), parts[1], Term()};
}

/// (self, some, compute_uv) -> U, S, V
static std::vector<Term> oldSvd(RuleCall &c) {
  bool full = !c.arg("some").truth() && c.arg("compute_uv").truth();
  std::vector<Term> parts =
      c.callAll("_linalg_svd", {c.arg(kFirst), full, true});
  if (c.failed())
    return {};
  if (!c.arg("compute_uv").truth())
    return {Term(), parts[1], Term()};
  return {parts[0], parts[1], c.adjoint(parts[2])};
}

/// (A, mode): without Q, which the derivative of R needs.
static std::vector<Term> withQ(RuleCall &c) {
  if (c.arg("mode").text() != "r")
    return {};
  std::vector<Term> parts = c.callAll("linalg_qr", {c.arg("A"), "reduced"});
  if (c.failed())
    return {};
  // There is no Q.
  Term none = c.call("new_empty", {c.arg("A"), Dims{Dim(0)}});
  return {none, parts[1]};
}

/// A^n by squaring.
static std::vector<Term> matrixPower(RuleCall &c) {
  Term base = c.arg(kFirst);
  int64_t n = c.arg("n").integer();
  if (n == 0) {
    Dim m = columnCount(base);
    return {c.call("expand_copy",
                   {identity(c, m, m, base), RuleCall::sizes(base)})};
  }
  if (n < 0) {
    base = c.call("linalg_inv_ex", {base, Term(true).named("check_errors")});
    n = -n;
  }
  if (n == 1)
    return {c.call("clone", {base})};
  Term power;
  for (;;) {
    if (n & 1)
      power = power.isZero() ? base : product(c, power, base);
    n >>= 1;
    if (n == 0)
      return {power};
    base = product(c, base, base);
  }
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The extreme of sums of |x| over `inner`, then over `outer`.
static Term extremeOfSums(RuleCall &c, const Term &x, int64_t inner,
                          int64_t outer, bool largest) {
  Term sums = c.call("sum.dim_IntList",
                     {c.call("abs", {x}), std::vector<Term>{inner}, true});
  return c.call(largest ? "amax" : "amin",
                {sums, std::vector<Term>{outer}, true});
}

/// The norm of the matrices that dims `rows` and `cols` of `x` make, these as
/// dims of size 1. `name`: 'fro' or 'nuc'; empty: `order`.
static Term matrixNorm(RuleCall &c, const Term &x, llvm::StringRef name,
                       double order, int64_t rows, int64_t cols) {
  if (name == "fro")
    return c.call("linalg_vector_norm",
                  {x, 2, std::vector<Term>{rows, cols}, true});
  if (name != "nuc" && std::abs(order) == 1)
    return extremeOfSums(c, x, rows, cols, order > 0);
  if (name != "nuc" && std::isinf(order))
    return extremeOfSums(c, x, cols, rows, order > 0);
  Term moved = c.call(
      "movedim", {x, std::vector<Term>{rows, cols}, std::vector<Term>{-2, -1}});
  std::vector<Term> parts = c.callAll("_linalg_svd", {moved, false, true});
  if (c.failed())
    return {};
  std::vector<Term> last = {-1};
  Term norm = name == "nuc" ? c.call("sum.dim_IntList", {parts[1], last, false})
                            : c.call(order > 0 ? "amax" : "amin",
                                     {parts[1], last, false});
  for (int64_t d : {std::min(rows, cols), std::max(rows, cols)})
    norm = c.call("unsqueeze", {norm, d});
  return norm;
}

static Term withoutDims(RuleCall &c, const Term &norm, int64_t rows,
                        int64_t cols, bool keepdim) {
  if (keepdim)
    return norm;
  Term one = c.call("squeeze.dim", {norm, std::max(rows, cols)});
  return c.call("squeeze.dim", {one, std::min(rows, cols)});
}

static Term inDType(RuleCall &c, const Term &x) {
  Term dtype = c.arg("dtype");
  return dtype.isNone() ? x : c.cast(x, dtype.arg().dtype);
}

/// (self, ord, dim, keepdim, *, dtype)
static std::vector<Term> linalgMatrixNorm(RuleCall &c) {
  Term x = inDType(c, c.arg(kFirst)), order = c.arg("ord"), dim = c.arg("dim");
  int64_t rank = RuleCall::rank(x), rows = rank - 2, cols = rank - 1;
  if (dim.items().size() == 2) {
    rows = RuleCall::wrap(dim.items()[0].integer(), rank);
    cols = RuleCall::wrap(dim.items()[1].integer(), rank);
  }
  Term norm = matrixNorm(c, x, order.text(),
                         order.isKnown() ? order.number() : 2, rows, cols);
  return {withoutDims(c, norm, rows, cols, c.arg("keepdim").truth())};
}

/// A norm of vectors, unless an order is given for two dims.
static std::vector<Term> linalgNorm(RuleCall &c) {
  Term x = c.arg(kFirst), order = c.arg("ord"), dim = c.arg("dim");
  size_t dims = dim.isNone()     ? static_cast<size_t>(RuleCall::rank(x))
                : dim.isNumber() ? 1
                                 : dim.items().size();
  if (!order.isNone() && dims == 2)
    return linalgMatrixNorm(c);
  Term keepdim = c.arg("keepdim"), dtype = c.arg("dtype");
  if (!order.isNone())
    return {c.call("linalg_vector_norm",
                   {x, order, dim, keepdim, dtype.named("dtype")})};
  // Of all elements where neither is given, whatever the rank.
  return {
      c.call("linalg_vector_norm", {x, 2, dim, keepdim, dtype.named("dtype")})};
}

/// (self[, dim], keepdim)
static std::vector<Term> nuclearNorm(RuleCall &c) {
  Term x = c.arg(kFirst);
  int64_t rank = RuleCall::rank(x), rows = rank - 2, cols = rank - 1;
  if (c.schema().argIndex("dim") >= 0) {
    rows = RuleCall::wrap(c.arg("dim").items()[0].integer(), rank);
    cols = RuleCall::wrap(c.arg("dim").items()[1].integer(), rank);
  }
  Term norm = matrixNorm(c, x, "nuc", 0, rows, cols);
  return {withoutDims(c, norm, rows, cols, c.arg("keepdim").truth())};
}

/// The ratio of the extreme singular values, or |A| |A^-1|.
static std::vector<Term> conditionNumber(RuleCall &c) {
  Term x = c.arg(kFirst), p = c.arg("p");
  double order = p.isKnown() ? p.number() : 2;
  if (p.text().empty() && std::abs(order) == 2) {
    std::vector<Term> parts = c.callAll("_linalg_svd", {x, false, true});
    if (c.failed())
      return {};
    Term most = c.call("select", {parts[1], -1, 0});
    Term least = c.call("select", {parts[1], -1, -1});
    return {order > 0 ? c.div(most, least) : c.div(least, most)};
  }
  int64_t rank = RuleCall::rank(x);
  Term inverse = c.call("linalg_inv_ex", {x});
  auto norm = [&](const Term &a) {
    return withoutDims(c, matrixNorm(c, a, p.text(), order, rank - 2, rank - 1),
                       rank - 2, rank - 1, false);
  };
  return {c.mul(norm(x), norm(inverse))};
}

//===----------------------------------------------------------------------===//
// Tensors as matrices
//===----------------------------------------------------------------------===//

/// (self, ind)
static std::vector<Term> tensorInverse(RuleCall &c) {
  Term x = c.arg(kFirst);
  Dims all = RuleCall::sizes(x);
  auto count = static_cast<size_t>(c.arg("ind").integer());
  Dim n = product(llvm::ArrayRef<Dim>(all).take_front(count));
  Term inverse = c.call("linalg_inv_ex", {c.reshape(x, Dims{n, n}),
                                          Term(true).named("check_errors")});
  return {c.reshape(inverse, RuleCall::sizes(c.result(0)))};
}

/// (A, B, dims): `dims` of A go last.
static std::vector<Term> tensorSolve(RuleCall &c) {
  Term a = c.arg(kFirst), b = c.arg(1U), dims = c.arg("dims");
  int64_t rank = RuleCall::rank(a);
  std::vector<Term> order, last;
  llvm::SmallVector<int64_t> moved;
  for (const Term &d : dims.items())
    moved.push_back(RuleCall::wrap(d.integer(), rank));
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(moved, d))
      order.emplace_back(d);
  for (int64_t d : moved)
    order.emplace_back(d);
  Dim n = RuleCall::meta(b).numel();
  a = c.reshape(c.call("permute", {a, Term(std::move(order))}), Dims{n, n});
  Term x = c.call("_linalg_solve_ex",
                  {a, c.reshape(b, Dims{n}), Term(true).named("check_errors")});
  return {c.reshape(x, RuleCall::sizes(c.result(0)))};
}

/// Products from left to right.
static std::vector<Term> chainOfProducts(RuleCall &c) {
  llvm::ArrayRef<Term> given;
  Term list = c.arg(kFirst);
  given = list.items();
  Term all = given.front();
  if (given.size() == 1)
    return {c.call("clone", {all})};
  for (const Term &next : given.drop_front())
    all = product(c, all, next);
  return {all};
}

/// Powers 0 to N - 1 of each element.
static std::vector<Term> vandermonde(RuleCall &c) {
  Term x = c.arg(kFirst);
  Dims sizes = RuleCall::sizes(c.result(0));
  Dims ones = sizes, powers = sizes;
  ones.back() = 1;
  powers.back() = sizes.back() - 1;
  Term wide = c.call("expand", {c.call("unsqueeze", {x, -1}), powers});
  return {c.call("cat", {std::vector<Term>{c.call("new_ones", {x, ones}),
                                           c.call("cumprod", {wide, -1})},
                         -1})};
}

/// Each element of one times all of the other: dims (a0 b0), (a1 b1), ...
static std::vector<Term> kronecker(RuleCall &c) {
  Term a = c.arg("self"), b = c.arg("other");
  Dims left = RuleCall::sizes(a), right = RuleCall::sizes(b), pair, other;
  size_t rank = std::max(left.size(), right.size());
  left.insert(left.begin(), rank - left.size(), Dim(1));
  right.insert(right.begin(), rank - right.size(), Dim(1));
  for (size_t d = 0; d < rank; ++d) {
    pair.append({left[d], Dim(1)});
    other.append({Dim(1), right[d]});
  }
  return {c.reshape(c.mul(c.reshape(a, pair), c.reshape(b, other)),
                    RuleCall::sizes(c.result(0)))};
}

/// (self, other, dims_self, dims_other): the summed dims of the one go last,
/// those of the other first.
static std::vector<Term> tensorDot(RuleCall &c) {
  auto matrix = [&](const char *name, const char *list, bool last) {
    Term x = c.arg(name), summed = c.arg(list);
    Dims sizes = RuleCall::sizes(x);
    llvm::SmallVector<int64_t> inner, outer;
    for (const Term &d : summed.items())
      inner.push_back(RuleCall::wrap(d.integer(), RuleCall::rank(x)));
    for (int64_t d = 0; d < RuleCall::rank(x); ++d)
      if (!llvm::is_contained(inner, d))
        outer.push_back(d);
    Dim within = 1, kept = 1;
    for (int64_t d : inner)
      within = within * sizes[d];
    for (int64_t d : outer)
      kept = kept * sizes[d];
    llvm::SmallVector<int64_t> order = last ? outer : inner;
    order.append(last ? inner : outer);
    Term moved = c.call("permute", {x, llvm::ArrayRef<int64_t>(order)});
    return c.call("reshape",
                  {moved, last ? Dims{kept, within} : Dims{within, kept}});
  };
  // A summed dim of size 1 that the other does not have is summed alone.
  Term a = matrix("self", "dims_self", true);
  Term b = matrix("other", "dims_other", false);
  if (c.failed() || columnCount(a) != rowCount(b))
    return {};
  return {c.reshape(c.call("mm", {a, b}), RuleCall::sizes(c.result(0)))};
}

/// Columns are observations, each weighted by how often (fweights) and how much
/// (aweights) it counts.
static std::vector<Term> covariance(RuleCall &c) {
  Term x = c.arg("self");
  if (RuleCall::rank(x) < 2)
    x = c.reshape(x, Dims{Dim(1), RuleCall::meta(x).numel()});
  Term often = c.arg("fweights"), much = c.arg("aweights");
  Term weights = often.isTensor() && much.isTensor() ? c.mul(often, much)
                 : often.isTensor()                  ? often
                                                     : much;
  Term correction = c.arg("correction");
  Term total, mean, norm;
  if (!weights.isTensor()) {
    Dim count = columnCount(x);
    mean = c.call("mean.dim", {x, std::vector<Term>{1}, true});
    norm = c.sub(count, correction);
    if (norm.isKnown() && norm.number() < 0)
      norm = 0;
  } else {
    total = c.call("sum", {weights});
    mean = c.div(c.call("sum.dim_IntList",
                        {c.mul(x, weights), std::vector<Term>{1}, true}),
                 total);
    Term used = much.isTensor()
                    ? c.div(c.call("sum", {c.mul(weights, much)}), total)
                    : Term(1);
    norm = c.call("clamp_min", {c.sub(total, c.mul(used, correction)), 0});
  }
  Term centered = c.sub(x, mean);
  Term weighted = weights.isTensor() ? c.mul(centered, weights) : centered;
  Term products = product(c, weighted, c.adjoint(centered));
  return {c.reshape(c.div(products, norm), RuleCall::sizes(c.result(0)))};
}

/// Covariances over the square roots of both variances; parts are held within
/// -1 and 1.
static std::vector<Term> correlation(RuleCall &c) {
  Term covariances = c.call("cov", {c.arg("self")});
  if (RuleCall::rank(covariances) == 0)
    return {c.div(covariances, covariances)};
  Term deviations = c.call("sqrt", {c.real(c.call("diagonal", {covariances}))});
  Term r = c.div(c.div(covariances, c.call("unsqueeze", {deviations, 1})),
                 c.call("unsqueeze", {deviations, 0}));
  if (!RuleCall::isComplex(r))
    return {c.call("clamp", {r, -1, 1})};
  return {c.call("view_as_complex",
                 {c.call("clamp", {c.call("view_as_real", {r}), -1, 1})})};
}

llvm::ArrayRef<ExpandRow> linalgFormsExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"_linalg_eigh.default", spectrumOnly},
      {"_linalg_svd.default", singularValuesOnly},
      {"chain_matmul.default", chainOfProducts},
      {"corrcoef.default", correlation},
      {"cov.default", covariance},
      {"cross.default", cross},
      {"kron.default", kronecker},
      {"linalg_cond.default", conditionNumber},
      {"linalg_cond.p_str", conditionNumber},
      {"linalg_matrix_norm.default", linalgMatrixNorm},
      {"linalg_matrix_norm.str_ord", linalgMatrixNorm},
      {"linalg_matrix_power.default", matrixPower},
      {"linalg_multi_dot.default", chainOfProducts},
      {"linalg_norm.default", linalgNorm},
      {"linalg_norm.ord_str", linalgNorm},
      {"linalg_qr.default", withQ},
      {"linalg_tensorinv.default", tensorInverse},
      {"linalg_tensorsolve.default", tensorSolve},
      {"linalg_vander.default", vandermonde},
      {"logdet.default", logDeterminant},
      {"matrix_power.default", matrixPower},
      {"nuclear_norm.default", nuclearNorm},
      {"nuclear_norm.dim", nuclearNorm},
      {"svd.default", oldSvd},
      {"tensordot.default", tensorDot},
  };
  return kRows;
}

} // namespace ft
