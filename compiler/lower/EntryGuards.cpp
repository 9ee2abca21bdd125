//===- EntryGuards.cpp - What checked builds do at each step ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/runtime.h"

#include "compiler/lower/EntryEmitter.h"

using namespace mlir;

namespace ft {

void EntryEmitter::checkRoom(StringRef kernel, ArrayRef<Value> tensors) {
  if (!options.checks.accesses)
    return;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    Dim elements = room.elementsOf(tensor), reach = room.reachOf(tensor);
    Dim limit = room.roomOf(tensor);
    Dim left = limit - reach;
    if (elements.is(0) || (left.isStatic() && left.value() >= 0))
      continue;
    auto compare = [&](arith::CmpIPredicate p, Dim x, Dim y) {
      return arith::CmpIOp::create(b, loc, p, asI64(sizeValue(x)),
                                   asI64(sizeValue(y)));
    };
    Value bad = arith::AndIOp::create(
        b, loc, compare(arith::CmpIPredicate::ne, elements, 0),
        compare(arith::CmpIPredicate::sgt, reach, limit));
    std::string sentence = "kernel \"" + kernel.str() + "\" is given tensor " +
                           std::to_string(i) + " beyond the end of its memory";
    splitOn(bad, [&] { return report(FT_ERROR_ACCESS, sentence); });
  }
}

void EntryEmitter::mark(StringRef function, Value start, Value bytes) {
  auto callee = externalTo(LLVM::LLVMVoidType::get(b.getContext()), function,
                           {pointer(), b.getI64Type()});
  LLVM::CallOp::create(b, loc, callee, ValueRange{start, bytes});
}

void EntryEmitter::markTensors(StringRef function, ArrayRef<Value> tensors) {
  if (!options.checks.address)
    return;
  for (Value tensor : tensors) {
    Placement place = schedule.placements.lookup(tensor);
    if (place.region != ft::Region::Arena)
      continue;
    Dim elements = room.elementsOf(tensor);
    Value bytes = asI64(sizeValue(room.reachOf(tensor)));
    if (!elements.isStatic())
      bytes = arith::SelectOp::create(
          b, loc,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                asI64(sizeValue(elements)), constant64(0)),
          constant64(0), bytes);
    mark(function, addressOf(tensor, place), bytes);
  }
}

void EntryEmitter::markBuffers(StringRef function, ArrayRef<int> buffers) {
  if (!options.checks.address)
    return;
  for (int buffer : buffers)
    if (buffer >= 0)
      mark(function, bufferAddress(buffer),
           asI64(sizeValue(
               schedule.memory.bytes(static_cast<unsigned>(buffer)))));
}

void EntryEmitter::closeGaps() {
  if (!options.checks.address)
    return;
  for (ft::Region region : {ft::Region::Weights, ft::Region::State})
    for (auto [start, bytes] : room.gapsOf(region)) {
      Placement place;
      place.region = region;
      place.byteOffset = start;
      mark("ft_rt_close_gap", addressOf(Value(), place), constant64(bytes));
    }
}

} // namespace ft
