/*===- foretrace/kernel.h - C kernels of custom operators ----------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A custom operator is computed by one C function, which is linked into every
 * model that calls it:
 *
 *   // demo::scale(Tensor x, float factor=1.0) -> Tensor
 *   int32_t demo_scale(const ft_kernel_call *call) {
 *     const DLTensor *x = call->args[0].tensor;
 *     DLTensor *y = call->result(call, 0, x->dtype, x->ndim, x->shape);
 *     if (!y)
 *       return FT_ERROR_TENSOR;            // `result` said why
 *     for (int64_t i = 0; i < ft_kernel_numel(x); ++i)
 *       ((float *)y->data)[i] = (float)call->args[1].real * ((float
 * *)x->data)[i]; return FT_OK;
 *   }
 *
 * Rules:
 *  - Tensors are the caller's; nothing of a call may be kept. Calls may run
 *    concurrently. A kernel writes its results, and arguments that the schema
 *    marks as written, nothing else. Results start as zeros, so that a kernel
 *    that forgets elements gives the same each time.
 *  - A tensor's sizes are those of the program. Its strides are the annotated
 *    ones if these are dense (no gaps, no overlap: row-major, transposed,
 *    channels-last), otherwise row-major. An operator registered with
 *    FT_OP_CONTIGUOUS sees all tensors row-major. The stride of a dim of one
 *    element is arbitrary. `strides` is never NULL, `byte_offset` is 0; data is
 *    aligned to its element.
 *  - A kernel is linked into the model without a C library of its own: it may
 *    call what the model may (runtime/src/imports.def: memory, strings, the
 *    functions of <math.h>), and other functions of its own files.
 *  - It returns FT_OK, or fails with `call->fail`; it never aborts or throws.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_KERNEL_H
#define FORETRACE_KERNEL_H

#include "foretrace/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an argument is. */
enum {
  FT_ARG_NONE = 0,   /* an optional argument that is absent */
  FT_ARG_TENSOR = 1, /* tensor */
  FT_ARG_INT = 2,    /* integer */
  FT_ARG_FLOAT = 3,  /* real */
  FT_ARG_BOOL = 4,   /* integer: 0 or 1 */
  FT_ARG_STRING = 5, /* text; also layouts and memory formats */
  FT_ARG_DTYPE = 6,  /* dtype */
  FT_ARG_DEVICE = 7, /* device */
  FT_ARG_LIST = 8    /* list, count */
};

/* One argument; defaults of the schema are filled in. An `int` argument is
 * always FT_ARG_INT, a `float` always FT_ARG_FLOAT, whatever the program
 * wrote; a `Scalar` is as written. */
typedef struct ft_kernel_arg {
  int32_t kind;  /* FT_ARG_* */
  int32_t count; /* of the list */
  union {
    DLTensor *tensor; /* written only if the schema says so */
    int64_t integer;
    double real;
    const char *text;
    DLDataType dtype;
    DLDevice device;
    const struct ft_kernel_arg *list;
  };
} ft_kernel_arg;

typedef struct ft_kernel_call ft_kernel_call;
struct ft_kernel_call {
  size_t struct_size;
  const char *op; /* "demo::scale" */
  int32_t num_args;
  int32_t num_results;
  /* In the order of the schema. */
  const ft_kernel_arg *args;
  /* The results in the order of the schema, without those that are written
   * arguments. NULL in a learning run, where only `result` knows them. */
  DLTensor *results;
  void *host;

  /* Result `index` for writing, after a comparison with what the kernel is
   * about to write: in a compiled model `dtype` and `sizes` must be those that
   * the fake rule gave, in a learning run they make the result. A size that the
   * fake rule left to the data is -1 in `results` until then, and `data` NULL;
   * the strides are then those of the caller's memory. NULL after a failure,
   * which is recorded. */
  DLTensor *(*result)(const ft_kernel_call *call, int32_t index,
                      DLDataType dtype, int32_t ndim, const int64_t *sizes);

  /* Says why the call fails: a code (FT_ERROR_*) and one sentence, lower case,
   * without a final dot. Returns `code`; of one that is no FT_ERROR_ value,
   * which the message then names, FT_ERROR_ARGUMENT. */
  int32_t (*fail)(const ft_kernel_call *call, int32_t code,
                  const char *message);

  /* Runs body over [0, n) in pieces of at least `grain`, on the threads of the
   * model's call; all are done when it returns. */
  void (*parallel_for)(const ft_kernel_call *call,
                       void (*body)(void *args, int64_t lo, int64_t hi),
                       void *args, int64_t n, int64_t grain);

  /* For kernels that draw numbers: the seed of the instance, and a number that
   * each kernel of each of its calls sees once. A generator started from both
   * gives numbers that a program can draw again (ft_load_options.seed). */
  uint64_t seed;
  uint64_t offset;
};

/* A kernel: FT_OK, or what `fail` returned. */
typedef int32_t (*ft_kernel_fn)(const ft_kernel_call *call);

/* The number of elements. */
static inline int64_t ft_kernel_numel(const DLTensor *t) {
  int64_t n = 1;
  for (int32_t d = 0; d < t->ndim; ++d)
    n *= t->shape[d];
  return n;
}

#ifdef __cplusplus
}
#endif

#endif /* FORETRACE_KERNEL_H */
