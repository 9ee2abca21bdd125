//===- ControlFlow.cpp - Annotates branches and loops ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/ControlFlow.h"

#include "compiler/fake/ControlNames.h"
#include "compiler/fake/FakeReport.h"
#include "compiler/fake/FakeScope.h"
#include "compiler/fake/JoinLayouts.h"
#include "compiler/fake/StrideRules.h"
#include "dialects/ft/AtenCall.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

namespace {
class ControlAnnotator {
public:
  ControlAnnotator(Propagator &walk, Operation *op)
      : walk(walk), scope(walk.callScope()), op(op), builder(op->getContext()) {
  }

  LogicalResult cond(CondOp cond);
  LogicalResult loop(WhileOp loop);
  LogicalResult scan(ScanOp scan);
  void noteNumbers();

private:
  InFlightDiagnostic error(FakeError category) {
    return emitError(op->getLoc()) << "[" << codeOf(category) << "] ";
  }
  LogicalResult enter(ValueRange operands,
                      MutableArrayRef<BlockArgument> arguments,
                      bool numbersToo = true);
  LogicalResult walkRegion(Region &region);
  void noteRanges(Value value);
  LogicalResult checkPredicate(Value predicate);
  LogicalResult prepareInits(MutableOperandRange inits, unsigned count);
  LogicalResult carry(Region &body, ValueRange inits);
  void refineYield(Region &region, unsigned i, const TensorMeta &meta);
  std::optional<Dim> freshSize(Dim a, Dim b);
  /// Nothing if it is open.
  std::optional<bool> equal(Dim a, Dim b);
  SmallVector<std::optional<Dim>> freshNumbers(ValueRange inits) {
    return makeCarriedNumbers(walk, op, inits);
  }
  void setNumbers(ValueRange values, ArrayRef<std::optional<Dim>> numbers);
  LogicalResult joinTensors(CondOp cond, unsigned i);
  LogicalResult joinNumbers(CondOp cond, unsigned i);
  void setTensor(Value value, const TensorMeta &meta) {
    value.setType(typeFromMeta(op->getContext(), meta));
  }

  Propagator &walk;
  /// Null: sizes cannot have symbols of their own.
  FakeScope *scope;
  Operation *op;
  OpBuilder builder;
  /// Of what the regions yield, as known inside them.
  llvm::DenseMap<SymExpr, Interval> ranges;
};
} // namespace

/// Arguments of a region become what the operands are.
LogicalResult ControlAnnotator::enter(ValueRange operands,
                                      MutableArrayRef<BlockArgument> arguments,
                                      bool numbersToo) {
  for (auto [operand, argument] : llvm::zip_equal(operands, arguments)) {
    if (isa<TensorType>(operand.getType()) && !walk.metaOf(operand)) {
      reportUnknownOperand(op, operand);
      return failure();
    }
    // The border of a region compares types of SSA values.
    if (walk.typeOf(operand) != operand.getType())
      return error(FakeError::Unsupported)
             << nameOf(op) << " reads " << nameOf(operand)
             << " after an operation in place has changed its shape"
             << "\nhelp: use the result of that operation";
    argument.setType(operand.getType());
    std::optional<Dim> number = walk.numberOf(operand);
    if (numbersToo && number)
      walk.setNumber(argument, *number);
  }
  return success();
}

/// What a region gives as value `i`, in front of the `ft.refine` that an
/// earlier run has left.
static Value givenBy(Region &region, unsigned i) {
  Value value = yieldOf(region).getOperand(i);
  auto refine = value.getDefiningOp<RefineOp>();
  return refine && refine->hasOneUse() ? refine.getInput() : value;
}

LogicalResult ControlAnnotator::walkRegion(Region &region) {
  // What the region asserts holds where it runs, not behind it.
  if (scope)
    scope->env().enterRegion(SymExpr(),
                             {op->getName().getStringRef().str(), ""});
  uint64_t outside = walk.separateFacts();
  llvm::scope_exit leave([&] {
    walk.restoreFacts(outside);
    if (scope)
      scope->env().leaveRegion();
  });
  if (failed(walk.visitBlock(region.front())))
    return failure();
  YieldOp yield = yieldOf(region);
  for (unsigned i = 0; i < yield.getNumOperands(); ++i) {
    Value value = givenBy(region, i);
    if (isa<TensorType>(value.getType()) && !walk.metaOf(value)) {
      reportUnknownOperand(yield, value);
      return failure();
    }
    if (walk.typeOf(value) != value.getType())
      return error(FakeError::Unsupported)
             << nameOf(region) << " yields " << nameOf(value)
             << " after an operation in place has changed its shape"
             << "\nhelp: use the result of that operation";
    noteRanges(value);
  }
  return success();
}

/// Behind the region less is known of what it made.
void ControlAnnotator::noteRanges(Value value) {
  if (!scope)
    return;
  auto note = [&](Dim d) {
    if (!d.isStatic())
      ranges[d.symbolic()] = scope->env().bounds(d.symbolic());
  };
  if (std::optional<TensorMeta> meta = walk.metaOf(value))
    llvm::for_each(meta->sizes, note);
  else if (std::optional<Dim> number = walk.numberOf(value))
    note(*number);
}

/// PyTorch takes one element of any dtype for a condition.
LogicalResult ControlAnnotator::checkPredicate(Value predicate) {
  std::optional<TensorMeta> meta = walk.metaOf(predicate);
  if (!meta) {
    if (!isa<TensorType>(predicate.getType()))
      return success();
    reportUnknownOperand(op, predicate);
    return failure();
  }
  Dim count = meta->numel();
  if (count.is(1))
    return success();
  return error(count.isStatic() ? FakeError::Shape : FakeError::Undecided)
         << "the condition of " << nameOf(op) << " must hold one element, "
         << nameOf(predicate) << " is " << meta->str();
}

/// A symbol for what is one of two sizes: between the smaller and the larger.
std::optional<Dim> ControlAnnotator::freshSize(Dim a, Dim b) {
  if (!scope)
    return std::nullopt;
  auto range = [&](Dim d) {
    if (d.isStatic())
      return Interval::point(d.value());
    auto it = ranges.find(d.symbolic());
    return it != ranges.end() ? it->second : scope->env().bounds(d.symbolic());
  };
  Interval x = range(a), y = range(b);
  int64_t hi = std::max(x.hi, y.hi);
  return scope->unbackedInteger(
      std::max<int64_t>(0, std::min(x.lo, y.lo)),
      hi == Interval::kMax ? std::nullopt : std::optional<Dim>(hi), "cond");
}

std::optional<bool> ControlAnnotator::equal(Dim a, Dim b) {
  if (a == b)
    return true;
  if (a.isStatic() && b.isStatic())
    return false;
  return scope ? scope->equal(a, b) : std::nullopt;
}

void ControlAnnotator::refineYield(Region &region, unsigned i,
                                   const TensorMeta &meta) {
  YieldOp yield = yieldOf(region);
  Value value = givenBy(region, i);
  Type type = typeFromMeta(op->getContext(), meta);
  if (yield.getOperand(i) != value) {
    yield.getOperand(i).setType(type);
  } else if (value.getType() != type) {
    builder.setInsertionPoint(yield);
    auto refine = RefineOp::create(builder, value.getLoc(), type, value);
    walk.noteInserted(refine);
    yield->setOperand(i, refine);
  }
}

//===----------------------------------------------------------------------===//
// ft.cond
//===----------------------------------------------------------------------===//

LogicalResult ControlAnnotator::joinTensors(CondOp cond, unsigned i) {
  Region *regions[] = {&cond.getThenRegion(), &cond.getElseRegion()};
  Value values[] = {givenBy(*regions[0], i), givenBy(*regions[1], i)};
  std::optional<TensorMeta> metas[] = {metaFromType(values[0].getType()),
                                       metaFromType(values[1].getType())};
  FakeError category = FakeError::Other;
  std::string reason;
  bool undecided = false;
  std::optional<TensorMeta> joined;
  if (!metas[0] || !metas[1])
    reason = "one is no tensor";
  else
    joined = joinLayouts(
        *metas[0], *metas[1],
        [&](Dim a, Dim b) {
          std::optional<Dim> size = freshSize(a, b);
          undecided |= !size;
          return size.value_or(a);
        },
        category, reason);
  if (joined && undecided) {
    category = FakeError::Undecided;
    reason = "their sizes differ, and no symbol can be made here";
    joined.reset();
  }
  if (!joined) {
    auto text = [&](unsigned r) {
      return "branch " + nameOf(*regions[r]) + " gives " + nameOf(values[r]) +
             (metas[r] ? ", " + metas[r]->str() : std::string());
    };
    return error(category) << "the branches of " << nameOf(op)
                           << " do not agree in result " << i << ": " << text(0)
                           << "; " << text(1) << ": " << reason;
  }
  for (Region *region : regions)
    refineYield(*region, i, *joined);
  setTensor(op->getResult(i), *joined);
  return success();
}

LogicalResult ControlAnnotator::joinNumbers(CondOp cond, unsigned i) {
  std::optional<Dim> numbers[2];
  for (unsigned r : {0, 1}) {
    Value value = yieldOf(op->getRegion(r)).getOperand(i);
    if (value.getType() != op->getResult(i).getType())
      return error(FakeError::Other)
             << "the branches of " << nameOf(op) << " do not agree in result "
             << i << ": branch " << nameOf(op->getRegion(r)) << " gives "
             << nameOf(value) << ", which is of another kind";
    numbers[r] = walk.numberOf(value);
  }
  if (!numbers[0] || !numbers[1])
    return success();
  if (*numbers[0] == *numbers[1])
    walk.setNumber(op->getResult(i), *numbers[0]);
  else if (std::optional<Dim> size = freshSize(*numbers[0], *numbers[1]))
    walk.setNumber(op->getResult(i), *size);
  return success();
}

LogicalResult ControlAnnotator::cond(CondOp cond) {
  if (failed(checkPredicate(cond.getPredicate())))
    return failure();
  for (Region *region : {&cond.getThenRegion(), &cond.getElseRegion()})
    if (failed(enter(cond.getCaptured(), region->getArguments())) ||
        failed(walkRegion(*region)))
      return failure();
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    bool tensor = isa<TensorType, NoneType>(op->getResult(i).getType());
    if (failed(tensor ? joinTensors(cond, i) : joinNumbers(cond, i)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// What is carried is dense and starts at 0, as what a body computes is.
LogicalResult ControlAnnotator::prepareInits(MutableOperandRange inits,
                                             unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    OpOperand &operand = inits[i];
    std::optional<TensorMeta> meta = walk.metaOf(operand.get());
    if (!meta || (meta->offset.is(0) && !meta->conj && !meta->neg &&
                  cloneStrides(*meta) == meta->strides))
      continue;
    builder.setInsertionPoint(op);
    AtenCall clone;
    clone.schema = SchemaTable::get().find("clone.default");
    clone.args = {Arg::tensor(0), Arg::none()};
    clone.operands = {operand.get()};
    Operation *made = clone.build(builder, operand.get().getLoc(),
                                  unknownTensorType(op->getContext()));
    if (failed(walk.visit(made)))
      return failure();
    walk.noteInserted(made);
    operand.set(made->getResult(0));
  }
  return success();
}

/// An integer differs from one iteration to the next: a symbol of its own
/// stands for it, of which nothing is known.
SmallVector<std::optional<Dim>>
makeCarriedNumbers(Propagator &walk, Operation *op, ValueRange inits) {
  SmallVector<std::optional<Dim>> numbers(inits.size());
  FakeScope *scope = walk.callScope();
  for (auto [init, number] : llvm::zip(inits, numbers))
    if (scope && init.getType().isInteger(64))
      number = scope->unbackedInteger(Interval::kMin, std::nullopt,
                                      isa<WhileOp>(op) ? "while" : "scan");
  return numbers;
}

void ControlAnnotator::setNumbers(ValueRange values,
                                  ArrayRef<std::optional<Dim>> numbers) {
  for (auto [value, number] : llvm::zip(values, numbers))
    if (number)
      walk.setNumber(value, *number);
}

/// What the body yields must be what it got.
LogicalResult ControlAnnotator::carry(Region &body, ValueRange inits) {
  for (unsigned i = 0; i < inits.size(); ++i) {
    Value got = body.getArgument(i), gives = givenBy(body, i);
    std::optional<TensorMeta> before = metaFromType(got.getType());
    std::optional<TensorMeta> after = metaFromType(gives.getType());
    if (!before && !after && got.getType() == gives.getType()) {
      op->getResult(i).setType(got.getType());
      continue;
    }
    auto text = [](const std::optional<TensorMeta> &meta, Value value) {
      std::string type;
      llvm::raw_string_ostream(type) << value.getType();
      return meta ? meta->str() : type;
    };
    bool same = before && after && sameLayout(*before, *after);
    if (before && after && !same) {
      // Sizes may be written differently and be equal.
      TensorMeta other = *after;
      for (auto [size, want] : llvm::zip(other.sizes, before->sizes))
        if (equal(size, want).value_or(false))
          size = want;
      for (auto [stride, want] : llvm::zip(other.strides, before->strides))
        if (equal(stride, want).value_or(false))
          stride = want;
      same = sameLayout(*before, other);
    }
    if (!same) {
      FakeError category = FakeError::Shape;
      if (before && after && before->dtype != after->dtype)
        category = FakeError::Dtype;
      else if (before && after && before->device != after->device)
        category = FakeError::Device;
      return error(category)
             << "carried value " << i << " of " << nameOf(op)
             << " does not keep its layout: " << nameOf(body) << " gets "
             << nameOf(got) << ", " << text(before, got) << ", and gives "
             << nameOf(gives) << ", " << text(after, gives);
    }
    refineYield(body, i, *before);
    setTensor(op->getResult(i), *before);
  }
  return success();
}

LogicalResult ControlAnnotator::loop(WhileOp loop) {
  unsigned carried = loop.getInits().size();
  if (failed(prepareInits(loop.getInitsMutable(), carried)))
    return failure();
  SmallVector<std::optional<Dim>> numbers = freshNumbers(loop.getInits());
  for (Region *region : {&loop.getCondRegion(), &loop.getBodyRegion()}) {
    MutableArrayRef<BlockArgument> arguments = region->getArguments();
    if (failed(enter(loop.getInits(), arguments.take_front(carried),
                     /*numbersToo=*/false)) ||
        failed(enter(loop.getCaptured(), arguments.drop_front(carried))))
      return failure();
    setNumbers(region->getArguments(), numbers);
    if (failed(walkRegion(*region)))
      return failure();
  }
  if (failed(checkPredicate(yieldOf(loop.getCondRegion()).getOperand(0))) ||
      failed(carry(loop.getBodyRegion(), loop.getInits())))
    return failure();
  setNumbers(op->getResults(), freshNumbers(loop.getInits()));
  return success();
}

static int64_t wrapped(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + rank : dim;
}

LogicalResult ControlAnnotator::scan(ScanOp scan) {
  Region &body = scan.getBodyRegion();
  unsigned carried = scan.getInits().size(), over = scan.getXs().size();
  if (failed(prepareInits(scan.getInitsMutable(), carried)))
    return failure();
  MutableArrayRef<BlockArgument> arguments = body.getArguments();
  if (failed(enter(scan.getInits(), arguments.take_front(carried),
                   /*numbersToo=*/false)) ||
      failed(enter(scan.getCaptured(), arguments.drop_front(carried + over))))
    return failure();

  int64_t dim = scan.getDim();
  std::optional<Dim> length;
  Value first;
  for (auto [x, argument] :
       llvm::zip_equal(scan.getXs(), arguments.slice(carried, over))) {
    std::optional<TensorMeta> meta = walk.metaOf(x);
    if (!meta) {
      reportUnknownOperand(op, x);
      return failure();
    }
    int64_t rank = meta->rank();
    if (dim < -rank || dim >= rank)
      return error(FakeError::Dim)
             << nameOf(op) << " runs over dim " << dim << " of " << nameOf(x)
             << ", which has rank " << rank;
    Dim size = meta->sizes[wrapped(dim, rank)];
    if (!length) {
      length = size;
      first = x;
    }
    std::optional<bool> same = equal(*length, size);
    if (!same.value_or(false))
      return error(same ? FakeError::Shape : FakeError::Undecided)
             << nameOf(op)
             << " runs over tensors of different lengths: " << nameOf(first)
             << " has " << length->str() << " positions in dim " << dim << ", "
             << nameOf(x) << " has " << size.str();
    Dims slice = meta->sizes;
    slice.erase(slice.begin() + wrapped(dim, rank));
    setTensor(argument,
              TensorMeta::contiguous(meta->dtype, slice, meta->device));
  }
  setNumbers(arguments, freshNumbers(scan.getInits()));
  if (failed(walkRegion(body)) || failed(carry(body, scan.getInits())))
    return failure();
  setNumbers(op->getResults(), freshNumbers(scan.getInits()));

  YieldOp yield = yieldOf(body);
  for (unsigned i = carried; i < op->getNumResults(); ++i) {
    Value value = yield.getOperand(i);
    std::optional<TensorMeta> meta = metaFromType(value.getType());
    if (!meta)
      return error(FakeError::Other) << nameOf(op) << " stacks "
                                     << nameOf(value) << ", which is no tensor";
    int64_t rank = meta->rank() + 1;
    if (dim < -rank || dim >= rank)
      return error(FakeError::Dim)
             << nameOf(op) << " stacks " << nameOf(value) << " at dim " << dim
             << ", which has rank " << rank - 1;
    Dims sizes = {*length};
    sizes.append(meta->sizes.begin(), meta->sizes.end());
    TensorMeta stacked =
        TensorMeta::contiguous(meta->dtype, sizes, meta->device);
    auto move = [&](Dims &dims) {
      Dim front = dims.front();
      dims.erase(dims.begin());
      dims.insert(dims.begin() + wrapped(dim, rank), front);
    };
    move(stacked.sizes);
    move(stacked.strides);
    setTensor(op->getResult(i), stacked);
  }
  return success();
}

/// Later stages read the numbers that are known here.
void ControlAnnotator::noteNumbers() {
  auto note = [&](StringRef name, ValueRange values) {
    SmallVector<Attribute> texts;
    bool any = false;
    for (Value value : values) {
      std::optional<Dim> number;
      if (isa<IntegerType>(value.getType()))
        number = walk.numberOf(value);
      any |= number.has_value();
      texts.push_back(builder.getStringAttr(number ? number->str() : ""));
    }
    if (any)
      op->setAttr(name, builder.getArrayAttr(texts));
    else
      op->removeAttr(name);
  };
  unsigned carried = 0;
  if (auto loop = dyn_cast<WhileOp>(op))
    carried = loop.getInits().size();
  else if (auto scan = dyn_cast<ScanOp>(op))
    carried = scan.getInits().size();
  MutableArrayRef<BlockArgument> arguments = op->getRegion(0).getArguments();
  SmallVector<Value> first(arguments.take_front(carried));
  note(names::kCarriedNumbers, first);
  note(names::kResultNumbers, op->getResults());
}

LogicalResult annotateControl(Propagator &walk, Operation *op) {
  ControlAnnotator annotator(walk, op);
  LogicalResult annotated = success();
  if (auto cond = dyn_cast<CondOp>(op))
    annotated = annotator.cond(cond);
  else if (auto loop = dyn_cast<WhileOp>(op))
    annotated = annotator.loop(loop);
  else
    annotated = annotator.scan(cast<ScanOp>(op));
  if (succeeded(annotated))
    annotator.noteNumbers();
  return annotated;
}

} // namespace ft
