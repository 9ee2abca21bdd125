//===- JsonReader.h - Typed access to JSON with places ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_PT2_JSONREADER_H
#define FORETRACE_COMPILER_IMPORT_PT2_JSONREADER_H

#include "compiler/support/Json.h"

#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>

namespace ft::pt2 {

/// A JSON value and the way to it. Each step lies on the stack of the function
/// that took it, so that a correct document pays nothing for its places:
///
///   JsonAt root(value, errors), nodes = root.key("nodes");
///   nodes[3].key("target").string(text)   // "nodes[3].target: expected …"
///
/// The first mistake is kept in the Errors; later ones are consequences. All
/// functions return false (or an absent value) after a mistake of their own,
/// and an absent value fails quietly everywhere.
class JsonAt {
public:
  struct Errors {
    std::string message; // "graph.nodes[3].target: expected a string"
  };

  JsonAt(const JsonValue *root, Errors &sink) : errors(sink), value(root) {}

  explicit operator bool() const { return value; }

  /// A key that must be there; `optional` one that may be missing or null.
  JsonAt key(llvm::StringRef name) const;
  JsonAt optional(llvm::StringRef name) const;
  JsonAt element(size_t index) const;
  /// A value that was reached through iteration over an object.
  JsonAt member(llvm::StringRef name, const JsonValue &v) const {
    return JsonAt(&v, this, name, 0);
  }

  std::optional<llvm::ArrayRef<JsonMember>> object() const;
  std::optional<llvm::ArrayRef<JsonValue>> array() const;
  bool string(std::string &out) const;
  bool integer(int64_t &out) const;
  bool boolean(bool &out) const;
  /// Numbers, and "Infinity", "-Infinity", "NaN" as strings.
  bool number(double &out) const;
  bool isNull() const { return value && value->isNull(); }

  /// The only member of an object: the form of all unions.
  bool single(llvm::StringRef &name, const JsonValue *&member) const;

  /// Records a mistake at this place; false.
  bool fail(const llvm::Twine &what) const;
  std::string path() const;

private:
  JsonAt(const JsonValue *v, const JsonAt *from, llvm::StringRef name,
         size_t position)
      : errors(from->errors), value(v), parent(from), step(name),
        index(position) {}

  Errors &errors;
  const JsonValue *value = nullptr;
  const JsonAt *parent = nullptr;
  llvm::StringRef step; // empty: `index` counts
  size_t index = 0;
};

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_JSONREADER_H
