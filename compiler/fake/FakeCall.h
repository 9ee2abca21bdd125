//===- FakeCall.h - One ATen call, seen by its fake rule -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_FAKECALL_H
#define FORETRACE_COMPILER_FAKE_FAKECALL_H

#include "compiler/fake/ConstantValue.h"
#include "compiler/fake/FakeScope.h"
#include "dialects/ft/Schema.h"
#include "dialects/ft/TensorMeta.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"

#include <optional>

namespace ft {

/// Why a call is refused; the categories of PyTorch's errors.
enum class FakeError {
  Shape,
  Dtype,
  Device,
  Dim,
  Index,
  DataDependent,
  Unsupported,
  Other,
  /// A symbolic relation that is neither proved nor refuted.
  Undecided
};

/// What a rule says of one result. A `Tensor[]` return gives several.
struct FakeResult {
  enum Kind : uint8_t { Tensor, Undefined, Int, Float, Bool };
  Kind kind = Tensor;
  /// For tensors.
  TensorMeta meta;
  /// The operand whose storage the result shares, or -1 for fresh storage.
  int alias = -1;
  /// Int: the integer, possibly symbolic. Bool: 0, 1 or a predicate
  /// (`Eq(u0, 1)`). Float: a symbol, `zuf0`. Absent if nothing is known.
  std::optional<Dim> value;
  /// Tensor: its elements, where a tiny one is made of known numbers.
  ConstantPtr constant;
};

/// What a fake rule sees of a call: arguments by their position in the schema
/// (defaults filled in), the metadata of the tensor operands, and a place for
/// results or for one error. Rules read no data and build no IR, so that the
/// pass, the tracing API and the conformance runner share them.
///
///   static LogicalResult unsqueeze(FakeCall &c) {
///     TensorMeta out = c.tensor(0);
///     FailureOr<int64_t> dim = c.wrapDim(1, out.rank() + 1);
///     …
///     return c.view(out, 0);
///   }
class FakeCall {
public:
  FakeCall(const Schema &schema, llvm::ArrayRef<Arg> args,
           llvm::ArrayRef<TensorMeta> operands, FakeScope *scope = nullptr)
      : scope(scope), schemaRef(schema), args(args), operands(operands) {}

  /// Null: a call by itself, in which data decide no size.
  FakeScope *scope;
  /// For each operand a number that tells its value from all others, for the
  /// scope's memo; may be empty.
  llvm::ArrayRef<uint64_t> operandKeys;
  /// The elements of the tensor in argument `i`; null if they are not known.
  const ConstantValue *constant(unsigned i) const {
    return args[i].kind == Arg::Tensor ? constantOperand(args[i].operand)
                                       : nullptr;
  }
  const ConstantValue *constantOperand(unsigned operand) const {
    return scope && operand < operandKeys.size()
               ? scope->constant(operandKeys[operand]).get()
               : nullptr;
  }

  /// What broadcasts may be left open where sizes are symbols: whoever runs the
  /// rule spreads the operands that the scope then lists
  /// (FakeScope::spreadOperands). Otherwise one case is chosen.
  bool spreads = false;

  /// The first operand may be a view of a larger storage, so that elements
  /// around it may be read; otherwise its storage ends with it.
  bool viewsMore = false;

  const Schema &schema() const { return schemaRef; }
  llvm::ArrayRef<Arg> arguments() const { return args; }
  llvm::ArrayRef<TensorMeta> tensorOperands() const { return operands; }

  //===--- Arguments by position ------------------------------------------===//
  const Arg &arg(unsigned i) const { return args[i]; }
  bool isNone(unsigned i) const { return args[i].isNone(); }
  const TensorMeta &tensor(unsigned i) const {
    return operands[args[i].operand];
  }
  /// Null if the argument is absent.
  const TensorMeta *optTensor(unsigned i) const {
    return args[i].kind == Arg::Tensor ? &tensor(i) : nullptr;
  }
  /// The elements of a tensor list; null for absent ones.
  llvm::SmallVector<const TensorMeta *, 8> tensors(unsigned i) const;
  /// "'self'", "'tensors[1]'": what the schema calls one of the tensors above.
  std::string nameOf(const TensorMeta *tensor) const;
  /// "'self' (float32 [2, 3] cpu)"; of what is no operand the layout alone.
  std::string show(const TensorMeta &tensor) const;
  /// "dim 1 of 'self' has size 3"; `dim` may be counted from the end.
  std::string sizeAt(const TensorMeta &tensor, int64_t dim) const;
  /// An integer, possibly symbolic.
  Dim dim(unsigned i) const { return args[i].dim; }
  Dims dims(unsigned i) const;
  /// A number as double (bools as 0 / 1).
  double number(unsigned i) const;
  bool flag(unsigned i) const { return args[i].boolean; }
  /// A bool that is used as a number or a truth value of the program: 0, 1, a
  /// predicate, or nothing.
  std::optional<Dim> truthOf(unsigned i) const;
  llvm::StringRef text(unsigned i) const { return args[i].str; }
  /// The text of an optional string (also a layout or memory format); empty if
  /// it is absent.
  llvm::StringRef optText(unsigned i) const {
    return args[i].kind == Arg::Str ? llvm::StringRef(args[i].str) : "";
  }
  /// The number of present elements or of entries of a list; 0 if absent.
  size_t length(unsigned i) const { return args[i].list.size(); }
  std::optional<DType> dtype(unsigned i) const {
    return args[i].kind == Arg::DType ? std::optional(args[i].dtype)
                                      : std::nullopt;
  }
  std::optional<Device> deviceArg(unsigned i) const {
    if (args[i].kind == Arg::Str)
      return Device::parse(args[i].str);
    return args[i].kind == Arg::Device ? std::optional(args[i].device)
                                       : std::nullopt;
  }

  //===--- Predicates on dims ---------------------------------------------===//
  // For static dims plain comparisons. A symbolic relation that the facts do
  // not decide is remembered (`undecided`), and the call fails with
  // FakeError::Undecided whatever the rule returns: never a guess.
  bool eq(Dim a, Dim b);
  bool lt(Dim a, Dim b);
  bool le(Dim a, Dim b) { return !lt(b, a); }
  /// The same for a call that fails unless they are equal: of sizes that data
  /// decide the run checks it.
  bool mustEq(Dim a, Dim b);
  // Whether it is known by now. For shortcuts and for choices that are right
  // either way: nothing becomes a guard, nothing fails the call.
  bool surelyEq(Dim a, Dim b);
  bool surelyLt(Dim a, Dim b);
  bool surelyLe(Dim a, Dim b) { return a.identical(b) || surelyLt(a, b + 1); }
  /// What a call demands of sizes, and the run checks if it is open: a guard if
  /// inputs decide it, an assertion if data do. False if it cannot hold, or
  /// does not in the example.
  bool demands(SymExpr predicate);
  /// A size that must not be 0, and is.
  bool isEmpty(Dim d);
  /// The same for a <= b.
  bool exceeds(Dim a, Dim b);
  /// The value of a number in the example, if there is one.
  std::optional<int64_t> example(Dim d) const;

  //===--- Checks on arguments, with the error already given
  //---------------===//
  /// The dim index `d` of a tensor of `rank` dims, negative ones counted from
  /// the end; a scalar counts as one dim.
  llvm::FailureOr<int64_t> wrapIndex(Dim d, int64_t rank);
  llvm::FailureOr<int64_t> wrapDim(unsigned i, int64_t rank) {
    return wrapIndex(dim(i), rank);
  }
  /// A list of distinct dim indices, in the order given; an empty or absent
  /// list is all dims if `emptyIsAll`.
  llvm::FailureOr<llvm::SmallVector<int64_t, 6>>
  wrapDims(unsigned i, int64_t rank, bool emptyIsAll);
  /// The common size of tensors that broadcast together. `named` are what
  /// messages name, where those are others: the indices that a mask stands for.
  /// `behind`: they are all but as many last dims of `named`.
  llvm::FailureOr<Dims> broadcast(llvm::ArrayRef<const TensorMeta *> tensors,
                                  llvm::ArrayRef<const TensorMeta *> named = {},
                                  std::optional<size_t> behind = {});
  /// How a tensor of size `from` comes to size `to` along a dim: as it is,
  /// repeated since `from` is 1, or as the run finds (`mayStayOpen`).
  enum class Fit : uint8_t { No, Same, Repeated, Either };
  Fit fit(Dim from, Dim to, bool mayStayOpen = true);
  /// The stride along a dim of size `from` and that stride once it is broadcast
  /// by Fit::Either.
  Dim broadcastStride(Dim from, Dim stride);
  /// Fails unless `from`, the size of the operand `named`, broadcasts to `to`.
  llvm::LogicalResult broadcastTo(llvm::ArrayRef<Dim> from,
                                  llvm::ArrayRef<Dim> to,
                                  const TensorMeta *named);
  bool sameSizes(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b);
  /// Where fresh results live: the common device of the tensor operands.
  Device device;
  Device deviceOr(unsigned i) const { return deviceArg(i).value_or(device); }

  //===--- Results --------------------------------------------------------===//
  llvm::LogicalResult fresh(TensorMeta meta);
  /// A view of (or the same tensor as) argument `argIndex`.
  llvm::LogicalResult view(TensorMeta meta, unsigned argIndex);
  llvm::LogicalResult undefined();
  llvm::LogicalResult integer(Dim value);
  llvm::LogicalResult truth(bool value);
  /// A number whose value is not known: Int, Float or Bool.
  llvm::LogicalResult scalar(FakeResult::Kind kind, SymExpr symbol = {});
  /// A bool that may still be open; null: nothing is known.
  llvm::LogicalResult truth(SymExpr predicate);

  //===--- Numbers that data decide ---------------------------------------===//
  /// A size of at least `lower` and at most `upper`; the same one for the same
  /// tensor argument `memoOf` until it is written. Fails without a scope.
  llvm::FailureOr<Dim> unbackedSize(int64_t lower, std::optional<Dim> upper,
                                    std::optional<unsigned> memoOf = {});
  /// Whether the scope allows such numbers; if not, the call has failed with
  /// `what` ("the size of nonzero's result").
  llvm::LogicalResult needsData(const llvm::Twine &what);

  /// Refuses the call; lower case, no final dot, both values shown.
  llvm::LogicalResult fail(FakeError category, const llvm::Twine &message);

  llvm::SmallVector<FakeResult, 2> results;
  FakeError category = FakeError::Other;
  std::string message;
  /// The first relation that could not be decided, if any.
  std::string undecided;
  /// Why the results are no function of the schema, the arguments and the
  /// operands' metadata, so that a cache must not keep them: a rule that makes
  /// a symbol or asks for a constant's value says so here, whatever it then
  /// finds. A word or two, for statistics ("new symbol"); static storage.
  llvm::StringRef bypass;

private:
  std::optional<bool> decide(SymExpr (SymContext::*relation)(SymExpr, SymExpr),
                             Dim a, Dim b);
  std::optional<bool> known(SymExpr (SymContext::*relation)(SymExpr, SymExpr),
                            Dim a, Dim b);
  std::optional<Dim> broadcastSize(Dim a, Dim b, bool mayStayOpen, bool &open);
  bool isPositive(Dim size);
  std::optional<unsigned> operandOf(const TensorMeta *tensor) const;

  const Schema &schemaRef;
  llvm::ArrayRef<Arg> args;
  llvm::ArrayRef<TensorMeta> operands;
};

/// Where two sizes differ, for messages: ": 3 and 4 at dim 1", ": 2 and 3
/// dims".
std::string unlike(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b);

/// A rule: fills `results` or fails.
using FakeRule = llvm::LogicalResult (*)(FakeCall &);

/// How the devices of a call's tensors must agree. Source: fake-tensor
/// semantics of PyTorch; DeviceRules.cpp has the walk.
enum class DevicePolicy : uint8_t {
  /// All on one device; 0-dim CPU tensors go with any other device.
  Common,
  /// All on one device, without that exemption.
  Strict,
  /// The first tensor's device, wherever the others are.
  First
};

/// One line of a family's table of rules.
struct FakeRuleRow {
  llvm::StringRef name;
  FakeRule rule;
  DevicePolicy device = DevicePolicy::Common;
};

/// Works out `call.device`, or fails with the two devices that differ.
llvm::LogicalResult resolveDevice(FakeCall &call, DevicePolicy policy);

/// Refuses a call whose operands `first` and `second` are on two devices.
llvm::LogicalResult devicesDiffer(FakeCall &call, const TensorMeta &first,
                                  const TensorMeta &second);

/// The rule of an overload; null if it has none. In-place and `out=` forms
/// without a rule of their own get that of their functional form.
FakeRule findFakeRule(const Schema &schema);

/// After the rule of a functional form: the result must fit argument 0, which
/// it is written into and which becomes the result. For rules of in-place forms
/// whose arguments differ from those of the functional one.
llvm::LogicalResult finishInPlace(FakeCall &call);

/// Runs the rule of the call: the one entry that the fake pass, the tracing API
/// and the conformance runner use. Failure leaves category and message.
llvm::LogicalResult propagateCall(FakeCall &call);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_FAKECALL_H
