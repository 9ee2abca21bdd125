//===- GraphRegions.cpp - Branches and loops of an archive -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/GraphRegions.h"

#include "compiler/import/pt2/GraphBuilder.h"
#include "compiler/import/pt2/Locations.h"
#include "dialects/ft/FtControl.h"

using namespace mlir;

namespace ft::pt2 {

//===----------------------------------------------------------------------===//
// The node
//===----------------------------------------------------------------------===//

static void flatten(const Argument &argument,
                    llvm::SmallVectorImpl<const Argument *> &into) {
  if (argument.kind != Argument::List) {
    into.push_back(&argument);
    return;
  }
  for (const Argument &item : argument.list)
    flatten(item, into);
}

ControlNode ControlNode::of(const Node &node) {
  llvm::StringRef op = node.target;
  if (!op.consume_front("torch.ops.higher_order."))
    return {};
  // One letter for each input: a predicate, a graph, or a list of operands.
  ControlNode control;
  llvm::StringRef form = llvm::StringSwitch<llvm::StringRef>(op)
                             .Case("cond", "pggc")
                             .Case("while_loop", "ggic")
                             .Case("scan", "gixc")
                             .Case("map_impl", "gxc")
                             .Default("");
  if (form.empty() || form.size() != node.inputs.size())
    return {};
  for (auto [letter, input] : llvm::zip_equal(form, node.inputs)) {
    const Argument &value = input.value;
    bool isGraph = value.kind == Argument::Graph;
    bool isList = value.kind == Argument::List;
    if (letter == 'g' ? !isGraph : letter == 'p' ? isGraph || isList : !isList)
      return {};
    switch (letter) {
    case 'p':
      control.predicate = &value;
      break;
    case 'g':
      control.graphs.push_back(&value);
      break;
    case 'i':
      flatten(value, control.inits);
      break;
    case 'x':
      flatten(value, control.xs);
      break;
    default:
      flatten(value, control.captured);
    }
  }
  control.kind = form[0] == 'p'               ? ControlNode::Cond
                 : control.graphs.size() == 2 ? ControlNode::While
                                              : ControlNode::Scan;
  return control;
}

//===----------------------------------------------------------------------===//
// Building it
//===----------------------------------------------------------------------===//

bool GraphBuilder::buildRegion(const Argument &argument, Region &region,
                               TypeRange arguments, size_t results) {
  const Graph &inner = *argument.graph;
  if (inner.inputs.size() != arguments.size() ||
      inner.outputs.size() != results)
    return fail(DiagId::BadSchema,
                "the graph '" + argument.text +
                    "' has another number of inputs or outputs than its call");
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  GraphBuilder child(builder, inner, where);
  child.noGrad = noGrad;
  bool ok = true;
  for (auto [type, input] : llvm::zip_equal(arguments, inner.inputs)) {
    Location loc = NameLoc::get(builder.getStringAttr(input.text));
    ok = ok && child.define(input.text, block->addArgument(type, loc));
  }
  for (const Node &node : inner.nodes)
    ok = ok && child.build(node);
  // What is undefined (None) is no result of the op either.
  llvm::SmallVector<Value> yielded;
  for (const Argument &output : inner.outputs) {
    Value value;
    ok = ok && child.valueOf(output, value);
    if (ok && value)
      yielded.push_back(value);
  }
  if (llvm::Error inside = child.takeError()) {
    llvm::consumeError(std::move(error));
    error = std::move(inside);
  }
  if (ok)
    YieldOp::create(builder, builder.getUnknownLoc(), yielded);
  return ok;
}

bool GraphBuilder::buildControl(const Node &node, const ControlNode &control) {
  llvm::SmallVector<Value> operands;
  auto add = [&](llvm::ArrayRef<const Argument *> list) {
    for (const Argument *argument : list) {
      Value value;
      // A list of tensors may have numbers in it.
      if (auto it = values.find(argument->text);
          argument->kind == Argument::Tensor && it != values.end())
        value = it->second;
      else if (!valueOf(*argument, value))
        return false;
      if (!value)
        return fail(DiagId::NotYetSupported,
                    "an operand of '" + node.name + "' is None");
      operands.push_back(value);
    }
    return true;
  };
  if ((control.predicate && !add(control.predicate)) || !add(control.inits) ||
      !add(control.xs) || !add(control.captured))
    return false;

  // Captured operands are in a region what they are outside; the others change
  // from one iteration to the next.
  llvm::SmallVector<Type> arguments;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    bool changes = i < control.inits.size() + control.xs.size();
    if (control.predicate && i == 0)
      continue;
    arguments.push_back(changes && isa<TensorType>(operand.getType())
                            ? unknownTensorType(&context)
                            : operand.getType());
  }

  beginResults();
  size_t outputs = 0;
  std::vector<const Argument *> flat;
  for (const Argument &output : node.outputs)
    if (output.kind == Argument::List)
      for (const Argument &item : output.list)
        flat.push_back(&item);
    else
      flat.push_back(&output);
  for (const Argument *output : flat) {
    ++outputs;
    if (output->kind != Argument::None && !result(*output, node))
      return false;
  }

  static constexpr llvm::StringLiteral kOps[] = {"", "ft.cond", "ft.while",
                                                 "ft.scan"};
  OperationState state(nodeLocation(context, node), kOps[control.kind]);
  state.addOperands(operands);
  state.addTypes(types);
  for (size_t i = 0; i < control.graphs.size(); ++i)
    state.addRegion();
  auto count = [](const auto &list) {
    return static_cast<int32_t>(list.size());
  };
  llvm::SmallVector<int32_t, 3> segments = {count(control.inits)};
  if (control.kind == ControlNode::Scan)
    segments.push_back(count(control.xs));
  segments.push_back(count(control.captured));
  if (control.kind != ControlNode::Cond)
    state.addAttribute("operandSegmentSizes",
                       builder.getDenseI32ArrayAttr(segments));
  Operation *op = builder.create(state);
  bool ok = finishResults(node, op);
  llvm::SmallVector<Attribute> graphs;
  for (auto [i, graph] : llvm::enumerate(control.graphs)) {
    bool isCondition = control.kind == ControlNode::While && i == 0;
    ok = ok && buildRegion(*graph, op->getRegion(i), arguments,
                           isCondition ? 1 : outputs);
    llvm::SmallVector<llvm::StringRef> inputs;
    for (const Argument &input : graph->graph->inputs)
      inputs.push_back(input.text);
    graphs.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("name", builder.getStringAttr(graph->text)),
         builder.getNamedAttr("arguments", builder.getStrArrayAttr(inputs))}));
  }
  op->setAttr(ft::names::kGraphs, builder.getArrayAttr(graphs));
  place.clear();
  return ok;
}

} // namespace ft::pt2
