//===- PartitionOptions.h - What the partition can be told -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_PARTITION_PARTITIONOPTIONS_H
#define FORETRACE_COMPILER_PARTITION_PARTITIONOPTIONS_H

#include <optional>
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
  /// The most that is kept, as a fraction of the activation bytes that are kept
  /// without it; [FT0905] names the smallest that can be reached.
  std::optional<double> budget;
  /// Keep the smallest that can be reached where `budget` cannot.
  bool orSmallest = false;
};

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_PARTITIONOPTIONS_H
