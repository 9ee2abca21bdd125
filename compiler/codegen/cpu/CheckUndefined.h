//===- CheckUndefined.h - Reports uses of undefined values -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For --sanitize undefined. A front end's UndefinedBehaviorSanitizer asks what
// a language leaves undefined; generated code has no language but LLVM IR, in
// which an operation without a defined result gives poison: an addition with
// `nsw` that wraps, a shift by the width and more, a float that its integer
// cannot hold, `exact`, `disjoint`, `nneg`, `nnan`, an element beyond a vector.
// Poison as such is allowed, and generated code has it: in lanes that a mask
// drops, in the arm of a select that is not taken. So every value gets a
// shadow, i1 for each lane, that says whether it is poison now:
//
//   %q = shl i32 %x, %n              %q' = %x' | %n' | %n >=u 32
//   %r = select i1 %c, %q, 0         %r' = %c' | (%c ? %q' : false)
//   store i32 %r, ptr %p             if %r' | %p': ft_rt_fail_undefined("…")
//
// Reported are: poison that is stored, branched on, returned, given to a
// function, in an address or a mask; divisors that are 0, poison or -1 under
// the least number, in any lane; assumptions that do not hold; unreachable code
// that is reached. Works on the IR before any optimization, since these may
// remove what is undefined. Whether an address is inside of its object, and
// aligned, is for the checks of accesses and AddressSanitizer.
//
// Invariant: without a report the function computes what it did before. Cost:
// code for values that may be poison only; constants fold away the rest.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_CHECKUNDEFINED_H
#define FORETRACE_COMPILER_CODEGEN_CPU_CHECKUNDEFINED_H

namespace llvm {
class Module;
} // namespace llvm

namespace ft {

/// Instruments all functions that the module defines.
void checkUndefined(llvm::Module &module);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_CHECKUNDEFINED_H
