//===- ZipTest.cpp - What the zip reader accepts and refuses ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/Zip.h"

#include "gtest/gtest.h"

#include "compiler/support/Diagnostics.h"
#include "tests/unit/support/ZipWriter.h"

#include <zlib.h>

using namespace ft;
using namespace ft::test;

namespace {

std::string parseError(const std::string &archive) {
  llvm::Expected<Zip> zip = Zip::parse(bytesOf(archive), "a.pt2");
  if (zip)
    return "no error";
  Diagnostic d = takeDiagnostics(zip.takeError())[0];
  EXPECT_EQ(d.where, "a.pt2");
  return (diagCode(d.id) + " " + d.message).str();
}

std::string deflated(const std::string &text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = out.size();
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

uint32_t crcOf(const std::string &text) {
  return crc32(0, reinterpret_cast<const Bytef *>(text.data()), text.size());
}

/// Reads the one deflated entry of an archive.
std::string readError(ZipFile file, uint64_t limit = 1 << 20) {
  ZipWriter writer;
  file.name = "r/f";
  file.method = 8;
  writer.files = {file};
  std::string archive = writer.build();
  llvm::Expected<Zip> zip = Zip::parse(bytesOf(archive), "a.pt2");
  if (!zip)
    return llvm::toString(zip.takeError());
  llvm::Expected<ZipData> data = zip->read(zip->entries()[0], limit);
  if (data)
    return data->text().str();
  return takeDiagnostics(data.takeError())[0].message;
}

TEST(Zip, StoredEntriesStayInPlace) {
  ZipWriter writer;
  writer.files = {{"r/a", "hello"}, {"r/empty", ""}, {"r/dir/", ""}};
  std::string archive = writer.build();
  llvm::Expected<Zip> zip = Zip::parse(bytesOf(archive), "a.pt2");
  ASSERT_TRUE(bool(zip));
  EXPECT_EQ(zip->entries().size(), 2u); // folders are dropped
  const ZipEntry *entry = zip->find("r/a");
  ASSERT_NE(entry, nullptr);
  llvm::Expected<ZipData> data = zip->read(*entry, 100);
  ASSERT_TRUE(bool(data));
  EXPECT_EQ(data->bytes().data(), bytesOf(archive).data() + 33);
  EXPECT_EQ(zip->find("r/b"), nullptr);
}

TEST(Zip, Zip64) {
  ZipWriter writer;
  writer.zip64End = true;
  writer.files = {{"r/a", "hello"}, {"r/b", "world"}};
  writer.files[1].zip64 = true;
  std::string archive = writer.build();
  llvm::Expected<Zip> zip = Zip::parse(bytesOf(archive), "a.pt2");
  ASSERT_TRUE(bool(zip)) << llvm::toString(zip.takeError());
  llvm::Expected<ZipData> data = zip->read(*zip->find("r/b"), 100);
  ASSERT_TRUE(bool(data));
  EXPECT_EQ(data->text(), "world");
}

TEST(Zip, DescriptorLeavesTheLocalSizesZero) {
  std::string archive = [] {
    ZipWriter writer;
    writer.files = {{"r/a", "hello"}};
    writer.files[0].flags = 8;
    return writer.build();
  }();
  for (int i = 14; i < 26; ++i)
    archive[i] = 0;
  EXPECT_EQ(parseError(archive), "no error");
  archive[6] = 0; // without the flag, zero is another size
  EXPECT_EQ(parseError(archive),
            "FT0103 entry 'r/a' differs between its local header and the "
            "central directory");
}

TEST(Zip, NotAZip) {
  EXPECT_EQ(parseError(""), "FT0101 the file is not a zip archive");
  EXPECT_EQ(parseError("not a zip at all"),
            "FT0101 the file is not a zip archive");
}

TEST(Zip, TruncatedAnywhere) {
  ZipWriter writer;
  writer.files = {{"r/a", "hello"}, {"r/b", "world"}};
  std::string archive = writer.build();
  for (size_t length = 4; length < archive.size(); ++length)
    EXPECT_EQ(parseError(archive.substr(0, length)),
              "FT0102 the archive is truncated: it has no end record");
}

TEST(Zip, EntryBeyondTheEnd) {
  ZipWriter writer;
  writer.files = {{"r/a", "hello"}};
  writer.files[0].storedSize = writer.files[0].size = 6;
  EXPECT_EQ(parseError(writer.build()),
            "FT0103 entry 'r/a' runs beyond the end of the data");
  writer.files[0] = {"r/a", "hello"};
  writer.files[0].headerOffset = 1 << 30;
  EXPECT_EQ(parseError(writer.build()),
            "FT0103 entry 'r/a' starts beyond the end of the data");
  writer.files[0].headerOffset = INT64_MAX;
  writer.files[0].zip64 = true;
  EXPECT_EQ(parseError(writer.build()),
            "FT0103 entry 'r/a' starts beyond the end of the data");
}

TEST(Zip, OverlappingEntries) {
  // The second local header hides in the data of the first entry.
  ZipWriter inner;
  inner.files = {{"r/b", "world"}};
  ZipWriter writer;
  writer.files = {{"r/a", inner.build().substr(0, 38)}, {"r/b", "world"}};
  writer.files[1].headerOffset = 33;
  EXPECT_EQ(parseError(writer.build()),
            "FT0103 entry 'r/b' overlaps another entry");
}

TEST(Zip, TooManyEntries) {
  ZipWriter writer;
  writer.files = {{"r/a", "hello"}};
  writer.claimedEntries = 1000000;
  writer.zip64End = true;
  EXPECT_EQ(parseError(writer.build()), "FT0102 the archive has 1000000 "
                                        "entries; at most 262144 are read");
  writer.claimedEntries = 100;
  EXPECT_EQ(parseError(writer.build()),
            "FT0102 the central directory ends after 1 of 100 entries");
}

TEST(Zip, Names) {
  auto nameError = [](const std::string &name) {
    ZipWriter writer;
    writer.files = {{name, "x"}};
    return parseError(writer.build());
  };
  EXPECT_EQ(nameError("r/../../etc/passwd"),
            "FT0103 entry 'r/../../etc/passwd' has a path with '..'");
  EXPECT_EQ(nameError("/etc/passwd"),
            "FT0103 entry '/etc/passwd' has an absolute path");
  EXPECT_EQ(nameError("C:x"), "FT0103 entry 'C:x' has an absolute path");
  EXPECT_EQ(nameError("r\\a"), "FT0103 entry 'r\\\\a' has a name with a "
                               "backslash or a zero byte");
  EXPECT_EQ(nameError("r/\xff"),
            "FT0103 entry 'r/\\FF' has a name that is not UTF-8");
  EXPECT_EQ(nameError("r/..b"), "no error");
}

TEST(Zip, Duplicates) {
  ZipWriter writer;
  writer.files = {{"r/a", "1"}, {"r/a", "2"}};
  EXPECT_EQ(parseError(writer.build()),
            "FT0103 entry 'r/a' stands twice in the archive");
}

TEST(Zip, HeadersDiffer) {
  ZipWriter writer;
  writer.files = {{"r/a", "1"}};
  writer.files[0].localName = "r/b";
  EXPECT_EQ(parseError(writer.build()),
            "FT0103 entry 'r/a' differs between its local header and the "
            "central directory");
}

TEST(Zip, OtherMethods) {
  ZipWriter writer;
  writer.files = {{"r/a", "1"}};
  writer.files[0].method = 14;
  EXPECT_EQ(parseError(writer.build()),
            "FT0103 entry 'r/a' uses compression method 14; only stored and "
            "deflated entries are read");
  writer.files[0].method = 0;
  writer.files[0].flags = 1;
  EXPECT_EQ(parseError(writer.build()), "FT0103 entry 'r/a' is encrypted");
}

TEST(Zip, Deflated) {
  std::string text(100000, 'z');
  ZipFile file;
  file.data = deflated(text);
  file.size = text.size();
  file.crc = crcOf(text);
  EXPECT_EQ(readError(file), text);
  EXPECT_EQ(readError(file, 1000),
            "entry 'r/f' has 100000 bytes; at most 1000 are read");
  file.crc ^= 1;
  EXPECT_EQ(readError(file), "entry 'r/f' is damaged: its checksum differs");
}

TEST(Zip, KeepsTheFirstBytesAndChecksAll) {
  std::string text(300000, 'z');
  text.back() = '!';
  ZipWriter writer;
  writer.files = {{"r/f", deflated(text)}, {"r/s", text}};
  writer.files[0].method = 8;
  writer.files[0].size = int64_t(text.size());
  writer.files[0].crc = writer.files[1].crc = crcOf(text);
  for (uint32_t wrong : {0, 1}) {
    for (ZipFile &file : writer.files)
      file.crc ^= wrong;
    std::string archive = writer.build();
    llvm::Expected<Zip> zip = Zip::parse(bytesOf(archive), "a.pt2");
    ASSERT_TRUE(bool(zip));
    for (const ZipEntry &entry : zip->entries())
      for (uint64_t keep : {0, 1, 65536, 100000, 299999, 300000, 300001}) {
        llvm::Expected<ZipData> data = zip->read(entry, 1 << 20, keep);
        if (wrong)
          EXPECT_EQ(
              takeDiagnostics(data.takeError())[0].message,
              ("entry '" + entry.name + "' is damaged: its checksum differs")
                  .str());
        else if (data)
          EXPECT_EQ(data->text(), llvm::StringRef(text).take_front(keep));
        else
          ADD_FAILURE() << llvm::toString(data.takeError());
      }
  }
}

TEST(Zip, TwoArchivesInOneFile) {
  ZipWriter writer;
  writer.files = {{"r/a", "hello"}};
  std::string plain = writer.build();
  writer.zip64End = true;
  std::string wide = writer.build();
  EXPECT_EQ(parseError(plain + plain), "FT0102 the central directory does not "
                                       "end at its end record");
  EXPECT_EQ(parseError(wide + wide), "FT0102 the ZIP64 end record does not end "
                                     "at its locator");
}

TEST(Zip, DeflateBomb) {
  std::string text(100000, 'z');
  ZipFile file;
  file.data = deflated(text);
  file.crc = crcOf(text);
  for (int64_t size : {0, 1, 99999, 100001}) {
    file.size = size;
    EXPECT_EQ(readError(file),
              "entry 'r/f' is damaged: it does not inflate to its declared " +
                  std::to_string(size) + " bytes");
  }
  file.size = 0xfffffff0;
  EXPECT_EQ(readError(file, ~uint64_t(0)),
            "entry 'r/f' claims to inflate to an impossible size");
}

} // namespace
