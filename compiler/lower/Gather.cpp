//===- Gather.cpp - Reading tensors at computed indices -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ft {

Value iterationIndex(ScalarBuilder &s, unsigned dim) {
  return linalg::IndexOp::create(s.b, s.loc, dim);
}

Value readAt(ScalarBuilder &s, const LoweredTensor &tensor,
             ArrayRef<Value> index) {
  SmallVector<Value> physical;
  for (unsigned logical : tensor.order)
    physical.push_back(index[logical]);
  Value v = tensor::ExtractOp::create(s.b, s.loc, tensor.value, physical);
  if (tensor.dtype == DType::Bool)
    v = s.cmp(ScalarBuilder::Cmp::Ne, v, s.zero(v));
  return v;
}

Value toIndex(ScalarBuilder &s, Value integer, DType dtype) {
  bool isUnsignedType = dtype == DType::Bool || isUnsigned(dtype);
  if (isUnsignedType)
    return arith::IndexCastUIOp::create(s.b, s.loc, s.b.getIndexType(),
                                        integer);
  return arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), integer);
}

Value fromIndex(ScalarBuilder &s, Value index, DType dtype) {
  if (isIntegral(dtype) && dtype != DType::Bool)
    return arith::IndexCastOp::create(
        s.b, s.loc, computeType(s.b.getContext(), dtype), index);
  Value wide = arith::IndexCastOp::create(s.b, s.loc, s.b.getI64Type(), index);
  return s.cast(wide, DType::I64, dtype);
}

Value wrappedIndex(ScalarBuilder &s, Value index, DType dtype, Value size) {
  Value i = toIndex(s, index, dtype);
  Value negative = s.cmp(ScalarBuilder::Cmp::Lt, i, s.zero(i));
  return s.select(negative, s.add(i, size), i);
}

Value wrappedIndex(ScalarBuilder &s, Value index, DType dtype, int64_t size) {
  return wrappedIndex(s, index, dtype, s.constantInt(s.b.getIndexType(), size));
}

Value sizeIndex(LowerCall &c, ScalarBuilder &s, Dim size) {
  return size.isStatic() ? s.constantInt(s.b.getIndexType(), size.value())
                         : c.sizeValue(size);
}

LoweredTensor generateFrom(
    LowerCall &c, ArrayRef<LoweredTensor> ins, const SizeList &sizes,
    DType dtype,
    llvm::function_ref<Value(ScalarBuilder &, ValueRange, ArrayRef<Value>)>
        element) {
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<AffineExpr, 6> identity;
  for (unsigned d = 0; d < rank; ++d)
    identity.push_back(c.dim(d));
  SmallVector<Access> inputs;
  for (const LoweredTensor &t : ins)
    inputs.push_back({t, identity});
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  return c.generic(inputs, Access{c.empty(sizes, dtype), identity}, iterators,
                   [&](ScalarBuilder &s, ValueRange v) {
                     SmallVector<Value> position;
                     for (unsigned d = 0; d < rank; ++d)
                       position.push_back(iterationIndex(s, d));
                     return SmallVector<Value>{
                         element(s, v.take_front(ins.size()), position)};
                   })[0];
}

LoweredTensor
generate(LowerCall &c, const SizeList &sizes, DType dtype,
         llvm::function_ref<Value(ScalarBuilder &, ArrayRef<Value>)> element) {
  return generateFrom(c, {}, sizes, dtype,
                      [&](ScalarBuilder &s, ValueRange, ArrayRef<Value> at) {
                        return element(s, at);
                      });
}

LoweredTensor withSpare(LowerCall &c, LoweredTensor t, unsigned dim) {
  if (t.dims()[dim].isStatic())
    return t;
  Dims low(t.rank(), 0), high(t.rank(), 0);
  high[dim] = 1;
  t = c.pad(t, low, high, 0);
  c.newGroup();
  return t;
}

void checkPositive(LowerCall &c, Dim size, const Twine &otherwise) {
  LoweredTensor positive =
      generate(c, {}, DType::Bool, [&](ScalarBuilder &s, ArrayRef<Value>) {
        Value n = c.sizeIn(s, size, DType::I64);
        return s.cmp(ScalarBuilder::Cmp::Gt, n, s.zero(n));
      });
  c.checkValue(positive, otherwise);
}

static LoweredTensor constantTensor(LowerCall &c, DenseElementsAttr values,
                                    DType dtype) {
  LoweredTensor t;
  t.value = arith::ConstantOp::create(c.builder(), c.loc(), values);
  t.order = {0};
  t.dtype = dtype;
  return t;
}

LoweredTensor constantVector(LowerCall &c, ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    c.builder().getI64Type());
  return constantTensor(c, DenseElementsAttr::get(type, values), DType::I64);
}

LoweredTensor constantVector(LowerCall &c, ArrayRef<double> values,
                             DType dtype) {
  Type element = storageType(c.context(), dtype);
  SmallVector<Attribute> rounded;
  for (double v : values)
    rounded.push_back(c.builder().getFloatAttr(element, v));
  auto type =
      RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  return constantTensor(c, DenseElementsAttr::get(type, rounded), dtype);
}

SmallVector<int64_t, 6> staticSizes(const TensorMeta &meta) {
  SmallVector<int64_t, 6> sizes;
  for (Dim d : meta.sizes)
    sizes.push_back(d.value());
  return sizes;
}

Dims broadcastDims(ArrayRef<Dim> a, ArrayRef<Dim> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Dims sizes(a.begin(), a.end());
  size_t lead = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d)
    if (sizes[lead + d].is(1))
      sizes[lead + d] = b[d];
  return sizes;
}

SmallVector<int64_t, 6> broadcastSizes(ArrayRef<int64_t> a,
                                       ArrayRef<int64_t> b) {
  SmallVector<int64_t, 6> sizes;
  for (Dim d :
       broadcastDims(Dims(a.begin(), a.end()), Dims(b.begin(), b.end())))
    sizes.push_back(d.value());
  return sizes;
}

} // namespace ft
