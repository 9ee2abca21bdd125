//===- Propagator.h - The walk that annotates values -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward over the operations, each once: an operation's rule sees what its
// operands are by now, its results are given what the rule says.
//
//   %a = … : tensor<32x64xf32, …>
//   %b = ft.relu(%a)       %b is 32 x 64
//   %c = ft.t_(%a)         %c is 64 x 32, and so is %a from here on; the type
//                          of the SSA value %a stays what it was
//   %d = ft.relu(%a)       %d is 64 x 32
//
// Invariant: an annotation is the state of the value where it was made. What a
// value has become since is kept beside the IR (`typeOf`), for the few values
// whose metadata is written.
//
// Cost: for each operation one look into the cache (FakeCache.h), and its rule
// where that has not seen such a call.

#ifndef FORETRACE_COMPILER_FAKE_PROPAGATOR_H
#define FORETRACE_COMPILER_FAKE_PROPAGATOR_H

#include "compiler/fake/FakeCache.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace ft {

class AssertOp;

/// The state of a walk: what each value is by now. One for each function; for
/// a trace that grows, one for as long as it grows.
class Propagator {
public:
  /// The two last compare annotations, and go by them, instead of setting them:
  /// sizes and dtypes, or everything.
  enum class Mode { Annotate, CheckShapes, CheckLayouts };
  /// The cache must outlive the walk; null: no cache.
  explicit Propagator(Mode mode = Mode::Annotate, FakeCache *cache = nullptr)
      : mode(mode), cache(cache), walk(cache ? cache->newWalk() : 0) {}

  /// Do not compare with what the archive claims of values: the inputs are
  /// others than the archive's.
  void ignoreClaims() { compareClaims = false; }

  /// Numbers that the walk has not met are those that an earlier one noted.
  void trustNotes() { notes = true; }

  /// What the calls share; must outlive the walk. Null: sizes that data decide
  /// are errors, and nothing is known of symbols.
  void setScope(FakeScope *calls) { scope = calls; }
  FakeScope *callScope() const { return scope; }

  /// The arguments, the body, and the function's type.
  mlir::LogicalResult run(mlir::func::FuncOp function);

  /// All operations of a block whose arguments are annotated; operations with
  /// regions call it for theirs. Goes on after a refused call, to report more
  /// than one, but not after kMostErrors. Fails if any error was reported.
  mlir::LogicalResult visitBlock(mlir::Block &block);

  /// One operation. Fails after an error, which has been reported.
  mlir::LogicalResult visit(mlir::Operation *op);

  /// What the call visited last gave; valid until the next visit.
  llvm::ArrayRef<CallResult> lastResults() const { return last; }

  /// A call without a rule was met. It is not reported: see reportMissingRules,
  /// which names all of them.
  bool missesRules() const { return missingRule; }

  /// What a value is by now: its annotation, unless an operation has changed
  /// its metadata since.
  mlir::Type typeOf(mlir::Value value) const {
    if (!changed.empty())
      if (mlir::Type type = changed.lookup(value))
        return type;
    return value.getType();
  }
  /// The same, unpacked; nothing for what is no annotated tensor.
  std::optional<TensorMeta> metaOf(mlir::Value value) const {
    return metaFromType(typeOf(value));
  }
  /// From here on `value` is a `type`; its annotation stays.
  void change(mlir::Value value, mlir::Type type) { changed[value] = type; }

  /// An integer or bool that is known: from a rule, or a constant of the IR.
  std::optional<Dim> numberOf(mlir::Value value) const;
  void setNumber(mlir::Value value, Dim number) { numbers[value] = number; }

  /// Inside a region more may be known of symbols: what calls with symbols give
  /// there must not serve calls outside. Returns what restoreFacts takes.
  uint64_t separateFacts() {
    uint64_t before = walk;
    if (cache)
      walk = cache->newWalk();
    return before;
  }
  void restoreFacts(uint64_t before) { walk = before; }

  /// An argument of the function is another tensor than the model's: what its
  /// constants are is not said of it.
  void replaceInput(mlir::Value argument) { otherInputs.insert(argument); }

  /// An operation that the walk adds: another name for its operand.
  void noteInserted(mlir::Operation *op) { inserted.push_back(op); }
  /// Those of them that are still there.
  llvm::ArrayRef<mlir::Operation *> insertedOps() const { return inserted; }
  /// Takes them out again.
  void removeInserted();

  /// Errors after which the walk stops.
  static constexpr int kMostErrors = 20;

private:
  mlir::LogicalResult visitArguments(mlir::func::FuncOp function);
  mlir::LogicalResult visitCall(mlir::Operation *op);
  mlir::LogicalResult visitControl(mlir::Operation *op);
  mlir::LogicalResult visitRefine(mlir::Operation *op);
  mlir::LogicalResult visitAssert(AssertOp op);
  /// The call's words, for lookUp and computeAndKeep.
  void buildKey(mlir::Operation *op);
  /// Looks into the cache; fills `last` if the call is `found` there. Fails
  /// only if the crosscheck does.
  mlir::LogicalResult lookUp(mlir::Operation *op, bool &found);
  /// Asks the rule; fills `last`.
  mlir::LogicalResult computeAndKeep(mlir::Operation *op);
  bool hasSymbols(mlir::Operation *op) const;
  /// Gives the results of the IR what `last` says, or compares.
  mlir::LogicalResult applyResults(mlir::Operation *op);
  /// Asks the rule; fills `scratch`. `bypass` as in FakeCall.
  mlir::LogicalResult compute(mlir::Operation *op, llvm::StringRef &bypass);
  mlir::LogicalResult crosscheck(mlir::Operation *op);
  bool readsConstant(mlir::Operation *op) const;
  /// Keeps constants and forgets what the operation writes.
  void trackData(mlir::Operation *op);
  mlir::LogicalResult checkResult(mlir::OpResult result,
                                  const CallResult &ours);

  Mode mode;
  FakeCache *cache;
  /// This walk's number in the cache.
  uint64_t walk;
  bool compareClaims = true;
  bool notes = false;
  FakeScope *scope = nullptr;
  int errors = 0;
  bool missingRule = false;
  FakeCache::Key key;
  llvm::SmallVector<CallResult, 4> scratch;
  /// The constants among the results in `scratch`, by position.
  llvm::SmallVector<std::pair<unsigned, ConstantPtr>, 2> madeConstants;
  llvm::ArrayRef<CallResult> last;
  /// The name of the attribute with the archive's claims; null outside blocks,
  /// where those are not compared.
  mlir::StringAttr claims;
  llvm::DenseMap<mlir::Value, mlir::Type> changed;
  llvm::DenseMap<mlir::Value, Dim> numbers;
  std::vector<mlir::Operation *> inserted;
  llvm::DenseSet<mlir::Value> otherInputs;
  /// Results of refused calls, and what depends on them: nothing is said of
  /// those a second time.
  llvm::DenseSet<mlir::Value> refused;
};

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_PROPAGATOR_H
