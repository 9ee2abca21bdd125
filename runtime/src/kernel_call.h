/*===- kernel_call.h - What describes a call of a custom kernel ---- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Generated code hands a constant to ft_rt_call_kernel (abi.h) for each call of
 * a custom operator's kernel: words of 64 bits, then texts. Written by
 * compiler/lower/KernelCalls.cpp, read by kernel.c.
 *
 *   FT_KC_HEAD words      see below
 *   for each tensor       dtype, copy_from, output, room, ndim, ndim sizes,
 *                         ndim strides
 *   for each item         kind, value, count
 *   texts                 each ends with a zero byte
 *
 * Tensors are the operands, then the new values of written arguments, then the
 * other results; a written argument stands in the memory of its new value,
 * which starts as a copy of tensor `copy_from` (-1: of none). A result with a
 * size that its kernel has to find (-1) is output `output` of the model (-1:
 * none), and has the order of its dims in memory instead of strides. `room` is
 * how many bytes there are from where a tensor starts, -1 where nobody asked
 * for this to be checked. Items are the arguments in the order of the schema,
 * then the elements of lists.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNEL_CALL_H
#define FORETRACE_RUNTIME_KERNEL_CALL_H

enum {
  FT_KC_OP = 0,  /* the operator's name: bytes from the start */
  FT_KC_TENSORS, /* their number, at most FT_KC_MOST_TENSORS */
  FT_KC_RESULTS, /* how many of them, at the end, the kernel sees as results */
  FT_KC_ARGS,    /* the number of arguments */
  FT_KC_ITEMS,   /* arguments and elements, at most FT_KC_MOST_ITEMS */
  FT_KC_SIZES,   /* the tensor (int64) that gets the sizes of results to find,
                    one after the other, or -1; it is none of the results */
  FT_KC_FOUND,   /* words for the sizes and strides of results to find */
  FT_KC_HEAD
};

/* They stand on the caller's stack: 88 KiB together. */
#define FT_KC_MOST_TENSORS 1024
#define FT_KC_MOST_ITEMS 1536

/* A dtype as a word: code | bits << 8. A device: type | index << 8. The value
 * of an item: the integer, the bits of the float, the text in bytes from the
 * start, the tensor, the first element of a list. */

#endif /* FORETRACE_RUNTIME_KERNEL_CALL_H */
