//===- PoolTest.cpp - Parallel loops ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/runtime.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

extern "C" void ft_pool_run_here(int32_t threads, ft_parallel_body body,
                                 void *args, int64_t n, int64_t grain);

namespace {

struct Counts {
  std::vector<int> visits;
  int64_t grain = 1;
  std::atomic<bool> smallPiece = false;
};

void visit(void *args, int64_t lo, int64_t hi) {
  auto *counts = static_cast<Counts *>(args);
  int64_t n = static_cast<int64_t>(counts->visits.size());
  if (hi - lo < counts->grain && hi != n)
    counts->smallPiece = true;
  for (int64_t i = lo; i < hi; ++i)
    ++counts->visits[static_cast<size_t>(i)];
}

TEST(Pool, EveryIndexOnce) {
  for (int32_t threads : {1, 2, 3, 8})
    for (int64_t n : {0, 1, 2, 7, 100, 1001})
      for (int64_t grain : {1, 3, 64}) {
        Counts counts;
        counts.visits.resize(static_cast<size_t>(n));
        counts.grain = grain;
        ft_pool_run_here(threads, visit, &counts, n, grain);
        EXPECT_EQ(counts.visits, std::vector<int>(static_cast<size_t>(n), 1))
            << threads << " threads, n " << n << ", grain " << grain;
        EXPECT_FALSE(counts.smallPiece);
      }
}

TEST(Pool, ManyLoopsFromManyThreads) {
  auto work = [] {
    for (int n = 0; n < 2000; ++n) {
      Counts counts;
      counts.visits.resize(50);
      ft_pool_run_here(3, visit, &counts, 50, 1);
      EXPECT_EQ(counts.visits, std::vector<int>(50, 1));
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int i = 0; i < 3; ++i)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Pool, NestedLoopsRunOnTheSameThread) {
  std::atomic<int64_t> total = 0;
  ft_pool_run_here(
      3,
      [](void *args, int64_t lo, int64_t hi) {
        for (int64_t i = lo; i < hi; ++i)
          ft_pool_run_here(
              3,
              [](void *inner, int64_t from, int64_t to) {
                *static_cast<std::atomic<int64_t> *>(inner) += to - from;
              },
              args, 10, 1);
      },
      &total, 20, 1);
  EXPECT_EQ(total, 200);
}

} // namespace
