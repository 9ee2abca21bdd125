//===- GuardText.cpp - Reads the guards of an archive ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of each term, `L['x'].size()[1]`, is replaced by the text of its
// expression, in parentheses, and SymContext reads the whole.

#include "compiler/import/pt2/GuardText.h"

#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"

namespace ft::pt2 {

/// Takes `['key']`, `["key"]` or `[3]`.
static bool takeKey(llvm::StringRef &rest, llvm::StringRef &key) {
  llvm::StringRef at = rest;
  if (!at.consume_front("["))
    return false;
  if (!at.empty() && (at.front() == '\'' || at.front() == '"')) {
    size_t end = at.find(at.front(), 1);
    if (end == llvm::StringRef::npos)
      return false;
    key = at.slice(1, end);
    at = at.drop_front(end + 1);
  } else {
    key = at.take_while(llvm::isDigit);
    at = at.drop_front(key.size());
    if (key.empty())
      return false;
  }
  if (!at.consume_front("]"))
    return false;
  rest = at;
  return true;
}

static bool takeDim(llvm::StringRef &rest, unsigned &dim) {
  llvm::StringRef key;
  return takeKey(rest, key) && !key.getAsInteger(10, dim);
}

/// Takes what follows `L`.
static bool takeTerm(llvm::StringRef &rest, GuardTerm &term) {
  llvm::StringRef key;
  while (takeKey(rest, key))
    term.input += (term.input.empty() ? "" : "_") + key.str();
  if (term.input.empty())
    return false;
  if (rest.consume_front(".size()") || rest.consume_front(".shape")) {
    term.kind = GuardTerm::Size;
    return takeDim(rest, term.dim);
  }
  if (rest.consume_front(".stride()")) {
    term.kind = GuardTerm::Stride;
    return takeDim(rest, term.dim);
  }
  if (rest.consume_front(".storage_offset()")) {
    term.kind = GuardTerm::Offset;
    return true;
  }
  term.kind = GuardTerm::Value;
  return !rest.starts_with(".");
}

llvm::Expected<SymExpr> parseGuard(SymContext &context, llvm::StringRef text,
                                   GuardLookup lookup) {
  auto failure = [&](const llvm::Twine &why) {
    return makeError(DiagId::BadExpression, "",
                     "the guard '" + text.take_front(120) +
                         (text.size() > 120 ? "…" : "") +
                         "' cannot be read: " + why);
  };
  std::string plain;
  llvm::StringRef rest = text;
  for (size_t at; (at = rest.find("L[")) != llvm::StringRef::npos;) {
    bool inWord =
        at > 0 && (llvm::isAlnum(rest[at - 1]) || rest[at - 1] == '_');
    plain += rest.take_front(at);
    rest = rest.drop_front(at + 1);
    GuardTerm term{};
    if (inWord || !takeTerm(rest, term))
      return failure("it is not about sizes of inputs");
    std::optional<Dim> dim = lookup(term);
    if (!dim)
      return failure("the program has no such input as '" + term.input + "'");
    plain += "(" + dim->str() + ")";
  }
  plain += rest;
  llvm::Expected<SymExpr> guard = context.parse(plain);
  if (!guard) {
    llvm::consumeError(guard.takeError());
    return failure("it is no relation between integers");
  }
  if (!guard->isPredicate())
    return failure("it is no condition");
  return guard;
}

} // namespace ft::pt2
