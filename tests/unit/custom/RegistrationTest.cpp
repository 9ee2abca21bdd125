//===- RegistrationTest.cpp - What can be registered -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operators.h"
#include "gtest/gtest.h"

using namespace ft;

namespace {

TEST(Registration, RegistriesOfContextsAreIndependent) {
  Registry a, b;
  ft_op_registration op =
      registration("t::f(Tensor x) -> Tensor", FT_FAKE_LIKE);
  EXPECT_EQ(a.add(op), "");
  EXPECT_EQ(b.add(op), "");
  EXPECT_EQ(a.add(op), "'t::f' is registered already");
}

TEST(Registration, StringsAreCopied) {
  Registry r;
  {
    std::string schema = "t::f(Tensor x, str s='abc') -> Tensor";
    ASSERT_EQ(r.add(registration(schema.c_str(), FT_FAKE_LIKE)), "");
    schema.assign(schema.size(), '?');
  }
  EXPECT_EQ(r.op("t::f").schema.args[1].name, "s");
  EXPECT_EQ(r.op("t::f").schema.str(), "t::f(Tensor x, str s='abc') -> Tensor");
}

TEST(Registration, VersionsAreCompared) {
  Registry r;
  ft_op_registration op = registration("t::f(Tensor x) -> Tensor");
  op.version = FT_PLUGIN_VERSION + 1;
  EXPECT_EQ(r.add(op), "it was built for version 2 of foretrace/plugin.h, this "
                       "compiler has version 1");
  // Where there is no version, none is blamed.
  op.version = FT_PLUGIN_VERSION;
  op.struct_size = 0;
  EXPECT_EQ(r.add(op), "struct_size is 0, expected " +
                           std::to_string(sizeof(ft_op_registration)));
  op.struct_size = 17;
  EXPECT_EQ(r.add(op), "struct_size is 17, expected " +
                           std::to_string(sizeof(ft_op_registration)));
  // A newer header of the same version: fields that we do not know are zero.
  struct {
    ft_op_registration known;
    void *more;
  } longer = {registration("t::f(Tensor x) -> Tensor"), nullptr};
  longer.known.struct_size = sizeof longer;
  EXPECT_EQ(r.add(longer.known), "");
  longer.known.schema = "t::g(Tensor x) -> Tensor";
  longer.more = &longer;
  EXPECT_EQ(r.add(longer.known),
            "it uses a field that this compiler does not know");
}

TEST(Registration, ContradictionsAreNamed) {
  Registry r;
  const char *schema = "t::f(int n, Tensor x, Tensor[] xs) -> Tensor";
  EXPECT_EQ(r.add(registration(schema, FT_FAKE_CALLBACK)),
            "'t::f': fake_kind is FT_FAKE_CALLBACK, 'fake' is NULL");
  EXPECT_EQ(r.add(registration(schema, FT_FAKE_LIKE)),
            "'t::f': argument 0, which results are like, is no Tensor");
  EXPECT_EQ(r.add(registration(schema, FT_FAKE_BROADCAST)),
            "'t::f': argument 'xs' is a list: FT_FAKE_BROADCAST is for single "
            "tensors");
  EXPECT_EQ(r.add(registration(nullptr)), "'schema' is NULL");
  ft_op_registration op = registration(schema);
  op.kernel_symbol = "ft_rt_fail";
  EXPECT_EQ(r.add(op), "'t::f': 'ft_rt_fail' cannot be the name of a kernel: "
                       "it must be a C identifier, and not start with ft_, "
                       "foretrace_ or k and a digit");
  op.kernel_symbol = "f";
  EXPECT_EQ(r.add(op), "'t::f': the kernel 'f' has no kernel_file");
  op.kernel_symbol = nullptr;
  op.kernel_file = "f.o";
  EXPECT_EQ(r.add(op), "'t::f': a kernel is given without its kernel_symbol");
  // None of them is there now.
  EXPECT_EQ(r.ops().find("t::f"), nullptr);
}

} // namespace
