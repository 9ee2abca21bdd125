//===- ShapeSamplers.cpp - Arguments of views, joins, pads, factories -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

#include <numeric>

using namespace ft;
using namespace ft::random;

/// A shape of `n` elements.
static Shape factored(Sampler &s, int64_t n) {
  Shape shape;
  if (n == 0)
    return {s.rng.between(0, 3), 0, s.rng.between(1, 3)};
  while (n > 1 && shape.size() < 5) {
    int64_t d = std::min<int64_t>(n, s.rng.between(1, 6));
    while (n % d)
      --d;
    shape.push_back(d);
    n /= d;
    if (s.rng.chance(20))
      break;
  }
  if (n > 1 || s.rng.chance(20))
    shape.push_back(n);
  return shape;
}

static bool view(Sampler &s) {
  int self = s.any();
  s.set(0, self);
  Shape shape = factored(s, s.program.values[self].data.numel());
  if (!shape.empty() && s.rng.chance(25) &&
      s.program.values[self].data.numel() > 0)
    shape[s.rng.between(0, shape.size() - 1)] = -1;
  s.setInts(1, shape);
  return true;
}

static bool permute(Sampler &s) {
  int self = s.any();
  s.set(0, self);
  Shape order(s.meta(self).rank());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i-- > 1;)
    std::swap(order[i], order[s.rng.between(0, i)]);
  s.setInts(1, order);
  return true;
}

static bool movedim(Sampler &s) {
  int self = s.any(1);
  s.set(0, self);
  Shape from(s.meta(self).rank()), to;
  std::iota(from.begin(), from.end(), 0);
  to = from;
  for (size_t i = from.size(); i-- > 1;) {
    std::swap(from[i], from[s.rng.between(0, i)]);
    std::swap(to[i], to[s.rng.between(0, i)]);
  }
  size_t count = s.rng.between(1, from.size());
  s.setInts(1, llvm::ArrayRef(from).take_front(count));
  s.setInts(2, llvm::ArrayRef(to).take_front(count));
  return true;
}

static bool expand(Sampler &s) {
  Shape large = s.shape(0, 4), small = large;
  for (int64_t &size : small)
    if (s.rng.chance(50))
      size = 1;
  while (!small.empty() && s.rng.chance(25))
    small.erase(small.begin());
  s.set(0, s.tensor(s.dtype(), small));
  for (size_t d = 0; d < small.size(); ++d)
    if (s.rng.chance(25))
      large[large.size() - 1 - d] = -1;
  if (s.schema.base == "broadcast_to" || s.schema.base.starts_with("expand"))
    s.setInts(1, large);
  s.guessRest(2, -1);
  return true;
}

static bool slice(Sampler &s) {
  int self = s.any(1);
  bool scatter = s.schema.base == "slice_scatter";
  int64_t rank = s.meta(self).rank(), dim = s.rng.between(0, rank - 1);
  int64_t size = s.shapeOf(self)[dim];
  int64_t start = s.rng.between(-size - 1, size + 1);
  int64_t end = s.rng.between(-size - 1, size + 2);
  int64_t step = s.rng.chance(60) ? 1 : s.rng.between(2, 3);
  bool noStart = s.rng.chance(30), noEnd = s.rng.chance(40);
  s.set(0, self);
  unsigned next = 1;
  if (scatter) {
    auto clamped = [&](int64_t x) {
      return std::clamp<int64_t>(x < 0 ? x + size : x, 0, size);
    };
    int64_t a = noStart ? 0 : clamped(start), b = noEnd ? size : clamped(end);
    Shape part = s.shapeOf(self);
    part[dim] = std::max<int64_t>((b - a + step - 1) / step, 0);
    s.set(next++, s.tensor(s.dtypeOf(self), part));
  }
  s.setInt(next++, dim);
  if (!noStart)
    s.setInt(next, start);
  ++next;
  if (!noEnd)
    s.setInt(next, end);
  s.setInt(next + 1, step);
  return true;
}

static bool narrow(Sampler &s) {
  int self = s.any(1);
  int64_t dim = s.rng.between(0, s.meta(self).rank() - 1);
  int64_t size = s.shapeOf(self)[dim], start = s.rng.between(0, size);
  s.set(0, self);
  s.setInt(1, dim);
  s.setInt(2, start);
  s.setInt(3, s.rng.between(0, size - start));
  return true;
}

static bool select(Sampler &s) {
  int self = s.any(1);
  int64_t dim = s.rng.between(0, s.meta(self).rank() - 1);
  int64_t size = s.shapeOf(self)[dim];
  if (size == 0)
    return false;
  s.set(0, self);
  unsigned next = 1;
  if (s.schema.base == "select_scatter") {
    Shape part = s.shapeOf(self);
    part.erase(part.begin() + dim);
    s.set(next++, s.tensor(s.dtypeOf(self), part));
  }
  s.setInt(next, dim);
  s.setInt(next + 1, s.rng.between(-size, size - 1));
  return true;
}

static bool selectBackward(Sampler &s) {
  Shape shape = s.shape(1, 4), part = shape;
  int64_t dim = s.rng.between(0, shape.size() - 1);
  if (shape[dim] == 0)
    return false;
  part.erase(part.begin() + dim);
  s.set(0, s.tensor(s.dtype(), part));
  s.setInts(1, shape);
  s.setInt(2, dim);
  s.setInt(3, s.rng.between(-shape[dim], shape[dim] - 1));
  return true;
}

static bool split(Sampler &s) {
  int self = s.any(1);
  int64_t dim = s.rng.between(0, s.meta(self).rank() - 1);
  int64_t size = s.shapeOf(self)[dim];
  s.set(0, self);
  s.setInt(1, s.rng.between(1, std::max<int64_t>(size, 1)));
  if (s.args.size() > 2)
    s.setInt(2, dim);
  return size <= 8;
}

static bool splitSizes(Sampler &s) {
  int self = s.any(1);
  int64_t dim = s.rng.between(0, s.meta(self).rank() - 1);
  int64_t left = s.shapeOf(self)[dim];
  Shape sizes;
  while (left > 0 && sizes.size() < 3) {
    sizes.push_back(s.rng.between(0, left));
    left -= sizes.back();
  }
  sizes.push_back(left);
  s.set(0, self);
  s.setInts(1, sizes);
  if (s.args.size() > 2)
    s.setInt(2, dim);
  return true;
}

static bool unbind(Sampler &s) {
  int self = s.any(1);
  int64_t dim = s.dim(s.meta(self).rank());
  if (s.shapeOf(self)[dim < 0 ? dim + s.meta(self).rank() : dim] > 6)
    return false;
  s.set(0, self);
  s.setInt(1, dim);
  return true;
}

static bool asStrided(Sampler &s) {
  int64_t n = s.rng.between(1, 40);
  s.set(0, s.input(s.dtype(), {n}));
  if (!isContiguous(s.meta(s.operands[0])))
    return false;
  Shape size, stride;
  bool here = s.args.size() < 4;
  int64_t reach = 0;
  int64_t offset = here ? 0 : s.rng.between(0, std::min<int64_t>(n - 1, 3));
  for (int64_t d = 0, rank = s.rng.between(0, 3); d < rank; ++d) {
    int64_t step = s.rng.between(0, 4);
    int64_t most = step ? (n - 1 - offset - reach) / step : 3;
    size.push_back(s.rng.between(1, std::min<int64_t>(most + 1, 5)));
    stride.push_back(step);
    reach += step * (size.back() - 1);
  }
  s.setInts(1, size);
  s.setInts(2, stride);
  if (!here)
    s.setInt(3, offset);
  return true;
}

static bool unfold(Sampler &s) {
  int self = s.any(1, 4);
  int64_t dim = s.rng.between(0, s.meta(self).rank() - 1);
  int64_t size = s.shapeOf(self)[dim];
  s.set(0, self);
  s.setInt(1, dim);
  s.setInt(2, s.rng.between(1, std::max<int64_t>(size, 1)));
  s.setInt(3, s.rng.between(1, 3));
  return size > 0;
}

static bool flatten(Sampler &s) {
  int self = s.any();
  int64_t rank = std::max<int64_t>(s.meta(self).rank(), 1);
  int64_t start = s.rng.between(0, rank - 1);
  s.set(0, self);
  s.setInt(1, start);
  s.setInt(2, s.rng.between(start, rank - 1));
  return true;
}

static bool unflatten(Sampler &s) {
  int self = s.any(1, 4);
  int64_t dim = s.rng.between(0, s.meta(self).rank() - 1);
  s.set(0, self);
  s.setInt(1, dim);
  Shape sizes = factored(s, s.shapeOf(self)[dim]);
  if (sizes.empty())
    sizes = {1};
  s.setInts(2, sizes);
  return true;
}

static bool sameNumber(Sampler &s) { // view_as, reshape_as, expand_as
  int self = s.any(0, 4);
  s.set(0, self);
  Shape other = s.schema.base == "expand_as"
                    ? s.shapeOf(self)
                    : factored(s, s.program.values[self].data.numel());
  s.set(1, s.tensor(s.dtype(), other));
  return true;
}

static bool rollOrFlip(Sampler &s) {
  int self = s.any();
  s.set(0, self);
  Shape dims, shifts;
  for (int64_t d = 0; d < s.meta(self).rank(); ++d)
    if (s.rng.chance(50)) {
      dims.push_back(d);
      shifts.push_back(s.rng.between(-7, 7));
    }
  if (s.schema.base == "flip") {
    s.setInts(1, dims);
    return true;
  }
  if (dims.empty())
    shifts = {s.rng.between(-5, 5)};
  s.setInts(1, shifts);
  s.setInts(2, dims);
  return true;
}

static bool rot90(Sampler &s) {
  int self = s.any(2);
  int64_t rank = s.meta(self).rank(), a = s.rng.between(0, rank - 1);
  s.set(0, self);
  s.setInt(1, s.rng.between(-5, 5));
  s.setInts(2, {a, (a + s.rng.between(1, rank - 1)) % rank});
  return true;
}

static bool repeat(Sampler &s) {
  int self = s.any(0, 3);
  s.set(0, self);
  Shape repeats;
  int64_t extra = s.rng.between(0, 1);
  if (s.schema.base == "tile" && s.rng.chance(30))
    extra = -1;
  for (int64_t d = 0; d < s.meta(self).rank() + extra; ++d)
    repeats.push_back(s.rng.chance(5) ? 0 : s.rng.between(1, 3));
  s.setInts(1, repeats);
  return true;
}

static bool pixelShuffle(Sampler &s) {
  int64_t r = s.rng.between(1, 3);
  bool un = s.schema.base == "pixel_unshuffle";
  Shape shape = s.rng.chance(50) ? Shape{s.rng.between(1, 2)} : Shape{};
  int64_t c = s.rng.between(1, 3), h = s.rng.between(1, 4),
          w = s.rng.between(1, 4);
  shape.insert(shape.end(),
               {un ? c : c * r * r, un ? h * r : h, un ? w * r : w});
  s.set(0, s.tensor(s.dtype(), shape));
  s.setInt(1, r);
  return true;
}

static bool channelShuffle(Sampler &s) {
  int64_t groups = s.rng.between(1, 3);
  s.set(0, s.tensor(s.floatType(),
                    {s.rng.between(1, 2), groups * s.rng.between(1, 3),
                     s.rng.between(1, 4), s.rng.between(1, 4)}));
  s.setInt(1, groups);
  return true;
}

static bool viewAsComplex(Sampler &s) {
  Shape shape = s.shape(0, 3);
  shape.push_back(2);
  s.set(0, s.tensor(s.rng.chance(50) ? DType::F32 : DType::F64, shape));
  return true;
}

static bool viewAsReal(Sampler &s) {
  s.set(0,
        s.tensor(s.rng.chance(50) ? DType::C64 : DType::C128, s.shape(0, 3)));
  return true;
}

static bool cat(Sampler &s) {
  Shape shape = s.shape(1, 4);
  DType type = s.dtype();
  int64_t dim = s.rng.between(0, shape.size() - 1);
  std::vector<int> list;
  for (int64_t k = 0, n = s.rng.between(1, 4); k < n; ++k) {
    Shape part = shape;
    part[dim] = s.size();
    if (s.rng.chance(4))
      part = {0};
    list.push_back(s.tensor(s.rng.chance(85) ? type : s.dtype(), part));
  }
  s.setList(0, list);
  if (s.args.size() > 1)
    s.setInt(1, s.rng.chance(30) ? dim - int64_t(shape.size()) : dim);
  return true;
}

static bool stack(Sampler &s) {
  Shape shape = s.shape(0, 3);
  DType type = s.dtype();
  std::vector<int> list;
  for (int64_t k = 0, n = s.rng.between(1, 4); k < n; ++k)
    list.push_back(s.tensor(s.rng.chance(90) ? type : s.dtype(), shape));
  s.setList(0, list);
  if (s.args.size() > 1)
    s.setInt(1, s.dim(shape.size() + 1));
  return true;
}

static bool meshgrid(Sampler &s) {
  std::vector<int> list;
  DType type = s.dtype();
  for (int64_t k = 0, n = s.rng.between(1, 3); k < n; ++k)
    list.push_back(s.tensor(type, s.shape(0, 1)));
  s.setList(0, list);
  s.guessRest(1, -1);
  return true;
}

static bool blockDiag(Sampler &s) {
  std::vector<int> list;
  DType type = s.dtype();
  for (int64_t k = 0, n = s.rng.between(1, 3); k < n; ++k)
    list.push_back(s.tensor(type, s.shape(0, 2)));
  s.setList(0, list);
  return true;
}

static bool constantPad(Sampler &s) {
  int self = s.any(1, 4);
  Shape pads;
  for (int64_t d = 0, n = s.rng.between(1, s.meta(self).rank()); d < n; ++d) {
    pads.push_back(s.rng.between(-1, 3));
    pads.push_back(s.rng.between(-1, 3));
  }
  s.set(0, self);
  s.setInts(1, pads);
  s.set(2, s.number(s.dtypeOf(self)));
  return true;
}

template <int dims>
static bool borderPad(Sampler &s) {
  Shape shape = s.rng.chance(50) ? Shape{s.rng.between(1, 2)} : Shape{};
  shape.push_back(s.rng.between(1, 3));
  Shape pads;
  for (int d = 0; d < dims; ++d) {
    shape.push_back(s.rng.between(2, 6));
    pads.push_back(0);
    pads.push_back(0);
  }
  for (int d = 0; d < dims; ++d) {
    int64_t size = shape[shape.size() - 1 - d];
    bool reflect = s.schema.base.starts_with("reflection");
    for (int k = 0; k < 2; ++k)
      pads[2 * d + k] = s.rng.between(-1, reflect ? size - 1 : 4);
  }
  DType type = s.floatType();
  if (s.schema.base.ends_with("backward")) {
    Shape padded = shape;
    for (int d = 0; d < dims; ++d)
      padded[padded.size() - 1 - d] += pads[2 * d] + pads[2 * d + 1];
    for (int64_t size : padded)
      if (size < 1)
        return false;
    s.set(0, s.tensor(type, padded));
    s.set(1, s.tensor(type, shape));
    s.setInts(2, pads);
    return true;
  }
  s.set(0, s.tensor(type, shape));
  s.setInts(1, pads);
  return true;
}

static bool im2col(Sampler &s) {
  Shape shape = {s.rng.between(1, 2), s.rng.between(1, 3), s.rng.between(3, 7),
                 s.rng.between(3, 7)};
  Shape kernel = {s.rng.between(1, 3), s.rng.between(1, 3)};
  Shape dilation = {s.rng.between(1, 2), 1};
  Shape padding = {s.rng.between(0, 2), s.rng.between(0, 1)};
  Shape stride = {s.rng.between(1, 2), s.rng.between(1, 3)};
  unsigned next = 1;
  if (s.schema.base == "col2im") {
    int64_t blocks = 1;
    for (int d = 0; d < 2; ++d) {
      int64_t room =
          shape[2 + d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1;
      if (room < 0)
        return false;
      blocks *= room / stride[d] + 1;
    }
    s.set(0, s.tensor(s.floatType(),
                      {shape[0], shape[1] * kernel[0] * kernel[1], blocks}));
    s.setInts(next++, {shape[2], shape[3]});
  } else {
    s.set(0, s.tensor(s.floatType(), shape));
  }
  s.setInts(next, kernel);
  s.setInts(next + 1, dilation);
  s.setInts(next + 2, padding);
  s.setInts(next + 3, stride);
  return true;
}

static bool factory(Sampler &s) {
  for (unsigned i = 0; i < s.args.size(); ++i) {
    const SchemaArg &arg = s.schema.args[i];
    if (arg.name == "size")
      s.setInts(i, s.shape(0, 4));
    else if (arg.name == "dtype")
      s.set(i, s.rng.chance(60) ? Arg::ofDType(s.dtype()) : Arg::none());
    else if (s.schema.isTensorArg(i))
      s.set(i, s.any());
    else if (arg.name == "n" || arg.name == "m" || arg.name == "row" ||
             arg.name == "col" || arg.name == "steps" ||
             arg.name == "window_length")
      s.setInt(i, s.rng.between(0, 7));
    else
      s.guess(i, s.operands.empty() ? -1 : s.operands[0]);
  }
  return true;
}

static bool arange(Sampler &s) {
  bool whole = s.rng.chance(60);
  auto number = [&](int64_t low, int64_t high) {
    return whole ? Arg::integer(s.rng.between(low, high))
                 : Arg::floating(double(s.rng.between(low * 4, high * 4)) / 4);
  };
  unsigned count = s.schema.overload == "default" ? 1 : 2;
  if (count == 2)
    s.set(0, number(-4, 3));
  s.set(count - 1, number(4, 12));
  if (s.schema.overload == "start_step")
    s.set(2, whole ? Arg::integer(s.rng.between(1, 3)) : Arg::floating(0.75));
  int dtype = s.schema.argIndex("dtype");
  for (unsigned i = dtype; i < s.args.size(); ++i)
    s.set(i, Arg::none());
  if (s.rng.chance(40))
    s.set(dtype, Arg::ofDType(s.rng.chance(50) ? s.floatType() : DType::I64));
  return true;
}

static bool convert(Sampler &s) {
  s.set(0, s.any());
  for (unsigned i = 1; i < s.args.size(); ++i) {
    const SchemaArg &arg = s.schema.args[i];
    s.set(i, arg.name == "dtype"    ? Arg::ofDType(s.dtype())
             : arg.hasDefault       ? arg.defaultValue
             : arg.name == "device" ? Arg::ofDevice({})
                                    : Arg::none());
  }
  return true;
}

static bool reduceDims(Sampler &s) {
  int self = s.any(0, 5, s.rng.chance(50));
  s.set(0, self);
  s.guessRest(1, self);
  int dim = s.schema.argIndex("dim");
  if (dim > 0 && s.args[dim].isNone() && !s.schema.args[dim].type.optional)
    s.setInts(dim, {});
  int dtype = s.schema.argIndex("dtype");
  if (dtype > 0 && s.schema.args[dtype].type.optional && s.rng.chance(70))
    s.set(dtype, Arg::none());
  for (const char *name : {"p", "ord"})
    if (int p = s.schema.argIndex(name); p > 0) {
      static const double kOrders[] = {2, 1, 0, 3, HUGE_VAL, -HUGE_VAL, 0.5};
      s.set(p, Arg::floating(s.rng.of(kOrders)));
    }
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::shapeSamplers() {
  static const SamplerRow rows[] = {
      {"view view_copy reshape _unsafe_view _reshape_copy", view},
      {"permute permute_copy", permute},
      {"movedim.intlist moveaxis.intlist", movedim},
      {"expand expand_copy broadcast_to", expand},
      {"slice.Tensor slice_copy.Tensor slice_scatter", slice},
      {"narrow narrow_copy", narrow},
      {"select.int select_copy.int select_scatter", select},
      {"select_backward", selectBackward},
      {"split.Tensor split_copy.Tensor unsafe_split.Tensor chunk unsafe_chunk "
       "tensor_split.sections",
       split},
      {"split_with_sizes split_with_sizes_copy split.sizes "
       "unsafe_split_with_sizes",
       splitSizes},
      {"unbind.int unbind_copy.int", unbind},
      {"as_strided as_strided_copy _reshape_alias _reshape_alias_copy",
       asStrided},
      {"unfold unfold_copy", unfold},
      {"flatten.using_ints", flatten},
      {"unflatten.int", unflatten},
      {"view_as reshape_as expand_as", sameNumber},
      {"roll flip", rollOrFlip},
      {"rot90", rot90},
      {"repeat tile", repeat},
      {"pixel_shuffle pixel_unshuffle", pixelShuffle},
      {"channel_shuffle native_channel_shuffle", channelShuffle},
      {"view_as_complex view_as_complex_copy", viewAsComplex},
      {"view_as_real view_as_real_copy imag", viewAsReal},
      {"cat concat concatenate", cat},
      {"stack hstack vstack dstack column_stack row_stack", stack},
      {"meshgrid meshgrid.indexing", meshgrid},
      {"block_diag", blockDiag},
      {"constant_pad_nd", constantPad},
      {"reflection_pad1d replication_pad1d reflection_pad1d_backward "
       "replication_pad1d_backward",
       borderPad<1>},
      {"reflection_pad2d replication_pad2d reflection_pad2d_backward "
       "replication_pad2d_backward",
       borderPad<2>},
      {"reflection_pad3d replication_pad3d reflection_pad3d_backward "
       "replication_pad3d_backward",
       borderPad<3>},
      {"im2col col2im", im2col},
      {"full zeros ones new_full new_zeros new_ones eye eye.m tril_indices "
       "triu_indices full_like zeros_like ones_like scalar_tensor linspace "
       "bartlett_window bartlett_window.periodic blackman_window "
       "blackman_window.periodic hann_window hann_window.periodic "
       "hamming_window hamming_window.periodic hamming_window.periodic_alpha "
       "hamming_window.periodic_alpha_beta kaiser_window "
       "kaiser_window.periodic kaiser_window.beta fft_fftfreq fft_rfftfreq",
       factory},
      {"arange arange.start arange.start_step", arange},
      {"_to_copy to.dtype to.device clone contiguous", convert},
      {"sum sum.dim_IntList nansum mean mean.dim nanmean prod prod.dim_int "
       "linalg_vector_norm norm.Scalar norm.ScalarOpt_dim "
       "norm.ScalarOpt_dim_dtype norm.ScalarOpt_dtype logsumexp "
       "special_logsumexp",
       reduceDims},
  };
  return rows;
}
