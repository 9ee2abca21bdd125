//===- TensorCoreTile.cpp - Tiles that tensor cores multiply --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of float16 or bfloat16 that are summed in float32, the inner part of
// TileNest: mma.sync.m16n8k16, fed by ldmatrix (PTX ISA, "Matrix multiply-
// accumulate operation using mma instruction"). The 8 warps of a block are 4 ×
// 2 on a tile of 64 × 64, each with 16 rows and 32 columns:
//
//   for k0 in 0 … K step 32:
//     A[64 rows][32 steps], B[64 columns][32 steps]  →  shared memory
//     for two times 16 steps:
//       ldmatrix.x4                 16 × 16 of A, 4 registers
//       2 × ldmatrix.x4             32 columns of B, 8 registers
//       4 × mma                     16 × 32 sums, 16 registers
//
// In shared memory neighbours are as in memory, so that they can be copied 16
// bytes at a time: steps of k, which is the order in which the multiplier takes
// them, or points, which ldmatrix.trans turns. A row is 16 bytes longer than it
// has to be: the eight rows of 16 bytes that ldmatrix reads at a time then fall
// into different banks.
//
// Registers of a fragment, for lane l of a warp, two elements in each:
//
//   A  row l/4 (+8 in 1 and 3), steps 2 (l%4) (+8 in 2 and 3)
//   B  column l/4, steps 2 (l%4) (+8 in 1)
//   C  row l/4 (+8 in 2 and 3), column 2 (l%4) (+1 in 1 and 3)
//
// Where TF32 is asked for, float32 goes the same way: mma.m16n8k8, with one
// element in a register instead of two, of which ldmatrix moves the halves, and
// half as many steps. Each is rounded to the 11 bits that are multiplied.

#include "compiler/codegen/cuda/DeviceKernel.h"

using namespace mlir;

namespace ft {

// Of the steps of a row, and of all of it.
static constexpr int64_t kStepBytes = 64, kRowBytes = kStepBytes + 16;
// What ldmatrix takes of a row.
static constexpr int64_t kMatrixBytes = 16, kMatrixRows = 8;
static constexpr int64_t kMmaRows = 16, kMmaColumns = 8;
static constexpr int64_t kWarpColumns = 32;

/// The float16 or bfloat16 that a factor was widened from, or null.
static Value narrowed(Value factor) {
  auto widened = factor.getDefiningOp<arith::ExtFOp>();
  if (!widened)
    return Value();
  Type type = widened.getIn().getType();
  return type.isF16() || type.isBF16() ? widened.getIn() : Value();
}

bool TileNest::chooseTensorCores() {
  if (!accumulator.isF32() || threadRows * kSide < 64)
    return false;
  Value x = narrowed(a.factor), y = narrowed(b.factor);
  if (!x || !y || x.getType() != y.getType())
    return k.tf32;
  a.factor = x;
  b.factor = y;
  return true;
}

int64_t TileNest::tensorCoreStageBytes() const {
  return (tileRows() + kColumns) * kRowBytes;
}

TileNest::Piece TileNest::tensorCorePiece(const Operand &o,
                                          Value memory) const {
  int64_t steps = kStepBytes / o.bytes(), pad = kMatrixBytes / o.bytes();
  int64_t points = o.isRows ? tileRows() : kColumns;
  if (isTurned(o))
    return {memory, points, steps, 1, points + pad};
  return {memory, points, steps, steps + pad, 1};
}

/// 16 points from `point` on of an operand at `step`: four registers.
SmallVector<Value, 4> TileNest::fragment(const Operand &o, const Piece &piece,
                                         Value point, int64_t step) {
  OpBuilder &bld = r.b;
  // ldmatrix takes the address of one row from each lane: of matrix l/8 row
  // l%8. A's matrices go down first, then along k; B's the other way.
  Value lane = rest(k.thread, kWarpThreads);
  Value inMatrix = rest(lane, kMatrixRows);
  Value low = rest(over(lane, kMatrixRows), 2), high = over(lane, 16);
  Value along = o.isRows ? low : high, deep = o.isRows ? high : low;
  Value at = add(point, times(along, kMatrixRows));
  int64_t wide = kMatrixBytes / o.bytes();
  Value slot;
  if (isTurned(o))
    slot =
        add(times(add(add(times(deep, kMatrixRows), inMatrix), r.index(step)),
                  piece.stepStride),
            at);
  else
    slot = add(times(add(at, inMatrix), piece.pointStride),
               add(times(deep, wide), r.index(step)));
  Type i32 = bld.getI32Type();
  auto four =
      LLVM::LLVMStructType::getLiteral(bld.getContext(), {i32, i32, i32, i32});
  Value all = k.call(
      isTurned(o) ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3"
                  : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3",
      four, sharedAt(piece.memory, o.type(), slot));
  SmallVector<Value, 4> registers;
  for (int64_t i = 0; i < 4; ++i) {
    Value bits = LLVM::ExtractValueOp::create(bld, r.loc, all, i);
    if (o.type().isF16())
      bits = LLVM::BitcastOp::create(bld, r.loc, VectorType::get({2}, o.type()),
                                     bits);
    else if (o.type().isF32())
      bits = k.call(
          "llvm.nvvm.f2tf32.rna", i32,
          LLVM::BitcastOp::create(bld, r.loc, o.type(), bits).getResult());
    registers.push_back(bits);
  }
  return registers;
}

void TileNest::tensorCoreSums(Value memory, Value m0, Value n0) {
  OpBuilder &bld = r.b;
  Location loc = r.loc;
  Type f32 = bld.getF32Type(), element = a.type();
  Value lane = rest(k.thread, kWarpThreads),
        warp = over(k.thread, kWarpThreads);
  Value warpRow = times(over(warp, 2), kMmaRows);
  Value warpColumn = times(rest(warp, 2), kWarpColumns);
  auto pieceOfA = [&](Value at) { return tensorCorePiece(a, at); };
  auto pieceOfB = [&](Value at) {
    return tensorCorePiece(
        b, sharedAt(at, bld.getI8Type(), r.index(tileRows() * kRowBytes)));
  };
  const char *mma = element.isF16() ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                    : element.isBF16() ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                                       : "llvm.nvvm.mma.m16n8k8.row.col.tf32";
  auto four =
      LLVM::LLVMStructType::getLiteral(bld.getContext(), {f32, f32, f32, f32});
  int64_t steps = kStepBytes / a.bytes();
  int64_t mmaSteps = 2 * kMatrixBytes / a.bytes();
  constexpr int64_t kTiles = kWarpColumns / kMmaColumns;
  SmallVector<Value> sums(4 * kTiles, r.zero(f32));
  sums = overK(
      memory, steps, tensorCoreStageBytes(), std::move(sums),
      [&](Value at, Value k0) {
        stage(a, pieceOfA(at), m0, k0);
        stage(b, pieceOfB(at), n0, k0);
      },
      [&](Value at, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (int64_t step = 0; step < steps; step += mmaSteps) {
          auto x = fragment(a, pieceOfA(at), warpRow, step);
          SmallVector<Value> y;
          for (int64_t c = 0; c < kWarpColumns; c += 2 * kMmaColumns)
            llvm::append_range(y, fragment(b, pieceOfB(at),
                                           add(warpColumn, r.index(c)), step));
          for (int64_t t = 0; t < kTiles; ++t) {
            SmallVector<Value> operands(x.begin(), x.end());
            operands.append({y[2 * t], y[2 * t + 1]});
            operands.append(next.begin() + 4 * t, next.begin() + 4 * t + 4);
            Value result = k.call(mma, four, operands);
            for (int64_t i = 0; i < 4; ++i)
              next[4 * t + i] =
                  LLVM::ExtractValueOp::create(bld, loc, result, i);
          }
        }
        return next;
      });
  Value row = add(warpRow, over(lane, 4));
  Value column = add(warpColumn, times(rest(lane, 4), 2));
  for (int64_t t = 0; t < kTiles; ++t)
    for (int64_t i = 0; i < 4; ++i) {
      Value slot = add(times(add(row, r.index(i / 2 * 8)), kColumns + kPad),
                       add(column, r.index(t * kMmaColumns + i % 2)));
      LLVM::StoreOp::create(bld, loc, sums[4 * t + i],
                            sharedAt(memory, f32, slot));
    }
}

} // namespace ft
