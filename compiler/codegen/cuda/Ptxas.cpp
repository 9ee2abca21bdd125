//===- Ptxas.cpp - The assembler of the CUDA Toolkit ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cuda/Ptxas.h"

#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace ft {

std::optional<std::string> findPtxas() {
  if (auto path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  llvm::SmallVector<llvm::SmallString<64>, 2> folders;
  if (const char *home = std::getenv("CUDA_HOME")) {
    folders.emplace_back(home);
    llvm::sys::path::append(folders.back(), "bin");
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const auto &folder : folders)
    if (auto path = llvm::sys::findProgramByName("ptxas", {folder.str()}))
      return *path;
  return std::nullopt;
}

/// The number before `what`, or 0.
static unsigned numberBefore(llvm::StringRef line, llvm::StringRef what) {
  size_t at = line.find(what);
  if (at == llvm::StringRef::npos)
    return 0;
  llvm::StringRef before = line.take_front(at).rtrim();
  unsigned n = 0;
  (void)before
      .take_back(before.size() - before.find_last_not_of("0123456789") - 1)
      .getAsInteger(10, n);
  return n;
}

/// "Compiling entry function 'k' for …", then what it takes.
static std::vector<KernelResources> readReport(llvm::StringRef report) {
  std::vector<KernelResources> kernels;
  llvm::SmallVector<llvm::StringRef> lines;
  report.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (line.contains("Compiling entry function")) {
      kernels.emplace_back();
      kernels.back().name = line.split('\'').second.split('\'').first.str();
    }
    if (kernels.empty())
      continue;
    KernelResources &k = kernels.back();
    k.registers = std::max(k.registers, numberBefore(line, "registers"));
    k.sharedBytes = std::max(k.sharedBytes, numberBefore(line, "bytes smem"));
    k.spillBytes += numberBefore(line, "bytes spill stores") +
                    numberBefore(line, "bytes spill loads");
  }
  return kernels;
}

llvm::Expected<Assembled> assemble(llvm::StringRef ptxas, llvm::StringRef ptx,
                                   const CudaTarget &target) {
  llvm::SmallString<64> paths[3];
  const char *suffixes[] = {"ptx", "cubin", "txt"};
  auto clean = llvm::scope_exit([&] {
    for (const auto &path : paths)
      if (!path.empty())
        llvm::sys::fs::remove(path);
  });
  int file = -1;
  for (unsigned i = 0; i < 3; ++i) {
    int opened = -1;
    if (std::error_code error = llvm::sys::fs::createTemporaryFile(
            "foretrace", suffixes[i], opened, paths[i]))
      return makeError(DiagId::CannotWrite, "",
                       "a temporary file for ptxas: " + error.message());
    if (i == 0)
      file = opened;
    else
      llvm::sys::fs::closeFile(opened);
  }
  {
    llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
    os << ptx;
    os.flush();
    if (os.has_error()) {
      std::string message = os.error().message();
      os.clear_error();
      return makeError(DiagId::CannotWrite, paths[0].str(), message);
    }
  }
  std::string arch = "--gpu-name=" + target.chip;
  llvm::StringRef arguments[] = {ptxas,          arch, "-v",
                                 paths[0].str(), "-o", paths[1].str()};
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(),
                                                paths[2].str(), paths[2].str()};
  std::string failure;
  int code = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt,
                                       redirects, 0, 0, &failure);
  auto read = [](llvm::StringRef path) -> std::string {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  };
  std::string report = read(paths[2]);
  if (code != 0)
    return makeError(DiagId::Internal, "",
                     "ptxas does not take the PTX for " + target.chip + ": " +
                         (failure.empty() ? report : failure));
  return Assembled{read(paths[1]), readReport(report)};
}

} // namespace ft
