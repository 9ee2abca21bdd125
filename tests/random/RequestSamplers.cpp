//===- RequestSamplers.cpp - Operators that are drawn on request ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of what mixed programs draw from is closed, so that a seed goes on
// standing for its program; these came after it.

#include "compiler/fake/FakeCall.h"
#include "dialects/ft/Promotion.h"
#include "tests/random/Sampler.h"

using namespace ft;
using namespace ft::random;

/// As the sampler of an operator with the same first arguments.
static bool as(Sampler &s, llvm::StringRef name) {
  return samplerOf(*SchemaTable::get().find(name))(s);
}

static bool ctc(Sampler &s) { return as(s, "ctc_loss.IntList"); }

/// The twins have no absent indices.
static bool hasAbsent(const Sampler &s) {
  return llvm::any_of(s.args[1].list,
                      [](const Arg &arg) { return arg.isNone(); });
}

static bool indexTwin(Sampler &s) {
  return as(s, "index.Tensor") && !hasAbsent(s);
}

static bool indexPut(Sampler &s) {
  if (!as(s, "index_put.default"))
    return false;
  if (s.schema.overload == "hacked_twin")
    return !hasAbsent(s);
  if (s.args.size() > 4)
    s.setBool(4);
  return true;
}

/// (self, mask, indices, fill or values): the mask has the shape of
/// self[indices], or broadcasts to it. Outside of it indices may be anything.
static bool maskedIndex(Sampler &s) {
  bool reads = s.schema.base == "_unsafe_masked_index";
  int self = s.any(1, 3);
  Shape shape = s.shapeOf(self), common = s.shape(1, 2);
  if (interpreter::numelOf(shape) == 0)
    return false;
  size_t count = s.rng.between(1, shape.size());
  Shape read = common;
  read.insert(read.end(), shape.begin() + count, shape.end());
  Tensor mask(DType::Bool, s.smaller(read));
  for (int64_t i = 0; i < mask.numel(); ++i)
    mask.setInteger(i, s.rng.chance(60));
  s.set(0, self);
  s.set(1, s.constant(std::move(mask)));
  std::vector<int> indices;
  for (size_t d = 0; d < count; ++d)
    indices.push_back(
        s.integers(d ? s.smaller(common) : common, {-shape[d], shape[d] - 1}));
  s.setList(2, indices);
  if (reads)
    s.set(3, s.number(s.dtypeOf(self)));
  else
    s.set(3, s.tensor(s.dtypeOf(self), read));
  return true;
}

static bool embeddingBackward(Sampler &s) {
  if (!as(s, "embedding_dense_backward.default"))
    return false;
  s.set(5, Arg::truth(false));
  return true;
}

static bool nonzeroStatic(Sampler &s) {
  s.set(0, s.any(0, 4));
  s.setInt(1, s.rng.between(0, 9));
  s.setInt(2, s.rng.between(-2, 3));
  return true;
}

static bool logcumsumexp(Sampler &s) {
  int self = s.any(0, 4, true);
  s.set(0, self);
  s.setInt(1, s.dim(s.meta(self).rank()));
  return true;
}

/// Repeats of each element of a dim, or of all by one number, with their sum.
static bool repeats(Sampler &s) {
  bool indices = s.schema.overload == "Tensor";
  int self = indices ? -1 : s.any(0, 4);
  int64_t n = s.rng.between(0, 6), times = 0;
  unsigned next = 0;
  if (!indices) {
    Shape shape = s.shapeOf(self);
    int64_t d = shape.empty() ? 0 : s.rng.between(0, shape.size() - 1);
    bool flat = s.rng.chance(40);
    n = flat ? interpreter::numelOf(shape) : shape.empty() ? 1 : shape[d];
    s.set(next++, self);
    if (!flat)
      s.setInt(2, d);
  }
  bool one = !indices && s.rng.chance(20);
  int list = s.integers({one ? 1 : n}, {0, 3},
                        s.rng.chance(70) ? DType::I64 : DType::I32);
  for (int64_t i = 0; i < n; ++i)
    times += s.program.values[list].data.integer(one ? 0 : i);
  s.set(next, list);
  s.setInt(s.schema.argIndex("output_size"), times);
  return true;
}

/// As a dtype of the same width: of another one a view has other sizes.
static bool viewAsType(Sampler &s) {
  DType from = s.dtype(), to = s.dtype();
  while (dtypeBytes(to) != dtypeBytes(from) ||
         (to != from && (isComplex(to) || isComplex(from))))
    to = s.dtype();
  s.set(0, s.tensor(from, s.shape(0, 4)));
  s.set(1, Arg::ofDType(to));
  return true;
}

static bool unflatten(Sampler &s) {
  DType type = s.dtype();
  std::vector<int> list;
  int64_t n = 0;
  for (int64_t k = s.rng.between(1, 3); k > 0; --k) {
    list.push_back(
        s.tensor(s.rng.chance(70) ? type : s.dtype(), s.shape(0, 3)));
    n += interpreter::numelOf(s.shapeOf(list.back()));
  }
  s.set(0, s.tensor(type, {n}));
  s.setList(1, list);
  return true;
}

static bool maskedScatterBackward(Sampler &s) {
  Shape shape = s.shape(0, 3), sizes = s.shape(0, 3);
  Tensor mask(DType::Bool, shape);
  for (int64_t i = 0; i < mask.numel(); ++i)
    mask.setInteger(i, s.rng.chance(40));
  s.set(0, s.tensor(s.rng.chance(60) ? DType::F32 : s.dtype(), shape));
  s.set(1, s.constant(std::move(mask)));
  s.setInts(2, sizes);
  return true;
}

/// A part of a row-major tensor whose elements do not overlap.
static bool asStridedScatter(Sampler &s) {
  DType type = s.dtype();
  Tensor data = s.program.values[s.input(type, s.shape(1, 3))].data;
  s.program.values.pop_back();
  int64_t n = data.numel(),
          offset = s.rng.between(0, std::max<int64_t>(n / 3, 0));
  int64_t inner = s.rng.between(1, 2), columns = s.rng.between(0, 3);
  int64_t outer = inner * std::max<int64_t>(columns, 1) + s.rng.between(0, 2);
  Shape size = {s.rng.between(0, 3), columns};
  s.set(0, s.constant(std::move(data)));
  s.set(1, s.tensor(type, size));
  s.setInts(2, size);
  s.setInts(3, {outer, inner});
  if (offset || s.rng.chance(50))
    s.setInt(4, offset);
  return true;
}

static bool range(Sampler &s) {
  bool whole = s.rng.chance(50);
  auto number = [&](int64_t low, int64_t high) {
    return whole ? Arg::integer(s.rng.between(low, high))
                 : Arg::floating(double(s.rng.between(low * 4, high * 4)) / 4);
  };
  s.set(0, number(-4, 3));
  s.set(1, number(4, 12));
  if (s.schema.overload == "step")
    s.set(2, whole ? Arg::integer(s.rng.between(1, 3)) : Arg::floating(1.75));
  int dtype = s.schema.argIndex("dtype");
  if (s.rng.chance(50))
    s.set(dtype, Arg::ofDType(s.rng.chance(60) ? DType::F64 : DType::I64));
  return true;
}

/// Numbers with zeros and repeats among them.
static int repetitive(Sampler &s, int low, int high) {
  Shape shape = s.shape(low, high);
  if (s.rng.chance(30))
    return s.any(low, high);
  DType type = s.dtype();
  return s.integers(
      shape, {type == DType::Bool || isUnsigned(type) ? 0 : -1, 2}, type);
}

static bool nonzero(Sampler &s) {
  s.set(0, repetitive(s, 0, 4));
  return true;
}

/// (self, [dim,] [sorted,] return_inverse, return_counts[, dim])
static bool unique(Sampler &s) {
  int self = repetitive(s, s.schema.base.contains("dim") ? 1 : 0, 3);
  s.set(0, self);
  for (unsigned i = 1; i < s.args.size(); ++i) {
    llvm::StringRef name = s.schema.args[i].name;
    if (name == "sorted") // in any order they need not be
      s.set(i, Arg::truth(true));
    else if (name != "dim")
      s.setBool(i);
    else if (!s.schema.args[i].type.optional ||
             (s.meta(self).rank() && s.rng.chance(50)))
      s.setInt(i, s.dim(s.meta(self).rank()));
  }
  return true;
}

static bool maskedSelect(Sampler &s) {
  int self = s.any(0, 4);
  Tensor mask(DType::Bool, s.smaller(s.shapeOf(self)));
  for (int64_t i = 0; i < mask.numel(); ++i)
    mask.setInteger(i, s.rng.chance(50));
  s.set(0, self);
  s.set(1, s.place(std::move(mask)));
  return true;
}

static bool bincount(Sampler &s) {
  Shape shape = {s.rng.between(0, 9)};
  s.set(0,
        s.integers(shape, {0, 7}, s.rng.chance(70) ? DType::I64 : DType::I32));
  if (s.rng.chance(50))
    s.set(1, s.tensor(s.dtype(), shape));
  s.setInt(2, s.rng.between(0, 10));
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::requestSamplers() {
  static const SamplerRow rows[] = {
      {"_ctc_loss _ctc_loss.Tensor", ctc},
      {"index.Tensor_hacked_twin _unsafe_index.Tensor_hacked_twin", indexTwin},
      {"index_put.hacked_twin _unsafe_index_put _index_put_impl", indexPut},
      {"_unsafe_masked_index _unsafe_masked_index_put_accumulate", maskedIndex},
      {"embedding_backward", embeddingBackward},
      {"nonzero_static", nonzeroStatic},
      {"_logcumsumexp", logcumsumexp},
      {"repeat_interleave.Tensor repeat_interleave.self_Tensor", repeats},
      {"view.dtype view_copy.dtype", viewAsType},
      {"unflatten_dense_tensors", unflatten},
      {"masked_scatter_backward", maskedScatterBackward},
      {"as_strided_scatter", asStridedScatter},
      {"range range.step", range},
      {"nonzero argwhere nonzero_numpy where", nonzero},
      {"_unique _unique2 unique_consecutive unique_dim unique_dim_consecutive",
       unique},
      {"masked_select", maskedSelect},
      {"bincount", bincount},
  };
  return rows;
}
