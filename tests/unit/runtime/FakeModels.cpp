//===- FakeModels.cpp - Small models written by hand -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/runtime/FakeModels.h"

#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace ft::test {

std::string modelObject(const std::string &name) {
  std::string path = FAKE_MODEL_DIR "/" + name + ".c.o";
  auto file = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(bool(file)) << path;
  return file ? (*file)->getBuffer().str() : "";
}

static AbiValue value(std::string name, AbiDType dtype,
                      std::vector<int64_t> sizes,
                      std::vector<int64_t> strides) {
  AbiValue v;
  v.name = std::move(name);
  v.dtype = dtype;
  v.sizes = std::move(sizes);
  v.strides = std::move(strides);
  return v;
}

static Constant constant(uint64_t offset, unsigned elementBytes,
                         const void *data, int64_t size) {
  Constant c;
  c.offset = offset;
  c.elementBytes = elementBytes;
  c.data = data;
  c.sizes = {size};
  c.strides = {1};
  return c;
}

static const AbiDType kFloat32 = {kDLFloat, 32};
static const AbiDType kInt64 = {kDLInt, 64};

Artefact affine() {
  static const float kScale[] = {2, 3, 4}, kShift[] = {10, 20, 30};
  Artefact a;
  a.name = "affine";
  a.inputs = {value("x", kFloat32, {4, 3}, {3, 1})};
  a.outputs = {value("y", kFloat32, {4, 3}, {3, 1})};
  AbiState scale, shift;
  static_cast<AbiValue &>(scale) = value("scale", kFloat32, {3}, {1});
  scale.weightsOffset = 0;
  static_cast<AbiValue &>(shift) = value("shift", kFloat32, {3}, {1});
  shift.isParameter = false;
  a.state = {scale, shift};
  a.constants = {constant(0, 4, kScale, 3), constant(64, 4, kShift, 3)};
  a.weightsBytes = 128;
  a.object = modelObject("affine");
  return a;
}

Artefact counter() {
  static const int64_t kStart[] = {100};
  Artefact a;
  a.name = "counter";
  a.inputs = {value("x", kInt64, {}, {})};
  a.outputs = {value("y", kInt64, {}, {})};
  AbiState total;
  static_cast<AbiValue &>(total) = value("total", kInt64, {}, {});
  total.isParameter = false;
  total.written = true;
  total.weightsOffset = 0;
  total.stateOffset = 0;
  a.state = {total};
  a.constants = {constant(0, 8, kStart, 1)};
  a.weightsBytes = 64;
  a.stateBytes = 64;
  a.object = modelObject("counter");
  return a;
}

Artefact lookup() {
  static const float kTable[] = {0, 10, 20, 30, 40};
  Artefact a;
  a.name = "lookup";
  a.inputs = {value("index", kInt64, {8}, {1})};
  a.outputs = {value("y", kFloat32, {8}, {1})};
  a.constants = {constant(0, 4, kTable, 5)};
  a.weightsBytes = 64;
  a.object = modelObject("lookup");
  return a;
}

Artefact positive() {
  Artefact a;
  a.name = "positive";
  a.inputs = {value("x", kFloat32, {2, 3}, {3, 1})};
  a.outputs = {value("where", kInt64, {2, -1}, {1, -1})};
  a.outputs[0].dims = {"2", "u0"};
  a.outputs[0].found = true;
  a.object = modelObject("positive");
  return a;
}

/// A value whose sizes are what `dims` say, or symbols.
static AbiValue symbolic(std::string name, std::vector<std::string> dims) {
  AbiValue v = value(std::move(name), kFloat32, {}, {});
  for (const std::string &dim : dims) {
    bool fixed = llvm::all_of(dim, llvm::isDigit);
    v.sizes.push_back(fixed ? std::stoll(dim) : -1);
    v.strides.push_back(-1);
  }
  v.dims = std::move(dims);
  return v;
}

Artefact halves() {
  Artefact a;
  a.name = "halves";
  a.inputs = {symbolic("x", {"batch", "2*half"}), symbolic("mask", {"batch"}),
              symbolic("tail", {"half + 1"})};
  a.outputs = {symbolic("y", {"batch", "half"})};
  AbiSymbol batch, half;
  batch.name = "s0";
  batch.title = "batch";
  batch.lower = 1;
  batch.upper = 64;
  batch.hint = 2;
  batch.input = 0;
  half.name = "s1";
  half.title = "half";
  half.hint = 3;
  half.input = 0;
  half.dim = 1;
  half.scale = 2;
  a.symbols = {batch, half};
  a.arenaBytes = 24;
  a.object = modelObject("halves");
  return a;
}

Artefact chosen() {
  Artefact a;
  a.name = "chosen";
  a.inputs = {symbolic("x", {"n"})};
  a.outputs = {symbolic("y", {"2", "u0"})};
  a.outputs[0].found = true;
  AbiSymbol n, found;
  n.name = "s0";
  n.title = "n";
  n.input = 0;
  found.name = found.title = "u0";
  a.symbols = {n, found};
  a.object = modelObject("chosen");
  return a;
}

void ModelTest::SetUp() {
  llvm::SmallString<128> unique;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ft-test", unique));
  folder = unique.str().str();
}

void ModelTest::TearDown() {
  EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
}

std::unique_ptr<LoadedModel> ModelTest::build(const Artefact &artefact,
                                              const EmitOptions &options) {
  auto files = emitArtefact(artefact, path(artefact.name), options);
  if (!files) {
    ADD_FAILURE() << messageOf(files.takeError());
    return nullptr;
  }
  auto model = LoadedModel::open(files->library);
  if (!model) {
    ADD_FAILURE() << messageOf(model.takeError());
    return nullptr;
  }
  return std::move(*model);
}

std::unique_ptr<LoadedModel> ModelTest::loaded(const Artefact &artefact,
                                               const EmitOptions &options) {
  std::unique_ptr<LoadedModel> model = build(artefact, options);
  if (!model)
    return nullptr;
  if (llvm::Error error = model->load()) {
    ADD_FAILURE() << messageOf(std::move(error));
    return nullptr;
  }
  return model;
}

std::string messageOf(const ft_status &status) { return status.message; }

std::string messageOf(llvm::Error error) {
  std::string text;
  for (const Diagnostic &d : takeDiagnostics(std::move(error)))
    text += (diagCode(d.id) + ": " + d.where + (d.where.empty() ? "" : ": ") +
             d.message + "\n")
                .str();
  return text;
}

} // namespace ft::test
