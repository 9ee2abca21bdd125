//===- SymExpr.cpp - Storage, order and value of expressions ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/SymExpr.h"

#include "compiler/shape/SymNode.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"

#include <mutex>

namespace ft {

using namespace detail;

namespace {
/// What a node is looked up by.
struct NodeKey {
  SymKind kind;
  int64_t value;
  llvm::StringRef name;
  llvm::ArrayRef<SymTerm> terms;

  unsigned hash() const {
    llvm::hash_code code = llvm::hash_combine(kind, value, name);
    for (const SymTerm &term : terms)
      code = llvm::hash_combine(code, term.k, term.expr.getImpl());
    return static_cast<unsigned>(static_cast<size_t>(code));
  }
};

struct NodeInfo {
  static const SymNode *getEmptyKey() {
    return llvm::DenseMapInfo<const SymNode *>::getEmptyKey();
  }
  static const SymNode *getTombstoneKey() {
    return llvm::DenseMapInfo<const SymNode *>::getTombstoneKey();
  }
  static unsigned getHashValue(const SymNode *node) { return node->hash; }
  static unsigned getHashValue(const NodeKey &key) { return key.hash(); }
  static bool isEqual(const SymNode *a, const SymNode *b) { return a == b; }
  static bool isEqual(const NodeKey &key, const SymNode *node) {
    if (node == getEmptyKey() || node == getTombstoneKey())
      return false;
    if (node->kind != key.kind || node->value != key.value ||
        node->name != key.name || node->terms.size() != key.terms.size())
      return false;
    for (auto [a, b] : llvm::zip_equal(node->terms, key.terms))
      if (a.k != b.k || a.expr != b.expr)
        return false;
    return true;
  }
};
} // namespace

struct SymContext::Store {
  std::mutex lock;
  llvm::BumpPtrAllocator arena;
  llvm::DenseSet<const SymNode *, NodeInfo> nodes;
  uint64_t fresh = 0;
  llvm::DenseSet<const SymNode *> unbacked;
};

SymContext::SymContext() : store(std::make_unique<Store>()) {}
SymContext::~SymContext() = default;

SymExpr SymContext::unique(SymKind kind, int64_t value, llvm::StringRef name,
                           llvm::ArrayRef<SymTerm> terms) {
  uint64_t size = 1;
  uint32_t depth = 0;
  int64_t degree = kind == SymKind::Const ? 0 : 1;
  if (kind == SymKind::Mul)
    degree = 0;
  for (const SymTerm &term : terms) {
    if (!term.expr)
      return {};
    size += term.expr.getImpl()->size;
    depth = std::max(depth, term.expr.getImpl()->depth);
    if (kind == SymKind::Mul) {
      std::optional<int64_t> total = checkedAdd(degree, term.k);
      if (!total)
        return {};
      degree = *total;
    }
  }
  if (size > kMaxSize || depth + 1 > kMaxDepth)
    return {};

  NodeKey key{kind, value, name, terms};
  std::lock_guard<std::mutex> guard(store->lock);
  auto it = store->nodes.find_as(key);
  if (it != store->nodes.end())
    return SymExpr::fromImpl(*it);
  auto *node = new (store->arena.Allocate<SymNode>()) SymNode{
      kind,   key.hash(), static_cast<uint32_t>(size), depth + 1,
      degree, value,      name.copy(store->arena),     terms.copy(store->arena),
      this};
  store->nodes.insert(node);
  return SymExpr::fromImpl(node);
}

SymExpr SymContext::constant(int64_t value) {
  return unique(SymKind::Const, value, "", {});
}
SymExpr SymContext::symbol(llvm::StringRef name) {
  return unique(SymKind::Symbol, 0, name, {});
}
SymExpr SymContext::freshSymbol(llvm::StringRef prefix) {
  for (;;) {
    std::string name;
    {
      std::lock_guard<std::mutex> guard(store->lock);
      name = (prefix + llvm::Twine(store->fresh++)).str();
      if (store->nodes.find_as(NodeKey{SymKind::Symbol, 0, name, {}}) !=
          store->nodes.end())
        continue;
    }
    return symbol(name);
  }
}
SymExpr SymContext::unbackedSymbol(llvm::StringRef name) {
  SymExpr made = symbol(name);
  std::lock_guard<std::mutex> guard(store->lock);
  store->unbacked.insert(made.getImpl());
  return made;
}
bool SymContext::hasUnbacked(SymExpr expr) const {
  if (expr.kind() == SymKind::Symbol) {
    std::lock_guard<std::mutex> guard(store->lock);
    return store->unbacked.contains(expr.getImpl());
  }
  return llvm::any_of(expr.terms(), [&](const SymTerm &term) {
    return hasUnbacked(term.expr);
  });
}
SymExpr SymContext::boolean(bool value) {
  return unique(SymKind::Bool, value, "", {});
}

SymKind SymExpr::kind() const { return node->kind; }
int64_t SymExpr::constant() const { return node->value; }
llvm::StringRef SymExpr::name() const { return node->name; }
llvm::ArrayRef<SymTerm> SymExpr::terms() const { return node->terms; }
uint32_t SymExpr::size() const { return node->size; }
SymContext &SymExpr::context() const { return *node->context; }

bool SymExpr::isTrue() const {
  return node && node->kind == SymKind::Bool && node->value;
}
bool SymExpr::isFalse() const {
  return node && node->kind == SymKind::Bool && !node->value;
}

SymExpr::Affine SymExpr::affine(SymTerm &storage) const {
  if (node->kind == SymKind::Add || node->kind == SymKind::Const)
    return {node->value, node->terms};
  storage = {1, *this};
  return {0, storage};
}

int SymExpr::compare(SymExpr a, SymExpr b) {
  if (a == b)
    return 0;
  if (!a || !b)
    return a ? 1 : -1;
  const SymNode &x = *a.node, &y = *b.node;
  if (x.degree != y.degree)
    return x.degree > y.degree ? -1 : 1;
  if (x.kind != y.kind)
    return x.kind < y.kind ? -1 : 1;
  if (int order = x.name.compare(y.name))
    return order;
  for (size_t i = 0; i < x.terms.size() && i < y.terms.size(); ++i) {
    if (int order = compare(x.terms[i].expr, y.terms[i].expr))
      return order;
    if (x.terms[i].k != y.terms[i].k)
      return x.terms[i].k > y.terms[i].k ? -1 : 1;
  }
  if (x.terms.size() != y.terms.size())
    return x.terms.size() < y.terms.size() ? -1 : 1;
  return x.value < y.value ? -1 : 1;
}

void SymExpr::collectSymbols(llvm::StringSet<> &names) const {
  if (!node)
    return;
  if (node->kind == SymKind::Symbol)
    names.insert(node->name);
  for (const SymTerm &term : node->terms)
    term.expr.collectSymbols(names);
}

std::optional<int64_t> detail::checkedPow(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return std::nullopt;
  int64_t result = 1;
  while (exponent) {
    if (exponent & 1) {
      std::optional<int64_t> next = checkedMul(result, base);
      if (!next)
        return std::nullopt;
      result = *next;
    }
    exponent >>= 1;
    if (!exponent)
      break;
    std::optional<int64_t> square = checkedMul(base, base);
    if (!square)
      return std::nullopt;
    base = *square;
  }
  return result;
}

SymValue SymContext::evaluate(SymExpr expr, Assignment lookup) {
  constexpr SymValue kOverflow{SymEvalStatus::Overflow, 0};
  if (!expr)
    return kOverflow;
  llvm::ArrayRef<SymTerm> terms = expr.terms();
  auto sub = [&](size_t i) { return evaluate(terms[i].expr, lookup); };
  auto wrap = [&](std::optional<int64_t> v) {
    return v ? SymValue{SymEvalStatus::Ok, *v} : kOverflow;
  };
  switch (expr.kind()) {
  case SymKind::Const:
  case SymKind::Bool:
    return {SymEvalStatus::Ok, expr.constant()};
  case SymKind::Symbol: {
    int64_t value = 0;
    if (!lookup(expr.name(), value))
      return {SymEvalStatus::Unbound, 0};
    return {SymEvalStatus::Ok, value};
  }
  case SymKind::Add: {
    // Summed in 128 bits: an intermediate sum may leave 64 bits and return.
    __int128 sum = expr.constant();
    for (size_t i = 0; i < terms.size(); ++i) {
      SymValue v = sub(i);
      if (!v)
        return v;
      sum += static_cast<__int128>(terms[i].k) * v.value;
    }
    if (sum < INT64_MIN || sum > INT64_MAX)
      return kOverflow;
    return {SymEvalStatus::Ok, static_cast<int64_t>(sum)};
  }
  case SymKind::Mul: {
    std::optional<int64_t> product = 1;
    bool zero = false;
    for (size_t i = 0; i < terms.size(); ++i) {
      SymValue v = sub(i);
      if (!v)
        return v;
      zero |= v.value == 0;
      if (product) {
        std::optional<int64_t> power = checkedPow(v.value, terms[i].k);
        product = power ? checkedMul(*product, *power) : std::nullopt;
      }
    }
    return zero ? SymValue{} : wrap(product);
  }
  case SymKind::Pow: {
    SymValue base = sub(0), exponent = sub(1);
    if (!base || !exponent)
      return base ? exponent : base;
    return wrap(checkedPow(base.value, exponent.value));
  }
  case SymKind::FloorDiv:
  case SymKind::Mod: {
    SymValue a = sub(0), b = sub(1);
    if (!a || !b)
      return a ? b : a;
    if (b.value == 0)
      return {SymEvalStatus::DivisionByZero, 0};
    if (expr.kind() == SymKind::Mod)
      return {SymEvalStatus::Ok, floorMod(a.value, b.value)};
    return wrap(checkedFloorDiv(a.value, b.value));
  }
  case SymKind::Min:
  case SymKind::Max: {
    SymValue best = sub(0);
    for (size_t i = 1; best && i < terms.size(); ++i) {
      SymValue v = sub(i);
      if (!v)
        return v;
      bool isMin = expr.kind() == SymKind::Min;
      best.value =
          isMin ? std::min(best.value, v.value) : std::max(best.value, v.value);
    }
    return best;
  }
  case SymKind::Eq:
  case SymKind::Ne:
  case SymKind::Le: {
    SymValue v = sub(0);
    if (!v)
      return v;
    bool holds = expr.kind() == SymKind::Eq   ? v.value == 0
                 : expr.kind() == SymKind::Ne ? v.value != 0
                                              : v.value <= 0;
    return {SymEvalStatus::Ok, holds};
  }
  case SymKind::And:
  case SymKind::Or: {
    bool isAnd = expr.kind() == SymKind::And;
    bool result = isAnd;
    for (size_t i = 0; i < terms.size(); ++i) {
      SymValue v = sub(i);
      if (!v)
        return v;
      result = isAnd ? result && v.value : result || v.value;
    }
    return {SymEvalStatus::Ok, result};
  }
  }
  return kOverflow;
}

SymExpr SymContext::substitute(SymExpr expr, Lookup lookup) {
  if (!expr)
    return {};
  llvm::ArrayRef<SymTerm> terms = expr.terms();
  llvm::SmallVector<SymExpr> args;
  if (expr.kind() != SymKind::Symbol)
    for (const SymTerm &term : terms)
      args.push_back(substitute(term.expr, lookup));
  switch (expr.kind()) {
  case SymKind::Const:
  case SymKind::Bool:
    return expr;
  case SymKind::Symbol: {
    SymExpr replacement = lookup(expr.name());
    return replacement ? replacement : expr;
  }
  case SymKind::Add: {
    llvm::SmallVector<SymTerm> summands;
    for (auto [term, arg] : llvm::zip_equal(terms, args))
      summands.push_back({term.k, arg});
    return sum(expr.constant(), summands);
  }
  case SymKind::Mul: {
    SymExpr product = constant(1);
    for (auto [term, arg] : llvm::zip_equal(terms, args))
      product = mul(product, pow(arg, constant(term.k)));
    return product;
  }
  case SymKind::Pow:
    return pow(args[0], args[1]);
  case SymKind::FloorDiv:
    return floorDiv(args[0], args[1]);
  case SymKind::Mod:
    return mod(args[0], args[1]);
  case SymKind::Min:
    return min(args);
  case SymKind::Max:
    return max(args);
  case SymKind::Eq:
  case SymKind::Ne:
  case SymKind::Le:
    return relation(expr.kind(), args[0]);
  case SymKind::And:
    return logicalAnd(args);
  case SymKind::Or:
    return logicalOr(args);
  }
  return {};
}

SymExpr operator+(SymExpr a, SymExpr b) {
  return a ? a.context().add(a, b) : SymExpr();
}
SymExpr operator-(SymExpr a, SymExpr b) { return a + -b; }
SymExpr operator*(SymExpr a, SymExpr b) {
  return a ? a.context().mul(a, b) : SymExpr();
}
SymExpr operator-(SymExpr a) {
  return a ? a.context().scale(a, -1) : SymExpr();
}
SymExpr operator+(SymExpr a, int64_t b) {
  return a ? a.context().sum(b, SymTerm{1, a}) : SymExpr();
}
SymExpr operator-(SymExpr a, int64_t b) {
  return b == INT64_MIN ? SymExpr() : a + -b;
}
SymExpr operator*(SymExpr a, int64_t b) {
  return a ? a.context().scale(a, b) : SymExpr();
}

} // namespace ft
