/* The operators of the tests: one for each thing that can be registered. */
#include "foretrace/plugin.h"

static int32_t min_max_fake(const ft_fake_api *api, ft_fake_call *call,
                            void *user) {
  (void)user;
  const ft_fake_arg *x = api->arg(call, 0);
  DLDataType dtype = api->dtype(call, x);
  return api->result(call, dtype, 0, NULL, NULL) ||
         api->result(call, dtype, 0, NULL, NULL);
}

static int32_t strides_fake(const ft_fake_api *api, ft_fake_call *call,
                            void *user) {
  (void)user;
  const ft_fake_arg *x = api->arg(call, 0);
  ft_dim rank = api->dim(call, api->rank(call, x));
  return api->result(call, api->dtype(call, x), 1, &rank, NULL);
}

static int32_t negative_fake(const ft_fake_api *api, ft_fake_call *call,
                             void *user) {
  (void)user;
  ft_dim size = api->dim(call, 4), stride = api->dim(call, -1);
  return api->result(call, api->dtype(call, api->arg(call, 0)), 1, &size,
                     &stride);
}

static int32_t gather_all_fake(const ft_fake_api *api, ft_fake_call *call,
                               void *user) {
  (void)user;
  const ft_fake_arg *xs = api->arg_named(call, "xs");
  DLDataType float32 = {kDLFloat, 32, 1};
  for (int32_t i = 0; i < api->list_size(xs); ++i)
    if (api->expect_dtype(call, api->list_item(xs, i), float32))
      return 1;
  return api->result(call, float32, 0, NULL, NULL);
}

/* y = factor * x: gradient = factor * gradient of y. */
static int32_t scale_derivative(const ft_gradient_api *api, ft_gradient *g,
                                void *user) {
  (void)user;
  const ft_gradient_arg *factor;
  const ft_gradient_value *result;
  if (api->argument(g, 1, &factor))
    return 1;
  ft_gradient_arg args[2] = {{.kind = FT_ARG_TENSOR}, *factor};
  args[0].tensor = api->gradient(g, 0);
  return api->call(g, "aten::mul.Scalar", args, 2, &result, 1) ||
         api->set(g, 0, result);
}

struct row {
  const char *schema, *kernel;
  int32_t fake_kind;
  ft_fake_fn fake;
  uint32_t flags;
};

static const struct row rows[] = {
    {"test::add(Tensor x, Tensor y) -> Tensor", NULL, FT_FAKE_BROADCAST, NULL,
     0},
    {"test::fill_(Tensor(a!) x, int value) -> Tensor(a!)", "test_fill",
     FT_FAKE_NONE, NULL, 0},
    {"test::exchange_add_(Tensor(a!) x, float by=1.0) -> Tensor",
     "test_exchange_add", FT_FAKE_LIKE, NULL, 0},
    {"test::min_max(Tensor x) -> (Tensor low, Tensor high)", "test_min_max",
     FT_FAKE_CALLBACK, min_max_fake, 0},
    {"test::strides(Tensor x) -> Tensor", "test_strides", FT_FAKE_CALLBACK,
     strides_fake, 0},
    {"test::strides.contiguous(Tensor x) -> Tensor", "test_strides",
     FT_FAKE_CALLBACK, strides_fake, FT_OP_CONTIGUOUS},
    {"test::gather_all(Tensor[] xs, Tensor? b=None, int[] dims=[], *, "
     "str mode='positive') -> Tensor",
     "test_gather_all", FT_FAKE_CALLBACK, gather_all_fake, 0},
    {"test::scale.effects(Tensor x, float factor=1.0) -> Tensor", "test_scale",
     FT_FAKE_LIKE, NULL, FT_OP_EFFECTS},
    {"test::fails(Tensor x) -> Tensor", "test_fails", FT_FAKE_LIKE, NULL, 0},
    {"test::lies(Tensor x) -> Tensor", "test_lies", FT_FAKE_LIKE, NULL, 0},
    {"test::sizeless(Tensor x) -> Tensor", "test_sizeless", FT_FAKE_LIKE, NULL,
     0},
    {"test::odd_code(Tensor x) -> Tensor", "test_odd_code", FT_FAKE_LIKE, NULL,
     0},
    {"test::odd_fail(Tensor x) -> Tensor", "test_odd_fail", FT_FAKE_LIKE, NULL,
     0},
    {"test::negative(Tensor x) -> Tensor", "test_forgets", FT_FAKE_CALLBACK,
     negative_fake, 0},
    /* Without a rule: what a learning run finds out. */
    {"test::transpose(Tensor x) -> Tensor", "test_transpose", FT_FAKE_NONE,
     NULL, 0},
    {"test::crashes(Tensor x) -> Tensor", "test_crashes", FT_FAKE_NONE, NULL,
     0},
    {"test::forgets(Tensor x) -> Tensor", "test_forgets", FT_FAKE_NONE, NULL,
     0},
};

FT_PLUGIN_EXPORT int32_t foretrace_plugin(const ft_plugin_host *host) {
  ft_op_registration op = ft_op_registration_init();
  op.schema = "test::scale(Tensor x, float factor=1.0) -> Tensor";
  op.fake_kind = FT_FAKE_LIKE;
  op.derivative = scale_derivative;
  op.kernel_symbol = "test_scale";
  op.kernel_file = "test_kernels.o";
  if (host->register_op(host, &op))
    return 1;
  op = ft_op_registration_init();
  op.schema = "test::prints(Tensor x) -> Tensor";
  op.fake_kind = FT_FAKE_LIKE;
  op.kernel_symbol = "test_prints";
  op.kernel_file = "test_needs_more.o";
  if (host->register_op(host, &op))
    return 1;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    op = ft_op_registration_init();
    op.schema = rows[i].schema;
    op.fake_kind = rows[i].fake_kind;
    op.fake = rows[i].fake;
    op.flags = rows[i].flags;
    op.kernel_symbol = rows[i].kernel;
    op.kernel_file = rows[i].kernel ? "test_kernels.o" : NULL;
    if (host->register_op(host, &op))
      return 1;
  }
  return 0;
}
