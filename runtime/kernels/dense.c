/*===- dense.c - Products, triangular systems, LU ------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/dense.h"

#define FT_COMPLEX 0
#include "runtime/kernels/dense.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/dense.inc"
