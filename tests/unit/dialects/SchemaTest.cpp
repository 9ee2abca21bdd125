//===- SchemaTest.cpp - The signatures of ATen's overloads -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Schema.h"

#include <gtest/gtest.h>

using namespace ft;

static const Schema &find(llvm::StringRef name) {
  const Schema *schema = SchemaTable::get().find(name);
  EXPECT_TRUE(schema) << name.str();
  return *schema;
}

TEST(Schema, NamesDefaultsAndKeywords) {
  const Schema &add = find("add.Tensor");
  ASSERT_EQ(add.args.size(), 3u);
  EXPECT_EQ(add.args[2].name, "alpha");
  EXPECT_TRUE(add.args[2].keywordOnly);
  EXPECT_TRUE(add.args[2].hasDefault);
  EXPECT_EQ(add.args[2].defaultValue, Arg::integer(1));
  EXPECT_FALSE(add.mutates);
}

TEST(Schema, OneNumberStandsForAListOfFixedLength) {
  const Schema &conv = find("conv2d.default");
  const Arg &stride = conv.args[conv.argIndex("stride")].defaultValue;
  EXPECT_EQ(stride, Arg::listOf({Arg::integer(1), Arg::integer(1)}));
}

TEST(Schema, AliasingSaysViewsAndWrites) {
  EXPECT_EQ(find("transpose.int").aliasedArg(0), 0);
  EXPECT_FALSE(find("transpose.int").returnsWritten(0));
  EXPECT_TRUE(find("add_.Tensor").mutates);
  EXPECT_TRUE(find("add_.Tensor").returnsWritten(0));
  EXPECT_EQ(find("mul.Tensor").aliasedArg(0), -1);
  // A list of views of one tensor.
  EXPECT_EQ(find("split.Tensor").aliasedArg(0), 0);
}

TEST(Schema, ListsOfOptionalTensors) {
  const SchemaType &indices = find("index.Tensor").args[1].type;
  EXPECT_TRUE(indices.list);
  EXPECT_TRUE(indices.elementOptional);
  EXPECT_FALSE(indices.optional);
}

TEST(Schema, BareNamesAreDefaultOrTensor) {
  EXPECT_EQ(find("relu.default").mnemonic, "relu");
  EXPECT_EQ(find("add.Tensor").mnemonic, "add");
  EXPECT_EQ(find("mean.dim").mnemonic, "mean.dim");
  // `clamp` has a default overload, so the other keeps its name.
  EXPECT_EQ(find("clamp.Tensor").mnemonic, "clamp.Tensor");
}

TEST(Schema, ThePrefixesOfArchivesAreUnderstood) {
  EXPECT_EQ(SchemaTable::get().find("torch.ops.aten.relu.default"),
            SchemaTable::get().find("relu.default"));
  EXPECT_EQ(SchemaTable::get().find("no_such_op"), nullptr);
}

TEST(Schema, MalformedTextIsAnError) {
  Schema schema;
  auto fails = [&](const char *arguments, const char *returns) {
    llvm::Error e = parseSchema("x.default", arguments, returns, schema);
    bool failed = static_cast<bool>(e);
    llvm::consumeError(std::move(e));
    return failed;
  };
  EXPECT_TRUE(fails("Tensor", "Tensor"));
  EXPECT_TRUE(fails("Widget self", "Tensor"));
  EXPECT_TRUE(fails("Tensor(a self", "Tensor"));
  EXPECT_TRUE(fails("int[x] size", "Tensor"));
  EXPECT_TRUE(fails("Tensor self", "Widget"));
}
