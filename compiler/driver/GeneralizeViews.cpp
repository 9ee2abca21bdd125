//===- GeneralizeViews.cpp - Sizes that views were traced with -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/GeneralizeViews.h"

#include "compiler/fake/ModuleScope.h"
#include "compiler/fake/Propagator.h"
#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/TensorMeta.h"

#include "mlir/IR/Diagnostics.h"

#include <map>

using namespace mlir;

namespace ft {

namespace {
/// A number in the text of the program: of which operation of `@forward`, which
/// argument, which entry of its list.
using Literal = std::tuple<unsigned, unsigned, unsigned>;
/// The sizes of inputs that literals are.
using Choices = std::map<Literal, SymExpr>;

class Generalizer {
public:
  /// With `proved` literals become what it says. Without, each that may be a
  /// size gets a symbol of its own, and proofs() says what they turned out to
  /// be; the module is of no use then.
  Generalizer(ModuleOp module, func::FuncOp forward,
              const Choices *proved = nullptr)
      : forward(forward), scope(module, forward, ModuleScope::Use::Remake),
        walk(Propagator::Mode::Annotate), builder(forward.getContext()),
        proved(proved) {
    walk.ignoreClaims();
    walk.setScope(&scope.scope());
  }
  void run();
  Choices proofs();

private:
  /// More literals than this are not tried: each is a symbol.
  static constexpr size_t kMostProbes = 256;
  struct Probe {
    Literal literal;
    SymExpr symbol;
    int64_t value;
  };

  void visit(Operation *op);
  void noteCounters(Operation *op);
  bool matchView(const TensorMeta &self, Dims &sizes) const;
  std::optional<int64_t> example(Dim d) const;
  /// Whether the literal became a size. `range`: what it can be.
  bool choose(Arg &literal, unsigned arg, unsigned entry,
              Interval range = Interval::atLeast(0));
  bool generalizeView(AtenCall &call);
  bool generalizeExpand(AtenCall &call, bool repeats);
  bool generalizeFresh(AtenCall &call, unsigned arg);
  bool generalizeArange(AtenCall &call);
  bool generalizeSlice(AtenCall &call);
  /// Computes the sizes that stand where literals stood; false if one cannot be
  /// computed.
  bool rewrite(Operation *op, AtenCall &made);
  Value compute(SymExpr size, Operation *before);
  Value call(StringRef overload, ArrayRef<Arg> args, ValueRange operands,
             Dim value, Location loc);

  func::FuncOp forward;
  ModuleScope scope;
  Propagator walk;
  OpBuilder builder;
  const Choices *proved;
  std::vector<Probe> probes;
  /// Symbols that are dims of inputs, with their example.
  SmallVector<std::pair<SymExpr, int64_t>> sizes;
  llvm::DenseMap<SymExpr, Value> computed;
  /// Of the operation that is visited.
  unsigned ordinal = 0;
  /// Tensors that count up to a size: arange(n) and what shows it in another
  /// shape.
  llvm::DenseMap<Value, SymExpr> counters;
  /// Literals that are the size of what a counter indexes, and its end.
  std::vector<std::pair<SymExpr, SymExpr>> indexed;
};
} // namespace

std::optional<int64_t> Generalizer::example(Dim d) const {
  if (d.isStatic())
    return d.value();
  return const_cast<ModuleScope &>(scope).scope().env().hint(d.symbolic());
}

/// The symbol's part of a product and the plain rest, of 8*batch: (batch, 8).
static std::pair<Dim, int64_t> splitFactor(Dim d) {
  SymExpr e = d.symbolic();
  if (e.kind() != SymKind::Add || e.constant() != 0 || e.terms().size() != 1)
    return {d, 1};
  return {Dim(e.terms()[0].expr), e.terms()[0].k};
}

bool Generalizer::matchView(const TensorMeta &self, Dims &sizes) const {
  Dim inferred = -1, rest = 1;
  for (Dim d : sizes) {
    if (!d.isStatic())
      return false; // the program computes them
    if (!d.is(-1))
      rest = rest * d;
  }
  // The one size that is left open takes all that varies, if it can.
  bool open = llvm::is_contained(sizes, inferred);
  if (open) {
    std::optional<int64_t> count = example(self.numel());
    if (!count || rest.value() <= 0 || *count % rest.value() != 0)
      return false;
    for (Dim &d : sizes)
      if (d.is(-1))
        d = *count / rest.value();
  }
  size_t in = 0, out = 0;
  Dims result = sizes;
  bool changed = false;
  while (in < self.sizes.size() && out < sizes.size()) {
    // A group: dims from both sides whose products agree.
    size_t inEnd = in, outEnd = out;
    std::optional<int64_t> first = example(self.sizes[inEnd++]);
    if (!first)
      return false;
    int64_t have = *first, want = sizes[outEnd++].value();
    while (have != want) {
      if (have < want) {
        std::optional<int64_t> more = inEnd < self.sizes.size()
                                          ? example(self.sizes[inEnd++])
                                          : std::nullopt;
        if (!more)
          return false;
        have *= *more;
      } else {
        if (outEnd == sizes.size())
          return false;
        want *= sizes[outEnd++].value();
      }
    }
    for (size_t i = in; i < inEnd; ++i) {
      if (self.sizes[i].isStatic())
        continue;
      auto [symbol, plain] = splitFactor(self.sizes[i]);
      std::optional<int64_t> value = example(symbol);
      bool placed = false;
      for (size_t o = out; value && *value > 0 && o < outEnd && !placed; ++o) {
        auto [already, factor] = result[o].isStatic()
                                     ? std::pair(Dim(1), result[o].value())
                                     : splitFactor(result[o]);
        if (factor % *value != 0)
          continue;
        result[o] = already * symbol * (factor / *value);
        placed = changed = true;
      }
      if (!placed)
        return false;
    }
    in = inEnd;
    out = outEnd;
  }
  if (changed)
    sizes = result;
  return changed;
}

bool Generalizer::choose(Arg &literal, unsigned arg, unsigned entry,
                         Interval range) {
  if (literal.kind != Arg::Int || literal.operand >= 0 ||
      !literal.dim.isStatic() || literal.dim.value() < 2)
    return false;
  Literal at(ordinal, arg, entry);
  int64_t value = literal.dim.value();
  if (proved) {
    auto it = proved->find(at);
    if (it == proved->end())
      return false;
    literal = Arg::integer(Dim(it->second));
    return true;
  }
  if (probes.size() == kMostProbes ||
      llvm::none_of(sizes, [&](const auto &s) { return s.second == value; }))
    return false;
  SymbolInfo info;
  info.hint = value;
  info.range = range;
  SymExpr symbol = scope.scope().env().addInputSize(
      ("literal" + Twine(probes.size())).str(), info);
  probes.push_back({at, symbol, value});
  unsigned n = forward.getNumArguments();
  Type type = typeFromMeta(forward.getContext(),
                           TensorMeta::contiguous(DType::F32, {Dim(symbol)}));
  (void)forward.insertArgument(n, type, DictionaryAttr(), forward.getLoc());
  literal = Arg::integer(Dim(symbol));
  return true;
}

Choices Generalizer::proofs() {
  Choices choices;
  ShapeEnv &env = scope.scope().env();
  // `is`: what must be the size for the probe to be it.
  auto prove = [&](const Probe &probe, SymExpr is) {
    for (auto [size, value] : sizes)
      if (value == probe.value &&
          env.query(env.context().eq(is, size)) == Answer::Proved) {
        choices.try_emplace(probe.literal, size);
        return;
      }
  };
  for (const Probe &probe : probes)
    prove(probe, probe.symbol);
  for (auto [size, end] : indexed)
    for (const Probe &probe : probes)
      if (probe.symbol == size && !choices.count(probe.literal))
        prove(probe, end);
  return choices;
}

/// What is indexed by all numbers below a size must have that size, or more.
void Generalizer::noteCounters(Operation *op) {
  const Schema *schema = schemaOf(op);
  if (!schema || op->getNumResults() != 1)
    return;
  AtenCall call = AtenCall::decode(op);
  StringRef base = schema->base;
  auto isNumber = [&](unsigned arg, int64_t number) {
    const Arg &a = call.args[arg];
    return a.kind == Arg::Int && a.operand < 0 && a.dim.is(number);
  };
  if (base == "arange") {
    const Arg &end = call.args[schema->name == "arange.default" ? 0 : 1];
    if (end.operand < 0 ||
        (schema->name != "arange.default" && !isNumber(0, 0)))
      return;
    std::optional<Dim> number = walk.numberOf(call.operands[end.operand]);
    if (number && !number->isStatic())
      counters[op->getResult(0)] = number->symbolic();
    return;
  }
  if (base == "index") {
    std::optional<TensorMeta> self = walk.metaOf(call.operands[0]);
    for (auto [d, item] : llvm::enumerate(call.args[1].list)) {
      SymExpr end = item.operand < 0
                        ? SymExpr()
                        : counters.lookup(call.operands[item.operand]);
      if (self && end && d < self->sizes.size() && !self->sizes[d].isStatic())
        indexed.emplace_back(self->sizes[d].symbolic(), end);
    }
    return;
  }
  bool same = llvm::is_contained(
      {"unsqueeze", "squeeze", "view", "reshape", "expand", "to", "clone"},
      base);
  if (same || (base == "add" && isNumber(1, 0)))
    if (SymExpr end = counters.lookup(call.operands[0]))
      counters[op->getResult(0)] = end;
}

Value Generalizer::call(StringRef overload, ArrayRef<Arg> args,
                        ValueRange operands, Dim value, Location loc) {
  AtenCall made;
  made.schema = SchemaTable::get().find(overload);
  if (!made.schema)
    return {};
  made.args.assign(args.begin(), args.end());
  made.operands.assign(operands.begin(), operands.end());
  Operation *op = made.build(builder, loc, {builder.getI64Type()});
  op->setAttr(names::kValue, builder.getStringAttr(value.str()));
  walk.setNumber(op->getResult(0), value);
  return op->getResult(0);
}

/// k·s, s of an input, products of them: in front of everything else.
Value Generalizer::compute(SymExpr size, Operation *before) {
  if (Value known = computed.lookup(size))
    return known;
  Location loc = forward.getLoc();
  Value result;
  if (size.kind() == SymKind::Symbol) {
    for (BlockArgument argument : forward.getArguments()) {
      std::optional<TensorMeta> meta = metaFromType(argument.getType());
      for (size_t d = 0; meta && d < meta->sizes.size() && !result; ++d)
        if (meta->sizes[d].symbolic() == size)
          result = call("sym_size.int",
                        {Arg::tensor(0), Arg::integer(static_cast<int64_t>(d))},
                        {argument}, Dim(size), loc);
      if (result)
        break;
    }
  } else if (size.kind() == SymKind::Add && size.constant() == 0 &&
             size.terms().size() == 1) {
    SymTerm term = size.terms()[0];
    if (Value inner = compute(term.expr, before)) {
      Arg left = Arg::integer(Dim(term.expr));
      left.operand = 0;
      result = call("operator.mul", {left, Arg::integer(term.k)}, {inner},
                    Dim(size), loc);
    }
  } else if (size.kind() == SymKind::Mul) {
    Dim product = 1;
    for (const SymTerm &term : size.terms())
      for (int64_t i = 0; i < term.k; ++i) {
        Value factor = compute(term.expr, before);
        if (!factor)
          return {};
        Dim next = product * Dim(term.expr);
        if (result) {
          Arg left = Arg::integer(product),
              right = Arg::integer(Dim(term.expr));
          left.operand = 0;
          right.operand = 1;
          result =
              call("operator.mul", {left, right}, {result, factor}, next, loc);
        } else {
          result = factor;
        }
        product = next;
      }
  }
  if (result)
    computed[size] = result;
  return result;
}

bool Generalizer::rewrite(Operation *op, AtenCall &made) {
  // Behind what was computed already, so that values stand in order.
  builder.setInsertionPoint(op);
  auto operandFor = [&](Arg &item) {
    if (item.kind != Arg::Int || item.operand >= 0 || item.dim.isStatic())
      return true;
    Value value = compute(item.dim.symbolic(), op);
    if (!value)
      return false;
    item.operand = static_cast<int>(made.operands.size());
    made.operands.push_back(value);
    return true;
  };
  for (Arg &arg : made.args) {
    if (!operandFor(arg) || !llvm::all_of(arg.list, operandFor))
      return false;
  }
  builder.setInsertionPoint(op);
  Operation *next = made.build(builder, op->getLoc(), op->getResultTypes());
  next->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(next);
  op->erase();
  (void)walk.visit(next);
  noteCounters(next);
  return true;
}

/// Whether the argument is a list of plain numbers.
static bool isPlainList(const AtenCall &call, unsigned arg) {
  return arg < call.args.size() && call.args[arg].kind == Arg::List &&
         llvm::none_of(
             call.args[arg].list, [](const Arg &a) { return a.operand >= 0; });
}

bool Generalizer::generalizeView(AtenCall &call) {
  std::optional<TensorMeta> self = walk.metaOf(call.operands[0]);
  if (!self || !isPlainList(call, 1))
    return false;
  Dims dims;
  for (const Arg &item : call.args[1].list)
    dims.push_back(item.dim);
  if (!matchView(*self, dims))
    return false;
  for (auto [item, d] : llvm::zip(call.args[1].list, dims))
    item = Arg::integer(d);
  return true;
}

/// expand, which takes the sizes of the tensor, or repeat.
bool Generalizer::generalizeExpand(AtenCall &call, bool repeats) {
  std::optional<TensorMeta> self = walk.metaOf(call.operands[0]);
  if (!self || !isPlainList(call, 1) ||
      call.args[1].list.size() < self->sizes.size())
    return false;
  size_t shift = call.args[1].list.size() - self->sizes.size();
  bool changed = false;
  for (auto [n, item] : llvm::enumerate(call.args[1].list)) {
    auto d = static_cast<unsigned>(n);
    Dim have = d < shift ? Dim(1) : self->sizes[d - shift];
    if (have.is(1)) {
      changed |= choose(item, 1, d);
    } else if (!repeats && !have.isStatic() && item.dim.isStatic() &&
               example(have) == item.dim.value()) {
      item = Arg::integer(have);
      changed = true;
    }
  }
  return changed;
}

bool Generalizer::generalizeFresh(AtenCall &call, unsigned arg) {
  if (!isPlainList(call, arg))
    return false;
  bool changed = false;
  for (auto [d, item] : llvm::enumerate(call.args[arg].list))
    changed |= choose(item, arg, static_cast<unsigned>(d));
  return changed;
}

/// (end), (start, end) from 0 on, (start, end, step) by 1.
bool Generalizer::generalizeArange(AtenCall &call) {
  if (call.schema->name == "arange.default")
    return choose(call.args[0], 0, 0);
  auto is = [&](unsigned arg, int64_t number) {
    const Arg &a = call.args[arg];
    return a.kind == Arg::Int && a.operand < 0 && a.dim.is(number);
  };
  bool counts = call.schema->name == "arange.start" ||
                (call.schema->name == "arange.start_step" && is(2, 1));
  return counts && is(0, 0) && choose(call.args[1], 1, 0);
}

/// The first positions of a table: x[:8].
bool Generalizer::generalizeSlice(AtenCall &call) {
  std::optional<TensorMeta> self = walk.metaOf(call.operands[0]);
  const Arg &start = call.args[2];
  if (!self || self->sizes.empty() || call.args[1].operand >= 0 ||
      !call.args[4].dim.is(1) || start.operand >= 0 ||
      (!start.isNone() && !start.dim.is(0)))
    return false;
  int64_t dim = call.integer(1);
  dim += dim < 0 ? self->rank() : 0;
  if (dim < 0 || dim >= self->rank() || !self->sizes[dim].isStatic())
    return false;
  int64_t most = self->sizes[dim].value();
  Arg &end = call.args[3];
  return end.kind == Arg::Int && end.operand < 0 && end.dim.isStatic() &&
         end.dim.value() < most && choose(end, 3, 0, {0, most});
}

void Generalizer::visit(Operation *op) {
  const Schema *schema = schemaOf(op);
  if (!schema) {
    (void)walk.visit(op);
    return;
  }
  AtenCall call = AtenCall::decode(op);
  StringRef base = schema->base;
  auto isOneOf = [&](std::initializer_list<StringRef> names) {
    return llvm::is_contained(names, base);
  };
  bool changed = false;
  if (isOneOf(
          {"view", "reshape", "_unsafe_view", "view_copy", "_reshape_copy"}))
    changed = generalizeView(call);
  else if (isOneOf({"expand", "expand_copy", "broadcast_to", "repeat"}))
    changed = generalizeExpand(call, base == "repeat");
  else if (isOneOf({"full", "zeros", "ones", "empty", "rand", "randn"}))
    changed = generalizeFresh(call, 0);
  else if (isOneOf({"new_zeros", "new_ones", "new_full", "new_empty"}))
    changed = generalizeFresh(call, 1);
  else if (base == "arange")
    changed = generalizeArange(call);
  else if (base == "slice")
    changed = generalizeSlice(call);
  if (changed && rewrite(op, call))
    return;
  (void)walk.visit(op);
  noteCounters(op);
}

void Generalizer::run() {
  for (BlockArgument argument : forward.getArguments()) {
    std::optional<TensorMeta> meta = metaFromType(argument.getType());
    for (Dim d : meta ? meta->sizes : Dims()) {
      if (d.isStatic() || d.symbolic().kind() != SymKind::Symbol)
        continue;
      std::pair<SymExpr, int64_t> size(d.symbolic(), example(d).value_or(0));
      if (!llvm::is_contained(sizes, size))
        sizes.push_back(size);
    }
  }
  // What is wrong with the program stage fake says.
  ScopedDiagnosticHandler quiet(forward.getContext(),
                                [](Diagnostic &) { return success(); });
  Block &body = forward.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    visit(&op);
    ++ordinal;
  }
}

void generalizeViews(ModuleOp module) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!forward || forward.isExternal() || !forward.getBody().hasOneBlock())
    return;
  OwningOpRef<ModuleOp> copy(module.clone());
  Generalizer probe(*copy, copy->lookupSymbol<func::FuncOp>("forward"));
  probe.run();
  Choices choices = probe.proofs();
  Generalizer(module, forward, &choices).run();
}

} // namespace ft
