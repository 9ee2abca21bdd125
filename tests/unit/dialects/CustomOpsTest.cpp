//===- CustomOpsTest.cpp - Schemas that are registered ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/CustomOps.h"

#include "gtest/gtest.h"

using namespace ft;

namespace {

std::unique_ptr<CustomOp> parse(llvm::StringRef text) {
  auto op = CustomOps::parse(text);
  if (op)
    return std::move(*op);
  ADD_FAILURE() << llvm::toString(op.takeError());
  return nullptr;
}

std::string mistake(llvm::StringRef text) {
  auto op = CustomOps::parse(text);
  return op ? "none" : llvm::toString(op.takeError());
}

TEST(CustomOps, ASchemaIsReadAsPyTorchWritesIt) {
  auto op = parse("ns::name(Tensor x, int n, float alpha=1.0, Tensor[] xs=[], "
                  "Tensor? b=None, *, str mode='a,b') -> (Tensor, Tensor)");
  const Schema &s = op->schema;
  EXPECT_EQ(s.name, "ns::name");
  EXPECT_EQ(s.overload, "default");
  EXPECT_EQ(customOp(s), op.get());
  ASSERT_EQ(s.args.size(), 6u);
  EXPECT_EQ(s.args[2].defaultValue, Arg::floating(1));
  EXPECT_TRUE(s.args[3].type.list);
  EXPECT_TRUE(s.args[4].type.optional);
  EXPECT_TRUE(s.args[5].keywordOnly);
  EXPECT_EQ(s.args[5].defaultValue, Arg::string("a,b"));
  EXPECT_EQ(s.returns.size(), 2u);
}

TEST(CustomOps, TheOverloadDefaultHasNoName) {
  EXPECT_EQ(parse("a::f.default(Tensor x) -> Tensor")->name, "a::f");
  EXPECT_EQ(parse("a::f.int(Tensor x) -> Tensor")->name, "a::f.int");
}

TEST(CustomOps, WhatIsWrongIsASentence) {
  EXPECT_EQ(mistake("f(Tensor x) -> Tensor"),
            "'f' is no name of the form namespace::name");
  EXPECT_EQ(mistake("a::f"), "'a::f' is no schema: it has no argument list");
  EXPECT_EQ(mistake("a::f(Tensor x)"), "'a::f(Tensor x)' is no schema: '->' "
                                       "and the returns are missing");
  EXPECT_EQ(mistake("a::f(Tensor x, Tensor x) -> Tensor"),
            "two arguments are called 'x'");
  EXPECT_EQ(mistake("a::f(Tensor x, int n=1, int m) -> Tensor"),
            "argument 'm' without default stands behind one with a default");
  EXPECT_EQ(mistake("a::f(Tensor x, int n=1.5) -> Tensor"),
            "the default of 'n' does not fit its type");
  EXPECT_EQ(mistake("a::f(Generator g) -> Tensor"),
            "argument 'g' is of a type that programs do not hold");
  EXPECT_EQ(mistake("a::f(Tensor x, *, *, int n) -> Tensor"),
            "schema: a second '*' in 'Tensor x, *, *, int n'");
  EXPECT_EQ(mistake("a::f(Tensor x) -> Tensor junk junk"),
            "schema: name of a return in 'Tensor junk junk'");
  EXPECT_EQ(mistake("a::f(Tensor x) -> (Tensor y, Tensor z-1)"),
            "schema: name of a return in 'Tensor z-1'");
  EXPECT_EQ(mistake("a::f(Tensor x) -> Tensor[]"), "return 0 must be a Tensor");
  EXPECT_EQ(mistake("a::f(Tensor x) -> Tensor(a!)"),
            "return 0 shares the storage (a), which no argument has");
  EXPECT_EQ(mistake("a::f(Tensor(a) x) -> Tensor(a!)"),
            "return 0 and argument 'x' must both be written, or neither");
}

TEST(CustomOps, TextThatBreaksOffIsAnErrorToo) {
  // No text makes the parser read behind its end.
  llvm::StringRef whole = "a::f(Tensor(a!)? x=None, int[2] n=[1, 2], str "
                          "s='q') -> (Tensor(a!), Tensor)";
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_NE(mistake(whole.take_front(n)), "none") << n;
  for (const char *tail : {"'", "[", "]", "\"", "[[", "[1", "(", ""}) {
    std::string text =
        "a::f(Tensor x, int[] n=" + std::string(tail) + ") -> Tensor";
    EXPECT_NE(mistake(text), "none") << text;
  }
  EXPECT_NE(mistake("a::f(int[-1] n=1) -> Tensor"), "none");
  EXPECT_NE(mistake("a::f(int[1000000000] n=1) -> Tensor"), "none");
}

TEST(CustomOps, WritingOperatorsHaveAFunctionalForm) {
  CustomOps ops(nullptr);
  auto added = ops.add(parse("a::f(Tensor x, Tensor(a!) y, Tensor(b!) z, int "
                             "n) -> (Tensor(a!), Tensor)"));
  ASSERT_TRUE(static_cast<bool>(added));
  const CustomOp *form = ops.find("a::f#functional");
  ASSERT_EQ(form, (*added)->functional.get());
  EXPECT_FALSE(form->schema.mutates);
  EXPECT_EQ(form->schema.args.size(), 4u);
  // y, z, and the second return.
  EXPECT_EQ(form->schema.returns.size(), 3u);
  EXPECT_EQ(form->original, *added);
}

TEST(CustomOps, NamesAreTakenOnce) {
  CustomOps ops(nullptr);
  auto first = parse("a::f(Tensor x) -> Tensor");
  first->source = "one.so";
  llvm::cantFail(ops.add(std::move(first)).takeError());
  auto second = ops.add(parse("a::f(int n) -> Tensor"));
  EXPECT_EQ(llvm::toString(second.takeError()),
            "'a::f' is registered already by one.so");
  EXPECT_EQ(ops.all().size(), 1u);
  EXPECT_NE(ops.find("a::f.default"), nullptr);
  EXPECT_EQ(ops.find("a::g"), nullptr);
}

} // namespace
