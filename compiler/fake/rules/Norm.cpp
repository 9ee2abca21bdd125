//===- Norm.cpp - Normalisations -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/Refusals.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

static bool isCpu(FakeCall &c) { return c.device.kind == Device::Cpu; }

static bool isReduced(DType d) { return d == DType::F16 || d == DType::BF16; }

static bool masked(FakeCall &c, unsigned arg, size_t i) {
  const std::vector<Arg> &mask = c.arg(arg).list;
  return i < mask.size() && mask[i].boolean;
}

static LogicalResult rowMajor(FakeCall &c, DType dtype, ArrayRef<Dim> sizes) {
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// Each of the vectors must have one entry for each channel.
static FailureOr<Dim> channels(FakeCall &c, const TensorMeta &input,
                               ArrayRef<unsigned> vectors) {
  if (input.rank() < 2)
    return c.fail(FakeError::Dim, "batch norm needs at least 2 dims, the input "
                                  "has " +
                                      Twine(input.rank()));
  Dim count = input.sizes[1];
  for (unsigned i : vectors) {
    const TensorMeta *t = c.optTensor(i);
    // The CPU kernel of native_batch_norm reads the first entries it needs.
    if (t && isCpu(c) && c.schema().base == "native_batch_norm" &&
        c.le(count, t->numel()))
      continue;
    if (t && (t->rank() != 1 || !c.mustEq(t->sizes[0], count)))
      return c.fail(FakeError::Shape, c.show(*t) + " must have size [" +
                                          count.str() +
                                          "], one entry for each channel");
  }
  return count;
}

/// CPU kernels compute a reduced-precision input with float32 parameters; then
/// the statistics are float32 as well.
static DType statistics(FakeCall &c, const TensorMeta &input,
                        ArrayRef<unsigned> parameters) {
  if (!isReduced(input.dtype))
    return input.dtype;
  if (!isCpu(c))
    return DType::F32;
  for (unsigned i : parameters)
    if (const TensorMeta *t = c.optTensor(i))
      if (t->dtype == DType::F32)
        return DType::F32;
  return input.dtype;
}

static LogicalResult normalised(FakeCall &c, const TensorMeta &input) {
  TensorMeta out = TensorMeta::contiguous(input.dtype, input.sizes, c.device);
  // The CPU kernels know row-major and channels last; others keep the order of
  // dims.
  out.strides = isCpu(c) ? followingStrides(input.sizes, input)
                         : elementwiseStrides({&input}, input.sizes);
  return c.fresh(std::move(out));
}

static LogicalResult checkTraining(FakeCall &c, const TensorMeta &input) {
  if (isFloating(input.dtype))
    return success();
  return c.fail(FakeError::Dtype, "batch norm needs a floating dtype, not " +
                                      dtypeName(input.dtype));
}

/// (output, mean, 1/std); the statistics are empty on CPU if they are given.
static LogicalResult batchNormResults(FakeCall &c, bool training,
                                      ArrayRef<unsigned> vectors) {
  const TensorMeta &input = c.tensor(0);
  FailureOr<Dim> count = channels(c, input, vectors);
  if (failed(count) || failed(checkTraining(c, input)) ||
      failed(normalised(c, input)))
    return failure();
  if (training && c.schema().base != "native_batch_norm" && c.isEmpty(*count))
    return c.fail(FakeError::Other, "batch norm needs channels, 'input' has "
                                    "none");
  bool mixed = training && c.schema().base != "_batch_norm_with_update";
  DType saved =
      !mixed && isCpu(c) ? input.dtype : statistics(c, input, vectors);
  Dim size = !training && isCpu(c) ? Dim(0) : *count;
  if (failed(rowMajor(c, saved, size)))
    return failure();
  return rowMajor(c, saved, size);
}

/// native_batch_norm, _native_batch_norm_legit: weight 1, bias 2, running
/// statistics 3 and 4, training 5.
static LogicalResult batchNormLegit(FakeCall &c) {
  return batchNormResults(c, c.flag(5), {1, 2, 3, 4});
}
static LogicalResult batchNormNoStats(FakeCall &c) {
  return batchNormResults(c, c.flag(3), {1, 2});
}
static LogicalResult batchNormNoTraining(FakeCall &c) {
  return batchNormResults(c, false, {1, 2, 3, 4});
}

static LogicalResult batchNormFunctional(FakeCall &c) {
  if (failed(batchNormResults(c, c.flag(5), {1, 2, 3, 4})))
    return failure();
  for (unsigned i : {3u, 4u})
    if (failed(rowMajor(c, c.tensor(i).dtype, c.tensor(i).sizes)))
      return failure();
  return success();
}

static LogicalResult batchNormWithUpdate(FakeCall &c) {
  if (failed(batchNormResults(c, true, {1, 2, 3, 4})))
    return failure();
  return rowMajor(c, DType::U8, Dim(0));
}

/// (input, weight, bias, running statistics, training, …): with a workspace
/// and the number of the kernel that ran, 0 for the CPU's.
static LogicalResult batchNormIndex(FakeCall &c) {
  if (failed(batchNormLegit(c)))
    return failure();
  (void)rowMajor(c, DType::U8, Dim(0));
  return c.integer(0);
}

/// (impl_index, input, grad_out, weight, running and saved statistics, train,
/// eps, mask, workspace)
static LogicalResult batchNormIndexBackward(FakeCall &c) {
  const TensorMeta &input = c.tensor(1), &grad = c.tensor(2);
  FailureOr<Dim> count = channels(c, input, {3});
  if (failed(count))
    return failure();
  if (!c.sameSizes(grad.sizes, input.sizes))
    return c.fail(FakeError::Shape, "the gradient " + c.show(grad) +
                                        " does not have the size of " +
                                        c.show(input) +
                                        unlike(grad.sizes, input.sizes));
  DType weight = c.optTensor(3) ? c.tensor(3).dtype : input.dtype;
  for (size_t i = 0; i < 3; ++i) {
    if (!masked(c, 10, i))
      (void)c.undefined();
    else if (i == 0)
      (void)normalised(c, input);
    else
      (void)rowMajor(c, weight, *count);
  }
  return success();
}

static LogicalResult batchNormNoUpdate(FakeCall &c) {
  if (failed(batchNormResults(c, false, {1, 2, 3, 4})))
    return failure();
  return rowMajor(c, DType::U8, Dim(0));
}

static LogicalResult batchNormUpdated(FakeCall &c) {
  if (failed(batchNormWithUpdate(c)))
    return failure();
  for (unsigned i : {3u, 4u})
    (void)rowMajor(c, c.tensor(i).dtype, c.tensor(i).sizes);
  return success();
}

/// (input, running statistics, momentum): mean and variance of the batch.
static LogicalResult batchNormStatistics(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  FailureOr<Dim> count = channels(c, input, {1, 2});
  if (failed(count) || failed(checkTraining(c, input)))
    return failure();
  DType dtype = statistics(c, input, {1, 2});
  (void)rowMajor(c, dtype, *count);
  return rowMajor(c, dtype, *count);
}

/// Has no CPU kernel: what it would give on the accelerator.
static LogicalResult cudnnBatchNorm(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  FailureOr<Dim> count = channels(c, input, {1, 2, 3, 4});
  if (failed(count) || failed(elementwise(c, {&input}, input.dtype)))
    return failure();
  Dim size = c.flag(5) ? *count : Dim(0);
  DType saved = isReduced(input.dtype) ? DType::F32 : input.dtype;
  if (failed(rowMajor(c, saved, size)) || failed(rowMajor(c, saved, size)))
    return failure();
  return rowMajor(c, DType::U8, Dim(0));
}

static LogicalResult batchNorm(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  if (failed(channels(c, input, {1, 2, 3, 4})) ||
      failed(checkTraining(c, input)))
    return failure();
  if (!c.flag(5) && (c.isNone(3) || c.isNone(4)))
    return c.fail(FakeError::Other, "batch norm without training needs running "
                                    "statistics");
  return normalised(c, input);
}

static LogicalResult instanceNorm(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  if (failed(channels(c, input, {1, 2, 3, 4})))
    return failure();
  return normalised(c, input);
}

/// (grad_out, input, weight, …): the gradients of input, weight and bias.
template <unsigned Mask>
static LogicalResult batchNormBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &input = c.tensor(1);
  if (grad.rank() != input.rank())
    return c.fail(FakeError::Dim,
                  c.nameOf(&grad) + " has " + Twine(grad.rank()) + " dims, " +
                      c.nameOf(&input) + " " + Twine(input.rank()));
  if (!c.sameSizes(grad.sizes, input.sizes))
    return c.fail(FakeError::Shape, "the gradient " + c.show(grad) +
                                        " does not have the size of " +
                                        c.show(input) +
                                        unlike(grad.sizes, input.sizes));
  // Statistics of the other mode may be empty.
  FailureOr<Dim> count = channels(c, input, {2});
  if (failed(count))
    return failure();
  for (unsigned i : {3u, 4u, 5u, 6u}) {
    const TensorMeta *t = c.optTensor(i);
    if (t &&
        !(t->rank() == 1 && (t->sizes[0].is(0) || c.eq(t->sizes[0], *count))))
      return c.fail(FakeError::Shape, c.show(*t) + " must have size [" +
                                          count->str() +
                                          "], one entry for each channel");
  }
  DType weight = c.optTensor(2) ? c.tensor(2).dtype : input.dtype;
  for (size_t i = 0; i < 3; ++i) {
    if (!masked(c, Mask, i))
      (void)c.undefined();
    else if (i == 0)
      (void)normalised(c, input);
    else
      (void)rowMajor(c, weight, *count);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Layer norm
//===----------------------------------------------------------------------===//

/// The last dims must be `normalized_shape`, and the parameters must have it.
static LogicalResult checkNormalized(FakeCall &c, const TensorMeta &input,
                                     unsigned shapeArg,
                                     ArrayRef<unsigned> parameters) {
  Dims shape = c.dims(shapeArg);
  if (shape.empty())
    return c.fail(FakeError::Shape, "normalized_shape must have an entry");
  if (shape.size() > input.sizes.size() ||
      !c.sameSizes(ArrayRef<Dim>(input.sizes).take_back(shape.size()), shape))
    return c.fail(FakeError::Shape,
                  "the input " + c.show(input) +
                      " does not end in the normalized shape of " +
                      TensorMeta::contiguous(input.dtype, shape).str());
  for (unsigned i : parameters) {
    const TensorMeta *t = c.optTensor(i);
    if (t && !c.sameSizes(t->sizes, shape))
      return c.fail(FakeError::Shape, c.show(*t) +
                                          " must have the normalized shape " +
                                          dimsText(shape));
    if (t && shapeArg == 1 && isCpu(c) && t->dtype != input.dtype &&
        !(isReduced(input.dtype) && t->dtype == DType::F32))
      return c.fail(FakeError::Dtype, "'" + c.schema().args[i].name + "' is " +
                                          dtypeName(t->dtype) + ", the input " +
                                          dtypeName(input.dtype));
  }
  return success();
}

static LogicalResult layerNorm(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  if (failed(checkNormalized(c, input, 1, {2, 3})))
    return failure();
  return rowMajor(c, input.dtype, input.sizes);
}

static Dims statisticsSizes(const TensorMeta &input, size_t normalized) {
  Dims sizes = input.sizes;
  for (size_t d = sizes.size() - normalized; d < sizes.size(); ++d)
    sizes[d] = 1;
  return sizes;
}

static LogicalResult nativeLayerNorm(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  if (failed(layerNorm(c)))
    return failure();
  if (!isFloating(input.dtype) && !isComplex(input.dtype))
    return c.fail(FakeError::Dtype, "layer norm needs a floating dtype, the "
                                    "input is " +
                                        dtypeName(input.dtype));
  DType saved = statistics(c, input, {2, 3});
  Dims sizes = statisticsSizes(input, c.dims(1).size());
  if (failed(rowMajor(c, saved, sizes)))
    return failure();
  return rowMajor(c, saved, sizes);
}

/// (grad_out, input, normalized_shape, mean, rstd, weight, bias, mask)
static LogicalResult nativeLayerNormBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &input = c.tensor(1);
  if (failed(checkNormalized(c, input, 2, {5, 6})))
    return failure();
  if (!c.sameSizes(grad.sizes, input.sizes))
    return c.fail(FakeError::Shape, "the gradient " + c.show(grad) +
                                        " does not have the size of " +
                                        c.show(input) +
                                        unlike(grad.sizes, input.sizes));
  Dims saved = statisticsSizes(input, c.dims(2).size());
  for (unsigned i : {3u, 4u})
    if (!c.sameSizes(c.tensor(i).sizes, saved))
      return c.fail(FakeError::Shape, "the statistics " + c.show(c.tensor(i)) +
                                          " must have the size " +
                                          dimsText(saved) +
                                          unlike(c.tensor(i).sizes, saved));
  for (unsigned i : {0u, 1u, 2u}) {
    const TensorMeta *parameter = i ? c.optTensor(4 + i) : nullptr;
    if (!masked(c, 7, i) || (i && !parameter)) {
      (void)c.undefined();
      continue;
    }
    const TensorMeta &like = i ? *parameter : input;
    (void)rowMajor(c, like.dtype, like.sizes);
  }
  // A sum over no dims is the gradient itself.
  if (c.dims(2).size() == grad.sizes.size() && isContiguous(grad) &&
      c.results[2].kind == FakeResult::Tensor)
    c.results[2].meta.strides = cloneStrides(grad);
  return success();
}

static LogicalResult rmsNorm(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  if (failed(checkNormalized(c, input, 1, {2})))
    return failure();
  return rowMajor(c, input.dtype, input.sizes);
}

static LogicalResult fusedRmsNorm(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  if (failed(rmsNorm(c)))
    return failure();
  DType saved = isReduced(input.dtype) ? DType::F32 : input.dtype;
  return rowMajor(c, saved, statisticsSizes(input, c.dims(1).size()));
}

static LogicalResult fusedRmsNormBackward(FakeCall &c) {
  const TensorMeta &input = c.tensor(1);
  for (unsigned i : {0u, 1u}) {
    const TensorMeta *like = i ? c.optTensor(4) : &input;
    if (!masked(c, 5, i) || !like)
      (void)c.undefined();
    else
      (void)rowMajor(c, like->dtype, like->sizes);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Group norm
//===----------------------------------------------------------------------===//

static LogicalResult checkGroups(FakeCall &c, const TensorMeta &input,
                                 Dim groups, ArrayRef<unsigned> parameters) {
  // The CPU kernel works on what N, C and HxW say.
  if (input.rank() < 2 && !isCpu(c))
    return c.fail(FakeError::Dim, "group norm needs at least 2 dims, the input "
                                  "has " +
                                      Twine(input.rank()));
  if (c.lt(groups, 1))
    return c.fail(FakeError::Other, "the number of groups must be positive, "
                                    "it is " +
                                        groups.str());
  Dim count = input.rank() < 2 ? c.dim(4) : input.sizes[1];
  if (!c.mustEq(mod(count, groups), 0))
    return c.fail(FakeError::Shape, count.str() +
                                        " channels do not divide into " +
                                        groups.str() + " groups");
  for (unsigned i : parameters) {
    const TensorMeta *t = c.optTensor(i);
    if (t && (t->rank() != 1 || !c.mustEq(t->sizes[0], count)))
      return c.fail(FakeError::Shape, c.show(*t) + " must have size [" +
                                          count.str() +
                                          "], one entry for each channel");
    if (t && isCpu(c) && t->dtype != input.dtype &&
        !(isReduced(input.dtype) && t->dtype == DType::F32))
      return c.fail(FakeError::Dtype, "'" + c.schema().args[i].name + "' is " +
                                          dtypeName(t->dtype) + ", the input " +
                                          dtypeName(input.dtype));
  }
  return success();
}

static LogicalResult groupNormResult(FakeCall &c, const TensorMeta &input) {
  TensorMeta out = TensorMeta::contiguous(input.dtype, input.sizes, c.device);
  if (isCpu(c))
    out.strides = followingStrides(input.sizes, input);
  return c.fresh(std::move(out));
}

static LogicalResult groupNorm(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  if (input.rank() < 2)
    return c.fail(FakeError::Dim, "group norm needs at least 2 dims, the input "
                                  "has " +
                                      Twine(input.rank()));
  if (failed(checkGroups(c, input, c.dim(1), {2, 3})))
    return failure();
  return groupNormResult(c, input);
}

/// (input, weight, bias, N, C, HxW, group, eps)
static LogicalResult nativeGroupNorm(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  if (failed(checkGroups(c, input, c.dim(6), {1, 2})))
    return failure();
  if (!c.mustEq(c.dim(3) * c.dim(4) * c.dim(5), input.numel()))
    return c.fail(FakeError::Shape,
                  "N, C and HxW, " + c.dim(3).str() + ", " + c.dim(4).str() +
                      " and " + c.dim(5).str() + ", do not fit the input " +
                      c.show(input));
  if (failed(groupNormResult(c, input)))
    return failure();
  DType saved = isReduced(input.dtype) && !isCpu(c)
                    ? input.dtype
                    : statistics(c, input, {1, 2});
  Dim sizes[] = {c.dim(3), c.dim(6)};
  if (failed(rowMajor(c, saved, sizes)))
    return failure();
  return rowMajor(c, saved, sizes);
}

/// (grad, input, mean, rstd, weight, N, C, HxW, group, mask)
static LogicalResult nativeGroupNormBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &input = c.tensor(1);
  if (!c.sameSizes(grad.sizes, input.sizes))
    return c.fail(FakeError::Shape, "the gradient " + c.show(grad) +
                                        " does not have the size of " +
                                        c.show(input) +
                                        unlike(grad.sizes, input.sizes));
  Dims statistics = {c.dim(5), c.dim(8)};
  for (unsigned i : {2u, 3u})
    if (!c.sameSizes(c.tensor(i).sizes, statistics))
      return c.fail(FakeError::Shape, "the statistics " + c.show(c.tensor(i)) +
                                          " do not fit " + statistics[0].str() +
                                          " × " + statistics[1].str() +
                                          " groups");
  if (!c.mustEq(c.dim(5) * c.dim(6) * c.dim(7), input.numel()))
    return c.fail(FakeError::Shape,
                  "N, C and HxW, " + c.dim(5).str() + ", " + c.dim(6).str() +
                      " and " + c.dim(7).str() + ", do not fit the input " +
                      c.show(input));
  if (const TensorMeta *gamma = c.optTensor(4);
      gamma && !c.mustEq(gamma->numel(), c.dim(6)))
    return c.fail(FakeError::Shape, c.show(*gamma) + " must have size [" +
                                        c.dim(6).str() +
                                        "], one entry for each channel");
  // The statistics may be of a wider dtype.
  TensorMeta wide = input;
  wide.dtype =
      promoteTypes(input.dtype, c.tensor(2).dtype).value_or(input.dtype);
  if (isReduced(input.dtype))
    wide.dtype = input.dtype;
  DType weight = wide.dtype != input.dtype ? wide.dtype
                 : c.optTensor(4)          ? c.tensor(4).dtype
                                           : input.dtype;
  for (unsigned i : {0u, 1u, 2u}) {
    if (!masked(c, 9, i))
      (void)c.undefined();
    else if (i == 0)
      (void)groupNormResult(c, wide);
    else
      (void)rowMajor(c, weight, c.dim(6));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static LogicalResult renorm(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(checkTakes(c, self.dtype, Takes::FloatingOrComplex)))
    return failure();
  if (self.rank() < 2)
    return c.fail(FakeError::Dim, "renorm needs at least 2 dims, the tensor "
                                  "has " +
                                      Twine(self.rank()));
  if (failed(c.wrapDim(2, self.rank())))
    return failure();
  if (c.number(1) <= 0 || c.number(3) < 0)
    return c.fail(
        FakeError::Other,
        "renorm needs a positive p and a maxnorm that is not negative, not " +
            std::to_string(c.number(1)) + " and " +
            std::to_string(c.number(3)));
  return rowMajor(c, self.dtype, self.sizes);
}

static LogicalResult weightNorm(FakeCall &c) {
  const TensorMeta &v = c.tensor(0);
  if (failed(c.wrapDim(2, v.rank())))
    return failure();
  return elementwise(c, {&v}, v.dtype);
}

/// (v, g, dim): the weight, and the norms, in g's layout and at least float32.
static LogicalResult weightNormInterface(FakeCall &c) {
  const TensorMeta &v = c.tensor(0);
  TensorMeta norms = c.tensor(1);
  if (failed(c.wrapDim(2, v.rank())) || failed(oneDType(c, v, c.tensor(1))) ||
      failed(checkTakes(c, v.dtype, Takes::Floating)) ||
      failed(rowMajor(c, v.dtype, v.sizes)))
    return failure();
  if (dtypeBytes(norms.dtype) < 4)
    norms.dtype = DType::F32;
  norms.offset = 0;
  // PyTorch's kernel writes out of bounds there.
  if (overlapsItself(norms))
    norms.strides = likeStrides(norms);
  return c.fresh(std::move(norms));
}

/// The norm of sparse tensors, which the dialect does not have.
static LogicalResult sparseNorm(FakeCall &c) {
  return noKernel(c, "it takes sparse tensors only; use norm");
}

ArrayRef<FakeRuleRow> normRules() {
  static const FakeRuleRow rows[] = {
      {"_batch_norm_impl_index.default", batchNormIndex},
      {"_batch_norm_impl_index_backward.default", batchNormIndexBackward},
      {"_batch_norm_no_update.default", batchNormNoUpdate},
      {"_batch_norm_with_update.default", batchNormWithUpdate},
      {"_batch_norm_with_update_functional.default", batchNormUpdated},
      {"_fused_rms_norm.default", fusedRmsNorm},
      {"_fused_rms_norm_backward.default", fusedRmsNormBackward},
      {"_native_batch_norm_legit.default", batchNormLegit},
      {"_native_batch_norm_legit.no_stats", batchNormNoStats},
      {"_native_batch_norm_legit_functional.default", batchNormFunctional},
      {"_native_batch_norm_legit_no_training.default", batchNormNoTraining},
      {"_weight_norm.default", weightNorm},
      {"_weight_norm_interface.default", weightNormInterface},
      {"batch_norm.default", batchNorm},
      {"batch_norm_backward.default", batchNormBackward<9>},
      {"batch_norm_update_stats.default", batchNormStatistics},
      {"cudnn_batch_norm.default", cudnnBatchNorm},
      {"group_norm.default", groupNorm},
      {"instance_norm.default", instanceNorm},
      {"layer_norm.default", layerNorm},
      {"native_batch_norm.default", batchNormLegit},
      {"native_batch_norm_backward.default", batchNormBackward<9>},
      {"native_group_norm.default", nativeGroupNorm},
      {"native_group_norm_backward.default", nativeGroupNormBackward},
      {"native_layer_norm.default", nativeLayerNorm},
      {"native_layer_norm_backward.default", nativeLayerNormBackward},
      {"native_norm.ScalarOpt_dim_dtype", sparseNorm},
      {"native_norm.default", sparseNorm},
      {"renorm.default", renorm},
      {"rms_norm.default", rmsNorm},
  };
  return rows;
}

} // namespace ft
