//===- Fiber.cpp - Stacks that take turns ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fiber.h"

#include <cstdlib>
#include <cstring>

// Saves what the System V ABI lets a callee rely on, changes the stack, and
// restores the same of the other: rbx, rbp, r12-r15. The control words of the
// floating-point units are the same in all fibers.
//
//   ft_emulator_switch(void **saveTop /*rdi*/, void *newTop /*rsi*/)
__asm__(R"(
  .text
  .p2align 4
  .globl ft_emulator_switch
  .hidden ft_emulator_switch
  .type ft_emulator_switch, @function
ft_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size ft_emulator_switch, .-ft_emulator_switch

  .p2align 4
  .globl ft_emulator_begin
  .hidden ft_emulator_begin
  .type ft_emulator_begin, @function
ft_emulator_begin:
  movq %r12, %rdi
  callq *%rbx
  ud2
  .size ft_emulator_begin, .-ft_emulator_begin
)");

extern "C" void ft_emulator_switch(void **saveTop, void *newTop);
extern "C" void ft_emulator_begin();

namespace ft::emulator {

Fiber::~Fiber() { std::free(stack); }

void Fiber::start(void (*entry)(void *), void *argument) {
  if (!stack)
    stack = static_cast<char *>(std::aligned_alloc(64, kStackBytes));
  // As if `ft_emulator_begin` had been about to run: r15 r14 r13 r12 rbx rbp,
  // then where to return to. The stack is at a multiple of 16 there.
  void *frame[7] = {nullptr,
                    nullptr,
                    nullptr,
                    argument,
                    reinterpret_cast<void *>(entry),
                    nullptr,
                    reinterpret_cast<void *>(&ft_emulator_begin)};
  char *at = stack + kStackBytes - 64 - sizeof frame;
  // After the return the stack pointer is `at + sizeof frame`.
  std::memcpy(at, frame, sizeof frame);
  top = at;
}

void Fiber::go(Fiber &from, Fiber &to) {
  ft_emulator_switch(&from.top, to.top);
}

} // namespace ft::emulator
