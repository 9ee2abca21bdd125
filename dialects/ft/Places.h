//===- Places.h - Where an operation comes from, for messages --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_PLACES_H
#define FORETRACE_DIALECTS_FT_PLACES_H

#include "mlir/IR/Location.h"

#include <string>

namespace ft {

/// "linear_3, block.py:31": the name of the node and the user's own place, as
/// far as the location holds them; may be empty. For lists inside of a message;
/// the place of a whole message is its location.
std::string placeOf(mlir::Location location);

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_PLACES_H
