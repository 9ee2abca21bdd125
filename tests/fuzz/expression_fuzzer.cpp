//===- expression_fuzzer.cpp - Bytes as symbolic expressions ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text is read as sympy's and as own text. What is accepted prints as text
// that reads back as the same expression, keeps its value under substitution of
// numbers for its symbols, and `not` applied twice is nothing.

#include "compiler/import/pt2/SymText.h"
#include "compiler/shape/SymExpr.h"
#include "tests/fuzz/FuzzCheck.h"

#include "llvm/ADT/STLExtras.h"

using namespace ft;

/// Some number for a name, the same each time.
static int64_t valueOf(llvm::StringRef name) {
  int64_t v = 7;
  for (char c : name)
    v = (v * 31 + c) % 23;
  return v - 4;
}

/// A product of sums too large to multiply out has several forms: which factors
/// were multiplied first shows.
static bool hasFactoredSum(SymExpr e) {
  return llvm::any_of(e.terms(), [&](const SymTerm &t) {
    return (e.kind() == SymKind::Mul && t.expr.kind() == SymKind::Add) ||
           hasFactoredSum(t.expr);
  });
}

static void check(SymContext &ctx, SymExpr e) {
  FUZZ_CHECK(e);
  llvm::Expected<SymExpr> again = ctx.parse(e.str());
  if (!again) {
    // Only the limits on nesting and length, which text has and an expression
    // has not.
    std::string message = llvm::toString(again.takeError());
    FUZZ_CHECK(llvm::StringRef(message).contains("nested deeper") ||
               llvm::StringRef(message).contains("longer than") ||
               hasFactoredSum(e));
  } else {
    FUZZ_CHECK(*again == e || hasFactoredSum(e));
  }
  if (e.isPredicate())
    if (SymExpr negated = ctx.logicalNot(e))
      if (SymExpr twice = ctx.logicalNot(negated))
        FUZZ_CHECK(twice == e);

  SymValue direct =
      SymContext::evaluate(e, [](llvm::StringRef name, int64_t &v) {
        v = valueOf(name);
        return true;
      });
  SymExpr constant = ctx.substitute(
      e, [&](llvm::StringRef name) { return ctx.constant(valueOf(name)); });
  if (direct && constant)
    FUZZ_CHECK((constant.isConst() || constant.kind() == SymKind::Bool) &&
               constant.constant() == direct.value);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  SymContext ctx;
  if (llvm::Expected<SymExpr> e = pt2::parseSymText(ctx, text))
    check(ctx, *e);
  else
    llvm::consumeError(e.takeError());
  if (llvm::Expected<SymExpr> e = ctx.parse(text))
    check(ctx, *e);
  else
    llvm::consumeError(e.takeError());
  return 0;
}
