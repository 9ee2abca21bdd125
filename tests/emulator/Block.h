//===- Block.h - The threads of one block, taking turns --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks run one after the other, each thread of a block on a stack of its own.
// A thread runs until it comes to a barrier or a shuffle; then the next one
// does. What real threads may do wrong only sometimes is wrong here each time:
//
//   out of bounds       an access outside of every allocation, of the block's
//                       shared memory, of the module's constants, of the stack
//   misaligned          an address that is no multiple of what the instruction
//                       claims
//   race                two threads touch the same bytes of shared memory, one
//                       of them writes, and no barrier is between
//   copies              what cp.async brings is not there before the thread has
//                       waited for it, and may be written at any time from when
//                       it was asked for
//   divergence          threads wait at different barriers, or at one that
//                       others have passed by or never come to; a warp's
//                       threads at different shuffles
//
// Shared memory holds 0xff when a block begins: floats that nobody has written
// are NaN.

#ifndef FORETRACE_TESTS_EMULATOR_BLOCK_H
#define FORETRACE_TESTS_EMULATOR_BLOCK_H

#include "Fiber.h"
#include "Memory.h"

#include <string>
#include <vector>

namespace ft::emulator {

/// Bytes of shared memory, or constants.
struct Range {
  uintptr_t start;
  size_t bytes;
  bool holds(uintptr_t at, size_t n) const {
    return at >= start && at + n <= start + bytes;
  }
};

struct Grid {
  unsigned blocks = 1, threads = 1;
};

/// A kernel that can be run.
struct Kernel {
  std::string name;
  void (*run)(void **parameters) = nullptr;
  std::vector<Range> shared, constants;
  /// What each access, barrier and shuffle is, for messages.
  const std::vector<std::string> *places = nullptr;
  /// It has barriers or shuffles.
  bool waits = false;
};

class Block {
public:
  Block(const Kernel &kernel, const Memory &memory, Grid grid,
        void **parameters);

  /// Runs all blocks. Empty, or a sentence that says what went wrong first.
  std::string run();

  // Called by kernels, of the thread that is running.
  unsigned threadIndex() const { return current; }
  unsigned blockIndex() const { return number; }
  void access(uintptr_t address, size_t bytes, size_t alignment, bool isStore,
              unsigned place);
  void barrier(unsigned place);
  /// cp.async: the `given` bytes, and zeros up to `bytes`, come to shared
  /// memory when the thread waits for them and not before.
  void copyLater(uintptr_t to, uintptr_t from, size_t bytes, size_t given,
                 unsigned place);
  void waitForCopies();
  /// What a warp does together. When the last of its threads has come,
  /// `work(lanes)` is run once on what they brought, and all go on.
  using Lanes = void *const *;
  void together(void *mine, unsigned place, void (*work)(Lanes lanes));

private:
  struct Copy {
    uintptr_t to, from;
    size_t bytes, given;
    unsigned place;
  };
  enum class State : uint8_t { Ready, AtBarrier, WithWarp, Ended };
  struct Thread {
    Fiber fiber;
    State state = State::Ready;
    unsigned place = 0;
    void *brought = nullptr;  ///< to what its warp does together
    std::vector<Copy> copies; ///< on their way
  };
  /// What was last done to four bytes of shared memory.
  struct Shadow {
    uint32_t writeEpoch = 0, readEpoch = 0;
    uint16_t writer = 0, reader = 0;
    uint8_t written = 0, read = 0; ///< bits: which bytes
  };
  static constexpr uint16_t kMany = 0xffff;

  static void threadMain(void *self);
  static void allThreadsMain(void *self);
  void runBlock();
  /// Goes on with another thread that can, or ends the block.
  void next();
  void release();
  /// Leaves the thread for good; nothing on its stack is destroyed.
  [[noreturn]] void fail(std::string &&what);
  void checkRace(const Range &range, size_t start, uintptr_t address,
                 size_t bytes, bool isStore, unsigned place);
  std::string where(unsigned place) const;

  const Kernel &kernel;
  const Memory &memory;
  Grid grid;
  void **parameters;
  std::vector<Thread> threads;
  std::vector<Shadow> shadow;
  Fiber host;
  unsigned current = 0, number = 0, ended = 0;
  uint32_t epoch = 1;
  std::string fault;
};

/// The block that runs on this system thread.
Block *&currentBlock();

} // namespace ft::emulator

#endif // FORETRACE_TESTS_EMULATOR_BLOCK_H
