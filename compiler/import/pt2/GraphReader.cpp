//===- GraphReader.cpp - JSON → the structs of Schema.h --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/GraphReader.h"

#include "llvm/ADT/STLExtras.h"

namespace ft::pt2 {

static constexpr ScalarType kScalarTypes[] = {
    {1, "uint8", 1},
    {2, "int8", 1},
    {3, "int16", 2},
    {4, "int32", 4},
    {5, "int64", 8},
    {6, "float16", 2},
    {7, "float32", 4},
    {8, "float64", 8},
    {9, "complex32", 4},
    {10, "complex64", 8},
    {11, "complex128", 16},
    {12, "bool", 1},
    {13, "bfloat16", 2},
    {28, "uint16", 2},
    {29, "float8_e4m3fn", 1},
    {30, "float8_e5m2", 1},
    {31, "float8_e4m3fnuz", 1},
    {32, "float8_e5m2fnuz", 1},
    {33, "float8_e8m0fnu", 1},
    {34, "uint32", 4},
    {35, "uint64", 8},
};

const ScalarType *findScalarType(int64_t code) {
  for (const ScalarType &type : kScalarTypes)
    if (type.code == code)
      return &type;
  return nullptr;
}

llvm::StringRef layoutName(int64_t code) {
  static constexpr llvm::StringLiteral names[] = {
      "",           "sparse_coo", "sparse_csr", "sparse_csc",
      "sparse_bsr", "sparse_bsc", "mkldnn",     "strided"};
  return code > 0 && code < int64_t(std::size(names))
             ? llvm::StringRef(names[code])
             : llvm::StringRef();
}

llvm::StringRef memoryFormatName(int64_t code) {
  static constexpr llvm::StringLiteral names[] = {
      "", "contiguous_format", "channels_last", "channels_last_3d",
      "preserve_format"};
  return code > 0 && code < int64_t(std::size(names))
             ? llvm::StringRef(names[code])
             : llvm::StringRef();
}

bool readNamed(const JsonAt &at, Argument::Kind kind, Argument &argument) {
  argument.kind = kind;
  return at.key("name").string(argument.text);
}

static bool readDevice(const JsonAt &at, Device &device) {
  if (!at.key("type").string(device.type))
    return false;
  JsonAt index = at.optional("index");
  if (index)
    return index.integer(device.index.emplace());
  return true;
}

/// {"as_int": 3} or {"as_expr": {"expr_str": "…", "hint": {"as_int": 4}}}.
static bool readSymValue(const JsonAt &at, SymValue &value) {
  llvm::StringRef key;
  const JsonValue *member;
  if (!at.single(key, member))
    return false;
  JsonAt inside = at.member(key, *member);
  if (key == "as_int")
    return inside.integer(value.number);
  if (key != "as_expr")
    return at.fail("expected 'as_int' or 'as_expr', found '" + key + "'");
  if (!inside.key("expr_str").string(value.expr))
    return false;
  if (value.expr.empty())
    return inside.fail("the expression is empty");
  JsonAt hint = inside.optional("hint");
  if (!hint)
    return true;
  // The hint is a union too; one that is no integer says nothing here.
  if (JsonAt number = hint.optional("as_int"))
    return number.integer(value.hint.emplace());
  return true;
}

static bool readNumbers(const JsonAt &at, llvm::StringRef what,
                        std::vector<SymValue> &values) {
  std::optional<llvm::ArrayRef<JsonValue>> a = at.array();
  if (!a)
    return false;
  values.resize(a->size());
  for (size_t i = 0; i < a->size(); ++i) {
    JsonAt item = at.element(i);
    if (!readSymValue(item, values[i]))
      return false;
    if (values[i].number < 0)
      return item.fail("a " + what + " of " + llvm::Twine(values[i].number) +
                       " is negative");
  }
  return true;
}

bool readTensorInfo(const JsonAt &at, TensorInfo &info) {
  int64_t code;
  JsonAt dtype = at.key("dtype");
  if (!dtype.integer(code))
    return false;
  info.dtype = findScalarType(code);
  if (!info.dtype)
    return dtype.fail("no dtype has the number " + llvm::Twine(code));
  JsonAt offset = at.key("storage_offset");
  JsonAt layout = at.key("layout");
  if (!readNumbers(at.key("sizes"), "size", info.sizes) ||
      !readNumbers(at.key("strides"), "stride", info.strides) ||
      !readSymValue(offset, info.offset) ||
      !readDevice(at.key("device"), info.device) ||
      !at.key("requires_grad").boolean(info.requiresGrad) ||
      !layout.integer(code))
    return false;
  if (info.offset.number < 0)
    return offset.fail("a storage offset of " +
                       llvm::Twine(info.offset.number) + " is negative");
  if (info.sizes.size() != info.strides.size())
    return at.fail(llvm::Twine(info.sizes.size()) + " sizes but " +
                   llvm::Twine(info.strides.size()) + " strides");
  info.layout = layoutName(code).str();
  if (info.layout.empty())
    return layout.fail("no layout has the number " + llvm::Twine(code));
  return true;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// {"as_name": "sym_size_int"} or the number itself.
static bool readSymArgument(const JsonAt &at, Argument::Kind kind,
                            Argument &argument) {
  llvm::StringRef key;
  const JsonValue *member;
  if (!at.single(key, member))
    return false;
  JsonAt inside = at.member(key, *member);
  argument.kind = kind;
  if (key == "as_name")
    return inside.string(argument.text);
  if (kind == Argument::SymInt && key == "as_int") {
    argument.kind = Argument::Int;
    return inside.integer(argument.integer);
  }
  if (kind == Argument::SymFloat && key == "as_float") {
    argument.kind = Argument::Float;
    return inside.number(argument.real);
  }
  if (kind == Argument::SymBool && key == "as_bool") {
    argument.kind = Argument::Bool;
    bool value;
    if (!inside.boolean(value))
      return false;
    argument.integer = value;
    return true;
  }
  return at.fail("'" + key + "' is no symbolic number");
}

static bool readPlain(const JsonAt &at, Argument::Kind kind,
                      Argument &argument) {
  argument.kind = kind;
  switch (kind) {
  case Argument::Int:
  case Argument::ScalarType:
  case Argument::MemoryFormat:
  case Argument::Layout: {
    if (!at.integer(argument.integer))
      return false;
    bool known =
        kind == Argument::Int ||
        (kind == Argument::ScalarType && findScalarType(argument.integer)) ||
        (kind == Argument::MemoryFormat &&
         !memoryFormatName(argument.integer).empty()) ||
        (kind == Argument::Layout && !layoutName(argument.integer).empty());
    return known || at.fail("the number " + llvm::Twine(argument.integer) +
                            " has no meaning here");
  }
  case Argument::Float:
    return at.number(argument.real);
  case Argument::Bool: {
    bool value;
    if (!at.boolean(value))
      return false;
    argument.integer = value;
    return true;
  }
  case Argument::String:
  case Argument::Operator:
    return at.string(argument.text);
  case Argument::Tensor:
    return readNamed(at, kind, argument);
  case Argument::SymInt:
  case Argument::SymFloat:
  case Argument::SymBool:
    return readSymArgument(at, kind, argument);
  default:
    return at.fail("unexpected kind of argument");
  }
}

/// A list of plain arguments; `levels` of lists around them.
static bool readList(const JsonAt &at, Argument::Kind kind, int levels,
                     Argument &argument) {
  std::optional<llvm::ArrayRef<JsonValue>> a = at.array();
  if (!a)
    return false;
  argument.kind = Argument::List;
  argument.list.resize(a->size());
  for (size_t i = 0; i < a->size(); ++i) {
    JsonAt item = at.element(i);
    if (levels > 1 ? !readList(item, kind, levels - 1, argument.list[i])
                   : !readPlain(item, kind, argument.list[i]))
      return false;
  }
  return true;
}

/// {"as_tensor": {"name": …}} or {"as_none": …}.
static bool readOptionalTensor(const JsonAt &at, Argument &argument) {
  llvm::StringRef key;
  const JsonValue *member;
  if (!at.single(key, member))
    return false;
  if (key == "as_none") {
    argument.kind = Argument::None;
    return true;
  }
  if (key != "as_tensor")
    return at.fail("expected 'as_tensor' or 'as_none', found '" + key + "'");
  return readNamed(at.member(key, *member), Argument::Tensor, argument);
}

static bool readComplex(const JsonAt &at, Argument &argument) {
  argument.kind = Argument::Complex;
  return at.key("real").number(argument.real) &&
         at.key("imag").number(argument.imag);
}

static bool readSubgraph(const JsonAt &at, Argument &argument) {
  argument.kind = Argument::Graph;
  argument.graph = std::make_shared<Graph>();
  return at.key("name").string(argument.text) &&
         readGraph(at.key("graph"), *argument.graph);
}

static bool readDictionary(const JsonAt &at, Argument &argument) {
  std::optional<llvm::ArrayRef<JsonMember>> o = at.object();
  if (!o)
    return false;
  argument.kind = Argument::Dict;
  for (const JsonMember &entry : *o) {
    argument.keys.push_back(entry.key.str());
    if (!readArgument(at.member(entry.key, entry.value),
                      argument.list.emplace_back()))
      return false;
  }
  return true;
}

namespace {
struct Member {
  llvm::StringLiteral key;
  Argument::Kind kind;
  int levels; // of lists
};
} // namespace

static constexpr Member kMembers[] = {
    {"as_tensor", Argument::Tensor, 0},
    {"as_tensors", Argument::Tensor, 1},
    {"as_nested_tensors", Argument::Tensor, 2},
    {"as_int", Argument::Int, 0},
    {"as_ints", Argument::Int, 1},
    {"as_int_lists", Argument::Int, 2},
    {"as_float", Argument::Float, 0},
    {"as_floats", Argument::Float, 1},
    {"as_float_lists", Argument::Float, 2},
    {"as_bool", Argument::Bool, 0},
    {"as_bools", Argument::Bool, 1},
    {"as_string", Argument::String, 0},
    {"as_strings", Argument::String, 1},
    {"as_sym_int", Argument::SymInt, 0},
    {"as_sym_ints", Argument::SymInt, 1},
    {"as_sym_float", Argument::SymFloat, 0},
    {"as_sym_floats", Argument::SymFloat, 1},
    {"as_sym_bool", Argument::SymBool, 0},
    {"as_sym_bools", Argument::SymBool, 1},
    {"as_scalar_type", Argument::ScalarType, 0},
    {"as_memory_format", Argument::MemoryFormat, 0},
    {"as_layout", Argument::Layout, 0},
    {"as_operator", Argument::Operator, 0},
};

bool readArgument(const JsonAt &at, Argument &argument) {
  llvm::StringRef key;
  const JsonValue *value;
  if (!at.single(key, value))
    return false;
  JsonAt inside = at.member(key, *value);
  for (const Member &member : kMembers) {
    if (member.key != key)
      continue;
    return member.levels
               ? readList(inside, member.kind, member.levels, argument)
               : readPlain(inside, member.kind, argument);
  }
  if (key == "as_none")
    return true;
  if (key == "as_device") {
    argument.kind = Argument::Device;
    return readDevice(inside, argument.device);
  }
  if (key == "as_complex")
    return readComplex(inside, argument);
  if (key == "as_graph")
    return readSubgraph(inside, argument);
  if (key == "as_custom_obj" || key == "as_opaque_obj")
    return readNamed(inside, Argument::CustomObject, argument);
  if (key == "as_optional_tensor")
    return readOptionalTensor(inside, argument);
  if (key == "as_string_to_argument")
    return readDictionary(inside, argument);
  if (key == "as_optional_tensors") {
    std::optional<llvm::ArrayRef<JsonValue>> a = inside.array();
    if (!a)
      return false;
    argument.kind = Argument::List;
    argument.list.resize(a->size());
    for (size_t i = 0; i < a->size(); ++i)
      if (!readOptionalTensor(inside.element(i), argument.list[i]))
        return false;
    return true;
  }
  return at.fail("'" + key + "' is no kind of argument");
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static bool readArguments(const JsonAt &at, std::vector<Argument> &arguments) {
  std::optional<llvm::ArrayRef<JsonValue>> a = at.array();
  if (!a)
    return false;
  arguments.resize(a->size());
  for (size_t i = 0; i < a->size(); ++i)
    if (!readArgument(at.element(i), arguments[i]))
      return false;
  return true;
}

static bool readNode(const JsonAt &at, Node &node) {
  JsonAt inputs = at.key("inputs");
  JsonAt metadata = at.key("metadata");
  if (!at.key("target").string(node.target) ||
      !readArguments(at.key("outputs"), node.outputs))
    return false;
  std::optional<llvm::ArrayRef<JsonValue>> a = inputs.array();
  if (!a || !metadata.object())
    return false;
  node.inputs.resize(a->size());
  for (size_t i = 0; i < a->size(); ++i) {
    JsonAt input = inputs.element(i);
    if (!input.key("name").string(node.inputs[i].name) ||
        !readArgument(input.key("arg"), node.inputs[i].value))
      return false;
  }
  auto text = [](const JsonAt &place, std::string &out) {
    return !place || place.string(out);
  };
  return text(at.optional("name"), node.name) &&
         text(metadata.optional("stack_trace"), node.stackTrace) &&
         text(metadata.optional("nn_module_stack"), node.moduleStack);
}

/// Symbolic floats and bools: only the text of the expression, or the number.
static bool readSymText(const JsonAt &at, std::string &text) {
  llvm::StringRef key;
  const JsonValue *member;
  if (!at.single(key, member))
    return false;
  JsonAt inside = at.member(key, *member);
  if (key == "as_expr")
    return inside.key("expr_str").string(text);
  if (key == "as_float") {
    double value;
    if (!inside.number(value))
      return false;
    text = std::to_string(value);
    return true;
  }
  bool value;
  if (key == "as_bool" && inside.boolean(value)) {
    text = value ? "True" : "False";
    return true;
  }
  return at.fail("'" + key + "' is no symbolic number");
}

template <typename T>
static bool readMap(const JsonAt &at, llvm::StringMap<T> &map,
                    bool (*read)(const JsonAt &, T &)) {
  if (!at)
    return true;
  std::optional<llvm::ArrayRef<JsonMember>> o = at.object();
  if (!o)
    return false;
  for (const JsonMember &entry : *o)
    if (!read(at.member(entry.key, entry.value), map[entry.key]))
      return false;
  return true;
}

bool readGraph(const JsonAt &at, Graph &graph) {
  if (!readArguments(at.key("inputs"), graph.inputs) ||
      !readArguments(at.key("outputs"), graph.outputs))
    return false;
  JsonAt nodes = at.key("nodes");
  std::optional<llvm::ArrayRef<JsonValue>> a = nodes.array();
  if (!a)
    return false;
  graph.nodes.resize(a->size());
  for (size_t i = 0; i < a->size(); ++i)
    if (!readNode(nodes.element(i), graph.nodes[i]))
      return false;
  JsonAt tensors = at.key("tensor_values");
  return tensors && readMap(tensors, graph.tensors, readTensorInfo) &&
         readMap(at.optional("sym_int_values"), graph.symInts, readSymValue) &&
         readMap(at.optional("sym_float_values"), graph.symFloats,
                 readSymText) &&
         readMap(at.optional("sym_bool_values"), graph.symBools, readSymText);
}

} // namespace ft::pt2
