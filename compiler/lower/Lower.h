//===- Lower.h - From annotated graphs to kernels and a schedule *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_LOWER_H
#define FORETRACE_COMPILER_LOWER_LOWER_H

#include "compiler/shape/Dim.h"
#include "compiler/support/CodeChecks.h"
#include "dialects/ft/DType.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <functional>
#include <limits>

namespace ft {

/// What lowering asks of the target's code generation.
struct LowerOptions {
  /// Lanes of a panel of packed weights that a device reads.
  std::function<int64_t(DType, Device)> panelWidth;
  /// Bytes of scratch memory that a kernel wants as its last argument.
  std::function<int64_t(mlir::func::FuncOp)> scratchBytes;
  /// `accesses`: compare what each kernel, C kernels too, is told of its
  /// tensors with the memory that they are in. `address`: leave red zones in
  /// the arena, and open what a step is given only while it runs.
  CodeChecks checks;
  /// Set by planArenas: nothing is emitted, and kernels are only made if
  /// `scratchBytes` asks for them.
  bool onlyPlan = false;
  /// To planArenas: an arena of more bytes is of no use, and not made as small
  /// as it could be.
  int64_t useful = std::numeric_limits<int64_t>::max();
  /// Where all values live. On a GPU, memory is the device's, and the entry
  /// function reads it through the runtime.
  Device device = {};
  /// `device` is a GPU, and some values are on the CPU.
  bool isMixed = false;

  int64_t redZone() const { return checks.address ? 64 : 0; }
};

/// Of a lowered module for a GPU, `ft.device = #ft.device<cuda:0>`: where all
/// its values are; those of kernels with kHostAttr, and memory that only such
/// kernels touch, are on the CPU. While a graph on two devices is lowered its
/// operations have the attribute, too.
inline constexpr llvm::StringLiteral kDeviceAttr = "ft.device";
inline constexpr llvm::StringLiteral kHostAttr = "ft.host";

/// The dialects that the stage's result is made of.
void registerLowerDialects(mlir::DialectRegistry &registry);

/// The whole stage. Afterwards each program of the module (Programs.h) holds:
///  - kernels (`ft.kernel`), each once however often it is called, in the form
///    that compiler/codegen/cpu/README.md describes;
///  - `@ft_gen_forward(exec, inputs, outputs, arena, weights, state) -> i32`
///    (all `!llvm.ptr`), which calls them in order on memory planned here;
///  - the attribute `ft.plan`: a dictionary with `arena_bytes`,
///    `weights_bytes`, `state_bytes`, the lists `inputs`, `outputs`, `state`
///    and `constants` (Plan.h reads it).
/// Forward and backward of a model that is trained share one arena, in which
/// saved values stay (Schedule.h).
/// Errors are MLIR diagnostics: those of lowerToLinalg.
mlir::LogicalResult lowerModule(mlir::ModuleOp module,
                                const LowerOptions &options);

/// What lowerModule would plan, worked out on a copy of the module.
struct ArenaPlan {
  /// The arena of a call, or of forward and backward together: all memory that
  /// the artefact allocates but for weights, state and values whose sizes the
  /// data decide.
  Dim bytes = 0;
  int64_t bytesAtHints = 0;
  /// The most bytes that are live at one step.
  int64_t mostLive = 0;
  /// What all programs do: kernels, and the bytes of the tensors that each of
  /// them reads and writes, symbols at their hints.
  int64_t kernels = 0, movedBytes = 0;
  /// Some value's size depends on data: it is in memory of its own.
  bool hasUnknownSizes = false;
  /// Calls that `ft.peak` has repeated: where each stands, the operator, and
  /// whether its product is repeated or only what is around it.
  struct Repeated {
    mlir::Location location;
    std::string from;
    bool isProduct = false;
  };
  std::vector<Repeated> repeated = {};
};
mlir::FailureOr<ArenaPlan> planArenas(mlir::ModuleOp module,
                                      const LowerOptions &options);

/// No `ft` operation or annotation is left outside of attributes.
mlir::LogicalResult verifyLowered(mlir::ModuleOp module);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_LOWER_H
