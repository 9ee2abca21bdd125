//===- ControlFlow.cpp - Derivatives of branches and loops -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/ControlFlow.h"

#include "compiler/autograd/BlockTrace.h"
#include "compiler/autograd/JointRegion.h"
#include "dialects/ft/FtControl.h"

using namespace mlir;

namespace ft {

namespace {
class ControlBackward {
public:
  ControlBackward(Operation *op, ArrayRef<Value> given, RuleBuilder &to,
                  const Activity &activity)
      : op(op), to(to), b(to.builder), activity(activity), call(to, op),
        gradients(given.begin(), given.end()) {
    operands.resize(op->getNumOperands());
  }

  FailureOr<SmallVector<Value>> cond(CondOp cond);
  FailureOr<SmallVector<Value>> scan(ScanOp scan);

private:
  Value yielded(Value value, Type type, llvm::DenseSet<Value> &given);
  Value laidOut(Value value, Type type);
  Value zeros(Type type);
  Type plainType(Value value, std::optional<Dim> stacked = std::nullopt);
  void replaceForward(ArrayRef<Type> more);
  OperationState backwardState();

  Operation *op;
  RuleBuilder &to;
  OpBuilder &b;
  const Activity &activity;
  RuleCall call;
  /// What arrives at each result.
  SmallVector<Value> gradients;
  /// By operand the gradient.
  SmallVector<Value> operands;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Row-major; with `stacked`, so many of them, one after the other.
Type ControlBackward::plainType(Value value, std::optional<Dim> stacked) {
  TensorMeta meta = *metaOf(value);
  Dims sizes = meta.sizes;
  if (stacked)
    sizes.insert(sizes.begin(), *stacked);
  return typeFromMeta(op->getContext(),
                      TensorMeta::contiguous(meta.dtype, sizes, meta.device));
}

Value ControlBackward::laidOut(Value value, Type type) {
  return call.laidOut(value, *metaFromType(type)).value();
}

Value ControlBackward::zeros(Type type) {
  TensorMeta meta = *metaFromType(type);
  Term made =
      call.call("zeros", {meta.sizes, Term(meta.dtype).named("dtype"),
                          Term(Arg::ofDevice(meta.device)).named("device")});
  return made.isTensor() ? laidOut(made.value(), type) : Value();
}

/// What a region gives has a storage of its own.
Value ControlBackward::yielded(Value value, Type type,
                               llvm::DenseSet<Value> &given) {
  value = laidOut(value, type);
  if (!value)
    return value;
  auto result = dyn_cast<OpResult>(value);
  const Schema *schema = result ? schemaOf(result.getOwner()) : nullptr;
  bool shares = !result || given.contains(value);
  if (schema && !schema->returns.empty())
    shares |= schema->aliasedArg(std::min<unsigned>(
                  result.getResultNumber(),
                  static_cast<unsigned>(schema->returns.size()) - 1)) >= 0;
  if (shares)
    value = call.call("clone", {value}).value();
  given.insert(value);
  return value;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The names of the results, with others for those that are added.
static Attribute namesWith(Operation *op, size_t more) {
  Builder b(op->getContext());
  SmallVector<Attribute> all;
  std::string first;
  if (auto many = op->getAttrOfType<ArrayAttr>(names::kName))
    all.assign(many.begin(), many.end());
  else if (auto one = op->getAttrOfType<StringAttr>(names::kName))
    all.push_back(one);
  if (!all.empty())
    if (auto text = dyn_cast<StringAttr>(all.front()))
      first = text.getValue().str();
  if (first.empty())
    first = op->getName().stripDialect().str();
  while (all.size() < op->getNumResults())
    all.push_back(b.getStringAttr(""));
  for (size_t i = 0; i < more; ++i)
    all.push_back(b.getStringAttr(first + "_kept_" + std::to_string(i)));
  return b.getArrayAttr(all);
}

/// Puts an operation that has `more` results besides in the place of `op`,
/// whose regions yield them by now.
void ControlBackward::replaceForward(ArrayRef<Type> more) {
  OpBuilder::InsertionGuard back(b);
  b.setInsertionPoint(op);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  state.addTypes(more);
  state.addAttributes(op->getAttrs());
  if (!more.empty()) {
    state.attributes.set(names::kName, namesWith(op, more.size()));
    state.attributes.erase(names::kDeclared);
  }
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *made = b.create(state);
  op->replaceAllUsesWith(made->getResults().take_front(op->getNumResults()));
  op->erase();
  op = made;
}

OperationState ControlBackward::backwardState() {
  return OperationState(op->getLoc(), op->getName());
}

//===----------------------------------------------------------------------===//
// ft.cond
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> ControlBackward::cond(CondOp cond) {
  unsigned captured = static_cast<unsigned>(cond.getCaptured().size());
  SmallVector<Type> tangents(op->getNumResults());
  for (auto [r, gradient] : llvm::enumerate(gradients))
    if (gradient && activity.needs(op->getResult(static_cast<unsigned>(r))))
      tangents[r] = tangentType(op->getResult(static_cast<unsigned>(r)));
  SmallVector<JointRegion::Argument> kinds(captured,
                                           JointRegion::Argument::Given);
  // Each branch runs once: nothing of it is worth making again.
  SmallVector<bool> invariant(captured, false);
  SmallVector<JointRegion, 2> regions;
  for (Region &region : op->getRegions()) {
    JointRegion &joint = regions.emplace_back(region, call, to, activity);
    if (failed(joint.trace(tangents)) || failed(joint.cut(kinds, invariant)))
      return failure();
  }

  // Results for what each branch keeps, shared where types are equal.
  SmallVector<Type> slots;
  SmallVector<SmallVector<Value>, 2> keptIn(2);
  for (unsigned r : {0, 1}) {
    SmallVector<bool> used(slots.size(), false);
    for (Value value : regions[r].kept()) {
      Type type = plainType(value);
      size_t s = 0;
      while (s < slots.size() && (slots[s] != type || used[s]))
        ++s;
      if (s == slots.size()) {
        slots.push_back(type);
        used.push_back(false);
      }
      used[s] = true;
      keptIn[r].resize(slots.size());
      keptIn[r][s] = value;
    }
  }

  // The backward, before the regions lose theirs.
  SmallVector<unsigned> derived;
  for (unsigned i = 0; i < captured; ++i)
    if (activity.needs(cond.getCaptured()[i]) &&
        (regions[0].gradients()[i] || regions[1].gradients()[i]))
      derived.push_back(i);
  unsigned before = op->getNumResults();
  OperationState state = backwardState();
  for (unsigned i : derived)
    state.addTypes(tangentType(cond.getCaptured()[i]));
  state.addOperands(cond.getPredicate());
  SmallVector<unsigned> arriving, reading;
  for (auto [r, type] : llvm::enumerate(tangents))
    if (type) {
      arriving.push_back(static_cast<unsigned>(r));
      state.addOperands(laidOut(gradients[r], type));
    }
  for (unsigned i = 0; i < captured; ++i) {
    auto reads = [&](unsigned r) {
      return regions[r].reads(op->getRegion(r).getArgument(i));
    };
    if (!reads(0) && !reads(1))
      continue;
    reading.push_back(i);
    state.addOperands(cond.getCaptured()[i]);
  }
  if (call.failed())
    return failure();
  SmallVector<Type> types(ValueRange(state.operands).drop_front().getTypes());
  types.append(slots);
  for (unsigned r : {0, 1}) {
    OpBuilder::InsertionGuard back(b);
    Block &block = state.addRegion()->emplaceBlock();
    Block &forward = op->getRegion(r).front();
    for (Type type : types)
      block.addArgument(type, op->getLoc());
    b.setInsertionPointToEnd(&block);
    IRMapping map;
    unsigned next = 0;
    for (unsigned i : arriving)
      map.map(regions[r].tangents()[i], block.getArgument(next++));
    for (unsigned i : reading)
      map.map(forward.getArgument(i), block.getArgument(next++));
    for (auto [s, value] : llvm::enumerate(keptIn[r]))
      if (value)
        map.map(value, laidOut(block.getArgument(next + s), value.getType()));
    if (call.failed())
      return failure();
    regions[r].cloneBackward(map);
    SmallVector<Value> results;
    llvm::DenseSet<Value> given;
    for (auto [i, type] : llvm::zip(derived, state.types)) {
      Value gradient = regions[r].gradients()[i];
      results.push_back(
          yielded(gradient ? map.lookup(gradient) : zeros(type), type, given));
    }
    if (call.failed())
      return failure();
    YieldOp::create(b, op->getLoc(), results);
  }

  // The forward keeps what it reads.
  for (unsigned r : {0, 1}) {
    OpBuilder::InsertionGuard back(b);
    regions[r].finish();
    Operation *yield = op->getRegion(r).front().getTerminator();
    b.setInsertionPoint(yield);
    SmallVector<Value> all(yield->getOperands());
    llvm::DenseSet<Value> given(all.begin(), all.end());
    keptIn[r].resize(slots.size());
    for (auto [type, value] : llvm::zip(slots, keptIn[r])) {
      if (value) {
        all.push_back(yielded(value, type, given));
        continue;
      }
      TensorMeta meta = *metaFromType(type);
      all.push_back(
          call.call("empty.memory_format",
                    {meta.sizes, Term(meta.dtype).named("dtype"),
                     Term(Arg::ofDevice(meta.device)).named("device")})
              .value());
    }
    if (call.failed())
      return failure();
    yield->setOperands(all);
  }
  replaceForward(slots);
  state.addOperands(op->getResults().drop_front(before));
  Operation *made = b.create(state);
  for (auto [k, i] : llvm::enumerate(derived))
    operands[i + 1] = made->getResult(static_cast<unsigned>(k));
  return operands;
}

//===----------------------------------------------------------------------===//
// ft.scan
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> ControlBackward::scan(ScanOp scan) {
  unsigned carried = static_cast<unsigned>(scan.getInits().size());
  unsigned sliced = static_cast<unsigned>(scan.getXs().size());
  unsigned before = op->getNumResults();
  bool reverse = scan.getReverse();
  Dim length = metaOf(scan.getXs()[0])->sizes[0];
  Block &body = op->getRegion(0).front();

  // A carried value has a gradient if its result has one, or an iteration
  // gives one to the iteration before.
  SmallVector<Type> tangents(before);
  Operation *yield = body.getTerminator();
  for (unsigned r = 0; r < before; ++r) {
    bool arrives = gradients[r] && activity.needs(op->getResult(r));
    if (r < carried && (arrives || activity.needs(body.getArgument(r))))
      tangents[r] = tangentType(op->getResult(r));
    else if (r >= carried && arrives)
      tangents[r] = plainType(yield->getOperand(r));
  }
  SmallVector<JointRegion::Argument> kinds;
  SmallVector<bool> captured;
  for (unsigned i = 0; i < body.getNumArguments(); ++i) {
    kinds.push_back(i < carried ? JointRegion::Argument::Kept
                                : JointRegion::Argument::Given);
    captured.push_back(i >= carried + sliced);
  }
  JointRegion joint(op->getRegion(0), call, to, activity);
  if (failed(joint.trace(tangents)) || failed(joint.cut(kinds, captured)))
    return failure();

  // What is kept is stacked, unless it is a result already.
  SmallVector<Value> keep(joint.kept());
  SmallVector<unsigned> resultOf;
  SmallVector<Value> added;
  SmallVector<Type> slots;
  for (Value value : keep) {
    unsigned r = carried;
    while (r < before && yield->getOperand(r) != value)
      ++r;
    if (r == before) {
      r = before + static_cast<unsigned>(slots.size());
      slots.push_back(plainType(value, length));
      added.push_back(value);
    }
    resultOf.push_back(r);
  }

  // The backward's operands: gradients that are carried, sums over the
  // positions; what is cut; what is captured.
  SmallVector<unsigned> carrying, summed, cut, derivedSlices, reading;
  SmallVector<Value> inits, xs, rest;
  OperationState state = backwardState();
  for (unsigned i = 0; i < carried; ++i)
    if (tangents[i]) {
      carrying.push_back(i);
      inits.push_back(gradients[i] ? laidOut(gradients[i], tangents[i])
                                   : zeros(tangents[i]));
      state.addTypes(tangents[i]);
    }
  for (unsigned i = carried + sliced; i < op->getNumOperands(); ++i)
    if (joint.gradients()[i]) {
      summed.push_back(i);
      Type type = tangentType(op->getOperand(i));
      inits.push_back(zeros(type));
      state.addTypes(type);
    }
  for (unsigned i = carried; i < carried + sliced; ++i)
    if (joint.gradients()[i]) {
      derivedSlices.push_back(i);
      state.addTypes(plainType(body.getArgument(i), length));
    }
  for (unsigned r = carried; r < before; ++r)
    if (tangents[r]) {
      cut.push_back(r);
      xs.push_back(gradients[r]);
    }
  for (unsigned i = carried; i < carried + sliced; ++i)
    if (joint.reads(body.getArgument(i))) {
      reading.push_back(i);
      xs.push_back(op->getOperand(i));
    }
  size_t slicesRead = reading.size();
  for (unsigned i = carried + sliced; i < op->getNumOperands(); ++i)
    if (joint.reads(body.getArgument(i))) {
      reading.push_back(i);
      rest.push_back(op->getOperand(i));
    }
  // It runs over something, whatever it needs.
  bool alone = xs.empty() && keep.empty();
  if (alone)
    xs.push_back(op->getOperand(carried));
  if (call.failed())
    return failure();

  {
    OpBuilder::InsertionGuard back(b);
    Block &block = state.addRegion()->emplaceBlock();
    b.setInsertionPointToEnd(&block);
    auto argument = [&](Type type) {
      return block.addArgument(type, op->getLoc());
    };
    auto slice = [&](Value whole) {
      TensorMeta meta = *metaOf(whole);
      meta.sizes.erase(meta.sizes.begin());
      return argument(typeFromMeta(
          op->getContext(),
          TensorMeta::contiguous(meta.dtype, meta.sizes, meta.device)));
    };
    IRMapping map;
    SmallVector<Value> sums, results;
    for (unsigned i : carrying)
      map.map(joint.tangents()[i], argument(tangents[i]));
    for (unsigned i : summed)
      sums.push_back(argument(tangentType(op->getOperand(i))));
    for (unsigned r : cut)
      map.map(joint.tangents()[r], argument(tangents[r]));
    for (size_t k = 0; k < slicesRead; ++k)
      map.map(body.getArgument(reading[k]), slice(op->getOperand(reading[k])));
    if (alone)
      slice(op->getOperand(carried));
    SmallVector<Value> slices;
    for (Value value : keep)
      slices.push_back(argument(plainType(value)));
    for (size_t k = slicesRead; k < reading.size(); ++k)
      map.map(body.getArgument(reading[k]),
              argument(op->getOperand(reading[k]).getType()));
    for (auto [value, part] : llvm::zip(keep, slices))
      map.map(value, laidOut(part, value.getType()));
    if (call.failed())
      return failure();
    joint.cloneBackward(map);
    llvm::DenseSet<Value> given;
    auto gradientOf = [&](unsigned i, Type type) {
      Value own = joint.gradients()[i];
      return own ? map.lookup(own) : zeros(type);
    };
    for (unsigned i : carrying)
      results.push_back(
          yielded(gradientOf(i, tangents[i]), tangents[i], given));
    for (auto [i, sum] : llvm::zip(summed, sums)) {
      Term next = call.call("add", {sum, map.lookup(joint.gradients()[i])});
      results.push_back(next.isTensor()
                            ? yielded(next.value(), sum.getType(), given)
                            : Value());
    }
    for (unsigned i : derivedSlices) {
      Type type = plainType(body.getArgument(i));
      results.push_back(yielded(gradientOf(i, type), type, given));
    }
    if (call.failed())
      return failure();
    YieldOp::create(b, op->getLoc(), results);
  }

  joint.finish();
  {
    OpBuilder::InsertionGuard back(b);
    b.setInsertionPoint(yield);
    SmallVector<Value> all(yield->getOperands());
    llvm::DenseSet<Value> given(all.begin(), all.end());
    for (Value value : added)
      all.push_back(yielded(value, plainType(value), given));
    if (call.failed())
      return failure();
    yield->setOperands(all);
  }
  replaceForward(slots);
  for (unsigned r : resultOf)
    xs.push_back(op->getResult(r));
  state.addOperands(inits);
  state.addOperands(xs);
  state.addOperands(rest);
  state.addAttribute(
      ScanOp::getOperandSegmentSizeAttr(),
      b.getDenseI32ArrayAttr({static_cast<int32_t>(inits.size()),
                              static_cast<int32_t>(xs.size()),
                              static_cast<int32_t>(rest.size())}));
  if (!reverse)
    state.addAttribute("reverse", b.getUnitAttr());
  Operation *made = b.create(state);
  unsigned next = 0;
  for (const SmallVector<unsigned> &list : {carrying, summed, derivedSlices})
    for (unsigned i : list) {
      Value gradient = made->getResult(next++);
      if (activity.needs(op->getOperand(i)))
        operands[i] = gradient;
    }
  return operands;
}

FailureOr<SmallVector<Value>> backwardOfControl(Operation *op,
                                                ArrayRef<Value> gradients,
                                                RuleBuilder &to,
                                                const Activity &activity) {
  ControlBackward backward(op, gradients, to, activity);
  if (auto cond = dyn_cast<CondOp>(op))
    return backward.cond(cond);
  return backward.scan(cast<ScanOp>(op));
}

} // namespace ft
