//===- Schema.cpp - The signatures of ATen's overloads ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Schema.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <limits>

namespace ft {

namespace {

llvm::Error bad(llvm::StringRef what, llvm::StringRef text) {
  return llvm::createStringError("schema: %s in '%s'", what.str().c_str(),
                                 text.str().c_str());
}

/// Splits at commas outside of brackets, parentheses and quotes.
std::vector<llvm::StringRef> splitTopLevel(llvm::StringRef text) {
  std::vector<llvm::StringRef> parts;
  int depth = 0;
  char quote = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      if (c == quote)
        quote = 0;
      continue;
    }
    if (c == '\'' || c == '"')
      quote = c;
    else if (c == '(' || c == '[')
      ++depth;
    else if (c == ')' || c == ']')
      --depth;
    else if (c == ',' && depth == 0) {
      parts.push_back(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  if (!text.drop_front(start).trim().empty())
    parts.push_back(text.drop_front(start).trim());
  return parts;
}

/// "Tensor(a -> *) self" → "Tensor(a -> *)" and "self".
std::pair<llvm::StringRef, llvm::StringRef>
splitTypeAndName(llvm::StringRef text) {
  size_t open = text.find('('), space = text.find(' ');
  if (open < space)
    space = text.find(' ', text.find(')', open));
  return {text.take_front(space),
          text.drop_front(std::min(space, text.size())).ltrim()};
}

/// Consumes `(a)`, `(a!)` or `(a -> *)`, if it is there; false if malformed.
bool parseAlias(llvm::StringRef &text, SchemaType &type) {
  if (!text.consume_front("("))
    return true;
  auto [inside, rest] = text.split(')');
  if (inside.empty() || !text.contains(')'))
    return false;
  type.alias = inside[0];
  type.write = inside.contains('!');
  text = rest;
  return true;
}

/// `Tensor(a!)?[2]?` → SchemaType.
llvm::Error parseType(llvm::StringRef text, SchemaType &type) {
  llvm::StringRef whole = text;
  size_t end = text.find_if_not(
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)); });
  llvm::StringRef word = text.take_front(end);
  text = text.drop_front(word.size());
  auto kind = llvm::StringSwitch<int>(word)
                  .Case("Tensor", SchemaType::Tensor)
                  .Cases({"int", "SymInt"}, SchemaType::Int)
                  .Cases({"float", "SymFloat"}, SchemaType::Float)
                  .Cases({"bool", "SymBool"}, SchemaType::Bool)
                  .Cases({"Scalar", "number"}, SchemaType::Scalar)
                  .Case("str", SchemaType::Str)
                  .Case("ScalarType", SchemaType::DType)
                  .Case("Layout", SchemaType::Layout)
                  .Case("Device", SchemaType::Device)
                  .Case("MemoryFormat", SchemaType::MemoryFormat)
                  .Case("Generator", SchemaType::Generator)
                  .Case("Storage", SchemaType::Storage)
                  .Default(-1);
  if (kind < 0)
    return bad("unknown type", whole);
  type.kind = static_cast<SchemaType::Kind>(kind);
  if (!parseAlias(text, type))
    return bad("alias annotation", whole);
  bool question = text.consume_front("?");
  if (text.consume_front("[")) {
    type.list = true;
    type.elementOptional = question;
    question = false;
    llvm::StringRef inside = text.take_until([](char c) { return c == ']'; });
    constexpr int kLongest = 64; // ATen's longest is 6
    if (!inside.empty() &&
        (inside.getAsInteger(10, type.fixedLength) || type.fixedLength < 1 ||
         type.fixedLength > kLongest))
      return bad("list length", whole);
    text = text.drop_front(inside.size());
    if (!text.consume_front("]"))
      return bad("list", whole);
    question = text.consume_front("?");
  }
  type.optional = question;
  // Lists of tensors that are written as a whole: `Tensor[](a!)`.
  if (!parseAlias(text, type) || !text.empty())
    return bad("type", whole);
  return llvm::Error::success();
}

llvm::Error parseDefault(llvm::StringRef text, const SchemaType &type,
                         Arg &value) {
  if (text == "None") {
    value = Arg::none();
  } else if (text.starts_with("[")) {
    if (!text.ends_with("]") || !type.list)
      return bad("default", text);
    std::vector<Arg> items;
    for (llvm::StringRef part : splitTopLevel(text.drop_front().drop_back())) {
      SchemaType element = type;
      element.list = false;
      Arg item;
      if (llvm::Error e = parseDefault(part, element, item))
        return e;
      items.push_back(std::move(item));
    }
    value = Arg::listOf(std::move(items));
  } else if (text == "True" || text == "False") {
    value = Arg::truth(text == "True");
  } else if (text.starts_with("'") || text.starts_with("\"")) {
    if (text.size() < 2 || text.back() != text.front())
      return bad("default", text);
    value = Arg::string(text.drop_front().drop_back());
  } else if (text == "contiguous_format") {
    value = Arg::string("contiguous_format");
  } else if (text == "long") {
    value = Arg::ofDType(DType::I64);
  } else if (text == "inf" || text == "-inf") {
    double inf = std::numeric_limits<double>::infinity();
    value = Arg::floating(text == "inf" ? inf : -inf);
  } else {
    int64_t integer;
    double real;
    if (!text.getAsInteger(10, integer)) {
      value = type.kind == SchemaType::Float
                  ? Arg::floating(static_cast<double>(integer))
                  : Arg::integer(integer);
    } else if (!text.getAsDouble(real)) {
      value = Arg::floating(real);
    } else {
      return bad("default", text);
    }
  }
  // `int[2] stride=1`: one number stands for the list.
  if (type.list && value.isNumber())
    value = Arg::listOf(
        std::vector<Arg>(type.fixedLength ? type.fixedLength : 1, value));
  return llvm::Error::success();
}

} // namespace

llvm::Error parseSchema(llvm::StringRef name, llvm::StringRef arguments,
                        llvm::StringRef returns, Schema &schema) {
  schema.name = name;
  schema.argumentText = arguments;
  schema.returnText = returns;
  std::tie(schema.base, schema.overload) = name.rsplit('.');
  bool keywordOnly = false;
  for (llvm::StringRef part : splitTopLevel(arguments)) {
    if (part == "*") {
      if (keywordOnly)
        return bad("a second '*'", arguments);
      keywordOnly = true;
      continue;
    }
    SchemaArg arg;
    arg.keywordOnly = keywordOnly;
    auto [typeText, rest] = splitTypeAndName(part);
    auto [argName, defaultText] = rest.split('=');
    arg.name = argName.trim();
    if (arg.name.empty())
      return bad("argument without a name", part);
    if (llvm::Error e = parseType(typeText, arg.type))
      return e;
    if (rest.contains('=')) {
      arg.hasDefault = true;
      if (llvm::Error e =
              parseDefault(defaultText.trim(), arg.type, arg.defaultValue))
        return e;
    }
    schema.mutates |= arg.type.write;
    schema.args.push_back(std::move(arg));
  }
  llvm::StringRef inner = returns.trim();
  if (inner.consume_front("(") && !inner.consume_back(")"))
    return bad("returns", returns);
  for (llvm::StringRef part : splitTopLevel(inner)) {
    SchemaType type;
    // A return may be named: "Tensor values".
    auto [typeText, returnName] = splitTypeAndName(part);
    if (returnName.find_if_not([](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
        }) != llvm::StringRef::npos)
      return bad("name of a return", part);
    if (llvm::Error e = parseType(typeText, type))
      return e;
    schema.returns.push_back(type);
  }
  return llvm::Error::success();
}

int Schema::argIndex(llvm::StringRef argName) const {
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].name == argName)
      return static_cast<int>(i);
  return -1;
}

int Schema::aliasedArg(unsigned r) const {
  if (r >= returns.size() || !returns[r].alias)
    return -1;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].type.alias == returns[r].alias)
      return static_cast<int>(i);
  return -1;
}

bool Schema::returnsWritten(unsigned r) const {
  return r < returns.size() && returns[r].write;
}

std::string Schema::str() const {
  return (name + "(" + argumentText + ") -> " + returnText).str();
}

namespace {
struct RowText {
  llvm::StringLiteral family, name, arguments, returns;
};
} // namespace

static const RowText kRows[] = {
#define FT_ATEN(family, name, arguments, returns)                              \
  {#family, name, arguments, returns},
#include "dialects/ft/AtenOps.def"
#undef FT_ATEN
};

SchemaTable::SchemaTable() {
  rows.resize(std::size(kRows));
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowText &text = kRows[i];
    // A row that does not parse is a fault of the table, not of any input.
    if (llvm::Error e =
            parseSchema(text.name, text.arguments, text.returns, rows[i]))
      llvm::report_fatal_error(llvm::Twine(text.name) + ": " +
                               llvm::toString(std::move(e)));
    rows[i].family = text.family;
    rows[i].index = static_cast<unsigned>(i);
    byName[text.name] = static_cast<unsigned>(i);
  }
  for (Schema &s : rows) {
    bool bare =
        s.overload == "default" ||
        (s.overload == "Tensor" && !byName.count((s.base + ".default").str()));
    s.mnemonic = bare ? s.base.str() : s.name.str();
    byMnemonic[s.mnemonic] = s.index;
  }
}

const SchemaTable &SchemaTable::get() {
  static const SchemaTable table;
  return table;
}

const Schema *SchemaTable::find(llvm::StringRef name) const {
  name.consume_front("torch.ops.");
  name.consume_front("aten.");
  auto it = byName.find(name);
  if (it == byName.end() && !name.contains('.'))
    it = byName.find((name + ".default").str());
  return it == byName.end() ? nullptr : &rows[it->second];
}

const Schema *SchemaTable::findMnemonic(llvm::StringRef mnemonic) const {
  auto it = byMnemonic.find(mnemonic);
  return it == byMnemonic.end() ? nullptr : &rows[it->second];
}

} // namespace ft
