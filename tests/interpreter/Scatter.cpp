//===- Scatter.cpp - Writing elements that indices name -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Indexing.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
enum class How { Write, Add, Multiply, Mean, Max, Min };

/// The elements of one result while several values go into each.
class Target {
public:
  Target(Call &call, const Tensor &self, How how, bool includeSelf)
      : call(call), how(how), values(self.numel()), whole(self.numel()),
        counts(self.numel(), includeSelf), dtype(self.dtype) {
    if (dtype == DType::Bool && how != How::Write)
      call.open("reductions of bools");
    for (int64_t i = 0, n = self.numel(); i < n; ++i) {
      values[i] = self.complex(i);
      whole[i] = self.integer(i);
    }
  }

  void put(int64_t i, Complex x, int64_t k) {
    if (how == How::Write) {
      if (written.size() < counts.size())
        written.resize(counts.size());
      // Which of several writes to one place wins is open, unless equal.
      if (written[i] && !(values[i] == x && whole[i] == k))
        call.open("several values for one place");
      written[i] = true;
      values[i] = x;
      whole[i] = k;
      return;
    }
    bool first = counts[i]++ == 0;
    if (first) {
      values[i] = x;
      whole[i] = k;
      return;
    }
    uint64_t a = static_cast<uint64_t>(whole[i]), b = static_cast<uint64_t>(k);
    double u = values[i].real(), v = x.real();
    bool nan = std::isnan(u) || std::isnan(v);
    switch (how) {
    case How::Add:
    case How::Mean:
      values[i] += x;
      whole[i] = static_cast<int64_t>(a + b);
      break;
    case How::Multiply:
      values[i] = isComplex(dtype) ? values[i] * x : Complex(u * v);
      whole[i] = static_cast<int64_t>(a * b);
      break;
    case How::Max:
      values[i] = nan ? std::nan("") : std::max(u, v);
      whole[i] = std::max(whole[i], k);
      break;
    default:
      values[i] = nan ? std::nan("") : std::min(u, v);
      whole[i] = std::min(whole[i], k);
    }
  }

  void store(Tensor &out) {
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t n = how == How::Mean ? std::max<int64_t>(counts[i], 1) : 1;
      if (out.whole()) {
        int64_t value = wrapTo(dtype, whole[i]);
        int64_t q = value / n;
        out.setInteger(i, value % n && value < 0 ? q - 1 : q);
      } else {
        out.setComplex(i, values[i] / double(n));
      }
    }
  }

private:
  Call &call;
  How how;
  std::vector<Complex> values;
  std::vector<int64_t> whole, counts;
  std::vector<bool> written;
  DType dtype;
};
} // namespace

static How howFrom(llvm::StringRef reduce) {
  return reduce == "add" || reduce == "sum"         ? How::Add
         : reduce == "multiply" || reduce == "prod" ? How::Multiply
         : reduce == "mean"                         ? How::Mean
         : reduce == "amax"                         ? How::Max
                                                    : How::Min;
}

/// scatter(self, dim, index, src or value[, reduce][, include_self])
static void scatter(Call &call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(2);
  const Tensor *source = call.optTensor(3);
  int64_t dim = call.dim(1, self.rank());
  How how = How::Write;
  bool includeSelf = true;
  if (call.base() == "scatter_add")
    how = How::Add;
  else if (call.size() > 4)
    how = howFrom(call.text(4));
  if (call.size() > 5)
    includeSelf = call.flag(5);
  Tensor number(self.dtype, {});
  if (!source) {
    if (call.args[3].kind == Arg::Complex)
      number.setComplex(0, call.complex(3));
    else
      number.setReal(0, call.number(3));
    call.out().undefined |= number.undefined;
  }
  Target target(call, self, how, includeSelf);
  forEachIndex(indices.shape, [&](Index at, int64_t i) {
    Shape to(at.begin(), at.end());
    int64_t k = indices.integer(i), size = self.rank() ? self.shape[dim] : 1;
    if (k < 0 || k >= size)
      return call.refuse("an index out of range");
    int64_t place = 0, from = 0;
    if (self.rank()) {
      if (to.empty())
        to.push_back(0);
      Shape sourceAt = to;
      to[dim] = k;
      place = flatten(self.shape, to);
      if (source && source->rank())
        from = flatten(source->shape, sourceAt);
    }
    const Tensor &value = source ? *source : number;
    target.put(place, value.complex(source ? from : 0),
               value.integer(source ? from : 0));
  });
  target.store(call.out());
}

/// index_add, index_copy, index_reduce: slices of the source.
static void indexWrite(Call &call) {
  llvm::StringRef base = call.base();
  const Tensor &self = call.tensor(0), &indices = call.tensor(2),
               &source = call.tensor(3);
  int64_t dim = call.dim(1, self.rank());
  How how = base == "index_add"    ? How::Add
            : base == "index_copy" ? How::Write
                                   : howFrom(call.text(4));
  bool includeSelf = base == "index_reduce" ? call.flag(5) : true;
  Complex alpha = base == "index_add" ? call.complex(4) : Complex(1);
  int64_t wholeAlpha = base == "index_add" ? call.integer(4) : 1;
  Target target(call, self, how, includeSelf);
  forEachIndex(source.shape, [&](Index at, int64_t i) {
    Shape to(at.begin(), at.end());
    int64_t k = indices.integer(source.rank() ? at[dim] : 0);
    int64_t size = self.rank() ? self.shape[dim] : 1;
    if (k < 0 || k >= size)
      return call.refuse("an index out of range");
    int64_t place = 0;
    if (self.rank()) {
      if (to.empty())
        to.push_back(0);
      to[dim] = k;
      place = flatten(self.shape, to);
    }
    target.put(place, source.complex(i) * alpha,
               source.integer(i) * wholeAlpha);
  });
  target.store(call.out());
}

static void indexFill(Call &call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(2);
  int64_t dim = call.dim(1, self.rank());
  int64_t size = self.rank() ? self.shape[dim] : 1;
  Tensor value(self.dtype, {});
  if (const Tensor *tensor = call.optTensor(3))
    value.set(0, *tensor, 0);
  else if (call.args[3].kind == Arg::Complex)
    value.setComplex(0, call.complex(3));
  else
    value.setReal(0, call.number(3));
  call.out() = self;
  call.out().undefined |= value.undefined;
  for (int64_t i = 0, n = indices.numel(); i < n; ++i) {
    int64_t k = indices.integer(i);
    if (k < -size || k >= size)
      return call.refuse("an index out of range");
    k += k < 0 ? size : 0;
    forEachIndex(self.shape, [&](Index at, int64_t flat) {
      if (self.rank() == 0 || at[dim] == k)
        call.out().set(flat, value, 0);
    });
  }
}

static void indexPut(Call &call) {
  const Tensor &self = call.tensor(0);
  bool masked = call.base() == "_unsafe_masked_index_put_accumulate";
  std::vector<const Tensor *> indices = call.tensors(masked ? 2 : 1);
  const Tensor &values = call.tensor(masked ? 3 : 2);
  bool accumulate = masked || call.flag(3);
  IndexedPlaces where(call, self.shape, indices, masked);
  if (!call.error.empty())
    return;
  Target target(call, self, accumulate ? How::Add : How::Write, true);
  forEachIndex(where.resultShape, [&](Index at, int64_t i) {
    if (masked) {
      const Tensor &mask = call.tensor(1);
      if (!mask.integer(flattenBroadcast(mask.shape, at)))
        return;
    }
    int64_t from = flattenBroadcast(values.shape, at);
    target.put(where.places[i], values.complex(from), values.integer(from));
  });
  target.store(call.out());
}

static void put(Call &call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(1),
               &source = call.tensor(2);
  Target target(call, self, call.flag(3) ? How::Add : How::Write, true);
  for (int64_t i = 0, n = indices.numel(), size = self.numel(); i < n; ++i) {
    int64_t k = indices.integer(i);
    if (k < -size || k >= size)
      return call.refuse("an index out of range");
    target.put(k < 0 ? k + size : k, source.complex(i), source.integer(i));
  }
  target.store(call.out());
}

/// The source's elements, one after the other, where the mask is true.
static void maskedScatter(Call &call) {
  const Tensor &self = call.tensor(0), &mask = call.tensor(1),
               &source = call.tensor(2);
  int64_t next = 0;
  forEachIndex(call.out().shape, [&](Index at, int64_t i) {
    if (!mask.integer(flattenBroadcast(mask.shape, at)))
      return call.out().set(i, self, flattenBroadcast(self.shape, at));
    if (next >= source.numel())
      return call.refuse("too few elements for the mask");
    call.out().set(i, source, next++);
  });
}

/// Equal bins between two bounds, those of the data where both are equal.
static void histc(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t bins = call.integer(1);
  double low = call.number(2), high = call.number(3);
  if (low == high && self.numel()) {
    low = HUGE_VAL;
    high = -HUGE_VAL;
    for (int64_t i = 0, n = self.numel(); i < n; ++i) {
      if (!std::isfinite(self.real(i)))
        return call.refuse("a range that is not finite");
      low = std::min(low, self.real(i));
      high = std::max(high, self.real(i));
    }
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  std::vector<double> counts(bins);
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    double x = self.real(i);
    if (!(x >= low && x <= high))
      continue;
    double where = (x - low) / (high - low) * double(bins);
    if (std::abs(where - std::nearbyint(where)) < 1e-4 && x != low && x != high)
      call.open("an element on the edge of a bin");
    counts[std::min<int64_t>(int64_t(where), bins - 1)] += 1;
  }
  for (int64_t i = 0; i < bins; ++i)
    call.out().setReal(i, counts[i]);
}

llvm::ArrayRef<OpRow> ft::interpreter::scatterOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"scatter.src", scatter, Exact},
      {"scatter.value", scatter, Exact},
      {"scatter.reduce", scatter, Accumulated},
      {"scatter.value_reduce", scatter, Accumulated},
      {"scatter_add.default", scatter, Accumulated},
      {"scatter_reduce.two", scatter, Accumulated},
      {"index_add.default", indexWrite, Accumulated},
      {"index_copy.default", indexWrite, Exact},
      {"index_reduce.default", indexWrite, Accumulated},
      {"index_fill.int_Scalar", indexFill, Exact},
      {"index_fill.int_Tensor", indexFill, Exact},
      {"index_put.default", indexPut, Accumulated},
      {"index_put.hacked_twin", indexPut, Accumulated},
      {"_unsafe_index_put.default", indexPut, Accumulated},
      {"_index_put_impl.default", indexPut, Accumulated},
      {"_unsafe_masked_index_put_accumulate.default", indexPut, Accumulated},
      {"put.default", put, Accumulated},
      {"masked_scatter.default", maskedScatter, Exact},
      {"histc.default", histc, Exact},
  };
  return rows;
}
