//===- WeightsFile.cpp - Streams the weights -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/WeightsFile.h"

#include "compiler/emit/PackConstant.h"
#include "runtime/src/abi.h"
#include "runtime/src/hash.h"

#include <cstring>

namespace ft {

llvm::Expected<uint64_t>
streamWeights(const Artefact &artefact,
              llvm::function_ref<llvm::Error(llvm::ArrayRef<char>)> take) {
  ft_hash hash;
  ft_hash_init(&hash, 0);
  uint64_t at = 0;
  auto add = [&](llvm::ArrayRef<char> bytes) {
    ft_hash_add(&hash, bytes.data(), bytes.size());
    at += bytes.size();
    return take(bytes);
  };
  const std::vector<char> zeros(1 << 16, 0);
  auto fillTo = [&](uint64_t offset) -> llvm::Error {
    while (at < offset) {
      size_t n = std::min<uint64_t>(offset - at, zeros.size());
      if (llvm::Error error = add(llvm::ArrayRef(zeros.data(), n)))
        return error;
    }
    return llvm::Error::success();
  };
  for (const Constant &constant : artefact.constants) {
    if (llvm::Error error = fillTo(constant.offset))
      return std::move(error);
    if (llvm::Error error = packConstant(constant, add))
      return std::move(error);
  }
  if (llvm::Error error = fillTo(artefact.weightsBytes))
    return std::move(error);
  return ft_hash_value(&hash);
}

std::string weightsFileHead(uint64_t dataBytes, uint64_t dataHash,
                            llvm::StringRef compileId, uint64_t &headerHash) {
  ft_weights_header header;
  std::memset(&header, 0, sizeof header);
  std::memcpy(header.magic, FT_WEIGHTS_MAGIC, sizeof header.magic);
  header.version = FT_WEIGHTS_VERSION;
  header.header_bytes = sizeof header;
  header.data_bytes = dataBytes;
  header.data_hash = dataHash;
  std::memcpy(header.compile_id, compileId.data(), sizeof header.compile_id);
  header.header_hash =
      ft_hash_bytes(&header, offsetof(ft_weights_header, header_hash));
  headerHash = header.header_hash;
  std::string head(FT_WEIGHTS_DATA, '\0');
  std::memcpy(head.data(), &header, sizeof header);
  return head;
}

} // namespace ft
