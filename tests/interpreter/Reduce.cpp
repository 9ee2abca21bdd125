//===- Reduce.cpp - Sums, extrema, moments and norms over dims ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Promotion.h"
#include "tests/interpreter/Families.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
/// The elements that go into each result: `groups[r]` are their row-major
/// positions, in order, for result `r` in row-major order.
struct Groups {
  std::vector<std::vector<int64_t>> groups;
  /// The number of elements of each.
  int64_t size = 1;
};
} // namespace

static Groups groupBy(const Shape &shape, const std::vector<bool> &reduced) {
  Groups result;
  Shape outer;
  for (size_t d = 0; d < shape.size(); ++d) {
    outer.push_back(reduced[d] ? 1 : shape[d]);
    if (reduced[d])
      result.size *= shape[d];
  }
  result.groups.resize(numelOf(outer));
  forEachIndex(shape, [&](Index index, int64_t flat) {
    result.groups[flattenBroadcast(outer, index)].push_back(flat);
  });
  return result;
}

static Groups groupAll(const Shape &shape) {
  return groupBy(shape, std::vector<bool>(shape.size(), true));
}

/// By the argument called `dim`, if there is one.
static Groups groupsOf(const Call &call, const Shape &shape) {
  int dim = call.schema.argIndex("dim");
  if (dim < 0 || !call.has(dim))
    return groupAll(shape);
  // any and all over an empty list leave the tensor as it is.
  bool emptyIsAll =
      call.schema.args[dim].type.list && call.schema.overload != "dims";
  return groupBy(shape, call.dims(dim, shape.size(), emptyIsAll));
}

template <typename Function>
static void eachGroup(Call &call, const Groups &groups, Function function) {
  for (size_t r = 0; r < groups.groups.size(); ++r)
    function(static_cast<int64_t>(r), groups.groups[r]);
}

static void sum(Call &call) {
  bool skipNaN = call.base() == "nansum" || call.base() == "nanmean";
  bool mean = call.base().ends_with("mean");
  Tensor &out = call.out();
  // A mean is rounded to the dtype asked for in the end only.
  bool narrows = call.base() != "mean" || isComplex(out.dtype);
  Tensor self = call.tensor(0).to(narrows ? out.dtype : DType::F64);
  Groups groups = groupsOf(call, self.shape);
  eachGroup(call, groups, [&](int64_t r, llvm::ArrayRef<int64_t> group) {
    uint64_t whole = 0;
    Complex total = 0;
    double count = 0;
    for (int64_t i : group) {
      Complex x = self.complex(i);
      if (skipNaN && (std::isnan(x.real()) || std::isnan(x.imag())))
        continue;
      total += x;
      count += 1;
      whole += static_cast<uint64_t>(self.integer(i));
    }
    if (out.whole())
      out.setInteger(r, static_cast<int64_t>(whole));
    else
      out.setComplex(r, mean ? total / count : total);
  });
}

static void prod(Call &call) {
  Tensor &out = call.out();
  Tensor self = call.tensor(0).to(out.dtype);
  eachGroup(call, groupsOf(call, self.shape),
            [&](int64_t r, llvm::ArrayRef<int64_t> group) {
              uint64_t whole = 1;
              Complex product = 1;
              for (int64_t i : group) {
                if (out.whole())
                  whole *= static_cast<uint64_t>(self.integer(i));
                else if (isComplex(out.dtype))
                  product *= self.complex(i);
                else
                  product = product.real() * self.real(i);
              }
              if (out.whole())
                out.setInteger(r, static_cast<int64_t>(whole));
              else
                out.setComplex(r, product);
            });
}

/// The first largest (`sign` 1) or smallest (-1) of a group; a NaN is beyond
/// all numbers. -1 for an empty group.
static int64_t extremum(const Tensor &self, llvm::ArrayRef<int64_t> group,
                        int sign) {
  int64_t best = -1;
  for (int64_t k = 0, n = group.size(); k < n; ++k) {
    if (best < 0) {
      best = k;
      continue;
    }
    int64_t i = group[k], j = group[best];
    bool better;
    if (self.whole()) {
      better = sign > 0 ? self.integer(i) > self.integer(j)
                        : self.integer(i) < self.integer(j);
    } else {
      double a = self.real(i), b = self.real(j);
      better = !std::isnan(b) && (std::isnan(a) || (sign > 0 ? a > b : a < b));
    }
    if (better)
      best = k;
  }
  return best;
}

template <int sign>
static void extrema(Call &call) {
  const Tensor &self = call.tensor(0);
  eachGroup(call, groupsOf(call, self.shape),
            [&](int64_t r, llvm::ArrayRef<int64_t> group) {
              int64_t best = extremum(self, group, sign);
              if (best < 0)
                return call.refuse("an extremum of nothing");
              call.out().set(r, self, group[best]);
              if (call.results.size() > 1)
                call.out(1).setInteger(r, best);
            });
}

template <int sign>
static void argExtremum(Call &call) {
  const Tensor &self = call.tensor(0);
  eachGroup(call, groupsOf(call, self.shape),
            [&](int64_t r, llvm::ArrayRef<int64_t> group) {
              call.out().setInteger(r, extremum(self, group, sign));
            });
}

static void aminmax(Call &call) {
  const Tensor &self = call.tensor(0);
  eachGroup(call, groupsOf(call, self.shape),
            [&](int64_t r, llvm::ArrayRef<int64_t> group) {
              int64_t least = extremum(self, group, -1);
              if (least < 0)
                return call.refuse("an extremum of nothing");
              call.out(0).set(r, self, group[least]);
              call.out(1).set(r, self, group[extremum(self, group, 1)]);
            });
}

static void anyAll(Call &call) {
  bool all = call.base().contains("all");
  const Tensor &self = call.tensor(0);
  eachGroup(call, groupsOf(call, self.shape),
            [&](int64_t r, llvm::ArrayRef<int64_t> group) {
              bool value = all;
              for (int64_t i : group)
                if ((self.complex(i) != 0.) != all)
                  value = !all;
              call.out().setInteger(r, value);
            });
}

static void countNonzero(Call &call) {
  const Tensor &self = call.tensor(0);
  eachGroup(call, groupsOf(call, self.shape),
            [&](int64_t r, llvm::ArrayRef<int64_t> group) {
              int64_t count = 0;
              for (int64_t i : group)
                count += self.complex(i) != 0.;
              call.out().setInteger(r, count);
            });
}

/// Variance and standard deviation, with the mean or without.
static void moments(Call &call) {
  const Tensor &self = call.tensor(0);
  double correction = 1;
  int position = call.schema.argIndex("correction");
  if (position >= 0 && call.has(position))
    correction = call.number(position);
  position = call.schema.argIndex("unbiased");
  if (position >= 0)
    correction = call.flag(position);
  bool root = call.base().starts_with("std");
  eachGroup(call, groupsOf(call, self.shape),
            [&](int64_t r, llvm::ArrayRef<int64_t> group) {
              double n = static_cast<double>(group.size());
              Complex mean = 0;
              for (int64_t i : group)
                mean += self.complex(i);
              mean /= n;
              double squares = 0;
              for (int64_t i : group)
                squares += std::norm(self.complex(i) - mean);
              double variance = squares / std::max(n - correction, 0.);
              call.out().setReal(r, root ? std::sqrt(variance) : variance);
              if (call.results.size() > 1)
                call.out(1).setComplex(r, mean);
            });
}

/// (Σ |x|^p)^(1/p) and its limits.
/// As PyTorch adds up in float32 for all but float64, large powers overflow.
static double pnorm(const Tensor &self, llvm::ArrayRef<int64_t> group, double p,
                    DType dtype) {
  auto narrow = [&](double x) {
    bool beyond = toReal(dtype) != DType::F64 && x > 0x1.FFFFFEp127;
    return beyond ? HUGE_VAL : x;
  };
  double total = p == -HUGE_VAL ? HUGE_VAL : 0;
  for (int64_t i : group) {
    double a = std::abs(self.complex(i));
    if (p == 0) // NaN counts
      total += a != 0;
    else if (std::isnan(a) || std::isnan(total))
      total = std::nan("");
    else if (p == HUGE_VAL)
      total = std::max(total, a);
    else if (p == -HUGE_VAL)
      total = std::min(total, a);
    else
      total = narrow(total + narrow(std::pow(a, p)));
  }
  return p == 0 || std::isinf(p) ? total : std::pow(total, 1 / p);
}

static void norm(Call &call) {
  Tensor self = call.tensor(0);
  int dtype = call.schema.argIndex("dtype");
  if (dtype >= 0 && call.args[dtype].kind == Arg::DType)
    self = self.to(call.args[dtype].dtype);
  int p = call.schema.argIndex("p");
  if (p < 0)
    p = call.schema.argIndex("ord");
  double order = p >= 0 && call.has(p) ? call.number(p) : 2;
  eachGroup(call, groupsOf(call, self.shape),
            [&](int64_t r, llvm::ArrayRef<int64_t> group) {
              if (group.empty() && (order < 0 || std::isinf(order)))
                call.open("a norm of nothing");
              call.out().setReal(r,
                                 pnorm(self, group, order, call.out().dtype));
            });
}

static void dist(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  Shape shape(std::max(a.rank(), b.rank()), 1);
  for (const Tensor *t : {&a, &b})
    for (int64_t d = 0; d < t->rank(); ++d) {
      int64_t &size = shape[shape.size() - t->rank() + d];
      size = t->shape[d] == 1 ? size : t->shape[d];
    }
  Tensor difference(isComplex(a.dtype) || isComplex(b.dtype) ? DType::C128
                                                             : DType::F64,
                    shape);
  forEachIndex(shape, [&](Index index, int64_t i) {
    difference.setComplex(i, a.complex(flattenBroadcast(a.shape, index)) -
                                 b.complex(flattenBroadcast(b.shape, index)));
  });
  std::vector<int64_t> all(difference.numel());
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = i;
  call.out().setReal(0,
                     pnorm(difference, all, call.number(2), call.out().dtype));
}

static void logsumexp(Call &call) {
  const Tensor &self = call.tensor(0);
  eachGroup(call, groupsOf(call, self.shape),
            [&](int64_t r, llvm::ArrayRef<int64_t> group) {
              double most = -HUGE_VAL;
              bool nan = false;
              for (int64_t i : group) {
                nan |= std::isnan(self.real(i));
                most = std::max(most, self.real(i));
              }
              if (nan)
                return call.out().setReal(r, std::nan(""));
              if (std::isinf(most))
                return call.out().setReal(r, most);
              double total = 0;
              for (int64_t i : group)
                total += std::exp(self.real(i) - most);
              call.out().setReal(r, most + std::log(total));
            });
}

/// The lower median; the nan form leaves NaNs out, the other one is NaN, at
/// the first NaN.
static void median(Call &call) {
  bool skip = call.base() == "nanmedian";
  const Tensor &self = call.tensor(0);
  eachGroup(call, groupsOf(call, self.shape),
            [&](int64_t r, llvm::ArrayRef<int64_t> group) {
              bool indices = call.results.size() > 1;
              if (group.empty()) {
                if (indices || self.whole())
                  return call.open("a median of nothing");
                return call.out().setReal(r, std::nan(""));
              }
              std::vector<int64_t> order;
              int64_t nan = -1;
              for (int64_t k = 0, n = group.size(); k < n; ++k) {
                if (!std::isnan(self.real(group[k])))
                  order.push_back(k);
                else if (nan < 0)
                  nan = k;
              }
              int64_t chosen;
              if (nan >= 0 && (!skip || order.empty())) {
                chosen = nan;
              } else {
                llvm::sort(order, [&](int64_t a, int64_t b) {
                  int64_t i = group[a], j = group[b];
                  if (self.whole())
                    return std::pair(self.integer(i), a) <
                           std::pair(self.integer(j), b);
                  return std::pair(self.real(i), a) <
                         std::pair(self.real(j), b);
                });
                chosen = order[(order.size() - 1) / 2];
                // Which of several equal elements is named is the algorithm's
                // choice.
                if (indices)
                  for (int64_t k : order)
                    if (k != chosen &&
                        self.real(group[k]) == self.real(group[chosen]))
                      call.open("equal elements around the median");
              }
              call.out().set(r, self, group[chosen]);
              if (indices)
                call.out(1).setInteger(r, chosen);
            });
}

static void trace(Call &call) {
  const Tensor &self = call.tensor(0);
  Complex total = 0;
  uint64_t whole = 0;
  for (int64_t i = 0; i < std::min(self.shape[0], self.shape[1]); ++i) {
    total += self.complex(i * self.shape[1] + i);
    whole += static_cast<uint64_t>(self.integer(i * self.shape[1] + i));
  }
  if (call.out().whole())
    call.out().setInteger(0, static_cast<int64_t>(whole));
  else
    call.out().setComplex(0, total);
}

llvm::ArrayRef<OpRow> ft::interpreter::reduceOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"sum.default", sum, Accumulated},
      {"sum.dim_IntList", sum, Accumulated},
      {"nansum.default", sum, Accumulated},
      {"mean.default", sum, Accumulated},
      {"mean.dim", sum, Accumulated},
      {"nanmean.default", sum, Accumulated},
      {"prod.default", prod, Accumulated},
      {"prod.dim_int", prod, Accumulated},
      {"amax.default", extrema<1>, Exact},
      {"amin.default", extrema<-1>, Exact},
      {"max.default", extrema<1>, Exact},
      {"min.default", extrema<-1>, Exact},
      {"max.dim", extrema<1>, Exact},
      {"min.dim", extrema<-1>, Exact},
      {"argmax.default", argExtremum<1>, Exact},
      {"argmin.default", argExtremum<-1>, Exact},
      {"aminmax.default", aminmax, Exact},
      {"_aminmax.default", aminmax, Exact},
      {"_aminmax.dim", aminmax, Exact},
      {"any.default", anyAll, Exact},
      {"any.dim", anyAll, Exact},
      {"any.dims", anyAll, Exact},
      {"all.default", anyAll, Exact},
      {"all.dim", anyAll, Exact},
      {"all.dims", anyAll, Exact},
      {"_is_all_true.default", anyAll, Exact},
      {"_is_any_true.default", anyAll, Exact},
      {"count_nonzero.default", countNonzero, Exact},
      {"count_nonzero.dim_IntList", countNonzero, Exact},
      {"var.default", moments, Accumulated},
      {"var.dim", moments, Accumulated},
      {"var.correction", moments, Accumulated},
      {"std.default", moments, Accumulated},
      {"std.dim", moments, Accumulated},
      {"std.correction", moments, Accumulated},
      {"var_mean.default", moments, Accumulated},
      {"var_mean.dim", moments, Accumulated},
      {"var_mean.correction", moments, Accumulated},
      {"std_mean.default", moments, Accumulated},
      {"std_mean.dim", moments, Accumulated},
      {"std_mean.correction", moments, Accumulated},
      {"linalg_vector_norm.default", norm, Accumulated},
      {"norm.Scalar", norm, Accumulated},
      {"norm.ScalarOpt_dim", norm, Accumulated},
      {"norm.ScalarOpt_dim_dtype", norm, Accumulated},
      {"norm.ScalarOpt_dtype", norm, Accumulated},
      {"frobenius_norm.dim", norm, Accumulated},
      {"dist.default", dist, Accumulated},
      {"logsumexp.default", logsumexp, Accumulated},
      {"special_logsumexp.default", logsumexp, Accumulated},
      {"median.default", median, Exact},
      {"median.dim", median, Exact},
      {"nanmedian.default", median, Exact},
      {"nanmedian.dim", median, Exact},
      {"trace.default", trace, Accumulated},
  };
  return rows;
}
