/*===- scratch.h - The scratch memory of the kernels ------ C11 and C++ --===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels allocate nothing: their last result is scratch memory of the arena,
 * [pieces, bytes of a piece]. How many bytes the work on one matrix needs is
 * said here, for the compiler, which plans them, and for the kernel, which
 * compares. `unit` is 8 for real elements, 16 for complex ones. The compiler
 * reads the sizes of matrices as expressions over sizes of the run: it says
 * what FT_SIZE and its operations are (compiler/lower/rules/Scratch.h).
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNELS_SCRATCH_H
#define FORETRACE_RUNTIME_KERNELS_SCRATCH_H

#include <stdint.h>

#ifndef FT_SIZE
#define FT_SIZE int64_t
#define FT_SIZE_QUOTIENT(a, b) ((a) / (b))
#define FT_SIZE_LARGER(a, b) ((a) > (b) ? (a) : (b))
#define FT_SIZE_SMALLER(a, b) ((a) > (b) ? (b) : (a))
#endif

/* Room for `buffers` blocks of `elements` together: each starts at 64. */
static inline FT_SIZE ft_scratch_of(int64_t unit, FT_SIZE elements,
                                    int64_t buffers) {
  return FT_SIZE_QUOTIENT(unit * elements + 64 * buffers + 63, 64) * 64;
}

/* LU of an m × n matrix, and its use on `rhs` columns. */
static inline FT_SIZE ft_scratch_lu(int64_t unit, FT_SIZE m, FT_SIZE n,
                                    FT_SIZE rhs) {
  return ft_scratch_of(unit, 2 * m * n + m * rhs + m + n, 4);
}

/* A triangular n × n system with `rhs` columns. */
static inline FT_SIZE ft_scratch_triangular(int64_t unit, FT_SIZE n,
                                            FT_SIZE rhs) {
  return ft_scratch_of(unit, n * n + n * rhs, 2);
}

/* LDL of n × n, and its use on `rhs` columns. */
static inline FT_SIZE ft_scratch_ldl(int64_t unit, FT_SIZE n, FT_SIZE rhs) {
  return ft_scratch_of(unit, n * n + n * rhs + n, 3);
}

/* Cholesky of n × n, and its use on `rhs` columns. */
static inline FT_SIZE ft_scratch_cholesky(int64_t unit, FT_SIZE n,
                                          FT_SIZE rhs) {
  return ft_scratch_of(unit, 2 * n * n + n * rhs, 3);
}

/* QR of m × n, and a block of m × `other`. */
static inline FT_SIZE ft_scratch_qr(int64_t unit, FT_SIZE m, FT_SIZE n,
                                    FT_SIZE other) {
  return ft_scratch_of(unit, m * n + m + n + m * other, 3);
}

/* Eigenvalues of n × n, Hermitian. */
static inline FT_SIZE ft_scratch_eigh(int64_t unit, FT_SIZE n) {
  return ft_scratch_of(unit, 2 * n * n + 4 * n, 6);
}

/* Singular values of m × n, with all vectors. */
static inline FT_SIZE ft_scratch_svd(int64_t unit, FT_SIZE m, FT_SIZE n) {
  FT_SIZE tall = FT_SIZE_LARGER(m, n), small = FT_SIZE_SMALLER(m, n);
  return ft_scratch_of(
      unit, tall * small + 2 * small * small + tall * tall + tall + 4 * small,
      9);
}

/* Eigenvalues of any n × n, in complex numbers. */
static inline FT_SIZE ft_scratch_eig(FT_SIZE n) {
  return ft_scratch_of(16, 5 * n * n + 8 * n, 12);
}

/* The exponential of n × n. */
static inline FT_SIZE ft_scratch_matrix_exp(int64_t unit, FT_SIZE n) {
  return ft_scratch_of(unit, 7 * n * n + n, 8);
}

/* Prime factors of a transform that are done by sums. */
enum { FT_FFT_LARGEST = 61 };

/* `n` without its factors of up to `largest`. */
static inline int64_t ft_fft_without(int64_t n, int64_t largest) {
  for (int64_t p = 2; p <= largest; ++p)
    while (n > 0 && n % p == 0)
      n /= p;
  return n;
}

/* The length of the convolution that a transform of n points becomes: at least
 * 2 n - 1, without factors above 5. 0 if it stays a transform. */
static inline int64_t ft_fft_convolution(int64_t n) {
  int64_t length = 2 * n - 1;
  if (ft_fft_without(n, FT_FFT_LARGEST) <= 1)
    return 0;
  while (ft_fft_without(length, 5) != 1)
    ++length;
  return length;
}

/* A transform of n points: roots, two buffers; for a convolution of `length`
 * the chirp and its transform. */
static inline FT_SIZE ft_scratch_convolution(FT_SIZE n, FT_SIZE length) {
  return ft_scratch_of(16, 4 * length + n, 5);
}
static inline FT_SIZE ft_scratch_fft(int64_t n) {
  int64_t length = ft_fft_convolution(n);
  return length ? ft_scratch_convolution(n, length)
                : ft_scratch_of(16, 3 * n, 3);
}
/* The same of points that are counted in the run: no convolution is longer than
 * the power of two behind 2 n - 1. */
static inline FT_SIZE ft_scratch_any_fft(FT_SIZE n) {
  return ft_scratch_convolution(n, 4 * n);
}

/* Distinct values among `n` things of `width` elements each. */
static inline FT_SIZE ft_scratch_unique(FT_SIZE n, FT_SIZE width) {
  return ft_scratch_of(8, n * width + 4 * n, 1);
}

/* Sorting n elements: two lists of keys with places. */
static inline FT_SIZE ft_scratch_sort(FT_SIZE n) {
  return ft_scratch_of(16, 2 * n, 2);
}

/* The positions that `masks` masks of `elements` elements in all select, one
 * list for each dim. */
static inline FT_SIZE ft_scratch_index(FT_SIZE elements_by_dims) {
  return ft_scratch_of(8, elements_by_dims, 1);
}

#endif /* FORETRACE_RUNTIME_KERNELS_SCRATCH_H */
