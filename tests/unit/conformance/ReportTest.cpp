//===- ReportTest.cpp - What a run prints ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/Report.h"

#include "tests/conformance/Lines.h"

#include <gtest/gtest.h>
#include <zlib.h>

using namespace ft::conformance;

TEST(Report, PrintsFailuresAndCounts) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Report report(os);
  report.pass();
  report.fail("7 add.Tensor", "add.Tensor", "float32", "float64");
  report.skip("value");
  report.skip("kernel");
  report.skip("value");
  report.finish(/*byGroup=*/true);
  EXPECT_EQ(text, "FAIL 7 add.Tensor: expected float32; got float64\n"
                  "1 failed in add.Tensor\n"
                  "1 passed, 1 failed, 3 skipped (kernel 1, value 2)\n");
  EXPECT_FALSE(report.ok());
}

TEST(Lines, ReadsPlainAndCompressedText) {
  std::string path = testing::TempDir() + "lines.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "one\n\ntwo\n");
  gzclose(file);
  std::string joined;
  llvm::Error error = forEachLine(path, [&](llvm::StringRef line) {
    joined += (line + "|").str();
    return llvm::Error::success();
  });
  EXPECT_FALSE(static_cast<bool>(error));
  EXPECT_EQ(joined, "one|two|");
  EXPECT_TRUE(llvm::errorToBool(readText(path + ".none").takeError()));
}
