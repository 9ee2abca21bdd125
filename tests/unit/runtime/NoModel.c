/* NoModel.c - Stands in for the descriptor where none is read.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/src/abi.h"

const ft_model_desc ft_gen_desc;
