/*===- internal.h - What the runtime's files share ------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_INTERNAL_H
#define FORETRACE_RUNTIME_INTERNAL_H

#include "abi.h"
#include "foretrace/kernel.h"
#include "tensor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/*===- status.c -----------------------------------------------------------===*/

/* Functions that can fail return whether they did not, and describe the
 * failure in *status, which they leave alone otherwise: a status is 512 bytes,
 * too many to hand around in a call of a small model. */

void ft_set_ok(ft_status *status);
/* Returns false, for `return ft_fail(status, ...)`. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool ft_fail(ft_status *status, int code, const char *format, ...);
/* False, with the status set, if ft_rt_fail_access was called since. */
bool ft_check_accesses(ft_status *status);

struct ft_exec {
  int32_t threads;
  ft_parallel_for parallel_for;
  void *parallel_for_user;
  uint64_t seed;
  uint64_t offset; /* of the next kernel, see ft_call_offset */
  /* What the call was given, for outputs whose sizes it has to find. */
  struct ft_workspace *work; /* which this is part of */
  DLTensor *outputs;
  const ft_call_options *options;
  void *temporaries; /* a list of blocks; freed when the call ends */
  struct ft_device_call *device; /* of a model for a GPU, see cuda/device.h */
  atomic_int failed;
  ft_status status; /* of whoever set `failed` */
};

/*===- outputs.c ----------------------------------------------------------===*/

bool ft_spans_meet(const ft_span *a, const ft_span *b);
/* Sets what the model knows of an output; sizes that it does not are -1. */
void ft_describe_output(const ft_value_info *info, DLTensor *output);
/* Checks the tensor given for an output, or gets memory for it. */
bool ft_check_output(const ft_value_info *info, int32_t index, DLTensor *output,
                     const ft_call_options *options, ft_span *span,
                     ft_status *status);
/* What there is to check of an output that ft_is_found before the call. */
bool ft_check_found_output(const ft_value_info *info, const DLTensor *output,
                           ft_span *span, ft_status *status);
/* Memory for a result of which all but data and strides are set, from output
 * `index` (-1: the model does not return it). `order` says which dim each
 * position in memory holds, outermost first, where the model may choose.
 * Failures are recorded. `strides` has room for the rank. */
bool ft_find_output(ft_exec *exec, int32_t index, const int64_t *order,
                    DLTensor *result);

/*===- temporaries.c ------------------------------------------------------===*/

void ft_free_temporaries(ft_exec *exec);

/*===- sizes.c ------------------------------------------------------------===*/

/* Solves the sizes of a call from the shapes of its inputs, of which dtype,
 * device, rank and sizes are checked, and sets what depends on them in the
 * workspace: sizes, layouts, values, arena_needed. */
bool ft_size_call(struct ft_workspace *work, const DLTensor *inputs,
                  ft_status *status);
/* The same from the values of the symbols. */
bool ft_size_query(struct ft_workspace *work, const int64_t *values,
                   ft_status *status);
/* Adds the values of the sizes that the sentence of a guard names to it; of
 * those that the data decide if the program `ran`. */
void ft_tell_sizes(const struct ft_workspace *work, bool ran,
                   ft_status *status);

/*===- text.c: pieces of sentences ----------------------------------------===*/

/* A fixed buffer that texts are appended to; what does not fit is cut. */
typedef struct ft_text {
  char chars[512];
  size_t size;
} ft_text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void ft_text_add(ft_text *text, const char *format, ...);
void ft_text_add_dtype(ft_text *text, DLDataType dtype);           /* float32 */
void ft_text_add_device(ft_text *text, DLDevice device);           /* cuda:0 */
void ft_text_add_list(ft_text *text, const int64_t *v, int32_t n); /* [2, 3] */
/* The sizes of a value as the user named them: "[batch, 16]", followed by what
 * they are in this call: " = [2, 16]". */
void ft_text_add_dims(ft_text *text, const ft_value_info *info);

/*===- cpu.c --------------------------------------------------------------===*/

/* Does this CPU, and its operating system, have all that the model uses? */
bool ft_check_cpu(const ft_model_desc *desc, ft_status *status);
/* CPUs that this process may run on, at least 1. */
int32_t ft_count_cpus(void);

/*===- weights.c ----------------------------------------------------------===*/

typedef struct ft_weights {
  const uint8_t *data;
  void *mapping; /* NULL: inside the library */
  size_t mapping_bytes;
} ft_weights;

bool ft_weights_open(const ft_model_desc *desc, const char *path,
                     ft_weights *weights, ft_status *status);
bool ft_weights_verify(const ft_model_desc *desc, const ft_weights *weights,
                       ft_status *status);
void ft_weights_close(ft_weights *weights);

/*===- arena.c ------------------------------------------------------------===*/

/* The memory that values of a call live in. `filled`: forward has left saved
 * values there, so that it must be neither moved nor cleared. */
typedef struct ft_arena {
  uint8_t *data;
  size_t bytes;
  bool filled;
} ft_arena;

/* What one call works in; kept by the model for the next call. */
typedef struct ft_workspace {
  const ft_model_desc *desc; /* of the program that is called */
  ft_arena arena;
  size_t arena_needed; /* by this call */
  uint8_t *scratch;
  size_t scratch_bytes;
  void **inputs;
  void **outputs;
  ft_span *spans; /* inputs, then outputs */
  /* The inputs, then the outputs, with the layouts of this call: the model's
   * own where these are always the same, else those in `own`, whose sizes and
   * strides stand in `layout`. */
  const ft_value_info **values;
  ft_value_info *own;
  int64_t *layout;                 /* as ft_gen_sizes fills it */
  const int64_t *arena_word;       /* its end */
  int64_t *sizes;                  /* of the symbols; NULL: there are none */
  struct ft_device_memory *device; /* NULL: no call has needed any */
  struct ft_exec exec;
} ft_workspace;

enum { FT_KEPT_WORKSPACES = 16 };
typedef struct ft_workspace_cache {
  _Atomic(ft_workspace *) slots[FT_KEPT_WORKSPACES];
} ft_workspace_cache;

/* NULL: no memory. */
void *ft_alloc_block(size_t bytes);
void ft_free_block(void *block);
ft_workspace *ft_workspace_take(ft_workspace_cache *cache,
                                const ft_model_desc *desc, ft_status *status);
void ft_workspace_give(ft_workspace_cache *cache, ft_workspace *workspace);
void ft_workspace_clear(ft_workspace_cache *cache);
/* At least arena_needed bytes, or `bytes` of scratch, 64-byte aligned; NULL: no
 * memory, or an arena with saved values is smaller. */
uint8_t *ft_workspace_arena(ft_workspace *workspace);
uint8_t *ft_workspace_scratch(ft_workspace *workspace, size_t bytes);

/*===- pool.c -------------------------------------------------------------===*/

void ft_pool_run_here(int32_t threads, ft_parallel_body body, void *args,
                      int64_t n, int64_t grain);

/*===- model.c ------------------------------------------------------------===*/

struct ft_model {
  ft_weights weights;
  uint8_t *state; /* NULL: forward writes no buffer */
  pthread_mutex_t state_lock;
  int32_t threads;
  uint64_t seed;
  _Atomic(uint64_t) calls; /* that were started */
  ft_workspace_cache workspaces;
  /* Of a model that is trained: one for each of its programs, the memory of
   * saved values that no call has now, and the handles that the caller has. */
  ft_workspace_cache programs[FT_TRAIN_PROGRAMS];
  _Atomic(struct ft_saved *) kept;
  struct ft_saved *held;
  pthread_mutex_t held_lock;
  struct ft_device *device; /* made by the first call that needs it */
  pthread_mutex_t device_lock;
};

/* The offset of the first kernel of a call: calls are far enough apart for
 * 2^20 kernels each. Calls count from 1, so that 0 is no call's. */
static inline uint64_t ft_call_offset(uint64_t call_number) {
  return call_number << 20;
}

const ft_api *foretrace_model_v1(void);

/*===- options.c ----------------------------------------------------------===*/

/* Copies the caller's options, whose struct may be older (shorter) or newer
 * (longer) than ours; what this version does not know must be zero. NULL gives
 * zeros. `name` is the struct's, for messages. */
bool ft_read_options(const char *name, const void *from, void *to, size_t size,
                     ft_status *status);
/* The options of a call; NULL gives the defaults. */
bool ft_read_call_options(const char *call, const ft_call_options *given,
                          ft_call_options *options, ft_status *status);

/*===- program.c ----------------------------------------------------------===*/

/* Runs a program of the model on tensors in the order of its description, in
 * `arena`, which is made larger where that is allowed; NULL: in one of its
 * own. */
bool ft_run_program(ft_model *model, const ft_model_desc *desc,
                    ft_workspace_cache *cache, ft_arena *arena,
                    const DLTensor *inputs, DLTensor *outputs,
                    const ft_call_options *options, ft_status *status);

/*===- forward.c ----------------------------------------------------------===*/

ft_status ft_model_output_shapes(ft_model *model, const DLTensor *inputs,
                                 int32_t num_inputs, DLTensor *outputs,
                                 int32_t num_outputs);
ft_status ft_model_input_shapes(ft_model *model, const int64_t *values,
                                int32_t num_values, DLTensor *inputs,
                                int32_t num_inputs);
ft_status ft_model_forward(ft_model *model, const DLTensor *inputs,
                           int32_t num_inputs, DLTensor *outputs,
                           int32_t num_outputs, const ft_call_options *options);

/*===- train.c ------------------------------------------------------------===*/

ft_status ft_model_load_parameters(ft_model *model, DLTensor *state,
                                   int32_t num_state);
ft_status ft_model_train(ft_model *model, const ft_train_call *call);
void ft_model_release(ft_model *model, void *saved);
/* The inputs of the forward program as far as its sizes depend on them: the
 * user's, and tensors without data of the sizes of the state. The caller frees
 * it; NULL: no memory. */
DLTensor *ft_train_inputs(const ft_program_desc *program,
                          const DLTensor *inputs);
/* Frees what ft_model.kept and ft_model.held have. */
void ft_drop_saved(ft_model *model);

/*===- optimizer.c --------------------------------------------------------===*/

ft_status ft_model_init_optimizer(ft_model *model, DLTensor *optimizer,
                                  int32_t num_optimizer);
/* The hyperparameters of an update, checked; NULL gives the model's defaults,
 * which a model with an optimizer has. */
bool ft_read_hyperparameters(const ft_optimizer_options *given,
                             ft_optimizer_options *options, ft_status *status);

/*===- state.c ------------------------------------------------------------===*/

void ft_copy_initial_state(ft_model *model);
ft_status ft_model_read_state(ft_model *model, int32_t index, DLTensor *to);
ft_status ft_model_write_state(ft_model *model, int32_t index,
                               const DLTensor *from);
ft_status ft_model_reset_state(ft_model *model);

#endif /* FORETRACE_RUNTIME_INTERNAL_H */
