//===- FuzzCheck.h - Invariants of fuzz targets ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_FUZZ_FUZZCHECK_H
#define FORETRACE_TESTS_FUZZ_FUZZCHECK_H

#include <cstdio>
#include <cstdlib>

/// Ends the process if `condition` is false: a finding for the fuzzer.
#define FUZZ_CHECK(condition)                                                  \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
      std::abort();                                                            \
    }                                                                          \
  } while (false)

#endif // FORETRACE_TESTS_FUZZ_FUZZCHECK_H
