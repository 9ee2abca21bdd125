//===- zip_fuzzer.cpp - Bytes as a zip archive -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes are, the directory is read or refused; entries that are
// accepted lie in the archive and do not overlap, and their data can be read or
// are refused. Also as the container of a program.

#include "compiler/import/pt2/Archive.h"
#include "compiler/support/Zip.h"
#include "tests/fuzz/FuzzCheck.h"

#include <algorithm>
#include <vector>

using namespace ft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::ArrayRef<uint8_t> bytes(data, size);
  llvm::Expected<Zip> zip = Zip::parse(bytes, "fuzz");
  if (!zip) {
    llvm::consumeError(zip.takeError());
    return 0;
  }
  std::vector<std::pair<uint64_t, uint64_t>> spans;
  for (const ZipEntry &entry : zip->entries()) {
    FUZZ_CHECK(zip->find(entry.name) == &entry);
    FUZZ_CHECK(entry.dataOffset + entry.storedSize <= size);
    spans.push_back({entry.headerOffset, entry.dataOffset + entry.storedSize});
    llvm::Expected<ZipData> content = zip->read(entry, 1 << 20);
    if (!content) {
      llvm::consumeError(content.takeError());
      continue;
    }
    FUZZ_CHECK(content->bytes().size() == entry.size);
    // Touch both ends.
    if (entry.size) {
      volatile uint8_t sink = content->bytes().front();
      sink = content->bytes().back();
      (void)sink;
    }
  }
  std::sort(spans.begin(), spans.end());
  for (size_t i = 1; i < spans.size(); ++i)
    FUZZ_CHECK(spans[i - 1].second <= spans[i].first);
  llvm::Expected<std::unique_ptr<pt2::Archive>> archive =
      pt2::Archive::parse(bytes, "fuzz");
  if (!archive)
    llvm::consumeError(archive.takeError());
  return 0;
}
