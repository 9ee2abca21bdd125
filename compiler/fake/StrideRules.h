//===- StrideRules.h - Strides of results ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How PyTorch lays results out. All functions are pure arithmetic on sizes and
// strides; a symbolic relation that is not evident counts as "no".

#ifndef FORETRACE_COMPILER_FAKE_STRIDERULES_H
#define FORETRACE_COMPILER_FAKE_STRIDERULES_H

#include "compiler/fake/FakeCall.h"

namespace ft {

/// No two elements share a place and none is skipped: the strides are the
/// row-major ones of some order of the dims.
///   [3, 4] strides [1, 3]  yes;  [3, 4] strides [8, 2]  no
bool isDense(llvm::ArrayRef<Dim> sizes, llvm::ArrayRef<Dim> strides);

/// Row-major strides for the dims in `order` (outermost first).
Dims denseStrides(llvm::ArrayRef<Dim> sizes, llvm::ArrayRef<int64_t> order);

/// NHWC or NDHWC strides; `sizes` has 4 or 5 entries.
Dims channelsLastStrides(llvm::ArrayRef<Dim> sizes);
bool isChannelsLast(const TensorMeta &t);
/// Whether ops that follow their input's memory format see channels last:
/// stricter than isChannelsLast where sizes of 1 leave it open.
bool suggestsChannelsLast(const TensorMeta &t);

/// Strides of `empty_like(t)`: the same order of dims, dense.
///   [3, 4] strides [2, 6] → [1, 3];  strides [0, 1] → [4, 1]
Dims likeStrides(const TensorMeta &t);
/// Strides of `clone(t)`: t's own if dense, those of dims of one element
/// included; otherwise as above.
Dims cloneStrides(const TensorMeta &t);

/// Strides for a result of `sizes` in a named memory format; "preserve_format"
/// follows `like` (may be null: row-major). Nothing if the format does not fit
/// the rank.
std::optional<Dims> formatStrides(llvm::StringRef format,
                                  llvm::ArrayRef<Dim> sizes,
                                  const TensorMeta *like);

/// Channels last if `like` suggests it (and the rank fits), else row-major.
Dims followingStrides(llvm::ArrayRef<Dim> sizes, const TensorMeta &like);

/// Strides of the result of an elementwise op over tensors that broadcast to
/// `sizes`.
Dims elementwiseStrides(llvm::ArrayRef<const TensorMeta *> tensors,
                        llvm::ArrayRef<Dim> sizes);

/// As elementwiseStrides, but without the short cut for contiguous tensors, so
/// that dims of one element are ordered by their strides, too.
Dims orderedStrides(llvm::ArrayRef<const TensorMeta *> tensors,
                    llvm::ArrayRef<Dim> sizes);

/// Strides of ops that select elements of one tensor or another and then make
/// the result contiguous: row-major, but in dims of one element, which do not
/// count for that, what the selection gave.
///   [3, 1] strides [1, 7] → [1, 3];  [3, 4] strides [1, 3] → [4, 1]
Dims selectedStrides(llvm::ArrayRef<const TensorMeta *> tensors,
                     llvm::ArrayRef<Dim> sizes);

/// Strides with which `t` can be seen as `sizes` (of as many elements) without
/// copying; nothing if it can't. Undecided relations are recorded in `call`,
/// unless a copy would do as well: then it is nothing where that is not known.
///   [4, 3] strides [1, 4] as [2, 2, 3] → [2, 1, 4]; as [12] → nothing
std::optional<Dims> viewStrides(FakeCall &call, const TensorMeta &t,
                                llvm::ArrayRef<Dim> sizes,
                                bool mayCopy = false);

/// Some element is reached by more than one index.
bool overlapsItself(const TensorMeta &t);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_STRIDERULES_H
