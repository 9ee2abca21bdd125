//===- ControlNames.cpp - Names of branches and loops, for messages *- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/ControlNames.h"

using namespace mlir;

namespace ft {

static StringRef elementText(Attribute attribute, unsigned i) {
  if (auto list = dyn_cast_or_null<ArrayAttr>(attribute))
    attribute = i < list.size() ? list[i] : Attribute();
  else if (i > 0)
    attribute = {};
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.getValue() : StringRef();
}

static DictionaryAttr graphOf(Region *region) {
  auto graphs = region->getParentOp()->getAttrOfType<ArrayAttr>(names::kGraphs);
  unsigned r = region->getRegionNumber();
  return graphs && r < graphs.size() ? dyn_cast<DictionaryAttr>(graphs[r])
                                     : DictionaryAttr();
}

std::string nameOf(Value value) {
  StringRef name;
  std::string otherwise;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Region *region = argument.getParentRegion();
    unsigned i = argument.getArgNumber();
    if (DictionaryAttr graph = graphOf(region))
      name = elementText(graph.get("arguments"), i);
    otherwise = "argument " + std::to_string(i);
  } else {
    Operation *op = value.getDefiningOp();
    unsigned i = cast<OpResult>(value).getResultNumber();
    name = elementText(op->getAttr(names::kName), i);
    otherwise = "result " + std::to_string(i) + " of " +
                op->getName().getStringRef().str();
  }
  return name.empty() ? otherwise : "'" + name.str() + "'";
}

std::string nameOf(Operation *op) {
  StringRef name = elementText(op->getAttr(names::kName), 0);
  std::string text = op->getName().getStringRef().str();
  return name.empty() ? text : text + " '" + name.str() + "'";
}

std::string nameOf(Region &region) {
  if (DictionaryAttr graph = graphOf(&region))
    if (auto name = graph.getAs<StringAttr>("name"))
      return "'" + name.getValue().str() + "'";
  if (isa<CondOp>(region.getParentOp()))
    return region.getRegionNumber() == 0 ? "'then'" : "'else'";
  bool condition =
      isa<WhileOp>(region.getParentOp()) && region.getRegionNumber() == 0;
  return condition ? "'cond'" : "'do'";
}

YieldOp yieldOf(Region &region) {
  return cast<YieldOp>(region.front().getTerminator());
}

} // namespace ft
