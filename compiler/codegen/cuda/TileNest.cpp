//===- TileNest.cpp - Matmul and convolution by tiles in shared memory ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction C[…] += A[…] * B[…] of any shape, with the pointwise ops before
// and after it. Output dims are named after what they move, as on the CPU
// (ContractionNest.h): rows move A, columns move B, batch moves both. All rows
// are one counter, all columns and all steps of k too, so that a convolution is
// a matmul whose A is read through its map (implicit GEMM):
//
//   conv [n, oh, ow, f] of 3×3, c:  rows (n, oh, ow), columns f, k (kh, kw, c)
//
// A block computes 16 t × 64 results (t = 4, or 1 where there are few rows),
// each thread t × 4 of them in registers:
//
//   for k0 in 0 … K step 16:
//     A[rows, k0 … k0+16) and B[k0 … k0+16), columns]  →  shared memory
//                                       (one step ahead, see TileStages.cpp)
//     for k in 16:  t + 4 loads, 4 t multiplications
//   the sums →  shared memory  →  one element for each thread and step:
//                                 pointwise ops, stores
//
// The way back through shared memory makes the stores contiguous, and the code
// of the pointwise ops stands once. Operands are read with all that has to be
// computed for them (casts, padding, fused producers); beyond the edges they
// are 0, so that there is one form of the loop for all sizes.
//
// Cost: a value from memory is used 64 times; of the inner loop, (t + 4) / 4 t
// loads from shared memory for each multiplication.

#include "compiler/codegen/cuda/DeviceKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ft {

// Steps of k that are in shared memory at a time.
static constexpr int64_t kSteps = 16;
// Sizes from which on a tile is better than a thread for each result.
static constexpr int64_t kFewRows = 8, kFewColumns = 8, kFewSteps = 8;

Value TileNest::add(Value x, Value y) {
  return arith::AddIOp::create(r.b, r.loc, x, y);
}
Value TileNest::times(Value x, int64_t y) {
  return arith::MulIOp::create(r.b, r.loc, x, r.index(y));
}
Value TileNest::over(Value x, int64_t y) {
  return arith::DivUIOp::create(r.b, r.loc, x, r.index(y));
}
Value TileNest::rest(Value x, int64_t y) {
  return arith::RemUIOp::create(r.b, r.loc, x, r.index(y));
}

bool TileNest::analyze(Operand &o, ArrayRef<unsigned> atoms,
                       const Coords &dims) {
  Coords at = dims;
  ReductionLoops loops(r.space, contraction.op, dims);
  SmallVector<unsigned> kAtoms;
  for (const auto &g : loops.groups) {
    kAtoms.push_back(r.space.addCounter(Value(), g.size));
    loops.setDims(at, g, r.space.of(kAtoms.back()));
  }
  Coords where;
  for (AffineExpr e :
       contraction.op.getMatchingIndexingMap(o.input).getResults())
    where.push_back(r.space.evaluate(e, at));
  TensorWalk w(r.space);
  if (!w.read(o.input->get(), where) || !w.reductions.empty())
    return false;
  o.source = sourceOf(o.input->get(), where);
  for (unsigned atom : atoms)
    o.moves.push_back(llvm::any_of(w.accesses, [&](const auto &access) {
      return r.space.dependsOn(access.offset, atom);
    }));
  for (const auto &access : w.accesses)
    if (!kAtoms.empty())
      o.alongK |= access.offset.coefficient(kAtoms.back()).is(1);
  for (unsigned g = 0; g < atoms.size(); ++g)
    if (o.moves[g] && !o.alongK) {
      o.near = atoms[g];
      o.nearSize = space.groups[g].size;
    }
  if (o.alongK) {
    o.near = kAtoms.back();
    o.nearSize = loops.groups.back().size;
  }
  // Divisions by sizes of the run are only safe where there is an element.
  for (const auto &g : loops.groups)
    if (loops.groups.size() > 1 && !g.size.isStatic())
      o.source.reset();
  return true;
}

bool TileNest::plan() {
  if (!space.makeGroups())
    return false;
  TensorWalk w(r.space);
  SmallVector<unsigned> atoms;
  if (!space.walk(w, atoms) || w.reductions.size() != 1)
    return false;
  auto match = matchContraction(w.reductions[0].op);
  if (!match || !match->isFloat)
    return false;
  contraction = *match;
  accumulator = cast<RankedTensorType>(contraction.op->getResult(0).getType())
                    .getElementType();
  if (!accumulator.isF32() && !accumulator.isF64())
    return false;
  Coords dims;
  if (!loopsFromResult(contraction.op, 0, w.reductions[0].coords, dims,
                       r.space))
    return false;
  kCount = ReductionLoops(r.space, contraction.op, dims).points();
  a.factor = contraction.x;
  a.input = contraction.xInput;
  b.factor = contraction.y;
  b.input = contraction.yInput;
  if (!analyze(a, atoms, dims) || !analyze(b, atoms, dims))
    return false;
  // Neighbouring columns are neighbours in the output where one can choose.
  if (!atoms.empty() && a.moves.back() && !b.moves.back())
    std::swap(a, b);
  a.isRows = true;
  for (auto [g, group] : llvm::enumerate(space.groups)) {
    bool inA = a.moves[g], inB = b.moves[g];
    auto &kind = inA && inB ? batch : inB ? columns : rows;
    Dim &count = inA && inB ? batchCount : inB ? columnCount : rowCount;
    kind.push_back(g);
    count = count * group.size;
  }
  counters.assign(space.groups.size(), IndexExpr());
  // Output dims that neither moves would be computed again for each row.
  int64_t m = r.estimate(rowCount);
  if (m <= kSide)
    threadRows = 1;
  tensorCores = chooseTensorCores();
  for (Operand *o : {&a, &b})
    if (o->source && isa<BlockArgument>(o->factor)) {
      // Neighbours in the piece are points, or steps of k on tensor cores;
      // pieces of 16-bit floats are as they come.
      bool isRow = !tensorCores ? !o->alongK : o->bytes() == 2 || o->alongK;
      o->copied = copyWidth(*o, *o->source, o->near, o->nearSize, isRow);
    }
  return m >= kFewRows && r.estimate(columnCount) >= kFewColumns &&
         r.estimate(kCount) >= kFewSteps;
}

/// Where the contraction is read at the counters that are set; the reduction
/// that is read there.
Coords TileNest::contractionCoords(linalg::GenericOp &op) {
  TensorWalk w(r.space);
  Coords coords = space.coordsOf(counters);
  for (const KernelOutput &o : space.outputs)
    w.read(o.tensor, coords);
  op = w.reductions[0].op;
  return w.reductions[0].coords;
}

/// The dims of the contraction at row (or column) `at` and step `kAt`.
Coords TileNest::factorDims(const Operand &o, Value at, Value kAt) {
  Dim count = o.isRows ? rowCount : columnCount;
  setCounters(o.isRows ? rows : columns,
              r.space.of(r.space.addCounter(at, count)));
  for (unsigned g : o.isRows ? columns : rows)
    counters[g] = IndexExpr();
  linalg::GenericOp op;
  Coords dims, coords = contractionCoords(op);
  loopsFromResult(op, 0, coords, dims, r.space);
  ReductionLoops loops(r.space, op, dims);
  IndexExpr e = r.space.of(r.space.addCounter(kAt, kCount));
  for (unsigned i = loops.groups.size(); i-- > 0;) {
    const auto &g = loops.groups[i];
    IndexExpr part = i ? r.space.mod(e, g.size) : e;
    loops.setDims(dims, g,
                  r.space.of(r.space.addCounter(r.scalarIndex(part), g.size)));
    e = r.space.floorDiv(e, g.size);
  }
  return dims;
}

Coords TileNest::inputCoords(const Operand &o, const Coords &dims) {
  Coords at;
  for (AffineExpr e :
       contraction.op.getMatchingIndexingMap(o.input).getResults())
    at.push_back(r.space.evaluate(e, dims));
  return at;
}

/// The factor at row (or column) `at` and step `kAt`, which exist.
Value TileNest::element(const Operand &o, Value at, Value kAt) {
  TensorReader::Scope scope(r);
  return r.evaluateAt(contraction.op, o.factor, factorDims(o, at, kAt));
}

Value TileNest::sharedAt(Value base, Type type, Value at) {
  Value offset = arith::IndexCastOp::create(r.b, r.loc, r.b.getI64Type(), at);
  return LLVM::GEPOp::create(r.b, r.loc, base.getType(), type, base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// The operand from `firstPoint` and `firstK` on; 0 beyond its edges.
void TileNest::loadPiece(const Operand &o, const Piece &piece, Value firstPoint,
                         Value firstK) {
  OpBuilder &bld = r.b;
  Location loc = r.loc;
  // Neighbouring threads read what is next to each other in memory.
  int64_t inner = o.alongK ? piece.steps : piece.points;
  Value near = rest(k.thread, inner), far = over(k.thread, inner);
  int64_t farStep = kBlockThreads / inner;
  int64_t farEnd = o.alongK ? piece.points : piece.steps;
  for (int64_t start = 0; start < farEnd; start += farStep) {
    Value there = add(far, r.index(start));
    Value point = o.alongK ? there : near, step = o.alongK ? near : there;
    Value at = add(firstPoint, point), kAt = add(firstK, step);
    Value exists = arith::AndIOp::create(
        bld, loc, k.below(at, r.index(o.isRows ? rowCount : columnCount)),
        k.below(kAt, r.index(kCount)));
    auto branch =
        scf::IfOp::create(bld, loc, TypeRange{o.type()}, exists, true);
    {
      OpBuilder::InsertionGuard guard(bld);
      bld.setInsertionPointToStart(branch.thenBlock());
      Value v = element(o, at, kAt);
      scf::YieldOp::create(bld, loc, v ? v : r.zero(o.type()));
      bld.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(bld, loc, r.zero(o.type()));
    }
    Value slot =
        add(times(point, piece.pointStride), times(step, piece.stepStride));
    LLVM::StoreOp::create(bld, loc, branch.getResult(0),
                          sharedAt(piece.memory, o.type(), slot));
  }
}

/// The sums, to memory[row][column].
void TileNest::scalarSums(Value memory, Value m0, Value n0) {
  OpBuilder &bld = r.b;
  Location loc = r.loc;
  int64_t bytes = accumulator.getIntOrFloatBitWidth() / 8;
  int64_t aRow = tileRows() + kPad, bRow = kColumns + kPad;
  auto bPiece = [&](Value stage) {
    return sharedAt(stage, accumulator, r.index(kSteps * aRow));
  };
  Value myRow = times(over(k.thread, kSide), threadRows);
  Value myColumn = times(rest(k.thread, kSide), kEach);
  auto load = [&](Value base, int64_t row, Value step, Value at, int64_t n) {
    Type type = n == 1 ? accumulator : Type(VectorType::get({n}, accumulator));
    Value slot = add(times(step, row), at);
    return LLVM::LoadOp::create(
        bld, loc, type, sharedAt(base, accumulator, slot), n == 1 ? bytes : 16);
  };
  auto contract = arith::FastMathFlags::contract;
  SmallVector<Value> sums(threadRows * kEach, r.zero(accumulator));
  sums = overK(
      memory, kSteps, scalarStageBytes(), std::move(sums),
      [&](Value at, Value k0) {
        stage(a, {at, tileRows(), kSteps, 1, aRow}, m0, k0);
        stage(b, {bPiece(at), kColumns, kSteps, 1, bRow}, n0, k0);
      },
      [&](Value at, ValueRange carried) {
        Value bMemory = bPiece(at);
        return r.loop(
            r.index(0), r.index(kSteps), 1, kSteps, 1, carried,
            [&](unsigned step, ValueRange acc) {
              Value s = r.scalarIndex(r.space.of(step));
              Value x = load(at, aRow, s, myRow, threadRows);
              Value y = load(bMemory, bRow, s, myColumn, kEach);
              SmallVector<Value> results;
              for (int64_t i = 0; i < threadRows; ++i)
                for (int64_t j = 0; j < kEach; ++j) {
                  Value xi = threadRows == 1
                                 ? x
                                 : vector::ExtractOp::create(bld, loc, x, i)
                                       .getResult();
                  Value yj = vector::ExtractOp::create(bld, loc, y, j);
                  Value p = arith::MulFOp::create(bld, loc, xi, yj, contract);
                  results.push_back(arith::AddFOp::create(
                      bld, loc, acc[results.size()], p, contract));
                }
              return results;
            });
      });
  for (int64_t i = 0; i < threadRows; ++i)
    for (int64_t j = 0; j < kEach; ++j) {
      Value slot =
          add(times(add(myRow, r.index(i)), bRow), add(myColumn, r.index(j)));
      LLVM::StoreOp::create(bld, loc, sums[i * kEach + j],
                            sharedAt(memory, accumulator, slot));
    }
}

/// The results, from memory[row][column] to where the kernel writes them.
void TileNest::writeTile(Value memory, Value m0, Value n0) {
  int64_t total = tileRows() * kColumns;
  r.loop(k.thread, r.index(total), kBlockThreads, total, 1, {},
         [&](unsigned atom, ValueRange) {
           Value e = r.scalarIndex(r.space.of(atom));
           Value row = over(e, kColumns), column = rest(e, kColumns);
           Value m = add(m0, row), n = add(n0, column);
           Value exists =
               arith::AndIOp::create(r.b, r.loc, k.below(m, r.index(rowCount)),
                                     k.below(n, r.index(columnCount)));
           k.when(exists, [&] {
             setCounters(rows, r.space.of(r.space.addCounter(m, rowCount)));
             setCounters(columns,
                         r.space.of(r.space.addCounter(n, columnCount)));
             linalg::GenericOp op;
             Coords at = contractionCoords(op), dims, initAt;
             loopsFromResult(op, 0, at, dims, r.space);
             OpOperand *init = op.getDpsInitOperand(0);
             for (AffineExpr x : op.getMatchingIndexingMap(init).getResults())
               initAt.push_back(r.space.evaluate(x, dims));
             Value start = r.read(init->get(), initAt);
             if (!start)
               return;
             Value slot = add(times(row, kColumns + kPad), column);
             Value sum = LLVM::LoadOp::create(
                 r.b, r.loc, accumulator, sharedAt(memory, accumulator, slot));
             sum = arith::AddFOp::create(r.b, r.loc, start, sum);
             r.remember(op->getResult(0), at, sum);
             Coords coords = space.coordsOf(counters);
             for (const KernelOutput &o : space.outputs) {
               Value v = r.read(o.tensor, coords);
               if (!v)
                 return;
               r.write(o.memory, coords, v);
             }
           });
           return SmallVector<Value>();
         });
}

int64_t TileNest::scalarStageBytes() const {
  int64_t bytes = accumulator.getIntOrFloatBitWidth() / 8;
  return bytes * kSteps * (tileRows() + kPad + kColumns + kPad);
}

/// Two stages, and then the sums.
int64_t TileNest::sharedBytes() const {
  int64_t bytes = accumulator.getIntOrFloatBitWidth() / 8;
  int64_t stage = tensorCores ? tensorCoreStageBytes() : scalarStageBytes();
  return std::max(2 * stage, bytes * tileRows() * (kColumns + kPad));
}

bool TileNest::emit(Dim first) {
  OpBuilder &bld = r.b;
  Location loc = r.loc;
  Dim rowTiles = ceilDiv(rowCount, tileRows());
  Dim columnTiles = ceilDiv(columnCount, kColumns);
  blocks = batchCount * rowTiles * columnTiles;
  Value block = k.block;
  if (!first.is(0))
    block = arith::SubIOp::create(bld, loc, block, r.index(first));
  Value mine = arith::CmpIOp::create(bld, loc, arith::CmpIPredicate::ult, block,
                                     r.index(blocks));
  k.when(mine, [&] {
    IndexExpr e = r.space.of(r.space.addCounter(block, blocks));
    auto scaled = [&](Dim tiles, int64_t size) -> Value {
      Value v = r.scalarIndex(r.space.mod(e, tiles) * Dim(size));
      e = r.space.floorDiv(e, tiles);
      return v;
    };
    // Blocks that run at the same time share columns of B.
    Value m0 = scaled(rowTiles, tileRows());
    Value n0 = scaled(columnTiles, kColumns);
    setCounters(batch, e);
    Value memory = k.shared(sharedBytes());
    if (tensorCores)
      tensorCoreSums(memory, m0, n0);
    else
      scalarSums(memory, m0, n0);
    k.barrier();
    writeTile(memory, m0, n0);
  });
  return !r.failed;
}

} // namespace ft
