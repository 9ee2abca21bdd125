//===- Output.cpp - What the command line prints, and where ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/foretrace/Output.h"

#include "compiler/support/AtomicFile.h"
#include "compiler/support/Diagnostics.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ft::cli {

static bool colours() {
  const char *no = std::getenv("NO_COLOR");
  return (!no || !*no) && llvm::sys::Process::StandardErrIsDisplayed();
}

void report(const std::vector<Diagnostic> &diagnostics) {
  for (const Diagnostic &d : diagnostics) {
    std::string text = d.render();
    size_t begin = text.find("error["), end = text.find("]: ", begin);
    if (colours() && begin != std::string::npos && end != std::string::npos) {
      text.insert(end + 1, "\033[0m");
      text.insert(begin, "\033[1;31m");
    }
    llvm::errs() << text;
  }
}

int fail(DiagId id, const std::string &where, const std::string &message,
         const std::string &help) {
  Diagnostic d{id, where, message, help};
  report({d});
  return static_cast<int>(d.exitClass());
}

int failLater(const std::string &feature, const std::string &why) {
  return fail(DiagId::NotYetSupported, "",
              feature + " is not supported by this build: " + why);
}

static int writeStandardOutput(const std::string &text) {
  // fwrite, not outs(): its failure is ours to report, not LLVM's.
  bool ok = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!ok || std::fflush(stdout) != 0)
    return fail(DiagId::CannotWrite, "standard output", std::strerror(errno));
  return 0;
}

int writeProduct(const std::string &text, const std::string &path) {
  if (path.empty() || path == "-")
    return writeStandardOutput(text);
  llvm::Expected<AtomicFile> file = AtomicFile::create(path);
  llvm::Error error = file ? llvm::Error::success() : file.takeError();
  if (!error) {
    file->os() << text;
    error = file->commit();
  }
  if (!error)
    return 0;
  std::vector<Diagnostic> diagnostics = takeDiagnostics(std::move(error));
  report(diagnostics);
  return static_cast<int>(diagnostics.front().exitClass());
}

int writeJson(const llvm::json::Value &value, const std::string &path) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("{0:2}\n", value);
  return writeProduct(text, path);
}

void progress(const std::string &line) {
  if (llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << line << '\n';
}

void reportTimes(const Session &session) {
  for (auto [stage, seconds] : session.stageSeconds())
    llvm::errs() << llvm::format("%-14s %8.3f s\n", stageInfo(stage).name,
                                 seconds);
  FakeCacheStats stats = fakeCacheStats(session);
  if (stats.hits + stats.misses + stats.bypasses.size())
    llvm::errs() << llvm::format("%-14s %s\n", "fake cache",
                                 cacheText(stats).c_str());
}

std::string cacheText(const FakeCacheStats &stats) {
  std::string text = std::to_string(stats.hits) + " hits";
  if (stats.checked)
    text +=
        " (" +
        (stats.checked == stats.hits ? "all" : std::to_string(stats.checked)) +
        " checked)";
  text += ", " + std::to_string(stats.misses) + " misses";
  uint64_t total = 0;
  std::string reasons;
  for (const auto &[reason, count] : stats.bypasses) {
    total += count;
    reasons +=
        (reasons.empty() ? "" : ", ") + reason + " " + std::to_string(count);
  }
  if (total)
    text += ", " + std::to_string(total) + " not kept (" + reasons + ")";
  return text;
}

llvm::json::Object cacheJson(const FakeCacheStats &stats) {
  llvm::json::Object bypasses;
  for (const auto &[reason, count] : stats.bypasses)
    bypasses[reason] = int64_t(count);
  return llvm::json::Object{{"hits", int64_t(stats.hits)},
                            {"misses", int64_t(stats.misses)},
                            {"checked", int64_t(stats.checked)},
                            {"bypasses", std::move(bypasses)}};
}

std::string table(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths;
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size())
        widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size())
        line.append(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string bytesText(uint64_t bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f ", value) << units[unit];
  return text;
}

} // namespace ft::cli
