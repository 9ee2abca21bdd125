//===- KernelCalls.cpp - Calls of custom operators' kernels ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/KernelCalls.h"

#include "compiler/custom/CustomArgs.h"
#include "runtime/src/kernel_call.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace ft {

namespace {
/// Words and texts of one call. Arguments were decoded as those of the call of
/// the operator, so their operand numbers count tensors only.
class Description {
public:
  Description(KernelCallOp call,
              llvm::function_ref<Placement(Value)> placementOf,
              llvm::function_ref<Dim(Value)> roomOf,
              std::vector<SizeWord> &sizes)
      : call(call), placementOf(placementOf), roomOf(roomOf), sizes(sizes) {}
  std::string run();

private:
  void addTensor(Value value, unsigned index, int64_t copyFrom);
  void setItem(size_t index, const Arg &arg);
  /// Where a text will stand is known when all words are.
  void addText(size_t word, StringRef text) {
    textAt.push_back({word, texts.size()});
    texts += text;
    texts += '\0';
  }

  KernelCallOp call;
  llvm::function_ref<Placement(Value)> placementOf;
  llvm::function_ref<Dim(Value)> roomOf;
  std::vector<SizeWord> &sizes;
  std::vector<int64_t> words;
  std::vector<std::pair<size_t, size_t>> textAt;
  std::string texts;
  /// First word of the items, and their number so far.
  size_t firstItem = 0, items = 0;
};
} // namespace

static int64_t word(DLDataType dtype) { return dtype.code | dtype.bits << 8; }

static size_t countItems(ArrayRef<Arg> args) {
  size_t count = args.size();
  for (const Arg &arg : args)
    count += countItems(arg.list);
  return count;
}

/// The arguments of the operator. Numbers are of their declared kinds, as
/// kernel.h promises: the lowering rule saw to that.
static SmallVector<Arg, 8> argumentsOf(KernelCallOp call) {
  return AtenCall::decode(call).args;
}

std::string kernelCallLimit(KernelCallOp call) {
  size_t tensors = call.getNumOperands() + call.getNumResults();
  if (tensors > FT_KC_MOST_TENSORS)
    return "a kernel can have at most " + std::to_string(FT_KC_MOST_TENSORS) +
           " tensors, it has " + std::to_string(tensors);
  size_t items = countItems(argumentsOf(call));
  if (items > FT_KC_MOST_ITEMS)
    return "a kernel can have at most " + std::to_string(FT_KC_MOST_ITEMS) +
           " arguments and elements of lists, it has " + std::to_string(items);
  return "";
}

void Description::addTensor(Value value, unsigned index, int64_t copyFrom) {
  auto type = cast<TypeAttr>(call.getTypes()[index]).getValue();
  TensorMeta meta = metaFromType(type).value_or(TensorMeta());
  ArrayRef<int64_t> order =
      cast<DenseI64ArrayAttr>(call.getOrders()[index]).asArrayRef();
  Placement place = placementOf(value);
  words.push_back(word(toDLPack(meta.dtype)));
  words.push_back(copyFrom);
  // A result that the kernel allocates; as an operand its sizes are known.
  bool found = place.region == Region::Found && index >= call.getNumOperands();
  words.push_back(found && place.index != kNoOutput
                      ? static_cast<int64_t>(place.index)
                      : -1);
  auto add = [&](Dim d) {
    if (!d.isStatic())
      sizes.push_back({words.size(), d});
    words.push_back(d.isStatic() ? d.value() : 0);
  };
  add(found || !roomOf ? Dim(-1) : roomOf(value));
  words.push_back(meta.rank());
  if (found) {
    for (Dim size : meta.sizes)
      words.push_back(size.isStatic() ? size.value() : -1);
    llvm::append_range(words, order);
    words[FT_KC_FOUND] += 2 * meta.rank();
    return;
  }
  // Dims of one element show the annotated stride; it is never used.
  for (Dim size : meta.sizes)
    add(size);
  Dims strides(meta.strides.begin(), meta.strides.end());
  for (auto [p, logical] : llvm::enumerate(order))
    if (!meta.sizes[logical].is(1))
      strides[logical] = place.strides[p];
  for (Dim stride : strides)
    add(stride);
}

void Description::setItem(size_t index, const Arg &arg) {
  size_t at = firstItem + 3 * index;
  int64_t value = 0, count = 0;
  switch (arg.kind) {
  case Arg::None:
  case Arg::Complex:
    break;
  case Arg::Tensor: {
    int64_t result = call.getWritten()[arg.operand];
    value = result < 0 ? arg.operand : call.getNumOperands() + result;
    break;
  }
  case Arg::Int:
    value = arg.dim.isStatic() ? arg.dim.value() : 0;
    if (!arg.dim.isStatic())
      sizes.push_back({at + 1, arg.dim});
    break;
  case Arg::Float:
    value = llvm::bit_cast<int64_t>(arg.real);
    break;
  case Arg::Bool:
    value = arg.boolean;
    break;
  case Arg::Str:
    count = static_cast<int64_t>(arg.str.size());
    addText(at + 1, arg.str);
    break;
  case Arg::DType:
    value = word(toDLPack(arg.dtype));
    break;
  case Arg::Device: {
    DLDevice device = toDLPack(arg.device);
    value = device.device_type | static_cast<int64_t>(device.device_id) << 8;
    break;
  }
  case Arg::List: {
    count = static_cast<int64_t>(arg.list.size());
    value = static_cast<int64_t>(items);
    size_t first = items;
    items += arg.list.size();
    for (auto [i, item] : llvm::enumerate(arg.list))
      setItem(first + i, item);
    break;
  }
  }
  words[at] = argKind(arg);
  if (arg.kind != Arg::Str)
    words[at + 1] = value;
  words[at + 2] = count;
}

std::string Description::run() {
  SmallVector<Arg, 8> args = argumentsOf(call);
  int64_t inPlace = llvm::count_if(call.getWritten(),
                                   [](int64_t result) { return result >= 0; });
  words.resize(FT_KC_HEAD);
  addText(FT_KC_OP, call.getCallee());
  words[FT_KC_TENSORS] = call.getNumOperands() + call.getNumResults();
  bool tellsSizes = call->hasAttr(kTellsSizes);
  words[FT_KC_SIZES] =
      tellsSizes ? static_cast<int64_t>(call.getNumOperands()) : -1;
  words[FT_KC_RESULTS] = call.getNumResults() - inPlace - tellsSizes;
  words[FT_KC_ARGS] = static_cast<int64_t>(args.size());
  words[FT_KC_ITEMS] = static_cast<int64_t>(countItems(args));
  SmallVector<int64_t> source(call.getNumResults(), -1);
  for (auto [i, result] : llvm::enumerate(call.getWritten()))
    if (result >= 0)
      source[result] = static_cast<int64_t>(i);
  for (auto [i, value] : llvm::enumerate(call.getOperands()))
    addTensor(value, static_cast<unsigned>(i), -1);
  for (auto [r, value] : llvm::enumerate(call.getResults()))
    addTensor(value, call.getNumOperands() + static_cast<unsigned>(r),
              source[r]);
  firstItem = words.size();
  items = args.size();
  words.resize(words.size() + 3 * words[FT_KC_ITEMS]);
  for (auto [i, arg] : llvm::enumerate(args))
    setItem(i, arg);
  for (auto [at, offset] : textAt)
    words[at] = static_cast<int64_t>(words.size() * sizeof(int64_t) + offset);
  std::string bytes(reinterpret_cast<const char *>(words.data()),
                    words.size() * sizeof(int64_t));
  return bytes + texts;
}

std::string describeKernelCall(KernelCallOp call,
                               llvm::function_ref<Placement(Value)> placementOf,
                               llvm::function_ref<Dim(Value)> roomOf,
                               std::vector<SizeWord> &sizes) {
  return Description(call, placementOf, roomOf, sizes).run();
}

} // namespace ft
