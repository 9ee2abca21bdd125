//===- JsonGuard.cpp - Refuses JSON too deep for a parser ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/JsonGuard.h"

#include "compiler/support/Diagnostics.h"

namespace ft {

llvm::Error guardJson(llvm::StringRef text, llvm::StringRef where) {
  unsigned depth = 0;
  const char *p = text.begin(), *end = text.end();
  for (; p != end; ++p) {
    switch (*p) {
    case '"':
      // To the closing quote; an escaped character is never one.
      for (++p; p != end && *p != '"'; ++p)
        if (*p == '\\' && ++p == end)
          return llvm::Error::success();
      if (p == end)
        return llvm::Error::success();
      break;
    case '[':
    case '{':
      if (++depth > kMaxDepth)
        return makeError(DiagId::TooDeep, where,
                         "the JSON text is nested deeper than " +
                             llvm::Twine(kMaxDepth) + " levels at byte " +
                             llvm::Twine(p - text.begin()));
      break;
    case ']':
    case '}':
      depth -= depth > 0;
      break;
    default:
      break;
    }
  }
  return llvm::Error::success();
}

llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text,
                                            llvm::StringRef where) {
  if (llvm::Error error = guardJson(text, where))
    return std::move(error);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (value)
    return value;
  std::string message = llvm::toString(value.takeError());
  return makeError(DiagId::BadJson, where, "the text is not JSON: " + message,
                   "the archive was cut or edited; export it again");
}

} // namespace ft
