//===- TraceState.cpp - The module of a mode -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/trace/TraceState.h"

#include "compiler/shape/ShapeEnv.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectRegistry.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ft::detail {

// The public enumerations are the internal ones, without their headers.
static_assert(static_cast<int>(kComplex128) == static_cast<int>(DType::C128) &&
              static_cast<int>(kFloat32) == static_cast<int>(DType::F32));
static_assert(static_cast<int>(DeviceId::Meta) == Device::Meta);

Origin::~Origin() = default;

std::shared_ptr<TraceState> &activeTrace() {
  thread_local std::shared_ptr<TraceState> active;
  return active;
}

bool &gradEnabled() {
  thread_local bool enabled = true;
  return enabled;
}

/// Only what a trace is made of: a session that compiles it adds the rest.
struct TraceContext {
  explicit TraceContext(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {
    context.printOpOnDiagnostic(false);
    context.loadAllAvailableDialects();
  }
  // The context goes first: its operators point into the plug-ins.
  std::vector<Plugin> plugins;
  MLIRContext context;
};

static std::shared_ptr<TraceContext> makeContext() {
  DialectRegistry registry;
  registry.insert<FtDialect, arith::ArithDialect, func::FuncDialect>();
  return std::make_shared<TraceContext>(registry);
}

TraceState::TraceState(FakeModeOptions given)
    : TraceState(std::move(given), makeContext()) {}

TraceState::TraceState(FakeModeOptions given,
                       const std::shared_ptr<TraceContext> &owner)
    : Origin(Trace), options(std::move(given)), context(owner, &owner->context),
      plugins(&owner->plugins), builder(context.get()),
      error{DiagId::Internal, "", "", ""} {
  Location loc = builder.getUnknownLoc();
  module = ModuleOp::create(loc);
  (*module)->setAttr(names::kModel, builder.getStringAttr(options.name));
  (*module)->setAttr(names::kStage, builder.getStringAttr("fake"));
  function =
      func::FuncOp::create(loc, "forward", builder.getFunctionType({}, {}));
  module->push_back(function);
  shapes = std::make_unique<ShapeEnv>(
      context->getLoadedDialect<FtDialect>()->symbolContext());
  scope = std::make_unique<FakeScope>(*shapes, options.symbols);
  // Its results, and the function's type, are brought up to date by finish.
  OpBuilder end = OpBuilder::atBlockEnd(&function.getBody().emplaceBlock());
  result = func::ReturnOp::create(end, loc);
  builder.setInsertionPoint(result);
}

TraceState::~TraceState() = default;

//===----------------------------------------------------------------------===//
// Numbers, errors
//===----------------------------------------------------------------------===//

SymInt TraceState::symInt(std::shared_ptr<SymNode> node) {
  SymInt number;
  number.node = std::move(node);
  return number;
}

SymInt TraceState::symInt(Value value, Dim dim) {
  if (dim.isStatic())
    return SymInt(dim.value());
  return symInt(
      std::make_shared<SymNode>(SymNode{shared_from_this(), value, dim}));
}

uint64_t TraceState::dataKey(uint32_t id) {
  TraceTensor &tensor = tensors[id];
  uint64_t now = uint64_t(epoch) << 32 | storages[tensor.storage].version;
  if (!tensor.key || tensor.keyedAt != now) {
    tensor.key = ++lastKey;
    tensor.keyedAt = now;
  }
  return tensor.key;
}

std::optional<Scalar> TraceState::constantOf(uint32_t id) {
  ConstantPtr known = scope->constant(dataKey(id));
  if (!known || known->size() != 1)
    return std::nullopt;
  if (known->isReal())
    return Scalar(known->reals[0]);
  if (known->dtype == ft::DType::Bool)
    return Scalar(known->integers[0] != 0);
  return Scalar(known->integers[0]);
}

Value TraceState::knownNumber(Dim dim) const {
  Value value = numbers.lookup(dim.symbolic());
  return value && value.getParentBlock() == builder.getInsertionBlock()
             ? value
             : Value();
}

Scalar TraceState::scalar(Scalar::Kind kind, std::shared_ptr<SymNode> node) {
  Scalar number;
  number.tag = kind;
  number.integer = symInt(std::move(node));
  return number;
}

static std::string place(const Here &here) {
  return here.line ? std::string(here.file) + ":" + std::to_string(here.line)
                   : std::string();
}

void TraceState::fail(DiagId id, const Here &here, const Twine &message,
                      const Twine &help) {
  if (errors++ == 0)
    error = {id, place(here), message.str(), help.str()};
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Location TraceState::location(const Here &here, StringRef name) {
  Location where = builder.getUnknownLoc();
  if (here.line) {
    // Most calls in a row stand in one file, whose name is one pointer.
    if (here.file != lastFile) {
      lastFile = here.file;
      lastFileName = builder.getStringAttr(here.file);
    }
    where =
        FileLineColLoc::get(lastFileName, static_cast<unsigned>(here.line), 0);
  }
  return NameLoc::get(builder.getStringAttr(name), where);
}

std::string TraceState::uniqueName(StringRef base) {
  for (;;) {
    unsigned n = names[base]++;
    std::string name = n ? (base + "_" + Twine(n)).str() : base.str();
    // `add_1` may be an argument's name, or `add_1`'s own first use.
    if (!n || names.try_emplace(name, 1).second)
      return name;
  }
}

uint32_t TraceState::addTensor(Value value, TensorMeta meta, uint32_t storage) {
  TraceTensor &tensor = tensors.emplace_back();
  tensor.value = value;
  tensor.meta = std::move(meta);
  tensor.storage = storage;
  tensor.region = regions.empty() ? 0 : regions.back().number;
  return static_cast<uint32_t>(tensors.size() - 1);
}

std::optional<uint32_t> TraceState::visible(uint32_t id) {
  uint32_t home = tensors[id].region;
  size_t level = regions.size();
  while (level > 0 && regions[level - 1].number != home)
    --level;
  if (level == 0 && home != 0)
    return std::nullopt;
  for (; level < regions.size(); ++level) {
    TraceRegion &region = regions[level];
    auto [it, isNew] = region.captures.try_emplace(id, 0);
    if (isNew) {
      const TraceTensor outer = tensors[id];
      Value shown = region.block->addArgument(outer.value.getType(),
                                              outer.value.getLoc());
      // The same memory under another value.
      it->second = static_cast<uint32_t>(tensors.size());
      TraceTensor &inner = tensors.emplace_back(outer);
      inner.value = shown;
      inner.region = region.number;
    }
    id = it->second;
  }
  return id;
}

Tensor TraceState::addArgument(TensorKind kind, StringRef name, TensorMeta meta,
                               uint32_t storage, const Here &here) {
  if (name.empty()) {
    fail(DiagId::TraceMisuse, here, "a tensor of the model needs a name");
    return failedTensor();
  }
  if (!argumentNames.insert(name).second) {
    fail(DiagId::TraceMisuse, here,
         "the name '" + name + "' is taken by another tensor of the model");
    return failedTensor();
  }
  names.try_emplace(name, 1); // no operation takes it from here on
  Location loc = location(here, name);
  Type type = typeFromMeta(context.get(), meta);
  Value value = function.getBody().front().addArgument(type, loc);
  bool canRequireGrad = isFloating(meta.dtype) || isComplex(meta.dtype);
  uint32_t id = addTensor(value, std::move(meta), storage);
  tensors[id].region = 0;
  tensors[id].requiresGrad = kind == TensorKind::Parameter && canRequireGrad;
  arguments.push_back({kind, name.str(), id});
  return handle(id);
}

const TraceArgument *TraceState::argumentOf(uint32_t tensor) const {
  for (const TraceArgument &argument : arguments)
    if (argument.tensor == tensor)
      return &argument;
  return nullptr;
}

Tensor TraceState::adopt(const Tensor &foreign, const Here &here) {
  const TraceTensor *from = tensorOf(foreign);
  if (!from)
    return failedTensor();
  auto [it, isNew] =
      adopted.try_emplace({originOf(foreign), idOf(foreign)}, kFailed);
  if (!isNew)
    return handle(it->second);
  auto [storage, newStorage] =
      adoptedStorages.try_emplace({originOf(foreign), from->storage}, 0);
  if (newStorage)
    storage->second = addStorage();
  Tensor made = addArgument(TensorKind::Input, uniqueName("converted"),
                            from->meta, storage->second, here);
  if (TraceTensor *tensor = tensorOf(made))
    tensor->requiresGrad = from->requiresGrad;
  it->second = idOf(made);
  return made;
}

/// The dtype and the device must be some, sizes must not be negative, and the
/// bytes that the tensor spans must be a number.
bool TraceState::describe(const TensorDesc &desc, TensorMeta &meta,
                          const Here &here) {
  auto refuse = [&](const Twine &message, DiagId id = DiagId::FakeShape) {
    fail(id, here, message);
    return false;
  };
  if (!isKnown(desc.dtype()))
    return refuse("a tensor of " + scalarTypeName(desc.dtype()) +
                      ", which is no dtype",
                  DiagId::FakeDtype);
  if (!isKnown(desc.device()))
    return refuse("a tensor on " + desc.device().str() + ", which is no device",
                  DiagId::FakeDevice);
  meta.dtype = internal(desc.dtype());
  meta.device = internal(desc.device());
  meta.sizes.assign(desc.sizes().begin(), desc.sizes().end());
  meta.strides = contiguousStrides(meta.sizes);
  meta.offset = desc.offset();
  if (desc.strides()) {
    if (desc.strides()->size() != desc.sizes().size())
      return refuse(Twine(desc.strides()->size()) + " strides for " +
                    Twine(desc.sizes().size()) + " sizes");
    meta.strides.assign(desc.strides()->begin(), desc.strides()->end());
  }
  if (desc.offset() < 0)
    return refuse("the storage offset " + Twine(desc.offset()) +
                  " is negative");
  int64_t bytes = dtypeBytes(meta.dtype), elements = desc.offset();
  for (size_t i = 0; i < meta.sizes.size(); ++i) {
    int64_t size = meta.sizes[i].value(), stride = meta.strides[i].value();
    int64_t span;
    if (size < 0)
      return refuse("size " + Twine(size) + " of dim " + Twine(i) +
                    " is negative");
    if (stride < 0)
      return refuse("stride " + Twine(stride) + " of dim " + Twine(i) +
                    " is negative");
    if (llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes) ||
        llvm::MulOverflow(std::max<int64_t>(size - 1, 0), stride, span) ||
        llvm::AddOverflow(elements, span, elements) ||
        llvm::MulOverflow(elements, dtypeBytes(meta.dtype), span))
      return refuse("the tensor " + meta.str() + " is too large");
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The finished module
//===----------------------------------------------------------------------===//

static StringRef kindText(TensorKind kind) {
  switch (kind) {
  case TensorKind::Input:
    return "input";
  case TensorKind::Parameter:
    return "parameter";
  case TensorKind::Buffer:
    return "buffer";
  case TensorKind::Constant:
    return "constant";
  }
  return "input";
}

std::string TraceState::recordName(uint32_t storage) const {
  return "trace/" + std::to_string(storage);
}

/// The symbols of inputs and those that calls have made stand in front of the
/// function, with what the program's branches rely on.
void TraceState::writeSymbols() {
  for (Operation &op : llvm::make_early_inc_range(module->getOps()))
    if (isa<SymbolOp, FactOp>(op))
      op.erase();
  OpBuilder front(function);
  auto number = [&](int64_t v, int64_t none) {
    return v == none ? IntegerAttr() : front.getI64IntegerAttr(v);
  };
  for (const SymbolInfo &size : shapes->symbols())
    if (size.backed)
      SymbolOp::create(
          front, front.getUnknownLoc(), front.getStringAttr(size.expr.name()),
          number(size.range.lo, Interval::kMin),
          number(size.range.hi, Interval::kMax),
          front.getI64IntegerAttr(*size.hint),
          front.getStringAttr(size.input + ":" + std::to_string(size.dim)),
          front.getStringAttr(size.userName), /*traced_lower=*/IntegerAttr());
  for (SymExpr fact : branchFacts)
    FactOp::create(front, front.getUnknownLoc(),
                   front.getStringAttr(fact.str()),
                   front.getStringAttr("a branch of the program"),
                   /*id=*/StringAttr(), /*place=*/StringAttr(),
                   /*implied_by=*/ArrayAttr());
  for (const FakeScope::Unbacked &made : scope->made())
    if (!made.isFloat)
      SymbolOp::create(front, front.getUnknownLoc(),
                       front.getStringAttr(made.symbol.str()),
                       number(made.range.lo, Interval::kMin),
                       number(made.range.hi, Interval::kMax),
                       /*hint=*/IntegerAttr(), front.getStringAttr(made.origin),
                       /*title=*/StringAttr(), /*traced_lower=*/IntegerAttr());
}

ModuleOp TraceState::finish() {
  writeSymbols();
  Block &body = function.getBody().front();
  SmallVector<Attribute> argAttrs, resultAttrs;
  auto text = [&](NamedAttrList &list, StringRef key, StringRef value) {
    list.set(key, builder.getStringAttr(value));
  };
  for (const TraceArgument &argument : arguments) {
    const TraceTensor &tensor = tensors[argument.tensor];
    NamedAttrList list;
    text(list, names::kKind, kindText(argument.kind));
    text(list, names::kName, argument.name);
    text(list, names::kTarget, argument.name);
    if (argument.kind != TensorKind::Input)
      text(list, names::kWeight, recordName(tensor.storage));
    if (tensor.requiresGrad)
      list.set(names::kRequiresGrad, builder.getUnitAttr());
    argAttrs.push_back(list.getDictionary(context.get()));
  }
  SmallVector<Value> results;
  for (auto &[name, id] : outputs) {
    results.push_back(tensors[id].value);
    NamedAttrList list;
    text(list, names::kRole, "output");
    text(list, names::kName, name);
    resultAttrs.push_back(list.getDictionary(context.get()));
  }
  result->setOperands(results);
  function.setFunctionType(
      builder.getFunctionType(llvm::to_vector(body.getArgumentTypes()),
                              llvm::to_vector(ValueRange(results).getTypes())));
  function.setArgAttrsAttr(builder.getArrayAttr(argAttrs));
  function.setResAttrsAttr(builder.getArrayAttr(resultAttrs));
  return *module;
}

ArrayRef<uint8_t> TraceState::record(StringRef name, std::string &why) {
  uint32_t index = 0;
  std::string tensor = "?";
  if (!name.consume_front("trace/") || name.getAsInteger(10, index) ||
      index >= storages.size()) {
    why = "the trace has no storage '" + name.str() + "'";
    return {};
  }
  for (const TraceArgument &argument : arguments)
    if (tensors[argument.tensor].storage == index) {
      tensor = (kindText(argument.kind) + " '" + argument.name + "'").str();
      break;
    }
  const TraceStorage &storage = storages[index];
  if (!storage.base) {
    why = "the " + tensor + " was declared without data";
    return {};
  }
  if (storage.hasOwner && storage.owner.expired()) {
    why = "the data of the " + tensor + " are gone";
    return {};
  }
  return ArrayRef(reinterpret_cast<const uint8_t *>(storage.base),
                  static_cast<size_t>(storage.bytes));
}

} // namespace ft::detail
