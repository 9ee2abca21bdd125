//===- FtGradcheck.cpp - The tool ft-gradcheck ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/GradCheck.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

using namespace ft;
using namespace ft::random;

static std::string textOf(const Arg &arg) {
  switch (arg.kind) {
  case Arg::None:
    return "none";
  case Arg::Tensor:
    return "%" + std::to_string(arg.operand);
  case Arg::Int:
    return arg.dim.str();
  case Arg::Bool:
    return arg.boolean ? "true" : "false";
  case Arg::List: {
    std::string text;
    for (const Arg &item : arg.list)
      text += (text.empty() ? "" : ", ") + textOf(item);
    return "[" + text + "]";
  }
  default:
    return arg.str.empty() ? std::to_string(arg.real) : "'" + arg.str + "'";
  }
}

/// "pow.Tensor_Scalar(%0, 2) of f64[3, 1]"
static std::string textOf(const Program &program) {
  const Step &step = program.steps.front();
  std::string text;
  for (const Arg &arg : step.args)
    text += (text.empty() ? "" : ", ") + textOf(arg);
  text = step.schema->name.str() + "(" + text + ") of";
  for (const TensorMeta &meta : program.metasOf(step))
    text += " " + meta.str();
  return text;
}

int main(int argc, char **argv) {
  CLI::App app("Compares derivatives with central differences.");
  uint64_t seed = 1, count = 1000, batch = 100;
  std::string only;
  bool undrawn = false, coverage = false, progress = false, show = false;
  GradCheck check;
  app.add_option("--seed", seed, "of the first call; the next has one more")
      ->capture_default_str();
  app.add_option("--count", count, "calls")->capture_default_str();
  app.add_option("--batch", batch, "calls in one artefact")
      ->capture_default_str();
  app.add_option("--op", only, "only operators that match (\"scatter*\")");
  app.add_flag("--twice", check.twice, "the derivative of the derivative");
  app.add_flag("--symbolic", check.symbolic, "calls compiled for all sizes");
  app.add_flag("--coverage", coverage, "print how often each operator ran");
  app.add_flag("--progress", progress, "print what has no code, and why");
  app.add_flag("--show", show, "print every call");
  app.add_flag("--undrawn", undrawn, "only list operators that are not drawn");
  CLI11_PARSE(app, argc, argv);
  if (undrawn) {
    for (const std::string &line : undrawnOps())
      llvm::outs() << line << '\n';
    return 0;
  }

  check.onFailure = [](const Program &program, const std::string &why) {
    llvm::outs() << "FAIL seed " << program.seed << " " << textOf(program)
                 << ": " << why << '\n';
    llvm::outs().flush();
  };
  if (progress)
    check.onUnsupported = [](const Program &program, const std::string &why) {
      llvm::errs() << "no code for seed " << program.seed << " "
                   << textOf(program) << ": " << why << '\n';
    };
  for (uint64_t done = 0; done < count;) {
    std::vector<Program> programs;
    for (; programs.size() < batch && done < count; ++done) {
      programs.push_back(differentiableCall(seed + done, only));
      if (show && !programs.back().steps.empty())
        llvm::outs() << "seed " << seed + done << " " << textOf(programs.back())
                     << '\n';
    }
    llvm::outs().flush();
    check.run(programs);
  }
  if (coverage)
    for (const auto &[name, calls] : check.calls)
      llvm::outs() << llvm::formatv("{0,6} {1}\n", calls, name);
  llvm::outs() << check.checked << " calls of " << check.calls.size()
               << " operators checked: " << check.failed << " failed, "
               << check.undecided << " undecided, " << check.unsupported
               << " without code\n";
  return check.failed ? 1 : 0;
}
