//===- GraphReader.h - JSON → the structs of Schema.h ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_PT2_GRAPHREADER_H
#define FORETRACE_COMPILER_IMPORT_PT2_GRAPHREADER_H

#include "compiler/import/pt2/JsonReader.h"
#include "compiler/import/pt2/Schema.h"

namespace ft::pt2 {

// All return false after a mistake, which the JsonAt's Errors hold.
bool readGraph(const JsonAt &at, Graph &graph);
bool readArgument(const JsonAt &at, Argument &argument);
bool readTensorInfo(const JsonAt &at, TensorInfo &info);
/// {"name": …}: a reference to a value.
bool readNamed(const JsonAt &at, Argument::Kind kind, Argument &argument);

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_GRAPHREADER_H
