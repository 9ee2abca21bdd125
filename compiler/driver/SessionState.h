//===- SessionState.h - The inside of a session ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_SESSIONSTATE_H
#define FORETRACE_COMPILER_DRIVER_SESSIONSTATE_H

#include "compiler/codegen/cpu/Target.h"
#include "compiler/custom/Plugin.h"
#include "compiler/driver/Session.h"
#include "compiler/emit/Artefact.h"
#include "compiler/fake/FakeCache.h"
#include "compiler/import/Importer.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace ft {

struct Session::State {
  explicit State(Options options);

  /// Runs `work` where deep recursion is safe: on a thread with a large stack
  /// (MLIR's parser and printers recurse with the nesting of the input). What
  /// it returns or reports to MLIR goes into `diagnostics`. A crash becomes
  /// FT0070 if options.catchCrashes. `doing` ("stage fake") is for messages.
  bool guarded(const llvm::Twine &doing, DiagId fallback,
               llvm::function_ref<llvm::Error()> work);

  /// Takes over a module that was read, at the stage that it names.
  llvm::Error adopt(llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> loaded);

  /// Makes internal errors from diagnostic `before` on the text's (FT0107) if
  /// the module was read after stage lower.
  void blameText(size_t before);

  /// After an internal error: writes what reproduces it and says so in the
  /// help of that diagnostic. `failed`: the stage that was running, if any.
  void writeReproducer(std::optional<Stage> failed);

  bool runStages(Stage last);

  /// Makes the sizes dynamic that the options name, once, in front of stage
  /// fake; then the module stands there.
  bool declareSizes();
  /// Moves the model to the device that the options name, once, in front of
  /// stage fake.
  bool retarget();
  /// After stage fake: what became of the sizes that the options name.
  llvm::Error checkDeclaredSizes();

  /// Loads what options.plugins names, once. False after an error, from then
  /// on always.
  bool loadPlugins();

  Options options;
  /// What they registered is in the context, which goes first.
  std::vector<Plugin> plugins;
  bool pluginsLoaded = false;
  bool pluginsFailed = false;
  /// The context of the module: the session's own, or that of a trace.
  std::shared_ptr<mlir::MLIRContext> ownContext;
  mlir::MLIRContext &context() { return *ownContext; }
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Every propagation of the session looks here: the checks before later
  /// stages see the calls of the first one again.
  FakeCache cache;
  /// The file that the model came from, or the name given with a text.
  std::string source;
  std::optional<Stage> stage;
  std::optional<CpuTarget> target;
  std::vector<Diagnostic> diagnostics;
  bool sizesDeclared = false;
  bool retargeted = false;
  bool crashed = false;
  /// The module was read from a text of stage lower or later.
  bool lateText = false;
  std::vector<std::pair<Stage, double>> seconds;
  std::vector<std::string> objects;
  std::vector<AbiGuard> guards;
  std::optional<AbiDeviceCode> device;
  std::string outputBase;
  CompiledFiles files;
  /// Where the weights are, of a model that did not come from an archive.
  std::unique_ptr<WeightSource> weights;
};

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_SESSIONSTATE_H
