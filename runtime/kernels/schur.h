/*===- schur.h - Schur forms of Hessenberg matrices ----------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * H = Z T Z^H, T in place of H (n × n, column-major), rotations and reflectors
 * multiplied onto z; only rows lo … hi are not triangular yet. 0, or how many
 * eigenvalues did not converge.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNELS_SCHUR_H
#define FORETRACE_RUNTIME_KERNELS_SCHUR_H

#include "runtime/kernels/matrices.h"

/* T has blocks of two on its diagonal, for conjugate eigenvalues. */
int64_t ft_schur_d(int64_t n, int64_t lo, int64_t hi, double *h, double *z);
int64_t ft_schur_z(int64_t n, int64_t lo, int64_t hi, ft_c128 *h, ft_c128 *z);

#endif /* FORETRACE_RUNTIME_KERNELS_SCHUR_H */
