//===- Elementwise.cpp - What elementwise rules share ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/rules/Elementwise.h"

using namespace llvm;

namespace ft {

LogicalResult noCommonDType(FakeCall &call, const TypePromotion &types) {
  if (!types.clash)
    return call.fail(FakeError::Dtype,
                     call.schema().base + " has no operand with a dtype");
  return call.fail(FakeError::Dtype, dtypeName(types.clash->first) + " and " +
                                         dtypeName(types.clash->second) +
                                         " do not promote to a common dtype");
}

LogicalResult checkScale(FakeCall &call, const Arg &alpha, DType result) {
  bool fits = alpha.kind == Arg::Float     ? !isIntegral(result)
              : alpha.kind == Arg::Complex ? isComplex(result)
              : alpha.kind == Arg::Bool    ? result == DType::Bool
                                           : true;
  if (fits)
    return success();
  StringRef kind = alpha.kind == Arg::Float     ? "floating"
                   : alpha.kind == Arg::Complex ? "complex"
                                                : "bool";
  return call.fail(FakeError::Dtype, "a " + kind + " alpha needs a " + kind +
                                         " result, not " + dtypeName(result));
}

FailureOr<DType> promotedDType(FakeCall &call, uint32_t typed) {
  TypePromotion types;
  ArrayRef<Arg> args = call.arguments();
  const Schema &schema = call.schema();
  for (unsigned i = 0; i < args.size(); ++i) {
    bool isOut = i > 0 && schema.args[i].type.write;
    if (typed ? !(typed >> i & 1) : !schema.isTensorArg(i) || isOut)
      continue;
    if (args[i].kind == Arg::Tensor)
      types.add(call.tensor(i));
    else
      types.add(args[i]);
  }
  if (std::optional<DType> dtype = types.result())
    return *dtype;
  return noCommonDType(call, types);
}

DType promoted(DType dtype, Promote kind) {
  switch (kind) {
  case Promote::Default:
    return dtype;
  case Promote::IntToFloat:
    return toFloat(dtype);
  case Promote::AlwaysBool:
    return DType::Bool;
  case Promote::ComplexToFloat:
    return toReal(dtype);
  case Promote::BoolToLong:
    return dtype == DType::Bool ? DType::I64 : dtype;
  }
  return dtype;
}

static bool takesDType(DType d, Takes takes) {
  switch (takes) {
  case Takes::Any:
    return true;
  case Takes::NoBool:
    return d != DType::Bool;
  case Takes::NoComplex:
    return !isComplex(d);
  case Takes::NoBoolNoComplex:
    return d != DType::Bool && !isComplex(d);
  case Takes::Integral:
    return isIntegral(d);
  case Takes::IntegerNoBool:
    return isIntegral(d) && d != DType::Bool;
  case Takes::Floating:
    return isFloating(d);
  case Takes::FloatingOrComplex:
    return isFloating(d) || isComplex(d);
  }
  return true;
}

LogicalResult checkTakes(FakeCall &call, DType dtype, Takes takes) {
  if (takesDType(dtype, takes))
    return success();
  return call.fail(FakeError::Dtype, call.schema().base +
                                         " is not defined for " +
                                         dtypeName(dtype));
}

SmallVector<const TensorMeta *, 4> elementwiseTensors(FakeCall &call) {
  SmallVector<const TensorMeta *, 4> tensors;
  const Schema &schema = call.schema();
  for (auto [i, arg] : enumerate(call.arguments()))
    if (arg.kind == Arg::Tensor && (i == 0 || !schema.args[i].type.write))
      tensors.push_back(&call.tensor(i));
  return tensors;
}

LogicalResult elementwise(FakeCall &call, ArrayRef<const TensorMeta *> tensors,
                          DType dtype) {
  TensorMeta out;
  out.dtype = dtype;
  out.device = call.device;
  FailureOr<Dims> sizes = call.broadcast(tensors);
  if (failed(sizes))
    return failure();
  out.sizes = std::move(*sizes);
  out.strides = elementwiseStrides(tensors, out.sizes);
  return call.fresh(std::move(out));
}

LogicalResult oneDType(FakeCall &c, const TensorMeta &a, const TensorMeta &b) {
  if (a.dtype == b.dtype)
    return success();
  return c.fail(FakeError::Dtype,
                c.schema().base + " needs one dtype, not " +
                    dtypeName(a.dtype) + " of " + c.nameOf(&a) + " and " +
                    dtypeName(b.dtype) + " of " + c.nameOf(&b));
}

} // namespace ft
