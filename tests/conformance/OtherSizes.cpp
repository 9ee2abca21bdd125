//===- OtherSizes.cpp - Calls compiled for all sizes, at others -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/OtherSizes.h"

#include "compiler/driver/Session.h"
#include "dialects/ft/FtDialect.h"
#include "tests/conformance/Compare.h"
#include "tests/conformance/CompileTimes.h"
#include "tests/conformance/CompiledModel.h"
#include "tests/conformance/SizesCheck.h"

using namespace ft;
using namespace ft::conformance;

/// An artefact of the calls: for all sizes, or for `shapes` of the inputs if
/// there are some. Why there is none, or an empty text.
std::string OtherSizes::compile(Batch batch,
                                llvm::ArrayRef<std::vector<int64_t>> shapes,
                                std::string &library) {
  Options options;
  options.catchCrashes = true;
  Session session(options);
  GraphBuilder graph(session.context(), "calls");
  SymContext &symbols =
      session.context().getOrLoadDialect<FtDialect>()->symbolContext();
  for (const ValueCase *test : batch)
    addValueCall(graph, *test, &symbols);
  std::string base = scratch.file("other" + llvm::Twine(artefacts++));
  bool loaded = session.loadText(graph.finish(), "calls");
  if (loaded && !shapes.empty())
    if (llvm::Error error = fixSizes(session.module(), shapes))
      return llvm::toString(std::move(error));
  if (!loaded || !session.compile(base))
    return session.diagnostics().empty()
               ? "no diagnostic"
               : session.diagnostics().front().render();
  library = session.files().library;
  return "";
}

namespace {
/// The symbols of one call, by their numbers in the artefact.
using Symbols = std::vector<size_t>;
} // namespace

static std::vector<Symbols> symbolsByCall(const ft_model_info &info,
                                          OtherSizes::Batch batch) {
  std::vector<Symbols> byCall(batch.size());
  for (int32_t i = 0; i < info.num_symbols; ++i) {
    llvm::StringRef name = info.symbols[i]->name;
    for (auto [k, test] : llvm::enumerate(batch))
      if (info.symbols[i]->input >= 0 &&
          name.ends_with("_call_" + std::to_string(test->id)))
        byCall[k].push_back(static_cast<size_t>(i));
  }
  return byCall;
}

/// The recorded sizes, but those of the calls that allow others. `changed` says
/// which calls do.
static std::vector<int64_t> otherValues(CompiledModel &model,
                                        OtherSizes::Batch batch,
                                        std::vector<bool> &changed) {
  const ft_model_info &info = model.info();
  std::vector<int64_t> values;
  for (int32_t i = 0; i < info.num_symbols; ++i)
    values.push_back(info.symbols[i]->hint);
  auto allowed = [&](llvm::ArrayRef<int64_t> sizes) {
    auto shapes = model.inputShapes(sizes);
    if (shapes)
      return true;
    llvm::consumeError(shapes.takeError());
    return false;
  };
  changed.assign(batch.size(), false);
  for (auto [k, symbols] : llvm::enumerate(symbolsByCall(info, batch))) {
    for (auto [times, more] : {std::pair(1, 1), {1, 2}, {2, 0}}) {
      std::vector<int64_t> other = values;
      for (size_t i : symbols)
        other[i] = values[i] * times + more;
      if (symbols.empty() || !allowed(other))
        continue;
      values = other;
      changed[k] = true;
      break;
    }
  }
  return values;
}

static std::string sizesText(const std::vector<std::vector<int64_t>> &shapes,
                             size_t first, size_t count) {
  std::string text = "at";
  for (size_t i = first; i < first + count; ++i) {
    text += " [";
    for (auto [d, size] : llvm::enumerate(shapes[i]))
      text += (d ? ", " : "") + std::to_string(size);
    text += "]";
  }
  return text;
}

void OtherSizes::split(Batch batch, const std::string &why) {
  auto fail = [&](const ValueCase &test, const std::string &got) {
    std::string label = std::to_string(test.id) + " " + test.op;
    report.fail(label, test.op, "the same as at a fixed size", got);
  };
  if (batch.size() == 1)
    return fail(*batch.front(), why);
  for (Batch half : {batch.take_front(batch.size() / 2),
                     batch.drop_front(batch.size() / 2)}) {
    std::string library, error = compile(half, {}, library);
    if (error.empty())
      check(half, library);
    else
      split(half, error);
  }
}

void OtherSizes::check(Batch batch, const std::string &library) {
  auto dynamic = CompiledModel::load(library);
  if (!dynamic)
    return split(batch, llvm::toString(dynamic.takeError()));
  std::vector<bool> changed;
  std::vector<int64_t> values = otherValues(**dynamic, batch, changed);
  auto shapes = (*dynamic)->inputShapes(values);
  if (!shapes)
    return split(batch, llvm::toString(shapes.takeError()));
  if (llvm::none_of(changed, [](bool c) { return c; }))
    return report.note("calls that fix their sizes",
                       static_cast<int64_t>(batch.size()));
  std::vector<HostTensor> inputs;
  for (const ValueCase *test : batch)
    for (const StoredTensor &tensor : test->tensors) {
      llvm::Expected<TensorView> view = data.view(tensor);
      if (!view)
        return split(batch, llvm::toString(view.takeError()));
      inputs.push_back(repeatedTensor(*view, (*shapes)[inputs.size()]));
    }
  std::vector<HostTensor> copies = inputs;
  std::string fixedLibrary;
  std::string why = compile(batch, *shapes, fixedLibrary);
  auto got = (*dynamic)->forward(inputs);
  std::string dynamicError = got ? "" : llvm::toString(got.takeError());
  if (!why.empty()) {
    // What no artefact of this size does, the other one may refuse as well.
    if (batch.size() == 1 && !dynamicError.empty())
      return report.note("other sizes that both refuse");
    return split(batch, why);
  }
  auto fixed = CompiledModel::load(fixedLibrary);
  if (!fixed)
    return split(batch, llvm::toString(fixed.takeError()));
  auto want = (*fixed)->forward(copies);
  std::string fixedError = want ? "" : llvm::toString(want.takeError());
  if (!dynamicError.empty() || !fixedError.empty()) {
    if (batch.size() == 1 && !dynamicError.empty() && !fixedError.empty())
      return report.note("other sizes that both refuse");
    return split(batch, dynamicError.empty()
                            ? "values, where it says: " + fixedError
                            : dynamicError);
  }
  size_t input = 0, output = 0;
  for (auto [k, test] : llvm::enumerate(batch)) {
    std::string difference;
    for (size_t n = outputCount(*test); n > 0; --n, ++output)
      if (auto d = compareTensors((*got)[output].view(), (*want)[output].view(),
                                  Accuracy::Accumulated))
        difference = *d;
    for (size_t n = 0; n < test->tensors.size(); ++n)
      if (auto d =
              compareTensors(inputs[input + n].view(), copies[input + n].view(),
                             Accuracy::Accumulated))
        difference = "written argument " + std::to_string(n) + " " + *d;
    if (!changed[k])
      report.note("calls that fix their sizes");
    else if (difference.empty())
      report.note("calls that are right at other sizes");
    else
      report.fail(std::to_string(test->id) + " " + test->op, test->op,
                  "the same as at a fixed size",
                  sizesText(*shapes, input, test->tensors.size()) + ": " +
                      difference);
    input += test->tensors.size();
  }
}
