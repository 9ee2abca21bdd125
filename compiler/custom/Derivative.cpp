//===- Derivative.cpp - Derivatives of custom operators --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/custom/Derivative.h"

#include "compiler/custom/CustomArgs.h"
#include "compiler/custom/PluginCall.h"
#include "compiler/fake/FakePropagate.h"
#include "dialects/ft/ArgFit.h"
#include "dialects/ft/CustomOps.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

CustomGradient::CustomGradient(OpBuilder &builder, Operation *forward,
                               ValueRange gradients)
    : builder(builder), op(forward), call(AtenCall::decode(forward)),
      gradients(gradients) {
  results.resize(op->getNumOperands());
}

LogicalResult CustomGradient::fail(const Twine &why) {
  return emitError(op->getLoc()) << "[FT0307] the derivative of "
                                 << shownName(*call.schema) << ": " << why;
}

static const Schema *findOperator(MLIRContext *context, StringRef name) {
  StringRef aten = name;
  if (aten.consume_front("aten::") || !aten.contains("::"))
    if (const Schema *schema = SchemaTable::get().find(aten))
      return schema;
  const CustomOp *op = CustomOps::of(context).find(name);
  return op ? &op->schema : nullptr;
}

Operation *CustomGradient::build(StringRef name, ArrayRef<Arg> arguments,
                                 ValueRange operands) {
  AtenCall made;
  made.schema = findOperator(op->getContext(), name);
  if (!made.schema) {
    (void)fail("no operator is called '" + name + "'");
    return nullptr;
  }
  const Schema &schema = *made.schema;
  if (schema.mutates) {
    (void)fail(shownName(schema) +
               " writes its arguments, which a derivative may not");
    return nullptr;
  }
  if (arguments.size() > schema.args.size()) {
    (void)fail(shownName(schema) + " takes " + Twine(schema.args.size()) +
               " arguments, it is given " + Twine(arguments.size()));
    return nullptr;
  }
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const SchemaArg &formal = schema.args[i];
    bool given = i < arguments.size();
    if (!given && !formal.hasDefault) {
      (void)fail("argument '" + formal.name + "' of " + shownName(schema) +
                 " is missing");
      return nullptr;
    }
    Arg arg =
        given ? asDeclared(arguments[i], formal.type) : formal.defaultValue;
    if (!fitsType(arg, formal.type)) {
      (void)fail("argument '" + formal.name + "' of " + shownName(schema) +
                 " is of another type");
      return nullptr;
    }
    made.args.push_back(std::move(arg));
  }
  made.operands.assign(operands.begin(), operands.end());
  if (schema.returns.empty() ||
      llvm::any_of(schema.returns,
                   [](const SchemaType &type) { return type.list; })) {
    (void)fail(shownName(schema) + " does not return single tensors");
    return nullptr;
  }
  SmallVector<Type> types(schema.returns.size(),
                          unknownTensorType(op->getContext()));
  Operation *result = made.build(builder, op->getLoc(), types);
  return succeeded(propagateOp(result)) ? result : nullptr;
}

LogicalResult CustomGradient::set(unsigned index, Value value) {
  if (index >= results.size())
    return fail("operand " + Twine(index) + " does not exist");
  if (!value) {
    results[index] = value;
    return success();
  }
  std::optional<TensorMeta> have = metaOf(value),
                            want = metaOf(op->getOperand(index));
  if (!have || !want)
    return fail("operand " + Twine(index) + " or its gradient is no tensor");
  if (have->sizes != want->sizes || have->dtype != want->dtype ||
      have->device != want->device)
    return fail("the gradient " + have->str() + " of operand " + Twine(index) +
                " must be " + want->str());
  results[index] = value;
  return success();
}

FailureOr<SmallVector<Value>> buildCustomBackward(OpBuilder &builder,
                                                  Operation *forward,
                                                  ValueRange gradients) {
  const Schema *schema = schemaOf(forward);
  const CustomOp *op = schema ? customOp(*schema) : nullptr;
  if (!op || !op->derivative)
    return emitError(forward->getLoc())
           << "[FT0801] "
           << (schema ? shownName(*schema) : std::string("the operator"))
           << " has no derivative\nhelp: register one with the operator "
              "(foretrace/plugin.h)";
  CustomGradient gradient(builder, forward, gradients);
  if (failed(op->derivative(gradient)))
    return failure();
  return SmallVector<Value>(gradient.operandGradients());
}

//===----------------------------------------------------------------------===//
// Named derivatives
//===----------------------------------------------------------------------===//

/// "grad1" with prefix "grad" is 1; "grad" is 0 if there is one result only;
/// -1 for anything else.
static int numbered(StringRef name, StringRef prefix, unsigned count) {
  if (!name.consume_front(prefix))
    return -1;
  unsigned index = 0;
  if (name.empty())
    return count == 1 ? 0 : -1;
  return !name.getAsInteger(10, index) && index < count
             ? static_cast<int>(index)
             : -1;
}

namespace {
/// The call of a backward operator while its arguments are collected.
struct NamedCall {
  CustomGradient &g;
  SmallVector<Value> operands;

  Arg tensor(Value value) {
    operands.push_back(value);
    return Arg::tensor(static_cast<int>(operands.size()) - 1);
  }

  /// An argument of the forward call, its operands renumbered.
  Arg copyOf(Arg arg) {
    if (arg.operand >= 0) {
      operands.push_back(g.forward().operands[arg.operand]);
      arg.operand = static_cast<int>(operands.size()) - 1;
    }
    for (Arg &item : arg.list)
      item = copyOf(std::move(item));
    return arg;
  }

  FailureOr<Arg> gradient(unsigned index, bool optional) {
    Value value = g.gradient(index);
    if (!value && optional)
      return Arg::none();
    if (!value) {
      Operation *zeros =
          g.build("zeros_like.default", {Arg::tensor(0)}, {g.result(index)});
      if (!zeros)
        return failure();
      value = zeros->getResult(0);
    }
    return tensor(value);
  }

  FailureOr<Arg> argument(const SchemaArg &formal) {
    const Schema &forward = *g.forward().schema;
    if (int i = forward.argIndex(formal.name); i >= 0)
      return copyOf(g.forward().args[i]);
    if (int i = numbered(formal.name, "grad", g.numResults()); i >= 0)
      return gradient(static_cast<unsigned>(i), formal.type.optional);
    if (int i = numbered(formal.name, "result", g.numResults()); i >= 0)
      return tensor(g.result(static_cast<unsigned>(i)));
    if (formal.hasDefault)
      return formal.defaultValue;
    return g.fail("its argument '" + formal.name +
                  "' is neither an argument of the forward operator nor "
                  "grad or result");
  }
};
} // namespace

CustomDerivative namedDerivative(std::string name) {
  return [name](CustomGradient &g) -> LogicalResult {
    MLIRContext *context = g.forward().operands.empty()
                               ? g.result(0).getContext()
                               : g.forward().operands[0].getContext();
    const Schema *backward = findOperator(context, name);
    if (!backward)
      return g.fail("the operator '" + name + "' is not registered");
    NamedCall call{g, {}};
    std::vector<Arg> args;
    for (const SchemaArg &formal : backward->args) {
      FailureOr<Arg> arg = call.argument(formal);
      if (failed(arg))
        return failure();
      args.push_back(std::move(*arg));
    }
    Operation *made = g.build(name, args, call.operands);
    if (!made)
      return failure();
    // One result for each tensor argument, lists flattened, absent ones none.
    unsigned next = 0;
    for (auto [i, operand] : llvm::enumerate(g.forward().operands)) {
      if (!isa<TensorType>(operand.getType()))
        continue;
      if (next >= made->getNumResults())
        return g.fail("'" + name + "' returns " + Twine(made->getNumResults()) +
                      " gradients, there are more tensor arguments");
      if (failed(g.set(static_cast<unsigned>(i), made->getResult(next++))))
        return failure();
    }
    return success();
  };
}

} // namespace ft

//===----------------------------------------------------------------------===//
// Derivatives in C
//===----------------------------------------------------------------------===//

/// What the opaque handles of foretrace/plugin.h are. Values are handed out as
/// MLIR's own pointers.
struct ft_gradient {
  ft::CustomGradient &g;
  std::deque<ft_gradient_arg> args;
  std::deque<std::vector<ft_gradient_arg>> lists;
  std::deque<std::string> texts;
  bool failed = false;

  int32_t fail(const llvm::Twine &why) {
    if (!failed)
      (void)g.fail(why);
    failed = true;
    return 1;
  }
};

namespace ft {

static const ft_gradient_value *handleOf(Value value) {
  return reinterpret_cast<const ft_gradient_value *>(
      value.getAsOpaquePointer());
}
static Value valueOf(const ft_gradient_value *handle) {
  return Value::getFromOpaquePointer(handle);
}

static ft_gradient_arg convert(ft_gradient &c, const Arg &arg) {
  ft_gradient_arg out = {};
  out.kind = argKind(arg);
  switch (arg.kind) {
  case Arg::Tensor:
    out.tensor = handleOf(c.g.forward().operands[arg.operand]);
    break;
  case Arg::Int:
    // A number that is not known is not handed out.
    if (arg.operand >= 0 || !arg.dim.isStatic())
      out.kind = FT_ARG_NONE;
    else
      out.integer = arg.dim.value();
    break;
  case Arg::Float:
    out.real = arg.real;
    break;
  case Arg::Bool:
    out.integer = arg.boolean;
    break;
  case Arg::Str:
    out.text = c.texts.emplace_back(arg.str).c_str();
    break;
  case Arg::List: {
    std::vector<ft_gradient_arg> items;
    items.reserve(arg.list.size());
    for (const Arg &item : arg.list)
      items.push_back(convert(c, item));
    out.count = static_cast<int32_t>(items.size());
    out.list = c.lists.emplace_back(std::move(items)).data();
    break;
  }
  case Arg::None:
  case Arg::Complex:
  case Arg::DType:
  case Arg::Device:
    out.kind = FT_ARG_NONE;
    break;
  }
  return out;
}

static bool convert(const ft_gradient_arg &in, SmallVector<Value> &operands,
                    Arg &out, int depth) {
  switch (in.kind) {
  case FT_ARG_NONE:
    out = Arg::none();
    return true;
  case FT_ARG_TENSOR:
    if (!in.tensor) {
      out = Arg::none();
      return true;
    }
    operands.push_back(valueOf(in.tensor));
    out = Arg::tensor(static_cast<int>(operands.size()) - 1);
    return true;
  case FT_ARG_INT:
    out = Arg::integer(in.integer);
    return true;
  case FT_ARG_FLOAT:
    out = Arg::floating(in.real);
    return true;
  case FT_ARG_BOOL:
    out = Arg::truth(in.integer);
    return true;
  case FT_ARG_STRING:
    out = Arg::string(in.text ? in.text : "");
    return true;
  case FT_ARG_LIST: {
    std::vector<Arg> items(static_cast<size_t>(std::max<int32_t>(in.count, 0)));
    if (depth > 4 || (!items.empty() && !in.list))
      return false;
    for (size_t i = 0; i < items.size(); ++i)
      if (!convert(in.list[i], operands, items[i], depth + 1))
        return false;
    out = Arg::listOf(std::move(items));
    return true;
  }
  default:
    return false;
  }
}

static int32_t apiArgument(const ft_gradient *handle, int32_t index,
                           const ft_gradient_arg **arg) {
  auto &c = *const_cast<ft_gradient *>(handle);
  const AtenCall &forward = c.g.forward();
  if (index < 0 || index >= static_cast<int32_t>(forward.args.size()))
    return c.fail("argument " + llvm::Twine(index) + " does not exist");
  c.args.push_back(convert(
      c, asDeclared(forward.args[index], forward.schema->args[index].type)));
  *arg = &c.args.back();
  return 0;
}
static const ft_gradient_value *apiResult(const ft_gradient *c, int32_t index) {
  if (index < 0 || index >= static_cast<int32_t>(c->g.numResults()))
    return nullptr;
  return handleOf(c->g.result(static_cast<unsigned>(index)));
}
static const ft_gradient_value *apiGradient(const ft_gradient *c,
                                            int32_t index) {
  if (index < 0 || index >= static_cast<int32_t>(c->g.numResults()))
    return nullptr;
  return handleOf(c->g.gradient(static_cast<unsigned>(index)));
}
static int32_t apiCall(ft_gradient *c, const char *name,
                       const ft_gradient_arg *args, int32_t numArgs,
                       const ft_gradient_value **outs, int32_t numOuts) {
  if (c->failed)
    return 1;
  SmallVector<Value> operands;
  std::vector<Arg> converted(
      static_cast<size_t>(std::max<int32_t>(numArgs, 0)));
  for (size_t i = 0; i < converted.size(); ++i)
    if (!convert(args[i], operands, converted[i], 0))
      return c->fail("argument " + llvm::Twine(i) + " of a call of '" +
                     (name ? name : "") + "' is of no kind");
  Operation *made = c->g.build(name ? name : "", converted, operands);
  if (!made) {
    c->failed = true; // reported
    return 1;
  }
  if (numOuts > static_cast<int32_t>(made->getNumResults()))
    return c->fail(llvm::Twine(name) + " has " +
                   llvm::Twine(made->getNumResults()) + " results, " +
                   llvm::Twine(numOuts) + " are asked for");
  for (int32_t i = 0; i < numOuts; ++i)
    outs[i] = handleOf(made->getResult(static_cast<unsigned>(i)));
  return 0;
}
static int32_t apiSet(ft_gradient *c, int32_t index,
                      const ft_gradient_value *value) {
  const AtenCall &forward = c->g.forward();
  if (index < 0 || index >= static_cast<int32_t>(forward.args.size()) ||
      forward.args[index].kind != Arg::Tensor)
    return c->fail("argument " + llvm::Twine(index) + " is no tensor");
  if (failed(c->g.set(static_cast<unsigned>(forward.args[index].operand),
                      valueOf(value)))) {
    c->failed = true; // reported
    return 1;
  }
  return 0;
}
static int32_t apiFail(ft_gradient *c, const char *message) {
  return c->fail(message && *message ? message : "no reason given");
}

static const ft_gradient_api kGradientApi = {sizeof(ft_gradient_api),
                                             apiArgument,
                                             apiResult,
                                             apiGradient,
                                             apiCall,
                                             apiSet,
                                             apiFail};

CustomDerivative callbackDerivative(ft_derivative_fn derivative, void *user) {
  return [derivative, user](CustomGradient &g) -> LogicalResult {
    ft_gradient view{g, {}, {}, {}};
    int32_t code;
    {
      const Schema &schema = *g.forward().schema;
      PluginCall running(customOp(schema)->source,
                         "the derivative of " + shownName(schema));
      code = derivative(&kGradientApi, &view, user);
    }
    if (view.failed)
      return failure();
    return code ? g.fail("it failed without a reason") : success();
  };
}

} // namespace ft
