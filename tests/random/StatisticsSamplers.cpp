//===- StatisticsSamplers.cpp - Arguments of statistics and grids ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

using namespace ft;
using namespace ft::random;

static DType realType(Sampler &s) {
  return s.rng.chance(70) ? DType::F32 : DType::F64;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// (grad?, input, grid, mode, padding, align_corners, mask?)
template <int dims>
static bool gridSample(Sampler &s) {
  bool backward = s.schema.base.ends_with("backward");
  int64_t batch = s.rng.between(1, 2), channels = s.rng.between(1, 3);
  Shape image = {batch, channels}, points = {batch}, out = {batch, channels};
  for (int d = 0; d < dims; ++d) {
    image.push_back(s.rng.between(1, 5));
    points.push_back(s.rng.between(1, 4));
    out.push_back(points.back());
  }
  points.push_back(dims);
  DType type = realType(s);
  unsigned next = 0;
  if (backward)
    s.set(next++, s.tensor(type, out));
  s.set(next, s.tensor(type, image));
  s.set(next + 1, s.reals(type, points, -1.4, 1.4));
  s.setInt(next + 2, s.rng.between(0, dims == 2 ? 2 : 1));
  s.setInt(next + 3, s.rng.between(0, 2));
  s.setBool(next + 4);
  if (backward)
    s.set(next + 5, Arg::listOf({Arg::truth(true), Arg::truth(true)}));
  return true;
}

/// (theta or grad, size, align_corners)
static bool affineGrid(Sampler &s) {
  int64_t dims = s.rng.between(2, 3);
  Shape size = {s.rng.between(1, 2), s.rng.between(1, 3)};
  Shape theta = {size[0], dims, dims + 1}, grid = {size[0]};
  for (int64_t d = 0; d < dims; ++d) {
    size.push_back(s.rng.between(1, 4));
    grid.push_back(size.back());
  }
  grid.push_back(dims);
  bool backward = s.schema.base.ends_with("backward");
  s.set(0, s.tensor(realType(s), backward ? grid : theta));
  s.setInts(1, size);
  s.setBool(2);
  return true;
}

//===----------------------------------------------------------------------===//
// Quantiles, areas, differences
//===----------------------------------------------------------------------===//

static bool quantile(Sampler &s) {
  static const char *const kModes[] = {"linear", "lower", "higher", "midpoint",
                                       "nearest"};
  int x = s.tensor(realType(s), s.shape(0, 3));
  s.set(0, x);
  if (s.schema.overload == "scalar")
    s.set(1, Arg::floating(double(s.rng.between(0, 8)) / 8));
  else
    s.set(1, s.reals(s.dtypeOf(x),
                     s.rng.chance(30) ? Shape{} : Shape{s.rng.between(1, 3)}, 0,
                     1));
  if (s.rng.chance(70))
    s.setInt(2, s.dim(s.meta(x).rank()));
  s.setBool(3);
  s.set(4, Arg::string(s.rng.of(kModes)));
  return true;
}

static bool trapezoid(Sampler &s) {
  DType type = realType(s);
  Shape shape = s.shape(1, 3);
  int64_t dim = s.rng.between(0, shape.size() - 1);
  s.set(0, s.tensor(type, shape));
  if (s.schema.overload == "x")
    s.set(1, s.tensor(type, s.rng.chance(50) ? shape : Shape{shape[dim]}));
  else
    s.set(1, Arg::floating(double(s.rng.between(1, 8)) / 4));
  s.setInt(2, s.rng.chance(50) ? dim : dim - int64_t(shape.size()));
  return true;
}

static bool gradient(Sampler &s) {
  DType type = realType(s);
  int64_t order = s.rng.between(1, 2);
  Shape shape = s.shape(1, 3);
  for (int64_t &size : shape)
    size = std::max<int64_t>(size, order + 1);
  int x = s.tensor(type, shape);
  s.set(0, x);
  Shape dims;
  int dimArg = s.schema.argIndex("dim"), space = s.schema.argIndex("spacing");
  bool list = s.schema.args[dimArg].type.list;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!list || s.rng.chance(60))
      dims.push_back(d);
  if (dims.empty())
    dims.push_back(0);
  if (list) {
    s.setInts(dimArg, dims);
  } else if (s.rng.chance(50)) {
    dims = {s.rng.between(0, shape.size() - 1)};
    s.setInt(dimArg, dims[0]);
  }
  auto step = [&] { return Arg::floating(double(s.rng.between(1, 8)) / 4); };
  if (space >= 0 && !s.schema.args[space].type.list) {
    s.set(space, step());
  } else if (space >= 0 && s.schema.isTensorArg(space)) {
    std::vector<int> places;
    for (int64_t d : dims) { // in order, apart
      places.push_back(s.reals(type, {shape[d]}, 0, 0.5));
      interpreter::Tensor &at = s.program.values[places.back()].data;
      for (int64_t i = 0; i < shape[d]; ++i)
        at.setReal(i, at.real(i) + double(i));
    }
    s.setList(space, places);
  } else if (space >= 0) {
    std::vector<Arg> steps;
    for (size_t i = 0; i < dims.size(); ++i)
      steps.push_back(step());
    s.set(space, Arg::listOf(steps));
  }
  s.setInt(s.schema.argIndex("edge_order"), order);
  return true;
}

static bool moments(Sampler &s) {
  Shape shape = s.shape(0, 2);
  s.set(0, s.tensor(realType(s), shape));
  if (s.schema.base == "corrcoef")
    return true;
  s.setInt(1, s.rng.between(0, 1));
  Shape own = {shape.empty() ? 1 : shape.back()};
  if (shape.empty())
    own = {};
  if (s.rng.chance(30))
    s.set(2, s.integers(own, {1, 3}));
  if (s.rng.chance(30))
    s.set(3, s.reals(DType::F64, own, 0.25, 2));
  return true;
}

//===----------------------------------------------------------------------===//
// Gradients of running and selecting reductions
//===----------------------------------------------------------------------===//

static bool cumprodBackward(Sampler &s) {
  DType type = realType(s);
  Shape shape = s.shape(1, 3);
  int64_t dim = s.rng.between(0, shape.size() - 1);
  int x = s.tensor(type, shape), product = s.reals(type, shape, 0, 0);
  const interpreter::Tensor &in = s.program.values[x].data;
  interpreter::Tensor &out = s.program.values[product].data;
  interpreter::forEachIndex(shape, [&](interpreter::Index at, int64_t i) {
    Shape before(at.begin(), at.end());
    double p = 1;
    if (before[dim]-- > 0)
      p = out.real(interpreter::flatten(shape, before));
    out.setReal(i, p * in.real(i));
  });
  s.set(0, s.tensor(type, shape));
  s.set(1, x);
  s.setInt(2, dim);
  s.set(3, product);
  return true;
}

static bool cummaxminBackward(Sampler &s) {
  DType type = realType(s);
  Shape shape = s.shape(1, 3);
  int64_t dim = s.rng.between(0, shape.size() - 1);
  s.set(0, s.tensor(type, shape));
  s.set(1, s.tensor(type, shape));
  s.set(2, s.integers(shape, {0, shape[dim] - 1}));
  s.setInt(3, dim);
  return true;
}

static bool selectingBackward(Sampler &s) {
  Shape shape = s.shape(1, 3);
  int64_t dim = s.rng.between(0, shape.size() - 1);
  bool keep = s.rng.chance(50);
  if (shape[dim] == 0)
    return false;
  Shape part = shape;
  if (keep)
    part[dim] = 1;
  else
    part.erase(part.begin() + dim);
  s.set(0, s.tensor(realType(s), part));
  s.setInt(1, dim);
  s.set(2, s.integers(part, {0, shape[dim] - 1}));
  s.setInts(3, shape);
  s.set(4, Arg::truth(keep));
  return true;
}

static bool traceBackward(Sampler &s) {
  s.set(0, s.tensor(realType(s), {}));
  s.setInts(1, {s.rng.between(0, 4), s.rng.between(0, 4)});
  return true;
}

static bool diagonalBackward(Sampler &s) {
  Shape shape = s.shape(2, 4), part;
  int64_t rank = shape.size(), offset = s.rng.between(-2, 2);
  int64_t d1 = s.rng.between(0, rank - 1), d2 = s.rng.between(0, rank - 2);
  d2 += d2 >= d1;
  for (int64_t d = 0; d < rank; ++d)
    if (d != d1 && d != d2)
      part.push_back(shape[d]);
  int64_t length = offset >= 0 ? std::min(shape[d1], shape[d2] - offset)
                               : std::min(shape[d1] + offset, shape[d2]);
  part.push_back(std::max<int64_t>(length, 0));
  bool scatter = s.schema.base == "diagonal_scatter";
  DType type = s.dtype();
  if (scatter)
    s.set(0, s.tensor(type, shape));
  s.set(scatter ? 1 : 0, s.tensor(type, part));
  if (!scatter)
    s.setInts(1, shape);
  s.setInt(2, offset);
  s.setInt(3, d1);
  s.setInt(4, s.rng.chance(30) ? d2 - rank : d2);
  return true;
}

static bool sumToSize(Sampler &s) {
  int x = s.any();
  s.set(0, x);
  s.setInts(1, s.smaller(s.shapeOf(x)));
  return true;
}

static bool segmentReduce(Sampler &s) {
  static const char *const kKinds[] = {"sum", "mean", "max", "min", "prod"};
  int64_t count = s.rng.between(1, 4), rows = 0;
  int lengths = s.integers({count}, {0, 3});
  for (int64_t i = 0; i < count; ++i)
    rows += s.program.values[lengths].data.integer(i);
  Shape shape = s.shape(0, 2);
  shape.insert(shape.begin(), rows);
  s.set(0, s.tensor(realType(s), shape));
  s.set(1, Arg::string(s.rng.of(kKinds)));
  s.set(2, lengths);
  s.setInt(5, 0);
  s.set(6, Arg::truth(true));
  if (s.rng.chance(40))
    s.set(7, Arg::floating(double(s.rng.between(-2, 2)) / 2));
  return true;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static bool sequences(Sampler &s) {
  bool vectors = s.schema.base == "cartesian_prod";
  DType type = s.dtype();
  Shape shape = s.shape(0, 2);
  std::vector<int> parts;
  for (int64_t k = s.rng.between(1, 3); k > 0; --k) {
    Shape own = shape;
    own.insert(own.begin(), s.rng.between(vectors ? 0 : 1, 4));
    parts.push_back(s.tensor(type, vectors ? Shape{own[0]} : own));
  }
  s.setList(0, parts);
  if (s.args.size() > 1) {
    s.setBool(1);
    s.set(2, Arg::floating(s.rng.chance(50) ? 0 : 2));
    s.set(3, Arg::string(s.rng.chance(50) ? "left" : "right"));
  }
  return true;
}

static bool tensors(Sampler &s) {
  std::vector<int> parts;
  DType type = s.dtype();
  Shape common = s.shape(0, 3);
  for (int64_t k = s.rng.between(1, 3); k > 0; --k)
    parts.push_back(s.tensor(type, s.schema.base == "broadcast_tensors"
                                       ? s.smaller(common)
                                       : s.shape(0, 3)));
  s.setList(0, parts);
  return true;
}

static bool combinations(Sampler &s) {
  s.set(0, s.tensor(s.dtype(), {s.rng.between(0, 5)}));
  s.setInt(1, s.rng.between(0, 3));
  s.setBool(2);
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::statisticsSamplers() {
  static const SamplerRow rows[] = {
      {"grid_sampler_2d grid_sampler_2d_backward grid_sampler", gridSample<2>},
      {"grid_sampler_3d grid_sampler_3d_backward", gridSample<3>},
      {"affine_grid_generator affine_grid_generator_backward", affineGrid},
      {"quantile quantile.scalar nanquantile nanquantile.scalar", quantile},
      {"trapezoid.dx trapezoid.x trapz.dx trapz.x cumulative_trapezoid.dx "
       "cumulative_trapezoid.x",
       trapezoid},
      {"gradient.array gradient.scalararray gradient.scalarint "
       "gradient.scalarrayarray gradient.scalarrayint gradient.tensorarray "
       "gradient.tensorarrayint",
       gradient},
      {"cov corrcoef", moments},
      {"cumprod_backward", cumprodBackward},
      {"cummaxmin_backward", cummaxminBackward},
      {"value_selecting_reduction_backward", selectingBackward},
      {"trace_backward", traceBackward},
      {"diagonal_backward diagonal_scatter", diagonalBackward},
      {"sum_to_size", sumToSize},
      {"segment_reduce", segmentReduce},
      {"cartesian_prod pad_sequence", sequences},
      {"flatten_dense_tensors broadcast_tensors atleast_1d.Sequence "
       "atleast_2d.Sequence atleast_3d.Sequence",
       tensors},
      {"combinations", combinations},
  };
  return rows;
}
