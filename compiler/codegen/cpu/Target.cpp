//===- Target.cpp - CPUs and what their vectors can do --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/Target.h"

#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

namespace ft {

// Tile sizes are measured (README.md): 6×32 to 14×32 are equal on AVX-512 when
// the accumulators fit, so the row count is chosen per shape below maxRows.
static constexpr IsaRow kIsaTable[] = {
    {"avx512", 64, 32, 32, 14, true, 120.0},
    {"avx2", 32, 16, 16, 6, false, 60.0},
    {"base128", 16, 16, 8, 4, false, 15.0},
};

// Features that generated code can depend on. Others (virtualization, key
// lockers, tile registers that nothing here uses) are not asked of a loader.
static constexpr const char *kRelevant[] = {
    "adx",          "avx",          "avx2",       "avx512bf16",
    "avx512bitalg", "avx512bw",     "avx512cd",   "avx512dq",
    "avx512f",      "avx512fp16",   "avx512ifma", "avx512vbmi",
    "avx512vbmi2",  "avx512vl",     "avx512vnni", "avx512vpopcntdq",
    "avxifma",      "avxneconvert", "avxvnni",    "avxvnniint8",
    "bmi",          "bmi2",         "cmov",       "crc32",
    "cx16",         "cx8",          "f16c",       "fma",
    "gfni",         "lzcnt",        "movbe",      "pclmul",
    "popcnt",       "sahf",         "sse",        "sse2",
    "sse3",         "sse4.1",       "sse4.2",     "ssse3",
    "vpclmulqdq",
};

// Part of every 64-bit x86, whatever LLVM's lists say: the one of x86-64 has no
// sse2, and without that doubles are computed on the x87 stack, where sums are
// not rounded to 53 bits (the reduction of sin and cos counts on it).
static constexpr const char *kBaseline[] = {"cmov", "cx8",  "fxsr", "mmx",
                                            "sse",  "sse2", "x87"};

llvm::Expected<CpuTarget> CpuTarget::resolve(llvm::StringRef name) {
  bool native = name.empty() || name == "native";
  CpuTarget t;
  t.triple = "x86_64-unknown-linux-gnu";
  t.cpu = native ? llvm::sys::getHostCPUName().str() : name.str();
  if (llvm::X86::parseArchX86(t.cpu, /*Only64Bit=*/true) ==
      llvm::X86::CK_None) {
    if (!native)
      return makeError(DiagId::BadTarget, "",
                       "'" + name + "' is no x86-64 CPU that is known",
                       "'foretrace targets' lists the names");
    t.cpu = "x86-64"; // a CPU newer than this LLVM: what its flags say
  }

  llvm::SmallVector<llvm::StringRef> ofCpu;
  llvm::X86::getFeaturesForCPU(t.cpu, ofCpu);
  // The list leaves out what others imply: x86-64-v4 has avx512bw, not avx512f.
  llvm::StringMap<bool> implied;
  for (llvm::StringRef f : ofCpu) {
    implied[f] = true;
    llvm::X86::updateImpliedFeatures(f, /*Enabled=*/true, implied);
  }
  llvm::StringSet<> enabled;
  for (const auto &entry : implied)
    if (entry.second)
      enabled.insert(entry.first());
  if (native) {
    // A hypervisor may hide what the model of CPU has.
    llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
    for (const char *f : kRelevant) {
      auto it = host.find(f);
      if (it != host.end() && it->second)
        enabled.insert(f);
      else if (it != host.end())
        enabled.erase(f);
    }
  }
  for (const char *f : kBaseline)
    enabled.insert(f);

  // Naming the CPU switches on all that it has (fma4 of bdver4, egpr of
  // diamondrapids). What no loader is asked for is switched off again; last,
  // because a "+" also switches on what the feature implies.
  std::vector<std::string> off;
  for (const char *f : kRelevant) {
    if (!enabled.contains(f)) {
      off.push_back(f);
      continue;
    }
    t.features.push_back(f);
    t.featureString += "+" + std::string(f) + ",";
  }
  for (const auto &entry : implied)
    if (!llvm::is_contained(kRelevant, entry.first()) &&
        !llvm::is_contained(kBaseline, entry.first()))
      off.push_back(entry.first().str());
  llvm::sort(off);
  for (const std::string &f : off)
    t.featureString += "-" + f + ",";
  t.featureString.pop_back();

  auto has = [&](const char *f) { return enabled.contains(f); };
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl"))
    t.isa = kIsaTable[0];
  else if (has("avx2") && has("fma"))
    t.isa = kIsaTable[1];
  else
    t.isa = kIsaTable[2];
  return t;
}

std::vector<std::string> knownCpuNames() {
  llvm::SmallVector<llvm::StringRef> names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  std::vector<std::string> result(names.begin(), names.end());
  llvm::sort(result);
  return result;
}

} // namespace ft
