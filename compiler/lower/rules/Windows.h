//===- Windows.h - Reductions over sliding windows -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_WINDOWS_H
#define FORETRACE_COMPILER_LOWER_RULES_WINDOWS_H

#include "compiler/lower/rules/Reducing.h"

namespace ft {

/// The windows along one spatial dim, which has `size` elements: `count`
/// windows of `length` taps. Window o starts at o * stride - low (strided), or
/// at o * size / count (adaptive), and its taps are `dilation` apart.
///
/// Size and count may be of the run. The length of adaptive windows is then a
/// bound: taps behind the end of a window are not inside of it.
struct WindowDim {
  Dim size, count, length;
  int64_t stride = 1, low = 0, dilation = 1;
  bool adaptive = false;

  bool isStatic() const { return size.isStatic() && count.isStatic(); }
  Dim startOf(Dim window) const {
    return adaptive ? floorDiv(window * size, count)
                    : window * Dim(stride) - low;
  }
  /// Adaptive windows differ in length: window o ends before this.
  Dim adaptiveEnd(Dim window) const {
    return ceilDiv((window + 1) * size, count);
  }
  /// How many elements behind the last one taps reach.
  Dim reachBehind() const;
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
WindowDim adaptiveWindows(Dim size, Dim count);
/// All adaptive windows are known to have `length` taps: nothing needs masking.
bool isUniform(const WindowDim &dim);

/// Inside a body: where window `o` starts and ends in the unpadded operand, by
/// position alone (dilation 1); both are i64.
std::pair<mlir::Value, mlir::Value>
boundsOf(LowerCall &c, ScalarBuilder &s, const WindowDim &dim, mlir::Value o);
/// Inside a body: how many elements window `o` counts, as i64. Strided windows
/// end where the padding does; without `countPadding`, where the operand does.
mlir::Value elementsOf(LowerCall &c, ScalarBuilder &s, const WindowDim &dim,
                       mlir::Value o, bool countPadding);

/// What the body of a window reduction sees.
struct WindowStep {
  LowerCall &c;
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
