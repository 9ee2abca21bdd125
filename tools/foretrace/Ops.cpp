//===- Ops.cpp - foretrace ops ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/OpTable.h"
#include "compiler/driver/Targets.h"
#include "tools/foretrace/Output.h"
#include "tools/foretrace/Verbs.h"

#include <memory>
#include <string>
#include <vector>

namespace ft::cli {

namespace {
struct OpsVerb {
  std::string missing, device;
  std::vector<std::string> plugins;
  bool json = false;

  int run() const;
  int printMissing() const;
};
} // namespace

int OpsVerb::printMissing() const {
  bool onGpu = llvm::StringRef(device).starts_with("cuda");
  if (std::string wrong = device.empty() ? "" : checkTarget("cpu", device);
      !wrong.empty())
    return fail(DiagId::BadCommandLine, "--device", wrong);
  Options options;
  options.plugins = plugins;
  options.catchCrashes = true;
  Session session(options);
  // A model with operators that nobody knows does not load, and that is the
  // answer.
  std::vector<MissingOp> ops;
  if (session.load(missing)) {
    ops = missingOps(session, onGpu);
  } else if (!unknownOps(session, ops)) {
    report(session.diagnostics());
    return session.exitCode();
  }
  llvm::json::Array array;
  std::vector<std::vector<std::string>> rows;
  for (const MissingOp &op : ops) {
    std::string lacking;
    for (const std::string &what : op.lacking)
      lacking += (lacking.empty() ? "" : ", ") + what;
    rows.push_back({op.name, std::to_string(op.count) + "x", lacking,
                    "first at " + op.where});
    array.push_back(
        llvm::json::Object{{"name", op.name},
                           {"count", op.count},
                           {"lacking", llvm::json::Array(op.lacking)},
                           {"where", op.where}});
  }
  return json ? writeJson(llvm::json::Object{{"missing", std::move(array)}})
              : writeProduct(table(rows));
}

int OpsVerb::run() const {
  if (!missing.empty())
    return printMissing();
  auto mark = [](bool has) { return std::string(has ? "yes" : "-"); };
  llvm::json::Array array;
  std::vector<std::vector<std::string>> rows = {
      {"overload", "family", "fake", "derivative", "cpu", "cuda", "recompute",
       "why no derivative"}};
  Options options;
  options.plugins = plugins;
  options.catchCrashes = true;
  Session session(options);
  std::vector<OpRow> table = opTable(), custom = customOps(session);
  if (session.exitCode()) {
    report(session.diagnostics());
    return session.exitCode();
  }
  table.insert(table.end(), custom.begin(), custom.end());
  for (const OpRow &op : table) {
    rows.push_back({op.name, op.family, mark(op.fake), op.derivative,
                    mark(op.cpu), mark(op.cuda), op.recompute, op.whyNone});
    llvm::json::Object object{{"name", op.name},
                              {"family", op.family},
                              {"fake", op.fake},
                              {"derivative", op.derivative},
                              {"cpu", op.cpu},
                              {"cuda", op.cuda},
                              {"recompute", op.recompute}};
    if (!op.whyNone.empty())
      object["why_no_derivative"] = op.whyNone;
    array.push_back(std::move(object));
  }
  return json ? writeJson(llvm::json::Object{{"ops", std::move(array)}})
              : writeProduct(cli::table(rows));
}

void addOps(CLI::App &app, int &exitCode) {
  CLI::App *verb = app.add_subcommand(
      "ops", "lists the operators and what each has: rule, derivative, code");
  auto state = std::make_shared<OpsVerb>();
  CLI::Option *missing =
      verb->add_option("--missing", state->missing,
                       "only what this model uses and cannot be compiled");
  verb->add_option("--device", state->device,
                   "with --missing: what this device lacks (cuda:N); default "
                   "cpu")
      ->needs(missing);
  verb->add_option("--plugin", state->plugins,
                   "a library with custom operators; repeatable");
  verb->add_flag("--json", state->json, "print JSON");
  verb->callback([state, &exitCode] { exitCode = state->run(); });
}

} // namespace ft::cli
