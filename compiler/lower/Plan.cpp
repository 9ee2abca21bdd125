//===- Plan.cpp - The interface and the memory of a lowered model *- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Plan.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ft {

static constexpr llvm::StringLiteral kPlan = "ft.plan";

void Plan::attachTo(ModuleOp module) const {
  Builder b(module.getContext());
  auto dictionary = [&](ArrayRef<std::pair<StringRef, Attribute>> entries) {
    NamedAttrList list;
    for (auto [name, value] : entries)
      list.append(name, value);
    return list.getDictionary(b.getContext());
  };
  auto values = [&](ArrayRef<PlannedValue> all) {
    SmallVector<Attribute> items;
    for (const PlannedValue &v : all) {
      NamedAttrList list(dictionary({{"name", b.getStringAttr(v.name)},
                                     {"type", TypeAttr::get(v.type)},
                                     {"written", b.getBoolAttr(v.written)}}));
      if (!v.kind.empty())
        list.append("kind", b.getStringAttr(v.kind));
      if (!v.record.empty())
        list.append("record", b.getStringAttr(v.record));
      if (v.inArena)
        list.append("in_arena", b.getUnitAttr());
      items.push_back(list.getDictionary(b.getContext()));
    }
    return b.getArrayAttr(items);
  };
  SmallVector<Attribute> states, pieces;
  for (const PlannedState &s : state)
    states.push_back(
        dictionary({{"name", b.getStringAttr(s.name)},
                    {"type", TypeAttr::get(s.type)},
                    {"parameter", b.getBoolAttr(s.isParameter)},
                    {"weights_offset", b.getI64IntegerAttr(s.weightsOffset)},
                    {"state_offset", b.getI64IntegerAttr(s.stateOffset)}}));
  for (const PlannedConstant &c : constants) {
    SmallVector<Attribute> rows;
    for (const std::vector<int64_t> &row : c.coef)
      rows.push_back(b.getDenseI64ArrayAttr(row));
    pieces.push_back(dictionary({{"offset", b.getI64IntegerAttr(c.offset)},
                                 {"record", b.getStringAttr(c.record)},
                                 {"view", TypeAttr::get(c.view)},
                                 {"dims", b.getDenseI64ArrayAttr(c.dims)},
                                 {"coef", b.getArrayAttr(rows)},
                                 {"base", b.getDenseI64ArrayAttr(c.base)}}));
  }
  SmallVector<Attribute> custom;
  for (const PlannedKernel &k : kernels)
    custom.push_back(
        dictionary({{"op", b.getStringAttr(k.op)},
                    {"symbol", b.getStringAttr(k.symbol)},
                    {"files", b.getStrArrayAttr(SmallVector<StringRef>(
                                  k.files.begin(), k.files.end()))}}));
  DictionaryAttr plan =
      dictionary({{"inputs", values(inputs)},
                  {"outputs", values(outputs)},
                  {"state", b.getArrayAttr(states)},
                  {"constants", b.getArrayAttr(pieces)},
                  {"arena_bytes", b.getI64IntegerAttr(arenaBytes)},
                  {"weights_bytes", b.getI64IntegerAttr(weightsBytes)},
                  {"state_bytes", b.getI64IntegerAttr(stateBytes)}});
  if (!custom.empty()) {
    NamedAttrList list(plan);
    list.append("kernels", b.getArrayAttr(custom));
    plan = list.getDictionary(b.getContext());
  }
  if (!symbols.empty()) {
    SmallVector<Attribute> sizes;
    for (const PlannedSymbol &y : symbols)
      sizes.push_back(dictionary({{"name", b.getStringAttr(y.name)},
                                  {"title", b.getStringAttr(y.title)},
                                  {"lower", b.getI64IntegerAttr(y.lower)},
                                  {"upper", b.getI64IntegerAttr(y.upper)},
                                  {"hint", b.getI64IntegerAttr(y.hint)},
                                  {"input", b.getI64IntegerAttr(y.input)},
                                  {"dim", b.getI64IntegerAttr(y.dim)},
                                  {"scale", b.getI64IntegerAttr(y.scale)},
                                  {"offset", b.getI64IntegerAttr(y.offset)}}));
    NamedAttrList list(plan);
    list.append("symbols", b.getArrayAttr(sizes));
    plan = list.getDictionary(b.getContext());
  }
  module->setAttr(kPlan, plan);
}

namespace {

/// Reads entries of a dictionary that came from text: whatever is missing or of
/// another kind clears `ok`.
struct Reader {
  DictionaryAttr from;
  bool &ok;

  template <typename AttrType>
  AttrType get(StringRef name) {
    auto attr = from ? from.getAs<AttrType>(name) : AttrType();
    ok &= static_cast<bool>(attr);
    return attr;
  }
  std::string text(StringRef name) {
    auto attr = get<StringAttr>(name);
    return attr ? attr.getValue().str() : std::string();
  }
  int64_t integer(StringRef name) {
    auto attr = get<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  }
  bool flag(StringRef name) {
    auto attr = get<BoolAttr>(name);
    return attr && attr.getValue();
  }
  RankedTensorType type(StringRef name) {
    auto attr = get<TypeAttr>(name);
    auto type =
        attr ? dyn_cast<RankedTensorType>(attr.getValue()) : RankedTensorType();
    ok &= static_cast<bool>(type);
    return type;
  }
  std::vector<int64_t> integers(StringRef name) {
    auto attr = get<DenseI64ArrayAttr>(name);
    return attr ? attr.asArrayRef().vec() : std::vector<int64_t>();
  }
  std::vector<Reader> list(StringRef name) {
    std::vector<Reader> items;
    if (auto attr = get<ArrayAttr>(name))
      for (Attribute item : attr)
        items.push_back({dyn_cast<DictionaryAttr>(item), ok});
    return items;
  }
};

} // namespace

std::optional<Plan> Plan::of(ModuleOp module) {
  bool ok = true;
  Reader r{module->getAttrOfType<DictionaryAttr>(kPlan), ok};
  Plan plan;
  for (auto [name, target] :
       {std::pair{"inputs", &plan.inputs}, std::pair{"outputs", &plan.outputs}})
    for (Reader v : r.list(name)) {
      target->push_back({v.text("name"), v.type("type"), v.flag("written")});
      for (auto [key, text] : {std::pair{"kind", &target->back().kind},
                               std::pair{"record", &target->back().record}})
        if (v.from && v.from.contains(key))
          *text = v.text(key);
      target->back().inArena = v.from && v.from.contains("in_arena");
    }
  for (Reader s : r.list("state"))
    plan.state.push_back({s.text("name"), s.type("type"), s.flag("parameter"),
                          s.integer("weights_offset"),
                          s.integer("state_offset")});
  for (Reader c : r.list("constants")) {
    PlannedConstant constant{c.integer("offset"),
                             c.text("record"),
                             c.type("view"),
                             c.integers("dims"),
                             {},
                             c.integers("base")};
    if (auto rows = c.get<ArrayAttr>("coef"))
      for (Attribute row : rows) {
        auto values = dyn_cast<DenseI64ArrayAttr>(row);
        ok &= static_cast<bool>(values);
        if (values)
          constant.coef.push_back(values.asArrayRef().vec());
      }
    plan.constants.push_back(std::move(constant));
  }
  if (r.from && r.from.contains("kernels"))
    for (Reader k : r.list("kernels")) {
      PlannedKernel kernel{k.text("op"), k.text("symbol"), {}};
      if (auto files = k.get<ArrayAttr>("files"))
        for (Attribute file : files) {
          auto path = dyn_cast<StringAttr>(file);
          ok &= static_cast<bool>(path);
          if (path)
            kernel.files.push_back(path.str());
        }
      plan.kernels.push_back(std::move(kernel));
    }
  if (r.from && r.from.contains("symbols"))
    for (Reader y : r.list("symbols"))
      plan.symbols.push_back(
          {y.text("name"), y.text("title"), y.integer("lower"),
           y.integer("upper"), y.integer("hint"), y.integer("input"),
           y.integer("dim"), y.integer("scale"), y.integer("offset")});
  plan.arenaBytes = r.integer("arena_bytes");
  plan.weightsBytes = r.integer("weights_bytes");
  plan.stateBytes = r.integer("state_bytes");
  return ok ? std::optional(std::move(plan)) : std::nullopt;
}

} // namespace ft
