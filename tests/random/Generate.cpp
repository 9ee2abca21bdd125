//===- Generate.cpp - Random programs -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/FakeCall.h"
#include "compiler/fake/FakeScope.h"
#include "compiler/lower/LowerCall.h"
#include "tests/random/Judge.h"
#include "tests/random/Sampler.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

#include <optional>

using namespace ft;
using namespace ft::random;
using interpreter::OpClass;

bool ft::random::isDrawn(const Schema &schema) {
  if (schema.mutates || !interpreter::findOp(schema) || !findFakeRule(schema) ||
      !findLowerRule(schema))
    return false;
  // Guessed arguments suit families whose calls agree in shape only.
  static const llvm::StringSet<> kGuessable = {
      "pointwise", "reduce", "view", "copy", "factory", "cat", "sort", "fft"};
  bool guessable =
      kGuessable.contains(schema.family) &&
      (schema.family == "pointwise" || !schema.base.ends_with("backward")) &&
      !schema.base.starts_with("as_strided");
  return guessable || hasOwnSampler(schema);
}

/// The overloads that both sides have code for.
static std::vector<const Schema *> knownOps(llvm::StringRef only) {
  std::vector<const Schema *> list;
  llvm::Expected<llvm::GlobPattern> pattern =
      llvm::GlobPattern::create(only.empty() ? "*" : only);
  if (!pattern) {
    llvm::consumeError(pattern.takeError());
    return list;
  }
  bool asked = !only.empty() && only != "*";
  for (const interpreter::OpRow &row : interpreter::allOps()) {
    const Schema *schema = SchemaTable::get().find(row.name);
    if (schema && isDrawn(*schema) && pattern->match(schema->name) &&
        (asked || !isOnRequest(*schema)))
      list.push_back(schema);
  }
  return list;
}

namespace {
/// Adds calls to one program.
class Generator {
public:
  Generator(uint64_t seed, llvm::ArrayRef<const Schema *> ops)
      : rng(seed), ops(ops) {
    program.seed = seed;
  }
  Program run();

private:
  bool addCall();
  /// The in-place form of the call, where there is one and its operand may be
  /// written.
  const Schema *inPlace(const Sampler &call) const;
  /// Operands that the call writes though its schema does not say so. Nothing
  /// if another part of the program sees them.
  std::optional<llvm::SmallVector<int>> writtenInSecret(const Sampler &) const;
  void chooseOutputs();

  Rng rng;
  llvm::ArrayRef<const Schema *> ops;
  Program program;
};
} // namespace

const Schema *Generator::inPlace(const Sampler &call) const {
  if (call.args.empty() || call.args[0].kind != Arg::Tensor ||
      call.operands.empty() || !program.values[call.operands[0]].fresh ||
      llvm::count(call.operands, call.operands[0]) != 1)
    return nullptr;
  std::string name = (call.schema.base + "_." + call.schema.overload).str();
  const Schema *schema = SchemaTable::get().find(name);
  return schema && schema->mutates &&
                 schema->args.size() == call.schema.args.size() &&
                 findFakeRule(*schema)
             ? schema
             : nullptr;
}

// A batch norm that trains updates its running statistics. The interpreter has
// no memory to show that in, so they must be inputs that only this call reads.
std::optional<llvm::SmallVector<int>>
Generator::writtenInSecret(const Sampler &call) const {
  llvm::SmallVector<int> written;
  static const llvm::StringSet<> kWriting = {"native_batch_norm.default",
                                             "batch_norm.default",
                                             "instance_norm.default"};
  if (!kWriting.contains(call.schema.name) || !call.args[5].boolean)
    return written;
  for (unsigned i : {3, 4}) {
    if (call.args[i].kind != Arg::Tensor)
      continue;
    int value = call.operands[call.args[i].operand];
    bool read = llvm::any_of(program.steps, [&](const Step &step) {
      return llvm::is_contained(step.operands, value);
    });
    if (read || program.values[value].step >= 0 ||
        llvm::count(call.operands, value) != 1)
      return std::nullopt;
    written.push_back(value);
  }
  return written;
}

bool Generator::addCall() {
  const Schema *schema = rng.of(ops);
  size_t before = program.values.size();
  Sampler sampler(rng, program, *schema);
  auto discard = [&] {
    program.values.resize(before);
    return false;
  };
  if (!samplerOf(*schema)(sampler))
    return discard();
  auto secret = writtenInSecret(sampler);
  if (!secret)
    return discard();
  const Schema *written = rng.chance(15) ? inPlace(sampler) : nullptr;
  Step step;
  step.schema = written ? written : schema;
  step.args = sampler.args;
  step.operands = sampler.operands;
  std::vector<TensorMeta> operandMetas = program.metasOf(step), metas;
  FakeCall call(*step.schema, step.args, operandMetas);
  // As in a graph, whose ops may leave to the run what only data decide.
  SymContext symbols;
  ShapeEnv env(symbols);
  FakeScope scope(env);
  scope.allowUnknownTruth();
  if (isOnRequest(*schema))
    call.scope = &scope;
  if (llvm::failed(propagateCall(call)) || call.results.empty())
    return discard();
  std::vector<bool> found;
  for (FakeResult &result : call.results) {
    found.push_back(result.kind == FakeResult::Tensor && call.scope &&
                    !result.meta.isStatic());
    // The interpreter finds the sizes.
    if (found.back())
      result.meta = TensorMeta::contiguous(
          result.meta.dtype, Dims(size_t(result.meta.rank()), Dim(0)));
    if (result.kind != FakeResult::Tensor || !result.meta.isStatic() ||
        result.meta.conj || result.meta.neg ||
        result.meta.numel().value() > 20000)
      return discard();
    metas.push_back(result.meta);
  }
  std::vector<Tensor> operands;
  for (int operand : step.operands)
    operands.push_back(program.values[operand].data);
  interpreter::CallResult computed =
      interpreter::evaluate(*step.schema, step.args, operands, metas);
  if (!computed.error.empty() || !computed.unspecified.empty())
    return discard();
  for (size_t i = 0; i < metas.size(); ++i)
    if (found[i]) {
      const Shape &shape = computed.results[i].shape;
      metas[i] = TensorMeta::contiguous(metas[i].dtype,
                                        Dims(shape.begin(), shape.end()));
    } else if (computed.results[i].dtype != metas[i].dtype ||
               int64_t(computed.results[i].shape.size()) != metas[i].rank())
      return discard();
  for (int operand : step.operands)
    program.values[operand].fresh = false;
  if (written)
    program.values[step.operands[0]].dead = true;
  for (int value : *secret)
    program.values[value].dead = true;
  for (size_t i = 0; i < metas.size(); ++i) {
    Value value;
    value.meta = metas[i];
    value.data = std::move(computed.results[i]);
    value.step = static_cast<int>(program.steps.size());
    value.fresh = call.results[i].alias < 0;
    value.isFound = found[i];
    value.dead = found[i] || llvm::is_contained(computed.left, i);
    value.isFactor = value.dead && hasFactorCheck(*schema);
    step.results.push_back(static_cast<int>(program.values.size()));
    program.values.push_back(std::move(value));
  }
  program.opClass =
      std::max(program.opClass, interpreter::findOp(*schema)->opClass);
  program.steps.push_back(std::move(step));
  return true;
}

/// What nothing reads, and some of the rest.
void Generator::chooseOutputs() {
  std::vector<bool> read(program.values.size(), false);
  for (const Step &step : program.steps)
    for (int operand : step.operands)
      read[operand] = true;
  for (const Step &step : program.steps) {
    // Factors are checked together.
    bool whole = llvm::any_of(step.results, [&](int result) {
      return program.values[result].isFactor;
    });
    for (int result : step.results)
      if (whole || program.values[result].isFound ||
          (!program.values[result].dead && (!read[result] || rng.chance(25))))
        program.outputs.push_back(result);
  }
}

Program Generator::run() {
  size_t wanted = std::min(rng.between(1, 8), rng.between(1, 8));
  for (int tries = 0; program.steps.size() < wanted && tries < 200; ++tries)
    addCall();
  chooseOutputs();
  return std::move(program);
}

Program ft::random::generate(uint64_t seed, llvm::StringRef only) {
  static llvm::StringMap<std::vector<const Schema *>> cache;
  auto [entry, isNew] = cache.try_emplace(only);
  if (isNew)
    entry->second = knownOps(only);
  if (entry->second.empty())
    return Program();
  return Generator(seed, entry->second).run();
}
