//===- CodeCheckFlags.h - Options for checks of generated code -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TOOLS_FORETRACE_CODECHECKFLAGS_H
#define FORETRACE_TOOLS_FORETRACE_CODECHECKFLAGS_H

#include "compiler/support/CodeChecks.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ft::cli {

/// `checks` has to live until the command line is parsed.
inline void addCodeChecks(CLI::App &app, CodeChecks &checks) {
  app.add_flag("--check-accesses", checks.accesses,
               "end a call whose code would reach outside of its memory "
               "(slow)");
  app.add_option_function<std::vector<std::string>>(
         "--sanitize",
         [&checks](const std::vector<std::string> &kinds) {
           for (const std::string &kind : kinds)
             (kind == "address" ? checks.address : checks.undefined) = true;
         },
         "address: instrument the code for a program with AddressSanitizer; "
         "undefined: end a call whose code would use an undefined value")
      ->delimiter(',')
      ->check(CLI::IsMember({"address", "undefined"}));
}

} // namespace ft::cli

#endif // FORETRACE_TOOLS_FORETRACE_CODECHECKFLAGS_H
