//===- ModelsCommand.cpp - ft-conformance models --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/ModelsCommand.h"

#include "compiler/driver/Session.h"
#include "compiler/driver/ValueTable.h"
#include "tests/conformance/Compare.h"
#include "tests/conformance/CompiledModel.h"
#include "tests/conformance/DataFile.h"
#include "tests/conformance/EmulatedDevice.h"
#include "tests/conformance/GraphBuilder.h"
#include "tests/conformance/ModelCase.h"
#include "tests/conformance/ScratchFolder.h"
#include "tests/conformance/SizesCheck.h"
#include "tests/conformance/TrainCheck.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace ft;
using namespace ft::conformance;

std::vector<unsigned> ft::conformance::casesOf(llvm::StringRef variant,
                                               unsigned recorded) {
  std::vector<unsigned> cases = {0};
  if (variant == "dynb")
    cases.push_back(recorded > 2 ? 2 : 1);
  else if (variant == "dynbs" || variant == "dd")
    cases.push_back(1);
  if (variant == "train")
    for (unsigned i = 1; i < recorded; ++i)
      cases.push_back(i);
  if (variant.starts_with("dyn"))
    for (unsigned i = 3; i < recorded; ++i)
      cases.push_back(i);
  llvm::erase_if(cases, [&](unsigned i) { return i >= recorded; });
  return cases;
}

namespace {
class ModelRunner {
public:
  ModelRunner(const ModelsOptions &options, Report &report)
      : options(options), report(report) {}

  /// `variant` as in ModelsOptions; `stem` is "bert.static", "dd_cond".
  void run(llvm::StringRef name, llvm::StringRef variant,
           const std::string &stem);
  void runCore(llvm::StringRef name, const std::string &stem);

private:
  std::string file(const llvm::Twine &name) const {
    return options.folder + "/" + name.str();
  }
  /// `onHost`: the same model where the archive has it, if that is elsewhere.
  void compareNodes(const ModelMeta &meta, const Session &session,
                    const Session *onHost = nullptr);
  void compareNodes(const std::vector<ModelNode> &nodes, llvm::StringRef graph,
                    const llvm::StringMap<mlir::Value> &values,
                    FactBase &claims,
                    const llvm::StringMap<mlir::Value> *ofHost);
  void runCase(unsigned number, const ModelRun &run, const DataFile &data,
               CompiledModel &model);
  void fail(const llvm::Twine &what, const llvm::Twine &expected,
            const llvm::Twine &got) {
    report.fail((label + " " + what).str(), label, expected.str(), got.str());
  }

  const ModelsOptions &options;
  Report &report;
  ScratchFolder scratch;
  std::string label;
};
} // namespace

static std::string firstDiagnostic(const Session &session) {
  const std::vector<Diagnostic> &list = session.diagnostics();
  if (list.empty())
    return "no diagnostic";
  std::string text = list.front().render();
  if (list.size() > 1)
    text += " (and " + std::to_string(list.size() - 1) + " more)";
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// The values of the program by the archive's names, and of each graph inside
/// it, by its name with those of the graphs around it.
static std::map<std::string, llvm::StringMap<mlir::Value>>
namedValues(const Session &session) {
  std::map<std::string, llvm::StringMap<mlir::Value>> graphs;
  for (const ValueRow &row : ValueTable(session.module(), false).rows)
    graphs[row.graph].try_emplace(row.name, row.value);
  return graphs;
}

/// Whether the annotations say other things than that they are elsewhere.
static bool differs(std::optional<TensorMeta> a, std::optional<TensorMeta> b) {
  return a && b && (a->sizes != b->sizes || a->strides != b->strides);
}

void ModelRunner::compareNodes(const std::vector<ModelNode> &nodes,
                               llvm::StringRef graph,
                               const llvm::StringMap<mlir::Value> &values,
                               FactBase &claims,
                               const llvm::StringMap<mlir::Value> *ofHost) {
  for (const ModelNode &node : nodes) {
    // Results of multi-result nodes are compared under their getitem nodes;
    // those that nothing takes are in no graph.
    if (node.value.kind != NodeValue::Tensor)
      continue;
    std::string name =
        graph.empty() ? node.name : (graph + "." + node.name).str();
    mlir::Value value = values.lookup(node.name);
    TensorSpec spec = node.value.spec;
    if (options.emulated && spec.device.kind == Device::Cpu)
      spec.device = *Device::parse("cuda:0");
    std::string expected = spec.str();
    if (!value) {
      fail(name, expected, "no value of that name");
      continue;
    }
    std::optional<TensorMeta> got = metaOf(value);
    if (got && spec.describes(*got, /*layoutOfData=*/false, &claims))
      report.pass();
    else if (ofHost && differs(got, metaOf(ofHost->lookup(node.name))))
      report.skip("device-rule");
    else
      fail(name, expected, got ? got->str() : "no annotation");
  }
}

void ModelRunner::compareNodes(const ModelMeta &meta, const Session &session,
                               const Session *onHost) {
  std::map<std::string, llvm::StringMap<mlir::Value>> graphs =
      namedValues(session);
  std::map<std::string, llvm::StringMap<mlir::Value>> hostGraphs;
  if (onHost)
    hostGraphs = namedValues(*onHost);
  auto ofHost = [&](const std::string &graph) {
    return onHost ? &hostGraphs[graph] : nullptr;
  };
  // Under the ranges that were claimed: Min(48, 48*s27) is 48 for s27 >= 2.
  SymContext &symbols = session.module()
                            .getContext()
                            ->getLoadedDialect<FtDialect>()
                            ->symbolContext();
  FactBase claims(symbols);
  for (const auto &[name, range] : meta.ranges) {
    auto hint = meta.hints.find(name);
    claims.declare(symbols.symbol(name), range,
                   hint == meta.hints.end() ? range.lo : hint->second);
  }
  compareNodes(meta.nodes, "", graphs[""], claims, ofHost(""));
  for (const auto &[name, nodes] : meta.subgraphs)
    compareNodes(nodes, name, graphs[name], claims, ofHost(name));
}

void ModelRunner::runCase(unsigned number, const ModelRun &run,
                          const DataFile &data, CompiledModel &model) {
  std::string prefix = "case " + std::to_string(number) + " ";
  llvm::Expected<std::vector<HostTensor>> inputs = inputsOf(run, data);
  if (!inputs)
    return fail(prefix + "inputs", "data", llvm::toString(inputs.takeError()));
  llvm::Expected<std::vector<HostTensor>> outputs = model.forward(*inputs);
  if (!outputs)
    return fail(prefix + "run", "values", llvm::toString(outputs.takeError()));
  if (outputs->size() != run.outputs.size())
    return fail(prefix + "run", llvm::Twine(run.outputs.size()) + " outputs",
                llvm::Twine(outputs->size()));
  auto compare = [&](const llvm::Twine &what, const TensorView &got,
                     const TensorView &want) {
    if (auto difference = compareTensors(got, want, Accuracy::Accumulated))
      fail(prefix + what, "equal values", *difference);
    else
      report.pass();
  };
  for (auto [i, want] : llvm::enumerate(run.outputs)) {
    TensorView got = (*outputs)[i].view();
    if (!want.tensor) {
      HostTensor expected = numberTensor(want.number);
      compare("output " + llvm::Twine(i), got, expected.view());
      continue;
    }
    llvm::Expected<TensorView> expected = data.view(*want.tensor);
    if (expected)
      compare("output " + llvm::Twine(i), got, *expected);
    else
      fail(prefix + "output", "data", llvm::toString(expected.takeError()));
  }
  for (const auto &[name, stored] : run.buffersAfter) {
    llvm::Expected<TensorView> want = data.view(stored);
    if (!want) {
      fail(prefix + name, "data", llvm::toString(want.takeError()));
      continue;
    }
    llvm::Expected<HostTensor> got = model.state(name);
    if (got)
      compare("buffer " + name, got->view(), *want);
    else
      fail(prefix + "buffer " + name, "its value",
           llvm::toString(got.takeError()));
  }
}

void ModelRunner::run(llvm::StringRef name, llvm::StringRef variant,
                      const std::string &stem) {
  label = stem;
  // Without --check meta a file is not needed, where there is none.
  std::string metaFile = file(stem + ".meta.json");
  llvm::Expected<ModelMeta> meta = ModelMeta();
  if (options.meta || llvm::sys::fs::exists(metaFile))
    meta = readModelMeta(metaFile);
  if (!meta)
    return fail("metadata", "a file", llvm::toString(meta.takeError()));
  std::string recordedAs = variant == "train" ? stem : name.str();
  llvm::Expected<std::vector<ModelRun>> runs =
      readModelRuns(file(recordedAs + ".io.json"));
  if (!runs)
    return fail("values", "a file", llvm::toString(runs.takeError()));
  llvm::Expected<DataFile> data = DataFile::open(file(recordedAs + ".io.bin"));
  if (!data)
    return fail("values", "a file", llvm::toString(data.takeError()));

  Options sessionOptions;
  sessionOptions.catchCrashes = true;
  sessionOptions.checks = options.checks;
  sessionOptions.loopBounds = options.loopBounds;
  sessionOptions.memoryBudget = options.memoryBudget;
  if (options.emulated)
    moveToEmulatedDevice(sessionOptions);
  if (options.meta) {
    Session session(sessionOptions);
    // What the archive says is true of the CPU: some operators have results of
    // other sizes elsewhere.
    std::optional<Session> onHost;
    if (options.emulated) {
      Options plain = sessionOptions;
      plain.target = "cpu";
      plain.device = "";
      onHost.emplace(plain);
      if (!onHost->load(file(stem + ".pt2")) || !onHost->runTo(Stage::Fake))
        onHost.reset();
    }
    if (session.load(file(stem + ".pt2")) && session.runTo(Stage::Fake))
      compareNodes(*meta, session, onHost ? &*onHost : nullptr);
    else
      fail("propagation", "annotated values", firstDiagnostic(session));
  }
  if (!options.values && !options.sizes)
    return;
  std::vector<unsigned> cases;
  for (unsigned i : casesOf(variant, runs->size()))
    if (i < meta->refusals.size() && meta->refusals[i])
      report.skip("refused");
    else
      cases.push_back(i);
  if (cases.empty() && !options.sizes)
    return;
  bool noGradients = runs->empty() || runs->front().gradients.empty();
  if (options.grads && noGradients && !options.sizes)
    return report.skip("no gradients");
  sessionOptions.training = options.grads;
  Session session(sessionOptions);
  if (!session.load(file(stem + ".pt2")) ||
      !session.compile(scratch.file(stem))) {
    std::string why = firstDiagnostic(session);
    if (options.emulated && isWithoutDeviceCode(why))
      return report.skip("no-cuda", label, why);
    if (session.diagnostics().front().id == DiagId::BudgetNotReached)
      return report.skip("budget", label, why);
    return fail("compilation", "an artefact", why);
  }
  if (options.sizes && variant.starts_with("dyn") && !runs->empty())
    SizesCheck(stem, file(stem + ".pt2"), runs->front(), *data, scratch,
               options.grads, report)
        .run(session.files().library);
  if (!options.values || (options.grads && noGradients))
    return;
  for (unsigned i : cases) {
    // A fresh instance for each case: buffers start as the archive has them.
    if (options.grads) {
      TrainCheck(stem + " case " + std::to_string(i), *data, report)
          .run(session.files().library, (*runs)[i]);
      continue;
    }
    auto model = CompiledModel::load(session.files().library);
    if (model)
      runCase(i, (*runs)[i], *data, **model);
    else
      fail("load", "a model", llvm::toString(model.takeError()));
  }
}

void ModelRunner::runCore(llvm::StringRef name, const std::string &stem) {
  label = stem + ".core";
  if (!options.meta)
    return;
  llvm::Expected<ModelMeta> meta =
      readModelMeta(file(stem + ".core.meta.json"));
  if (!meta)
    return fail("metadata", "a file", llvm::toString(meta.takeError()));
  Options sessionOptions;
  sessionOptions.catchCrashes = true;
  Session session(sessionOptions);
  llvm::Expected<std::string> text = buildGraph(session.context(), name, *meta);
  if (!text)
    return fail("graph", "a program", llvm::toString(text.takeError()));
  if (session.loadText(*text, label) && session.runTo(Stage::Fake))
    compareNodes(*meta, session);
  else
    fail("propagation", "annotated values", firstDiagnostic(session));
}

llvm::Error ft::conformance::runModels(const ModelsOptions &options,
                                       Report &report) {
  // Names of models in order, from the files of recorded values.
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(options.folder, error), end;
       at != end && !error; at.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(at->path());
    if (!name.consume_back(".io.json"))
      continue;
    name.consume_back(".train");
    if (!name.contains('.') && !llvm::is_contained(names, name))
      names.push_back(name.str());
  }
  if (error)
    return llvm::createStringError("cannot read '" + options.folder +
                                   "': " + error.message());
  llvm::sort(names);
  auto wants = [](const std::vector<std::string> &list, llvm::StringRef name) {
    return list.empty() || llvm::is_contained(list, name);
  };
  ModelRunner runner(options, report);
  auto exists = [&](const std::string &name) {
    return llvm::sys::fs::exists(options.folder + "/" + name);
  };
  for (const std::string &name : names) {
    if (!wants(options.only, name))
      continue;
    for (llvm::StringRef variant : {"static", "dynb", "dynbs", "train"}) {
      std::string stem = name + "." + variant.str();
      if (wants(options.variants, variant) && exists(stem + ".pt2"))
        runner.run(name, variant, stem);
      llvm::StringRef core = variant == "static" ? "core" : "core-dyn";
      if (wants(options.variants, core) && exists(stem + ".core.meta.json"))
        runner.runCore(name, stem);
    }
    if (wants(options.variants, "dd") && exists(name + ".pt2"))
      runner.run(name, "dd", name);
  }
  return llvm::Error::success();
}
