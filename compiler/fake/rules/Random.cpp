//===- Random.cpp - Random numbers and dropout -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Factory.h"
#include "compiler/fake/rules/Families.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

//===----------------------------------------------------------------------===//
// Fresh random tensors
//===----------------------------------------------------------------------===//

static LogicalResult needsFloat(FakeCall &c, DType dtype) {
  return checkTakes(c, dtype, Takes::FloatingOrComplex);
}

/// Some checks are those of the CPU kernels; PyTorch's shape functions for
/// other devices do not make them.
static bool onCpu(FakeCall &c, const FactoryOptions &options) {
  return options.device.value_or(c.device).kind == Device::Cpu;
}

/// rand, randn: sizes, options.
template <bool Normal>
static LogicalResult random(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 1);
  if (failed(options))
    return failure();
  DType dtype = options->dtype.value_or(kDefaultFloat);
  bool cpu = onCpu(c, *options);
  bool hasElements = !product(c.dims(0)).is(0);
  if ((cpu ? hasElements : Normal) && failed(needsFloat(c, dtype)))
    return failure();
  return makeTensor(c, c.dims(0), dtype, *options);
}

template <bool Normal>
static LogicalResult randomLike(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 1);
  if (failed(options))
    return failure();
  bool hasElements = !c.tensor(0).numel().is(0);
  if ((onCpu(c, *options) ? hasElements : Normal) &&
      failed(needsFloat(c, options->dtype.value_or(c.tensor(0).dtype))))
    return failure();
  return makeLike(c, *options);
}

/// Seed and offset of one draw.
static LogicalResult philoxKey(FakeCall &c) {
  return c.fresh(TensorMeta::contiguous(DType::I64, {Dim(2)}, c.device));
}

/// key, size, dtype: numbers that the key determines.
static LogicalResult philoxDraw(FakeCall &c) {
  const TensorMeta &key = c.tensor(0);
  DType dtype = c.dtype(2).value_or(kDefaultFloat);
  if (key.dtype != DType::I64 || key.rank() != 1 || !c.eq(key.sizes[0], 2))
    return c.fail(FakeError::Shape,
                  "'key' must be int64 [2], not " + c.show(key));
  if (failed(needsFloat(c, dtype)))
    return failure();
  return c.fresh(TensorMeta::contiguous(dtype, c.dims(1), c.device));
}

/// low, high, size, key, dtype
static LogicalResult philoxIntegers(FakeCall &c) {
  return c.fresh(TensorMeta::contiguous(c.dtype(4).value_or(DType::I64),
                                        c.dims(2), c.device));
}

/// n, key, dtype
static LogicalResult philoxPermutation(FakeCall &c) {
  return c.fresh(TensorMeta::contiguous(c.dtype(2).value_or(DType::I64),
                                        {c.dim(0)}, c.device));
}

/// self, high, key: self's sizes and dtype.
static LogicalResult philoxBelow(FakeCall &c) {
  return c.fresh(
      TensorMeta::contiguous(c.tensor(0).dtype, c.tensor(0).sizes, c.device));
}

static LogicalResult checkRange(FakeCall &c, Dim low, Dim high, DType dtype,
                                bool cpu) {
  if (c.le(high, low))
    return c.fail(FakeError::Other, "the range from " + low.str() + " to " +
                                        high.str() + " is empty");
  if (cpu && (isComplex(dtype) || (dtype == DType::Bool && c.lt(2, high))))
    return c.fail(FakeError::Dtype, "the range from " + low.str() + " to " +
                                        high.str() + " does not fit " +
                                        dtypeName(dtype));
  return success();
}

/// randint: [low,] high, sizes, options.
template <unsigned High>
static LogicalResult randint(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, High + 2);
  if (failed(options))
    return failure();
  DType dtype = options->dtype.value_or(DType::I64);
  if (failed(checkRange(c, High ? c.dim(0) : Dim(0), c.dim(High), dtype,
                        onCpu(c, *options))))
    return failure();
  return makeTensor(c, c.dims(High + 1), dtype, *options);
}

template <unsigned High>
static LogicalResult randintLike(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, High + 1);
  if (failed(options))
    return failure();
  DType dtype = options->dtype.value_or(c.tensor(0).dtype);
  if (c.arg(High).kind == Arg::Int &&
      failed(checkRange(c, High == 2 ? c.dim(1) : Dim(0), c.dim(High), dtype,
                        onCpu(c, *options))))
    return failure();
  return makeLike(c, *options);
}

static LogicalResult randperm(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 1);
  if (failed(options))
    return failure();
  return makeTensor(c, {c.dim(0)}, options->dtype.value_or(DType::I64),
                    *options);
}

static LogicalResult normalTensors(FakeCall &c) {
  for (unsigned i : {0u, 1u}) {
    if (const TensorMeta *t = c.optTensor(i)) {
      if (i == 1 && isComplex(t->dtype))
        return c.fail(
            FakeError::Dtype,
            "normal's standard deviation must not be complex, it is " +
                dtypeName(t->dtype));
    } else if (i == 1 && c.number(1) < 0) {
      return c.fail(FakeError::Other,
                    "normal's standard deviation must not be negative, it is " +
                        std::to_string(c.number(1)));
    }
  }
  const TensorMeta *mean = c.optTensor(0);
  const TensorMeta *deviation = c.optTensor(1);
  const TensorMeta &first = mean ? *mean : *deviation;
  if (failed(needsFloat(c, first.dtype)))
    return failure();
  SmallVector<const TensorMeta *, 2> parameters;
  for (unsigned i : {0u, 1u})
    if (const TensorMeta *t = c.optTensor(i))
      parameters.push_back(t);
  FailureOr<Dims> sizes = c.broadcast(parameters);
  if (failed(sizes))
    return failure();
  return c.fresh(TensorMeta::contiguous(first.dtype, *sizes, c.device));
}

static LogicalResult normalSizes(FakeCall &c) {
  FailureOr<FactoryOptions> options = factoryOptions(c, 4);
  if (failed(options))
    return failure();
  DType dtype = options->dtype.value_or(kDefaultFloat);
  if (c.number(1) < 0)
    return c.fail(FakeError::Other,
                  "normal's standard deviation must not be negative, it is " +
                      std::to_string(c.number(1)));
  if (failed(needsFloat(c, dtype)))
    return failure();
  return makeTensor(c, c.dims(2), dtype, *options);
}

//===----------------------------------------------------------------------===//
// Tensors filled with random numbers
//===----------------------------------------------------------------------===//

/// uniform, normal…: self's layout, written in the in-place form.
template <Takes What>
static LogicalResult fillRandom(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(checkTakes(c, self.dtype, What)))
    return failure();
  TensorMeta out = self;
  out.strides = likeStrides(self);
  out.offset = 0;
  return c.fresh(std::move(out));
}

static LogicalResult bernoulli(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (c.arguments().size() > 1 && c.schema().args[1].name == "p") {
    if (const TensorMeta *p = c.optTensor(1)) {
      if (failed(c.broadcastTo(p->sizes, self.sizes, p)))
        return failure();
    } else if (!(c.number(1) >= 0 && c.number(1) <= 1)) {
      return c.fail(FakeError::Other,
                    "a probability must be in [0, 1], it is " +
                        std::to_string(c.number(1)));
    }
  }
  return c.fresh(TensorMeta::contiguous(self.dtype, self.sizes, c.device));
}

static LogicalResult normalInto(FakeCall &c) {
  if (failed(needsFloat(c, c.tensor(0).dtype)))
    return failure();
  return c.view(c.tensor(0), 0);
}

static LogicalResult multinomial(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.rank() != 1 && self.rank() != 2)
    return c.fail(FakeError::Dim, "multinomial needs 1 or 2 dims, " +
                                      c.nameOf(&self) + " has " +
                                      Twine(self.rank()));
  if (failed(checkTakes(c, self.dtype, Takes::Floating)))
    return failure();
  Dim samples = c.dim(1);
  if (c.lt(samples, 1))
    return c.fail(FakeError::Other, "the number of samples must be positive, "
                                    "it is " +
                                        samples.str());
  if (!c.flag(2) && c.lt(self.sizes.back(), samples))
    return c.fail(FakeError::Other, samples.str() +
                                        " samples cannot be drawn without "
                                        "replacement from " +
                                        self.sizes.back().str());
  Dims sizes = self.sizes;
  sizes.back() = samples;
  return c.fresh(TensorMeta::contiguous(DType::I64, sizes, c.device));
}

static LogicalResult elementwiseOfSelf(FakeCall &c) {
  return elementwise(c, {&c.tensor(0)}, c.tensor(0).dtype);
}

static LogicalResult binomial(FakeCall &c) {
  if (c.tensor(0).dtype != c.tensor(1).dtype)
    return c.fail(FakeError::Dtype, "binomial needs one dtype, not " +
                                        dtypeName(c.tensor(0).dtype) + " and " +
                                        dtypeName(c.tensor(1).dtype));
  return elementwise(c, {&c.tensor(0), &c.tensor(1)}, c.tensor(0).dtype);
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static LogicalResult checkProbability(FakeCall &c, double p) {
  // PyTorch's shape functions for accelerators do not look at it.
  bool fused = c.schema().base == "native_dropout";
  if ((p >= 0 && p <= 1) || (fused && c.device.kind != Device::Cpu))
    return success();
  return c.fail(FakeError::Other,
                "the dropout probability must be in [0, 1], it is " +
                    std::to_string(p));
}

/// Without training the input itself; a fresh tensor of its order otherwise.
static LogicalResult dropout(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  if (failed(checkProbability(c, c.number(1))))
    return failure();
  if (!c.flag(2) || c.number(1) == 0)
    return c.view(input, 0);
  return elementwise(c, {&input}, input.dtype);
}

/// Whole channels are dropped, [batch, channels, …].
static LogicalResult featureDropout(FakeCall &c) {
  if (failed(dropout(c)))
    return failure();
  if (c.results.front().alias < 0 && c.tensor(0).rank() < 2)
    return c.fail(FakeError::Dim, c.schema().base +
                                      " needs at least 2 dims, not " +
                                      Twine(c.tensor(0).rank()));
  return success();
}

static LogicalResult nativeDropout(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  if (failed(checkProbability(c, c.number(1))))
    return failure();
  TensorMeta out = input;
  out.strides = likeStrides(input);
  out.offset = 0;
  TensorMeta mask = out;
  mask.dtype = DType::Bool;
  if (failed(c.fresh(std::move(out))))
    return failure();
  return c.fresh(std::move(mask));
}

static LogicalResult nativeDropoutBackward(FakeCall &c) {
  FailureOr<DType> dtype = promotedDType(c, 3);
  if (failed(dtype))
    return failure();
  return elementwise(c, elementwiseTensors(c), toFloat(*dtype));
}

static LogicalResult rreluWithNoise(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  const TensorMeta &noise = c.tensor(1);
  if (!c.sameSizes(self.sizes, noise.sizes))
    return c.fail(FakeError::Shape,
                  "the noise " + c.show(noise) + " does not have the size of " +
                      c.show(self) + unlike(noise.sizes, self.sizes));
  return elementwise(c, {&self}, self.dtype);
}

/// As before; the noise that was drawn is a second result.
static LogicalResult rreluAndNoise(FakeCall &c) {
  if (failed(rreluWithNoise(c)))
    return failure();
  TensorMeta noise = c.tensor(1);
  noise.strides = cloneStrides(noise);
  noise.offset = 0;
  return c.fresh(std::move(noise));
}

/// A row-major sample for each parameter.
static LogicalResult samples(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(checkTakes(c, self.dtype, Takes::Floating)))
    return failure();
  return c.fresh(TensorMeta::contiguous(self.dtype, self.sizes, c.device));
}

ArrayRef<FakeRuleRow> randomRules() {
  static const FakeRuleRow rows[] = {
      {"_philox_bernoulli.default", bernoulli},
      {"_philox_binomial.default", binomial},
      {"_philox_cauchy.default", fillRandom<Takes::Floating>},
      {"_philox_gamma.default", samples},
      {"_philox_geometric.default", fillRandom<Takes::NoBoolNoComplex>},
      {"_philox_key.default", philoxKey},
      {"_philox_multinomial.default", multinomial},
      {"_philox_normal.default", philoxDraw},
      {"_philox_normals.Tensor_Tensor", normalTensors},
      {"_philox_normals.Tensor_float", normalTensors},
      {"_philox_normals.float_Tensor", normalTensors},
      {"_philox_poisson.default", elementwiseOfSelf},
      {"_philox_randint.Tensor", philoxBelow},
      {"_philox_randint.default", philoxIntegers},
      {"_philox_random.default", fillRandom<Takes::NoComplex>},
      {"_philox_randperm.default", philoxPermutation},
      {"_philox_uniform.default", philoxDraw},
      {"_fused_dropout.default", nativeDropout},
      {"_masked_scale.default", nativeDropoutBackward},
      {"_sample_dirichlet.default", samples},
      {"_standard_gamma.default", samples},
      {"alpha_dropout.default", dropout},
      {"bernoulli.Tensor", bernoulli},
      {"bernoulli.default", bernoulli},
      {"bernoulli.p", bernoulli},
      {"binomial.default", binomial},
      {"cauchy.default", fillRandom<Takes::Floating>},
      {"dropout.default", dropout},
      {"exponential.default", fillRandom<Takes::Floating>},
      {"feature_alpha_dropout.default", featureDropout},
      {"feature_dropout.default", featureDropout},
      {"geometric.default", fillRandom<Takes::NoBoolNoComplex>},
      {"log_normal.default", fillRandom<Takes::Floating>},
      {"multinomial.default", multinomial},
      {"native_dropout.default", nativeDropout},
      {"native_dropout_backward.default", nativeDropoutBackward,
       DevicePolicy::First},
      {"normal.Tensor_Tensor", normalTensors},
      {"normal.Tensor_float", normalTensors},
      {"normal.float_Tensor", normalTensors},
      {"normal.float_float", normalSizes},
      {"normal_.default", normalInto},
      {"normal_functional.default", fillRandom<Takes::FloatingOrComplex>},
      {"poisson.default", elementwiseOfSelf},
      {"rand.default", random<false>},
      {"rand_like.default", randomLike<false>},
      {"randint.default", randint<0>},
      {"randint.low", randint<1>},
      {"randint_like.Tensor", randintLike<1>},
      {"randint_like.default", randintLike<1>},
      {"randint_like.low_dtype", randintLike<2>},
      {"randn.default", random<true>},
      {"randn_like.default", randomLike<true>},
      {"random.default", fillRandom<Takes::NoComplex>},
      {"random.from", fillRandom<Takes::NoComplex>},
      {"random.to", fillRandom<Takes::NoComplex>},
      {"randperm.default", randperm},
      {"rrelu.default", elementwiseOfSelf},
      {"rrelu_with_noise.default", rreluWithNoise},
      {"rrelu_with_noise_functional.default", rreluAndNoise},
      {"uniform.default", fillRandom<Takes::Any>},
  };
  return rows;
}

} // namespace ft
