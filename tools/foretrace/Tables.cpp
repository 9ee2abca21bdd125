//===- Tables.cpp - foretrace stages, targets and explain ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/GuardReport.h"
#include "compiler/driver/Targets.h"
#include "tools/foretrace/CompileOptions.h"
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
    llvm::json::Array chips;
    for (const std::string &chip : knownChips())
      chips.push_back(chip);
    return writeJson(llvm::json::Object{
        {"targets",
         llvm::json::Array{llvm::json::Object{{"name", "cpu"},
                                              {"host", describeCpu("")},
                                              {"cpus", std::move(names)}},
                           llvm::json::Object{{"name", "cuda"},
                                              {"chips", std::move(chips)}}}}});
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
  text += line + "\nthis machine: " + describeCpu("") + "\ncuda:CHIP for";
  for (const std::string &chip : knownChips())
    text += ' ' + chip;
  text += '\n';
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
  std::string id;
  CompileOptions common;

  int run() const;
  int explainModel() const;
};
} // namespace

/// The story of a guard.
int ExplainVerb::explainModel() const {
  Options options;
  if (int code = common.fill(options))
    return code;
  Session session(options);
  bool ok = session.load(common.model) && session.runTo(Stage::Fake);
  report(session.diagnostics());
  if (!ok)
    return session.exitCode();
  std::string story =
      common.json ? explainGuardJson(session, id) : explainGuard(session, id);
  if (story.empty())
    return fail(DiagId::BadCommandLine, "explain",
                "the model has no guard '" + id + "'",
                "`foretrace inspect --guards " + common.model + "` lists them");
  return writeProduct(story);
}

int ExplainVerb::run() const {
  if (!common.model.empty() && id.rfind("FT", 0) != 0)
    return explainModel();
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
  return common.json
             ? writeJson(llvm::json::Object{{"diagnostics", std::move(array)}})
             : writeProduct(table(rows));
}

void addExplain(CLI::App &app, int &exitCode) {
  CLI::App *verb = app.add_subcommand(
      "explain", "says what the id of a message means (all ids without one), "
                 "or the story of a guard of a model");
  auto state = std::make_shared<ExplainVerb>();
  verb->add_option("ID", state->id, "FT0101; g0 of a model");
  state->common.addTo(*verb, "the model whose guard it is", false);
  verb->callback([state, &exitCode] { exitCode = state->run(); });
}

} // namespace ft::cli
