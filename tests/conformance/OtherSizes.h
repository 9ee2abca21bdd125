//===- OtherSizes.h - Calls compiled for all sizes, at others --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_OTHERSIZES_H
#define FORETRACE_TESTS_CONFORMANCE_OTHERSIZES_H

#include "tests/conformance/DataFile.h"
#include "tests/conformance/OpCase.h"
#include "tests/conformance/Report.h"
#include "tests/conformance/ScratchFolder.h"

#include "llvm/ADT/ArrayRef.h"

namespace ft::conformance {

/// Does an artefact of calls with symbols for their sizes compute at other
/// sizes what an artefact made for those computes? A rule that reads the sizes
/// of the example as numbers would pass at these.
///
/// Every size of a call grows by 1, or else by 2, or else doubles, whichever
/// the guards of the call allow first; a call that allows none of them is
/// skipped (`guard`). The inputs are the recorded elements, again from the
/// start when they are used up: what a call takes as indices it takes in any
/// number. A run that one artefact refuses the other must refuse too.
///
/// Both artefacts hold the whole batch. Where one of them cannot be made or a
/// run fails, its halves are tried.
class OtherSizes {
public:
  OtherSizes(const DataFile &data, const ScratchFolder &scratch, Report &report)
      : data(data), scratch(scratch), report(report) {}

  using Batch = llvm::ArrayRef<const ValueCase *>;
  /// `library` is the artefact of the batch with symbols.
  void check(Batch batch, const std::string &library);

private:
  void split(Batch batch, const std::string &why);
  std::string compile(Batch batch, llvm::ArrayRef<std::vector<int64_t>> shapes,
                      std::string &library);

  const DataFile &data;
  const ScratchFolder &scratch;
  Report &report;
  unsigned artefacts = 0;
};

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_OTHERSIZES_H
