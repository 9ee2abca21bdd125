//===- JoinLayouts.h - What two branches' results have in common -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A result of ft.cond comes from one branch or the other. Where their sizes
// differ the result has a symbol of its own:
//
//   [2, 5]                 and [3, 5]               → [u0, 5], 2 <= u0 <= 3
//   [2, 4] strides [1, 2]  and [3, 4] strides [1, 3] → [u0, 4] strides [1, u0]
//
// Strides follow: a stride is the product of the sizes of the dims inside it,
// so both tensors must be dense, in one order of their dims. Dims of one
// position fit any order; those of stride 0 (expanded) keep it. Tensors of
// equal layout join whatever it is.
//
// Source: PyTorch's merge of the outputs of torch.cond.

#ifndef FORETRACE_COMPILER_FAKE_JOINLAYOUTS_H
#define FORETRACE_COMPILER_FAKE_JOINLAYOUTS_H

#include "compiler/fake/FakeCall.h"

namespace ft {

/// The layout of what is one of `a` and `b`; `fresh` makes a symbol for two
/// sizes that differ. Nothing if there is none; then `category` and `reason`
/// ("their strides stand in different orders") say why.
std::optional<TensorMeta> joinLayouts(const TensorMeta &a, const TensorMeta &b,
                                      llvm::function_ref<Dim(Dim, Dim)> fresh,
                                      FakeError &category, std::string &reason);

/// The same tensor seen from outside: strides count only where a dim has more
/// than one position, and not at all in an empty tensor.
bool sameLayout(
    const TensorMeta &a, const TensorMeta &b,
    llvm::function_ref<bool(Dim, Dim)> equal = [](Dim x, Dim y) {
      return x == y;
    });

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_JOINLAYOUTS_H
