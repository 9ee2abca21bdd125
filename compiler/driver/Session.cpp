//===- Session.cpp - Compiles one model ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Session.h"

#include "compiler/custom/PluginCall.h"
#include "compiler/custom/Registration.h"
#include "compiler/driver/DiagnosticCollector.h"
#include "compiler/driver/DynamicSizes.h"
#include "compiler/driver/GuardReport.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/Retarget.h"
#include "compiler/driver/SessionState.h"
#include "compiler/driver/TraceWeights.h"
#include "compiler/driver/Version.h"
#include "compiler/import/Importer.h"
#include "compiler/import/text/TextImport.h"
#include "compiler/support/MemoryWatch.h"
#include "compiler/support/SignalStack.h"
#include "compiler/trace/TraceState.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/thread.h"

#include <chrono>
#include <csignal>

namespace ft {

/// Measured: MLIR's parser takes about 1 KiB for each level of nesting; the
/// guards in front of it let 256 through. Pages that are not touched are free.
static constexpr unsigned kStackBytes = 256u << 20;

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static mlir::DialectRegistry pipelineRegistry() {
  mlir::DialectRegistry registry;
  registerPipelineDialects(registry);
  return registry;
}

// One thread: the bytes that a compilation gives must not depend on how
// threads are scheduled.
Session::State::State(Options given)
    : options(std::move(given)),
      ownContext(std::make_shared<mlir::MLIRContext>(
          pipelineRegistry(), mlir::MLIRContext::Threading::DISABLED)) {
  context().printOpOnDiagnostic(false);
  cache.crosscheck = options.crosscheck;
}

/// LLVM's handlers take the stack of the thread, which may be what is full.
static void catchOverflows() {
  for (int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction action;
    if (sigaction(signal, nullptr, &action))
      continue;
    action.sa_flags |= SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

bool Session::State::guarded(const llvm::Twine &doing, DiagId fallback,
                             llvm::function_ref<llvm::Error()> work) {
  bool ok = true;
  PluginCall::Running running;
  std::vector<char> spare(options.catchCrashes ? SignalStack::kBytes : 0);
  auto body = [&] {
    PluginCall::Watch watch(running);
    std::optional<SignalStack> handlers;
    if (!spare.empty())
      handlers.emplace(spare);
    size_t before = diagnostics.size();
    DiagnosticCollector collector(context(), source, fallback, diagnostics);
    llvm::Error error = work();
    if (!error)
      return;
    ok = false;
    for (Diagnostic &d : takeDiagnostics(std::move(error)))
      diagnostics.push_back(std::move(d));
    bool said = std::any_of(
        diagnostics.begin() + static_cast<ptrdiff_t>(before), diagnostics.end(),
        [](const Diagnostic &d) { return d.exitClass() != ExitClass::Note; });
    if (!said)
      diagnostics.push_back({DiagId::Internal, source,
                             (doing + " failed without a reason").str(), ""});
  };
  if (!MemoryWatch::hasRoom(kStackBytes)) {
    diagnostics.push_back({DiagId::OutOfMemory, source,
                           ("there is not enough memory for " + doing).str(),
                           ""});
    return false;
  }
  if (!options.catchCrashes) {
    llvm::thread thread(std::optional<unsigned>(kStackBytes), body);
    thread.join();
    return ok;
  }
  MemoryWatch memory;
  llvm::CrashRecoveryContext::Enable();
  catchOverflows();
  llvm::CrashRecoveryContext recovery;
  bool finished = recovery.RunSafelyOnThread(body, kStackBytes);
  llvm::CrashRecoveryContext::Disable();
  if (finished)
    return ok;
  crashed = true;
  if (memory.ranOut())
    diagnostics.push_back({DiagId::OutOfMemory, source,
                           ("there is not enough memory for " + doing).str(),
                           ""});
  else if (running.what.empty())
    diagnostics.push_back({DiagId::Internal, source,
                           ("the compiler crashed in " + doing).str(), ""});
  else
    diagnostics.push_back({DiagId::PluginFailed,
                           running.plugin.empty() ? source : running.plugin,
                           running.what + " crashed", ""});
  return false;
}

Session::Session(Options options)
    : state(std::make_unique<State>(std::move(options))) {}

Session::~Session() {
  // What a crash left behind cannot be taken down safely.
  if (state->crashed)
    (void)state.release();
}

const Options &Session::options() const { return state->options; }

/// After stage lower nothing can be propagated again: what later stages trip
/// over in a module that was read so late is the text's fault.
void Session::State::blameText(size_t before) {
  if (!lateText || crashed)
    return;
  for (size_t i = before; i < diagnostics.size(); ++i) {
    Diagnostic &d = diagnostics[i];
    if (d.exitClass() != ExitClass::Internal)
      continue;
    d.id = DiagId::BadText;
    d.message =
        "the edited text of stage lower is not consistent: " + d.message;
    d.help.clear();
  }
}

/// Where the text says that it stands; text by hand, without `ft.stage`, is
/// what an importer would leave.
static llvm::Expected<Stage> stageOf(mlir::ModuleOp module,
                                     llvm::StringRef source) {
  auto attr = module->getAttrOfType<mlir::StringAttr>(names::kStage);
  if (!attr)
    return Stage::Import;
  if (std::optional<Stage> stage = findStage(attr.getValue().str()))
    return *stage;
  return makeError(DiagId::BadText, source,
                   "ft.stage names no stage: '" + attr.getValue() + "'",
                   "`foretrace stages` lists them");
}

llvm::Error Session::State::adopt(
    llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> loaded) {
  if (!loaded)
    return loaded.takeError();
  module = std::move(*loaded);
  llvm::Expected<Stage> named = stageOf(*module, source);
  if (!named)
    return named.takeError();
  stage = *named;
  lateText = *named >= Stage::Lower;
  return llvm::Error::success();
}

bool Session::State::loadPlugins() {
  if (pluginsLoaded)
    return !pluginsFailed;
  pluginsLoaded = true;
  std::string compiler = std::string("foretrace ") + foretraceVersion();
  for (const std::string &path : options.plugins) {
    bool ok = guarded(llvm::Twine("the plug-in ") + path, DiagId::PluginFailed,
                      [&]() -> llvm::Error {
                        llvm::Expected<Plugin> plugin =
                            Plugin::load(path, CustomOps::of(&context()),
                                         compiler, options.learnCustom);
                        if (!plugin)
                          return plugin.takeError();
                        plugins.push_back(std::move(*plugin));
                        return llvm::Error::success();
                      });
    pluginsFailed |= !ok;
  }
  return !pluginsFailed;
}

bool Session::loadPlugins() { return state->loadPlugins(); }

bool Session::registerOp(const ft_op_registration &op) {
  State &s = *state;
  return s.guarded(
      "registering an operator", DiagId::BadRegistration, [&]() -> llvm::Error {
        if (s.module)
          return makeError(DiagId::BadRegistration, "",
                           "operators are registered before a model is loaded");
        RegistrationSource source;
        source.learn = s.options.learnCustom;
        return registerCustomOp(CustomOps::of(&s.context()), op, source);
      });
}

bool Session::load(const std::string &path) {
  State &s = *state;
  s.source = path;
  if (!s.loadPlugins())
    return false;
  auto start = Clock::now();
  bool ok = s.guarded("stage import", DiagId::BadText,
                      [&] { return s.adopt(importModel(path, s.context())); });
  s.seconds.push_back({Stage::Import, secondsSince(start)});
  if (!ok)
    s.writeReproducer(Stage::Import);
  return ok;
}

bool Session::loadText(const std::string &text, const std::string &name) {
  State &s = *state;
  s.source = name;
  if (!s.loadPlugins())
    return false;
  return s.guarded("reading the text", DiagId::BadText, [&] {
    return s.adopt(importText(text, name, s.context()));
  });
}

bool Session::load(FakeMode &mode) {
  State &s = *state;
  s.source = mode.name();
  if (!mode.ok()) {
    s.diagnostics.push_back(mode.error());
    return false;
  }
  // The module stays in its context, which lives as long as either needs it.
  s.module = {};
  s.cache.clear(); // its types are those of the context
  s.ownContext = mode.impl()->context;
  s.ownContext->appendDialectRegistry(pipelineRegistry());
  s.weights = makeTraceWeights(mode.impl());
  return s.guarded("taking over the trace", DiagId::BadText, [&] {
    llvm::Error error = s.adopt(
        mlir::OwningOpRef<mlir::ModuleOp>(mode.impl()->finish().clone()));
    // What calls took for granted of sizes that data decide, a walk over their
    // operations turns into checks in front of them.
    if (!error && !s.module->getOps<SymbolOp>().empty())
      s.stage = Stage::Import;
    return error;
  });
}

std::optional<Stage> Session::stage() const { return state->stage; }

bool Session::State::retarget() {
  bool isCuda = llvm::StringRef(options.target).starts_with("cuda");
  if (retargeted || (options.device.empty() && !isCuda))
    return true;
  retargeted = true;
  return guarded("moving the model", DiagId::BadText, [&]() -> llvm::Error {
    std::optional<Device> to =
        Device::parse(options.device.empty() ? "cuda:0" : options.device);
    if (!to)
      return makeError(DiagId::BadCommandLine, source,
                       "'" + options.device + "' is no device",
                       "devices are cpu, cuda:N and meta");
    if (*stage > Stage::Fake) {
      if (options.device.empty())
        return llvm::Error::success(); // where it is, is decided
      return makeError(DiagId::BadCommandLine, source,
                       std::string("a model is moved before stage fake: the "
                                   "module stands after '") +
                           stageInfo(*stage).name + "'",
                       "start from the model, or from a dump of stage import");
    }
    if (moveModule(*module, *to))
      stage = Stage::Import;
    return llvm::Error::success();
  });
}

bool Session::State::declareSizes() {
  bool asked = options.dynamicBatch || !options.dynamic.empty() ||
               !options.examples.empty();
  if (sizesDeclared || !asked)
    return true;
  sizesDeclared = true;
  return guarded("declaring sizes", DiagId::BadText, [&]() -> llvm::Error {
    if (*stage > Stage::Fake)
      return makeError(DiagId::BadCommandLine, source,
                       std::string("sizes are declared before stage fake: the "
                                   "module stands after '") +
                           stageInfo(*stage).name + "'",
                       "start from the model, or from a dump of stage import");
    std::vector<DynamicSize> sizes;
    for (const std::string &text : options.dynamic) {
      llvm::Expected<DynamicSize> size = parseDynamicSize(text);
      if (!size)
        return size.takeError();
      sizes.push_back(std::move(*size));
    }
    if (options.dynamicBatch)
      llvm::append_range(sizes, dynamicBatch(*module));
    for (const std::string &text : options.examples) {
      llvm::Expected<std::vector<DynamicSize>> more =
          dimsOfExample(*module, text);
      if (!more)
        return more.takeError();
      llvm::append_range(sizes, *more);
    }
    if (llvm::Error error = makeDynamic(*module, sizes))
      return error;
    stage = Stage::Import;
    return llvm::Error::success();
  });
}

llvm::Error Session::State::checkDeclaredSizes() {
  if (!sizesDeclared)
    return llvm::Error::success();
  std::string table;
  SizesVerdict verdict = judgeSizes(*module, table);
  if (verdict == SizesVerdict::AsAsked)
    return llvm::Error::success();
  if (verdict == SizesVerdict::Fixed)
    return makeError(DiagId::DeclaredSize, source,
                     "the program fixes a size that was declared dynamic:\n" +
                         table,
                     "declare it as suggested, or export the model with that "
                     "size dynamic");
  diagnostics.push_back({DiagId::SizeRestricted, source,
                         "the program takes fewer sizes than were declared; "
                         "others are refused when it is called:\n" +
                             table,
                         ""});
  return llvm::Error::success();
}

bool Session::State::runStages(Stage last) {
  if (!module || !retarget() || !declareSizes())
    return false;
  Stage at = *stage;
  if (options.startFrom && *options.startFrom > Stage::Import) {
    Stage first = *options.startFrom;
    options.startFrom.reset(); // says where the first run starts, no more
    // Tensors of the program are gone after lower: only an earlier stage's
    // module can be gone through again.
    bool lowered = at >= Stage::Lower && first <= Stage::Lower;
    if (lowered || (at < first && stageAfter(at, first, options) != first)) {
      diagnostics.push_back({DiagId::BadCommandLine, source,
                             std::string("stage '") + stageInfo(first).name +
                                 "' cannot be the first: the module stands "
                                 "after '" +
                                 stageInfo(at).name + "'",
                             "leave --start-from out"});
      return false;
    }
    at = static_cast<Stage>(static_cast<int>(first) - 1);
    lateText |= at >= Stage::Lower;
  }
  if (at > last) {
    diagnostics.push_back({DiagId::BadCommandLine, source,
                           std::string("stage '") + stageInfo(last).name +
                               "' is over: the module stands after '" +
                               stageInfo(at).name + "'",
                           "start from an earlier dump of the model"});
    return false;
  }
  if (at == last && !guarded("checking the text", DiagId::Internal, [&] {
        PipelineState pipeline{*module,    options,      target, objects,
                               outputBase, files,        cache,  guards,
                               device,     weights.get()};
        return checkAnnotations(at, pipeline);
      }))
    return false;
  while (at < last) {
    at = stageAfter(at, last, options);
    auto start = Clock::now();
    size_t before = diagnostics.size();
    bool ok = guarded(llvm::Twine("stage ") + stageInfo(at).name,
                      DiagId::Internal, [&]() -> llvm::Error {
                        if (options.crashIn == at)
                          std::raise(SIGSEGV);
                        PipelineState pipeline{
                            *module, options, target, objects, outputBase,
                            files,   cache,   guards, device,  weights.get()};
                        if (llvm::Error error = runStage(at, pipeline))
                          return error;
                        return at == Stage::Fake ? checkDeclaredSizes()
                                                 : llvm::Error::success();
                      });
    seconds.push_back({at, secondsSince(start)});
    if (!ok) {
      blameText(before);
      writeReproducer(at);
      return false;
    }
    stage = at;
  }
  return true;
}

bool Session::runTo(Stage last) {
  // Stage emit needs to know where to: see compile.
  return state->runStages(std::min(last, Stage::Codegen));
}

bool Session::compile(const std::string &outputBase) {
  state->outputBase = outputBase;
  return state->runStages(Stage::Emit);
}

const CompiledFiles &Session::files() const { return state->files; }

std::string Session::print(bool locations) const {
  std::string text;
  if (!state->module)
    return text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo();
  state->module->print(os, flags);
  os << '\n';
  return text;
}

const std::vector<Diagnostic> &Session::diagnostics() const {
  return state->diagnostics;
}

int Session::exitCode() const {
  int worst = 0;
  for (const Diagnostic &d : state->diagnostics)
    worst = std::max(worst, static_cast<int>(d.exitClass()));
  return worst;
}

const std::vector<std::pair<Stage, double>> &Session::stageSeconds() const {
  return state->seconds;
}

mlir::MLIRContext &Session::context() { return state->context(); }
mlir::ModuleOp Session::module() const { return *state->module; }

} // namespace ft
