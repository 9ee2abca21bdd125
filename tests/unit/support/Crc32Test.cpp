//===- Crc32Test.cpp - Checksums, fast and portable ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/Crc32.h"

#include "gtest/gtest.h"

#include "tests/unit/support/ZipWriter.h"

#include <vector>

using namespace ft;

namespace {

TEST(Crc32, KnownValue) {
  // The check value that catalogues of CRCs list for this one.
  EXPECT_EQ(crc32(test::bytesOf("123456789")), 0xCBF43926u);
  EXPECT_EQ(crc32({}), 0u);
}

TEST(Crc32, AgreesWithThePortableForm) {
  std::vector<uint8_t> data(1000);
  uint32_t state = 1;
  for (uint8_t &byte : data)
    byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  // Every length, aligned and not, around the 64 bytes that are folded.
  for (size_t start : {0, 1, 7})
    for (size_t size = 0; size + start <= data.size(); ++size) {
      llvm::ArrayRef<uint8_t> part(data.data() + start, size);
      ASSERT_EQ(crc32(part), crc32Portable(part)) << start << " " << size;
    }
}

TEST(Crc32, GoesOn) {
  std::vector<uint8_t> data(500, 0x5a);
  llvm::ArrayRef<uint8_t> all(data);
  for (size_t cut : {0, 1, 63, 64, 65, 200, 499, 500})
    EXPECT_EQ(crc32(all.drop_front(cut), crc32(all.take_front(cut))),
              crc32Portable(all));
}

} // namespace
