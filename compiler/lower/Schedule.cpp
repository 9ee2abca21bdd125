//===- Schedule.cpp - Kernels in order, and where their tensors live *- C++ -*//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Schedule.h"

#include "compiler/lower/ControlGraphs.h"
#include "compiler/lower/InPlace.h"
#include "compiler/lower/KernelBorders.h"
#include "compiler/lower/KernelGroups.h"
#include "compiler/lower/LowerState.h"
#include "compiler/lower/RepeatKernels.h"
#include "compiler/lower/StepOrder.h"
#include "compiler/lower/TieBuffers.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/WrittenArguments.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ft {

/// A plain copy of `v`, before `before`.
static Value insertCopy(Operation *before, Value v, ArrayRef<Dim> sizes) {
  OpBuilder b(before);
  auto type = cast<RankedTensorType>(v.getType());
  SmallVector<OpFoldResult> shape;
  for (Dim d : sizes)
    if (d.isStatic())
      shape.push_back(b.getIndexAttr(d.value()));
    else
      shape.push_back(SizeOp::create(b, v.getLoc(), b.getIndexType(),
                                     b.getStringAttr(d.str()))
                          .getResult());
  Value out =
      tensor::EmptyOp::create(b, v.getLoc(), shape, type.getElementType());
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      b, v.getLoc(), TypeRange{type}, ValueRange{v}, ValueRange{out},
      ArrayRef<AffineMap>{map, map}, kinds,
      [](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(inner, loc, args[0]);
      });
  return copy.getResult(0);
}

namespace {

class ScheduleBuilder {
public:
  ScheduleBuilder(func::FuncOp function, Schedule &schedule,
                  const ScheduleOptions &options)
      : function(function), s(schedule), options(options), outer(options.outer),
        terminator(function.getBody().front().getTerminator()),
        written(function) {}

  LogicalResult run() {
    saySizes();
    placeArguments();
    placeResults();
    makeReshapesPossible();
    KernelGroups groups = KernelGroups::form(function, s.sizes, s.devices);
    placeWriteBacks(groups);
    orderSteps(groups);
    collectBorders(s, writeBacks);
    if (outer) {
      s.plan.symbols = outer->symbols;
    } else {
      FailureOr<std::vector<SizeGuard>> guards =
          planSymbols(function->getParentOfType<ModuleOp>(), s.plan);
      if (failed(guards))
        return failure();
      s.guards = *guards;
    }
    reorderSteps(s);
    if (options.peak)
      repeatKernels(s, *options.peak, options.peakByProducts);
    planArena();
    tieBuffers(s);
    return success();
  }

private:
  func::FuncOp function;
  Schedule &s;
  const ScheduleOptions &options;
  const Plan *outer;
  Operation *terminator;
  /// Copies that write a buffer or an input back, and to which argument.
  SmallVector<std::pair<Operation *, BlockArgument>> writeBacks;
  WrittenArguments written;
  /// Results that stay in the arena.
  struct Kept {
    Value value;
    std::string name;
    Dim bytes;
  };
  SmallVector<Kept> kept;

  StringAttr argText(unsigned n, StringRef name) {
    return function.getArgAttrOfType<StringAttr>(n, name);
  }

  RankedTensorType metaType(Attribute attr) {
    auto type = dyn_cast_or_null<TypeAttr>(attr);
    return type ? dyn_cast<RankedTensorType>(type.getValue())
                : RankedTensorType();
  }

  ArrayRef<Dim> shapeOf(Value v) { return s.shapeOf(v); }
  Value copyBefore(Operation *before, Value v) {
    Dims sizes(shapeOf(v).begin(), shapeOf(v).end());
    return insertCopy(before, v, sizes);
  }

  /// The strides of what a kernel finds, as its call says them.
  static Dims foundStrides(Value v) {
    auto call = v.getDefiningOp<KernelCallOp>();
    unsigned r = call.getNumOperands() + cast<OpResult>(v).getResultNumber();
    auto type = cast<TypeAttr>(call.getTypes()[r]).getValue();
    TensorMeta meta = metaFromType(type).value_or(TensorMeta());
    Dims physical;
    for (int64_t logical :
         cast<DenseI64ArrayAttr>(call.getOrders()[r]).asArrayRef())
      physical.push_back(meta.strides[logical]);
    return physical;
  }

  /// Arguments and what kernels find, from their annotations.
  void saySizes() {
    for (BlockArgument arg : function.getArguments()) {
      unsigned n = arg.getArgNumber();
      RankedTensorType type = metaType(function.getArgAttr(n, names::kMeta));
      auto tensor = dyn_cast<RankedTensorType>(arg.getType());
      if (!type || !tensor || tensor.hasStaticShape())
        continue;
      TensorMeta meta = *metaFromType(type);
      s.sizes.say(arg, meta.sizes);
      for (Dim d : meta.sizes)
        if (!d.isStatic())
          d.symbolic().collectSymbols(s.told);
    }
    if (auto symbols = function->getAttrOfType<ArrayAttr>(names::kTold)) {
      s.told.clear();
      for (Attribute symbol : symbols)
        s.told.insert(cast<StringAttr>(symbol).getValue());
    }
    // The arena is made before the first program runs.
    if (options.before)
      for (StringRef symbol : llvm::to_vector(s.told.keys()))
        if (!options.before->told.contains(symbol))
          s.told.erase(symbol);
    function.walk([&](RunGraphsOp run) {
      for (auto [value, type] : llvm::zip(run.getResults(), run.getTypes()))
        if (std::optional<TensorMeta> meta =
                metaFromType(cast<TypeAttr>(type).getValue()))
          s.sizes.say(value, meta->sizes);
    });
    function.walk([&](KernelCallOp call) {
      for (auto [r, value] : llvm::enumerate(call.getResults())) {
        auto type = cast<TypeAttr>(call.getTypes()[call.getNumOperands() + r]);
        std::optional<TensorMeta> meta = metaFromType(type.getValue());
        if (!meta || meta->isStatic())
          continue;
        Dims physical;
        ArrayRef<int64_t> order =
            cast<DenseI64ArrayAttr>(call.getOrders()[call.getNumOperands() + r])
                .asArrayRef();
        for (int64_t logical : order)
          physical.push_back(meta->sizes[logical]);
        s.sizes.say(value, physical);
      }
    });
  }

  //===--- Boundary -------------------------------------------------------===//

  void placeArguments() {
    int64_t weights = 0, state = 0;
    for (BlockArgument arg : function.getArguments()) {
      unsigned n = arg.getArgNumber();
      StringAttr kind = argText(n, names::kKind);
      StringAttr target = argText(n, names::kTarget);
      RankedTensorType type = metaType(function.getArgAttr(n, names::kMeta));
      if (!kind || !type)
        continue;
      std::optional<TensorMeta> meta = metaFromType(type);
      bool isWritten = written.contains(arg);
      Placement place;
      if (isGivenByCaller(kind.getValue())) {
        place.region = Region::Input;
        place.index = static_cast<unsigned>(s.plan.inputs.size());
        place.strides.assign(meta->strides.begin(), meta->strides.end());
        PlannedValue input{target ? target.str() : std::string(), type,
                           isWritten};
        if (kind.getValue() != "input")
          input.kind = kind.str();
        if (StringAttr record = argText(n, names::kWeight))
          input.record = record.str();
        if (kind.getValue() == "saved" && options.before &&
            options.before->saved.contains(input.name)) {
          input.inArena = true;
          place.region = Region::Arena;
          place.index = options.before->saved.lookup(input.name);
        }
        s.plan.inputs.push_back(std::move(input));
        s.placements[arg] = place;
        continue;
      }
      bool isPacked = kind.getValue() == "packed";
      bool kept = isWritten || !arg.use_empty();
      PlannedState entry{target ? target.str() : std::string(), type,
                         kind.getValue() == "parameter"};
      if (kept) {
        place.region = isWritten ? Region::State : Region::Weights;
        place.strides = rowMajorStrides(shapeOf(arg));
        entry.weightsOffset = weights;
        s.plan.constants.push_back(constantOf(arg, type, weights));
        int64_t bytes = MemoryPlan::aligned(
            tensorBytes(cast<RankedTensorType>(arg.getType())));
        place.byteOffset = weights;
        weights += bytes;
        if (isWritten) {
          entry.stateOffset = state;
          place.byteOffset = state;
          state += bytes;
        }
        s.placements[arg] = place;
      }
      if (!isPacked && kind.getValue() != "constant")
        s.plan.state.push_back(entry);
    }
    s.plan.weightsBytes = weights;
    s.plan.stateBytes = state;
  }

  PlannedConstant constantOf(BlockArgument arg, RankedTensorType view,
                             int64_t offset) {
    unsigned n = arg.getArgNumber();
    PlannedConstant c;
    c.offset = offset;
    c.view = view;
    unsigned root = n;
    if (auto source =
            function.getArgAttrOfType<IntegerAttr>(n, names::kSource)) {
      root = static_cast<unsigned>(source.getInt());
      auto list = [&](StringRef name) {
        return function.getArgAttrOfType<DenseI64ArrayAttr>(n, name)
            .asArrayRef()
            .vec();
      };
      c.dims = list(names::kDims);
      c.base = list(names::kBase);
      for (Attribute row :
           function.getArgAttrOfType<ArrayAttr>(n, names::kCoef))
        c.coef.push_back(cast<DenseI64ArrayAttr>(row).asArrayRef().vec());
    }
    if (StringAttr record = argText(root, names::kWeight))
      c.record = record.str();
    return c;
  }

  /// The compute result behind `v` through reshapes of the whole tensor.
  static Value behindReshapes(Value v) {
    while (Operation *op = v.getDefiningOp()) {
      if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
        break;
      v = op->getOperand(0);
    }
    return v;
  }

  void placeResults() {
    for (unsigned r = 0; r < function.getNumResults(); ++r)
      if (!isMutation(
              function.getResultAttrOfType<StringAttr>(r, names::kRole)))
        placeOutput(r);
    // Last of all, so that every reader of an old value comes before.
    for (unsigned r = 0; r < function.getNumResults(); ++r)
      if (isMutation(function.getResultAttrOfType<StringAttr>(r, names::kRole)))
        placeWriteBack(r);
  }

  void placeWriteBack(unsigned r) {
    BlockArgument argument = written.of(r);
    if (!argument)
      return;
    Value copy = copyBefore(terminator, terminator->getOperand(r));
    writeBacks.emplace_back(copy.getDefiningOp(), argument);
  }

  /// Whether `kernel` is the last that reads the argument, through views too.
  static bool readsLast(ArrayRef<Operation *> kernel, Value v,
                        const DenseSet<Operation *> &members) {
    for (Operation *user : v.getUsers()) {
      Operation *top = user;
      while (top->getBlock() != kernel.back()->getBlock())
        top = top->getParentOp();
      if (members.contains(top))
        continue;
      if (roleOf(top) == OpRole::View
              ? !readsLast(kernel, top->getResult(0), members)
              : !top->isBeforeInBlock(kernel.back()))
        return false;
    }
    return true;
  }

  /// A kernel that can writes its result where it belongs; the copy is then
  /// gone. A copy must not be in a kernel that still reads the old value: it
  /// becomes one of its own.
  void placeWriteBacks(KernelGroups &groups) {
    for (auto &[copy, argument] : writeBacks) {
      Value value = copy->getOperand(0);
      Operation *producer = value.getDefiningOp();
      auto at =
          producer ? groups.kernelOf.find(producer) : groups.kernelOf.end();
      if (at == groups.kernelOf.end() || roleOf(producer) == OpRole::View)
        continue;
      unsigned k = at->second, mine = groups.kernelOf.lookup(copy);
      auto &kernel = groups.kernels[k];
      SmallVector<Operation *> before(kernel.begin(), kernel.end());
      llvm::erase(before, copy);
      DenseSet<Operation *> members(before.begin(), before.end());
      if (!s.placements.count(value) &&
          areReadAsWritten(before, argument, value) &&
          readsLast(before, argument, members)) {
        s.placements[value] = s.placements.lookup(argument);
        llvm::erase(groups.kernels[mine], copy);
        groups.kernelOf.erase(copy);
        copy->erase();
        copy = nullptr;
      } else if (mine == k && !llvm::all_of(argument.getUsers(), [&](auto *u) {
                   return !members.contains(u);
                 })) {
        llvm::erase(kernel, copy);
        groups.kernelOf[copy] = static_cast<unsigned>(groups.kernels.size());
        groups.kernels.push_back({copy});
      }
    }
    llvm::erase_if(writeBacks, [](const auto &w) { return !w.first; });
    llvm::erase_if(groups.kernels, [](const auto &ops) { return ops.empty(); });
  }

  void placeOutput(unsigned r) {
    Value v = terminator->getOperand(r);
    RankedTensorType type = metaType(function.getResultAttr(r, names::kMeta));
    Placement place;
    place.region = Region::Output;
    place.index = static_cast<unsigned>(s.plan.outputs.size());
    TensorMeta meta = *metaFromType(type);
    place.strides.assign(meta.strides.begin(), meta.strides.end());
    auto name = function.getResultAttrOfType<StringAttr>(r, names::kName);
    auto role = function.getResultAttrOfType<StringAttr>(r, names::kRole);
    PlannedValue output{name ? name.str() : std::string(), type, false};
    if (role && (role.getValue() == "gradient" || role.getValue() == "saved"))
      output.kind = role.str();
    s.plan.outputs.push_back(output);
    if (!outer && isFound(v) && !s.placements.count(v)) {
      place.region = Region::Found;
      place.strides = foundStrides(v);
      s.placements[v] = place;
      return;
    }
    // Annotated strides count a size of 0 as 1; without elements they do not
    // matter.
    bool rowMajor = place.strides == rowMajorStrides(shapeOf(v)) ||
                    meta.strides == contiguousStrides(meta.sizes);
    if (rowMajor)
      place.strides = rowMajorStrides(shapeOf(v));
    // The function of a region has the memory of its caller, or is to make it.
    bool isLate =
        outer ? function.getResultAttr(r, names::kGives) != nullptr
              : !llvm::all_of(meta.sizes, [&](Dim d) { return s.isTold(d); });
    if (isLate) {
      auto output = static_cast<int>(place.index);
      place.region = Region::Late;
      place.index = static_cast<unsigned>(s.late.size());
      s.late.push_back(
          {tensorBytes(meta.sizes, storageType(type.getContext(), meta.dtype)),
           output, Dims(meta.sizes.begin(), meta.sizes.end()),
           Dims(meta.strides.begin(), meta.strides.end())});
    }
    bool isKept = options.keepsSaved && output.kind == "saved" && !isLate;
    if (isKept) {
      s.plan.outputs.back().inArena = true;
      place.region = Region::Arena;
    }
    Value base = rowMajor ? behindReshapes(v) : v;
    Operation *op = base.getDefiningOp();
    OpRole kind = op ? roleOf(op) : OpRole::View;
    // Branches that decide a size make the memory too, and so do kernels.
    if (isLate && op && (op->hasAttr(names::kTells) || isFound(base)))
      kind = OpRole::View;
    // A custom kernel writes dense memory only.
    bool isComputed = (kind == OpRole::Library && rowMajor) ||
                      kind == OpRole::Pointwise || kind == OpRole::Move ||
                      kind == OpRole::Contraction || kind == OpRole::Reduction;
    if (!isComputed || s.placements.count(base) ||
        (!rowMajor && !base.hasOneUse())) {
      base = copyBefore(terminator, v);
      terminator->setOperand(r, base);
    } else if (rowMajor) {
      place.strides = rowMajorStrides(shapeOf(base));
    }
    s.placements[base] = place;
    if (isKept)
      kept.push_back(
          {base, output.name,
           extentOf(meta.sizes, meta.strides) *
               Dim(elementBytes(cast<RankedTensorType>(base.getType())))});
  }

  /// A reshape of memory that strides cannot describe gets a copy to work on, a
  /// custom kernel a dense one.
  /// Results of kernels are row-major here unless they are placed already.
  void makeReshapesPossible() {
    DenseMap<Value, Placement> assumed;
    auto placementOf = [&](Value v) {
      if (auto it = s.placements.find(v); it != s.placements.end())
        return it->second;
      if (auto it = assumed.find(v); it != assumed.end())
        return it->second;
      Placement p;
      p.strides = rowMajorStrides(shapeOf(v));
      return p;
    };
    for (Operation &op :
         llvm::make_early_inc_range(function.getBody().front())) {
      if (auto call = dyn_cast<KernelCallOp>(op))
        for (unsigned i = 0; i < call.getNumOperands(); ++i) {
          Value v = call.getOperand(i);
          // Constants have no memory unless a kernel writes it.
          if (isInit(v) ||
              (!call.getAsIs()[i] &&
               placementOf(v).strides != rowMajorStrides(shapeOf(v))))
            call.setOperand(i, copyBefore(&op, v));
        }
      if (auto run = dyn_cast<RunGraphsOp>(op))
        for (unsigned i = 0; i < run.getNumOperands(); ++i) {
          Value v = run.getOperand(i);
          if (isInit(v) ||
              placementOf(v).strides != rowMajorStrides(shapeOf(v)))
            run.setOperand(i, copyBefore(&op, v));
        }
      if (roleOf(&op) != OpRole::View)
        continue;
      std::optional<Placement> place =
          placeView(&op, placementOf(op.getOperand(0)), s.sizes);
      if (!place) {
        op.setOperand(0, copyBefore(&op, op.getOperand(0)));
        place = placeView(&op, placementOf(op.getOperand(0)), s.sizes);
      }
      assumed[op.getResult(0)] = *place;
    }
  }

  //===--- Steps ----------------------------------------------------------===//

  void orderSteps(const KernelGroups &groups) {
    DenseMap<Operation *, unsigned> lastOf;
    for (auto [k, ops] : llvm::enumerate(groups.kernels)) {
      s.kernels.push_back({});
      s.kernels.back().ops.assign(ops.begin(), ops.end());
      lastOf[ops.back()] = static_cast<unsigned>(k);
    }
    for (Operation &op : function.getBody().front()) {
      if (isa<AssertOp, CheckIndexOp, CheckTrueOp, SetSizeOp>(op))
        s.steps.push_back({-1, &op});
      auto it = lastOf.find(&op);
      if (it == lastOf.end())
        continue;
      s.steps.push_back({static_cast<int>(it->second), nullptr});
      if (auto call = dyn_cast<KernelCallOp>(op))
        noteKernel(call);
    }
  }

  /// Each custom kernel once, for the linker. Those of ATen's operators are
  /// in its own archive.
  void noteKernel(KernelCallOp call) {
    if (!call.getCallee().contains("::"))
      return;
    for (const PlannedKernel &known : s.plan.kernels)
      if (known.symbol == call.getSymbol())
        return;
    PlannedKernel kernel{call.getCallee().str(), call.getSymbol().str(), {}};
    for (Attribute file : call.getFiles())
      kernel.files.push_back(cast<StringAttr>(file).str());
    s.plan.kernels.push_back(std::move(kernel));
  }

  //===--- Memory ---------------------------------------------------------===//

  /// The placement of a border value; views get theirs from their operand.
  Placement resolve(Value v) {
    auto it = s.placements.find(v);
    if (it != s.placements.end())
      return it->second;
    Operation *op = v.getDefiningOp();
    Placement place = *placeView(op, resolve(op->getOperand(0)), s.sizes);
    s.placements[v] = place;
    return place;
  }

  void planArena() {
    if (options.before) {
      s.memory = options.before->memory;
      s.firstStep = options.before->firstStep +
                    static_cast<unsigned>(options.before->steps.size());
    }
    unsigned end = s.firstStep + static_cast<unsigned>(s.steps.size());
    for (const Kept &k : kept)
      s.placements[k.value].index = s.saved[k.name] =
          s.memory.add(k.bytes, s.atHints(k.bytes), end, end);
    for (auto [step, what] : llvm::enumerate(s.steps)) {
      unsigned now = s.firstStep + static_cast<unsigned>(step);
      if (what.check) {
        for (Value v : what.check->getOperands())
          touch(v, now);
        continue;
      }
      ScheduledKernel &kernel = s.kernels[what.kernel];
      for (Value v : kernel.inputs)
        touch(v, now);
      for (Value v : kernel.outputs) {
        if (s.placements.count(v)) {
          touch(v, now);
          continue;
        }
        Placement place;
        place.strides = rowMajorStrides(shapeOf(v));
        if (isFound(v)) {
          place.region = Region::Found;
          place.index = kNoOutput;
          place.strides = foundStrides(v);
          s.placements[v] = place;
          continue;
        }
        Dim bytes = tensorBytes(
            shapeOf(v), cast<RankedTensorType>(v.getType()).getElementType());
        if (s.isTold(bytes)) {
          place.index = s.memory.add(bytes, s.atHints(bytes), now, now);
        } else {
          place.region = Region::Late;
          place.index = static_cast<unsigned>(s.late.size());
          s.late.push_back({bytes});
        }
        s.placements[v] = place;
      }
    }
    // Scratch buffers are added, and the plan solved, when kernels are built.
  }

  void touch(Value v, unsigned step) {
    Placement place = resolve(v);
    if (place.region == Region::Arena)
      s.memory.extend(place.index, step);
  }
};

} // namespace

bool Schedule::isTold(Dim size) const {
  llvm::StringSet<> names;
  if (!size.isStatic())
    size.symbolic().collectSymbols(names);
  return llvm::all_of(
      names, [&](const auto &entry) { return told.contains(entry.getKey()); });
}

int64_t Schedule::atHints(Dim size) const {
  if (size.isStatic())
    return size.value();
  SymValue v = SymContext::evaluate(
      size.symbolic(), [&](StringRef name, int64_t &value) {
        for (const PlannedSymbol &symbol : plan.symbols)
          if (symbol.name == name)
            return value = symbol.hint, true;
        return false;
      });
  return v ? std::max<int64_t>(v.value, 0) : 0;
}

FailureOr<Schedule> Schedule::build(func::FuncOp function,
                                    const ScheduleOptions &options) {
  Schedule schedule;
  schedule.memory.setRedZone(options.redZone);
  schedule.devices = options.devices;
  if (failed(ScheduleBuilder(function, schedule, options).run()))
    return failure();
  return schedule;
}

} // namespace ft
