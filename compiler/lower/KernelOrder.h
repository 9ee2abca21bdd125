//===- KernelOrder.h - In which order kernels need least memory -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_KERNELORDER_H
#define FORETRACE_COMPILER_LOWER_KERNELORDER_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace ft {

/// Steps that read and write values, and what the values take in memory.
struct OrderProblem {
  struct Step {
    /// Numbers of values, each once.
    llvm::SmallVector<unsigned, 4> reads, writes;
    /// Nothing moves from one side of it to the other.
    bool isBarrier = false;
  };
  struct Value {
    /// 0: in memory that is there anyhow.
    int64_t bytes = 0;
    /// Still live after the last step.
    bool stays = false;
  };
  /// In an order that works: a value is written before it is read.
  std::vector<Step> steps;
  /// One that no step writes is there from the start.
  std::vector<Value> values;
};

/// The most bytes that are live at one step, when the steps run in this order.
int64_t peakOfOrder(const OrderProblem &problem,
                    const std::vector<unsigned> &order);

/// An order of the steps in which each value is still written before it is
/// read, and the peak is not higher than in the given order; the given order
/// itself where none of those tried is better.
///
/// Example: %a and %b are large, %s is a small sum over each.
///   given   a = …; b = …; sa = sum a; sb = sum b     peak a + b
///   found   a = …; sa = sum a; b = …; sb = sum b     peak max(a, b) + s
///
/// The problem is NP-hard. Three orders are tried, each made step by step from
/// those steps whose operands are there:
///  - eager: what frees memory runs as soon as it can, all else as given;
///  - lazy: the same, but what only needs memory waits until right before its
///    first reader;
///  - least: whichever adds least to what is live.
/// Cost: O(n log n) in steps, reads and writes.
std::vector<unsigned> orderForPeak(const OrderProblem &problem);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_KERNELORDER_H
