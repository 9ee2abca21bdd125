//===- Zip.cpp - Reads zip archives in place -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/Zip.h"

#include "compiler/support/Crc32.h"
#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <zlib.h>

namespace ft {

// Record signatures and fixed sizes of the format (PKWARE APPNOTE 6.3.10).
static constexpr uint32_t kLocalSignature = 0x04034b50;
static constexpr uint32_t kCentralSignature = 0x02014b50;
static constexpr uint32_t kEndSignature = 0x06054b50;
static constexpr uint32_t kEnd64Signature = 0x06064b50;
static constexpr uint32_t kLocator64Signature = 0x07064b50;
static constexpr uint64_t kLocalSize = 30;
static constexpr uint64_t kCentralSize = 46;
static constexpr uint64_t kEndSize = 22;
static constexpr uint64_t kEnd64Size = 56;
static constexpr uint64_t kEnd64Head = 12; // its signature and size
static constexpr uint64_t kLocator64Size = 20;
static constexpr uint64_t kMaxComment = 0xffff;
static constexpr uint16_t kFlagEncrypted = 1 << 0;
static constexpr uint16_t kFlagDescriptor = 1 << 3;
static constexpr uint16_t kExtra64 = 0x0001;
static constexpr uint32_t kIn64 = 0xffffffff;

static uint16_t read16(const uint8_t *p) {
  return llvm::support::endian::read16le(p);
}
static uint32_t read32(const uint8_t *p) {
  return llvm::support::endian::read32le(p);
}
static uint64_t read64(const uint8_t *p) {
  return llvm::support::endian::read64le(p);
}

/// True if [offset, offset + size) lies in [0, end).
static bool fits(uint64_t offset, uint64_t size, uint64_t end) {
  return size <= end && offset <= end - size;
}

/// A name fit for a message: no control characters, not too long.
static std::string quoted(llvm::StringRef name) {
  std::string text = "'";
  llvm::raw_string_ostream os(text);
  llvm::printEscapedString(name.take_front(120), os);
  return text + (name.size() > 120 ? "…'" : "'");
}

namespace {
/// Where the central directory lies and how many entries it claims.
struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
};

/// The sizes that the ZIP64 extra field replaces when they do not fit.
struct Wide {
  uint64_t size;
  uint64_t storedSize;
  uint64_t headerOffset;
};
} // namespace

static llvm::Expected<Directory> findDirectory(llvm::ArrayRef<uint8_t> bytes,
                                               llvm::StringRef where) {
  auto damaged = [&](const llvm::Twine &message) {
    return makeError(DiagId::BadZip, where, message,
                     "copy or export the archive again");
  };
  if (!Zip::looksLikeZip(bytes))
    return makeError(DiagId::NotAZip, where, "the file is not a zip archive",
                     "save the model with torch.export.save(program, path)");
  uint64_t total = bytes.size();
  if (total < kEndSize)
    return damaged("the archive is truncated: it has no end record");

  // The end record is the last thing in the file but for its own comment.
  uint64_t end = total - kEndSize;
  uint64_t lowest = end > kMaxComment ? end - kMaxComment : 0;
  for (;; --end) {
    const uint8_t *p = bytes.data() + end;
    if (read32(p) == kEndSignature && end + kEndSize + read16(p + 20) == total)
      break;
    if (end == lowest)
      return damaged("the archive is truncated: it has no end record");
  }
  const uint8_t *p = bytes.data() + end;
  uint32_t disk = read16(p + 4), startDisk = read16(p + 6);
  uint64_t onDisk = read16(p + 8);
  Directory dir;
  dir.entries = read16(p + 10);
  dir.size = read32(p + 12);
  dir.offset = read32(p + 16);
  uint64_t dirEnd = end;

  // A ZIP64 end record may be there although no field needs it: PyTorch's
  // writer always adds one. Where a field of the short record is not all ones,
  // both must agree.
  if (end >= kLocator64Size &&
      read32(p - kLocator64Size) == kLocator64Signature) {
    uint64_t at = read64(p - kLocator64Size + 8);
    if (!fits(at, kEnd64Size, end - kLocator64Size) ||
        read32(bytes.data() + at) != kEnd64Signature)
      return damaged("the ZIP64 end record is not where its locator points");
    const uint8_t *q = bytes.data() + at;
    // Its size counts what follows the size. In two archives one after the
    // other, the second's locator points into the first.
    if (read64(q + 4) != end - kLocator64Size - at - kEnd64Head)
      return damaged("the ZIP64 end record does not end at its locator");
    disk = read32(q + 16);
    startDisk = read32(q + 20);
    onDisk = read64(q + 24);
    Directory wide{read64(q + 48), read64(q + 40), read64(q + 32)};
    if ((dir.entries != 0xffff && dir.entries != wide.entries) ||
        (dir.size != kIn64 && dir.size != wide.size) ||
        (dir.offset != kIn64 && dir.offset != wide.offset))
      return damaged("the two end records of the archive differ");
    dir = wide;
    dirEnd = at;
  }
  if (disk || startDisk || onDisk != dir.entries)
    return damaged("the archive is split over several files");
  if (dir.entries > Zip::kMaxEntries)
    return damaged("the archive has " + llvm::Twine(dir.entries) +
                   " entries; at most " + llvm::Twine(Zip::kMaxEntries) +
                   " are read");
  if (!fits(dir.offset, dir.size, dirEnd) || dir.offset + dir.size != dirEnd)
    return damaged("the central directory does not end at its end record");
  return dir;
}

/// Replaces the fields of `wide` that are all ones by the values of the ZIP64
/// extra field, in the order that the format gives. False if one is missing.
static bool readExtra64(llvm::ArrayRef<uint8_t> extra, Wide &wide,
                        bool withOffset) {
  bool needSize = wide.size == kIn64;
  bool needStored = wide.storedSize == kIn64;
  bool needOffset = withOffset && wide.headerOffset == kIn64;
  if (!needSize && !needStored && !needOffset)
    return true;
  while (extra.size() >= 4) {
    uint16_t tag = read16(extra.data());
    uint64_t length = read16(extra.data() + 2);
    extra = extra.drop_front(4);
    if (length > extra.size())
      return false;
    if (tag == kExtra64) {
      llvm::ArrayRef<uint8_t> body = extra.take_front(length);
      auto take = [&](bool need, uint64_t &field) {
        if (!need)
          return true;
        if (body.size() < 8)
          return false;
        field = read64(body.data());
        body = body.drop_front(8);
        return true;
      };
      return take(needSize, wide.size) && take(needStored, wide.storedSize) &&
             take(needOffset, wide.headerOffset);
    }
    extra = extra.drop_front(length);
  }
  return false;
}

/// Why a name is refused, or an empty string.
static llvm::StringRef nameProblem(llvm::StringRef name) {
  if (name.empty())
    return "has no name";
  if (!llvm::json::isUTF8(name))
    return "has a name that is not UTF-8";
  if (name.contains('\0') || name.contains('\\'))
    return "has a name with a backslash or a zero byte";
  if (name.front() == '/' || (name.size() > 1 && name[1] == ':'))
    return "has an absolute path";
  llvm::StringRef rest = name;
  while (!rest.empty()) {
    auto [part, tail] = rest.split('/');
    if (part == "..")
      return "has a path with '..'";
    rest = tail;
  }
  return "";
}

bool Zip::looksLikeZip(llvm::ArrayRef<uint8_t> bytes) {
  if (bytes.size() < 4)
    return false;
  uint32_t first = read32(bytes.data());
  return first == kLocalSignature || first == kEndSignature ||
         first == kEnd64Signature;
}

llvm::Expected<Zip> Zip::parse(llvm::ArrayRef<uint8_t> bytes,
                               llvm::StringRef where) {
  llvm::Expected<Directory> found = findDirectory(bytes, where);
  if (!found)
    return found.takeError();
  Directory dir = *found;
  auto damaged = [&](const llvm::Twine &message) {
    return makeError(DiagId::BadZip, where, message,
                     "copy or export the archive again");
  };
  auto refused = [&](llvm::StringRef name, const llvm::Twine &message) {
    return makeError(DiagId::BadZipEntry, where,
                     "entry " + quoted(name) + " " + message);
  };

  Zip zip(bytes, where);
  zip.all.reserve(dir.entries);
  zip.byName.reserve(dir.entries);
  uint64_t at = dir.offset, dirEnd = dir.offset + dir.size;
  for (uint64_t i = 0; i < dir.entries; ++i) {
    if (!fits(at, kCentralSize, dirEnd) ||
        read32(bytes.data() + at) != kCentralSignature)
      return damaged("the central directory ends after " + llvm::Twine(i) +
                     " of " + llvm::Twine(dir.entries) + " entries");
    const uint8_t *p = bytes.data() + at;
    uint16_t flags = read16(p + 8), method = read16(p + 10);
    uint64_t nameSize = read16(p + 28), extraSize = read16(p + 30);
    uint64_t recordSize =
        kCentralSize + nameSize + extraSize + read16(p + 32) /*comment*/;
    if (!fits(at, recordSize, dirEnd))
      return damaged("an entry of the central directory runs past its end");
    ZipEntry entry;
    entry.name = {reinterpret_cast<const char *>(p + kCentralSize), nameSize};
    entry.crc = read32(p + 16);
    entry.deflated = method == 8;
    Wide wide{read32(p + 24), read32(p + 20), read32(p + 42)};
    at += recordSize;

    if (llvm::StringRef problem = nameProblem(entry.name); !problem.empty())
      return refused(entry.name, problem);
    if (!readExtra64({p + kCentralSize + nameSize, extraSize}, wide,
                     /*withOffset=*/true))
      return refused(entry.name, "lacks its ZIP64 sizes");
    entry.size = wide.size;
    entry.storedSize = wide.storedSize;
    entry.headerOffset = wide.headerOffset;
    if (flags & kFlagEncrypted)
      return refused(entry.name, "is encrypted");
    if (method != 0 && method != 8)
      return refused(entry.name,
                     "uses compression method " + llvm::Twine(method) +
                         "; only stored and deflated entries are read");
    if (!entry.deflated && entry.size != entry.storedSize)
      return refused(entry.name, "is stored but says two different sizes");

    // The local header must tell the same story as the directory.
    if (!fits(entry.headerOffset, kLocalSize, dir.offset))
      return refused(entry.name, "starts beyond the end of the data");
    const uint8_t *q = bytes.data() + entry.headerOffset;
    if (read32(q) != kLocalSignature)
      return refused(entry.name, "has no local header at its offset");
    uint64_t localName = read16(q + 26), localExtra = read16(q + 28);
    entry.dataOffset = entry.headerOffset + kLocalSize + localName + localExtra;
    if (!fits(entry.dataOffset, entry.storedSize, dir.offset))
      return refused(entry.name, "runs beyond the end of the data");
    Wide local{read32(q + 22), read32(q + 18), 0};
    if (llvm::StringRef(reinterpret_cast<const char *>(q + kLocalSize),
                        localName) != entry.name ||
        read16(q + 8) != method ||
        !readExtra64({q + kLocalSize + localName, localExtra}, local,
                     /*withOffset=*/false))
      return refused(entry.name, "differs between its local header and the "
                                 "central directory");
    bool later = read16(q + 6) & kFlagDescriptor;
    auto agrees = [&](uint64_t here, uint64_t there) {
      return here == there || (later && here == 0);
    };
    if (!agrees(local.size, entry.size) ||
        !agrees(local.storedSize, entry.storedSize) ||
        !agrees(read32(q + 14), entry.crc))
      return refused(entry.name, "differs between its local header and the "
                                 "central directory");
    if (entry.name.back() == '/') {
      if (entry.size)
        return refused(entry.name, "is a folder with data");
      continue;
    }
    if (!zip.byName.try_emplace(entry.name, zip.all.size()).second)
      return refused(entry.name, "stands twice in the archive");
    zip.all.push_back(entry);
  }
  if (at != dirEnd)
    return damaged("the central directory holds more than its " +
                   llvm::Twine(dir.entries) + " entries");

  std::vector<uint32_t> order(zip.all.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    return std::pair(zip.all[a].headerOffset, a) <
           std::pair(zip.all[b].headerOffset, b);
  });
  uint64_t previousEnd = 0;
  for (uint32_t i : order) {
    const ZipEntry &entry = zip.all[i];
    if (entry.headerOffset < previousEnd)
      return refused(entry.name, "overlaps another entry");
    previousEnd = entry.dataOffset + entry.storedSize;
  }
  return zip;
}

const ZipEntry *Zip::find(llvm::StringRef name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &all[it->second];
}

/// Inflates raw deflate data of `size` bytes, of which the first are kept in
/// `out` and the others only counted; gives the checksum of all. Nothing if
/// the data are damaged or hold fewer or more bytes.
static std::optional<uint32_t> inflateInto(llvm::ArrayRef<uint8_t> in,
                                           llvm::MutableArrayRef<uint8_t> out,
                                           uint64_t size) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return std::nullopt;
  // Pieces small enough to be in the cache still when they are summed.
  std::array<uint8_t, 1 << 16> beyond;
  uint64_t inAt = 0, done = 0;
  uint32_t crc = 0;
  int status = Z_OK;
  while (status == Z_OK && done <= size) {
    if (stream.avail_in == 0 && inAt < in.size()) {
      stream.next_in = const_cast<Bytef *>(in.data() + inAt);
      stream.avail_in =
          static_cast<uInt>(std::min<uint64_t>(1u << 30, in.size() - inAt));
      inAt += stream.avail_in;
    }
    llvm::MutableArrayRef<uint8_t> piece = beyond;
    if (done < out.size())
      piece = out.drop_front(done).take_front(beyond.size());
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    status = inflate(&stream, Z_NO_FLUSH);
    size_t got = piece.size() - stream.avail_out;
    crc = crc32(piece.take_front(got), crc);
    done += got;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || done != size)
    return std::nullopt;
  return crc;
}

llvm::Expected<ZipData> Zip::read(const ZipEntry &entry, uint64_t limit,
                                  uint64_t keep) const {
  auto refused = [&](const llvm::Twine &message, const char *help = "") {
    return makeError(DiagId::BadZipEntry, where,
                     "entry " + quoted(entry.name) + " " + message, help);
  };
  auto damaged = [&](const llvm::Twine &message) {
    return refused("is damaged: " + message,
                   "copy or export the archive again");
  };
  if (entry.size > limit)
    return refused("has " + llvm::Twine(entry.size) + " bytes; at most " +
                   llvm::Twine(limit) + " are read");
  llvm::ArrayRef<uint8_t> stored =
      bytes.slice(entry.dataOffset, entry.storedSize);
  keep = std::min(keep, entry.size);
  if (!entry.deflated) {
    if (entry.crc != 0 && crc32(stored) != entry.crc)
      return damaged("its checksum differs");
    return ZipData(stored.take_front(keep));
  }
  // Deflate expands at most 1032 times: a larger claim is a lie, found before
  // the memory for it is asked for.
  if (entry.size / 1032 > stored.size())
    return refused("claims to inflate to an impossible size");
  std::unique_ptr<uint8_t[]> kept(new (std::nothrow) uint8_t[keep]);
  if (!kept)
    return makeError(DiagId::OutOfMemory, where,
                     "there is not enough memory for the entry " +
                         quoted(entry.name));
  std::optional<uint32_t> crc =
      inflateInto(stored, {kept.get(), keep}, entry.size);
  if (!crc)
    return damaged("it does not inflate to its declared " +
                   llvm::Twine(entry.size) + " bytes");
  if (*crc != entry.crc)
    return damaged("its checksum differs");
  return ZipData(std::move(kept), keep);
}

} // namespace ft
