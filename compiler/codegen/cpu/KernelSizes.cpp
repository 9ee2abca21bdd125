//===- KernelSizes.cpp - The sizes of a kernel's tensors ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/KernelSizes.h"

#include "compiler/codegen/cpu/TensorWalk.h"
#include "dialects/ft/FtDialect.h"

#include <limits>

using namespace mlir;

namespace ft {

static Dims plain(ArrayRef<int64_t> numbers) {
  return Dims(numbers.begin(), numbers.end());
}

FailureOr<KernelSizes> KernelSizes::read(func::FuncOp kernel) {
  KernelSizes result;
  for (BlockArgument arg : kernel.getArguments()) {
    unsigned n = arg.getArgNumber();
    if (auto name = kernel.getArgAttrOfType<StringAttr>(n, names::kSymbol)) {
      auto *dialect = kernel.getContext()->getOrLoadDialect<FtDialect>();
      auto number = [&](StringRef attr, int64_t otherwise) {
        auto value = kernel.getArgAttrOfType<IntegerAttr>(n, attr);
        return value ? value.getInt() : otherwise;
      };
      int64_t low = number(names::kLower, 0);
      int64_t high = number(names::kUpper, std::numeric_limits<int64_t>::max());
      int64_t hint = number(names::kHint, std::max<int64_t>(low, 2));
      SymContext &context = dialect->symbolContext();
      if (!result.known)
        result.known = std::make_unique<FactBase>(context);
      result.known->declare(context.symbol(name.getValue()), {low, high}, hint);
      result.symbols[name.getValue()] = {arg, hint};
      continue;
    }
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type)
      continue;
    SmallVector<int64_t> numbers = staticStrides(type);
    if (type.hasStaticShape() &&
        !llvm::any_of(numbers, ShapedType::isDynamic)) {
      result.say(arg, plain(type.getShape()));
      result.stridesOf[arg] = plain(numbers);
      continue;
    }
    auto layout = kernel.getArgAttrOfType<TypeAttr>(n, names::kLayout);
    std::optional<TensorMeta> meta;
    if (layout)
      meta = metaFromType(layout.getValue());
    if (!meta || meta->rank() != type.getRank()) {
      kernel.emitError("argument ")
          << n << " has no static shape and layout: " << type;
      return failure();
    }
    result.say(arg, meta->sizes);
    result.stridesOf[arg] = Dims(meta->strides.begin(), meta->strides.end());
  }
  return result;
}

int64_t KernelSizes::estimate(Dim d, int64_t least) const {
  if (d.isStatic())
    return std::max(d.value(), least);
  SymValue v =
      SymContext::evaluate(d.symbolic(), [&](StringRef name, int64_t &value) {
        auto it = symbols.find(name);
        if (it == symbols.end())
          return false;
        value = it->second.hint;
        return true;
      });
  return v ? std::max(v.value, least) : std::max<int64_t>(least, 64);
}

std::optional<int64_t> KernelSizes::most(Dim d) const {
  if (d.isStatic())
    return d.value();
  if (!known)
    return std::nullopt;
  Interval range = known->bounds(d.symbolic());
  if (range.hi == Interval::kMax)
    return std::nullopt;
  return range.hi;
}

} // namespace ft
