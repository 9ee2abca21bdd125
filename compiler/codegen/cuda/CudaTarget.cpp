//===- CudaTarget.cpp - GPUs and the PTX that they take -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cuda/CudaTarget.h"

#include "compiler/support/Diagnostics.h"

#include <algorithm>

namespace ft {

namespace {

/// A chip, and the first version of PTX that knows it (PTX ISA, "Release
/// History").
struct ChipRow {
  const char *name;
  unsigned ptx;
};

} // namespace

static constexpr ChipRow kChips[] = {
    {"sm_80", 70},  {"sm_86", 71},  {"sm_87", 74},  {"sm_89", 78},
    {"sm_90", 78},  {"sm_90a", 80}, {"sm_100", 86}, {"sm_100a", 86},
    {"sm_120", 87}, {"sm_120a", 87}};

// What code is written in unless more is asked for or needed: drivers from
// 525 (CUDA 12.0) on take it.
static constexpr unsigned kDefaultPtx = 80;

// Versions that LLVM 22 knows.
static constexpr unsigned kPtxVersions[] = {70, 71, 72, 73, 74, 75, 76, 77, 78,
                                            80, 81, 82, 83, 84, 85, 86, 87, 88};

static std::string chipList() {
  std::string all;
  for (const ChipRow &row : kChips)
    all += (all.empty() ? "" : ", ") + std::string(row.name);
  return all;
}

static llvm::Error setVersion(CudaTarget &target, const ChipRow &row,
                              llvm::StringRef text) {
  llvm::StringRef version = text;
  unsigned asked = 0;
  if (!version.consume_front("ptx") || version.getAsInteger(10, asked) ||
      !std::count(std::begin(kPtxVersions), std::end(kPtxVersions), asked))
    return makeError(DiagId::BadTarget, "",
                     "\"" + text + "\" is no version of PTX that is known",
                     "versions are ptx70 to ptx88; or tf32");
  if (asked < row.ptx)
    return makeError(DiagId::BadTarget, "",
                     "PTX " + llvm::Twine(asked / 10) + "." +
                         llvm::Twine(asked % 10) + " does not know " + row.name,
                     "the first version that does is ptx" +
                         llvm::Twine(row.ptx));
  target.ptx = asked;
  return llvm::Error::success();
}

llvm::Expected<CudaTarget> CudaTarget::parse(llvm::StringRef text) {
  auto [name, features] = text.split('+');
  if (name.empty())
    name = "sm_90";
  const auto *row =
      std::find_if(std::begin(kChips), std::end(kChips),
                   [name = name](const ChipRow &r) { return name == r.name; });
  if (row == std::end(kChips))
    return makeError(DiagId::BadTarget, "",
                     "the GPU \"" + name + "\" is not known",
                     "known are " + chipList());
  CudaTarget target;
  target.chip = row->name;
  target.ptx = std::max(kDefaultPtx, row->ptx);
  llvm::StringRef number = name.drop_front(3);
  target.exact = number.consume_back("a");
  (void)number.getAsInteger(10, target.sm);
  if (!text.contains('+'))
    return target;
  llvm::SmallVector<llvm::StringRef> parts;
  features.split(parts, '+');
  for (llvm::StringRef part : parts)
    if (part == "tf32")
      target.tf32 = true;
    else if (llvm::Error error = setVersion(target, *row, part))
      return std::move(error);
  return target;
}

std::vector<std::string> knownCudaChips() {
  std::vector<std::string> names;
  for (const ChipRow &row : kChips)
    names.push_back(row.name);
  return names;
}

} // namespace ft
