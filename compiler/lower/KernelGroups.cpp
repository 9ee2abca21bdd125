//===- KernelGroups.cpp - Which operations become one kernel ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/KernelGroups.h"

#include "compiler/lower/LowerState.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <functional>
#include <queue>

using namespace mlir;

namespace ft {

/// The block argument behind widening conversions, or the value itself.
static Value behindWidening(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      break;
    v = op->getOperand(0);
  }
  return v;
}

/// acc + a * b of the two inputs, possibly widened first. Not a sum of squares:
/// that is a reduction like any other.
static bool multipliesAndAccumulates(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  Block *body = op.getBody();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return false;
  Value accumulator = body->getArgument(2);
  Value product = add->getOperand(0) == accumulator   ? add->getOperand(1)
                  : add->getOperand(1) == accumulator ? add->getOperand(0)
                                                      : Value();
  Operation *mul = product ? product.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(mul))
    return false;
  Value a = behindWidening(mul->getOperand(0));
  Value b = behindWidening(mul->getOperand(1));
  return (a == body->getArgument(0) && b == body->getArgument(1)) ||
         (a == body->getArgument(1) && b == body->getArgument(0));
}

OpRole roleOf(Operation *op) {
  if (isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp, SizeOp>(op))
    return OpRole::Init;
  // Arithmetic with sizes of the run.
  if (isa_and_nonnull<arith::ArithDialect, complex::ComplexDialect>(
          op->getDialect()) &&
      op->getNumResults() == 1 && !isa<TensorType>(op->getResult(0).getType()))
    return OpRole::Init;
  if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp, tensor::CastOp>(op))
    return OpRole::View;
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (generic.getNumReductionLoops() == 0)
      return OpRole::Pointwise;
    return multipliesAndAccumulates(generic) ? OpRole::Contraction
                                             : OpRole::Reduction;
  }
  if (isa<tensor::PadOp, tensor::InsertSliceOp, tensor::ConcatOp,
          tensor::InsertOp, tensor::ScatterOp>(op))
    return OpRole::Move;
  if (isa<KernelCallOp, RunGraphsOp>(op))
    return OpRole::Library;
  return OpRole::Entry;
}

bool isInit(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  while (op && roleOf(op) == OpRole::View)
    op = op->getOperand(0).getDefiningOp();
  return op && roleOf(op) == OpRole::Init;
}

/// The reduced dims are the innermost physical dims of the largest input, so
/// that one pass over a row gives one value (softmax, layer norm). Statistics
/// over outer dims (batch norm in training) are not.
static bool reducesRows(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return false;
  AffineMap widest;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(input);
    if (!widest || map.getNumResults() > widest.getNumResults())
      widest = map;
  }
  if (!widest)
    return false;
  SmallVector<utils::IteratorType> kinds = generic.getIteratorTypesArray();
  bool inner = false;
  for (AffineExpr e : widest.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(e);
    if (!dim)
      return false;
    bool reduced = kinds[dim.getPosition()] == utils::IteratorType::reduction;
    if (inner && !reduced)
      return false;
    inner |= reduced;
  }
  return true;
}

namespace {

struct Former {
  struct Kernel {
    SmallVector<Operation *, 4> ops;
    /// Nothing joins a move, or a call of a custom kernel.
    bool hasContraction = false, hasMove = false, dead = false;
    bool onlyPointwise = true;
    /// No reduction but over the innermost dims of its input.
    bool onlyRows = true;
    int64_t group = -1;
    /// Users of its values by position, the first on top; those that have
    /// joined it go when they are met.
    std::priority_queue<std::pair<unsigned, Operation *>,
                        std::vector<std::pair<unsigned, Operation *>>,
                        std::greater<>>
        users;
    Device device;
  };
  Former(TensorSizes &sizes, const ValueDevices &devices)
      : sizes(sizes), devices(devices) {}

  TensorSizes &sizes;
  const ValueDevices &devices;
  std::vector<Kernel> kernels;
  DenseMap<Operation *, unsigned> kernelOf;
  DenseMap<Operation *, unsigned> position;
  /// The kernels of groups that are to be one each.
  DenseMap<int64_t, unsigned> fused;

  static int64_t groupOf(Operation *op) {
    auto attr = op->getAttrOfType<IntegerAttr>(names::kGroup);
    return attr ? attr.getInt() : -1;
  }

  /// The compute op behind a value, through views; `sameSize` is cleared when
  /// a slice lies between. Null for arguments and inits.
  static Operation *computeBehind(Value v, bool &sameSize) {
    Operation *op = v.getDefiningOp();
    while (op && roleOf(op) == OpRole::View) {
      if (isa<tensor::ExtractSliceOp>(op))
        sameSize = false;
      op = op->getOperand(0).getDefiningOp();
    }
    return op && roleOf(op) != OpRole::Init ? op : nullptr;
  }

  /// All ops that use values of `op`, looked at through views; a gather inside
  /// of a body counts as its generic.
  static void usersOf(Operation *op, SmallVectorImpl<Operation *> &users) {
    for (Operation *user : op->getUsers()) {
      while (user->getBlock() != op->getBlock())
        user = user->getParentOp();
      if (roleOf(user) == OpRole::View)
        usersOf(user, users);
      else
        users.push_back(user);
    }
  }

  void addUsersOf(Operation *op, unsigned k) {
    SmallVector<Operation *> users;
    usersOf(op, users);
    for (Operation *user : users)
      kernels[k].users.emplace(position.lookup(user), user);
  }

  /// Nobody outside kernel `k` that stands before `op` uses its values.
  bool unusedBefore(unsigned k, Operation *op) {
    auto &users = kernels[k].users;
    for (; !users.empty(); users.pop()) {
      auto [at, user] = users.top();
      auto it = kernelOf.find(user);
      if (it == kernelOf.end() || it->second != k)
        return at >= position.lookup(op);
    }
    return true;
  }

  /// Every use of the kernel's values is in group `group` (not yet placed).
  bool onlyReadBy(unsigned k, int64_t group) {
    SmallVector<Operation *> users;
    for (Operation *member : kernels[k].ops)
      usersOf(member, users);
    return llvm::all_of(users, [&](Operation *user) {
      auto it = kernelOf.find(user);
      return (it != kernelOf.end() && it->second == k) ||
             (groupOf(user) == group && roleOf(user) != OpRole::Entry &&
              roleOf(user) != OpRole::Move && roleOf(user) != OpRole::Library);
    });
  }

  /// All uses of the value (through views) are by `op`.
  static bool onlyUsedBy(Operation *producer, Operation *op) {
    SmallVector<Operation *> users;
    usersOf(producer, users);
    return llvm::all_of(users, [&](Operation *u) { return u == op; });
  }

  void join(unsigned k, Operation *op) {
    Kernel &kernel = kernels[k];
    kernel.ops.push_back(op);
    kernelOf[op] = k;
    addUsersOf(op, k);
    OpRole role = roleOf(op);
    kernel.hasContraction |= role == OpRole::Contraction;
    kernel.hasMove |= role == OpRole::Move || role == OpRole::Library;
    kernel.onlyPointwise &= role == OpRole::Pointwise;
    kernel.onlyRows &= role != OpRole::Reduction || reducesRows(op);
    kernel.group = groupOf(op);
    kernel.device = devices.of(op);
  }

  unsigned start(Operation *op) {
    kernels.emplace_back();
    unsigned k = static_cast<unsigned>(kernels.size()) - 1;
    join(k, op);
    if (groupOf(op) >= names::kFusedGroups)
      fused[groupOf(op)] = k;
    return k;
  }

  /// Of an operand seen as it is, so that products are written alike.
  std::optional<Dim> elements(Value v) {
    std::optional<ArrayRef<Dim>> shape = sizes.of(v);
    return shape ? std::optional(product(*shape)) : std::nullopt;
  }

  /// Rules 2, 3 and 5; -1 if no kernel can be joined.
  int kernelToJoin(Operation *op) {
    OpRole role = roleOf(op);
    int64_t group = groupOf(op);
    int best = -1;
    if (group >= names::kFusedGroups && role == OpRole::Pointwise) {
      auto it = fused.find(group);
      bool fits = it != fused.end() &&
                  kernels[it->second].device == devices.of(op) &&
                  unusedBefore(it->second, op);
      return fits ? static_cast<int>(it->second) : -1;
    }
    for (Value operand : op->getOperands()) {
      bool sameSize = true;
      Operation *producer = computeBehind(operand, sameSize);
      auto it = producer ? kernelOf.find(producer) : kernelOf.end();
      if (it == kernelOf.end())
        continue;
      Kernel &k = kernels[it->second];
      if (k.hasMove || k.device != devices.of(op) ||
          !unusedBefore(it->second, op))
        continue;
      bool sameRule = group >= 0 && k.group == group && !k.hasContraction &&
                      k.onlyRows &&
                      (role != OpRole::Reduction || reducesRows(op));
      bool epilogue = role == OpRole::Pointwise && sameSize &&
                      elements(operand) == elements(op->getResult(0)) &&
                      onlyUsedBy(producer, op);
      if (!sameRule && !epilogue)
        continue;
      // Writing less is worth most where a contraction's result stays in
      // registers.
      if (best < 0 || k.hasContraction)
        best = static_cast<int>(it->second);
    }
    return best;
  }

  /// Rule 4: pointwise kernels that only this reduction's group reads.
  void takeInProducers(unsigned k, Operation *op) {
    for (Value operand : op->getOperands()) {
      bool sameSize = true;
      Operation *producer = computeBehind(operand, sameSize);
      auto it = producer ? kernelOf.find(producer) : kernelOf.end();
      if (it == kernelOf.end() || it->second == k || !sameSize)
        continue;
      unsigned p = it->second;
      if (!kernels[p].onlyPointwise || kernels[p].device != devices.of(op) ||
          !onlyReadBy(p, groupOf(op)))
        continue;
      for (Operation *member : kernels[p].ops) {
        kernelOf[member] = k;
        addUsersOf(member, k);
      }
      kernels[k].ops.insert(kernels[k].ops.begin(), kernels[p].ops.begin(),
                            kernels[p].ops.end());
      kernels[p].dead = true;
    }
  }

  void run(func::FuncOp function) {
    unsigned next = 0;
    for (Operation &op : function.getBody().front())
      position[&op] = next++;
    for (Operation &op : function.getBody().front()) {
      switch (roleOf(&op)) {
      case OpRole::Init:
      case OpRole::View:
      case OpRole::Entry:
        break;
      case OpRole::Contraction:
      case OpRole::Library:
        start(&op);
        break;
      case OpRole::Move:
        move(&op);
        break;
      case OpRole::Pointwise:
      case OpRole::Reduction: {
        int k = kernelToJoin(&op);
        unsigned id = k < 0 ? start(&op) : static_cast<unsigned>(k);
        if (k >= 0)
          join(id, &op);
        if (roleOf(&op) == OpRole::Reduction)
          takeInProducers(id, &op);
        break;
      }
      }
    }
  }

  /// Insertions of one rule into one destination (a concatenation) are one
  /// kernel.
  void move(Operation *op) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      Operation *into = insert.getDest().getDefiningOp();
      auto it = into ? kernelOf.find(into) : kernelOf.end();
      if (it != kernelOf.end() && isa<tensor::InsertSliceOp>(into) &&
          groupOf(into) == groupOf(op) &&
          kernels[it->second].device == devices.of(op) &&
          unusedBefore(it->second, op)) {
        join(it->second, op);
        return;
      }
    }
    start(op);
  }
};

} // namespace

KernelGroups KernelGroups::form(func::FuncOp function, TensorSizes &sizes,
                                const ValueDevices &devices) {
  Former former(sizes, devices);
  former.run(function);
  std::vector<Former::Kernel *> alive;
  for (Former::Kernel &k : former.kernels) {
    if (k.dead)
      continue;
    llvm::sort(k.ops, [&](Operation *a, Operation *b) {
      return former.position.lookup(a) < former.position.lookup(b);
    });
    alive.push_back(&k);
  }
  llvm::sort(alive, [&](const Former::Kernel *a, const Former::Kernel *b) {
    return former.position.lookup(a->ops.back()) <
           former.position.lookup(b->ops.back());
  });
  KernelGroups groups;
  for (Former::Kernel *k : alive) {
    for (Operation *op : k->ops)
      groups.kernelOf[op] = static_cast<unsigned>(groups.kernels.size());
    groups.kernels.push_back(k->ops);
  }
  return groups;
}

} // namespace ft
