//===- RepeatPlan.cpp - What to compute once more, to need less memory ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/RepeatPlan.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ft {

namespace {
/// What computing one value again may take of others that are not there.
constexpr size_t kMostSources = 1024;
constexpr int64_t kMostLooks = 100'000'000;
/// What making it better may take.
constexpr int64_t kMostBetter = 10'000'000;

class Player {
public:
  /// `heldValues` do not go.
  Player(const RepeatProblem &repeatProblem, int64_t mostBytes,
         const llvm::BitVector &heldValues)
      : problem(repeatProblem), values(problem.order.values), held(heldValues),
        limit(mostBytes), state(values.size()) {
    std::vector<bool> written(values.size(), false);
    for (auto [at, step] : llvm::enumerate(problem.order.steps)) {
      for (unsigned v : step.reads)
        state[v].readers.push_back(static_cast<unsigned>(at));
      for (unsigned v : step.writes)
        written[v] = true;
    }
    for (unsigned v = 0; v < values.size(); ++v)
      if (!written[v] && isWanted(v))
        enter(v);
  }

  std::vector<PlayedStep> run();

  int64_t looks = 0;

private:
  struct State {
    std::vector<unsigned> readers;
    /// How many of them have run.
    size_t done = 0;
    bool isThere = false;
    /// It is not there, and will be computed again.
    bool isAway = false;
    /// How many values that are away are computed from it, and where the first
    /// of them is read.
    unsigned demand = 0, demandedAt = ~0U;
    /// Something that is about to run reads it.
    unsigned pins = 0;
    /// Where it is among `there`.
    size_t place = 0;
  };

  bool hasReaders(unsigned v) const {
    return state[v].done < state[v].readers.size() || values[v].stays;
  }
  bool isWanted(unsigned v) const {
    return hasReaders(v) || state[v].demand > 0;
  }
  unsigned nextRead(unsigned v) const {
    const State &s = state[v];
    unsigned next = s.done < s.readers.size() ? s.readers[s.done] : ~0U;
    return std::min(next, s.demand ? s.demandedAt : ~0U);
  }

  void enter(unsigned v) {
    state[v].isThere = true;
    // In memory that is there anyhow: it never goes.
    if (values[v].bytes == 0)
      return;
    state[v].place = there.size();
    there.push_back(v);
    live += values[v].bytes;
  }
  void leave(unsigned v) {
    state[v].isThere = false;
    there[state[v].place] = there.back();
    state[there.back()].place = state[v].place;
    there.pop_back();
    live -= values[v].bytes;
  }
  /// Forgets what nobody wants.
  void release(unsigned v) {
    if (state[v].isThere && !isWanted(v) && state[v].pins == 0 &&
        values[v].bytes > 0)
      leave(v);
  }

  void setAway(unsigned value, bool away);
  bool sourcesOf(unsigned value, llvm::SmallVectorImpl<unsigned> &order);
  double costOf(unsigned value);
  void makeRoom(int64_t bytes);
  void bring(unsigned value);
  void pin(llvm::ArrayRef<unsigned> list) {
    for (unsigned v : list)
      ++state[v].pins;
  }
  void unpin(llvm::ArrayRef<unsigned> list) {
    for (unsigned v : list) {
      --state[v].pins;
      release(v);
    }
  }

  const RepeatProblem &problem;
  const std::vector<OrderProblem::Value> &values;
  const llvm::BitVector &held;
  int64_t limit, live = 0;
  unsigned now = 0;
  std::vector<State> state;
  std::vector<unsigned> there;
  std::vector<PlayedStep> play;
};
} // namespace

/// A value that is away wants its sources; those of them that have gone for
/// good come back into the reckoning.
void Player::setAway(unsigned value, bool away) {
  llvm::SmallVector<unsigned> open = {value};
  while (!open.empty()) {
    unsigned v = open.pop_back_val();
    if (state[v].isAway == away)
      continue;
    state[v].isAway = away;
    unsigned at = nextRead(v);
    for (unsigned u : problem.recipes[v]->reads) {
      State &source = state[u];
      if (away) {
        source.demandedAt =
            source.demand ? std::min(source.demandedAt, at) : at;
        if (source.demand++ == 0 && !source.isThere)
          open.push_back(u);
      } else if (--source.demand == 0) {
        if (source.isThere)
          release(u);
        else if (!isWanted(u))
          open.push_back(u);
      }
    }
  }
}

/// What is computed for `value` that is not there, sources first, itself last.
/// False if something cannot be, or if it is too much.
bool Player::sourcesOf(unsigned value, llvm::SmallVectorImpl<unsigned> &order) {
  llvm::SmallDenseSet<unsigned, 16> seen = {value};
  llvm::SmallVector<std::pair<unsigned, unsigned>> open = {{value, 0}};
  while (!open.empty()) {
    auto &[v, next] = open.back();
    ++looks;
    if (!problem.recipes[v])
      return false;
    if (next < problem.recipes[v]->reads.size()) {
      unsigned u = problem.recipes[v]->reads[next++];
      if (!state[u].isThere && seen.insert(u).second)
        open.push_back({u, 0});
      continue;
    }
    order.push_back(v);
    open.pop_back();
  }
  return true;
}

/// Infinite: it has to stay.
double Player::costOf(unsigned value) {
  llvm::SmallVector<unsigned> order;
  if (!sourcesOf(value, order) || order.size() > kMostSources)
    return -1;
  double cost = 0;
  for (unsigned v : order)
    cost += problem.recipes[v]->cost;
  return cost;
}

/// Lets values go until `bytes` more fit, as far as that can be.
void Player::makeRoom(int64_t bytes) {
  while (live + bytes > limit && looks < kMostLooks) {
    int best = -1;
    double least = 0;
    for (unsigned v : there) {
      ++looks;
      if (state[v].pins || !problem.recipes[v] || values[v].stays ||
          held.test(v) || !isWanted(v))
        continue;
      double far = 1 + double(std::max(nextRead(v), now) - now);
      double size = double(values[v].bytes);
      // Its own cost bounds that with sources from below.
      if (best >= 0 && problem.recipes[v]->cost / (size * far) >= least)
        continue;
      double cost = costOf(v);
      if (cost < 0)
        continue;
      double score = cost / (size * far);
      if (best < 0 || score < least) {
        best = static_cast<int>(v);
        least = score;
      }
    }
    if (best < 0)
      return;
    leave(static_cast<unsigned>(best));
    setAway(static_cast<unsigned>(best), true);
  }
}

void Player::bring(unsigned value) {
  llvm::SmallVector<unsigned> order;
  sourcesOf(value, order);
  for (unsigned v : order)
    pin(problem.recipes[v]->reads);
  for (unsigned v : order) {
    // What is pinned does not go, so the sources are there.
    makeRoom(values[v].bytes);
    play.push_back({-1, v});
    enter(v);
    if (state[v].isAway)
      setAway(v, false);
    unpin(problem.recipes[v]->reads);
  }
}

std::vector<PlayedStep> Player::run() {
  for (const OrderProblem::Step &step : problem.order.steps) {
    pin(step.reads);
    for (unsigned v : step.reads)
      if (!state[v].isThere && problem.recipes[v])
        bring(v);
    int64_t bytes = 0;
    for (unsigned v : step.writes)
      bytes += state[v].isThere ? 0 : values[v].bytes;
    if (now < problem.inPlace.size() &&
        llvm::any_of(
            problem.inPlace[now],
            [&](unsigned v) {
              return state[v].done + 1 == state[v].readers.size() &&
                     state[v].demand == 0 && !values[v].stays;
            }))
      bytes = 0;
    makeRoom(bytes);
    play.push_back({static_cast<int>(now), 0});
    for (unsigned v : step.writes)
      if (!state[v].isThere)
        enter(v);
    for (unsigned v : step.reads)
      ++state[v].done;
    unpin(step.reads);
    for (unsigned v : step.writes)
      release(v);
    ++now;
  }

  // What nothing reads was made in vain.
  std::vector<bool> wanted(values.size(), false);
  for (unsigned v = 0; v < values.size(); ++v)
    wanted[v] = values[v].stays;
  std::vector<PlayedStep> kept;
  for (const PlayedStep &played : llvm::reverse(play)) {
    if (played.step < 0) {
      if (!wanted[played.value])
        continue;
      wanted[played.value] = false;
      for (unsigned u : problem.recipes[played.value]->reads)
        wanted[u] = true;
    } else {
      const OrderProblem::Step &step = problem.order.steps[played.step];
      bool inVain = !step.isBarrier && !step.writes.empty() &&
                    llvm::all_of(step.writes, [&](unsigned v) {
                      return problem.recipes[v] && !wanted[v];
                    });
      if (inVain)
        continue;
      for (unsigned v : step.writes)
        wanted[v] = false;
      for (unsigned v : step.reads)
        wanted[v] = true;
    }
    kept.push_back(played);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

/// What is computed again, in all.
static double costOfPlay(const RepeatProblem &problem,
                         llvm::ArrayRef<PlayedStep> play) {
  double cost = 0;
  for (const PlayedStep &played : play)
    if (played.step < 0)
      cost += problem.recipes[played.value]->cost;
  return cost;
}

std::vector<PlayedStep> planRepeats(const RepeatProblem &problem,
                                    int64_t limit) {
  llvm::BitVector held(static_cast<unsigned>(problem.order.values.size()));
  int64_t looks = 0;
  auto play = [&] {
    Player player(problem, limit, held);
    std::vector<PlayedStep> played = player.run();
    looks +=
        player.looks + static_cast<int64_t>(4 * problem.order.steps.size());
    return played;
  };
  std::vector<PlayedStep> best = play();
  int64_t peak = peakOfPlay(problem, best);
  std::vector<PlayedStep> given;
  for (unsigned step = 0; step < problem.order.steps.size(); ++step)
    given.push_back({static_cast<int>(step), 0});
  if (peakOfPlay(problem, given) <= peak)
    return given;
  int64_t most = std::max(limit, peak);
  // What went first may not have had to go after what went later.
  llvm::MapVector<unsigned, double> costs;
  for (const PlayedStep &played : best)
    if (played.step < 0)
      costs[played.value] += problem.recipes[played.value]->cost;
  auto repeated = costs.takeVector();
  llvm::sort(repeated, [](const auto &a, const auto &b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  double least = costOfPlay(problem, best);
  looks = 0;
  for (auto [value, cost] : repeated) {
    if (looks >= kMostBetter)
      break;
    held.set(value);
    std::vector<PlayedStep> other = play();
    double total = costOfPlay(problem, other);
    if (total < least && peakOfPlay(problem, other) <= most) {
      best = std::move(other);
      least = total;
    } else {
      held.reset(value);
    }
  }
  return best;
}

int64_t peakOfPlay(const RepeatProblem &problem,
                   const std::vector<PlayedStep> &play) {
  const OrderProblem &order = problem.order;
  size_t count = order.values.size();
  // Where the last reader is of what was made of a value last; from the end.
  std::vector<int64_t> change(play.size() + 1, 0);
  std::vector<int64_t> lastRead(count, -1);
  auto end = static_cast<int64_t>(play.size()) - 1;
  for (unsigned v = 0; v < count; ++v)
    if (order.values[v].stays)
      lastRead[v] = end;
  auto lives = [&](unsigned v, int64_t from, int64_t to) {
    change[from] += order.values[v].bytes;
    change[to + 1] -= order.values[v].bytes;
  };
  for (int64_t at = end; at >= 0; --at) {
    const PlayedStep &played = play[at];
    llvm::ArrayRef<unsigned> writes = played.value, reads;
    if (played.step >= 0) {
      writes = order.steps[played.step].writes;
      reads = order.steps[played.step].reads;
    } else {
      reads = problem.recipes[played.value]->reads;
    }
    if (played.step >= 0 && size_t(played.step) < problem.inPlace.size() &&
        llvm::any_of(problem.inPlace[played.step],
                     [&](unsigned v) { return lastRead[v] < 0; })) {
      change[at] -= order.values[writes.front()].bytes;
      change[at + 1] += order.values[writes.front()].bytes;
    }
    for (unsigned v : writes) {
      lives(v, at, std::max(lastRead[v], at));
      lastRead[v] = -1;
    }
    for (unsigned v : reads)
      lastRead[v] = std::max(lastRead[v], at);
  }
  for (unsigned v = 0; v < count; ++v)
    if (lastRead[v] >= 0) // there from the start
      lives(v, 0, lastRead[v]);
  int64_t live = 0, peak = 0;
  for (int64_t bytes : change)
    peak = std::max(peak, live += bytes);
  return peak;
}

} // namespace ft
