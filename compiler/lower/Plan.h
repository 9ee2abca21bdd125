//===- Plan.h - The interface and the memory of a lowered model *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_PLAN_H
#define FORETRACE_COMPILER_LOWER_PLAN_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ft {

/// An input or output of the model, in the order of ft_gen_forward's arrays.
struct PlannedValue {
  std::string name;
  /// The annotated type.
  mlir::RankedTensorType type;
  /// An input that the call writes.
  bool written = false;
  /// In a program of a model that is trained: the ft.kind of an input and the
  /// ft.role of an output, where it is another than "input" and "output".
  std::string kind = {};
  /// Of a given parameter or buffer: the record with its value at the start.
  std::string record = {};
  /// A saved value that is in the arena of the call, not in memory that is
  /// given to it.
  bool inArena = false;
};

/// A parameter, buffer or constant by its name in the model; -1: not kept.
struct PlannedState {
  std::string name;
  mlir::RankedTensorType type;
  bool isParameter = false;
  int64_t weightsOffset = -1;
  int64_t stateOffset = -1;
};

/// A piece of the weights, in bytes from their start. It is made from record
/// `record` of the archive, seen as `view` (whose offset is absolute in the
/// storage); `dims`, `coef` and `base` as in compiler/emit/Artefact.h (no dims:
/// a dense row-major copy of the view).
struct PlannedConstant {
  int64_t offset = 0;
  std::string record;
  mlir::RankedTensorType view;
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> coef;
  std::vector<int64_t> base;
};

/// A size that the run decides. Sizes of the caller's tensors are read from
/// dim `dim` of input `input`, which has `scale` * symbol + `offset` elements;
/// `input` is -1 for sizes that the data decide, which a kernel tells.
struct PlannedSymbol {
  /// As in types ("s0"), and as the user calls it ("batch").
  std::string name, title;
  int64_t lower = 0;
  int64_t upper = std::numeric_limits<int64_t>::max();
  int64_t hint = 2;
  int64_t input = -1, dim = 0, scale = 1, offset = 0;
};

/// The C kernel of a custom operator that the model calls, and the object files
/// or archives to link it from.
struct PlannedKernel {
  std::string op;
  std::string symbol;
  std::vector<std::string> files;
};

/// The module attribute `ft.plan`, unpacked.
struct Plan {
  std::vector<PlannedValue> inputs, outputs;
  std::vector<PlannedState> state;
  std::vector<PlannedConstant> constants;
  /// Both left out of the attribute if there are none.
  std::vector<PlannedKernel> kernels;
  std::vector<PlannedSymbol> symbols;
  /// With symbols: at their hints.
  int64_t arenaBytes = 0;
  int64_t weightsBytes = 0;
  int64_t stateBytes = 0;

  void attachTo(mlir::ModuleOp module) const;
  /// Nothing if the module has no plan, or a malformed one.
  static std::optional<Plan> of(mlir::ModuleOp module);
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_PLAN_H
