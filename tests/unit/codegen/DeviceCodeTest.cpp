//===- DeviceCodeTest.cpp - Code for a GPU: PTX, faults, targets ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ContractionText.h"

#include "compiler/codegen/cuda/Occupancy.h"
#include "compiler/codegen/cuda/Ptxas.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace ft;
using namespace ft::test;

namespace {

TEST(CudaTargetTest, ChipsAndVersionsOfPtx) {
  auto standard = llvm::cantFail(CudaTarget::parse(""));
  EXPECT_EQ(standard.chip, "sm_90");
  EXPECT_EQ(standard.ptx, 80u);
  auto older = llvm::cantFail(CudaTarget::parse("sm_80+ptx71"));
  EXPECT_EQ(older.sm, 80u);
  EXPECT_EQ(older.features(), "+ptx71");
  EXPECT_FALSE(older.tf32);
  auto rounding = llvm::cantFail(CudaTarget::parse("sm_80+ptx71+tf32"));
  EXPECT_TRUE(rounding.tf32);
  EXPECT_EQ(rounding.features(), "+ptx71");
  EXPECT_TRUE(llvm::cantFail(CudaTarget::parse("+tf32")).tf32);
  EXPECT_TRUE(llvm::cantFail(CudaTarget::parse("sm_90a")).exact);
  EXPECT_EQ(llvm::cantFail(CudaTarget::parse("sm_120")).ptx, 87u);
  // LLVM ends the process on some of these.
  for (const char *bad :
       {"sm_70", "sm_90+ptx71", "sm_80+ptx99", "sm_80+sm_90", "sm_80+",
        "gfx90a", "SM_80", "sm_80+tf32+", "sm_80+tf16"})
    EXPECT_NE(llvm::toString(CudaTarget::parse(bad).takeError()), "") << bad;
}

std::string plus1() {
  return kernelModule("%x: memref<300xf32>, %out: memref<300xf32>", R"(
  %a = bufferization.to_tensor %x restrict : memref<300xf32> to tensor<300xf32>
  %e = tensor.empty() : tensor<300xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>,
      affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<300xf32>) outs(%e : tensor<300xf32>) {
    ^bb0(%p: f32, %o: f32):
      %c = arith.constant 1.0 : f32
      %t = arith.addf %p, %c : f32
      linalg.yield %t : f32
  } -> tensor<300xf32>
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<300xf32>, memref<300xf32>) -> ())");
}

/// The largest of 3 rows of 100: a warp for each row.
std::string rowMax() {
  return kernelModule("%x: memref<3x100xf32>, %out: memref<3xf32>", R"(
  %a = bufferization.to_tensor %x restrict : memref<3x100xf32> to tensor<3x100xf32>
  %e = tensor.empty() : tensor<3xf32>
  %low = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<3x100xf32>) outs(%f : tensor<3xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.maximumf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<3xf32>
  bufferization.materialize_in_destination %r in restrict writable %out
      : (tensor<3xf32>, memref<3xf32>) -> ())");
}

/// The same with arguments whose addresses are multiples of 16.
std::string aligned(std::string text) {
  for (const char *name : {"%a", "%b", "%x"}) {
    size_t at = text.find(std::string(name) + ": memref");
    if (at != std::string::npos)
      text.insert(text.find('>', at) + 1, " {ft.align = 16 : i64}");
  }
  return text;
}

std::string matmul() { return matmulText(70, 80, 40, 0).module(); }

/// A kernel, and what the emulator says of a run of it.
struct Ran {
  using Change = std::function<void(llvm::Module &)>;
  /// On that many floats for each argument.
  explicit Ran(const std::string &text, std::vector<size_t> floats,
               const Change &change = {}, llvm::StringRef chip = "sm_80") {
    std::vector<std::vector<float>> memory;
    std::vector<void *> pointers;
    for (size_t n : floats)
      memory.emplace_back(n);
    for (auto &m : memory)
      pointers.push_back(m.data());
    run(text, pointers, change, chip);
  }
  Ran(const std::string &text, const std::vector<void *> &pointers,
      const Change &change, llvm::StringRef chip) {
    run(text, pointers, change, chip);
  }
  std::string error, fault, ptx;

private:
  void run(const std::string &text, const std::vector<void *> &pointers,
           const Change &change, llvm::StringRef chip) {
    mlir::DialectRegistry registry;
    registerCudaCodegenDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    DeviceKernels kernels(*module, chip, change);
    error = kernels.error;
    ptx = kernels.code.ptx;
    if (!error.empty())
      return;
    fault = kernels.run(pointers);
  }
};

bool has(const std::string &text, const char *what) {
  return text.find(what) != std::string::npos;
}

TEST(DevicePtx, HoldsWhatItMust) {
  Ran elements(plus1(), {300, 300});
  EXPECT_TRUE(has(elements.ptx, ".target sm_80"));
  EXPECT_TRUE(has(elements.ptx, ".reqntid 256"));
  EXPECT_TRUE(has(elements.ptx, "ld.global.nc"));
  EXPECT_FALSE(has(elements.ptx, "bar"));
  Ran rows(rowMax(), {300, 3});
  EXPECT_TRUE(has(rows.ptx, "shfl.sync.bfly.b32"));
  EXPECT_FALSE(has(rows.ptx, ".shared"));
  Ran tiles(matmul(), {70 * 40, 40 * 80, 70 * 80}, {}, "sm_90");
  EXPECT_TRUE(has(tiles.ptx, ".target sm_90"));
  EXPECT_TRUE(has(tiles.ptx, "ld.shared.v4"));
  EXPECT_TRUE(has(tiles.ptx, "fma.rn.f32"));
  // Nothing is known of addresses: one float at a time.
  EXPECT_TRUE(has(tiles.ptx, "cp.async.ca.shared.global"));
  EXPECT_FALSE(has(tiles.ptx, "cp.async.cg"));
  EXPECT_TRUE(has(tiles.ptx, "cp.async.commit_group"));
  // Exact, unless less is asked for.
  EXPECT_FALSE(has(tiles.ptx, "mma.sync"));
}

TEST(DevicePtx, VectorsWhereAlignmentIsProved) {
  // Rows of 80 floats are multiples of 16 bytes, those of 81 are not.
  for (int64_t n : {80, 81}) {
    std::vector<float> a(70 * 40), b(40 * n), c(70 * n);
    Ran tiles(aligned(matmulText(70, n, 40, 0).module()),
              {a.size(), b.size(), c.size()});
    EXPECT_EQ(tiles.fault, "");
    EXPECT_EQ(has(tiles.ptx, "cp.async.cg.shared.global"), n == 80);
    EXPECT_TRUE(has(tiles.ptx, "cp.async.ca.shared.global"));
  }
}

/// Four neighbours for each thread where there are many and they are aligned.
TEST(DevicePtx, PointwiseVectors) {
  for (size_t n : {133120, 133119}) {
    std::string text = plus1(), size = std::to_string(n);
    for (size_t at; (at = text.find("300xf32")) != std::string::npos;)
      text.replace(at, 3, size);
    text = aligned(text);
    size_t out = text.find("%out: memref");
    text.insert(text.find('>', out) + 1, " {ft.align = 64 : i64}");
    std::vector<float> x(n), y(n);
    for (size_t i = 0; i < n; ++i)
      x[i] = static_cast<float>(i);
    std::vector<void *> memory = {x.data(), y.data()};
    Ran ran(text, memory, Ran::Change(), "sm_80");
    EXPECT_EQ(ran.error + ran.fault, "");
    EXPECT_EQ(y.front(), 1);
    EXPECT_EQ(y.back(), static_cast<float>(n));
    EXPECT_EQ(has(ran.ptx, "ld.global.nc.v4.b32"), n % 4 == 0) << ran.ptx;
    EXPECT_EQ(has(ran.ptx, "st.global.v4.b32"), n % 4 == 0);
  }
}

TEST(DevicePtx, MatmulSpillsNothing) {
  auto ptxas = findPtxas();
  if (!ptxas)
    GTEST_SKIP() << "ptxas is not there";
  for (const char *chip : {"sm_80", "sm_90"}) {
    Ran tiles(matmul(), {70 * 40, 40 * 80, 70 * 80}, {}, chip);
    auto assembled =
        assemble(*ptxas, tiles.ptx, llvm::cantFail(CudaTarget::parse(chip)));
    ASSERT_TRUE(bool(assembled)) << llvm::toString(assembled.takeError());
    ASSERT_EQ(assembled->kernels.size(), 1u);
    const KernelResources &k = assembled->kernels[0];
    EXPECT_EQ(k.name, "k");
    EXPECT_EQ(k.spillBytes, 0u);
    EXPECT_GT(k.registers, 16u);
    EXPECT_LE(k.registers, 128u);
    // Two stages of 16 steps, or the results.
    EXPECT_EQ(k.sharedBytes, 2u * 16 * (68 + 68) * 4);
    EXPECT_EQ(assembled->cubin.substr(1, 3), "ELF");
  }
}

TEST(DevicePtx, WhatADeviceLacksIsRefusedByName) {
  std::string text = plus1();
  text.replace(text.find("arith.addf %p, %c"), 17, "math.powf %p, %p");
  Ran ran(text, {300, 300});
  EXPECT_TRUE(has(ran.error, "FT0501"));
  EXPECT_TRUE(has(ran.error, "powf (in k)") ||
              has(ran.error, "llvm.pow.f32 (in k)"))
      << ran.error;
}

TEST(OccupancyTest, WhatThereIsTooLittleOf) {
  // 65536 registers are 6 blocks of 256 threads with 40 each.
  Occupancy o = occupancyOf(80, 40, 17408);
  EXPECT_EQ(o.blocks, 6u);
  EXPECT_EQ(o.most, 8u);
  EXPECT_EQ(o.percent(), 75u);
  EXPECT_EQ(o.limit, "registers");
  EXPECT_EQ(occupancyOf(90, 16, 0).blocks, 8u);
  EXPECT_EQ(occupancyOf(90, 16, 0).limit, "threads");
  // 100 KiB, 1 KiB of each block's for the system.
  EXPECT_EQ(occupancyOf(86, 16, 40 * 1024).blocks, 2u);
  EXPECT_EQ(occupancyOf(86, 16, 40 * 1024).limit, "shared memory");
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

/// Numbers that a kernel of "bf16" or "f16" holds: small integers.
uint16_t narrow(int value, bool isHalf) {
  if (isHalf)
    return static_cast<uint16_t>(
        std::abs(value) < 1
            ? 0
            : (value < 0 ? 0x8000 : 0) | (std::ilogb(value) + 15) << 10 |
                  ((std::abs(value) << (10 - std::ilogb(value))) & 1023));
  return static_cast<uint16_t>(
      std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}

/// C[m, n] = A B (B^T for `transposed`) in float32. The number of elements that
/// are wrong, or what the compiler or the emulator says.
std::string multiplyNarrow(const std::string &element, bool transposed,
                           const Ran::Change &change = {},
                           std::string *ptx = nullptr, int64_t n = 81,
                           int64_t k = 53) {
  int64_t m = 70;
  ContractionText t = matmulText(m, n, k, transposed ? -1 : 0);
  t.aElement = t.bElement = element;
  t.extend = "arith.extf";
  t.aType = llvm::formatv("{0}x{1}x{2}", m, k, element);
  t.bType = llvm::formatv("{0}x{1}x{2}", transposed ? n : k, transposed ? k : n,
                          element);
  std::vector<uint16_t> a(m * k), b(n * k);
  std::vector<float> c(m * n, -7), want(m * n);
  auto number = [](int64_t i, int64_t j) {
    return static_cast<int>((i * 7 + j * 3) % 9 - 4);
  };
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      a[i * k + l] = narrow(number(i, l), element == "f16");
  for (int64_t j = 0; j < n; ++j)
    for (int64_t l = 0; l < k; ++l)
      b[transposed ? j * k + l : l * n + j] =
          narrow(number(l, 5 * j), element == "f16");
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        want[i * n + j] += static_cast<float>(number(i, l) * number(l, 5 * j));
  std::string text = n % 8 || k % 8 ? t.module() : aligned(t.module());
  Ran ran(text, {a.data(), b.data(), c.data()}, change, "sm_80");
  if (ptx)
    *ptx = ran.ptx;
  if (!ran.error.empty() || !ran.fault.empty())
    return ran.error + ran.fault;
  int64_t wrong = 0;
  for (int64_t i = 0; i < m * n; ++i)
    wrong += c[i] != want[i];
  return std::to_string(wrong);
}

TEST(TensorCores, MultiplyExactly) {
  for (const char *element : {"f16", "bf16"})
    for (bool transposed : {false, true}) {
      std::string ptx;
      EXPECT_EQ(multiplyNarrow(element, transposed, {}, &ptx), "0") << element;
      EXPECT_TRUE(has(ptx, "mma.sync.aligned.m16n8k16.row.col.f32")) << element;
      EXPECT_TRUE(has(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"));
      auto ptxas = findPtxas();
      for (const char *chip : {"sm_80", "sm_90"}) {
        if (!ptxas)
          continue;
        auto assembled =
            assemble(*ptxas, ptx, llvm::cantFail(CudaTarget::parse(chip)));
        ASSERT_TRUE(bool(assembled)) << llvm::toString(assembled.takeError());
        EXPECT_EQ(assembled->kernels[0].spillBytes, 0u);
      }
    }
}

/// Both operands come by 16 bytes; where neighbours of B are columns, ldmatrix
/// turns it.
TEST(TensorCores, CopyAndTurn) {
  for (const char *element : {"f16", "bf16"})
    for (bool transposed : {false, true}) {
      std::string ptx;
      EXPECT_EQ(multiplyNarrow(element, transposed, {}, &ptx, 88, 56), "0");
      EXPECT_TRUE(has(ptx, "cp.async.cg.shared.global"));
      EXPECT_FALSE(has(ptx, "cp.async.ca"));
      EXPECT_FALSE(has(ptx, "ld.global"));
      EXPECT_EQ(has(ptx, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"),
                !transposed);
    }
}

/// float32 as TF32, if asked for: small integers are exact.
TEST(TensorCores, RoundFloatsIfAskedTo) {
  for (bool transposed : {false, true}) {
    int64_t m = 70, n = 80, k = 40;
    std::vector<float> a(m * k), b(k * n), c(m * n), want(m * n);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<float>(i * 7 % 13) - 6;
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<float>(i * 5 % 11) - 5;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          want[i * n + j] +=
              a[i * k + l] * b[transposed ? j * k + l : l * n + j];
    std::string text =
        aligned(matmulText(m, n, k, transposed ? -1 : 0).module());
    Ran ran(text, {a.data(), b.data(), c.data()}, {}, "sm_90+tf32");
    EXPECT_EQ(ran.error + ran.fault, "");
    EXPECT_EQ(c, want);
    EXPECT_TRUE(has(ran.ptx, "mma.sync.aligned.m16n8k8.row.col.f32.tf32"));
    EXPECT_TRUE(has(ran.ptx, "cvt.rna.tf32.f32"));
    // 1 + 2^-12 has a bit more than what is multiplied.
    a.assign(a.size(), 1 + std::ldexp(1.0F, -12));
    b.assign(b.size(), 1);
    Ran rounded(text, {a.data(), b.data(), c.data()}, {}, "sm_90+tf32");
    EXPECT_EQ(c[0], 40);
    Ran exact(text, {a.data(), b.data(), c.data()}, {}, "sm_90");
    EXPECT_NE(c[0], 40);
  }
}

TEST(TensorCores, WrongFragmentsGiveWrongValues) {
  // Rows 8 to 15 of A where rows 0 to 7 belong.
  std::string wrong = multiplyNarrow("bf16", false, [](llvm::Module &m) {
    for (llvm::Instruction &i : llvm::instructions(*m.getFunction("k")))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
          call && call->getIntrinsicID() ==
                      llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16) {
        llvm::Value *first = call->getArgOperand(0);
        call->setArgOperand(0, call->getArgOperand(1));
        call->setArgOperand(1, first);
      }
  });
  EXPECT_GT(std::stoi(wrong), 1000) << wrong;
}

//===----------------------------------------------------------------------===//
// What the emulator must find
//===----------------------------------------------------------------------===//

template <class T>
std::vector<T *> instructionsOf(llvm::Module &module) {
  std::vector<T *> all;
  for (llvm::Instruction &i : llvm::instructions(*module.getFunction("k")))
    if (auto *t = llvm::dyn_cast<T>(&i))
      all.push_back(t);
  return all;
}

llvm::IntrinsicInst *barrierIn(llvm::Module &module) {
  for (llvm::IntrinsicInst *i : instructionsOf<llvm::IntrinsicInst>(module))
    if (i->getIntrinsicID() ==
        llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all)
      return i;
  return nullptr;
}

TEST(Emulator, FindsNothingWrongWithGoodKernels) {
  EXPECT_EQ(Ran(plus1(), {300, 300}).fault, "");
  EXPECT_EQ(Ran(rowMax(), {300, 3}).fault, "");
  EXPECT_EQ(Ran(matmul(), {70 * 40, 40 * 80, 70 * 80}).fault, "");
}

TEST(Emulator, FindsAMissingBarrier) {
  Ran ran(matmul(), {70 * 40, 40 * 80, 70 * 80},
          [](llvm::Module &m) { barrierIn(m)->eraseFromParent(); });
  EXPECT_TRUE(has(ran.fault, "race: access")) << ran.fault;
  EXPECT_TRUE(has(ran.fault, "of kernel \"k\", block 0")) << ran.fault;
}

TEST(Emulator, FindsCopiesThatNobodyWaitsFor) {
  auto change = [](llvm::Module &m) {
    for (llvm::IntrinsicInst *i : instructionsOf<llvm::IntrinsicInst>(m))
      if (i->getIntrinsicID() == llvm::Intrinsic::nvvm_cp_async_wait_all)
        i->eraseFromParent();
  };
  std::string wrong = multiplyNarrow("bf16", true, change, nullptr, 88, 56);
  EXPECT_GT(std::atoi(wrong.c_str()), 1000) << wrong;
}

TEST(Emulator, FindsATailThatIsOneTooLong) {
  Ran ran(plus1(), {300, 300}, [](llvm::Module &m) {
    for (auto *compare : instructionsOf<llvm::ICmpInst>(m))
      if (auto *limit =
              llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1)))
        compare->setOperand(1,
                            llvm::ConstantInt::get(limit->getType(),
                                                   limit->getZExtValue() + 1));
  });
  EXPECT_EQ(ran.fault, "out of bounds: access 0, a load of kernel \"k\", block "
                       "1, thread 44, of 4 bytes");
}

TEST(Emulator, FindsAVectorThatIsNotAligned) {
  Ran ran(matmul(), {70 * 40, 40 * 80, 70 * 80}, [](llvm::Module &m) {
    for (auto *load : instructionsOf<llvm::LoadInst>(m)) {
      if (!load->getType()->isVectorTy())
        continue;
      llvm::IRBuilder<> b(load);
      load->setOperand(
          0, b.CreateConstGEP1_32(b.getInt8Ty(), load->getPointerOperand(), 4));
    }
  });
  EXPECT_TRUE(has(ran.fault, "misaligned: access")) << ran.fault;
  EXPECT_TRUE(has(ran.fault, "of 16 bytes at 4 behind a multiple of 16"));
}

TEST(Emulator, FindsThreadsAtDifferentBarriers) {
  Ran ran(matmul(), {70 * 40, 40 * 80, 70 * 80}, [](llvm::Module &m) {
    llvm::IntrinsicInst *barrier = barrierIn(m);
    llvm::IRBuilder<> b(barrier);
    llvm::Value *thread =
        b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
    llvm::Value *most = b.CreateICmpNE(thread, b.getInt32(7));
    llvm::Instruction *then = nullptr, *other = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(most, barrier->getIterator(), &then,
                                        &other);
    barrier->clone()->insertBefore(other->getIterator());
    barrier->moveBefore(then->getIterator());
  });
  EXPECT_TRUE(has(ran.fault, "divergence: a thread waits at barrier"))
      << ran.fault;
}

TEST(Emulator, FindsAShuffleThatHalfOfAWarpDoes) {
  Ran ran(rowMax(), {300, 3}, [](llvm::Module &m) {
    for (auto *i : instructionsOf<llvm::IntrinsicInst>(m)) {
      if (i->getIntrinsicID() != llvm::Intrinsic::nvvm_shfl_sync_bfly_i32)
        continue;
      llvm::IRBuilder<> b(i);
      llvm::Value *thread =
          b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
      llvm::Value *half =
          b.CreateICmpULT(b.CreateURem(thread, b.getInt32(32)), b.getInt32(16));
      llvm::Instruction *then = llvm::SplitBlockAndInsertIfThen(half, i, false);
      auto *inner = i->clone();
      inner->insertBefore(then->getIterator());
      i->replaceAllUsesWith(i->getArgOperand(1));
      i->eraseFromParent();
      return;
    }
  });
  EXPECT_TRUE(has(ran.fault, "divergence: a thread waits at shuffle"))
      << ran.fault;
}

} // namespace
