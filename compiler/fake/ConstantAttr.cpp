//===- ConstantAttr.cpp - Tiny constants: bytes, IR, elements --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/ConstantAttr.h"

#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/WrittenArguments.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <cstring>

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// From a storage
//===----------------------------------------------------------------------===//

/// Appends an element; false for dtypes that C++ has no type for.
static bool readElement(const char *at, ConstantValue &value) {
  auto integer = [&](auto type) {
    std::memcpy(&type, at, sizeof(type));
    value.integers.push_back(static_cast<int64_t>(type));
    return true;
  };
  auto real = [&](auto type) {
    std::memcpy(&type, at, sizeof(type));
    value.reals.push_back(static_cast<double>(type));
    return true;
  };
  switch (value.dtype) {
  case DType::Bool:
    value.integers.push_back(*at != 0);
    return true;
  case DType::U8:
    return integer(uint8_t());
  case DType::I8:
    return integer(int8_t());
  case DType::I16:
    return integer(int16_t());
  case DType::I32:
    return integer(int32_t());
  case DType::I64:
    return integer(int64_t());
  case DType::F32:
    return real(float());
  case DType::F64:
    return real(double());
  default:
    return false;
  }
}

std::optional<uint64_t> constantBytes(const TensorMeta &meta) {
  switch (meta.dtype) {
  case DType::Bool:
  case DType::U8:
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
  case DType::F32:
  case DType::F64:
    break;
  default:
    return std::nullopt;
  }
  Dim count = meta.numel();
  if (!meta.isStatic() || !count.isStatic() || count.value() < 0 ||
      count.value() > ConstantValue::kMostElements || meta.offset.value() < 0)
    return std::nullopt;
  if (count.value() == 0)
    return 0;
  // In 128 bits: sizes and strides of an archive may be anything.
  __int128 last = meta.offset.value();
  for (auto [size, stride] : llvm::zip(meta.sizes, meta.strides)) {
    if (stride.value() < 0)
      return std::nullopt;
    last += static_cast<__int128>(size.value() - 1) * stride.value();
    if (last > INT64_MAX / 16)
      return std::nullopt;
  }
  return static_cast<uint64_t>(last + 1) * dtypeBytes(meta.dtype);
}

ConstantPtr readConstant(const TensorMeta &meta, const char *storage) {
  if (!constantBytes(meta))
    return nullptr;
  auto value = std::make_shared<ConstantValue>();
  value->dtype = meta.dtype;
  for (int64_t n = 0, count = meta.numel().value(); n < count; ++n) {
    int64_t rest = n, at = meta.offset.value();
    for (size_t d = meta.sizes.size(); d-- > 0;) {
      at += rest % meta.sizes[d].value() * meta.strides[d].value();
      rest /= meta.sizes[d].value();
    }
    if (!readElement(storage + at * dtypeBytes(meta.dtype), *value))
      return nullptr;
  }
  return value;
}

//===----------------------------------------------------------------------===//
// In the IR
//===----------------------------------------------------------------------===//

DenseElementsAttr constantAttr(MLIRContext *context, const TensorMeta &meta,
                               const ConstantValue &value) {
  SmallVector<int64_t> shape;
  for (Dim size : meta.sizes)
    shape.push_back(size.value());
  Type element = dtypeToType(context, meta.dtype);
  SmallVector<Attribute> elements;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value.isReal()) {
      elements.push_back(FloatAttr::get(element, value.reals[i]));
      continue;
    }
    APInt bits(element.getIntOrFloatBitWidth(),
               static_cast<uint64_t>(value.integers[i]), /*isSigned=*/true,
               /*implicitTrunc=*/true);
    elements.push_back(IntegerAttr::get(element, bits));
  }
  return DenseElementsAttr::get(RankedTensorType::get(shape, element),
                                elements);
}

/// Whether a result may be in the storage of an operand. Rather one too many:
/// some calls without an alias in their schema return an argument as it is.
static bool mayShare(const Schema &schema, unsigned result) {
  if (schema.aliasedArg(result) >= 0)
    return true;
  static constexpr llvm::StringLiteral kFreshFamilies[] = {
      "conv", "indexing", "matmul", "norm", "pointwise", "reduce", "softmax"};
  static constexpr llvm::StringLiteral kCopies[] = {"_to_copy", "clone",
                                                    "lift_fresh_copy"};
  return !llvm::is_contained(kFreshFamilies, schema.family) &&
         !llvm::is_contained(kCopies, schema.base);
}

/// Whether the program writes a constant, under this name or that of another
/// argument in the same record, or a view of it. What is not followed, regions,
/// counts as a write.
static bool isWritten(func::FuncOp function, unsigned start) {
  SmallVector<Value> work{function.getArgument(start)};
  if (Attribute record = function.getArgAttr(start, names::kWeight))
    for (BlockArgument other : function.getArguments())
      if (function.getArgAttr(other.getArgNumber(), names::kWeight) == record)
        work.push_back(other);
  llvm::SmallPtrSet<void *, 8> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value.getAsOpaquePointer()).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (user->hasTrait<OpTrait::IsTerminator>())
        continue;
      const Schema *schema = schemaOf(user);
      if (!schema)
        return true;
      AtenCall call = AtenCall::decode(user);
      auto isHere = [&](const Arg &arg) {
        return (arg.kind == Arg::Tensor &&
                call.operands[arg.operand] == value) ||
               llvm::any_of(arg.list, [&](const Arg &item) {
                 return item.kind == Arg::Tensor &&
                        call.operands[item.operand] == value;
               });
      };
      // `detach_` writes what is known of the tensor, not its elements.
      if (schema->mutates && schema->base != "detach_")
        for (auto [arg, type] : llvm::zip(call.args, schema->args))
          if (type.type.write && isHere(arg))
            return true;
      for (OpResult result : user->getResults())
        if (isa<TensorType>(result.getType()) &&
            mayShare(*schema, result.getResultNumber()))
          work.push_back(result);
    }
  }
  return false;
}

/// The other form of a write: a result that the caller stores in the argument.
static bool isReplaced(func::FuncOp function, unsigned argument) {
  return WrittenArguments(function).contains(function.getArgument(argument));
}

FailureOr<ConstantPtr> constantOf(BlockArgument argument,
                                  const TensorMeta &meta) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  unsigned i = argument.getArgNumber();
  Attribute stated =
      function ? function.getArgAttr(i, names::kConstant) : nullptr;
  if (!stated)
    return ConstantPtr();
  auto bad = [&] {
    return emitError(argument.getLoc())
           << "[FT0107] " << names::kConstant << " of argument " << i << " ";
  };
  auto kind = function.getArgAttrOfType<StringAttr>(i, names::kKind);
  if (!kind || kind.getValue() != "constant")
    return bad() << "is the value of a \"constant\", which it is not";
  auto elements = dyn_cast<DenseElementsAttr>(stated);
  if (!elements)
    return bad() << "must be dense elements: " << stated;
  if (!constantBytes(meta))
    return bad() << "must not be: only tensors of at most "
                 << ConstantValue::kMostElements
                 << " integers, bools or floats carry their value, this is "
                 << meta.str();
  SmallVector<int64_t> shape;
  for (Dim size : meta.sizes)
    shape.push_back(size.value());
  if (ArrayRef<int64_t>(shape) != elements.getType().getShape() ||
      elements.getElementType() !=
          dtypeToType(argument.getContext(), meta.dtype))
    return bad() << "has the type " << elements.getType()
                 << ", the argument is " << meta.str();
  if (isWritten(function, i) || isReplaced(function, i))
    return ConstantPtr();
  auto value = std::make_shared<ConstantValue>();
  value->dtype = meta.dtype;
  if (value->isReal()) {
    for (APFloat v : elements.getValues<APFloat>())
      value->reals.push_back(v.convertToDouble());
  } else {
    bool isUnsignedType = meta.dtype == DType::Bool || isUnsigned(meta.dtype);
    for (const APInt &v : elements.getValues<APInt>())
      value->integers.push_back(isUnsignedType
                                    ? static_cast<int64_t>(v.getZExtValue())
                                    : v.getSExtValue());
  }
  return ConstantPtr(std::move(value));
}

} // namespace ft
