//===- MetaCommand.cpp - ft-conformance meta ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/MetaCommand.h"

#include "compiler/fake/FakeCall.h"
#include "tests/conformance/Lines.h"
#include "tests/conformance/OpCase.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

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
    return "an unknown float";
  case FakeResult::Bool:
    return "an unknown bool";
  }
  return "";
}

static bool matches(const ExpectedResult &want, const FakeResult &got,
                    bool layoutOfData) {
  switch (want.kind) {
  case ExpectedResult::Undefined:
    return got.kind == FakeResult::Undefined;
  case ExpectedResult::Tensor:
    return got.kind == FakeResult::Tensor && got.alias == want.alias &&
           want.spec.describes(got.meta, layoutOfData);
  case ExpectedResult::Number:
    return got.kind == FakeResult::Int && want.number.kind == Arg::Int &&
           got.value && *got.value == want.number.dim;
  case ExpectedResult::Symbol: {
    // Unbacked numbers: "u0", "zuf0", "Eq(u0, 1)".
    llvm::StringRef symbol = want.symbol;
    if (symbol.starts_with("zuf"))
      return got.kind == FakeResult::Float;
    if (symbol.starts_with("Eq("))
      return got.kind == FakeResult::Bool;
    return got.kind == FakeResult::Int &&
           (!got.value || got.value->str() == symbol);
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
  return llvm::equal(want, got,
                     [&](const ExpectedResult &w, const FakeResult &g) {
                       return matches(w, g, layoutOfData);
                     });
}

template <typename T, typename Text>
static std::string join(llvm::ArrayRef<T> list, Text text) {
  std::string joined;
  for (const T &element : list)
    joined += (joined.empty() ? "" : ", ") + text(element);
  return joined.empty() ? "no results" : joined;
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
  FakeCall call(*test.schema, test.args, metas);
  bool failed = llvm::failed(propagateCall(call));
  if (failed && wantsError) {
    if (categoryName(call.category) != test.error)
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
                                     Report &report) {
  llvm::Expected<llvm::GlobPattern> pattern =
      llvm::GlobPattern::create(op.empty() ? "*" : op);
  if (!pattern)
    return pattern.takeError();
  return forEachLine(file, [&](llvm::StringRef line) -> llvm::Error {
    llvm::Expected<MetaCase> test = readMetaCase(line);
    if (!test)
      return test.takeError();
    if (pattern->match(test->op))
      check(*test, report);
    return llvm::Error::success();
  });
}
