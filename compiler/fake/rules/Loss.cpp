//===- Loss.cpp - Loss functions -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

/// `int reduction`: 0 none, 1 mean, 2 sum.
static constexpr int64_t kNone = 0;

static LogicalResult reduction(FakeCall &c, unsigned arg, bool &none) {
  Dim value = c.dim(arg);
  none = value.is(kNone);
  if (!none && !value.is(1) && !value.is(2))
    return c.fail(FakeError::Other, value.str() +
                                        " is no reduction; 0 is none, "
                                        "1 mean, 2 sum");
  return success();
}

static LogicalResult scalar(FakeCall &c, DType dtype) {
  return c.fresh(TensorMeta::contiguous(dtype, {}, c.device));
}

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

//===----------------------------------------------------------------------===//
// Elementwise losses
//===----------------------------------------------------------------------===//

/// self, target (and weights) elementwise, then reduced.
template <unsigned ReductionArg>
static LogicalResult elementwiseLoss(FakeCall &c);

/// Computed in place on a copy of the target, which must hold the result.
static LogicalResult lossWithLogits(FakeCall &c) {
  FailureOr<DType> dtype = promotedDType(c, 0);
  if (succeeded(dtype) && !canCast(*dtype, c.tensor(1).dtype))
    return c.fail(FakeError::Dtype,
                  "a target of " + dtypeName(c.tensor(1).dtype) +
                      " cannot hold the loss, which is " + dtypeName(*dtype));
  return elementwiseLoss<4>(c);
}

template <unsigned ReductionArg>
static LogicalResult elementwiseLoss(FakeCall &c) {
  bool none;
  if (failed(reduction(c, ReductionArg, none)))
    return failure();
  FailureOr<DType> dtype = promotedDType(c, 0);
  if (failed(dtype))
    return failure();
  // A mean of integers has no dtype to be in.
  if (!none && c.dim(ReductionArg).is(1) && isIntegral(*dtype))
    return c.fail(FakeError::Dtype,
                  "the mean needs a floating dtype, not " + dtypeName(*dtype));
  // Kernels that only floats have on the CPU.
  StringRef base = c.schema().base;
  if (c.device.kind == Device::Cpu && !isFloating(*dtype) &&
      (base == "huber_loss" || base == "smooth_l1_loss" || base == "mse_loss"))
    return c.fail(FakeError::Unsupported,
                  base + " is not defined for " + dtypeName(*dtype));
  auto tensors = elementwiseTensors(c);
  // huber_loss writes into a tensor like its input.
  if (none)
    return elementwise(c, tensors,
                       base == "huber_loss" ? c.tensor(0).dtype : *dtype);
  FailureOr<Dims> sizes = c.broadcast(tensors);
  return failed(sizes) ? failure() : scalar(c, *dtype);
}

/// (grad, self, target, …): like self, in the layout of an elementwise op.
static LogicalResult elementwiseLossBackward(FakeCall &c) {
  FailureOr<DType> dtype = promotedDType(c, 0);
  if (failed(dtype) || failed(elementwise(c, elementwiseTensors(c), *dtype)))
    return failure();
  StringRef base = c.schema().base;
  TensorMeta &out = c.results.front().meta;
  // The kernel fills a tensor like `self`, whatever broadcasts to more.
  const TensorMeta &self = c.tensor(1);
  if (c.device.kind == Device::Cpu && base == "binary_cross_entropy_backward" &&
      out.sizes != self.sizes)
    out = TensorMeta::contiguous(out.dtype, self.sizes, c.device);
  // On the CPU these compute into self's dtype.
  if (c.device.kind == Device::Cpu &&
      (base == "mse_loss_backward" || base == "smooth_l1_loss_backward"))
    out.dtype = self.dtype;
  // -target * exp(-target * self) …: the target's layout comes first.
  if (base == "soft_margin_loss_backward") {
    const TensorMeta &target = c.tensor(2);
    if (!isFloating(self.dtype) && !isComplex(self.dtype))
      return c.fail(
          FakeError::Dtype,
          "the result is a float, which does not fit into 'self' of " +
              dtypeName(self.dtype));
    if (target.dtype == DType::Bool)
      return c.fail(FakeError::Dtype, "the target must be a number, not bool");
    FailureOr<Dims> sizes = c.broadcast({&self, &target});
    if (failed(sizes))
      return failure();
    if (!c.sameSizes(*sizes, out.sizes))
      return c.fail(FakeError::Shape, "the gradient " + c.show(c.tensor(0)) +
                                          " is larger than the loss, " +
                                          dimsText(*sizes));
    out.strides =
        elementwiseStrides({&c.tensor(2), &self, &c.tensor(0)}, out.sizes);
  }
  // These kernels fill a row-major tensor on the CPU.
  if (c.device.kind == Device::Cpu &&
      (base == "mse_loss_backward" || base == "huber_loss_backward" ||
       base == "smooth_l1_loss_backward"))
    out.strides = contiguousStrides(out.sizes);
  return success();
}

//===----------------------------------------------------------------------===//
// Negative log likelihood
//===----------------------------------------------------------------------===//

static LogicalResult classTarget(FakeCall &c, const TensorMeta &target) {
  if (target.dtype == DType::I64 || target.dtype == DType::U8 ||
      target.dtype == DType::I32)
    return success();
  return c.fail(FakeError::Dtype, "the target must hold class indices, not " +
                                      dtypeName(target.dtype));
}

static LogicalResult classWeights(FakeCall &c, unsigned arg, Dim classes) {
  const TensorMeta *weight = c.optTensor(arg);
  if (!weight || (weight->rank() == 1 && c.eq(weight->sizes[0], classes)))
    return success();
  return c.fail(FakeError::Shape, "the weights " + c.show(*weight) +
                                      " must have size [" + classes.str() +
                                      "], an entry for each class");
}

static LogicalResult checkNll(FakeCall &c, const TensorMeta &self,
                              const TensorMeta &target, unsigned weightArg) {
  if (self.rank() != 1 && self.rank() != 2)
    return c.fail(FakeError::Dim, "nll_loss needs 1 or 2 dims, " +
                                      c.nameOf(&self) + " has " +
                                      Twine(self.rank()));
  if (target.rank() > 1)
    return c.fail(FakeError::Dim,
                  "the target must have at most 1 dim, it has " +
                      Twine(target.rank()));
  bool batch = self.rank() == 2;
  Dim have = target.sizes.empty() ? Dim(1) : target.sizes[0];
  if (batch ? target.sizes.empty() || !c.mustEq(have, self.sizes[0])
            : !c.mustEq(have, 1))
    return c.fail(
        FakeError::Shape,
        batch && target.rank() == 1
            ? c.sizeAt(target, 0) + ", " + c.sizeAt(self, 0)
            : "the target " + c.show(target) + " is not that of " +
                  (batch ? "as many samples as dim 0 of the input has, " +
                               self.sizes[0].str()
                         : std::string("one sample")));
  if (failed(classTarget(c, target)))
    return failure();
  return classWeights(c, weightArg, self.sizes.back());
}

/// The loss, one for each target or in all, and the sum of the weights.
static LogicalResult lossAndWeight(FakeCall &c, bool each,
                                   ArrayRef<Dim> sizes) {
  DType dtype = c.tensor(0).dtype;
  if (failed(each ? rowMajor(c, dtype, sizes) : scalar(c, dtype)))
    return failure();
  return scalar(c, dtype);
}

/// Without the sum of the weights.
template <LogicalResult (*forward)(FakeCall &)>
static LogicalResult lossAlone(FakeCall &c) {
  if (failed(forward(c)))
    return failure();
  c.results.pop_back();
  return success();
}

static LogicalResult nllForward(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &target = c.tensor(1);
  bool none;
  if (failed(reduction(c, 3, none)) || failed(checkNll(c, self, target, 2)))
    return failure();
  return lossAndWeight(c, none && self.rank() == 2, self.sizes[0]);
}

static LogicalResult oneElement(FakeCall &c, const TensorMeta &t,
                                StringRef what) {
  if (c.eq(t.numel(), 1))
    return success();
  return c.fail(FakeError::Other, "the " + what +
                                      " must have one element, it "
                                      "is " +
                                      c.show(t));
}

static LogicalResult nllBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &self = c.tensor(1);
  const TensorMeta &target = c.tensor(2);
  bool none;
  if (failed(reduction(c, 4, none)))
    return failure();
  if (self.rank() == 2 && target.sizes.empty())
    return c.fail(FakeError::Dim, "the target must have a dim for a batch");
  if (failed(checkNll(c, self, target, 3)) ||
      failed(oneElement(c, c.tensor(6), "total weight")))
    return failure();
  if (none && self.rank() == 2) {
    if (grad.rank() != 1 || !c.mustEq(grad.sizes[0], self.sizes[0]))
      return c.fail(FakeError::Dim,
                    grad.rank() == 1
                        ? c.sizeAt(grad, 0) + ", " + c.sizeAt(self, 0)
                        : c.nameOf(&grad) + " needs 1 dim, it has " +
                              std::to_string(grad.rank()));
  } else if (failed(oneElement(c, grad, "gradient"))) {
    return failure();
  }
  return rowMajor(c, promoteTypes(grad.dtype, self.dtype).value_or(grad.dtype),
                  self.sizes);
}

static LogicalResult checkNll2d(FakeCall &c, const TensorMeta &self,
                                const TensorMeta &target, unsigned weightArg) {
  if (self.rank() != 4)
    return c.fail(FakeError::Dim, "nll_loss2d needs 4 dims, " +
                                      c.nameOf(&self) + " has " +
                                      Twine(self.rank()));
  if (target.rank() != 3)
    return c.fail(FakeError::Dim, "the target must have 3 dims, it has " +
                                      Twine(target.rank()));
  if (!c.sameSizes({self.sizes[0], self.sizes[2], self.sizes[3]}, target.sizes))
    return c.fail(FakeError::Dim,
                  "the target must have the size of the input without its "
                  "classes, dim 1" +
                      unlike(target.sizes,
                             {self.sizes[0], self.sizes[2], self.sizes[3]}));
  if (failed(classTarget(c, target)))
    return failure();
  if (target.dtype == DType::U8)
    return c.fail(FakeError::Dtype, "nll_loss2d needs a target of int64, it is "
                                    "uint8");
  return classWeights(c, weightArg, self.sizes[1]);
}

static LogicalResult nll2dForward(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &target = c.tensor(1);
  bool none;
  if (failed(reduction(c, 3, none)) || failed(checkNll2d(c, self, target, 2)))
    return failure();
  return lossAndWeight(c, none, target.sizes);
}

static LogicalResult nll2dBackward(FakeCall &c) {
  const TensorMeta &self = c.tensor(1);
  bool none;
  if (failed(reduction(c, 4, none)) ||
      failed(checkNll2d(c, self, c.tensor(2), 3)) ||
      failed(oneElement(c, c.tensor(6), "total weight")))
    return failure();
  if (none ? !c.sameSizes(c.tensor(0).sizes, c.tensor(2).sizes)
           : !c.mustEq(c.tensor(0).numel(), 1))
    return c.fail(FakeError::Shape,
                  "the gradient " + c.show(c.tensor(0)) + " must have " +
                      (none ? "the size " + dimsText(c.tensor(2).sizes)
                            : std::string("one element")));
  return rowMajor(c, c.tensor(0).dtype, self.sizes);
}

static LogicalResult nllNd(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &target = c.tensor(1);
  if (self.rank() <= 2)
    return lossAlone<nllForward>(c);
  bool none;
  if (failed(reduction(c, 3, none)) || failed(classTarget(c, target)) ||
      failed(classWeights(c, 2, self.sizes[1])))
    return failure();
  Dims sizes = self.sizes;
  sizes.erase(sizes.begin() + 1);
  if (!c.sameSizes(sizes, target.sizes))
    return c.fail(FakeError::Shape, "the target must have the size of the "
                                    "input without its classes, dim 1" +
                                        unlike(target.sizes, sizes));
  return none ? rowMajor(c, self.dtype, sizes) : scalar(c, self.dtype);
}

/// The target holds class indices or, with the input's size, probabilities.
static LogicalResult crossEntropy(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &target = c.tensor(1);
  bool none;
  if (self.sizes.empty())
    return c.fail(FakeError::Dim, "cross_entropy_loss needs at least one dim");
  if (failed(reduction(c, 3, none)))
    return failure();
  size_t classDim = self.rank() == 1 ? 0 : 1;
  if (failed(classWeights(c, 2, self.sizes[classDim])))
    return failure();
  if (!isFloating(self.dtype))
    return c.fail(FakeError::Dtype, "cross_entropy_loss needs a floating "
                                    "dtype, not " +
                                        dtypeName(self.dtype));
  Dims sizes = self.sizes;
  sizes.erase(sizes.begin() + classDim);
  bool probabilities =
      self.rank() == target.rank() && c.sameSizes(self.sizes, target.sizes);
  if (probabilities ? !isFloating(target.dtype) : false)
    return c.fail(FakeError::Dtype, "class probabilities must be floating, "
                                    "not " +
                                        dtypeName(target.dtype));
  if (!probabilities) {
    if (failed(classTarget(c, target)))
      return failure();
    if (!c.sameSizes(sizes, target.sizes))
      return c.fail(FakeError::Shape, "the target must have the size of the "
                                      "input without its classes, dim " +
                                          Twine(classDim) +
                                          unlike(target.sizes, sizes));
  }
  return none ? rowMajor(c, self.dtype, sizes) : scalar(c, self.dtype);
}

//===----------------------------------------------------------------------===//
// Margins
//===----------------------------------------------------------------------===//

/// Samples of classes: [C] or [N, C]; gives N (1 without batch) and C.
static FailureOr<std::pair<Dim, Dim>> samples(FakeCall &c,
                                              const TensorMeta &self) {
  if (self.rank() > 2 || (self.rank() == 2 && c.isEmpty(self.sizes[1])))
    return c.fail(FakeError::Dim, c.schema().base +
                                      " needs at most 2 dims with classes, "
                                      "not " +
                                      c.show(self));
  if (self.rank() == 2)
    return std::pair(self.sizes[0], self.sizes[1]);
  return std::pair(Dim(1), self.sizes.empty() ? Dim(1) : self.sizes[0]);
}

static LogicalResult multiMargin(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &target = c.tensor(1);
  bool none;
  auto size = samples(c, self);
  if (failed(size) || failed(reduction(c, 5, none)))
    return failure();
  if (target.rank() > 1 || !c.mustEq(target.numel(), size->first))
    return c.fail(FakeError::Shape,
                  "the target " + c.show(target) +
                      " must have an entry for each sample, " +
                      size->first.str());
  if (target.dtype != DType::I64 && target.dtype != DType::I32)
    return c.fail(FakeError::Dtype,
                  "the target must be int64, not " + dtypeName(target.dtype));
  if (!(c.number(2) == 1 || c.number(2) == 2))
    return c.fail(FakeError::Other,
                  "p must be 1 or 2, not " + std::to_string(c.number(2)));
  if (failed(classWeights(c, 4, size->second)))
    return failure();
  if (none && self.rank() == 2)
    return rowMajor(c, self.dtype, size->first);
  return scalar(c, self.dtype);
}

/// (grad, self, target, p, margin, weight, reduction)
static LogicalResult multiMarginBackward(FakeCall &c) {
  const TensorMeta &self = c.tensor(1), &target = c.tensor(2);
  auto size = samples(c, self);
  if (failed(size))
    return failure();
  if (!(c.number(3) == 1 || c.number(3) == 2))
    return c.fail(FakeError::Other,
                  "p must be 1 or 2, not " + std::to_string(c.number(3)));
  if (target.rank() > 1 || !c.mustEq(target.numel(), size->first))
    return c.fail(FakeError::Shape,
                  "the target " + c.show(target) +
                      " must have an entry for each sample, " +
                      size->first.str());
  return rowMajor(c, self.dtype, self.sizes);
}

/// (grad, self, target, reduction, is_target)
static LogicalResult multilabelMarginBackward(FakeCall &c) {
  const TensorMeta &self = c.tensor(1), &target = c.tensor(2);
  if (failed(samples(c, self)))
    return failure();
  if (failed(checkTakes(c, self.dtype, Takes::Floating)))
    return failure();
  for (const TensorMeta *t : {&target, &c.tensor(4)})
    if (!c.sameSizes(self.sizes, t->sizes))
      return c.fail(FakeError::Shape,
                    "the target " + c.show(*t) + " does not have the size of " +
                        c.show(self) + unlike(t->sizes, self.sizes));
  return rowMajor(c, self.dtype, self.sizes);
}

static LogicalResult multilabelMargin(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &target = c.tensor(1);
  bool none;
  auto size = samples(c, self);
  if (failed(size) || failed(reduction(c, 2, none)))
    return failure();
  if (!c.sameSizes(self.sizes, target.sizes))
    return c.fail(FakeError::Shape, "the target " + c.show(target) +
                                        " does not have the size of " +
                                        c.show(self) +
                                        unlike(target.sizes, self.sizes));
  if (target.dtype != DType::I64 && target.dtype != DType::I32)
    return c.fail(FakeError::Dtype,
                  "the target must be int64, not " + dtypeName(target.dtype));
  if (failed(none && self.rank() == 2 ? rowMajor(c, self.dtype, size->first)
                                      : scalar(c, self.dtype)))
    return failure();
  if (c.schema().returns.size() == 1)
    return success();
  return rowMajor(c, self.dtype, target.sizes);
}

//===----------------------------------------------------------------------===//
// Losses composed of others
//===----------------------------------------------------------------------===//

namespace {
struct LossOperands {
  SmallVector<const TensorMeta *, 4> tensors;
  DType dtype; ///< of the result
  bool none;   ///< no reduction
};
} // namespace

/// The first `count` arguments of a loss, and how it is reduced.
static FailureOr<LossOperands> lossOperands(FakeCall &c, unsigned count,
                                            unsigned reductionArg) {
  LossOperands of;
  FailureOr<DType> dtype = promotedDType(c, (1u << count) - 1);
  if (failed(dtype) || failed(reduction(c, reductionArg, of.none)))
    return failure();
  of.dtype = toFloat(*dtype);
  for (unsigned i = 0; i < count; ++i)
    of.tensors.push_back(&c.tensor(i));
  return of;
}

/// Elementwise, then reduced.
static LogicalResult composed(FakeCall &c, const LossOperands &of) {
  if (of.none)
    return elementwise(c, of.tensors, of.dtype);
  return failed(c.broadcast(of.tensors)) ? failure() : scalar(c, of.dtype);
}

/// The same over the given number of tensors, in the dtype that they promote
/// to.
template <unsigned Tensors, unsigned ReductionArg>
static LogicalResult composedLoss(FakeCall &c) {
  FailureOr<LossOperands> of = lossOperands(c, Tensors, ReductionArg);
  return failed(of) ? failure() : composed(c, *of);
}

/// (self, target, margin, reduction): in self's dtype.
static LogicalResult hingeEmbedding(FakeCall &c) {
  FailureOr<LossOperands> of = lossOperands(c, 2, 3);
  if (failed(of))
    return failure();
  if (isFloating(c.tensor(0).dtype))
    of->dtype = c.tensor(0).dtype;
  return composed(c, *of);
}

/// Distances along the last dim, then reduced.
template <unsigned Tensors, unsigned ReductionArg>
static LogicalResult distanceLoss(FakeCall &c) {
  FailureOr<LossOperands> of = lossOperands(c, Tensors, ReductionArg);
  if (failed(of))
    return failure();
  FailureOr<Dims> sizes = c.broadcast(of->tensors);
  if (failed(sizes))
    return failure();
  if (!of->none)
    return scalar(c, of->dtype);
  if (!sizes->empty())
    sizes->pop_back();
  return rowMajor(c, of->dtype, *sizes);
}

//===----------------------------------------------------------------------===//
// CTC
//===----------------------------------------------------------------------===//

/// There is a length of input and target, a number or an element of an integer
/// tensor, for each sequence.
static LogicalResult countLengths(FakeCall &c, Dim batch) {
  for (unsigned i : {2u, 3u}) {
    const TensorMeta *lengths = c.optTensor(i);
    if (lengths && !isIntegral(lengths->dtype))
      return c.fail(FakeError::Other, "'" + c.schema().args[i].name +
                                          "' must be integers, it is " +
                                          dtypeName(lengths->dtype));
    Dim count = lengths ? lengths->numel() : Dim(int64_t(c.length(i)));
    if (!c.mustEq(count, batch))
      return c.fail(FakeError::Shape, "'" + c.schema().args[i].name + "' has " +
                                          count.str() + " entries for " +
                                          batch.str() + " sequences");
  }
  return success();
}

/// The losses of sequences, and a workspace [batch, time, 2 · longest + 1]: the
/// longest target counts, which data decide where the lengths are tensors.
/// Without a scope such sizes are refused, as PyTorch's shape function does.
static LogicalResult ctc(FakeCall &c) {
  if (failed(c.needsData("the workspace of " + c.schema().base)))
    return failure();
  const TensorMeta &probs = c.tensor(0), &targets = c.tensor(1);
  if (probs.rank() != 3)
    return c.fail(FakeError::Dim,
                  "'log_probs' needs 3 dims, it has " + Twine(probs.rank()));
  if (probs.dtype != DType::F32 && probs.dtype != DType::F64)
    return c.fail(FakeError::Dtype, "'log_probs' must be float32 or float64, "
                                    "not " +
                                        dtypeName(probs.dtype));
  if (targets.dtype != DType::I64 && targets.dtype != DType::I32)
    return c.fail(FakeError::Dtype, "'targets' must be int64 or int32, not " +
                                        dtypeName(targets.dtype));
  for (int64_t d : {0, 1, 2})
    if (c.eq(probs.sizes[d], 0))
      return c.fail(FakeError::Shape,
                    c.sizeAt(probs, d) + ", so there is nothing to align");
  if (targets.rank() != 1 && targets.rank() != 2)
    return c.fail(FakeError::Dim, "'targets' needs 1 or 2 dims, it has " +
                                      Twine(targets.rank()));
  Dim batch = probs.sizes[1], most = targets.sizes.back();
  if (targets.rank() == 2 && !c.mustEq(targets.sizes[0], batch))
    return c.fail(FakeError::Shape,
                  c.sizeAt(targets, 0) + ", " + c.sizeAt(probs, 1));
  if (failed(countLengths(c, batch)))
    return failure();
  if (c.lt(c.dim(4), 0) || c.le(probs.sizes[2], c.dim(4)))
    return c.fail(FakeError::Other,
                  "blank is " + c.dim(4).str() + ", and " + c.sizeAt(probs, 2));
  Dim longest = 0;
  if (c.optTensor(3)) {
    FailureOr<Dim> found = c.unbackedSize(0, most, 3);
    if (failed(found))
      return failure();
    longest = *found;
  } else {
    Dim all = 0;
    for (auto [time, length] : zip(c.dims(2), c.dims(3))) {
      if (c.lt(time, 0) || c.lt(probs.sizes[0], time))
        return c.fail(FakeError::Other, "an entry of 'input_lengths' is " +
                                            time.str() + ", and " +
                                            c.sizeAt(probs, 0));
      if (c.lt(length, 0) || (targets.rank() == 2 && c.lt(most, length)))
        return c.fail(FakeError::Other, "an entry of 'target_lengths' is " +
                                            length.str() + ", and " +
                                            c.sizeAt(targets, -1));
      longest = maxDim(longest, length);
      all = all + length;
    }
    if (targets.rank() == 1 && !c.mustEq(all, most))
      return c.fail(FakeError::Shape, "'target_lengths' add up to " +
                                          all.str() + ", and " +
                                          c.sizeAt(targets, 0));
  }
  if (failed(rowMajor(c, probs.dtype, {batch})))
    return failure();
  return rowMajor(c, probs.dtype, {batch, probs.sizes[0], longest * 2 + 1});
}

/// The loss alone, whose size no data decide: one for each sequence of
/// log_probs [time, batch, classes] or, without a batch, [time, classes].
static LogicalResult ctcLoss(FakeCall &c) {
  const TensorMeta &probs = c.tensor(0);
  if (probs.rank() != 2 && probs.rank() != 3)
    return c.fail(FakeError::Dim,
                  "log_probs needs 2 or 3 dims, it has " + Twine(probs.rank()));
  if (!isFloating(probs.dtype))
    return c.fail(FakeError::Dtype, "log_probs must be floating, it is " +
                                        dtypeName(probs.dtype));
  if (!isIntegral(c.tensor(1).dtype))
    return c.fail(FakeError::Dtype, "the targets must be integers, they are " +
                                        dtypeName(c.tensor(1).dtype));
  bool batched = probs.rank() == 3;
  Dim batch = batched ? probs.sizes[1] : Dim(1);
  if (failed(countLengths(c, batch)))
    return failure();
  bool each = c.dim(5).is(0);
  return rowMajor(c, probs.dtype, each && batched ? Dims{batch} : Dims());
}

static LogicalResult ctcBackward(FakeCall &c) {
  const TensorMeta &self = c.tensor(1);
  for (unsigned i : {3u, 4u})
    if (const TensorMeta *lengths = c.optTensor(i))
      if (!isIntegral(lengths->dtype))
        return c.fail(FakeError::Other, "'" + c.schema().args[i].name +
                                            "' must be integers, it is " +
                                            dtypeName(lengths->dtype));
  if (c.tensor(0).rank() != 1)
    return c.fail(FakeError::Dim, "the gradient needs 1 dim, it has " +
                                      Twine(c.tensor(0).rank()));
  const TensorMeta &alpha = c.tensor(6);
  for (unsigned i : {0u, 5u, 6u})
    if (c.tensor(i).dtype != self.dtype)
      return c.fail(FakeError::Dtype, "'" + c.schema().args[i].name + "' is " +
                                          dtypeName(c.tensor(i).dtype) +
                                          ", the probabilities are " +
                                          dtypeName(self.dtype));
  if (alpha.rank() != 3)
    return c.fail(FakeError::Dim,
                  "log_alpha needs 3 dims, it has " + Twine(alpha.rank()));
  return rowMajor(c, self.dtype, self.sizes);
}

ArrayRef<FakeRuleRow> lossRules() {
  static const FakeRuleRow rows[] = {
      {"_ctc_loss.Tensor", ctc},
      {"_ctc_loss.default", ctc},
      {"_ctc_loss_backward.Tensor", ctcBackward},
      {"_ctc_loss_backward.default", ctcBackward},
      {"binary_cross_entropy.default", elementwiseLoss<3>},
      {"binary_cross_entropy_backward.default", elementwiseLossBackward},
      {"binary_cross_entropy_with_logits.default", lossWithLogits},
      {"cosine_embedding_loss.default", distanceLoss<2, 4>},
      {"cross_entropy_loss.default", crossEntropy},
      {"ctc_loss.IntList", ctcLoss, DevicePolicy::First},
      {"ctc_loss.Tensor", ctcLoss, DevicePolicy::First},
      {"hinge_embedding_loss.default", hingeEmbedding},
      {"huber_loss.default", elementwiseLoss<2>},
      {"huber_loss_backward.default", elementwiseLossBackward},
      {"kl_div.default", composedLoss<2, 2>},
      {"l1_loss.default", composedLoss<2, 2>},
      {"margin_ranking_loss.default", composedLoss<3, 4>},
      {"mse_loss.default", elementwiseLoss<2>},
      {"mse_loss_backward.default", elementwiseLossBackward},
      {"multi_margin_loss.default", multiMargin},
      {"multi_margin_loss_backward.default", multiMarginBackward},
      {"multilabel_margin_loss.default", multilabelMargin},
      {"multilabel_margin_loss_backward.default", multilabelMarginBackward},
      {"multilabel_margin_loss_forward.default", multilabelMargin,
       DevicePolicy::Strict},
      {"nll_loss.default", lossAlone<nllForward>},
      {"nll_loss2d.default", lossAlone<nll2dForward>},
      {"nll_loss2d_backward.default", nll2dBackward},
      {"nll_loss2d_forward.default", nll2dForward},
      {"nll_loss_backward.default", nllBackward},
      {"nll_loss_forward.default", nllForward, DevicePolicy::Strict},
      {"nll_loss_nd.default", nllNd},
      {"poisson_nll_loss.default", composedLoss<2, 5>},
      {"smooth_l1_loss.default", elementwiseLoss<2>},
      {"smooth_l1_loss_backward.default", elementwiseLossBackward},
      {"soft_margin_loss.default", elementwiseLoss<2>},
      {"soft_margin_loss_backward.default", elementwiseLossBackward},
      {"triplet_margin_loss.default", distanceLoss<3, 7>},
  };
  return rows;
}

} // namespace ft
