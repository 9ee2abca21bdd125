//===- Importer.cpp - File → ft module -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/Importer.h"

#include "compiler/import/pt2/Archive.h"
#include "compiler/import/pt2/Pt2Import.h"
#include "compiler/import/text/TextImport.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/MappedFile.h"

namespace ft {

/// ONNX is a protobuf message whose first field is the IR version (tag 8, a
/// small number), followed by other fields of the model: the producer's name
/// (tag 18), opset imports (66) or the graph (58).
static bool looksLikeOnnx(llvm::ArrayRef<uint8_t> bytes) {
  return bytes.size() > 3 && bytes[0] == 8 && bytes[1] < 32 &&
         (bytes[2] == 18 || bytes[2] == 26 || bytes[2] == 58 ||
          bytes[2] == 66 || bytes[2] == 34 || bytes[2] == 42);
}

ModelKind detectModelKind(llvm::ArrayRef<uint8_t> bytes) {
  if (Zip::looksLikeZip(bytes))
    return ModelKind::Zip;
  if (bytes.size() >= 4 && bytes[0] == 'M' && bytes[1] == 'L' &&
      bytes[2] == 0xef && bytes[3] == 'R')
    return ModelKind::Bytecode;
  if (looksLikeOnnx(bytes))
    return ModelKind::Onnx;
  // Text has no zero bytes; a glance at the start is enough to choose.
  llvm::ArrayRef<uint8_t> start = bytes.take_front(4096);
  if (!start.empty() && !llvm::is_contained(start, 0))
    return ModelKind::MlirText;
  return ModelKind::Unknown;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(llvm::StringRef path, mlir::MLIRContext &context) {
  llvm::Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  switch (detectModelKind(file->bytes())) {
  case ModelKind::Zip: {
    llvm::Expected<std::unique_ptr<pt2::Archive>> archive =
        pt2::Archive::open(path);
    if (!archive)
      return archive.takeError();
    return pt2::importProgram(**archive, context);
  }
  case ModelKind::MlirText:
    return importText(file->text(), path, context);
  case ModelKind::Onnx:
    return makeError(DiagId::NotYetSupported, path,
                     "the file is an ONNX model; this build reads .pt2 and "
                     ".mlir only",
                     "save the model with torch.export.save(program, path)");
  case ModelKind::Bytecode:
    return makeError(DiagId::NotYetSupported, path,
                     "the file is MLIR bytecode; this build reads the textual "
                     "form",
                     "convert it with ft-opt");
  case ModelKind::Unknown:
    break;
  }
  return makeError(DiagId::NotAZip, path,
                   "the file is neither a .pt2 archive nor .mlir text",
                   "save the model with torch.export.save(program, path)");
}

namespace {
class ArchiveWeights : public WeightSource {
public:
  explicit ArchiveWeights(std::unique_ptr<pt2::Archive> source)
      : archive(std::move(source)) {}
  llvm::Expected<llvm::ArrayRef<uint8_t>> record(llvm::StringRef name,
                                                 uint64_t bytes) override {
    return archive->record(name, bytes);
  }

private:
  std::unique_ptr<pt2::Archive> archive;
};
} // namespace

llvm::Expected<std::unique_ptr<WeightSource>>
WeightSource::open(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<pt2::Archive>> archive =
      pt2::Archive::open(path);
  if (!archive)
    return archive.takeError();
  return std::make_unique<ArchiveWeights>(std::move(*archive));
}

} // namespace ft
