//===- Link.cpp - Links a compiled model -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/Link.h"

#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

// The archives of the runtime and of its kernels, and the stubs of libc and
// libm, so that programs with the compiler inside need no other files.
#define FT_EMBED(name, path)                                                   \
  __asm__(".pushsection .rodata\n.balign 16\n.hidden " #name "\n.globl " #name \
          "\n" #name ":\n.incbin \"" path "\"\n.hidden " #name                 \
          "_end\n.globl " #name "_end\n" #name                                 \
          "_end:\n.byte 0\n.popsection\n");                                    \
  extern "C" __attribute__((visibility("hidden"))) const char name[];          \
  extern "C" __attribute__((visibility("hidden"))) const char name##_end[];
FT_EMBED(ft_embedded_runtime, FORETRACE_RUNTIME_ARCHIVE)
FT_EMBED(ft_embedded_kernels, FORETRACE_KERNELS_ARCHIVE)
FT_EMBED(ft_embedded_runtime_sanitized, FORETRACE_RUNTIME_SANITIZED)
FT_EMBED(ft_embedded_kernels_sanitized, FORETRACE_KERNELS_SANITIZED)
FT_EMBED(ft_embedded_libc, FORETRACE_IMPORT_C)
FT_EMBED(ft_embedded_libm, FORETRACE_IMPORT_M)
#undef FT_EMBED

namespace ft {

static llvm::StringRef between(const char *start, const char *end) {
  return {start, size_t(end - start)};
}
static llvm::StringRef runtimeArchive(bool sanitized) {
  return sanitized ? between(ft_embedded_runtime_sanitized,
                             ft_embedded_runtime_sanitized_end)
                   : between(ft_embedded_runtime, ft_embedded_runtime_end);
}
static llvm::StringRef kernelsArchive(bool sanitized) {
  return sanitized ? between(ft_embedded_kernels_sanitized,
                             ft_embedded_kernels_sanitized_end)
                   : between(ft_embedded_kernels, ft_embedded_kernels_end);
}
static llvm::StringRef libcStub() {
  return between(ft_embedded_libc, ft_embedded_libc_end);
}
static llvm::StringRef libmStub() {
  return between(ft_embedded_libm, ft_embedded_libm_end);
}

llvm::Expected<std::string> findLinker(llvm::StringRef wanted) {
  if (!wanted.empty()) {
    llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(wanted);
    if (path && llvm::sys::fs::can_execute(*path))
      return *path;
    return makeError(DiagId::NoLinker, "",
                     "the linker '" + wanted + "' cannot be run",
                     "--linker takes the path of an ld.lld");
  }
  llvm::ErrorOr<std::string> beside =
      llvm::sys::findProgramByName("ld.lld", {FORETRACE_LLVM_TOOLS_DIR});
  if (beside)
    return *beside;
  for (const char *name : {"ld.lld", "ld.lld-22"})
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name))
      return *found;
  return makeError(DiagId::NoLinker, "",
                   "no ld.lld in " FORETRACE_LLVM_TOOLS_DIR " or in PATH",
                   "install lld-22, or give one with --linker");
}

/// What generated code may refer to.
static llvm::Expected<llvm::StringSet<>> allowedSymbols() {
  llvm::StringSet<> allowed;
  for (const char *name : {
#define FT_IMPORT(library, symbol, version) #symbol,
#include "runtime/src/imports.def"
           "_GLOBAL_OFFSET_TABLE_"})
    allowed.insert(name);
  for (llvm::StringRef bytes : {runtimeArchive(false), kernelsArchive(false)}) {
    auto archive = llvm::object::Archive::create(
        llvm::MemoryBufferRef(bytes, "an archive of the runtime"));
    if (!archive)
      return archive.takeError();
    for (const llvm::object::Archive::Symbol &symbol : (*archive)->symbols())
      allowed.insert(symbol.getName());
  }
  return allowed;
}

static llvm::Error notLinkable(const llvm::Twine &what) {
  return makeError(DiagId::Internal, "", "the generated object " + what);
}

llvm::Error checkObject(llvm::StringRef bytes, llvm::StringRef entry,
                        llvm::StringRef sizes,
                        llvm::ArrayRef<KernelSource> kernels, bool sanitized) {
  using namespace llvm::object;
  auto file = ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(bytes, "generated code"));
  if (!file)
    return notLinkable("is damaged: " + llvm::toString(file.takeError()));
  auto *object = llvm::dyn_cast<ELF64LEObjectFile>(file->get());
  if (!object || !object->isRelocatableObject() ||
      object->getArch() != llvm::Triple::x86_64)
    return notLinkable("is not relocatable x86-64 ELF");
  auto allowed = allowedSymbols();
  if (!allowed)
    return allowed.takeError();
  for (const KernelSource &kernel : kernels)
    allowed->insert(kernel.symbol);
  std::set<std::string> foreign; // sorted, for a stable message
  bool hasEntry = false, hasSizes = false;
  for (const ELFSymbolRef symbol : object->symbols()) {
    auto name = symbol.getName();
    auto flags = symbol.getFlags();
    if (!name || !flags)
      return notLinkable("has a damaged symbol table");
    if (*flags & SymbolRef::SF_Undefined) {
      if (!name->empty() && !allowed->contains(*name) &&
          !(sanitized && name->starts_with("__asan_")))
        foreign.insert(name->str());
    } else {
      hasEntry |= *name == entry;
      hasSizes |= *name == sizes;
    }
  }
  if (!foreign.empty())
    return makeError(DiagId::ForeignSymbol, "",
                     "code for this CPU would need '" +
                         llvm::join(foreign, "', '") +
                         "', which models are not linked with",
                     "choose a newer CPU with --cpu");
  if (!hasEntry)
    return notLinkable("does not define " + entry);
  if (!sizes.empty() && !hasSizes)
    return notLinkable("does not define " + sizes);
  return llvm::Error::success();
}

namespace {
/// A folder for the linker's inputs, removed with all that is in it.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    if (path.empty())
      return;
    // What cannot be removed is the system's to clear.
    [[maybe_unused]] std::error_code left =
        llvm::sys::fs::remove_directories(path);
  }

  llvm::Error create() {
    if (std::error_code code =
            llvm::sys::fs::createUniqueDirectory("foretrace", path))
      return makeError(DiagId::CannotWrite, "",
                       "no temporary folder: " + code.message());
    return llvm::Error::success();
  }

  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> full(path);
    llvm::sys::path::append(full, name);
    return full.str().str();
  }

  llvm::Error write(llvm::StringRef name, llvm::StringRef bytes) const {
    std::error_code code;
    llvm::raw_fd_ostream os(file(name), code);
    if (!code) {
      os << bytes;
      os.close();
      code = os.error();
      os.clear_error();
    }
    if (code)
      return makeError(DiagId::CannotWrite, file(name),
                       "cannot write the file: " + code.message());
    return llvm::Error::success();
  }

private:
  llvm::SmallString<128> path;
};
} // namespace

/// Generated code was checked before: what the linker does not find is called
/// by the kernels of custom operators.
static llvm::Error undefinedInKernels(llvm::StringRef said) {
  std::set<std::string> names;
  for (llvm::StringRef rest = said; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    auto [before, name] = line.split("undefined symbol: ");
    if (!name.empty())
      names.insert(name.trim().str());
    rest = next;
  }
  if (names.empty())
    return llvm::Error::success();
  return makeError(DiagId::BadKernelFile, "",
                   "the kernels of custom operators call functions that models "
                   "do not have: " +
                       llvm::join(names, ", "),
                   "foretrace/kernel.h says what a kernel may call");
}

/// Tells a failure of the file system from one of linking: lld has one exit
/// code for both, and dies of SIGBUS on a full disk, because it writes through
/// a mapping.
static llvm::Error linkerFailed(llvm::StringRef linker, llvm::StringRef name,
                                llvm::StringRef said, bool crashed) {
  if (llvm::Error error = undefinedInKernels(said))
    return error;
  llvm::StringRef first = said.split('\n').first;
  auto cannotWrite = [&](llvm::StringRef why) {
    return makeError(DiagId::CannotWrite, name,
                     "cannot write the file: " + why);
  };
  if (crashed && said.contains("Bus error"))
    return cannotWrite("No space left on device");
  if (said.contains("failed to write output") ||
      said.contains("cannot open output file"))
    return cannotWrite(first);
  return makeError(DiagId::LinkFailed, "",
                   linker + " failed: " +
                       (first.empty() ? llvm::StringRef("no message") : first));
}

/// A program that is no linker can succeed without a library.
static llvm::Error checkLinked(llvm::StringRef linker, llvm::StringRef output) {
  llvm::file_magic magic;
  if (!llvm::identify_magic(output, magic) &&
      magic == llvm::file_magic::elf_shared_object)
    return llvm::Error::success();
  return makeError(DiagId::LinkFailed, "",
                   linker + " succeeded without writing a shared library",
                   "--linker takes the path of an ld.lld");
}

llvm::Error linkModel(const LinkInputs &inputs, llvm::StringRef linker,
                      llvm::StringRef output) {
  TemporaryFolder folder;
  if (llvm::Error error = folder.create())
    return error;
  std::string exports = ("{\nglobal: foretrace_model_v1; foretrace_pool_v1; " +
                         inputs.apiSymbol + ";\nlocal: *;\n};\n")
                            .str();
  const std::pair<const char *, llvm::StringRef> files[] = {
      {"descriptor.o", inputs.descriptor},
      {"kernels.a", kernelsArchive(inputs.sanitized)},
      {"runtime.a", runtimeArchive(inputs.sanitized)},
      {"libc.so", libcStub()},
      {"libm.so", libmStub()},
      {"exports.map", exports}};
  for (const auto &[name, bytes] : files)
    if (llvm::Error error = folder.write(name, bytes))
      return error;
  std::vector<std::string> objects, kernels;
  for (auto [i, bytes] : llvm::enumerate(inputs.objects)) {
    std::string name = "model" + std::to_string(i) + ".o";
    if (llvm::Error error = folder.write(name, bytes))
      return error;
    objects.push_back(folder.file(name));
  }
  if (inputs.kernels)
    for (auto [i, file] : llvm::enumerate(inputs.kernels->files)) {
      std::string name = "kernel" + std::to_string(i);
      if (llvm::Error error = folder.write(name, file.bytes->getBuffer()))
        return error;
      kernels.push_back(folder.file(name));
    }

  std::string soname = ("-soname=" + inputs.soname).str();
  std::string script = "--version-script=" + folder.file("exports.map");
  std::string descriptor = folder.file("descriptor.o");
  std::string library = folder.file("kernels.a");
  std::string archive = folder.file("runtime.a");
  std::string libm = folder.file("libm.so"), libc = folder.file("libc.so");
  llvm::SmallVector<llvm::StringRef> args = {linker,
                                             "-shared",
                                             "-m",
                                             "elf_x86_64",
                                             "-o",
                                             output,
                                             soname,
                                             script,
                                             "--gc-sections",
                                             "--as-needed",
                                             "--strip-debug",
                                             "--build-id=none",
                                             "--hash-style=gnu",
                                             "-z",
                                             "now",
                                             "-z",
                                             "noexecstack",
                                             descriptor};
  args.append(objects.begin(), objects.end());
  // The program that loads a sanitized model has what it calls besides.
  args.push_back(inputs.sanitized ? "--unresolved-symbols=ignore-all"
                                  : "--no-undefined");
  args.append(kernels.begin(), kernels.end());
  args.append({library, archive, libm, libc});
  std::string log = folder.file("log");
  std::optional<llvm::StringRef> redirects[] = {
      llvm::StringRef(""), llvm::StringRef(log), llvm::StringRef(log)};
  std::string message;
  int code = llvm::sys::ExecuteAndWait(linker, args, std::nullopt, redirects, 0,
                                       0, &message);
  if (code == 0)
    return checkLinked(linker, output);
  message += '\n';
  if (auto said = llvm::MemoryBuffer::getFile(log))
    message += (*said)->getBuffer();
  return linkerFailed(linker, inputs.name, llvm::StringRef(message).trim(),
                      code == -2);
}

} // namespace ft
