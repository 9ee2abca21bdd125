//===- KernelHarness.cpp - Compiles kernels from text and runs them -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelHarness.h"

#include "compiler/codegen/cpu/TensorWalk.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace llvm;

namespace ft::test {

struct CompiledKernels::Jit {
  std::unique_ptr<orc::LLJIT> lljit;
  void *entry = nullptr;
};

namespace {

/// What the entry gets as its ft_exec.
struct Exec {
  int64_t chunks;
  int64_t calls;
};

/// The pieces in reverse order: nothing may depend on it.
void parallelFor(Exec *exec, void (*body)(void *, int64_t, int64_t), void *args,
                 int64_t n, int64_t) {
  ++exec->calls;
  int64_t size = std::max<int64_t>(1, (n + exec->chunks - 1) / exec->chunks);
  int64_t pieces = (n + size - 1) / size;
  for (int64_t i = pieces; i-- > 0;)
    body(args, i * size, std::min(n, (i + 1) * size));
}

std::vector<std::string> refusedNow;

void failAccess(const char *access, int64_t at, int64_t limit) {
  refusedNow.push_back(std::string(access) + ", at byte " + std::to_string(at) +
                       " of " + std::to_string(limit));
}

void failUndefined(const char *what) { refusedNow.push_back(what); }

template <size_t... I>
void callWith(void *f, Exec *exec, const std::vector<void *> &p,
              std::index_sequence<I...>) {
  reinterpret_cast<void (*)(Exec *, decltype((void)I, (void *)nullptr)...)>(f)(
      exec, p[I]...);
}

} // namespace

/// `run(exec, bytes…)`: views the bytes as what kernel k takes and calls it.
static void addEntry(mlir::ModuleOp module) {
  auto kernel = module.lookupSymbol<mlir::func::FuncOp>("k");
  if (module.lookupSymbol("run") || !kernel)
    return;
  mlir::MLIRContext *context = module.getContext();
  context->loadAllAvailableDialects();
  mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(module.getBody());
  mlir::Location loc = module.getLoc();
  llvm::SmallVector<mlir::Type> types = {
      mlir::LLVM::LLVMPointerType::get(context)};
  types.append(kernel.getNumArguments(),
               mlir::MemRefType::get({1}, b.getI8Type()));
  auto entry =
      mlir::func::FuncOp::create(b, loc, "run", b.getFunctionType(types, {}));
  mlir::Block *block = entry.addEntryBlock();
  b.setInsertionPointToStart(block);
  mlir::Value zero = mlir::arith::ConstantIndexOp::create(b, loc, 0);
  llvm::SmallVector<mlir::Value> operands;
  for (auto [i, t] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto type = mlir::cast<mlir::MemRefType>(t);
    mlir::Value bytes = block->getArgument(i + 1);
    if (type.getLayout().isIdentity()) {
      operands.push_back(mlir::memref::ViewOp::create(b, loc, type, bytes, zero,
                                                      mlir::ValueRange{}));
      continue;
    }
    mlir::Value flat = mlir::memref::ViewOp::create(
        b, loc, mlir::MemRefType::get({1}, type.getElementType()), bytes, zero,
        mlir::ValueRange{});
    operands.push_back(mlir::memref::ReinterpretCastOp::create(
        b, loc, type, flat, 0, type.getShape(), staticStrides(type)));
  }
  mlir::func::CallOp::create(b, loc, kernel, operands);
  mlir::func::ReturnOp::create(b, loc);
}

CompiledKernels::CompiledKernels(const std::string &text, StringRef cpu,
                                 const CpuCodegenOptions &options) {
  mlir::DialectRegistry registry;
  registerCpuCodegenDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    error = "cannot parse";
    return;
  }
  if (cpu.consume_front("cuda:")) {
    device = std::make_unique<DeviceKernels>(*module, cpu);
    error = device->error;
    return;
  }
  addEntry(*module);
  auto target = CpuTarget::resolve(cpu);
  if (!target) {
    error = toString(target.takeError());
    return;
  }
  auto bytes = compileToObject(*module, *target, options);
  if (!bytes) {
    error = toString(bytes.takeError());
    return;
  }
  object = *bytes;
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  jit = std::make_unique<Jit>();
  jit->lljit = cantFail(orc::LLJITBuilder().create());
  auto &es = jit->lljit->getExecutionSession();
  orc::SymbolMap symbols;
  symbols[es.intern("ft_rt_parallel_for")] = {
      orc::ExecutorAddr::fromPtr(&parallelFor), JITSymbolFlags::Exported};
  symbols[es.intern("ft_rt_fail_access")] = {
      orc::ExecutorAddr::fromPtr(&failAccess), JITSymbolFlags::Exported};
  symbols[es.intern("ft_rt_fail_undefined")] = {
      orc::ExecutorAddr::fromPtr(&failUndefined), JITSymbolFlags::Exported};
  cantFail(jit->lljit->getMainJITDylib().define(
      orc::absoluteSymbols(std::move(symbols))));
  jit->lljit->getMainJITDylib().addGenerator(
      cantFail(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          jit->lljit->getDataLayout().getGlobalPrefix())));
  cantFail(jit->lljit->addObjectFile(
      MemoryBuffer::getMemBufferCopy(object, "kernels.o")));
  auto entry = jit->lljit->lookup("run");
  if (!entry) {
    error = toString(entry.takeError());
    return;
  }
  jit->entry = entry->toPtr<void *>();
}

CompiledKernels::~CompiledKernels() = default;

void CompiledKernels::run(std::vector<void *> pointers, int64_t chunks) {
  if (device) {
    EXPECT_EQ(device->run(pointers), "");
    return;
  }
  Exec exec{chunks, 0};
  refusedNow.clear();
  size_t n = pointers.size();
  pointers.resize(8);
  switch (n) {
#define FT_CASE(N)                                                             \
  case N:                                                                      \
    callWith(jit->entry, &exec, pointers, std::make_index_sequence<N>());      \
    break;
    FT_CASE(1)
    FT_CASE(2)
    FT_CASE(3)
    FT_CASE(4)
    FT_CASE(5)
    FT_CASE(6)
    FT_CASE(7)
    FT_CASE(8)
#undef FT_CASE
  }
  parallelCalls = exec.calls;
  refused = refusedNow;
}

std::string kernelModule(const std::string &arguments, const std::string &body,
                         const std::string &prelude) {
  return prelude + "\nfunc.func private @k(" + arguments +
         ") attributes {ft.kernel} {\n" + body + "\n  return\n}\n";
}

} // namespace ft::test
