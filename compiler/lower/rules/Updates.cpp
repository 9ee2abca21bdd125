//===- Updates.cpp - Folding values into a tensor at indices --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/Updates.h"

#include "compiler/lower/rules/LibraryKernel.h"
#include "runtime/kernels/update.h"

using namespace mlir;

namespace ft {

static int64_t wordOf(Fold fold) {
  switch (fold) {
  case Fold::Assign:
    return FT_UPDATE_ASSIGN;
  case Fold::Sum:
    return FT_UPDATE_ADD;
  case Fold::Product:
    return FT_UPDATE_MULTIPLY;
  case Fold::Max:
    return FT_UPDATE_MAXIMUM;
  case Fold::Min:
    return FT_UPDATE_MINIMUM;
  }
  llvm_unreachable("all folds are listed");
}

LoweredTensor foldUpdates(LowerCall &c, const Updates &u) {
  if (isForGpu(c))
    return foldByResult(c, u);
  // Assignments move bits.
  DType work = u.fold == Fold::Assign ? u.dtype : opmathType(u.dtype);
  int64_t flags = 0;
  SmallVector<LoweredTensor> ins;
  if (u.start) {
    flags |= FT_UPDATE_INITIAL;
    ins.push_back(c.cast(*u.start, work));
  }
  ins.push_back(c.cast(u.values, work));
  if (u.mask) {
    flags |= FT_UPDATE_MASK;
    ins.push_back(*u.mask);
  }
  llvm::append_range(ins, u.indices);
  flags |= u.wrap ? FT_UPDATE_WRAP : 0;
  flags |= u.skip ? FT_UPDATE_SKIP : 0;
  flags |= u.loopsOfIndex ? FT_UPDATE_OWN : 0;
  SmallVector<Arg> numbers = {Arg::integer(wordOf(u.fold)), Arg::integer(flags),
                              Arg::integer(u.skip.value_or(0)),
                              Arg::integer(u.loops)};
  for (UpdatePlace place : u.from) {
    auto number = static_cast<int64_t>(place.number);
    numbers.push_back(
        Arg::integer(place.kind == UpdatePlace::Index ? number : -1 - number));
  }
  KernelResult result{u.sizes, work};
  return c.cast(callKernel(c, "update", ins, numbers, result, {1, 64})[0],
                u.dtype);
}

LoweredTensor foldAtPositions(LowerCall &c, LoweredTensor values,
                              LoweredTensor positions, const SizeList &sizes,
                              unsigned space, Fold fold, DType dtype) {
  Dims in = values.dims();
  Dim planes = product(ArrayRef<Dim>(in).drop_back(space));
  Dim many = product(ArrayRef<Dim>(in).take_back(space));
  Dim places = product(ArrayRef<Dim>(sizes).take_back(space));
  Updates u;
  u.fold = fold;
  u.sizes = {planes, places};
  u.dtype = dtype;
  u.loops = 2;
  u.from = {{UpdatePlace::Loop, 0}, {UpdatePlace::Index, 0}};
  u.values = c.reshape(values, {planes, many});
  u.indices = {c.reshape(positions, {planes, many})};
  u.loopsOfIndex = true;
  return c.reshape(foldUpdates(c, u), sizes);
}

} // namespace ft
