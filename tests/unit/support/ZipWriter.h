//===- ZipWriter.h - Builds zip archives, good and bad ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_SUPPORT_ZIPWRITER_H
#define FORETRACE_TESTS_UNIT_SUPPORT_ZIPWRITER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ft::test {

/// One entry as its two headers claim it. What is left at its default is
/// computed from `data`.
struct ZipFile {
  std::string name;
  std::string data; // as stored
  uint16_t method = 0;
  uint16_t flags = 0;
  int64_t size = -1;          // after decompression
  int64_t storedSize = -1;    // in the central directory
  int64_t headerOffset = -1;  // in the central directory
  std::string localName = {}; // if it differs
  bool zip64 = false;         // sizes and offset in the ZIP64 extra field
  uint32_t crc = 0;
};

/// Writes the files, the central directory and the end record.
class ZipWriter {
public:
  std::vector<ZipFile> files;
  int64_t claimedEntries = -1;
  bool zip64End = false;

  std::string build() const {
    std::string out, directory;
    for (const ZipFile &file : files) {
      uint64_t offset = file.headerOffset < 0 ? out.size() : file.headerOffset;
      uint64_t stored =
          file.storedSize < 0 ? file.data.size() : file.storedSize;
      uint64_t size = file.size < 0 ? file.data.size() : file.size;
      const std::string &local =
          file.localName.empty() ? file.name : file.localName;
      std::string wide;
      if (file.zip64) {
        put(wide, 1, 2);
        put(wide, 24, 2);
        put(wide, size, 8);
        put(wide, stored, 8);
        put(wide, offset, 8);
      }
      auto field = [&](uint64_t v) { return file.zip64 ? 0xffffffff : v; };
      put(out, 0x04034b50, 4);
      put(out, 20, 2);
      put(out, file.flags, 2);
      put(out, file.method, 2);
      put(out, 0, 4); // time, date
      put(out, file.crc, 4);
      put(out, field(stored), 4);
      put(out, field(size), 4);
      put(out, local.size(), 2);
      put(out, wide.size(), 2);
      out += local + wide + file.data;
      put(directory, 0x02014b50, 4);
      put(directory, 20, 2);
      put(directory, 20, 2);
      put(directory, file.flags, 2);
      put(directory, file.method, 2);
      put(directory, 0, 4);
      put(directory, file.crc, 4);
      put(directory, field(stored), 4);
      put(directory, field(size), 4);
      put(directory, file.name.size(), 2);
      put(directory, wide.size(), 2);
      put(directory, 0, 2 + 2 + 2 + 4); // comment, disk, attributes
      put(directory, field(offset), 4);
      directory += file.name + wide;
    }
    uint64_t start = out.size();
    uint64_t count = claimedEntries < 0 ? files.size() : claimedEntries;
    out += directory;
    if (zip64End) {
      uint64_t at = out.size();
      put(out, 0x06064b50, 4);
      put(out, 44, 8);
      put(out, 45, 2);
      put(out, 45, 2);
      put(out, 0, 8);
      put(out, count, 8);
      put(out, count, 8);
      put(out, directory.size(), 8);
      put(out, start, 8);
      put(out, 0x07064b50, 4);
      put(out, 0, 4);
      put(out, at, 8);
      put(out, 1, 4);
    }
    put(out, 0x06054b50, 4);
    put(out, 0, 4);
    put(out, zip64End ? 0xffff : count, 2);
    put(out, zip64End ? 0xffff : count, 2);
    put(out, zip64End ? 0xffffffff : directory.size(), 4);
    put(out, zip64End ? 0xffffffff : start, 4);
    put(out, 0, 2);
    return out;
  }

  static void put(std::string &out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      out += static_cast<char>(value >> (8 * i));
  }
};

inline llvm::ArrayRef<uint8_t> bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

} // namespace ft::test

#endif // FORETRACE_TESTS_UNIT_SUPPORT_ZIPWRITER_H
