//===- TextGuard.cpp - Refuses MLIR text too deep for a parser -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pass over the tokens with a stack of open brackets. What MLIR's parser,
// printer and attribute walkers recurse on, and so what is counted:
//
//   [[[…                      an open bracket is one level
//   - - - d0                  so is each prefix minus in front of an operand
//   d0 + d0 + d0 …            a chain of operators builds an expression as deep
//   #a = [1]  #b = [#a] …     an alias is as deep as what it stands for
//   #b = [#a, #a]  #c = …     and as large: such a chain doubles at each step
//
// MLIR also fails on positions of llvm.insertvalue and llvm.extractvalue beyond
// 32 bits, on arrays of `index`, and makes room for as many results as a use
// `%x#2147483647` names: these are refused here.
//
// `<` and `>` are brackets unless they are part of `->`, `<=` or `>=`; a `>`
// that closes nothing is a comparison. Whether the text is MLIR is the
// parser's business: the scan stops quietly where the lexer would fail.

#include "compiler/support/TextGuard.h"

#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

namespace ft {

namespace {

/// An attribute may stand for so many others, and all uses together for so
/// many, once its aliases are written out.
constexpr uint64_t kMaxAliasSize = 1 << 20;
constexpr uint64_t kMaxTotalAliasSize = uint64_t(1) << 28;

/// The largest position in an aggregate, and the largest number of a result,
/// that MLIR gets to see.
constexpr uint64_t kMaxPosition = 65535;

/// How far behind the name they are looked for: the scan has to stay linear.
constexpr size_t kMaxReach = 4096;

class Guard {
public:
  Guard(llvm::StringRef source, llvm::StringRef name)
      : text(source), rest(source), where(name) {
    levels.push_back({'\0', 0, 0});
  }

  llvm::Error run() {
    while (problem.empty() && step()) {
    }
    if (problem.empty())
      return llvm::Error::success();
    size_t at = text.size() - rest.size();
    return makeError(id, where,
                     "line " +
                         llvm::Twine(text.take_front(at).count('\n') + 1) +
                         ": " + problem);
  }

private:
  struct Level {
    char bracket;
    unsigned weight;    // the bracket and the prefix operators before it
    unsigned operators; // in the expression that is being read
  };
  struct Alias {
    unsigned depth = 0;
    uint64_t size = 1;
  };

  static bool isNameChar(char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-';
  }

  void deep() {
    problem = "the text is nested deeper than " + std::to_string(kMaxDepth) +
              " levels";
  }

  void push(char bracket) {
    unsigned weight = 1 + prefixes;
    depth += weight;
    levels.push_back({bracket, weight, 0});
    prefixes = 0;
    reach(depth);
  }

  void pop(char bracket) {
    // A closing bracket also ends the `<` that were comparisons.
    size_t keep = levels.size();
    while (keep > 1 && levels[keep - 1].bracket == '<' && bracket != '<')
      --keep;
    if (keep <= 1 || levels[keep - 1].bracket != bracket)
      return;
    while (levels.size() >= keep) {
      depth -= levels.back().weight;
      levels.pop_back();
    }
    prefixes = 0;
  }

  /// Something at this depth was seen.
  void reach(unsigned at) {
    if (at > kMaxDepth)
      deep();
    if (defining)
      defining->depth = std::max(defining->depth, at);
  }

  void countOperator() {
    if (++levels.back().operators > kMaxDepth)
      problem = "an expression has more than " + std::to_string(kMaxDepth) +
                " operators";
  }

  /// A definition that stands at depth 0 ends at a line break, unless the next
  /// token can only continue it or the last one asks for more.
  void maybeEndDefinition(char next) {
    if (defining && sawNewline && levels.size() == 1 &&
        !llvm::StringRef("([<{:,=-").contains(next) &&
        !llvm::StringRef(":,=>").contains(last))
      defining = nullptr;
  }

  void name(char sigil) {
    llvm::StringRef id = rest.take_while(isNameChar);
    rest = rest.drop_front(id.size());
    std::string key = (llvm::Twine(sigil) + id).str();
    llvm::StringRef after = rest.ltrim(" \t\r\n");
    if (levels.size() == 1 && last != '=' && after.starts_with("=") &&
        !after.starts_with("==")) {
      // Entries of a StringMap do not move.
      defining = &aliases.try_emplace(key).first->second;
      return;
    }
    auto it = aliases.find(key);
    if (it == aliases.end() || &it->second == defining)
      return;
    reach(depth + it->second.depth);
    if (defining) {
      defining->size += it->second.size;
      if (defining->size > kMaxAliasSize)
        problem = "an alias stands for too many attributes";
    } else if ((total += it->second.size) > kMaxTotalAliasSize) {
      problem = "the aliases stand for too many attributes";
    }
  }

  /// Reads one token; false at the end of what can be read.
  bool step() {
    sawNewline = false;
    for (;;) {
      llvm::StringRef trimmed = rest.ltrim(" \t\r\n");
      sawNewline |=
          rest.take_front(rest.size() - trimmed.size()).contains('\n');
      rest = trimmed;
      if (!rest.starts_with("//"))
        break;
      rest = rest.drop_until([](char c) { return c == '\n'; });
    }
    if (rest.empty())
      return false;
    char c = rest.front();
    maybeEndDefinition(c);
    char token = c;
    if (llvm::isDigit(c)) {
      number();
    } else if (llvm::isAlpha(c) || c == '_') {
      word();
    } else if (c == '"') {
      if (!string())
        return false;
    } else {
      rest = rest.drop_front();
      token = punctuation(c);
    }
    if (token != '-')
      prefixes = 0;
    last = token;
    return true;
  }

  void number() {
    rest = rest.drop_while(llvm::isHexDigit).drop_while([](char c) {
      return c == 'x' || c == '.' || llvm::isHexDigit(c);
    });
    // 1.0e-05: the sign belongs to the number.
    size_t at = text.size() - rest.size();
    if (at && (text[at - 1] == 'e' || text[at - 1] == 'E') && !rest.empty() &&
        (rest.front() == '-' || rest.front() == '+'))
      rest = rest.drop_front().drop_while(llvm::isDigit);
  }

  /// Behind the name of an operation: its positions, as `[1, 0]` or, in the
  /// generic form, as `position = array<i64: 1, 0>`.
  void positions(llvm::StringRef operation, llvm::StringRef open, char close) {
    if (operation != "llvm.insertvalue" && operation != "llvm.extractvalue")
      return;
    llvm::StringRef list = rest.take_front(kMaxReach);
    size_t at = list.find(open);
    if (at == llvm::StringRef::npos)
      return;
    list = list.drop_front(at + open.size());
    list = list.take_until([&](char c) { return c == close; });
    while (!(list = list.drop_until(llvm::isDigit)).empty()) {
      llvm::StringRef digits = list.take_while(llvm::isAlnum);
      list = list.drop_front(digits.size());
      uint64_t position = 0;
      if (digits.getAsInteger(0, position) || position > kMaxPosition) {
        id = DiagId::BadText;
        problem = "no aggregate has an element at position " + digits.str();
        return;
      }
    }
  }

  /// Behind a value's name: `#1`. The parser makes room for so many.
  void resultNumber() {
    llvm::StringRef number = rest.ltrim(" \t\r\n");
    uint64_t result = 0;
    if (!number.consume_front("#") ||
        (number = number.take_while(llvm::isDigit)).empty() ||
        (!number.getAsInteger(10, result) && result <= kMaxPosition))
      return;
    id = DiagId::BadText;
    problem = "no operation has a result number " + number.str();
  }

  /// Behind `array`: `<i64: 1, 2>`, but also `<4 x i8>` of LLVM's types.
  void elementType() {
    llvm::StringRef type = rest.ltrim(" \t\r\n");
    if (!type.consume_front("<"))
      return;
    type = type.ltrim(" \t\r\n");
    if (type.empty() || (!llvm::isAlpha(type.front()) && type.front() != '!'))
      return;
    constexpr llvm::StringLiteral kTypes[] = {"i1",  "i8",  "i16", "i32",
                                              "i64", "f32", "f64"};
    type = type.take_while([](char c) { return isNameChar(c) || c == '!'; });
    if (llvm::is_contained(kTypes, type))
      return;
    id = DiagId::BadText;
    problem = "an array cannot have elements of type " + type.str();
  }

  void word() {
    llvm::StringRef name = rest.take_while([](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
    });
    rest = rest.drop_front(name.size());
    if (name == "floordiv" || name == "ceildiv" || name == "mod")
      countOperator();
    positions(name, "[", ']');
    if (name == "array")
      elementType();
  }

  bool string() {
    size_t i = 1;
    for (; i < rest.size() && rest[i] != '"'; ++i)
      if (rest[i] == '\\')
        ++i;
    if (i >= rest.size())
      return false;
    llvm::StringRef content = rest.slice(1, i);
    rest = rest.drop_front(i + 1);
    positions(content, "array<i64:", '>');
    levels.back().operators = 0;
    return true;
  }

  /// Returns what the next token sees as the last one.
  char punctuation(char c) {
    switch (c) {
    case '(':
    case '[':
    case '{':
      push(c);
      return c;
    case '<':
      if (!rest.consume_front("="))
        push(c);
      return c;
    case ')':
      pop('(');
      return c;
    case ']':
      pop('[');
      return c;
    case '}':
      pop('{');
      levels.back().operators = 0;
      return c;
    case '>':
      if (!rest.consume_front("="))
        pop('<');
      return ')'; // only an arrow asks for more
    case '-':
      if (rest.consume_front(">"))
        return '>';
      countOperator();
      // After an operand it is a binary operator.
      if (!llvm::isAlnum(last) && last != ')' && last != ']')
        reach(depth + ++prefixes);
      return '-';
    case '+':
    case '*':
      countOperator();
      return c;
    case '#':
    case '!':
      levels.back().operators = 0;
      name(c);
      return 'a';
    case '%':
    case '@':
    case '^':
      rest = rest.drop_while(isNameChar);
      levels.back().operators = 0;
      if (c == '%')
        resultNumber();
      return 'a';
    case ',':
    case '=':
    case ':':
    case ';':
      levels.back().operators = 0;
      return c;
    default:
      return c;
    }
  }

  llvm::StringRef text;
  llvm::StringRef rest;
  llvm::StringRef where;
  std::string problem;
  DiagId id = DiagId::TooDeep;
  llvm::SmallVector<Level> levels;
  llvm::StringMap<Alias> aliases;
  Alias *defining = nullptr;
  unsigned depth = 0;
  unsigned prefixes = 0;
  uint64_t total = 0;
  bool sawNewline = false;
  char last = '\n';
};

} // namespace

llvm::Error guardMlirText(llvm::StringRef text, llvm::StringRef where) {
  return Guard(text, where).run();
}

} // namespace ft
