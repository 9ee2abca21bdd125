//===- OutlineKernels.cpp - Kernel functions from a schedule ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/OutlineKernels.h"

#include "compiler/lower/KernelGroups.h"
#include "compiler/lower/Lower.h"
#include "compiler/lower/LowerState.h"
#include "compiler/partition/PartitionNames.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

#include <numeric>

using namespace mlir;

namespace ft {

MemRefType memrefFor(Value tensor, const Placement &place) {
  auto type = cast<RankedTensorType>(tensor.getType());
  MemRefLayoutAttrInterface layout;
  Dims shape(type.getShape().begin(), type.getShape().end());
  if (!type.hasStaticShape() || place.strides != rowMajorStrides(shape)) {
    SmallVector<int64_t> strides;
    for (Dim d : place.strides)
      strides.push_back(d.isStatic() ? d.value() : ShapedType::kDynamic);
    layout = StridedLayoutAttr::get(tensor.getContext(), 0, strides);
  }
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

namespace {

/// Clones operations into a kernel, with what they need from around it.
struct Cloner {
  OpBuilder &b;
  IRMapping mapping;

  /// Inits and views that lead to cloned values are cloned where needed.
  void require(Value v) {
    Operation *op = v.getDefiningOp();
    if (mapping.contains(v) || !op)
      return;
    for (Value operand : op->getOperands())
      require(operand);
    clone(op);
  }

  void clone(Operation *op) {
    // Bodies read constants (and gathered tensors) from outside.
    op->walk([&](Operation *inner) {
      for (Value v : inner->getOperands())
        if (!op->isAncestor(v.getParentBlock()->getParentOp()))
          require(v);
    });
    Operation *copy = b.clone(*op, mapping);
    copy->walk([](Operation *inner) {
      inner->removeAttr(names::kGroup);
      inner->removeAttr(names::kFrom);
      inner->removeAttr(names::kAgain);
      inner->removeAttr(kDeviceAttr);
    });
  }
};

} // namespace

/// "linear_gelu": the ATen ops that the kernel was made of, for people.
static std::string kernelName(const ScheduledKernel &kernel) {
  SmallVector<StringRef> parts;
  for (Operation *op : kernel.ops)
    if (auto from = op->getAttrOfType<StringAttr>(names::kFrom)) {
      // Of a custom operator the plain name: "demo::scale_#functional".
      StringRef name = from.getValue().split('#').first;
      name = name.substr(name.rfind(':') + 1);
      if (!llvm::is_contained(parts, name))
        parts.push_back(name);
    }
  if (parts.size() > 3)
    parts.truncate(3);
  return parts.empty() ? "copy" : llvm::join(parts, "_");
}

/// Equal for kernels that are equal but for their names.
static size_t hashOf(func::FuncOp function) {
  llvm::hash_code hash = hash_value(Type(function.getFunctionType()));
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

/// Bytes that divide the address of a tensor in memory that the call plans, as
/// far as they matter to a GPU; 0 where nothing is known.
static int64_t alignmentOf(const Placement &place) {
  bool isPlanned =
      place.region == Region::Arena || place.region == Region::Weights;
  if (!isPlanned || !place.byteOffset.isStatic())
    return 0;
  int64_t known = std::gcd(place.byteOffset.value(), MemoryPlan::kAlignment);
  return known >= 4 ? known : 0;
}

/// What codegen has to know of sizes and strides of the run (KernelSizes.h).
void KernelOutliner::describeSizes(func::FuncOp function,
                                   const ScheduledKernel &kernel) {
  MLIRContext *context = module.getContext();
  Builder b(context);
  unsigned n = 0;
  bool onGpu = schedule.devices.isOnGpu(kernel.ops.front());
  auto layout = [&](Value v) {
    const Placement &place = schedule.placements.find(v)->second;
    Dims sizes(*schedule.sizes.of(v));
    auto isKnown = [](Dim d) { return d.isStatic(); };
    if (!llvm::all_of(sizes, isKnown) ||
        !llvm::all_of(place.strides, isKnown)) {
      TensorMeta meta = TensorMeta::contiguous(DType::U8, sizes);
      meta.strides.assign(place.strides.begin(), place.strides.end());
      function.setArgAttr(n, "ft.layout",
                          TypeAttr::get(typeFromMeta(context, meta)));
    }
    if (int64_t known = onGpu ? alignmentOf(place) : 0)
      function.setArgAttr(n, "ft.align", b.getI64IntegerAttr(known));
    ++n;
  };
  for (Value v : kernel.inputs)
    layout(v);
  for (Value v : kernel.outputs)
    layout(v);
  for (auto [i, input] : llvm::enumerate(kernel.inputs))
    for (Value output : kernel.outputs)
      if (schedule.isSameMemory(input, output))
        function.setArgAttr(static_cast<unsigned>(i), "ft.inplace",
                            b.getUnitAttr());
  for (const std::string &name : kernel.symbols) {
    function.setArgAttr(n, "ft.symbol", b.getStringAttr(name));
    for (const PlannedSymbol &symbol : schedule.plan.symbols)
      if (symbol.name == name) {
        function.setArgAttr(n, "ft.lower", b.getI64IntegerAttr(symbol.lower));
        function.setArgAttr(n, "ft.upper", b.getI64IntegerAttr(symbol.upper));
        function.setArgAttr(n, "ft.hint", b.getI64IntegerAttr(symbol.hint));
      }
    ++n;
  }
}

func::FuncOp KernelOutliner::outline(const ScheduledKernel &kernel) {
  MLIRContext *context = module.getContext();
  OpBuilder b(context);
  b.setInsertionPointToEnd(module.getBody());
  Location loc = UnknownLoc::get(context);
  SmallVector<Type> types;
  for (Value v : kernel.inputs)
    types.push_back(memrefFor(v, schedule.placements.lookup(v)));
  for (Value v : kernel.outputs)
    types.push_back(memrefFor(v, schedule.placements.lookup(v)));
  types.append(kernel.symbols.size(), b.getIndexType());
  auto function =
      func::FuncOp::create(b, loc, "kernel", b.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr("ft.kernel", b.getUnitAttr());
  const ValueDevices &devices = schedule.devices;
  if (devices.isMixed && !devices.isOnGpu(kernel.ops.front()))
    function->setAttr(kHostAttr, b.getUnitAttr());
  Block *body = function.addEntryBlock();
  b.setInsertionPointToEnd(body);

  describeSizes(function, kernel);
  Cloner cloner{b, {}};
  for (auto [v, arg] : llvm::zip(kernel.inputs, body->getArguments()))
    cloner.mapping.map(v, bufferization::ToTensorOp::create(
                              b, loc, v.getType(), arg, /*restrict=*/true)
                              .getResult());
  for (Operation *op : kernel.ops)
    cloner.clone(op);
  for (auto [v, arg] :
       llvm::zip(kernel.outputs,
                 body->getArguments().drop_front(kernel.inputs.size())))
    bufferization::MaterializeInDestinationOp::create(
        b, loc, /*result=*/TypeRange{}, cloner.mapping.lookup(v), arg,
        /*restrict=*/true, /*writable=*/true);
  func::ReturnOp::create(b, loc);
  function.walk([&](Operation *op) { op->setLoc(loc); });

  SmallVector<func::FuncOp, 1> &alike = byHash[hashOf(function)];
  for (func::FuncOp known : alike)
    if (OperationEquivalence::isRegionEquivalentTo(
            &known.getBody(), &function.getBody(),
            OperationEquivalence::IgnoreLocations) &&
        known.getAllArgAttrs() == function.getAllArgAttrs() &&
        known->hasAttr(kHostAttr) == function->hasAttr(kHostAttr)) {
      function.erase();
      return known;
    }
  // Graphs of regions have kernels too.
  std::string name;
  do
    name = "k" + std::to_string(count++) + "_" + kernelName(kernel);
  while (module.lookupSymbol(name));
  function.setName(name);
  alike.push_back(function);
  return function;
}

} // namespace ft
