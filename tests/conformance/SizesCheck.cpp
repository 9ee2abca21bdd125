//===- SizesCheck.cpp - One artefact against many -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/SizesCheck.h"

#include "compiler/driver/Session.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"
#include "tests/conformance/Compare.h"
#include "tests/conformance/TrainCheck.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace ft;
using namespace ft::conformance;

//===----------------------------------------------------------------------===//
// The same program for one size
//===----------------------------------------------------------------------===//

llvm::Error
ft::conformance::fixSizes(mlir::ModuleOp module,
                          llvm::ArrayRef<std::vector<int64_t>> shapes) {
  auto forward = module.lookupSymbol<mlir::func::FuncOp>("forward");
  if (!forward)
    return llvm::createStringError("the program has no function 'forward'");
  size_t next = 0;
  for (mlir::BlockArgument argument : forward.getArguments()) {
    unsigned n = argument.getArgNumber();
    auto kind = forward.getArgAttrOfType<mlir::StringAttr>(n, names::kKind);
    forward.removeArgAttr(n, names::kDeclared);
    forward.removeArgAttr(n, names::kValue);
    if (!kind || kind.getValue() != "input")
      continue;
    if (next == shapes.size())
      return llvm::createStringError("the program has more inputs");
    const std::vector<int64_t> &shape = shapes[next++];
    std::optional<TensorMeta> meta = metaOf(argument);
    if (!meta || meta->isStatic())
      continue; // a number, or always the same
    argument.setType(typeFromMeta(
        module.getContext(),
        TensorMeta::contiguous(meta->dtype, Dims(shape.begin(), shape.end()),
                               meta->device)));
  }
  if (next != shapes.size())
    return llvm::createStringError("the program has fewer inputs");
  forward.setFunctionType(mlir::FunctionType::get(
      module.getContext(), forward.getBody().front().getArgumentTypes(),
      forward.getResultTypes()));
  llvm::SmallVector<mlir::Operation *> symbols;
  module.walk([&](mlir::Operation *op) {
    op->removeAttr(names::kDeclared);
    op->removeAttr(names::kValue);
    if (llvm::isa<SymbolOp, FactOp>(op))
      symbols.push_back(op);
  });
  for (mlir::Operation *op : symbols)
    op->erase();
  return llvm::Error::success();
}

/// The archive with fixed sizes, as an artefact: its library.
static llvm::Expected<std::string>
compileFixed(const std::string &archive, const std::string &base,
             llvm::ArrayRef<std::vector<int64_t>> shapes, bool training) {
  Options options;
  options.catchCrashes = true;
  options.training = training;
  Session session(options);
  if (session.load(archive)) {
    if (llvm::Error error = fixSizes(session.module(), shapes))
      return std::move(error);
    if (session.compile(base))
      return session.files().library;
  }
  return llvm::createStringError(session.diagnostics().empty()
                                     ? "no diagnostic"
                                     : session.diagnostics().front().render());
}

//===----------------------------------------------------------------------===//
// Sizes and data
//===----------------------------------------------------------------------===//

/// Beyond this, sizes say nothing new and small machines get slow.
static constexpr int64_t kLarge = 97;

/// Values of each symbol, one set for each run.
static std::vector<std::vector<int64_t>>
chooseSizes(const ft_model_info &info) {
  static constexpr int64_t kOdd[] = {3, 5, 9, 7, 15, 11};
  static constexpr int64_t kPrime[] = {13, 7, 17, 11, 19, 5};
  std::vector<std::vector<int64_t>> sets(4);
  for (int32_t i = 0; i < info.num_symbols; ++i) {
    const ft_symbol_info &symbol = *info.symbols[i];
    int64_t lower = symbol.lower;
    int64_t upper = std::min(symbol.upper, std::max(lower, kLarge));
    auto within = [&](int64_t value) {
      return std::clamp(value, lower, upper);
    };
    sets[0].push_back(lower);
    sets[1].push_back(within(kOdd[i % std::size(kOdd)]));
    sets[2].push_back(within(kPrime[i % std::size(kPrime)]));
    sets[3].push_back(upper);
  }
  llvm::sort(sets);
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

HostTensor ft::conformance::repeatedTensor(const TensorView &source,
                                           llvm::ArrayRef<int64_t> shape) {
  HostTensor result(source.dtype, shape);
  size_t size = dtypeBytes(source.dtype);
  size_t have = size * static_cast<size_t>(source.numel());
  for (size_t at = 0; have && at < result.bytes.size(); at += have)
    std::memcpy(result.bytes.data() + at, source.data,
                std::min(have, result.bytes.size() - at));
  return result;
}

llvm::Expected<std::vector<HostTensor>>
SizesCheck::makeInputs(llvm::ArrayRef<std::vector<int64_t>> shapes) {
  std::vector<HostTensor> inputs;
  for (const auto &[value, shape] : llvm::zip(recorded.inputs, shapes)) {
    if (!value.tensor) {
      inputs.push_back(numberTensor(value.number));
      continue;
    }
    llvm::Expected<TensorView> view = data.view(*value.tensor);
    if (!view)
      return view.takeError();
    inputs.push_back(repeatedTensor(*view, shape));
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static std::string sizesText(const ft_model_info &info,
                             llvm::ArrayRef<int64_t> values) {
  std::string text;
  for (int32_t i = 0; i < info.num_symbols; ++i)
    if (info.symbols[i]->input >= 0)
      text += (text.empty() ? "" : " ") + std::string(info.symbols[i]->title) +
              "=" + std::to_string(values[i]);
  return text;
}

void SizesCheck::same(const llvm::Twine &name, const HostTensor &got,
                      const HostTensor &want, bool isGradient) {
  Accuracy accuracy =
      isGradient ? Accuracy::ModelGradient : Accuracy::Accumulated;
  if (auto difference = compareTensors(got.view(), want.view(), accuracy))
    fail(name, "the same from a model of this size", *difference);
  else
    report.pass();
}

template <typename T>
bool SizesCheck::bothRan(llvm::Expected<T> &got, llvm::Expected<T> &want,
                         llvm::StringRef what) {
  if (got && want)
    return true;
  std::string right = want ? "values" : llvm::toString(want.takeError());
  std::string left = got ? "values" : llvm::toString(got.takeError());
  if (left != "values" && right != "values")
    report.pass();
  else
    fail(what, right, left);
  return false;
}

void SizesCheck::compareRuns(CompiledModel &dynamic, CompiledModel &fixed,
                             llvm::MutableArrayRef<HostTensor> inputs,
                             llvm::StringRef what) {
  std::vector<HostTensor> copies = inputs.vec();
  auto got = dynamic.forward(inputs);
  auto want = fixed.forward(copies);
  if (!bothRan(got, want, what))
    return;
  for (size_t i = 0; i < std::min(got->size(), want->size()); ++i)
    same(what + " output " + llvm::Twine(i), (*got)[i], (*want)[i]);
  for (const auto &[name, stored] : recorded.buffersAfter) {
    auto left = dynamic.state(name), right = fixed.state(name);
    if (left && right)
      same(what + " buffer " + name, *left, *right);
    else
      fail(what + " buffer " + name, "its value",
           llvm::toString(
               llvm::joinErrors(left.takeError(), right.takeError())));
  }
}

void SizesCheck::compareSteps(const std::string &library,
                              const std::string &fixed,
                              llvm::ArrayRef<HostTensor> inputs,
                              llvm::StringRef what) {
  auto got = runStep(library, inputs), want = runStep(fixed, inputs);
  if (!bothRan(got, want, what))
    return;
  for (size_t i = 0; i < std::min(got->outputs.size(), want->outputs.size());
       ++i)
    same(what + " output " + llvm::Twine(i), got->outputs[i], want->outputs[i]);
  auto all = [&](const char *kind, const auto &left, const auto &right,
                 bool isGradient) {
    if (left.size() != right.size())
      return fail(what, llvm::Twine(right.size()) + " " + kind,
                  llvm::Twine(left.size()));
    for (const auto &[have, other] : llvm::zip(left, right))
      same(what + " " + kind + " " + have.first, have.second, other.second,
           isGradient);
  };
  all("state", got->states, want->states, false);
  all("gradient", got->gradients, want->gradients, true);
}

void SizesCheck::compare(const std::string &library,
                         llvm::ArrayRef<int64_t> values, llvm::StringRef what) {
  auto dynamic = CompiledModel::load(library);
  if (!dynamic)
    return fail(what, "a model", llvm::toString(dynamic.takeError()));
  auto shapes = (*dynamic)->inputShapes(values);
  if (!shapes) {
    llvm::consumeError(shapes.takeError());
    return report.skip("guard");
  }
  if (shapes->size() != recorded.inputs.size())
    return fail(what, llvm::Twine(recorded.inputs.size()) + " inputs",
                llvm::Twine(shapes->size()));
  // A name of its own: a library that another one holds on to is not loaded
  // anew from the same file.
  static unsigned artefacts = 0;
  auto fixed =
      compileFixed(archive, scratch.file("fixed" + llvm::Twine(artefacts++)),
                   *shapes, training);
  auto inputs = makeInputs(*shapes);
  if (!inputs)
    return fail(what, "data", llvm::toString(inputs.takeError()));
  if (fixed && training)
    return compareSteps(library, *fixed, *inputs, what);
  if (fixed) {
    auto model = CompiledModel::load(*fixed);
    if (!model)
      return fail(what, "a model", llvm::toString(model.takeError()));
    return compareRuns(**dynamic, **model, *inputs, what);
  }
  // An index into nothing: with fixed sizes the compiler sees it.
  std::string refusal = llvm::toString(fixed.takeError());
  std::vector<HostTensor> outputs;
  llvm::Error failed = llvm::Error::success();
  if (training) {
    if (auto step = runStep(library, *inputs))
      outputs = std::move(step->outputs);
    else
      failed = llvm::joinErrors(std::move(failed), step.takeError());
  } else if (auto got = (*dynamic)->forward(*inputs)) {
    outputs = std::move(*got);
  } else {
    failed = llvm::joinErrors(std::move(failed), got.takeError());
  }
  if (failed) {
    llvm::consumeError(std::move(failed));
    return report.pass();
  }
  // A -1 in a shape is ambiguous only where there are no elements.
  if (llvm::all_of(outputs, [](const HostTensor &output) {
        return output.view().numel() == 0;
      }))
    return report.skip("empty");
  fail(what + " fixed", "an artefact", refusal);
}

void SizesCheck::run(const std::string &library) {
  auto model = CompiledModel::load(library);
  if (!model)
    return fail("load", "a model", llvm::toString(model.takeError()));
  const ft_model_info &info = (*model)->info();
  if (!info.num_symbols)
    return report.skip("static");
  for (const std::vector<int64_t> &values : chooseSizes(info))
    compare(library, values, sizesText(info, values));
}
