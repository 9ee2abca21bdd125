//===- MemoryRoom.h - What a tensor may reach of its memory ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_MEMORYROOM_H
#define FORETRACE_COMPILER_LOWER_MEMORYROOM_H

#include "compiler/lower/Schedule.h"

namespace ft {

/// For checked builds: how far each tensor of a schedule reaches, worked out
/// from where it is placed, and how far it may, worked out from what its memory
/// was made for. Example: x[2:4] of an input x of 8 floats starts at byte 8,
/// reaches 8 bytes and has room for 24.
class MemoryRoom {
public:
  explicit MemoryRoom(Schedule &schedule) : schedule(schedule) {}

  /// Bytes from its first element to the end of its last, if it has any.
  Dim reachOf(mlir::Value tensor);
  /// Its elements; 0: it reaches nothing.
  Dim elementsOf(mlir::Value tensor);
  /// Bytes from its first element to the end of its memory.
  Dim roomOf(mlir::Value tensor);
  /// Bytes of parameters, buffers and constants that belong to none, as (start,
  /// bytes) in the weights or the state block: padding, up to 64 bytes each.
  std::vector<std::pair<int64_t, int64_t>> gapsOf(Region region);

  /// The value whose memory a view shows.
  static mlir::Value rootOf(mlir::Value tensor);

private:
  Schedule &schedule;
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_MEMORYROOM_H
