//===- FormulaFunctions.cpp - What the formulas have built in --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/FormulaFunctions.h"

#include <cmath>
#include <complex>

namespace ft {

using Terms = llvm::ArrayRef<Term>;

static Term conjOf(RuleCall &c, Terms t) { return c.conj(t[0]); }
static Term realOf(RuleCall &c, Terms t) { return c.real(t[0]); }
static Term sizesOf(RuleCall &, Terms t) { return RuleCall::sizes(t[0]); }
static Term rankOf(RuleCall &, Terms t) { return RuleCall::rank(t[0]); }
static Term numelOf(RuleCall &, Terms t) {
  return RuleCall::meta(t[0]).numel();
}

static Term sizeOf(RuleCall &c, Terms t) {
  Dims sizes = RuleCall::sizes(t[0]);
  int64_t d = RuleCall::wrap(t[1].integer(), RuleCall::rank(t[0]));
  if (sizes.empty())
    return 1;
  if (d >= 0 && d < static_cast<int64_t>(sizes.size()))
    return sizes[d];
  c.fail("a dim of its rule is out of range");
  return {};
}

static Term restore(RuleCall &c, Terms t) {
  return c.restoreDims(t[0], t[1], t[2], t[3].truth());
}

static Term count(RuleCall &, Terms t) {
  return RuleCall::reducedCount(t[0], t[1]);
}

static Term like(RuleCall &c, Terms t) {
  return c.cast(t[0], RuleCall::dtype(t[1]));
}

static Term reshape(RuleCall &c, Terms t) {
  if (t[1].isTensor())
    return c.reshape(t[0], RuleCall::sizes(t[1]));
  return t[0].isZero() ? t[0] : c.call("reshape", {t[0], t[1]});
}

static Term zeros(RuleCall &c, Terms t) { return c.call("zeros_like", {t[0]}); }

static Term defined(RuleCall &c, Terms t) { return c.defined(t[0], t[1]); }

static Term isComplexTerm(RuleCall &, Terms t) {
  return RuleCall::isComplex(t[0]);
}

/// where with zero terms for zeros.
static Term whereTerm(RuleCall &c, Terms t) {
  if (t[1].isZero() && t[2].isZero())
    return {};
  auto orZero = [](const Term &x) { return x.isZero() ? Term(0) : x; };
  return c.call("where", {t[0], orZero(t[1]), orZero(t[2])});
}

static Term imagOf(RuleCall &c, Terms t) {
  if (!RuleCall::isComplex(t[0]))
    return {};
  return c.call("select", {c.call("view_as_real", {t[0]}), -1, 1});
}

/// t[0] times the imaginary unit.
static Term imaginary(RuleCall &, Terms t) {
  return Term(Arg::complex(0, t[0].number()));
}

/// The logarithm of a number, complex if the number or the tensor is.
static Term logOf(RuleCall &c, Terms t) {
  if (t[0].isKnown() && t[0].arg().kind == Arg::Complex) {
    std::complex<double> z =
        std::log(std::complex<double>(t[0].number(), t[0].arg().imag));
    return Term(Arg::complex(z.real(), z.imag()));
  }
  if (t[0].isKnown() && t[0].number() < 0 && RuleCall::isComplex(t[1]))
    return Term(Arg::complex(std::log(-t[0].number()), std::acos(-1.0)));
  if (t[0].isKnown())
    return std::log(t[0].number());
  c.fail("its rule needs a number that is known");
  return {};
}

/// The second derivative of glu. With a, b the halves of x, s = sigmoid(b):
/// glu_backward gives (g s, g a s'), so that with its gradients (p, q)
/// a gets q g s', and b gets p g s' + q g a s''.
static Term gluDouble(RuleCall &c, Terms t) {
  const Term &grad = t[0], &out = t[1], &x = t[2];
  int64_t d = RuleCall::wrap(t[3].integer(), RuleCall::rank(x));
  Dim half = floorDiv(RuleCall::sizes(x)[d], 2);
  auto part = [&](const Term &of, const Dim &start) {
    return c.call("narrow", {of, d, start, half});
  };
  Term a = part(x, 0), p = part(grad, 0), q = part(grad, half);
  Term s = c.call("sigmoid", {part(x, half)});
  Term s1 = c.mul(s, c.sub(1, s)), s2 = c.mul(s1, c.sub(1, c.mul(s, 2)));
  Term first = c.mul(c.mul(q, out), s1);
  Term second =
      c.add(c.mul(c.mul(p, out), s1), c.mul(c.mul(c.mul(q, out), a), s2));
  return c.call("cat", {std::vector<Term>{first, second}, d});
}

/// The second derivative of multi_margin_loss with p = 2: a sum over the
/// classes i of w (margin - x_y + x_i)^2 where that is above 0. With v the
/// gradient of the gradient, class i gets 2 w (v_i - v_y), and y the opposite
/// of their sum. `slopes` has w, which is the gradient with p = 1.
static Term marginDouble(RuleCall &c, Terms t) {
  const Term &v = t[0], &target = t[1], &slopes = t[2];
  Term place = RuleCall::rank(v) == 1 ? c.reshape(target, Dims{Dim(1)})
                                      : c.call("unsqueeze", {target, -1});
  Term apart = c.sub(v, c.call("gather", {v, -1, place}));
  Term each = c.mul(c.mul(slopes, apart), 2);
  Term sum = c.call("sum.dim_IntList", {each, std::vector<Term>{-1}, true});
  return c.call("scatter_add", {each, -1, place, c.neg(sum)});
}

static Term dtypeOf(RuleCall &, Terms t) { return RuleCall::dtype(t[0]); }

static Term adjoint(RuleCall &c, Terms t) { return c.adjoint(t[0]); }

/// The permutation that undoes another.
static Term inverse(RuleCall &c, Terms t) {
  size_t n = t[0].items().size();
  llvm::SmallVector<int64_t> back(n);
  for (auto [i, item] : llvm::enumerate(t[0].items())) {
    int64_t d = RuleCall::wrap(item.integer(), static_cast<int64_t>(n));
    if (d >= 0 && d < static_cast<int64_t>(n))
      back[d] = static_cast<int64_t>(i);
  }
  return llvm::ArrayRef<int64_t>(back);
}

static Term negated(RuleCall &c, Terms t) {
  std::vector<Term> items;
  for (const Term &item : t[0].items())
    items.push_back(c.neg(item));
  return Term(std::move(items));
}

/// An index of dim t[2] of t[1] that may count from the end.
static Term fromFront(RuleCall &c, Terms t) {
  if (!t[0].isInt() || !t[0].dim().isStatic() || t[0].integer() >= 0)
    return t[0];
  return c.add(t[0], sizeOf(c, t.drop_front()));
}

/// A loss by element as its reduction asks: 0 none, 1 mean, 2 sum.
static Term reduced(RuleCall &c, Terms t) {
  if (t[1].integer() == 0)
    return t[0];
  return c.call(t[1].integer() == 1 ? "mean" : "sum", {t[0]});
}

/// t[0] in equal parts to the elements of each group over t[2] where t[1]; NaN
/// in a group without any.
static Term share(RuleCall &c, Terms t) {
  Term among = c.call("sum.dim_IntList", {t[1], t[2], true});
  return c.div(c.mul(t[0], t[1]), among);
}

/// Zeros behind t[0], up to the sizes of t[1].
static Term padded(RuleCall &c, Terms t) {
  return c.padTo(t[0], RuleCall::sizes(t[1]));
}

/// A vector along dim 1 of t[1] (its only dim, if it has no more), or one
/// number for all.
static Term channelsOf(RuleCall &c, Terms t) {
  int64_t rank = RuleCall::rank(t[1]);
  Dims sizes(static_cast<size_t>(rank), Dim(1));
  if (rank > 0)
    sizes[rank > 1 ? 1 : 0] = RuleCall::meta(t[0]).numel();
  return c.reshape(t[0], sizes);
}

/// pad of a mode other than constant: by the number of padded dims.
static Term padByMode(RuleCall &c, Terms t) {
  size_t dims = t[1].items().size() / 2;
  llvm::StringRef mode = t[2].text();
  if (mode == "circular")
    return c.call("_pad_circular", {t[0], t[1]});
  std::string name =
      (mode == "reflect" ? "reflection_pad" : "replication_pad") +
      std::to_string(dims) + "d";
  return c.call(name, {t[0], t[1]});
}

/// The gradient of an argument by which nobody knows the derivative.
static Term unknown(RuleCall &c, Terms) {
  c.fail("the derivative by one of its arguments is not known");
  return {};
}

/// The second derivative of gelu. Exact: pdf(x) (2 - x^2); of the approximation
/// x (1 + t) / 2, t = tanh(u(x)), u = k (x + a x^3):
/// (1 - t^2) (u' + x u'' / 2 - x t u'^2).
static Term geluCurvature(RuleCall &c, Terms t) {
  const Term &x = t[0];
  Term square = c.mul(x, x);
  if (t[1].text() != "tanh") {
    Term pdf =
        c.mul(c.call("exp", {c.mul(square, -0.5)}), 0.398942280401432677940);
    return c.mul(pdf, c.sub(2, square));
  }
  constexpr double kK = 0.797884560802865355880, kA = 0.044715;
  Term tanh =
      c.call("tanh", {c.mul(c.mul(x, c.add(c.mul(square, kA), 1)), kK)});
  Term slope = c.mul(c.add(c.mul(square, 3 * kA), 1), kK);
  Term bend = c.mul(x, 6 * kA * kK);
  Term sum = c.add(slope, c.mul(c.mul(x, bend), 0.5));
  sum = c.sub(sum, c.mul(c.mul(x, tanh), c.mul(slope, slope)));
  return c.mul(c.sub(1, c.mul(tanh, tanh)), sum);
}

/// The distances between the points t[0] along a dim of t[1]; points of one dim
/// are those of all rows.
static Term stepsAlong(RuleCall &c, Terms t) {
  Term x = t[0];
  int64_t rank = RuleCall::rank(t[1]);
  int64_t d = RuleCall::wrap(t[2].integer(), rank);
  if (RuleCall::rank(x) == 1 && rank > 1) {
    Dims sizes(static_cast<size_t>(rank), Dim(1));
    sizes[d] = RuleCall::sizes(x)[0];
    x = c.reshape(x, sizes);
  }
  d -= rank - RuleCall::rank(x);
  if (d < 0)
    return {};
  // Of no points there are no steps, not -1.
  return c.sub(c.call("slice.Tensor", {x, d, 1}),
               c.call("slice.Tensor", {x, d, 0, -1}));
}

/// (losses, lengths of the targets, reduction, zero_infinity): the mean is of
/// the losses for each letter.
static Term ctcReduced(RuleCall &c, Terms t) {
  Term loss = t[0];
  if (t[3].truth())
    loss = c.call("masked_fill", {loss, c.call("isinf", {loss}), 0});
  if (t[2].integer() == 2)
    return c.call("sum", {loss});
  if (t[2].integer() != 1)
    return loss;
  Term lengths = t[1];
  if (lengths.isList()) {
    std::vector<Term> each;
    for (auto [i, length] : llvm::enumerate(lengths.items()))
      each.push_back(c.mul(
          c.call("select", {loss, 0, static_cast<int64_t>(i)}),
          1.0 / static_cast<double>(std::max<int64_t>(length.integer(), 1))));
    return c.call("mean", {c.call("stack", {each, 0})});
  }
  lengths = c.cast(c.call("clamp_min", {lengths, 1}), RuleCall::dtype(loss));
  return c.call("mean", {c.div(loss, lengths)});
}

/// How often the indices t[1] name each of t[2] rows, as a column.
static Term timesNamed(RuleCall &c, Terms t) {
  Dims sizes = RuleCall::sizes(t[1]);
  sizes.push_back(1);
  Term ones = c.call("new_ones", {t[0], sizes});
  return c.call("embedding_dense_backward", {ones, t[1], t[2], -1, false});
}

template <double (*function)(double)>
static Term ofNumber(RuleCall &c, Terms t) {
  if (t[0].isKnown())
    return function(t[0].number());
  c.fail("its rule needs a number that is known");
  return {};
}

const FormulaFunction *findFormulaFunction(llvm::StringRef name) {
  static constexpr FormulaFunction kFunctions[] = {
      {"conj", conjOf},
      {"real", realOf},
      {"imag", imagOf},
      {"imaginary", imaginary},
      {"log_of", logOf},
      {"glu_double", gluDouble},
      {"sizes", sizesOf},
      {"size", sizeOf},
      {"numel", numelOf},
      {"rank", rankOf},
      {"restore", restore},
      {"count", count},
      {"like", like},
      {"reshape", reshape},
      {"zeros", zeros},
      {"defined", defined},
      {"is_complex", isComplexTerm},
      {"where", whereTerm},
      {"dtype", dtypeOf},
      {"adjoint", adjoint},
      {"inverse", inverse},
      {"negated", negated},
      {"from_front", fromFront},
      {"reduced", reduced},
      {"share", share},
      {"channels_of", channelsOf},
      {"pad_by_mode", padByMode},
      {"unknown", unknown},
      {"gelu_curvature", geluCurvature},
      {"margin_double", marginDouble},
      {"steps_along", stepsAlong},
      {"ctc_reduced", ctcReduced},
      {"padded", padded},
      {"times_named", timesNamed},
      {"number_log", ofNumber<std::log>}};
  for (const FormulaFunction &function : kFunctions)
    if (function.name == name)
      return &function;
  return nullptr;
}

/// What is known without a tensor: equal kinds and values.
static bool sameTerm(const Term &a, const Term &b) {
  if (a.isKnown() && b.isKnown()) {
    if (a.isInt() && b.isInt())
      return a.dim() == b.dim();
    return a.number() == b.number() && a.arg().imag == b.arg().imag;
  }
  if (a.kind() != b.kind())
    return false;
  if (a.isList())
    return llvm::equal(a.items(), b.items(), sameTerm);
  return a.isNone() || a.isZero() || (a.arg() == b.arg() && !a.value());
}

Term compareTerms(RuleCall &call, llvm::StringRef op, const Term &a,
                  const Term &b) {
  bool equality = op == "==" || op == "!=";
  if (a.isTensor() || b.isTensor()) {
    if (equality && (a.isNone() || b.isNone()))
      return Term(op == "!=");
    llvm::StringRef name = op == "=="   ? "eq"
                           : op == "!=" ? "ne"
                           : op == "<"  ? "lt"
                           : op == "<=" ? "le"
                           : op == ">"  ? "gt"
                                        : "ge";
    if (a.isTensor())
      return call.call(name, {a, b});
    // The number stands on the left: turn it round.
    llvm::StringRef turned = op == "<"    ? ">"
                             : op == "<=" ? ">="
                             : op == ">"  ? "<"
                             : op == ">=" ? "<="
                                          : op;
    return compareTerms(call, turned, b, a);
  }
  if (equality)
    return Term(sameTerm(a, b) == (op == "=="));
  if (!a.isKnown() || !b.isKnown() || std::isnan(a.number()) ||
      std::isnan(b.number())) {
    call.fail("its rule compares what is not known");
    return {};
  }
  double x = a.number(), y = b.number();
  return Term(op == "<"    ? x < y
              : op == "<=" ? x <= y
              : op == ">"  ? x > y
                           : x >= y);
}

} // namespace ft
