/* What authors of plug-ins and kernels include, in the language that the
 * compiler is told. */
#include "foretrace/kernel.h"
#include "foretrace/plugin.h"

static int32_t rule(const ft_fake_api *api, ft_fake_call *call, void *user) {
  (void)user;
  return api->result_like(call, api->arg(call, 0));
}

FT_PLUGIN_EXPORT int32_t foretrace_plugin(const ft_plugin_host *host) {
  ft_op_registration op = ft_op_registration_init();
  op.schema = "t::f(Tensor x) -> Tensor";
  op.fake_kind = FT_FAKE_CALLBACK;
  op.fake = rule;
  return host->register_op(host, &op);
}

FT_PLUGIN_EXPORT int32_t kernel(const ft_kernel_call *call);
int32_t kernel(const ft_kernel_call *call) {
  return ft_kernel_numel(call->args[0].tensor) ? FT_OK : FT_ERROR_TENSOR;
}
