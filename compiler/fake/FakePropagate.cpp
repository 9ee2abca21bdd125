//===- FakePropagate.cpp - Annotates every value of a module ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/FakePropagate.h"

#include "compiler/fake/OpCall.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include "llvm/ADT/MapVector.h"

#include <deque>

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

static StringRef codeOf(FakeError category) {
  switch (category) {
  case FakeError::Shape:
    return "FT0302";
  case FakeError::Dtype:
    return "FT0303";
  case FakeError::Device:
    return "FT0304";
  case FakeError::Dim:
  case FakeError::Index:
    return "FT0305";
  case FakeError::Other:
    return "FT0307";
  case FakeError::Unsupported:
    return "FT0308";
  case FakeError::DataDependent:
  case FakeError::Undecided:
    return "FT0311";
  }
  return "FT0307";
}

static void reportFailure(Operation *op, const FakeCall &call) {
  InFlightDiagnostic error = emitError(op->getLoc());
  error << "[" << codeOf(call.category) << "] " << call.message << " (in aten."
        << call.schema().name << ")";
  if (call.category == FakeError::DataDependent)
    error << "\nhelp: sizes that depend on data are not supported yet";
  else if (call.category == FakeError::Undecided)
    error << "\nhelp: symbolic sizes are not supported yet; export the model "
             "with static shapes";
}

static void reportUnknown(Operation *op, Value operand) {
  bool tensor = isa<TensorType>(operand.getType());
  emitError(op->getLoc())
      << (tensor ? "[FT0107] an operand has no layout"
                 : "[FT0311] the value of an integer argument is not known "
                   "\nhelp: numbers that are computed at run time are not "
                   "supported yet");
}

static std::string placeOf(Location location) {
  std::string name, file;
  location->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part)) {
      if (name.empty())
        name = named.getName().str();
    } else if (auto line = dyn_cast<FileLineColLoc>(part)) {
      if (file.empty() && line.getLine() != 0)
        file =
            (line.getFilename().getValue() + ":" + Twine(line.getLine())).str();
    }
    return WalkResult::advance();
  });
  if (name.empty() || file.empty())
    return name.empty() ? file : name;
  return name + ", " + file;
}

/// All operators without a rule in one error: name, count, first place.
static LogicalResult checkRules(ModuleOp module) {
  struct Missing {
    unsigned count = 0;
    Operation *first = nullptr;
  };
  llvm::MapVector<const Schema *, Missing> missing;
  module.walk([&](Operation *op) {
    const Schema *schema = schemaOf(op);
    if (!schema || findFakeRule(*schema))
      return;
    Missing &m = missing[schema];
    if (!m.count++)
      m.first = op;
  });
  if (missing.empty())
    return success();
  InFlightDiagnostic error = emitError(missing.front().second.first->getLoc());
  error << "[FT0301] " << missing.size()
        << (missing.size() == 1 ? " operator has" : " operators have")
        << " no shape rule: ";
  llvm::interleave(
      missing,
      [&](auto &entry) {
        error << "aten." << entry.first->name << " (" << entry.second.count
              << (entry.second.count == 1 ? " call" : " calls");
        std::string place = placeOf(entry.second.first->getLoc());
        if (!place.empty())
          error << ", first at " << place;
        error << ")";
      },
      [&] { error << ", "; });
  return failure();
}

//===----------------------------------------------------------------------===//
// Comparison with what the archive claims
//===----------------------------------------------------------------------===//

/// Strides count only where a dim has more than one index.
static bool sameLayout(const TensorMeta &a, const TensorMeta &b) {
  if (a.dtype != b.dtype || a.device != b.device || a.sizes != b.sizes ||
      a.offset != b.offset || a.conj != b.conj || a.neg != b.neg)
    return false;
  for (Dim d : a.sizes)
    if (d.is(0))
      return true;
  for (auto [size, x, y] : llvm::zip(a.sizes, a.strides, b.strides))
    if (!size.is(1) && x != y)
      return false;
  return true;
}

static Attribute elementOf(Attribute attribute, unsigned i) {
  auto list = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!list)
    return i == 0 ? attribute : Attribute();
  return i < list.size() ? list[i] : Attribute();
}

static void compareDeclared(Operation *op, unsigned result,
                            const TensorMeta &ours) {
  auto declared = dyn_cast_or_null<TypeAttr>(
      elementOf(op->getAttr(names::kDeclared), result));
  if (!declared)
    return;
  std::optional<TensorMeta> claimed = metaFromType(declared.getValue());
  if (!claimed || sameLayout(ours, *claimed))
    return;
  auto name = dyn_cast_or_null<StringAttr>(
      elementOf(op->getAttr(names::kName), result));
  emitWarning(op->getLoc())
      << "[FT0310] '" << (name ? name.getValue() : StringRef("?")) << "' is "
      << ours.str() << ", the archive claims " << claimed->str();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

namespace {
/// The state of the walk over one function: what each value is by now.
class Propagator {
public:
  /// Only checking: annotations are compared, and gone by, instead of set.
  explicit Propagator(bool checking) : checking(checking) {}
  LogicalResult run(func::FuncOp function);

private:
  bool checkResult(OpResult result, const FakeResult &fake);
  LogicalResult visitArguments(func::FuncOp function);
  bool visit(Operation *op);
  void setResult(OpResult result, const FakeResult &fake);

  void setMeta(Value value, const TensorMeta &meta) {
    metas.push_back(meta);
    state[value] = &metas.back();
  }
  bool checking;
  std::deque<TensorMeta> metas;
  /// A value's layout now; in-place ops on its metadata (`t_`) change it.
  llvm::DenseMap<Value, const TensorMeta *> state;
  llvm::DenseMap<Value, Dim> numbers;
};
} // namespace

LogicalResult Propagator::visitArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<TensorType>(argument.getType()))
      continue;
    std::optional<TensorMeta> meta = metaFromType(argument.getType());
    if (!meta && !checking) {
      auto declared = function.getArgAttrOfType<TypeAttr>(
          argument.getArgNumber(), names::kDeclared);
      if (declared)
        meta = metaFromType(declared.getValue());
    }
    if (!meta)
      return emitError(argument.getLoc())
             << "[FT0107] argument " << argument.getArgNumber()
             << " of @forward has neither a layout nor a declared one";
    if (!checking)
      argument.setType(typeFromMeta(function.getContext(), *meta));
    setMeta(argument, *meta);
  }
  return success();
}

void Propagator::setResult(OpResult result, const FakeResult &fake) {
  MLIRContext *context = result.getContext();
  switch (fake.kind) {
  case FakeResult::Tensor:
    result.setType(typeFromMeta(context, fake.meta));
    setMeta(result, fake.meta);
    compareDeclared(result.getOwner(), result.getResultNumber(), fake.meta);
    return;
  case FakeResult::Undefined:
    result.setType(NoneType::get(context));
    return;
  case FakeResult::Int:
  case FakeResult::Bool:
    if (fake.value)
      numbers[result] = *fake.value;
    return;
  case FakeResult::Float:
    return;
  }
}

/// Sizes that are known must be the same; relations between symbols are decided
/// where they are made.
static bool sameSizes(const TensorMeta &a, const TensorMeta &b) {
  if (a.rank() != b.rank())
    return false;
  for (auto [x, y] : llvm::zip(a.sizes, b.sizes))
    if (x.isStatic() && y.isStatic() && x != y)
      return false;
  return true;
}

/// Strides are not compared: functionalization may leave a value denser than
/// the one it stands for.
bool Propagator::checkResult(OpResult result, const FakeResult &fake) {
  auto bad = [&] {
    return emitError(result.getOwner()->getLoc())
           << "[FT0107] the annotation of a result does not fit its call: ";
  };
  bool isTensor = isa<TensorType>(result.getType());
  if (fake.kind != FakeResult::Tensor) {
    bool fits = fake.kind == FakeResult::Undefined
                    ? isa<NoneType>(result.getType())
                    : !isTensor;
    if (!fits)
      bad() << result.getType() << " is of another kind";
    else if (fake.value)
      numbers[result] = *fake.value;
    return fits;
  }
  std::optional<TensorMeta> meta =
      isTensor ? metaFromType(result.getType()) : std::nullopt;
  if (!meta) {
    bad() << result.getType() << " must be " << fake.meta.str();
    return false;
  }
  if (meta->dtype != fake.meta.dtype || !sameSizes(*meta, fake.meta)) {
    bad() << meta->str() << " must be " << fake.meta.str();
    return false;
  }
  setMeta(result, *meta);
  return true;
}

/// False after an error, which has been reported.
bool Propagator::visit(Operation *op) {
  // What depends on a call that failed has nothing to go by.
  for (Value operand : op->getOperands())
    if (isa<TensorType>(operand.getType()) && !state.contains(operand))
      return true;
  if (!schemaOf(op)) {
    for (OpResult result : op->getResults()) {
      if (!isa<TensorType>(result.getType()))
        continue;
      if (std::optional<TensorMeta> meta = metaFromType(result.getType()))
        setMeta(result, *meta);
    }
    return true;
  }
  OpCall call(
      op, [&](Value v) { return state.lookup(v); },
      [&](Value v) -> std::optional<Dim> {
        auto it = numbers.find(v);
        return it != numbers.end() ? std::optional(it->second)
                                   : constantInteger(v);
      });
  if (call.unknown) {
    reportUnknown(op, call.unknown);
    return false;
  }
  if (failed(call.run())) {
    reportFailure(op, *call.fake);
    return false;
  }
  auto &results = call.fake->results;
  if (results.size() != op->getNumResults()) {
    emitError(op->getLoc())
        << "[FT0307] aten." << call.aten.schema->name << " gives "
        << results.size() << " results here, the program takes "
        << op->getNumResults();
    return false;
  }
  for (auto [result, fake] : llvm::zip(op->getResults(), results)) {
    if (!checking)
      setResult(result, fake);
    else if (!checkResult(result, fake))
      return false;
    // `x.t_()` changes x itself, for whoever reads it from here on.
    unsigned r = result.getResultNumber();
    if (fake.kind == FakeResult::Tensor && fake.alias >= 0 &&
        call.aten.schema->returnsWritten(r))
      state[call.aten.operands[fake.alias]] = state[result];
  }
  return true;
}

LogicalResult Propagator::run(func::FuncOp function) {
  if (!function.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(function.getBody().front().getTerminator()))
    return function.emitError("[FT0308] control flow between blocks: @forward "
                              "must be one block");
  if (failed(visitArguments(function)))
    return failure();
  constexpr int kMostErrors = 20;
  int errors = 0;
  for (Operation &op : function.getBody().front())
    if (!visit(&op) && ++errors == kMostErrors)
      break;
  if (errors)
    return failure();
  if (checking)
    return success();
  Operation *end = function.getBody().front().getTerminator();
  function.setType(FunctionType::get(
      function.getContext(),
      llvm::to_vector(function.getBody().front().getArgumentTypes()),
      llvm::to_vector(end->getOperandTypes())));
  return success();
}

static LogicalResult walkForward(ModuleOp module, bool checking) {
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  if (!function || function.isExternal())
    return emitError(module.getLoc())
           << "[FT0107] the module has no function @forward";
  if (failed(checkRules(module)))
    return failure();
  return Propagator(checking).run(function);
}

LogicalResult propagateFake(ModuleOp module) {
  return walkForward(module, /*checking=*/false);
}

LogicalResult checkFake(ModuleOp module) {
  return walkForward(module, /*checking=*/true);
}

LogicalResult propagateOp(Operation *op) {
  OpCall call(op);
  if (call.unknown) {
    reportUnknown(op, call.unknown);
    return failure();
  }
  if (failed(call.run())) {
    reportFailure(op, *call.fake);
    return failure();
  }
  for (auto [result, fake] : llvm::zip(op->getResults(), call.fake->results)) {
    if (fake.kind == FakeResult::Tensor)
      result.setType(typeFromMeta(op->getContext(), fake.meta));
    else if (fake.kind == FakeResult::Undefined)
      result.setType(NoneType::get(op->getContext()));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The stage verifier
//===----------------------------------------------------------------------===//

static LogicalResult verifyValue(Value value, Location location) {
  auto tensor = dyn_cast<TensorType>(value.getType());
  if (!tensor)
    return success();
  auto ranked = dyn_cast<RankedTensorType>(tensor);
  auto encoding =
      ranked ? dyn_cast_or_null<MetaAttr>(ranked.getEncoding()) : MetaAttr();
  if (!encoding || !metaFromType(tensor))
    return emitError(location)
           << "[FT0309] a value of type " << tensor << " has no layout";
  return encoding.verifyEncoding(
      ranked.getShape(), ranked.getElementType(),
      [&] { return emitError(location) << "[FT0309] "; });
}

LogicalResult verifyFakeStage(ModuleOp module) {
  bool sound = true;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      sound &= succeeded(verifyValue(result, op->getLoc()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          sound &= succeeded(verifyValue(argument, argument.getLoc()));
  });
  return success(sound);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FakePropagatePass
    : PassWrapper<FakePropagatePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FakePropagatePass)

  StringRef getArgument() const final { return "ft-fake-propagate"; }
  StringRef getDescription() const final {
    return "annotate every value with its shape, strides, dtype and device";
  }
  void runOnOperation() final {
    if (failed(propagateFake(getOperation())) ||
        failed(verifyFakeStage(getOperation())))
      signalPassFailure();
  }
};
} // namespace

void registerFakePasses() { PassRegistration<FakePropagatePass>(); }

} // namespace ft
