//===- Storages.cpp - The present value of each storage --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/functionalize/Storages.h"

#include "compiler/fake/FakePropagate.h"
#include "compiler/fake/StrideRules.h"

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

void Storages::move(StorageNode *from, StorageNode *to) {
  for (auto &[value, node] : nodes)
    if (node == from)
      node = to;
}

/// The whole storage under an annotation.
static Value stridedView(OpBuilder &builder, FakeScope &scope, Location loc,
                         Value base, const TensorMeta &meta) {
  return buildCall(builder, scope, loc, "as_strided.default",
                   {Arg::tensor(0), dims(meta.sizes), dims(meta.strides),
                    Arg::integer(meta.offset)},
                   base);
}

/// A larger storage, of one dim; the old base becomes a view of it.
LogicalResult Storages::grow(StorageNode *base, Dim elements, Location loc,
                             std::string &reason) {
  TensorMeta old = *metaOf(base->current);
  for (auto &[value, node] : nodes)
    if (node->base == base && isa<BlockArgument>(value)) {
      reason = "the caller's tensor would need more memory";
      return failure();
    }
  Dim count = old.numel();
  Value flat = stridedView(builder, scope, loc, base->current,
                           TensorMeta::contiguous(old.dtype, {count}));
  if (flat)
    flat = buildCall(
        builder, scope, loc, "constant_pad_nd.default",
        {Arg::tensor(0),
         Arg::listOf({Arg::integer(0), Arg::integer(elements - count)}),
         Arg::integer(0)},
        flat);
  Value view = flat ? stridedView(builder, scope, loc, flat, old) : Value();
  if (!view)
    return failure();
  StorageNode &root = all.emplace_back();
  root.base = &root;
  root.current = flat;
  root.version = base->version;
  for (StorageNode &node : all)
    if (node.base == base)
      node.base = &root;
  base->parent = &root;
  base->view = view.getDefiningOp();
  base->result = 0;
  base->version = root.version;
  return success();
}

LogicalResult Storages::resize(StorageNode *node, ArrayRef<Dim> sizes,
                               Location loc, std::string &reason) {
  Value now = read(node, loc);
  std::optional<TensorMeta> meta = metaOf(now), whole;
  StorageNode *base = node->base;
  if (meta)
    whole = metaOf(base->current);
  reason = "the storage that is resized is not known";
  if (!whole || !whole->offset.is(0) || !isDense(whole->sizes, whole->strides))
    return failure();
  TensorMeta want = TensorMeta::contiguous(meta->dtype, sizes, meta->device);
  want.offset = meta->offset;
  Dim needs = want.numel() + want.offset, has = whole->numel();
  std::optional<bool> tooSmall =
      has.isStatic() && needs.isStatic()
          ? std::optional(has.value() < needs.value())
          : scope.less(has, needs);
  if (!tooSmall) {
    reason = "whether its storage is large enough is not known";
    return failure();
  }
  if (*tooSmall) {
    if (failed(grow(base, needs, loc, reason)))
      return failure();
    base = node->base;
  }
  Value view = stridedView(builder, scope, loc, base->current, want);
  if (!view)
    return failure();
  Operation *made = view.getDefiningOp();
  move(node, addView(view, base, made, 0));
  return success();
}

LogicalResult Storages::write(StorageNode *node, Value value,
                              const StorageWrite &how, Location loc,
                              std::string &reason) {
  StorageNode *const target = node;
  Value const written = value;
  bool keepsHistory = how.keepsHistory;
  for (; node != node->base; node = node->parent) {
    // What is written through detach() is no news for gradients.
    const Schema *schema = node->view ? schemaOf(node->view) : nullptr;
    keepsHistory |= schema && schema->base == "detach";
    value = undo(node, value, how.isUniform, loc, reason);
    if (!value)
      return failure();
  }
  std::optional<TensorMeta> meta = metaOf(value);
  if (keepsHistory && meta &&
      (isFloating(meta->dtype) || isComplex(meta->dtype)))
    value = buildCall(builder, scope, loc, "_keep_history.default",
                      {Arg::tensor(0), Arg::tensor(1)}, {node->current, value});
  if (!value)
    return failure();
  node->current = value;
  ++node->version;
  // The view itself need not be made anew if it looks the same.
  if (!how.keepsHistory && target != node &&
      target->current.getType() == written.getType()) {
    target->current = written;
    target->version = node->version;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Undoing a view: the parent with the view's elements replaced
//===----------------------------------------------------------------------===//

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

/// The dims that expand() has made or stretched, at their first position: all
/// others hold the same memory.
static Value unexpanded(OpBuilder &builder, FakeScope &scope, Location loc,
                        Value value, const TensorMeta &whole,
                        const TensorMeta &part) {
  int64_t extra = part.rank() - whole.rank();
  for (int64_t d = 0; d < extra && value; ++d)
    value =
        buildCall(builder, scope, loc, "select.int",
                  {Arg::tensor(0), Arg::integer(0), Arg::integer(0)}, value);
  for (int64_t d = 0; d < whole.rank() && value; ++d)
    if (whole.sizes[d] != part.sizes[d + extra])
      value = buildCall(builder, scope, loc, "slice.Tensor",
                        {Arg::tensor(0), Arg::integer(d), Arg::integer(0),
                         Arg::integer(1), Arg::integer(1)},
                        value);
  return value;
}

/// Where the elements of any view lie is told by the same view of the positions
/// of its parent: they are scattered there.
///
///   unfold(%p, 0, 2, 3)   %i = unfold(reshape(arange(6), [6]), 0, 2, 3)
///                         %p' = scatter(%p, 0, reshape(%i, -1), %v)
Value Storages::undoByPositions(StorageNode *node, Value parent, Value value,
                                Location loc) {
  TensorMeta whole = *metaOf(parent), part = *metaOf(value);
  auto call = [&](StringRef name, ArrayRef<Arg> args, ValueRange operands) {
    for (Value operand : operands)
      if (!operand)
        return Value();
    return buildCall(builder, scope, loc, name, args, operands);
  };
  auto flat = [&](Value v, Dim count) {
    return call("reshape.default", {Arg::tensor(0), dims(count)}, v);
  };
  Value positions = call("arange.default",
                         {Arg::integer(whole.numel()), Arg::ofDType(DType::I64),
                          Arg::none(), Arg::ofDevice(whole.device)},
                         {});
  positions =
      call("reshape.default", {Arg::tensor(0), dims(whole.sizes)}, positions);
  if (!positions)
    return {};
  Operation *again = builder.clone(*node->view);
  again->setLoc(loc);
  again->removeAttr(names::kName);
  again->removeAttr(names::kDeclared);
  again->setOperand(0, positions);
  if (failed(propagateOp(again, nullptr, &scope)))
    return {};
  Value index = flat(again->getResult(node->result), part.numel());
  Value elements =
      call("scatter.src",
           {Arg::tensor(0), Arg::integer(0), Arg::tensor(1), Arg::tensor(2)},
           {flat(parent, whole.numel()), index, flat(value, part.numel())});
  return call("reshape.default", {Arg::tensor(0), dims(whole.sizes)}, elements);
}

/// Whether two elements of a view may be one place of memory.
static bool mayOverlap(const TensorMeta &meta) {
  SmallVector<std::pair<int64_t, int64_t>> known;
  for (auto [size, stride] : llvm::zip(meta.sizes, meta.strides)) {
    if (size.is(1) || size.is(0))
      continue;
    if (!size.isStatic() || !stride.isStatic())
      return true;
    known.push_back({stride.value(), size.value()});
  }
  llvm::sort(known);
  int64_t reach = 0; // of the dims inside
  for (auto [stride, size] : known) {
    if (stride <= reach)
      return true;
    reach += stride * (size - 1);
  }
  return false;
}

Value Storages::undo(StorageNode *node, Value value, bool isUniform,
                     Location loc, std::string &reason) {
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
  if (base == "expand" || base == "expand_as" || base == "broadcast_to") {
    if (whole->numel() == part->numel())
      return whole_(buildCall(builder, scope, loc, "reshape.default",
                              {Arg::tensor(0), dims(whole->sizes)}, value));
    if (part->numel().is(0))
      return parent;
    if (!isUniform) {
      reason += ", whose elements share memory";
      return {};
    }
    return whole_(unexpanded(builder, scope, loc, value, *whole, *part));
  }
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
  if (base == "real" || base == "imag") {
    if (!isComplex(whole->dtype))
      return value;
    bool isReal = base == "real";
    Value other =
        buildCall(builder, scope, loc, isReal ? "imag.default" : "real.default",
                  Arg::tensor(0), parent);
    if (!other)
      return {};
    return whole_(
        buildCall(builder, scope, loc, "complex.default",
                  {Arg::tensor(isReal ? 0 : 1), Arg::tensor(isReal ? 1 : 0)},
                  {value, other}));
  }
  if (whole->dtype != part->dtype)
    return {};
  if (!isUniform && mayOverlap(*part)) {
    reason += ", whose elements share memory";
    return {};
  }
  return whole_(undoByPositions(node, parent, value, loc));
}

} // namespace ft
