//===- FileTest.cpp - Mapped inputs and atomic outputs ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "gtest/gtest.h"

#include "compiler/support/AtomicFile.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/MappedFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace ft;

namespace {

struct FileTest : ::testing::Test {
  llvm::SmallString<128> folder;
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ft-file", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) {
    llvm::SmallString<128> full = folder;
    llvm::sys::path::append(full, name);
    return full.str().str();
  }
  static std::string read(llvm::StringRef path) {
    llvm::Expected<MappedFile> file = MappedFile::open(path);
    if (!file)
      return takeDiagnostics(file.takeError())[0].message;
    return file->text().str();
  }
  int filesInFolder() {
    std::error_code error;
    int count = 0;
    for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end;
         it.increment(error))
      ++count;
    return count;
  }
};

TEST_F(FileTest, CommitReplacesTheTarget) {
  for (const char *text : {"one", "two", ""}) {
    llvm::Expected<AtomicFile> file = AtomicFile::create(path("a"));
    ASSERT_TRUE(bool(file));
    file->os() << text;
    EXPECT_FALSE(bool(file->commit()));
    EXPECT_EQ(read(path("a")), text);
  }
  EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(FileTest, WithoutCommitNothingIsLeft) {
  {
    llvm::Expected<AtomicFile> file = AtomicFile::create(path("a"));
    ASSERT_TRUE(bool(file));
    file->os() << "half";
    EXPECT_EQ(filesInFolder(), 1);
  }
  EXPECT_EQ(filesInFolder(), 0);
}

TEST_F(FileTest, CannotWrite) {
  llvm::Expected<AtomicFile> file = AtomicFile::create(path("no/such/folder"));
  ASSERT_FALSE(bool(file));
  EXPECT_EQ(takeDiagnostics(file.takeError())[0].message,
            "cannot write the file: No such file or directory");
  llvm::Expected<AtomicFile> onFolder = AtomicFile::create(folder);
  ASSERT_FALSE(bool(onFolder));
  EXPECT_EQ(takeDiagnostics(onFolder.takeError())[0].message,
            "cannot write the file: it is a directory");
}

TEST_F(FileTest, DiskFull) {
  llvm::Expected<AtomicFile> file = AtomicFile::create("/dev/full");
  ASSERT_TRUE(bool(file));
  file->os() << "text";
  Diagnostic d = takeDiagnostics(file->commit())[0];
  EXPECT_EQ(d.message, "cannot write the file: No space left on device");
  EXPECT_EQ(diagExitClass(d.id), ExitClass::Environment);
}

TEST_F(FileTest, CannotRead) {
  EXPECT_EQ(read(path("none")),
            "cannot read the file: No such file or directory");
  EXPECT_EQ(read(folder), "cannot read the file: it is a directory");
  EXPECT_EQ(read("/dev/null"), "cannot read the file: it is no regular file");
}

} // namespace
