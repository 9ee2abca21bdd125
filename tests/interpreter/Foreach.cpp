//===- Foreach.cpp - Elementwise operators on lists of tensors ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// _foreach_add([a, b], [c, d]) is [add(a, c), add(b, d)]. Each entry is
// evaluated as the call that it stands for.

#include "tests/interpreter/Families.h"

#include "llvm/ADT/StringMap.h"

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
    return all;
  }();
  return rows;
}
