//===- Update.h - One step of an optimizer as a program --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model that is trained is two programs after stage partition. With
// --optimizer it gets a third one, which changes all parameters that have a
// gradient:
//
//   module @update attributes {ft.optimizer = "momentum"} {
//     @forward(%lr, %momentum, …, %step {given_buffer},
//              %w {given_parameter}, %g {input "gradient_w"},
//              %m {given_buffer "momentum_buffer.w"}) {
//       … calls of ft operators …
//       return %step1, %w1 {parameter_mutation "w"},
//              %m1 {buffer_mutation "momentum_buffer.w"}
//     }
//   }
//
// The calls about one parameter carry one number (ft.fuse) and become one
// kernel, which reads and writes each element once, in place. What depends on
// the hyperparameters alone, such as 1 - beta1^step, is one kernel of numbers
// in float64.
//
// The formulas are those of torch.optim. Of float16 and bfloat16 parameters an
// element is computed in float32 and rounded once, as its fused
// implementations do; the state has the parameter's dtype. A buffer of momentum
// starts as the first gradient, undamped, which is why `momentum` counts steps
// too. Complex numbers are updated as pairs of real ones.
//
// The state starts as zeros. Its names: "step" (int64, the steps done), then by
// parameter "momentum_buffer.NAME", or "exp_avg.NAME" and "exp_avg_sq.NAME".
//
// Cost: linear in the number of parameters.

#ifndef FORETRACE_COMPILER_OPTIMIZER_UPDATE_H
#define FORETRACE_COMPILER_OPTIMIZER_UPDATE_H

#include "compiler/optimizer/Optimizers.h"

#include "mlir/IR/BuiltinOps.h"

namespace ft {

class FakeCache;

/// Adds the program to a module that stands after stage partition. Reports
/// [FT0006] for parameters that are no floating-point tensors of 16 bits or
/// more.
mlir::LogicalResult addUpdate(mlir::ModuleOp module,
                              const OptimizerInfo &optimizer,
                              FakeCache *cache = nullptr);

} // namespace ft

#endif // FORETRACE_COMPILER_OPTIMIZER_UPDATE_H
