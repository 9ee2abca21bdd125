//===- Places.cpp - Where an operation comes from, for messages *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Places.h"

using namespace mlir;

namespace ft {

std::string placeOf(Location location) {
  std::string name, file;
  location->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part)) {
      if (name.empty())
        name = named.getName().str();
    } else if (auto line = dyn_cast<FileLineColLoc>(part)) {
      if (file.empty() && line.getLine() != 0)
        file =
            (line.getFilename().getValue() + ":" + Twine(line.getLine())).str();
    }
    return WalkResult::advance();
  });
  if (name.empty() || file.empty())
    return name.empty() ? file : name;
  return name + ", " + file;
}

} // namespace ft
