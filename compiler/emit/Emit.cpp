//===- Emit.cpp - Writes a compiled model ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/Emit.h"

#include "compiler/emit/Descriptor.h"
#include "compiler/emit/HeaderText.h"
#include "compiler/emit/Link.h"
#include "compiler/emit/WeightsFile.h"
#include "compiler/support/Diagnostics.h"
#include "runtime/src/abi.h"
#include "runtime/src/hash.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <optional>
#include <unistd.h>

namespace ft {

namespace {

/// A file that appears under its name only when it is complete. What is not
/// kept is removed, also when a signal ends the process.
class PendingFile {
public:
  PendingFile(llvm::StringRef name) : name(name) {}
  PendingFile(const PendingFile &) = delete;
  ~PendingFile() {
    if (file)
      llvm::consumeError(file->discard());
  }

  llvm::Error create() {
    if (llvm::sys::fs::is_directory(name))
      return failed("it is a folder");
    auto made = llvm::sys::fs::TempFile::create(name + ".%%%%%%.tmp");
    if (!made)
      return failed(llvm::toString(made.takeError()));
    file.emplace(std::move(*made));
    return llvm::Error::success();
  }

  /// Appends, whatever number of calls the system takes for it.
  llvm::Error write(llvm::ArrayRef<char> bytes) {
    while (!bytes.empty()) {
      ssize_t n = ::write(file->FD, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return failed(llvm::sys::StrError(errno));
      bytes = bytes.drop_front(n);
    }
    return llvm::Error::success();
  }

  llvm::Error rewind() {
    if (::lseek(file->FD, 0, SEEK_SET) < 0)
      return failed(llvm::sys::StrError(errno));
    return llvm::Error::success();
  }

  llvm::Error keep() {
    llvm::Error error = file->keep(name);
    file.reset();
    if (error)
      return failed(llvm::toString(std::move(error)));
    return llvm::Error::success();
  }

  llvm::StringRef temporaryName() const { return file->TmpName; }
  const std::string name;

private:
  llvm::Error failed(const llvm::Twine &why) {
    return makeError(DiagId::CannotWrite, "",
                     "'" + name + "' cannot be written: " + why);
  }

  std::optional<llvm::sys::fs::TempFile> file;
};

/// Two independent hashes of a sequence of fields.
class ContentId {
public:
  ContentId() {
    ft_hash_init(&halves[0], 1);
    ft_hash_init(&halves[1], 2);
  }
  void add(llvm::StringRef text) {
    add(text.size());
    for (ft_hash &half : halves)
      ft_hash_add(&half, text.data(), text.size());
  }
  void add(uint64_t number) {
    for (ft_hash &half : halves)
      ft_hash_add(&half, &number, sizeof number);
  }
  void add(llvm::ArrayRef<int64_t> numbers) {
    add(numbers.size());
    for (int64_t number : numbers)
      add(static_cast<uint64_t>(number));
  }
  void add(const AbiValue &value) {
    add(value.name);
    add(value.dtype.code << 8 | value.dtype.bits);
    add(value.sizes);
    add(value.strides);
    for (const std::string &dim : value.dims)
      add(dim);
    add(value.written);
  }
  std::string hex() const {
    std::string text;
    for (const ft_hash &half : halves)
      text += llvm::utohexstr(ft_hash_value(&half), /*LowerCase=*/true, 16);
    return text;
  }

private:
  ft_hash halves[2];
};

} // namespace

/// Everything that the three files are made from, and nothing else: no time,
/// no path.
static std::string compileId(const Artefact &a, uint64_t weightsHash) {
  ContentId id;
  id.add(compilerVersion());
  id.add(a.name);
  id.add(a.cpu);
  for (const std::string &feature : a.features)
    id.add(feature);
  for (const std::vector<AbiValue> *values : {&a.inputs, &a.outputs}) {
    id.add(values->size());
    for (const AbiValue &value : *values)
      id.add(value);
  }
  for (const AbiState &state : a.state) {
    id.add(static_cast<const AbiValue &>(state));
    id.add(state.isParameter);
    id.add(static_cast<uint64_t>(state.weightsOffset));
    id.add(static_cast<uint64_t>(state.stateOffset));
  }
  for (const AbiGuard &guard : a.guards) {
    id.add(guard.text);
    id.add(guard.source);
  }
  id.add(a.weightsBytes);
  id.add(a.stateBytes);
  id.add(a.arenaBytes);
  id.add(weightsHash);
  id.add(a.object);
  return id.hex();
}

/// Streams the weights behind a place for the head, which is known only when
/// all of them have been hashed.
static llvm::Expected<uint64_t> writeWeights(const Artefact &artefact,
                                             PendingFile &file) {
  if (llvm::Error error = file.create())
    return std::move(error);
  std::vector<char> room(FT_WEIGHTS_DATA, 0);
  if (llvm::Error error = file.write(room))
    return std::move(error);
  return streamWeights(
      artefact, [&](llvm::ArrayRef<char> bytes) { return file.write(bytes); });
}

llvm::Expected<EmittedFiles> emitArtefact(const Artefact &artefact,
                                          llvm::StringRef outputBase,
                                          const EmitOptions &options) {
  if (llvm::Error error = artefact.verify())
    return std::move(error);
  if (llvm::Error error = checkObject(artefact.object))
    return std::move(error);
  auto linker = findLinker(options.linker);
  if (!linker)
    return linker.takeError();

  PendingFile library((outputBase + ".so").str());
  PendingFile header((outputBase + ".h").str());
  PendingFile weights((outputBase + ".weights").str());
  if (llvm::Error error = library.create())
    return std::move(error);
  if (llvm::Error error = header.create())
    return std::move(error);

  bool external = artefact.weightsBytes > options.inlineWeightsLimit;
  std::string inlineBytes;
  llvm::Expected<uint64_t> hash =
      external ? writeWeights(artefact, weights)
               : streamWeights(artefact, [&](llvm::ArrayRef<char> bytes) {
                   inlineBytes.append(bytes.begin(), bytes.end());
                   return llvm::Error::success();
                 });
  if (!hash)
    return hash.takeError();

  DescriptorContent content;
  content.compileId = compileId(artefact, *hash);
  content.weightsDataHash = *hash;
  if (external) {
    std::string head =
        weightsFileHead(artefact.weightsBytes, *hash, content.compileId,
                        content.weightsHeaderHash);
    if (llvm::Error error = weights.rewind())
      return std::move(error);
    if (llvm::Error error = weights.write(head))
      return std::move(error);
  } else {
    inlineBytes.resize(std::max<size_t>(inlineBytes.size(), 1));
    content.inlineWeights = &inlineBytes;
  }
  auto descriptor = buildDescriptor(artefact, content);
  if (!descriptor)
    return descriptor.takeError();

  LinkInputs link;
  std::string soname = llvm::sys::path::filename(library.name).str();
  std::string apiSymbol = artefact.name + "_api";
  link.object = artefact.object;
  link.descriptor = *descriptor;
  link.name = library.name;
  link.soname = soname;
  link.apiSymbol = apiSymbol;
  if (llvm::Error error = linkModel(link, *linker, library.temporaryName()))
    return std::move(error);
  if (llvm::Error error = header.write(
          llvm::ArrayRef<char>(headerText(artefact, content.compileId))))
    return std::move(error);

  EmittedFiles files;
  files.library = library.name;
  files.header = header.name;
  files.compileId = content.compileId;
  if (external) {
    files.weights = weights.name;
    if (llvm::Error error = weights.keep())
      return std::move(error);
  }
  if (llvm::Error error = library.keep())
    return std::move(error);
  if (llvm::Error error = header.keep())
    return std::move(error);
  return files;
}

} // namespace ft
