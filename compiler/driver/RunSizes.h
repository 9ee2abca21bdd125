//===- RunSizes.h - The sizes of made-up inputs ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_RUNSIZES_H
#define FORETRACE_COMPILER_DRIVER_RUNSIZES_H

#include "compiler/driver/HostArray.h"
#include "compiler/emit/LoadedModel.h"

#include <map>

namespace ft {

using RunShape = llvm::SmallVector<int64_t, 6>;

/// Decides the sizes of inputs that the user did not give, for models that
/// serve many. A symbol of the model is, in this order,
///
///   1. what the inputs say that were given ("mask" [3] of a model that takes
///      mask [batch], x [batch, 16] makes x [3, 16]),
///   2. what was asked for ("x:0" = 8, or "batch" = 8),
///   3. its hint, the size in the example that the model was exported with.
///
/// What was asked for and contradicts the rest is an error (FT0701).
class RunSizes {
public:
  RunSizes() = default;
  /// `model` must live as long as this.
  explicit RunSizes(const LoadedModel &model) : model(&model) {}

  /// `dim` is INPUT:DIM or the name of a size. FT0001: there is no such dim, or
  /// one that follows from others. FT0701: it was asked to be another.
  llvm::Error ask(llvm::StringRef dim, int64_t size);

  /// The shapes of all inputs, of which `given` are there. FT0701 with the
  /// model's sentence when it allows no such sizes.
  llvm::Expected<std::vector<RunShape>>
  inputShapes(llvm::ArrayRef<std::unique_ptr<HostArray>> given) const;

private:
  llvm::Error askSymbol(size_t symbol, int64_t value);

  const LoadedModel *model = nullptr;
  std::map<size_t, int64_t> asked; ///< values by symbol
};

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_RUNSIZES_H
