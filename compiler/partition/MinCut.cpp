//===- MinCut.cpp - The cheapest cut of a directed graph -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/MinCut.h"

#include <algorithm>

namespace ft {

namespace {
constexpr unsigned kNone = ~0u;

/// Which edges leave (or, reversed, enter) each node.
class Adjacency {
public:
  template <typename Edges, typename NodeOf>
  Adjacency(unsigned nodes, const Edges &edges, NodeOf nodeOf)
      : first(nodes + 1, 0), list(edges.size()) {
    for (const auto &edge : edges)
      ++first[nodeOf(edge) + 1];
    for (unsigned n = 0; n < nodes; ++n)
      first[n + 1] += first[n];
    std::vector<unsigned> next(first.begin(), first.end() - 1);
    for (unsigned e = 0; e < edges.size(); ++e)
      list[next[nodeOf(edges[e])]++] = e;
  }
  const unsigned *begin(unsigned node) const {
    return list.data() + first[node];
  }
  const unsigned *end(unsigned node) const {
    return list.data() + first[node + 1];
  }

private:
  std::vector<unsigned> first, list;
};

/// The largest flow from node 0 to node 1 as far as the cut needs it. Edges
/// from node 0 are finite.
class PushRelabel {
public:
  using Capacity = MinCut::Capacity;
  struct Arc {
    unsigned from, to;
    Capacity room;
  };

  /// Arc i and arc i ^ 1 are each other's reverse.
  PushRelabel(unsigned nodeCount, std::vector<Arc> arcList)
      : count(nodeCount), arcs(std::move(arcList)),
        leaving(nodeCount, arcs, [](const Arc &arc) { return arc.from; }),
        height(nodeCount, nodeCount), excess(nodeCount, 0),
        current(nodeCount, nullptr), active(nodeCount, kNone),
        nextActive(nodeCount, kNone), nodes(nodeCount, kNone),
        next(nodeCount, kNone), previous(nodeCount, kNone) {}

  Capacity run();
  /// The nodes from which there is room left on the way to the sink.
  std::vector<bool> reachesSink() const;

private:
  static constexpr unsigned kSource = 0, kSink = 1;

  void measureHeights();
  void list(unsigned node);
  void unlist(unsigned node);
  void activate(unsigned node);
  void discharge(unsigned node);
  void lift(unsigned node);
  void giveUpAbove(unsigned low);

  unsigned count;
  std::vector<Arc> arcs;
  Adjacency leaving;
  /// At most the distance to the sink; `count` for nodes that cannot reach it.
  std::vector<unsigned> height;
  std::vector<Capacity> excess;
  /// The arc of each node that is tried next.
  std::vector<const unsigned *> current;
  /// By height, a stack of the nodes with excess, and a list of all nodes.
  std::vector<unsigned> active, nextActive;
  std::vector<unsigned> nodes, next, previous;
  unsigned highestActive = 0, highest = 0;
  size_t work = 0;
};
} // namespace

void PushRelabel::list(unsigned node) {
  unsigned h = height[node];
  previous[node] = kNone;
  next[node] = nodes[h];
  if (next[node] != kNone)
    previous[next[node]] = node;
  nodes[h] = node;
  highest = std::max(highest, h);
}

void PushRelabel::unlist(unsigned node) {
  if (previous[node] != kNone)
    next[previous[node]] = next[node];
  else
    nodes[height[node]] = next[node];
  if (next[node] != kNone)
    previous[next[node]] = previous[node];
}

void PushRelabel::activate(unsigned node) {
  unsigned h = height[node];
  nextActive[node] = active[h];
  active[h] = node;
  highestActive = std::max(highestActive, h);
}

/// Sets every height to the distance to the sink.
void PushRelabel::measureHeights() {
  std::fill(height.begin(), height.end(), count);
  std::fill(active.begin(), active.end(), kNone);
  std::fill(nodes.begin(), nodes.end(), kNone);
  highestActive = highest = 0;
  work = 0;
  std::vector<unsigned> queue = {kSink};
  height[kSink] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    unsigned node = queue[i];
    for (const unsigned *a = leaving.begin(node); a != leaving.end(node); ++a) {
      unsigned from = arcs[*a].to;
      if (arcs[*a ^ 1].room == 0 || height[from] != count || from == kSource)
        continue;
      height[from] = height[node] + 1;
      current[from] = leaving.begin(from);
      queue.push_back(from);
      list(from);
      if (excess[from] > 0)
        activate(from);
    }
  }
}

/// No node is at height `low`: those above it cannot reach the sink.
void PushRelabel::giveUpAbove(unsigned low) {
  for (unsigned h = low + 1; h <= highest; ++h) {
    for (unsigned node = nodes[h]; node != kNone; node = next[node])
      height[node] = count;
    nodes[h] = active[h] = kNone;
  }
  highest = low;
  highestActive = std::min(highestActive, low);
}

/// The node's arcs lead nowhere lower: lifts it above the lowest one that has
/// room.
void PushRelabel::lift(unsigned node) {
  unsigned old = height[node], lowest = count;
  for (const unsigned *a = leaving.begin(node); a != leaving.end(node); ++a) {
    ++work;
    if (arcs[*a].room > 0 && height[arcs[*a].to] + 1 < lowest) {
      lowest = height[arcs[*a].to] + 1;
      current[node] = a;
    }
  }
  unlist(node);
  height[node] = lowest;
  if (lowest < count)
    list(node);
  if (nodes[old] == kNone)
    giveUpAbove(old);
}

void PushRelabel::discharge(unsigned node) {
  while (height[node] < count) {
    for (const unsigned *&a = current[node]; a != leaving.end(node); ++a) {
      Arc &arc = arcs[*a];
      if (arc.room == 0 || height[arc.to] + 1 != height[node])
        continue;
      Capacity amount = std::min(excess[node], arc.room);
      arc.room -= amount;
      arcs[*a ^ 1].room += amount;
      excess[node] -= amount;
      if (excess[arc.to] == 0 && arc.to != kSink)
        activate(arc.to);
      excess[arc.to] += amount;
      if (excess[node] == 0)
        return;
    }
    lift(node);
  }
}

MinCut::Capacity PushRelabel::run() {
  for (const unsigned *a = leaving.begin(kSource); a != leaving.end(kSource);
       ++a) {
    Arc &arc = arcs[*a];
    excess[arc.to] += arc.room;
    arcs[*a ^ 1].room += arc.room;
    arc.room = 0;
  }
  measureHeights();
  while (true) {
    while (highestActive > 0 && active[highestActive] == kNone)
      --highestActive;
    unsigned node = active[highestActive];
    if (node == kNone)
      return excess[kSink];
    active[highestActive] = nextActive[node];
    discharge(node);
    if (work > arcs.size() + 6 * size_t(count))
      measureHeights();
  }
}

std::vector<bool> PushRelabel::reachesSink() const {
  std::vector<bool> reaches(count, false);
  std::vector<unsigned> queue = {kSink};
  reaches[kSink] = true;
  for (size_t i = 0; i < queue.size(); ++i)
    for (const unsigned *a = leaving.begin(queue[i]);
         a != leaving.end(queue[i]); ++a)
      if (arcs[*a ^ 1].room > 0 && !reaches[arcs[*a].to]) {
        reaches[arcs[*a].to] = true;
        queue.push_back(arcs[*a].to);
      }
  return reaches;
}

void MinCut::addEdge(unsigned from, unsigned to, Capacity capacity) {
  if (from != to && capacity > 0)
    edges.push_back({from, to, capacity});
}

MinCut::Capacity MinCut::solve(unsigned source, unsigned sink) {
  // What infinite edges tie to an end.
  auto tied = [&](unsigned end, bool backward,
                  std::vector<unsigned> &cameFrom) {
    Adjacency adjacent(count, edges, [&](const Edge &edge) {
      return backward ? edge.to : edge.from;
    });
    cameFrom.assign(count, kNone);
    cameFrom[end] = end;
    std::vector<unsigned> queue = {end};
    for (size_t i = 0; i < queue.size(); ++i)
      for (const unsigned *e = adjacent.begin(queue[i]);
           e != adjacent.end(queue[i]); ++e) {
        unsigned other = backward ? edges[*e].from : edges[*e].to;
        if (edges[*e].capacity != kInfinite || cameFrom[other] != kNone)
          continue;
        cameFrom[other] = queue[i];
        queue.push_back(other);
      }
  };
  std::vector<unsigned> fromSource, fromSink;
  tied(source, false, fromSource);
  path.clear();
  if (fromSource[sink] != kNone) {
    for (unsigned node = sink; node != source; node = fromSource[node])
      path.push_back(node);
    path.push_back(source);
    std::reverse(path.begin(), path.end());
    sinkSide.assign(count, false);
    return kInfinite;
  }
  tied(sink, true, fromSink);

  // The graph that is left: the source is node 0, the sink node 1.
  std::vector<unsigned> number(count);
  unsigned left = 2;
  for (unsigned n = 0; n < count; ++n)
    number[n] = fromSource[n] != kNone ? 0 : fromSink[n] != kNone ? 1 : left++;
  std::vector<PushRelabel::Arc> arcs;
  for (const Edge &edge : edges) {
    unsigned from = number[edge.from], to = number[edge.to];
    // Nothing flows back into the source or out of the sink.
    if (from == to || to == 0 || from == 1)
      continue;
    arcs.push_back({from, to, edge.capacity});
    arcs.push_back({to, from, 0});
  }
  PushRelabel flow(left, std::move(arcs));
  Capacity cost = flow.run();
  std::vector<bool> reaches = flow.reachesSink();
  sinkSide.assign(count, false);
  for (unsigned n = 0; n < count; ++n)
    sinkSide[n] = reaches[number[n]];
  return cost;
}

} // namespace ft
