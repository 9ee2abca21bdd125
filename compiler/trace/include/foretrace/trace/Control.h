//===- Control.h - Branches and loops in a trace ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   ft::Tensors y = ft::cond(x.sum() > 0, {x},
//       [](const ft::Tensors &in) { return std::vector{in[0].sin()}; },
//       [](const ft::Tensors &in) { return std::vector{in[0].cos()}; });
//
// A region is traced once, by calling the function; it runs as often as the
// data say. It may use tensors of outside, which then are captured, and
// returns tensors that it made: neither what it was given nor a view of that.
// It writes only to what it made. Nothing that a region made is there after it
// but what it returns. What the function throws comes out of the call, which
// then leaves nothing in the model but what its regions have captured.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_TRACE_CONTROL_H
#define FORETRACE_TRACE_CONTROL_H

#include "foretrace/trace/Tensor.h"

#include <functional>

namespace ft {

using Region = std::function<std::vector<Tensor>(const Tensors &)>;

/// What one of two regions returns for `operands`, by a predicate of one
/// element. Results of both have the same dtype, device and rank.
FORETRACE_API Tensors cond(const Tensor &predicate, TensorList operands,
                           const Region &then, const Region &otherwise,
                           Here here = Here::current());

/// Starts with `init` and replaces it by what `body` returns as long as
/// `condition` returns one element that is not 0. A carried tensor keeps its
/// sizes, dtype and device. `most_iterations` (0: not declared) bounds how
/// often it runs: gradients flow through a loop only if it has one, or counts
/// from a constant to another; a run that needs more is an error then.
FORETRACE_API Tensors while_loop(TensorList init, const Region &condition,
                                 const Region &body,
                                 int64_t most_iterations = 0,
                                 Here here = Here::current());

/// `body` for each position of dim `dim` of the xs, backward with `reverse`: it
/// is given the carried tensors, then each of the xs at that position, and
/// returns the next carried ones, then what is stacked along `dim`. Gives the
/// last carried tensors, then the stacked ones.
FORETRACE_API Tensors scan(TensorList init, TensorList xs, const Region &body,
                           int64_t dim = 0, bool reverse = false,
                           Here here = Here::current());

} // namespace ft

#endif // FORETRACE_TRACE_CONTROL_H
