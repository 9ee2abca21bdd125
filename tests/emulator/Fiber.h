//===- Fiber.h - Stacks that take turns ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_EMULATOR_FIBER_H
#define FORETRACE_TESTS_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>

namespace ft::emulator {

/// A stack with a point to go on from. ucontext would do, but changes the
/// signal mask at each switch: two calls of the kernel, and a block of 256
/// threads switches thousands of times.
class Fiber {
public:
  static constexpr size_t kStackBytes = 64 * 1024;

  Fiber() = default;
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  ~Fiber();

  /// `entry(argument)` runs at the next switch here. It must not return.
  void start(void (*entry)(void *), void *argument);
  /// Leaves `from`, which is running, and goes on with `to`.
  static void go(Fiber &from, Fiber &to);
  /// Whether the address is on the stack.
  bool holds(uintptr_t address) const {
    auto base = reinterpret_cast<uintptr_t>(stack);
    return stack && address >= base && address < base + kStackBytes;
  }

private:
  void *top = nullptr; ///< where registers are saved
  char *stack = nullptr;
};

} // namespace ft::emulator

#endif // FORETRACE_TESTS_EMULATOR_FIBER_H
