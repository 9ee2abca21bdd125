//===- Output.h - What the command line prints, and where ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TOOLS_FORETRACE_OUTPUT_H
#define FORETRACE_TOOLS_FORETRACE_OUTPUT_H

#include "compiler/driver/FakeTiming.h"
#include "compiler/driver/Session.h"

#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace ft::cli {

/// Prints diagnostics to standard error: the id in colour on a terminal, unless
/// NO_COLOR is set.
void report(const std::vector<Diagnostic> &diagnostics);

/// Reports one diagnostic; returns the exit code that it asks for.
int fail(DiagId id, const std::string &where, const std::string &message,
         const std::string &help = "");

/// A feature of the design that this build lacks: FT0006, exit code 3.
int failLater(const std::string &feature, const std::string &why);

/// Writes the product of a verb to `path` (whole or not at all), or to standard
/// output if `path` is empty or "-". Returns the exit code: 0, or 5 with a
/// message.
int writeProduct(const std::string &text, const std::string &path = "");

/// The same for JSON, indented, with a final newline.
int writeJson(const llvm::json::Value &value, const std::string &path = "");

/// One line on standard error, and only if that is a terminal.
void progress(const std::string &line);

/// `--time`: seconds of each stage and what the cache of fake propagation did,
/// on standard error.
void reportTimes(const Session &session);

/// "57 hits, 24 misses, 2 not kept (new symbol 2)"; with the crosscheck also
/// "57 hits (all checked)".
std::string cacheText(const FakeCacheStats &stats);
/// {"hits", "misses", "checked", "bypasses": {REASON: n}}
llvm::json::Object cacheJson(const FakeCacheStats &stats);

/// Columns padded to the widest cell, two spaces between, no trailing blanks.
std::string table(const std::vector<std::vector<std::string>> &rows);

/// "1.5 KiB", "440.0 MiB", "12 bytes".
std::string bytesText(uint64_t bytes);

} // namespace ft::cli

#endif // FORETRACE_TOOLS_FORETRACE_OUTPUT_H
