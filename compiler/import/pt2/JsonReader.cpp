//===- JsonReader.cpp - Typed access to JSON with places -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/JsonReader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

namespace ft::pt2 {

static llvm::StringRef kindName(const JsonValue &value) {
  switch (value.kind()) {
  case JsonValue::Null:
    return "null";
  case JsonValue::Bool:
    return "a bool";
  case JsonValue::Integer:
  case JsonValue::Real:
    return "a number";
  case JsonValue::String:
    return "a string";
  case JsonValue::Array:
    return "a list";
  case JsonValue::Object:
    return "an object";
  }
  return "something else";
}

std::string JsonAt::path() const {
  std::string text = parent ? parent->path() : "";
  if (!parent)
    return text;
  if (step.empty())
    return text + "[" + llvm::utostr(index) + "]";
  // Names come from outside: keep what is shown printable and short.
  std::string shown;
  llvm::raw_string_ostream os(shown);
  llvm::printEscapedString(step.take_front(80), os);
  return text.empty() ? shown : text + "." + shown;
}

bool JsonAt::fail(const llvm::Twine &what) const {
  if (errors.message.empty()) {
    std::string place = path();
    errors.message = (place.empty() ? "" : place + ": ") + what.str();
  }
  return false;
}

JsonAt JsonAt::key(llvm::StringRef name) const {
  const JsonValue *member = nullptr;
  if (object()) {
    member = value->get(name);
    if (!member)
      fail("the key '" + name + "' is missing");
  }
  return JsonAt(member, this, name, 0);
}

JsonAt JsonAt::optional(llvm::StringRef name) const {
  const JsonValue *member = nullptr;
  if (object())
    member = value->get(name);
  if (member && member->isNull())
    member = nullptr;
  return JsonAt(member, this, name, 0);
}

JsonAt JsonAt::element(size_t i) const {
  bool there =
      value && value->kind() == JsonValue::Array && i < value->array().size();
  return JsonAt(there ? &value->array()[i] : nullptr, this, "", i);
}

std::optional<llvm::ArrayRef<JsonMember>> JsonAt::object() const {
  if (!value)
    return std::nullopt;
  if (value->kind() == JsonValue::Object)
    return value->object();
  fail("expected an object, found " + kindName(*value));
  return std::nullopt;
}

std::optional<llvm::ArrayRef<JsonValue>> JsonAt::array() const {
  if (!value)
    return std::nullopt;
  if (value->kind() == JsonValue::Array)
    return value->array();
  fail("expected a list, found " + kindName(*value));
  return std::nullopt;
}

bool JsonAt::string(std::string &out) const {
  if (!value)
    return false;
  if (value->kind() != JsonValue::String)
    return fail("expected a string, found " + kindName(*value));
  out = value->string().str();
  return true;
}

bool JsonAt::integer(int64_t &out) const {
  if (!value)
    return false;
  if (value->kind() != JsonValue::Integer)
    return fail("expected an integer, found " +
                (value->kind() == JsonValue::Real
                     ? llvm::StringRef("another number")
                     : kindName(*value)));
  out = value->integer();
  return true;
}

bool JsonAt::boolean(bool &out) const {
  if (!value)
    return false;
  if (value->kind() != JsonValue::Bool)
    return fail("expected a bool, found " + kindName(*value));
  out = value->boolean();
  return true;
}

bool JsonAt::number(double &out) const {
  if (!value)
    return false;
  if (value->kind() == JsonValue::Integer || value->kind() == JsonValue::Real) {
    out = value->real();
    return true;
  }
  if (value->kind() == JsonValue::String) {
    llvm::StringRef s = value->string();
    constexpr double inf = std::numeric_limits<double>::infinity();
    if (s == "Infinity" || s == "-Infinity" || s == "NaN") {
      out = llvm::StringSwitch<double>(s)
                .Case("Infinity", inf)
                .Case("-Infinity", -inf)
                .Default(std::numeric_limits<double>::quiet_NaN());
      return true;
    }
  }
  return fail("expected a number, found " + kindName(*value));
}

bool JsonAt::single(llvm::StringRef &name, const JsonValue *&member) const {
  std::optional<llvm::ArrayRef<JsonMember>> o = object();
  if (!o)
    return false;
  if (o->size() != 1)
    return fail("expected an object with one key, found " +
                llvm::Twine(o->size()));
  name = o->front().key;
  member = &o->front().value;
  return true;
}

} // namespace ft::pt2
