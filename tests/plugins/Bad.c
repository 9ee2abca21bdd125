/* Plug-ins that cannot be used; VARIANT says why. */
#include "foretrace/plugin.h"

#include <stdlib.h>

#define GIVES_UP 1
#define GIVES_UP_SILENTLY 2
#define OTHER_VERSION 3
#define DUPLICATE 4
#define MALFORMED 5
#define NO_KERNEL_FILE 6
#define UNKNOWN_RULE 7
#define CRASHES 8
#define EXITS 9
#define RULE_CRASHES 10
#define RULE_EXITS 11
#define RULE_VARIES 12
#define KERNEL_CRASHES 13
#define KERNEL_OVERFLOWS 14
#define KERNEL_WRITES_NOTHING 15
#define RULE_OVERFLOWS 16

#if VARIANT == RULE_OVERFLOWS
static int32_t deep(volatile char *above) {
  volatile char frame[4096];
  frame[0] = above[0];
  return deep(frame) + frame[0];
}
#endif

#if (VARIANT > EXITS && VARIANT < KERNEL_CRASHES) || VARIANT == RULE_OVERFLOWS
static int32_t rule(const ft_fake_api *api, ft_fake_call *call, void *user) {
  static int calls;
  DLDataType f32 = {kDLFloat, 32, 1};
  ft_dim sizes[1];
  (void)user;
  ++calls;
#if VARIANT == RULE_CRASHES
  abort();
#elif VARIANT == RULE_EXITS
  exit(0);
#elif VARIANT == RULE_OVERFLOWS
  calls += deep((volatile char *)&calls);
#endif
  sizes[0] = api->dim(call, calls);
  return api->result(call, f32, 1, sizes, NULL);
}
#endif

FT_PLUGIN_EXPORT int32_t foretrace_plugin(const ft_plugin_host *host) {
  ft_op_registration op = ft_op_registration_init();
  op.schema = "test::scale(Tensor x, float factor=1.0) -> Tensor";
  op.fake_kind = FT_FAKE_LIKE;
#if VARIANT == GIVES_UP
  return host->fail(host, "no license for this machine");
#elif VARIANT == GIVES_UP_SILENTLY
  return 7;
#elif VARIANT == OTHER_VERSION
  op.version = FT_PLUGIN_VERSION + 1;
#elif VARIANT == DUPLICATE
  if (host->register_op(host, &op))
    return 1;
#elif VARIANT == MALFORMED
  op.schema = "test::scale(Tensor x, Widget factor) -> Tensor";
#elif VARIANT == NO_KERNEL_FILE
  op.kernel_symbol = "test_scale";
  op.kernel_file = "not_there.o";
#elif VARIANT == UNKNOWN_RULE
  op.fake_kind = 77;
#elif VARIANT == CRASHES
  abort();
#elif VARIANT == EXITS
  exit(0);
#elif VARIANT == KERNEL_CRASHES
  op.kernel_symbol = "test_crash";
  op.kernel_file = "test_kernels.o";
#elif VARIANT == KERNEL_OVERFLOWS
  op.kernel_symbol = "test_overflow";
  op.kernel_file = "test_kernels.o";
#elif VARIANT == KERNEL_WRITES_NOTHING
  op.kernel_symbol = "test_nothing";
  op.kernel_file = "test_kernels.o";
#elif VARIANT > EXITS
  op.fake_kind = FT_FAKE_CALLBACK;
  op.fake = rule;
#endif
  return host->register_op(host, &op);
}
