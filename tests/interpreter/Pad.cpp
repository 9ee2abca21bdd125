//===- Pad.cpp - Padding, windows as columns ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"

using namespace ft;
using namespace ft::interpreter;

enum class Mode { Constant, Reflect, Replicate, Circular };

/// Where position `i` of a padded dim comes from; -1 for outside.
static int64_t sourceOf(int64_t i, int64_t size, Mode mode) {
  switch (mode) {
  case Mode::Constant:
    return i >= 0 && i < size ? i : -1;
  case Mode::Reflect:
    return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
  case Mode::Replicate:
    return std::clamp<int64_t>(i, 0, size - 1);
  case Mode::Circular:
    return (i % size + size) % size;
  }
  return -1;
}

/// For each element of the padded shape, its source in `shape`. `pads` starts
/// with the last dim: low, high, low, high…
template <typename Visit>
static void eachPadded(const Shape &shape, const Shape &padded,
                       const Shape &pads, Mode mode, Visit visit) {
  forEachIndex(padded, [&](Index index, int64_t i) {
    Shape at(index.begin(), index.end());
    bool inside = true;
    for (size_t k = 0; k < pads.size() / 2; ++k) {
      size_t d = at.size() - 1 - k;
      at[d] = sourceOf(at[d] - pads[2 * k], shape[d], mode);
      inside &= at[d] >= 0;
    }
    visit(i, inside ? flatten(shape, at) : -1);
  });
}

template <Mode mode>
static void pad(Call &call) {
  const Tensor &self = call.tensor(0);
  Tensor &out = call.out(), value(out.dtype, {});
  if (mode == Mode::Constant && call.size() > 2) {
    if (call.args[2].kind == Arg::Complex)
      value.setComplex(0, call.complex(2));
    else
      value.setReal(0, call.number(2));
    out.undefined |= value.undefined;
  }
  eachPadded(self.shape, out.shape, call.integers(1), mode,
             [&](int64_t i, int64_t from) {
               if (from >= 0)
                 out.set(i, self, from);
               else
                 out.set(i, value, 0);
             });
}

template <Mode mode>
static void padBackward(Call &call) {
  const Tensor &grad = call.tensor(0);
  Tensor &out = call.out();
  std::vector<Complex> sums(out.numel());
  eachPadded(out.shape, grad.shape, call.integers(2), mode,
             [&](int64_t i, int64_t from) { sums[from] += grad.complex(i); });
  for (int64_t i = 0, n = out.numel(); i < n; ++i)
    out.setComplex(i, sums[i]);
}

static void padByMode(Call &call) {
  llvm::StringRef mode = call.text(2);
  const Tensor &self = call.tensor(0);
  Tensor &out = call.out(), value(out.dtype, {});
  if (call.has(3))
    value.setReal(0, call.number(3));
  eachPadded(self.shape, out.shape, call.integers(1),
             mode == "reflect"     ? Mode::Reflect
             : mode == "replicate" ? Mode::Replicate
             : mode == "circular"  ? Mode::Circular
                                   : Mode::Constant,
             [&](int64_t i, int64_t from) {
               if (from >= 0)
                 out.set(i, self, from);
               else
                 out.set(i, value, 0);
             });
}

namespace {
/// Windows over the last two dims of an image, as im2col names them.
struct Windows {
  Shape kernel, dilation, padding, stride;

  Windows(const Call &call, unsigned first)
      : kernel(call.integers(first, 2)), dilation(call.integers(first + 1, 2)),
        padding(call.integers(first + 2, 2)),
        stride(call.integers(first + 3, 2)) {}
  int64_t blocks(int64_t size, unsigned d) const {
    return (size + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) /
               stride[d] +
           1;
  }

  /// Visits each element of the columns [N, C kh kw, L] with its place in the
  /// image [N, C, H, W], -1 in the padding.
  template <typename Visit>
  void each(const Shape &image, Visit visit) const {
    int64_t h = image[2], w = image[3];
    int64_t rows = blocks(h, 0), columns = blocks(w, 1);
    int64_t i = 0;
    for (int64_t plane = 0; plane < image[0] * image[1]; ++plane)
      for (int64_t kh = 0; kh < kernel[0]; ++kh)
        for (int64_t kw = 0; kw < kernel[1]; ++kw)
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < columns; ++c, ++i) {
              int64_t y = r * stride[0] - padding[0] + kh * dilation[0];
              int64_t x = c * stride[1] - padding[1] + kw * dilation[1];
              bool inside = y >= 0 && y < h && x >= 0 && x < w;
              visit(i, inside ? (plane * h + y) * w + x : -1);
            }
  }
};
} // namespace

static Shape withBatch(Shape shape, size_t rank) {
  if (shape.size() < rank)
    shape.insert(shape.begin(), 1);
  return shape;
}

static void im2col(Call &call) {
  const Tensor &self = call.tensor(0);
  Windows windows(call, 1);
  windows.each(withBatch(self.shape, 4), [&](int64_t i, int64_t from) {
    if (from >= 0)
      call.out().set(i, self, from);
  });
}

static void col2im(Call &call) {
  const Tensor &self = call.tensor(0);
  Windows windows(call, 2);
  Tensor &out = call.out();
  std::vector<Complex> sums(out.numel());
  windows.each(withBatch(out.shape, 4), [&](int64_t i, int64_t to) {
    if (to >= 0)
      sums[to] += self.complex(i);
  });
  for (int64_t i = 0, n = out.numel(); i < n; ++i)
    out.setComplex(i, sums[i]);
}

llvm::ArrayRef<OpRow> ft::interpreter::padOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"constant_pad_nd.default", pad<Mode::Constant>, Exact},
      {"reflection_pad1d.default", pad<Mode::Reflect>, Exact},
      {"reflection_pad2d.default", pad<Mode::Reflect>, Exact},
      {"reflection_pad3d.default", pad<Mode::Reflect>, Exact},
      {"replication_pad1d.default", pad<Mode::Replicate>, Exact},
      {"replication_pad2d.default", pad<Mode::Replicate>, Exact},
      {"replication_pad3d.default", pad<Mode::Replicate>, Exact},
      {"_pad_circular.default", pad<Mode::Circular>, Exact},
      {"pad.default", padByMode, Exact},
      {"reflection_pad1d_backward.default", padBackward<Mode::Reflect>,
       Accumulated},
      {"reflection_pad2d_backward.default", padBackward<Mode::Reflect>,
       Accumulated},
      {"reflection_pad3d_backward.default", padBackward<Mode::Reflect>,
       Accumulated},
      {"replication_pad1d_backward.default", padBackward<Mode::Replicate>,
       Accumulated},
      {"replication_pad2d_backward.default", padBackward<Mode::Replicate>,
       Accumulated},
      {"replication_pad3d_backward.default", padBackward<Mode::Replicate>,
       Accumulated},
      {"im2col.default", im2col, Exact},
      {"col2im.default", col2im, Accumulated},
  };
  return rows;
}
