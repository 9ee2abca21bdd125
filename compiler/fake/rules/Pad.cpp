//===- Pad.cpp - Padding and sliding blocks --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"

using namespace llvm;

namespace ft {

static LogicalResult fresh(FakeCall &c, const TensorMeta &like, Dims sizes,
                           bool follow) {
  TensorMeta out = TensorMeta::contiguous(like.dtype, sizes, c.device);
  if (follow)
    out.strides = followingStrides(sizes, like);
  return c.fresh(std::move(out));
}

/// `pad` counts from the last dim: before, after, before, after …
static LogicalResult constantPad(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  Dims pad = c.dims(1);
  if (pad.size() % 2)
    return c.fail(FakeError::Dim, "a pad must have an even number of entries, "
                                  "not " +
                                      Twine(pad.size()));
  if (pad.size() / 2 > self.sizes.size())
    return c.fail(FakeError::Dim, "a pad of " + Twine(pad.size() / 2) +
                                      " dims for a tensor of " +
                                      Twine(self.rank()));
  Dims sizes = self.sizes;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    Dim &size = sizes[sizes.size() - 1 - i];
    Dim before = size;
    size = size + pad[2 * i] + pad[2 * i + 1];
    // What is cut off must be there: padding does not make up for it.
    Dim kept = before + minDim(pad[2 * i], 0) + minDim(pad[2 * i + 1], 0);
    if (c.lt(kept, 0))
      return c.fail(FakeError::Shape,
                    "padding size " + before.str() + " of dim " +
                        Twine(sizes.size() - 1 - i) + " by " +
                        pad[2 * i].str() + " and " + pad[2 * i + 1].str() +
                        " leaves " + kept.str());
  }
  TensorMeta out = TensorMeta::contiguous(self.dtype, sizes, c.device);
  bool crops = false;
  for (Dim p : pad)
    crops |= p.isStatic() && p.value() > 0;
  // Cropping alone is a copy of a view.
  if (crops)
    out.strides = followingStrides(sizes, self);
  else {
    TensorMeta view = self;
    view.sizes = sizes;
    // Of nothing there is nothing to copy.
    out.strides = view.numel().is(0) ? view.strides : cloneStrides(view);
  }
  return c.fresh(std::move(out));
}

/// `pad` for all dims but the first one or two; a row-major tensor of what
/// wraps round at most once.
static LogicalResult padCircular(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  Dims pad = c.dims(1);
  size_t kept = self.sizes.size() - pad.size() / 2;
  if (pad.size() % 2 || pad.size() / 2 >= self.sizes.size() || kept > 2)
    return c.fail(FakeError::Dim, "a circular pad of " + Twine(pad.size()) +
                                      " entries does not fit " +
                                      Twine(self.rank()) + " dims");
  Dims sizes = self.sizes;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    Dim &size = sizes[sizes.size() - 1 - i];
    for (Dim p : {pad[2 * i], pad[2 * i + 1]})
      if (c.lt(size, p))
        return c.fail(FakeError::Shape,
                      "a circular pad of " + p.str() + " wraps round dim " +
                          Twine(self.rank() - 1 - static_cast<int64_t>(i)) +
                          " of size " + size.str() + " more than once");
    Dim before = size;
    size = size + pad[2 * i] + pad[2 * i + 1];
    if (c.lt(size, 0))
      return c.fail(FakeError::Shape,
                    "padding size " + before.str() + " of dim " +
                        Twine(self.rank() - 1 - static_cast<int64_t>(i)) +
                        " by " + pad[2 * i].str() + " and " +
                        pad[2 * i + 1].str() + " leaves nothing");
  }
  return fresh(c, self, sizes, false);
}

/// The padded sizes of the last N dims.
template <int64_t N, bool Reflect>
static FailureOr<Dims> paddedSizes(FakeCall &c, const TensorMeta &self,
                                   unsigned padArg) {
  Dims pad = c.dims(padArg);
  if (static_cast<int64_t>(pad.size()) != 2 * N)
    return c.fail(FakeError::Dim, "a pad of " + Twine(N) + " dims has " +
                                      Twine(2 * N) + " entries, not " +
                                      Twine(pad.size()));
  if (self.rank() != N + 1 && self.rank() != N + 2)
    return c.fail(FakeError::Dim, c.schema().base + " needs " + Twine(N + 1) +
                                      " or " + Twine(N + 2) + " dims, " +
                                      c.nameOf(&self) + " has " +
                                      Twine(self.rank()));
  for (int64_t d = self.rank() - N - 1; d < self.rank(); ++d)
    if (c.isEmpty(self.sizes[d]))
      return c.fail(FakeError::Shape, c.schema().base +
                                          " needs a tensor without empty dims "
                                          "apart from the batch, not " +
                                          c.show(self));
  Dims sizes = self.sizes;
  for (int64_t i = 0; i < N; ++i) {
    Dim &size = sizes[self.rank() - 1 - i];
    Dim left = pad[2 * i], right = pad[2 * i + 1];
    if (Reflect && (c.le(size, left) || c.le(size, right)))
      return c.fail(FakeError::Dim,
                    "a reflection of " + left.str() + " and " + right.str() +
                        " needs a size above both at dim " +
                        Twine(self.rank() - 1 - i) + ", not " + size.str());
    size = size + left + right;
    if (c.lt(size, 1))
      return c.fail(FakeError::Dim, "padding dim " +
                                        Twine(self.rank() - 1 - i) + " by " +
                                        left.str() + " and " + right.str() +
                                        " leaves a size of " + size.str());
  }
  return sizes;
}

template <int64_t N, bool Reflect>
static LogicalResult pad(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<Dims> sizes = paddedSizes<N, Reflect>(c, self, 1);
  if (failed(sizes))
    return failure();
  if (!Reflect && self.dtype == DType::Bool)
    return c.fail(FakeError::Unsupported,
                  c.schema().base + " is not defined for bool");
  bool follow = N == 2 ? c.device.kind == Device::Cpu : N == 3;
  return fresh(c, self, *sizes, follow && c.device.kind == Device::Cpu);
}

/// (grad, self, padding)
template <int64_t N, bool Reflect>
static LogicalResult padBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &self = c.tensor(1);
  if (grad.rank() != self.rank())
    return c.fail(FakeError::Dim,
                  c.nameOf(&grad) + " has " + Twine(grad.rank()) + " dims, " +
                      c.nameOf(&self) + " " + Twine(self.rank()));
  FailureOr<Dims> sizes = paddedSizes<N, Reflect>(c, self, 2);
  if (failed(sizes))
    return failure();
  // The kernel of one dim goes by the input's other sizes.
  size_t checked = N == 1 && Reflect ? 1 : sizes->size();
  if (!c.sameSizes(ArrayRef<Dim>(*sizes).take_back(checked),
                   ArrayRef<Dim>(grad.sizes).take_back(checked)))
    return c.fail(FakeError::Shape, "the gradient " + c.show(grad) +
                                        " does not fit the padded size, " +
                                        dimsText(*sizes) +
                                        unlike(grad.sizes, *sizes));
  return fresh(c, self, self.sizes,
               (N == 2 || (N == 3 && !Reflect)) &&
                   c.device.kind == Device::Cpu);
}

/// pad(self, pad, mode, value): by mode.
static LogicalResult padInMode(FakeCall &c, StringRef mode) {
  if (mode == "constant")
    return constantPad(c);
  size_t spatial = c.dims(1).size() / 2;
  if (mode != "reflect" && mode != "replicate" && mode != "circular")
    return c.fail(FakeError::Other, "'" + mode + "' is no mode of padding");
  bool reflect = mode == "reflect";
  if (mode != "circular" && spatial == 1)
    return reflect ? pad<1, true>(c) : pad<1, false>(c);
  if (mode != "circular" && spatial == 2)
    return reflect ? pad<2, true>(c) : pad<2, false>(c);
  if (mode != "circular" && spatial == 3)
    return reflect ? pad<3, true>(c) : pad<3, false>(c);
  if (mode == "circular")
    return padCircular(c);
  return c.fail(FakeError::Unsupported, "padding of " + Twine(spatial) +
                                            " dims by mode '" + mode + "'");
}

static LogicalResult padByMode(FakeCall &c) { return padInMode(c, c.text(2)); }

/// The same with the mode's number.
static LogicalResult padByNumber(FakeCall &c) {
  static constexpr const char *kModes[] = {"reflect", "replicate", "circular",
                                           "constant"};
  Dim mode = c.dim(2);
  if (!mode.isStatic() || mode.value() < 0 || mode.value() > 3)
    return c.fail(FakeError::Other, mode.str() + " is no mode of padding");
  return padInMode(c, kModes[mode.value()]);
}

//===----------------------------------------------------------------------===//
// im2col and col2im
//===----------------------------------------------------------------------===//

namespace {
struct Blocks {
  Dims kernel, dilation, padding, stride;
};
} // namespace

static FailureOr<Blocks> blocks(FakeCall &c, unsigned first) {
  Dims lists[4];
  for (unsigned i = 0; i < 4; ++i) {
    lists[i] = c.dims(first + i);
    if (lists[i].size() == 1)
      lists[i].push_back(lists[i].front());
    if (lists[i].size() != 2)
      return c.fail(FakeError::Dim, "'" + c.schema().args[first + i].name +
                                        "' needs 2 entries, not " +
                                        Twine(lists[i].size()));
    for (Dim d : lists[i])
      if (c.lt(d, i == 2 ? 0 : 1))
        return c.fail(FakeError::Other, "'" + c.schema().args[first + i].name +
                                            "' has the entry " + d.str());
  }
  return Blocks{lists[0], lists[1], lists[2], lists[3]};
}

static FailureOr<Dim> blockCount(FakeCall &c, const Blocks &b, unsigned i,
                                 Dim size) {
  Dim span = size + b.padding[i] * 2 - b.dilation[i] * (b.kernel[i] - 1) - 1;
  if (c.lt(span, 0))
    return c.fail(FakeError::Shape, "a block of " + b.kernel[i].str() +
                                        " does not fit spatial dim " +
                                        Twine(i) + ", of size " + size.str() +
                                        " padded by " + b.padding[i].str());
  return floorDiv(span, b.stride[i]) + 1;
}

/// [N, C, H, W] → [N, C · kernel, number of blocks]
static LogicalResult im2col(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<Blocks> b = blocks(c, 1);
  if (failed(b))
    return failure();
  if (self.rank() != 3 && self.rank() != 4)
    return c.fail(FakeError::Dim, "im2col needs 3 or 4 dims, " +
                                      c.nameOf(&self) + " has " +
                                      Twine(self.rank()));
  for (int64_t d = self.rank() - 3; d < self.rank(); ++d)
    if (c.isEmpty(self.sizes[d]))
      return c.fail(FakeError::Dim, "im2col needs a tensor without empty dims "
                                    "apart from the batch, not " +
                                        c.show(self));
  FailureOr<Dim> h = blockCount(c, *b, 0, self.sizes[self.rank() - 2]);
  FailureOr<Dim> w = blockCount(c, *b, 1, self.sizes[self.rank() - 1]);
  if (failed(h) || failed(w))
    return failure();
  Dims sizes(self.sizes.begin(), self.sizes.end() - 3);
  sizes.push_back(self.sizes[self.rank() - 3] * b->kernel[0] * b->kernel[1]);
  sizes.push_back(*h * *w);
  return fresh(c, self, sizes, false);
}

/// [N, C · kernel, number of blocks] → [N, C, H, W]
static LogicalResult col2im(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  Dims output = c.dims(1);
  if (output.size() != 2)
    return c.fail(FakeError::Dim,
                  "'output_size' needs 2 entries, not " + Twine(output.size()));
  FailureOr<Blocks> b = blocks(c, 2);
  if (failed(b))
    return failure();
  if (self.rank() != 2 && self.rank() != 3)
    return c.fail(FakeError::Dim, "col2im needs 2 or 3 dims, " +
                                      c.nameOf(&self) + " has " +
                                      Twine(self.rank()));
  Dim rows = self.sizes[self.rank() - 2], columns = self.sizes.back();
  if (c.isEmpty(rows) || c.isEmpty(columns))
    return c.fail(FakeError::Dim, "col2im needs a tensor without empty dims "
                                  "apart from the batch, not " +
                                      c.show(self));
  Dim kernel = b->kernel[0] * b->kernel[1];
  if (c.lt(kernel, b->kernel[0]))
    return c.fail(FakeError::Other, "the blocks are too large");
  if (!c.mustEq(mod(rows, kernel), 0))
    return c.fail(FakeError::Shape, rows.str() +
                                        " rows are no multiple of a block's " +
                                        kernel.str() + " elements");
  FailureOr<Dim> h = blockCount(c, *b, 0, output[0]);
  FailureOr<Dim> w = blockCount(c, *b, 1, output[1]);
  if (failed(h) || failed(w))
    return failure();
  if (!c.mustEq(*h * *w, columns))
    return c.fail(FakeError::Shape, "the output has " + (*h * *w).str() +
                                        " blocks, the input " + columns.str());
  Dims sizes(self.sizes.begin(), self.sizes.end() - 2);
  sizes.push_back(floorDiv(rows, kernel));
  sizes.append(output.begin(), output.end());
  // The result is cropped from the padded one; nothing to copy, no new layout.
  TensorMeta out = TensorMeta::contiguous(self.dtype, sizes, c.device);
  if (out.numel().is(0)) {
    Dims padded = sizes;
    padded[padded.size() - 2] = output[0] + b->padding[0] * 2;
    padded.back() = output[1] + b->padding[1] * 2;
    out.strides = contiguousStrides(padded);
  }
  return c.fresh(std::move(out));
}

ArrayRef<FakeRuleRow> padRules() {
  static const FakeRuleRow rows[] = {
      {"_pad_circular.default", padCircular},
      {"_pad_enum.default", padByNumber},
      {"col2im.default", col2im},
      {"constant_pad_nd.default", constantPad},
      {"im2col.default", im2col},
      {"pad.default", padByMode},
      {"reflection_pad1d.default", pad<1, true>},
      {"reflection_pad1d_backward.default", padBackward<1, true>},
      {"reflection_pad2d.default", pad<2, true>},
      {"reflection_pad2d_backward.default", padBackward<2, true>},
      {"reflection_pad3d.default", pad<3, true>},
      {"reflection_pad3d_backward.default", padBackward<3, true>},
      {"replication_pad1d.default", pad<1, false>},
      {"replication_pad1d_backward.default", padBackward<1, false>},
      {"replication_pad2d.default", pad<2, false>},
      {"replication_pad2d_backward.default", padBackward<2, false>},
      {"replication_pad3d.default", pad<3, false>},
      {"replication_pad3d_backward.default", padBackward<3, false>},
  };
  return rows;
}

} // namespace ft
