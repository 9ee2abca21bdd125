//===- Ctc.cpp - Lowering of alignment losses ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/Reducing.h"

#include <limits>

using namespace mlir;

namespace ft {

/// log_probs [steps, batch, classes], targets, and both lengths at `arg` …
/// arg + 3, as the kernels take them.
static SmallVector<LoweredTensor> ctcOperands(LowerCall &c, unsigned arg) {
  SmallVector<LoweredTensor> ins;
  LoweredTensor probs = c.cast(c.operand(arg), DType::F64);
  if (probs.rank() == 2) {
    auto sizes = probs.dims();
    probs = c.reshape(probs, {sizes[0], 1, sizes[1]});
  }
  ins.push_back(c.toRowMajor(probs));
  ins.push_back(c.toRowMajor(c.cast(c.operand(arg + 1), DType::I64)));
  for (unsigned lengths : {arg + 2, arg + 3}) {
    LoweredTensor t;
    if (c.call().args[lengths].kind == Arg::Tensor)
      t = c.cast(c.operand(lengths), DType::I64);
    else
      t = constantVector(c, c.integers(lengths));
    ins.push_back(c.toRowMajor(t.rank() ? t : c.reshape(t, {1})));
  }
  return ins;
}

static Sizes of(const TensorMeta &meta) { return dimsOf(meta); }

/// (log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
/// -> losses, log_alpha. How long the longest target is data decide where the
/// lengths are a tensor: then there is room for any, and what it needs is cut
/// out.
static LogicalResult ctcLoss(LowerCall &c) {
  Sizes losses = of(c.resultMeta(0)), alpha = of(c.resultMeta(1));
  auto ins = ctcOperands(c, 0);
  Dim batch = ins[0].dims()[1];
  bool found = !c.isDefined(c.resultMeta(1));
  Dim states = found ? ins[1].dims().back() * Dim(2) + Dim(1) : alpha.back();
  Sizes three = {batch, ins[0].dims()[0], states};
  auto r = callKernel(c, "ctc_loss", ins, Arg::integer(c.integer(4)),
                      {{{batch}, DType::F64}, {three, DType::F64}}, {1, 64});
  c.setResult(0, c.cast(c.reshape(r[0], losses), c.resultMeta(0).dtype));
  if (found) {
    LoweredTensor all = c.cast(r[1], c.resultMeta(1).dtype);
    auto used = callKernel(c, "ctc_states", {c.toRowMajor(all), ins[3]}, {},
                           kernelResult(c, 1), {1, 64});
    c.setResult(1, used[0]);
    return success();
  }
  c.setResult(1, c.cast(c.reshape(r[1], alpha), c.resultMeta(1).dtype));
  return success();
}

/// (grad, log_probs, targets, input_lengths, target_lengths, losses, log_alpha,
/// blank, zero_infinity)
static LogicalResult ctcBackward(LowerCall &c) {
  auto ins = ctcOperands(c, 1);
  Sizes probs = ins[0].dims();
  Dim batch = probs[1];
  auto wide = [&](unsigned arg, const SizeList &sizes) {
    LoweredTensor t = c.cast(c.operand(arg), DType::F64);
    if (t.rank() < sizes.size())
      t = c.reshape(t, sizes);
    return c.toRowMajor(c.expand(t, sizes));
  };
  ins.push_back(wide(0, {batch}));
  ins.push_back(wide(5, {batch}));
  Dim states = c.operand(6).dims().back();
  ins.push_back(wide(6, {batch, probs[0], states}));
  auto r = callKernel(c, "ctc_loss_backward", ins,
                      {Arg::integer(c.integer(7)), Arg::truth(c.flag(8))},
                      {{probs, DType::F64}}, {1, maxDim(64, 16 * states)});
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, c.cast(c.reshape(r[0], dimsOf(meta)), meta.dtype));
  return success();
}

/// (log_probs, targets, input_lengths, target_lengths, blank, reduction,
/// zero_infinity). The mean is that of the losses over the lengths of their
/// targets.
static LogicalResult reducedLoss(LowerCall &c) {
  auto ins = ctcOperands(c, 0);
  Dim batch = ins[0].dims()[1], steps = ins[0].dims()[0];
  const TensorMeta &meta = c.resultMeta(0);
  // No target can be longer: it has a state for each class.
  Dim most = ins[1].dims().back();
  auto r = callKernel(
      c, "ctc_loss", ins, Arg::integer(c.integer(4)),
      {{{batch}, DType::F64}, {{batch, steps, 2 * most + 1}, DType::F64}},
      {1, 64});
  bool hide = c.flag(6);
  int64_t reduction = c.integer(5);
  LoweredTensor losses = c.pointwise(
      {r[0], ins[3]}, {batch}, DType::F64, [&](ScalarBuilder &s, ValueRange v) {
        using Cmp = ScalarBuilder::Cmp;
        Value loss = v[0];
        Value infinite =
            s.constant(loss.getType(), std::numeric_limits<double>::infinity());
        if (hide)
          loss = s.select(s.cmp(Cmp::Eq, loss, infinite), s.zero(loss), loss);
        if (reduction != 1)
          return loss;
        Value length = s.maximum(v[1], s.one(v[1]));
        return s.div(loss, s.cast(length, DType::I64, DType::F64));
      });
  if (reduction != 0) {
    losses = sumOf(c, losses, 0, false, DType::F64);
    if (reduction == 1)
      losses = c.pointwise(losses, {}, DType::F64,
                           [&](ScalarBuilder &s, ValueRange v) {
                             return s.div(v[0], c.sizeIn(s, batch, DType::F64));
                           });
  }
  c.setResult(0, c.cast(c.reshape(losses, dimsOf(meta)), meta.dtype));
  return success();
}

ArrayRef<LowerRuleRow> ctcLowerRules() {
  static const LowerRuleRow rows[] = {
      anyShape("ctc_loss.IntList", reducedLoss),
      anyShape("ctc_loss.Tensor", reducedLoss),
      anyShape("_ctc_loss.Tensor", ctcLoss),
      anyShape("_ctc_loss.default", ctcLoss),
      anyShape("_ctc_loss_backward.Tensor", ctcBackward),
      anyShape("_ctc_loss_backward.default", ctcBackward),
  };
  return rows;
}

} // namespace ft
