//===- MemoryEstimate.cpp - The memory of a model before it runs *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/MemoryEstimate.h"

#include "compiler/driver/PartitionReport.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/SessionState.h"
#include "compiler/lower/Lower.h"
#include "compiler/partition/KeptValues.h"
#include "compiler/partition/SizeHints.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/Programs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace ft {

std::optional<int64_t> parseBytes(const std::string &text) {
  static const struct {
    const char *name;
    double bytes;
  } kUnits[] = {{"", 1},          {"b", 1},         {"kib", 1024.},
                {"mib", 1048576}, {"gib", 1 << 30}, {"tib", 1099511627776.},
                {"kb", 1e3},      {"mb", 1e6},      {"gb", 1e9},
                {"tb", 1e12}};
  llvm::StringRef rest = llvm::StringRef(text).trim();
  llvm::StringRef number =
      rest.take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
  std::string unit = rest.drop_front(number.size()).trim().lower();
  double value = 0;
  if (number.empty() || number.getAsDouble(value))
    return std::nullopt;
  for (const auto &known : kUnits)
    if (unit == known.name && value * known.bytes < 9e18)
      return static_cast<int64_t>(value * known.bytes);
  return std::nullopt;
}

/// The module that an operation ran in, as import says it; empty: not known.
static std::string modulePath(mlir::Location location) {
  std::string path;
  location->walk([&](mlir::Location at) {
    auto fused = mlir::dyn_cast<mlir::FusedLoc>(at);
    auto text =
        fused ? mlir::dyn_cast_or_null<mlir::StringAttr>(fused.getMetadata())
              : mlir::StringAttr();
    if (!text)
      return mlir::WalkResult::advance();
    path = text.getValue().split(':').first.trim().str();
    return mlir::WalkResult::interrupt();
  });
  return path;
}

namespace {

constexpr int64_t kTooMuch = std::numeric_limits<int64_t>::max();

/// Values of symbols.
using Assignment = llvm::StringMap<int64_t>;

/// The bytes of a plan made for these sizes.
struct Totals {
  int64_t peak = 0, all = 0;
};

class Estimator {
public:
  Estimator(mlir::ModuleOp module, const EstimateRequest &request,
            const LowerOptions &lower, bool training)
      : module(module), programs(programsOf(module)), request(request),
        lower(lower), training(training) {}

  llvm::Error run(MemoryEstimate &out);

private:
  mlir::func::FuncOp graphOf(mlir::ModuleOp program) {
    return program.lookupSymbol<mlir::func::FuncOp>("forward");
  }
  void readSymbols();
  void addState(MemoryEstimate &out);
  void addInterface();
  void addActivations(MemoryEstimate &out);
  ModuleMemory &row(llvm::StringRef name);
  int64_t at(Dim dim, const Assignment &values) const;
  std::string titled(Dim dim);
  llvm::Expected<ArenaPlan> plan(const Assignment &values);
  llvm::Expected<Totals> replan(Assignment values, int64_t size);
  llvm::Error solve(MemoryEstimate &out);

  mlir::ModuleOp module;
  llvm::SmallVector<mlir::ModuleOp, 2> programs;
  const EstimateRequest &request;
  const LowerOptions &lower;
  bool training;
  Assignment hints;
  std::vector<SymbolSize> symbols;
  /// All but the arena; and of these what depends on symbols.
  Dim around = 0, inputs = 0, outputs = 0;
  ArenaPlan arena;
  std::vector<ModuleMemory> rows;
  llvm::StringMap<size_t> rowOf;
};
} // namespace

void Estimator::readSymbols() {
  for (auto symbol : programs.front().getOps<SymbolOp>()) {
    int64_t lower = static_cast<int64_t>(symbol.getLower().value_or(0));
    int64_t upper =
        symbol.getUpper() ? static_cast<int64_t>(*symbol.getUpper()) : kTooMuch;
    hints[symbol.getSym()] =
        symbol.getHint()
            ? static_cast<int64_t>(*symbol.getHint())
            : std::clamp<int64_t>(2, lower, std::max(lower, upper));
    symbols.push_back({symbol.getSym().str(),
                       symbol.getTitle().value_or(symbol.getSym()).str(), lower,
                       upper == kTooMuch ? -1 : upper, hints[symbol.getSym()]});
  }
}

/// kTooMuch for what 64 bits do not hold.
int64_t Estimator::at(Dim dim, const Assignment &values) const {
  if (dim.isStatic())
    return dim.value();
  SymValue value = SymContext::evaluate(
      dim.symbolic(), [&](llvm::StringRef name, int64_t &number) {
        auto it = values.find(name);
        if (it == values.end())
          return false;
        number = it->second;
        return true;
      });
  return value ? std::max<int64_t>(value.value, 0) : kTooMuch;
}

/// In the user's own names; empty for numbers.
std::string Estimator::titled(Dim dim) {
  if (dim.isStatic())
    return "";
  SymContext &context = dim.symbolic().context();
  SymExpr named = context.substitute(dim.symbolic(), [&](llvm::StringRef name) {
    for (auto symbol : programs.front().getOps<SymbolOp>())
      if (symbol.getSym() == name && symbol.getTitle() &&
          !symbol.getTitle()->empty())
        return context.symbol(*symbol.getTitle());
    return SymExpr();
  });
  return (named ? named : dim.symbolic()).str();
}

ModuleMemory &Estimator::row(llvm::StringRef name) {
  auto [it, isNew] = rowOf.try_emplace(name, rows.size());
  if (isNew)
    rows.push_back({name.str()});
  return rows[it->second];
}

/// Parameters and buffers, once for each storage.
void Estimator::addState(MemoryEstimate &out) {
  llvm::StringSet<> seen;
  mlir::func::FuncOp graph = graphOf(programs.front());
  for (unsigned n = 0; n < graph.getNumArguments(); ++n) {
    auto text = [&](llvm::StringRef name) {
      auto attr = graph.getArgAttrOfType<mlir::StringAttr>(n, name);
      return attr ? attr.getValue() : llvm::StringRef();
    };
    llvm::StringRef kind = text(names::kKind);
    kind.consume_front("given_");
    std::optional<TensorMeta> meta = metaOf(graph.getArgument(n));
    bool isParameter = kind == "parameter";
    if (!meta || !(isParameter || kind == "buffer" || kind == "constant"))
      continue;
    llvm::StringRef record = text(names::kWeight),
                    target = text(names::kTarget);
    if (!record.empty() && !seen.insert(record).second)
      continue;
    int64_t bytes = at(denseBytes(*meta), hints);
    (isParameter ? out.parametersBytes : out.buffersBytes) += bytes;
    if (isParameter)
      row(target.contains('.') ? target.rsplit('.').first : "")
          .parametersBytes += bytes;
  }
}

/// Inputs, outputs, gradients, tangents.
void Estimator::addInterface() {
  mlir::func::FuncOp graph = graphOf(programs.front());
  mlir::Operation *end = graph.front().getTerminator();
  for (unsigned n = 0; n < graph.getNumArguments(); ++n) {
    auto kind = graph.getArgAttrOfType<mlir::StringAttr>(n, names::kKind);
    std::optional<TensorMeta> meta = metaOf(graph.getArgument(n));
    if (meta && kind && kind.getValue() == "input")
      inputs = inputs + denseBytes(*meta);
  }
  for (unsigned r = 0; r < graph.getNumResults(); ++r) {
    auto role = graph.getResultAttrOfType<mlir::StringAttr>(r, names::kRole);
    std::optional<TensorMeta> meta = metaOf(end->getOperand(r));
    bool isOutput =
        !role || role.getValue() == "output" || role.getValue() == "loss";
    if (meta && isOutput)
      outputs = outputs + denseBytes(*meta);
  }
}

void Estimator::addActivations(MemoryEstimate &out) {
  mlir::func::FuncOp graph = graphOf(programs.front());
  Dim total = 0;
  auto add = [&](mlir::Value value, const TensorMeta &meta) {
    Dim bytes = denseBytes(meta);
    total = total + bytes;
    row(modulePath(value.getLoc())).activationsBytes += at(bytes, hints);
  };
  if (training) {
    mlir::Operation *end = graph.front().getTerminator();
    for (unsigned r = 0; r < graph.getNumResults(); ++r) {
      auto role = graph.getResultAttrOfType<mlir::StringAttr>(r, names::kRole);
      mlir::Value value = end->getOperand(r);
      std::optional<TensorMeta> meta = metaOf(value);
      if (role && role.getValue() == "saved" && meta &&
          !mlir::isa<mlir::BlockArgument>(value))
        add(value, *meta);
    }
  } else {
    for (mlir::Operation &op : graph.front().without_terminator()) {
      const Schema *schema = schemaOf(&op);
      for (mlir::OpResult result : op.getResults()) {
        std::optional<TensorMeta> meta = metaOf(result);
        bool isView =
            schema && !schema->returns.empty() &&
            schema->aliasedArg(std::min<unsigned>(
                result.getResultNumber(),
                static_cast<unsigned>(schema->returns.size()) - 1)) >= 0;
        if (meta && !isView && !mlir::isa<RefineOp>(op))
          add(result, *meta);
      }
    }
  }
  out.activationsBytes = at(total, hints);
  out.activationsExpr = titled(total);
}

/// The plan for a model whose sizes are these.
llvm::Expected<ArenaPlan> Estimator::plan(const Assignment &values) {
  if (symbols.empty()) {
    mlir::FailureOr<ArenaPlan> planned = planArenas(module, lower);
    if (mlir::failed(planned)) // MLIR was told why
      return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
    return *planned;
  }
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  for (mlir::ModuleOp program : programsOf(*copy))
    for (auto symbol : program.getOps<SymbolOp>()) {
      auto it = values.find(symbol.getSym());
      if (it != values.end())
        symbol.setHint(static_cast<uint64_t>(it->second));
    }
  mlir::FailureOr<ArenaPlan> planned = planArenas(*copy, lower);
  if (mlir::failed(planned)) // MLIR was told why
    return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
  return *planned;
}

static int64_t sum(std::initializer_list<int64_t> numbers) {
  int64_t total = 0;
  for (int64_t n : numbers)
    if (llvm::AddOverflow(total, n, total))
      return kTooMuch;
  return total;
}

llvm::Expected<Totals> Estimator::replan(Assignment values, int64_t size) {
  for (auto symbol : programs.front().getOps<SymbolOp>())
    if (symbol.getSym() == request.solve ||
        symbol.getTitle().value_or("") == request.solve)
      values[symbol.getSym()] = size;
  llvm::Expected<ArenaPlan> planned = plan(values);
  if (!planned)
    return planned.takeError();
  int64_t peak = planned->bytesAtHints;
  return Totals{peak, sum({peak, at(around, values), at(inputs, values),
                           at(outputs, values)})};
}

/// The largest size whose own plan fits. A plan's expression leads near it:
/// the packing may differ at other sizes, so each step plans for the size that
/// the last expression gave.
llvm::Error Estimator::solve(MemoryEstimate &out) {
  SymbolOp symbol;
  for (auto known : programs.front().getOps<SymbolOp>())
    if (known.getSym() == request.solve ||
        known.getTitle().value_or("") == request.solve)
      symbol = known;
  if (!symbol) {
    std::string known;
    for (auto s : programs.front().getOps<SymbolOp>())
      known +=
          (known.empty() ? "" : ", ") + s.getTitle().value_or(s.getSym()).str();
    return makeError(
        DiagId::BadCommandLine, "--solve",
        "the model has no size that is called '" + request.solve + "'",
        known.empty() ? "declare one: --dynamic INPUT:DIM=NAME --solve NAME"
                      : "its sizes are " + known);
  }
  int64_t least =
      std::max<int64_t>(static_cast<int64_t>(symbol.getLower().value_or(0)), 1);
  int64_t most = symbol.getUpper() ? static_cast<int64_t>(*symbol.getUpper())
                                   : int64_t(1) << 40;
  Dim all = around + inputs + outputs + arena.bytes;
  Assignment values = hints;
  auto fits = [&](int64_t size) {
    values[symbol.getSym()] = size;
    return at(all, values) <= *request.memory;
  };
  // Sizes that fit by the expression are those up to one.
  auto byExpression = [&] {
    int64_t low = least - 1, high = most;
    while (low < high) {
      int64_t middle = low + (high - low + 1) / 2;
      if (fits(middle))
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  };
  int64_t answer = std::clamp(byExpression(), least, most);
  for (int round = 0; round < 4; ++round) {
    Assignment here = hints;
    here[symbol.getSym()] = answer;
    llvm::Expected<ArenaPlan> planned = plan(here);
    if (!planned)
      return planned.takeError();
    all = around + inputs + outputs + planned->bytes;
    int64_t next = std::clamp(byExpression(), least, most);
    if (next == answer)
      break;
    answer = next;
  }
  // Now with plans for just these sizes: down to one that fits, and up while
  // the next one does too.
  llvm::Expected<Totals> here = replan(hints, answer);
  if (!here)
    return here.takeError();
  while (here->all > *request.memory && answer > least) {
    here = replan(hints, --answer);
    if (!here)
      return here.takeError();
  }
  if (here->all > *request.memory)
    return makeError(DiagId::DeclaredSize, "",
                     "the model with " + request.solve + " " +
                         std::to_string(least) + " takes " +
                         std::to_string(here->all) + " bytes, more than the " +
                         std::to_string(*request.memory) + " of --memory");
  LargestSize largest{request.solve, answer, here->all, -1};
  while (largest.value < most) {
    llvm::Expected<Totals> next = replan(hints, largest.value + 1);
    if (!next)
      return next.takeError();
    largest.nextBytes = next->all;
    if (next->all > *request.memory)
      break;
    ++largest.value;
    largest.bytes = next->all;
    largest.nextBytes = -1;
  }
  out.largest = largest;
  return llvm::Error::success();
}

llvm::Error Estimator::run(MemoryEstimate &out) {
  readSymbols();
  out.symbols = symbols;
  out.training = training;
  addState(out);
  addInterface();
  addActivations(out);
  if (training)
    for (mlir::ModuleOp program : programs) {
      mlir::func::FuncOp graph = graphOf(program);
      mlir::Operation *end = graph.front().getTerminator();
      for (unsigned r = 0; r < graph.getNumResults(); ++r) {
        auto role =
            graph.getResultAttrOfType<mlir::StringAttr>(r, names::kRole);
        std::optional<TensorMeta> meta = metaOf(end->getOperand(r));
        if (meta && role && role.getValue() == "gradient")
          out.gradientsBytes += at(denseBytes(*meta), hints);
      }
    }
  int copies = llvm::StringSwitch<int>(request.optimizer)
                   .Case("momentum", 1)
                   .Cases({"adam", "adamw"}, 2)
                   .Default(0);
  out.optimizerBytes = copies * out.gradientsBytes;
  around = out.parametersBytes + out.buffersBytes + out.gradientsBytes +
           out.optimizerBytes;
  llvm::Expected<ArenaPlan> planned = plan(hints);
  if (!planned)
    return planned.takeError();
  arena = *planned;
  out.peakBytes = arena.bytesAtHints;
  out.peakExpr = titled(arena.bytes);
  out.hasUnknownSizes = arena.hasUnknownSizes;
  out.inputsBytes = at(inputs, hints);
  out.outputsBytes = at(outputs, hints);
  out.totalBytes = sum(
      {out.peakBytes, at(around, hints), out.inputsBytes, out.outputsBytes});
  out.totalExpr = titled(around + inputs + outputs + arena.bytes);
  out.modules = std::move(rows);
  if (!request.solve.empty() && request.memory)
    return solve(out);
  return llvm::Error::success();
}

bool hasSize(const Session &session, const std::string &name) {
  for (auto symbol : programsOf(session.module()).front().getOps<SymbolOp>())
    if (symbol.getSym() == name || symbol.getTitle().value_or("") == name)
      return true;
  return false;
}

std::optional<ArenaPlan> planOf(const Session &session) {
  Session::State &state = session.inside();
  // A model that cannot be lowered has no peak; whoever lowers it says why.
  mlir::ScopedDiagnosticHandler quiet(
      &state.context(), [](mlir::Diagnostic &) { return mlir::success(); });
  llvm::Expected<CpuTarget> target = CpuTarget::resolve(state.options.cpu);
  if (!target) {
    llvm::consumeError(target.takeError());
    return std::nullopt;
  }
  llvm::Expected<CodeDevice> device = codeDevice(*state.module);
  if (!device) {
    llvm::consumeError(device.takeError());
    return std::nullopt;
  }
  mlir::FailureOr<ArenaPlan> plan =
      planArenas(*state.module, planOptions(*target, state.options, *device));
  if (mlir::failed(plan))
    return std::nullopt;
  return *plan;
}

std::optional<PeakBytes> peakBytes(const Session &session) {
  std::optional<ArenaPlan> plan = planOf(session);
  if (!plan)
    return std::nullopt;
  return PeakBytes{plan->bytesAtHints,
                   plan->bytes.isStatic() ? "" : plan->bytes.str(),
                   plan->hasUnknownSizes};
}

/// Of a joint graph.
static llvm::Error addBudgets(mlir::ModuleOp module, const Options &options,
                              MemoryEstimate &out) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>("forward");
  if (!function || function.isExternal())
    return llvm::Error::success();
  PartitionOptions partition;
  partition.keep = options.keep;
  partition.recompute = options.recompute;
  mlir::FailureOr<std::vector<BudgetPoint>> points = budgetPoints(
      JointGraph(function), module, partition, {0.75, 0.5, 0.25, 0});
  if (mlir::failed(points)) // MLIR was told why
    return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
  for (const BudgetPoint &point : *points)
    out.budgets.push_back(
        {point.budget, point.bytes, point.flops, point.products});
  return llvm::Error::success();
}

std::optional<MemoryEstimate> estimateMemory(Session &session,
                                             const EstimateRequest &request) {
  Session::State &state = session.inside();
  bool training = state.options.training;
  MemoryEstimate result;
  if (training && state.stage < Stage::Partition &&
      (!state.runStages(Stage::Autograd) ||
       !state.guarded(
           "trying budgets", DiagId::Internal,
           [&] { return addBudgets(*state.module, state.options, result); })))
    return std::nullopt;
  if (!state.runStages(training ? Stage::Partition : Stage::Functionalize))
    return std::nullopt;
  bool ok = state.guarded(
      "estimating memory", DiagId::Internal, [&]() -> llvm::Error {
        llvm::Expected<CpuTarget> target =
            CpuTarget::resolve(state.options.cpu);
        if (!target)
          return target.takeError();
        llvm::Expected<CodeDevice> device = codeDevice(*state.module);
        if (!device)
          return device.takeError();
        LowerOptions lower = planOptions(*target, state.options, *device);
        return Estimator(*state.module, request, lower, training).run(result);
      });
  return ok ? std::optional(std::move(result)) : std::nullopt;
}

} // namespace ft
