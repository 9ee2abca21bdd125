//===- Archive.h - The container of an exported program --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_PT2_ARCHIVE_H
#define FORETRACE_COMPILER_IMPORT_PT2_ARCHIVE_H

#include "compiler/support/MappedFile.h"
#include "compiler/support/Zip.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>

namespace ft::pt2 {

/// A .pt2 file as torch.export.save writes it: a zip archive with one root
/// folder, in which are
///
///   models/NAME.json                        the program
///   data/weights/NAME_weights_config.json   which record holds which tensor
///   data/weights/weight_N                   raw storages, little endian
///   data/constants/…                        the same for constants
///
/// Other kinds of archives that PyTorch writes are told apart and refused by
/// name (FT0204): AOTInductor packages, TorchScript, checkpoints, and older
/// exports, whose weights are Python pickles. Nothing is ever unpickled.
///
/// A record may be longer than its tensors need: PyTorch writes a storage
/// whole though only a slice of it is used.
///
/// Names of records are relative to the root folder: "data/weights/weight_0".
class Archive {
public:
  /// Maps the file; the archive and what it hands out live as long as this
  /// object.
  static llvm::Expected<std::unique_ptr<Archive>> open(llvm::StringRef path);
  /// Of bytes that outlive the archive.
  static llvm::Expected<std::unique_ptr<Archive>>
  parse(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef where);

  /// "model": the stem of models/NAME.json.
  llvm::StringRef modelName() const { return model; }
  llvm::StringRef where() const { return source; }

  llvm::Expected<ZipData> programJson() const;
  /// The configuration of the "weights" or "constants"; nothing if the archive
  /// has none.
  llvm::Expected<std::optional<ZipData>>
  tensorConfig(llvm::StringRef kind) const;

  bool hasRecord(llvm::StringRef name) const { return find(name) != nullptr; }
  /// How many bytes a record has; its data are not touched. FT0202 if there is
  /// none of this name.
  llvm::Expected<uint64_t> recordBytes(llvm::StringRef name) const;
  /// The first `bytes` bytes of a record, in place. Of a deflated one these and
  /// no more are inflated and kept, once for every larger number asked for.
  /// The first time, the record's checksum is compared (FT0103). FT0202 if the
  /// record is shorter or there is none. Not thread-safe.
  llvm::Expected<llvm::ArrayRef<uint8_t>> record(llvm::StringRef name,
                                                 uint64_t bytes);

private:
  Archive(Zip directory, llvm::StringRef where)
      : zip(std::move(directory)), source(where.str()) {}

  llvm::Error findProgram();
  const ZipEntry *find(llvm::StringRef name) const;
  llvm::Expected<const ZipEntry *> findRecord(llvm::StringRef name) const;

  std::optional<MappedFile> file;
  Zip zip;
  std::string source;
  std::string root; // "name/" or empty
  std::string model;
  /// What was handed out, checked; the longest of each record is the last.
  llvm::StringMap<std::vector<ZipData>> checked;
};

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_ARCHIVE_H
