//===- ProductSamplers.cpp - Arguments of products and contractions -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

#include <cmath>

using namespace ft;
using namespace ft::random;

static DType productType(Sampler &s) {
  static const DType kTypes[] = {DType::F32, DType::F32, DType::F32, DType::F64,
                                 DType::F16, DType::I64, DType::C64};
  return s.rng.of(kTypes);
}

static int64_t extent(Sampler &s) {
  return s.rng.chance(15)   ? 1
         : s.rng.chance(15) ? s.rng.between(9, 24)
                            : s.rng.between(2, 6);
}

/// mm and its kin with a dtype of the result, an activation, or bytes.
static bool typedProduct(Sampler &s) {
  llvm::StringRef base = s.schema.base;
  bool added = base.contains("add"), batched = base.contains("bmm");
  DType type = base == "_int_mm"                    ? DType::I8
               : s.schema.argIndex("out_dtype") < 0 ? s.floatType()
               : s.rng.chance(50)                   ? DType::F16
                                                    : DType::BF16;
  DType result = s.rng.chance(60) ? DType::F32 : type;
  int64_t m = extent(s), k = extent(s), n = extent(s), b = s.rng.between(1, 3);
  Shape left = {m, k}, right = {k, n}, out = {m, n};
  if (batched)
    for (Shape *shape : {&left, &right, &out})
      shape->insert(shape->begin(), b);
  unsigned next = 0;
  if (added)
    s.set(next++, s.tensor(s.schema.argIndex("out_dtype") < 0 ? type : result,
                           base == "_addmm_activation" ? Shape{n} : out));
  s.set(next++, s.tensor(type, left));
  s.set(next++, s.tensor(type, right));
  for (; next < s.args.size(); ++next)
    switch (s.schema.args[next].type.kind) {
    case SchemaType::DType:
      s.set(next, Arg::ofDType(result));
      break;
    case SchemaType::Bool:
      s.setBool(next);
      break;
    default:
      s.set(next, s.rng.chance(50) ? Arg::integer(1) : s.number(type));
    }
  return true;
}

static bool int8PackMm(Sampler &s) {
  DType type = s.rng.chance(50) ? DType::BF16 : s.floatType();
  int64_t k = extent(s), n = extent(s);
  s.set(0, s.tensor(type, {extent(s), k}));
  s.set(1, s.tensor(DType::I8, {n, k}));
  s.set(2, s.tensor(type, {n}));
  return true;
}

static bool inner(Sampler &s) {
  DType type = productType(s);
  Shape a = s.shape(0, 2), b = s.shape(0, 2);
  int64_t k = extent(s);
  if (!s.rng.chance(10)) {
    a.push_back(k);
    b.push_back(k);
  }
  s.set(0, s.tensor(type, a));
  s.set(1, s.tensor(type, b));
  return true;
}

static bool kron(Sampler &s) {
  DType type = productType(s);
  s.set(0, s.tensor(type, s.shape(0, 3)));
  s.set(1, s.tensor(s.rng.chance(80) ? type : s.dtype(), s.shape(0, 3)));
  return true;
}

/// Two tensors that broadcast, and a dim of the result.
static bool vecdot(Sampler &s) {
  DType type =
      s.schema.base == "cosine_similarity" ? s.floatType() : productType(s);
  Shape shape = s.shape(1, 4);
  int64_t d = s.rng.between(0, shape.size() - 1);
  Shape other = shape;
  if (s.rng.chance(30))
    for (size_t k = 0; k < other.size(); ++k)
      if (s.rng.chance(30))
        other[k] = 1;
  s.set(0, s.tensor(type, shape));
  s.set(1, s.tensor(type, other));
  s.setInt(2, s.rng.chance(40) ? d - int64_t(shape.size()) : d);
  if (s.args.size() > 3)
    s.set(3, Arg::floating(s.rng.chance(70) ? 1e-8 : 0.5));
  return true;
}

static bool tensordot(Sampler &s) {
  DType type = productType(s);
  Shape a = s.shape(0, 3), b = s.shape(0, 3), da, db;
  int64_t shared = s.rng.between(0, std::min(a.size(), b.size()));
  std::vector<int64_t> order;
  for (size_t d = 0; d < b.size(); ++d)
    order.insert(order.begin() + s.rng.between(0, order.size()), d);
  for (int64_t k = 0; k < shared; ++k) {
    b[order[k]] = a[k];
    da.push_back(s.rng.chance(20) ? k - int64_t(a.size()) : k);
    db.push_back(order[k]);
  }
  s.set(0, s.tensor(type, a));
  s.set(1, s.tensor(type, b));
  s.setInts(2, da);
  s.setInts(3, db);
  return true;
}

static bool chain(Sampler &s) {
  DType type = s.rng.chance(80) ? DType::F32 : productType(s);
  size_t count = s.rng.between(2, 4);
  int64_t rows = extent(s);
  std::vector<int> list;
  bool vectors = s.schema.base == "linalg_multi_dot";
  for (size_t k = 0; k < count; ++k) {
    int64_t columns = extent(s);
    Shape shape = {rows, columns};
    if (vectors && k == 0 && s.rng.chance(20))
      shape = {columns};
    else if (vectors && k + 1 == count && s.rng.chance(20))
      shape = {rows};
    list.push_back(s.tensor(type, shape));
    rows = columns;
  }
  s.setList(0, list);
  return true;
}

/// Up to three operands of letters a to e.
static bool einsum(Sampler &s) {
  DType type = s.rng.chance(70) ? DType::F32 : DType::F64;
  int64_t sizes[5];
  for (int64_t &size : sizes)
    size = s.rng.chance(15) ? 1 : s.rng.between(2, 5);
  size_t count = s.rng.between(1, 3);
  std::string equation, seen;
  std::vector<Shape> shapes;
  for (size_t k = 0; k < count; ++k) {
    Shape shape;
    equation += k ? "," : "";
    std::string own;
    for (int64_t d = s.rng.between(k ? 0 : 1, 3); d > 0; --d) {
      char letter = static_cast<char>('a' + s.rng.between(0, 4));
      // A letter that is twice in one operand is its diagonal.
      if (own.find(letter) != std::string::npos && !s.rng.chance(20))
        continue;
      own += letter;
      shape.push_back(sizes[letter - 'a']);
      if (seen.find(letter) == std::string::npos)
        seen += letter;
    }
    equation += own;
    shapes.push_back(shape);
  }
  std::string result;
  for (char letter : seen)
    if (s.rng.chance(55))
      result.insert(result.begin() + s.rng.between(0, result.size()), letter);
  s.set(0, Arg::string(equation + "->" + result));
  std::vector<int> list;
  for (const Shape &shape : shapes)
    list.push_back(s.tensor(type, shape));
  s.setList(1, list);
  return true;
}

static bool bilinear(Sampler &s) {
  DType type = s.rng.chance(70) ? DType::F32 : DType::F64;
  Shape a = s.shape(0, 2), b = a;
  int64_t n = s.rng.between(1, 5), m = s.rng.between(1, 5),
          f = s.rng.between(1, 4);
  a.push_back(n);
  b.push_back(m);
  s.set(0, s.tensor(type, a));
  s.set(1, s.tensor(type, b));
  s.set(2, s.tensor(type, {f, n, m}));
  if (s.rng.chance(60))
    s.set(3, s.tensor(type, {f}));
  return true;
}

/// Three tensors of four dims, of which each has some.
static bool trilinear(Sampler &s) {
  DType type = s.rng.chance(70) ? DType::F32 : DType::F64;
  int64_t rank = s.rng.between(2, 4);
  Shape whole, summed;
  for (int64_t d = 0; d < rank; ++d)
    whole.push_back(s.rng.between(1, 4));
  std::vector<bool> there(rank);
  for (int t = 0; t < 3; ++t) {
    Shape shape, expand;
    for (int64_t d = 0; d < rank; ++d)
      if (s.rng.chance(35) && (t < 2 || there[d])) {
        expand.push_back(d);
      } else {
        shape.push_back(whole[d]);
        there[d] = true;
      }
    s.set(t, s.tensor(type, shape));
    s.setInts(3 + t, expand);
  }
  for (int64_t d = 0; d < rank; ++d)
    if (s.rng.chance(40))
      summed.push_back(d);
  s.setInts(6, summed);
  s.setInt(7, s.rng.between(0, rank - 1));
  return true;
}

/// (grad, x1, x2, p, distances), (grad, self, p, distances)
static bool distancesBackward(Sampler &s) {
  static const double kOrders[] = {2, 2, 1, 3, HUGE_VAL, 1.5, 0};
  DType type = s.rng.chance(75) ? DType::F32 : DType::F64;
  bool pairs = s.schema.base.starts_with("_pdist");
  double p = s.rng.of(kOrders);
  int64_t k = s.rng.between(1, 5), n = s.rng.between(2, 5),
          m = pairs ? n : s.rng.between(1, 5);
  Shape batch = pairs || s.rng.chance(60) ? Shape{} : Shape{2};
  auto with = [&](int64_t rows, int64_t columns) {
    Shape shape = batch;
    shape.insert(shape.end(), {rows, columns});
    return shape;
  };
  int x = s.tensor(type, with(n, k)),
      y = pairs ? x : s.tensor(type, with(m, k));
  Shape shape = pairs ? Shape{n * (n - 1) / 2} : with(n, m);
  // The distances are those of the operands.
  const Schema *forward = SchemaTable::get().find(
      pairs ? "_pdist_forward.default" : "_cdist_forward.default");
  std::vector<Tensor> tensors = {s.program.values[x].data};
  std::vector<Arg> args = {Arg::tensor(0)};
  if (!pairs) {
    tensors.push_back(s.program.values[y].data);
    args.push_back(Arg::tensor(1));
  }
  args.push_back(Arg::floating(p));
  if (!pairs)
    args.push_back(Arg::integer(2));
  TensorMeta meta =
      TensorMeta::contiguous(type, Dims(shape.begin(), shape.end()));
  interpreter::CallResult result =
      interpreter::evaluate(*forward, args, tensors, meta);
  unsigned next = 0;
  s.set(next++, s.tensor(type, shape));
  s.set(next++, x);
  if (!pairs)
    s.set(next++, y);
  s.set(next++, Arg::floating(p));
  s.set(next, s.constant(std::move(result.results[0])));
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::productSamplers() {
  static const SamplerRow rows[] = {
      {"mm.dtype bmm.dtype addmm.dtype baddbmm.dtype _int_mm "
       "_addmm_activation",
       typedProduct},
      {"_weight_int8pack_mm", int8PackMm},
      {"inner", inner},
      {"kron", kron},
      {"linalg_vecdot cosine_similarity", vecdot},
      {"tensordot", tensordot},
      {"chain_matmul linalg_multi_dot", chain},
      {"einsum", einsum},
      {"bilinear", bilinear},
      {"_trilinear", trilinear},
      {"_cdist_backward _pdist_backward", distancesBackward},
  };
  return rows;
}
