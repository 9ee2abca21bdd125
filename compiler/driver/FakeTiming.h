//===- FakeTiming.h - How long fake propagation takes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_FAKETIMING_H
#define FORETRACE_COMPILER_DRIVER_FAKETIMING_H

#include "compiler/support/Export.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ft {

class Session;

/// What the cache of fake propagation did.
struct FakeCacheStats {
  /// Calls that an equal call before had answered.
  uint64_t hits = 0;
  /// Calls whose rule was asked, and whose answer was kept.
  uint64_t misses = 0;
  /// Hits that were worked out again (`--crosscheck`); all agreed.
  uint64_t checked = 0;
  /// Calls whose rule was asked and whose answer was not kept, by reason.
  std::vector<std::pair<std::string, uint64_t>> bypasses;
};

/// Fake propagation alone, the shortest of several runs.
struct FakeTiming {
  /// Calls in the program.
  size_t nodes = 0;
  double seconds = 0;
  size_t runs = 0;
  /// Of one run; the same for each.
  FakeCacheStats cache;
};

/// Of the stages that the session has run.
FORETRACE_API FakeCacheStats fakeCacheStats(const Session &session);

/// Propagates copies of the session's model for `seconds`, at least once after
/// one run to warm up. Each run starts from a fresh copy without annotations
/// and an empty cache; making the copy is not counted, nor is import. The
/// session must stand before stage lower, and stays as it is. False after an
/// error, which its diagnostics then hold.
FORETRACE_API bool timeFake(Session &session, double seconds,
                            FakeTiming &timing);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_FAKETIMING_H
