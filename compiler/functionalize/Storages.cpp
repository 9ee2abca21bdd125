//===- Storages.cpp - The present value of each storage --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/functionalize/Storages.h"

#include "compiler/fake/FakePropagate.h"

using namespace mlir;

namespace ft {

Value buildCall(OpBuilder &builder, FakeScope &scope, Location loc,
                StringRef overload, ArrayRef<Arg> arguments,
                ValueRange operands) {
  AtenCall call;
  call.schema = SchemaTable::get().find(overload);
  if (!call.schema)
    return {};
  call.args.assign(arguments.begin(), arguments.end());
  for (size_t i = call.args.size(); i < call.schema->args.size(); ++i)
    call.args.push_back(call.schema->args[i].defaultValue);
  call.operands.assign(operands.begin(), operands.end());
  SmallVector<Type> types(call.schema->returns.size(),
                          unknownTensorType(builder.getContext()));
  Operation *op = call.build(builder, loc, types);
  if (failed(propagateOp(op, nullptr, &scope)))
    return {};
  return op->getResult(0);
}

StorageNode *Storages::addBase(Value value) {
  StorageNode &node = all.emplace_back();
  node.base = &node;
  node.current = value;
  nodes[value] = &node;
  return &node;
}

StorageNode *Storages::addView(Value value, StorageNode *parent,
                               Operation *view, unsigned result) {
  StorageNode &node = all.emplace_back();
  node.base = parent->base;
  node.parent = parent;
  node.view = view;
  node.result = result;
  node.current = value;
  node.version = node.base->version;
  nodes[value] = &node;
  return &node;
}

Value Storages::read(StorageNode *node, Location loc) {
  if (node == node->base || node->version == node->base->version)
    return node->current;
  Value parent = read(node->parent, loc);
  Operation *again = builder.clone(*node->view);
  again->setLoc(loc);
  again->removeAttr(names::kName);
  again->removeAttr(names::kDeclared);
  // A view's first operand is what it views; the others are plain values.
  again->setOperand(0, parent);
  node->current = again->getResult(node->result);
  node->version = node->base->version;
  return node->current;
}

LogicalResult Storages::write(StorageNode *node, Value value, Location loc,
                              std::string &reason) {
  StorageNode *const target = node;
  Value const written = value;
  for (; node != node->base; node = node->parent) {
    value = undo(node, value, loc, reason);
    if (!value)
      return failure();
  }
  node->current = value;
  ++node->version;
  // The view itself need not be made anew if it looks the same.
  if (target != node && target->current.getType() == written.getType()) {
    target->current = written;
    target->version = node->version;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Undoing a view: the parent with the view's elements replaced
//===----------------------------------------------------------------------===//

static Arg integers(ArrayRef<int64_t> values) {
  std::vector<Arg> list;
  for (int64_t v : values)
    list.push_back(Arg::integer(v));
  return Arg::listOf(std::move(list));
}

static Arg dims(ArrayRef<Dim> values) {
  std::vector<Arg> list;
  for (Dim d : values)
    list.push_back(Arg::integer(d));
  return Arg::listOf(std::move(list));
}

static int64_t wrap(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + rank : dim;
}

/// The order of dims that takes the view back to its parent, for the views that
/// only reorder.
static std::optional<SmallVector<int64_t>> inverseOrder(const AtenCall &call,
                                                        int64_t rank) {
  StringRef base = call.schema->base;
  SmallVector<int64_t> order(rank);
  for (int64_t d = 0; d < rank; ++d)
    order[d] = d;
  if (base == "permute") {
    auto list = call.integers(1);
    for (auto [to, from] : llvm::enumerate(list))
      order[wrap(from, rank)] = to;
    return order;
  }
  if (base == "numpy_T") {
    std::reverse(order.begin(), order.end());
    return order;
  }
  bool swaps = base == "transpose" || base == "swapaxes" ||
               base == "swapdims" || base == "t" || base == "mT";
  if (!swaps)
    return std::nullopt;
  if (rank < 2)
    return order;
  int64_t a = rank - 2, b = rank - 1;
  if (base != "t" && base != "mT") {
    a = wrap(call.integer(1), rank);
    b = wrap(call.integer(2), rank);
  }
  std::swap(order[a], order[b]);
  return order;
}

static bool reshapes(StringRef base) {
  return llvm::is_contained({"view", "reshape", "_unsafe_view", "flatten",
                             "unflatten", "squeeze", "unsqueeze", "ravel",
                             "view_as", "reshape_as", "_reshape_alias",
                             "atleast_1d", "atleast_2d", "atleast_3d"},
                            base);
}

static bool cutsInPieces(StringRef base) {
  return llvm::is_contained({"split", "split_with_sizes", "chunk",
                             "tensor_split", "unsafe_split", "unsafe_chunk",
                             "unsafe_split_with_sizes"},
                            base);
}

/// The argument of another call: the numbers among its operands are added to
/// `operands`, in order.
static Arg takeNumbers(Arg arg, const AtenCall &call,
                       SmallVectorImpl<Value> &operands) {
  for (Arg &item : arg.list)
    item = takeNumbers(std::move(item), call, operands);
  if (arg.operand >= 0) {
    operands.push_back(call.operands[arg.operand]);
    arg.operand = static_cast<int>(operands.size()) - 1;
  }
  return arg;
}

Value Storages::undo(StorageNode *node, Value value, Location loc,
                     std::string &reason) {
  if (!node->view)
    return value;
  Value parent = read(node->parent, loc);
  AtenCall call = AtenCall::decode(node->view);
  StringRef base = call.schema->base;
  std::optional<TensorMeta> whole = metaOf(parent);
  std::optional<TensorMeta> part = metaOf(node->view->getResult(node->result));
  reason = "a write through the view aten." + call.schema->name.str();
  if (!whole || !part)
    return {};
  int64_t rank = whole->rank();
  // Numbers that are values of the program are operands of the new call, too.
  auto scatter = [&](StringRef name, ArrayRef<Arg> more) {
    SmallVector<Arg> args = {Arg::tensor(0), Arg::tensor(1)};
    SmallVector<Value> operands = {parent, value};
    for (Arg arg : more)
      args.push_back(takeNumbers(std::move(arg), call, operands));
    return buildCall(builder, scope, loc, name, args, operands);
  };
  // Views that show the whole parent: put it back in the parent's layout.
  auto whole_ = [&](Value back) -> Value {
    if (!back)
      return {};
    std::optional<TensorMeta> meta = metaOf(back);
    if (meta && meta->strides == whole->strides)
      return back;
    return buildCall(builder, scope, loc, "copy.default",
                     {Arg::tensor(0), Arg::tensor(1)}, {parent, back});
  };
  if (base == "alias" || base == "detach" || base == "contiguous" ||
      base == "to" || base == "dropout" || base == "lift_fresh")
    return value;
  if (reshapes(base) && whole->dtype == part->dtype)
    return whole_(buildCall(builder, scope, loc, "reshape.default",
                            {Arg::tensor(0), dims(whole->sizes)}, value));
  if (auto order = inverseOrder(call, rank))
    return whole_(buildCall(builder, scope, loc, "permute.default",
                            {Arg::tensor(0), integers(*order)}, value));
  if ((base == "expand" || base == "expand_as" || base == "broadcast_to") &&
      whole->numel() == part->numel())
    return whole_(buildCall(builder, scope, loc, "reshape.default",
                            {Arg::tensor(0), dims(whole->sizes)}, value));
  if (base == "select")
    return scatter("select_scatter.default", {call.args[1], call.args[2]});
  if (base == "slice")
    return scatter("slice_scatter.default",
                   {call.args[1], call.args[2], call.args[3], call.args[4]});
  if (base == "narrow" && call.args[2].kind == Arg::Int &&
      call.args[2].operand < 0)
    return scatter("slice_scatter.default",
                   {call.args[1], call.args[2],
                    Arg::integer(call.args[2].dim +
                                 part->sizes[wrap(call.integer(1), rank)])});
  if (base == "diagonal" || base == "linalg_diagonal")
    return scatter("diagonal_scatter.default",
                   {call.args[1], call.args[2], call.args[3]});
  if (base == "as_strided")
    return scatter("as_strided_scatter.default",
                   {call.args[1], call.args[2], call.args[3]});
  if (base == "unbind")
    return scatter("select_scatter.default",
                   {call.args[1], Arg::integer(node->result)});
  if (cutsInPieces(base)) {
    int64_t dim = wrap(call.integer(2), rank);
    Dim start = 0;
    for (unsigned r = 0; r < node->result; ++r)
      if (std::optional<TensorMeta> piece = metaOf(node->view->getResult(r)))
        start = start + piece->sizes[dim];
    return scatter("slice_scatter.default",
                   {Arg::integer(dim), Arg::integer(start),
                    Arg::integer(start + part->sizes[dim])});
  }
  if (base == "view_as_real")
    return whole_(buildCall(builder, scope, loc, "view_as_complex.default",
                            Arg::tensor(0), value));
  if (base == "view_as_complex")
    return whole_(buildCall(builder, scope, loc, "view_as_real.default",
                            Arg::tensor(0), value));
  return {};
}

} // namespace ft
