//===- Repropagate.h - Annotates a graph for other inputs ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph that is annotated already, once more, with other inputs:
//
//   // func.func @forward(%x: tensor<2x3xf32, …>) { %y = ft.relu(%x) … }
//   propagate(module, {{"x", TensorMeta::contiguous(DType::F16, {8, 3})}});
//   // func.func @forward(%x: tensor<8x3xf16, …>) { %y is 8 x 3 f16 too }
//
// Operations that a pass has added, without a layout, get theirs; every other
// annotation is replaced.

#ifndef FORETRACE_COMPILER_FAKE_REPROPAGATE_H
#define FORETRACE_COMPILER_FAKE_REPROPAGATE_H

#include "dialects/ft/TensorMeta.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>

namespace ft {

class FakeCache;

/// What an argument of `@forward` is to be. The others stay what they are.
struct FakeInput {
  /// Its name in the model ("x", "layer.weight"), or the archive's ("p_x").
  std::string name;
  std::optional<TensorMeta> meta;
  std::optional<Dim> number;

  FakeInput(llvm::StringRef name, TensorMeta meta)
      : name(name), meta(std::move(meta)) {}
  /// A value that is fake already: of another graph, or of a trace.
  FakeInput(llvm::StringRef name, mlir::Value fake)
      : name(name), meta(metaFromType(fake.getType())) {}
  /// The value of an integer argument.
  FakeInput(llvm::StringRef name, Dim number) : name(name), number(number) {}
};

struct PropagateOptions {
  /// To share with other walks of the same MLIRContext; null: its own.
  FakeCache *cache = nullptr;
  /// Leave every annotation of the module as it was: only the answer counts.
  bool restore = false;
};

/// What the values are with the inputs given.
struct Propagated {
  /// The types that `@forward` returns.
  llvm::SmallVector<mlir::Type> results;
  /// With PropagateOptions::restore: the type of every value of the body, and
  /// of every argument. Without, the values say it themselves.
  llvm::DenseMap<mlir::Value, mlir::Type> types;
};

/// Propagates `@forward` from other inputs: other sizes, strides, devices,
/// dtypes. What the archive claims of values (`ft.declared`) is not compared.
/// After an error, which has been reported, the module is as it was:
/// [FT0107] an input that is no argument, or of another kind;
/// [FT0301] … [FT0311] as propagateFake.
llvm::FailureOr<Propagated> propagate(mlir::ModuleOp module,
                                      llvm::ArrayRef<FakeInput> inputs,
                                      const PropagateOptions &options = {});

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_REPROPAGATE_H
