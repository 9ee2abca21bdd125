//===- KernelEmitter.cpp - One kernel to loops over lanes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/KernelEmitter.h"

#include "compiler/codegen/cpu/CheckAccesses.h"
#include "compiler/codegen/cpu/ContractionNest.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ft {

/// Whether bodies hold something that has no vector form.
static bool needsScalars(func::FuncOp kernel) {
  bool scalars = false;
  kernel.walk([&](Operation *op) {
    for (Type t : op->getResultTypes())
      scalars |= isa<ComplexType>(getElementTypeOrSelf(t));
  });
  kernel.walk([&](linalg::GenericOp op) {
    for (Operation &inner : *op.getBody()) {
      scalars |= inner.getNumRegions() != 0;
      scalars |=
          !OpTrait::hasElementwiseMappableTraits(&inner) &&
          !isa<linalg::IndexOp, tensor::ExtractOp, linalg::YieldOp>(inner) &&
          inner.getNumOperands() != 0;
    }
  });
  return scalars;
}

/// Bytes from the first to the last element of a memref argument.
static Value bytesOf(TensorReader &r, Value memref) {
  OpBuilder &b = r.b;
  Dim numel = 1, extent = 1;
  for (auto [size, stride] :
       llvm::zip(*r.space.sizes->of(memref), r.space.sizes->strides(memref))) {
    numel = numel * size;
    extent = extent + (size - 1) * stride;
  }
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  int64_t bytes = 1;
  if (auto c = dyn_cast<ComplexType>(element))
    bytes = c.getElementType().getIntOrFloatBitWidth() / 4;
  else if (element.isIndex())
    bytes = 8;
  else
    bytes = (element.getIntOrFloatBitWidth() + 7) / 8;
  if (numel.is(0))
    return r.index(0);
  Value all = r.index(extent * bytes);
  if (numel.isStatic())
    return all;
  Value some = arith::CmpIOp::create(b, r.loc, arith::CmpIPredicate::ne,
                                     r.index(numel), r.index(0));
  return arith::SelectOp::create(b, r.loc, some, all, r.index(0));
}

FailureOr<KernelInfo> emitKernel(func::FuncOp kernel, const CpuTarget &target,
                                 const CpuCodegenOptions &options) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  OpBuilder b(kernel);
  auto pointer = LLVM::LLVMPointerType::get(context);

  FailureOr<KernelSizes> sizes = KernelSizes::read(kernel);
  if (failed(sizes))
    return failure();
  KernelInfo info;
  info.trips = 0;
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    Type t = kernel.getArgument(i).getType();
    SmallVector<NamedAttribute> attrs;
    if (isa<MemRefType>(t)) {
      types.push_back(pointer);
      if (!kernel.getArgAttr(i, "ft.inplace"))
        attrs.push_back(b.getNamedAttr("llvm.noalias", b.getUnitAttr()));
    } else {
      types.push_back(t);
      if (auto name = kernel.getArgAttrOfType<StringAttr>(i, names::kSymbol))
        info.symbols.push_back({name.str(), i});
    }
    attributes.push_back(b.getDictionaryAttr(attrs));
  }
  types.append(2, b.getIndexType());
  attributes.append(2, b.getDictionaryAttr({}));

  // An input that shares its memory with an output is no longer noalias, and
  // neither is the output: the attribute is dropped from both.
  bool inplace = false;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    inplace |= bool(kernel.getArgAttr(i, "ft.inplace"));

  SmallVector<KernelOutput> outputs;
  for (Operation &op : kernel.front())
    if (auto m = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
      outputs.push_back({m.getSource(), m.getDest()});
  if (inplace)
    for (const KernelOutput &o : outputs)
      if (auto arg = dyn_cast<BlockArgument>(o.memory))
        attributes[arg.getArgNumber()] = b.getDictionaryAttr({});

  auto emitted = func::FuncOp::create(b, loc, kernel.getName(),
                                      b.getFunctionType(types, {}));
  emitted.setPrivate();
  emitted.setAllArgAttrs(attributes);
  emitted->setAttr("llvm.linkage",
                   LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  emitted->setAttr("ft.emitted", b.getUnitAttr());
  Block *entry = emitted.addEntryBlock();
  llvm::DenseMap<Value, Value> arguments;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    arguments[kernel.getArgument(i)] = entry->getArgument(i);
  b.setInsertionPointToStart(entry);
  // Sizes are computed before this constant, which nothing uses.
  Operation *afterSizes = arith::ConstantIndexOp::create(b, loc, 0);

  TensorReader reader(b, loc, target, *sizes, std::move(arguments));
  reader.afterSizes = afterSizes;
  reader.scalarOnly = needsScalars(kernel);

  // Outputs of the same shape share a nest. The nests follow each other in the
  // range of the kernel: each computes what it needs from the inputs, so that
  // none waits for another.
  unsigned n = entry->getNumArguments();
  Value low = entry->getArgument(n - 2), high = entry->getArgument(n - 1);
  double total = 0;
  int64_t steps = 0, most = 0;
  llvm::SmallVector<bool> done(outputs.size(), false);
  for (unsigned i = 0; i < outputs.size(); ++i) {
    if (done[i])
      continue;
    auto shapeOf = [&](unsigned o) { return sizes->of(outputs[o].memory); };
    ArrayRef<Dim> shape = *shapeOf(i);
    SmallVector<KernelOutput> group;
    for (unsigned j = i; j < outputs.size(); ++j)
      if (*shapeOf(j) == shape) {
        done[j] = true;
        group.push_back(outputs[j]);
      }
    // Nothing to compute, and no loop whose coordinates could be divided.
    if (hasNoElements(shape))
      continue;
    TensorReader::Scope scope(reader);
    b.setInsertionPointToEnd(entry);
    ContractionNest tiles(reader, low, high, info.trips, group, shape);
    ElementNest elements(reader, low, high, info.trips, group, shape);
    bool contraction = tiles.plan();
    if (reader.failed) {
      reader.failed->emitError("has no code for the CPU");
      emitted.erase();
      return failure();
    }
    NestEmitter &nest = contraction ? static_cast<NestEmitter &>(tiles)
                                    : static_cast<NestEmitter &>(elements);
    if (!nest.emit()) {
      Operation *culprit = reader.failed ? reader.failed : kernel;
      culprit->emitError("has no code for the CPU");
      emitted.erase();
      return failure();
    }
    info.trips = info.trips + nest.info.trips;
    int64_t trips = reader.estimate(nest.info.trips, 0);
    steps += trips;
    total += trips * nest.info.nanoseconds;
    if (trips * nest.info.nanoseconds >= most) {
      most = trips * nest.info.nanoseconds;
      info.points = nest.info.points;
      info.pointsAtHints = reader.estimate(nest.info.points);
    }
  }
  b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(b, loc);
  info.nanoseconds = steps ? total / steps : 0;
  emitted->setAttr("ft.trip", b.getI64IntegerAttr(steps));
  emitted->setAttr("ft.cost_ns", b.getF64FloatAttr(info.nanoseconds));
  if (options.checks.accesses) {
    SmallVector<CheckedBuffer> buffers;
    for (auto [i, argument] : llvm::enumerate(kernel.getArguments()))
      if (isa<MemRefType>(argument.getType())) {
        b.setInsertionPoint(afterSizes);
        buffers.push_back({entry->getArgument(i), bytesOf(reader, argument),
                           ("argument " + llvm::Twine(i)).str()});
      }
    if (failed(checkAccesses(emitted, buffers)))
      return failure();
  }
  kernel.erase();
  return info;
}

} // namespace ft
