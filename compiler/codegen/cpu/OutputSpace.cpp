//===- OutputSpace.cpp - The elements of outputs as a few loops -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/KernelEmitter.h"

using namespace mlir;

namespace ft {

void NestEmitter::parallelLoop(Dim trips,
                               llvm::function_ref<void(unsigned)> body) {
  info.trips = trips;
  auto clamp = [&](Value v) -> Value {
    if (first.is(0))
      return v;
    Value f = r.index(first);
    Value above = arith::MaxSIOp::create(r.b, r.loc, v, f);
    return arith::SubIOp::create(r.b, r.loc, above, f);
  };
  Value from = clamp(low);
  Value to = arith::MinSIOp::create(r.b, r.loc, clamp(high), r.index(trips));
  r.loop(from, to, 1, trips, 1, {}, [&](unsigned atom, ValueRange) {
    body(atom);
    return SmallVector<Value>();
  });
}

Coords OutputSpace::coordsOf(ArrayRef<Group> with, ArrayRef<IndexExpr> values) {
  Coords coords(shape().size());
  for (auto [g, e] : llvm::zip(with, values)) {
    Dim inner = 1;
    for (unsigned d = g.last + 1; d-- > g.first;) {
      IndexExpr at = r.space.floorDiv(e, inner);
      coords[d] = d == g.first ? at : r.space.mod(at, shape()[d]);
      inner = inner * shape()[d];
    }
  }
  return coords;
}

bool OutputSpace::walk(TensorWalk &w, ArrayRef<Group> with,
                       SmallVectorImpl<unsigned> &atoms,
                       SmallVectorImpl<IndexExpr> *stores) {
  SmallVector<IndexExpr> values;
  for (const Group &g : with) {
    atoms.push_back(r.space.addCounter(Value(), g.size));
    values.push_back(r.space.of(atoms.back()));
  }
  Coords coords = coordsOf(with, values);
  for (const KernelOutput &o : outputs) {
    if (!w.read(o.tensor, coords)) {
      if (!r.failed)
        r.failed = w.unsupported ? w.unsupported : o.tensor.getDefiningOp();
      return false;
    }
    if (stores)
      stores->push_back(offsetOf(o.memory, coords, r.space));
  }
  return true;
}

bool OutputSpace::makeGroups() {
  for (unsigned d = 0; d < shape().size(); ++d) {
    Group next{d, d, shape()[d]};
    if (next.size.is(1))
      continue; // its coordinate stays 0
    if (!groups.empty()) {
      SmallVector<Group> trial(groups.begin(), groups.end());
      // Units between the two are swallowed.
      trial.back().last = d;
      trial.back().size = trial.back().size * next.size;
      for (unsigned e = d + 1; e < shape().size(); ++e)
        if (!shape()[e].is(1))
          trial.push_back({e, e, shape()[e]});
      TensorWalk w(r.space);
      SmallVector<unsigned> atoms;
      SmallVector<IndexExpr> offsets;
      if (!walk(w, trial, atoms, &offsets))
        return false;
      for (const auto &a : w.accesses)
        offsets.push_back(a.offset);
      for (const auto &red : w.reductions)
        llvm::append_range(offsets, red.coords);
      unsigned joined = atoms[groups.size() - 1];
      if (llvm::none_of(offsets, [&](const IndexExpr &e) {
            return r.space.dividesBy(e, joined);
          })) {
        groups.back() = trial[groups.size() - 1];
        continue;
      }
    }
    groups.push_back(next);
  }
  return true;
}

} // namespace ft
