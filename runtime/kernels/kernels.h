/*===- kernels.h - The kernels that compiled models call ------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNELS_KERNELS_H
#define FORETRACE_RUNTIME_KERNELS_KERNELS_H

#include "foretrace/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FT_KERNEL(name) int32_t ft_k_##name(const ft_kernel_call *call);
#include "runtime/kernels/kernels.def"

#ifdef __cplusplus
}
#endif

#endif /* FORETRACE_RUNTIME_KERNELS_KERNELS_H */
