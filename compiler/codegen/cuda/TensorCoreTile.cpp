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
// Both operands lie with the steps of k next to each other, which is the order
// in which the multiplier takes them. A row has 40 elements, 80 bytes: the
// eight rows of 16 bytes that ldmatrix reads at a time fall into different
// banks.
//
// Registers of a fragment, for lane l of a warp, two elements in each:
//
//   A  row l/4 (+8 in 1 and 3), steps 2 (l%4) (+8 in 2 and 3)
//   B  column l/4, steps 2 (l%4) (+8 in 1)
//   C  row l/4 (+8 in 2 and 3), column 2 (l%4) (+1 in 1 and 3)

#include "compiler/codegen/cuda/DeviceKernel.h"

using namespace mlir;

namespace ft {

static constexpr int64_t kPieceSteps = 32;
static constexpr int64_t kPieceRow = kPieceSteps + 8;
static constexpr int64_t kMmaRows = 16, kMmaColumns = 8, kMmaSteps = 16;
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
  Value x = narrowed(a.factor), y = narrowed(b.factor);
  if (!x || !y || x.getType() != y.getType() || !accumulator.isF32() ||
      threadRows * kSide < 64)
    return false;
  a.factor = x;
  b.factor = y;
  return true;
}

void TileNest::tensorCoreSums(Value memory, Value m0, Value n0) {
  OpBuilder &bld = r.b;
  Location loc = r.loc;
  Type i32 = bld.getI32Type(), f32 = bld.getF32Type();
  Type element = a.type();
  Value bMemory = sharedAt(memory, element, r.index(tileRows() * kPieceRow));
  Value lane = rest(k.thread, kWarpThreads),
        warp = over(k.thread, kWarpThreads);
  Value warpRow = times(over(warp, 2), kMmaRows);
  Value warpColumn = times(rest(warp, 2), kWarpColumns);
  // ldmatrix takes the address of one row of 8 elements from each lane: of
  // matrix l/8 row l%8. A's matrices go down first, then along k; B's the other
  // way.
  Value inMatrix = rest(lane, 8);
  Value low = rest(over(lane, 8), 2), high = over(lane, 16);
  Value aSlot =
      add(times(add(warpRow, add(inMatrix, times(low, 8))), kPieceRow),
          times(high, 8));
  Value bSlot =
      add(times(add(warpColumn, add(inMatrix, times(high, 8))), kPieceRow),
          times(low, 8));

  auto four = [&](Type type) {
    return LLVM::LLVMStructType::getLiteral(bld.getContext(),
                                            {type, type, type, type});
  };
  auto parts = [&](Value all) {
    SmallVector<Value, 4> values;
    for (int64_t i = 0; i < 4; ++i)
      values.push_back(LLVM::ExtractValueOp::create(bld, loc, all, i));
    return values;
  };
  auto matrices = [&](Value base, Value slot, int64_t more) {
    Value at = sharedAt(base, element, add(slot, r.index(more)));
    return parts(k.call("llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3",
                        four(i32), at));
  };
  bool isHalf = element.isF16();
  auto operand = [&](Value bits) -> Value {
    if (!isHalf)
      return bits;
    return LLVM::BitcastOp::create(bld, loc, VectorType::get({2}, element),
                                   bits);
  };
  const char *mma = isHalf ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                           : "llvm.nvvm.mma.m16n8k16.row.col.bf16";

  constexpr int64_t kTiles = kWarpColumns / kMmaColumns;
  SmallVector<Value> sums(4 * kTiles, r.zero(f32));
  sums = r.loop(
      r.index(0), r.index(kCount), kPieceSteps, kCount, kPieceSteps, sums,
      [&](unsigned atom, ValueRange carried) {
        Value k0 = r.scalarIndex(r.space.of(atom));
        loadPiece(a, {memory, tileRows(), kPieceSteps, kPieceRow, 1}, m0, k0);
        loadPiece(b, {bMemory, kColumns, kPieceSteps, kPieceRow, 1}, n0, k0);
        k.barrier();
        SmallVector<Value> next(carried);
        for (int64_t step = 0; step < kPieceSteps; step += kMmaSteps) {
          auto x = matrices(memory, aSlot, step);
          SmallVector<Value> y;
          for (int64_t c = 0; c < kWarpColumns; c += 2 * kMmaColumns)
            llvm::append_range(y,
                               matrices(bMemory, bSlot, c * kPieceRow + step));
          for (int64_t t = 0; t < kTiles; ++t) {
            SmallVector<Value> operands;
            for (Value v : x)
              operands.push_back(operand(v));
            operands.push_back(operand(y[2 * t]));
            operands.push_back(operand(y[2 * t + 1]));
            for (int64_t i = 0; i < 4; ++i)
              operands.push_back(next[4 * t + i]);
            auto result = parts(k.call(mma, four(f32), operands));
            llvm::copy(result, next.begin() + 4 * t);
          }
        }
        k.barrier();
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
