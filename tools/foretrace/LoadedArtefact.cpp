//===- LoadedArtefact.cpp - A model to run, compiled if need be *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/foretrace/LoadedArtefact.h"

#include "compiler/driver/Session.h"
#include "compiler/support/MappedFile.h"
#include "tools/foretrace/CrashGuard.h"
#include "tools/foretrace/Output.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <set>
#include <unistd.h>

namespace ft::cli {

/// The folder of this process, for the handler of Ctrl-C.
static std::string *removeOnInterrupt = nullptr;

static void interrupted() {
  if (removeOnInterrupt)
    llvm::sys::fs::remove_directories(*removeOnInterrupt);
  _exit(130);
}

int TemporaryFolder::create() {
  llvm::SmallString<128> made;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("foretrace", made))
    return fail(DiagId::CannotWrite, "",
                "no temporary folder can be made: " + error.message(),
                "set TMPDIR to a folder that is writable");
  folder = made.str().str();
  removeOnInterrupt = &folder;
  llvm::sys::SetInterruptFunction(interrupted);
  return 0;
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty())
    return;
  removeOnInterrupt = nullptr;
  llvm::sys::fs::remove_directories(folder);
}

bool isSharedLibrary(const std::string &path) {
  // What is no regular file may have no end (/dev/zero); the importer says so.
  llvm::Expected<MappedFile> file = MappedFile::open(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  return llvm::identify_magic(file->text()) ==
         llvm::file_magic::elf_shared_object;
}

int LoadedArtefact::open(const CompileOptions &common, FakeVerifier *verifier) {
  Options options;
  if (int code = common.fill(options))
    return code;
  if (!common.stopAfter.empty())
    return fail(DiagId::BadCommandLine, "--stop-after",
                "a model runs when all stages are done",
                "foretrace compile MODEL --stop-after STAGE");
  std::string library = common.model;
  if (!isSharedLibrary(library)) {
    if (int code = folder.create())
      return code;
    progress("compiling " + common.model);
    llvm::SmallString<128> base(folder.path());
    llvm::sys::path::append(base, "model");
    Session session(options);
    compiled = session.load(common.model) &&
               (!verifier || verifier->prepare(session)) &&
               session.compile(base.str().str());
    report(session.diagnostics());
    if (common.time)
      reportTimes(session);
    if (!compiled)
      return session.exitCode();
    library = session.files().library;
  } else if (verifier) {
    return fail(DiagId::BadCommandLine, "--verify-fake",
                "a compiled model has no annotations left",
                "foretrace run MODEL.pt2 --verify-fake");
  }
  // Kernels of custom operators are linked into a compiled model.
  crash = {DiagId::Internal, common.model, "the model crashed while it ran",
           ""};
  if (!options.plugins.empty())
    crash = {DiagId::PluginFailed, options.plugins.front(),
             "the model crashed while it ran, with the kernels of custom "
             "operators in it",
             ""};
  else if (!compiled)
    crash.help = "if custom operators are compiled into it, see to their "
                 "kernels; otherwise this is a bug in foretrace";
  bool opened;
  if (compiled) {
    opened = runner.open(library, common.threads, common.model);
  } else {
    // The system's loader believes all that a file says.
    CrashGuard guard({DiagId::LoadFailed, common.model,
                      "the file crashed while it was loaded",
                      "it is damaged, or no compiled model: compile the model "
                      "again"});
    opened = runner.open(library, common.threads, common.model);
  }
  if (opened)
    return 0;
  report(runner.diagnostics());
  return runner.exitCode();
}

bool LoadedArtefact::run(RunPhase phase) {
  CrashGuard guard(crash);
  return runner.run(phase);
}

void addRunOptions(CLI::App &verb, CompileOptions &common, RunInputs &inputs) {
  common.addTo(verb, "a .pt2 archive, .mlir text or a compiled .so");
  verb.add_option("--input", inputs.files,
                  "NAME=FILE.npy; inputs that are not given are made up")
      ->allow_extra_args(false);
  verb.add_option("--size", inputs.sizes,
                  "x:0=8: a size of the inputs that are made up; default: that "
                  "of the example the model was exported with")
      ->allow_extra_args(false);
  verb.add_option("--hyper", inputs.hypers,
                  "lr=0.1: a hyperparameter of the model's optimizer; "
                  "repeatable")
      ->allow_extra_args(false);
}

int RunInputs::set(Runner &runner) const {
  auto failed = [&] {
    report(runner.diagnostics());
    return runner.exitCode();
  };
  std::set<std::string> given;
  for (const std::string &input : files) {
    size_t equals = input.find('=');
    if (equals == std::string::npos || equals == 0 ||
        equals + 1 == input.size())
      return fail(DiagId::BadCommandLine, "--input",
                  "'" + input + "' is not NAME=FILE");
    std::string name = input.substr(0, equals);
    if (!given.insert(name).second)
      return fail(DiagId::BadCommandLine, "--input",
                  "the input '" + name + "' is given twice");
    if (!runner.setInput(name, input.substr(equals + 1)))
      return failed();
  }
  given.clear();
  for (const std::string &size : sizes) {
    size_t equals = size.rfind('=');
    int64_t number = 0;
    if (equals == std::string::npos || equals == 0 ||
        llvm::StringRef(size).substr(equals + 1).getAsInteger(10, number) ||
        number < 0)
      return fail(DiagId::BadCommandLine, "--size",
                  "'" + size + "' is not INPUT:DIM=SIZE", "as in x:0=8");
    std::string dim = size.substr(0, equals);
    if (!given.insert(dim).second)
      return fail(DiagId::BadCommandLine, "--size",
                  "the size of '" + dim + "' is given twice");
    if (!runner.setSize(dim, number))
      return failed();
  }
  given.clear();
  for (const std::string &hyper : hypers) {
    size_t equals = hyper.find('=');
    double number = 0;
    if (equals == std::string::npos || equals == 0 ||
        llvm::StringRef(hyper).substr(equals + 1).getAsDouble(number))
      return fail(DiagId::BadCommandLine, "--hyper",
                  "'" + hyper + "' is not NAME=NUMBER", "as in lr=0.1");
    std::string name = hyper.substr(0, equals);
    if (!given.insert(name).second)
      return fail(DiagId::BadCommandLine, "--hyper",
                  "'" + name + "' is given twice");
    if (!runner.setHyperparameter(name, number))
      return failed();
  }
  return 0;
}

} // namespace ft::cli
