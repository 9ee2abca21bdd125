//===- GraphRegions.h - Branches and loops of an archive -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_PT2_GRAPHREGIONS_H
#define FORETRACE_COMPILER_IMPORT_PT2_GRAPHREGIONS_H

#include "compiler/import/pt2/Schema.h"

#include "llvm/ADT/SmallVector.h"

namespace ft::pt2 {

/// A node that becomes an op with regions, its inputs sorted by what they are.
///
///   cond(predicate, graph, graph, captured)      → ft.cond
///   while_loop(graph, graph, inits, captured)    → ft.while
///   scan(graph, inits, xs, captured)             → ft.scan
///   map_impl(graph, xs, captured)                → ft.scan without inits
struct ControlNode {
  enum Kind : uint8_t { None, Cond, While, Scan };
  Kind kind = None;
  const Argument *predicate = nullptr;
  llvm::SmallVector<const Argument *, 2> graphs;
  /// Lists within lists are taken apart, as the graphs' own inputs are.
  llvm::SmallVector<const Argument *, 8> inits, xs, captured;

  /// Of kind None for every other operator, and for inputs of another form.
  static ControlNode of(const Node &node);
  explicit operator bool() const { return kind != None; }
};

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_GRAPHREGIONS_H
