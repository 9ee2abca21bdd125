//===- Unregistered.cpp - Custom operators that nobody registered *- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/Unregistered.h"

#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/Places.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ft {

std::vector<UnregisteredOp> unregisteredOps(ModuleOp module) {
  llvm::MapVector<llvm::StringRef, UnregisteredOp> found;
  module.walk([&](CustomCallOp call) {
    if (!isUnregisteredCall(call))
      return;
    // A functional form comes with the operator that writes.
    llvm::StringRef name = call.getCallee().split('#').first;
    UnregisteredOp &op = found[name];
    if (op.count++)
      return;
    op.name = name.str();
    op.place = placeOf(call.getLoc());
  });
  std::vector<UnregisteredOp> ops;
  for (auto &[name, op] : found)
    ops.push_back(std::move(op));
  return ops;
}

static constexpr llvm::StringLiteral kSays = " not registered: ";

Diagnostic unregisteredDiagnostic(llvm::ArrayRef<UnregisteredOp> ops,
                                  llvm::StringRef where) {
  std::string text =
      std::to_string(ops.size()) +
      (ops.size() == 1 ? " custom operator is" : " custom operators are") +
      kSays.str();
  for (const UnregisteredOp &op : ops) {
    text += (&op == ops.begin() ? "" : "; ") + op.name + " (" +
            std::to_string(op.count) + (op.count == 1 ? " call" : " calls");
    text += op.place.empty() ? ")" : ", first at " + op.place + ")";
  }
  return {DiagId::UnregisteredOp, where.str(), std::move(text),
          "register them in a plug-in (foretrace/plugin.h) and give it with "
          "--plugin"};
}

std::vector<UnregisteredOp> parseUnregistered(llvm::StringRef message) {
  std::vector<UnregisteredOp> ops;
  llvm::SmallVector<llvm::StringRef> parts;
  message.split(kSays).second.split(parts, "; ", -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    UnregisteredOp op;
    auto [name, rest] = part.split(" (");
    op.name = name.str();
    // A place may hold anything; a part without a count is the rest of one.
    if (!rest.consumeInteger(10, op.count) && rest.consume_back(")")) {
      op.place = rest.split(", first at ").second.str();
      ops.push_back(std::move(op));
    }
  }
  return ops;
}

} // namespace ft
