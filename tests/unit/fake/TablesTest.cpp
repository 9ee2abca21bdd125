//===- TablesTest.cpp - The calls of tables/*.txt --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CallTable.h"
#include "gtest/gtest.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace ft;

namespace {

std::vector<std::string> tables() {
  std::vector<std::string> files;
  std::error_code error;
  for (sys::fs::directory_iterator it(FT_TABLES, error), end;
       it != end && !error; it.increment(error))
    files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

class Tables : public testing::TestWithParam<std::string> {};

TEST_P(Tables, EveryLineHolds) {
  auto file = MemoryBuffer::getFile(GetParam());
  ASSERT_TRUE(file);
  bool data = StringRef(GetParam()).ends_with("data-sizes.txt");
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (size_t number = 0; number < lines.size(); ++number) {
    StringRef line = lines[number].trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto [call, wanted] = line.rsplit("->");
    SCOPED_TRACE(sys::path::filename(GetParam()).str() + ":" +
                 std::to_string(number + 1) + ": " + line.str());
    std::string message;
    std::string answer = answerOf(call.trim(), data, &message);
    EXPECT_TRUE(fits(answer, message, wanted.trim())) << answer << "\n"
                                                      << message;
  }
}

INSTANTIATE_TEST_SUITE_P(Fake, Tables, testing::ValuesIn(tables()),
                         [](const auto &info) {
                           std::string name = sys::path::stem(info.param).str();
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !isAlnum(c); }, '_');
                           return name;
                         });

} // namespace
