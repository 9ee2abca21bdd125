/*===- reflectors.c - Householder reflectors ------------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/reflectors.h"

#define FT_COMPLEX 0
#include "runtime/kernels/reflectors.inc"
#undef FT_COMPLEX
#define FT_COMPLEX 1
#include "runtime/kernels/reflectors.inc"
