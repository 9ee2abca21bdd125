//===- Pipeline.h - What running one stage means ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_PIPELINE_H
#define FORETRACE_COMPILER_DRIVER_PIPELINE_H

#include "compiler/codegen/cpu/Target.h"
#include "compiler/driver/Options.h"
#include "compiler/driver/Session.h"
#include "compiler/emit/Artefact.h"
#include "compiler/fake/FakeCache.h"
#include "compiler/import/Importer.h"
#include "compiler/lower/Lower.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include "llvm/Support/Error.h"

namespace ft {

/// What the stages hand on: the module, which says everything up to lower; the
/// CPU that code is for, from lower on; the objects that codegen makes, one for
/// each program; where
/// emit writes, and what it wrote.
struct PipelineState {
  mlir::ModuleOp module;
  const Options &options;
  std::optional<CpuTarget> &target;
  std::vector<std::string> &objects;
  const std::string &outputBase;
  CompiledFiles &files;
  FakeCache &cache;
  /// What codegen leaves out of the module, and emit writes down.
  std::vector<AbiGuard> &guards;
  /// The kernels of a model that is on a GPU.
  std::optional<AbiDeviceCode> &device;
  /// Of a model without an archive; null for others.
  WeightSource *weights = nullptr;
};

/// The dialects that the stages use, and no others: a text that names another
/// one is refused instead of reaching code that nobody tested here.
void registerPipelineDialects(mlir::DialectRegistry &registry);

/// Where the values of a module are: on one device, or (`isMixed`) on the CPU
/// and a GPU, `device`.
struct CodeDevice {
  Device device;
  bool isMixed = false;
};
/// Errors: FT0502 for values on meta, FT0006 for more than one GPU.
llvm::Expected<CodeDevice> codeDevice(mlir::ModuleOp module);

/// What stage lower is told, and what planArenas is: kernels of this code
/// generation want no scratch memory. The target must outlive it.
LowerOptions lowerOptions(const CpuTarget &target, const Options &options,
                          CodeDevice code);
LowerOptions planOptions(const CpuTarget &target, const Options &options,
                         CodeDevice code);

/// Whether this build has the stage; one that it lacks is FT0006.
bool hasStage(Stage stage);

/// Autograd and partition: passed over unless they are asked for by name or by
/// Options::training and joint.
bool isForTraining(Stage stage);

/// The stage that runs after `stage` on the way to `last`: the next one that
/// is not passed over.
Stage stageAfter(Stage stage, Stage last, const Options &options);

/// Compares the annotations of a module that stands after fake or functionalize
/// with what its calls give: each later stage asks first, but a text may be
/// wanted as it stands. Nothing to do after other stages.
llvm::Error checkAnnotations(Stage stage, PipelineState &state);

/// Runs one stage (not import) on the module and sets `ft.stage`.
/// Errors that the stage reported to MLIR are in the collector; the returned
/// error then says only that there were some (a DiagnosticError without rows).
llvm::Error runStage(Stage stage, PipelineState &state);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_PIPELINE_H
