//===- Propagator.cpp - The walk that annotates values ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/Propagator.h"

#include "compiler/fake/ConstantAttr.h"
#include "compiler/fake/ControlFlow.h"
#include "compiler/fake/FakeReport.h"
#include "compiler/fake/ModuleScope.h"
#include "compiler/fake/OpCall.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

std::optional<Dim> Propagator::numberOf(Value value) const {
  auto it = numbers.find(value);
  if (it != numbers.end())
    return it->second;
  return notes ? annotatedNumber(value) : constantInteger(value);
}

//===----------------------------------------------------------------------===//
// What a call gives
//===----------------------------------------------------------------------===//

void Propagator::buildKey(Operation *op) {
  key.clear();
  key.add(op->getName().getAsOpaquePointer());
  for (Attribute property : callProperties(op))
    key.add(property.getAsOpaquePointer());
  for (Value operand : op->getOperands()) {
    Type type = typeOf(operand);
    key.add(type.getAsOpaquePointer());
    if (isa<RankedTensorType>(type))
      continue;
    // Numbers: (0, value), (expression, 0), or (1, 0) if nothing is known.
    std::optional<Dim> number = numberOf(operand);
    if (number && !number->isStatic())
      key.add(number->symbolic().getImpl());
    else
      key.add(uint64_t(number ? 0 : 1));
    key.add(uint64_t(number && number->isStatic() ? number->value() : 0));
  }
}

/// The name of a value in its scope.
static uint64_t keyOf(Value value) {
  return reinterpret_cast<uintptr_t>(value.getAsOpaquePointer());
}

/// Whether a tensor may lie in a storage that is larger than itself: it is a
/// view, or its sizes have changed in place.
static bool mayBePart(Value value, bool changed) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return changed || !isa_and_nonnull<func::FuncOp>(
                          value.getParentBlock()->getParentOp());
  const Schema *schema = schemaOf(result.getOwner());
  return changed || !schema ||
         schema->aliasedArg(result.getResultNumber()) >= 0;
}

LogicalResult Propagator::compute(Operation *op, StringRef &bypass) {
  if (!findFakeRule(*schemaOf(op))) {
    missingRule = true;
    return failure();
  }
  OpCall call(
      op, [&](Value value) { return typeOf(value); },
      [&](Value value) { return numberOf(value); });
  if (call.unknown) {
    reportUnknownOperand(op, call.unknown);
    return failure();
  }
  SmallVector<uint64_t, 4> keys;
  if (scope) {
    for (Value operand : call.aten.operands)
      keys.push_back(keyOf(operand));
    call.fake->scope = scope;
    call.fake->spreads = true;
    scope->setCaller(op);
    call.fake->operandKeys = keys;
  }
  if (!call.aten.operands.empty()) {
    Value first = call.aten.operands.front();
    call.fake->viewsMore = mayBePart(first, changed.contains(first));
  }
  if (failed(call.run())) {
    reportFailure(op, *call.fake);
    return failure();
  }
  bypass = call.fake->bypass;
  madeConstants.clear();
  MLIRContext *context = op->getContext();
  scratch.clear();
  for (auto [i, fake] : llvm::enumerate(call.fake->results)) {
    CallResult &result = scratch.emplace_back();
    result.kind = fake.kind;
    result.number = fake.value;
    if (fake.kind == FakeResult::Undefined)
      result.type = NoneType::get(context);
    if (fake.kind != FakeResult::Tensor)
      continue;
    if (fake.constant)
      madeConstants.emplace_back(i, fake.constant);
    result.type = typeFromMeta(context, fake.meta);
    result.alias = fake.alias;
    result.written = fake.alias >= 0 && call.aten.schema->returnsWritten(i);
  }
  return success();
}

/// An entry that is not what the rule says now is an error of ours.
LogicalResult Propagator::crosscheck(Operation *op) {
  StringRef bypass;
  if (failed(compute(op, bypass)))
    return failure();
  ++cache->stats.checked;
  if (bypass.empty() && ArrayRef<CallResult>(scratch) == last)
    return success();
  InFlightDiagnostic error = emitError(op->getLoc());
  // A rule of ours is a function of the call's signature; one that was
  // registered may be anything.
  if (customOp(*schemaOf(op)))
    error << "[FT0312] the fake rule of " << shownName(*schemaOf(op))
          << " does not give the same results for the same call";
  else
    error << "[FT0070] the cache of fake propagation has other results for "
          << shownName(*schemaOf(op)) << " than its rule";
  if (!bypass.empty())
    return error << ", which must not be kept (" << bypass << ")";
  auto show = [&](ArrayRef<CallResult> results) {
    llvm::interleaveComma(results, error, [&](const CallResult &r) {
      if (r.type)
        error << r.type;
      else
        error << (r.number ? r.number->str() : "a number");
      if (r.alias >= 0)
        error << " in operand " << r.alias;
    });
  };
  error << ": ";
  show(last);
  error << (customOp(*schemaOf(op)) ? ", then " : "; the rule gives ");
  show(scratch);
  return error;
}

/// The value of a constant is not part of a call's signature, so such calls are
/// neither looked up nor kept.
bool Propagator::readsConstant(Operation *op) const {
  return scope && scope->hasData() &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return scope->constant(keyOf(operand)) != nullptr;
         });
}

LogicalResult Propagator::lookUp(Operation *op, bool &found) {
  found = false;
  if (!cache)
    return success();
  if (readsConstant(op))
    return success();
  buildKey(op);
  std::optional<ArrayRef<CallResult>> known = cache->find(key, walk);
  if (!known)
    return success();
  found = true;
  ++cache->stats.hits;
  last = *known;
  return cache->crosscheck ? crosscheck(op) : success();
}

static bool isSymbolic(Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  auto meta =
      tensor ? dyn_cast_or_null<MetaAttr>(tensor.getEncoding()) : MetaAttr();
  auto isStatic = [](Dim d) { return d.isStatic(); };
  return meta && !(meta.getSizes().empty() && isStatic(meta.getOffset()) &&
                   llvm::all_of(meta.getStrides(), isStatic));
}

/// Whether the call in `scratch` reads or gives a symbol.
bool Propagator::hasSymbols(Operation *op) const {
  auto symbolicNumber = [](std::optional<Dim> number) {
    return number && !number->isStatic();
  };
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) {
                        return isSymbolic(typeOf(operand)) ||
                               symbolicNumber(numberOf(operand));
                      }) ||
         llvm::any_of(scratch, [&](const CallResult &result) {
           return isSymbolic(result.type) || symbolicNumber(result.number);
         });
}

LogicalResult Propagator::computeAndKeep(Operation *op) {
  StringRef bypass;
  if (failed(compute(op, bypass)))
    return failure();
  last = scratch;
  if (!cache)
    return success();
  if (bypass.empty() && readsConstant(op))
    bypass = "constant";
  if (bypass.empty()) {
    ++cache->stats.misses;
    last = cache->keep(key, scratch, hasSymbols(op) ? walk : 0);
  } else {
    ++cache->stats.bypasses[bypass];
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Whether two numbers cannot be the same: plain ones, or expressions of which
/// the scope's facts prove it. What stays open is decided where it matters.
static bool differ(Dim x, Dim y, FakeScope *scope) {
  if (x == y)
    return false;
  if (x.isStatic() && y.isStatic())
    return true;
  if (!scope)
    return false;
  SymContext &symbols = scope->env().context();
  return scope->env().isTrue(symbols.ne(x.toExpr(symbols), y.toExpr(symbols)));
}

/// The same for strides, where a number also does not stand for an expression
/// that only happens to have its value.
static bool stridesDiffer(Dim x, Dim y, FakeScope *scope) {
  if (x == y || x.isStatic() == y.isStatic() || !scope)
    return differ(x, y, scope);
  SymContext &symbols = scope->env().context();
  return !scope->env().isTrue(symbols.eq(x.toExpr(symbols), y.toExpr(symbols)));
}

static bool sameSizes(const TensorMeta &a, const TensorMeta &b,
                      FakeScope *scope) {
  return a.rank() == b.rank() &&
         llvm::none_of(llvm::zip(a.sizes, b.sizes), [&](auto pair) {
           return differ(std::get<0>(pair), std::get<1>(pair), scope);
         });
}

/// The same place in memory for each element, where that is known; on the same
/// device, read in the same way.
static bool sameLayout(const TensorMeta &a, const TensorMeta &b,
                       FakeScope *scope) {
  if (a.device != b.device || a.conj != b.conj || a.neg != b.neg ||
      differ(a.offset, b.offset, scope))
    return false;
  // The stride of a dim that is never stepped along says nothing.
  if (llvm::any_of(a.sizes, [](Dim size) { return size.is(0); }))
    return true;
  for (auto [size, x, y] : llvm::zip(a.sizes, a.strides, b.strides))
    if (!size.is(1) && stridesDiffer(x, y, scope))
      return false;
  return true;
}

/// What a number is in the IR.
static Type numberType(MLIRContext *context, FakeResult::Kind kind) {
  if (kind == FakeResult::Float)
    return Float64Type::get(context);
  return IntegerType::get(context, kind == FakeResult::Bool ? 1 : 64);
}

LogicalResult Propagator::checkResult(OpResult result, const CallResult &ours) {
  if (ours.type == result.getType())
    return success();
  auto bad = [&] {
    return emitError(result.getOwner()->getLoc())
           << "[FT0107] the annotation of a result does not fit its call: ";
  };
  bool isTensor = isa<TensorType>(result.getType());
  if (ours.kind == FakeResult::Undefined)
    return bad() << result.getType() << " is of another kind";
  if (ours.kind != FakeResult::Tensor) {
    Type number = numberType(result.getContext(), ours.kind);
    return result.getType() == number
               ? success()
               : LogicalResult(bad()
                               << result.getType() << " must be " << number);
  }
  std::optional<TensorMeta> have =
      isTensor ? metaFromType(result.getType()) : std::nullopt;
  std::optional<TensorMeta> want = metaFromType(ours.type);
  if (!have)
    return bad() << result.getType() << " must be " << want->str();
  // Stages after fake make symbols in another order: only a text that stands
  // there has the names that this walk gives.
  bool exact = mode == Mode::CheckLayouts;
  if (have->dtype != want->dtype ||
      !sameSizes(*have, *want, exact ? scope : nullptr) ||
      (exact && !sameLayout(*have, *want, scope)))
    return bad() << have->str() << " must be " << want->str();
  return success();
}

/// Later stages read the value of a number that is known here.
static void noteNumber(Operation *op, std::optional<Dim> number) {
  if (op->getNumResults() != 1)
    return;
  if (number)
    op->setAttr(names::kValue,
                StringAttr::get(op->getContext(), number->str()));
  else
    op->removeAttr(names::kValue); // of another walk, or of the archive
}

/// A number that the text says is known must be the one that its call gives.
static LogicalResult checkNumber(Operation *op, std::optional<Dim> number) {
  auto noted = op->getNumResults() == 1
                   ? op->getAttrOfType<StringAttr>(names::kValue)
                   : StringAttr();
  int64_t said;
  if (!noted || noted.getValue().getAsInteger(10, said))
    return success();
  if (number && number->isStatic() && number->value() == said)
    return success();
  return op->emitError("[FT0312] the number is annotated ")
         << said << ", its rule gives "
         << (number ? number->str() : std::string("one that the run decides"));
}

LogicalResult Propagator::applyResults(Operation *op) {
  if (last.size() != op->getNumResults())
    return emitError(op->getLoc())
           << "[FT0307] " << shownName(*schemaOf(op)) << " gives "
           << last.size() << " results here, the program takes "
           << op->getNumResults();
  Attribute declared = claims ? op->getDiscardableAttr(claims) : Attribute();
  for (auto [result, ours] : llvm::zip(op->getResults(), last)) {
    if (ours.number)
      numbers[result] = *ours.number;
    bool isNumber = !isa<TensorType>(result.getType()) && !ours.type;
    if (isNumber && mode == Mode::Annotate)
      noteNumber(op, ours.number);
    // The program states the type of a number from the start.
    if ((mode != Mode::Annotate || isNumber) &&
        failed(checkResult(result, ours)))
      return failure();
    if (mode != Mode::Annotate) {
      if (isNumber && failed(checkNumber(op, ours.number)))
        return failure();
    } else if (ours.type) {
      result.setType(ours.type);
      if (declared)
        compareDeclared(result, ours.type, declared, scope);
    }
    // `x.t_()` changes x itself, for whoever reads it from here on.
    if (ours.written) {
      Value written = op->getOperand(ours.alias);
      if (typeOf(written) != result.getType())
        change(written, result.getType());
    }
  }
  return success();
}

void Propagator::trackData(Operation *op) {
  for (auto &[i, constant] : madeConstants)
    scope->setConstant(keyOf(op->getResult(i)), std::move(constant));
  if (!scope->hasData())
    return;
  for (auto [result, ours] : llvm::zip(op->getResults(), last)) {
    if (ours.alias < 0)
      continue;
    uint64_t base = keyOf(op->getOperand(ours.alias));
    if (scope->sharesConstant(base))
      scope->setConstant(keyOf(result), scope->constant(keyOf(result)), base);
  }
  // `detach_` is in-place only in name: no element changes.
  if (!schemaOf(op)->mutates || schemaOf(op)->base == "detach_")
    return;
  AtenCall call = AtenCall::decode(op);
  for (auto [arg, type] : llvm::zip(call.args, call.schema->args)) {
    if (!type.type.write)
      continue;
    if (arg.kind == Arg::Tensor)
      scope->written(keyOf(call.operands[arg.operand]));
    for (const Arg &item : arg.list)
      if (item.kind == Arg::Tensor)
        scope->written(keyOf(call.operands[item.operand]));
  }
}

LogicalResult Propagator::visitCall(Operation *op) {
  bool found;
  if (failed(lookUp(op, found)))
    return failure();
  if (!found) {
    // Only calls were ever kept, so only now it matters whether this is one.
    if (!schemaOf(op)) {
      missingRule |= isUnregisteredCall(op);
      return success(!isUnregisteredCall(op));
    }
    if (failed(computeAndKeep(op)))
      return failure();
  }
  if (failed(applyResults(op)))
    return failure();
  if (scope && (!madeConstants.empty() || scope->hasData()))
    trackData(op);
  madeConstants.clear();
  return success();
}

void Propagator::removeInserted() {
  for (Operation *op : inserted) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
  inserted.clear();
}

LogicalResult Propagator::visitControl(Operation *op) {
  LogicalResult done = mode == Mode::Annotate ? annotateControl(*this, op)
                                              : checkControl(*this, op);
  last = {};
  if (failed(done) || mode != Mode::Annotate)
    return done;
  // Of a loop that reads parameters PyTorch claims what its gradient leaves:
  // the last of all iterations, which it keeps in one tensor.
  if (isa<WhileOp>(op))
    return success();
  if (Attribute declared = claims ? op->getDiscardableAttr(claims) : nullptr)
    for (OpResult result : op->getResults())
      compareDeclared(result, result.getType(), declared, scope);
  return success();
}

/// Its annotation is what the program states.
LogicalResult Propagator::visitRefine(Operation *op) {
  Value input = op->getOperand(0);
  if (!metaOf(input)) {
    reportUnknownOperand(op, input);
    return failure();
  }
  // The op around it says what is in front of a ft.yield.
  Value result = op->getResult(0);
  bool given = mode == Mode::Annotate && result.hasOneUse() &&
               isa<YieldOp>(*result.user_begin());
  if (!given && !metaFromType(result.getType()))
    return emitError(op->getLoc())
           << "[FT0107] ft.refine states no layout: " << result.getType();
  return success();
}

/// A walk that annotates makes its own; one that compares everything has given
/// the symbols the same names, and relies on them.
LogicalResult Propagator::visitAssert(AssertOp op) {
  if (mode != Mode::CheckLayouts || !scope)
    return success();
  SymContext &symbols = scope->symbols();
  llvm::Expected<SymExpr> relation = symbols.parse(op.getRelation());
  if (relation && scope->require(*relation, "assert"))
    return success();
  llvm::consumeError(relation.takeError());
  return op.emitError("[FT0107] the assertion '")
         << op.getRelation() << "' contradicts what is known of its symbols";
}

LogicalResult Propagator::visit(Operation *op) {
  last = {};
  // What depends on a call that failed has nothing to go by.
  if (!refused.empty() && llvm::any_of(op->getOperands(), [&](Value operand) {
        return refused.contains(operand);
      })) {
    refused.insert(op->result_begin(), op->result_end());
    return success();
  }
  if (!isa_and_nonnull<FtDialect>(op->getDialect()))
    return success();
  if (auto check = dyn_cast<AssertOp>(op))
    return visitAssert(check);
  bool control = op->getNumRegions() != 0 && isControl(op);
  if (succeeded(control             ? visitControl(op)
                : isa<RefineOp>(op) ? visitRefine(op)
                                    : visitCall(op)))
    return success();
  refused.insert(op->result_begin(), op->result_end());
  return failure();
}

//===----------------------------------------------------------------------===//
// Blocks and functions
//===----------------------------------------------------------------------===//

LogicalResult Propagator::visitBlock(Block &block) {
  int before = errors;
  if (compareClaims)
    claims =
        StringAttr::get(block.getParentOp()->getContext(), names::kDeclared);
  for (Operation &op : block)
    if (failed(visit(&op)) && ++errors >= kMostErrors)
      break;
  return success(errors == before);
}

/// Row-major and static: as typeFromMeta makes it, and the case of nearly every
/// argument.
static bool isPlainAnnotation(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto meta =
      tensor ? dyn_cast_or_null<MetaAttr>(tensor.getEncoding()) : MetaAttr();
  return meta && tensor.hasStaticShape() && meta.getStrides().empty() &&
         dtypeFromType(tensor.getElementType());
}

LogicalResult Propagator::visitArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<TensorType>(argument.getType())) {
      if (std::optional<Dim> number =
              argumentNumber(function, argument.getArgNumber()))
        numbers.try_emplace(argument, *number);
      continue;
    }
    bool stated =
        scope && !otherInputs.contains(argument) &&
        function.getArgAttr(argument.getArgNumber(), names::kConstant);
    if (!stated && isPlainAnnotation(argument.getType()))
      continue;
    std::optional<TensorMeta> meta = metaFromType(argument.getType());
    if (!meta && mode == Mode::Annotate) {
      auto declared = function.getArgAttrOfType<TypeAttr>(
          argument.getArgNumber(), names::kDeclared);
      if (declared)
        meta = metaFromType(declared.getValue());
    }
    if (!meta)
      return emitError(argument.getLoc())
             << "[FT0107] argument " << argument.getArgNumber()
             << " of @forward has neither a layout nor a declared one";
    if (mode == Mode::Annotate)
      argument.setType(typeFromMeta(function.getContext(), *meta));
    if (!stated)
      continue;
    FailureOr<ConstantPtr> value = constantOf(argument, *meta);
    if (failed(value))
      return failure();
    if (*value)
      scope->setConstant(keyOf(argument), std::move(*value));
  }
  return success();
}

LogicalResult Propagator::run(func::FuncOp function) {
  if (!function.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(function.getBody().front().getTerminator()))
    return function.emitError("[FT0308] control flow between blocks: @forward "
                              "must be one block");
  Block &body = function.getBody().front();
  if (failed(visitArguments(function)) || failed(visitBlock(body)) ||
      failed(checkRegionStorages(function)))
    return failure();
  if (mode != Mode::Annotate)
    return success();
  function.setType(FunctionType::get(
      function.getContext(), llvm::to_vector(body.getArgumentTypes()),
      llvm::to_vector(body.getTerminator()->getOperandTypes())));
  return success();
}

} // namespace ft
