//===- MetaCommand.cpp - ft-conformance meta ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/MetaCommand.h"

#include "compiler/fake/FakeCall.h"
#include "tests/conformance/Lines.h"
#include "tests/conformance/OpCase.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Regex.h"

using namespace ft;
using namespace ft::conformance;

static llvm::StringRef categoryName(FakeError category) {
  switch (category) {
  case FakeError::Shape:
    return "shape";
  case FakeError::Dtype:
    return "dtype";
  case FakeError::Device:
    return "device";
  case FakeError::Dim:
    return "dim";
  case FakeError::Index:
    return "index";
  case FakeError::DataDependent:
  case FakeError::Undecided:
    return "data_dependent";
  case FakeError::Unsupported:
    return "unsupported";
  case FakeError::Other:
    return "other";
  }
  return "other";
}

/// Both say that sizes do not fit.
static bool sameCategory(llvm::StringRef ours, llvm::StringRef theirs) {
  auto ofSizes = [](llvm::StringRef category) {
    return category == "shape" || category == "dim";
  };
  return ours == theirs || (ofSizes(ours) && ofSizes(theirs));
}

static std::string text(const FakeResult &result) {
  switch (result.kind) {
  case FakeResult::Undefined:
    return "nothing";
  case FakeResult::Tensor: {
    std::string text = result.meta.str();
    if (!result.meta.offset.is(0))
      text += " offset " + result.meta.offset.str();
    if (result.alias >= 0)
      text += " sharing argument " + std::to_string(result.alias);
    return text;
  }
  case FakeResult::Int:
    return result.value ? result.value->str() : "an unknown integer";
  case FakeResult::Float:
    return result.value ? result.value->str() : "an unknown float";
  case FakeResult::Bool:
    if (!result.value)
      return "an unknown bool";
    return result.value->isStatic() ? (result.value->is(0) ? "False" : "True")
                                    : result.value->str();
  }
  return "";
}

/// The symbols of a text in the order of their appearance: "u0", "zuf1".
static void collectSymbols(llvm::StringRef text,
                           llvm::SmallVectorImpl<std::string> &names) {
  static const llvm::Regex symbol("(zuf|u)[0-9]+");
  llvm::SmallVector<llvm::StringRef, 2> found;
  while (symbol.match(text, &found)) {
    if (!llvm::is_contained(names, found[0]))
      names.push_back(found[0].str());
    text = text.drop_front(found[0].end() - text.begin());
  }
}

/// Which of our symbols stands where the file has a certain one: they are made
/// in the same order, but a number may be left out.
using Renaming = std::map<std::string, std::string>;

static std::string renamed(llvm::StringRef text, const Renaming &names) {
  static const llvm::Regex symbol("(zuf|u)[0-9]+");
  llvm::SmallVector<llvm::StringRef, 2> found;
  std::string result;
  while (symbol.match(text, &found)) {
    result += text.take_front(found[0].begin() - text.begin());
    auto known = names.find(found[0].str());
    result += known == names.end() ? found[0].str() : known->second;
    text = text.drop_front(found[0].end() - text.begin());
  }
  return result + text.str();
}

static TensorSpec renamed(TensorSpec spec, const Renaming &names) {
  for (std::string &size : spec.sizes)
    size = renamed(size, names);
  for (std::string &stride : spec.strides)
    stride = renamed(stride, names);
  spec.offset = renamed(spec.offset, names);
  return spec;
}

static std::string text(const FakeResult &result);

static Renaming pairSymbols(llvm::ArrayRef<ExpectedResult> want,
                            llvm::ArrayRef<FakeResult> got) {
  llvm::SmallVector<std::string> theirs, ours;
  for (const ExpectedResult &result : want)
    collectSymbols(result.str(), theirs);
  for (const FakeResult &result : got)
    collectSymbols(text(result), ours);
  Renaming names;
  for (auto [their, our] : llvm::zip(theirs, ours))
    names[their] = our;
  return names;
}

static bool matches(const ExpectedResult &want, const FakeResult &got,
                    bool layoutOfData, const Renaming &names) {
  switch (want.kind) {
  case ExpectedResult::Undefined:
    return got.kind == FakeResult::Undefined;
  case ExpectedResult::Tensor:
    return got.kind == FakeResult::Tensor && got.alias == want.alias &&
           (names.empty() ? want.spec : renamed(want.spec, names))
               .describes(got.meta, layoutOfData);
  case ExpectedResult::Number:
    return got.kind == FakeResult::Int && want.number.kind == Arg::Int &&
           got.value && *got.value == want.number.dim;
  case ExpectedResult::Symbol: {
    // Numbers that data decide: "u0", "zuf0", "Eq(u0, 1)".
    SymExpr mine = got.value ? got.value->symbolic() : SymExpr();
    if (!mine)
      return false;
    llvm::Expected<SymExpr> theirs =
        mine.context().parse(renamed(want.symbol, names));
    if (theirs)
      return mine == *theirs;
    llvm::consumeError(theirs.takeError());
    return false;
  }
  }
  return false;
}

static bool matches(llvm::ArrayRef<ExpectedResult> want,
                    llvm::ArrayRef<FakeResult> got, bool layoutOfData) {
  // A call that returns nothing has one undefined result in the file.
  if (got.empty() && want.size() == 1 &&
      want[0].kind == ExpectedResult::Undefined)
    return true;
  Renaming names = pairSymbols(want, got);
  return llvm::equal(want, got,
                     [&](const ExpectedResult &w, const FakeResult &g) {
                       return matches(w, g, layoutOfData, names);
                     });
}

template <typename T, typename Text>
static std::string join(llvm::ArrayRef<T> list, Text text) {
  std::string joined;
  for (const T &element : list)
    joined += (joined.empty() ? "" : ", ") + text(element);
  return joined.empty() ? "no results" : joined;
}

/// Whether the plain call gives what is recorded; see checkSymbolic.
static void checkWithSymbols(const MetaCase &test,
                             const SymbolicOptions &options, Report &report) {
  if (!test.error.empty() || !test.realKind.empty() || test.shapeEnv ||
      !test.schema || !findFakeRule(*test.schema))
    return report.skip("no results");
  std::vector<TensorMeta> metas;
  for (const TensorSpec &spec : test.tensors) {
    llvm::Expected<TensorMeta> meta = spec.meta();
    if (!meta)
      return llvm::consumeError(meta.takeError());
    metas.push_back(std::move(*meta));
  }
  FakeCall call(*test.schema, test.args, metas);
  if (llvm::failed(propagateCall(call)))
    return report.skip("no results");
  checkSymbolic(test, metas, options, report);
}

static void check(const MetaCase &test, Report &report) {
  std::string id = std::to_string(test.id) + " " + test.op;
  auto fail = [&](const llvm::Twine &expected, const llvm::Twine &got) {
    report.fail(id, test.op, expected.str(), got.str());
  };
  // What the kernel refuses, or does with the values, is not metadata.
  if (test.realKind == "kernel" || test.realKind == "value" ||
      test.realKind == "overlap")
    return report.skip(test.realKind);
  auto resultText = [](const ExpectedResult &r) { return r.str(); };
  llvm::ArrayRef<ExpectedResult> want = test.results;
  bool wantsError = !test.error.empty();
  if (test.realResults) {
    want = *test.realResults;
    wantsError = false;
  }
  std::string expected =
      wantsError ? "an error (" + test.error + ")" : join(want, resultText);
  if (!test.schema || !findFakeRule(*test.schema))
    return fail(expected, "no rule for the operator");

  std::vector<TensorMeta> metas;
  for (const TensorSpec &spec : test.tensors) {
    llvm::Expected<TensorMeta> meta = spec.meta();
    if (!meta)
      return fail(expected, llvm::toString(meta.takeError()));
    metas.push_back(std::move(*meta));
  }
  SymContext symbols;
  ShapeEnv env(symbols);
  FakeScope scope(env);
  FakeCall call(*test.schema, test.args, metas,
                test.shapeEnv ? &scope : nullptr);
  bool failed = llvm::failed(propagateCall(call));
  if (failed && wantsError) {
    if (sameCategory(categoryName(call.category), test.error))
      report.note("errors of PyTorch's category");
    else
      report.note("errors of another category than PyTorch's");
    return report.pass();
  }
  // The real kernel is stricter than FakeTensor: both answers are right.
  if (failed && test.realError)
    return report.pass();
  if (failed)
    return fail(expected, "error: " + call.message);
  if (!wantsError && matches(want, call.results, test.realResults.has_value()))
    return report.pass();
  fail(expected, join(llvm::ArrayRef(call.results), text));
}

llvm::Error ft::conformance::runMeta(llvm::StringRef file, llvm::StringRef op,
                                     Report &report,
                                     const SymbolicOptions *symbolic) {
  llvm::Expected<llvm::GlobPattern> pattern =
      llvm::GlobPattern::create(op.empty() ? "*" : op);
  if (!pattern)
    return pattern.takeError();
  return forEachLine(file, [&](llvm::StringRef line) -> llvm::Error {
    llvm::Expected<MetaCase> test = readMetaCase(line);
    if (!test)
      return test.takeError();
    if (!pattern->match(test->op))
      return llvm::Error::success();
    if (symbolic)
      checkWithSymbols(*test, *symbolic, report);
    else
      check(*test, report);
    return llvm::Error::success();
  });
}
