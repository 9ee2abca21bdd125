//===- Verbs.h - The verbs of the command line -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TOOLS_FORETRACE_VERBS_H
#define FORETRACE_TOOLS_FORETRACE_VERBS_H

#include <CLI/CLI.hpp>

namespace ft::cli {

// Each adds one verb to the program; when it was given, `exitCode` is set after
// parsing. One file for each, or for a few that are tables.
void addCompile(CLI::App &app, int &exitCode);
void addInspect(CLI::App &app, int &exitCode);
void addRun(CLI::App &app, int &exitCode);
void addBench(CLI::App &app, int &exitCode);
void addEstimate(CLI::App &app, int &exitCode);
void addOps(CLI::App &app, int &exitCode);
void addStages(CLI::App &app, int &exitCode);
void addTargets(CLI::App &app, int &exitCode);
void addExplain(CLI::App &app, int &exitCode);

} // namespace ft::cli

#endif // FORETRACE_TOOLS_FORETRACE_VERBS_H
