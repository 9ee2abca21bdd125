//===- Upsample.h - What resizing an image along a dim does ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_UPSAMPLE_H
#define FORETRACE_COMPILER_LOWER_RULES_UPSAMPLE_H

#include "compiler/lower/Resample.h"

namespace ft {

enum class Filter {
  Nearest,
  NearestExact,
  Linear,
  Cubic,
  LinearAA,
  CubicAA,
  LanczosAA
};

/// What one dim is resized by. `scale` is what the caller gave as output /
/// input, 0 if nothing: then the sizes decide.
struct ResizedDim {
  Dim from, to;
  double scale;
  bool alignCorners;
};

/// Whether positions are those of pixels that align_corners speaks of.
inline bool isAligned(Filter f) {
  return f != Filter::Nearest && f != Filter::NearestExact;
}
/// Whether the filter gets wider where the image gets smaller: how many taps a
/// position has then depends on the sizes.
inline bool isAntialiased(Filter f) {
  return f == Filter::LinearAA || f == Filter::CubicAA ||
         f == Filter::LanczosAA;
}

/// The map of a filter that is not antialiased, for an image of `dtype`, worked
/// out in the run with the same arithmetic as at compile time.
RunResampling resizedInRun(LowerCall &c, Filter f, const ResizedDim &dim,
                           DType dtype);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_UPSAMPLE_H
