//===- Passes.h - The lower stage as passes --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_PASSES_H
#define FORETRACE_COMPILER_LOWER_PASSES_H

namespace ft {

/// `ft-lower-to-linalg` and `ft-lower`, for ft-opt: panels are 32 lanes wide
/// for float32, as on a machine with AVX-512.
void registerLowerPasses();

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_PASSES_H
