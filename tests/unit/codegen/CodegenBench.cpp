//===- CodegenBench.cpp - GF/s of contraction kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Not a test: prints the best rate of each shape on this machine, one thread.
// Usage: ft-codegen-bench [substring of a name] [file for the last object]

#include "ContractionText.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <immintrin.h>
#include <sys/mman.h>

using namespace ft::test;

namespace {

/// Time of this thread alone: the machine may be busy.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

/// FMA rate of registers alone, to compare with.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) double peak() {
  __m512 a[12], x = _mm512_set1_ps(1.0f), y = _mm512_set1_ps(1e-6f);
  for (auto &v : a)
    v = _mm512_setzero_ps();
  double best = 0;
  for (int round = 0; round < 20; ++round) {
    double t = now();
    for (int i = 0; i < 20000; ++i)
      for (auto &v : a)
        v = _mm512_fmadd_ps(x, y, v);
    t = now() - t;
    best = std::max(best, 20000.0 * 12 * 32 / t * 1e-9);
  }
  float sum = 0;
  for (auto &v : a)
    sum += _mm512_reduce_add_ps(v);
  volatile float sink = sum;
  (void)sink;
  return best;
}
#endif

/// Numbers on large pages where the system has them, as the arena is.
struct Floats {
  Floats(size_t n, float x) : bytes((n * 4 / kPage + 1) * kPage) {
    data = static_cast<float *>(aligned_alloc(kPage, bytes));
    madvise(data, bytes, MADV_HUGEPAGE);
    std::fill(data, data + n, x);
  }
  ~Floats() { free(data); }
  static constexpr size_t kPage = 2 << 20;
  size_t bytes;
  float *data;
};

const char *objectFile = nullptr;

void bench(const char *filter, const char *name, const ContractionText &text,
           double flops, size_t aN, size_t bN, size_t cN, size_t biasN) {
  if (filter && !strstr(name, filter))
    return;
  double t0 = now();
  CompiledKernels k(text.module());
  double compile = now() - t0;
  if (!k.error.empty()) {
    printf("%-28s %s\n", name, k.error.c_str());
    return;
  }
  if (objectFile) {
    FILE *f = fopen(objectFile, "wb");
    if (!f)
      return;
    fwrite(k.object.data(), 1, k.object.size(), f);
    fclose(f);
  }
  Floats a(aN, 0.5f), b(bN, 0.25f), c(cN, 0), bias(biasN, 1.0f);
  std::vector<void *> args = {a.data, b.data};
  if (biasN)
    args.push_back(bias.data);
  args.push_back(c.data);
  double best = 1e9, end = now() + 0.4;
  for (int i = 0; i < 3 || now() < end; ++i) {
    double t = now();
    k.run(args);
    best = std::min(best, now() - t);
  }
  printf("%-28s %8.1f GF/s %10.1f us   compile %5.1f ms  %zu bytes\n", name,
         flops / best * 1e-9, best * 1e6, compile * 1e3, k.object.size());
  fflush(stdout);
}

void matmul(const char *filter, int64_t m, int64_t n, int64_t k, int64_t panel,
            const char *epilogue = "") {
  ContractionText t = matmulText(m, n, k, panel);
  std::string name = llvm::formatv("{0}x{1}x{2} {3} {4}", m, n, k,
                                   panel > 0 ? "packed"
                                   : panel   ? "B transposed"
                                             : "B row-major",
                                   epilogue);
  size_t biasN = 0;
  if (*epilogue) {
    t.bias = std::to_string(n) + "xf32";
    t.epilogue = epilogue;
    biasN = n;
  }
  bench(filter, name.c_str(), t, 2.0 * m * n * k, m * k, (n + 31) / 32 * 32 * k,
        m * n, biasN);
}

void conv(const char *filter, int64_t ohw, int64_t f, int64_t kk, int64_t c,
          int64_t stride) {
  ContractionText t = convText(1, ohw, ohw, f, kk, kk, c, stride, 32);
  int64_t in = (ohw - 1) * stride + kk;
  std::string name =
      llvm::formatv("conv {0}^2 f{1} k{2} c{3} s{4}", ohw, f, kk, c, stride);
  bench(filter, name.c_str(), t, 2.0 * ohw * ohw * f * kk * kk * c, in * in * c,
        (f + 31) / 32 * 32 * kk * kk * c, ohw * ohw * f, 0);
}

} // namespace

int main(int argc, char **argv) {
  const char *f = argc > 1 && *argv[1] ? argv[1] : nullptr;
  objectFile = argc > 2 ? argv[2] : nullptr;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    printf("FMA peak of one core: %.1f GF/s\n", peak());
#endif
  for (int64_t m : {128, 197, 512, 16, 1}) {
    matmul(f, m, 768, 768, 32, "bias");
    matmul(f, m, 3072, 768, 32, "gelu");
    matmul(f, m, 768, 3072, 32, "bias");
  }
  matmul(f, 512, 512, 512, 32);
  matmul(f, 1024, 1024, 1024, 32);
  matmul(f, 512, 512, 512, 0);
  matmul(f, 128, 64, 128, 0);
  matmul(f, 512, 512, 512, -1);
  matmul(f, 128, 128, 64, -1);
  matmul(f, 1, 768, 768, -1);
  matmul(f, 1, 1000, 512, 32, "bias");
  conv(f, 112, 64, 7, 3, 2);
  conv(f, 56, 64, 3, 64, 1);
  conv(f, 28, 128, 3, 64, 2);
  conv(f, 28, 128, 3, 128, 1);
  conv(f, 28, 128, 1, 64, 2);
  conv(f, 14, 256, 3, 256, 1);
  conv(f, 7, 512, 3, 512, 1);
  return 0;
}
