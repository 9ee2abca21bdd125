//===- Optimizer.cpp - Fused optimizer steps -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of Adam, SGD or Adagrad over lists: entry i of each list belongs to
// parameter i. The in-place forms write all lists and return nothing; the
// functional ones return copies of what is written. Steps are counted in
// float32 tensors of one element each.

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"

using namespace llvm;

namespace ft {

static LogicalResult copyLike(FakeCall &c, const TensorMeta &t) {
  TensorMeta out = t;
  out.strides = cloneStrides(t);
  out.offset = 0;
  return c.fresh(std::move(out));
}

static LogicalResult oneNumber(FakeCall &c, unsigned arg) {
  if (c.eq(c.tensor(arg).numel(), 1))
    return success();
  return c.fail(FakeError::Other, "'" + c.schema().args[arg].name +
                                      "' must be one number, it is " +
                                      c.show(c.tensor(arg)));
}

/// Fails unless the lists of `lists` have one entry for each parameter, of its
/// size and dtype; lists that an option leaves unused may be empty.
static LogicalResult checkLists(FakeCall &c, unsigned lists) {
  auto parameters = c.tensors(0);
  for (const TensorMeta *t : parameters)
    if (t && !isFloating(t->dtype))
      return c.fail(FakeError::Dtype,
                    "parameters must be floating, not " + dtypeName(t->dtype));
  if (int lr = c.schema().argIndex("lr"); c.optTensor(lr))
    if (failed(oneNumber(c, lr)))
      return failure();
  for (unsigned i = 0; i < lists; ++i) {
    auto list = c.tensors(i);
    StringRef name = c.schema().args[i].name;
    bool optional = name == "max_exp_avg_sqs" || name == "momentum_buffer_list";
    if (optional && list.empty())
      continue;
    if (list.size() != parameters.size())
      return c.fail(FakeError::Other, "'" + name + "' has " +
                                          Twine(list.size()) + " entries for " +
                                          Twine(parameters.size()) +
                                          " parameters");
    for (auto [t, parameter] : zip(list, parameters)) {
      if (!t || !parameter)
        return c.fail(FakeError::Other,
                      "an entry of '" + name + "' is missing");
      if (name == "state_steps")
        continue;
      if (!c.sameSizes(t->sizes, parameter->sizes))
        return c.fail(FakeError::Shape,
                      c.show(*t) +
                          " does not have the size of its parameter, " +
                          parameter->str());
      if (t->dtype != parameter->dtype)
        return c.fail(FakeError::Dtype,
                      "an entry of '" + name + "' is " + dtypeName(t->dtype) +
                          ", its parameter " + dtypeName(parameter->dtype));
    }
  }
  return success();
}

/// `Lists`: how many arguments are lists; `Returned`: how many of them, from
/// the first, the functional form returns.
template <unsigned Lists, unsigned Returned>
static LogicalResult step(FakeCall &c) {
  if (failed(checkLists(c, Lists)))
    return failure();
  for (unsigned i = 0; i < Returned; ++i)
    for (const TensorMeta *t : c.tensors(i))
      (void)copyLike(c, *t);
  return success();
}

//===----------------------------------------------------------------------===//
// Scaled gradients
//===----------------------------------------------------------------------===//

/// (gradients, whether one was not finite, the inverse scale): unscales them.
template <bool InPlace>
static LogicalResult unscale(FakeCall &c) {
  if (failed(oneNumber(c, 1)) || failed(oneNumber(c, 2)))
    return failure();
  for (const TensorMeta *t : c.tensors(0)) {
    if (!t)
      return c.fail(FakeError::Other, "a gradient is missing");
    if (!InPlace)
      (void)copyLike(c, *t);
  }
  return InPlace ? success() : copyLike(c, c.tensor(1));
}

/// (scale, steps since it grew, whether a gradient was not finite, …)
template <bool InPlace>
static LogicalResult updateScale(FakeCall &c) {
  for (unsigned i : {0u, 1u, 2u})
    if (failed(oneNumber(c, i)))
      return failure();
  if (InPlace)
    return c.view(c.tensor(0), 0);
  (void)copyLike(c, c.tensor(0));
  return copyLike(c, c.tensor(1));
}

ArrayRef<FakeRuleRow> optimizerRules() {
  using enum DevicePolicy;
  static const FakeRuleRow rows[] = {
      {"_amp_foreach_non_finite_check_and_unscale.default", unscale<false>,
       First},
      {"_amp_foreach_non_finite_check_and_unscale_.default", unscale<true>,
       First},
      {"_amp_update_scale.default", updateScale<false>},
      {"_amp_update_scale_.default", updateScale<true>},
      {"_fused_adagrad.default", step<4, 4>, First},
      {"_fused_adagrad.tensor_lr", step<4, 3>, First},
      {"_fused_adagrad_.default", step<4, 0>, First},
      {"_fused_adagrad_.tensor_lr", step<4, 0>, First},
      {"_fused_adam.default", step<6, 5>, First},
      {"_fused_adam.tensor_lr", step<6, 5>, First},
      {"_fused_adam_.default", step<6, 0>, First},
      {"_fused_adam_.tensor_lr", step<6, 0>, First},
      {"_fused_adamw.default", step<6, 5>, First},
      {"_fused_adamw.tensor_lr", step<6, 5>, First},
      {"_fused_adamw_.default", step<6, 0>, First},
      {"_fused_adamw_.tensor_lr", step<6, 0>, First},
      {"_fused_sgd.default", step<3, 3>, First},
      {"_fused_sgd.tensor_lr", step<3, 3>, First},
      {"_fused_sgd_.default", step<3, 0>, First},
      {"_fused_sgd_.tensor_lr", step<3, 0>, First},
  };
  return rows;
}

} // namespace ft
