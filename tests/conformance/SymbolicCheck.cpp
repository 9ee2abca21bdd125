//===- SymbolicCheck.cpp - One call with symbols for its sizes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/SymbolicCheck.h"

#include <random>

using namespace ft;
using namespace ft::conformance;

namespace {
/// Sizes by the name of their symbol.
using Sizes = std::map<std::string, int64_t>;

class SymbolicCall {
public:
  SymbolicCall(const MetaCase &test, llvm::ArrayRef<TensorMeta> metas,
               const SymbolicOptions &options, Report &report)
      : test(test), plain(metas), options(options), report(report),
        id(std::to_string(test.id) + " " + test.op) {}

  void run();

private:
  TensorMeta symbolic(const TensorMeta &meta);
  /// The tensors of the call at these sizes; nothing if one has no value.
  std::optional<std::vector<TensorMeta>> at(const Sizes &sizes) const;
  void checkAt(const FakeCall &call, const Sizes &sizes, bool recorded);
  std::string guardsText() const;

  const MetaCase &test;
  llvm::ArrayRef<TensorMeta> plain;
  const SymbolicOptions &options;
  Report &report;
  std::string id;
  SymContext symbols;
  ShapeEnv env{symbols};
  FakeScope scope{env, /*dataDependent=*/false};
  std::vector<TensorMeta> metas;
  Sizes hints;
  bool reportedSpurious = false;
};
} // namespace

static std::optional<int64_t> valueOf(SymExpr expr, const Sizes &sizes) {
  SymValue value =
      SymContext::evaluate(expr, [&](llvm::StringRef name, int64_t &number) {
        auto it = sizes.find(name.str());
        if (it == sizes.end())
          return false;
        number = it->second;
        return true;
      });
  return value ? std::optional(value.value) : std::nullopt;
}

static bool substitute(Dim &d, const Sizes &sizes) {
  if (d.isStatic())
    return true;
  std::optional<int64_t> value = valueOf(d.symbolic(), sizes);
  d = Dim(value.value_or(0));
  return value.has_value();
}

static std::optional<TensorMeta> substituted(TensorMeta meta,
                                             const Sizes &sizes) {
  bool ok = substitute(meta.offset, sizes);
  for (Dim &d : meta.sizes)
    ok &= substitute(d, sizes);
  for (Dim &d : meta.strides)
    ok &= substitute(d, sizes);
  return ok ? std::optional(std::move(meta)) : std::nullopt;
}

/// Every size of 2 or more is a symbol; dense strides follow.
TensorMeta SymbolicCall::symbolic(const TensorMeta &meta) {
  bool dense = true;
  Dims row = contiguousStrides(meta.sizes);
  for (auto [size, have, want] : llvm::zip(meta.sizes, meta.strides, row))
    dense &= size.is(1) || have == want;
  if (!dense)
    return meta;
  TensorMeta result = meta;
  for (Dim &size : result.sizes) {
    if (size.value() < 2)
      continue;
    std::string name = "s" + std::to_string(hints.size());
    hints[name] = size.value();
    SymbolInfo info;
    info.hint = size.value();
    size = Dim(env.addInputSize(name, std::move(info)));
  }
  Dims strides = contiguousStrides(result.sizes);
  for (auto [size, stride, made] :
       llvm::zip(result.sizes, result.strides, strides))
    if (!size.is(1))
      stride = made;
  return result;
}

std::optional<std::vector<TensorMeta>>
SymbolicCall::at(const Sizes &sizes) const {
  std::vector<TensorMeta> result;
  for (const TensorMeta &meta : metas) {
    std::optional<TensorMeta> one = substituted(meta, sizes);
    if (!one)
      return std::nullopt;
    result.push_back(std::move(*one));
  }
  return result;
}

std::string SymbolicCall::guardsText() const {
  std::string text;
  for (const auto &guard : env.guards())
    text += (text.empty() ? "" : ", ") + guard->predicate.str();
  return text.empty() ? "none" : text;
}

/// Strides count in dims of more than one element, of tensors with any.
static bool sameData(const TensorMeta &a, const TensorMeta &b) {
  if (a.dtype != b.dtype || a.sizes != b.sizes || a.device != b.device)
    return false;
  if (llvm::any_of(a.sizes, [](Dim d) { return d.is(0); }))
    return true;
  for (auto [size, x, y] : llvm::zip(a.sizes, a.strides, b.strides))
    if (!size.is(1) && x != y)
      return false;
  return a.offset == b.offset;
}

void SymbolicCall::checkAt(const FakeCall &call, const Sizes &sizes,
                           bool recorded) {
  std::optional<std::vector<TensorMeta>> operands = at(sizes);
  if (!operands)
    return;
  bool allowed = true;
  for (const auto &guard : env.guards())
    allowed &= valueOf(guard->predicate, sizes).value_or(0) != 0;
  FakeCall fixed(*test.schema, test.args, *operands);
  bool works = llvm::succeeded(propagateCall(fixed));
  std::string difference;
  if (works && fixed.results.size() != call.results.size())
    difference = std::to_string(fixed.results.size()) + " results";
  for (size_t i = 0; works && difference.empty() && i < call.results.size();
       ++i) {
    const FakeResult &want = fixed.results[i], &got = call.results[i];
    if (want.kind != got.kind) {
      difference = "a result of another kind";
    } else if (want.kind == FakeResult::Tensor) {
      std::optional<TensorMeta> meta = substituted(got.meta, sizes);
      if (!meta || !sameData(*meta, want.meta))
        difference = (meta ? meta->str() : got.meta.str() + " without value") +
                     ", plain " + want.meta.str();
    }
  }
  std::string where;
  for (const auto &[name, size] : sizes)
    where += (where.empty() ? "" : ", ") + name + "=" + std::to_string(size);
  // Whether indices fit into a dim without elements the run finds out.
  if (allowed && !works && fixed.category == FakeError::Index)
    return;
  if (allowed && (!works || !difference.empty())) {
    report.fail(id, test.op,
                "the guards to refuse " + where + " (guards: " + guardsText() +
                    ")",
                works ? difference : "error: " + fixed.message);
  } else if (allowed) {
    report.pass();
  } else if (recorded) {
    report.fail(id, test.op, "guards that the example satisfies", guardsText());
  } else if (works && difference.empty()) {
    report.note("sizes refused that the plain call takes");
    if (options.showSpurious && !reportedSpurious) {
      llvm::outs() << "SPURIOUS " << id << " at " << where << ": "
                   << guardsText() << "; ";
      for (const TensorMeta &meta : metas)
        llvm::outs() << meta.str() << ", ";
      llvm::outs() << "gives " << call.results.front().meta.str() << "\n";
    }
    reportedSpurious = true;
  } else {
    report.note("sizes refused that the plain call refuses");
  }
}

void SymbolicCall::run() {
  scope.allowGuards();
  for (const TensorMeta &meta : plain)
    metas.push_back(symbolic(meta));
  if (hints.empty())
    return;
  FakeCall call(*test.schema, test.args, metas, &scope);
  if (llvm::failed(propagateCall(call)))
    return report.fail(id, test.op, "results",
                       "error: " + call.message + " (guards: " + guardsText() +
                           ")");
  checkAt(call, hints, /*recorded=*/true);
  std::mt19937 random(static_cast<unsigned>(test.id));
  auto nearby = [&](int64_t hint) -> int64_t {
    switch (random() % 6) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return hint + 1;
    case 3:
      return 2 * hint;
    default:
      return hint;
    }
  };
  for (int trial = 0; trial < 8; ++trial) {
    Sizes sizes;
    // Equal sizes change together, so that some trials satisfy equations.
    std::map<int64_t, int64_t> together;
    for (const auto &[name, hint] : hints) {
      auto [it, isNew] = together.try_emplace(hint, 0);
      if (isNew)
        it->second = nearby(hint);
      sizes[name] = trial % 2 ? nearby(hint) : it->second;
    }
    checkAt(call, sizes, /*recorded=*/false);
  }
}

void ft::conformance::checkSymbolic(const MetaCase &test,
                                    llvm::ArrayRef<TensorMeta> metas,
                                    const SymbolicOptions &options,
                                    Report &report) {
  SymbolicCall(test, metas, options, report).run();
}
