//===- Sampler.cpp - Random arguments for one call ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <numeric>

using namespace ft;
using namespace ft::random;

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

int64_t Sampler::size() {
  if (rng.chance(3))
    return 0;
  if (rng.chance(15))
    return 1;
  return rng.chance(10) ? rng.between(8, 33) : rng.between(2, 6);
}

Shape Sampler::shape(int low, int high) {
  Shape result;
  // Ranks around 2 are the most common.
  int64_t rank = std::min(rng.between(low, high), rng.between(low, high + 1));
  for (int64_t d = 0; d < rank; ++d) {
    result.push_back(size());
    if (interpreter::numelOf(result) > 600)
      result.back() = 2;
  }
  return result;
}

DType Sampler::dtype() {
  static const DType kTypes[] = {
      DType::F32,  DType::F32,  DType::F32,  DType::F32, DType::F32,
      DType::F32,  DType::F64,  DType::F64,  DType::I64, DType::I64,
      DType::I32,  DType::I32,  DType::F16,  DType::F16, DType::BF16,
      DType::BF16, DType::Bool, DType::Bool, DType::U8,  DType::I8,
      DType::I16,  DType::C64,  DType::C128};
  return rng.of(kTypes);
}

DType Sampler::floatType() {
  static const DType kTypes[] = {DType::F32, DType::F32, DType::F32,
                                 DType::F64, DType::F16, DType::BF16};
  return rng.of(kTypes);
}

Shape Sampler::smaller(const Shape &shape) {
  Shape result = shape;
  if (rng.chance(60))
    return result;
  for (int64_t &size : result)
    if (rng.chance(30))
      size = 1;
  while (!result.empty() && rng.chance(25))
    result.erase(result.begin());
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Mostly row-major; else permuted, channels-last, with gaps, or expanded.
TensorMeta Sampler::layout(DType dtype, const Shape &shape) {
  TensorMeta meta =
      TensorMeta::contiguous(dtype, Dims(shape.begin(), shape.end()));
  if (shape.empty() || rng.chance(60))
    return meta;
  std::vector<size_t> order(shape.size()); // from the innermost dim out
  std::iota(order.rbegin(), order.rend(), 0);
  if (shape.size() == 4 && rng.chance(50)) {
    order = {1, 3, 2, 0};
  } else {
    for (size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[rng.between(0, i)]);
  }
  bool gaps = rng.chance(30), expanded = rng.chance(15);
  int64_t step = gaps && rng.chance(50) ? 2 : 1;
  for (size_t d : order) {
    meta.strides[d] = Dim(step);
    if (expanded && rng.chance(50)) {
      meta.strides[d] = Dim(0);
      continue;
    }
    step *= std::max<int64_t>(shape[d], 1);
    if (gaps && rng.chance(40))
      step += 1;
  }
  return meta;
}

static double randomReal(Rng &rng, DType dtype, int style) {
  switch (style) {
  case 0: // ties
    return static_cast<double>(rng.between(-4, 4)) / 2;
  case 1: // all kinds
    switch (rng.between(0, 11)) {
    case 0:
      return HUGE_VAL;
    case 1:
      return -HUGE_VAL;
    case 2:
      return std::nan("");
    case 3:
      return -0.0;
    case 4:
      return 0;
    case 5:
      return 3e4;
    case 6:
      return -1e-4;
    default:
      break;
    }
    [[fallthrough]];
  default:
    return (rng.unit() * 2 - 1) * (rng.chance(20) ? 20 : 3);
  }
}

int Sampler::input(DType dtype, const Shape &shape) {
  Value value;
  value.meta = layout(dtype, shape);
  value.data = Tensor(dtype, shape);
  int style = rng.chance(30) ? 0 : rng.chance(12) ? 1 : 2;
  bool wide = rng.chance(15);
  interpreter::forEachIndex(shape, [&](interpreter::Index index, int64_t i) {
    // Elements that share memory are equal.
    Shape first(index.begin(), index.end());
    for (size_t d = 0; d < first.size(); ++d)
      if (value.meta.strides[d].is(0))
        first[d] = 0;
    if (int64_t j = interpreter::flatten(shape, first); j != i)
      return value.data.set(i, Tensor(value.data), j);
    if (isComplex(dtype))
      value.data.setComplex(i, {randomReal(rng, dtype, style % 2 ? 2 : style),
                                randomReal(rng, dtype, style % 2 ? 2 : style)});
    else if (!isIntegral(dtype))
      value.data.setReal(i, randomReal(rng, dtype, style));
    else if (dtype == DType::Bool)
      value.data.setInteger(i, rng.chance(50));
    else if (wide)
      value.data.setInteger(i, static_cast<int64_t>(rng.next()) >>
                                   rng.between(0, 60));
    else
      value.data.setInteger(i, rng.between(isUnsigned(dtype) ? 0 : -5, 5));
  });
  program.values.push_back(std::move(value));
  return static_cast<int>(program.values.size()) - 1;
}

int Sampler::integers(const Shape &shape, Range range, DType dtype) {
  Value value;
  value.meta = TensorMeta::contiguous(dtype, Dims(shape.begin(), shape.end()));
  value.data = Tensor(dtype, shape);
  for (int64_t i = 0, n = value.data.numel(); i < n; ++i)
    value.data.setInteger(
        i, range.high < range.low ? 0 : rng.between(range.low, range.high));
  program.values.push_back(std::move(value));
  return static_cast<int>(program.values.size()) - 1;
}

int Sampler::reals(DType dtype, const Shape &shape, double low, double high) {
  Value value;
  value.meta = TensorMeta::contiguous(dtype, Dims(shape.begin(), shape.end()));
  value.data = Tensor(dtype, shape);
  for (int64_t i = 0, n = value.data.numel(); i < n; ++i)
    value.data.setReal(i, low + (high - low) * rng.unit());
  program.values.push_back(std::move(value));
  return static_cast<int>(program.values.size()) - 1;
}

int Sampler::constant(Tensor data) {
  Value value;
  value.meta = TensorMeta::contiguous(
      data.dtype, Dims(data.shape.begin(), data.shape.end()));
  value.data = std::move(data);
  program.values.push_back(std::move(value));
  return static_cast<int>(program.values.size()) - 1;
}

int Sampler::place(Tensor data) {
  int value = constant(std::move(data));
  Value &placed = program.values[value];
  TensorMeta meta = layout(placed.meta.dtype, placed.data.shape);
  for (size_t d = 0; d < placed.data.shape.size(); ++d)
    if (meta.strides[d].is(0) && placed.data.shape[d] > 1)
      return value;
  placed.meta = std::move(meta);
  return value;
}

Shape Sampler::shapeOf(int value) const {
  return program.values[value].data.shape;
}

int Sampler::tensor(DType dtype, const Shape &wanted) {
  Shape shape = wanted;
  for (int64_t &size : shape) // of a result that there is not
    size = std::max<int64_t>(size, 0);
  std::vector<int> fitting;
  for (size_t i = 0; i < program.values.size(); ++i) {
    const Value &value = program.values[i];
    if (!value.dead && value.meta.dtype == dtype && value.data.shape == shape)
      fitting.push_back(static_cast<int>(i));
  }
  if (!fitting.empty() && rng.chance(70))
    return rng.of(fitting);
  return input(dtype, shape);
}

int Sampler::any(int low, int high, bool floats) {
  std::vector<int> fitting;
  for (size_t i = 0; i < program.values.size(); ++i) {
    const Value &value = program.values[i];
    if (!value.dead && value.data.rank() >= low && value.data.rank() <= high &&
        (!floats || isFloating(value.meta.dtype)))
      fitting.push_back(static_cast<int>(i));
  }
  if (!fitting.empty() && rng.chance(75)) // rather the latest
    return fitting[std::max(rng.between(0, fitting.size() - 1),
                            rng.between(0, fitting.size() - 1))];
  return input(floats ? floatType() : dtype(), shape(low, high));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

void Sampler::set(unsigned i, int value) {
  args[i] = Arg::tensor(static_cast<int>(operands.size()));
  operands.push_back(value);
}

void Sampler::setList(unsigned i, llvm::ArrayRef<int> values) {
  std::vector<Arg> list;
  for (int value : values) {
    list.push_back(Arg::tensor(static_cast<int>(operands.size())));
    operands.push_back(value);
  }
  args[i] = Arg::listOf(std::move(list));
}

void Sampler::setInts(unsigned i, llvm::ArrayRef<int64_t> values) {
  std::vector<Arg> list;
  for (int64_t value : values)
    list.push_back(Arg::integer(value));
  args[i] = Arg::listOf(std::move(list));
}

Arg Sampler::number(DType dtype) {
  if (isIntegral(dtype) ? rng.chance(85) : rng.chance(40))
    return Arg::integer(rng.between(-3, 4));
  static const double kNumbers[] = {0.5, 1.5, -0.75, 2.0, 0.1, -1.25, 3.0};
  return Arg::floating(rng.of(kNumbers));
}

int64_t Sampler::dim(int64_t rank) {
  int64_t most = std::max<int64_t>(rank, 1);
  int64_t d = rng.between(0, most - 1);
  return rng.chance(40) ? d - most : d;
}

void Sampler::guess(unsigned i, int self) {
  const SchemaArg &arg = schema.args[i];
  int64_t rank = self >= 0 ? meta(self).rank() : 0;
  DType type = self >= 0 ? dtypeOf(self) : DType::F32;
  static const llvm::StringSet<> kLeave = {
      "layout",       "device",    "pin_memory",    "memory_format",
      "non_blocking", "generator", "copy",          "implicit",
      "sparse_grad",  "stable",    "assume_unique", "allow_tf32"};
  if (kLeave.contains(arg.name)) {
    args[i] = arg.hasDefault                        ? arg.defaultValue
              : arg.type.optional                   ? Arg::none()
              : arg.type.kind == SchemaType::Device ? Arg::ofDevice(Device())
                                                    : Arg::truth(true);
    return;
  }
  if (arg.hasDefault && rng.chance(arg.type.optional ? 60 : 35)) {
    args[i] = arg.defaultValue;
    return;
  }
  if (arg.type.optional && !arg.hasDefault && rng.chance(40)) {
    args[i] = Arg::none();
    return;
  }
  switch (arg.type.kind) {
  case SchemaType::Tensor:
    if (arg.type.list)
      return;
    if (rng.chance(85))
      set(i, tensor(rng.chance(80) || self < 0 ? type : dtype(),
                    self >= 0 ? smaller(shapeOf(self)) : shape(0, 3)));
    else
      set(i, any());
    return;
  case SchemaType::Int: {
    if (arg.type.list) {
      Shape list;
      if (arg.name.contains("dim")) {
        for (int64_t d = 0; d < rank; ++d)
          if (rng.chance(50))
            list.push_back(rng.chance(30) ? d - rank : d);
        if (rng.chance(30))
          std::reverse(list.begin(), list.end());
      } else {
        for (int64_t d = 0; d < rank; ++d)
          list.push_back(rng.between(0, 3));
      }
      setInts(i, list);
      return;
    }
    if (arg.name.contains("dim") || arg.name == "source" ||
        arg.name == "destination" || arg.name.starts_with("axis"))
      return setInt(i, dim(rank));
    if (arg.name == "diagonal" || arg.name == "offset")
      return setInt(i, rng.between(-3, 3));
    if (arg.name == "reduction")
      return setInt(i, rng.between(0, 2));
    if (arg.name == "decimals")
      return setInt(i, rng.between(-1, 3));
    return setInt(i, rng.between(1, 3));
  }
  case SchemaType::Float: {
    static const double kNumbers[] = {0.1, 0.5, 1.0, 2.0, 1e-5, 0.25};
    args[i] = Arg::floating(rng.of(kNumbers));
    return;
  }
  case SchemaType::Bool:
    return setBool(i);
  case SchemaType::Scalar:
    args[i] = number(type);
    return;
  case SchemaType::DType:
    args[i] = Arg::ofDType(dtype());
    return;
  case SchemaType::Str: {
    llvm::ArrayRef<const char *> choices;
    static const char *const kRounding[] = {"trunc", "floor"};
    static const char *const kApproximate[] = {"none", "tanh"};
    static const char *const kNorms[] = {"fro", "nuc"};
    static const char *const kIndexing[] = {"ij", "xy"};
    if (arg.name == "rounding_mode")
      choices = kRounding;
    else if (arg.name == "approximate")
      choices = kApproximate;
    else if (arg.name == "indexing")
      choices = kIndexing;
    else if (arg.name == "ord" || arg.name == "p")
      choices = kNorms;
    args[i] = choices.empty() ? arg.defaultValue : Arg::string(rng.of(choices));
    return;
  }
  default:
    args[i] = arg.defaultValue;
  }
}

void Sampler::guessRest(unsigned first, int self) {
  for (unsigned i = first; i < args.size(); ++i)
    if (args[i].isNone())
      guess(i, self);
}

/// Calls `each` with the name of each overload of a row.
static void forEachName(const SamplerRow &row,
                        llvm::function_ref<void(const std::string &)> each) {
  llvm::SmallVector<llvm::StringRef> names;
  row.names.split(names, ' ', -1, false);
  for (llvm::StringRef name : names)
    each(name.contains('.') ? name.str() : name.str() + ".default");
}

/// The first tensor at random, the rest from it.
static bool sampleGeneric(Sampler &s) {
  for (unsigned i = 0; i < s.args.size(); ++i)
    if (s.schema.isTensorArg(i)) {
      if (s.schema.args[i].type.list)
        return false;
      bool floats = !s.rng.chance(60);
      int self = s.any(0, 5, floats);
      // Operands stand in the order of the schema; numbers before are no
      // operands.
      for (unsigned k = 0; k < i; ++k)
        s.guess(k, self);
      s.set(i, self);
      s.guessRest(i + 1, self);
      return true;
    }
  s.guessRest(0, -1);
  return true;
}

SampleFunction ft::random::samplerOf(const Schema &schema) {
  static const llvm::StringMap<SampleFunction> own = [] {
    llvm::StringMap<SampleFunction> map;
    for (llvm::ArrayRef<SamplerRow> table :
         {shapeSamplers(), networkSamplers(), indexSamplers(), listSamplers(),
          gradientSamplers(), statisticsSamplers(), convSamplers(),
          lossSamplers(), productSamplers(), rnnSamplers(), stepSamplers(),
          linalgSamplers(), requestSamplers()})
      for (const SamplerRow &row : table)
        forEachName(row,
                    [&](const std::string &name) { map[name] = row.sample; });
    return map;
  }();
  auto found = own.find(schema.name);
  return found == own.end() ? sampleGeneric : found->second;
}

bool ft::random::hasOwnSampler(const Schema &schema) {
  return samplerOf(schema) != sampleGeneric;
}

bool ft::random::isGradientSampled(const Schema &schema) {
  SampleFunction sample = samplerOf(schema);
  return llvm::any_of(gradientSamplers(), [&](const SamplerRow &row) {
    return row.sample == sample;
  });
}

bool ft::random::isOnRequest(const Schema &schema) {
  static const llvm::StringSet<> names = [] {
    llvm::StringSet<> set;
    for (llvm::ArrayRef<SamplerRow> table :
         {linalgSamplers(), requestSamplers()})
      for (const SamplerRow &row : table)
        forEachName(row, [&](const std::string &name) { set.insert(name); });
    return set;
  }();
  return names.contains(schema.name);
}
