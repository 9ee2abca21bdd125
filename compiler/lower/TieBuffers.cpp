//===- TieBuffers.cpp - Outputs in the memory of inputs that die -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/TieBuffers.h"

#include "compiler/lower/InPlace.h"

using namespace mlir;

namespace ft {

/// Whether the value is all of a buffer of the arena.
static bool isWholeBuffer(Schedule &s, Value v, const Placement &place) {
  return place.region == Region::Arena && place.byteOffset.is(0) &&
         place.strides == rowMajorStrides(s.shapeOf(v));
}

void tieBuffers(Schedule &s) {
  for (auto [step, what] : llvm::enumerate(s.steps)) {
    if (what.check)
      continue;
    const ScheduledKernel &kernel = s.kernels[what.kernel];
    if (kernel.outputs.size() != 1)
      continue;
    unsigned now = s.firstStep + static_cast<unsigned>(step);
    Value out = kernel.outputs.front();
    Placement to = s.placements.lookup(out);
    if (!isWholeBuffer(s, out, to))
      continue;
    for (auto [i, v] : llvm::enumerate(kernel.inputs)) {
      Placement from = s.placements.lookup(v);
      bool isAlone =
          llvm::count_if(kernel.inputs, [&](Value other) {
            Placement p = s.placements.lookup(other);
            return p.region == Region::Arena && p.index == from.index;
          }) == 1;
      if (v.getType() == out.getType() && s.shapeOf(v) == s.shapeOf(out) &&
          isWholeBuffer(s, v, from) && s.memory.last(from.index) == now &&
          isAlone && isReadAsWritten(kernel.ops, v, out) &&
          s.memory.tie(to.index, from.index)) {
        s.ties.push_back({what.kernel, static_cast<unsigned>(i), to.index});
        break;
      }
    }
  }
}

} // namespace ft
