//===- Lines.cpp - Reads text files, plain or gzipped ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/Lines.h"

#include <zlib.h>

using namespace ft::conformance;

llvm::Expected<std::string> ft::conformance::readText(llvm::StringRef path) {
  std::string name = path.str();
  // zlib hands on a file without its header as it is.
  gzFile file = gzopen(name.c_str(), "rb");
  if (!file)
    return llvm::createStringError("cannot open '" + name + "'");
  std::string text;
  char buffer[1 << 16];
  int got;
  while ((got = gzread(file, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<size_t>(got));
  // A truncated archive gives its bytes first and says so when it is closed.
  int closed = gzclose(file);
  if (got < 0 || closed != Z_OK)
    return llvm::createStringError("cannot read '" + name + "'");
  return text;
}

llvm::Error ft::conformance::forEachLine(
    llvm::StringRef path,
    llvm::function_ref<llvm::Error(llvm::StringRef line)> use) {
  llvm::Expected<std::string> text = readText(path);
  if (!text)
    return text.takeError();
  llvm::StringRef rest = *text;
  while (!rest.empty()) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    if (line.trim().empty())
      continue;
    if (llvm::Error error = use(line))
      return error;
  }
  return llvm::Error::success();
}
