//===- GradPrograms.cpp - Calls whose derivative can be checked -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"
#include "compiler/fake/FakeCall.h"
#include "compiler/lower/LowerCall.h"
#include "dialects/ft/ArgFit.h"
#include "tests/interpreter/Interpreter.h"
#include "tests/random/CallForm.h"
#include "tests/random/GradCheck.h"
#include "tests/random/GradSamplers.h"
#include "tests/random/Sampler.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/GlobPattern.h"

using namespace ft;
using namespace ft::random;

llvm::StringRef ft::random::derivedFrom(const Schema &schema) {
  return llvm::StringSwitch<llvm::StringRef>(schema.name)
      .Case("_fused_rms_norm_backward.default", "_fused_rms_norm.default")
      .Case("native_batch_norm_backward.default", "native_batch_norm.default")
      .Case("native_group_norm_backward.default", "native_group_norm.default")
      .Case("native_layer_norm_backward.default", "native_layer_norm.default")
      .Default("");
}

/// Why no call of an operator is drawn; empty if some are.
static llvm::StringRef reasonAgainst(const Schema &schema) {
  if (schema.family == "random" && !gradSamplerOf(schema))
    return "what it draws does not depend on an input";
  if (schema.base.contains("as_strided") ||
      schema.base.starts_with("_reshape_alias"))
    return "only its caller knows the strides";
  if (schema.base.contains("fake_quantize") &&
      !schema.base.contains("backward"))
    return "its gradient is an estimate: the derivative is 0";
  if (schema.overload == "dtype" && schema.base.contains("mm"))
    return "its operands are of half precision";
  static const llvm::StringMap<llvm::StringRef> kNames = {
      {"_keep_history", "its value is not that of the gradient's tensor"},
      {"linalg_eig", "eigenvectors of a general matrix have a free phase"},
      {"masked_select", "data decide how large its result is"},
      {"masked_select_backward", "data decide how large its operand is"},
  };
  auto found = kNames.find(schema.base);
  if (found != kNames.end())
    return found->second;
  // Operands that are no free choice, but what the forward call gave.
  return derivedFrom(schema).empty()
             ? ""
             : "only the call that it derives has its operands";
}

bool ft::random::asksGradient(const Step &step, unsigned operand) {
  const Schema &schema = *step.schema;
  const Derivative &entry = derivativeOf(schema);
  for (auto [formal, arg] : llvm::zip(schema.args, step.args)) {
    auto is = [&](const Arg &item) {
      return item.operand == static_cast<int>(operand);
    };
    if (!is(arg) && llvm::none_of(arg.list, is))
      continue;
    // PyTorch holds the weights of classes to be constants, in composites too.
    if (schema.family == "loss" && formal.name == "weight" &&
        (schema.base.starts_with("nll") || schema.base == "cross_entropy_loss"))
      return false;
    // The statistics that a batch norm updates are no function to derive.
    if (formal.name.starts_with("running_"))
      return false;
    if (entry.kind != Derivative::Formulas || entry.expands())
      return true;
    return llvm::any_of(entry.formulas, [&](const Derivative::Row &row) {
      return row.argument == formal.name && row.formula.text() != "unknown()";
    });
  }
  return true;
}

/// Whether elements are written twice, so that the order decides: PyTorch's
/// derivative is that of distinct places.
static bool writesTwice(const Program &program, const Step &step) {
  static const llvm::StringMap<const char *> kSums = {
      {"scatter.src", "scatter_add.default"},
      {"index_copy.default", "index_add.default"},
      {"put.default", "put.default"},
      {"index_put.default", "index_put.default"},
      {"_unsafe_index_put.default", "index_put.default"}};
  auto found = kSums.find(step.schema->name);
  if (found == kSums.end())
    return false;
  // Ones are added up where something is written.
  const Schema &sum = *SchemaTable::get().find(found->second);
  std::vector<Arg> args = step.args;
  for (size_t i = args.size(); i < sum.args.size(); ++i)
    args.push_back(sum.args[i].defaultValue);
  args.resize(sum.args.size());
  if (int flag = sum.argIndex("accumulate"); flag >= 0) {
    if (args[flag].boolean)
      return false;
    args[flag] = Arg::truth(true);
  }
  std::vector<Tensor> operands;
  std::vector<TensorMeta> metas = program.metasOf(step);
  for (auto [k, operand] : llvm::enumerate(step.operands)) {
    Tensor tensor = program.values[operand].data;
    bool whole = isIntegral(tensor.dtype);
    if (k == 0 || !whole) {
      tensor = Tensor(DType::F64, tensor.shape);
      for (int64_t i = 0; i < tensor.numel() && k > 0; ++i)
        tensor.setReal(i, 1);
      metas[k] = TensorMeta::contiguous(DType::F64, metas[k].sizes);
    }
    operands.push_back(std::move(tensor));
  }
  interpreter::CallResult counted =
      interpreter::evaluate(sum, args, operands, {metas[0]});
  if (!counted.error.empty() || counted.results.empty())
    return true;
  for (int64_t i = 0; i < counted.results[0].numel(); ++i)
    if (counted.results[0].real(i) > 1)
      return true;
  return false;
}

/// Whether PyTorch, too, refuses the derivative of the call: of a softmax whose
/// mask is not of the size of its input.
static bool isRefused(const Step &step) {
  return step.schema->name == "_masked_softmax.default" &&
         !(step.args[3].kind == Arg::Int && step.args[3].dim.is(2));
}

/// Whether an index names the row whose gradient PyTorch leaves out.
static bool namesPadding(const Program &program, const Step &step) {
  int padding = step.schema->argIndex("padding_idx");
  int indices = step.schema->argIndex("indices");
  if (padding < 0 || indices < 0 || !step.schema->base.starts_with("embedding"))
    return false;
  if (step.schema->base.contains("backward"))
    return false;
  const Tensor &named =
      program.values[step.operands[step.args[indices].operand]].data;
  for (int64_t i = 0; i < named.numel(); ++i)
    if (named.integer(i) == step.args[padding].dim.value())
      return true;
  return false;
}

/// Whether PyTorch has such a call: its arguments fit, the interpreter gives it
/// a value, and kernels that take one dtype only get one.
static bool isCall(const Program &program, const Step &step,
                   llvm::ArrayRef<TensorMeta> results) {
  const Schema &schema = *step.schema;
  for (auto [formal, arg] : llvm::zip(schema.args, step.args))
    if (!fitsType(arg, formal.type))
      return false;
  static const llvm::StringSet<> kOneDType = {"_prelu_kernel",
                                              "_prelu_kernel_backward",
                                              "log_sigmoid_backward", "prelu"};
  if (kOneDType.contains(schema.base))
    for (int operand : step.operands)
      if (program.values[operand].meta.dtype != DType::F64)
        return false;
  if (writesTwice(program, step) || namesPadding(program, step) ||
      isRefused(step))
    return false;
  if (!interpreter::findOp(schema))
    return true;
  std::vector<Tensor> operands;
  for (int operand : step.operands)
    operands.push_back(program.values[operand].data);
  interpreter::CallResult computed =
      interpreter::evaluate(schema, step.args, operands, results);
  return computed.error.empty() && computed.unspecified.empty();
}

static std::vector<const Schema *> differentiableOps(llvm::StringRef only) {
  std::vector<const Schema *> list;
  llvm::Expected<llvm::GlobPattern> pattern =
      llvm::GlobPattern::create(only.empty() ? "*" : only, 1024);
  if (!pattern) {
    llvm::consumeError(pattern.takeError());
    return list;
  }
  // Guessed arguments suit families whose calls agree in shape only.
  static const llvm::StringSet<> kGuessable = {
      "pointwise", "reduce", "view", "copy", "cat", "sort", "fft", "softmax"};
  for (const Schema &schema : SchemaTable::get().all()) {
    const Derivative &entry = derivativeOf(schema);
    bool backward =
        schema.family != "pointwise" && schema.base.contains("backward");
    if (schema.mutates || !(entry.exists() || entry.expands()) ||
        !findFakeRule(schema) || !findLowerRule(schema) ||
        !pattern->match(schema.name) || !reasonAgainst(schema).empty() ||
        !(gradSamplerOf(schema) ||
          (hasOwnSampler(schema) && !isOnRequest(schema)) ||
          (kGuessable.contains(schema.family) && !backward)))
      continue;
    list.push_back(&schema);
  }
  return list;
}

void ft::random::shareElements(const TensorMeta &meta, Tensor &data) {
  interpreter::forEachIndex(data.shape, [&](interpreter::Index at, int64_t i) {
    Shape first(at.begin(), at.end());
    for (size_t d = 0; d < first.size(); ++d)
      if (meta.strides[d].is(0))
        first[d] = 0;
    if (int64_t j = interpreter::flatten(data.shape, first); j != i)
      data.set(i, Tensor(data), j);
  });
}

/// Floats in float64, not at ties or beyond all bounds. `shared`: places that
/// share memory stay so, and hold one number.
static void widen(Value &value, Rng &rng, bool shared) {
  DType dtype = value.meta.dtype;
  bool overlaps = llvm::any_of(value.meta.strides,
                               [](const Dim &stride) { return stride.is(0); });
  if (overlaps && !shared)
    value.meta = TensorMeta::contiguous(dtype, value.meta.sizes);
  if (!isFloating(dtype) && !isComplex(dtype))
    return;
  bool complex = isComplex(dtype);
  value.meta.dtype = complex ? DType::C128 : DType::F64;
  value.data = Tensor(value.meta.dtype, value.data.shape);
  auto [low, high] = value.range;
  auto number = [&] { return low + rng.unit() * (high - low); };
  for (int64_t i = 0, n = value.data.numel(); i < n; ++i) {
    double real = number();
    if (complex)
      value.data.setComplex(i, {real, number()});
    else
      value.data.setReal(i, real);
  }
  shareElements(value.meta, value.data);
}

static void widen(Arg &arg) {
  if (arg.kind == Arg::DType && isFloating(arg.dtype))
    arg.dtype = DType::F64;
}

static bool addCall(Rng &rng, const Schema &schema, Program &program) {
  Sampler sampler(rng, program, schema);
  const GradSampler *own = gradSamplerOf(schema);
  bool drawn = own && !own->form.empty()
                   ? sampleForm(sampler, own->form)
                   : (own ? own->sample : samplerOf(schema))(sampler);
  if (!drawn)
    return false;
  for (Value &value : program.values)
    // A matrix whose rows share memory is singular.
    widen(value, rng,
          !own || (!own->form.empty() && !own->settle &&
                   schema.family != "linalg"));
  if (own && own->settle)
    own->settle(program, sampler);
  Step step;
  step.schema = &schema;
  step.args = sampler.args;
  for (Arg &arg : step.args)
    widen(arg);
  step.operands = sampler.operands;
  std::vector<TensorMeta> metas = program.metasOf(step);
  FakeCall call(schema, step.args, metas);
  if (llvm::failed(propagateCall(call)) || call.results.empty())
    return false;
  bool varies = false;
  for (const FakeResult &result : call.results) {
    if (result.kind != FakeResult::Tensor || !result.meta.isStatic() ||
        result.meta.conj || result.meta.neg ||
        result.meta.numel().value() > 2000)
      return false;
    Value value;
    value.meta = result.meta;
    value.step = 0;
    step.results.push_back(static_cast<int>(program.values.size()));
    program.outputs.push_back(step.results.back());
    program.values.push_back(std::move(value));
    DType dtype = result.meta.dtype;
    // A cast to less would round the difference away.
    if ((isFloating(dtype) && dtype != DType::F64) ||
        (isComplex(dtype) && dtype != DType::C128))
      return false;
    varies |= isFloating(dtype) || isComplex(dtype);
  }
  std::vector<TensorMeta> results;
  for (const FakeResult &result : call.results)
    results.push_back(result.meta);
  if (!isCall(program, step, results))
    return false;
  program.steps.push_back(std::move(step));
  auto isFloat = [&](int i) {
    DType dtype = program.values[i].meta.dtype;
    return isFloating(dtype) || isComplex(dtype);
  };
  return varies && llvm::any_of(program.inputs(), isFloat);
}

std::vector<std::string> ft::random::undrawnOps() {
  std::vector<std::string> list;
  llvm::DenseSet<const Schema *> drawn;
  for (const Schema *schema : differentiableOps(""))
    drawn.insert(schema);
  for (const Schema &schema : SchemaTable::get().all()) {
    const Derivative &entry = derivativeOf(schema);
    if (schema.mutates || !(entry.exists() || entry.expands()) ||
        drawn.contains(&schema))
      continue;
    llvm::StringRef why = reasonAgainst(schema);
    list.push_back((schema.name + ": " +
                    (!why.empty()             ? why
                     : !findLowerRule(schema) ? "it has no code"
                                              : "it has no sampler"))
                       .str());
  }
  return list;
}

Program ft::random::differentiableCall(uint64_t seed, llvm::StringRef only) {
  static llvm::StringMap<std::vector<const Schema *>> cache;
  auto [entry, isNew] = cache.try_emplace(only);
  if (isNew)
    entry->second = differentiableOps(only);
  Rng rng(seed);
  for (int tries = 0; tries < 60 && !entry->second.empty(); ++tries) {
    // In turn, so that each op has its share.
    size_t at = tries == 0 ? seed % entry->second.size()
                           : static_cast<size_t>(rng.between(
                                 0, int64_t(entry->second.size()) - 1));
    Program program;
    program.seed = seed;
    if (addCall(rng, *entry->second[at], program))
      return program;
  }
  return Program();
}
