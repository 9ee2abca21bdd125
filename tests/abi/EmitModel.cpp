//===- EmitModel.cpp - Writes the model that the ABI tests call -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Usage: ft-emit-model OUTPUT. Writes OUTPUT.so and OUTPUT.h of affine.c.

#include "tests/unit/runtime/FakeModels.h"

#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  auto files = ft::emitArtefact(ft::test::affine(), argv[1], {});
  if (!files) {
    llvm::errs() << ft::test::messageOf(files.takeError());
    return 1;
  }
  return 0;
}
