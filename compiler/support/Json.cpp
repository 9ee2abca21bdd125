//===- Json.cpp - A compact reader of JSON ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/Json.h"

#include "compiler/support/Diagnostics.h"
#include "compiler/support/TextGuard.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"

#include <charconv>
#include <memory>

namespace ft {

const JsonValue *JsonValue::get(llvm::StringRef key) const {
  for (const JsonMember &member : llvm::reverse(object()))
    if (member.key == key)
      return &member.value;
  return nullptr;
}

/// Recursive descent; kMaxDepth bounds the recursion. Elements of open arrays
/// and objects lie on one stack each and move to the arena when the bracket
/// closes.
class JsonParser {
public:
  JsonParser(llvm::StringRef source, llvm::BumpPtrAllocator &allocator)
      : begin(source.begin()), at(source.begin()), end(source.end()),
        arena(allocator) {}

  bool parse(JsonValue &value) {
    if (!parseValue(value))
      return false;
    skip();
    return at == end || fail("text after the document");
  }

  std::string position() const {
    llvm::StringRef before(begin, at - begin);
    size_t line = before.count('\n') + 1;
    size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    return "line " + std::to_string(line) + ", column " +
           std::to_string(column);
  }

  const char *message = nullptr;
  bool tooDeep = false;

private:
  bool fail(const char *why) {
    if (!message)
      message = why;
    return false;
  }

  void skip() {
    while (at != end &&
           (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
      ++at;
  }
  bool eat(char c) {
    skip();
    if (at == end || *at != c)
      return false;
    ++at;
    return true;
  }
  bool word(llvm::StringRef text) {
    if (!llvm::StringRef(at, end - at).starts_with(text))
      return fail("expected a value");
    at += text.size();
    return true;
  }

  template <typename T>
  const T *keep(llvm::SmallVectorImpl<T> &stack, size_t from) {
    size_t count = stack.size() - from;
    T *copy = arena.Allocate<T>(count);
    std::uninitialized_copy(stack.begin() + from, stack.end(), copy);
    stack.truncate(from);
    return copy;
  }

  bool parseValue(JsonValue &value) {
    skip();
    if (at == end)
      return fail("the text ends too early");
    switch (*at) {
    case '{':
    case '[': {
      if (depth == kMaxDepth) {
        tooDeep = true;
        return fail("");
      }
      ++depth;
      bool ok = *at == '{' ? parseObject(value) : parseArray(value);
      --depth;
      return ok;
    }
    case '"': {
      value.tag = JsonValue::String;
      llvm::StringRef text;
      if (!parseString(text))
        return false;
      value.text = text.data();
      value.size = text.size();
      return true;
    }
    case 't':
    case 'f':
      value.tag = JsonValue::Bool;
      value.number = *at == 't';
      return word(*at == 't' ? "true" : "false");
    case 'n':
      value.tag = JsonValue::Null;
      return word("null");
    default:
      return parseNumber(value);
    }
  }

  bool parseArray(JsonValue &value) {
    ++at;
    size_t from = values.size();
    value.tag = JsonValue::Array;
    if (!eat(']')) {
      do {
        // The stack may move while an element is read.
        JsonValue item;
        if (!parseValue(item))
          return false;
        values.push_back(item);
      } while (eat(','));
      if (!eat(']'))
        return fail("expected ',' or ']'");
    }
    value.size = values.size() - from;
    value.items = keep(values, from);
    return true;
  }

  bool parseObject(JsonValue &value) {
    ++at;
    size_t from = members.size();
    value.tag = JsonValue::Object;
    if (!eat('}')) {
      do {
        JsonMember member;
        skip();
        if (at == end || *at != '"')
          return fail("expected a key");
        if (!parseString(member.key))
          return false;
        if (!eat(':'))
          return fail("expected ':'");
        if (!parseValue(member.value))
          return false;
        members.push_back(member);
      } while (eat(','));
      if (!eat('}'))
        return fail("expected ',' or '}'");
    }
    value.size = members.size() - from;
    value.members = keep(members, from);
    return true;
  }

  bool parseNumber(JsonValue &value) {
    const char *start = at;
    bool whole = true;
    auto digits = [&] {
      const char *first = at;
      while (at != end && llvm::isDigit(*at))
        ++at;
      return at != first;
    };
    if (*at == '-')
      ++at;
    const char *lead = at;
    if (!digits()) {
      at = start;
      return fail("expected a value");
    }
    if (*lead == '0' && at - lead > 1)
      return fail("a number starts with 0");
    if (at != end && *at == '.') {
      whole = false;
      ++at;
      if (!digits())
        return fail("a number ends in '.'");
    }
    if (at != end && (*at == 'e' || *at == 'E')) {
      whole = false;
      ++at;
      if (at != end && (*at == '+' || *at == '-'))
        ++at;
      if (!digits())
        return fail("a number has no exponent");
    }
    if (whole) {
      value.tag = JsonValue::Integer;
      auto result = std::from_chars(start, at, value.number);
      if (result.ec == std::errc())
        return true;
    }
    value.tag = JsonValue::Real;
    // Out of range: infinity or zero, as in Python. from_chars leaves the
    // value alone then.
    auto result = std::from_chars(start, at, value.floating);
    if (result.ec != std::errc())
      value.floating = std::strtod(std::string(start, at).c_str(), nullptr);
    return true;
  }

  bool parseString(llvm::StringRef &text) {
    const char *start = ++at;
    while (at != end && *at != '"' && *at != '\\') {
      if (static_cast<unsigned char>(*at) < 0x20)
        return fail("a control character in a string");
      ++at;
    }
    if (at == end)
      return fail("a string does not end");
    if (*at == '"') {
      text = {start, static_cast<size_t>(at - start)};
      ++at;
      return true;
    }
    std::string unescaped(start, at);
    while (at != end && *at != '"') {
      if (static_cast<unsigned char>(*at) < 0x20)
        return fail("a control character in a string");
      if (*at != '\\')
        unescaped += *at++;
      else if (!parseEscape(unescaped))
        return false;
    }
    if (at == end)
      return fail("a string does not end");
    ++at;
    text = llvm::StringRef(unescaped).copy(arena);
    return true;
  }

  bool parseHex(uint32_t &unit) {
    unit = 0;
    for (int i = 0; i < 4; ++i, ++at) {
      if (at == end || !llvm::isHexDigit(*at))
        return fail("an escape needs four hexadecimal digits");
      unit = unit * 16 + llvm::hexDigitValue(*at);
    }
    return true;
  }

  bool parseEscape(std::string &out) {
    if (++at == end)
      return fail("a string does not end");
    char c = *at++;
    static constexpr llvm::StringLiteral kFrom = "\"\\/bfnrt";
    static constexpr llvm::StringLiteral kTo = "\"\\/\b\f\n\r\t";
    if (size_t i = kFrom.find(c); i != llvm::StringRef::npos) {
      out += kTo[i];
      return true;
    }
    if (c != 'u')
      return fail("an unknown escape in a string");
    uint32_t unit;
    if (!parseHex(unit))
      return false;
    if (unit >= 0xd800 && unit < 0xdc00 && end - at >= 6 && at[0] == '\\' &&
        at[1] == 'u') {
      const char *second = at;
      at += 2;
      uint32_t low;
      if (!parseHex(low))
        return false;
      if (low >= 0xdc00 && low < 0xe000)
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
      else
        at = second;
    }
    // Half of a pair is no character.
    if (unit >= 0xd800 && unit < 0xe000)
      unit = 0xfffd;
    char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
    char *cursor = bytes;
    llvm::ConvertCodePointToUTF8(unit, cursor);
    out.append(bytes, cursor);
    return true;
  }

  const char *begin;
  const char *at;
  const char *end;
  unsigned depth = 0;
  llvm::BumpPtrAllocator &arena;
  llvm::SmallVector<JsonValue, 64> values;
  llvm::SmallVector<JsonMember, 64> members;
};

llvm::Expected<JsonDocument> JsonDocument::parse(llvm::StringRef text,
                                                 llvm::StringRef where) {
  auto bad = [&](const llvm::Twine &what) {
    return makeError(DiagId::BadJson, where, "the text is not JSON: " + what,
                     "the archive was cut or edited; export it again");
  };
  if (size_t offset; !llvm::json::isUTF8(text, &offset))
    return bad("byte " + llvm::Twine(offset) + " is not UTF-8");
  JsonDocument document;
  JsonParser parser(text, document.arena);
  if (parser.parse(document.value))
    return document;
  if (parser.tooDeep)
    return makeError(DiagId::TooDeep, where,
                     "the JSON text is nested deeper than " +
                         llvm::Twine(kMaxDepth) + " levels at " +
                         parser.position());
  return bad(llvm::Twine(parser.message) + " at " + parser.position());
}

} // namespace ft
