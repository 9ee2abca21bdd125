//===- Archive.cpp - The container of an exported program ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/Archive.h"

#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"

namespace ft::pt2 {

/// A program of a thousand layers is some 50 MB of JSON.
static constexpr uint64_t kMaxJson = uint64_t(1) << 30;
static constexpr uint64_t kMaxRecord = uint64_t(1) << 40;

static constexpr char kReexport[] =
    "export it again with torch.export.save of PyTorch 2.9 or newer";

llvm::Expected<std::unique_ptr<Archive>>
Archive::parse(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef where) {
  llvm::Expected<Zip> zip = Zip::parse(bytes, where);
  if (!zip)
    return zip.takeError();
  std::unique_ptr<Archive> archive(new Archive(std::move(*zip), where));
  if (llvm::Error error = archive->findProgram())
    return std::move(error);
  return archive;
}

llvm::Expected<std::unique_ptr<Archive>> Archive::open(llvm::StringRef path) {
  llvm::Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  llvm::Expected<std::unique_ptr<Archive>> archive = parse(file->bytes(), path);
  if (archive)
    (*archive)->file.emplace(std::move(*file));
  return archive;
}

/// What the archive is instead, when it has no program that can be read.
static llvm::StringRef otherKind(const Zip &zip, llvm::StringRef root) {
  auto has = [&](llvm::StringRef name) {
    return zip.find((root + name).str()) != nullptr;
  };
  auto hasUnder = [&](llvm::StringRef folder) {
    std::string prefix = (root + folder).str();
    return llvm::any_of(zip.entries(), [&](const ZipEntry &e) {
      return e.name.starts_with(prefix);
    });
  };
  if (hasUnder("data/aotinductor/"))
    return "an AOTInductor package: it holds code that PyTorch compiled, not "
           "the program";
  if (has("serialized_exported_program.json"))
    return "an exported program of PyTorch 2.7 or older, whose weights are "
           "Python pickles";
  if (has("constants.pkl") || hasUnder("code/"))
    return "a TorchScript archive";
  if (has("data.pkl"))
    return "a checkpoint of torch.save: it holds pickled weights and no "
           "program";
  if (hasUnder("data/executorch/"))
    return "an ExecuTorch archive";
  return "";
}

llvm::Error Archive::findProgram() {
  auto other = [&](const llvm::Twine &message, const char *help) {
    return makeError(DiagId::OtherArchive, source, message, help);
  };
  // The root folder is the first part of every name, if they all agree.
  llvm::ArrayRef<ZipEntry> entries = zip.entries();
  if (entries.empty())
    return makeError(DiagId::BadZip, source, "the archive is empty", kReexport);
  llvm::StringRef first = entries[0].name;
  if (size_t slash = first.find('/'); slash != llvm::StringRef::npos) {
    llvm::StringRef folder = first.take_front(slash + 1);
    if (llvm::all_of(entries, [&](const ZipEntry &e) {
          return e.name.starts_with(folder);
        }))
      root = folder.str();
  }
  // An archive without a root folder of its own may still have one folder.
  if (root == "models/" || root == "data/" || root == "code/")
    root.clear();

  std::vector<llvm::StringRef> names;
  for (const ZipEntry &entry : entries) {
    llvm::StringRef name = entry.name;
    if (name.consume_front(root) && name.consume_front("models/") &&
        name.consume_back(".json") && !name.contains('/'))
      names.push_back(name);
  }
  if (names.empty()) {
    llvm::StringRef kind = otherKind(zip, root);
    if (!kind.empty())
      return other("the file is " + kind, kReexport);
    return makeError(DiagId::NoProgram, source,
                     "the zip archive holds no exported program (no "
                     "models/*.json)",
                     "save the model with torch.export.save(program, path)");
  }
  if (names.size() == 1)
    model = names[0].str();
  else if (llvm::is_contained(names, "model"))
    model = "model";
  else
    return other("the archive holds " + llvm::Twine(names.size()) +
                     " programs ('" + names[0] + "', '" + names[1] +
                     "', …) and none is called 'model'",
                 "save the one to compile in an archive of its own");

  // Between 2.7 and 2.9 archives had this form with one pickle for all weights.
  if (!find("data/weights/" + model + "_weights_config.json") &&
      find("data/weights/" + model + ".pt"))
    return other("the file is an exported program of an older PyTorch, whose "
                 "weights are one Python pickle",
                 kReexport);
  if (const ZipEntry *order = find("byteorder")) {
    llvm::Expected<ZipData> data = zip.read(*order, 64);
    if (!data)
      return data.takeError();
    if (data->text().trim() != "little")
      return other("the archive's weights are not little endian",
                   "export it on a little endian machine");
  }
  return llvm::Error::success();
}

const ZipEntry *Archive::find(llvm::StringRef name) const {
  return zip.find((root + name).str());
}

llvm::Expected<ZipData> Archive::programJson() const {
  return zip.read(*find("models/" + model + ".json"), kMaxJson);
}

llvm::Expected<std::optional<ZipData>>
Archive::tensorConfig(llvm::StringRef kind) const {
  const ZipEntry *entry =
      find(("data/" + kind + "/" + model + "_" + kind + "_config.json").str());
  if (!entry)
    return std::nullopt;
  llvm::Expected<ZipData> data = zip.read(*entry, kMaxJson);
  if (!data)
    return data.takeError();
  return std::optional<ZipData>(std::move(*data));
}

llvm::Expected<const ZipEntry *>
Archive::findRecord(llvm::StringRef name) const {
  if (const ZipEntry *entry = find(name))
    return entry;
  return makeError(DiagId::BadWeights, source,
                   "the archive has no record '" + name + "'", kReexport);
}

llvm::Expected<uint64_t> Archive::recordBytes(llvm::StringRef name) const {
  llvm::Expected<const ZipEntry *> entry = findRecord(name);
  if (!entry)
    return entry.takeError();
  return (*entry)->size;
}

llvm::Expected<llvm::ArrayRef<uint8_t>> Archive::record(llvm::StringRef name,
                                                        uint64_t bytes) {
  llvm::Expected<const ZipEntry *> entry = findRecord(name);
  if (!entry)
    return entry.takeError();
  if ((*entry)->size < bytes)
    return makeError(DiagId::BadWeights, source,
                     "record '" + name + "' has " +
                         llvm::Twine((*entry)->size) + " bytes; " +
                         llvm::Twine(bytes) + " are needed",
                     kReexport);
  std::vector<ZipData> &pieces = checked[name];
  if (pieces.empty() || pieces.back().bytes().size() < bytes) {
    // A stored record costs nothing to have whole.
    llvm::Expected<ZipData> data =
        zip.read(**entry, kMaxRecord, (*entry)->deflated ? bytes : Zip::kWhole);
    if (!data)
      return data.takeError();
    pieces.push_back(std::move(*data));
  }
  return pieces.back().bytes().take_front(bytes);
}

} // namespace ft::pt2
