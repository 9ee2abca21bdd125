//===- FtInliner.cpp - Functions of ft ops, inlined -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtInliner.h"

#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Transforms/InliningUtils.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Symbols in types and attributes
//===----------------------------------------------------------------------===//

static void collect(Dim dim, llvm::StringSet<> &names) {
  if (!dim.isStatic())
    dim.symbolic().collectSymbols(names);
}

static void collectFrom(Type type, llvm::StringSet<> &names) {
  AttrTypeWalker walker;
  walker.addWalk([&](MetaAttr meta) {
    for (Dim size : meta.getSizes())
      collect(size, names);
    for (Dim stride : meta.getStrides())
      collect(stride, names);
    collect(meta.getOffset(), names);
  });
  walker.walk(type);
}

/// The text of an expression (ft.value, ft.fact) as one; null if it is none.
static SymExpr expressionOf(Attribute text, SymContext &symbols) {
  auto string = dyn_cast_or_null<StringAttr>(text);
  if (!string)
    return {};
  llvm::Expected<SymExpr> parsed = symbols.parse(string.getValue());
  if (parsed)
    return *parsed;
  llvm::consumeError(parsed.takeError());
  return {};
}

namespace {
/// The names that symbols of an inlined body get.
class Renaming {
public:
  Renaming(ModuleOp module, SymContext &symbols)
      : module(module), symbols(symbols) {}

  void find(func::FuncOp callee, iterator_range<Region::iterator> blocks);
  bool empty() const { return fresh.empty(); }
  void apply(iterator_range<Region::iterator> blocks);
  void copySymbols();

private:
  SymExpr replaced(SymExpr e) {
    return symbols.substitute(e, [&](StringRef name) {
      auto it = fresh.find(name);
      return it == fresh.end() ? SymExpr() : symbols.symbol(it->second);
    });
  }
  Dim replaced(Dim dim) {
    return dim.isStatic() ? dim : Dim(replaced(dim.symbolic()));
  }
  Attribute replaced(StringAttr text) {
    SymExpr e = expressionOf(text, symbols);
    return e ? StringAttr::get(text.getContext(), replaced(e).str()) : text;
  }

  ModuleOp module;
  SymContext &symbols;
  llvm::StringMap<std::string> fresh;
};
} // namespace

/// The symbols of values in the body that are not those of the arguments.
void Renaming::find(func::FuncOp callee,
                    iterator_range<Region::iterator> blocks) {
  llvm::StringSet<> given, made, taken;
  // The body of a function that is not needed any more has moved already.
  for (auto [i, type] : llvm::enumerate(callee.getArgumentTypes())) {
    collectFrom(type, given);
    if (SymExpr e = expressionOf(callee.getArgAttr(i, names::kValue), symbols))
      e.collectSymbols(given);
  }
  auto look = [&](Operation *op, llvm::StringSet<> &into) {
    for (Type type : op->getResultTypes())
      collectFrom(type, into);
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        collectFrom(type, into);
    if (SymExpr e = expressionOf(op->getAttr(names::kValue), symbols))
      e.collectSymbols(into);
    for (StringRef list : {names::kCarriedNumbers, names::kResultNumbers})
      if (auto texts = op->getAttrOfType<ArrayAttr>(list))
        for (Attribute text : texts)
          if (SymExpr e = expressionOf(text, symbols))
            e.collectSymbols(into);
  };
  for (Block &block : blocks)
    block.walk([&](Operation *op) { look(op, made); });
  for (StringRef name : given.keys())
    made.erase(name);
  if (made.empty())
    return;
  module.walk([&](Operation *op) {
    if (auto symbol = dyn_cast<SymbolOp>(op))
      taken.insert(symbol.getSym());
    look(op, taken);
  });
  // In the order of the names: the same text is inlined the same way.
  SmallVector<StringRef> sorted(made.keys());
  llvm::sort(sorted);
  unsigned next = 0;
  for (StringRef name : sorted) {
    std::string other;
    do
      other = "u" + std::to_string(next++);
    while (taken.contains(other) || made.contains(other) ||
           given.contains(other));
    fresh[name] = other;
  }
}

void Renaming::apply(iterator_range<Region::iterator> blocks) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](MetaAttr meta) -> std::optional<Attribute> {
    auto all = [&](ArrayRef<Dim> dims) {
      SmallVector<Dim> result;
      for (Dim dim : dims)
        result.push_back(replaced(dim));
      return result;
    };
    return MetaAttr::get(meta.getContext(), all(meta.getSizes()),
                         all(meta.getStrides()), replaced(meta.getOffset()),
                         meta.getDevice(), meta.getConj(), meta.getNeg());
  });
  for (Block &block : blocks)
    block.walk([&](Operation *op) {
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                                 /*replaceLocs=*/false, /*replaceTypes=*/true);
      if (auto value = op->getAttrOfType<StringAttr>(names::kValue))
        op->setAttr(names::kValue, replaced(value));
      for (StringRef list : {names::kCarriedNumbers, names::kResultNumbers})
        if (auto texts = op->getAttrOfType<ArrayAttr>(list)) {
          SmallVector<Attribute> renamed;
          for (Attribute text : texts)
            renamed.push_back(replaced(cast<StringAttr>(text)));
          op->setAttr(list, ArrayAttr::get(op->getContext(), renamed));
        }
    });
}

/// What is known of a symbol is known of its copy.
void Renaming::copySymbols() {
  OpBuilder builder(module.getContext());
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    builder.setInsertionPoint(&op);
    if (auto symbol = dyn_cast<SymbolOp>(op)) {
      auto it = fresh.find(symbol.getSym());
      if (it == fresh.end())
        continue;
      auto copy = cast<SymbolOp>(builder.clone(op));
      copy.setSym(it->second);
    } else if (auto fact = dyn_cast<FactOp>(op)) {
      SymExpr e = expressionOf(fact.getRelationAttr(), symbols);
      SymExpr other = e ? replaced(e) : SymExpr();
      if (other && other != e)
        cast<FactOp>(builder.clone(op)).setRelation(other.str());
    }
  }
}

//===----------------------------------------------------------------------===//
// The hooks
//===----------------------------------------------------------------------===//

namespace {
struct FtInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

struct CallInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *callable, bool) const final {
    auto function = dyn_cast<func::FuncOp>(callable);
    return function && function.getBody().hasOneBlock();
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }

  void processInlinedCallBlocks(
      Operation *call, iterator_range<Region::iterator> blocks) const final {
    auto callee = dyn_cast_or_null<func::FuncOp>(
        cast<CallOpInterface>(call).resolveCallable());
    auto module = call->getParentOfType<ModuleOp>();
    auto *dialect = call->getContext()->getLoadedDialect<FtDialect>();
    if (!callee || !module || !dialect)
      return;
    Renaming renaming(module, dialect->symbolContext());
    renaming.find(callee, blocks);
    if (renaming.empty())
      return;
    renaming.apply(blocks);
    renaming.copySymbols();
  }

  void handleTerminator(Operation *op, ValueRange results) const final {
    if (!isa<func::ReturnOp>(op))
      return;
    OpBuilder builder(op);
    for (auto [result, returned] : llvm::zip(results, op->getOperands())) {
      Value value = returned;
      if (value.getType() != result.getType() &&
          isa<TensorType>(value.getType()))
        value =
            RefineOp::create(builder, op->getLoc(), result.getType(), value);
      result.replaceAllUsesWith(value);
    }
  }
};
} // namespace

void addFtInliner(FtDialect &dialect) {
  struct Adder : FtDialect {
    static void add(FtDialect &to) {
      (to.*(&Adder::addInterfaces<FtInlinerInterface>))();
    }
  };
  Adder::add(dialect);
}

void registerFtInliner(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, func::FuncDialect *dialect) {
    dialect->addInterfaces<CallInlinerInterface>();
  });
}

} // namespace ft
