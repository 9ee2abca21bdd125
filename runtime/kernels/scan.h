/*===- scan.h - What running totals there are ----------------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Read by the compiler too.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_KERNELS_SCAN_H
#define FORETRACE_RUNTIME_KERNELS_SCAN_H

enum { FT_SCAN_SUM, FT_SCAN_PRODUCT, FT_SCAN_LOG_SUM_EXP };

#endif /* FORETRACE_RUNTIME_KERNELS_SCAN_H */
