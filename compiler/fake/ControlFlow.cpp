//===- ControlFlow.cpp - Annotates branches and loops ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/ControlFlow.h"

#include "compiler/fake/AliasSets.h"
#include "compiler/fake/FakeReport.h"
#include "compiler/fake/JoinLayouts.h"
#include "compiler/fake/StrideRules.h"
#include "dialects/ft/FtControl.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Names, for messages
//===----------------------------------------------------------------------===//

static StringRef elementText(Attribute attribute, unsigned i) {
  if (auto list = dyn_cast_or_null<ArrayAttr>(attribute))
    attribute = i < list.size() ? list[i] : Attribute();
  else if (i > 0)
    attribute = {};
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.getValue() : StringRef();
}

static DictionaryAttr graphOf(Region *region) {
  auto graphs =
      region->getParentOp()->getAttrOfType<ArrayAttr>(names::kGraphs);
  unsigned r = region->getRegionNumber();
  return graphs && r < graphs.size() ? dyn_cast<DictionaryAttr>(graphs[r])
                                     : DictionaryAttr();
}

/// "'mul'", or what the value is if it has no name.
static std::string nameOf(Value value) {
  StringRef name;
  std::string otherwise;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Region *region = argument.getParentRegion();
    unsigned i = argument.getArgNumber();
    if (DictionaryAttr graph = graphOf(region))
      name = elementText(graph.get("arguments"), i);
    otherwise = "argument " + std::to_string(i);
  } else {
    Operation *op = value.getDefiningOp();
    unsigned i = cast<OpResult>(value).getResultNumber();
    name = elementText(op->getAttr(names::kName), i);
    otherwise = "result " + std::to_string(i) + " of " +
                op->getName().getStringRef().str();
  }
  return name.empty() ? otherwise : "'" + name.str() + "'";
}

/// "ft.cond" with the name that the archive has for it.
static std::string nameOf(Operation *op) {
  StringRef name = elementText(op->getAttr(names::kName), 0);
  std::string text = op->getName().getStringRef().str();
  return name.empty() ? text : text + " '" + name.str() + "'";
}

static std::string nameOf(Region &region) {
  if (DictionaryAttr graph = graphOf(&region))
    if (auto name = graph.getAs<StringAttr>("name"))
      return "'" + name.getValue().str() + "'";
  if (isa<CondOp>(region.getParentOp()))
    return region.getRegionNumber() == 0 ? "'then'" : "'else'";
  bool condition =
      isa<WhileOp>(region.getParentOp()) && region.getRegionNumber() == 0;
  return condition ? "'cond'" : "'do'";
}

static YieldOp yieldOf(Region &region) {
  return cast<YieldOp>(region.front().getTerminator());
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

namespace {
class ControlAnnotator {
public:
  ControlAnnotator(Propagator &walk, Operation *op)
      : walk(walk), op(op), builder(op->getContext()) {}

  LogicalResult cond(CondOp cond);
  LogicalResult loop(WhileOp loop);
  LogicalResult scan(ScanOp scan);

private:
  InFlightDiagnostic error(FakeError category) {
    return emitError(op->getLoc()) << "[" << codeOf(category) << "] ";
  }
  LogicalResult enter(Region &region, ValueRange operands,
                      MutableArrayRef<BlockArgument> arguments);
  LogicalResult walkRegion(Region &region);
  LogicalResult checkPredicate(Value predicate);
  LogicalResult prepareInits(MutableOperandRange inits, unsigned count);
  LogicalResult carry(Region &body, ValueRange inits);
  LogicalResult refineYield(YieldOp yield, unsigned i, const TensorMeta &meta);
  std::optional<Dim> freshSize(Dim a, Dim b);
  std::optional<Dim> freshNumber();
  /// Nothing if it is open.
  std::optional<bool> equal(Dim a, Dim b);
  SmallVector<std::optional<Dim>> freshNumbers(ValueRange inits);
  void setNumbers(ValueRange values, ArrayRef<std::optional<Dim>> numbers);
  LogicalResult joinTensors(CondOp cond, unsigned i);
  LogicalResult joinNumbers(CondOp cond, unsigned i);
  void setTensor(Value value, const TensorMeta &meta) {
    value.setType(typeFromMeta(op->getContext(), meta));
  }

  Propagator &walk;
  Operation *op;
  OpBuilder builder;
};
} // namespace

/// Arguments of a region become what the operands are.
LogicalResult
ControlAnnotator::enter(Region &region, ValueRange operands,
                        MutableArrayRef<BlockArgument> arguments) {
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
    if (std::optional<Dim> number = walk.numberOf(operand))
      walk.setNumber(argument, *number);
  }
  return success();
}

LogicalResult ControlAnnotator::walkRegion(Region &region) {
  // What an earlier run put in front of the yield is made anew.
  YieldOp yield = yieldOf(region);
  for (OpOperand &operand : yield->getOpOperands())
    if (auto refine = operand.get().getDefiningOp<RefineOp>()) {
      operand.set(refine.getInput());
      if (refine->use_empty())
        refine.erase();
    }
  if (failed(walk.visitBlock(region.front())))
    return failure();
  for (Value value : yield.getOperands()) {
    if (isa<TensorType>(value.getType()) && !walk.metaOf(value)) {
      reportUnknownOperand(yield, value);
      return failure();
    }
    if (walk.typeOf(value) != value.getType())
      return error(FakeError::Unsupported)
             << nameOf(region) << " yields " << nameOf(value)
             << " after an operation in place has changed its shape"
             << "\nhelp: use the result of that operation";
  }
  return success();
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

/// A symbol for what is one of two sizes. None can be made yet.
std::optional<Dim> ControlAnnotator::freshSize(Dim a, Dim b) {
  return std::nullopt;
}

std::optional<Dim> ControlAnnotator::freshNumber() { return std::nullopt; }

std::optional<bool> ControlAnnotator::equal(Dim a, Dim b) {
  if (a == b)
    return true;
  if (a.isStatic() && b.isStatic())
    return false;
  return std::nullopt;
}

LogicalResult ControlAnnotator::refineYield(YieldOp yield, unsigned i,
                                            const TensorMeta &meta) {
  Value value = yield.getOperand(i);
  Type type = typeFromMeta(op->getContext(), meta);
  if (value.getType() == type)
    return success();
  builder.setInsertionPoint(yield);
  yield->setOperand(
      i, RefineOp::create(builder, value.getLoc(), type, value).getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// ft.cond
//===----------------------------------------------------------------------===//

LogicalResult ControlAnnotator::joinTensors(CondOp cond, unsigned i) {
  Region *regions[] = {&cond.getThenRegion(), &cond.getElseRegion()};
  Value values[] = {yieldOf(*regions[0]).getOperand(i),
                    yieldOf(*regions[1]).getOperand(i)};
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
    return error(category)
           << "the branches of " << nameOf(op) << " do not agree in result "
           << i << ": " << text(0) << "; " << text(1) << ": " << reason;
  }
  for (Region *region : regions)
    if (failed(refineYield(yieldOf(*region), i, *joined)))
      return failure();
  setTensor(op->getResult(i), *joined);
  return success();
}

LogicalResult ControlAnnotator::joinNumbers(CondOp cond, unsigned i) {
  std::optional<Dim> numbers[2];
  for (unsigned r : {0, 1}) {
    Value value = yieldOf(op->getRegion(r)).getOperand(i);
    if (value.getType() != op->getResult(i).getType())
      return error(FakeError::Other)
             << "the branches of " << nameOf(op)
             << " do not agree in result " << i << ": branch "
             << nameOf(op->getRegion(r)) << " gives " << nameOf(value)
             << ", which is of another kind";
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
    if (failed(enter(*region, cond.getCaptured(), region->getArguments())) ||
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
    operand.set(made->getResult(0));
  }
  return success();
}

/// An integer differs from one iteration to the next: a symbol of its own
/// stands for it, of which nothing is known.
SmallVector<std::optional<Dim>>
ControlAnnotator::freshNumbers(ValueRange inits) {
  SmallVector<std::optional<Dim>> numbers(inits.size());
  for (auto [init, number] : llvm::zip(inits, numbers))
    if (init.getType().isInteger(64))
      number = freshNumber();
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
  YieldOp yield = yieldOf(body);
  for (unsigned i = 0; i < inits.size(); ++i) {
    Value got = body.getArgument(i), gives = yield.getOperand(i);
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
    if (failed(refineYield(yield, i, *before)))
      return failure();
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
    if (failed(enter(*region, loop.getOperands(), region->getArguments())))
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
  if (failed(enter(body, scan.getInits(), arguments.take_front(carried))) ||
      failed(enter(body, scan.getCaptured(),
                   arguments.drop_front(carried + over))))
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
             << nameOf(op) << " runs over tensors of different lengths: "
             << nameOf(first) << " has " << length->str()
             << " positions in dim " << dim << ", " << nameOf(x) << " has "
             << size.str();
    Dims slice = meta->sizes;
    slice.erase(slice.begin() + wrapped(dim, rank));
    setTensor(argument, TensorMeta::contiguous(meta->dtype, slice,
                                               meta->device));
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

LogicalResult annotateControl(Propagator &walk, Operation *op) {
  ControlAnnotator annotator(walk, op);
  if (auto cond = dyn_cast<CondOp>(op))
    return annotator.cond(cond);
  if (auto loop = dyn_cast<WhileOp>(op))
    return annotator.loop(loop);
  return annotator.scan(cast<ScanOp>(op));
}

//===----------------------------------------------------------------------===//
// Annotations that are there already
//===----------------------------------------------------------------------===//

LogicalResult checkControl(Propagator &walk, Operation *op) {
  auto bad = [&] {
    return emitError(op->getLoc())
           << "[FT0107] the annotations of " << nameOf(op) << " do not fit: ";
  };
  // What stands on both sides of a border is equal, unless one is unknown.
  for (Region &region : op->getRegions()) {
    for (BlockArgument argument : region.getArguments())
      if (isa<TensorType>(argument.getType()) &&
          !metaFromType(argument.getType()))
        return bad() << nameOf(argument) << " of " << nameOf(region)
                     << " has no layout";
    if (failed(walk.visitBlock(region.front())))
      return failure();
  }
  for (Value result : op->getResults())
    if (isa<TensorType>(result.getType()) && !metaFromType(result.getType()))
      return bad() << nameOf(result) << " has no layout";
  auto predicate = [&](Value value) -> LogicalResult {
    std::optional<TensorMeta> meta = metaFromType(value.getType());
    if (meta && meta->numel().isStatic() && !meta->numel().is(1))
      return bad() << "the condition is " << meta->str();
    return success();
  };
  if (auto cond = dyn_cast<CondOp>(op))
    return predicate(cond.getPredicate());
  if (auto loop = dyn_cast<WhileOp>(op))
    return predicate(yieldOf(loop.getCondRegion()).getOperand(0));

  // A slice and what it is cut from, a stacked result and one position of it.
  auto scan = cast<ScanOp>(op);
  Region &body = scan.getBodyRegion();
  std::optional<Dim> length;
  auto fits = [&](Value whole, Value part) -> LogicalResult {
    std::optional<TensorMeta> a = metaFromType(whole.getType());
    std::optional<TensorMeta> b = metaFromType(part.getType());
    int64_t rank = a ? a->rank() : 0;
    int64_t dim = wrapped(scan.getDim(), rank);
    bool sound = a && b && b->rank() == rank - 1 && a->dtype == b->dtype &&
                 dim >= 0 && dim < rank;
    if (sound) {
      auto mayBeEqual = [](Dim x, Dim y) {
        return x == y || !x.isStatic() || !y.isStatic();
      };
      sound = !length || mayBeEqual(*length, a->sizes[dim]);
      length = a->sizes[dim];
      a->sizes.erase(a->sizes.begin() + dim);
      for (auto [x, y] : llvm::zip(a->sizes, b->sizes))
        sound &= mayBeEqual(x, y);
    }
    if (!sound)
      return bad() << whole.getType() << " does not consist of "
                   << part.getType() << " along dim " << scan.getDim();
    return success();
  };
  size_t carried = scan.getInits().size();
  for (auto [i, x] : llvm::enumerate(scan.getXs()))
    if (failed(fits(x, body.getArgument(carried + i))))
      return failure();
  for (size_t i = carried; i < op->getNumResults(); ++i)
    if (failed(fits(op->getResult(i), yieldOf(body).getOperand(i))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Storages
//===----------------------------------------------------------------------===//

static LogicalResult checkRegion(Region &region, const AliasSets &sets) {
  Operation *parent = region.getParentOp();
  llvm::DenseMap<int, Value> outside, yielded;
  for (BlockArgument argument : region.getArguments())
    if (int storage = sets.storage(argument); storage >= 0)
      outside.try_emplace(storage, argument);
  for (Operation &op : region.front().without_terminator()) {
    const Schema *schema = schemaOf(&op);
    if (!schema || !schema->mutates)
      continue;
    AtenCall call = AtenCall::decode(&op);
    for (auto [i, formal] : llvm::enumerate(schema->args)) {
      if (!formal.type.write)
        continue;
      SmallVector<Value, 4> written = {call.tensor(i)};
      if (formal.type.list)
        written = call.tensors(i);
      for (Value value : written) {
        auto it = value ? outside.find(sets.storage(value)) : outside.end();
        if (it != outside.end())
          return emitError(op.getLoc())
                 << "[FT0308] aten." << schema->name << " in "
                 << nameOf(region) << " writes " << nameOf(it->second)
                 << ", which comes from outside " << nameOf(parent)
                 << "\nhelp: write to a clone() of it and return that";
      }
    }
  }
  YieldOp yield = yieldOf(region);
  bool condition = isa<WhileOp>(parent) && region.getRegionNumber() == 0;
  for (Value value : yield.getOperands()) {
    int storage = sets.storage(value);
    if (storage < 0 || condition)
      continue;
    auto other = outside.find(storage);
    bool again = other == outside.end();
    if (again)
      other = yielded.find(storage);
    if (other != (again ? yielded.end() : outside.end()))
      return emitError(value.getLoc())
             << "[FT0308] " << nameOf(region) << " of " << nameOf(parent)
             << " gives " << nameOf(value) << ", which shares storage with "
             << (again ? "the result " : "its argument ")
             << nameOf(other->second) << "\nhelp: return a clone() of it";
    yielded[storage] = value;
  }
  return success();
}

LogicalResult checkRegionStorages(func::FuncOp function) {
  SmallVector<Operation *> all;
  function.walk([&](Operation *op) {
    if (isControl(op))
      all.push_back(op);
  });
  if (all.empty())
    return success();
  AliasSets sets(function);
  bool sound = true;
  for (Operation *op : all)
    for (Region &region : op->getRegions())
      sound &= succeeded(checkRegion(region, sets));
  return success(sound);
}

} // namespace ft
