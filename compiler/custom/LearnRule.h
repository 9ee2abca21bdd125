//===- LearnRule.h - Learns shapes by running a kernel ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CUSTOM_LEARNRULE_H
#define FORETRACE_COMPILER_CUSTOM_LEARNRULE_H

#include "compiler/custom/FakeView.h"

namespace ft {

/// The rule of an operator that has none but a kernel: the kernel is run once
/// for each kind of call, on tensors of zeros of its own making, and what it
/// asks for with ft_kernel_call::result are the results. They are row-major.
///
/// It runs in a child process: one that crashes, hangs or writes where it must
/// not is a refused call, and nothing is lost. Sizes have to be static
/// and all tensors on the CPU, at most 1 MiB in total, results included.
/// Cost: a process for each new signature; repeated ones are remembered.
///
/// `op` must outlive the rule.
CustomRule learnRule(const CustomOp &op, int mostSeconds = 10);

} // namespace ft

#endif // FORETRACE_COMPILER_CUSTOM_LEARNRULE_H
