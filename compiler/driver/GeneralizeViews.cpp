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

using namespace mlir;

namespace ft {

namespace {
class Generalizer {
public:
  Generalizer(ModuleOp module, func::FuncOp forward)
      : module(module), forward(forward),
        scope(module, forward, ModuleScope::Use::Remake),
        walk(Propagator::Mode::Annotate), builder(forward.getContext()) {
    walk.ignoreClaims();
    walk.setScope(&scope.scope());
  }
  void run();

private:
  void visit(Operation *op);
  bool matchView(const TensorMeta &self, Dims &sizes) const;
  bool matchBatch(Dims &sizes, size_t from, size_t to) const;
  std::optional<int64_t> example(Dim d) const;
  /// Puts `size` where a literal stood; false if it cannot be computed.
  bool rewrite(Operation *op, unsigned arg, ArrayRef<Dim> sizes);
  Value compute(SymExpr size, Operation *before);
  Value call(StringRef overload, ArrayRef<Arg> args, ValueRange operands,
             Dim value, Location loc);

  ModuleOp module;
  func::FuncOp forward;
  ModuleScope scope;
  Propagator walk;
  OpBuilder builder;
  /// Symbols that are dim 0 of an input, with their example.
  SmallVector<std::pair<SymExpr, int64_t>> batches;
  llvm::DenseMap<SymExpr, Value> computed;
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

/// A literal in front that is the example's batch.
bool Generalizer::matchBatch(Dims &sizes, size_t from, size_t to) const {
  for (size_t d = from; d < std::min(to, sizes.size()); ++d)
    for (auto [symbol, value] : batches)
      if (value > 1 && sizes[d].is(value)) {
        sizes[d] = Dim(symbol);
        return true;
      }
  return false;
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

bool Generalizer::rewrite(Operation *op, unsigned arg, ArrayRef<Dim> sizes) {
  AtenCall made = AtenCall::decode(op);
  std::vector<Arg> list;
  // Behind what was computed already, so that values stand in order.
  builder.setInsertionPoint(op);
  for (Dim d : sizes) {
    Arg item = Arg::integer(d);
    if (!d.isStatic()) {
      Value value = compute(d.symbolic(), op);
      if (!value)
        return false;
      item.operand = static_cast<int>(made.operands.size());
      made.operands.push_back(value);
    }
    list.push_back(item);
  }
  made.args[arg] = Arg::listOf(std::move(list));
  builder.setInsertionPoint(op);
  Operation *next = made.build(builder, op->getLoc(), op->getResultTypes());
  next->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(next);
  op->erase();
  (void)walk.visit(next);
  return true;
}

static bool hasOperand(const Arg &arg) {
  return llvm::any_of(arg.list, [](const Arg &a) { return a.operand >= 0; });
}

void Generalizer::visit(Operation *op) {
  const Schema *schema = schemaOf(op);
  if (!schema) {
    (void)walk.visit(op);
    return;
  }
  StringRef base = schema->base;
  bool isView = base == "view" || base == "reshape" || base == "_unsafe_view" ||
                base == "view_copy" || base == "_reshape_copy";
  bool isExpand =
      base == "expand" || base == "expand_copy" || base == "broadcast_to";
  bool isFresh =
      base == "full" || base == "zeros" || base == "ones" || base == "empty";
  bool isNew = base == "new_zeros" || base == "new_ones" ||
               base == "new_full" || base == "new_empty";
  if (isView || isExpand || isFresh || isNew) {
    AtenCall call = AtenCall::decode(op);
    unsigned at = isFresh ? 0 : 1;
    if (call.args.size() > at && call.args[at].kind == Arg::List &&
        !hasOperand(call.args[at])) {
      Dims sizes;
      for (const Arg &item : call.args[at].list)
        sizes.push_back(item.dim);
      std::optional<TensorMeta> self =
          isFresh ? std::nullopt : walk.metaOf(call.operands[0]);
      bool changed = false;
      if (isView && self)
        changed = matchView(*self, sizes);
      else if (isExpand && self && sizes.size() >= self->sizes.size()) {
        size_t shift = sizes.size() - self->sizes.size();
        for (size_t d = 0; d < sizes.size(); ++d) {
          Dim have = d < shift ? Dim(1) : self->sizes[d - shift];
          if (!have.isStatic() && sizes[d].isStatic() &&
              example(have) == sizes[d].value()) {
            sizes[d] = have;
            changed = true;
          } else if (d == 0 && have.is(1)) {
            changed |= matchBatch(sizes, 0, 1);
          }
        }
      } else if (isFresh || isNew) {
        changed = matchBatch(sizes, 0, 1);
      }
      if (changed && rewrite(op, at, sizes))
        return;
    }
  }
  (void)walk.visit(op);
}

void Generalizer::run() {
  for (BlockArgument argument : forward.getArguments()) {
    std::optional<TensorMeta> meta = metaFromType(argument.getType());
    if (!meta || meta->sizes.empty() || meta->sizes[0].isStatic() ||
        meta->sizes[0].symbolic().kind() != SymKind::Symbol)
      continue;
    std::pair<SymExpr, int64_t> batch(meta->sizes[0].symbolic(),
                                      example(meta->sizes[0]).value_or(0));
    if (!llvm::is_contained(batches, batch))
      batches.push_back(batch);
  }
  // What is wrong with the program stage fake says.
  ScopedDiagnosticHandler quiet(forward.getContext(),
                                [](Diagnostic &) { return success(); });
  Block &body = forward.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    visit(&op);
}

void generalizeViews(ModuleOp module) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  if (!forward || forward.isExternal() || !forward.getBody().hasOneBlock())
    return;
  Generalizer(module, forward).run();
}

} // namespace ft
