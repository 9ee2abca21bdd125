/*===- foretrace/plugin.h - Custom operators in plug-ins ------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A plug-in is a shared library that tells the compiler of operators that it
 * does not know: `foretrace compile MODEL --plugin libdemo.so`. It exports one
 * function, FT_PLUGIN_ENTRY, which registers them:
 *
 *   #include "foretrace/plugin.h"
 *
 *   FT_PLUGIN_EXPORT int32_t foretrace_plugin(const ft_plugin_host *host) {
 *     ft_op_registration op = ft_op_registration_init();
 *     op.schema = "demo::scale(Tensor x, float factor=1.0) -> Tensor";
 *     op.fake_kind = FT_FAKE_LIKE;          // y is like x
 *     op.kernel_symbol = "demo_scale";      // foretrace/kernel.h
 *     op.kernel_file = "demo_scale.o";      // beside this library
 *     return host->register_op(host, &op);
 *   }
 *
 * What an operator can have, each optional:
 *  - a fake rule, which says shape, strides, dtype and device of the results
 *    without data. Without one a model that calls the operator can be imported
 *    only, unless --learn-custom may run the kernel on zeros to see.
 *  - a derivative, which training needs;
 *  - a kernel, which compiling needs. It is linked into the model, which stays
 *    self-contained: the plug-in is not needed at run time.
 *
 * Schemas are written as PyTorch writes them: `ns::name.overload(arguments) ->
 * returns`. `Tensor(a!) x` is written by the call, `Tensor(a)` results are
 * views; results are Tensors. A model of torch.export calls the operator by the
 * same name.
 *
 * Lifetimes: strings and structs given to register_op are copied. Functions and
 * `user` must stay valid as long as the plug-in is loaded: until the Session
 * (compiler/driver/Session.h) that loaded it is destroyed. Registrations belong
 * to that session; two sessions share nothing. All calls come from the thread
 * that drives the session, one at a time.
 *
 * Versions: structs start with `struct_size` and grow at their end only; fields
 * that the other side does not know must be zero. FT_PLUGIN_VERSION changes
 * when that is not enough, and then both sides say so.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_PLUGIN_H
#define FORETRACE_PLUGIN_H

#include "foretrace/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FT_PLUGIN_VERSION 1
#define FT_PLUGIN_ENTRY "foretrace_plugin"
#if defined(__cplusplus)
#define FT_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define FT_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/*===- Fake rules ---------------------------------------------------------===*/

/* One call, as its fake rule sees it. Opaque; valid during the callback. */
typedef struct ft_fake_call ft_fake_call;

/* An argument of it, or an element of a list argument. */
typedef struct ft_fake_arg ft_fake_arg;

/* A size, stride or integer: a handle, because it may be symbolic (`batch`,
 * `4*s0 + 1`). Compute with the functions of the table; `number` is for those
 * that have to be known. */
typedef struct ft_dim {
  int64_t handle;
} ft_dim;

/* Why a call is refused. */
enum {
  FT_FAKE_SHAPE = 1,       /* sizes do not fit */
  FT_FAKE_DTYPE = 2,       /* dtypes do not fit */
  FT_FAKE_DEVICE = 3,      /* tensors on the wrong device */
  FT_FAKE_INDEX = 4,       /* an index or a dim is out of range */
  FT_FAKE_UNSUPPORTED = 5, /* right, but not supported */
  FT_FAKE_OTHER = 6
};

/* What a fake rule can ask and say. Functions that return int32_t give 0 after
 * success; after a failure the reason is recorded, and the rule returns it. */
typedef struct ft_fake_api {
  size_t struct_size;

  /* Arguments, by position in the schema or by name (NULL: no such one);
   * defaults are filled in. The kinds are FT_ARG_* of foretrace/kernel.h. */
  int32_t (*num_args)(const ft_fake_call *call);
  const ft_fake_arg *(*arg)(const ft_fake_call *call, int32_t index);
  const ft_fake_arg *(*arg_named)(const ft_fake_call *call, const char *name);
  int32_t (*kind)(const ft_fake_arg *arg);
  int32_t (*list_size)(const ft_fake_arg *arg);
  const ft_fake_arg *(*list_item)(const ft_fake_arg *arg, int32_t index);

  /* Values; of another kind they read as 0 or "". */
  ft_dim (*integer)(ft_fake_call *call, const ft_fake_arg *arg);
  double (*real)(const ft_fake_arg *arg);
  int32_t (*boolean)(const ft_fake_arg *arg);
  const char *(*text)(const ft_fake_arg *arg);
  DLDataType (*dtype_value)(const ft_fake_arg *arg);
  DLDevice (*device_value)(const ft_fake_arg *arg);

  /* Tensors; `dim` counts from 0, and one that the tensor does not have fails
   * the call. Strides and offset in elements. */
  int32_t (*rank)(const ft_fake_call *call, const ft_fake_arg *arg);
  ft_dim (*size)(ft_fake_call *call, const ft_fake_arg *arg, int32_t dim);
  ft_dim (*stride)(ft_fake_call *call, const ft_fake_arg *arg, int32_t dim);
  ft_dim (*offset)(ft_fake_call *call, const ft_fake_arg *arg);
  DLDataType (*dtype)(const ft_fake_call *call, const ft_fake_arg *arg);
  DLDevice (*device)(const ft_fake_call *call, const ft_fake_arg *arg);

  /* Dims, of this call only. `number`: 1 and *value if it is a plain integer,
   * else 0. Division rounds down; a divisor must not be 0, and what does not
   * fit 64 bits fails the call. `equal` and `less`: 1 or 0; a
   * symbolic relation that is open becomes a guard of the model where it may,
   * else it fails the call whatever the rule returns. */
  ft_dim (*dim)(ft_fake_call *call, int64_t value);
  int32_t (*number)(const ft_fake_call *call, ft_dim dim, int64_t *value);
  ft_dim (*add)(ft_fake_call *call, ft_dim a, ft_dim b);
  ft_dim (*subtract)(ft_fake_call *call, ft_dim a, ft_dim b);
  ft_dim (*multiply)(ft_fake_call *call, ft_dim a, ft_dim b);
  ft_dim (*divide)(ft_fake_call *call, ft_dim a, ft_dim b);
  int32_t (*equal)(ft_fake_call *call, ft_dim a, ft_dim b);
  int32_t (*less)(ft_fake_call *call, ft_dim a, ft_dim b);

  /* Checks with a message that names operator, operand, dim and both values. */
  int32_t (*expect_rank)(ft_fake_call *call, const ft_fake_arg *arg,
                         int32_t rank);
  int32_t (*expect_size)(ft_fake_call *call, const ft_fake_arg *arg,
                         int32_t dim, ft_dim size);
  int32_t (*expect_dtype)(ft_fake_call *call, const ft_fake_arg *arg,
                          DLDataType dtype);

  /* Results, in the order of the schema; a return that is a written argument is
   * filled in by itself. `result`: fresh if the schema says so, else a view, of
   * the dtype of its base and inside of it; sizes and strides are not negative;
   * `strides` NULL: row-major. On the device of the call: the one that its
   * tensors share, the CPU if it has none. `result_on`: on another device. */
  int32_t (*result)(ft_fake_call *call, DLDataType dtype, int32_t rank,
                    const ft_dim *sizes, const ft_dim *strides);
  int32_t (*result_on)(ft_fake_call *call, DLDevice device, DLDataType dtype,
                       int32_t rank, const ft_dim *sizes,
                       const ft_dim *strides);
  /* As empty_like(arg): dense, in arg's order of dims. */
  int32_t (*result_like)(ft_fake_call *call, const ft_fake_arg *arg);

  /* Refuses the call: FT_FAKE_* and one sentence, lower case, without a final
   * dot. Name the operand, the dim and both values; the operator is added. */
  int32_t (*fail)(ft_fake_call *call, int32_t category, const char *message);
} ft_fake_api;

/* A fake rule: 0, or the failure. */
typedef int32_t (*ft_fake_fn)(const ft_fake_api *api, ft_fake_call *call,
                              void *user);

/* Which rule an operator has. */
enum {
  FT_FAKE_NONE = 0,     /* none (fine if every return is a written argument) */
  FT_FAKE_CALLBACK = 1, /* `fake` */
  FT_FAKE_LIKE = 2,     /* every result is like argument number `fake_argument`:
                           its sizes, dtype, device, order of strides */
  FT_FAKE_BROADCAST = 3 /* every result is what an elementwise operator gives:
                           tensors broadcast, dtypes promote, strides follow */
};

/*===- Derivatives --------------------------------------------------------===*/

/* The backward of one call while it is built. */
typedef struct ft_gradient ft_gradient;
/* A tensor of the program that is being built; NULL: none. */
typedef struct ft_gradient_value ft_gradient_value;

/* An argument of a call that a derivative makes. */
typedef struct ft_gradient_arg {
  int32_t kind; /* FT_ARG_NONE, TENSOR, INT, FLOAT, BOOL, STRING, LIST */
  int32_t count;
  union {
    const ft_gradient_value *tensor;
    int64_t integer;
    double real;
    const char *text;
    const struct ft_gradient_arg *list;
  };
} ft_gradient_arg;

typedef struct ft_gradient_api {
  size_t struct_size;
  /* Of the forward call: an argument (as in a fake rule, but tensors are
   * values of the program), a result, and the gradient of the loss by a result
   * (NULL: the loss does not depend on it). */
  int32_t (*argument)(const ft_gradient *g, int32_t index,
                      const ft_gradient_arg **arg);
  const ft_gradient_value *(*result)(const ft_gradient *g, int32_t index);
  const ft_gradient_value *(*gradient)(const ft_gradient *g, int32_t index);
  /* Builds a call of any operator ("aten::mul.Tensor", "demo::scale"), args in
   * the order of its schema, missing ones at the end take their default; gives
   * its results in outs[0 .. num_outs). */
  int32_t (*call)(ft_gradient *g, const char *op, const ft_gradient_arg *args,
                  int32_t num_args, const ft_gradient_value **outs,
                  int32_t num_outs);
  /* The gradient of tensor argument `index`, which must have its shape. Those
   * that are not set have none. */
  int32_t (*set)(ft_gradient *g, int32_t index, const ft_gradient_value *value);
  int32_t (*fail)(ft_gradient *g, const char *message);
} ft_gradient_api;

/* Builds the gradients of the arguments: 0, or the failure. */
typedef int32_t (*ft_derivative_fn)(const ft_gradient_api *api,
                                    ft_gradient *gradient, void *user);

/*===- Registration -------------------------------------------------------===*/

/* Bits of ft_op_registration.flags. */
enum {
  FT_OP_CONTIGUOUS = 1, /* the kernel is given row-major tensors only */
  FT_OP_EFFECTS = 2,    /* calls are neither merged nor dropped */
  FT_OP_ANY_DEVICE = 4  /* tensors may be on different devices */
};

struct ft_op_registration {
  size_t struct_size;
  uint32_t version; /* FT_PLUGIN_VERSION */
  uint32_t flags;
  const char *schema;

  int32_t fake_kind; /* FT_FAKE_* */
  int32_t fake_argument;
  ft_fake_fn fake;

  /* One of these, or neither. The operator `derivative_op` takes arguments by
   * name: those of the forward call under their own names, `result` or
   * `result0`, `result1` … its results, `grad` or `grad0`, `grad1` … their
   * gradients (zeros where there is none; `Tensor?` gets none instead). It
   * returns a gradient for each tensor argument of the forward call, in order.
   */
  const char *derivative_op;
  ft_derivative_fn derivative;

  /* The C symbol of the kernel, and the object files or static archives that
   * define it; relative paths start at the plug-in's folder. `kernel` is the
   * same function inside of the plug-in, for learning runs; NULL: the symbol is
   * looked up in the plug-in. */
  const char *kernel_symbol;
  const char *kernel_file;         /* one file, or */
  const char *const *kernel_files; /* several */
  int32_t num_kernel_files;
  ft_kernel_fn kernel;

  void *user; /* given to `fake` and `derivative` */
};
typedef struct ft_op_registration ft_op_registration;

/* An empty registration of this version, to be filled in. */
static inline ft_op_registration ft_op_registration_init(void) {
  ft_op_registration op;
  memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  op.version = FT_PLUGIN_VERSION;
  return op;
}

/* What the entry function is given; valid during that call. */
typedef struct ft_plugin_host ft_plugin_host;
struct ft_plugin_host {
  size_t struct_size;
  uint32_t version;     /* FT_PLUGIN_VERSION of the compiler */
  const char *compiler; /* "foretrace 0.1.0" */
  const char *folder;   /* where the plug-in is */
  void *context;
  /* 0, or a failure, which is recorded: the entry function returns it. */
  int32_t (*register_op)(const ft_plugin_host *host,
                         const ft_op_registration *op);
  /* Gives up, with one sentence. Returns a failure. */
  int32_t (*fail)(const ft_plugin_host *host, const char *message);
};

/* The entry function: 0, or a failure. */
typedef int32_t (*ft_plugin_entry)(const ft_plugin_host *host);

#ifdef __cplusplus
}
#endif

#endif /* FORETRACE_PLUGIN_H */
