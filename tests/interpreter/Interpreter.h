//===- Interpreter.h - Evaluates ATen calls with plain loops ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The other side of differential tests: what an operator means, written as
// loops over elements in float64, int64 and complex128, with one rounding to
// the dtype at each operation. It shares the schemas and the annotations with
// the compiler (dtypes and sizes of results come from there) and none of the
// code that computes: nothing of compiler/lower or compiler/codegen.
//
// Layouts do not exist here: every tensor is row-major, a view is a copy. So
// programs must be functional, or a single call.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_TESTS_INTERPRETER_INTERPRETER_H
#define FORETRACE_TESTS_INTERPRETER_INTERPRETER_H

#include "dialects/ft/Schema.h"
#include "dialects/ft/TensorMeta.h"
#include "tests/interpreter/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ft::interpreter {

/// One call: arguments by their position in the schema, tensors, and a place
/// for the results.
class Call {
public:
  Call(const Schema &schema, llvm::ArrayRef<Arg> args,
       llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<TensorMeta> metas);

  const Schema &schema;
  llvm::ArrayRef<Arg> args;
  llvm::ArrayRef<Tensor> operands;

  /// "add" for add.Tensor and for add_.Tensor.
  llvm::StringRef base() const {
    llvm::StringRef name = schema.base;
    if (schema.mutates)
      name.consume_back("_");
    return name;
  }
  unsigned size() const { return args.size(); }
  bool has(unsigned i) const { return !args[i].isNone(); }
  const Tensor &tensor(unsigned i) const { return operands[args[i].operand]; }
  const Tensor *optTensor(unsigned i) const {
    return args[i].kind == Arg::Tensor ? &tensor(i) : nullptr;
  }
  /// Null for absent elements of a list.
  std::vector<const Tensor *> tensors(unsigned i) const;
  int64_t integer(unsigned i) const;
  /// A list; one number stands for `length` of them where the schema says so.
  Shape integers(unsigned i, size_t length = 0) const;
  double number(unsigned i) const;
  Complex complex(unsigned i) const;
  bool flag(unsigned i) const { return args[i].boolean; }
  llvm::StringRef text(unsigned i) const { return args[i].str; }
  /// Argument `i` as a dim of a tensor of `rank` dims; scalars count as one.
  int64_t dim(unsigned i, int64_t rank) const;
  /// A list of dims; absent or empty is all of them if `emptyIsAll`.
  std::vector<bool> dims(unsigned i, int64_t rank, bool emptyIsAll) const;

  /// Results, made by the interpreter with the annotated dtype and size, zero
  /// filled. The op writes the elements.
  std::vector<Tensor> results;
  Tensor &out(unsigned i = 0) { return results[i]; }

  /// The call has no value (an index out of range): see Interpreter.
  void refuse(const llvm::Twine &why) {
    if (error.empty())
      error = why.str();
  }
  /// An element that the op may leave anything in, or whose choice PyTorch
  /// leaves open; differential tests drop such programs.
  void open(const llvm::Twine &why) {
    if (unspecified.empty())
      unspecified = why.str();
  }
  std::string error, unspecified;
  /// PyTorch leaves elements of result `i` as they are in memory: it has no one
  /// value, and nothing may read it.
  void leave(unsigned i) { left.push_back(i); }
  llvm::SmallVector<unsigned> left;
};

using OpFunction = void (*)(Call &);

/// How exactly another implementation can be expected to give the same.
enum class OpClass : uint8_t {
  /// Bits: moves, integer ops, comparisons, single IEEE operations.
  Exact,
  /// A few units in the last place of each element.
  Elementary,
  /// Sums, in any order; functions that cross zero where terms cancel.
  Accumulated
};

struct OpRow {
  llvm::StringRef name;
  OpFunction function = nullptr;
  OpClass opClass = OpClass::Elementary;
};

/// The class of one call: that of its row, but for complex numbers, whose
/// products are no single operation, and for factors (`alpha`) other than 1.
OpClass classOf(const Schema &schema, llvm::ArrayRef<Arg> args,
                llvm::ArrayRef<DType> operands);

/// The rows of all families.
llvm::ArrayRef<OpRow> allOps();
/// The row of an overload; in-place forms have that of the functional form.
const OpRow *findOp(const Schema &schema);

/// The same value with arguments as the functional form takes them.
/// Runs one call. `metas` are the annotations of its tensor results. An error
/// names what has no value.
struct CallResult {
  std::vector<Tensor> results;
  /// What an in-place form leaves in its first argument is results[0].
  std::string error, unspecified;
  /// Results that have no one value.
  llvm::SmallVector<unsigned> left;
};
CallResult evaluate(const Schema &schema, llvm::ArrayRef<Arg> args,
                    llvm::ArrayRef<Tensor> operands,
                    llvm::ArrayRef<TensorMeta> metas);

/// Runs the annotated functional function `forward`: one tensor for each
/// argument, one for each result.
llvm::Expected<std::vector<Tensor>> evaluate(mlir::func::FuncOp forward,
                                             llvm::ArrayRef<Tensor> inputs);

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_INTERPRETER_H
