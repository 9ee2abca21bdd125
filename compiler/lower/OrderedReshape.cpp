//===- OrderedReshape.cpp - Reshapes that keep a physical order -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/OrderedReshape.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ft {

namespace {
/// Dims (positions in the logical sizes) that become each other.
struct Group {
  SmallVector<unsigned, 2> from, to;
};
} // namespace

/// Splits both shapes into the smallest groups of equal products.
static SmallVector<Group, 6> groupsOf(ArrayRef<int64_t> from,
                                      ArrayRef<int64_t> to) {
  SmallVector<Group, 6> groups;
  size_t i = 0, k = 0;
  auto skipUnits = [](ArrayRef<int64_t> sizes, size_t &at) {
    while (at < sizes.size() && sizes[at] == 1)
      ++at;
  };
  for (;;) {
    skipUnits(from, i);
    skipUnits(to, k);
    if (i == from.size() || k == to.size())
      return groups;
    Group g;
    int64_t left = from[i], right = to[k];
    g.from.push_back(static_cast<unsigned>(i++));
    g.to.push_back(static_cast<unsigned>(k++));
    while (left != right) {
      if (left < right) {
        skipUnits(from, i);
        left *= from[i];
        g.from.push_back(static_cast<unsigned>(i++));
      } else {
        skipUnits(to, k);
        right *= to[k];
        g.to.push_back(static_cast<unsigned>(k++));
      }
    }
    groups.push_back(std::move(g));
  }
}

/// The physical order of the new dims of size > 1; nothing if a group's dims
/// are not adjacent.
static std::optional<SmallVector<unsigned, 6>>
newOrder(ArrayRef<unsigned> order, ArrayRef<int64_t> sizes,
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
                             ArrayRef<int64_t> sizes) {
  SmallVector<int64_t, 6> own = t.sizes();
  if (ArrayRef<int64_t>(own) == sizes)
    return t;
  if (t.isRowMajor() || llvm::is_contained(own, 0))
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
  SmallVector<int64_t, 6> physical;
  for (unsigned logical : *order)
    physical.push_back(sizes[logical]);
  // The memory itself, seen as a row-major tensor of its physical sizes.
  llvm::sort(t.order);
  LoweredTensor result = c.reshape(t, physical);
  result.order = *order;
  return result;
}

} // namespace ft
