//===- Update.cpp - One step of an optimizer as a program ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/optimizer/Update.h"

#include "compiler/fake/FakeCache.h"
#include "compiler/fake/FakePropagate.h"
#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/Programs.h"
#include "dialects/ft/WrittenArguments.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"

#include <utility>
#include <variant>
#include <vector>

using namespace mlir;

namespace ft {

namespace {

/// Calls of operators, written as expressions; numbers are arguments of the
/// ".Scalar" overloads.
class UpdateBuilder {
public:
  using Operand = std::variant<Value, double, int64_t, DType>;

  UpdateBuilder(func::FuncOp function, FakeCache &cache)
      : function(function),
        b(OpBuilder::atBlockEnd(&function.getBody().front())), cache(cache) {}

  Value call(StringRef name, ArrayRef<Operand> given) {
    AtenCall call;
    call.schema = SchemaTable::get().find(name);
    for (auto [i, formal] : llvm::enumerate(call.schema->args)) {
      if (i >= given.size()) {
        call.args.push_back(formal.defaultValue);
      } else if (auto *value = std::get_if<Value>(&given[i])) {
        call.args.push_back(
            Arg::tensor(static_cast<int>(call.operands.size())));
        call.operands.push_back(*value);
      } else if (auto *number = std::get_if<double>(&given[i])) {
        call.args.push_back(Arg::floating(*number));
      } else if (auto *number = std::get_if<int64_t>(&given[i])) {
        call.args.push_back(Arg::integer(*number));
      } else {
        call.args.push_back(Arg::ofDType(std::get<DType>(given[i])));
      }
    }
    Operation *op = call.build(b, function.getLoc(),
                               {unknownTensorType(function.getContext())});
    op->setAttr(names::kFuse, b.getI64IntegerAttr(fuse));
    if (mlir::failed(propagateOp(op, &cache)))
      hasFailed = true; // reported
    return op->getResult(0);
  }

  Value add(Value x, Value y) { return call("add.Tensor", {x, y}); }
  Value sub(Value x, Value y) { return call("sub.Tensor", {x, y}); }
  Value mul(Value x, Value y) { return call("mul.Tensor", {x, y}); }
  Value div(Value x, Value y) { return call("div.Tensor", {x, y}); }
  Value sqrt(Value x) { return call("sqrt.default", {x}); }
  Value pow(Value x, Value y) { return call("pow.Tensor_Tensor", {x, y}); }
  Value oneMinus(Value x) { return call("rsub.Scalar", {x, 1.0}); }
  Value plus(Value x, double y) { return call("add.Scalar", {x, y}); }
  /// 1 where x is 0, else 0.
  Value isZero(Value x) {
    return cast(call("eq.Scalar", {x, 0.0}), DType::F64);
  }
  Value cast(Value x, DType dtype) {
    if (metaOf(x) && metaOf(x)->dtype == dtype)
      return x;
    return call("_to_copy.default", {x, dtype});
  }

  /// An argument; kind and name as Update.h shows them.
  Value addArgument(StringRef kind, const Twine &name, DType dtype,
                    ArrayRef<Dim> sizes = {}) {
    NamedAttrList attributes;
    std::string text = name.str();
    attributes.set(names::kKind, b.getStringAttr(kind));
    attributes.set(names::kName, b.getStringAttr(text));
    attributes.set(names::kTarget, b.getStringAttr(text));
    Type type = typeFromMeta(function.getContext(),
                             TensorMeta::contiguous(dtype, sizes));
    unsigned position = function.getNumArguments();
    (void)function.insertArgument(position, type,
                                  attributes.getDictionary(b.getContext()),
                                  function.getLoc());
    return function.getArgument(position);
  }

  /// Returns `value` as the new one of an argument.
  void write(Value argument, Value value) {
    unsigned n = mlir::cast<BlockArgument>(argument).getArgNumber();
    auto kind = function.getArgAttrOfType<StringAttr>(n, names::kKind);
    auto target = function.getArgAttrOfType<StringAttr>(n, names::kTarget);
    NamedAttrList attributes;
    attributes.set(names::kRole, b.getStringAttr(mutationOf(kind.getValue())));
    attributes.set(names::kTarget, target);
    attributes.set(names::kName,
                   b.getStringAttr(target.getValue().str() + "_new"));
    results.push_back(value);
    resultAttributes.push_back(attributes.getDictionary(b.getContext()));
  }

  void finish() {
    func::ReturnOp::create(b, function.getLoc(), results);
    function.setFunctionType(b.getFunctionType(function.getArgumentTypes(),
                                               ValueRange(results).getTypes()));
    function.setAllResultAttrs(resultAttributes);
  }

  /// Calls from now on are another kernel.
  void nextKernel() { ++fuse; }
  bool failed() const { return hasFailed; }

private:
  func::FuncOp function;
  OpBuilder b;
  FakeCache &cache;
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttributes;
  int64_t fuse = 0;
  bool hasFailed = false;
};

/// A parameter, as elements of the dtype that its update computes in.
struct Parameter {
  std::string name;
  Value argument;
  DType compute;
  Value value, gradient; ///< in `compute`; the gradient points downhill
};

/// The program of one optimizer.
class UpdateProgram {
public:
  UpdateProgram(func::FuncOp function, OptimizerKind kind, FakeCache &cache)
      : to(function, cache), kind(kind) {}

  LogicalResult build(ArrayRef<std::pair<StringRef, TensorMeta>> parameters);

private:
  Value hyper(StringRef name) {
    return to.addArgument("input", name, DType::F64);
  }
  void takeHyperparameters();
  void update(Parameter &p);
  void adam(Parameter &p);
  Value descent(Parameter &p);

  /// A tensor of the state, of the parameter's shape and dtype.
  Value addState(const Parameter &p, StringRef what) {
    TensorMeta meta = *metaOf(p.argument);
    return to.addArgument("given_buffer", what + "." + p.name, meta.dtype,
                          meta.sizes);
  }
  Value read(const Parameter &p, Value argument) {
    DType dtype = metaOf(argument)->dtype;
    if (isComplex(dtype))
      argument = to.call("view_as_real.default", {argument});
    return to.cast(argument, p.compute);
  }
  void write(const Parameter &, Value argument, Value value) {
    DType dtype = metaOf(argument)->dtype;
    to.write(argument, isComplex(dtype)
                           ? to.call("view_as_complex.default", {value})
                           : to.cast(value, dtype));
  }
  /// One of `scalars` in the dtype of a parameter's elements.
  Value number(Value scalar, const Parameter &p) {
    return p.compute == DType::F32 ? rounded.lookup(scalar) : scalar;
  }

  UpdateBuilder to;
  OptimizerKind kind;
  /// float64 numbers that are the same for all parameters; those that the
  /// optimizer does not have are null.
  Value sign, decay, rate, momentum, fresh, ahead, damped, gain1, beta2, gain2,
      root, eps;
  /// The same in float32.
  llvm::DenseMap<Value, Value> rounded;
};

} // namespace

static bool isAdam(OptimizerKind kind) {
  return kind == OptimizerKind::adam || kind == OptimizerKind::adamw;
}

void UpdateProgram::takeHyperparameters() {
  Value lr = hyper("lr");
  Value weightDecay = hyper("weight_decay");
  Value maximize = hyper("maximize");
  Value step;
  if (kind != OptimizerKind::sgd)
    step = to.addArgument("given_buffer", "step", DType::I64);
  rate = lr;
  sign = to.oneMinus(to.add(maximize, maximize));
  decay = weightDecay;
  if (kind == OptimizerKind::adamw)
    decay = to.oneMinus(to.mul(lr, weightDecay));
  if (kind == OptimizerKind::momentum) {
    momentum = hyper("momentum");
    Value dampening = hyper("dampening"), nesterov = hyper("nesterov");
    // 1 in the first step and without momentum, else 1 - dampening.
    Value later = to.oneMinus(to.isZero(to.cast(step, DType::F64)));
    Value moving = to.oneMinus(to.isZero(momentum));
    fresh = to.oneMinus(to.mul(dampening, to.mul(later, moving)));
    ahead = nesterov;
    damped = to.oneMinus(to.mul(nesterov, to.oneMinus(momentum)));
  }
  if (isAdam(kind)) {
    Value beta1 = hyper("beta1");
    beta2 = hyper("beta2");
    eps = hyper("eps");
    Value count = to.plus(to.cast(step, DType::F64), 1);
    rate = to.div(lr, to.oneMinus(to.pow(beta1, count)));
    root = to.sqrt(to.oneMinus(to.pow(beta2, count)));
    gain1 = to.oneMinus(beta1);
    gain2 = to.oneMinus(beta2);
  }
  for (Value scalar : {sign, decay, rate, momentum, fresh, ahead, damped, gain1,
                       beta2, gain2, root, eps})
    if (scalar)
      rounded[scalar] = to.cast(scalar, DType::F32);
  if (step)
    to.write(step, to.call("add.Scalar", {step, int64_t(1)}));
}

/// momentum: m' = momentum m + fresh g; the step is m', or g + momentum m' with
/// Nesterov's momentum.
Value UpdateProgram::descent(Parameter &p) {
  if (kind == OptimizerKind::sgd)
    return p.gradient;
  Value buffer = addState(p, "momentum_buffer");
  Value next = to.add(to.mul(read(p, buffer), number(momentum, p)),
                      to.mul(p.gradient, number(fresh, p)));
  write(p, buffer, next);
  return to.add(to.mul(p.gradient, number(ahead, p)),
                to.mul(next, number(damped, p)));
}

/// m' = m + (1 - beta1) (g - m), v' = beta2 v + (1 - beta2) g²,
/// p' = p - lr / (1 - beta1^t) m' / (sqrt(v') / sqrt(1 - beta2^t) + eps)
void UpdateProgram::adam(Parameter &p) {
  Value mean = addState(p, "exp_avg"), square = addState(p, "exp_avg_sq");
  Value m = read(p, mean), v = read(p, square), g = p.gradient;
  Value nextM = to.add(m, to.mul(to.sub(g, m), number(gain1, p)));
  Value nextV = to.add(to.mul(v, number(beta2, p)),
                       to.mul(to.mul(g, g), number(gain2, p)));
  Value spread =
      to.add(to.div(to.sqrt(nextV), number(root, p)), number(eps, p));
  Value next = to.sub(p.value, to.div(to.mul(nextM, number(rate, p)), spread));
  write(p, p.argument, next);
  write(p, mean, nextM);
  write(p, square, nextV);
}

void UpdateProgram::update(Parameter &p) {
  p.gradient = to.mul(p.gradient, number(sign, p));
  if (kind == OptimizerKind::adamw)
    p.value = to.mul(p.value, number(decay, p));
  else
    p.gradient = to.add(p.gradient, to.mul(p.value, number(decay, p)));
  if (isAdam(kind))
    return adam(p);
  Value step = to.mul(descent(p), number(rate, p));
  write(p, p.argument, to.sub(p.value, step));
}

/// What an element of a parameter is computed in; nothing if it is no number
/// that torch.optim updates.
static std::optional<DType> computeDType(DType dtype) {
  switch (dtype) {
  case DType::F16:
  case DType::BF16:
  case DType::F32:
  case DType::C64:
    return DType::F32;
  case DType::F64:
  case DType::C128:
    return DType::F64;
  default:
    return std::nullopt;
  }
}

LogicalResult
UpdateProgram::build(ArrayRef<std::pair<StringRef, TensorMeta>> parameters) {
  takeHyperparameters();
  for (const auto &[name, meta] : parameters) {
    to.nextKernel();
    Parameter p{name.str(), {}, *computeDType(meta.dtype), {}, {}};
    p.argument =
        to.addArgument("given_parameter", name, meta.dtype, meta.sizes);
    Value gradient =
        to.addArgument("input", "gradient_" + name, meta.dtype, meta.sizes);
    p.value = read(p, p.argument);
    p.gradient = read(p, gradient);
    update(p);
    if (to.failed())
      return failure();
  }
  to.finish();
  return success();
}

/// The parameters that backward gives a gradient of, in its order.
static FailureOr<std::vector<std::pair<StringRef, TensorMeta>>>
parametersOf(func::FuncOp forward, func::FuncOp backward) {
  llvm::StringMap<BlockArgument> byName;
  for (BlockArgument argument : forward.getArguments()) {
    unsigned n = argument.getArgNumber();
    auto kind = forward.getArgAttrOfType<StringAttr>(n, names::kKind);
    auto target = forward.getArgAttrOfType<StringAttr>(n, names::kTarget);
    if (kind && target && kind.getValue() == "given_parameter")
      byName[target.getValue()] = argument;
  }
  std::vector<std::pair<StringRef, TensorMeta>> parameters;
  for (unsigned r = 0; r < backward.getNumResults(); ++r) {
    auto role = backward.getResultAttrOfType<StringAttr>(r, names::kRole);
    auto target = backward.getResultAttrOfType<StringAttr>(r, names::kTarget);
    if (!role || role.getValue() != "gradient" || !target)
      continue;
    auto found = byName.find(target.getValue());
    if (found == byName.end())
      continue; // of an input
    std::optional<TensorMeta> meta = metaOf(found->second);
    if (!meta || !meta->isStatic() || !computeDType(meta->dtype))
      return emitError(found->second.getLoc())
             << "[FT0006] no optimizer updates the parameter '"
             << target.getValue() << "' of type "
             << (meta ? meta->str() : "that is not known");
    parameters.emplace_back(target.getValue(), *meta);
  }
  return parameters;
}

LogicalResult addUpdate(ModuleOp module, const OptimizerInfo &optimizer,
                        FakeCache *cache) {
  func::FuncOp forward, backward;
  for (ModuleOp program : programsOf(module)) {
    auto function = program.lookupSymbol<func::FuncOp>("forward");
    if (programName(program) == "update")
      return success(); // a text that has it already
    (programName(program) == "backward" ? backward : forward) = function;
  }
  if (!forward || !backward)
    return emitError(module.getLoc())
           << "[FT0901] the modules @forward and @backward are not there";
  auto parameters = parametersOf(forward, backward);
  if (failed(parameters))
    return failure();
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto program = ModuleOp::create(b, module.getLoc(), "update");
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    program->setAttr(attribute.getName(), attribute.getValue());
  program->setAttr(names::kOptimizer, b.getStringAttr(optimizer.name));
  b.setInsertionPointToStart(program.getBody());
  auto function = func::FuncOp::create(b, module.getLoc(), "forward",
                                       b.getFunctionType({}, {}));
  function.addEntryBlock();
  FakeCache own;
  return UpdateProgram(function, optimizer.kind, cache ? *cache : own)
      .build(*parameters);
}

} // namespace ft
