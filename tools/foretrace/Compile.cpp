//===- Compile.cpp - foretrace compile -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Targets.h"
#include "tools/foretrace/CompileOptions.h"
#include "tools/foretrace/Output.h"
#include "tools/foretrace/Verbs.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace ft::cli {

namespace {
struct CompileVerb {
  CompileOptions common;
  std::string output;

  int run() const;
};
} // namespace

/// PATH of PATH.so has to end in a name: "." would become "..so".
static int checkOutput(const std::string &output) {
  llvm::StringRef name = llvm::StringRef(output).rsplit('/').second;
  if (!llvm::StringRef(output).contains('/'))
    name = output;
  if (name.empty() || name == "." || name == "..") {
    std::string folder = name.empty() ? output : output + "/";
    return fail(DiagId::BadCommandLine, "--output",
                "'" + output + "' names a folder",
                "give it the name of the model too: " + folder + "model");
  }
  return 0;
}

/// "mlp.so" means the same as "mlp".
static std::string withoutSuffix(llvm::StringRef output) {
  output.consume_back(".so");
  return output.str();
}

/// Three files are written beside each other: a pipe or a device is no place
/// for them.
static int checkOutputBase(const std::string &output) {
  namespace fs = llvm::sys::fs;
  fs::file_status status;
  if (output != "-" &&
      (fs::status(output, status) || fs::is_regular_file(status) ||
       fs::is_directory(status)))
    return 0;
  return fail(DiagId::BadCommandLine, "--output",
              "'" + output + "' is no place for the files of a model",
              "PATH stands for PATH.so and PATH.h");
}

static llvm::json::Object secondsJson(const Session &session) {
  llvm::json::Object stages;
  for (auto [stage, seconds] : session.stageSeconds())
    stages[stageInfo(stage).name] = seconds;
  return stages;
}

int CompileVerb::run() const {
  Options options;
  if (int code = common.fill(options))
    return code;
  if (common.stopAfter.empty() && output.empty())
    return fail(DiagId::BadCommandLine, "compile", "--output is required",
                "foretrace compile MODEL -o PATH writes PATH.so and PATH.h");

  std::string base = common.stopAfter.empty() ? withoutSuffix(output) : output;
  if (!output.empty())
    if (int code = checkOutput(base))
      return code;
  if (common.stopAfter.empty())
    if (int code = checkOutputBase(base))
      return code;
  if (common.json && !common.stopAfter.empty())
    return fail(DiagId::BadCommandLine, "--json",
                "with --stop-after the output is the module's text",
                "foretrace inspect MODEL --stage STAGE --json");

  Session session(options);
  bool ok = session.load(common.model);
  if (ok && !common.stopAfter.empty()) {
    std::optional<Stage> last = findStage(common.stopAfter);
    if (*last == Stage::Emit)
      return fail(DiagId::BadCommandLine, "--stop-after",
                  "emit is the last stage", "leave --stop-after out");
    ok = session.runTo(*last);
    report(session.diagnostics());
    if (common.time)
      reportTimes(session);
    return ok ? writeProduct(session.print(/*locations=*/true), output)
              : session.exitCode();
  }
  if (ok) {
    llvm::errs() << "compiling for " << describeCpu(options.cpu) << '\n';
    ok = session.compile(base);
  }
  report(session.diagnostics());
  if (common.time)
    reportTimes(session);
  if (!ok)
    return session.exitCode();

  const CompiledFiles &files = session.files();
  if (common.json)
    return writeJson(llvm::json::Object{{"library", files.library},
                                        {"header", files.header},
                                        {"weights", files.weights},
                                        {"target", describeCpu(options.cpu)},
                                        {"seconds", secondsJson(session)}});
  return 0;
}

void addCompile(CLI::App &app, int &exitCode) {
  CLI::App *verb = app.add_subcommand(
      "compile", "writes PATH.so, PATH.h and, for large weights, PATH.weights");
  auto state = std::make_shared<CompileVerb>();
  state->common.addTo(*verb, "a .pt2 archive or .mlir text");
  verb->add_option("-o,--output", state->output,
                   "PATH (or PATH.so); with --stop-after the file for the "
                   "module");
  verb->callback([state, &exitCode] { exitCode = state->run(); });
}

} // namespace ft::cli
