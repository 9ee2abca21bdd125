//===- Session.h - Compiles one model --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The public C++ API of the compiler; the command line uses nothing else.
//
//   ft::Session session;                        // options, see Options.h
//   if (!session.load("model.pt2") ||           // .pt2 or .mlir, by content
//       !session.compile("out/model"))          // out/model.so, .h, .weights
//     for (const ft::Diagnostic &d : session.diagnostics())
//       std::fputs(d.render().c_str(), stderr);
//
// or step by step: load, runTo(Stage::Fake), print, runTo(Stage::Lower), …
//
// Tests: tests/unit/driver, tests/tools, tests/consumer.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_COMPILER_DRIVER_SESSION_H
#define FORETRACE_COMPILER_DRIVER_SESSION_H

#include "compiler/driver/Options.h"
#include "compiler/driver/Stage.h"
#include "compiler/support/Diagnostic.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

/// A custom operator: see foretrace/plugin.h.
struct ft_op_registration;

namespace ft {

class FakeMode;

/// The files that a compilation wrote; `weights` is empty when the weights are
/// inside the library.
struct CompiledFiles {
  std::string library;
  std::string header;
  std::string weights;
};

/// One model on its way through the stages. Not thread-safe; sessions are
/// independent of each other. Functions that return bool give false after an
/// error, which diagnostics() then holds; the module is unspecified afterwards.
class FORETRACE_API Session {
public:
  explicit Session(Options options = {});
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  const Options &options() const;

  /// Registers a custom operator of this program, as a plug-in would
  /// (foretrace/plugin.h; ft_op_registration_init() makes an empty one). What
  /// it points to must live as long as this session, strings excepted; relative
  /// paths start at the working directory. Before the first load.
  bool registerOp(const ft_op_registration &op);
  /// Loads the plug-ins of the options now, which load does otherwise.
  bool loadPlugins();

  /// Reads a model. A .pt2 archive stands after stage import; .mlir text
  /// stands after the stage that its `ft.stage` names, or after import.
  bool load(const std::string &path);
  /// Reads .mlir text; `name` stands for the file in messages.
  bool loadText(const std::string &text, const std::string &name);

  /// Takes what was traced in C++ (foretrace/trace.h), which stands after stage
  /// fake. Fails with the mode's error if it has one. The mode may go on
  /// afterwards; the session has a copy. Data of its tensors are read by
  /// compile, and must be there until then.
  bool load(FakeMode &mode);

  /// Runs the stages that are left up to and including `last` (at most
  /// codegen: the last one writes files, see emit). A stage that the module
  /// has passed already is an error (FT0001).
  bool runTo(Stage last);
  /// The last stage that ran; nothing before load.
  std::optional<Stage> stage() const;

  /// Writes `outputBase`.so, .h and, when they are large, .weights. Runs what
  /// is left of the stages first.
  bool compile(const std::string &outputBase);
  /// What compile wrote.
  const CompiledFiles &files() const;

  /// The module as MLIR text. With `locations` the text keeps the places in
  /// the user's source: reading it back and going on gives what going on
  /// here would have given.
  std::string print(bool locations = false) const;

  /// Errors, then notes, since the session was made.
  const std::vector<Diagnostic> &diagnostics() const;
  /// The worst exit class of the diagnostics: the exit code of the tools.
  int exitCode() const;

  /// Seconds that each stage took, in the order they ran.
  const std::vector<std::pair<Stage, double>> &stageSeconds() const;

  /// For programs that use MLIR themselves.
  mlir::MLIRContext &context();
  mlir::ModuleOp module() const;

  /// For the other files of this folder.
  struct State;
  State &inside() const { return *state; }

private:
  std::unique_ptr<State> state;
};

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_SESSION_H
