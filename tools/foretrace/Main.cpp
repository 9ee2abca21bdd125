//===- Main.cpp - foretrace: the command line ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verbs over the public API (compiler/driver). Standard output is the product
// alone; everything else goes to standard error. Exit codes: see
// compiler/support/Diagnostic.h.

#include "compiler/driver/Version.h"
#include "tools/foretrace/Output.h"
#include "tools/foretrace/Verbs.h"

#include "llvm/Support/InitLLVM.h"

#include <algorithm>
#include <csignal>
#include <new>
#include <sstream>

int main(int argc, char **argv) {
  // A reader that goes away (`foretrace inspect … | head`) ends us quietly, as
  // it does other filters: LLVM's handlers are not for this signal.
  std::signal(SIGPIPE, SIG_DFL);
  // A file that grows beyond its limit is an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);

  CLI::App app("Compiles models to native code ahead of time.", "foretrace");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("foretrace ") +
                                        ft::foretraceVersion() + " (LLVM " +
                                        ft::llvmVersion() + ")");
  app.failure_message(CLI::FailureMessage::simple);

  // The first word that is no option, should it turn out not to be a verb.
  char **word = std::find_if(argv + std::min(argc, 1), argv + argc,
                             [](const char *arg) { return arg[0] != '-'; });
  const char *unknown = word == argv + argc ? nullptr : *word;

  int exitCode = 0;
  ft::cli::addCompile(app, exitCode);
  ft::cli::addInspect(app, exitCode);
  ft::cli::addRun(app, exitCode);
  ft::cli::addBench(app, exitCode);
  ft::cli::addEstimate(app, exitCode);
  ft::cli::addOps(app, exitCode);
  ft::cli::addStages(app, exitCode);
  ft::cli::addTargets(app, exitCode);
  ft::cli::addExplain(app, exitCode);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &e) { // --help, --version
    std::ostringstream text;
    int code = app.exit(e, text, text);
    int written = ft::cli::writeProduct(text.str());
    return written ? written : code;
  } catch (const CLI::ParseError &e) {
    return ft::cli::fail(ft::DiagId::BadCommandLine, "",
                         app.get_subcommands().empty() && unknown
                             ? std::string("no verb is called '") + unknown +
                                   "'"
                             : std::string(e.what()),
                         "see `foretrace --help` and `foretrace VERB --help`");
  } catch (const std::bad_alloc &) {
    return ft::cli::fail(ft::DiagId::LoadFailed, "",
                         "there is not enough memory");
  }
  return exitCode;
}
