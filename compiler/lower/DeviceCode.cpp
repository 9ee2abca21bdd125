//===- DeviceCode.cpp - Which operators have code for a GPU ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/DeviceCode.h"

#include "llvm/ADT/StringSet.h"

namespace ft {

bool hasDeviceCode(const Schema &schema) {
  static const llvm::StringSet<> hostOnly = {
#define FT_HOST_ONLY(name) name,
#include "compiler/lower/HostOnly.def"
  };
  return !hostOnly.contains(schema.name);
}

} // namespace ft
