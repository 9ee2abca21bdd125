//===- OrderedReshape.cpp - Reshapes that keep a physical order -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/OrderedReshape.h"

#include "dialects/ft/TensorSizes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ft {

namespace {
/// Dims (positions in the logical sizes) that become each other.
struct Group {
  SmallVector<unsigned, 2> from, to;
};
} // namespace

/// Whether one product is smaller than another that it divides, or is divided
/// by; nothing if that cannot be told.
static std::optional<bool> isLess(Dim a, Dim b) {
  if (a.isStatic() && b.isStatic())
    return a.value() < b.value();
  auto divides = [](Dim x, Dim y) {
    return !x.is(0) && floorDiv(y, x) * x == y;
  };
  if (divides(a, b))
    return true;
  if (divides(b, a))
    return false;
  return std::nullopt;
}

/// Splits both shapes into the smallest groups of equal products.
static SmallVector<Group, 6> groupsOf(ArrayRef<Dim> from, ArrayRef<Dim> to) {
  SmallVector<Group, 6> groups;
  size_t i = 0, k = 0;
  auto skipUnits = [](ArrayRef<Dim> sizes, size_t &at) {
    while (at < sizes.size() && sizes[at] == 1)
      ++at;
  };
  for (;;) {
    skipUnits(from, i);
    skipUnits(to, k);
    if (i == from.size() || k == to.size())
      return groups;
    Group g;
    Dim left = from[i], right = to[k];
    g.from.push_back(static_cast<unsigned>(i++));
    g.to.push_back(static_cast<unsigned>(k++));
    while (left != right) {
      std::optional<bool> less = isLess(left, right);
      if (!less)
        return {};
      if (*less) {
        skipUnits(from, i);
        if (i == from.size())
          return {};
        left = left * from[i];
        g.from.push_back(static_cast<unsigned>(i++));
      } else {
        skipUnits(to, k);
        if (k == to.size())
          return {};
        right = right * to[k];
        g.to.push_back(static_cast<unsigned>(k++));
      }
    }
    groups.push_back(std::move(g));
  }
}

/// The physical order of the new dims of size > 1; nothing if a group's dims
/// are not adjacent.
static std::optional<SmallVector<unsigned, 6>>
newOrder(ArrayRef<unsigned> order, ArrayRef<Dim> sizes,
         ArrayRef<Group> groups) {
  SmallVector<unsigned, 6> significant, result;
  for (unsigned logical : order)
    if (sizes[logical] != 1)
      significant.push_back(logical);
  for (size_t p = 0; p < significant.size();) {
    const Group *group = llvm::find_if(groups, [&](const Group &g) {
      return g.from.front() == significant[p];
    });
    if (group == groups.end())
      return std::nullopt;
    for (unsigned logical : group->from)
      if (p == significant.size() || significant[p++] != logical)
        return std::nullopt;
    llvm::append_range(result, group->to);
  }
  return result;
}

LoweredTensor orderedReshape(LowerCall &c, LoweredTensor t,
                             const SizeList &sizes) {
  Dims own = t.dims();
  if (ArrayRef<Dim>(own) == ArrayRef<Dim>(sizes))
    return t;
  if (t.isRowMajor() || hasNoElements(own))
    return c.reshape(t, sizes);
  std::optional<SmallVector<unsigned, 6>> order =
      newOrder(t.order, own, groupsOf(own, sizes));
  if (!order)
    return c.reshape(t, sizes);
  // Unit dims stand before the first dim that follows them logically.
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (sizes[d] == 1)
      order->insert(llvm::find_if(*order, [&](unsigned o) { return o > d; }),
                    d);
  Dims physical;
  for (unsigned logical : *order)
    physical.push_back(sizes[logical]);
  LoweredTensor result = c.reshape(inMemoryOrder(t), physical);
  result.order = *order;
  result.setDims(sizes);
  return result;
}

} // namespace ft
