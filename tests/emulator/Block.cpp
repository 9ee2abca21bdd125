//===- Block.cpp - The threads of one block, taking turns -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Block.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace ft::emulator {

static constexpr unsigned kWarp = 32;

Block *&currentBlock() {
  static thread_local Block *block = nullptr;
  return block;
}

Block::Block(const Kernel &kernel, const Memory &memory, Grid grid,
             void **parameters)
    : kernel(kernel), memory(memory), grid(grid), parameters(parameters),
      threads(kernel.waits ? grid.threads : 1) {
  size_t granules = 0;
  for (const Range &r : kernel.shared)
    granules += r.bytes / 4 + 1;
  shadow.resize(granules);
}

std::string Block::where(unsigned place) const {
  return (*kernel.places)[place] + " of kernel \"" + kernel.name +
         "\", block " + std::to_string(number) + ", thread " +
         std::to_string(current);
}

void Block::fail(std::string &&what) {
  fault = std::move(what);
  // The thread is not gone on with: its stack is simply left.
  Fiber &mine = threads[kernel.waits ? current : 0].fiber;
  Fiber::go(mine, host);
  std::abort(); // never: host does not come back
}

void Block::threadMain(void *self) {
  auto *block = static_cast<Block *>(self);
  block->kernel.run(block->parameters);
  block->threads[block->current].state = State::Ended;
  ++block->ended;
  block->next();
}

/// Threads that wait for nothing run one after the other on one stack.
void Block::allThreadsMain(void *self) {
  auto *block = static_cast<Block *>(self);
  for (block->current = 0; block->current < block->grid.threads;
       ++block->current)
    block->kernel.run(block->parameters);
  Fiber::go(block->threads[0].fiber, block->host);
}

void Block::runBlock() {
  for (const Range &r : kernel.shared)
    std::memset(reinterpret_cast<void *>(r.start), 0xff, r.bytes);
  ++epoch;
  current = ended = 0;
  for (Thread &t : threads)
    t.copies.clear();
  if (!kernel.waits) {
    threads[0].fiber.start(&Block::allThreadsMain, this);
  } else {
    for (Thread &t : threads) {
      t.state = State::Ready;
      t.fiber.start(&Block::threadMain, this);
    }
  }
  Fiber::go(host, threads[0].fiber);
}

std::string Block::run() {
  Block *outer = currentBlock();
  currentBlock() = this;
  for (number = 0; number < grid.blocks && fault.empty(); ++number)
    runBlock();
  currentBlock() = outer;
  return fault;
}

/// All threads wait at the same barrier, or have ended: they go on.
void Block::release() {
  const Thread *waiting = nullptr;
  for (Thread &t : threads) {
    if (t.state == State::WithWarp) {
      current = static_cast<unsigned>(&t - threads.data());
      fail("divergence: a thread waits at " + where(t.place) +
           " for others of its warp, which wait elsewhere or have ended");
    }
    if (t.state != State::AtBarrier)
      continue;
    if (waiting && waiting->place != t.place) {
      current = static_cast<unsigned>(&t - threads.data());
      fail("divergence: a thread waits at " + where(t.place) + ", another at " +
           (*kernel.places)[waiting->place]);
    }
    waiting = &t;
  }
  if (waiting && ended) {
    current = static_cast<unsigned>(waiting - threads.data());
    fail("divergence: a thread waits at " + where(waiting->place) + ", and " +
         std::to_string(ended) + " threads of the block have ended");
  }
  for (Thread &t : threads)
    t.state = State::Ready;
  ++epoch;
}

void Block::next() {
  unsigned before = current;
  if (ended == threads.size())
    Fiber::go(threads[before].fiber, host);
  for (unsigned tries = 0; tries < 2; ++tries) {
    for (unsigned i = 1; i <= threads.size(); ++i) {
      unsigned candidate = (before + i) % static_cast<unsigned>(threads.size());
      if (threads[candidate].state != State::Ready)
        continue;
      current = candidate;
      if (candidate != before)
        Fiber::go(threads[before].fiber, threads[candidate].fiber);
      return;
    }
    release();
  }
}

void Block::barrier(unsigned place) {
  Thread &me = threads[current];
  me.state = State::AtBarrier;
  me.place = place;
  next();
}

void Block::copyLater(uintptr_t to, uintptr_t from, size_t bytes, size_t given,
                      unsigned place) {
  if (given)
    access(from, given, bytes, /*isStore=*/false, place);
  access(to, bytes, bytes, /*isStore=*/true, place);
  threads[current].copies.push_back({to, from, bytes, given, place});
}

void Block::waitForCopies() {
  for (const Copy &c : threads[current].copies) {
    access(c.to, c.bytes, c.bytes, /*isStore=*/true, c.place);
    auto *to = reinterpret_cast<char *>(c.to);                        // NOLINT
    std::memcpy(to, reinterpret_cast<const char *>(c.from), c.given); // NOLINT
    std::memset(to + c.given, 0, c.bytes - c.given);
  }
  threads[current].copies.clear();
}

void Block::together(void *mine, unsigned place, void (*work)(Lanes)) {
  unsigned warp = current / kWarp * kWarp;
  Thread &me = threads[current];
  me.brought = mine;
  me.place = place;
  me.state = State::WithWarp;
  void *lanes[kWarp];
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    unsigned other = warp + lane;
    // Still to come; it wakes this one.
    if (other >= threads.size() || threads[other].state != State::WithWarp)
      return next();
    if (threads[other].place != place)
      fail("divergence: a thread waits at " + where(place) +
           ", another of its warp at " +
           (*kernel.places)[threads[other].place]);
    lanes[lane] = threads[other].brought;
  }
  work(lanes);
  for (unsigned lane = 0; lane < kWarp; ++lane)
    threads[warp + lane].state = State::Ready;
}

void Block::checkRace(const Range &range, size_t start, uintptr_t address,
                      size_t bytes, bool isStore, unsigned place) {
  size_t offset = address - range.start;
  auto self = static_cast<uint16_t>(current);
  while (bytes) {
    size_t in = offset % 4, n = std::min<size_t>(4 - in, bytes);
    auto mask = static_cast<uint8_t>(((1U << n) - 1) << in);
    Shadow &s = shadow[start + offset / 4];
    bool afterWrite =
        s.writeEpoch == epoch && s.writer != self && (s.written & mask);
    bool afterRead =
        isStore && s.readEpoch == epoch && s.reader != self && (s.read & mask);
    if (afterWrite || afterRead) {
      unsigned other = afterWrite ? s.writer : s.reader;
      fail("race: " + where(place) + ", at byte " + std::to_string(offset) +
           " of shared memory, which " +
           (other == kMany ? "other threads have "
                           : "thread " + std::to_string(other) + " has ") +
           (afterWrite ? "written" : "read") + " since the last barrier");
    }
    auto note = [&](uint32_t &when, uint16_t &who, uint8_t &which) {
      if (when != epoch) {
        when = epoch;
        who = self;
        which = mask;
        return;
      }
      if (who != self)
        who = kMany;
      which |= mask;
    };
    if (isStore)
      note(s.writeEpoch, s.writer, s.written);
    else
      note(s.readEpoch, s.reader, s.read);
    offset += n;
    bytes -= n;
  }
}

void Block::access(uintptr_t address, size_t bytes, size_t alignment,
                   bool isStore, unsigned place) {
  if (address % alignment)
    fail("misaligned: " + where(place) + ", of " + std::to_string(bytes) +
         " bytes at " + std::to_string(address % alignment) +
         " behind a multiple of " + std::to_string(alignment));
  if (memory.holds(address, bytes))
    return;
  size_t start = 0;
  for (const Range &r : kernel.shared) {
    if (r.holds(address, bytes)) {
      if (kernel.waits || grid.threads > 1)
        checkRace(r, start, address, bytes, isStore, place);
      return;
    }
    start += r.bytes / 4 + 1;
  }
  for (const Range &r : kernel.constants)
    if (!isStore && r.holds(address, bytes))
      return;
  if (threads[kernel.waits ? current : 0].fiber.holds(address))
    return;
  fail("out of bounds: " + where(place) + ", of " + std::to_string(bytes) +
       " bytes");
}

} // namespace ft::emulator
