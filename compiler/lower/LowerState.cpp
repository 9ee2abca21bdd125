//===- LowerState.cpp - What lowering one function keeps -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/LowerState.h"

#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

LowerState::LowerState(func::FuncOp source, func::FuncOp target,
                       llvm::function_ref<int64_t(DType)> panelWidth)
    : source(source), target(target), panelWidth(panelWidth) {
  for (unsigned r = 0; r < source.getNumResults(); ++r) {
    auto role = source.getResultAttrOfType<StringAttr>(r, names::kRole);
    auto name = source.getResultAttrOfType<StringAttr>(r, names::kTarget);
    if (role && name && role.getValue().ends_with("_mutation"))
      writtenTargets.insert(name.getValue());
  }
}

Value LowerState::sizeValue(Dim size) {
  OpBuilder b(target.getContext());
  Block &body = target.getBody().front();
  b.setInsertionPointToStart(&body);
  if (size.isStatic())
    return arith::ConstantIndexOp::create(b, target.getLoc(), size.value());
  Value &known = sizes[size.symbolic()];
  if (!known)
    known = SizeOp::create(b, target.getLoc(), b.getIndexType(),
                           b.getStringAttr(size.str()));
  return known;
}

OpFoldResult LowerState::sizeOperand(Dim size) {
  if (size.isStatic())
    return Builder(target.getContext()).getIndexAttr(size.value());
  return sizeValue(size);
}

void LowerState::closeGroup(llvm::StringRef from) {
  Block &body = target.getBody().front();
  Builder b(target.getContext());
  bool any = false;
  for (auto it = lastTagged ? std::next(lastTagged->getIterator())
                            : body.begin();
       it != body.end(); ++it) {
    lastTagged = &*it;
    if (isa<arith::ConstantOp, SizeOp>(*it))
      continue;
    any = true;
    it->setAttr(names::kGroup, b.getI64IntegerAttr(group));
    it->setAttr(names::kFrom, b.getStringAttr(from));
  }
  group += any;
}

/// Whether result `r` of the call has the storage and, through its annotated
/// strides, the elements of an operand. Ops that copy when they must
/// (`reshape`, `contiguous`, `to`) only count where they provably do not.
static Value viewedOperand(OpResult result) {
  Operation *op = result.getOwner();
  const Schema *schema = schemaOf(op);
  if (!schema || schema->mutates)
    return {};
  unsigned r = result.getResultNumber();
  int arg = schema->aliasedArg(
      r < schema->returns.size()
          ? r
          : static_cast<unsigned>(schema->returns.size()) - 1);
  if (arg < 0)
    return {};
  AtenCall call = AtenCall::decode(op);
  Value base = call.tensor(static_cast<unsigned>(arg));
  std::optional<TensorMeta> from = base ? metaOf(base) : std::nullopt;
  std::optional<TensorMeta> to = metaOf(result);
  if (!from || !to || from->dtype != to->dtype || from->device != to->device ||
      from->conj != to->conj || from->neg != to->neg)
    return {};
  bool mayCopy = schema->base == "reshape" || schema->base == "contiguous" ||
                 schema->base == "to" || schema->base == "flatten" ||
                 schema->base == "reshape_as" || schema->base == "ravel";
  if (mayCopy && !(isContiguous(*from) && isContiguous(*to)))
    return {};
  return base;
}

BlockArgument LowerState::constantRoot(Value value) const {
  while (auto result = dyn_cast<OpResult>(value)) {
    value = viewedOperand(result);
    if (!value)
      return {};
  }
  auto arg = cast<BlockArgument>(value);
  func::FuncOp function = source; // its accessors are not const
  if (arg.getOwner() != &function.getBody().front())
    return {};
  unsigned n = arg.getArgNumber();
  auto kind = function.getArgAttrOfType<StringAttr>(n, names::kKind);
  auto name = function.getArgAttrOfType<StringAttr>(n, names::kTarget);
  if (!kind || kind.getValue() == "input" ||
      (name && writtenTargets.contains(name.getValue())))
    return {};
  return arg;
}

LoweredTensor LowerState::packedArgument(BlockArgument root,
                                         RankedTensorType view,
                                         ArrayRef<int64_t> dims, ArrayAttr coef,
                                         ArrayRef<int64_t> base) {
  Builder b(target.getContext());
  LoweredTensor result;
  result.dtype = *dtypeFromType(view.getElementType());
  for (size_t i = 0; i < dims.size(); ++i)
    result.order.push_back(static_cast<unsigned>(i));
  auto attrs = b.getDictionaryAttr({
      b.getNamedAttr(names::kKind, b.getStringAttr("packed")),
      b.getNamedAttr(names::kSource, b.getI64IntegerAttr(root.getArgNumber())),
      b.getNamedAttr(names::kMeta, TypeAttr::get(view)),
      b.getNamedAttr(names::kDims, b.getDenseI64ArrayAttr(dims)),
      b.getNamedAttr(names::kCoef, coef),
      b.getNamedAttr(names::kBase, b.getDenseI64ArrayAttr(base)),
  });
  Value &argument = packedByKey[attrs];
  if (!argument) {
    auto type =
        RankedTensorType::get(dims, storageType(b.getContext(), result.dtype));
    unsigned index = target.getNumArguments();
    (void)target.insertArgument(index, type, attrs, root.getLoc());
    argument = target.getArgument(index);
  }
  result.value = argument;
  return result;
}

} // namespace ft
