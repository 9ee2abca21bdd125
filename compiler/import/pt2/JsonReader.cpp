//===- JsonReader.cpp - Typed access to JSON with places -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/JsonReader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

namespace ft::pt2 {

using llvm::json::Value;

static llvm::StringRef kindName(const Value &value) {
  switch (value.kind()) {
  case Value::Null:
    return "null";
  case Value::Boolean:
    return "a bool";
  case Value::Number:
    return "a number";
  case Value::String:
    return "a string";
  case Value::Array:
    return "a list";
  case Value::Object:
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
  const Value *member = nullptr;
  if (const llvm::json::Object *o = object()) {
    member = o->get(name);
    if (!member)
      fail("the key '" + name + "' is missing");
  }
  return JsonAt(member, this, name, 0);
}

JsonAt JsonAt::optional(llvm::StringRef name) const {
  const Value *member = nullptr;
  if (const llvm::json::Object *o = object())
    member = o->get(name);
  if (member && member->kind() == Value::Null)
    member = nullptr;
  return JsonAt(member, this, name, 0);
}

JsonAt JsonAt::element(size_t i) const {
  const llvm::json::Array *a = value ? value->getAsArray() : nullptr;
  return JsonAt(a && i < a->size() ? &(*a)[i] : nullptr, this, "", i);
}

const llvm::json::Object *JsonAt::object() const {
  if (!value)
    return nullptr;
  const llvm::json::Object *o = value->getAsObject();
  if (!o)
    fail("expected an object, found " + kindName(*value));
  return o;
}

const llvm::json::Array *JsonAt::array() const {
  if (!value)
    return nullptr;
  const llvm::json::Array *a = value->getAsArray();
  if (!a)
    fail("expected a list, found " + kindName(*value));
  return a;
}

bool JsonAt::string(std::string &out) const {
  if (!value)
    return false;
  std::optional<llvm::StringRef> s = value->getAsString();
  if (!s)
    return fail("expected a string, found " + kindName(*value));
  out = s->str();
  return true;
}

bool JsonAt::integer(int64_t &out) const {
  if (!value)
    return false;
  std::optional<int64_t> i = value->getAsInteger();
  if (!i)
    return fail("expected an integer, found " +
                (value->kind() == Value::Number
                     ? llvm::StringRef("another number")
                     : kindName(*value)));
  out = *i;
  return true;
}

bool JsonAt::boolean(bool &out) const {
  if (!value)
    return false;
  std::optional<bool> b = value->getAsBoolean();
  if (!b)
    return fail("expected a bool, found " + kindName(*value));
  out = *b;
  return true;
}

bool JsonAt::number(double &out) const {
  if (!value)
    return false;
  if (std::optional<double> d = value->getAsNumber()) {
    out = *d;
    return true;
  }
  if (std::optional<llvm::StringRef> s = value->getAsString()) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    if (*s == "Infinity" || *s == "-Infinity" || *s == "NaN") {
      out = llvm::StringSwitch<double>(*s)
                .Case("Infinity", inf)
                .Case("-Infinity", -inf)
                .Default(std::numeric_limits<double>::quiet_NaN());
      return true;
    }
  }
  return fail("expected a number, found " + kindName(*value));
}

bool JsonAt::single(llvm::StringRef &name, const Value *&member) const {
  const llvm::json::Object *o = object();
  if (!o)
    return false;
  if (o->size() != 1)
    return fail("expected an object with one key, found " +
                llvm::Twine(o->size()));
  name = o->begin()->first;
  member = &o->begin()->second;
  return true;
}

} // namespace ft::pt2
