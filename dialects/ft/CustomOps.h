//===- CustomOps.h - Operators that are registered at run time -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_CUSTOMOPS_H
#define FORETRACE_DIALECTS_FT_CUSTOMOPS_H

#include "dialects/ft/Schema.h"

#include "mlir/IR/DialectInterface.h"

#include "llvm/Support/LogicalResult.h"

#include <functional>
#include <memory>

namespace ft {

class FakeCall;
class CustomGradient;

/// How the code of a custom operator is linked and called
/// (foretrace/kernel.h). No code: an empty symbol.
struct CustomKernel {
  std::string symbol;
  /// Object files and static archives that define it.
  std::vector<std::string> files;
  /// Tensors are handed over row-major instead of in their annotated strides.
  bool contiguous = false;
  /// The function inside of this process, for learning runs; may be null.
  void *address = nullptr;
};

struct CustomOp;

/// The schema of a custom operator: one that has no place in the table.
struct CustomSchema : Schema {
  static constexpr unsigned kNoIndex = ~0u;
  const CustomOp *op = nullptr;
};

/// The operator that a schema is registered for; null for ATen's.
inline const CustomOp *customOp(const Schema &schema) {
  return schema.index == CustomSchema::kNoIndex
             ? static_cast<const CustomSchema &>(schema).op
             : nullptr;
}

/// For messages: "aten.add.Tensor", "demo::scale".
std::string shownName(const Schema &schema);

/// A call of a custom operator that nobody has registered: it has no schema.
bool isUnregisteredCall(mlir::Operation *op);

namespace names {
/// On a call of a custom operator that is not registered: the names of its last
/// arguments (ArrayAttr of StringAttr).
inline constexpr llvm::StringLiteral kKeywords = "ft.keywords";
} // namespace names

/// A custom operator: its schema, which is its identity (`customOp` leads back
/// here), and what was registered with it.
///
///   demo::scale(Tensor x, float factor=1.0) -> Tensor
///
/// is the schema "demo::scale"; overload `int` of it is "demo::scale.int".
struct CustomOp {
  CustomOp() = default;
  CustomOp(const CustomOp &) = delete;
  CustomOp &operator=(const CustomOp &) = delete;

  CustomSchema schema;
  /// Shape rule; empty: none.
  std::function<llvm::LogicalResult(FakeCall &)> fake;
  /// Builds the backward; empty: none. Or the operator that computes it.
  std::function<llvm::LogicalResult(CustomGradient &)> derivative;
  std::string derivativeOp;
  CustomKernel kernel;
  /// Its calls are neither merged nor dropped (random numbers, logging).
  bool hasEffects = false;
  /// Its tensors may be on several devices; results are on the first one's.
  bool anyDevice = false;
  /// Who registered it, for messages: the path of a plug-in, or "".
  std::string source;

  /// Of an operator that writes arguments: the operator that returns their new
  /// values instead, made by CustomOps::add. Its returns are the written
  /// arguments in order, then the returns of this one that are no written
  /// argument. Null for others.
  std::unique_ptr<CustomOp> functional;
  /// Of such a functional form: the operator that it is made from.
  const CustomOp *original = nullptr;
  /// The kernel that computes it: a functional form has none of its own.
  const CustomKernel &code() const {
    return original ? original->kernel : kernel;
  }

  /// Owns the texts that the schema refers to.
  std::string name, argumentText, returnText;
};

/// The custom operators of one context: an interface of its FtDialect, so that
/// they live as long as any module that calls them and are shared by nothing
/// else. Whatever their functions point into has to live as long.
class CustomOps : public mlir::DialectInterface::Base<CustomOps> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CustomOps)
  explicit CustomOps(mlir::Dialect *dialect) : Base(dialect) {}
  /// Those of a context; loads the dialect.
  static CustomOps &of(mlir::MLIRContext *context);

  /// Parses "ns::name.overload(arguments) -> returns" into a new operator.
  /// Errors are sentences: what is wrong, and where in the text.
  static llvm::Expected<std::unique_ptr<CustomOp>>
  parse(llvm::StringRef schema);

  /// Takes over an operator; its address stays. Fails if its name is taken.
  /// Register before the modules are read that use it.
  llvm::Expected<CustomOp *> add(std::unique_ptr<CustomOp> op);

  /// "demo::scale" (also "demo::scale.default"); null if there is none.
  const CustomOp *find(llvm::StringRef name) const;
  /// In the order of registration, without functional forms.
  llvm::ArrayRef<std::unique_ptr<CustomOp>> all() const { return ops; }

  /// "ns::name" or "ns::name.overload", of letters, digits and `_`.
  static bool isName(llvm::StringRef name);

private:
  std::vector<std::unique_ptr<CustomOp>> ops;
  llvm::StringMap<const CustomOp *> byName;
};

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_CUSTOMOPS_H
