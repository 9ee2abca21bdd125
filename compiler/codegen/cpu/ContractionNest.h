//===- ContractionNest.h - Matmul and convolution by register tiles -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction C[…] += A[…] * B[…] of any shape, with the pointwise ops after
// it. Loops are named after what they move:
//
//   lanes   moves B and C, not A: the columns of a tile, in vectors
//   rows    moves A and C, not B: the rows of a tile
//   batch   moves all three
//   k       the reduction
//
// A tile is `rows` × `width` accumulators that stay in registers over all of k:
//
//   acc[0 … R) = 0
//   for k:  b = B[k, lanes]                      2 loads
//           for r in 0 … R: acc[r] += A[r, k] * b   R broadcasts, 2 R fmas
//   for r: out[r, lanes] = epilogue(acc[r])
//
// What is a matmul, what a convolution (rows = ow, k = kh, kw, c) follows from
// the maps alone; nothing here knows the difference.
//
// Cost per tile and k: 2 R fmas against R + 2 loads, so that a tile of 6 rows
// or more runs at the speed of the multipliers while A and B come from the
// caches. B is read as packed panels, in which consecutive k are consecutive in
// memory; a B that is not packed is packed into a panel on the stack for each
// unit of work if enough rows use it. An A that has to be computed (a fused
// producer, bf16, padding) is computed once for each tile into a small array.

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_CONTRACTIONNEST_H
#define FORETRACE_COMPILER_CODEGEN_CPU_CONTRACTIONNEST_H

#include "compiler/codegen/cpu/KernelEmitter.h"
#include "compiler/codegen/cpu/ReductionLoops.h"

namespace ft {

/// `acc + x * y` where x comes from one input and y from another.
struct Contraction {
  mlir::linalg::GenericOp op;
  mlir::Value x, y; ///< the factors, values of the body
  mlir::OpOperand *xInput, *yInput;
  bool isFloat;
};

std::optional<Contraction> matchContraction(mlir::linalg::GenericOp op);

class ContractionNest : public NestEmitter {
public:
  ContractionNest(TensorReader &reader, mlir::Value low, mlir::Value high,
                  Dim first, llvm::ArrayRef<KernelOutput> outputs,
                  llvm::ArrayRef<Dim> shape)
      : NestEmitter(reader, low, high, first), space(reader, outputs, shape) {}

  /// Whether the outputs are one contraction with pointwise ops around it, of
  /// a shape for which tiles pay. To be called before emit.
  bool plan();
  bool emit() override;

private:
  static constexpr unsigned kNone = ~0u;

  struct Operand {
    mlir::Value factor;
    mlir::OpOperand *input;
    llvm::SmallVector<bool> moves; ///< per group
    bool direct = false;           ///< one load of the accumulator's type
    int64_t bytes = 0;             ///< of all that is read, estimated
    std::vector<TensorWalk::Access> accesses;
  };

  bool findContraction();
  bool analyze(llvm::ArrayRef<unsigned> atoms, const Coords &dims);
  void chooseLanes(llvm::ArrayRef<unsigned> atoms,
                   llvm::ArrayRef<IndexExpr> stores);
  void chooseRows();
  bool contiguousLanes(const Operand &o, unsigned group, unsigned atom) const;

  void rowTiles(mlir::Value from, mlir::Value to);
  void tile(int64_t rows, const IndexExpr &first);
  void restOfRows(mlir::Value from, mlir::Value to);
  llvm::SmallVector<mlir::Value> kLoops(unsigned depth,
                                        llvm::MutableArrayRef<Coords> dims,
                                        const IndexExpr &k,
                                        mlir::ValueRange acc);
  void finishRow(const IndexExpr &row, mlir::Value acc);
  void packB();
  void packA(int64_t rows, llvm::MutableArrayRef<Coords> dims);
  Coords contractionCoords();
  /// Nested loops over groups, with their counters set.
  void loopsOver(llvm::ArrayRef<unsigned> groups,
                 llvm::function_ref<void()> body);

  OutputSpace space;
  Contraction contraction;
  Operand a, b; ///< b is the one in lanes
  std::optional<ReductionLoops> kDims;
  unsigned laneGroup = kNone, rowGroup = kNone;
  llvm::SmallVector<unsigned> batch, outerRows, outerPanels;
  int64_t width = 1, tileRows = 1;
  Dim rowCount = 1, panelCount = 1, kPoints = 1;
  int64_t blockRows = 0; ///< 0: all
  Dim kStride = 1;       ///< of a row of packed A
  bool masked = false, packsA = false, packsB = false, panelOuter = true;
  mlir::Type accType, bType, aType;
  mlir::Value packedA, packedB, tileMemory;
  int64_t epilogueCost = 0;
  Coords counters;
  Lanes lanes; ///< of the current panel
};

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_CONTRACTIONNEST_H
