//===- DerivativeTest.cpp - Backwards of custom operators ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IR for the backward is built through registered derivatives.

#include "compiler/custom/Derivative.h"

#include "Operators.h"
#include "gtest/gtest.h"

#include "compiler/fake/FakePropagate.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace ft;
using namespace mlir;

namespace {

/// d(factor * x) = factor * d.
int32_t scaleDerivative(const ft_gradient_api *api, ft_gradient *g, void *) {
  const ft_gradient_arg *factor;
  const ft_gradient_value *result;
  if (api->argument(g, 1, &factor))
    return 1;
  ft_gradient_arg args[2] = {};
  args[0].kind = FT_ARG_TENSOR;
  args[0].tensor = api->gradient(g, 0);
  args[1] = *factor;
  return api->call(g, "aten::mul.Scalar", args, 2, &result, 1) ||
         api->set(g, 0, result);
}

int32_t wrongShape(const ft_gradient_api *api, ft_gradient *g, void *) {
  const ft_gradient_value *result;
  ft_gradient_arg arg = {};
  arg.kind = FT_ARG_TENSOR;
  arg.tensor = api->gradient(g, 0);
  return api->call(g, "aten::sum", &arg, 1, &result, 1) ||
         api->set(g, 0, result);
}

int32_t unknownOperator(const ft_gradient_api *api, ft_gradient *g, void *) {
  const ft_gradient_value *result;
  return api->call(g, "t::nothing", nullptr, 0, &result, 1);
}

/// Parses @forward with one call of `op`, and builds the backward of it in
/// @backward's place: behind the call, from @forward's last argument.
struct Backward : Registry {
  std::string build(const std::string &call) {
    std::string text =
        "func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>>, %g: "
        "tensor<2x3xf32, #ft.meta<cpu>>) { %y = ft.custom " +
        call +
        " : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<2x3xf32, "
        "#ft.meta<cpu>> return }";
    std::string error;
    ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
      if (error.empty())
        error = d.str();
    });
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    if (!module)
      return "error: " + error;
    auto function = module->lookupSymbol<func::FuncOp>("forward");
    Operation &forward = function.getBody().front().front();
    OpBuilder builder(&context);
    builder.setInsertionPointAfter(&forward);
    auto gradients =
        buildCustomBackward(builder, &forward, {function.getArgument(1)});
    if (failed(gradients))
      return "error: " + error;
    EXPECT_TRUE(succeeded(verify(*module)));
    if (gradients->size() != 1)
      return "error: one gradient for each operand";
    if (!gradients->front())
      return "none";
    std::string shown;
    llvm::raw_string_ostream os(shown);
    gradients->front().getDefiningOp()->print(
        os, OpPrintingFlags().useLocalScope());
    return shown.substr(shown.find("ft."),
                        shown.find(" :") - shown.find("ft."));
  }
};

TEST(Derivative, ACallbackBuildsCalls) {
  Backward b;
  ft_op_registration op = registration(
      "t::scale(Tensor x, float factor=1.0) -> Tensor", FT_FAKE_LIKE);
  op.derivative = scaleDerivative;
  ASSERT_EQ(b.add(op), "");
  EXPECT_EQ(b.build("\"t::scale\"(%x, 2)"), "ft.mul.Scalar(%arg1, 2.0)");
}

TEST(Derivative, AnotherOperatorByTheNamesOfItsArguments) {
  Backward b;
  ft_op_registration op = registration(
      "t::scale(Tensor x, float factor=1.0) -> Tensor", FT_FAKE_LIKE);
  op.derivative_op = "t::scale_backward";
  ASSERT_EQ(b.add(op), "");
  EXPECT_EQ(b.build("\"t::scale\"(%x)"),
            "error: [FT0307] the derivative of t::scale: the operator "
            "'t::scale_backward' is not registered");
  ASSERT_EQ(b.add(registration("t::scale_backward(Tensor grad, Tensor result, "
                               "Tensor x, float factor) -> Tensor",
                               FT_FAKE_LIKE)),
            "");
  EXPECT_EQ(b.build("\"t::scale\"(%x, 0.5)"),
            "ft.custom \"t::scale_backward\"(%arg1, %0, %arg0, 0.5)");
}

TEST(Derivative, WhatDoesNotFitIsReported) {
  Backward b;
  auto add = [&](const char *schema, ft_derivative_fn derivative) {
    ft_op_registration op = registration(schema, FT_FAKE_LIKE);
    op.derivative = derivative;
    ASSERT_EQ(b.add(op), "");
  };
  add("t::none(Tensor x) -> Tensor", nullptr);
  add("t::shape(Tensor x) -> Tensor", wrongShape);
  add("t::unknown(Tensor x) -> Tensor", unknownOperator);
  EXPECT_EQ(b.build("\"t::none\"(%x)").substr(0, 49),
            "error: [FT0801] t::none has no derivative\nhelp: r");
  EXPECT_EQ(b.build("\"t::shape\"(%x)"),
            "error: [FT0307] the derivative of t::shape: the gradient float32 "
            "[] cpu of operand 0 must be float32 [2, 3] cpu");
  EXPECT_EQ(b.build("\"t::unknown\"(%x)"),
            "error: [FT0307] the derivative of t::unknown: no operator is "
            "called 't::nothing'");
}

} // namespace
