//===- Foreach.cpp - Elementwise ops over lists of tensors -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry i of each list is one elementwise call, with its own device.

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"

using namespace llvm;

namespace ft {

/// The call on entry `i` of the lists, for the device walk.
static LogicalResult deviceOf(FakeCall &c, ArrayRef<const TensorMeta *> entry) {
  const TensorMeta *common = entry.front();
  for (const TensorMeta *t : entry) {
    bool scalar = t->sizes.empty() && t->device.kind == Device::Cpu;
    if (t->device == common->device || scalar)
      continue;
    if (common->sizes.empty() && common->device.kind == Device::Cpu) {
      common = t;
      continue;
    }
    return c.fail(FakeError::Device, "tensors are on two devices, " +
                                         common->device.str() + " and " +
                                         t->device.str());
  }
  c.device = common->device;
  return success();
}

template <Promote Kind>
static LogicalResult foreach (FakeCall &c) {
  size_t count = c.length(0);
  for (auto [i, arg] : enumerate(c.arguments()))
    if (arg.kind == Arg::List && arg.list.size() != count)
      return c.fail(FakeError::Other, "the lists have " + Twine(count) +
                                          " and " + Twine(arg.list.size()) +
                                          " entries");
  for (size_t entry = 0; entry < count; ++entry) {
    SmallVector<const TensorMeta *, 4> tensors;
    TypePromotion types;
    for (const Arg &arg : c.arguments()) {
      const Arg &own = arg.kind == Arg::List ? arg.list[entry] : arg;
      if (own.kind == Arg::Tensor) {
        tensors.push_back(&c.tensorOperands()[own.operand]);
        types.add(*tensors.back());
      } else if (arg.kind == Arg::List || &arg == &c.arg(1)) {
        types.add(own);
      }
    }
    if (tensors.empty())
      return c.fail(FakeError::Other, "an entry of the list is missing");
    std::optional<DType> dtype = types.result();
    if (!dtype)
      return c.fail(FakeError::Dtype,
                    "the tensors do not promote to one dtype");
    if (failed(deviceOf(c, tensors)) ||
        failed(elementwise(c, tensors, promoted(*dtype, Kind))))
      return failure();
  }
  return success();
}

/// The results are the lists that are written: checked, then nothing returned.
template <Promote Kind>
static LogicalResult foreachInto(FakeCall &c) {
  if (failed(foreach<Kind>(c)))
    return failure();
  auto targets = c.tensors(0);
  for (auto [target, result] : zip(targets, c.results)) {
    if (!c.sameSizes(target->sizes, result.meta.sizes))
      return c.fail(FakeError::Shape, "the result " + result.meta.str() +
                                          " does not have the size of the "
                                          "tensor that is written, " +
                                          target->str());
    if (!canCast(result.meta.dtype, target->dtype))
      return c.fail(FakeError::Dtype,
                    "a result of " + dtypeName(result.meta.dtype) +
                        " cannot be written into a tensor of " +
                        dtypeName(target->dtype));
  }
  c.results.clear();
  return success();
}

static LogicalResult foreachCopy(FakeCall &c) {
  auto targets = c.tensors(0), sources = c.tensors(1);
  if (targets.size() != sources.size() || is_contained(targets, nullptr) ||
      is_contained(sources, nullptr))
    return c.fail(FakeError::Other, "the lists have " + Twine(targets.size()) +
                                        " and " + Twine(sources.size()) +
                                        " entries");
  for (auto [target, source] : zip(targets, sources)) {
    if (failed(c.broadcastTo(source->sizes, target->sizes)))
      return failure();
    TensorMeta out = *target;
    out.strides = likeStrides(*target);
    out.offset = 0;
    (void)c.fresh(std::move(out));
  }
  return success();
}

ArrayRef<FakeRuleRow> foreachRules() {
  using enum Promote;
  using enum DevicePolicy;
  static const FakeRuleRow rows[] = {
      {"_foreach_add.List", foreach<Default>, First},
      {"_foreach_add.Scalar", foreach<Default>, First},
      {"_foreach_add.ScalarList", foreach<Default>, First},
      {"_foreach_add.Tensor", foreach<Default>, First},
      {"_foreach_add_.List", foreachInto<Default>, First},
      {"_foreach_add_.Scalar", foreachInto<Default>, First},
      {"_foreach_add_.ScalarList", foreachInto<Default>, First},
      {"_foreach_add_.Tensor", foreachInto<Default>, First},
      {"_foreach_addcdiv.Scalar", foreach<Default>, First},
      {"_foreach_addcmul.Scalar", foreach<Default>, First},
      {"_foreach_copy.default", foreachCopy, First},
      {"_foreach_div.List", foreach<IntToFloat>, First},
      {"_foreach_div.Scalar", foreach<IntToFloat>, First},
      {"_foreach_div.ScalarList", foreach<IntToFloat>, First},
      {"_foreach_div.Tensor", foreach<IntToFloat>, First},
      {"_foreach_lerp.List", foreach<Default>, First},
      {"_foreach_lerp.Scalar", foreach<Default>, First},
      {"_foreach_mul.List", foreach<Default>, First},
      {"_foreach_mul.Scalar", foreach<Default>, First},
      {"_foreach_mul.ScalarList", foreach<Default>, First},
      {"_foreach_mul.Tensor", foreach<Default>, First},
      {"_foreach_mul_.List", foreachInto<Default>, First},
      {"_foreach_mul_.Scalar", foreachInto<Default>, First},
      {"_foreach_mul_.ScalarList", foreachInto<Default>, First},
      {"_foreach_mul_.Tensor", foreachInto<Default>, First},
      {"_foreach_sqrt.default", foreach<IntToFloat>, First},
      {"_foreach_sub.List", foreach<Default>, First},
      {"_foreach_sub.Scalar", foreach<Default>, First},
      {"_foreach_sub.ScalarList", foreach<Default>, First},
  };
  return rows;
}

} // namespace ft
