//===- DynamicSizes.h - Makes sizes of inputs symbols ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user declares of the sizes of inputs (`--dynamic`), as symbols of
// the module in front of stage fake:
//
//   x:0=batch[2..64]   dim 0 of input x is "batch", from 2 to 64
//   y:0=batch          the same number
//   y:1=2*batch+1      a dim made of another one
//   x:1=4*_s           a multiple of 4
//   x:0                any size
//   x:0=batch{1,2,8}   one of these
//
// The size in the model is the example. A dim that is a symbol already keeps
// it and gets the name and the range; a range can be narrowed, or widened down
// to what the tracer never asked about (0 and 1), never beyond what the archive
// states.
//
// Literal sizes of a program that was traced with fixed ones (view(x, [2, 8,
// -1])) are the program's: where one of them forces a size, the report of
// stage fake says so. Only those of views are taken for what they must have
// been: see GeneralizeViews.h.

#ifndef FORETRACE_COMPILER_DRIVER_DYNAMICSIZES_H
#define FORETRACE_COMPILER_DRIVER_DYNAMICSIZES_H

#include "compiler/shape/Interval.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace ft {

/// One declaration, as it was written.
struct DynamicSize {
  std::string input;
  unsigned dim = 0;
  /// An expression over names; empty: a name is made.
  std::string size;
  std::optional<int64_t> lower, upper;
  /// Not empty: the size is one of these, in ascending order; `lower` and
  /// `upper` are the first and the last.
  std::vector<int64_t> members;
};

/// Reads "x:0=batch[2..64]", either end of the range may be absent, or
/// "x:0=batch{1,2,8}". Fails (FT0001) with what is wrong.
llvm::Expected<DynamicSize> parseDynamicSize(llvm::StringRef text);

/// The dims of "x=4x16" that differ from those of input x in the module: what
/// two examples show to be no constant.
llvm::Expected<std::vector<DynamicSize>> dimsOfExample(mlir::ModuleOp module,
                                                       llvm::StringRef text);

/// Dim 0 of every input, all of one name, "batch".
std::vector<DynamicSize> dynamicBatch(mlir::ModuleOp module);

/// Applies declarations to a module in front of stage fake. Results lose what
/// the archive claims of them. Fails (FT0001, exit code 2) if an input or dim
/// does not exist, (FT0313, exit code 4) if declarations contradict each other
/// or the model.
llvm::Error makeDynamic(mlir::ModuleOp module,
                        llvm::ArrayRef<DynamicSize> sizes);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_DYNAMICSIZES_H
