//===- Fft.h - Fourier transforms of lowered tensors -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_FFT_H
#define FORETRACE_COMPILER_LOWER_RULES_FFT_H

#include "compiler/lower/rules/LibraryKernel.h"

namespace ft {

/// What a transform is multiplied by: nothing, 1 / sqrt(n), 1 / n, where n is
/// the number of points of all dims (the numbers of _fft_c2c's argument, and of
/// the kernel's).
enum class FftNorm : int64_t { None = 0, ByRoot = 1, ByCount = 2 };
struct FftScale {
  FftNorm norm = FftNorm::None;
  Dim count = 1;
};

/// `dims` of a complex tensor, each with as many points as it has.
LoweredTensor complexTransform(LowerCall &c, LoweredTensor t,
                               llvm::ArrayRef<unsigned> dims, bool inverse,
                               FftScale scale);
/// `dims` of a real tensor; along the last of them the first `points`.
LoweredTensor realTransform(LowerCall &c, LoweredTensor t,
                            llvm::ArrayRef<unsigned> dims, Dim points,
                            FftScale scale);
/// To a real tensor of `size` along the last of `dims`. `inverse` is the
/// direction; the other one takes the conjugated tensor.
LoweredTensor toRealTransform(LowerCall &c, LoweredTensor t,
                              llvm::ArrayRef<unsigned> dims, Dim size,
                              bool inverse, FftScale scale);

FftScale fftScale(FftNorm norm, llvm::ArrayRef<Dim> sizes);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_FFT_H
