//===- main.cpp - A model written in C++, compiled and run -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <compiler/driver/Runner.h>
#include <compiler/driver/Session.h>
#include <cstdio>
#include <foretrace/trace.h>

int main() {
  static float weight[10][16]; // zeros: the model's data are the program's own
  static float bias[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  ft::FakeMode mode;
  ft::FakeMode::Scope scope(mode);
  auto parameter = [&](const char *name, const void *data,
                       std::vector<int64_t> sizes) {
    return mode.fake(ft::RealTensor(data, std::move(sizes)), name,
                     ft::TensorKind::Parameter);
  };
  ft::Tensor x = mode.input("x", {2, 16});
  ft::Tensor w = parameter("fc.weight", weight, {10, 16});
  ft::Tensor b = parameter("fc.bias", bias, {10});
  ft::Tensor y = ft::ops::linear(x, w, b).relu();
  mode.output("y", y * 2 + x.mean({1}, /*keepdim=*/true) * 0);
  std::printf("y: %s\n", y.str().c_str()); // y: float32 [2, 10] cpu

  ft::Session session;
  ft::Runner runner;
  if (!session.load(mode) || !session.compile("written") ||
      !runner.open("./written.so") || !runner.run()) {
    for (const auto *list : {&session.diagnostics(), &runner.diagnostics()})
      for (const ft::Diagnostic &d : *list)
        std::fputs(d.render().c_str(), stderr);
    return 1;
  }
  std::printf("%s\n", runner.outputText(0, 4).c_str()); // 0, 2, 4, 6, …
  return 0;
}
