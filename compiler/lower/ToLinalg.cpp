//===- ToLinalg.cpp - ft calls to linalg on builtin tensors ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/ToLinalg.h"

#include "compiler/lower/CheckGraph.h"
#include "compiler/lower/ControlGraphs.h"
#include "compiler/lower/FixedSizes.h"
#include "compiler/lower/KnownNumbers.h"
#include "compiler/lower/LowerCall.h"
#include "compiler/lower/LowerState.h"
#include "compiler/lower/Placement.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/partition/PartitionNames.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/Programs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ft {

namespace {
struct Missing {
  unsigned count = 0;
  std::string reason;
  Location first;
};
} // namespace

static LoweredTensor argumentTensor(BlockArgument arg, const TensorMeta &meta) {
  LoweredTensor t;
  t.value = arg;
  t.dtype = meta.dtype;
  t.order = identityOrder(static_cast<size_t>(meta.rank()));
  if (!llvm::all_of(meta.sizes, [](Dim d) { return d.isStatic(); }))
    t.symbolic.assign(meta.sizes.begin(), meta.sizes.end());
  return t;
}

static RankedTensorType plainType(MLIRContext *context,
                                  const TensorMeta &meta) {
  SmallVector<int64_t> shape;
  for (Dim d : meta.sizes)
    shape.push_back(d.isStatic() ? d.value() : ShapedType::kDynamic);
  return RankedTensorType::get(shape, storageType(context, meta.dtype));
}

/// A tensor, or a number that the function of a region gets as a 0-dim tensor.
static std::optional<TensorMeta> argumentMeta(BlockArgument arg) {
  auto function = cast<func::FuncOp>(arg.getOwner()->getParentOp());
  if (isa<TensorType>(arg.getType()) ||
      !function.getArgAttr(arg.getArgNumber(), names::kKind))
    return metaOf(arg);
  std::optional<DType> dtype = dtypeOfNumber(arg.getType());
  if (!dtype)
    return std::nullopt;
  return TensorMeta::contiguous(*dtype, {});
}

/// A number that the model returns as it is becomes a 0-dim tensor.
static LoweredTensor scalarResult(OpBuilder &b, Location loc, Attribute value);

/// Numbers of the run only go to rules that take them.
static LogicalResult checkNumbers(LowerCall &c, const LowerRuleRow &row) {
  if (row.numbers == Numbers::Runtime)
    return success();
  for (auto [i, arg] : llvm::enumerate(c.call().args))
    if (isRuntimeNumber(arg) || llvm::any_of(arg.list, isRuntimeNumber))
      return c.unsupported("argument '" + c.call().schema->args[i].name +
                           "' is a number that is only known at run time");
  return success();
}

/// Whether some size that the call has to do with is of the run.
static bool hasSymbolicSizes(LowerCall &c, Operation *op) {
  auto isSymbolic = [](Value v) {
    std::optional<TensorMeta> meta = metaOf(v);
    return meta &&
           !llvm::all_of(meta->sizes, [](Dim d) { return d.isStatic(); });
  };
  auto inArg = [](const Arg &arg) {
    return !arg.dim.isStatic() || llvm::any_of(arg.list, [](const Arg &item) {
      return !item.dim.isStatic();
    });
  };
  return llvm::any_of(op->getOperands(), isSymbolic) ||
         llvm::any_of(op->getResults(), isSymbolic) ||
         llvm::any_of(c.call().args, inArg);
}

/// Tensors with sizes of the run only go to rules that take them. What the
/// kernel of a call finds is no such size yet.
static LogicalResult checkSizes(LowerCall &c, const LowerRuleRow &row,
                                Operation *op) {
  if (row.shapes == Shapes::Symbolic || !hasSymbolicSizes(c, op))
    return success();
  return c.unsupported("with sizes that are only known at run time");
}

/// A rule that takes sizes of the run may still read other integers as numbers.
static LogicalResult checkReads(LowerCall &c) {
  std::optional<unsigned> arg = c.readInRun();
  if (!arg)
    return success();
  return c.unsupported("argument '" + c.call().schema->args[*arg].name +
                       "' is a size that is only known at run time");
}

/// What the data must agree with stays as a check in the same place.
static LogicalResult lowerAssertion(AssertOp op, LowerState &state,
                                    OpBuilder &b) {
  auto *dialect = cast<FtDialect>(op->getDialect());
  llvm::Expected<SymExpr> e = dialect->symbolContext().parse(op.getRelation());
  if (!e) { // the op's verifier has refused it
    llvm::consumeError(e.takeError());
    return success();
  }
  if (!state.isDefined(*e))
    return op.emitError("[FT0501] no code for a relation between numbers that "
                        "are no sizes: ")
           << op.getRelation();
  b.clone(*op);
  state.closeGroup("assert");
  // From here on it is a number, which matters for a 1: that is broadcast.
  SymTerm storage;
  if (e->kind() != SymKind::Eq)
    return success();
  SymExpr::Affine sum = e->terms()[0].expr.affine(storage);
  if (sum.terms.size() != 1 || sum.constant % sum.terms[0].k != 0 ||
      sum.terms[0].expr.kind() != SymKind::Symbol)
    return success();
  state.fix(sum.terms[0].expr.name(), -sum.constant / sum.terms[0].k);
  LowerCall call(state, op, b);
  auto cut = [&](Value v) {
    auto it = state.values.find(v);
    if (it == state.values.end())
      return;
    LoweredTensor &t = it->second;
    for (unsigned d = 0; d < t.rank() && !t.isStatic(); ++d)
      if (Dim size = state.known(t.symbolic[d]); size != t.symbolic[d])
        t = call.slice(t, d, 0, size);
  };
  llvm::for_each(op->getBlock()->getArguments(), cut);
  for (Operation &before : *op->getBlock()) {
    if (&before == op)
      break;
    llvm::for_each(before.getResults(), cut);
  }
  state.closeGroup("assert");
  return success();
}

/// From here on the symbol u that `d` is, or of which it is k u + c, has the
/// value that makes `d` the number, a 0-dim tensor; unless it has one already.
static void tellSize(LowerCall &c, LowerState &state, Dim d,
                     LoweredTensor number, StringRef cause) {
  if (d.isStatic())
    return;
  SymTerm storage;
  SymExpr::Affine sum = d.symbolic().affine(storage);
  if (sum.terms.size() != 1 || sum.terms[0].expr.kind() != SymKind::Symbol ||
      !state.define(sum.terms[0].expr.name()))
    return;
  if (int64_t k = sum.terms[0].k; k != 1 || sum.constant != 0)
    number = c.pointwise(c.cast(number, DType::I64), {}, DType::I64,
                         [&](ScalarBuilder &s, ValueRange v) {
                           Type type = v[0].getType();
                           return s.div(
                               s.sub(v[0], s.constantInt(type, sum.constant)),
                               s.constantInt(type, k));
                         });
  d = Dim(sum.terms[0].expr);
  c.newGroup();
  Interval range = state.rangeOf(d.symbolic().name());
  SetSizeOp::create(
      c.builder(), c.loc(), c.builder().getStringAttr(d.symbolic().name()),
      c.cast(number, DType::I64).value, c.builder().getI64IntegerAttr(range.lo),
      c.builder().getI64IntegerAttr(range.hi),
      c.builder().getStringAttr(cause));
  c.newGroup();
}

/// Numbers and kernels that decide sizes of what follows tell them.
static void tellSizes(LowerCall &c, LowerState &state, Operation *op) {
  const Schema *schema = schemaOf(op);
  StringRef cause =
      schema ? StringRef(schema->base) : op->getName().stripDialect();
  auto tell = [&](Dim d, LoweredTensor number) {
    tellSize(c, state, d, std::move(number), cause);
  };
  for (Value v : op->getResults()) {
    auto known = state.values.find(v);
    if (known == state.values.end())
      continue;
    LoweredTensor t = known->second;
    if (std::optional<Dim> d = state.numberOf(v)) {
      tell(*d, t);
    } else if (std::optional<TensorMeta> meta = metaOf(v)) {
      for (auto [i, size] : llvm::enumerate(meta->sizes))
        if (!size.isStatic() && !state.isDefined(size))
          if (std::optional<LoweredTensor> n =
                  foundSize(c, t, static_cast<unsigned>(i)))
            tell(size, *n);
      if (TensorMeta known = state.known(*meta); !known.isStatic())
        state.values[v].symbolic = known.sizes;
    }
  }
}

static Device deviceOf(Value v) {
  std::optional<TensorMeta> meta = metaOf(v);
  return meta ? meta->device : Device();
}

/// Where a call runs: where its first result is, or what it takes a number of.
static Device deviceOfCall(Operation *op) {
  for (Value v : op->getResults())
    if (metaOf(v))
      return deviceOf(v);
  for (Value v : op->getOperands())
    if (metaOf(v))
      return deviceOf(v);
  return {};
}

/// Lowers one function in its place; functions of regions go to `graphs`.
static LogicalResult
lowerFunction(func::FuncOp source,
              llvm::function_ref<int64_t(DType, Device)> panelWidth,
              bool isMixed, SmallVectorImpl<func::FuncOp> &graphs) {
  if (failed(checkValues(source)))
    return failure();
  foldKnownNumbers(source);
  MLIRContext *context = source.getContext();
  std::string name = source.getName().str();

  SmallVector<Type> inputs, outputs;
  for (BlockArgument arg : source.getArguments()) {
    std::optional<TensorMeta> meta = argumentMeta(arg);
    inputs.push_back(meta ? Type(plainType(context, *meta)) : arg.getType());
  }
  OpBuilder b(context);
  b.setInsertionPoint(source);
  auto target = func::FuncOp::create(b, source.getLoc(), "lowered",
                                     b.getFunctionType(inputs, {}));
  Block *body = target.addEntryBlock();
  target->setDiscardableAttrs(llvm::to_vector(source->getDiscardableAttrs()));
  LowerState state(source, target, panelWidth);
  // Set at once: each change of a list of many arguments is another list.
  SmallVector<DictionaryAttr> argumentAttrs;
  for (auto [from, to] :
       llvm::zip(source.getArguments(), target.getArguments())) {
    NamedAttrList attrs(source.getArgAttrDict(from.getArgNumber()));
    if (std::optional<TensorMeta> meta = argumentMeta(from)) {
      attrs.set(names::kMeta, TypeAttr::get(typeFromMeta(context, *meta)));
      state.values[from] = argumentTensor(to, *meta);
    }
    argumentAttrs.push_back(attrs.getDictionary(context));
  }
  target.setAllArgAttrs(argumentAttrs);

  b.setInsertionPointToEnd(body);
  for (BlockArgument arg : source.getArguments())
    if (std::optional<Dim> number = state.numberOf(arg))
      if (state.values.count(arg)) {
        LowerCall call(state, source, b);
        tellSize(call, state, *number, state.values[arg], "the loop");
      }
  llvm::MapVector<StringRef, Missing> missing;
  for (Operation &op : source.getBody().front().without_terminator()) {
    const Schema *schema = schemaOf(&op);
    if (isMixed)
      state.device = deviceOfCall(&op);
    if (!schema) {
      if (isa<arith::ConstantOp>(op))
        continue;
      if (isControl(&op) && isMixed)
        return op.emitError("[FT0501] no code for branches and loops in a "
                            "graph on two devices");
      if (isControl(&op)) {
        // After a call without a rule only other calls are looked at.
        bool known = llvm::all_of(op.getOperands(), [&](Value v) {
          return state.values.count(v) || state.numberOf(v) ||
                 v.getDefiningOp<arith::ConstantOp>();
        });
        if (!known)
          continue;
        if (failed(lowerControl(state, &op, b, graphs)))
          return failure();
        LowerCall call(state, &op, b);
        tellSizes(call, state, &op);
        continue;
      }
      if (auto assertion = dyn_cast<AssertOp>(op)) {
        if (failed(lowerAssertion(assertion, state, b)))
          return failure();
        continue;
      }
      return op.emitError("[FT0501] cannot be compiled: ") << op.getName();
    }
    const LowerRuleRow *row = findLowerRule(*schema);
    // A number that follows from sizes needs no code where it stands.
    if (op.getNumResults() == 1)
      if (std::optional<Dim> d = state.numberOf(op.getResult(0)))
        if (state.isDefined(*d))
          continue;
    bool known = llvm::all_of(op.getOperands(), [&](Value v) {
      return state.values.count(v) || state.numberOf(v);
    });
    // After a call without a rule its users cannot be looked at; they are
    // reported only if they have no rule either.
    if (row && !known)
      continue;
    state.reason.clear();
    LowerCall call(state, &op, b);
    state.isAgain = op.hasAttr(names::kAgain);
    if (row && row->numbers == Numbers::Constant)
      call.resolveNumbers();
    if (!row || failed(checkNumbers(call, *row)) ||
        failed(checkSizes(call, *row, &op)) || failed(row->rule(call)) ||
        failed(checkReads(call))) {
      auto [it, inserted] =
          missing.insert({schema->name, Missing{0, state.reason, op.getLoc()}});
      ++it->second.count;
    } else {
      tellSizes(call, state, &op);
    }
    state.closeGroup(schema->base, op.getAttrOfType<IntegerAttr>(names::kFuse));
    state.isAgain = false;
  }
  if (!missing.empty()) {
    for (auto &[name, m] : missing) {
      InFlightDiagnostic diag = emitError(m.first, "[FT0501] no CPU code for ");
      diag << name << " (" << m.count << (m.count == 1 ? " call" : " calls")
           << ")";
      if (!m.reason.empty())
        diag << ": " << m.reason;
    }
    return failure();
  }

  Operation *terminator = source.getBody().front().getTerminator();
  SmallVector<Value> results;
  SmallVector<Attribute> resultAttrs;
  bool isGraph = source->hasAttr(names::kKnown);
  LowerCall boundary(state, terminator, b);
  for (auto [r, v] : llvm::enumerate(terminator->getOperands())) {
    NamedAttrList attrs(source.getResultAttrDict(r));
    LoweredTensor t;
    if (isa<TensorType>(v.getType())) {
      t = state.values.lookup(v);
      Type type = v.getType();
      if (isMixed) {
        state.device = deviceOf(v);
        LowerCall here(state, terminator, b);
        t = broughtHere(state, here, t);
      }
      // What calls a graph takes its results as they are taken everywhere.
      if (std::optional<TensorMeta> meta = metaFromType(type); meta && isGraph)
        type = typeFromMeta(context,
                            TensorMeta::contiguous(meta->dtype, meta->sizes));
      attrs.set(names::kMeta, TypeAttr::get(type));
    } else {
      // A number is returned as a 0-dim tensor.
      if (auto constant = v.getDefiningOp<arith::ConstantOp>())
        t = scalarResult(b, v.getLoc(), constant.getValue());
      else
        t = boundary.operandOf(v);
      TensorMeta meta = TensorMeta::contiguous(t.dtype, {});
      attrs.set(names::kMeta, TypeAttr::get(typeFromMeta(context, meta)));
    }
    // Back to logical order, in the one place where layouts meet the caller.
    results.push_back(
        isFound(t.value) && !isGraph ? t.value : boundary.toRowMajor(t).value);
    outputs.push_back(results.back().getType());
    resultAttrs.push_back(attrs.getDictionary(context));
    state.closeGroup("copy");
  }
  func::ReturnOp::create(b, terminator->getLoc(), results);
  target.setFunctionType(
      b.getFunctionType(target.getBody().getArgumentTypes(), outputs));
  target.setAllResultAttrs(resultAttrs);
  bool isPrivate = source.isPrivate();
  source.erase();
  target.setName(name);
  if (isPrivate)
    target.setPrivate();
  return success();
}

LogicalResult
lowerToLinalg(ModuleOp module,
              llvm::function_ref<int64_t(DType, Device)> panelWidth,
              bool isMixed) {
  auto source = module.lookupSymbol<func::FuncOp>("forward");
  if (!source || source.isExternal())
    return module.emitError("[FT0107] the module has no function @forward");
  fixSizes(source);
  SmallVector<func::FuncOp> pending = {source};
  while (!pending.empty())
    if (failed(lowerFunction(pending.pop_back_val(), panelWidth, isMixed,
                             pending)))
      return failure();
  return success();
}

static LoweredTensor scalarResult(OpBuilder &b, Location loc, Attribute value) {
  LoweredTensor t;
  Type type;
  TypedAttr stored;
  if (auto flag = dyn_cast<BoolAttr>(value)) {
    t.dtype = DType::Bool;
    stored = b.getI8IntegerAttr(flag.getValue());
  } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
    t.dtype = DType::I64;
    stored = b.getI64IntegerAttr(integer.getInt());
  } else {
    t.dtype = DType::F64;
    stored = b.getF64FloatAttr(cast<FloatAttr>(value).getValueAsDouble());
  }
  type = RankedTensorType::get({}, stored.getType());
  t.value = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(cast<ShapedType>(type), stored));
  return t;
}

} // namespace ft
