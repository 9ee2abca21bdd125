//===- main.cpp - Embeds the compiler --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// consumer MODEL OUTPUT: compiles MODEL to OUTPUT.so and .h, then runs it.

#include <compiler/driver/Runner.h>
#include <compiler/driver/Session.h>
#include <compiler/driver/Version.h>
#include <cstdio>

static int failed(const std::vector<ft::Diagnostic> &diagnostics, int code) {
  for (const ft::Diagnostic &d : diagnostics)
    std::fputs(d.render().c_str(), stderr);
  return code;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  std::printf("foretrace %s, LLVM %s\n", ft::foretraceVersion(),
              ft::llvmVersion());
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
  return 0;
}
