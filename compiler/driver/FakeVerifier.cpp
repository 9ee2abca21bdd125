//===- FakeVerifier.cpp - A run that checks the annotations ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %t = ft.transpose.int(%x, 0, 1)
// becomes
//   %t = ft.transpose.int(%x, 0, 1)
//   %v = ft.clone(%t, contiguous_format)     the elements of the view …
//   %s = ft.clone(%x, contiguous_format)     … and those of its storage, here
//   return …, %v, %s
// and element [i, j] of %v must be that element of %s that stands where the
// annotation of %t says: with offset o and strides a, b at o + i*a + j*b.
//
// Copies are made at the place, before anything else is written: mutation may
// follow. A storage is copied once for all views between two writes.
//
// Cost: the memory of all values at once.

#include "compiler/driver/FakeVerifier.h"

#include "compiler/driver/SessionState.h"
#include "compiler/fake/JoinLayouts.h"
#include "compiler/fake/ModuleScope.h"
#include "compiler/fake/Propagator.h"
#include "compiler/fake/Repropagate.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/AtenCall.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

#include <cstring>

namespace ft {

namespace {
/// A value as an output of the run: its elements, row-major.
struct Copy {
  TensorMeta meta;
  size_t output;
};

struct ValueCheck {
  std::string name;
  Copy copy;
};

struct ViewCheck {
  std::string name, baseName;
  Copy view, base;
};
} // namespace

/// A dim of an input that shows the value of a symbol: scale * symbol + offset.
struct SymbolDim {
  std::string symbol;
  size_t input, dim;
  int64_t scale, offset;
};

struct FakeVerifier::State {
  std::vector<SymbolDim> symbols;
  /// The session may be gone when the run is compared, its expressions with it.
  SymContext expressions;
  TensorMeta kept(TensorMeta meta);
  std::vector<Diagnostic> diagnostics;
  std::vector<ValueCheck> valueChecks;
  std::vector<ViewCheck> viewChecks;
  std::vector<std::pair<std::string, size_t>> skipped;
  size_t extraOutputs = 0, firstOutput = 0, compared = 0, read = 0;
  std::string source;

  void skip(const std::string &reason) {
    for (auto &[known, count] : skipped)
      if (known == reason) {
        ++count;
        return;
      }
    skipped.emplace_back(reason, 1);
  }
  void wrong(const std::string &name, const llvm::Twine &message) {
    diagnostics.push_back({DiagId::LayoutDiffers, source,
                           (llvm::Twine("'") + name + "' " + message).str(),
                           ""});
  }
  /// The annotation in this run: all numbers.
  TensorMeta inRun(const TensorMeta &meta, const SeenRun &run) const;
  void compareView(const ViewCheck &check, const SeenRun &run);
};

static std::string nameOf(mlir::Value value) {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    auto function =
        llvm::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = function ? function.getArgAttrOfType<mlir::StringAttr>(
                               argument.getArgNumber(), names::kName)
                         : mlir::StringAttr();
    return name ? name.getValue().str()
                : "argument " + std::to_string(argument.getArgNumber());
  }
  auto result = llvm::cast<mlir::OpResult>(value);
  mlir::Operation *op = result.getOwner();
  mlir::Attribute name = op->getAttr(names::kName);
  if (auto list = llvm::dyn_cast_or_null<mlir::ArrayAttr>(name))
    name = result.getResultNumber() < list.size()
               ? list[result.getResultNumber()]
               : mlir::Attribute();
  if (auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(name))
    return text.getValue().str();
  const Schema *schema = schemaOf(op);
  return "a result of aten." + (schema ? schema->name.str() : "?");
}

//===----------------------------------------------------------------------===//
// Making every value an output
//===----------------------------------------------------------------------===//

namespace {
class Instrumenter {
public:
  Instrumenter(FakeVerifier::State &state, mlir::func::FuncOp function,
               FakeCache &cache);
  void run();

private:
  void visitResults(mlir::Operation *op);
  /// Notes where the symbols of the inputs can be read.
  void readSymbols();
  /// Whether a run shows what the size is.
  bool isReadable(Dim dim) const;
  /// The value's elements here, row-major, as an output; nothing (with the
  /// reason counted) where that cannot be.
  std::optional<Copy> copyOf(mlir::Value value);
  mlir::Value rootOf(mlir::Value value) const {
    auto it = roots.find(value);
    return it == roots.end() ? value : it->second;
  }

  FakeVerifier::State &state;
  mlir::func::FuncOp function;
  ModuleScope scope;
  Propagator walk;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, mlir::Value> roots;
  llvm::StringSet<> symbols;
  /// Copies of storages since the last write.
  llvm::DenseMap<mlir::Value, Copy> bases;
  llvm::SmallVector<mlir::Value> outputs;
};
} // namespace

Instrumenter::Instrumenter(FakeVerifier::State &state,
                           mlir::func::FuncOp function, FakeCache &cache)
    : state(state), function(function),
      scope(function->getParentOfType<mlir::ModuleOp>(), function,
            ModuleScope::Use::Follow),
      walk(Propagator::Mode::CheckShapes, &cache),
      builder(function.getContext()) {
  walk.setScope(&scope.scope());
}

void Instrumenter::readSymbols() {
  size_t input = 0;
  for (mlir::BlockArgument argument : function.getArguments()) {
    auto kind = function.getArgAttrOfType<mlir::StringAttr>(
        argument.getArgNumber(), names::kKind);
    if (!kind || kind.getValue() != "input")
      continue;
    std::optional<TensorMeta> meta = metaOf(argument);
    for (size_t d = 0; meta && d < meta->sizes.size(); ++d) {
      if (meta->sizes[d].isStatic())
        continue;
      SymTerm storage;
      SymExpr::Affine sum = meta->sizes[d].symbolic().affine(storage);
      if (sum.terms.size() != 1 || sum.terms[0].k < 1 ||
          sum.terms[0].expr.kind() != SymKind::Symbol)
        continue;
      llvm::StringRef name = sum.terms[0].expr.name();
      if (symbols.insert(name).second)
        state.symbols.push_back(
            {name.str(), input, d, sum.terms[0].k, sum.constant});
    }
    ++input;
  }
}

bool Instrumenter::isReadable(Dim dim) const {
  llvm::StringSet<> used;
  if (!dim.isStatic())
    dim.symbolic().collectSymbols(used);
  return llvm::all_of(used.keys(), [&](llvm::StringRef name) {
    return symbols.contains(name);
  });
}

std::optional<Copy> Instrumenter::copyOf(mlir::Value value) {
  std::optional<TensorMeta> meta = walk.metaOf(value);
  auto readable = [&](Dim dim) { return isReadable(dim); };
  if (!meta || !llvm::all_of(meta->sizes, readable) ||
      !llvm::all_of(meta->strides, readable) || !readable(meta->offset)) {
    state.skip("of sizes that data decide");
    return std::nullopt;
  }
  if (meta->conj || meta->neg) {
    state.skip("lazily conjugated or negated");
    return std::nullopt;
  }
  AtenCall call;
  call.schema = SchemaTable::get().find("clone.default");
  call.operands = {value};
  call.args = {Arg::tensor(0), Arg::string("contiguous_format")};
  mlir::Operation *clone =
      call.build(builder, value.getLoc(),
                 typeFromMeta(builder.getContext(),
                              TensorMeta::contiguous(meta->dtype, meta->sizes,
                                                     meta->device)));
  outputs.push_back(clone->getResult(0));
  return Copy{state.kept(*meta), outputs.size() - 1};
}

void Instrumenter::visitResults(mlir::Operation *op) {
  llvm::SmallVector<CallResult, 2> given(walk.lastResults());
  for (auto [result, call] : llvm::zip(op->getResults(), given)) {
    if (call.kind != FakeResult::Tensor)
      continue;
    std::optional<Copy> copy = copyOf(result);
    if (!copy)
      continue;
    std::string name = nameOf(result);
    state.valueChecks.push_back({name, *copy});
    if (call.alias < 0)
      continue;
    mlir::Value root = rootOf(op->getOperand(call.alias));
    roots[result] = root;
    auto known = bases.find(root);
    if (known == bases.end()) {
      std::optional<Copy> base = copyOf(root);
      if (!base)
        continue;
      known = bases.try_emplace(root, *base).first;
    }
    if (known->second.meta.dtype != copy->meta.dtype)
      state.skip("view of another dtype");
    else
      state.viewChecks.push_back({name, nameOf(root), *copy, known->second});
  }
}

void Instrumenter::run() {
  readSymbols();
  mlir::Block &body = function.getBody().front();
  mlir::Operation *end = body.getTerminator();
  for (mlir::Operation &op : llvm::make_early_inc_range(body)) {
    const Schema *schema = schemaOf(&op);
    if (&op == end || !schema) {
      for (mlir::Value result : op.getResults())
        if (llvm::isa<mlir::TensorType>(result.getType()))
          state.skip("control flow");
      continue;
    }
    if (mlir::failed(walk.visit(&op)))
      continue;
    if (schema->mutates)
      bases.clear();
    builder.setInsertionPointAfter(&op);
    visitResults(&op);
  }
  state.firstOutput = end->getNumOperands();
  state.extraOutputs = outputs.size();
  for (auto [i, output] : llvm::enumerate(outputs)) {
    mlir::NamedAttrList attributes;
    attributes.set(names::kRole, builder.getStringAttr("output"));
    attributes.set(names::kName,
                   builder.getStringAttr("verify_" + llvm::Twine(i)));
    (void)function.insertResult(function.getNumResults(), output.getType(),
                                attributes.getDictionary(builder.getContext()));
    end->insertOperands(end->getNumOperands(), output);
  }
}

/// Annotations that the rules, asked from the arguments on, contradict.
static llvm::Error askRules(FakeVerifier::State &state, mlir::ModuleOp module,
                            FakeCache &cache) {
  llvm::FailureOr<Propagated> ruled =
      propagate(module, {}, {.cache = &cache, .restore = true});
  if (llvm::failed(ruled))
    return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
  module.walk([&](mlir::Operation *op) {
    for (mlir::Value result : op->getResults()) {
      mlir::Type rule = ruled->types.lookup(result);
      if (!rule || rule == result.getType())
        continue;
      std::optional<TensorMeta> want = metaFromType(rule),
                                have = metaOf(result);
      if (want && have && !sameLayout(*want, *have))
        state.wrong(nameOf(result), "is annotated " + have->str() +
                                        ", its rule gives " + want->str());
    }
  });
  return llvm::Error::success();
}

FakeVerifier::FakeVerifier() : state(std::make_unique<State>()) {}
FakeVerifier::~FakeVerifier() = default;

bool FakeVerifier::prepare(Session &session) {
  Session::State &s = session.inside();
  if (*s.stage < Stage::Fake && !session.runTo(Stage::Fake))
    return false;
  state->source = s.source;
  return s.guarded("--verify-fake", DiagId::Internal, [&]() -> llvm::Error {
    if (*s.stage > Stage::Fake)
      return makeError(DiagId::BadCommandLine, s.source,
                       "the annotations are those of a later stage than fake",
                       "start from an earlier dump of the model");
    if (llvm::Error error = askRules(*state, *s.module, s.cache))
      return error;
    // What the next stage would say of layouts has been said; the run is to
    // say it too.
    (*s.module)->removeAttr(names::kStage);
    mlir::ScopedDiagnosticHandler silent(
        &s.context(), [](mlir::Diagnostic &) { return mlir::success(); });
    Instrumenter(*state, s.module->lookupSymbol<mlir::func::FuncOp>("forward"),
                 s.cache)
        .run();
    return llvm::Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// Calls `visit(row-major number, position in the storage)` for each element,
/// until it returns false.
static void eachElement(
    const TensorMeta &meta,
    llvm::function_ref<bool(int64_t, int64_t, llvm::ArrayRef<int64_t>)> visit) {
  int64_t count = meta.numel().value();
  llvm::SmallVector<int64_t, 6> index(meta.sizes.size(), 0);
  int64_t at = meta.offset.value();
  for (int64_t n = 0; n < count; ++n) {
    if (!visit(n, at, index))
      return;
    for (size_t d = index.size(); d-- > 0;) {
      at += meta.strides[d].value();
      if (++index[d] < meta.sizes[d].value())
        break;
      at -= index[d] * meta.strides[d].value();
      index[d] = 0;
    }
  }
}

static std::string indexText(llvm::ArrayRef<int64_t> index) {
  std::string text = "[";
  for (int64_t i : index)
    text += (text.size() > 1 ? ", " : "") + std::to_string(i);
  return text + "]";
}

/// The annotation with expressions of this object's own.
TensorMeta FakeVerifier::State::kept(TensorMeta meta) {
  auto keep = [&](Dim dim) {
    if (dim.isStatic())
      return dim;
    llvm::Expected<SymExpr> copy = expressions.parse(dim.str());
    if (copy)
      return Dim(*copy);
    llvm::consumeError(copy.takeError()); // what is printed can be read
    return Dim(-1);
  };
  llvm::transform(meta.sizes, meta.sizes.begin(), keep);
  llvm::transform(meta.strides, meta.strides.begin(), keep);
  meta.offset = keep(meta.offset);
  return meta;
}

TensorMeta FakeVerifier::State::inRun(const TensorMeta &meta,
                                      const SeenRun &run) const {
  if (meta.isStatic())
    return meta;
  auto lookup = [&](llvm::StringRef name, int64_t &value) {
    for (const SymbolDim &s : symbols)
      if (s.symbol == name && s.input < run.inputs.size() &&
          s.dim < run.inputs[s.input].size()) {
        value = (run.inputs[s.input][s.dim] - s.offset) / s.scale;
        return true;
      }
    return false;
  };
  auto evaluate = [&](Dim dim) {
    if (dim.isStatic())
      return dim;
    // No size is negative: what has no value differs from every run.
    SymValue value = SymContext::evaluate(dim.symbolic(), lookup);
    return Dim(value ? value.value : -1);
  };
  TensorMeta result = meta;
  llvm::transform(meta.sizes, result.sizes.begin(), evaluate);
  llvm::transform(meta.strides, result.strides.begin(), evaluate);
  result.offset = evaluate(meta.offset);
  return result;
}

void FakeVerifier::State::compareView(const ViewCheck &check,
                                      const SeenRun &run) {
  TensorMeta viewMeta = inRun(check.view.meta, run);
  TensorMeta baseMeta = inRun(check.base.meta, run);
  size_t first = run.outputs.size() - extraOutputs;
  size_t view = first + check.view.output, base = first + check.base.output;
  size_t width = dtypeBytes(viewMeta.dtype);
  llvm::ArrayRef<uint8_t> seen(run.outputs[view].data,
                               viewMeta.numel().value() * width);
  llvm::ArrayRef<uint8_t> held(run.outputs[base].data,
                               baseMeta.numel().value() * width);
  // Which element of the base stands where.
  llvm::DenseMap<int64_t, int64_t> elementAt;
  eachElement(baseMeta, [&](int64_t n, int64_t at, auto) {
    elementAt[at] = n;
    return true;
  });
  bool good = true, outside = false;
  eachElement(viewMeta, [&](int64_t n, int64_t at, auto index) {
    auto found = elementAt.find(at);
    outside = found == elementAt.end();
    good = !outside &&
           !std::memcmp(&seen[n * width], &held[found->second * width], width);
    if (good)
      return true;
    std::string where = "is annotated " + viewMeta.str() +
                        " in the storage of '" + check.baseName +
                        "', but element " + indexText(index);
    if (outside)
      wrong(check.name,
            where + " would lie outside of it, at " + std::to_string(at));
    else
      wrong(check.name, where + " is " + run.text(view, n) +
                            " in the run and " + run.text(base, found->second) +
                            " there, at " + std::to_string(at));
    return false;
  });
  ++read;
}

bool FakeVerifier::compare(const Runner &runner) {
  SeenRun run;
  for (RunTensor &tensor : runner.inputs())
    run.inputs.push_back(std::move(tensor.shape));
  for (RunTensor &tensor : runner.outputs())
    run.outputs.push_back({std::move(tensor.dtype), std::move(tensor.shape),
                           runner.outputData(run.outputs.size())});
  run.text = [&](size_t output, int64_t element) {
    return runner.elementText(output, element);
  };
  return compare(run);
}

bool FakeVerifier::compare(const SeenRun &run) {
  size_t first = run.outputs.size() - state->extraOutputs;
  bool sized = true;
  for (const ValueCheck &check : state->valueChecks) {
    const SeenOutput &seen = run.outputs[first + check.copy.output];
    TensorMeta meta = state->inRun(check.copy.meta, run);
    ++state->compared;
    bool same = seen.dtype == dtypeName(meta.dtype) &&
                seen.shape.size() == meta.sizes.size();
    for (size_t d = 0; same && d < seen.shape.size(); ++d)
      same = meta.sizes[d].is(seen.shape[d]);
    sized &= same;
    if (!same)
      state->wrong(check.name, "is annotated " + check.copy.meta.str() +
                                   ", the run gives " + seen.dtype + " " +
                                   indexText(seen.shape));
  }
  // Data are as long as the run's sizes say, not the annotation's.
  if (!sized)
    return false;
  for (const ViewCheck &check : state->viewChecks)
    state->compareView(check, run);
  return state->diagnostics.empty();
}

const std::vector<Diagnostic> &FakeVerifier::diagnostics() const {
  return state->diagnostics;
}
size_t FakeVerifier::extraOutputs() const { return state->extraOutputs; }
size_t FakeVerifier::values() const { return state->compared; }
size_t FakeVerifier::views() const { return state->read; }
const std::vector<std::pair<std::string, size_t>> &
FakeVerifier::skipped() const {
  return state->skipped;
}

} // namespace ft
