/* The plug-in: tells the compiler of demo::pair_distance.
 *
 *   pair_distance(a [n, d], b [m, d]) -> [n, m], the distance of each row of a
 *   to each row of b
 */
#include "foretrace/plugin.h"

/* Shape rule: what the result is, and what is refused. */
static int32_t pair_distance_fake(const ft_fake_api *api, ft_fake_call *call,
                                  void *user) {
  (void)user;
  const ft_fake_arg *a = api->arg_named(call, "a");
  const ft_fake_arg *b = api->arg_named(call, "b");
  DLDataType float32 = {kDLFloat, 32, 1};
  if (api->expect_rank(call, a, 2) || api->expect_rank(call, b, 2) ||
      api->expect_dtype(call, a, float32) ||
      api->expect_dtype(call, b, float32) ||
      api->expect_size(call, b, 1, api->size(call, a, 1)))
    return 1;
  ft_dim sizes[2] = {api->size(call, a, 0), api->size(call, b, 0)};
  return api->result(call, float32, 2, sizes, NULL);
}

FT_PLUGIN_EXPORT int32_t foretrace_plugin(const ft_plugin_host *host) {
  ft_op_registration op = ft_op_registration_init();
  op.schema = "demo::pair_distance(Tensor a, Tensor b, *, float p=2.0) "
              "-> Tensor";
  op.fake_kind = FT_FAKE_CALLBACK;
  op.fake = pair_distance_fake;
  op.kernel_symbol = "demo_pair_distance";
  op.kernel_file = "pair_distance.o"; /* beside this library */
  return host->register_op(host, &op);
}
