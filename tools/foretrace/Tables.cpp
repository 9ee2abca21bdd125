//===- Tables.cpp - foretrace stages, targets and explain ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Targets.h"
#include "tools/foretrace/Output.h"
#include "tools/foretrace/Verbs.h"

#include <memory>

namespace ft::cli {

//===----------------------------------------------------------------------===//
// stages
//===----------------------------------------------------------------------===//

static int printStages(bool json) {
  llvm::json::Array array;
  std::vector<std::vector<std::string>> rows = {
      {"stage", "in this build", "folder", "what it does"}};
  for (const StageInfo &info : allStages()) {
    bool here = stageAvailable(info.stage);
    rows.push_back({info.name, here ? "yes" : "no", info.folder, info.help});
    array.push_back(llvm::json::Object{{"name", info.name},
                                       {"available", here},
                                       {"folder", info.folder},
                                       {"help", info.help}});
  }
  return json ? writeJson(llvm::json::Object{{"stages", std::move(array)}})
              : writeProduct(table(rows));
}

void addStages(CLI::App &app, int &exitCode) {
  CLI::App *verb = app.add_subcommand("stages", "lists the stages, in order");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "print JSON");
  verb->callback([json, &exitCode] { exitCode = printStages(*json); });
}

//===----------------------------------------------------------------------===//
// targets
//===----------------------------------------------------------------------===//

static int printTargets(bool json) {
  std::vector<std::string> cpus = knownCpus();
  if (json) {
    llvm::json::Array names;
    for (const std::string &cpu : cpus)
      names.push_back(cpu);
    return writeJson(llvm::json::Object{
        {"targets",
         llvm::json::Array{llvm::json::Object{{"name", "cpu"},
                                              {"host", describeCpu("")},
                                              {"cpus", std::move(names)}}}}});
  }
  std::string text = "cpu (default), for --cpu one of\n";
  std::string line = " ";
  for (const std::string &cpu : cpus) {
    if (line.size() + 1 + cpu.size() > 78) {
      text += line + '\n';
      line = " ";
    }
    line += ' ' + cpu;
  }
  text += line + "\nthis machine: " + describeCpu("") + '\n';
  return writeProduct(text);
}

void addTargets(CLI::App &app, int &exitCode) {
  CLI::App *verb =
      app.add_subcommand("targets", "lists what code can be generated for");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "print JSON");
  verb->callback([json, &exitCode] { exitCode = printTargets(*json); });
}

//===----------------------------------------------------------------------===//
// explain
//===----------------------------------------------------------------------===//

namespace {
struct ExplainVerb {
  std::string id, model;
  bool json = false;

  int run() const;
};
} // namespace

int ExplainVerb::run() const {
  if (!model.empty())
    return failLater("explaining the guards of a model",
                     "sizes are static until the shape environment is there");
  llvm::json::Array array;
  std::vector<std::vector<std::string>> rows;
  for (const DiagnosticInfo &info : allDiagnostics()) {
    if (!id.empty() && info.code != id)
      continue;
    int code = static_cast<int>(info.exitClass);
    rows.push_back({info.code, info.summary,
                    "exit code " + std::to_string(code) + ": " +
                        exitClassText(info.exitClass)});
    array.push_back(
        llvm::json::Object{{"id", info.code},
                           {"summary", info.summary},
                           {"exit_code", code},
                           {"exit_class", exitClassText(info.exitClass)}});
  }
  if (rows.empty())
    return fail(DiagId::BadCommandLine, "explain",
                "no diagnostic is called '" + id + "'",
                "`foretrace explain` lists all of them");
  return json ? writeJson(llvm::json::Object{{"diagnostics", std::move(array)}})
              : writeProduct(table(rows));
}

void addExplain(CLI::App &app, int &exitCode) {
  CLI::App *verb = app.add_subcommand(
      "explain", "says what the id of a message means (all ids without one)");
  auto state = std::make_shared<ExplainVerb>();
  verb->add_option("ID", state->id, "FT0101");
  verb->add_option("MODEL", state->model,
                   "explain the guards of this model (not in this build)");
  verb->add_flag("--json", state->json, "print JSON");
  verb->callback([state, &exitCode] { exitCode = state->run(); });
}

} // namespace ft::cli
