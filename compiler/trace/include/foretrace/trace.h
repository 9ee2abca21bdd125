/*===- trace.h - Write a model in C++ and compile it -----------*- C++ -*-===*/
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tracing API, for C++17 and up; needs no header of LLVM or MLIR.
//
//   ft::FakeMode mode;
//   ft::FakeMode::Scope scope(mode);
//   ft::Tensor x = mode.input("x", {2, 16});
//   ft::Tensor w = mode.parameter("fc.weight", {32, 16});
//   mode.output("y", ft::ops::linear(x, w).relu());
//   if (!mode.ok())
//     std::fputs(mode.error().render().c_str(), stderr);
//
// Tensors are fake: they have shape, strides, dtype and device, and no data.
// Each call works these out for its results and adds one operation to the
// mode's module, which then compiles like a model that was read from a file
// (`ft::Session::load(mode)`).
//
// Errors never throw. A call that fails, or that is given the result of one
// that failed, gives a tensor that is not ok(); the mode keeps the first error.
// So a program may trace a whole model and ask once, at the end; a program that
// prefers exceptions calls ft::throwIfFailed(mode) where it wants them.
//
// Vocabulary: `ft::ops::NAME` for every ATen overload, with ATen's argument
// order and defaults; those whose first argument is `self` are methods of
// ft::Tensor too. `out=` forms are called NAME_out and take their outputs
// first. Results are Tensor, Tensors (a list), a std::tuple of these, or
// Scalar. An absent tensor (`Tensor? bias=None`) is a default-constructed
// Tensor.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_TRACE_H
#define FORETRACE_TRACE_H

#include "foretrace/trace/Call.h"
#include "foretrace/trace/Control.h"
#include "foretrace/trace/FakeMode.h"
#include "foretrace/trace/Operators.h"
#include "foretrace/trace/Ops.h"
#include "foretrace/trace/Tensor.h"
#include "foretrace/trace/Types.h"

#endif // FORETRACE_TRACE_H
