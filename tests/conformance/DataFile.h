//===- DataFile.h - The tensors of a .bin file -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_DATAFILE_H
#define FORETRACE_TESTS_CONFORMANCE_DATAFILE_H

#include "tests/conformance/HostTensor.h"
#include "tests/conformance/OracleJson.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace ft::conformance {

class DataFile {
public:
  static llvm::Expected<DataFile> open(llvm::StringRef path);

  /// A view of the file's bytes; `tensor` must outlive it. Fails for a tensor
  /// that reaches beyond the end.
  llvm::Expected<TensorView> view(const StoredTensor &tensor) const;
  llvm::Expected<HostTensor> copy(const StoredTensor &tensor) const;

private:
  std::unique_ptr<llvm::MemoryBuffer> bytes;
};

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_DATAFILE_H
