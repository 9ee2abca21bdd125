//===- ArtefactBuilder.cpp - What emit needs, from plan and archive *- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/ArtefactBuilder.h"

#include "compiler/emit/Emit.h"
#include "compiler/lower/MemoryPlan.h"
#include "compiler/optimizer/Optimizers.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/TensorMeta.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

namespace ft {

static AbiDType abiDType(DType dtype) {
  return {static_cast<uint8_t>(dtypeDLPackCode(dtype)),
          static_cast<uint8_t>(dtypeBytes(dtype) * 8)};
}

/// -1 for sizes that are expressions.
static std::vector<int64_t> values(llvm::ArrayRef<Dim> dims) {
  std::vector<int64_t> result;
  for (Dim d : dims)
    result.push_back(d.isStatic() ? d.value() : -1);
  return result;
}

/// The text of an expression in the user's own names.
static std::string titled(SymExpr expr, const Plan &plan) {
  SymContext &context = expr.context();
  return context
      .substitute(expr,
                  [&](llvm::StringRef name) {
                    for (const PlannedSymbol &s : plan.symbols)
                      if (s.name == name && !s.title.empty())
                        return context.symbol(s.title);
                    return SymExpr();
                  })
      .str();
}

/// Some symbol of the size is read from no input.
static bool isFound(Dim dim, const Plan &plan) {
  if (dim.isStatic())
    return false;
  llvm::StringSet<> names;
  dim.symbolic().collectSymbols(names);
  for (const PlannedSymbol &s : plan.symbols)
    if (s.input >= 0)
      names.erase(s.name);
  return !names.empty();
}

static AbiValue abiValue(const Plan &plan, const std::string &name,
                         mlir::RankedTensorType type, bool written) {
  TensorMeta meta = metaFromType(type).value_or(TensorMeta());
  AbiValue value;
  value.name = name;
  value.dtype = abiDType(meta.dtype);
  value.sizes = values(meta.sizes);
  value.strides = values(meta.strides);
  if (!meta.isStatic())
    for (Dim d : meta.sizes)
      value.dims.push_back(d.isStatic() ? d.str() : titled(d.symbolic(), plan));
  value.written = written;
  if (meta.device.kind == Device::Cuda)
    value.cuda = meta.device.index;
  value.found =
      llvm::any_of(meta.sizes, [&](Dim d) { return isFound(d, plan); });
  return value;
}

/// How long the record of a view must be; the same sum as at import, repeated
/// because the text of a module may be edited. Nothing if it overflows or the
/// view reaches in front of the record.
static std::optional<uint64_t> bytesOfRecord(const TensorMeta &view) {
  int64_t last = view.offset.value(), end, bytes;
  if (last < 0)
    return std::nullopt;
  for (auto [size, stride] : llvm::zip(view.sizes, view.strides)) {
    int64_t span;
    if (size.is(0))
      return 0;
    if (stride.value() < 0 ||
        llvm::MulOverflow(size.value() - 1, stride.value(), span) ||
        llvm::AddOverflow(last, span, last))
      return std::nullopt;
  }
  if (llvm::AddOverflow(last, int64_t(1), end) ||
      llvm::MulOverflow(end, int64_t(dtypeBytes(view.dtype)), bytes))
    return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

static llvm::Expected<Constant> constantOf(const PlannedConstant &planned,
                                           WeightSource *weights) {
  TensorMeta view = metaFromType(planned.view).value_or(TensorMeta());
  Constant constant;
  constant.offset = static_cast<uint64_t>(planned.offset);
  constant.elementBytes = static_cast<unsigned>(dtypeBytes(view.dtype));
  constant.sizes = values(view.sizes);
  constant.strides = values(view.strides);
  constant.layout = {planned.dims, planned.coef, planned.base};
  if (!weights)
    return makeError(DiagId::BadWeights, "",
                     "the module names weights but no archive to read them "
                     "from (module attribute ft.archive)");
  std::optional<uint64_t> needed = bytesOfRecord(view);
  if (!needed)
    return makeError(DiagId::BadWeights, "",
                     "no record can hold the view " + view.str() + " of '" +
                         planned.record + "'");
  llvm::Expected<llvm::ArrayRef<uint8_t>> bytes =
      weights->record(planned.record, *needed);
  if (!bytes)
    return bytes.takeError();
  constant.data = bytes->data() + view.offset.value() * constant.elementBytes;
  return constant;
}

std::vector<AbiGuard> guardsOf(mlir::ModuleOp module, const Plan &plan) {
  SymContext &context =
      module.getContext()->getOrLoadDialect<FtDialect>()->symbolContext();
  std::vector<AbiGuard> guards;
  for (FactOp fact : module.getOps<FactOp>()) {
    if (fact.getImpliedBy())
      continue;
    // What does not parse, the op's verifier has refused.
    llvm::Expected<SymExpr> relation = context.parse(fact.getRelation());
    if (!relation) {
      llvm::consumeError(relation.takeError());
      continue;
    }
    std::string source = fact.getCause().value_or("").str();
    if (std::optional<llvm::StringRef> place = fact.getPlace())
      source += (source.empty() ? "" : " at ") + place->str();
    guards.push_back({titled(*relation, plan), std::move(source)});
  }
  return guards;
}

static std::vector<AbiSymbol> abiSymbols(const Plan &plan) {
  std::vector<AbiSymbol> symbols;
  for (const PlannedSymbol &s : plan.symbols)
    symbols.push_back({s.name, s.title.empty() ? s.name : s.title, s.lower,
                       s.upper, s.hint, s.input, s.dim, s.scale, s.offset});
  return symbols;
}

llvm::Expected<Artefact> buildArtefact(llvm::StringRef name, const Plan &plan,
                                       const CpuTarget &target,
                                       WeightSource *weights,
                                       std::string object) {
  Artefact artefact;
  artefact.name = cIdentifier(name);
  artefact.cpu = target.cpu;
  artefact.features = target.features;
  for (const PlannedValue &v : plan.inputs)
    artefact.inputs.push_back(abiValue(plan, v.name, v.type, v.written));
  for (const PlannedValue &v : plan.outputs)
    artefact.outputs.push_back(abiValue(plan, v.name, v.type, false));
  for (const PlannedState &planned : plan.state) {
    AbiState state;
    static_cast<AbiValue &>(state) =
        abiValue(plan, planned.name, planned.type, planned.stateOffset >= 0);
    // Kept row-major, whatever the archive's strides are.
    TensorMeta meta = metaFromType(planned.type).value_or(TensorMeta());
    state.strides = values(contiguousStrides(meta.sizes));
    state.isParameter = planned.isParameter;
    state.weightsOffset = planned.weightsOffset;
    state.stateOffset = planned.stateOffset;
    artefact.state.push_back(std::move(state));
  }
  for (const PlannedConstant &planned : plan.constants) {
    llvm::Expected<Constant> constant = constantOf(planned, weights);
    if (!constant)
      return constant.takeError();
    artefact.constants.push_back(std::move(*constant));
  }
  artefact.symbols = abiSymbols(plan);
  for (const PlannedKernel &k : plan.kernels)
    artefact.kernels.push_back({k.op, k.symbol, k.files});
  artefact.weightsBytes = static_cast<uint64_t>(plan.weightsBytes);
  artefact.stateBytes = static_cast<uint64_t>(plan.stateBytes);
  artefact.arenaBytes = static_cast<uint64_t>(plan.arenaBytes);
  artefact.object = std::move(object);
  return artefact;
}

//===----------------------------------------------------------------------===//
// Models that are trained
//===----------------------------------------------------------------------===//

namespace {
/// Puts the programs of a model together.
class TrainingBuilder {
public:
  TrainingBuilder(Artefact &artefact, WeightSource *weights)
      : artefact(artefact), weights(weights) {}

  /// What the user sees: inputs, outputs and state of the forward program.
  llvm::Error addInterface(const Plan &forward);
  llvm::Error addProgram(ProgramParts parts);
  /// The values of parameters and buffers at the start.
  llvm::Error addState(const Plan &forward);

private:
  llvm::Expected<AbiPlace> inputPlace(const PlannedValue &value);
  llvm::Expected<AbiPlace> outputPlace(const PlannedValue &value);
  llvm::Expected<AbiPlace> updatePlace(const PlannedValue &value);
  void addOptimizer(const ProgramParts &update);
  llvm::Expected<AbiPlace> find(const llvm::StringMap<int64_t> &in,
                                llvm::StringRef name, AbiPlace::Kind kind);
  void addWeights(uint64_t bytes) {
    artefact.weightsBytes =
        llvm::alignTo(artefact.weightsBytes + bytes, MemoryPlan::kAlignment);
  }

  Artefact &artefact;
  WeightSource *weights;
  llvm::StringMap<int64_t> inputs, outputs, states, saved, optimizer;
};
} // namespace

static bool isState(const PlannedValue &value) {
  return llvm::StringRef(value.kind).starts_with("given_");
}

llvm::Expected<AbiPlace>
TrainingBuilder::find(const llvm::StringMap<int64_t> &in, llvm::StringRef name,
                      AbiPlace::Kind kind) {
  auto found = in.find(name);
  if (found != in.end())
    return AbiPlace{kind, found->second};
  return makeError(DiagId::BadText, "",
                   "ft.plan: '" + name +
                       "' of one program is nothing that the "
                       "other has");
}

llvm::Expected<AbiPlace>
TrainingBuilder::inputPlace(const PlannedValue &value) {
  llvm::StringRef name = value.name;
  if (isState(value))
    return find(states, name, AbiPlace::State);
  if (value.kind == "saved")
    return find(saved, name, AbiPlace::Saved);
  if (value.kind == "tangent" && name.consume_front("input_tangent_"))
    return find(inputs, name, AbiPlace::InputTangent);
  if (value.kind == "tangent") {
    name.consume_front("tangent_");
    return find(outputs, name, AbiPlace::Tangent);
  }
  return find(inputs, name, AbiPlace::Input);
}

llvm::Expected<AbiPlace>
TrainingBuilder::outputPlace(const PlannedValue &value) {
  llvm::StringRef name = value.name;
  if (value.kind == "saved")
    return find(saved, name, AbiPlace::Saved);
  if (value.kind != "gradient")
    return find(outputs, name, AbiPlace::Output);
  name.consume_front("gradient_");
  if (inputs.contains(name))
    return find(inputs, name, AbiPlace::InputGradient);
  return find(states, name, AbiPlace::Gradient);
}

/// What the update of parameters takes, see compiler/optimizer/Update.h.
llvm::Expected<AbiPlace>
TrainingBuilder::updatePlace(const PlannedValue &value) {
  llvm::StringRef name = value.name;
  if (value.kind == "given_parameter")
    return find(states, name, AbiPlace::State);
  if (value.kind == "given_buffer")
    return find(optimizer, name, AbiPlace::Optimizer);
  if (name.consume_front("gradient_"))
    return find(states, name, AbiPlace::Gradient);
  static const llvm::StringMap<int64_t> hypers = [] {
    llvm::StringMap<int64_t> map;
    int64_t n = 0;
#define FT_HYPER_REAL(field) map[#field] = n++;
#define FT_HYPER_FLAG(field) map[#field] = n++;
#include "runtime/src/hyperparameters.def"
    return map;
  }();
  return find(hypers, name, AbiPlace::Hyperparameter);
}

void TrainingBuilder::addOptimizer(const ProgramParts &update) {
  artefact.optimizer = update.optimizer;
  for (const PlannedValue &v : update.plan.inputs) {
    if (v.kind != "given_buffer")
      continue;
    optimizer[v.name] = static_cast<int64_t>(artefact.optimizerState.size());
    artefact.optimizerState.push_back(
        abiValue(update.plan, v.name, v.type, false));
  }
}

llvm::Error TrainingBuilder::addInterface(const Plan &forward) {
  for (const PlannedValue &v : forward.inputs) {
    AbiValue value = abiValue(forward, v.name, v.type, v.written);
    if (!isState(v)) {
      inputs[v.name] = static_cast<int64_t>(artefact.inputs.size());
      artefact.inputs.push_back(std::move(value));
      continue;
    }
    states[v.name] = static_cast<int64_t>(artefact.state.size());
    AbiState state;
    static_cast<AbiValue &>(state) = std::move(value);
    TensorMeta meta = metaFromType(v.type).value_or(TensorMeta());
    state.strides = values(contiguousStrides(meta.sizes));
    state.isParameter = v.kind == "given_parameter";
    artefact.state.push_back(std::move(state));
  }
  for (const PlannedValue &v : forward.outputs) {
    if (v.kind == "saved") {
      saved[v.name] = artefact.numSaved++;
      continue;
    }
    outputs[v.name] = static_cast<int64_t>(artefact.outputs.size());
    artefact.outputs.push_back(abiValue(forward, v.name, v.type, false));
  }
  artefact.symbols = abiSymbols(forward);
  // The inputs of the model are those of the program without its state.
  llvm::SmallVector<int64_t> position;
  for (const PlannedValue &v : forward.inputs)
    position.push_back(isState(v) ? -1 : inputs.lookup(v.name));
  for (AbiSymbol &symbol : artefact.symbols)
    if (symbol.input >= 0)
      symbol.input = position[static_cast<size_t>(symbol.input)];
  return llvm::Error::success();
}

llvm::Error TrainingBuilder::addProgram(ProgramParts parts) {
  AbiProgram program;
  program.name = parts.name;
  program.symbols = abiSymbols(parts.plan);
  program.arenaBytes = static_cast<uint64_t>(parts.plan.arenaBytes);
  program.weightsBase = artefact.weightsBytes;
  program.object = std::move(parts.object);
  bool isUpdate = parts.name == "update";
  if (isUpdate)
    addOptimizer(parts);
  for (const PlannedValue &v : parts.plan.inputs) {
    llvm::Expected<AbiPlace> place = isUpdate ? updatePlace(v) : inputPlace(v);
    if (!place)
      return place.takeError();
    program.inputs.push_back(abiValue(parts.plan, v.name, v.type, v.written));
    program.inputs.back().inArena = v.inArena;
    program.inputPlaces.push_back(*place);
  }
  for (const PlannedValue &v : parts.plan.outputs) {
    llvm::Expected<AbiPlace> place = outputPlace(v);
    if (!place)
      return place.takeError();
    if (place->kind == AbiPlace::Gradient)
      artefact.state[static_cast<size_t>(place->index)].hasGradient = true;
    if (place->kind == AbiPlace::InputGradient)
      artefact.inputs[static_cast<size_t>(place->index)].hasGradient = true;
    program.outputs.push_back(abiValue(parts.plan, v.name, v.type, false));
    program.outputs.back().inArena = v.inArena;
    program.outputPlaces.push_back(*place);
  }
  for (const PlannedConstant &planned : parts.plan.constants) {
    llvm::Expected<Constant> constant = constantOf(planned, weights);
    if (!constant)
      return constant.takeError();
    constant->offset += program.weightsBase;
    artefact.constants.push_back(std::move(*constant));
  }
  for (const PlannedKernel &k : parts.plan.kernels)
    if (llvm::none_of(artefact.kernels, [&](const KernelSource &have) {
          return have.symbol == k.symbol;
        }))
      artefact.kernels.push_back({k.op, k.symbol, k.files});
  addWeights(static_cast<uint64_t>(parts.plan.weightsBytes));
  artefact.arenaBytes = std::max(artefact.arenaBytes, program.arenaBytes);
  artefact.programs.push_back(std::move(program));
  return llvm::Error::success();
}

llvm::Error TrainingBuilder::addState(const Plan &forward) {
  for (const PlannedValue &v : forward.inputs) {
    if (!isState(v))
      continue;
    PlannedConstant planned;
    planned.offset = static_cast<int64_t>(artefact.weightsBytes);
    planned.record = v.record;
    planned.view = v.type;
    llvm::Expected<Constant> constant = constantOf(planned, weights);
    if (!constant)
      return constant.takeError();
    AbiState &state =
        artefact.state[static_cast<size_t>(states.lookup(v.name))];
    state.weightsOffset = planned.offset;
    addWeights(constant->bytes());
    artefact.constants.push_back(std::move(*constant));
  }
  return llvm::Error::success();
}

llvm::Expected<Artefact>
buildTrainingArtefact(llvm::StringRef name, std::vector<ProgramParts> programs,
                      const CpuTarget &target, WeightSource *weights) {
  Artefact artefact;
  artefact.name = cIdentifier(name);
  artefact.cpu = target.cpu;
  artefact.features = target.features;
  bool known = programs.size() >= 2 && programs[0].name == "forward" &&
               programs[1].name == "backward" &&
               (programs.size() == 2 ||
                (programs.size() == 3 && programs[2].name == "update"));
  if (!known || (programs.size() == 3 && !findOptimizer(programs[2].optimizer)))
    return makeError(DiagId::BadText, "",
                     "a model that is trained is the programs @forward, "
                     "@backward and, with ft.optimizer, @update");
  Plan forward = programs[0].plan;
  TrainingBuilder builder(artefact, weights);
  if (llvm::Error error = builder.addInterface(forward))
    return std::move(error);
  for (ProgramParts &program : programs)
    if (llvm::Error error = builder.addProgram(std::move(program)))
      return std::move(error);
  if (llvm::Error error = builder.addState(forward))
    return std::move(error);
  return artefact;
}

} // namespace ft
