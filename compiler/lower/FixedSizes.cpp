//===- FixedSizes.cpp - Sizes that guards make numbers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/FixedSizes.h"

#include "dialects/ft/FtOps.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ft {

namespace {
class Fixer {
public:
  explicit Fixer(func::FuncOp function)
      : function(function), context(function.getContext()
                                        ->getOrLoadDialect<FtDialect>()
                                        ->symbolContext()) {}

  void run() {
    llvm::StringSet<> told;
    for (BlockArgument arg : function.getArguments())
      if (std::optional<TensorMeta> meta = metaOf(arg))
        for (Dim d : meta->sizes)
          if (!d.isStatic())
            d.symbolic().collectSymbols(told);
    auto module = function->getParentOfType<ModuleOp>();
    if (!module)
      return;
    noteFacts(module, told);
    if (numbers.empty())
      return;
    for (BlockArgument arg : function.getArguments())
      arg.setType(fixed(arg.getType()));
    AttrTypeReplacer numbered;
    numbered.addReplacement(
        [&](DictionaryAttr argument) { return fixed(argument); });
    function.walk([&](Operation *op) {
      // Arguments that are sizes, wherever they stand in a list.
      numbered.replaceElementsIn(op, /*replaceAttrs=*/true,
                                 /*replaceLocs=*/false,
                                 /*replaceTypes=*/false);
      for (Value v : op->getResults())
        v.setType(fixed(v.getType()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument arg : block.getArguments())
            arg.setType(fixed(arg.getType()));
      if (auto text = op->getAttrOfType<StringAttr>(names::kValue))
        op->setAttr(names::kValue, fixed(text));
      if (auto assertion = dyn_cast<AssertOp>(op))
        assertion.setRelationAttr(fixed(assertion.getRelationAttr()));
    });
    SmallVector<Type> results;
    for (Type type : function.getResultTypes())
      results.push_back(fixed(type));
    function.setFunctionType(FunctionType::get(
        function.getContext(), function.getBody().getArgumentTypes(), results));
  }

private:
  /// With one number known, other facts may say more.
  void noteFacts(ModuleOp module, const llvm::StringSet<> &told) {
    for (bool more = true; more;) {
      more = false;
      for (auto fact : llvm::make_early_inc_range(module.getOps<FactOp>())) {
        fact.setRelationAttr(fixed(fact.getRelationAttr()));
        if (!note(fact.getRelation(), told))
          continue;
        fact.erase();
        more = true;
      }
    }
  }

  /// k*s + c == 0 of a symbol that inputs tell.
  bool note(StringRef relation, const llvm::StringSet<> &told) {
    llvm::Expected<SymExpr> parsed = context.parse(relation);
    if (!parsed) {
      llvm::consumeError(parsed.takeError());
      return false;
    }
    if (!*parsed || parsed->kind() != SymKind::Eq)
      return false;
    SymTerm storage;
    SymExpr::Affine sum = parsed->terms()[0].expr.affine(storage);
    if (sum.terms.size() != 1 || sum.terms[0].expr.kind() != SymKind::Symbol ||
        !told.contains(sum.terms[0].expr.name()) ||
        sum.constant % sum.terms[0].k != 0)
      return false;
    numbers[sum.terms[0].expr.name()] = -sum.constant / sum.terms[0].k;
    return true;
  }

  SymExpr fixed(SymExpr e) {
    return context.substitute(e, [&](StringRef name) {
      auto it = numbers.find(name);
      return it == numbers.end() ? SymExpr() : context.constant(it->second);
    });
  }
  Dim fixed(Dim d) {
    SymExpr e = d.isStatic() ? SymExpr() : fixed(d.symbolic());
    return e ? Dim(e) : d;
  }
  Type fixed(Type type) {
    std::optional<TensorMeta> meta = metaFromType(type);
    if (!meta)
      return type;
    for (Dims *dims : {&meta->sizes, &meta->strides})
      for (Dim &d : *dims)
        d = fixed(d);
    meta->offset = fixed(meta->offset);
    return typeFromMeta(function.getContext(), *meta);
  }
  /// {size = "s"}, an argument that is a size.
  std::optional<Attribute> fixed(DictionaryAttr argument) {
    auto text = argument.size() == 1 ? argument.getAs<StringAttr>("size")
                                     : StringAttr();
    if (!text)
      return std::nullopt;
    Builder b(function.getContext());
    StringAttr value = fixed(text);
    int64_t number;
    if (!value.getValue().getAsInteger(10, number))
      return b.getI64IntegerAttr(number);
    return b.getDictionaryAttr(b.getNamedAttr("size", value));
  }
  StringAttr fixed(StringAttr text) {
    llvm::Expected<SymExpr> e = context.parse(text.getValue());
    if (!e) {
      llvm::consumeError(e.takeError());
      return text;
    }
    SymExpr value = *e ? fixed(*e) : SymExpr();
    return value ? StringAttr::get(text.getContext(), value.str()) : text;
  }

  func::FuncOp function;
  SymContext &context;
  llvm::StringMap<int64_t> numbers;
};
} // namespace

void fixSizes(func::FuncOp function) { Fixer(function).run(); }

} // namespace ft
