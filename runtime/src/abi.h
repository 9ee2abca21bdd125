/*===- abi.h - Between generated code and the runtime --------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A model.so is linked from three parts: the generated code (`ft_gen_*`), the
 * descriptor (`ft_gen_desc`, made by compiler/emit), and this runtime
 * (`ft_rt_*`). All three come from one build of the compiler, so nothing here
 * needs to stay compatible; runtime.h does.
 *
 * What generated code may rely on:
 *  - `inputs` and `outputs` are in the traced (annotated) strides, aligned to
 *    their element's size and not more. No output overlaps an input or another
 *    output. Where sizes are symbols, the strides are those that ft_gen_sizes
 *    worked out for this call.
 *  - `arena`, `weights` and `state` start at a multiple of 64 bytes. The
 *    arena's contents are arbitrary.
 *  - `sizes` holds the value of each symbol of ft_model_info.symbols, 0 for
 *    those that the data decide (generated code may set these). It is NULL if
 *    there are none.
 *  - Only one call at a time runs on an instance whose `state_bytes` is not 0.
 * What it must do: write nothing but outputs, arena, state, and inputs that
 * are flagged FT_VALUE_WRITTEN; call nothing but the functions below, other
 * `ft_rt_*` kernels of this folder, the kernels of custom operators, and the
 * libc and libm functions that imports.def lists.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_ABI_H
#define FORETRACE_RUNTIME_ABI_H

#include "foretrace/kernel.h"
#include "foretrace/runtime.h"

/* One call of `forward`. Opaque to generated code. */
typedef struct ft_exec ft_exec;

/* Where a parameter or buffer lives; byte offsets, -1: nowhere. A value that
 * `forward` writes has both: its start in the weights and its place in the
 * instance's state block. */
typedef struct ft_state_place {
  int64_t weights_offset;
  int64_t state_offset;
} ft_state_place;

/* The first bytes of NAME.weights, little endian; the data follows at
 * FT_WEIGHTS_DATA, laid out as the compiler planned. */
#define FT_WEIGHTS_MAGIC "FTWEIGHT"
#define FT_WEIGHTS_VERSION 1
#define FT_WEIGHTS_DATA 4096
typedef struct ft_weights_header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes; /* sizeof(ft_weights_header) */
  uint64_t data_bytes;   /* of the data, which ends the file */
  uint64_t data_hash;    /* ft_hash of the data */
  char compile_id[32];   /* hex digits, no terminator */
  uint64_t header_hash;  /* ft_hash of all the above */
} ft_weights_header;

/* The kernels of a model whose values live on a GPU. */
typedef struct ft_cuda_desc {
  const void *ptx;   /* ends with a 0 */
  const void *cubin; /* the same for GPUs of sm's generation, or NULL */
  const char *const *kernels; /* [num_kernels] names */
  int32_t num_kernels;
  int32_t threads; /* of a block */
  int32_t device;  /* cuda:N */
  int32_t sm;      /* 90: the least that the image runs on */
  int32_t exact;   /* and the only one */
  int32_t mixed;   /* some values are on the CPU, which has an arena, too */
} ft_cuda_desc;

typedef struct ft_model_desc {
  ft_model_info info;
  const uint8_t *inline_weights; /* NULL: in NAME.weights */
  uint64_t weights_data_hash;
  uint64_t weights_header_hash;       /* of the external file */
  const ft_state_place *state_places; /* [info.num_state] */
  const uint16_t *features;           /* rows of cpu_features.def */
  uint32_t num_features;
  /* ft_gen_sizes; NULL if the model has no symbols. */
  int (*sizes)(ft_exec *exec, const int64_t *sizes, int64_t *layout);
  /* ft_gen_forward; NULL if the model is trained, and has programs. */
  int (*forward)(ft_exec *exec, void *const *inputs, void *const *outputs,
                 unsigned char *arena, const unsigned char *weights,
                 unsigned char *state, int64_t *sizes);
  uint64_t weights_base; /* of a program: where its own start in the weights */
  const struct ft_training_desc *training; /* NULL: compiled for inference */
  const ft_cuda_desc *cuda;                /* NULL: a model for the CPU */
} ft_model_desc;

/* What a tensor of a program is to the user: one of the model's inputs,
 * outputs or states (parameters and buffers), the tangent of an output or of
 * what forward left in an input, the gradient of a state or of an input, a
 * value that forward saves for backward, a tensor of the optimizer's state, or
 * the hyperparameter of that number in hyperparameters.def. */
enum {
  FT_PLACE_INPUT = 0,
  FT_PLACE_OUTPUT = 1,
  FT_PLACE_STATE = 2,
  FT_PLACE_TANGENT = 3,
  FT_PLACE_GRADIENT = 4,
  FT_PLACE_SAVED = 5,
  FT_PLACE_INPUT_GRADIENT = 6,
  FT_PLACE_OPTIMIZER = 7,
  FT_PLACE_HYPERPARAMETER = 8,
  FT_PLACE_INPUT_TANGENT = 9
};
/* A flag of ft_value_info, of programs only: a saved value in the arena, which
 * forward leaves to backward. Its pointer in inputs and outputs is not read. */
enum { FT_VALUE_IN_ARENA = 1 << 16 };

typedef struct ft_place {
  int32_t kind;
  int32_t index;
} ft_place;

/* A program of a model that is trained. Its description names all it takes and
 * gives, parameters too, and it has neither state nor guards of its own. */
typedef struct ft_program_desc {
  ft_model_desc desc;
  const ft_place *inputs;  /* [desc.info.num_inputs] */
  const ft_place *outputs; /* [desc.info.num_outputs] */
} ft_program_desc;

enum {
#define FT_HYPER_REAL(field) FT_HYPER_##field,
#define FT_HYPER_FLAG(field) FT_HYPER_##field,
#include "hyperparameters.def"
  FT_NUM_HYPERPARAMETERS
};

enum { FT_TRAIN_PROGRAMS = 3 };
typedef struct ft_training_desc {
  /* Forward, backward, update; the last is NULL without an optimizer. */
  const ft_program_desc *programs[FT_TRAIN_PROGRAMS];
  int32_t num_saved;
  int32_t reserved;
} ft_training_desc;

/*===- Defined by the compiler --------------------------------------------===*/

extern const ft_model_desc ft_gen_desc;

/* The model: 0, or a code that was also given to ft_rt_fail*. A model that is
 * trained has one such function for each program, ft_gen_forward and
 * ft_gen_backward, and for symbols ft_gen_sizes and ft_gen_backward_sizes. */
int ft_gen_forward(ft_exec *exec, void *const *inputs, void *const *outputs,
                   unsigned char *arena, const unsigned char *weights,
                   unsigned char *state, int64_t *sizes);

/* In models with symbols only. Given the value of each symbol (within its
 * range; 0 for those that the data decide):
 *  1. checks what the model asks of them besides (a failure is
 *     FT_ERROR_GUARD, with a sentence in the user's own dim names; the runtime
 *     adds their values to it). That two dims are equal need not be checked:
 *     the runtime compares every dim with `layout`.
 *  2. fills `layout`: for each input its sizes, then its annotated strides; for
 *     each output likewise, -1 for what only the data decide; last the bytes
 *     of the arena. Sums and products that 64 bits cannot hold must come out
 *     as INT64_MAX or end in FT_ERROR_MEMORY, never wrapped: the runtime
 *     refuses what is too large, but cannot see what wrapped.
 * 0, or a code that was also given to ft_rt_fail. Must not touch memory beside
 * `layout`: it also runs for queries, when there is no data. */
int ft_gen_sizes(ft_exec *exec, const int64_t *sizes, int64_t *layout);

/*===- Called by generated code -------------------------------------------===*/

/* Runs body over [0, n) in pieces of at least `grain` (>= 1); all pieces are
 * done when it returns. A nested call, and one that finds the pool busy with
 * another call's loop, run on the calling thread. */
void ft_rt_parallel_for(ft_exec *exec,
                        void (*body)(void *args, int64_t lo, int64_t hi),
                        void *args, int64_t n, int64_t grain);

/* Records why the call fails; the first reason of a call stays. May be called
 * from inside a parallel body, which then just returns: the call fails even
 * if ft_gen_forward returns 0. Returns `code` (FT_ERROR_*). */
int ft_rt_fail(ft_exec *exec, int code, const char *message);

/* The same for an index: `where: index 7 is out of range for size 5`. */
int ft_rt_fail_index(ft_exec *exec, const char *where, int64_t index,
                     int64_t size);

/* For --check-accesses, and called by a kernel, which knows no call: an access
 * `at` bytes into memory of `limit` bytes did not happen. The next call of the
 * model that ends, in any thread, fails with it. */
void ft_rt_fail_access(const char *access, int64_t at, int64_t limit);

/* The same for --sanitize undefined: a sentence that says what and where. */
void ft_rt_fail_undefined(const char *what);

/* For code compiled with --sanitize address. The arena is closed to it but for
 * what a step opens: the tensors that it is given. ft_rt_close_gap closes what
 * belongs to no tensor, for good; it ends on a multiple of 8. */
void ft_rt_open(const void *start, int64_t bytes);
void ft_rt_close(const void *start, int64_t bytes);
void ft_rt_close_gap(const void *start, int64_t bytes);

/* Calls the kernel of a custom operator on tensors that `words` describes
 * (kernel_call.h) and whose elements start at data[i]. `words` may stand on
 * the caller's stack, its sizes and strides worked out by the call: it is read
 * until this function returns. On return data[i] of a result that the kernel
 * found is where its elements are. FT_OK, or the code of a failure that is
 * recorded. */
int ft_rt_call_kernel(ft_exec *exec, ft_kernel_fn kernel, const int64_t *words,
                      void **data);

/* Memory for output `index`, whose sizes the call has found, in these strides
 * (in elements, without gaps that matter: all of it may be written): the
 * caller's own memory, or what is copied there when the call ends. Aligned to
 * the element's size. Once for each output. NULL: the failure is recorded
 * (memory of the caller that is too small, sizes that are negative or too
 * large, no memory). An output without elements gets memory too. */
void *ft_rt_output(ft_exec *exec, int32_t index, const int64_t *sizes,
                   const int64_t *strides);

/* Memory until the call ends, at a multiple of 64 bytes, for values whose sizes
 * the call finds. Not from inside a parallel body. NULL: the failure is
 * recorded (also for a negative number of bytes). */
void *ft_rt_temporary(ft_exec *exec, int64_t bytes);

/* The temporary memory that there is, and an end to what came after it: for
 * what one iteration of a loop needs. */
void *ft_rt_mark(ft_exec *exec);
void ft_rt_release(ft_exec *exec, void *mark);

/*===- In models for a GPU ------------------------------------------------===*/
/* There, `arena`, `weights`, `inputs` and `outputs` are memory of the device,
 * which ft_gen_forward must not touch itself. */

/* Launches a kernel on that many blocks (0: nothing to do), behind all that was
 * launched before; parameters[i] is where parameter i stands, and is read
 * before this returns. A failure is recorded, and later launches are left
 * out. */
void ft_rt_cuda_launch(ft_exec *exec, int32_t kernel, int64_t blocks,
                       void **parameters);

/* Waits for all that was launched and reads up to 16 bytes. FT_OK, or the code
 * of a failure that is recorded; then *to is zero. */
int ft_rt_cuda_read(ft_exec *exec, const void *from, int64_t bytes, void *to);

/* Of a model with values on both devices: the arena and the weights that are on
 * the GPU. Those of the host are arguments of ft_gen_forward. */
unsigned char *ft_rt_cuda_arena(ft_exec *exec);
const unsigned char *ft_rt_cuda_weights(ft_exec *exec);

/* Copies between the devices, after all that was launched; what comes to the
 * host is there when this returns. FT_OK, or the code of a failure that is
 * recorded. */
int ft_rt_cuda_copy(ft_exec *exec, void *to, const void *from, int64_t bytes,
                    int32_t to_gpu);

#endif /* FORETRACE_RUNTIME_ABI_H */
