//===- EmitTest.cpp - Files of a compiled model ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/Descriptor.h"
#include "compiler/emit/HeaderText.h"
#include "compiler/emit/Link.h"
#include "runtime/src/hash.h"
#include "tests/unit/runtime/FakeModels.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ft;
using namespace ft::test;

namespace {

std::string bytesOf(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(bool(file)) << path;
  return file ? (*file)->getBuffer().str() : "";
}

std::vector<std::string> filesIn(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder, code), end;
       it != end && !code; it.increment(code))
    names.push_back(it->path().substr(folder.size() + 1));
  llvm::sort(names);
  return names;
}

class EmitTest : public ModelTest {
protected:
  std::string emitError(const Artefact &artefact, const std::string &base,
                        const EmitOptions &options = {}) {
    auto files = emitArtefact(artefact, base, options);
    if (files)
      return "";
    return messageOf(files.takeError());
  }
};

TEST_F(EmitTest, TwoCompilesGiveIdenticalBytes) {
  EmitOptions options;
  options.inlineWeightsLimit = 0;
  for (const char *sub : {"a", "b"}) {
    ASSERT_FALSE(llvm::sys::fs::create_directory(path(sub)));
    ASSERT_EQ(emitError(affine(), path(sub) + "/model", options), "");
  }
  for (const char *suffix : {".so", ".h", ".weights"})
    EXPECT_EQ(bytesOf(path("a/model") + suffix),
              bytesOf(path("b/model") + suffix));
  EXPECT_EQ(filesIn(path("a")),
            (std::vector<std::string>{"model.h", "model.so", "model.weights"}));
  EXPECT_FALSE(llvm::StringRef(bytesOf(path("a/model.so"))).contains(folder));
}

TEST_F(EmitTest, SmallWeightsAreInTheLibrary) {
  ASSERT_EQ(emitError(affine(), path("model")), "");
  EXPECT_EQ(filesIn(folder), (std::vector<std::string>{"model.h", "model.so"}));
}

TEST_F(EmitTest, StaleWeightsAreRemoved) {
  EmitOptions options;
  options.inlineWeightsLimit = 0;
  ASSERT_EQ(emitError(affine(), path("model"), options), "");
  ASSERT_EQ(emitError(affine(), path("model")), "");
  EXPECT_EQ(filesIn(folder), (std::vector<std::string>{"model.h", "model.so"}));
  // Of the same name, but none of ours.
  std::ofstream(path("model.weights")) << "apples 3 kg";
  ASSERT_EQ(emitError(affine(), path("model")), "");
  EXPECT_EQ(bytesOf(path("model.weights")), "apples 3 kg");
}

TEST_F(EmitTest, FailureLeavesTheOldFiles) {
  std::ofstream(path("model.so")) << "old";
  std::ofstream(path("model.h")) << "old";
  EmitOptions options;
  options.linker = "/bin/false";
  EXPECT_EQ(emitError(affine(), path("model"), options),
            "FT0007: /bin/false failed: no message\n");
  EXPECT_EQ(filesIn(folder), (std::vector<std::string>{"model.h", "model.so"}));
  EXPECT_EQ(bytesOf(path("model.so")), "old");
}

TEST_F(EmitTest, NoLinker) {
  EmitOptions options;
  options.linker = path("no-such-linker");
  EXPECT_EQ(emitError(affine(), path("model"), options),
            "FT0004: the linker '" + options.linker + "' cannot be run\n");
  EXPECT_TRUE(filesIn(folder).empty());
}

TEST_F(EmitTest, UnwritableOutput) {
  EXPECT_EQ(emitError(affine(), path("missing/model")),
            "FT0003: " + path("missing/model.so") +
                ": cannot write the file: No such file or directory\n");
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("model.h")));
  EXPECT_EQ(emitError(affine(), path("model")),
            "FT0003: " + path("model.h") +
                ": cannot write the file: it is a directory\n");
  EXPECT_EQ(filesIn(folder), (std::vector<std::string>{"model.h"}));
  if (geteuid() != 0) { // root may write anywhere
    ASSERT_EQ(chmod(folder.c_str(), 0500), 0);
    EXPECT_EQ(emitError(affine(), path("other")),
              "FT0003: " + path("other.so") +
                  ": cannot write the file: Permission denied\n");
    ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
  }
}

/// Files may not grow beyond `bytes` while one of these lives: what a full
/// disk does, without filling one. Child processes are limited too.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) {
    oldHandler = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &oldLimit);
    rlimit limit = {bytes, oldLimit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &oldLimit);
    signal(SIGXFSZ, oldHandler);
  }

private:
  rlimit oldLimit;
  void (*oldHandler)(int);
};

TEST_F(EmitTest, FullDisk) {
  Artefact big = affine();
  big.weightsBytes = 10 << 20;
  {
    FileSizeLimit limit(8 << 20); // the weights do not fit
    EXPECT_EQ(emitError(big, path("model")),
              "FT0003: " + path("model.weights") +
                  ": cannot write the file: File too large\n");
  }
  {
    FileSizeLimit limit(4 << 10); // the linker's inputs do not fit
    EXPECT_TRUE(llvm::StringRef(emitError(affine(), path("model")))
                    .starts_with("FT0003: "));
  }
  EXPECT_TRUE(filesIn(folder).empty());
}

TEST_F(EmitTest, ForeignSymbolsAreNamed) {
  Artefact a = affine();
  a.object = modelObject("foreign");
  EXPECT_EQ(
      emitError(a, path("model")),
      "FT0504: code for this CPU would need 'cblas_ddot', 'system', which "
      "models are not linked with\n");
  a.object = "no object";
  EXPECT_TRUE(llvm::StringRef(emitError(a, path("model")))
                  .starts_with("FT0070: the generated object is damaged"));
}

TEST_F(EmitTest, InconsistentArtefacts) {
  Artefact a = affine();
  a.constants[1].offset = 32;
  EXPECT_EQ(emitError(a, path("model")),
            "FT0070: inconsistent artefact: constant 1: its offset\n");
  a = affine();
  a.weightsBytes = 64;
  EXPECT_EQ(emitError(a, path("model")),
            "FT0070: inconsistent artefact: constants exceed the weights\n");
  a = affine();
  a.constants[1].layout.dims = {int64_t(1) << 40, int64_t(1) << 40};
  a.constants[1].layout.coef = {{1, 0}};
  EXPECT_EQ(emitError(a, path("model")),
            "FT0070: inconsistent artefact: constants exceed the weights\n");
  a = affine();
  a.inputs[0].sizes[0] = -1;
  EXPECT_EQ(emitError(a, path("model")),
            "FT0070: inconsistent artefact: 'x' has a size that nothing "
            "decides\n");
}

TEST_F(EmitTest, SymbolsMustBeReadFromSomewhere) {
  Artefact a = halves();
  a.symbols[0].input = 3;
  EXPECT_EQ(emitError(a, path("model")),
            "FT0070: inconsistent artefact: 'batch' is read from no input\n");
  a = halves();
  a.inputs[0].sizes[1] = 6;
  EXPECT_EQ(emitError(a, path("model")), "FT0070: inconsistent artefact: "
                                         "'half' is read from a size that is "
                                         "fixed\n");
  a = halves();
  a.symbols[1].scale = 0;
  EXPECT_EQ(emitError(a, path("model")),
            "FT0070: inconsistent artefact: how 'half' is read\n");
  a = halves();
  a.symbols[0].lower = 65;
  EXPECT_EQ(emitError(a, path("model")),
            "FT0070: inconsistent artefact: the range of 'batch' is empty\n");
  a = affine();
  a.symbols = halves().symbols;
  a.inputs[0].sizes = a.inputs[0].strides = {-1, -1};
  EXPECT_EQ(emitError(a, path("model")),
            "FT0070: the generated object does not define ft_gen_sizes\n");
}

TEST(HeaderText, NamesBecomeIdentifiers) {
  EXPECT_EQ(cIdentifier("bert-base.v1"), "bert_base_v1");
  EXPECT_EQ(cIdentifier("7b"), "m_7b");
  EXPECT_EQ(cIdentifier("double"), "m_double");
  EXPECT_EQ(cIdentifier("_x"), "m__x");
  EXPECT_EQ(cIdentifier(""), "m_");
  // What the header declares and uses itself.
  EXPECT_EQ(cIdentifier("ft_status"), "m_ft_status");
  EXPECT_EQ(cIdentifier("ft"), "m_ft"); // ft_api is the table's type
  EXPECT_EQ(cIdentifier("DLTensor"), "m_DLTensor");
  EXPECT_EQ(cIdentifier("int64_t"), "m_int64_t");
}

TEST_F(EmitTest, HeaderSaysWhatTheModelTakes) {
  Artefact a = affine();
  a.inputs[0].name = "x*/"; // may not end the comment
  std::string text = headerText(a, "0123", "model");
  llvm::StringRef header(text);
  EXPECT_TRUE(header.contains("0  x*   float32 [4, 3]"));
  EXPECT_TRUE(header.contains("static inline ft_status affine_forward("
                              "ft_model *model,\n    const float *x__,"))
      << text;
}

TEST_F(EmitTest, HeaderTakesSizes) {
  Artefact a = halves();
  a.symbols[1].title = "2 halves"; // no identifier
  std::string text = headerText(a, "0123", "model");
  llvm::StringRef header(text);
  EXPECT_TRUE(header.contains(" * Sizes:\n"
                              " *   batch  1 to 64\n"
                              " *   2 halves  any\n"));
  EXPECT_TRUE(header.contains("halves_forward(ft_model *model,\n"
                              "    int64_t batch,\n"
                              "    int64_t m_2_halves,\n"
                              "    const float *x,\n"
                              "    const float *mask,\n"
                              "    const float *tail,\n"
                              "    float *y,\n"));
}

TEST(Hash, IsXxh64) {
  std::string text;
  for (int n = 0; n < 200; ++n) {
    uint64_t expected = llvm::xxHash64(text);
    EXPECT_EQ(ft_hash_bytes(text.data(), text.size()), expected) << n;
    ft_hash pieces;
    ft_hash_init(&pieces, 0);
    for (size_t at = 0; at < text.size(); at += 7)
      ft_hash_add(&pieces, text.data() + at,
                  std::min<size_t>(7, text.size() - at));
    EXPECT_EQ(ft_hash_value(&pieces), expected) << n;
    text += static_cast<char>(n * 37);
  }
}

TEST(CpuFeatures, EveryCpuOfLlvmCanBeChecked) {
  llvm::SmallVector<llvm::StringRef> cpus;
  llvm::X86::fillValidCPUArchList(cpus, /*Only64Bit=*/true);
  for (llvm::StringRef cpu : cpus) {
    llvm::SmallVector<llvm::StringRef> features;
    llvm::X86::getFeaturesForCPU(cpu, features, /*NeedPlus=*/false);
    for (llvm::StringRef feature : features)
      EXPECT_TRUE(isKnownCpuFeature(feature))
          << cpu.str() << ": " << feature.str();
  }
  EXPECT_FALSE(isKnownCpuFeature("no-such-feature"));
}

} // namespace
