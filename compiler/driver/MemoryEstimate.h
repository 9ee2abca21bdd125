//===- MemoryEstimate.h - The memory of a model before it runs -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   ft::Session session(options);             // options.training, .dynamic, …
//   if (session.load("model.pt2"))
//     if (auto memory = ft::estimateMemory(session, {}))
//       std::printf("%lld bytes\n", (long long)memory->totalBytes);
//
// Nothing is allocated and no weight is read: the weights of an archive may be
// missing, or larger than this machine.
//
// Tests: tests/unit/driver/MemoryEstimateTest.cpp, tests/tools/estimate.test.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_COMPILER_DRIVER_MEMORYESTIMATE_H
#define FORETRACE_COMPILER_DRIVER_MEMORYESTIMATE_H

#include "compiler/driver/Session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ft {

struct EstimateRequest {
  /// "sgd", "momentum", "adam", "adamw"; empty: no optimizer state.
  std::string optimizer;
  /// The bytes that all must fit in.
  std::optional<int64_t> memory;
  /// With `memory`: the size (a symbol, by name or title) whose largest value
  /// is looked for, other symbols at their hints.
  std::string solve;
};

/// Bytes of the parameters that a module has itself, and of what its operations
/// keep for the backward pass (training) or compute (inference).
struct ModuleMemory {
  std::string name;
  int64_t parametersBytes = 0, activationsBytes = 0;
};

/// The largest value of a symbol that fits: `bytes` at it, `nextBytes` at the
/// value behind it (-1: its upper bound). Both are of a plan made for just that
/// size, not of an expression.
struct LargestSize {
  std::string symbol;
  int64_t value = 0, bytes = 0, nextBytes = -1;
};

/// Training: what a memory budget leaves of the activations, and what backward
/// does again for it: floating point operations; products, convolutions and
/// attentions among the calls.
struct ActivationsByBudget {
  /// What --memory-budget takes to get this; 1 for none.
  double budget = 1;
  int64_t bytes = 0;
  int64_t recomputedFlops = 0, recomputedProducts = 0;
};

/// A size that the run decides: its name in expressions of the IR, the user's,
/// its range (upper -1: no bound) and what it is in the numbers of an estimate.
struct SymbolSize {
  std::string name, title;
  int64_t lower = 0, upper = -1, hint = 2;
};

/// All in bytes, symbols at their hints.
struct MemoryEstimate {
  bool training = false;
  int64_t parametersBytes = 0, buffersBytes = 0;
  /// Of training: gradients of parameters (and of inputs, where asked for).
  int64_t gradientsBytes = 0, optimizerBytes = 0;
  int64_t inputsBytes = 0, outputsBytes = 0;
  /// Training: what forward saves for backward. Inference: all that operations
  /// compute, were nothing used twice.
  int64_t activationsBytes = 0;
  /// The arena of a call, or of a forward with its backward: everything live
  /// at the worst moment but for what stands above. It is what an artefact
  /// allocates (ft_model_info.arena_bytes).
  int64_t peakBytes = 0;
  /// Everything at once.
  int64_t totalBytes = 0;
  /// As expressions of symbols, in the user's names; empty: numbers.
  std::string activationsExpr, peakExpr, totalExpr;
  /// Sizes that the data decide are left out of the peak.
  bool hasUnknownSizes = false;
  std::vector<SymbolSize> symbols;
  std::vector<ModuleMemory> modules;
  /// For budgets of 1, 0.75, 0.5, 0.25 and the smallest; Options::memoryBudget
  /// does not change them. Empty for a module after stage partition.
  std::vector<ActivationsByBudget> budgets;
  std::optional<LargestSize> largest;
};

/// Runs what is left of the stages up to functionalize or, with
/// Options::training, partition, and plans the memory. Nothing after an error,
/// which session.diagnostics() has: FT0001 for a symbol that is not there,
/// FT0313 if not even the smallest size fits.
FORETRACE_API std::optional<MemoryEstimate>
estimateMemory(Session &session, const EstimateRequest &request);

/// The peak alone, of a module after stage functionalize or partition, symbols
/// at their hints; and the expression, if there are any. Nothing for a model
/// that cannot be lowered.
struct PeakBytes {
  int64_t bytes = 0;
  std::string expr;
  /// Sizes that the data decide are left out.
  bool hasUnknownSizes = false;
};
FORETRACE_API std::optional<PeakBytes> peakBytes(const Session &session);

/// Whether a loaded model has a size of this name or title.
FORETRACE_API bool hasSize(const Session &session, const std::string &name);

/// "80GiB", "512MB", "1.5 GiB", "4096" as bytes; nothing for other texts.
FORETRACE_API std::optional<int64_t> parseBytes(const std::string &text);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_MEMORYESTIMATE_H
