//===- DataFile.cpp - The tensors of a .bin file --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/DataFile.h"

#include <cstring>

using namespace ft;
using namespace ft::conformance;

llvm::Expected<DataFile> DataFile::open(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError("cannot open '" + path +
                                   "': " + buffer.getError().message());
  DataFile file;
  file.bytes = std::move(*buffer);
  return std::move(file);
}

llvm::Expected<TensorView> DataFile::view(const StoredTensor &tensor) const {
  uint64_t size = bytes->getBufferSize();
  if (tensor.bytes > size || tensor.offset > size - tensor.bytes)
    return llvm::createStringError("a tensor beyond the end of the data");
  return TensorView{tensor.dtype, tensor.shape,
                    bytes->getBufferStart() + tensor.offset};
}

llvm::Expected<HostTensor> DataFile::copy(const StoredTensor &tensor) const {
  llvm::Expected<TensorView> from = view(tensor);
  if (!from)
    return from.takeError();
  HostTensor result(tensor.dtype, tensor.shape);
  std::memcpy(result.bytes.data(), from->data, result.bytes.size());
  return result;
}
