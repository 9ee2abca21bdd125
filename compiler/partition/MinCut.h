//===- MinCut.h - The cheapest cut of a directed graph ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cut puts each node of a graph on the side of the source or on that of the
// sink. It costs the capacities of the edges from the source's side to the
// sink's; edges the other way are free. This finds the cheapest one.
//
//   source ─3→ a ─1→ sink     {source, a | b, sink} costs 1 + 2 = 3
//   source ─2→ b ─4→ sink     the others 5, 6 and 5
//
// Idea: the cheapest cut costs what the largest flow carries. Flow is pushed
// from node to node, downhill on an estimate of the distance to the sink; where
// it can go no further the node is lifted (push-relabel: the highest node
// first, distances worked out anew from time to time, nodes above an empty
// height given up). What cannot come through stays where it is: the cut is
// known before it has flowed back. In front of that, all that infinite edges
// tie to the source or to the sink is one with it, which leaves of a graph of
// values little more than the places where there is a choice.
//
// Invariant: an edge with room left goes down by at most one. So when no node
// with flow left can reach the sink, the edges to the nodes that can are full.
//
// Of several cheapest cuts the one with the fewest nodes on the sink's side is
// given: those that can still reach the sink. (These sets are closed under
// intersection, so there is one smallest.)
//
// Cost: O(nodes² √edges) at worst, near linear on graphs of values: 10^5 nodes
// take about a tenth of a second. Deterministic.
//
// Tests: tests/unit/partition/MinCutTest.cpp.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_COMPILER_PARTITION_MINCUT_H
#define FORETRACE_COMPILER_PARTITION_MINCUT_H

#include <cstdint>
#include <limits>
#include <vector>

namespace ft {

class MinCut {
public:
  /// Of a whole graph, finite ones may sum up to less than 2^61.
  using Capacity = int64_t;
  static constexpr Capacity kInfinite = std::numeric_limits<Capacity>::max();

  /// Nodes are numbered from 0.
  unsigned addNode() { return count++; }
  /// One edge; several between the same nodes add up. Negative capacities
  /// count as 0.
  void addEdge(unsigned from, unsigned to, Capacity capacity);

  /// The cost of the cheapest cut between two different nodes; kInfinite if
  /// each has an infinite edge (see infinitePath).
  Capacity solve(unsigned source, unsigned sink);

  /// Of the cut that solve found.
  bool onSinkSide(unsigned node) const { return sinkSide[node]; }

  /// After solve gave kInfinite: the nodes of a shortest path of infinite edges
  /// from source to sink, both included.
  const std::vector<unsigned> &infinitePath() const { return path; }

private:
  struct Edge {
    unsigned from, to;
    Capacity capacity;
  };

  unsigned count = 0;
  std::vector<Edge> edges;
  std::vector<bool> sinkSide;
  std::vector<unsigned> path;
};

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_MINCUT_H
