//===- ArtefactBuilder.h - What emit needs, from plan and archive *- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_ARTEFACTBUILDER_H
#define FORETRACE_COMPILER_DRIVER_ARTEFACTBUILDER_H

#include "compiler/codegen/cpu/Target.h"
#include "compiler/emit/Artefact.h"
#include "compiler/import/Importer.h"
#include "compiler/lower/Plan.h"

#include "llvm/Support/Error.h"

namespace ft {

/// Puts together what emitArtefact takes: the interface from the plan, the
/// constants' bytes from the records of `weights` (in place; it must outlive
/// the artefact; null if the plan has no constants), the object as given.
/// Errors: FT0202 for a record that is missing or too short for its view.
llvm::Expected<Artefact> buildArtefact(llvm::StringRef name, const Plan &plan,
                                       const CpuTarget &target,
                                       WeightSource *weights,
                                       std::string object);

/// A program of a model that is trained (dialects/ft/Programs.h), compiled.
struct ProgramParts {
  std::string name;
  Plan plan;
  std::string object;
  /// Of the program "update": what it is a step of.
  std::string optimizer = {};
};

/// The same for forward, backward and, with an optimizer, update. The
/// parameters and buffers that each call is given become the model's state; the
/// records hold their values at the start. Errors: FT0202.
llvm::Expected<Artefact>
buildTrainingArtefact(llvm::StringRef name, std::vector<ProgramParts> programs,
                      const CpuTarget &target, WeightSource *weights);

/// What the module's facts ask of the sizes of a call, in the user's names;
/// those that others imply are left out.
std::vector<AbiGuard> guardsOf(mlir::ModuleOp module, const Plan &plan);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_ARTEFACTBUILDER_H
