//===- LowerState.cpp - What lowering one function keeps -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/LowerState.h"

#include "compiler/lower/Lower.h"
#include "compiler/lower/ValueDevices.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/partition/PartitionNames.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

LowerState::LowerState(func::FuncOp source, func::FuncOp target,
                       llvm::function_ref<int64_t(DType, Device)> panelWidth)
    : source(source), target(target), panelWidth(panelWidth) {
  for (unsigned r = 0; r < source.getNumResults(); ++r) {
    auto role = source.getResultAttrOfType<StringAttr>(r, names::kRole);
    auto name = source.getResultAttrOfType<StringAttr>(r, names::kTarget);
    if (role && name && role.getValue().ends_with("_mutation"))
      writtenTargets.insert(name.getValue());
  }
  for (BlockArgument arg : source.getArguments())
    if (std::optional<TensorMeta> meta = metaOf(arg))
      for (Dim d : meta->sizes)
        if (!d.isStatic())
          d.symbolic().collectSymbols(defined);
  told = defined;
  for (auto [name, set] :
       {std::pair(names::kKnown, &defined), std::pair(names::kTold, &told)})
    if (auto symbols = source->getAttrOfType<ArrayAttr>(name)) {
      set->clear();
      for (Attribute symbol : symbols)
        set->insert(cast<StringAttr>(symbol).getValue());
    }
  if (auto module = source->getParentOfType<ModuleOp>())
    for (auto symbol : module.getOps<SymbolOp>())
      ranges[symbol.getSym()] = {
          static_cast<int64_t>(symbol.getLower().value_or(Interval::kMin)),
          static_cast<int64_t>(symbol.getUpper().value_or(Interval::kMax))};
}

std::optional<Dim> LowerState::numberOf(Value v) {
  auto [it, inserted] = numbers.try_emplace(v);
  if (!inserted || !v.getType().isInteger())
    return it->second;
  StringAttr text;
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    func::FuncOp function = source;
    if (arg.getOwner() == &function.getBody().front())
      text = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                   names::kValue);
  } else if (isControl(v.getDefiningOp())) {
    text = numberOfResult(cast<OpResult>(v));
  } else if (v.getDefiningOp()->getNumResults() == 1) {
    text = v.getDefiningOp()->getAttrOfType<StringAttr>(names::kValue);
  }
  auto *dialect = source.getContext()->getLoadedDialect<FtDialect>();
  if (!text || !dialect)
    return it->second;
  llvm::Expected<SymExpr> e = dialect->symbolContext().parse(text.getValue());
  if (!e)
    llvm::consumeError(e.takeError());
  else if (*e && !e->isPredicate() && !e->isConst() && isDeclared(*e))
    it->second = Dim(*e);
  return it->second;
}

bool LowerState::isDeclared(SymExpr e) const {
  llvm::StringSet<> names;
  e.collectSymbols(names);
  return llvm::all_of(names, [&](const auto &entry) {
    return ranges.contains(entry.getKey());
  });
}

bool LowerState::isDefined(Dim size) const {
  return size.isStatic() || isDefined(size.symbolic());
}

bool LowerState::isDefined(SymExpr expression) const {
  llvm::StringSet<> names;
  expression.collectSymbols(names);
  return llvm::all_of(names, [&](const auto &entry) {
    return defined.contains(entry.getKey());
  });
}

static ArrayAttr sortedNames(MLIRContext *context,
                             const llvm::StringSet<> &set) {
  SmallVector<StringRef> names;
  for (const auto &entry : set)
    names.push_back(entry.getKey());
  llvm::sort(names);
  return Builder(context).getStrArrayAttr(names);
}
ArrayAttr LowerState::knownSymbols() {
  return sortedNames(target.getContext(), defined);
}
ArrayAttr LowerState::toldSymbols() {
  return sortedNames(target.getContext(), told);
}

Dim LowerState::known(Dim size) const {
  if (size.isStatic() || fixed.empty())
    return size;
  SymContext &context =
      source->getContext()->getLoadedDialect<FtDialect>()->symbolContext();
  SymExpr e = context.substitute(size.symbolic(), [&](StringRef name) {
    auto it = fixed.find(name);
    return it == fixed.end() ? SymExpr() : context.constant(it->second);
  });
  return e ? Dim(e) : size;
}

TensorMeta LowerState::known(TensorMeta meta) const {
  for (Dims *dims : {&meta.sizes, &meta.strides})
    for (Dim &d : *dims)
      d = known(d);
  return meta;
}

Interval LowerState::rangeOf(StringRef symbol) const {
  auto it = ranges.find(symbol);
  return it == ranges.end() ? Interval::atLeast(0) : it->second;
}

FactBase &LowerState::facts() {
  if (knownFacts)
    return *knownFacts;
  SymContext &symbols =
      source->getContext()->getLoadedDialect<FtDialect>()->symbolContext();
  FactBase &base = knownFacts.emplace(symbols);
  auto assume = [&](StringRef text) {
    if (llvm::Expected<SymExpr> e = symbols.parse(text))
      base.assume(*e);
    else
      llvm::consumeError(e.takeError());
  };
  auto module = source->getParentOfType<ModuleOp>();
  for (SymbolOp op : module.getOps<SymbolOp>()) {
    Interval range = rangeOf(op.getSym());
    base.declare(symbols.symbol(op.getSym()), range,
                 op.getHint() ? static_cast<int64_t>(*op.getHint())
                              : std::clamp<int64_t>(2, range.lo, range.hi));
  }
  for (FactOp op : module.getOps<FactOp>())
    assume(op.getRelation());
  for (AssertOp op : source.getBody().front().getOps<AssertOp>())
    assume(op.getRelation());
  return base;
}

Value LowerState::sizeValue(Dim size) {
  OpBuilder b(target.getContext());
  Block &body = target.getBody().front();
  b.setInsertionPointToStart(&body);
  if (size.isStatic())
    return arith::ConstantIndexOp::create(b, target.getLoc(), size.value());
  Value &known = sizes[size.symbolic()];
  if (!known)
    known = SizeOp::create(b, target.getLoc(), b.getIndexType(),
                           b.getStringAttr(size.str()));
  return known;
}

OpFoldResult LowerState::sizeOperand(Dim size) {
  if (size.isStatic())
    return Builder(target.getContext()).getIndexAttr(size.value());
  return sizeValue(size);
}

void LowerState::closeGroup(llvm::StringRef from, IntegerAttr fuse) {
  int64_t number = fuse ? names::kFusedGroups + fuse.getInt() : group;
  Block &body = target.getBody().front();
  Builder b(target.getContext());
  bool any = false;
  for (auto it = lastTagged ? std::next(lastTagged->getIterator())
                            : body.begin();
       it != body.end(); ++it) {
    lastTagged = &*it;
    if (isa<arith::ConstantOp, SizeOp>(*it))
      continue;
    any = true;
    it->setAttr(names::kGroup, b.getI64IntegerAttr(number));
    it->setAttr(names::kFrom, b.getStringAttr(from));
    if (isAgain)
      it->setAttr(names::kAgain, b.getUnitAttr());
    if (device)
      it->setAttr(kDeviceAttr, DeviceAttr::get(b.getContext(), *device));
  }
  group += any;
}

LoweredTensor broughtHere(LowerState &state, LowerCall &call, LoweredTensor t) {
  ValueDevices devices;
  devices.isMixed = true;
  if (!state.device || devices.of(t.value) == *state.device)
    return t;
  bool toGpu = state.device->kind == Device::Cuda;
  Value &copy = (toGpu ? state.onGpu : state.onHost)[t.value];
  if (!copy) {
    LoweredTensor there = inMemoryOrder(t);
    copy = callKernel(call, kDeviceCopy, there, {},
                      KernelResult{there.dims(), t.dtype}, {})[0]
               .value;
  }
  t.value = copy;
  return t;
}

/// Whether result `r` of the call has the storage and, through its annotated
/// strides, the elements of an operand. Ops that copy when they must
/// (`reshape`, `contiguous`, `to`) only count where they provably do not.
static Value viewedOperand(OpResult result) {
  Operation *op = result.getOwner();
  const Schema *schema = schemaOf(op);
  if (!schema || schema->mutates)
    return {};
  unsigned r = result.getResultNumber();
  int arg = schema->aliasedArg(
      r < schema->returns.size()
          ? r
          : static_cast<unsigned>(schema->returns.size()) - 1);
  if (arg < 0)
    return {};
  AtenCall call = AtenCall::decode(op);
  Value base = call.tensor(static_cast<unsigned>(arg));
  std::optional<TensorMeta> from = base ? metaOf(base) : std::nullopt;
  std::optional<TensorMeta> to = metaOf(result);
  if (!from || !to || from->dtype != to->dtype || from->device != to->device ||
      from->conj != to->conj || from->neg != to->neg)
    return {};
  bool mayCopy = schema->base == "reshape" || schema->base == "contiguous" ||
                 schema->base == "to" || schema->base == "flatten" ||
                 schema->base == "reshape_as" || schema->base == "ravel";
  if (mayCopy && !(isContiguous(*from) && isContiguous(*to)))
    return {};
  return base;
}

BlockArgument LowerState::constantRoot(Value value) const {
  while (auto result = dyn_cast<OpResult>(value)) {
    value = viewedOperand(result);
    if (!value)
      return {};
  }
  auto arg = cast<BlockArgument>(value);
  func::FuncOp function = source; // its accessors are not const
  if (arg.getOwner() != &function.getBody().front())
    return {};
  unsigned n = arg.getArgNumber();
  auto kind = function.getArgAttrOfType<StringAttr>(n, names::kKind);
  auto name = function.getArgAttrOfType<StringAttr>(n, names::kTarget);
  if (!kind || isGivenByCaller(kind.getValue()) ||
      (name && writtenTargets.contains(name.getValue())))
    return {};
  return arg;
}

LoweredTensor LowerState::packedArgument(BlockArgument root,
                                         RankedTensorType view,
                                         ArrayRef<int64_t> dims, ArrayAttr coef,
                                         ArrayRef<int64_t> base) {
  Builder b(target.getContext());
  LoweredTensor result;
  result.dtype = *dtypeFromType(view.getElementType());
  for (size_t i = 0; i < dims.size(); ++i)
    result.order.push_back(static_cast<unsigned>(i));
  auto attrs = b.getDictionaryAttr({
      b.getNamedAttr(names::kKind, b.getStringAttr("packed")),
      b.getNamedAttr(names::kSource, b.getI64IntegerAttr(root.getArgNumber())),
      b.getNamedAttr(names::kMeta, TypeAttr::get(view)),
      b.getNamedAttr(names::kDims, b.getDenseI64ArrayAttr(dims)),
      b.getNamedAttr(names::kCoef, coef),
      b.getNamedAttr(names::kBase, b.getDenseI64ArrayAttr(base)),
  });
  Value &argument = packedByKey[attrs];
  if (!argument) {
    auto type =
        RankedTensorType::get(dims, storageType(b.getContext(), result.dtype));
    unsigned index = target.getNumArguments();
    (void)target.insertArgument(index, type, attrs, root.getLoc());
    argument = target.getArgument(index);
  }
  result.value = argument;
  return result;
}

} // namespace ft
