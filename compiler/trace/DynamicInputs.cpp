//===- DynamicInputs.cpp - Sizes of inputs that calls choose ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/trace/TraceState.h"

#include "llvm/Support/Error.h"

using namespace llvm;

namespace ft::detail {

/// "1..64", "2..", "..64"
static bool parseRange(StringRef text, Interval &range) {
  auto [low, high] = text.split("..");
  if (!text.contains("..") || (low.empty() && high.empty()))
    return false;
  return (low.empty() || !low.getAsInteger(10, range.lo)) &&
         (high.empty() || !high.getAsInteger(10, range.hi)) && range.lo >= 0 &&
         range.lo <= range.hi;
}

bool TraceState::makeDynamic(StringRef input, const TensorDesc &desc,
                             TensorMeta &meta, const Here &here) {
  SymContext &symbols = scope->symbols();
  for (const auto &[dim, given] : desc.dynamicSizes()) {
    std::string text = given;
    std::string where = (input + ":" + Twine(dim)).str();
    auto refuse = [&](const Twine &why) {
      fail(DiagId::DeclaredSize, here,
           where + " was declared to be '" + given + "': " + why);
      return false;
    };
    if (dim >= meta.sizes.size())
      return refuse("there is no such dim of " + meta.str());
    if (!meta.sizes[dim].isStatic())
      return refuse("it was declared before");
    Interval range = Interval::atLeast(0);
    bool ranged = StringRef(text).ends_with("]");
    if (ranged) {
      auto [name, rest] = StringRef(text).drop_back().split('[');
      if (!parseRange(rest, range))
        return refuse("its range is not LOWEST..HIGHEST");
      text = name.str();
    }
    if (text.empty())
      text = (input + "_" + Twine(dim)).str();
    Expected<SymExpr> parsed = symbols.parse(text);
    if (!parsed)
      return refuse(toString(parsed.takeError()));
    SymExpr size = *parsed;
    if (size.isPredicate() || (ranged && size.kind() != SymKind::Symbol))
      return refuse(ranged ? "only a name has a range" : "it is no size");
    int64_t example = meta.sizes[dim].value();
    StringSet<> names;
    size.collectSymbols(names);
    SmallVector<StringRef> made;
    for (const auto &name : names)
      if (!sizeNames.contains(name.getKey()))
        made.push_back(name.getKey());
    if (made.size() > 1)
      return refuse("it makes two names at once");
    if (made.empty() && ranged)
      return refuse("the name has a range already");
    if (!made.empty()) {
      SymTerm storage;
      SymExpr::Affine sum = size.affine(storage);
      if (sum.terms.size() != 1 || sum.terms[0].k < 1 ||
          sum.terms[0].expr.kind() != SymKind::Symbol)
        return refuse("the example does not tell what " + made[0] + " is");
      if ((example - sum.constant) % sum.terms[0].k != 0)
        return refuse("it is " + Twine(example) + " in the example");
      SymbolInfo info;
      info.userName = made[0].str();
      info.input = input.str();
      info.dim = static_cast<int64_t>(dim);
      info.hint = (example - sum.constant) / sum.terms[0].k;
      info.range = range;
      if (*info.hint < range.lo || *info.hint > range.hi)
        return refuse("it is " + Twine(example) + " in the example");
      std::string symbol = "s" + std::to_string(sizeNames.size());
      scope->reserveName(symbol);
      sizeNames[made[0]] = shapes->addInputSize(symbol, info);
    }
    size = symbols.substitute(
        size, [&](StringRef name) { return sizeNames.lookup(name); });
    if (!size || shapes->hint(size) != example)
      return refuse("it is " + Twine(example) + " in the example");
    meta.sizes[dim] = Dim(size);
    scope->allowGuards();
  }
  if (!desc.dynamicSizes().empty())
    meta.strides = contiguousStrides(meta.sizes);
  if (!desc.dynamicSizes().empty() && desc.strides()) {
    fail(DiagId::FakeShape, here,
         "'" + input + "' has dynamic sizes, and strides that do not follow");
    return false;
  }
  return true;
}

std::optional<bool> TraceState::branch(SymExpr predicate) {
  if (!predicate)
    return std::nullopt;
  if (std::optional<bool> known = scope->answer(predicate))
    return known;
  std::optional<int64_t> value = shapes->hint(predicate);
  if (!value)
    return std::nullopt;
  SymExpr fact = *value ? predicate : scope->symbols().logicalNot(predicate);
  shapes->declare(fact, {"a branch of the program", ""});
  branchFacts.push_back(fact);
  return *value != 0;
}

} // namespace ft::detail
