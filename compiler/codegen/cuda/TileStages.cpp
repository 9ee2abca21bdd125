//===- TileStages.cpp - Operands on their way to shared memory ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While a block multiplies one piece of A and B, the next one is on its way:
// shared memory has two stages, and cp.async fills the one that is not read.
//
//   copy(stage 0, k 0)
//   for k0 in 0 … K step S:
//     wait for own copies; barrier      all have what is multiplied now, and
//                                       nobody reads the other stage any more
//     copy(other stage, k0 + S)         if there is more
//     multiply(stage)
//
// An operand that is plain memory is copied by 16 bytes where it can be proved
// that neighbours are neighbours and that 16 divides their address; by 8 or 4
// else. What lies beyond the edges, or in the zeros of a padded image, is
// filled by copying 0 bytes. An operand that has to be computed (casts, fused
// producers) or whose elements are smaller than 4 bytes and not aligned is
// read and stored by the threads, in the same places of the loop.

#include "compiler/codegen/cuda/DeviceKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ft {

std::optional<TileNest::Source> TileNest::sourceOf(Value tensor, Coords at) {
  Source s;
  for (;;) {
    if (Value memory = memoryOf(tensor)) {
      s.memory = memory;
      s.offset = offsetOf(memory, at, r.space);
      return s;
    }
    Operation *op = tensor.getDefiningOp();
    std::optional<ViewStep> view =
        op ? stepThroughView(op, at, r.space) : std::nullopt;
    if (!view)
      return std::nullopt;
    for (const IndexCondition &c : view->conditions) {
      if (r.space.within(c.expr, c.low, c.high))
        continue;
      if (!view->otherwise || !matchPattern(view->otherwise, m_AnyZeroFloat()))
        return std::nullopt;
      s.conditions.push_back(c);
    }
    tensor = view->source;
    at = view->coords;
  }
}

bool isConsecutive(const IndexSpace &space, const IndexExpr &e, unsigned near,
                   int64_t width) {
  if (!e.coefficient(near).is(1))
    return false;
  IndexExpr rest(e.constant);
  for (const auto &[id, c] : e.terms) {
    if (id == near)
      continue;
    if (!space.dependsOn(space.of(id), near)) {
      rest = rest + space.of(id) * c;
      continue;
    }
    // A division that is the same for all of them.
    const IndexSpace::Atom &atom = space.atom(id);
    if (atom.kind != IndexSpace::Kind::Division ||
        knownDivisor(atom.denominator) % width ||
        !isConsecutive(space, atom.numerator, near, width) ||
        knownDivisor(c) % width)
      return false;
  }
  return space.divisor(rest) % width == 0;
}

int64_t TileNest::copyWidth(const Operand &o, const Source &source,
                            unsigned near, Dim nearSize, bool isRow) {
  int64_t bytes = o.bytes();
  for (int64_t together : {16, 8, 4}) {
    int64_t width = together / bytes;
    if (width <= 1)
      break;
    bool isAligned = k.alignments.lookup(source.memory) % together == 0 &&
                     k.alignments.lookup(source.memory) != 0;
    if (!isRow || !isAligned || knownDivisor(nearSize) % width ||
        !isConsecutive(r.space, source.offset, near, width))
      continue;
    if (llvm::none_of(source.conditions, [&](const IndexCondition &c) {
          return r.space.dependsOn(c.expr, near);
        }))
      return width;
  }
  return bytes == 4 || bytes == 8 ? 1 : 0;
}

/// The piece by asynchronous copies: `copied` neighbours for each thread and
/// step.
void TileNest::copyPiece(const Operand &o, const Piece &piece, Value firstPoint,
                         Value firstK) {
  OpBuilder &bld = r.b;
  Location loc = r.loc;
  int64_t width = o.copied, bytes = width * o.bytes();
  int64_t inner = (o.alongK ? piece.steps : piece.points) / width;
  Value near = times(rest(k.thread, inner), width), far = over(k.thread, inner);
  int64_t farStep = kBlockThreads / inner;
  int64_t farEnd = o.alongK ? piece.points : piece.steps;
  auto global = LLVM::LLVMPointerType::get(bld.getContext(), 1);
  auto number = [&](int64_t v) -> Value {
    return arith::ConstantOp::create(bld, loc, bld.getI32IntegerAttr(v));
  };
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(bld, loc, x, y);
  };
  auto copy = [&](Value there) {
    TensorReader::Scope scope(r);
    Value point = o.alongK ? there : near, step = o.alongK ? near : there;
    Value at = add(firstPoint, point), kAt = add(firstK, step);
    Value exists = both(k.below(at, r.index(o.isRows ? rowCount : columnCount)),
                        k.below(kAt, r.index(kCount)));
    std::optional<Source> source =
        sourceOf(o.input->get(), inputCoords(o, factorDims(o, at, kAt)));
    for (const IndexCondition &c : source->conditions) {
      Value e = r.scalarIndex(c.expr);
      exists =
          both(exists,
               both(arith::CmpIOp::create(bld, loc, arith::CmpIPredicate::sge,
                                          e, r.index(c.low)),
                    k.below(e, r.index(c.high))));
    }
    Value offset = arith::SelectOp::create(
        bld, loc, exists, r.scalarIndex(source->offset), r.index(0));
    Value base = LLVM::AddrSpaceCastOp::create(bld, loc, global,
                                               r.pointerOf(source->memory));
    Value from = sharedAt(base, o.type(), offset);
    Value slot =
        add(times(point, piece.pointStride), times(step, piece.stepStride));
    Value size =
        arith::SelectOp::create(bld, loc, exists, number(bytes), number(0));
    k.call(bytes == 16  ? "llvm.nvvm.cp.async.cg.shared.global.16.s"
           : bytes == 8 ? "llvm.nvvm.cp.async.ca.shared.global.8.s"
                        : "llvm.nvvm.cp.async.ca.shared.global.4.s",
           Type(), {sharedAt(piece.memory, o.type(), slot), from, size});
  };
  for (int64_t start = 0; start < farEnd; start += farStep) {
    Value there = add(far, r.index(start));
    if (start + farStep <= farEnd)
      copy(there);
    else
      k.when(k.below(there, r.index(farEnd)), [&] { copy(there); });
  }
}

void TileNest::stage(const Operand &o, const Piece &piece, Value firstPoint,
                     Value firstK) {
  if (o.copied)
    copyPiece(o, piece, firstPoint, firstK);
  else
    loadPiece(o, piece, firstPoint, firstK);
}

SmallVector<Value> TileNest::overK(Value memory, int64_t steps,
                                   int64_t stageBytes, SmallVector<Value> sums,
                                   Stager stager, Computer compute) {
  OpBuilder &bld = r.b;
  Type byte = bld.getI8Type();
  bool isAsync = a.copied || b.copied;
  auto fill = [&](Value at, Value k0) {
    stager(sharedAt(memory, byte, at), k0);
    if (isAsync)
      k.call("llvm.nvvm.cp.async.commit.group", Type(), {});
  };
  auto arrive = [&] {
    if (isAsync)
      k.call("llvm.nvvm.cp.async.wait.all", Type(), {});
    k.barrier();
  };
  fill(r.index(0), r.index(0));
  sums.push_back(r.index(0));
  sums = r.loop(
      r.index(0), r.index(kCount), steps, kCount, steps, sums,
      [&](unsigned atom, ValueRange carried) {
        Value k0 = r.scalarIndex(r.space.of(atom));
        Value now = carried.back();
        Value other =
            arith::SubIOp::create(bld, r.loc, r.index(stageBytes), now);
        arrive();
        Value next = add(k0, r.index(steps));
        k.when(k.below(next, r.index(kCount)), [&] { fill(other, next); });
        SmallVector<Value> results =
            compute(sharedAt(memory, byte, now), carried.drop_back());
        results.push_back(other);
        return results;
      });
  // The sums go where the stages are.
  arrive();
  sums.pop_back();
  return sums;
}

} // namespace ft
