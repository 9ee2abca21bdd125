//===- Schema.h - The signatures of ATen's overloads -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_SCHEMA_H
#define FORETRACE_DIALECTS_FT_SCHEMA_H

#include "dialects/ft/Arg.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace ft {

/// What an argument or a return may hold.
struct SchemaType {
  enum Kind : uint8_t {
    Tensor,
    Int, // int and SymInt
    Float,
    Bool,
    Scalar, // a number of any kind
    Str,
    DType,
    Layout,
    Device,
    MemoryFormat,
    Generator,
    Storage
  };
  Kind kind = Tensor;
  bool list = false;
  /// `T?`: the whole argument may be absent.
  bool optional = false;
  /// `T?[]`: single elements may be absent.
  bool elementOptional = false;
  /// `int[2]`: a single number stands for a list of 2.
  int fixedLength = 0;
  /// The alias set, 0 if none; `write` for `(a!)`.
  char alias = 0;
  bool write = false;
};

struct SchemaArg {
  llvm::StringRef name;
  SchemaType type;
  bool keywordOnly = false;
  bool hasDefault = false;
  Arg defaultValue;
};

/// One overload, parsed from its row in AtenOps.def.
struct Schema {
  /// "add.Tensor"; the overload without a name is "default".
  llvm::StringRef name;
  llvm::StringRef base;
  llvm::StringRef overload;
  /// The family, which names the files of its rules ("pointwise", "view"…).
  llvm::StringRef family;
  /// "add": what follows `ft.` if the overload has an op of its own.
  std::string mnemonic;
  std::vector<SchemaArg> args;
  std::vector<SchemaType> returns;
  /// Some argument is written.
  bool mutates = false;
  /// Position in the table, 0 and up: an index for side tables.
  unsigned index = 0;

  /// The position of an argument; -1 if there is none.
  int argIndex(llvm::StringRef argName) const;
  /// Number of tensor-kind arguments that a call holds as operands depends on
  /// the call; this one only says whether argument `i` is tensor-like.
  bool isTensorArg(unsigned i) const {
    return args[i].type.kind == SchemaType::Tensor;
  }
  /// The argument whose storage return `r` shares (view or in-place), or -1.
  /// A `Tensor(a)[]` return aliases as a whole.
  int aliasedArg(unsigned r) const;
  /// Return `r` is the written argument itself (in-place and out= forms).
  bool returnsWritten(unsigned r) const;
  /// "add.Tensor(Tensor self, …) -> Tensor"
  std::string str() const;

  llvm::StringRef argumentText, returnText;
};

/// All rows of AtenOps.def, parsed once.
class SchemaTable {
public:
  static const SchemaTable &get();

  /// "add.Tensor" (also "aten.add.Tensor" and a bare "relu" for
  /// "relu.default"); null if there is none.
  const Schema *find(llvm::StringRef name) const;
  /// By the mnemonic of a possible op ("add", "mean.dim").
  const Schema *findMnemonic(llvm::StringRef mnemonic) const;
  llvm::ArrayRef<Schema> all() const { return rows; }

private:
  SchemaTable();
  std::vector<Schema> rows;
  llvm::StringMap<unsigned> byName, byMnemonic;
};

/// Fills `schema` from the texts of a row; used by the table and its tests.
llvm::Error parseSchema(llvm::StringRef name, llvm::StringRef arguments,
                        llvm::StringRef returns, Schema &schema);

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_SCHEMA_H
