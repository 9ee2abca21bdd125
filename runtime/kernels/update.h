/*===- update.h - Folding values into a tensor at indices ----------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Words that lowering (compiler/lower/rules/Updates.cpp) gives the kernel.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNELS_UPDATE_H
#define FORETRACE_RUNTIME_KERNELS_UPDATE_H

/* What becomes of an element and a value. Maximum and minimum: NaN wins. */
enum {
  FT_UPDATE_ASSIGN,
  FT_UPDATE_ADD,
  FT_UPDATE_MULTIPLY,
  FT_UPDATE_MAXIMUM,
  FT_UPDATE_MINIMUM
};

enum {
  FT_UPDATE_INITIAL = 1, /* the first tensor is what the result starts as */
  FT_UPDATE_MASK = 2,    /* a mask follows the values */
  FT_UPDATE_WRAP = 4,    /* negative indices count from the end */
  FT_UPDATE_SKIP = 8,    /* updates at index `skip` do nothing */
  FT_UPDATE_OWN = 16     /* the loops are the sizes of the first index */
};

#endif /* FORETRACE_RUNTIME_KERNELS_UPDATE_H */
