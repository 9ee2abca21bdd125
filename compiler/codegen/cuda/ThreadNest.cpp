//===- ThreadNest.cpp - Pointwise ops and reductions by threads -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without reductions worth sharing, thread t of all computes element t of the
// outputs, so that a warp touches neighbours in memory; reductions that it
// needs are loops of its own (pooling, depthwise convolution, columns summed).
// Pointwise ops on much memory whose alignment is known: four neighbours for
// each thread, which the backend makes vector loads and stores of.
//
// Where a row of elements needs the same reductions, or a reduction is long, a
// team computes the row: a warp for up to kWarpRow points, else the block.
//
//   softmax of [rows, 300]:  m = max over x[row, rank + 32 i], shuffled
//                            s = sum over exp(x - m), shuffled
//                            out[row, rank + 32 i] = exp(x - m) / s
//
// Invariant: shuffles and barriers stand where whole teams come by. Sizes and
// the row are the same for a team, and reductions inside loops that its
// threads share are loops of each thread (TensorReader::team is null there).

#include "compiler/codegen/cuda/DeviceKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ft {

// Points of a row that one warp does by itself.
static constexpr int64_t kWarpRow = 1024;
// Results from which on a thread for each of them fills the machine.
static constexpr int64_t kManyRows = 1 << 15;
// Neighbours for one thread, where there are enough elements for that.
static constexpr int64_t kVector = 4;

void ThreadNest::plan() {
  if (!space.makeGroups())
    return;
  TensorWalk w(r.space);
  SmallVector<unsigned> atoms;
  if (!space.walk(w, atoms))
    return;
  counters.assign(space.groups.size(), IndexExpr());

  int64_t points = 0;
  bool isShared = false, isContiguous = false;
  SmallVector<bool> isRow(space.groups.size(), false);
  for (auto &red : w.reductions) {
    isShared |= combines(red.op);
    points = std::max(points, red.points);
    for (const IndexExpr &e : red.coords)
      for (auto [g, atom] : llvm::enumerate(atoms))
        isRow[g] = isRow[g] || r.space.dependsOn(e, atom);
  }
  for (const auto &access : w.accesses)
    for (const auto &[id, c] : access.offset.terms)
      isContiguous |=
          access.times > 1 && c.is(1) && !llvm::is_contained(atoms, id);
  for (auto [g, group] : llvm::enumerate(space.groups)) {
    (isRow[g] ? outer : inner).push_back(g);
    Dim &count = isRow[g] ? outerPoints : innerPoints;
    count = count * group.size;
  }
  bool isAlone = r.estimate(innerPoints) == 1;
  hasTeams = isShared && points >= kWarpThreads &&
             (!isAlone || isContiguous || r.estimate(outerPoints) < kManyRows);
  if (hasTeams) {
    if (std::max(points, r.estimate(innerPoints)) > kWarpRow)
      teamThreads = kBlockThreads;
    return;
  }
  outer.clear();
  inner.clear();
  for (unsigned g = 0; g < space.groups.size(); ++g)
    outer.push_back(g);
  outerPoints = outerPoints * innerPoints;
  if (w.reductions.empty() && r.estimate(outerPoints) >= kVector * kManyRows &&
      areVectors(w, atoms))
    each = kVector;
}

/// Whether kVector neighbours along the fastest counter are an aligned vector
/// in all that is read and written, or one element.
bool ThreadNest::areVectors(const TensorWalk &w, ArrayRef<unsigned> atoms) {
  if (atoms.empty() || knownDivisor(space.groups.back().size) % kVector)
    return false;
  unsigned near = atoms.back();
  auto isVector = [&](Value memory, const IndexExpr &offset, int64_t bytes) {
    int64_t known = k.alignments.lookup(memory);
    return known && known % std::min<int64_t>(kVector * bytes, 16) == 0 &&
           isConsecutive(r.space, offset, near, kVector);
  };
  Coords at(space.groups.size());
  for (unsigned g = 0; g < at.size(); ++g)
    at[g] = r.space.of(atoms[g]);
  Coords coords = space.coordsOf(at);
  for (const KernelOutput &o : space.outputs) {
    auto type = cast<MemRefType>(o.memory.getType()).getElementType();
    if (!type.isIntOrFloat() ||
        !isVector(o.memory, offsetOf(o.memory, coords, r.space),
                  std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1)))
      return false;
  }
  return llvm::all_of(w.accesses, [&](const TensorWalk::Access &access) {
    return !r.space.dependsOn(access.offset, near) ||
           isVector(access.memory, access.offset, access.bytes);
  });
}

void ThreadNest::point() {
  TensorReader::Scope scope(r);
  Coords coords = space.coordsOf(counters);
  for (const KernelOutput &o : space.outputs) {
    Value v = r.read(o.tensor, coords);
    if (!v)
      return;
    r.write(o.memory, coords, v);
  }
}

/// In every thread, what all threads of the team have.
Value ThreadNest::combine(Value part, ThreadTeam::Combiner combiner) {
  for (int mask = kWarpThreads / 2; mask; mask /= 2)
    part = combiner(part, k.shuffle(part, mask));
  if (teamThreads == kWarpThreads)
    return part;
  constexpr int64_t kWarps = kBlockThreads / kWarpThreads;
  Type type = part.getType();
  Value memory = k.shared(kWarps * 8);
  Value lane =
      arith::RemUIOp::create(r.b, r.loc, k.thread, r.index(kWarpThreads));
  Value warp =
      arith::DivUIOp::create(r.b, r.loc, k.thread, r.index(kWarpThreads));
  Value first = arith::CmpIOp::create(r.b, r.loc, arith::CmpIPredicate::eq,
                                      lane, r.index(0));
  k.when(first, [&] {
    r.store(memory, type, r.space.of(r.space.addCounter(warp, kWarps)), part);
  });
  k.barrier();
  Value all = r.load(memory, type, IndexExpr(0));
  for (int64_t w = 1; w < kWarps; ++w)
    all = combiner(all, r.load(memory, type, IndexExpr(w)));
  // The next reduction writes there again.
  k.barrier();
  return all;
}

/// Reductions that depend on the row alone, in the order in which they need
/// each other: they are remembered, and found again where elements need them.
void ThreadNest::readReductions() {
  SmallVector<IndexExpr> values(counters.begin(), counters.end());
  SmallVector<unsigned> pending;
  for (unsigned g : inner) {
    pending.push_back(r.space.addCounter(Value(), space.groups[g].size));
    values[g] = r.space.of(pending.back());
  }
  TensorWalk w(r.space);
  Coords coords = space.coordsOf(values);
  for (const KernelOutput &o : space.outputs)
    w.read(o.tensor, coords);
  std::vector<TensorWalk::Reduction> order;
  for (const auto &red : w.reductions) {
    // Counters of reduction loops have no value yet.
    auto isKnown = [&](const IndexExpr &e) {
      for (const auto &[id, c] : e.terms) {
        const IndexSpace::Atom &atom = r.space.atom(id);
        if (atom.kind != IndexSpace::Kind::Division && !atom.value)
          return false;
        for (unsigned p : pending)
          if (r.space.dependsOn(e, p))
            return false;
      }
      return true;
    };
    if (combines(red.op) && llvm::all_of(red.coords, isKnown))
      order.push_back(red);
  }
  llvm::sort(order, [](const auto &x, const auto &y) {
    return x.op != y.op && x.op->isBeforeInBlock(y.op);
  });
  for (const auto &red : order)
    if (!r.failed)
      (void)r.read(red.op->getResult(0), red.coords);
}

void ThreadNest::elements(Value block) {
  blocks = ceilDiv(outerPoints, kBlockThreads * each);
  Value at = arith::AddIOp::create(
      r.b, r.loc,
      arith::MulIOp::create(r.b, r.loc, block, r.index(kBlockThreads)),
      k.thread);
  if (each > 1)
    at = arith::MulIOp::create(r.b, r.loc, at, r.index(each));
  // Blocks of other nests are beyond the end, or before 0, which is the same
  // without a sign.
  Value some = arith::CmpIOp::create(r.b, r.loc, arith::CmpIPredicate::ult, at,
                                     r.index(outerPoints));
  k.when(some, [&] {
    setCounters(outer, r.space.of(r.space.addCounter(at, outerPoints, each)));
    if (each == 1)
      return point();
    IndexExpr first = counters[outer.back()];
    for (int64_t i = 0; i < each; ++i) {
      counters[outer.back()] = first + IndexExpr(i);
      point();
    }
  });
}

void ThreadNest::rows(Value block) {
  int64_t teams = kBlockThreads / teamThreads;
  blocks = ceilDiv(outerPoints, teams);
  Value row = block, rank = k.thread;
  if (teams > 1) {
    Value size = r.index(teamThreads);
    rank = arith::RemUIOp::create(r.b, r.loc, k.thread, size);
    row = arith::AddIOp::create(
        r.b, r.loc, arith::MulIOp::create(r.b, r.loc, block, r.index(teams)),
        arith::DivUIOp::create(r.b, r.loc, k.thread, size));
  }
  Value some = arith::CmpIOp::create(r.b, r.loc, arith::CmpIPredicate::ult, row,
                                     r.index(outerPoints));
  k.when(some, [&] {
    setCounters(outer, r.space.of(r.space.addCounter(row, outerPoints)));
    ThreadTeam team{teamThreads, rank,
                    [&](Value part, ThreadTeam::Combiner combiner) {
                      return combine(part, combiner);
                    }};
    r.team = &team;
    readReductions();
    r.team = nullptr;
    if (r.failed)
      return;
    r.loop(rank, r.index(innerPoints), teamThreads, innerPoints, 1, {},
           [&](unsigned atom, ValueRange) {
             setCounters(inner, r.space.of(atom));
             point();
             return SmallVector<Value>();
           });
  });
}

bool ThreadNest::emit(Dim first) {
  plan();
  if (r.failed)
    return false;
  Value block = k.block;
  if (!first.is(0))
    block = arith::SubIOp::create(r.b, r.loc, block, r.index(first));
  if (hasTeams)
    rows(block);
  else
    elements(block);
  return !r.failed;
}

} // namespace ft
