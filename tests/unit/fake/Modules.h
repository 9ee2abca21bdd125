//===- Modules.h - Short ways to write a program in tests ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_FAKE_MODULES_H
#define FORETRACE_TESTS_UNIT_FAKE_MODULES_H

#include "dialects/ft/FtDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <string>

namespace ft {

/// A program with one f32 argument %x on the CPU, written in short:
///
///   Program p("32x64", {"%a = relu.default(%x)", "%b = t_.default(%x)"});
///
/// Results are tensors without a layout; `p.typeOf("b")` is what they get.
class Program {
public:
  Program(llvm::StringRef sizes, llvm::ArrayRef<std::string> calls)
      : Program({}, sizes, calls) {}
  /// `shared`: another program's context, so that types are the same objects.
  Program(std::shared_ptr<mlir::MLIRContext> shared, llvm::StringRef sizes,
          llvm::ArrayRef<std::string> calls)
      : context(shared ? shared : std::make_shared<mlir::MLIRContext>()) {
    context->loadDialect<FtDialect, mlir::func::FuncDialect,
                         mlir::arith::ArithDialect>();
    std::string argument = ("tensor<" + sizes + "xf32, #ft.meta<cpu>>").str();
    std::string text = "func.func @forward(%x: " + argument +
                       " {ft.target = \"x\", ft.kind = \"input\"}) {\n"
                       "  %n = arith.constant 2 : i64\n";
    for (llvm::StringRef call : calls)
      text += "  " + longForm(call, argument) + "\n";
    text += "  return\n}\n";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  }

  /// The operation that gives `%name` (of several results the first).
  mlir::Operation *op(llvm::StringRef name) const {
    return named.lookup(name) < 0 ? nullptr : nth(named.lookup(name));
  }
  mlir::Type typeOf(llvm::StringRef name) const {
    return op(name)->getResult(0).getType();
  }
  /// "float32 [2, 3] cpu"
  std::string layout(llvm::StringRef name) const {
    std::optional<TensorMeta> meta = metaFromType(typeOf(name));
    return meta ? meta->str() : "none";
  }
  mlir::func::FuncOp forward() const {
    return module->lookupSymbol<mlir::func::FuncOp>("forward");
  }

  std::shared_ptr<mlir::MLIRContext> context;
  mutable mlir::OwningOpRef<mlir::ModuleOp> module;

private:
  mlir::Operation *nth(int n) const {
    auto it = forward().front().begin();
    std::advance(it, n + 1);
    return &*it;
  }

  /// "%a, %b = chunk.default(%x, 2)" → %a_0:2 = ft.aten "chunk.default"(…) …
  std::string longForm(llvm::StringRef call, llvm::StringRef argument) {
    auto [left, right] = call.split(" = ");
    auto [callee, rest] = right.split("(");
    llvm::StringRef inside = rest.rsplit(")").first;
    llvm::SmallVector<llvm::StringRef> outs;
    left.split(outs, ", ");
    named[outs[0].drop_front()] = static_cast<int>(named.size());
    std::string operands, results;
    llvm::StringRef scan = inside;
    while (scan.contains('%')) {
      scan = scan.drop_front(scan.find('%') + 1);
      llvm::StringRef name =
          scan.take_while([](char c) { return llvm::isAlnum(c); });
      operands += operands.empty() ? "" : ", ";
      operands += name == "x"   ? argument.str()
                  : name == "n" ? "i64"
                                : "tensor<*x!ft.unknown>";
    }
    for (size_t i = 0; i < outs.size(); ++i)
      results += std::string(i ? ", " : "") + "tensor<*x!ft.unknown>";
    std::string count =
        outs.size() > 1 ? ":" + std::to_string(outs.size()) : std::string();
    return (outs[0] + count + " = ft.aten \"" + callee + "\"(" + inside +
            ") : (" + operands + ") -> (" + results + ")")
        .str();
  }

  llvm::StringMap<int> named;
};

} // namespace ft

#endif // FORETRACE_TESTS_UNIT_FAKE_MODULES_H
