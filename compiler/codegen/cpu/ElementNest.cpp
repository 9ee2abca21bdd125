//===- ElementNest.cpp - Loops for pointwise ops and reductions -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nest goes over the elements of the outputs. Choices, in this order:
//
//  1. Neighbouring dims become one loop where every read stays linear in it.
//  2. Rows: the dims that the coordinates of reductions depend on. Reductions
//     are read before the loops over the other dims, and found again inside.
//  3. Lanes: the dim along which most reads and the stores are contiguous.
//  4. The dims outside the lane loop (rows first) are one parallel loop; if
//     that has too few steps, the lane loop is cut into chunks. Dims whose
//     reads share the cache lines that lanes gather from are inside of it: of
//     weights [f, c, 3, 3] that become [3, 3, c, f], a line has all 3 × 3.
//
//   softmax over the last dim:            batch norm over all but the last:
//     for i in [lo, hi):                    for c in [lo, hi) step lanes:
//       m = max_j x[i, j]   (lanes j)         s = sum_n x[n, c]  (lanes c)
//       s = sum_j exp(…)    (lanes j)         for n:
//       for j step lanes: out[i, j] = …         out[n, c] = …

#include "compiler/codegen/cpu/KernelEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ft {

/// Lanes for a loop of the run: as many as pay where it is long.
static int64_t laneExtent(TensorReader &r, Dim size) {
  return size.isStatic() ? size.value()
                         : std::max<int64_t>(r.estimate(size), 16);
}

void ElementNest::plan() {
  if (!space.makeGroups())
    return;
  auto &groups = space.groups;
  TensorWalk w(r.space);
  SmallVector<unsigned> atoms;
  SmallVector<IndexExpr> stores;
  if (!space.walk(w, atoms, &stores))
    return;
  cost = std::max<int64_t>(w.cost, 1);

  isRow.assign(groups.size(), false);
  for (auto [g, atom] : llvm::enumerate(atoms))
    for (const auto &red : w.reductions)
      for (const IndexExpr &e : red.coords)
        isRow[g] = isRow[g] || r.space.dependsOn(e, atom);

  int64_t widest = w.valueBytes, bytes = 0;
  for (const auto &a : w.accesses) {
    widest = std::max(widest, a.bytes);
    bytes += a.bytes * a.times;
  }
  for (const KernelOutput &o : space.outputs) {
    Type t = cast<RankedTensorType>(o.tensor.getType()).getElementType();
    if (t.isIntOrFloat())
      widest = std::max<int64_t>(widest, t.getIntOrFloatBitWidth() / 8);
    bytes += widest;
  }

  // Lanes.
  int64_t bestScore = 0;
  for (auto [i, atom] : llvm::enumerate(atoms)) {
    int64_t size = r.estimate(groups[i].size);
    if (size < 2 && groups[i].size.isStatic())
      continue;
    int64_t score = 0;
    auto judge = [&](const IndexExpr &e, int64_t weight) {
      if (!r.space.dependsOn(e, atom))
        return;
      bool one = !r.space.dividesBy(e, atom) && e.coefficient(atom).is(1);
      score += one ? 4 * weight : -3 * weight;
    };
    for (const IndexExpr &e : stores)
      judge(e, 2);
    for (const auto &a : w.accesses)
      judge(a.offset, a.times > 1 ? 4 : 1);
    // Rows in lanes run all their reductions lane by lane; that only pays
    // where the reads in them are contiguous.
    if (size < 8)
      score /= 4;
    if (score > bestScore) {
      bestScore = score;
      laneGroup = i;
    }
  }
  if (laneGroup != Lanes::kNone) {
    width =
        r.preferredWidth(widest, w.reductions.empty() ? cost : 16,
                         laneExtent(r, groups[laneGroup].size), w.laneByLane);
    // A body that is read per lane keeps all its values in registers.
    if (width == 1)
      laneGroup = Lanes::kNone;
  }

  if (w.reductions.empty())
    planInsideLanes(w, atoms);

  double perElement = bytes * 0.06 + cost * 0.02;
  if (width == 1)
    perElement = bytes * 0.2 + cost * 0.5;
  info.nanoseconds = perElement; // scaled by emit()
}

/// Dims along which a read that the lanes gather stays on its cache lines, or
/// the next few.
void ElementNest::planInsideLanes(const TensorWalk &w,
                                  ArrayRef<unsigned> atoms) {
  constexpr int64_t kSpan = 256; // bytes
  insideLanes.assign(space.groups.size(), false);
  if (laneGroup == Lanes::kNone)
    return;
  for (const auto &a : w.accesses) {
    auto stride = [&](unsigned atom) -> int64_t {
      Dim c = a.offset.coefficient(atom);
      return r.space.dividesBy(a.offset, atom) || !c.isStatic()
                 ? 0
                 : std::abs(c.value()) * a.bytes;
    };
    if (stride(atoms[laneGroup]) < kSpan)
      continue; // not gathered from lines far apart
    int64_t span = a.bytes;
    for (unsigned i = space.groups.size(); i-- > 0;) {
      int64_t step = stride(atoms[i]);
      Dim size = space.groups[i].size;
      if (i == laneGroup || step == 0 || !size.isStatic() || size.value() > 64)
        continue;
      int64_t wider = span + step * (size.value() - 1);
      if (wider > kSpan)
        continue;
      span = wider;
      insideLanes[i] = true;
    }
    return;
  }
}

/// Keeps values that a reduction computes and a later pass over the same row
/// needs again, if computing them costs more than a store and a load: exp in
/// softmax.
void ElementNest::keepExpensive() {
  SmallVector<unsigned> atoms;
  TensorWalk w(r.space);
  space.walk(w, atoms);
  for (Value value : w.pointwise()) {
    auto op = value.getDefiningOp<linalg::GenericOp>();
    int64_t own = 0;
    for (Operation &inner : *op.getBody())
      own += bodyOpCost(&inner);
    if (own < 15)
      continue;
    // Where is it read? First inside a reduction, over whole rows.
    const TensorWalk::Visit *firstVisit = nullptr;
    unsigned readers = 0;
    for (const TensorWalk::Visit &v : w.visits())
      if (v.tensor == value) {
        ++readers;
        if (v.within &&
            (!firstVisit || v.within->isBeforeInBlock(firstVisit->within)))
          firstVisit = &v;
      }
    if (readers < 2 || !firstVisit)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    TensorReader::Kept kept;
    kept.writer = firstVisit->within;
    kept.element = type.getElementType();
    if (isa<ComplexType>(kept.element))
      continue;
    // Row dims: coordinates made of row counters. The others: one reduction
    // counter of full size each.
    // The stack holds as much as the largest row takes.
    auto shape = r.space.sizes->of(value);
    Dim size = 1;
    bool ok = shape.has_value();
    kept.strides.assign(type.getRank(), 0);
    llvm::DenseSet<unsigned> used;
    for (int64_t d = type.getRank(); ok && d-- > 0;) {
      const IndexExpr &e = firstVisit->coords[d];
      bool row = true;
      for (const auto &[id, c] : e.terms)
        row &= llvm::is_contained(atoms, id);
      if (row)
        continue;
      ok &= e.terms.size() == 1 && e.terms[0].second.is(1) &&
            e.constant.is(0) &&
            r.space.atom(e.terms[0].first).size == (*shape)[d] &&
            used.insert(e.terms[0].first).second;
      kept.strides[d] = size;
      size = size * (*shape)[d];
    }
    int64_t bytes =
        std::max<int64_t>(kept.element.getIntOrFloatBitWidth() / 8, 1);
    std::optional<int64_t> most = r.space.sizes->most(size);
    if (!ok || !most || *most > 128 * 1024 / bytes)
      continue;
    kept.pointer = r.stackArray(kept.element, *most);
    r.kept[value] = kept;
  }
}

void ElementNest::emitPoint() {
  TensorReader::Scope scope(r);
  Coords coords = space.coordsOf(counters);
  // An output may lie in the memory of an input: all is read before anything
  // is written.
  SmallVector<Value> values;
  for (const KernelOutput &o : space.outputs) {
    values.push_back(r.read(o.tensor, coords));
    if (!values.back())
      return;
  }
  for (auto [o, v] : llvm::zip(space.outputs, values))
    r.write(o.memory, coords, v);
}

void ElementNest::readReductions() {
  // In the order in which the outputs need them; those that only depend on the
  // counters that are set now.
  SmallVector<IndexExpr> values(counters.begin(), counters.end());
  TensorWalk w(r.space);
  for (auto [i, g] : llvm::enumerate(space.groups))
    if (!isRow[i])
      values[i] = r.space.of(r.space.addCounter(Value(), g.size));
  Coords coords = space.coordsOf(values);
  for (const KernelOutput &o : space.outputs)
    w.read(o.tensor, coords);
  // The walk meets the outermost first; operands come before their users in
  // the block.
  std::vector<TensorWalk::Reduction> order;
  for (const auto &red : w.reductions) {
    if (llvm::all_of(red.coords,
                     [&](const IndexExpr &e) { return r.space.hasValue(e); }))
      order.push_back(red);
  }
  // Few of them, and one op may be read at several coordinates: a stable
  // insertion sort.
  for (size_t i = 1; i < order.size(); ++i)
    for (size_t j = i; j && order[j].op->isBeforeInBlock(order[j - 1].op); --j)
      std::swap(order[j], order[j - 1]);
  for (const auto &red : order)
    if (!r.failed)
      (void)r.read(red.op->getResult(0), red.coords);
}

void ElementNest::emitLanes(llvm::function_ref<void()> body) {
  const OutputSpace::Group &g = space.groups[laneGroup];
  Dim main = floorDiv(g.size, width) * width;
  Lanes outer = r.lanes;
  auto with = [&](unsigned atom, Value mask, unsigned w) {
    r.lanes = Lanes();
    r.lanes.width = w;
    if (w > 1) {
      r.lanes.atom = atom;
      r.lanes.mask = mask;
    }
    counters[laneGroup] = r.space.of(atom);
    body();
    r.lanes = outer;
  };
  Value from = chunkLow ? chunkLow : r.index(0);
  Value to = r.index(main);
  if (chunkHigh)
    to = arith::MinUIOp::create(r.b, r.loc, chunkHigh, to);
  if (!main.is(0))
    r.loop(from, to, width, g.size, width, {}, [&](unsigned atom, ValueRange) {
      with(atom, Value(), width);
      return SmallVector<Value>();
    });
  Dim rest = g.size - main;
  if (rest.is(0))
    return;
  auto tail = [&] {
    TensorReader::Scope scope(r);
    if (r.target.isa.maskedMemory) {
      unsigned w = width;
      while (rest.isStatic() && w / 2 >= rest.value())
        w /= 2;
      // A narrower vector needs its own lane count before the mask is made.
      r.lanes.width = w;
      Value mask = rest.is(w) ? Value() : r.maskBelow(r.index(rest));
      r.lanes = outer;
      with(r.space.addCounter(r.index(main), g.size, width), mask, w);
      return;
    }
    r.loop(r.index(main), r.index(g.size), 1, g.size, 1, {},
           [&](unsigned atom, ValueRange) {
             with(atom, Value(), 1);
             return SmallVector<Value>();
           });
  };
  if (!chunkHigh && (rest.isStatic() || !r.target.isa.maskedMemory))
    return tail();
  Value last;
  if (chunkHigh)
    last = arith::CmpIOp::create(r.b, r.loc, arith::CmpIPredicate::uge,
                                 chunkHigh, r.index(g.size));
  if (!rest.isStatic()) {
    Value some = arith::CmpIOp::create(r.b, r.loc, arith::CmpIPredicate::ne,
                                       r.index(rest), r.index(0));
    last =
        last ? arith::AndIOp::create(r.b, r.loc, last, some).getResult() : some;
  }
  auto branch = scf::IfOp::create(r.b, r.loc, last, false);
  OpBuilder::InsertionGuard guard(r.b);
  r.b.setInsertionPointToStart(branch.thenBlock());
  tail();
}

void ElementNest::emitInner(unsigned depth, ArrayRef<unsigned> order) {
  if (depth == order.size())
    return emitPoint();
  unsigned g = order[depth];
  if (g == laneGroup)
    return emitLanes([&] { emitInner(depth + 1, order); });
  r.loop(r.index(0), r.index(space.groups[g].size), 1, space.groups[g].size, 1,
         {}, [&](unsigned atom, ValueRange) {
           counters[g] = r.space.of(atom);
           emitInner(depth + 1, order);
           return SmallVector<Value>();
         });
}

bool ElementNest::emit() {
  // Before planning, which divides by extents.
  if (hasNoElements(space.shape())) {
    info.trips = 0;
    info.nanoseconds = 0;
    return true;
  }
  plan();
  if (r.failed)
    return false;
  auto &groups = space.groups;
  counters.assign(groups.size(), IndexExpr());

  bool anyRow = llvm::is_contained(isRow, true);
  TensorWalk w(r.space);
  SmallVector<unsigned> atoms;
  space.walk(w, atoms);
  bool reductions = !w.reductions.empty();

  // Parallel dims and the loops inside them, each in memory order, lanes last.
  SmallVector<unsigned> parallel, inner;
  for (unsigned i = 0; i < groups.size(); ++i) {
    bool outside = reductions ? isRow[i] : !insideLanes[i];
    if (i == laneGroup)
      continue;
    (outside ? parallel : inner).push_back(i);
  }
  bool laneIsRow = laneGroup != Lanes::kNone && isRow[laneGroup];
  double perElement = info.nanoseconds;
  Dim trips = 1, innerPoints = 1;
  for (unsigned i : parallel)
    trips = trips * groups[i].size;
  for (unsigned i : inner)
    innerPoints = innerPoints * groups[i].size;
  if (laneGroup != Lanes::kNone) {
    const OutputSpace::Group &g = space.groups[laneGroup];
    int64_t work = r.estimate(innerPoints);
    for (const auto &red : w.reductions)
      work = std::max(work, red.points);
    int64_t target = 4096 / std::max<int64_t>(work, 1);
    bool cut = laneIsRow || !reductions;
    chunk = std::max<int64_t>(target / width, 1) * width;
    // A loop of the run may be long where its hint is short.
    bool isLong = g.size.isStatic() ? g.size.value() > chunk : true;
    bool isFew = trips.isStatic() ? trips.value() < 64 : r.estimate(trips) < 64;
    if (cut && isFew && isLong) {
      trips = trips * ceilDiv(g.size, chunk);
      innerPoints = innerPoints * Dim(chunk);
    } else {
      chunk = 0;
      innerPoints = innerPoints * g.size;
    }
  }
  if (reductions && !anyRow)
    trips = 1;

  if (reductions && !laneIsRow && r.target.isa.vectorBytes)
    keepExpensive();

  parallelLoop(trips, [&](unsigned atom) {
    IndexExpr e = r.space.of(atom);
    if (chunk) {
      Dim chunks = ceilDiv(groups[laneGroup].size, chunk);
      chunkLow = r.scalarIndex(r.space.mod(e, chunks) * Dim(chunk));
      chunkHigh = arith::AddIOp::create(r.b, r.loc, chunkLow, r.index(chunk));
      e = r.space.floorDiv(e, chunks);
    }
    // The counter split into the parallel dims. Each part gets a counter of
    // its own, so that expressions stay simple.
    for (unsigned k = parallel.size(); k-- > 0;) {
      Dim size = groups[parallel[k]].size;
      IndexExpr part = k ? r.space.mod(e, size) : e;
      counters[parallel[k]] =
          r.space.of(r.space.addCounter(r.scalarIndex(part), size));
      e = r.space.floorDiv(e, size);
    }
    auto row = [&] {
      TensorReader::Scope scope(r);
      if (reductions)
        readReductions();
      SmallVector<unsigned> order(inner);
      // Without reductions the dims inside are those inside of the lanes.
      if (laneGroup != Lanes::kNone && !laneIsRow)
        order.insert(reductions ? order.end() : order.begin(), laneGroup);
      if (!r.failed)
        emitInner(0, order);
      for (auto &entry : r.kept)
        entry.second.complete = false;
    };
    if (laneIsRow)
      emitLanes(row);
    else
      row();
  });
  r.kept.clear();
  info.nanoseconds = perElement * r.estimate(innerPoints);
  info.points = innerPoints;
  return !r.failed;
}

} // namespace ft
