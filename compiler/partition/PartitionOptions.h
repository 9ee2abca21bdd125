//===- PartitionOptions.h - What the partition can be told -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_PARTITION_PARTITIONOPTIONS_H
#define FORETRACE_COMPILER_PARTITION_PARTITIONOPTIONS_H

#include <string>
#include <vector>

namespace ft {

struct PartitionOptions {
  /// Names of values, `*` for any characters: never computed again, so kept if
  /// backward needs them; {"*"} keeps everything that backward reads.
  std::vector<std::string> keep;
  /// Never kept, so computed again if backward needs them; stronger than
  /// `keep`.
  std::vector<std::string> recompute;
};

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_PARTITIONOPTIONS_H
