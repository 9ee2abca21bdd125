//===- Statistics.cpp - Quantiles, moments of pairs, areas, gradients -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Lines.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

/// Σ w (x - mean x) conj(y - mean y) over what the weights count.
static void cov(Call &call) {
  bool normed = call.base() == "corrcoef";
  const Tensor &self = call.tensor(0);
  int64_t n = self.rank() ? self.shape.back() : 1;
  int64_t rows = self.rank() == 2 ? self.shape[0] : 1;
  if (self.dtype == DType::Bool)
    return call.open("moments of truths");
  const Tensor *counts = normed ? nullptr : call.optTensor(2);
  const Tensor *weights = normed ? nullptr : call.optTensor(3);
  double correction = normed ? 1 : call.number(1);
  double total = 0, squares = 0;
  auto weight = [&](int64_t i) {
    return (counts ? counts->real(i) : 1) * (weights ? weights->real(i) : 1);
  };
  for (int64_t i = 0; i < n; ++i) {
    total += weight(i);
    squares += weight(i) * (weights ? weights->real(i) : 1);
  }
  double norm = weights && correction != 0
                    ? total - correction * squares / total
                    : total - correction;
  if (!(total > 0) || (weights && norm <= 0))
    return call.open("weights without a sum");
  norm = std::max(norm, 0.);
  std::vector<Complex> mean(rows), c(rows * rows);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; ++i)
      mean[r] += weight(i) * self.complex(r * n + i) / total;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t s = 0; s < rows; ++s) {
      for (int64_t i = 0; i < n; ++i)
        c[r * rows + s] += weight(i) * (self.complex(r * n + i) - mean[r]) *
                           std::conj(self.complex(s * n + i) - mean[s]);
      c[r * rows + s] /= norm;
    }
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t s = 0; s < rows; ++s) {
      Complex x = c[r * rows + s];
      if (normed) {
        double scale = std::sqrt(c[r * rows + r].real()) *
                       std::sqrt(c[s * rows + s].real());
        if (scale < 1e-3)
          call.open("a correlation of what does not vary");
        x /= scale;
      }
      call.out().setComplex(r * rows + s, x);
    }
}

static void quantile(Call &call) {
  const Tensor &self = call.tensor(0);
  bool skip = call.base() == "nanquantile",
       many = call.args[1].kind == Arg::Tensor;
  int64_t count = many ? call.tensor(1).numel() : 1;
  bool all = !call.has(2);
  Lines lines(all ? Shape{self.numel()} : self.shape,
              all ? 0 : call.dim(2, self.rank()));
  llvm::StringRef mode = call.text(4);
  for (int64_t l = 0; l < lines.count; ++l) {
    std::vector<double> sorted;
    bool nan = false;
    for (int64_t k = 0; k < lines.length; ++k) {
      double x = self.real(lines.at(l, k));
      nan |= std::isnan(x);
      if (!std::isnan(x))
        sorted.push_back(x);
    }
    llvm::sort(sorted);
    for (int64_t j = 0; j < count; ++j) {
      double q = many ? call.tensor(1).real(j) : call.number(1);
      double y = std::nan("");
      if ((skip || !nan) && !sorted.empty()) {
        double rank = q * double(sorted.size() - 1);
        if (self.dtype == DType::F32)
          rank = roundTo(DType::F32,
                         roundTo(DType::F32, q) * double(sorted.size() - 1));
        double low = std::floor(rank), high = std::ceil(rank);
        double a = sorted[size_t(low)], b = sorted[size_t(high)];
        if (mode == "lower")
          y = a;
        else if (mode == "higher")
          y = b;
        else if (mode == "nearest")
          y = sorted[size_t(std::nearbyint(rank))];
        else if (std::isinf(a) || std::isinf(b))
          return call.open("between infinities");
        else
          y = a + (b - a) * (mode == "midpoint" ? 0.5 : rank - low);
      }
      call.out().setReal(j * lines.count + l, y);
    }
  }
}

/// The most frequent value, the smallest of several, and where it is last.
static void mode(Call &call) {
  const Tensor &self = call.tensor(0);
  Lines lines(self.shape, call.dim(1, self.rank()));
  for (int64_t l = 0; l < lines.count; ++l) {
    int64_t best = -1, most = 0;
    for (int64_t k = 0; k < lines.length; ++k) {
      int64_t count = 0, last = k;
      double x = self.real(lines.at(l, k));
      if (std::isnan(x))
        return call.open("the frequency of NaN");
      for (int64_t j = 0; j < lines.length; ++j)
        if (self.real(lines.at(l, j)) == x) {
          ++count;
          last = j;
        }
      if (count > most || (count == most && x < self.real(lines.at(l, best)))) {
        most = count;
        best = last;
      }
    }
    if (best < 0)
      return call.open("the mode of nothing");
    call.out(0).set(l, self, lines.at(l, best));
    call.out(1).setInteger(l, best);
  }
}

/// Areas under a line through the points (x, y): (y, dx or x, dim).
static void trapezoid(Call &call) {
  bool running = call.base().starts_with("cumulative");
  Tensor &out = call.out();
  const Tensor &y = call.tensor(0);
  const Tensor *x = call.optTensor(1);
  if (y.whole() || isComplex(y.dtype) || (x && x->dtype != y.dtype))
    return call.open("areas of other dtypes");
  int64_t dim = call.dim(2, y.rank());
  Lines lines(y.shape, dim);
  for (int64_t i = 0, n = y.numel(); i < n; ++i)
    if (std::abs(y.real(i)) > 1e3)
      return call.open("terms that cancel");
  if (x && x->rank() != 1 && x->shape != y.shape)
    return call.open("positions of another shape");
  Shape short_ = y.shape;
  if (lines.length)
    short_[dim] -= 1;
  Lines results(short_, dim);
  for (int64_t l = 0; l < lines.count; ++l) {
    double sum = 0;
    for (int64_t k = 0; k + 1 < lines.length; ++k) {
      double width = x ? 0 : call.number(1);
      if (x && x->rank() == 1 && y.rank() != 1)
        width = x->real(k + 1) - x->real(k);
      else if (x)
        width = x->real(lines.at(l, k + 1)) - x->real(lines.at(l, k));
      sum += width * (y.real(lines.at(l, k)) + y.real(lines.at(l, k + 1))) / 2;
      if (running)
        out.setReal(results.at(l, k), sum);
    }
    if (!running && !x && lines.length) { // all, less half of both ends
      sum = 0;
      for (int64_t k = 0; k < lines.length; ++k)
        sum += y.real(lines.at(l, k));
      double ends =
          y.real(lines.at(l, 0)) + y.real(lines.at(l, lines.length - 1));
      sum = (sum - ends * 0.5) * call.number(1);
    }
    if (!running)
      out.setReal(l, sum);
  }
}

/// Finite differences along dims, with one-sided ones at the ends. A number is
/// the step; a tensor holds the positions.
static void gradient(Call &call) {
  const Tensor &self = call.tensor(0);
  int dimArg = call.schema.argIndex("dim");
  int spaceArg = call.schema.argIndex("spacing");
  int64_t order = call.integer(call.schema.argIndex("edge_order"));
  Shape dims;
  if (call.has(dimArg) && call.args[dimArg].kind == Arg::List)
    for (int64_t d : call.integers(dimArg))
      dims.push_back(d < 0 ? d + self.rank() : d);
  else if (call.has(dimArg))
    dims.push_back(call.dim(dimArg, self.rank()));
  else
    for (int64_t d = 0; d < self.rank(); ++d)
      dims.push_back(d);
  for (size_t j = 0; j < dims.size(); ++j) {
    Lines lines(self.shape, dims[j]);
    auto step = [&](int64_t k) -> double { // from k to k + 1
      if (spaceArg < 0 || !call.has(spaceArg))
        return 1;
      const Arg &spacing = call.args[spaceArg];
      if (spacing.kind != Arg::List)
        return call.number(spaceArg);
      const Arg &own = spacing.list[std::min(j, spacing.list.size() - 1)];
      if (own.kind != Arg::Tensor)
        return own.kind == Arg::Float ? own.real : double(own.dim.value());
      const Tensor &at = call.operands[own.operand];
      return at.real(k + 1) - at.real(k);
    };
    int64_t n = lines.length;
    bool positions = spaceArg >= 0 && call.args[spaceArg].kind == Arg::List &&
                     call.schema.isTensorArg(spaceArg);
    for (int64_t l = 0; l < lines.count; ++l) {
      auto y = [&](int64_t k) { return self.complex(lines.at(l, k)); };
      for (int64_t k = 0; k < n; ++k) {
        Complex slope;
        bool edge = k == 0 || k == n - 1;
        int64_t from =
            std::clamp<int64_t>(k - 1, 0, std::max<int64_t>(n - 3, 0));
        if (edge && order == 1) {
          int64_t a = std::max<int64_t>(k - 1, 0);
          slope = (y(a + 1) - y(a)) / step(a);
        } else if (!edge && !positions) {
          slope = (y(k + 1) - y(k - 1)) / (2 * step(k));
        } else { // of the parabola through three points
          double h = step(from), g = step(from + 1), both = h + g;
          double x = k == from ? 0 : k == from + 1 ? h : both;
          slope = y(from) * ((2 * x - h - both) / (h * both)) -
                  y(from + 1) * ((2 * x - both) / (h * g)) +
                  y(from + 2) * ((2 * x - h) / (g * both));
        }
        call.out(j).setComplex(lines.at(l, k), slope);
      }
    }
  }
}

/// grad, input, dim, output: each element is a factor of all products after it.
static void cumprodBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1);
  for (int64_t i = 0, n = x.numel(); i < n; ++i)
    if (!std::isfinite(std::abs(x.complex(i) * grad.complex(i))))
      return call.open("products of infinities");
  Lines lines(x.shape, call.dim(2, x.rank()));
  for (int64_t l = 0; l < lines.count; ++l)
    for (int64_t k = 0; k < lines.length; ++k) {
      Complex others = 1, sum = 0;
      for (int64_t j = 0; j < lines.length; ++j) {
        if (j != k)
          others *= x.complex(lines.at(l, j));
        if (j >= k)
          sum += grad.complex(lines.at(l, j)) * std::conj(others);
      }
      call.out().setComplex(lines.at(l, k), sum);
    }
}

/// Adds the gradient up where an index says that the value came from.
static void toChosen(Call &call, const Tensor &grad, const Tensor &indices,
                     int64_t dim) {
  Tensor &out = call.out();
  std::vector<Complex> sums(out.numel());
  Lines from(indices.shape, dim), to(out.shape, dim);
  for (int64_t l = 0; l < from.count; ++l)
    for (int64_t k = 0; k < from.length; ++k) {
      int64_t at = indices.integer(from.at(l, k));
      if (at < 0 || at >= to.length)
        return call.refuse("an index out of range");
      sums[to.at(l, at)] += grad.complex(from.at(l, k));
    }
  for (size_t i = 0; i < sums.size(); ++i)
    out.setComplex(i, sums[i]);
}

/// grad, input, indices, dim
static void cummaxminBackward(Call &call) {
  toChosen(call, call.tensor(0), call.tensor(2),
           call.dim(3, call.tensor(1).rank()));
}

/// grad, dim, indices, sizes, keepdim
static void selectingBackward(Call &call) {
  int64_t dim = call.dim(1, call.out().rank());
  Shape kept = call.out().shape;
  if (!kept.empty())
    kept[dim] = 1;
  toChosen(call, call.tensor(0).reshaped(kept), call.tensor(2).reshaped(kept),
           dim);
}

static void traceBackward(Call &call) {
  Tensor &out = call.out();
  for (int64_t i = 0; i < std::min(out.shape[0], out.shape[1]); ++i)
    out.set(i * out.shape[1] + i, call.tensor(0), 0);
}

static void sumToSize(Call &call) {
  const Tensor &self = call.tensor(0);
  Tensor &out = call.out();
  std::vector<Complex> sums(out.numel());
  std::vector<uint64_t> whole(out.numel());
  forEachIndex(self.shape, [&](Index at, int64_t i) {
    int64_t to = flattenBroadcast(out.shape, at);
    sums[to] += self.complex(i);
    whole[to] += static_cast<uint64_t>(self.integer(i));
  });
  for (int64_t i = 0, n = out.numel(); i < n; ++i)
    if (out.whole())
      out.setInteger(i, static_cast<int64_t>(whole[i]));
    else
      out.setComplex(i, sums[i]);
}

/// Σ |x|^p over all dims but one.
static void normExceptDim(Call &call) {
  const Tensor &v = call.tensor(0);
  auto p = static_cast<double>(call.integer(1));
  Tensor &out = call.out();
  std::vector<double> sums(out.numel());
  forEachIndex(v.shape, [&](Index at, int64_t i) {
    sums[flattenBroadcast(out.shape, at)] +=
        std::pow(std::abs(v.complex(i)), p);
  });
  for (size_t i = 0; i < sums.size(); ++i)
    out.setReal(i, std::pow(sums[i], 1 / p));
}

/// data, reduce, lengths, indices, offsets, axis, unsafe, initial; along dim 0.
static void segmentReduce(Call &call) {
  const Tensor &data = call.tensor(0), *lengths = call.optTensor(2);
  llvm::StringRef reduce = call.text(1);
  if (!lengths || lengths->rank() != 1 || call.integer(5))
    return call.open("segments of other forms");
  int64_t inner = numelOf(Index(data.shape).drop_front(1)), row = 0;
  for (int64_t s = 0; s < lengths->numel(); ++s) {
    int64_t n = lengths->integer(s);
    for (int64_t j = 0; j < inner; ++j) {
      double start = reduce == "max"    ? -HUGE_VAL
                     : reduce == "min"  ? HUGE_VAL
                     : reduce == "prod" ? 1
                                        : 0;
      double value = call.has(7) ? call.number(7) : start;
      for (int64_t k = 0; k < n; ++k) {
        double x = data.real((row + k) * inner + j);
        if (std::isnan(x) || std::isnan(value))
          value = std::nan("");
        else if (reduce == "max")
          value = std::max(value, x);
        else if (reduce == "min")
          value = std::min(value, x);
        else
          value = reduce == "prod" ? value * x : value + x;
      }
      if (reduce == "mean")
        value = n == 0 && !call.has(7) ? std::nan("")
                : n                    ? value / double(n)
                                       : value;
      call.out().setReal(s * inner + j, value);
    }
    row += n;
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::statisticsOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"cov.default", cov, Accumulated},
      {"corrcoef.default", cov, Accumulated},
      {"quantile.default", quantile, Accumulated},
      {"quantile.scalar", quantile, Accumulated},
      {"nanquantile.default", quantile, Accumulated},
      {"nanquantile.scalar", quantile, Accumulated},
      {"mode.default", mode, Exact},
      {"trapezoid.dx", trapezoid, Accumulated},
      {"trapezoid.x", trapezoid, Accumulated},
      {"trapz.dx", trapezoid, Accumulated},
      {"trapz.x", trapezoid, Accumulated},
      {"cumulative_trapezoid.dx", trapezoid, Accumulated},
      {"cumulative_trapezoid.x", trapezoid, Accumulated},
      {"gradient.array", gradient, Accumulated},
      {"gradient.scalararray", gradient, Accumulated},
      {"gradient.scalarint", gradient, Accumulated},
      {"gradient.scalarrayarray", gradient, Accumulated},
      {"gradient.scalarrayint", gradient, Accumulated},
      {"gradient.tensorarray", gradient, Accumulated},
      {"gradient.tensorarrayint", gradient, Accumulated},
      {"cumprod_backward.default", cumprodBackward, Accumulated},
      {"cummaxmin_backward.default", cummaxminBackward, Accumulated},
      {"value_selecting_reduction_backward.default", selectingBackward, Exact},
      {"trace_backward.default", traceBackward, Exact},
      {"sum_to_size.default", sumToSize, Accumulated},
      {"norm_except_dim.default", normExceptDim, Accumulated},
      {"segment_reduce.default", segmentReduce, Accumulated},
  };
  return rows;
}
