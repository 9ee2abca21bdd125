//===- Inspect.cpp - foretrace inspect -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/DeviceReport.h"
#include "compiler/driver/GuardReport.h"
#include "compiler/driver/MemoryCurve.h"
#include "compiler/driver/Report.h"
#include "tools/foretrace/CompileOptions.h"
#include "tools/foretrace/Output.h"
#include "tools/foretrace/Verbs.h"

#include <memory>

namespace ft::cli {

namespace {
struct InspectVerb {
  CompileOptions common;
  std::string stage;
  std::string format;
  std::string output;
  bool guards = false;
  bool kernels = false;
  bool curve = false;

  int run();
  int printCurve(const Options &options, const std::string &format) const;
};
} // namespace

/// What was asked for, in the words of the library.
static std::string render(const InspectVerb &verb, const std::string &format,
                          const Session &session) {
  if (verb.guards)
    return format == "json" ? reportGuardsJson(session) : reportGuards(session);
  bool hasPtx = session.stage() == Stage::Codegen && isForDevice(session);
  if (verb.kernels && hasPtx)
    return format == "json" ? deviceKernelsJson(session)
                            : deviceKernels(session);
  if (hasPtx && format == "text")
    return devicePtx(session);
  if (verb.kernels && format != "json")
    return reportKernels(session);
  if (format == "json")
    return reportJson(session);
  if (format == "dot")
    return reportDot(session);
  return format == "mlir" ? session.print() : reportText(session);
}

int InspectVerb::printCurve(const Options &options,
                            const std::string &format) const {
  if (format != "text" && format != "json")
    return fail(DiagId::BadCommandLine, "--format",
                "the curve is text or json, not " + format);
  if (guards || kernels)
    return fail(DiagId::BadCommandLine, "--curve",
                std::string("--curve and ") +
                    (guards ? "--guards" : "--kernels") +
                    " print different things",
                "give one");
  if (!common.memoryBudget.empty())
    return fail(DiagId::BadCommandLine, "--curve",
                "the curve has all budgets, not one of --memory-budget",
                "leave --memory-budget out");
  for (const std::string &name : {stage, common.stopAfter})
    if (!name.empty() && name != "partition")
      return fail(DiagId::BadCommandLine, "--curve",
                  "the curve is one of stage partition, not " + name,
                  "leave --stage out");
  Session session(options);
  std::optional<std::vector<CurvePoint>> points;
  if (session.load(common.model))
    points = memoryCurve(session);
  report(session.diagnostics());
  if (common.time)
    reportTimes(session);
  if (!points)
    return session.exitCode();
  return writeProduct(
      format == "json" ? curveJson(*points) : curveText(*points), output);
}

int InspectVerb::run() {
  Options options;
  common.training |= curve;
  common.partitions = stage == "partition";
  if (int code = common.fill(options))
    return code;
  std::string kind = common.json ? "json" : format.empty() ? "text" : format;
  if (kind == "html")
    return failLater("--format html", "reports are text, mlir, json and dot");
  if (kind != "text" && kind != "mlir" && kind != "json" && kind != "dot")
    return fail(DiagId::BadCommandLine, "--format",
                "no format is called '" + kind + "'",
                "the formats are text, mlir, json and dot");

  if (!stage.empty() && !common.stopAfter.empty() && stage != common.stopAfter)
    return fail(DiagId::BadCommandLine, "--stage",
                "--stop-after names another stage, '" + common.stopAfter + "'",
                "for inspect the two options mean the same: give one");

  if (curve)
    return printCurve(options, kind);

  // --kernels looks at what lower formed; everything else at the annotations.
  std::string name = !stage.empty()              ? stage
                     : !common.stopAfter.empty() ? common.stopAfter
                     : kernels                   ? "lower"
                                                 : "fake";
  std::optional<Stage> last = findStage(name);
  if (!last)
    return fail(DiagId::BadCommandLine, "--stage",
                "no stage is called '" + name + "'",
                "`foretrace stages` lists them");
  if (*last == Stage::Emit)
    return fail(DiagId::BadCommandLine, "--stage",
                "stage emit writes files and leaves no module",
                "`foretrace compile` writes them");

  Session session(options);
  bool ok = session.load(common.model);
  // A module that was printed is shown as it stands.
  if (ok && stage.empty() && common.stopAfter.empty() && session.stage())
    last = std::max(*last, *session.stage());
  ok = ok && session.runTo(*last);
  report(session.diagnostics());
  if (common.time)
    reportTimes(session);
  if (!ok)
    return session.exitCode();
  std::string product = render(*this, kind, session);
  // What kernels are made of is known after lower, what they take of a GPU
  // after codegen.
  if (kernels && kind == "text" && *last == Stage::Lower &&
      isForDevice(session)) {
    if (!session.runTo(Stage::Codegen)) {
      report(session.diagnostics());
      return session.exitCode();
    }
    product += deviceKernels(session);
  }
  return writeProduct(product, output);
}

void addInspect(CLI::App &app, int &exitCode) {
  CLI::App *verb =
      app.add_subcommand("inspect", "prints the annotated program at a stage");
  auto state = std::make_shared<InspectVerb>();
  state->common.addTo(*verb, "a .pt2 archive or .mlir text");
  verb->add_option("--stage", state->stage,
                   "stage to stop after; default fake, lower with --kernels, "
                   "that of a module that was printed if it is later");
  verb->add_option("--format", state->format,
                   "text (default), mlir, json or dot");
  verb->add_option("-o,--output", state->output,
                   "file to write; default standard output");
  verb->add_flag("--guards", state->guards,
                 "print what the program asks of its inputs");
  verb->add_flag("--kernels", state->kernels,
                 "print the kernels; after stage codegen what those of a GPU "
                 "take of it");
  verb->add_flag("--curve", state->curve,
                 "print what a training step keeps, takes and does again at "
                 "each memory budget");
  verb->callback([state, &exitCode] { exitCode = state->run(); });
}

} // namespace ft::cli
