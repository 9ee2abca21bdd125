//===- TraceState.h - The inside of a mode ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_TRACE_TRACESTATE_H
#define FORETRACE_COMPILER_TRACE_TRACESTATE_H

#include "foretrace/trace/FakeMode.h"

#include "compiler/custom/Plugin.h"
#include "compiler/fake/FakeScope.h"
#include "compiler/trace/OpArg.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <map>

namespace ft::detail {

struct TraceContext;

/// What a handle belongs to: a mode, a tensor with data, or an error that no
/// mode could be told of.
struct Origin {
  enum Kind : uint8_t { Trace, Real, Failure };
  explicit Origin(Kind kind) : kind(kind) {}
  virtual ~Origin();
  const Kind kind;
};

struct RealOrigin : Origin {
  explicit RealOrigin(RealTensor real) : Origin(Real), real(std::move(real)) {}
  RealTensor real;
};

struct FailureOrigin : Origin {
  explicit FailureOrigin(Diagnostic error)
      : Origin(Failure), error(std::move(error)) {}
  Diagnostic error;
};

/// A number that is not known before the model runs; null `value`: the result
/// of a call that failed.
struct SymNode {
  std::shared_ptr<TraceState> trace;
  mlir::Value value;
  Dim dim;
};

/// The memory that tensors of the trace share.
struct TraceStorage {
  /// Counts what was written.
  uint32_t version = 0;
  /// Where the data are, for tensors that have any.
  const char *base = nullptr;
  int64_t bytes = 0;
  std::weak_ptr<void> owner;
  bool hasOwner = false;
};

/// One tensor of the trace. Handles refer to it by its number.
struct TraceTensor {
  mlir::Value value;
  TensorMeta meta;
  uint32_t storage = 0;
  /// The region that it was made in; 0: the function.
  uint32_t region = 0;
  bool requiresGrad = false;
  bool leaf = true;
  /// What the data are called as long as they are those of this version and
  /// epoch.
  uint64_t key = 0;
  uint64_t keyedAt = 0;
};

/// A branch or loop body that is being traced. It is isolated: a tensor of
/// outside becomes an argument of the region when it is used.
struct TraceRegion {
  uint32_t number;
  mlir::Block *block;
  /// Tensors of the region around this one, and what shows them inside, in the
  /// order of their first use.
  llvm::MapVector<uint32_t, uint32_t> captures;
};

struct TraceArgument {
  TensorKind kind;
  std::string name;
  uint32_t tensor;
};

/// A mode: the module that grows, the tensors of the trace, and the first
/// error. FakeMode and Tensor are thin shells around it.
struct TraceState : Origin, std::enable_shared_from_this<TraceState> {
  static constexpr uint32_t kFailed = 0xffffffff;

  explicit TraceState(FakeModeOptions options);
  ~TraceState() override;

  //===--- Handles --------------------------------------------------------===//
  static const std::shared_ptr<Origin> &originOf(const Tensor &t) {
    return t.origin;
  }
  /// Null if `t` is not a tensor of a trace.
  static TraceState *traceOf(const Tensor &t) {
    return t.origin && t.origin->kind == Origin::Trace
               ? static_cast<TraceState *>(t.origin.get())
               : nullptr;
  }
  /// Null if `t` is not fake or has failed.
  static TraceTensor *tensorOf(const Tensor &t) {
    TraceState *trace = traceOf(t);
    return trace && t.id != kFailed ? &trace->tensors[t.id] : nullptr;
  }
  static uint32_t idOf(const Tensor &t) { return t.id; }
  static Tensor handle(std::shared_ptr<Origin> origin, uint32_t id) {
    return Tensor(std::move(origin), id);
  }
  Tensor handle(uint32_t id) { return Tensor(shared_from_this(), id); }
  Tensor failedTensor() { return handle(kFailed); }
  static const std::shared_ptr<SymNode> &nodeOf(const SymInt &v) {
    return v.node;
  }
  static const SymInt &symbolOf(const Scalar &v) { return v.integer; }
  static SymInt symInt(std::shared_ptr<SymNode> node);
  /// Of a call whose failed results are of `origin`, which may be null.
  static SymInt failedNumber(const std::shared_ptr<Origin> &origin);
  /// Numbers that tell the data of tensors apart, see FakeCall::operandKeys.
  uint64_t dataKey(uint32_t id);
  /// The number in a tensor of one element; nothing if it is not known.
  std::optional<Scalar> constantOf(uint32_t id);
  /// A value of the module with this number, where one can be used here.
  mlir::Value knownNumber(Dim dim) const;
  /// A number that is known only when the model runs.
  static Scalar scalar(Scalar::Kind kind, std::shared_ptr<SymNode> node);
  SymInt symInt(mlir::Value value, Dim dim);

  //===--- Errors ---------------------------------------------------------===//
  /// Keeps the first one.
  void fail(DiagId id, const Here &here, const llvm::Twine &message,
            const llvm::Twine &help = "");

  //===--- Building -------------------------------------------------------===//
  mlir::Location location(const Here &here, llvm::StringRef name);
  std::string uniqueName(llvm::StringRef base);
  uint32_t addTensor(mlir::Value value, TensorMeta meta, uint32_t storage);
  uint32_t addStorage() {
    storages.emplace_back();
    return static_cast<uint32_t>(storages.size() - 1);
  }
  /// The tensor that stands for `id` in the region that is being traced, which
  /// captures it if it must. Nothing if the region of `id` is over.
  std::optional<uint32_t> visible(uint32_t id);
  /// An argument of the function. Fails if the name is taken.
  Tensor addArgument(TensorKind kind, llvm::StringRef name, TensorMeta meta,
                     uint32_t storage, const Here &here);
  /// Of a description, with an error if its parts contradict each other.
  bool describe(const TensorDesc &desc, TensorMeta &meta, const Here &here);
  /// Puts symbols in the place of an input's dynamic sizes (DynamicInputs.cpp).
  bool makeDynamic(llvm::StringRef input, const TensorDesc &desc,
                   TensorMeta &meta, const Here &here);
  /// How the program branches: as the facts say, else as the example does,
  /// which is a fact from there on. Nothing if data decide.
  std::optional<bool> branch(SymExpr predicate);
  Tensor fake(const RealTensor &real, llvm::StringRef name, TensorKind kind,
              const Here &here);

  /// The storage that begins at `data`, or that `owner` owns, if it is known.
  std::optional<uint32_t> storageAt(const char *data,
                                    const std::shared_ptr<void> &owner) const;
  uint32_t addStorage(const char *data, const std::shared_ptr<void> &owner);
  /// How the model got a tensor; null for one that it computed.
  const TraceArgument *argumentOf(uint32_t tensor) const;
  /// A fake of another mode as an input of this one; the same one every time.
  Tensor adopt(const Tensor &foreign, const Here &here);

  /// The module with its signature and results, as after stage fake. More may
  /// be traced afterwards.
  mlir::ModuleOp finish();

  /// The bytes of a storage that `finish` named; an empty error text if they
  /// are there.
  llvm::ArrayRef<uint8_t> record(llvm::StringRef name, std::string &error);

  FakeModeOptions options;
  /// The context, and the plug-ins whose operators it knows: they live as long
  /// as whoever shares it.
  std::shared_ptr<mlir::MLIRContext> context;
  std::vector<Plugin> *plugins = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::func::ReturnOp result;
  mlir::OpBuilder builder;
  /// From the outermost to the one that is being traced.
  std::vector<TraceRegion> regions;
  uint32_t lastRegion = 0;
  /// Of calls that failed: numbers that they made may still be asked about.
  std::vector<std::unique_ptr<mlir::Region>> deadRegions;
  std::deque<TraceTensor> tensors;
  std::vector<TraceStorage> storages;
  std::vector<TraceArgument> arguments;
  std::vector<std::pair<std::string, uint32_t>> outputs;
  llvm::StringSet<> outputNames;
  /// What is known of sizes and numbers that data decide, and the elements of
  /// tiny constants.
  std::unique_ptr<ShapeEnv> shapes;
  std::unique_ptr<FakeScope> scope;
  uint32_t epoch = 0;
  Diagnostic error;
  size_t errors = 0;
  size_t operations = 0;

private:
  TraceState(FakeModeOptions options,
             const std::shared_ptr<TraceContext> &owner);
  std::string recordName(uint32_t storage) const;
  void writeSymbols();
  /// The symbol for each name of a dynamic size.
  llvm::StringMap<SymExpr> sizeNames;
  /// What the program's branches rely on.
  std::vector<SymExpr> branchFacts;

  llvm::StringMap<unsigned> names;
  llvm::StringSet<> argumentNames;
  uint64_t lastKey = 0;
  llvm::DenseMap<SymExpr, mlir::Value> numbers;
  const char *lastFile = nullptr;
  mlir::StringAttr lastFileName;

  /// The memo of tensors that have data.
  struct RealKey {
    const void *data;
    uint64_t offset;
    ScalarType dtype;
    std::vector<int64_t> sizes, strides;
    bool operator<(const RealKey &o) const {
      return std::tie(data, offset, dtype, sizes, strides) <
             std::tie(o.data, o.offset, o.dtype, o.sizes, o.strides);
    }
  };
  struct Known {
    uint32_t tensor;
    std::weak_ptr<void> owner;
    bool hasOwner;
    bool gone() const { return hasOwner && owner.expired(); }
  };
  std::map<RealKey, Known> known;
  /// Fakes of other modes that have become inputs.
  std::map<std::pair<std::shared_ptr<Origin>, uint32_t>, uint32_t> adopted;
  std::map<std::pair<std::shared_ptr<Origin>, uint32_t>, uint32_t>
      adoptedStorages;
};

/// The mode whose scope is open on this thread; null if there is none.
std::shared_ptr<TraceState> &activeTrace();
bool &gradEnabled();

/// Programs can make any number an enumerator.
inline bool isKnown(ScalarType type) { return type <= kComplex128; }
inline bool isKnown(DeviceId id) {
  return id.kind <= DeviceId::Meta && id.index >= 0;
}

/// Numbers and words of the two sides.
inline ft::DType internal(ScalarType type) {
  return static_cast<ft::DType>(type);
}
inline ScalarType external(ft::DType type) {
  return static_cast<ScalarType>(type);
}
inline ft::Device internal(DeviceId id) {
  ft::Device device;
  device.kind = static_cast<ft::Device::Kind>(id.kind);
  device.index = id.index;
  return device;
}
inline DeviceId external(const ft::Device &device) {
  return {static_cast<DeviceId::Kind>(device.kind), device.index};
}

} // namespace ft::detail

#endif // FORETRACE_COMPILER_TRACE_TRACESTATE_H
