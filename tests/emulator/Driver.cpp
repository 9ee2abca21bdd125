//===- Driver.cpp - A CUDA driver whose GPU is the emulator ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libcuda.so.1 for tests: the functions of runtime/cuda/driver.h. A program
// loads this library first; when the runtime of a model opens "libcuda.so.1",
// the loader gives it the library of that name that is there already. So the
// whole host side of a model runs as it does with a GPU.
//
// Device memory is memory of the host that only these functions and kernels may
// touch. Everything is done when a function returns: streams and events are
// there in name only. A kernel that does wrong fails its launch, with the
// emulator's sentence as what cuGetErrorString says, and so does every call
// after it, as on a GPU, until a module is loaded.

#include "runtime/cuda/driver.h"

#include "Program.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

using namespace ft;

namespace {

constexpr CUresult kInvalidValue = 1, kOutOfMemory = 2, kInvalidImage = 200,
                   kNotFound = 500, kLaunchFailed = 719;

// Newer than any chip that code is compiled for.
constexpr int kMajor = 12, kMinor = 1;

struct Device {
  std::mutex lock;
  emulator::Memory memory;
  std::string fault;
};

Device &device() {
  static Device d;
  return d;
}

CUresult fail(std::string why, CUresult code) {
  device().fault = std::move(why);
  return code;
}

} // namespace

struct CUmod_st {
  std::unique_ptr<emulator::Program> program;
};

#define FT_EXPORT extern "C" __attribute__((visibility("default"))) CUresult

FT_EXPORT cuInit(unsigned) { return 0; }
FT_EXPORT cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}
FT_EXPORT cuDeviceGet(CUdevice *result, int ordinal) {
  *result = ordinal;
  return ordinal == 0 ? 0 : kInvalidValue;
}
FT_EXPORT cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  *value = attribute == FT_CU_CAPABILITY_MAJOR ? kMajor : kMinor;
  return 0;
}
FT_EXPORT cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(&device());
  return 0;
}
FT_EXPORT cuDevicePrimaryCtxRelease_v2(CUdevice) { return 0; }
FT_EXPORT cuCtxPushCurrent_v2(CUcontext) { return 0; }
FT_EXPORT cuCtxPopCurrent_v2(CUcontext *) { return 0; }

FT_EXPORT cuModuleLoadData(CUmodule *module, const void *image) {
  constexpr size_t kHeader = 16;
  // Other than on a GPU, another model is not to blame for what one did.
  device().fault.clear();
  const auto *bytes = static_cast<const char *>(image);
  if (std::memcmp(bytes, "FTEMUCUD", 8) != 0)
    return fail("the image is not for the emulator: compile the model for it",
                kInvalidImage);
  uint64_t size = 0;
  std::memcpy(&size, bytes + 8, sizeof size);
  auto program =
      emulator::Program::load(llvm::StringRef(bytes + kHeader, size));
  if (!program)
    return fail(llvm::toString(program.takeError()), kInvalidImage);
  *module = new CUmod_st{std::move(*program)};
  return 0;
}
FT_EXPORT cuModuleUnload(CUmodule module) {
  delete module;
  return 0;
}
FT_EXPORT cuModuleGetFunction(CUfunction *function, CUmodule module,
                              const char *name) {
  const emulator::Kernel *kernel = module->program->kernel(name);
  // Only given back to cuLaunchKernel.
  *function = reinterpret_cast<CUfunction>(
      const_cast<emulator::Kernel *>(kernel)); // NOLINT
  return kernel ? 0
                : fail(std::string("no kernel is called ") + name, kNotFound);
}

FT_EXPORT cuMemAlloc_v2(CUdeviceptr *at, size_t bytes) {
  constexpr size_t kAlignment = 256;
  void *block = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) /
                                                   kAlignment * kAlignment);
  if (!block)
    return kOutOfMemory;
  // No number that looks right.
  std::memset(block, 0xfb, bytes);
  std::lock_guard<std::mutex> guard(device().lock);
  device().memory.add(block, bytes);
  *at = reinterpret_cast<CUdeviceptr>(block);
  return 0;
}
FT_EXPORT cuMemFree_v2(CUdeviceptr at) {
  auto *block = reinterpret_cast<void *>(at); // NOLINT
  std::lock_guard<std::mutex> guard(device().lock);
  if (!device().memory.isBlock(block))
    return fail("memory is freed that was not allocated", kInvalidValue);
  device().memory.remove(block);
  std::free(block);
  return 0;
}

static CUresult copy(void *to, const void *from, size_t bytes,
                     CUdeviceptr there) {
  std::lock_guard<std::mutex> guard(device().lock);
  if (!device().fault.empty())
    return kLaunchFailed;
  if (!device().memory.holds(there, bytes))
    return fail("a copy leaves the memory that it is in", kInvalidValue);
  std::memcpy(to, from, bytes);
  return 0;
}
FT_EXPORT cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                               CUstream) {
  return copy(reinterpret_cast<void *>(to), from, bytes, to); // NOLINT
}
FT_EXPORT cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                               CUstream) {
  return copy(to, reinterpret_cast<void *>(from), bytes, from); // NOLINT
}

FT_EXPORT cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy,
                         unsigned gz, unsigned bx, unsigned by, unsigned bz,
                         unsigned shared, CUstream, void **parameters,
                         void **) {
  std::lock_guard<std::mutex> guard(device().lock);
  if (!device().fault.empty())
    return kLaunchFailed;
  if (!gx || gy != 1 || gz != 1 || by != 1 || bz != 1 || shared)
    return fail("a launch that the emulator does not know", kInvalidValue);
  std::string fault =
      emulator::launch(*reinterpret_cast<emulator::Kernel *>(function),
                       device().memory, {gx, bx}, parameters);
  return fault.empty() ? 0 : fail(std::move(fault), kLaunchFailed);
}

static CUresult state() { return device().fault.empty() ? 0 : kLaunchFailed; }
FT_EXPORT cuStreamSynchronize(CUstream) { return state(); }
FT_EXPORT cuStreamWaitEvent(CUstream, CUevent, unsigned) { return state(); }
FT_EXPORT cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(&device());
  return 0;
}
FT_EXPORT cuEventRecord(CUevent, CUstream) { return 0; }
FT_EXPORT cuEventSynchronize(CUevent) { return state(); }
FT_EXPORT cuEventDestroy_v2(CUevent) { return 0; }

FT_EXPORT cuGetErrorString(CUresult code, const char **text) {
  *text = code == kOutOfMemory     ? "out of memory"
          : device().fault.empty() ? "an invalid argument"
                                   : device().fault.c_str();
  return 0;
}
