//===- Zip.h - Reads zip archives in place ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_ZIP_H
#define FORETRACE_COMPILER_SUPPORT_ZIP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ft {

/// One file of an archive. `name` and the bytes point into the archive.
struct ZipEntry {
  llvm::StringRef name;
  /// Where the local header and the (possibly compressed) data start.
  uint64_t headerOffset = 0;
  uint64_t dataOffset = 0;
  uint64_t storedSize = 0;
  /// Size after decompression; equal to storedSize unless `deflated`.
  uint64_t size = 0;
  uint32_t crc = 0;
  bool deflated = false;
};

/// The bytes of one entry: in place, or owned if they had to be inflated.
class ZipData {
public:
  explicit ZipData(llvm::ArrayRef<uint8_t> inPlace) : view(inPlace) {}
  ZipData(std::unique_ptr<uint8_t[]> inflated, size_t size)
      : owned(std::move(inflated)), view(owned.get(), size) {}
  ZipData(ZipData &&other) = default;
  ZipData &operator=(ZipData &&other) = default;

  llvm::ArrayRef<uint8_t> bytes() const { return view; }
  llvm::StringRef text() const {
    return {reinterpret_cast<const char *>(view.data()), view.size()};
  }

private:
  std::unique_ptr<uint8_t[]> owned;
  llvm::ArrayRef<uint8_t> view;
};

/// The directory of a zip archive, checked as a whole before any entry is
/// handed out; nothing is extracted to disk.
///
/// The central directory is found from the end (ZIP64 included) and must end
/// where its end records start, which must follow one another. For every
/// entry: the name is a relative path in UTF-8 without `..`, not seen before;
/// the local header lies in front of the directory and says the same name,
/// method and (unless a data descriptor follows) sizes; the data end before
/// the directory; no two entries overlap, so that a small file cannot stand
/// for a large one. Methods: stored and deflated. Entries whose name ends in
/// `/` are dropped.
///
/// Offsets count from the start of the file, as the format says. So a file
/// with something in front of the archive, or two archives one after the
/// other, are refused, although some readers guess a shift. Bytes that no
/// entry of the directory names are ignored: tools that replace an entry leave
/// the old one behind, and only the directory says which is meant.
///
/// Checksums (CRC-32) are compared whenever data are handed out by `read`. A
/// stored entry of checksum 0 is taken to have none: PyTorch's writer can be
/// told to write no checksums.
///
/// Cost: linear in the number of entries, plus a sort by offset.
class Zip {
public:
  /// More entries than this are refused; a 1000-layer network has fewer than a
  /// tenth.
  static constexpr uint64_t kMaxEntries = 1 << 18;

  /// `bytes` must outlive the result; `where` names the archive in messages.
  /// FT0101: not a zip at all; FT0102: damaged; FT0103: an entry is refused.
  static llvm::Expected<Zip> parse(llvm::ArrayRef<uint8_t> bytes,
                                   llvm::StringRef where);

  /// True if `bytes` start like a zip archive.
  static bool looksLikeZip(llvm::ArrayRef<uint8_t> bytes);

  /// In the order of the central directory.
  llvm::ArrayRef<ZipEntry> entries() const { return all; }
  /// The entry of this name or null.
  const ZipEntry *find(llvm::StringRef name) const;

  static constexpr uint64_t kWhole = ~uint64_t(0);

  /// The first `keep` bytes of an entry, or all if it has fewer; in place if
  /// it is stored. Refuses (FT0103) an entry of more than `limit` bytes, data
  /// that inflate to another size than declared, and a wrong checksum. Memory:
  /// the bytes that are kept. Time: linear in the entry's whole size.
  llvm::Expected<ZipData> read(const ZipEntry &entry, uint64_t limit,
                               uint64_t keep = kWhole) const;

private:
  Zip(llvm::ArrayRef<uint8_t> data, llvm::StringRef name)
      : bytes(data), where(name.str()) {}

  llvm::ArrayRef<uint8_t> bytes;
  std::string where;
  std::vector<ZipEntry> all;
  llvm::DenseMap<llvm::StringRef, uint32_t> byName;
};

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_ZIP_H
