//===- CheckGraph.cpp - What the lower stage relies on ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/CheckGraph.h"

#include "compiler/lower/LowerState.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/WrittenArguments.h"

using namespace mlir;

namespace ft {

/// As many as the interface of a compiled model holds.
static constexpr int64_t kMaxRank = 64;

LogicalResult checkValues(func::FuncOp source, std::optional<Device> device) {
  if (!source.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(source.getBody().front().getTerminator()))
    return source.emitError("[FT0501] control flow between blocks cannot be "
                            "compiled: @forward must be one block");
  auto check = [&](Value v, Location loc) -> LogicalResult {
    if (!isa<TensorType>(v.getType()))
      return success();
    std::optional<TensorMeta> meta = metaOf(v);
    if (!meta)
      return emitError(loc, "[FT0309] a value has no annotation");
    if (meta->rank() > kMaxRank)
      return emitError(loc, "[FT0501] a compiled model takes tensors of at "
                            "most ")
             << kMaxRank << " dims, this one has " << meta->rank();
    if (meta->device.kind == Device::Meta)
      return emitError(loc, "[FT0502] a value on the meta device has no data "
                            "to compute with: ")
             << meta->str();
    if (device && !(meta->device == *device))
      return emitError(loc, "[FT0501] code is made for ")
             << device->str() << ", and a value is elsewhere: " << meta->str();
    return success();
  };
  for (BlockArgument arg : source.getArguments()) {
    if (failed(check(arg, arg.getLoc())))
      return failure();
    // The function of a region gets its numbers from the code around it.
    if (!isa<TensorType>(arg.getType()) && !arg.use_empty() &&
        !source->hasAttr(names::kKnown))
      return (*arg.user_begin())
          ->emitError("[FT0311] a number that the caller passes cannot be an "
                      "argument yet");
    // Of a computed value the rules hold the elements as they are seen, so the
    // flags say nothing more; memory of others holds what they are made from.
    std::optional<TensorMeta> meta = metaOf(arg);
    if (meta && (meta->conj || meta->neg))
      return emitError(arg.getLoc(), "[FT0501] lazily conjugated or negated "
                                     "arguments cannot be compiled yet: ")
             << meta->str();
  }
  for (Operation &op : source.getBody().front()) {
    for (Value v : op.getResults())
      if (failed(check(v, op.getLoc())))
        return failure();
  }
  return success();
}

/// What an argument is and what it is called.
static LogicalResult checkArguments(func::FuncOp forward) {
  constexpr llvm::StringLiteral kKinds[] = {"parameter", "buffer", "constant"};
  for (BlockArgument arg : forward.getArguments()) {
    unsigned n = arg.getArgNumber();
    if (!isa<TensorType>(arg.getType()))
      continue;
    auto bad = [&](StringRef name) {
      return emitError(arg.getLoc(), "[FT0107] argument ")
             << n << " of @forward: " << name;
    };
    auto kind = forward.getArgAttrOfType<StringAttr>(n, names::kKind);
    if (!kind || !(isGivenByCaller(kind.getValue()) ||
                   llvm::is_contained(kKinds, kind.getValue())))
      return bad("ft.kind must be \"input\", \"tangent\", \"parameter\", "
                 "\"buffer\" or \"constant\"");
    Attribute target = forward.getArgAttr(n, names::kTarget);
    if (target && !isa<StringAttr>(target))
      return bad("ft.target must be its name in the model");
    Attribute weight = forward.getArgAttr(n, names::kWeight);
    if (weight && !isa<StringAttr>(weight))
      return bad("ft.weight must be the name of a record");
  }
  return success();
}

/// A result that is written back needs the argument that it goes to.
static LogicalResult checkResults(func::FuncOp forward) {
  WrittenArguments written(forward);
  constexpr llvm::StringLiteral kRoles[] = {
      "output",          "loss",           "gradient",          "saved",
      "buffer_mutation", "input_mutation", "parameter_mutation"};
  Operation *end = forward.getBody().front().getTerminator();
  for (auto [n, value] : llvm::enumerate(end->getOperands())) {
    auto r = static_cast<unsigned>(n);
    auto bad = [&, at = value.getLoc()](const Twine &what) {
      return emitError(at, "[FT0107] result ") << r << " of @forward: " << what;
    };
    Attribute attr = forward.getResultAttr(r, names::kRole);
    if (!attr)
      continue;
    auto role = dyn_cast<StringAttr>(attr);
    if (!role || !llvm::is_contained(kRoles, role.getValue()))
      return bad("ft.role must be \"output\", \"loss\", \"gradient\" or "
                 "\"{buffer,parameter,input}_mutation\"");
    if (!isMutation(role))
      continue;
    BlockArgument argument = written.of(r);
    if (!argument)
      return bad("ft.target names no argument to write");
    std::optional<TensorMeta> to = metaOf(argument);
    std::optional<TensorMeta> from = metaOf(value);
    if (!to || !from || to->sizes != from->sizes || to->dtype != from->dtype)
      return bad("does not fit '" +
                 forward
                     .getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                   names::kTarget)
                     .getValue() +
                 "', which it writes");
  }
  return success();
}

LogicalResult checkInterface(func::FuncOp forward) {
  return success(succeeded(checkArguments(forward)) &&
                 succeeded(checkResults(forward)));
}

} // namespace ft
