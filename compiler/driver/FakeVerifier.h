//===- FakeVerifier.h - A run that checks the annotations ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled model keeps no strides: inside, generated code is free to order
// memory as it likes. What a run can show of the annotations:
//
//   sizes, dtype  each value becomes an output, whose sizes and dtype at run
//                 time are compared with its annotation
//   strides and   of a view: generated code computes the view's elements from
//   offset        its meaning (`transpose` swaps two dims), without looking at
//                 its strides. The storage that it is a view of is an output
//                 too, and read at the annotated strides and offset it must
//                 give the same elements, bit by bit.
//   strides of    are PyTorch's convention and leave no trace in a run; they
//   fresh results are compared with what the operator's rule says, asked again
//                 from the arguments of the program
//
// So an annotation that is wrong in the text fails, whatever it says wrongly;
// a rule that is wrong about the strides of a fresh result does not.
//
//   FakeVerifier verifier;
//   verifier.prepare(session);       // after load, before compile
//   session.compile(…); runner.run();
//   verifier.compare(runner);
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_COMPILER_DRIVER_FAKEVERIFIER_H
#define FORETRACE_COMPILER_DRIVER_FAKEVERIFIER_H

#include "compiler/driver/Runner.h"
#include "compiler/driver/Session.h"

#include <functional>
#include <memory>

namespace ft {

/// What a run gave for one output: its elements are row-major.
struct SeenOutput {
  std::string dtype; ///< "float32"
  std::vector<int64_t> shape;
  const uint8_t *data = nullptr;
};

struct SeenRun {
  std::vector<std::vector<int64_t>> inputs; ///< their sizes
  std::vector<SeenOutput> outputs;
  /// Element n of output i, for messages: text(i, n).
  std::function<std::string(size_t, int64_t)> text;
};

class FORETRACE_API FakeVerifier {
public:
  FakeVerifier();
  ~FakeVerifier();
  FakeVerifier(const FakeVerifier &) = delete;
  FakeVerifier &operator=(const FakeVerifier &) = delete;

  /// Runs stage fake, asks the rules again, and makes every tensor of the
  /// program an output, behind the program's own. False after an error, which
  /// the session's diagnostics hold: the session stands after stage fake
  /// already, or does not get there. An annotation that its rule contradicts is
  /// no such error: see compare.
  bool prepare(Session &session);

  /// After a run. False if any annotation is wrong: diagnostics() has one
  /// [FT0312] for each, those that the rules contradict first.
  bool compare(const Runner &runner);
  /// The same for whoever runs the model without a Runner.
  bool compare(const SeenRun &run);
  const std::vector<Diagnostic> &diagnostics() const;

  /// Outputs that were added.
  size_t extraOutputs() const;
  /// Values whose sizes and dtype were compared with the run's.
  size_t values() const;
  /// Views that were read through their storage.
  size_t views() const;
  /// Values that could not be compared, by reason.
  const std::vector<std::pair<std::string, size_t>> &skipped() const;

  /// For this folder's files.
  struct State;

private:
  std::unique_ptr<State> state;
};

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_FAKEVERIFIER_H
