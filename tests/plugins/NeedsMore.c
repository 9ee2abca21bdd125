/* A kernel that calls what a model does not have. */
#include "foretrace/kernel.h"

#include <stdio.h>

int32_t test_prints(const ft_kernel_call *call) { return puts(call->op) < 0; }
