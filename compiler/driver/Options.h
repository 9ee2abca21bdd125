//===- Options.h - Everything a compilation can be told --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_OPTIONS_H
#define FORETRACE_COMPILER_DRIVER_OPTIONS_H

#include "compiler/driver/Stage.h"
#include "compiler/support/CodeChecks.h"

#include <optional>
#include <string>
#include <vector>

namespace ft {

/// One struct for all options; the command line fills it, stages read it. The
/// defaults are what `foretrace compile MODEL` does.
struct Options {
  /// What code is generated for: "cpu", or "cuda", "cuda:CHIP",
  /// "cuda:CHIP+ptxNN" (CudaTarget.h). Where the values are says whether it is
  /// the one or the other; "cuda…" moves a model to cuda:0 unless `device` says
  /// where to.
  std::string target = "cpu";
  /// Move every value of the model to this device ("cuda:1", "cpu", "meta")
  /// before the stage fake; empty: values stay where the model has them.
  std::string device;
  /// Testing aid: the device code of the artefact is LLVM bitcode for
  /// tests/emulator instead of PTX.
  bool emulateDevice = false;
  /// LLVM's name of the CPU ("x86-64-v3"); empty: the one that this runs on.
  std::string cpu;
  /// The ld.lld to link with; empty: the one beside LLVM, then the one in PATH.
  std::string linker;
  /// Plug-ins with custom operators (foretrace/plugin.h), loaded in this order
  /// before the first model is read.
  std::vector<std::string> plugins;
  /// Run the kernel of a custom operator without a fake rule on zeros, in a
  /// child process, to learn what it returns: static sizes, up to 1 MiB.
  bool learnCustom = false;
  /// Sizes of inputs that are to be dynamic: "x:0=batch[2..64]"
  /// (DynamicSizes.h). Of a model that has been propagated already, stage fake
  /// runs once more.
  std::vector<std::string> dynamic;
  /// Dim 0 of every input is one dynamic size, "batch".
  bool dynamicBatch = false;
  /// Shapes of a second example, "x=4x16": dims that differ from the model's
  /// are dynamic.
  std::vector<std::string> examples;
  /// Compile forward and backward: the artefact is called by ft_api.train.
  bool training = false;
  /// The most iterations of loops that run as often as the data say, "64" or
  /// "while_loop=64": their derivatives need one (autograd/LoopBound.h).
  std::vector<std::string> loopBounds;
  /// Of a training: values, by name (`*`: any characters), that are never
  /// computed again, and values that are never kept (PartitionOptions.h).
  std::vector<std::string> keep, recompute;
  /// The most that is kept: "0.5" of what is kept without a budget, or
  /// "8GiB" (PartitionOptions.h); empty: no budget.
  std::string memoryBudget;
  /// With `training`: also compile a step of this optimizer over all
  /// parameters (compiler/optimizer/Optimizers.def); empty: none.
  std::string optimizer;
  /// With `training`: inputs whose gradient backward gives as well, besides
  /// those that the model itself says require one.
  std::vector<std::string> inputGradients;
  /// Compile the joint graph as one function (Autograd.h), which takes the
  /// tangents of its outputs after its inputs and gives the gradients of what
  /// requires one after its outputs: how derivatives are tested.
  bool joint = false;
  /// Of a model that starts as .mlir text: the first stage to run, instead of
  /// the one after the text's own `ft.stage`.
  std::optional<Stage> startFrom;
  /// Verify the IR after every pass and every stage.
  bool verify = true;
  /// Work out every call that the cache of fake propagation answers once more;
  /// a difference is an internal error.
  bool crosscheck = false;
  CodeChecks checks;
  /// Turn a crash of a stage into an FT0070 diagnostic. Process-wide signal
  /// handlers are installed while a stage runs: for programs, not for hosts.
  bool catchCrashes = false;
  /// Testing aid: this stage ends in a segmentation fault.
  std::optional<Stage> crashIn;
  /// Where the reproducer of an internal error is written; empty: nowhere.
  std::string reproducerDir;
};

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_OPTIONS_H
