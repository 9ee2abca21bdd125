//===- WrittenArguments.cpp - Results stored in arguments ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/WrittenArguments.h"

#include "dialects/ft/FtDialect.h"

using namespace mlir;

namespace ft {

llvm::StringRef mutationOf(llvm::StringRef kind) {
  kind.consume_front("given_");
  if (kind == "parameter")
    return "parameter_mutation";
  return kind == "input" ? "input_mutation" : "buffer_mutation";
}

bool isMutation(StringAttr role) {
  return role && role.getValue().ends_with("_mutation");
}

WrittenArguments::WrittenArguments(func::FuncOp function) {
  byResult.resize(function.getNumResults());
  // Most functions write nothing, and some have a thousand arguments.
  using Key = std::pair<StringAttr, StringAttr>;
  llvm::SmallVector<Key> keys(function.getNumResults());
  bool any = false;
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    auto role = function.getResultAttrOfType<StringAttr>(r, names::kRole);
    auto target = function.getResultAttrOfType<StringAttr>(r, names::kTarget);
    if (!isMutation(role) || !target)
      continue;
    keys[r] = {role, target};
    any = true;
  }
  if (!any)
    return;
  llvm::DenseMap<Key, BlockArgument> byName;
  for (BlockArgument argument : function.getArguments()) {
    unsigned n = argument.getArgNumber();
    auto kind = function.getArgAttrOfType<StringAttr>(n, names::kKind);
    auto target = function.getArgAttrOfType<StringAttr>(n, names::kTarget);
    if (!target || (kind && kind.getValue() == "packed"))
      continue;
    auto role = StringAttr::get(function.getContext(),
                                mutationOf(kind ? kind.getValue() : ""));
    byName[{role, target}] = argument;
  }
  for (unsigned r = 0; r < keys.size(); ++r)
    if (keys[r].first)
      if (BlockArgument argument = byName.lookup(keys[r])) {
        byResult[r] = argument;
        byArgument.try_emplace(argument, r);
      }
}

} // namespace ft
