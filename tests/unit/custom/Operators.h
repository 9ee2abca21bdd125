//===- Operators.h - Registers operators for tests -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_CUSTOM_OPERATORS_H
#define FORETRACE_TESTS_UNIT_CUSTOM_OPERATORS_H

#include "compiler/custom/Registration.h"
#include "compiler/fake/FakeCall.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

namespace ft {

/// A context with a registry of its own.
struct Registry {
  Registry() { context.loadDialect<FtDialect, mlir::func::FuncDialect>(); }
  CustomOps &ops() { return CustomOps::of(&context); }
  FtDialect &dialect() { return *context.getLoadedDialect<FtDialect>(); }

  /// "" or what is wrong.
  std::string add(const ft_op_registration &op,
                  const RegistrationSource &source = {}) {
    llvm::Error error = registerCustomOp(ops(), op, source);
    if (!error)
      return "";
    return takeDiagnostics(std::move(error)).front().message;
  }
  const CustomOp &op(llvm::StringRef name) { return *ops().find(name); }

  /// What the rule of `name` says: the results, separated by "; ", or
  /// "error: …". Arguments that are left out take their defaults.
  std::string call(llvm::StringRef name, llvm::SmallVector<TensorMeta> operands,
                   llvm::SmallVector<Arg> args) {
    const Schema &schema = op(name).schema;
    while (args.size() < schema.args.size())
      args.push_back(schema.args[args.size()].defaultValue);
    FakeCall fake(schema, args, operands);
    if (llvm::failed(propagateCall(fake)))
      return "error: " + fake.message;
    std::string text;
    for (const FakeResult &result : fake.results) {
      text += (text.empty() ? "" : "; ") + result.meta.str();
      if (result.alias >= 0)
        text += " in operand " + std::to_string(result.alias);
    }
    return text;
  }

  mlir::MLIRContext context;
};

inline ft_op_registration registration(const char *schema, int fakeKind = 0,
                                       ft_fake_fn fake = nullptr) {
  ft_op_registration op = ft_op_registration_init();
  op.schema = schema;
  op.fake_kind = fakeKind;
  op.fake = fake;
  return op;
}

inline TensorMeta tensor(Dims sizes, Dims strides = {}) {
  TensorMeta meta = TensorMeta::contiguous(DType::F32, sizes);
  if (!strides.empty())
    meta.strides = strides;
  return meta;
}

} // namespace ft

#endif // FORETRACE_TESTS_UNIT_CUSTOM_OPERATORS_H
