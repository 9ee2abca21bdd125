//===- CompileOptions.cpp - Options of every verb that compiles *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/foretrace/CompileOptions.h"

#include "compiler/driver/MemoryEstimate.h"
#include "compiler/driver/Targets.h"
#include "tools/foretrace/CodeCheckFlags.h"
#include "tools/foretrace/Output.h"

#include "llvm/ADT/StringRef.h"

#include <cctype>
#include <cstdlib>

namespace ft::cli {

namespace {
/// An option of the design that is not in this build: given, it is exit code 3
/// with this reason instead of "unknown option".
struct LaterOption {
  const char *flag;
  bool takesValue;
  const char *help;
  const char *why;
};
} // namespace

static const LaterOption kLater[] = {
    {"--cuda-libs", true, "libraries for large CUDA kernels",
     "all kernels are generated"},
};

/// "sgd (torch.optim.SGD without momentum), …"
static std::string optimizersHelp() {
  std::string text;
  for (const auto &[name, what] : knownOptimizers())
    text += (text.empty() ? "" : ", ") + name + " (" + what + ")";
  return text;
}

void CompileOptions::addTo(CLI::App &verb, const std::string &modelHelp,
                           bool required) {
  verb.add_option("MODEL", model, modelHelp)->required(required);
  verb.add_option("--target", target,
                  "cpu (default) or cuda[:sm_NN[+ptxNN]], which moves the "
                  "model to cuda:0 unless --device says where to");
  verb.add_option("--device", device,
                  "move every value of the model to this device: cuda:N, cpu "
                  "or meta");
  verb.add_option("--cpu", cpu,
                  "CPU to generate code for, as LLVM names it "
                  "(x86-64-v3, znver4); default: this machine's");
  verb.add_flag("--training", training,
                "compile forward and backward: the artefact gives gradients");
  verb.add_option("--loop-bound", loopBounds,
                  "[NAME=]N: the loop of that name, or every loop, runs at "
                  "most N times (with --training); repeatable")
      ->allow_extra_args(false);
  verb.add_option("--keep", keep,
                  "a value (`*`: any characters) that the backward pass never "
                  "computes again; '*' keeps all that it reads; repeatable")
      ->allow_extra_args(false);
  verb.add_option("--recompute", recompute,
                  "a value that is never kept for the backward pass; "
                  "repeatable")
      ->allow_extra_args(false);
  verb.add_option(
      "--optimizer", optimizer,
      "with --training: also compile an update of all parameters: " +
          optimizersHelp());
  verb.add_option("--gradient", gradients,
                  "with --training: an input whose gradient is given too; "
                  "repeatable")
      ->allow_extra_args(false);
  verb.add_option("--memory-budget", memoryBudget,
                  "0.5: keep at most half of the bytes that are kept for the "
                  "backward pass without a budget; 8GiB: forward and backward "
                  "work in at most so much");
  verb.add_option("--threads", threads,
                  "threads of a run; 0 (default): all CPUs");
  verb.add_option("--linker", linker, "the ld.lld to link with");
  verb.add_option("--plugin", plugins,
                  "a library with custom operators; repeatable");
  verb.add_flag("--learn-custom", learnCustom,
                "run kernels of custom operators that have no shape rule on "
                "zeros to learn their results");
  verb.add_option("--dynamic", dynamic,
                  "x:0=batch[2..64]: that dim of the input may have any size "
                  "of the range, x:0=batch{1,2,8}: one of these; names and "
                  "expressions of them may be shared; repeatable")
      ->allow_extra_args(false);
  verb.add_flag("--dynamic-batch", dynamicBatch,
                "dim 0 of every input is one dynamic size");
  verb.add_option("--example", examples,
                  "x=4x16: the shape of an input in a second example; dims "
                  "that differ from the model's are dynamic; repeatable")
      ->allow_extra_args(false);
  verb.add_option("--stop-after", stopAfter,
                  "stop after this stage and print the module");
  verb.add_option("--start-from", startFrom,
                  "first stage to run on a module that was printed");
  verb.add_flag("--json", json, "print JSON");
  verb.add_flag("--time", time,
                "print the seconds of each stage, and what the cache did");
  verb.add_flag("--crosscheck", crosscheck,
                "work out again what the cache of fake propagation answers");
  addCodeChecks(verb, checks);
  for (const LaterOption &option : kLater) {
    std::string flag = option.flag;
    std::string help = std::string(option.help) + " (not in this build)";
    if (option.takesValue)
      verb.add_option_function<std::string>(
          flag, [this, flag](const std::string &v) { later[flag] = v; }, help);
    else
      verb.add_flag_callback(flag, [this, flag] { later[flag] = ""; }, help);
  }
}

static int parseStage(const std::string &flag, const std::string &name,
                      std::optional<Stage> &stage) {
  if (name.empty())
    return 0;
  stage = findStage(name);
  if (stage)
    return 0;
  std::string names;
  for (const StageInfo &info : allStages())
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  return fail(DiagId::BadCommandLine, flag, "no stage is called '" + name + "'",
              "the stages are " + names);
}

int CompileOptions::checkOptimizer() const {
  if (!training && !optimizer.empty())
    return fail(DiagId::BadCommandLine, "--optimizer",
                "parameters are updated in training only", "add --training");
  if (!training && !gradients.empty())
    return fail(DiagId::BadCommandLine, "--gradient",
                "gradients are for training only", "add --training");
  std::string names;
  bool known = optimizer.empty();
  for (const auto &[name, what] : knownOptimizers()) {
    known |= name == optimizer;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!known)
    return fail(DiagId::BadCommandLine, "--optimizer",
                "no optimizer is called '" + optimizer + "'",
                "there are " + names);
  return 0;
}

/// What is kept for a backward pass needs one.
int CompileOptions::checkPartition() const {
  if (training || partitions || stopAfter == "partition")
    return 0;
  for (auto [flag, isGiven] :
       {std::pair{"--memory-budget", !memoryBudget.empty()},
        {"--keep", !keep.empty()},
        {"--recompute", !recompute.empty()}})
    if (isGiven)
      return fail(DiagId::BadCommandLine, flag,
                  "it is about what is kept for the backward pass, and there "
                  "is none",
                  "add --training");
  return 0;
}

int CompileOptions::fill(Options &options) const {
  for (const LaterOption &option : kLater)
    if (later.count(option.flag))
      return failLater(option.flag, option.why);
  if (std::string wrong = checkTarget("cpu", device); !wrong.empty())
    return fail(DiagId::BadTarget, "--device", wrong);
  if (std::string wrong = checkTarget(target, device); !wrong.empty())
    return fail(DiagId::BadTarget, "--target", wrong,
                "`foretrace targets` lists them");
  if (describeCpu(cpu).empty())
    return fail(DiagId::BadTarget, "--cpu", "no CPU is called '" + cpu + "'",
                "`foretrace targets` lists them");
  if (int code = checkOptimizer())
    return code;
  if (int code = checkPartition())
    return code;
  if (!memoryBudget.empty()) {
    double fraction = 0;
    if (std::toupper(static_cast<unsigned char>(memoryBudget.back())) == 'B') {
      if (!parseBytes(memoryBudget))
        return fail(DiagId::BadCommandLine, "--memory-budget",
                    "'" + memoryBudget + "' is no number of bytes",
                    "such as 8GiB, 512MB, 4096B");
    } else if (llvm::StringRef(memoryBudget).getAsDouble(fraction) ||
               !(fraction >= 0 && fraction <= 1)) {
      return fail(DiagId::BadCommandLine, "--memory-budget",
                  "'" + memoryBudget +
                      "' is no fraction between 0 and 1, and no number of "
                      "bytes",
                  "such as 0.5, 8GiB");
    }
  }
  if (threads < 0)
    return fail(DiagId::BadCommandLine, "--threads",
                "the number of threads cannot be negative");
  std::optional<Stage> unused;
  if (int code = parseStage("--stop-after", stopAfter, unused))
    return code;
  if (int code = parseStage("--start-from", startFrom, options.startFrom))
    return code;
  // Testing aid, see README.md.
  if (const char *crash = std::getenv("FORETRACE_CRASH_IN"))
    options.crashIn = findStage(crash);
  options.target = target;
  options.device = device;
  options.cpu = cpu;
  options.linker = linker;
  options.crosscheck = crosscheck;
  options.checks = checks;
  options.plugins = plugins;
  options.dynamic = dynamic;
  options.dynamicBatch = dynamicBatch;
  options.examples = examples;
  options.learnCustom = learnCustom;
  options.training = training;
  options.loopBounds = loopBounds;
  options.keep = keep;
  options.recompute = recompute;
  options.optimizer = optimizer;
  options.inputGradients = gradients;
  options.memoryBudget = memoryBudget;
  options.catchCrashes = true;
  options.reproducerDir = ".";
  return 0;
}

} // namespace ft::cli
