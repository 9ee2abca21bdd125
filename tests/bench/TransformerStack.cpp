//===- TransformerStack.cpp - A program of any length ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/bench/TransformerStack.h"

#include "dialects/ft/AtenCall.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ft {

namespace {
class StackBuilder {
public:
  explicit StackBuilder(MLIRContext &context)
      : builder(&context), loc(builder.getUnknownLoc()),
        unknown(unknownTensorType(&context)) {}

  OwningOpRef<ModuleOp> build(int layers);

private:
  Type tensor(ArrayRef<Dim> sizes) {
    return typeFromMeta(builder.getContext(),
                        TensorMeta::contiguous(DType::F32, sizes));
  }
  /// A call; arguments that are left out take their defaults.
  Value call(StringRef name, ArrayRef<Value> tensors, SmallVector<Arg> args) {
    AtenCall call;
    call.schema = SchemaTable::get().find(name);
    call.operands.assign(tensors.begin(), tensors.end());
    call.args.assign(args.begin(), args.end());
    while (call.args.size() < call.schema->args.size())
      call.args.push_back(call.schema->args[call.args.size()].defaultValue);
    return call.build(builder, loc, unknown)->getResult(0);
  }
  static Arg list(ArrayRef<int64_t> values) {
    std::vector<Arg> items;
    for (int64_t v : values)
      items.push_back(Arg::integer(v));
    return Arg::listOf(std::move(items));
  }
  Value linear(Value x, Value weight) {
    return call("linear.default", {x, weight},
                {Arg::tensor(0), Arg::tensor(1)});
  }
  Value norm(Value x, Value scale) {
    return call("layer_norm.default", {x, scale},
                {Arg::tensor(0), list({64}), Arg::tensor(1)});
  }
  Value add(Value a, Value b) {
    return call("add.Tensor", {a, b}, {Arg::tensor(0), Arg::tensor(1)});
  }
  Value heads(Value x) {
    Value split =
        call("view.default", {x}, {Arg::tensor(0), list({2, 16, 4, 16})});
    return transpose(split);
  }
  Value transpose(Value x) {
    return call("transpose.int", {x},
                {Arg::tensor(0), Arg::integer(1), Arg::integer(2)});
  }
  Value layer(Value x);

  OpBuilder builder;
  Location loc;
  Type unknown;
  Value scale, square, wide, narrow;
};
} // namespace

Value StackBuilder::layer(Value x) {
  Value normed = norm(x, scale);
  Value q = heads(linear(normed, square));
  Value k = heads(linear(normed, square));
  Value v = heads(linear(normed, square));
  Value attended = call("scaled_dot_product_attention.default", {q, k, v},
                        {Arg::tensor(0), Arg::tensor(1), Arg::tensor(2)});
  Value joined = call("reshape.default", {transpose(attended)},
                      {Arg::tensor(0), list({2, 16, 64})});
  x = add(x, linear(joined, square));
  Value hidden =
      call("gelu.default", {linear(norm(x, scale), wide)}, {Arg::tensor(0)});
  return add(x, linear(hidden, narrow));
}

OwningOpRef<ModuleOp> StackBuilder::build(int layers) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  Type inputs[] = {tensor({2, 16, 64}), tensor({64}), tensor({64, 64}),
                   tensor({256, 64}), tensor({64, 256})};
  auto function = func::FuncOp::create(builder, loc, "forward",
                                       builder.getFunctionType(inputs, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  scale = body->getArgument(1);
  square = body->getArgument(2);
  wide = body->getArgument(3);
  narrow = body->getArgument(4);
  Value x = body->getArgument(0);
  for (int i = 0; i < layers; ++i)
    x = layer(x);
  func::ReturnOp::create(builder, loc);
  return module;
}

OwningOpRef<ModuleOp> transformerStack(MLIRContext &context, int layers) {
  context.loadDialect<FtDialect, func::FuncDialect>();
  return StackBuilder(context).build(layers);
}

} // namespace ft
