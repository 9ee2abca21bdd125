//===- Foreach.cpp - Elementwise operators on lists of tensors ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// _foreach_add([a, b], [c, d]) is [add(a, c), add(b, d)]. Each entry is
// evaluated as the call that it stands for.

#include "tests/interpreter/Families.h"

#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

/// "add.Tensor" for "_foreach_add.List"; null where an entry is no elementwise
/// call.
static const Schema *entryOf(const Schema &schema) {
  llvm::StringRef base = schema.base, overload = schema.overload;
  if (!base.consume_front("_foreach_") || base.ends_with("_"))
    return nullptr;
  llvm::SmallVector<llvm::StringRef> overloads;
  if (overload == "List")
    overloads = {"Tensor", "Tensor_Tensor", "default"};
  else if (overload == "Scalar" || overload == "ScalarList")
    overloads = {"Tensor_Scalar", "Scalar", "default"};
  else if (overload == "ScalarAndTensor")
    overloads = {"Scalar"};
  else if (overload == "Tensor" && !base.starts_with("addc"))
    overloads = {"Tensor"};
  else if (overload == "default")
    overloads = {"default"};
  for (llvm::StringRef each : overloads)
    if (const Schema *found =
            SchemaTable::get().find((base + "." + each).str()))
      return found;
  return nullptr;
}

static void foreachEntry(Call &call) {
  const Schema &schema = *entryOf(call.schema);
  for (size_t r = 0; r < call.results.size(); ++r) {
    std::vector<Arg> args;
    std::vector<Tensor> operands;
    for (size_t i = 0; i < schema.args.size(); ++i) {
      Arg arg = i < call.size() ? call.args[i] : schema.args[i].defaultValue;
      if (arg.kind == Arg::List)
        arg = Arg(arg.list[r]);
      if (arg.kind == Arg::Tensor) {
        operands.push_back(call.operands[arg.operand]);
        arg.operand = static_cast<int>(operands.size()) - 1;
      }
      args.push_back(std::move(arg));
    }
    const Tensor &out = call.out(r);
    TensorMeta meta = TensorMeta::contiguous(
        out.dtype, Dims(out.shape.begin(), out.shape.end()));
    CallResult entry = evaluate(schema, args, operands, meta);
    if (!entry.error.empty())
      return call.refuse(entry.error);
    if (!entry.unspecified.empty())
      call.open(entry.unspecified);
    call.out(r) = std::move(entry.results[0]);
  }
}

/// Runs `function(entry, result)` on each tensor of the first list.
template <typename Function>
static void eachEntry(Call &call, Function function) {
  std::vector<const Tensor *> list = call.tensors(0);
  for (size_t k = 0; k < list.size(); ++k)
    function(k, *list[k], call.out(k));
}

/// clone, copy (the second list), zero.
static void foreachMove(Call &call) {
  llvm::StringRef base = call.base();
  eachEntry(call, [&](size_t k, const Tensor &self, Tensor &out) {
    const Tensor &from = base.contains("copy") ? *call.tensors(1)[k] : self;
    for (int64_t i = 0, n = out.numel(); i < n && !base.contains("zero"); ++i) {
      Shape shape = out.shape, index(shape.size());
      for (int64_t d = int64_t(shape.size()), rest = i; d-- > 0;) {
        index[d] = rest % shape[d];
        rest /= shape[d];
      }
      out.set(i, from, flattenBroadcast(from.shape, index));
    }
  });
}

/// norm and powsum of all elements: (self, ord, dtype).
static void foreachNorm(Call &call) {
  double p = call.number(1);
  bool root = call.base().contains("norm");
  eachEntry(call, [&](size_t, const Tensor &self, Tensor &out) {
    double sum = 0;
    for (int64_t i = 0, n = self.numel(); i < n; ++i)
      sum += std::pow(std::abs(self.complex(i)), p);
    out.setReal(0, root ? std::pow(sum, 1 / p) : sum);
  });
}

static void foreachMax(Call &call) {
  eachEntry(call, [&](size_t, const Tensor &self, Tensor &out) {
    if (self.numel() == 0)
      return call.refuse("a maximum of nothing");
    int64_t most = 0;
    for (int64_t i = 0, n = self.numel(); i < n; ++i)
      if (self.whole()
              ? self.integer(i) > self.integer(most)
              : std::isnan(self.real(i)) || self.real(i) > self.real(most))
        most = i;
    out.set(0, self, most);
  });
}

static void foreachMm(Call &call) {
  eachEntry(call, [&](size_t k, const Tensor &a, Tensor &out) {
    const Tensor &b = *call.tensors(1)[k];
    int64_t n = b.shape[1], m = a.shape[1];
    for (int64_t i = 0, all = out.numel(); i < all; ++i) {
      double sum = 0;
      for (int64_t l = 0; l < m; ++l)
        sum += a.real(i / n * m + l) * b.real(l * n + i % n);
      out.setReal(i, sum);
    }
  });
}

/// addcmul and addcdiv with a factor for each entry: (self, a, b, scalars).
static void foreachFactors(Call &call) {
  bool quotient = call.base().contains("div");
  eachEntry(call, [&](size_t k, const Tensor &self, Tensor &out) {
    const Tensor &a = *call.tensors(1)[k], &b = *call.tensors(2)[k];
    double factor = call.tensor(3).real(k);
    for (int64_t i = 0, n = out.numel(); i < n; ++i)
      out.setReal(i,
                  self.real(i) + factor * (quotient ? a.real(i) / b.real(i)
                                                    : a.real(i) * b.real(i)));
  });
}

llvm::ArrayRef<OpRow> ft::interpreter::foreachOps() {
  static const std::vector<OpRow> rows = [] {
    llvm::StringMap<OpClass> entries;
    for (const OpRow &row : pointwiseOps())
      entries[row.name] = row.opClass;
    std::vector<OpRow> all;
    for (const Schema &schema : SchemaTable::get().all())
      if (const Schema *entry = entryOf(schema))
        if (auto found = entries.find(entry->name); found != entries.end())
          all.push_back({schema.name, foreachEntry, found->second});
    using enum OpClass;
    const OpRow own[] = {
        {"_foreach_clone.default", foreachMove, Exact},
        {"_foreach_copy.default", foreachMove, Exact},
        {"_foreach_zero.default", foreachMove, Exact},
        {"_foreach_max.default", foreachMax, Exact},
        {"_foreach_norm.Scalar", foreachNorm, Accumulated},
        {"_foreach_powsum.Scalar", foreachNorm, Accumulated},
        {"_foreach_mm.default", foreachMm, Accumulated},
        {"_foreach_addcmul.Tensor", foreachFactors, Accumulated},
        {"_foreach_addcdiv.Tensor", foreachFactors, Accumulated},
    };
    all.insert(all.end(), std::begin(own), std::end(own));
    return all;
  }();
  return rows;
}
