//===- LoadTest.cpp - Loading: CPU, weights, the shared pool ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/runtime/FakeModels.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace ft;
using namespace ft::test;

namespace {

class LoadTest : public ModelTest {
protected:
  /// affine with its weights in a file.
  std::unique_ptr<LoadedModel> buildExternal() {
    EmitOptions options;
    options.inlineWeightsLimit = 0;
    return build(affine(), options);
  }

  void overwrite(uint64_t offset, char byte) {
    std::fstream file(path("affine.weights"),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }

  bool works(const LoadedModel &model) {
    float x[12] = {}, y[12] = {};
    Tensor in(x, {4, 3}), out(y, {4, 3});
    return messageOf(model.forward(in.dl, out.dl)).empty() && y[0] == 10 &&
           y[11] == 30;
  }

  static constexpr uint64_t kData = 4096;
};

TEST_F(LoadTest, Info) {
  Artefact a = affine();
  a.cpu = "x86-64-v2";
  a.features = {"sse3", "ssse3"};
  a.guards = {{"batch <= 64", "--dynamic x:0=batch[2..64]"}};
  auto model = build(a);
  ASSERT_TRUE(model);
  const ft_model_info &info = model->info();
  EXPECT_EQ(info.struct_size, sizeof(ft_model_info));
  EXPECT_EQ(info.abi_version, uint32_t(FT_ABI_VERSION));
  EXPECT_STREQ(info.name, "affine");
  EXPECT_EQ(llvm::StringRef(info.compile_id).size(), 32u);
  EXPECT_STREQ(info.cpu, "x86-64-v2");
  EXPECT_STREQ(info.features, "sse3,ssse3");
  ASSERT_EQ(info.num_inputs, 1);
  const ft_value_info &x = *info.inputs[0];
  EXPECT_STREQ(x.name, "x");
  EXPECT_EQ(x.dtype.code, kDLFloat);
  EXPECT_EQ(x.dtype.bits, 32);
  EXPECT_EQ(x.dtype.lanes, 1);
  ASSERT_EQ(x.ndim, 2);
  EXPECT_EQ(x.sizes[0], 4);
  EXPECT_EQ(x.strides[0], 3);
  EXPECT_STREQ(x.dims[1], "3");
  ASSERT_EQ(info.num_guards, 1);
  EXPECT_STREQ(info.guards[0]->text, "batch <= 64");
}

TEST_F(LoadTest, OtherCpuIsRefusedByName) {
  Artefact a = affine();
  a.cpu = "bdver4";
  a.features = {"sse3", "fma4", "lwp"}; // a line of CPUs that has ended
  auto model = build(a);
  ASSERT_TRUE(model);
  EXPECT_STREQ(model->info().cpu, "bdver4");
  std::string message = messageOf(model->load());
  llvm::StringRef text(message);
  EXPECT_TRUE(text.starts_with(
      "FT0005: \"affine\" was compiled for the CPU bdver4; this CPU ("))
      << message;
  EXPECT_TRUE(text.contains("lacks fma4, lwp: compile with --cpu x86-64"))
      << message;
}

TEST_F(LoadTest, WeightsInAFile) {
  auto model = buildExternal();
  ASSERT_TRUE(model);
  ASSERT_EQ(messageOf(model->load()), "");
  EXPECT_TRUE(works(*model));
  EXPECT_EQ(messageOf(model->api().verify_weights(model->instance())), "");
}

TEST_F(LoadTest, WeightsAreFoundAfterChangingFolder) {
  char before[4096];
  ASSERT_TRUE(getcwd(before, sizeof before));
  ASSERT_TRUE(buildExternal());
  ASSERT_EQ(chdir(folder.c_str()), 0);
  auto model = LoadedModel::open("affine.so");
  ASSERT_EQ(chdir("/"), 0);
  ASSERT_TRUE(bool(model));
  EXPECT_EQ(messageOf((*model)->load()), "");
  ASSERT_EQ(chdir(before), 0);
}

TEST_F(LoadTest, WeightsElsewhere) {
  auto model = buildExternal();
  ASSERT_TRUE(model);
  std::string moved = path("elsewhere");
  ASSERT_FALSE(llvm::sys::fs::rename(path("affine.weights"), moved));
  EXPECT_EQ(messageOf(model->load()),
            "FT0008: weights \"" + path("affine.weights") +
                "\" cannot be opened: No such file or directory; they belong "
                "beside the .so, or set weights_path\n");
  ft_load_options options = ft_load_options_init();
  options.weights_path = moved.c_str();
  ASSERT_EQ(messageOf(model->load(&options)), "");
  EXPECT_TRUE(works(*model));
}

TEST_F(LoadTest, TruncatedWeights) {
  auto model = buildExternal();
  ASSERT_TRUE(model);
  std::string file = path("affine.weights");
  ASSERT_EQ(truncate(file.c_str(), kData + 100), 0);
  EXPECT_EQ(messageOf(model->load()),
            "FT0008: weights \"" + file +
                "\": expected 4224 bytes, got 4196\n");
  ASSERT_EQ(truncate(file.c_str(), 10), 0);
  EXPECT_EQ(messageOf(model->load()),
            "FT0008: weights \"" + file + "\": expected 4224 bytes, got 10\n");
}

TEST_F(LoadTest, EditedWeights) {
  auto model = buildExternal();
  ASSERT_TRUE(model);
  // A change of the data is found when asked for.
  overwrite(kData, 0x55);
  EXPECT_EQ(messageOf(model->load()), "");
  ft_load_options options = ft_load_options_init();
  options.verify_weights = 1;
  EXPECT_TRUE(
      llvm::StringRef(messageOf(model->load(&options)))
          .starts_with("FT0008: the weights of \"affine\" are damaged"));
  // A change of the header always.
  overwrite(20, 0x55);
  EXPECT_EQ(messageOf(model->load()), "FT0008: weights \"" +
                                          path("affine.weights") +
                                          "\": the header is damaged\n");
  overwrite(0, 'X');
  EXPECT_EQ(messageOf(model->load()), "FT0008: weights \"" +
                                          path("affine.weights") +
                                          "\": not a weights file\n");
}

TEST_F(LoadTest, WeightsOfAnotherCompile) {
  auto model = buildExternal();
  ASSERT_TRUE(model);
  Artefact other = affine();
  other.arenaBytes = 64;
  EmitOptions options;
  options.inlineWeightsLimit = 0;
  auto files = emitArtefact(other, path("other"), options);
  ASSERT_TRUE(bool(files));
  ASSERT_FALSE(llvm::sys::fs::rename(files->weights, path("affine.weights")));
  std::string message = messageOf(model->load());
  EXPECT_TRUE(llvm::StringRef(message).contains(
      "made for compile id " + files->compileId + ", the model has "))
      << message;
}

TEST_F(LoadTest, NotACompiledModel) {
  std::ofstream(path("text.so")) << "hello";
  auto text = LoadedModel::open(path("text.so"));
  EXPECT_TRUE(
      llvm::StringRef(messageOf(text.takeError())).starts_with("FT0008: "));
  auto libm = LoadedModel::open("/lib/x86_64-linux-gnu/libm.so.6");
  if (libm)
    ADD_FAILURE() << "libm was taken for a model";
  else
    EXPECT_EQ(
        messageOf(libm.takeError()),
        "FT0008: /lib/x86_64-linux-gnu/libm.so.6: not a compiled model\n");
}

/// Threads of this process.
size_t countThreads() {
  size_t count = 0;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it("/proc/self/task", code), end;
       it != end && !code; it.increment(code))
    ++count;
  return count;
}

TEST_F(LoadTest, ModelsShareOnePoolThatOutlivesThem) {
  ft_load_options options = ft_load_options_init();
  options.threads = 3;
  size_t threads = 0;
  for (const char *name : {"first", "second", "third"}) {
    Artefact a = affine();
    a.name = name;
    auto model = build(a);
    ASSERT_TRUE(model);
    ASSERT_EQ(messageOf(model->load(&options)), "");
    EXPECT_TRUE(works(*model));
    if (threads == 0)
      threads = countThreads();
    EXPECT_GE(threads, 3u);
    EXPECT_EQ(countThreads(), threads) << name;
  }
}

TEST_F(LoadTest, AForkedChildCanCallAndExit) {
  ft_load_options options = ft_load_options_init();
  options.threads = 3;
  auto model = build(affine());
  ASSERT_TRUE(model);
  ASSERT_EQ(messageOf(model->load(&options)), "");
  ASSERT_TRUE(works(*model));
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool ok = countThreads() == 1 && works(*model) && countThreads() > 1;
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(works(*model));
}

} // namespace
