//===- JoinLayouts.cpp - What two branches' results have in common *- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/JoinLayouts.h"

#include <numeric>

namespace ft {

bool sameLayout(const TensorMeta &a, const TensorMeta &b,
                llvm::function_ref<bool(Dim, Dim)> equal) {
  if (a.dtype != b.dtype || a.device != b.device || a.conj != b.conj ||
      a.neg != b.neg || a.rank() != b.rank() || !equal(a.offset, b.offset))
    return false;
  for (auto [x, y] : llvm::zip(a.sizes, b.sizes))
    if (!equal(x, y))
      return false;
  if (llvm::any_of(a.sizes, [](Dim d) { return d.is(0); }))
    return true;
  for (auto [size, x, y] : llvm::zip(a.sizes, a.strides, b.strides))
    if (!size.is(1) && !equal(x, y))
      return false;
  return true;
}

using Order = llvm::SmallVector<int64_t, 6>;

/// One position has no stride to speak of; a stride of 0 is no place in memory.
static bool isPlaced(const TensorMeta &t, int64_t d) {
  return !t.sizes[d].is(1) && !t.strides[d].is(0);
}

/// The dims from the innermost outward, each with the stride that those inside
/// it give; where several have it, the last one first. Other dims stand where
/// row-major order has them.
static Order strideOrder(const TensorMeta &t) {
  Order order;
  llvm::SmallVector<bool, 6> done(t.rank(), false);
  Dim plain = 1, clamped = 1;
  auto next = [&]() -> int64_t {
    for (int64_t d = t.rank() - 1; d >= 0; --d)
      if (!done[d] && isPlaced(t, d) &&
          (t.strides[d] == plain || t.strides[d] == clamped))
        return d;
    return -1;
  };
  for (int64_t d; (d = next()) >= 0;) {
    done[d] = true;
    order.push_back(d);
    plain = plain * t.sizes[d];
    clamped = clamped * maxDim(t.sizes[d], 1);
  }
  for (int64_t d = t.rank() - 1; d >= 0; --d)
    if (!done[d])
      order.insert(llvm::find_if(order, [&](int64_t e) { return e < d; }), d);
  return order;
}

/// Whether the strides are those of a dense tensor in this order. A symbolic
/// size may count as itself or as at least 1, which row-major strides of
/// PyTorch's do.
static bool isDenseIn(const TensorMeta &t, const Order &order) {
  Dim plain = 1, clamped = 1;
  for (int64_t d : order) {
    if (t.strides[d].is(0))
      continue;
    if (!t.sizes[d].is(1) && t.strides[d] != plain && t.strides[d] != clamped)
      return false;
    plain = plain * t.sizes[d];
    clamped = clamped * maxDim(t.sizes[d], 1);
  }
  return true;
}

std::optional<TensorMeta> joinLayouts(const TensorMeta &a, const TensorMeta &b,
                                      llvm::function_ref<Dim(Dim, Dim)> fresh,
                                      FakeError &category,
                                      std::string &reason) {
  auto differ = [&](FakeError kind, llvm::StringRef what) {
    category = kind;
    reason = what.str();
    return std::nullopt;
  };
  if (a.dtype != b.dtype)
    return differ(FakeError::Dtype, "their dtypes differ");
  if (a.device != b.device)
    return differ(FakeError::Device, "their devices differ");
  if (a.rank() != b.rank())
    return differ(FakeError::Shape, "their ranks differ");
  if (a.conj != b.conj || a.neg != b.neg)
    return differ(FakeError::Shape, "one is lazily conjugated or negated");
  if (a.offset != b.offset)
    return differ(FakeError::Shape, "their storage offsets differ");
  if (sameLayout(a, b))
    return a;

  bool zeros = true;
  for (auto [x, y] : llvm::zip(a.strides, b.strides))
    zeros &= x.is(0) == y.is(0);
  // Either order may be the common one, and row-major order too: each tensor
  // can have dims of one position, which stand anywhere.
  Order rowMajor(a.rank());
  std::iota(rowMajor.rbegin(), rowMajor.rend(), 0);
  Order orders[] = {rowMajor, strideOrder(a), strideOrder(b)};
  const Order *common = llvm::find_if(orders, [&](const Order &order) {
    return isDenseIn(a, order) && isDenseIn(b, order);
  });
  if (!zeros || common == std::end(orders)) {
    bool dense = isDenseIn(a, orders[1]) && isDenseIn(b, orders[2]) && zeros;
    return differ(FakeError::Shape,
                  dense ? "their strides stand in different orders"
                        : "their strides differ, and not because they are "
                          "dense tensors of different sizes");
  }
  TensorMeta joined = a;
  for (auto [size, x, y] : llvm::zip(joined.sizes, a.sizes, b.sizes))
    if (x != y)
      size = fresh(x, y);
  Dim running = 1;
  for (int64_t d : *common) {
    if (joined.strides[d].is(0))
      continue;
    joined.strides[d] = running;
    running = running * joined.sizes[d];
  }
  return joined;
}

} // namespace ft
