//===- EmitModel.cpp - Writes the models that the ABI tests call *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Usage: ft-emit-model FOLDER. Writes affine.so, affine.h, halves.so, halves.h.

#include "tests/unit/runtime/FakeModels.h"

#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  for (const ft::Artefact &model : {ft::test::affine(), ft::test::halves()}) {
    auto files =
        ft::emitArtefact(model, std::string(argv[1]) + "/" + model.name, {});
    if (!files) {
      llvm::errs() << ft::test::messageOf(files.takeError());
      return 1;
    }
  }
  return 0;
}
