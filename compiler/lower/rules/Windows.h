//===- Windows.h - Reductions over sliding windows -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_WINDOWS_H
#define FORETRACE_COMPILER_LOWER_RULES_WINDOWS_H

#include "compiler/lower/rules/Reducing.h"

namespace ft {

/// The windows along one spatial dim, which has `size` elements: `count`
/// windows of `length` taps. Window o starts at o * stride - low (strided), or
/// at o * size / count (adaptive), and its taps are `dilation` apart.
struct WindowDim {
  int64_t size, count, length;
  int64_t stride = 1, low = 0, dilation = 1;
  bool adaptive = false;

  int64_t startOf(int64_t window) const {
    return adaptive ? window * size / count : window * stride - low;
  }
  /// Adaptive windows differ in length: window o ends before this.
  int64_t adaptiveEnd(int64_t window) const {
    return ((window + 1) * size + count - 1) / count;
  }
};

/// The windows of a pool over the last `space` dims of `sizes`, as many as
/// `counts` has there. Kernel, stride (default: the kernel) and padding are
/// arguments from `first` on; dilationArg < 0: there is none.
llvm::SmallVector<WindowDim> stridedWindows(LowerCall &c, unsigned first,
                                            int dilationArg,
                                            llvm::ArrayRef<Dim> sizes,
                                            llvm::ArrayRef<Dim> counts,
                                            unsigned space);
/// The windows of an adaptive pool with `count` outputs.
WindowDim adaptiveWindows(int64_t size, int64_t count);
/// All adaptive windows have `length` taps: nothing needs masking.
bool isUniform(const WindowDim &dim);

/// Inside a body: where window `o` starts and ends in the unpadded operand, by
/// position alone (dilation 1); both are i64.
std::pair<mlir::Value, mlir::Value>
boundsOf(ScalarBuilder &s, const WindowDim &dim, mlir::Value o);

/// What the body of a window reduction sees.
struct WindowStep {
  ScalarBuilder &s;
  llvm::ArrayRef<WindowDim> dims;
  /// The element (of the operand's dtype; `padding` outside of it).
  mlir::Value element;
  mlir::ValueRange accumulators;
  /// Loops of the windows and of the taps, one for each spatial dim.
  llvm::ArrayRef<unsigned> windowLoops, tapLoops;

  /// Where the tap is in the unpadded operand along spatial dim i (i64).
  mlir::Value position(unsigned i);
  /// Whether the tap lies in the operand, and in its window if adaptive (i1).
  mlir::Value inside();
  /// The position in the flattened spatial dims of the operand (i64).
  mlir::Value flatPosition();
};

using WindowBody =
    llvm::function_ref<llvm::SmallVector<mlir::Value>(WindowStep &)>;

/// Reduces the windows over the last dims.size() logical dims of `x`. The
/// results have x's physical order: a channels-last image stays so.
llvm::SmallVector<LoweredTensor>
reduceWindows(LowerCall &c, LoweredTensor x, llvm::ArrayRef<WindowDim> dims,
              double padding, llvm::ArrayRef<Start> starts, WindowBody body);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_WINDOWS_H
