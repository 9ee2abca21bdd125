//===- Report.cpp - Counts and prints what passed and what did not --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace ft::conformance;

void Report::fail(llvm::StringRef id, llvm::StringRef group,
                  llvm::StringRef expected, llvm::StringRef got) {
  ++failed;
  ++groups[group.str()];
  os << "FAIL " << id << ": expected " << expected << "; got " << got << '\n';
}

void Report::skip(llvm::StringRef reason, llvm::StringRef id,
                  llvm::StringRef why) {
  skip(reason);
  os << "SKIP " << id << ": " << why << '\n';
}

void Report::note(llvm::StringRef what, llvm::StringRef id,
                  llvm::StringRef why) {
  note(what);
  os << "NOTE " << id << ": " << why << '\n';
}

void Report::finish(bool byGroup) {
  for (const auto &[what, count] : notes)
    os << what << ": " << count << '\n';
  if (byGroup) {
    llvm::SmallVector<std::pair<int64_t, llvm::StringRef>> order;
    for (const auto &[group, count] : groups)
      order.push_back({-count, group});
    llvm::sort(order);
    for (auto [count, group] : order)
      os << -count << " failed in " << group << '\n';
  }
  int64_t skips = 0;
  std::string reasons;
  for (const auto &[reason, count] : skipped) {
    skips += count;
    reasons +=
        (reasons.empty() ? " (" : ", ") + reason + " " + std::to_string(count);
  }
  if (!reasons.empty())
    reasons += ")";
  os << passed << " passed, " << failed << " failed, " << skips << " skipped"
     << reasons << '\n';
}
