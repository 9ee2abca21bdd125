//===- Stft.cpp - Lowering of spectra of overlapping frames ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// stft gathers frames of the (padded) signal times the window and transforms
// them; istft transforms back and adds, for each sample, what the frames over
// it hold, divided by the sum of the squared windows there.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Fft.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/Reducing.h"
#include "dialects/ft/Promotion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

#include <cmath>

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

namespace {
/// Arguments 1 to 4: (n_fft, hop_length, win_length, window).
struct Frames {
  int64_t size, hop, windowSize;
  std::optional<LoweredTensor> window; // of `size`, zeros around the given one
};
} // namespace

static Frames framesOf(LowerCall &c) {
  Frames f;
  f.size = c.integer(1);
  f.hop = c.isNone(2) ? f.size / 4 : c.integer(2);
  f.windowSize = c.isNone(3) ? f.size : c.integer(3);
  if (c.isNone(4) && f.windowSize == f.size)
    return f;
  LoweredTensor window =
      c.isNone(4) ? c.filled({f.windowSize}, DType::F32, 1) : c.operand(4);
  int64_t before = (f.size - f.windowSize) / 2;
  f.window = c.pad(window, {before}, {f.size - f.windowSize - before}, 0);
  return f;
}

/// The signal [batch, length] with `pad` samples more at both ends.
static LoweredTensor centered(LowerCall &c, LoweredTensor x, int64_t pad,
                              StringRef mode) {
  if (mode == "constant")
    return c.pad(x, {0, pad}, {0, pad}, 0);
  Dim length = x.dims()[1];
  return generate(c, {x.dims()[0], length + 2 * pad}, x.dtype,
                  [&](ScalarBuilder &s, ArrayRef<Value> at) {
                    auto k = [&](Dim v) { return sizeIndex(c, s, v); };
                    Value i = s.sub(at[1], k(pad)), low = i, high = i;
                    if (mode == "reflect") {
                      low = s.neg(i);
                      high = s.sub(k(Dim(2) * (length - 1)), i);
                    } else if (mode == "replicate") {
                      low = k(0);
                      high = k(length - 1);
                    } else {
                      low = s.add(i, k(length));
                      high = s.sub(i, k(length));
                    }
                    i = s.select(
                        s.cmp(Cmp::Lt, i, k(0)), low,
                        s.select(s.cmp(Cmp::Ge, i, k(length)), high, i));
                    return readAt(s, x, {at[0], i});
                  });
}

/// (self, n_fft, hop_length, win_length, window, [center, pad_mode,]
/// normalized, onesided, return_complex, align_to_window)
template <bool Center>
static LogicalResult stft(LowerCall &c) {
  constexpr unsigned kNormalized = Center ? 7 : 5;
  LoweredTensor x = c.operand(0);
  bool batched = x.rank() == 2;
  if (!batched)
    x = c.reshape(x, {1, x.dims()[0]});
  Frames f = framesOf(c);
  if (Center && c.flag(5))
    x = centered(c, x, f.size / 2, c.call().args[6].str);
  Dim batch = x.dims()[0];
  Dim count = floorDiv(x.dims()[1] - f.size, f.hop) + 1;
  DType from = x.dtype, dtype = from;
  if (f.window)
    dtype = promoteTypes(from, f.window->dtype).value_or(from);
  AffineExpr b = c.dim(0), t = c.dim(1), j = c.dim(2);
  SmallVector<Access> ins = {Access{x, {b, t * f.hop + j}}};
  DType windowType = dtype;
  if (f.window) {
    ins.push_back(Access{*f.window, {j}});
    windowType = f.window->dtype;
  }
  LoweredTensor frames =
      c.generic(ins, Access{c.empty({batch, count, f.size}, dtype), {b, t, j}},
                SmallVector<Iterator>(3, Iterator::Parallel),
                [&](ScalarBuilder &s, ValueRange v) {
                  Value y = s.cast(v[0], from, dtype);
                  if (f.window)
                    y = s.mul(y, s.cast(v[1], windowType, dtype));
                  return SmallVector<Value>{y};
                })[0];
  FftScale scale = fftScale(
      c.flag(kNormalized) ? FftNorm::ByRoot : FftNorm::None, Dim(f.size));
  bool complex = isComplex(dtype);
  bool onesided =
      c.isNone(kNormalized + 1) ? !complex : c.flag(kNormalized + 1);
  LoweredTensor r =
      complex ? complexTransform(c, frames, {2U}, false, scale)
              : realTransform(c, frames, {2U},
                              onesided ? f.size / 2 + 1 : f.size, scale);
  r = c.permute(r, {0, 2, 1});
  if (!batched)
    r = c.reshape(r, ArrayRef<Dim>(r.dims()).drop_front());
  if (!c.isNone(kNormalized + 2) && !c.flag(kNormalized + 2)) {
    // Real and imaginary parts side by side.
    Sizes sizes = r.dims();
    sizes.push_back(2);
    LoweredTensor spectrum = r;
    DType real = toReal(spectrum.dtype);
    r = generate(c, sizes, real, [&](ScalarBuilder &s, ArrayRef<Value> at) {
      Value z = readAt(s, spectrum, at.drop_back());
      Type type = at.back().getType();
      return s.select(s.cmp(Cmp::Eq, at.back(), s.constantInt(type, 0)),
                      complex::ReOp::create(s.b, s.loc, z).getResult(),
                      complex::ImOp::create(s.b, s.loc, z).getResult());
    });
  }
  c.setResult(0, r);
  return success();
}

/// out[b, s] = sum over the frames t that reach sample s of frames[b, t, s - t
/// hop]. The last of them is s / hop; `overlap` of them can.
static LoweredTensor overlapAdd(LowerCall &c, LoweredTensor frames, int64_t hop,
                                Dim total) {
  Sizes sizes = frames.dims();
  Dim count = sizes[1], size = sizes[2], overlap = ceilDiv(size, hop);
  LoweredTensor zero = c.filled({sizes[0], total}, frames.dtype, 0);
  LoweredTensor steps = c.filledInt({overlap}, DType::I64, 0);
  return c.generic(
      Access{steps, {c.dim(2)}}, Access{zero, {c.dim(0), c.dim(1)}},
      {Iterator::Parallel, Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        auto k = [&](Dim n) { return c.sizeIn(s, n, DType::I64); };
        Value at = loopIndex(s, 1), hops = k(hop);
        Value last = arith::DivUIOp::create(s.b, s.loc, at, hops);
        Value t = s.sub(last, loopIndex(s, 2)), j = s.sub(at, s.mul(t, hops));
        auto both = [&](Value a, Value b) {
          return arith::AndIOp::create(s.b, s.loc, a, b).getResult();
        };
        Value inside =
            both(both(s.cmp(Cmp::Ge, t, k(0)), s.cmp(Cmp::Lt, t, k(count))),
                 s.cmp(Cmp::Lt, j, k(size)));
        Value x = elementAt(s, frames,
                            {loopIndex(s, 0), s.select(inside, t, k(0)),
                             s.select(inside, j, k(0))});
        return SmallVector<Value>{s.add(v[1], s.select(inside, x, s.zero(x)))};
      })[0];
}

/// (self, n_fft, hop_length, win_length, window, center, normalized, onesided,
/// length, return_complex)
static LogicalResult istft(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  if (x.rank() == 2) {
    Sizes sizes = x.dims();
    sizes.insert(sizes.begin(), 1);
    x = c.reshape(x, sizes);
  }
  Frames f = framesOf(c);
  Dim batch = x.dims()[0], bins = x.dims()[1], count = x.dims()[2];
  bool complex = c.flag(9);
  if (!bins.isStatic() && c.isNone(7))
    return c.unsupported("a number of bins that is only known at run time");
  bool onesided = c.isNone(7) ? bins != f.size : c.flag(7);
  FftScale scale =
      fftScale(c.flag(6) ? FftNorm::ByRoot : FftNorm::ByCount, Dim(f.size));
  LoweredTensor spectrum = c.permute(x, {0, 2, 1});
  if (!complex && !onesided)
    spectrum = c.slice(spectrum, 2, 0, f.size / 2 + 1);
  LoweredTensor frames =
      complex ? complexTransform(c, spectrum, {2U}, true, scale)
              : toRealTransform(c, spectrum, {2U}, f.size, true, scale);
  c.newGroup();
  DType dtype = c.resultMeta(0).dtype;
  LoweredTensor window =
      f.window ? c.cast(*f.window, dtype) : c.filled({f.size}, dtype, 1);
  auto product = [](ScalarBuilder &s, ValueRange v) {
    return s.mul(v[0], v[1]);
  };
  frames = c.pointwise({c.cast(frames, dtype), window}, {batch, count, f.size},
                       dtype, product);
  LoweredTensor squares =
      c.expand(c.pointwise({window, window}, {f.size}, dtype, product),
               {1, count, f.size});
  c.newGroup();
  Dim total = Dim(f.size) + Dim(f.hop) * (count - 1);
  int64_t start = c.flag(5) ? f.size / 2 : 0;
  Dim length = c.resultMeta(0).sizes.back();
  LoweredTensor sum = overlapAdd(c, frames, f.hop, total);
  LoweredTensor weight = overlapAdd(c, squares, f.hop, total);
  Dim kept = minDim(length, total - start);
  sum = c.slice(sum, 1, start, kept);
  weight = c.slice(weight, 1, start, kept);
  LoweredTensor r = c.pointwise(
      {sum, weight}, {batch, kept}, dtype,
      [](ScalarBuilder &s, ValueRange v) { return s.div(v[0], v[1]); });
  r = c.pad(r, {0, 0}, {0, length - kept}, 0);
  c.setResult(0, c.reshape(r, dimsOf(c.resultMeta(0))));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("istft.default", istft),
    anyShape("stft.center", stft<true>),
    anyShape("stft.default", stft<false>),
};

ArrayRef<LowerRuleRow> stftLowerRules() { return kRows; }

} // namespace ft
