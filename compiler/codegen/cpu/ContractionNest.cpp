//===- ContractionNest.cpp - Matmul and convolution by register tiles -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/ContractionNest.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ft {

// Bytes that stay in a core's second-level cache beside what streams through.
static constexpr int64_t kCacheBytes = 768 * 1024;
// Largest array on the stack of a worker.
static constexpr int64_t kStackBytes = 256 * 1024;
// Units of work below which rows are cut too, for the threads' sake.
static constexpr int64_t kFewUnits = 16;
// Cost (bodyOpCost) of an epilogue that is not unrolled.
static constexpr int64_t kLongEpilogue = 12;

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// The input that a factor is, through widening casts.
static OpOperand *inputOf(Value factor, linalg::GenericOp op) {
  while (Operation *cast = factor.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(cast))
      return nullptr;
    factor = cast->getOperand(0);
  }
  auto arg = dyn_cast<BlockArgument>(factor);
  if (!arg || arg.getOwner() != op.getBody() ||
      arg.getArgNumber() >= unsigned(op.getNumDpsInputs()))
    return nullptr;
  return &op->getOpOperand(arg.getArgNumber());
}

std::optional<Contraction> matchContraction(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || !op.getNumReductionLoops())
    return std::nullopt;
  Value acc = op.getBody()->getArguments().back();
  Operation *add = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add) || !acc.hasOneUse())
    return std::nullopt;
  Value product = add->getOperand(0) == acc   ? add->getOperand(1)
                  : add->getOperand(1) == acc ? add->getOperand(0)
                                              : Value();
  Operation *mul = product ? product.getDefiningOp() : nullptr;
  if (!mul || !isa<arith::MulFOp, arith::MulIOp>(mul))
    return std::nullopt;
  Contraction c{op,
                mul->getOperand(0),
                mul->getOperand(1),
                inputOf(mul->getOperand(0), op),
                inputOf(mul->getOperand(1), op),
                isa<arith::MulFOp>(mul)};
  if (!c.xInput || !c.yInput || c.xInput == c.yInput)
    return std::nullopt;
  return c;
}

bool ContractionNest::findContraction() {
  SmallVector<unsigned> atoms;
  TensorWalk w(r.space);
  if (!space.walk(w, atoms) || w.reductions.size() != 1)
    return false;
  auto match = matchContraction(w.reductions[0].op);
  if (!match)
    return false;
  contraction = *match;
  return true;
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Whether lanes along this group read consecutive elements. A packed panel
/// does: its division by the panel width is the same for all lanes.
bool ContractionNest::contiguousLanes(const Operand &o, unsigned group,
                                      unsigned atom) const {
  for (const auto &access : o.accesses) {
    if (!r.space.dependsOn(access.offset, atom))
      continue;
    // Lanes start at multiples of the panel width.
    IndexExpr e = access.offset;
    if (!e.coefficient(atom).is(1))
      return false;
    for (const auto &[id, c] : e.terms) {
      const auto &t = r.space.atom(id);
      if (t.kind == IndexSpace::Kind::Counter ||
          !r.space.dependsOn(t.numerator, atom))
        continue;
      auto aligned = [&](Dim d) { return knownDivisor(d) % width == 0; };
      if (t.kind == IndexSpace::Kind::Lanes || !aligned(t.denominator) ||
          r.space.dividesBy(t.numerator, atom) ||
          !t.numerator.coefficient(atom).is(1) ||
          !aligned(t.numerator.constant))
        return false;
      for (const auto &[inner, k] : t.numerator.terms)
        if (inner != atom && !aligned(k))
          return false;
    }
  }
  return true;
}

bool ContractionNest::analyze(ArrayRef<unsigned> atoms, const Coords &dims) {
  Coords at = dims;
  SmallVector<unsigned> kAtoms;
  for (const auto &g : kDims->groups) {
    kAtoms.push_back(r.space.addCounter(Value(), g.size));
    kDims->setDims(at, g, r.space.of(kAtoms.back()));
  }
  for (Operand *o : {&a, &b}) {
    TensorWalk w(r.space);
    Coords where;
    AffineMap map = contraction.op.getMatchingIndexingMap(o->input);
    for (AffineExpr e : map.getResults())
      where.push_back(r.space.evaluate(e, at));
    if (!w.read(o->input->get(), where) || !w.reductions.empty())
      return false;
    auto element =
        cast<RankedTensorType>(o->input->get().getType()).getElementType();
    o->direct = w.cost == 0 && !w.conditional && w.accesses.size() == 1 &&
                element == accType;
    o->accesses = w.accesses;
    o->bytes = 0;
    for (unsigned atom : atoms) {
      bool moves = llvm::any_of(w.accesses, [&](const auto &access) {
        return r.space.dependsOn(access.offset, atom);
      });
      o->moves.push_back(moves);
    }
    o->bytes = r.estimate(kPoints) * accType.getIntOrFloatBitWidth() / 8;
    for (auto [g, moves] : llvm::zip(space.groups, o->moves))
      if (moves)
        o->bytes *= r.estimate(g.size);
  }
  return true;
}

void ContractionNest::chooseLanes(ArrayRef<unsigned> atoms,
                                  ArrayRef<IndexExpr> stores) {
  int64_t bestScore = INT64_MIN;
  bool swap = false;
  int64_t bestWidth = 1;
  for (unsigned g = 0; g < space.groups.size(); ++g) {
    if (a.moves[g] == b.moves[g])
      continue;
    const Operand &vector = b.moves[g] ? b : a;
    // A loop of the run is as long as it may be.
    Dim extent = space.groups[g].size;
    int64_t size = extent.isStatic()
                       ? extent.value()
                       : std::max<int64_t>(r.estimate(extent), 16);
    width = r.target.panelWidth();
    while (width > 1 && width / 2 >= size)
      width /= 2;
    int64_t score = std::min<int64_t>(size, width) / 4;
    for (const IndexExpr &e : stores)
      score += !r.space.dividesBy(e, atoms[g]) && e.coefficient(atoms[g]).is(1)
                   ? 16
                   : -16;
    score += contiguousLanes(vector, g, atoms[g]) ? 8 : -8;
    if (score > bestScore) {
      bestScore = score;
      laneGroup = g;
      bestWidth = width;
      swap = !b.moves[g];
    }
  }
  width = bestWidth;
  if (swap)
    std::swap(a, b);
}

void ContractionNest::chooseRows() {
  for (unsigned g = 0; g < space.groups.size(); ++g) {
    if (g == laneGroup)
      continue;
    if (a.moves[g] == b.moves[g]) {
      batch.push_back(g);
    } else if (b.moves[g]) {
      outerPanels.push_back(g);
    } else {
      if (rowGroup == kNone || r.estimate(space.groups[g].size) >=
                                   r.estimate(space.groups[rowGroup].size)) {
        if (rowGroup != kNone)
          outerRows.push_back(rowGroup);
        rowGroup = g;
      } else {
        outerRows.push_back(g);
      }
    }
  }
  llvm::sort(outerRows);
  rowCount = rowGroup == kNone ? Dim(1) : space.groups[rowGroup].size;

  // The row count of a tile: fewest cycles for all rows. A tile of R rows
  // takes R steps, and one more to start; fewer than 4 rows wait for the
  // latency of the multiplication.
  int64_t perRow =
      std::max<int64_t>(1, width * (accType.getIntOrFloatBitWidth() / 8) /
                               r.target.isa.vectorBytes);
  int64_t most = std::max<int64_t>(r.target.isa.maxRows * 2 / perRow, 1);
  most = std::min<int64_t>(most, r.target.isa.maxRows);
  if (!rowCount.isStatic()) {
    // Any number of rows may come: the largest tile, and smaller ones for the
    // rest (restOfRows).
    tileRows = most;
    return;
  }
  int64_t count = rowCount.value();
  most = std::min(most, count);
  double best = 1e30;
  for (int64_t rows = 1; rows <= most; ++rows) {
    auto cost = [](int64_t n) { return std::max<double>(n, 4) + 1; };
    double all = count / rows * cost(rows);
    if (count % rows)
      all += cost(count % rows) + 2;
    if (all <= best) {
      best = all;
      tileRows = rows;
    }
  }
}

bool ContractionNest::plan() {
  if (r.scalarOnly || hasNoElements(space.shape()) || !findContraction())
    return false;
  accType = cast<RankedTensorType>(contraction.op.getResult(0).getType())
                .getElementType();
  if (!accType.isIntOrFloat() || accType.getIntOrFloatBitWidth() < 32)
    return false;
  if (!space.makeGroups())
    return false;
  SmallVector<unsigned> atoms;
  SmallVector<IndexExpr> stores;
  TensorWalk w(r.space);
  if (!space.walk(w, atoms, &stores) || w.reductions.size() != 1)
    return false;
  Coords dims;
  if (!loopsFromResult(contraction.op, 0, w.reductions[0].coords, dims,
                       r.space))
    return false;
  kDims.emplace(r.space, contraction.op, dims);
  kPoints = kDims->points();
  if (kPoints.is(0))
    return false;
  a.factor = contraction.x, a.input = contraction.xInput;
  b.factor = contraction.y, b.input = contraction.yInput;
  if (!analyze(atoms, dims))
    return false;
  TensorWalk after(r.space);
  after.leaves.insert(contraction.op.getResult(0));
  SmallVector<unsigned> unused;
  space.walk(after, unused);
  epilogueCost = after.cost;
  chooseLanes(atoms, stores);
  if (laneGroup == kNone || width == 1)
    return false;
  chooseRows();

  const OutputSpace::Group &lane = space.groups[laneGroup];
  panelCount = ceilDiv(lane.size, width);
  masked = knownDivisor(lane.size) % width != 0;
  bool contiguous = contiguousLanes(b, laneGroup, atoms[laneGroup]);
  // Sizes of the run are taken for large, that the loops stay short where they
  // matter.
  auto large = [&](Dim d) {
    return d.isStatic() ? d.value() : std::max<int64_t>(r.estimate(d), 64);
  };
  int64_t rows = large(rowCount);
  for (unsigned g : outerRows)
    rows *= large(space.groups[g].size);
  // Few rows and lanes that are far apart: dot products along k read
  // consecutive elements instead.
  if (!contiguous && rows < 8)
    return false;

  aType = bType = accType;
  int64_t bytes = accType.getIntOrFloatBitWidth() / 8;
  // What is packed must fit on the stack, whatever the sizes of the run are.
  std::optional<int64_t> mostK = r.space.sizes->most(kPoints);
  auto fits = [&](int64_t columns, int64_t limit) {
    return mostK && *mostK <= limit / (columns * bytes);
  };
  // Does B need a panel of its own? Packed panels have the next k right behind.
  bool panel =
      contiguous && b.accesses.size() == 1 && b.accesses[0].bytes &&
      llvm::any_of(b.accesses[0].offset.terms, [&](const auto &t) {
        return r.space.atom(t.first).kind == IndexSpace::Kind::Division;
      });
  packsB = !panel && (!contiguous || !b.direct || !lane.size.is(width)) &&
           rows >= (contiguous ? 4 * tileRows : 8) && fits(width, kStackBytes);
  if (!contiguous && !packsB)
    return false;
  packsA = !a.direct && fits(tileRows, kStackBytes / 2);
  if (packsA && !kPoints.isStatic())
    kStride = *mostK;
  else
    kStride = kPoints;

  // What is read again and again should stay in the cache.
  int64_t aBytes = std::max<int64_t>(a.bytes, 1),
          bBytes = std::max<int64_t>(b.bytes, 1);
  for (unsigned g : batch) {
    if (a.moves[g])
      aBytes /= r.estimate(space.groups[g].size);
    if (b.moves[g])
      bBytes /= r.estimate(space.groups[g].size);
  }
  int64_t rowBytes = r.estimate(kPoints) * bytes;
  int64_t rowEstimate = large(rowCount);
  blockRows =
      std::max<int64_t>(kCacheBytes / rowBytes / tileRows, 1) * tileRows;
  int64_t panelsInAll = large(panelCount);
  for (unsigned g : outerPanels)
    panelsInAll *= large(space.groups[g].size);
  int64_t blocksInAll = (rowEstimate + blockRows - 1) / blockRows;
  for (unsigned g : outerRows)
    blocksInAll *= large(space.groups[g].size);
  auto again = [](int64_t size, int64_t times) {
    return double(size) + (size <= kCacheBytes ? 0.25 : 1.0) * size * times;
  };
  panelOuter = packsB || bBytes + again(aBytes, panelsInAll) <=
                             aBytes + again(bBytes, blocksInAll);
  if (panelOuter)
    blockRows = rowCount.isStatic() ? rowCount.value() : 0;
  int64_t units = panelOuter ? panelsInAll : blocksInAll;
  for (unsigned g : batch)
    units *= r.estimate(space.groups[g].size);
  if (units < kFewUnits && rowEstimate > 2 * tileRows) {
    int64_t parts = std::min<int64_t>((kFewUnits + units - 1) / units,
                                      rowEstimate / (2 * tileRows));
    int64_t tiles = (rowEstimate + tileRows - 1) / tileRows;
    int64_t cut = (tiles + parts - 1) / parts * tileRows;
    blockRows = blockRows ? std::min(blockRows, cut) : cut;
  }
  if (rowCount.isStatic() && blockRows >= rowCount.value())
    blockRows = 0;
  return true;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

Coords ContractionNest::contractionCoords() {
  TensorWalk w(r.space);
  Coords at = space.coordsOf(counters);
  for (const KernelOutput &o : space.outputs)
    w.read(o.tensor, at);
  return w.reductions.front().coords;
}

void ContractionNest::loopsOver(ArrayRef<unsigned> list,
                                llvm::function_ref<void()> body) {
  if (list.empty())
    return body();
  unsigned g = list.front();
  Dim size = space.groups[g].size;
  r.loop(r.index(0), r.index(size), 1, size, 1, {},
         [&](unsigned atom, ValueRange) {
           counters[g] = r.space.of(atom);
           loopsOver(list.drop_front(), body);
           return SmallVector<Value>();
         });
}

/// B for all k and the lanes of this panel, one row of lanes after the other.
void ContractionNest::packB() {
  Coords dims;
  loopsFromResult(contraction.op, 0, contractionCoords(), dims, r.space);
  r.lanes = lanes;
  IndexExpr k;
  std::function<void(unsigned)> level = [&](unsigned depth) {
    if (depth == kDims->groups.size()) {
      Value v = r.evaluateAt(contraction.op, b.factor, dims);
      if (v)
        r.storeRow(packedB, bType, k * Dim(width), v);
      return;
    }
    const auto &g = kDims->groups[depth];
    IndexExpr outer = k;
    r.loop(r.index(0), r.index(g.size), 1, g.size, 1, {},
           [&](unsigned atom, ValueRange) {
             kDims->setDims(dims, g, r.space.of(atom));
             k = outer * g.size + r.space.of(atom);
             level(depth + 1);
             return SmallVector<Value>();
           });
    k = outer;
  };
  level(0);
  r.lanes = Lanes();
}

/// A for the rows of a tile and all k, computed along k in lanes.
void ContractionNest::packA(int64_t rows, MutableArrayRef<Coords> dims) {
  IndexExpr k;
  std::function<void(unsigned)> level = [&](unsigned depth) {
    bool last = depth + 1 >= kDims->groups.size();
    if (depth == kDims->groups.size()) {
      for (int64_t i = 0; i < rows; ++i) {
        Value v = r.evaluateAt(contraction.op, a.factor, dims[i]);
        if (!v)
          return;
        IndexExpr at = k + IndexExpr(kStride * i);
        r.store(packedA, aType, at, v);
      }
      return;
    }
    const auto &g = kDims->groups[depth];
    IndexExpr outer = k;
    auto step = [&](unsigned atom, ValueRange) {
      TensorReader::Scope scope(r);
      if (r.lanes.width > 1)
        r.lanes.atom = atom;
      for (int64_t i = 0; i < rows; ++i)
        kDims->setDims(dims[i], g, r.space.of(atom));
      k = outer * g.size + r.space.of(atom);
      level(depth + 1);
      return SmallVector<Value>();
    };
    int64_t w = last ? std::min<int64_t>(r.target.isa.vectorBytes / 4, 16) : 1;
    while (g.size.isStatic() && w > g.size.value())
      w /= 2;
    Dim main = floorDiv(g.size, w) * w;
    r.lanes.width = w;
    if (!main.is(0))
      r.loop(r.index(0), r.index(main), w, g.size, w, {}, step);
    r.lanes = Lanes();
    if (main != g.size)
      r.loop(r.index(main), r.index(g.size), 1, g.size, 1, {}, step);
    k = outer;
  };
  level(0);
}

SmallVector<Value> ContractionNest::kLoops(unsigned depth,
                                           MutableArrayRef<Coords> dims,
                                           const IndexExpr &k, ValueRange acc) {
  if (depth < kDims->groups.size()) {
    const auto &g = kDims->groups[depth];
    return r.loop(r.index(0), r.index(g.size), 1, g.size, 1, acc,
                  [&](unsigned atom, ValueRange carried) {
                    for (Coords &d : dims)
                      kDims->setDims(d, g, r.space.of(atom));
                    return kLoops(depth + 1, dims,
                                  k * g.size + r.space.of(atom), carried);
                  });
  }
  TensorReader::Scope scope(r);
  SmallVector<Value> next(acc);
  r.lanes = lanes;
  Value bv = packsB ? r.loadRow(packedB, bType, k * Dim(width))
                    : r.evaluateAt(contraction.op, b.factor, dims[0]);
  if (bv)
    bv = r.broadcast(bv);
  auto contract = arith::FastMathFlagsAttr::get(r.b.getContext(),
                                                arith::FastMathFlags::contract);
  for (unsigned i = 0; bv && i < next.size(); ++i) {
    r.lanes = Lanes();
    Value av = packsA ? r.load(packedA, aType, k + IndexExpr(kStride * Dim(i)))
                      : r.evaluateAt(contraction.op, a.factor, dims[i]);
    r.lanes = lanes;
    if (!av)
      break;
    av = r.broadcast(av);
    if (contraction.isFloat) {
      Value p = arith::MulFOp::create(r.b, r.loc, av, bv, contract);
      next[i] = arith::AddFOp::create(r.b, r.loc, p, next[i], contract);
    } else {
      Value p = arith::MulIOp::create(r.b, r.loc, av, bv);
      next[i] = arith::AddIOp::create(r.b, r.loc, p, next[i]);
    }
  }
  r.lanes = Lanes();
  return next;
}

/// Rows [first, first + rows) of the current panel.
void ContractionNest::tile(int64_t rows, const IndexExpr &first) {
  TensorReader::Scope scope(r);
  std::vector<Coords> dims(rows);
  for (int64_t i = 0; i < rows; ++i) {
    if (rowGroup != kNone)
      counters[rowGroup] = first + IndexExpr(i);
    loopsFromResult(contraction.op, 0, contractionCoords(), dims[i], r.space);
  }
  if (packsA)
    packA(rows, dims);
  r.lanes = lanes;
  SmallVector<Value> acc;
  for (int64_t i = 0; i < rows; ++i)
    acc.push_back(r.zero(r.vectorOf(accType)));
  r.lanes = Lanes();
  acc = kLoops(0, dims, IndexExpr(), acc);

  if (epilogueCost < kLongEpilogue || rows == 1) {
    for (int64_t i = 0; i < rows && !r.failed; ++i)
      finishRow(first + IndexExpr(i), acc[i]);
    return;
  }
  // A long epilogue is a loop over the rows: unrolled, it would be scheduled
  // all at once and spill every register.
  r.lanes = lanes;
  for (int64_t i = 0; i < rows; ++i)
    r.storeRow(tileMemory, accType, IndexExpr(i * width), acc[i]);
  r.lanes = Lanes();
  r.loop(r.index(0), r.index(rows), 1, rows, 1, {},
         [&](unsigned atom, ValueRange) {
           IndexExpr i = r.space.of(atom);
           r.lanes = lanes;
           Value c = r.loadRow(tileMemory, accType, i * Dim(width));
           r.lanes = Lanes();
           finishRow(first + i, c);
           return SmallVector<Value>();
         });
}

/// Everything after the contraction for one row.
void ContractionNest::finishRow(const IndexExpr &row, Value acc) {
  TensorReader::Scope scope(r);
  if (rowGroup != kNone)
    counters[rowGroup] = row;
  Coords where = contractionCoords();
  r.lanes = lanes;
  Value init = contraction.op.getDpsInitOperand(0)->get();
  auto fill = init.getDefiningOp<linalg::FillOp>();
  bool fromZero =
      fill && (matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
               matchPattern(fill.getInputs()[0], m_Zero()));
  if (!fromZero) {
    if (Value start = r.readVector(init, where))
      acc = contraction.isFloat
                ? arith::AddFOp::create(r.b, r.loc, start, acc).getResult()
                : arith::AddIOp::create(r.b, r.loc, start, acc).getResult();
  }
  r.remember(contraction.op.getResult(0), where, acc);
  Coords at = space.coordsOf(counters);
  for (const KernelOutput &o : space.outputs)
    if (Value v = r.read(o.tensor, at))
      r.write(o.memory, at, v);
  r.lanes = Lanes();
}

/// Rows [from, to) that are fewer than a tile's, where their number is of the
/// run: by four, then one by one.
void ContractionNest::restOfRows(Value from, Value to) {
  for (int64_t rows : {4, 1}) {
    if (rows >= tileRows)
      continue;
    Value count = arith::SubIOp::create(r.b, r.loc, to, from);
    Value whole = arith::SubIOp::create(
        r.b, r.loc, count,
        arith::RemUIOp::create(r.b, r.loc, count, r.index(rows)));
    Value end = arith::AddIOp::create(r.b, r.loc, from, whole);
    r.loop(from, end, rows, rowCount, 1, {}, [&](unsigned atom, ValueRange) {
      tile(rows, r.space.of(atom));
      return SmallVector<Value>();
    });
    from = end;
  }
}

/// Tiles of rows [from, to).
void ContractionNest::rowTiles(Value from, Value to) {
  if (!rowCount.isStatic()) {
    // Blocks start at multiples of a tile.
    Value count = arith::SubIOp::create(r.b, r.loc, to, from);
    Value end = arith::SubIOp::create(
        r.b, r.loc, to,
        arith::RemUIOp::create(r.b, r.loc, count, r.index(tileRows)));
    r.loop(from, end, tileRows, rowCount, tileRows, {},
           [&](unsigned atom, ValueRange) {
             tile(tileRows, r.space.of(atom));
             return SmallVector<Value>();
           });
    restOfRows(end, to);
    return;
  }
  int64_t count = rowCount.value();
  if (count == tileRows)
    return tile(tileRows, IndexExpr());
  bool whole = !blockRows;
  int64_t rest = count % tileRows;
  Value end = to;
  if (rest)
    end = whole ? r.index(count - rest)
                : arith::MinUIOp::create(r.b, r.loc, to, r.index(count - rest));
  r.loop(from, end, tileRows, rowCount, tileRows, {},
         [&](unsigned atom, ValueRange) {
           tile(tileRows, r.space.of(atom));
           return SmallVector<Value>();
         });
  if (!rest)
    return;
  if (whole)
    return tile(rest, IndexExpr(count - rest));
  Value last = arith::CmpIOp::create(r.b, r.loc, arith::CmpIPredicate::uge, to,
                                     r.index(rowCount));
  auto branch = scf::IfOp::create(r.b, r.loc, last, false);
  OpBuilder::InsertionGuard guard(r.b);
  r.b.setInsertionPointToStart(branch.thenBlock());
  tile(rest, IndexExpr(count - rest));
}

bool ContractionNest::emit() {
  counters.assign(space.groups.size(), IndexExpr());
  if (packsB)
    packedB = r.stackArray(bType, *r.space.sizes->most(kPoints) * width);
  if (epilogueCost >= kLongEpilogue)
    tileMemory = r.stackArray(accType, tileRows * width);
  if (packsA)
    packedA = r.stackArray(aType, *r.space.sizes->most(kPoints) * tileRows);

  // The parallel loop counts, outermost first: batch, then panels (and row
  // blocks), or rows outside and row blocks.
  struct Part {
    unsigned group; ///< or kPanel, kBlock
    Dim size;
  };
  constexpr unsigned kPanel = kNone - 1, kBlock = kNone - 2;
  Dim blocks = blockRows ? ceilDiv(rowCount, blockRows) : Dim(1);
  SmallVector<Part> parts;
  for (unsigned g : batch)
    parts.push_back({g, space.groups[g].size});
  for (unsigned g : panelOuter ? outerPanels : outerRows)
    parts.push_back({g, space.groups[g].size});
  if (panelOuter)
    parts.push_back({kPanel, panelCount});
  parts.push_back({kBlock, blocks});
  Dim trips = 1;
  for (const Part &p : parts)
    trips = trips * p.size;

  const Dim laneSize = space.groups[laneGroup].size;
  auto setPanel = [&](Value panel) {
    Value base = arith::MulIOp::create(r.b, r.loc, panel, r.index(width));
    lanes = Lanes();
    lanes.width = width;
    lanes.atom = r.space.addCounter(base, laneSize, width);
    counters[laneGroup] = r.space.of(lanes.atom);
    if (masked) {
      r.lanes = lanes;
      Value left = arith::SubIOp::create(r.b, r.loc, r.index(laneSize), base);
      lanes.mask = r.maskBelow(left);
      r.lanes = Lanes();
    }
  };

  parallelLoop(trips, [&](unsigned atom) {
    IndexExpr e = r.space.of(atom);
    Value from = r.index(0), to = r.index(rowCount), panel;
    for (const Part &p : llvm::reverse(parts)) {
      IndexExpr part = &p == parts.begin() ? e : r.space.mod(e, p.size);
      Value v = r.scalarIndex(part);
      e = r.space.floorDiv(e, p.size);
      if (p.group == kPanel) {
        panel = v;
      } else if (p.group == kBlock) {
        if (p.size.is(1))
          continue;
        from = arith::MulIOp::create(r.b, r.loc, v, r.index(blockRows));
        to = arith::MinUIOp::create(
            r.b, r.loc,
            arith::AddIOp::create(r.b, r.loc, from, r.index(blockRows)),
            r.index(rowCount));
      } else {
        counters[p.group] = r.space.of(r.space.addCounter(v, p.size));
      }
    }
    TensorReader::Scope scope(r);
    if (panelOuter) {
      setPanel(panel);
      if (packsB)
        packB();
      loopsOver(outerRows, [&] { rowTiles(from, to); });
      return;
    }
    loopsOver(outerPanels, [&] {
      r.loop(r.index(0), r.index(panelCount), 1, panelCount, 1, {},
             [&](unsigned p, ValueRange) {
               setPanel(r.scalarIndex(r.space.of(p)));
               rowTiles(from, to);
               return SmallVector<Value>();
             });
    });
  });
  Dim points = kPoints * Dim(width);
  points = points * (blockRows ? Dim(blockRows) : rowCount);
  for (unsigned g : panelOuter ? outerRows : outerPanels)
    points = points * space.groups[g].size;
  if (!panelOuter)
    points = points * panelCount;
  double scale = accType.getIntOrFloatBitWidth() / 32.0;
  info.points = points;
  info.nanoseconds =
      2.0 * double(r.estimate(points)) * scale / r.target.isa.gflops;
  return !r.failed;
}

} // namespace ft
