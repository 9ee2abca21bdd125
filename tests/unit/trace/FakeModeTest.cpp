//===- FakeModeTest.cpp - Modes, conversion, errors ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ft;
using testing::HasSubstr;

static FakeModeOptions named(const char *name) {
  FakeModeOptions options;
  options.name = name;
  return options;
}

//===----------------------------------------------------------------------===//
// Modes
//===----------------------------------------------------------------------===//

TEST(Modes, AreFoundFromTheScopeThenFromTheInputs) {
  FakeMode mode;
  Tensor x = mode.input("x", {2, 3});
  EXPECT_TRUE((x + 1).ok()); // from x
  Tensor z = ops::zeros({2});
  EXPECT_FALSE(z.ok());
  EXPECT_EQ(z.error()->message,
            "no mode is active, and zeros.default is given no fake tensor");
  FakeMode::Scope scope(mode);
  EXPECT_TRUE(ops::zeros({2}).ok()); // from the scope
}

TEST(Modes, DoNotNest) {
  FakeMode outer(named("outer")), inner(named("inner"));
  FakeMode::Scope scope(outer);
  FakeMode::Scope refused(inner);
  EXPECT_EQ(inner.error().message, "the mode 'inner' is entered inside of the "
                                   "mode 'outer': modes do not nest");
  // The outer one is still active.
  EXPECT_TRUE(ops::zeros({2}).ok());
  EXPECT_EQ(outer.numOperations(), 1u);
}

TEST(Modes, OfOneNameAreStillTwo) {
  FakeMode outer, inner;
  FakeMode::Scope scope(outer);
  FakeMode::Scope refused(inner);
  EXPECT_EQ(inner.error().message,
            "the mode 'model' is entered inside of another mode of that name: "
            "modes do not nest");
  FakeMode a, b;
  FakeMode::Pause pause;
  (void)(a.input("x", {2}) + b.input("x", {2}));
  EXPECT_EQ(a.error().message, "add.Tensor is called with tensors of two "
                               "modes, both of the name 'model'");
}

TEST(Modes, CanBeLeft) {
  FakeMode outer(named("outer")), inner(named("inner"));
  FakeMode::Scope scope(outer);
  {
    FakeMode::Pause pause;
    EXPECT_FALSE(ops::zeros({2}).ok());
    FakeMode::Scope other(inner);
    EXPECT_TRUE(ops::zeros({2}).ok());
  }
  EXPECT_TRUE(ops::zeros({2}).ok());
  EXPECT_EQ(outer.numOperations(), 1u);
  EXPECT_EQ(inner.numOperations(), 1u);
}

TEST(Modes, AreNeverMixed) {
  FakeMode a(named("a")), b(named("b"));
  Tensor x = a.input("x", {2}), y = b.input("y", {2});
  EXPECT_FALSE((x + y).ok());
  EXPECT_EQ(a.error().message, "add.Tensor is called with tensors of two "
                               "modes, 'a' and 'b'");
  FakeMode::Scope scope(b);
  EXPECT_FALSE((x + y).ok());
  EXPECT_EQ(b.error().message, "argument 'self' of add.Tensor is a fake of "
                               "the mode 'a', the call belongs to the mode "
                               "'b'");
}

TEST(Modes, ConvertWhatTheyAreAllowedTo) {
  FakeMode a(named("a"));
  FakeModeOptions options = named("b");
  options.convertForeign = true;
  FakeMode b(options);
  Tensor x = a.input("x", TensorDesc({2, 3}).strides({1, 2}));
  FakeMode::Scope scope(b);
  Tensor y = b.input("y", {3});
  EXPECT_TRUE((x + y).ok());
  Tensor again = x + x;
  EXPECT_EQ(again.str(), "float32 [2, 3] strides [1, 2] cpu");
  EXPECT_EQ(a.numOperations(), 0u);
}

TEST(Modes, KeepTensorsUsableAfterTheirEnd) {
  Tensor x;
  {
    FakeMode mode;
    x = mode.input("x", {2, 3});
  }
  EXPECT_EQ(x.size(1), 3);
  EXPECT_TRUE(x.relu().ok());
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

TEST(Conversion, TheSameTensorIsTheSameFake) {
  auto data = std::make_shared<std::vector<float>>(12);
  FakeMode mode;
  RealTensor a(data->data(), {3, 4}, data);
  Tensor first = mode.fake(a);
  EXPECT_EQ(first.str(), "float32 [3, 4] cpu");
  EXPECT_TRUE(mode.fake(a).is_same(first));
  EXPECT_TRUE(mode.fake(RealTensor(data->data(), {3, 4}, data)).is_same(first));
  // Another view of the storage is another tensor.
  Tensor view = mode.fake(
      RealTensor(data->data(), TensorDesc({3}).strides({4}).offset(1), data));
  EXPECT_EQ(view.str(), "float32 [3] strides [4] offset 1 cpu");
  EXPECT_FALSE(view.is_same(first));
  EXPECT_TRUE(view.shares_storage(first));
  // Another dtype too.
  Tensor bits = mode.fake(
      RealTensor(data->data(), TensorDesc({3, 4}).dtype(kInt32), data));
  EXPECT_FALSE(bits.is_same(first));
  EXPECT_TRUE(bits.shares_storage(first));
}

TEST(Conversion, TheMemoIsDroppedWhenTheTensorIsFreed) {
  std::vector<float> memory(4);
  auto owner = std::make_shared<int>(0);
  FakeMode mode;
  Tensor first = mode.fake(RealTensor(memory.data(), {4}, owner));
  owner = std::make_shared<int>(0); // another tensor at the same place
  Tensor second = mode.fake(RealTensor(memory.data(), {4}, owner));
  EXPECT_FALSE(first.is_same(second));
  EXPECT_FALSE(first.shares_storage(second));
}

TEST(Conversion, KeepsGradientFlags) {
  std::vector<float> memory(4);
  std::vector<int64_t> numbers(4);
  FakeMode mode;
  Tensor w = mode.fake(RealTensor(memory.data(), {4}).requires_grad_());
  EXPECT_TRUE(w.requires_grad());
  EXPECT_TRUE(w.is_leaf());
  EXPECT_TRUE((w * 2).requires_grad());
  EXPECT_FALSE((w * 2).is_leaf());
  EXPECT_FALSE(w.detach().requires_grad());
  EXPECT_FALSE(w.argmax().requires_grad());
  {
    NoGrad off;
    EXPECT_FALSE((w * 2).requires_grad());
  }
  Tensor ids =
      mode.fake(RealTensor(numbers.data(), TensorDesc({4}).dtype(kInt64)),
                "ids", TensorKind::Parameter);
  EXPECT_FALSE(ids.requires_grad());
  EXPECT_TRUE(mode.ok());
  EXPECT_FALSE(ids.requires_grad_().ok());
  EXPECT_THAT(mode.error().message, HasSubstr("only floating-point"));
}

TEST(Conversion, LeavesThatRequireAGradientAreNotWritten) {
  FakeMode mode;
  Tensor w = mode.parameter("w", {4});
  {
    NoGrad off;
    EXPECT_TRUE(w.mul_(w).ok());
  }
  EXPECT_FALSE(w.mul_(w).ok());
  EXPECT_THAT(mode.error().message,
              HasSubstr("'self' is a leaf that requires a gradient"));
}

TEST(Conversion, TensorsWithDataAreRefusedUnlessAllowed) {
  std::vector<float> memory(4);
  RealTensor real(memory.data(), {4});
  FakeMode strict;
  Tensor x = strict.input("x", {4});
  EXPECT_FALSE(ops::add(x, real).ok());
  EXPECT_EQ(strict.error().message, "argument 'other' of add.Tensor is a "
                                    "tensor with data, not a fake");
  FakeModeOptions options;
  options.allowNonFake = true;
  FakeMode lenient(options);
  x = lenient.input("x", {4});
  EXPECT_TRUE(ops::add(x, real).ok());
  EXPECT_TRUE(ops::add(x, real).ok()); // and the same fake again
  EXPECT_THAT(lenient.print(), HasSubstr("ft.kind = \"constant\""));
}

TEST(Conversion, ModulesKeepSharedStorages) {
  auto data = std::make_shared<std::vector<float>>(24);
  std::vector<float> bias(6);
  RealTensor table(data->data(), {6, 4}, data);
  // A view that begins behind the table, and comes before it.
  RealTensor rows(data->data() + 8, {2, 4}, data);
  FakeMode mode;
  std::vector<NamedTensor> module = mode.fake({
      {"rows", rows},
      {"embed.weight", table},
      {"head.weight", table},
      {"head.bias", RealTensor(bias.data(), {6}), TensorKind::Buffer},
  });
  ASSERT_TRUE(mode.ok()) << mode.error().render();
  EXPECT_EQ(find(module, "rows").str(), "float32 [2, 4] offset 8 cpu");
  EXPECT_TRUE(module[1].tensor.is_same(module[2].tensor));
  EXPECT_TRUE(module[0].tensor.shares_storage(module[1].tensor));
  EXPECT_TRUE(module[1].tensor.requires_grad());
  EXPECT_FALSE(module[3].tensor.requires_grad());

  FakeMode other;
  for (FakeMode *into : {&mode, &other}) {
    std::vector<NamedTensor> copy = into->copy(module, "ema.");
    ASSERT_TRUE(into->ok()) << into->error().render();
    EXPECT_TRUE(copy[1].tensor.is_same(copy[2].tensor));
    EXPECT_TRUE(copy[0].tensor.shares_storage(copy[1].tensor));
    EXPECT_FALSE(copy[0].tensor.shares_storage(module[0].tensor));
    EXPECT_EQ(copy[0].tensor.str(), "float32 [2, 4] offset 8 cpu");
    EXPECT_EQ(copy[1].tensor.name(), "ema.embed.weight");
    EXPECT_TRUE(copy[1].tensor.requires_grad());
  }
  EXPECT_FALSE(find(module, "no").defined());
}

TEST(Conversion, FromMeta) {
  FakeMode mode;
  Tensor meta = mode.input("m", TensorDesc({2, 3}).strides({1, 2}).on(kMeta));
  Tensor x = mode.fromMeta(meta, cuda(1), "x");
  EXPECT_EQ(x.str(), "float32 [2, 3] strides [1, 2] cuda:1");
  EXPECT_FALSE(mode.fromMeta(x, cuda(), "y").ok());
  EXPECT_THAT(mode.error().message, HasSubstr("takes a tensor on the device "
                                              "meta"));
}

//===----------------------------------------------------------------------===//
// Metadata and data
//===----------------------------------------------------------------------===//

TEST(Metadata, ComesFromTheAnnotation) {
  FakeMode mode;
  Tensor x = mode.input("x", TensorDesc({2, 3}).on(cuda()).dtype(kFloat16));
  EXPECT_TRUE(x.is_cuda());
  EXPECT_EQ(x.dim(), 2);
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(x.numel(), 6);
  EXPECT_EQ(x.element_size(), 2);
  EXPECT_EQ(x.t().stride(0), 1);
  EXPECT_FALSE(x.t().is_contiguous());
  EXPECT_EQ(x[1].storage_offset(), 3);
  EXPECT_TRUE(x.to(kMeta).is_meta());
  EXPECT_EQ(mode.numOperations(), 4u) << "questions add no operations";
  EXPECT_EQ(x.size(2).value(), 0);
  EXPECT_EQ(mode.error().message,
            "dim 2 is out of range for float16 [2, 3] cuda:0");
}

TEST(Data, BranchingPointsAtCond) {
  FakeMode mode;
  Tensor x = mode.input("x", {2, 3});
  if (x.sum() > 0)
    FAIL() << "the mode cannot know";
  EXPECT_EQ(mode.error().code(), "FT0306");
  EXPECT_THAT(mode.error().message, HasSubstr("branches on the data of 'gt'"));
  EXPECT_THAT(mode.error().help, HasSubstr("ft::cond"));
}

TEST(Data, DynamicSizesNeedSymbols) {
  FakeMode mode;
  Tensor x = mode.input("x", {2, 3});
  EXPECT_FALSE(ops::nonzero(x).ok());
  EXPECT_EQ(mode.error().code(), "FT0306");
  EXPECT_THAT(mode.error().message, HasSubstr("nonzero"));
}

TEST(Data, TinyConstantsAreKnownUntilTheyAreWritten) {
  float half = 0.5;
  FakeMode mode;
  FakeMode::Scope scope(mode);
  Tensor c = mode.fake(RealTensor(&half, TensorDesc({})));
  EXPECT_EQ(c.item().toDouble(), 0.5);
  EXPECT_EQ(c.view({1}).item().toDouble(), 0.5);
  EXPECT_TRUE(bool(c));
  EXPECT_EQ(ops::scalar_tensor(3, kInt64).item().toInt(), 3);
  // Shapes that a program computes by tensors resolve.
  int64_t sizes[] = {800, 1216};
  Tensor shape = mode.fake(RealTensor(sizes, TensorDesc({2}).dtype(kInt64)));
  EXPECT_EQ(shape[1].item().toInt(), 1216);
  EXPECT_EQ((shape[0] + 1).item().toInt(), 801);
  EXPECT_EQ(ops::ones({shape[0].item().toInt(), 4}).str(),
            "float32 [800, 4] cpu");
  Tensor view = c.view({1});
  c.add_(c);
  EXPECT_TRUE(mode.ok());
  (void)view.item();
  EXPECT_FALSE(mode.ok()) << "its storage was written";
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(Errors, NameTheCallItsOperandsAndBothValues) {
  struct Case {
    const char *message;
    Tensor (*call)(Tensor a, Tensor b); // float32 [2, 3], [4, 5]
  };
  const Case cases[] = {
      {"mm.default(self: float32 [2, 3] cpu, mat2: float32 [4, 5] cpu): ",
       [](Tensor a, Tensor b) { return ops::mm(a, b); }},
      {"add.Tensor(self: float32 [2, 3] cpu, other: float32 [4, 5] cpu): "
       "sizes 2 of 'self' and 4 of 'other' do not broadcast at dim 0 of 2",
       [](Tensor a, Tensor b) { return a + b; }},
      {"cat.default(tensors[0]: float32 [2, 3] cpu, tensors[1]: float32 [4, "
       "5] cpu): ",
       [](Tensor a, Tensor b) { return ops::cat({a, b}); }},
      {"select.int(self: float32 [2, 3] cpu, dim: 0, index: 2): ",
       [](Tensor a, Tensor b) { return a[2]; }},
  };
  for (const Case &c : cases) {
    FakeMode mode;
    Tensor a = mode.input("a", {2, 3}), b = mode.input("b", {4, 5});
    EXPECT_FALSE(c.call(a, b).ok());
    EXPECT_THAT(mode.error().message, testing::StartsWith(c.message));
  }
}

TEST(Errors, TheFirstOneIsKept) {
  FakeMode mode;
  Tensor x = mode.input("x", {2, 3});
  Tensor bad = ops::mm(x, x);
  int line = __LINE__ - 1;
  EXPECT_FALSE((bad + 1).relu().ok());
  EXPECT_EQ(bad.size(0).value(), 0);
  EXPECT_EQ(mode.errorCount(), 1u);
  EXPECT_FALSE(ops::mm(x, x).ok());
  EXPECT_EQ(mode.errorCount(), 2u);
  EXPECT_THAT(mode.error().where,
              HasSubstr("FakeModeTest.cpp:" + std::to_string(line)));
  EXPECT_THROW(throwIfFailed(mode), TraceError);
  // Lists of a call that failed may be indexed.
  Tensors parts = bad.split(1);
  EXPECT_EQ(parts.size(), 0u);
  EXPECT_FALSE(parts[3].ok());
  auto [values, indices] = bad.max(0);
  EXPECT_FALSE(values.ok() || indices.ok());
}

TEST(Errors, EnumeratorsThatAreNone) {
  FakeMode mode;
  TensorDesc odd({2});
  EXPECT_FALSE(mode.input("a", odd.dtype(ScalarType(200))).ok());
  EXPECT_EQ(mode.error().message,
            "a tensor of ScalarType(200), which is no dtype");

  FakeMode other;
  EXPECT_FALSE(other.input("a", TensorDesc({2}).on(cuda(-7))).ok());
  EXPECT_EQ(other.error().message,
            "a tensor on DeviceId(1, -7), which is no device");
  DeviceId nowhere{static_cast<DeviceId::Kind>(77), 0};
  EXPECT_FALSE(other.input("b", TensorDesc({2}).on(nowhere)).ok());
  Tensor meta = other.input("m", TensorDesc({2}).on(kMeta));
  EXPECT_FALSE(other.fromMeta(meta, nowhere, "c").ok());
  EXPECT_EQ(other.errorCount(), 3u);

  float data[4];
  EXPECT_FALSE(other.fake(RealTensor(data, odd)).ok());
  EXPECT_FALSE(other.fake(RealTensor(data, TensorDesc({2}).on(nowhere))).ok());
  EXPECT_EQ(other.errorCount(), 5u);
}

TEST(Errors, MalformedTensorsWithData) {
  float data[4];
  int64_t shape[] = {4};
  auto refused = [&](auto &&change) {
    DLTensor tensor{};
    tensor.data = data;
    tensor.device = {kDLCPU, 0};
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.ndim = 1;
    tensor.shape = shape;
    change(tensor);
    FakeMode mode;
    EXPECT_FALSE(mode.fake(RealTensor(tensor)).ok());
    return mode.error().message;
  };
  EXPECT_THAT(refused([](DLTensor &t) { t.ndim = -5; }),
              HasSubstr("number of dims is negative"));
  EXPECT_THAT(refused([](DLTensor &t) { t.shape = nullptr; }),
              HasSubstr("no list of sizes"));
  EXPECT_EQ(refused([](DLTensor &t) { t.dtype.lanes = 4; }),
            "a tensor of DLPack type code 2, 32 bits, 4 lanes cannot be made "
            "fake");
  EXPECT_EQ(refused([](DLTensor &t) { t.dtype = {9, 3, 1}; }),
            "a tensor of DLPack type code 9, 3 bits cannot be made fake");
  FakeMode mode;
  TensorDesc short_({2, 2});
  EXPECT_FALSE(mode.fake(RealTensor(data, short_.strides({1}))).ok());
  EXPECT_THAT(mode.error().message, HasSubstr("not one stride for each size"));
}

TEST(Errors, NamesOfOutputsAreUnique) {
  FakeMode mode;
  Tensor x = mode.input("x", {2});
  mode.output("x", x); // inputs have names of their own
  mode.output("x", x + 1);
  EXPECT_EQ(mode.error().message,
            "the output 'x' was named before: names of outputs are unique");
}

TEST(Errors, NumbersOfFailedCallsAreNotOk) {
  FakeMode mode;
  FakeMode::Scope scope(mode);
  Tensor x = mode.input("x", {2});
  EXPECT_FALSE(x.size(7).ok());
  EXPECT_FALSE(x.stride(-3).ok());
  EXPECT_FALSE(x.sum().item().ok()); // a mode without symbols
  EXPECT_EQ(mode.errorCount(), 3u);
  // What is computed from them fails without another error.
  SymInt size = x.size(7) * 2 + 1;
  EXPECT_FALSE(size.ok());
  EXPECT_EQ(size.value(), 0);
  Tensor failed = ops::zeros({size});
  EXPECT_FALSE(failed.ok());
  EXPECT_FALSE(failed.numel().ok());
  EXPECT_EQ(mode.errorCount(), 4u);

  FakeMode::Pause pause;
  FakeMode other;
  FakeMode::Scope own(other);
  EXPECT_FALSE(Tensor().size(0).ok());
  EXPECT_FALSE(ops::zeros({Tensor().size(0)}).ok());
  EXPECT_THAT(other.error().message, HasSubstr("an undefined tensor"));
}

TEST(Errors, ArgumentsThatAreNoDTypeOrDevice) {
  FakeMode mode;
  Tensor x = mode.input("x", {2});
  EXPECT_FALSE(call("sum", {x, ScalarType(99)})[0].ok());
  EXPECT_EQ(mode.error().message,
            "sum.default is called with ScalarType(99), which is no dtype");
  EXPECT_FALSE(call("_to_copy", {x, {}, {}, cuda(-2)})[0].ok());
  EXPECT_EQ(mode.errorCount(), 2u);
}
