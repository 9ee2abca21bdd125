//===- Upsample.cpp - Resizing and grid sampling ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"

#include <cmath>

using namespace llvm;

namespace ft {

namespace {
/// Which kernels keep channels last.
enum class Follow : uint8_t { Never, Cpu, Always, Nearest };
} // namespace

static TensorMeta resized(FakeCall &c, const TensorMeta &like,
                          ArrayRef<Dim> sizes, Follow follow) {
  TensorMeta out = TensorMeta::contiguous(like.dtype, sizes, c.device);
  bool cpu = c.device.kind == Device::Cpu;
  // The CUDA kernel of nearest resizing needs at least 4 channels.
  bool few = sizes.size() > 1 && sizes[1].isStatic() && sizes[1].value() < 4;
  bool keeps = follow == Follow::Always || (follow == Follow::Cpu && cpu) ||
               (follow == Follow::Nearest && (cpu || !few));
  if (keeps)
    out.strides = followingStrides(sizes, like);
  return out;
}

static LogicalResult checkInput(FakeCall &c, const TensorMeta &self,
                                int64_t spatial) {
  if (self.rank() != spatial + 2)
    return c.fail(FakeError::Dim,
                  c.schema().base + " needs " + Twine(spatial + 2) + " dims, " +
                      c.nameOf(&self) + " has " + Twine(self.rank()));
  for (int64_t d = 1; d < self.rank(); ++d)
    if (c.isEmpty(self.sizes[d]))
      return c.fail(FakeError::Shape, c.schema().base +
                                          " needs a tensor without empty dims "
                                          "apart from the batch, not " +
                                          c.show(self));
  return success();
}

static LogicalResult resizeTo(FakeCall &c, ArrayRef<Dim> wanted,
                              Follow follow) {
  const TensorMeta &self = c.tensor(0);
  if (failed(checkInput(c, self, wanted.size())))
    return failure();
  Dims sizes = {self.sizes[0], self.sizes[1]};
  for (Dim d : wanted) {
    if (c.lt(d, 1))
      return c.fail(FakeError::Shape,
                    "output size " + d.str() + " must be positive");
    sizes.push_back(d);
  }
  return c.fresh(resized(c, self, sizes, follow));
}

/// (self, output_size, …)
template <unsigned N, Follow F>
static LogicalResult upsample(FakeCall &c) {
  Dims wanted = c.dims(1);
  if (wanted.size() != N)
    return c.fail(FakeError::Dim, "'output_size' has " + Twine(wanted.size()) +
                                      " entries for " + Twine(N) + " dims");
  return resizeTo(c, wanted, F);
}

/// size * scale rounded down, for scales such as 2, 0.5 and 1.25, whose
/// products with any size are exact in double. Those of 0.7 are rounded before
/// they are cut: 10 * 0.7 is 7, of which no arithmetic on whole numbers knows.
static std::optional<Dim> timesDyadic(Dim size, double scale) {
  constexpr int kMostBits = 20;
  double whole = std::ldexp(scale, kMostBits);
  if (!(scale > 0 && scale < 4096) || whole != std::floor(whole))
    return std::nullopt;
  auto numerator = static_cast<int64_t>(whole), denominator = int64_t(1)
                                                              << kMostBits;
  while (numerator % 2 == 0 && denominator > 1) {
    numerator /= 2;
    denominator /= 2;
  }
  return floorDiv(size * numerator, denominator);
}

/// (input, output_size?, …, scale_factors?)
template <unsigned N, Follow F>
static LogicalResult upsampleVec(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  unsigned scaleArg = c.arguments().size() - 1;
  if (c.isNone(1) == c.isNone(scaleArg))
    return c.fail(FakeError::Other, "give either output_size or scale_factors");
  if (!c.isNone(1))
    return upsample<N, F>(c);
  const std::vector<Arg> &scales = c.arg(scaleArg).list;
  if (scales.size() != N || self.rank() != N + 2)
    return c.fail(FakeError::Dim, "'scale_factors' has " +
                                      Twine(scales.size()) + " entries for " +
                                      Twine(self.rank() - 2) + " dims");
  Dims wanted;
  for (unsigned i = 0; i < N; ++i) {
    double scale = scales[i].kind == Arg::Int
                       ? static_cast<double>(scales[i].dim.value())
                       : scales[i].real;
    Dim size = self.sizes[i + 2];
    if (size.isStatic())
      wanted.push_back(
          static_cast<int64_t>(static_cast<double>(size.value()) * scale));
    else if (std::optional<Dim> scaled = timesDyadic(size, scale))
      wanted.push_back(*scaled);
    else
      return c.fail(FakeError::Undecided,
                    "the size " + size.str() + " times " +
                        std::to_string(scale) +
                        " is no expression of whole numbers");
  }
  return resizeTo(c, wanted, F);
}

/// (grad, output_size, input_size, …)
template <unsigned N, Follow F>
static LogicalResult upsampleBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0);
  Dims output = c.dims(1), input = c.dims(2);
  if (output.size() != N || input.size() != N + 2)
    return c.fail(FakeError::Dim, "output_size and input_size have " +
                                      Twine(output.size()) + " and " +
                                      Twine(input.size()) + " entries");
  Dims full = {input[0], input[1]};
  full.append(output.begin(), output.end());
  if (grad.rank() != N + 2)
    return c.fail(FakeError::Dim, "the gradient needs " + Twine(N + 2) +
                                      " dims, it has " + Twine(grad.rank()));
  if (!c.sameSizes(grad.sizes, full))
    return c.fail(FakeError::Shape,
                  "the gradient " + c.show(grad) +
                      " does not have the size of the output, " +
                      dimsText(full) + unlike(grad.sizes, full));
  ArrayRef<Dim> spatial = ArrayRef<Dim>(input).drop_front(2);
  for (ArrayRef<Dim> list : {spatial, ArrayRef<Dim>(output)})
    if (is_contained(list, Dim(0)))
      return c.fail(FakeError::Shape,
                    "input and output sizes must be positive, they are " +
                        TensorMeta::contiguous(grad.dtype, input).str() +
                        " and " + c.show(grad));
  return c.fresh(resized(c, grad, input, F));
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

static LogicalResult checkGrid(FakeCall &c, const TensorMeta &input,
                               const TensorMeta &grid, int64_t spatial) {
  if (input.rank() != spatial + 2 || grid.rank() != spatial + 2)
    return c.fail(FakeError::Dim, "grid_sampler needs " + Twine(spatial + 2) +
                                      " dims, not " + Twine(input.rank()) +
                                      " and " + Twine(grid.rank()));
  if (!c.mustEq(input.sizes[0], grid.sizes[0]))
    return c.fail(FakeError::Shape,
                  "the batch sizes differ: " + c.sizeAt(input, 0) + ", " +
                      c.sizeAt(grid, 0));
  if (!c.mustEq(grid.sizes.back(), spatial))
    return c.fail(FakeError::Shape,
                  c.sizeAt(grid, -1) + ", it must be " + Twine(spatial));
  for (int64_t d = 2; d < input.rank(); ++d)
    if (c.isEmpty(input.sizes[d]))
      return c.fail(FakeError::Shape, "dim " + Twine(d) + " of the input " +
                                          c.show(input) + " is empty");
  return success();
}

template <int64_t N>
static LogicalResult gridSampler(FakeCall &c) {
  const TensorMeta &input = c.tensor(0), &grid = c.tensor(1);
  if (failed(checkGrid(c, input, grid, N)))
    return failure();
  constexpr int64_t kBicubic = 2;
  if (N == 3 && c.dim(2).is(kBicubic))
    return c.fail(FakeError::Dim, "bicubic interpolation needs an input of 4 "
                                  "dims, it has 5");
  if (input.dtype != grid.dtype && c.device.kind == Device::Cpu)
    return c.fail(FakeError::Dtype, "the input is " + dtypeName(input.dtype) +
                                        ", the grid " + dtypeName(grid.dtype));
  Dims sizes = {input.sizes[0], input.sizes[1]};
  sizes.append(grid.sizes.begin() + 1, grid.sizes.end() - 1);
  return c.fresh(TensorMeta::contiguous(input.dtype, sizes, c.device));
}

static LogicalResult gridSamplerAny(FakeCall &c) {
  return c.tensor(0).rank() == 5 ? gridSampler<3>(c) : gridSampler<2>(c);
}

/// (grad, input, grid, …, output_mask)
template <int64_t N>
static LogicalResult gridSamplerBackward(FakeCall &c) {
  const TensorMeta &input = c.tensor(1), &grid = c.tensor(2);
  if (failed(checkGrid(c, input, grid, N)))
    return failure();
  const std::vector<Arg> &mask = c.arg(6).list;
  if (mask.empty() || mask[0].boolean)
    (void)c.fresh(TensorMeta::contiguous(input.dtype, input.sizes, c.device));
  else
    (void)c.undefined();
  return c.fresh(TensorMeta::contiguous(grid.dtype, grid.sizes, c.device));
}

static LogicalResult affineGrid(FakeCall &c) {
  const TensorMeta &theta = c.tensor(0);
  Dims size = c.dims(1);
  if (size.size() != 4 && size.size() != 5)
    return c.fail(FakeError::Dim, "affine_grid_generator makes grids of 4 or 5 "
                                  "dims, not " +
                                      Twine(size.size()));
  Dims out = {size[0]};
  out.append(size.begin() + 2, size.end());
  out.push_back(static_cast<int64_t>(size.size()) - 2);
  return c.fresh(TensorMeta::contiguous(theta.dtype, out, c.device));
}

ArrayRef<FakeRuleRow> upsampleRules() {
  using enum Follow;
  static const FakeRuleRow rows[] = {
      {"_upsample_bicubic2d_aa.default", upsample<2, Cpu>},
      {"_upsample_bicubic2d_aa.vec", upsampleVec<2, Cpu>},
      {"_upsample_bicubic2d_aa_backward.default", upsampleBackward<2, Always>},
      {"_upsample_bilinear2d_aa.default", upsample<2, Cpu>},
      {"_upsample_bilinear2d_aa.vec", upsampleVec<2, Cpu>},
      {"_upsample_bilinear2d_aa_backward.default", upsampleBackward<2, Always>},
      {"_upsample_lanczos2d_aa.default", upsample<2, Cpu>},
      {"_upsample_lanczos2d_aa.vec", upsampleVec<2, Cpu>},
      {"_upsample_lanczos2d_aa_backward.default", upsampleBackward<2, Never>},
      {"_upsample_nearest_exact1d.default", upsample<1, Never>},
      {"_upsample_nearest_exact1d.vec", upsampleVec<1, Never>},
      {"_upsample_nearest_exact1d_backward.default",
       upsampleBackward<1, Never>},
      {"_upsample_nearest_exact2d.default", upsample<2, Nearest>},
      {"_upsample_nearest_exact2d.vec", upsampleVec<2, Nearest>},
      {"_upsample_nearest_exact2d_backward.default",
       upsampleBackward<2, Always>},
      {"_upsample_nearest_exact3d.default", upsample<3, Always>},
      {"_upsample_nearest_exact3d.vec", upsampleVec<3, Always>},
      {"_upsample_nearest_exact3d_backward.default",
       upsampleBackward<3, Never>},
      {"affine_grid_generator.default", affineGrid},
      {"grid_sampler.default", gridSamplerAny},
      {"grid_sampler_2d.default", gridSampler<2>},
      {"grid_sampler_2d_backward.default", gridSamplerBackward<2>},
      {"grid_sampler_3d.default", gridSampler<3>},
      {"grid_sampler_3d_backward.default", gridSamplerBackward<3>},
      {"upsample_bicubic2d.default", upsample<2, Cpu>},
      {"upsample_bicubic2d.vec", upsampleVec<2, Cpu>},
      {"upsample_bicubic2d_backward.default", upsampleBackward<2, Never>},
      {"upsample_bilinear2d.default", upsample<2, Cpu>},
      {"upsample_bilinear2d.vec", upsampleVec<2, Cpu>},
      {"upsample_bilinear2d_backward.default", upsampleBackward<2, Always>},
      {"upsample_linear1d.default", upsample<1, Never>},
      {"upsample_linear1d.vec", upsampleVec<1, Never>},
      {"upsample_linear1d_backward.default", upsampleBackward<1, Never>},
      {"upsample_nearest1d.default", upsample<1, Never>},
      {"upsample_nearest1d.vec", upsampleVec<1, Never>},
      {"upsample_nearest1d_backward.default", upsampleBackward<1, Never>},
      {"upsample_nearest2d.default", upsample<2, Nearest>},
      {"upsample_nearest2d.vec", upsampleVec<2, Nearest>},
      {"upsample_nearest2d_backward.default", upsampleBackward<2, Always>},
      {"upsample_nearest3d.default", upsample<3, Always>},
      {"upsample_nearest3d.vec", upsampleVec<3, Always>},
      {"upsample_nearest3d_backward.default", upsampleBackward<3, Never>},
      {"upsample_trilinear3d.default", upsample<3, Always>},
      {"upsample_trilinear3d.vec", upsampleVec<3, Always>},
      {"upsample_trilinear3d_backward.default", upsampleBackward<3, Always>},
  };
  return rows;
}

} // namespace ft
