//===- Reduction.cpp - Reductions as loops where they are read ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction is read at coordinates of its parallel dims and becomes a loop
// nest over its reduction dims, in one of three forms:
//
//  1. The coordinates vary from lane to lane (columns of a matrix are summed,
//     lanes are columns): every lane has its own accumulator, any body will do.
//  2. The coordinates are the same for all lanes (a row is summed): the lanes
//     run along a reduction dim, each accumulating a part, and are combined at
//     the end. Needs a combiner with a neutral element.
//  3. Anything else (argmax with two results, complex numbers): scalar loops in
//     the order of the dims.
//
// On a device the threads of a team (ThreadTeam) do what lanes do in form 2.
//
// Neighbouring reduction dims become one loop where all reads stay linear in
// it. A long sum is summed in blocks of 16 terms, and the sums of the blocks
// are added with what each addition loses (two-sum, Knuth): the rounding error
// is that of 16 terms however many there are, for 6 more additions a block.
//
//   s = a + p    lost = (a - (s - (s - a))) + (p - (s - a))
//   1e6 times 0.1 in float32: 100000.148 in blocks of sqrt(n), 100000.001 so

#include "compiler/codegen/cpu/ReductionLoops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>
#include <utility>

using namespace mlir;

namespace ft {

namespace {

/// `carried = combine(carried, x)`.
struct Combiner {
  Operation *op;
  vector::CombiningKind kind;
  TypedAttr neutral;
};

} // namespace

static std::optional<Combiner> combinerOf(linalg::GenericOp op, unsigned r) {
  Value yielded = op.getBody()->getTerminator()->getOperand(r);
  Value carried = op.getBody()->getArgument(op.getNumDpsInputs() + r);
  Operation *c = yielded.getDefiningOp();
  if (!c || c->getNumOperands() != 2 || c->getBlock() != op.getBody() ||
      !carried.hasOneUse() || !llvm::is_contained(c->getOperands(), carried))
    return std::nullopt;
  Type type = carried.getType();
  Builder b(op.getContext());
  auto real = [&](double v) { return b.getFloatAttr(type, v); };
  auto integer = [&](APInt v) { return b.getIntegerAttr(type, v); };
  unsigned bits = type.isIndex()        ? 64
                  : type.isIntOrFloat() ? type.getIntOrFloatBitWidth()
                                        : 0;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  using K = vector::CombiningKind;
  return llvm::TypeSwitch<Operation *, std::optional<Combiner>>(c)
      .Case([&](arith::AddFOp) { return Combiner{c, K::ADD, real(-0.0)}; })
      .Case([&](arith::MulFOp) { return Combiner{c, K::MUL, real(1)}; })
      .Case([&](arith::MaximumFOp) {
        return Combiner{c, K::MAXIMUMF, real(-kInf)};
      })
      .Case([&](arith::MinimumFOp) {
        return Combiner{c, K::MINIMUMF, real(kInf)};
      })
      .Case([&](arith::MaxNumFOp) {
        return Combiner{c, K::MAXNUMF, real(-kInf)};
      })
      .Case(
          [&](arith::MinNumFOp) { return Combiner{c, K::MINNUMF, real(kInf)}; })
      .Case([&](arith::AddIOp) {
        return Combiner{c, K::ADD, integer(APInt(bits, 0))};
      })
      .Case([&](arith::MulIOp) {
        return Combiner{c, K::MUL, integer(APInt(bits, 1))};
      })
      .Case([&](arith::MaxSIOp) {
        return Combiner{c, K::MAXSI, integer(APInt::getSignedMinValue(bits))};
      })
      .Case([&](arith::MinSIOp) {
        return Combiner{c, K::MINSI, integer(APInt::getSignedMaxValue(bits))};
      })
      .Case([&](arith::MaxUIOp) {
        return Combiner{c, K::MAXUI, integer(APInt(bits, 0))};
      })
      .Case([&](arith::MinUIOp) {
        return Combiner{c, K::MINUI, integer(APInt::getMaxValue(bits))};
      })
      .Case([&](arith::AndIOp) {
        return Combiner{c, K::AND, integer(APInt::getAllOnes(bits))};
      })
      .Case([&](arith::OrIOp) {
        return Combiner{c, K::OR, integer(APInt(bits, 0))};
      })
      .Case([&](arith::XOrIOp) {
        return Combiner{c, K::XOR, integer(APInt(bits, 0))};
      })
      .Default([](Operation *) { return std::nullopt; });
}

bool combines(linalg::GenericOp op) {
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
    if (!combinerOf(op, i))
      return false;
  return op.getNumReductionLoops() != 0;
}

/// Terms in a block of a sum of `n`, or 0: no blocks.
static int64_t blockOf(Dim n) {
  return n.isStatic() && n.value() < 64 ? 0 : 16;
}

/// Emits one reduction.
class ReductionEmitter {
public:
  ReductionEmitter(TensorReader &r, linalg::GenericOp op, Coords dims)
      : r(r), op(op), dims(std::move(dims)) {}

  bool emit(ArrayRef<IndexExpr> coords, SmallVectorImpl<Value> &results);

private:
  SmallVector<Value> level(unsigned depth, ValueRange carried);
  SmallVector<Value> laneLevel(ValueRange carried);
  SmallVector<Value> teamLevel(ValueRange carried);
  SmallVector<Value> step(ValueRange carried);
  SmallVector<Value> neutrals();
  SmallVector<Value> sumBlocks(Dim end, int64_t step, Dim size, int64_t block,
                               ValueRange start, TensorReader::LoopBody body,
                               Value first = Value());
  SmallVector<Value> combine(ValueRange a, ValueRange c);
  Value combineOne(unsigned i, Value a, Value c);
  bool isFloatSum() const;

  TensorReader &r;
  linalg::GenericOp op;
  Coords dims;
  SmallVector<ReductionLoops::Group> groups;
  std::optional<ReductionLoops> loops;
  SmallVector<std::optional<Combiner>> combiners;
  bool allCombine = true;
  bool alongReduction = false;      ///< form 2: groups.back() is in lanes
  const ThreadTeam *team = nullptr; ///< groups.back() is shared by threads
  int64_t stepBytes = 1, stepCost = 1;
  bool stepByLane = false;
};

bool ReductionEmitter::isFloatSum() const {
  return llvm::all_of(
      combiners, [](const auto &c) { return c && isa<arith::AddFOp>(c->op); });
}

SmallVector<Value> ReductionEmitter::neutrals() {
  SmallVector<Value> v;
  for (auto &c : combiners)
    v.push_back(r.broadcast(arith::ConstantOp::create(r.b, r.loc, c->neutral)));
  return v;
}

Value ReductionEmitter::combineOne(unsigned i, Value a, Value c) {
  IRMapping map;
  map.map(combiners[i]->op->getOperand(0), a);
  map.map(combiners[i]->op->getOperand(1), c);
  Operation *copy = r.b.clone(*combiners[i]->op, map);
  copy->setLoc(r.loc);
  copy->getResult(0).setType(a.getType());
  return copy->getResult(0);
}

SmallVector<Value> ReductionEmitter::combine(ValueRange a, ValueRange c) {
  SmallVector<Value> v;
  for (unsigned i = 0; i < a.size(); ++i)
    v.push_back(combineOne(i, a[i], c[i]));
  return v;
}

/// The sum of `body` over [0, end), in blocks; in each of them from `first`,
/// counted from its start.
SmallVector<Value> ReductionEmitter::sumBlocks(Dim end, int64_t step, Dim size,
                                               int64_t block, ValueRange start,
                                               TensorReader::LoopBody body,
                                               Value first) {
  unsigned n = start.size();
  SmallVector<Value> carried(start);
  llvm::append_range(carried, neutrals()); // what was lost
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(r.b, r.loc, x, y);
  };
  auto sub = [&](Value x, Value y) -> Value {
    return arith::SubFOp::create(r.b, r.loc, x, y);
  };
  SmallVector<Value> sums = r.loop(
      r.index(0), r.index(end), block, size, block, carried,
      [&](unsigned outer, ValueRange c) {
        Value low = r.scalarIndex(r.space.of(outer));
        Value high = arith::MinUIOp::create(
            r.b, r.loc, arith::AddIOp::create(r.b, r.loc, low, r.index(block)),
            r.index(end));
        if (first)
          low = arith::AddIOp::create(r.b, r.loc, low, first);
        SmallVector<Value> parts =
            r.loop(low, high, step, size, first ? 1 : step, neutrals(), body);
        SmallVector<Value> next(2 * n);
        for (unsigned i = 0; i < n; ++i) {
          Value a = c[i], p = parts[i], s = add(a, p), part = sub(s, a);
          next[i] = s;
          next[n + i] = add(c[n + i], add(sub(a, sub(s, part)), sub(p, part)));
        }
        return next;
      });
  SmallVector<Value> results;
  for (unsigned i = 0; i < n; ++i) {
    // Of an infinite sum nothing is lost, but inf - inf is NaN.
    Value lost = sums[n + i];
    Value nan = arith::CmpFOp::create(r.b, r.loc, arith::CmpFPredicate::UNO,
                                      lost, lost);
    results.push_back(
        arith::SelectOp::create(r.b, r.loc, nan, sums[i], add(sums[i], lost)));
  }
  return results;
}

SmallVector<Value> ReductionEmitter::step(ValueRange carried) {
  TensorReader::Scope scope(r);
  SmallVector<Value> next;
  if (!r.evaluateBody(op, dims, carried, next))
    return SmallVector<Value>(carried);
  for (auto [n, c] : llvm::zip(next, carried)) {
    if (isa<VectorType>(c.getType()))
      n = r.broadcast(n);
    // A product added to the accumulator: one rounding.
    Operation *sum = n.getDefiningOp();
    if (sum && isa<arith::AddFOp>(sum)) {
      auto contract = arith::FastMathFlagsAttr::get(
          r.b.getContext(), arith::FastMathFlags::contract);
      sum->setAttr("fastmath", contract);
      for (Value operand : sum->getOperands())
        if (Operation *p = operand.getDefiningOp();
            p && isa<arith::MulFOp>(p) && p->getBlock() == sum->getBlock())
          p->setAttr("fastmath", contract);
    }
    if (r.lanes.mask && alongReduction)
      n = arith::SelectOp::create(r.b, r.loc, r.lanes.mask, n, c);
  }
  return next;
}

/// Lanes along groups.back(), innermost.
SmallVector<Value> ReductionEmitter::laneLevel(ValueRange carried) {
  const ReductionLoops::Group &g = groups.back();
  int64_t width = r.lanes.width;
  Dim main = floorDiv(g.size, width) * width;
  SmallVector<Value> acc(carried);
  auto at = [&](unsigned atom, ValueRange c) {
    r.lanes.atom = atom;
    loops->setDims(dims, g, r.space.of(atom));
    return step(c);
  };
  if (isFloatSum() && blockOf(floorDiv(main, width))) {
    int64_t block = blockOf(floorDiv(main, width)) * width;
    acc = sumBlocks(main, width, g.size, block, acc, at);
  } else if (!main.isStatic() || main.value() > width) {
    acc = r.loop(r.index(0), r.index(main), width, g.size, width, acc, at);
  } else if (!main.is(0)) {
    TensorReader::Scope scope(r);
    acc = at(r.space.addCounter(r.index(0), g.size, width), acc);
  }
  if (Dim rest = g.size - main; !rest.is(0)) {
    TensorReader::Scope scope(r);
    Lanes outer = r.lanes;
    if (r.target.isa.maskedMemory) {
      r.lanes.mask = r.maskBelow(r.index(rest));
      acc = at(r.space.addCounter(r.index(main), g.size, width), acc);
    } else {
      // The rest one by one, added to lane 0.
      SmallVector<Value> firsts, lasts;
      for (Value v : acc)
        firsts.push_back(
            vector::ExtractOp::create(r.b, r.loc, v, ArrayRef<int64_t>{0}));
      r.lanes = Lanes();
      lasts = r.loop(r.index(main), r.index(g.size), 1, g.size, 1, firsts,
                     [&](unsigned atom, ValueRange c) {
                       loops->setDims(dims, g, r.space.of(atom));
                       return step(c);
                     });
      for (auto [v, last] : llvm::zip(acc, lasts))
        v = vector::InsertOp::create(r.b, r.loc, last, v, ArrayRef<int64_t>{0});
    }
    r.lanes = outer;
  }
  return acc;
}

/// The steps of this thread: every `team->threads`-th.
SmallVector<Value> ReductionEmitter::teamLevel(ValueRange carried) {
  const ReductionLoops::Group &g = groups.back();
  auto body = [&](unsigned atom, ValueRange c) {
    loops->setDims(dims, g, r.space.of(atom));
    return step(c);
  };
  if (isFloatSum() && blockOf(floorDiv(g.size, team->threads)))
    return sumBlocks(g.size, team->threads, g.size,
                     blockOf(floorDiv(g.size, team->threads)) * team->threads,
                     carried, body, team->rank);
  return r.loop(team->rank, r.index(g.size), team->threads, g.size, 1, carried,
                body);
}

SmallVector<Value> ReductionEmitter::level(unsigned depth, ValueRange carried) {
  if (depth == groups.size())
    return step(carried);
  if (team && depth + 1 == groups.size())
    return teamLevel(carried);
  if (alongReduction && depth + 1 == groups.size())
    return laneLevel(carried);
  const ReductionLoops::Group &g = groups[depth];
  // Each level sums its own part, if the parts are long enough to be worth it.
  bool own =
      isFloatSum() && depth > 0 && (!g.size.isStatic() || g.size.value() >= 16);
  int64_t block = blockOf(g.size);
  SmallVector<Value> start = own ? neutrals() : SmallVector<Value>(carried);
  auto body = [&](unsigned atom, ValueRange c) {
    loops->setDims(dims, g, r.space.of(atom));
    return level(depth + 1, c);
  };
  SmallVector<Value> result;
  if (isFloatSum() && block && depth + 1 == groups.size()) {
    result = sumBlocks(g.size, 1, g.size, block, start, body);
  } else {
    result = r.loop(r.index(0), r.index(g.size), 1, g.size, 1, start, body);
  }
  return own ? combine(carried, result) : result;
}

bool ReductionEmitter::emit(ArrayRef<IndexExpr> coords,
                            SmallVectorImpl<Value> &results) {
  bool laneVarying =
      llvm::any_of(coords, [&](const IndexExpr &e) { return r.varies(e); });
  Lanes outer = r.lanes;
  if (!laneVarying)
    r.lanes = Lanes();

  SmallVector<Value> inits;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Coords at;
    for (AffineExpr e : op.getMatchingIndexingMap(&init).getResults())
      at.push_back(r.space.evaluate(e, dims));
    Value v =
        laneVarying ? r.readVector(init.get(), at) : r.read(init.get(), at);
    if (!v) {
      r.lanes = outer;
      return false;
    }
    inits.push_back(v);
  }
  loops.emplace(r.space, op, dims);
  groups = loops->groups;
  if (loops->points().is(0)) {
    results.append(inits.begin(), inits.end());
    r.lanes = outer;
    return true;
  }

  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    combiners.push_back(combinerOf(op, i));
    allCombine &= combiners.back().has_value();
  }

  // Inside of it, threads go their own ways.
  const ThreadTeam *outerTeam = std::exchange(r.team, nullptr);
  if (!laneVarying && allCombine && !groups.empty())
    team = outerTeam;

  // Which reduction dim do lanes, or threads, fit best?
  unsigned best = 0;
  int64_t bestScore = 0;
  if (!laneVarying && allCombine && (team || !r.scalarOnly) &&
      !groups.empty()) {
    TensorWalk w(r.space);
    SmallVector<unsigned> atoms;
    loops->walk(w, atoms);
    stepCost = w.cost;
    stepBytes = w.valueBytes;
    stepByLane = w.laneByLane;
    for (const auto &a : w.accesses)
      stepBytes = std::max(stepBytes, a.bytes);
    for (BlockArgument arg :
         op.getBody()->getArguments().take_back(op.getNumDpsInits()))
      if (arg.getType().isIntOrFloat())
        stepBytes = std::max<int64_t>(
            stepBytes, arg.getType().getIntOrFloatBitWidth() / 8);
    for (auto [g, atom] : llvm::enumerate(atoms)) {
      int64_t score = w.accesses.empty() ? 1 : 0;
      for (const auto &a : w.accesses) {
        if (!r.space.dependsOn(a.offset, atom))
          continue;
        bool linear = !r.space.dividesBy(a.offset, atom);
        score += linear && a.offset.coefficient(atom).is(1) ? 4 : -3;
      }
      if (groups[g].size.isStatic() && groups[g].size.value() < 4)
        score = 0;
      if (score > bestScore) {
        bestScore = score;
        best = g;
      }
    }
  }

  r.reducing.push_back(op);
  if (team) {
    std::rotate(groups.begin() + best, groups.begin() + best + 1, groups.end());
  } else if (bestScore > 0) {
    alongReduction = true;
    std::rotate(groups.begin() + best, groups.begin() + best + 1, groups.end());
    Dim extent = groups.back().size;
    r.lanes.width = r.preferredWidth(
        stepBytes, stepCost,
        extent.isStatic() ? extent.value()
                          : std::max<int64_t>(r.estimate(extent), 16),
        stepByLane);
    r.lanes.mask = Value();
    r.lanes.atom = Lanes::kNone;
  }
  if (team) {
    SmallVector<Value> parts = level(0, neutrals());
    for (auto [i, part] : llvm::enumerate(parts)) {
      Value all = team->combine(
          part, [&](Value a, Value c) { return combineOne(i, a, c); });
      results.push_back(combineOne(i, inits[i], all));
    }
  } else if (alongReduction && r.lanes.width > 1) {
    SmallVector<Value> parts = level(0, neutrals());
    r.lanes = Lanes();
    for (auto [i, v] : llvm::enumerate(parts)) {
      auto reassoc = isa<FloatType>(inits[i].getType())
                         ? arith::FastMathFlags::reassoc
                         : arith::FastMathFlags::none;
      if (combiners[i]->kind != vector::CombiningKind::ADD &&
          combiners[i]->kind != vector::CombiningKind::MUL)
        reassoc = arith::FastMathFlags::none;
      Value h = vector::ReductionOp::create(r.b, r.loc, combiners[i]->kind, v,
                                            reassoc);
      results.push_back(combineOne(i, inits[i], h));
    }
  } else {
    alongReduction = false;
    SmallVector<Value> last = level(0, inits);
    results.append(last.begin(), last.end());
  }
  r.reducing.pop_back();
  r.lanes = outer;
  r.team = outerTeam;
  for (auto &entry : r.kept)
    if (entry.second.writer == op.getOperation())
      entry.second.complete = true;
  return !r.failed;
}

bool TensorReader::reduce(linalg::GenericOp op, Coords dims,
                          ArrayRef<IndexExpr> coords,
                          SmallVectorImpl<Value> &results) {
  return ReductionEmitter(*this, op, std::move(dims)).emit(coords, results);
}

} // namespace ft
