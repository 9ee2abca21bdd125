//===- SymbolCheck.cpp - What a text says of its symbols -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/text/SymbolCheck.h"

#include "compiler/fake/ModuleScope.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ft {

namespace {
class SymbolCheck {
public:
  SymbolCheck(ModuleOp module, func::FuncOp forward)
      : module(module), forward(forward) {}
  LogicalResult run();

private:
  LogicalResult checkStated(SymbolOp op);
  LogicalResult checkSource(SymbolOp op);
  LogicalResult checkArgument(BlockArgument argument, ModuleScope &scope);
  LogicalResult checkDeclared(Location loc, Type type);

  ModuleOp module;
  func::FuncOp forward;
  llvm::StringSet<> declared;
  /// Types are unique, and a text has few.
  llvm::DenseSet<Type> seen;
};
} // namespace

/// What an argument is by its type, or by what it declares.
static std::optional<TensorMeta> metaOf(func::FuncOp forward, unsigned i) {
  if (auto meta = metaFromType(forward.getArgument(i).getType()))
    return meta;
  auto type = forward.getArgAttrOfType<TypeAttr>(i, names::kDeclared);
  return type ? metaFromType(type.getValue()) : std::nullopt;
}

static bool mentions(Dim d, StringRef symbol) {
  if (d.isStatic())
    return false;
  llvm::StringSet<> all;
  d.symbolic().collectSymbols(all);
  return all.contains(symbol);
}

/// "x:0" is dim 0 of the argument x, "n" the integer argument n.
LogicalResult SymbolCheck::checkSource(SymbolOp op) {
  StringRef source = op.getSource().value_or("");
  auto wrong = [&](const Twine &why) {
    return op.emitError("[FT0107] the source '")
           << source << "' of symbol '" << op.getSym() << "' " << why.str();
  };
  bool ofInput = false;
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    auto name = forward.getArgAttrOfType<StringAttr>(i, names::kName);
    std::optional<TensorMeta> meta = metaOf(forward, i);
    std::optional<Dim> number =
        meta ? std::nullopt : argumentNumber(forward, i);
    ofInput |= number && mentions(*number, op.getSym());
    if (meta)
      for (Dim d : meta->sizes)
        ofInput |= mentions(d, op.getSym());
    StringRef rest = source;
    if (!name || name.empty() || !rest.consume_front(name.getValue()))
      continue;
    if (rest.empty() && number)
      return mentions(*number, op.getSym())
                 ? success()
                 : LogicalResult(wrong("is an argument without it"));
    unsigned dim;
    if (!rest.consume_front(":") || rest.getAsInteger(10, dim) || !meta)
      continue;
    if (dim >= meta->sizes.size())
      return wrong("is no dim of " + meta->str());
    return mentions(meta->sizes[dim], op.getSym())
               ? success()
               : LogicalResult(wrong("is a dim without it: " + meta->str()));
  }
  // Of a symbol that an operation made it is the operation's name.
  if (!ofInput || source.empty())
    return success();
  return wrong("is neither a dim of an argument (x:0) nor an integer one");
}

LogicalResult SymbolCheck::checkStated(SymbolOp op) {
  auto number = [](std::optional<uint64_t> v) {
    return v ? std::optional(static_cast<int64_t>(*v)) : std::nullopt;
  };
  auto text = [](std::optional<int64_t> v) {
    return v ? std::to_string(*v) : std::string("any");
  };
  std::optional<int64_t> hint = number(op.getHint());
  std::optional<int64_t> lower = number(op.getLower());
  std::optional<int64_t> upper = number(op.getUpper());
  if (hint && ((lower && *hint < *lower) || (upper && *hint > *upper)))
    return op.emitError("[FT0107] the hint ")
           << *hint << " of symbol '" << op.getSym()
           << "' is outside of its range, " << text(lower) << " to "
           << text(upper);
  return checkSource(op);
}

LogicalResult SymbolCheck::checkArgument(BlockArgument argument,
                                         ModuleScope &scope) {
  std::optional<TensorMeta> meta = metaOf(forward, argument.getArgNumber());
  if (!meta)
    return success();
  ShapeEnv &env = scope.scope().env();
  SymContext &symbols = env.context();
  auto check = [&](Dim d, const Twine &what) -> LogicalResult {
    if (d.isStatic()
            ? d.value() >= 0
            : env.isTrue(symbols.ge(d.symbolic(), symbols.constant(0))))
      return success();
    return emitError(argument.getLoc())
           << "[FT0107] " << what.str() << " of argument "
           << argument.getArgNumber() << " of @forward, " << d.str()
           << ", can be negative, as far as the ranges and facts say";
  };
  for (auto [i, size] : llvm::enumerate(meta->sizes))
    if (failed(check(size, "size " + Twine(i))))
      return failure();
  for (auto [i, stride] : llvm::enumerate(meta->strides))
    if (failed(check(stride, "stride " + Twine(i))))
      return failure();
  return check(meta->offset, "the storage offset");
}

LogicalResult SymbolCheck::checkDeclared(Location loc, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto meta =
      tensor ? dyn_cast_or_null<MetaAttr>(tensor.getEncoding()) : MetaAttr();
  if (!meta || !seen.insert(type).second)
    return success();
  llvm::StringSet<> used;
  auto collect = [&](Dim d) {
    if (!d.isStatic())
      d.symbolic().collectSymbols(used);
  };
  llvm::for_each(meta.getSizes(), collect);
  llvm::for_each(meta.getStrides(), collect);
  collect(meta.getOffset());
  for (StringRef name : used.keys())
    if (!declared.contains(name))
      return emitError(loc) << "[FT0107] the symbol '" << name << "' of "
                            << type << " is not declared; state it as "
                            << "ft.symbol \"" << name << "\"";
  return success();
}

LogicalResult SymbolCheck::run() {
  bool sound = true;
  for (SymbolOp op : module.getOps<SymbolOp>()) {
    declared.insert(op.getSym());
    sound &= succeeded(checkStated(op));
  }
  for (BlockArgument argument : forward.getArguments())
    sound &= succeeded(checkDeclared(argument.getLoc(), argument.getType()));
  forward.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      sound &= succeeded(checkDeclared(op->getLoc(), type));
  });
  if (!sound)
    return failure();
  ModuleScope scope(module, forward, ModuleScope::Use::Keep);
  if (failed(scope.verify()))
    return failure();
  for (BlockArgument argument : forward.getArguments())
    sound &= succeeded(checkArgument(argument, scope));
  return success(sound);
}

LogicalResult checkSymbols(ModuleOp module) {
  auto stage = module->getAttrOfType<StringAttr>(names::kStage);
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!forward || forward.isExternal() ||
      (stage && stage != "import" && stage != "fake"))
    return success();
  return SymbolCheck(module, forward).run();
}

} // namespace ft
