//===- ReductionLoops.cpp - Reduction dims as a few loops -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/ReductionLoops.h"

using namespace mlir;

namespace ft {

ReductionLoops::ReductionLoops(IndexSpace &space, linalg::GenericOp op,
                               const Coords &parallel)
    : space(space), op(op), dims(parallel) {
  sizes = space.sizes->loops(op);
  for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      reductionDims.push_back(d);
  if (llvm::any_of(reductionDims, [&](unsigned d) { return sizes[d].is(0); })) {
    groups.push_back({0, unsigned(reductionDims.size() - 1), 0});
    return;
  }
  for (unsigned i = 0; i < reductionDims.size(); ++i) {
    Group next{i, i, sizes[reductionDims[i]]};
    if (next.size.is(1))
      continue; // its counter stays 0
    if (!groups.empty()) {
      // Try one loop over both.
      SmallVector<Group> trial(groups.begin(), groups.end());
      trial.back().last = i;
      trial.back().size = trial.back().size * next.size;
      for (unsigned j = i + 1; j < reductionDims.size(); ++j)
        if (!sizes[reductionDims[j]].is(1))
          trial.push_back({j, j, sizes[reductionDims[j]]});
      TensorWalk w(space);
      SmallVector<unsigned> atoms;
      walk(w, trial, atoms);
      unsigned joined = atoms[groups.size() - 1];
      bool linear = llvm::none_of(w.accesses, [&](const auto &a) {
        return space.dividesBy(a.offset, joined);
      });
      for (const auto &nested : w.reductions)
        for (const IndexExpr &e : nested.coords)
          linear &= !space.dividesBy(e, joined);
      if (linear) {
        groups.back() = trial[groups.size() - 1];
        continue;
      }
    }
    groups.push_back(next);
  }
}

void ReductionLoops::setDims(Coords &target, const Group &g,
                             const IndexExpr &counter) const {
  Dim inner = 1;
  for (unsigned i = g.last + 1; i-- > g.first;) {
    unsigned d = reductionDims[i];
    IndexExpr at = space.floorDiv(counter, inner);
    target[d] = i == g.first ? at : space.mod(at, sizes[d]);
    inner = inner * sizes[d];
  }
}

void ReductionLoops::walk(TensorWalk &w, ArrayRef<Group> with,
                          SmallVectorImpl<unsigned> &atoms) {
  Coords at = dims;
  for (const Group &g : with) {
    atoms.push_back(space.addCounter(Value(), g.size));
    setDims(at, g, space.of(atoms.back()));
  }
  w.readBody(op, at);
}

Dim ReductionLoops::points() const {
  Dim n = 1;
  for (const Group &g : groups)
    n = n * g.size;
  return n;
}

} // namespace ft
