//===- IndexSamplers.cpp - Arguments of gathers, scatters, sorts ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/FakeCall.h"
#include "tests/random/Sampler.h"

using namespace ft;
using namespace ft::random;

/// The size of a dim, where a scalar counts as one dim of one element.
static int64_t sizeAt(const Shape &shape, int64_t dim) {
  return shape.empty() ? 1 : shape[dim];
}

static bool gather(Sampler &s) {
  int self = s.any(0, 4);
  Shape shape = s.shapeOf(self), index = shape;
  int64_t rank = shape.size(), dim = rank ? s.rng.between(0, rank - 1) : 0;
  for (int64_t d = 0; d < rank; ++d)
    index[d] = d == dim ? s.rng.between(0, 6) : s.rng.between(0, shape[d]);
  int64_t size = sizeAt(shape, dim);
  if (size == 0 && interpreter::numelOf(index))
    return false;
  s.set(0, self);
  s.setInt(1, dim);
  s.set(2, s.integers(index, {0, size - 1}));
  s.guessRest(3, self);
  return true;
}

static bool indexSelect(Sampler &s) {
  int self = s.any(0, 4);
  Shape shape = s.shapeOf(self);
  int64_t dim = shape.empty() ? 0 : s.rng.between(0, shape.size() - 1);
  int64_t size = sizeAt(shape, dim), n = s.rng.between(0, 6);
  if (size == 0)
    return false;
  s.set(0, self);
  s.setInt(1, dim);
  s.set(2, s.integers(s.rng.chance(10) ? Shape{} : Shape{n}, {0, size - 1},
                      s.rng.chance(70) ? DType::I64 : DType::I32));
  return true;
}

/// (grad, self or its sizes, dim, index)
static bool readBackward(Sampler &s) {
  bool gathers = s.schema.base == "gather_backward";
  Shape shape = s.shape(1, 4), read = shape;
  int64_t rank = shape.size(), dim = s.rng.between(0, rank - 1);
  for (int64_t d = 0; d < rank; ++d)
    if (d == dim || gathers)
      read[d] = s.rng.between(0, d == dim ? 6 : shape[d]);
  if (shape[dim] == 0)
    return false;
  DType type = s.rng.chance(70) ? DType::F32 : s.dtype();
  s.set(0, s.tensor(type, read));
  if (gathers)
    s.set(1, s.tensor(type, shape));
  else
    s.setInts(1, shape);
  s.setInt(2, dim);
  s.set(3, s.integers(gathers ? read : Shape{read[dim]}, {0, shape[dim] - 1}));
  if (gathers)
    s.set(4, Arg::truth(false));
  return true;
}

static bool takeAlongDim(Sampler &s) {
  int self = s.any(1, 4);
  Shape shape = s.shapeOf(self), index = shape;
  int64_t rank = shape.size(), dim = s.rng.between(0, rank - 1);
  index[dim] = s.rng.between(0, 5);
  for (int64_t d = 0; d < rank; ++d)
    if (d != dim && s.rng.chance(20))
      index[d] = 1;
  if (shape[dim] == 0)
    return false;
  s.set(0, self);
  if (s.rng.chance(20)) { // of the flat tensor
    int64_t n = s.program.values[self].data.numel();
    s.set(1, s.integers({s.rng.between(0, 5)}, {0, n - 1}));
    return n > 0;
  }
  s.set(1, s.integers(index, {0, shape[dim] - 1}));
  s.setInt(2, dim);
  return true;
}

static bool histc(Sampler &s) {
  s.set(0, s.tensor(s.rng.chance(70) ? DType::F32 : DType::F64, s.shape(0, 3)));
  s.setInt(1, s.rng.between(1, 7));
  bool own = s.rng.chance(30);
  s.setInt(2, own ? 0 : -2);
  s.setInt(3, own ? 0 : 2);
  return true;
}

static bool take(Sampler &s) {
  int self = s.any(0, 4);
  int64_t n = s.program.values[self].data.numel();
  if (n == 0)
    return false;
  s.set(0, self);
  s.set(1, s.integers(s.shape(0, 3), {-n, n - 1}));
  return true;
}

static bool index(Sampler &s) {
  int self = s.any(1, 4);
  Shape shape = s.shapeOf(self);
  std::vector<Arg> list;
  Shape common = s.shape(0, 2);
  s.set(0, self);
  bool some = false;
  size_t count = s.rng.between(1, shape.size());
  for (size_t d = 0; d < count; ++d) {
    if (s.rng.chance(35) && !(d + 1 == count && !some)) {
      list.push_back(Arg::none());
      continue;
    }
    if (shape[d] == 0)
      return false;
    some = true;
    list.push_back(Arg::tensor(int(s.operands.size())));
    s.operands.push_back(
        s.integers(s.smaller(common), {-shape[d], shape[d] - 1}));
  }
  s.set(1, Arg::listOf(list));
  return true;
}

static bool indexPut(Sampler &s) {
  if (!index(s))
    return false;
  // The values take the shape of x[index]: ask the fake rule of index.
  const Schema *read = SchemaTable::get().find("index.Tensor");
  std::vector<TensorMeta> metas;
  for (int operand : s.operands)
    metas.push_back(s.meta(operand));
  std::vector<Arg> args = {s.args[0], s.args[1]};
  FakeCall call(*read, args, metas);
  if (llvm::failed(propagateCall(call)))
    return false;
  Shape shape;
  for (Dim size : call.results[0].meta.sizes)
    shape.push_back(size.value());
  s.set(2, s.tensor(s.dtypeOf(s.operands[0]), s.smaller(shape)));
  s.setBool(3);
  return true;
}

/// scatter forms: an index no larger than self and source.
static bool scatter(Sampler &s) {
  int self = s.any(0, 4);
  Shape shape = s.shapeOf(self), indices = shape, source;
  int64_t rank = shape.size(), dim = rank ? s.rng.between(0, rank - 1) : 0;
  for (int64_t d = 0; d < rank; ++d) {
    indices[d] = d == dim ? s.rng.between(0, 5) : s.rng.between(0, shape[d]);
    source.push_back(indices[d] + (s.rng.chance(20) ? 1 : 0));
  }
  int64_t size = sizeAt(shape, dim);
  if (size == 0 && interpreter::numelOf(indices))
    return false;
  s.set(0, self);
  s.setInt(1, dim);
  s.set(2, s.integers(indices, {0, size - 1}));
  if (s.schema.isTensorArg(3))
    s.set(3, s.tensor(s.dtypeOf(self), source));
  else
    s.set(3, s.number(s.dtypeOf(self)));
  if (s.args.size() > 4) {
    static const char *const kTwo[] = {"sum", "prod", "mean", "amax", "amin"};
    static const char *const kOld[] = {"add", "multiply"};
    s.set(4, Arg::string(s.schema.base == "scatter_reduce" ? s.rng.of(kTwo)
                                                           : s.rng.of(kOld)));
  }
  if (s.args.size() > 5)
    s.setBool(5);
  return true;
}

static bool indexWrite(Sampler &s) {
  int self = s.any(1, 4);
  Shape shape = s.shapeOf(self), source = shape;
  int64_t dim = s.rng.between(0, shape.size() - 1), n = s.rng.between(0, 5);
  if (shape[dim] == 0)
    return false;
  source[dim] = n;
  s.set(0, self);
  s.setInt(1, dim);
  s.set(2, s.integers({n}, {0, shape[dim] - 1}));
  if (s.schema.base == "index_fill") {
    if (s.schema.isTensorArg(3))
      s.set(3, s.tensor(s.dtypeOf(self), {}));
    else
      s.set(3, s.number(s.dtypeOf(self)));
    return true;
  }
  s.set(3, s.tensor(s.dtypeOf(self), source));
  if (s.schema.base == "index_add") {
    s.set(4, s.rng.chance(60) ? Arg::integer(1) : s.number(s.dtypeOf(self)));
  } else if (s.schema.base == "index_reduce") {
    static const char *const kHow[] = {"prod", "mean", "amax", "amin"};
    s.set(4, Arg::string(s.rng.of(kHow)));
    s.setBool(5);
  }
  return true;
}

static bool put(Sampler &s) {
  int self = s.any(0, 3);
  int64_t n = s.program.values[self].data.numel();
  if (n == 0)
    return false;
  Shape shape = s.shape(0, 2);
  s.set(0, self);
  s.set(1, s.integers(shape, {-n, n - 1}));
  s.set(2, s.tensor(s.dtypeOf(self), shape));
  s.setBool(3);
  return true;
}

static bool maskedScatter(Sampler &s) {
  int self = s.any(0, 3);
  s.set(0, self);
  s.set(1, s.tensor(DType::Bool, s.smaller(s.shapeOf(self))));
  s.set(2, s.tensor(s.dtypeOf(self), {s.program.values[self].data.numel() +
                                      s.rng.between(0, 2)}));
  return true;
}

/// A condition or a mask, then two operands.
static bool where(Sampler &s) {
  bool fill = s.schema.base == "masked_fill";
  int self = s.any(0, 4);
  if (fill) {
    s.set(0, self);
    s.set(1, s.tensor(DType::Bool, s.smaller(s.shapeOf(self))));
  } else {
    s.set(0, s.tensor(DType::Bool, s.smaller(s.shapeOf(self))));
  }
  for (unsigned i = fill ? 2 : 1; i < s.args.size(); ++i)
    if (!s.schema.isTensorArg(i))
      s.set(i, s.number(s.dtypeOf(self)));
    else if (fill)
      s.set(i, s.tensor(s.dtypeOf(self), {}));
    else
      s.set(i, i == 1 ? self
                      : s.tensor(s.rng.chance(80) ? s.dtypeOf(self) : s.dtype(),
                                 s.smaller(s.shapeOf(self))));
  return true;
}

static bool embedding(Sampler &s) {
  int64_t rows = s.rng.between(1, 8);
  s.set(0, s.tensor(s.floatType(), {rows, s.rng.between(1, 9)}));
  s.set(1, s.integers(s.shape(0, 3), {0, rows - 1},
                      s.rng.chance(70) ? DType::I64 : DType::I32));
  s.setInt(2, s.rng.chance(50) ? -1 : 0);
  s.set(3, Arg::truth(false));
  s.set(4, Arg::truth(false));
  return true;
}

static bool embeddingBackward(Sampler &s) {
  int64_t rows = s.rng.between(1, 6), width = s.rng.between(1, 6);
  Shape indices = s.shape(0, 2), grad = indices;
  grad.push_back(width);
  s.set(0, s.tensor(DType::F32, grad));
  s.set(1, s.integers(indices, {0, rows - 1}));
  s.setInt(2, rows);
  s.setInt(3, s.rng.chance(50) ? -1 : 0);
  s.setBool(4);
  return true;
}

static bool sorting(Sampler &s) {
  int self = s.any(0, 4, s.rng.chance(60));
  Shape shape = s.shapeOf(self);
  int64_t rank = shape.size(), dim = rank ? s.rng.between(0, rank - 1) : 0;
  int64_t size = sizeAt(shape, dim);
  s.set(0, self);
  for (unsigned i = 1; i < s.args.size(); ++i) {
    llvm::StringRef name = s.schema.args[i].name;
    if (name == "k")
      s.setInt(i, s.rng.between(s.schema.base == "topk" ? 0 : 1,
                                std::max<int64_t>(size, 1)));
    else if (name == "dim")
      s.setInt(i, dim);
    else if (name == "sorted" || name == "stable")
      s.set(i, Arg::truth(true));
    else
      s.setBool(i);
  }
  return true;
}

static bool searchsorted(Sampler &s) {
  bool bucketize = s.schema.base == "bucketize";
  // Sorted boundaries: arange, or equal elements.
  DType type = s.rng.chance(50) ? DType::F32 : DType::I64;
  int64_t n = s.rng.between(0, 6), low = s.rng.between(-5, 0);
  int bounds = s.integers({n}, {0, 0}, type);
  Tensor &data = s.program.values[bounds].data;
  for (int64_t i = 0; i < n; ++i) {
    data.setInteger(i, low);
    low += s.rng.between(0, 3);
  }
  unsigned valueAt = bucketize ? 0 : 1;
  if (s.schema.overload == "Scalar")
    s.set(valueAt, s.number(type));
  else if (bucketize)
    s.set(0, s.tensor(type, s.shape(0, 3)));
  s.set(1 - valueAt, bounds);
  if (s.schema.overload != "Scalar" && !bucketize)
    s.set(1, s.tensor(type, s.shape(0, 3)));
  s.setBool(2);
  s.setBool(3);
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::indexSamplers() {
  static const SamplerRow rows[] = {
      {"gather", gather},
      {"index_select", indexSelect},
      {"take", take},
      {"gather_backward index_select_backward", readBackward},
      {"take_along_dim", takeAlongDim},
      {"histc", histc},
      {"index.Tensor _unsafe_index.Tensor", index},
      {"index_put", indexPut},
      {"scatter.src scatter.value scatter.reduce scatter.value_reduce "
       "scatter_add scatter_reduce.two",
       scatter},
      {"index_add index_copy index_reduce index_fill.int_Scalar "
       "index_fill.int_Tensor",
       indexWrite},
      {"put", put},
      {"masked_scatter", maskedScatter},
      {"where.self where.ScalarSelf where.ScalarOther where.Scalar "
       "masked_fill.Scalar masked_fill.Tensor",
       where},
      {"embedding", embedding},
      {"embedding_dense_backward", embeddingBackward},
      {"sort sort.stable argsort argsort.stable topk kthvalue", sorting},
      {"searchsorted.Tensor searchsorted.Scalar bucketize.Tensor "
       "bucketize.Scalar",
       searchsorted},
  };
  return rows;
}
