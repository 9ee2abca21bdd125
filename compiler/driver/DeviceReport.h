//===- DeviceReport.h - The code of a GPU, for people ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_DEVICEREPORT_H
#define FORETRACE_COMPILER_DRIVER_DEVICEREPORT_H

#include "compiler/driver/Session.h"

#include <string>

namespace ft {

/// Whether the model has kernels for a GPU. From stage lower on.
FORETRACE_API bool isForDevice(const Session &session);

/// The PTX of a model after stage codegen; empty for one on the CPU.
FORETRACE_API std::string devicePtx(const Session &session);

/// After stage codegen, a line for each kernel of the GPU: registers of a
/// thread, shared memory of a block, what is spilled, and how many blocks a
/// multiprocessor runs at the same time. What only ptxas knows is "unknown"
/// where there is none. JSON: {"target", "kernels": [{"name", "registers",
/// "shared_bytes", "spill_bytes", "blocks", "occupancy", "limit"}]}, null for
/// what is unknown.
FORETRACE_API std::string deviceKernels(const Session &session);
FORETRACE_API std::string deviceKernelsJson(const Session &session);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_DEVICEREPORT_H
