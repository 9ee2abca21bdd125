//===- Bench.cpp - foretrace bench -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/foretrace/LoadedArtefact.h"
#include "tools/foretrace/Output.h"
#include "tools/foretrace/Verbs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <memory>

namespace ft::cli {

namespace {
struct BenchVerb {
  CompileOptions common;
  RunInputs inputs;
  double seconds = 1;
  bool fake = false;
  bool profile = false;

  int run() const;

private:
  int checkFlags() const;
  int runFake() const;
};

using Clock = std::chrono::steady_clock;

struct Phase {
  const char *name;
  RunPhase phase;
  std::vector<double> ms;
};
} // namespace

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// 0, or 2: values and combinations that make no sense.
int BenchVerb::checkFlags() const {
  constexpr double kLongest = 1e6; // eleven days
  if (!(seconds >= 0 && seconds <= kLongest))
    return fail(DiagId::BadCommandLine, "--seconds",
                llvm::formatv("{0} is no time to spend on runs", seconds).str(),
                "it takes a number from 0 to 1000000");
  if (!fake)
    return 0;
  const std::pair<const char *, bool> unused[] = {
      {"--input", !inputs.files.empty()},
      {"--size", !inputs.sizes.empty()},
      {"--hyper", !inputs.hypers.empty()},
      {"--profile", profile},
      {"--start-from", !common.startFrom.empty()},
      {"--stop-after", !common.stopAfter.empty()}};
  for (auto [flag, given] : unused)
    if (given)
      return fail(DiagId::BadCommandLine, flag,
                  "bench --fake propagates the model and runs nothing",
                  "foretrace bench MODEL --fake");
  if (isSharedLibrary(common.model))
    return fail(DiagId::BadCommandLine, "--fake",
                "a compiled model has nothing left to propagate",
                "foretrace bench MODEL.pt2 --fake");
  return 0;
}

/// The model is read, and only propagated.
int BenchVerb::runFake() const {
  Options options;
  if (int code = common.fill(options))
    return code;
  Session session(options);
  FakeTiming timing;
  bool ok = session.load(common.model) && timeFake(session, seconds, timing);
  report(session.diagnostics());
  if (!ok)
    return session.exitCode();
  double us = timing.seconds * 1e6;
  double ns = timing.nodes ? us * 1e3 / static_cast<double>(timing.nodes) : 0;
  if (common.json)
    return writeJson(llvm::json::Object{
        {"fake", llvm::json::Object{{"nodes", int64_t(timing.nodes)},
                                    {"total_us", us},
                                    {"ns_per_node", ns},
                                    {"runs", int64_t(timing.runs)},
                                    {"cache", cacheJson(timing.cache)}}}});
  return writeProduct(llvm::formatv(
      "fake   min {0:f1} us, {1} calls, {2:f0} ns each, {3} runs\n"
      "cache  {4}\n",
      us, timing.nodes, ns, timing.runs, cacheText(timing.cache)));
}

int BenchVerb::run() const {
  if (int code = checkFlags())
    return code;
  if (fake)
    return runFake();
  if (profile)
    return failLater("bench --profile",
                     "compiled models do not time their kernels yet");
  Clock::time_point start = Clock::now();
  LoadedArtefact artefact;
  if (int code = artefact.open(common))
    return code;
  Runner &runner = artefact.runner;
  if (int code = inputs.set(runner))
    return code;
  // The first run ends the compilation and warms the caches for the rest.
  bool ok = artefact.run();
  double compileSeconds = secondsSince(start);

  std::vector<Phase> phases = {{"forward", RunPhase::Forward, {}}};
  if (runner.isTrained()) {
    phases.push_back({"backward", RunPhase::Backward, {}});
    if (runner.hasOptimizer())
      phases.push_back({"update", RunPhase::Update, {}});
    phases.push_back({"step", RunPhase::Step, {}});
  }
  Clock::time_point begin = Clock::now();
  while (ok && (phases[0].ms.empty() || secondsSince(begin) < seconds))
    for (Phase &phase : phases) {
      ok = ok && artefact.run(phase.phase);
      phase.ms.push_back(runner.lastSeconds() * 1e3);
    }
  if (!ok) {
    report(runner.diagnostics());
    return runner.exitCode();
  }
  llvm::json::Object object;
  std::string text;
  for (Phase &phase : phases) {
    llvm::sort(phase.ms);
    double least = phase.ms.front(), median = phase.ms[phase.ms.size() / 2];
    object[phase.name] = llvm::json::Object{{"min_ms", least},
                                            {"median_ms", median},
                                            {"runs", int64_t(phase.ms.size())}};
    text += llvm::formatv("{0,-9}min {1:f3} ms, median {2:f3} ms, {3} runs\n",
                          phase.name, least, median, phase.ms.size())
                .str();
  }
  object["compile_s"] = compileSeconds;
  if (common.json)
    return writeJson(std::move(object));
  text +=
      llvm::formatv("{0}  {1:f3} s to the end of the first run\n",
                    artefact.compiled ? "compile" : "load   ", compileSeconds)
          .str();
  return writeProduct(text);
}

void addBench(CLI::App &app, int &exitCode) {
  CLI::App *verb =
      app.add_subcommand("bench", "measures latency and compile time");
  auto state = std::make_shared<BenchVerb>();
  addRunOptions(*verb, state->common, state->inputs);
  verb->add_option("--seconds", state->seconds,
                   "time to spend on runs; default 1, at least one run");
  verb->add_flag("--fake", state->fake,
                 "time fake propagation alone, import excluded");
  verb->add_flag("--profile", state->profile,
                 "time each kernel (not in this build)");
  verb->callback([state, &exitCode] { exitCode = state->run(); });
}

} // namespace ft::cli
