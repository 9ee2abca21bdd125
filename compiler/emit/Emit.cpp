//===- Emit.cpp - Writes a compiled model ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/Emit.h"

#include "compiler/emit/Descriptor.h"
#include "compiler/emit/HeaderText.h"
#include "compiler/emit/Link.h"
#include "compiler/emit/WeightsFile.h"
#include "compiler/support/AtomicFile.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/MappedFile.h"
#include "runtime/src/abi.h"
#include "runtime/src/hash.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <optional>

namespace ft {

namespace {

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
    add(value.written | value.hasGradient << 1);
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
static std::string compileId(const Artefact &a, const KernelFiles &kernels,
                             uint64_t weightsHash) {
  ContentId id;
  id.add(compilerVersion());
  id.add(a.name);
  id.add(a.cpu);
  for (const std::string &feature : a.features)
    id.add(feature);
  id.add(a.optimizer);
  for (const std::vector<AbiValue> *values :
       {&a.inputs, &a.outputs, &a.optimizerState}) {
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
  for (const AbiSymbol &s : a.symbols) {
    id.add(s.name);
    id.add(s.title);
    id.add({s.lower, s.upper, s.hint, s.input, s.dim, s.scale, s.offset});
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
  for (const AbiProgram &program : a.programs) {
    id.add(program.name);
    id.add(program.arenaBytes);
    id.add(program.object);
    for (const std::vector<AbiValue> *values :
         {&program.inputs, &program.outputs})
      for (const AbiValue &value : *values)
        id.add(value);
    for (const std::vector<AbiPlace> *places :
         {&program.inputPlaces, &program.outputPlaces})
      for (const AbiPlace &place : *places)
        id.add({int64_t(place.kind), place.index});
  }
  for (const KernelFiles::File &file : kernels.files)
    id.add(file.bytes->getBuffer());
  return id.hex();
}

/// Streams the weights behind room for the head, which is known only when all
/// of them have been hashed.
static llvm::Expected<uint64_t> writeWeights(const Artefact &artefact,
                                             AtomicFile &file) {
  file.os().write_zeros(FT_WEIGHTS_DATA);
  return streamWeights(artefact, [&](llvm::ArrayRef<char> bytes) {
    file.os().write(bytes.data(), bytes.size());
    // A full disk ends this at once.
    return file.os().has_error() ? file.finish() : llvm::Error::success();
  });
}

/// The weights as they stand in the descriptor of a model without a file.
static llvm::Expected<uint64_t> collectWeights(const Artefact &artefact,
                                               std::string &bytes) {
  auto hash =
      streamWeights(artefact, [&](llvm::ArrayRef<char> piece) -> llvm::Error {
        bytes.append(piece.begin(), piece.end());
        return llvm::Error::success();
      });
  if (bytes.empty())
    bytes.push_back(
        '\0'); // a model without weights has an address all the same
  return hash;
}

/// Removes the weights of an earlier, larger model of the same name; another
/// file of that name is not ours to remove.
static llvm::Error removeStaleWeights(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return llvm::Error::success();
  }
  if (!file->text().starts_with(FT_WEIGHTS_MAGIC))
    return llvm::Error::success();
  if (std::error_code error = llvm::sys::fs::remove(path))
    return makeError(DiagId::CannotWrite, path,
                     "the weights of an earlier model cannot be removed: " +
                         error.message());
  return llvm::Error::success();
}

static llvm::Error checkObjects(const Artefact &artefact) {
  if (artefact.programs.empty())
    return checkObject(artefact.object, "ft_gen_forward",
                       artefact.symbols.empty() ? "" : "ft_gen_sizes",
                       artefact.kernels, artefact.sanitized);
  for (const AbiProgram &program : artefact.programs)
    if (llvm::Error error =
            checkObject(program.object, program.entry(),
                        program.symbols.empty() ? "" : program.sizes(),
                        artefact.kernels, artefact.sanitized))
      return error;
  return llvm::Error::success();
}

llvm::Expected<EmittedFiles> emitArtefact(const Artefact &artefact,
                                          llvm::StringRef outputBase,
                                          const EmitOptions &options) {
  if (llvm::Error error = artefact.verify())
    return std::move(error);
  if (llvm::Error error = checkObjects(artefact))
    return std::move(error);
  auto kernels = KernelFiles::read(artefact.kernels);
  if (!kernels)
    return kernels.takeError();
  auto linker = findLinker(options.linker);
  if (!linker)
    return linker.takeError();

  EmittedFiles files;
  files.library = (outputBase + ".so").str();
  files.header = (outputBase + ".h").str();
  auto library = AtomicFile::create(files.library, 0777);
  if (!library)
    return library.takeError();
  auto header = AtomicFile::create(files.header);
  if (!header)
    return header.takeError();
  std::optional<AtomicFile> weights;
  if (artefact.weightsBytes > options.inlineWeightsLimit) {
    files.weights = (outputBase + ".weights").str();
    auto file = AtomicFile::create(files.weights);
    if (!file)
      return file.takeError();
    weights.emplace(std::move(*file));
  }

  DescriptorContent content;
  std::string inlineBytes;
  auto hash = weights ? writeWeights(artefact, *weights)
                      : collectWeights(artefact, inlineBytes);
  if (!hash)
    return hash.takeError();
  content.weightsDataHash = *hash;
  content.compileId = files.compileId = compileId(artefact, *kernels, *hash);
  if (weights) {
    std::string head =
        weightsFileHead(artefact.weightsBytes, *hash, content.compileId,
                        content.weightsHeaderHash);
    weights->os().seek(0);
    weights->os() << head;
  } else {
    content.inlineWeights = &inlineBytes;
  }
  auto descriptor = buildDescriptor(artefact, content);
  if (!descriptor)
    return descriptor.takeError();

  LinkInputs link;
  std::string soname = llvm::sys::path::filename(files.library).str();
  std::string apiSymbol = artefact.name + "_api";
  if (artefact.programs.empty())
    link.objects = {artefact.object};
  for (const AbiProgram &program : artefact.programs)
    link.objects.push_back(program.object);
  link.descriptor = *descriptor;
  link.name = files.library;
  link.soname = soname;
  link.apiSymbol = apiSymbol;
  link.kernels = &*kernels;
  link.sanitized = artefact.sanitized;
  if (llvm::Error error = linkModel(link, *linker, library->temporaryPath()))
    return std::move(error);
  header->os() << headerText(artefact, content.compileId,
                             llvm::sys::path::filename(outputBase));

  // Whatever can fail comes before the first rename.
  llvm::SmallVector<AtomicFile *, 3> all = {&*library, &*header};
  if (weights)
    all.insert(all.begin(), &*weights);
  for (AtomicFile *file : all)
    if (llvm::Error error = file->finish())
      return std::move(error);
  for (AtomicFile *file : all)
    if (llvm::Error error = file->commit())
      return std::move(error);
  if (!weights)
    if (llvm::Error error = removeStaleWeights((outputBase + ".weights").str()))
      return std::move(error);
  return files;
}

} // namespace ft
