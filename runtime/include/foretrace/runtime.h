/*===- foretrace/runtime.h - Calling a compiled model --------------- C99 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The whole public interface of a compiled model, for C99 and C++. A model is
 * one shared library, NAME.so (with NAME.weights beside it when its weights
 * exceed 1 MiB), and NAME.h, which holds a copy of this text and typed
 * wrappers. There are two ways in; both give an `ft_api`, a table of
 * functions:
 *
 *   link NAME.so and call        const ft_api *NAME_api(void);
 *   dlopen any NAME.so, then     dlsym(handle, FT_API_SYMBOL), an ft_api_getter
 *
 *   ft_model *model;
 *   ft_status s = api->load(NULL, &model);
 *   if (s.code != FT_OK) { puts(s.message); ... }
 *   s = api->forward(model, inputs, 1, outputs, 1, NULL);
 *   api->unload(model);
 *
 * Rules that hold for every function:
 *  - It returns a status with a message, never aborts, never throws.
 *  - Tensors are DLPack's DLTensor, owned by the caller. A model keeps no
 *    pointer to one after the call returns.
 *  - Concurrent calls on one ft_model are safe, `unload` excepted. Calls of a
 *    model whose `forward` changes its buffers run one after the other.
 *  - Structs that may grow start with `size_t struct_size`; fields that the
 *    library does not know must be zero. Tables grow at the end only.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_H
#define FORETRACE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===- Tensors ------------------------------------------------------------===*/

/* The layout of DLPack, for programs that do not have its header. One that
 * does includes <dlpack/dlpack.h> before this file. */
#ifndef DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1, kDLCUDA = 2 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLComplex = 5
} DLDataTypeCode;
typedef struct {
  uint8_t code; /* DLDataTypeCode, or FT_DL_BOOL */
  uint8_t bits;
  uint16_t lanes; /* 1 */
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL: row-major without gaps */
  uint64_t byte_offset;
} DLTensor;
#endif /* DLPACK_DLPACK_H_ */

/* The type code of bool, with 8 bits: DLPack before 0.8 has no name for it. */
#define FT_DL_BOOL 6

/*===- Status -------------------------------------------------------------===*/

enum {
  FT_OK = 0,
  FT_ERROR_ARGUMENT = 1,    /* a call that breaks the rules of this file */
  FT_ERROR_TENSOR = 2,      /* a tensor of another dtype, rank, size, device */
  FT_ERROR_GUARD = 3,       /* sizes that break a guard of the model */
  FT_ERROR_INDEX = 4,       /* data out of range, such as a token id */
  FT_ERROR_UNSUPPORTED = 5, /* not in this artefact, such as training */
  FT_ERROR_CPU = 6,         /* built for another CPU */
  FT_ERROR_FILE = 7,        /* the weights are missing, damaged, or another's */
  FT_ERROR_MEMORY = 8,      /* no memory */
  FT_ERROR_ACCESS = 9,      /* code compiled with checks (--check-accesses,
                             * --sanitize undefined) did what it must not, such
                             * as to reach outside of its memory: a bug of the
                             * compiler */
  FT_ERROR_DEVICE = 10      /* no CUDA driver or GPU that the model can run on,
                             * or one that failed */
};

/* What every call returns. `message` is one sentence in the model's own names,
 * lower case, without a final dot; empty when code is FT_OK. */
typedef struct ft_status {
  int32_t code;
  char message[508];
} ft_status;

/*===- What a model says of itself ----------------------------------------===*/

/* The version of this file's ABI. Higher versions keep what lower ones had. */
#define FT_ABI_VERSION 4

/* Bits of ft_value_info.flags. */
enum {
  FT_VALUE_PARAMETER = 1, /* state: a parameter */
  FT_VALUE_BUFFER = 2,    /* state: a buffer */
  FT_VALUE_WRITTEN = 4,   /* state or input: `forward` writes it */
  FT_VALUE_PACKED = 8,    /* state: kept in another layout, cannot be read */
  FT_VALUE_GRADIENT = 16  /* state or input of a model that is trained: it
                             gets a gradient */
};

/* An input, an output, a parameter or a buffer. */
typedef struct ft_value_info {
  size_t struct_size;
  const char *name;
  DLDataType dtype;
  DLDevice device;
  int32_t ndim;
  uint32_t flags;
  const int64_t *sizes;    /* [ndim]; -1: not known before the call */
  const int64_t *strides;  /* [ndim], in elements; -1: as for sizes */
  const char *const *dims; /* [ndim]; sizes as text: "16", "batch", "2*s0" */
} ft_value_info;

/* A size that the run decides. It is read from dim `dim` of input `input`,
 * whose size is scale * symbol + offset; `input` is -1 for sizes that depend on
 * the data. */
typedef struct ft_symbol_info {
  size_t struct_size;
  const char *name;  /* in what the compiler prints: "s0" */
  const char *title; /* as the user calls it, and as `dims` say: "batch" */
  int64_t lower;     /* both included; INT64_MAX: no upper bound */
  int64_t upper;
  int64_t hint; /* that of the example the model was exported with */
  int32_t input;
  int32_t dim;
  int64_t scale;
  int64_t offset;
} ft_symbol_info;

/* A condition on the sizes of the inputs, checked by every call. */
typedef struct ft_guard_info {
  size_t struct_size;
  const char *text;   /* "batch <= 64" */
  const char *source; /* the line or option that asked for it */
} ft_guard_info;

/* The hyperparameters of an optimizer, as torch.optim defines them; those that
 * it does not have are not read. NAME_optimizer_options(), or
 * *ft_model_info.optimizer_defaults, has its defaults. */
typedef struct ft_optimizer_options {
  size_t struct_size;
  double lr;
  double momentum;     /* momentum */
  double dampening;    /* momentum */
  double weight_decay; /* all; adamw: decoupled from the gradient */
  double beta1;        /* adam, adamw */
  double beta2;        /* adam, adamw */
  double eps;          /* adam, adamw */
  int32_t nesterov;    /* momentum */
  int32_t maximize;    /* all */
} ft_optimizer_options;

/* Everything here lives as long as the library is loaded. */
typedef struct ft_model_info {
  size_t struct_size;
  uint32_t abi_version;
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t num_state;
  int32_t num_guards;
  int32_t reserved;
  const char *name;
  const char *compile_id; /* 32 hex digits: a hash of the content */
  const char *compiler;   /* "foretrace 0.1.0" */
  const char *target;     /* "cpu" */
  const char *cpu;        /* "x86-64-v4", "znver5": what it was built for */
  const char *features;   /* "avx2,fma,...": what this CPU must have */
  uint64_t weights_bytes; /* mapped read-only, shared by all instances */
  uint64_t state_bytes;   /* for each instance */
  uint64_t arena_bytes;   /* for each concurrent call; with symbols: of one
                             with the sizes of their hints */
  const ft_value_info *const *inputs;
  const ft_value_info *const *outputs;
  const ft_value_info *const *state; /* parameters and buffers, by index */
  const ft_guard_info *const *guards;
  /* Since ABI version 2. */
  int32_t num_symbols;
  int32_t num_optimizer; /* since ABI version 3 */
  const ft_symbol_info *const *symbols;
  /* Since ABI version 3, of a model compiled with --optimizer: its name
   * ("adam"; NULL: none), the tensors of its state, and its defaults. */
  const char *optimizer_name;
  const ft_value_info *const *optimizer; /* [num_optimizer] */
  const ft_optimizer_options *optimizer_defaults;
} ft_model_info;

/*===- Options ------------------------------------------------------------===*/

typedef struct ft_load_options {
  size_t struct_size;
  const char *weights_path; /* NULL: NAME.weights beside NAME.so */
  int32_t threads;          /* for each call; 0: all CPUs of this process */
  int32_t verify_weights;   /* 1: check the hash of all weights, not only of
                               their header */
  uint64_t seed;            /* of the instance's random numbers: instances of
                               one seed draw the same in their first call, in
                               their second, ... */
} ft_load_options;

/* Runs body over [0, n) in pieces of at least `grain`, all done on return. */
typedef void (*ft_parallel_body)(void *args, int64_t lo, int64_t hi);
typedef void (*ft_parallel_for)(void *user, ft_parallel_body body, void *args,
                                int64_t n, int64_t grain);

/* Gives memory for output number `index`, `bytes` long, aligned to
 * `alignment`. The caller owns it. NULL: no memory, and the call fails. */
typedef void *(*ft_allocate)(void *user, int32_t index, DLDataType dtype,
                             int32_t ndim, const int64_t *shape, size_t bytes,
                             size_t alignment);

typedef struct ft_call_options {
  size_t struct_size;
  int32_t threads;              /* 0: as loaded; 1: no other thread is used */
  int32_t reserved;             /* 0 */
  ft_parallel_for parallel_for; /* NULL: the pool of this library, which all
                                   models in the process share */
  void *parallel_for_user;
  ft_allocate allocate; /* for outputs that come with data == NULL */
  void *allocate_user;
  void *stream;         /* CUDA models: a CUstream; others: NULL */
  uint64_t random_call; /* draws the numbers of call 1, 2, ...; 0: the number
                           of this call on the instance */
} ft_call_options;

static inline ft_load_options ft_load_options_init(void) {
  ft_load_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  return options;
}

static inline ft_call_options ft_call_options_init(void) {
  ft_call_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  return options;
}

/* One call of a model that was compiled with --training. Parameters, buffers
 * and gradients are the caller's, in the order of ft_model_info.state, the
 * state of an optimizer in that of ft_model_info.optimizer:
 *
 *   forward   reads inputs and state, writes outputs, buffers, *saved
 *   backward  reads inputs, state, *saved and tangents, writes gradients
 *   update    reads gradients, writes the parameters that have one and the
 *             optimizer's state
 *   step      forward, then backward, then (with an optimizer) update
 *
 * Backward needs the inputs and parameters as forward has seen them. Update
 * reads no inputs, outputs and tangents. Tensors of other strides than the
 * model's are copied. */
typedef struct ft_train_call {
  size_t struct_size;
  int32_t phase; /* FT_TRAIN_FORWARD, ... */
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t num_state;
  const DLTensor *inputs;
  DLTensor *outputs;
  DLTensor *state;
  const DLTensor *tangents; /* [num_outputs]: gradients of the outputs, of
                               which those that have none are not read; NULL:
                               ones */
  DLTensor *gradients;      /* [num_state]: written where the state is flagged
                               FT_VALUE_GRADIENT; others are left alone */
  DLTensor *optimizer;      /* [ft_model_info.num_optimizer] */
  void **saved; /* made by forward, taken by backward; not read by step */
  const ft_call_options *options;
  /* Since ABI version 3. */
  DLTensor *input_gradients; /* [num_inputs]: written where the input is flagged
                                FT_VALUE_GRADIENT; NULL if none is */
  const ft_optimizer_options *optimizer_options; /* NULL: the defaults */
  /* Since ABI version 4. */
  const DLTensor *input_tangents; /* [num_inputs]: gradients of what forward has
                                     left in inputs that are flagged both
                                     FT_VALUE_WRITTEN and FT_VALUE_GRADIENT;
                                     without data, or NULL: zeros */
} ft_train_call;

enum {
  FT_TRAIN_FORWARD = 0,
  FT_TRAIN_BACKWARD = 1,
  FT_TRAIN_STEP = 2,
  FT_TRAIN_UPDATE = 3 /* since ABI version 3 */
};

/*===- Functions ----------------------------------------------------------===*/

typedef struct ft_model ft_model;

typedef struct ft_api {
  size_t struct_size;
  const ft_model_info *info; /* readable before load, and on any CPU */

  /* Makes an instance: checks the CPU, maps the weights, copies the buffers
   * that `forward` writes. options may be NULL. The caller unloads it. */
  ft_status (*load)(const ft_load_options *options, ft_model **model);
  /* Frees an instance. NULL is allowed. No call may be running. */
  void (*unload)(ft_model *model);

  /* The outputs' dtype, device, ndim, sizes and strides for these inputs, of
   * which only dtype, device, ndim and sizes are read. `shape` of each output
   * is NULL or has room for its rank, `strides` likewise; `data` is left
   * alone. A size that depends on data, and the strides with it, is -1. */
  ft_status (*output_shapes)(ft_model *model, const DLTensor *inputs,
                             int32_t num_inputs, DLTensor *outputs,
                             int32_t num_outputs);

  /* Runs the model. Inputs of other strides than the traced ones are copied
   * inside; memory that an input shares with an output is handled. An output
   * with data is checked like an input and written in its own strides; one
   * without is given memory by options->allocate, and its other fields are
   * filled in (`shape` and `strides`, when not NULL, have room for its rank).
   * An output whose sizes depend on data needs a `shape`; a tensor with data
   * must have the sizes that come out and share no memory with another.
   * When the call fails the outputs' contents are unspecified. */
  ft_status (*forward)(ft_model *model, const DLTensor *inputs,
                       int32_t num_inputs, DLTensor *outputs,
                       int32_t num_outputs, const ft_call_options *options);

  /* Copies the value of parameter or buffer `index` into `to`; sets a buffer
   * that `forward` writes; sets all of these to what they were at load. */
  ft_status (*read_state)(ft_model *model, int32_t index, DLTensor *to);
  ft_status (*write_state)(ft_model *model, int32_t index,
                           const DLTensor *from);
  ft_status (*reset_state)(ft_model *model);

  /* Compares all weights with their hash: reads the whole file. */
  ft_status (*verify_weights)(ft_model *model);

  /* Of a model compiled with --training, FT_ERROR_UNSUPPORTED for others:
   * fills the caller's parameters and buffers (one DLTensor for each of
   * ft_model_info.state) from the weights file; runs one phase. */
  ft_status (*load_parameters)(ft_model *model, DLTensor *state,
                               int32_t num_state);
  ft_status (*train)(ft_model *model, const ft_train_call *call);

  /* Since ABI version 2: the inputs' dtype, device, ndim, sizes and strides
   * when symbol i of ft_model_info.symbols is values[i]; values of symbols that
   * depend on data are not read. `shape`, `strides` and `data` of each input
   * as for output_shapes. */
  ft_status (*input_shapes)(ft_model *model, const int64_t *values,
                            int32_t num_values, DLTensor *inputs,
                            int32_t num_inputs);
  /* Gives back what a forward saved and no backward will take; the memory that
   * calls have given back is freed with the model. NULL is allowed. */
  void (*release)(ft_model *model, void *saved);

  /* Since ABI version 3, of a model compiled with --optimizer: sets the state
   * of its optimizer (one DLTensor for each of ft_model_info.optimizer) to what
   * it is before the first step, zeros. */
  ft_status (*init_optimizer)(ft_model *model, DLTensor *optimizer,
                              int32_t num_optimizer);
} ft_api;

/* What FT_API_SYMBOL names in every compiled model. */
#define FT_API_SYMBOL "foretrace_model_v1"
typedef const ft_api *(*ft_api_getter)(void);

/*===- Helpers ------------------------------------------------------------===*/

/* A row-major tensor on the CPU that views `data`. `shape` must stay alive. */
static inline DLTensor ft_tensor(const void *data, uint8_t code, uint8_t bits,
                                 int32_t ndim, const int64_t *shape) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = (void *)(uintptr_t)data; /* inputs are only read */
  tensor.device.device_type = kDLCPU;
  tensor.ndim = ndim;
  tensor.dtype.code = code;
  tensor.dtype.bits = bits;
  tensor.dtype.lanes = 1;
  tensor.shape = (int64_t *)(uintptr_t)shape;
  return tensor;
}

#ifdef __cplusplus
}
#endif

#endif /* FORETRACE_RUNTIME_H */
