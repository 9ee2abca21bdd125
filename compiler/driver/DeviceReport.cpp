//===- DeviceReport.cpp - The code of a GPU, for people -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/DeviceReport.h"

#include "compiler/codegen/cuda/Occupancy.h"
#include "compiler/driver/SessionState.h"
#include "compiler/lower/Lower.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace ft {

bool isForDevice(const Session &session) {
  return session.module()->hasAttr(kDeviceAttr);
}

std::string devicePtx(const Session &session) {
  const auto &device = session.inside().device;
  return device ? device->ptx : "";
}

static std::string targetText(const AbiDeviceCode &device) {
  return "sm_" + std::to_string(device.sm) + (device.exact ? "a" : "");
}

/// "k0_linear: 40 registers, 17408 bytes of shared memory, nothing spilled, 6
/// of 8 blocks at a time on sm_90 (75 %, limited by registers)".
std::string deviceKernels(const Session &session) {
  const auto &device = session.inside().device;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!device)
    return text;
  for (const AbiKernelUse &k : device->uses) {
    os << k.name << ": ";
    if (k.registers)
      os << *k.registers << " registers, ";
    else
      os << "registers unknown (there is no ptxas), ";
    os << k.sharedBytes << " bytes of shared memory, ";
    if (!k.registers) {
      os << "occupancy unknown\n";
      continue;
    }
    Occupancy o = occupancyOf(device->sm, *k.registers, k.sharedBytes);
    if (k.spillBytes)
      os << k.spillBytes << " bytes spilled, ";
    else
      os << "nothing spilled, ";
    os << llvm::formatv("{0} of {1} blocks at a time on {2} ({3} %, limited by "
                        "{4})\n",
                        o.blocks, o.most, targetText(*device), o.percent(),
                        o.limit);
  }
  return text;
}

std::string deviceKernelsJson(const Session &session) {
  const auto &device = session.inside().device;
  llvm::json::Array kernels;
  if (device)
    for (const AbiKernelUse &k : device->uses) {
      llvm::json::Object row{{"name", k.name},
                             {"registers", nullptr},
                             {"shared_bytes", k.sharedBytes},
                             {"spill_bytes", nullptr},
                             {"blocks", nullptr},
                             {"occupancy", nullptr},
                             {"limit", nullptr}};
      if (k.registers) {
        Occupancy o = occupancyOf(device->sm, *k.registers, k.sharedBytes);
        row["registers"] = *k.registers;
        row["spill_bytes"] = k.spillBytes;
        row["blocks"] = o.blocks;
        row["occupancy"] = o.percent() / 100.0;
        row["limit"] = o.limit;
      }
      kernels.push_back(std::move(row));
    }
  llvm::json::Object all{
      {"target", device ? targetText(*device) : std::string("cpu")},
      {"kernels", std::move(kernels)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(all))).str();
}

} // namespace ft
