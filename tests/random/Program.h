//===- Program.h - A small program with its right answer -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_RANDOM_PROGRAM_H
#define FORETRACE_TESTS_RANDOM_PROGRAM_H

#include "tests/conformance/GraphBuilder.h"
#include "tests/interpreter/Interpreter.h"
#include "tests/random/Rng.h"

namespace ft::random {

using interpreter::Shape;
using interpreter::Tensor;

/// A tensor of a program: an input, or the result of a step.
struct Value {
  TensorMeta meta;
  /// As the interpreter sees it.
  Tensor data;
  /// The step that gives it, -1 for an input.
  int step = -1;
  /// Its storage is its own, and nothing has read it: an in-place op may write
  /// it.
  bool fresh = false;
  /// What an input of ft-gradcheck is drawn from.
  std::pair<double, double> range = {-2, 2};
  /// It has been written: only the write's result may be used.
  bool dead = false;
  /// A factor that is the algorithm's choice up to sign, phase, basis or order:
  /// it is checked together with the other results of its step.
  bool isFactor = false;
  /// Its size was found by the call: nothing reads it, but it is compared.
  bool isFound = false;
};

struct Step {
  const Schema *schema = nullptr;
  std::vector<Arg> args;
  /// Values, in the order of the call's operands.
  std::vector<int> operands;
  std::vector<int> results;
};

inline constexpr int kSnap = 2;

struct Program {
  uint64_t seed = 0;
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<int> outputs;
  /// The least exact of the ops.
  interpreter::OpClass opClass = interpreter::OpClass::Exact;

  interpreter::OpClass classOf(const Step &step) const;
  /// The metadata of the operands of a step.
  std::vector<TensorMeta> metasOf(const Step &step) const;
  std::vector<int> inputs() const;
  /// Whether a step of exact ops has given a zero whose sign is the kernel's
  /// choice (the larger of -0 and 0).
  bool leavesSigns() const;

  /// Adds the program to a graph under names that start with `prefix`.
  void build(conformance::GraphBuilder &graph, llvm::StringRef prefix) const;
  /// The values of all tensors; with `jitter` each inexact result is moved by
  /// as much as another right implementation may differ: at random, or all of
  /// them upwards (`direction` 1) or downwards (-1), or those to 0 that may be
  /// (kSnap: what another order of a sum makes of 1e-16). Zeros whose sign is
  /// open are all positive, or all negative (-1). Empty where a step
  /// has no value then.
  std::vector<Tensor> evaluate(Rng *jitter = nullptr, int direction = 0) const;
  /// The same program with only what `output` needs.
  Program prunedTo(int output) const;
  /// Makes a result an input that holds its value, and drops what only it
  /// needed.
  Program cutAt(int value, int output) const;
};

/// A program of 1 to 8 calls of ops that the interpreter knows and the compiler
/// has rules for; `only` (a glob) restricts the ops.
///
/// Without a glob, or with "*", there is no linear algebra: the condition of
/// one matrix in the middle of a program would leave undecided all that
/// follows, and what a seed stands for does not change when such ops are added.
Program generate(uint64_t seed, llvm::StringRef only);
/// Whether programs may hold a call of this overload.
bool isDrawn(const Schema &schema);

} // namespace ft::random

#endif // FORETRACE_TESTS_RANDOM_PROGRAM_H
