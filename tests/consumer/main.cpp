//===- main.cpp - Embeds the compiler --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// consumer MODEL OUTPUT: compiles MODEL to OUTPUT.so and .h, then runs it.

#include <compiler/driver/Runner.h>
#include <compiler/driver/Session.h>
#include <compiler/driver/Version.h>
#include <cstdio>
#include <foretrace/plugin.h>
#include <foretrace/trace.h>

static int failed(const std::vector<ft::Diagnostic> &diagnostics, int code) {
  for (const ft::Diagnostic &d : diagnostics)
    std::fputs(d.render().c_str(), stderr);
  return code;
}

/// A model that is written here instead of read.
static int compileTrace(const std::string &output) {
  float weight[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  ft::FakeMode mode;
  ft::FakeMode::Scope scope(mode);
  ft::Tensor x = mode.input("x", {4, 2});
  ft::Tensor w = mode.fake(ft::RealTensor(weight, {3, 2}), "fc.weight",
                           ft::TensorKind::Parameter);
  mode.output("y", ft::ops::linear(x, w).relu() + 1);
  ft::Session session;
  if (!session.load(mode) || !session.compile(output))
    return failed(session.diagnostics(), session.exitCode());
  return 0;
}

/// A custom operator of this program, on a text that calls it.
static int custom() {
  ft::Session session;
  ft_op_registration op = ft_op_registration_init();
  op.schema = "demo::pool(Tensor x, int k) -> Tensor";
  op.fake_kind = FT_FAKE_CALLBACK;
  op.fake = [](const ft_fake_api *api, ft_fake_call *call, void *) {
    const ft_fake_arg *x = api->arg(call, 0);
    ft_dim size = api->divide(call, api->size(call, x, 0),
                              api->integer(call, api->arg(call, 1)));
    return api->result(call, api->dtype(call, x), 1, &size, nullptr);
  };
  if (!session.registerOp(op) ||
      !session.loadText("func.func @forward(%x: tensor<8xf32, #ft.meta<cpu>>) "
                        "{ %y = ft.custom \"demo::pool\"(%x, 2) : "
                        "(tensor<8xf32, #ft.meta<cpu>>) -> "
                        "tensor<*x!ft.unknown> return }",
                        "custom") ||
      !session.runTo(ft::Stage::Fake))
    return failed(session.diagnostics(), session.exitCode());
  bool annotated = session.print().find("-> tensor<4xf32") != std::string::npos;
  return annotated ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  std::printf("foretrace %s, LLVM %s\n", ft::foretraceVersion(),
              ft::llvmVersion());
  if (int code = custom())
    return code;
  ft::Session session;
  if (!session.load(argv[1]) || !session.runTo(ft::Stage::Fake))
    return failed(session.diagnostics(), session.exitCode());
  std::printf("%zu bytes of annotated IR\n", session.print().size());
  if (!session.compile(argv[2]))
    return failed(session.diagnostics(), session.exitCode());

  ft::Runner runner;
  if (!runner.open(session.files().library) || !runner.run())
    return failed(runner.diagnostics(), runner.exitCode());
  for (size_t i = 0; i < runner.outputs().size(); ++i)
    std::printf("%s = %s\n", runner.outputs()[i].name.c_str(),
                runner.outputText(i, 4).c_str());
  return compileTrace(std::string(argv[2]) + "-trace");
}
