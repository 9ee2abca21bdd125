//===- CallTable.cpp - Calls and their answers, one a line -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CallTable.h"

#include "compiler/fake/FakeReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace ft {

static constexpr std::pair<const char *, DType> kShort[] = {
    {"bool", DType::Bool}, {"u8", DType::U8},      {"i8", DType::I8},
    {"i16", DType::I16},   {"i32", DType::I32},    {"i64", DType::I64},
    {"u16", DType::U16},   {"u32", DType::U32},    {"u64", DType::U64},
    {"f16", DType::F16},   {"bf16", DType::BF16},  {"f32", DType::F32},
    {"f64", DType::F64},   {"c32", DType::C32},    {"c64", DType::C64},
    {"c128", DType::C128}, {"f8", DType::F8E4M3FN}};

static std::string shortName(DType dtype) {
  for (auto [name, value] : kShort)
    if (value == dtype)
      return name;
  return dtypeName(dtype).str();
}

namespace {
/// What a name of a line stands for: a tensor with its key, or a number.
struct Named {
  TensorMeta meta;
  uint64_t key = 0;
  std::optional<Dim> number;
};

class Reader {
public:
  Reader(StringRef text, StringMap<Named> &names)
      : names(names), rest(text.trim()) {}

  bool eat(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool done() const { return rest.trim().empty(); }

  StringRef word() {
    rest = rest.ltrim();
    StringRef w = rest.take_while(
        [](char c) { return isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(w.size());
    return w;
  }

  /// name = value
  std::string keyword() {
    StringRef before = rest;
    StringRef w = word();
    if (!w.empty() && !isDigit(w[0]) && eat("="))
      return w.str();
    rest = before;
    return "";
  }

  std::optional<int64_t> integer() {
    rest = rest.ltrim();
    int64_t value;
    if (rest.consumeInteger(10, value))
      return std::nullopt;
    return value;
  }

  std::optional<Arg> argument();

  SmallVector<TensorMeta, 4> tensors;
  /// Of each tensor its key, and its name or "".
  SmallVector<uint64_t, 4> keys;
  SmallVector<std::string, 4> tensorNames;

private:
  Arg add(TensorMeta meta, uint64_t key, StringRef name) {
    tensors.push_back(std::move(meta));
    keys.push_back(key);
    tensorNames.push_back(name.str());
    return Arg::tensor(static_cast<int>(tensors.size()) - 1);
  }

  StringMap<Named> &names;
  std::optional<Dims> sizes();
  std::optional<Arg> tensor(DType dtype);
  StringRef rest;
};
} // namespace

std::optional<Dims> Reader::sizes() {
  if (!eat("["))
    return std::nullopt;
  Dims list;
  while (!eat("]")) {
    std::optional<int64_t> size = integer();
    if (!size)
      return std::nullopt;
    list.push_back(*size);
    (void)eat(",");
  }
  return list;
}

std::optional<Arg> Reader::tensor(DType dtype) {
  std::optional<Dims> shape = sizes();
  if (!shape)
    return std::nullopt;
  TensorMeta meta = TensorMeta::contiguous(dtype, *shape);
  if (rest.consume_front("/")) {
    std::optional<Dims> strides = sizes();
    if (!strides || strides->size() != shape->size())
      return std::nullopt;
    meta.strides = *strides;
  }
  if (rest.consume_front("+"))
    meta.offset = integer().value_or(0);
  if (rest.consume_front("@")) {
    StringRef name =
        rest.take_while([](char c) { return isAlnum(c) || c == ':'; });
    rest = rest.drop_front(name.size());
    std::optional<Device> device = Device::parse(name);
    if (!device)
      return std::nullopt;
    meta.device = *device;
  }
  return add(std::move(meta), 0, "");
}

std::optional<Arg> Reader::argument() {
  rest = rest.ltrim();
  if (eat("[")) {
    std::vector<Arg> list;
    while (!eat("]")) {
      std::optional<Arg> item = argument();
      if (!item)
        return std::nullopt;
      list.push_back(std::move(*item));
      (void)eat(",");
    }
    return Arg::listOf(std::move(list));
  }
  if (eat("'")) {
    auto [text, after] = rest.split('\'');
    rest = after;
    return Arg::string(text);
  }
  for (auto [name, dtype] : kShort) {
    StringRef before = rest;
    if (rest.consume_front(name) && rest.starts_with("["))
      return tensor(dtype);
    rest = before;
    if (rest.consume_front("dtype.") && word() == name)
      return Arg::ofDType(dtype);
    rest = before;
  }
  StringRef before = rest;
  StringRef w = word();
  if (w == "None")
    return Arg::none();
  if (w == "True" || w == "False")
    return Arg::truth(w == "True");
  if (auto named = names.find(w); named != names.end()) {
    if (named->second.number)
      return Arg::integer(*named->second.number);
    return add(named->second.meta, named->second.key, w);
  }
  rest = before;
  StringRef number = rest.take_while(
      [](char c) { return isDigit(c) || c == '.' || c == '-' || c == 'e'; });
  rest = rest.drop_front(number.size());
  double imaginary;
  if (rest.consume_front("j") && !number.getAsDouble(imaginary))
    return Arg::complex(0, imaginary);
  int64_t integer;
  if (!number.getAsInteger(10, integer))
    return Arg::integer(integer);
  double real;
  if (!number.empty() && !number.getAsDouble(real))
    return Arg::floating(real);
  return std::nullopt;
}

static std::string text(ArrayRef<Dim> dims) {
  std::string list = "[";
  for (Dim d : dims)
    list += (list.size() > 1 ? "," : "") + d.str();
  return list + "]";
}

static std::string text(const FakeResult &result) {
  switch (result.kind) {
  case FakeResult::Undefined:
    return "None";
  case FakeResult::Tensor:
    break;
  default:
    return result.value ? result.value->str() : "?";
  }
  const TensorMeta &meta = result.meta;
  std::string all = shortName(meta.dtype) + text(meta.sizes);
  if (meta.strides != contiguousStrides(meta.sizes))
    all += "/" + text(meta.strides);
  if (!meta.offset.is(0))
    all += "+" + meta.offset.str();
  if (meta.device != Device())
    all += "@" + meta.device.str();
  if (meta.conj)
    all += " conj";
  if (meta.neg)
    all += " neg";
  if (result.alias >= 0)
    all += " =" + std::to_string(result.alias);
  return all;
}

static StringRef text(FakeError category) {
  switch (category) {
  case FakeError::Shape:
    return "shape";
  case FakeError::Dtype:
    return "dtype";
  case FakeError::Device:
    return "device";
  case FakeError::Dim:
    return "dim";
  case FakeError::Index:
    return "index";
  case FakeError::DataDependent:
    return "data";
  case FakeError::Undecided:
    return "undecided";
  case FakeError::Unsupported:
    return "unsupported";
  case FakeError::Other:
    return "other";
  }
  return "";
}

static const Schema *findOverload(StringRef name) {
  if (const Schema *schema = SchemaTable::get().find(name))
    return schema;
  for (StringRef overload : {"Tensor", "self", "int", "dim"})
    if (const Schema *schema =
            SchemaTable::get().find((name + "." + overload).str()))
      return schema;
  return nullptr;
}

namespace {
/// The calls of one line, in one scope.
class Line {
public:
  explicit Line(bool dataDependent) : data(dataDependent) {}

  std::string run(StringRef statement, std::string &message);

private:
  std::string call(Reader &reader, const Schema &schema, StringRef result,
                   std::string &message);
  void finish(const FakeCall &call, const Reader &reader, StringRef result);

  SymContext symbols;
  ShapeEnv env{symbols};
  FakeScope scope{env};
  bool data;
  StringMap<Named> names;
  uint64_t nextKey = 0;
};
} // namespace

/// What was written, and the name of the first result.
void Line::finish(const FakeCall &call, const Reader &reader,
                  StringRef result) {
  const Schema &schema = call.schema();
  for (auto [arg, type] : zip(call.arguments(), schema.args))
    if (type.type.write && arg.kind == Arg::Tensor)
      scope.written(reader.keys[arg.operand]);
  for (auto [r, value] : enumerate(call.results))
    if (value.kind == FakeResult::Tensor && schema.returnsWritten(r))
      if (StringRef name = reader.tensorNames[value.alias]; !name.empty())
        names[name].meta = value.meta;
  if (result.empty() || call.results.empty())
    return;
  const FakeResult &first = call.results.front();
  names[result] = {first.meta, ++nextKey,
                   first.kind == FakeResult::Tensor ? std::nullopt
                                                    : first.value};
  if (first.constant)
    scope.setConstant(nextKey, first.constant);
}

std::string Line::call(Reader &reader, const Schema &schema, StringRef result,
                       std::string &message) {
  std::vector<Arg> args;
  for (const SchemaArg &arg : schema.args)
    args.push_back(arg.defaultValue);
  size_t next = 0;
  while (!reader.eat(")")) {
    std::string keyword = reader.keyword();
    int place =
        keyword.empty() ? static_cast<int>(next++) : schema.argIndex(keyword);
    std::optional<Arg> arg = reader.argument();
    if (!arg || place < 0 || place >= static_cast<int>(args.size()))
      return "malformed: argument " + std::to_string(next);
    if (schema.args[place].type.kind == SchemaType::Device &&
        arg->kind == Arg::Str)
      if (std::optional<Device> device = Device::parse(arg->str))
        arg = Arg::ofDevice(*device);
    args[place] = std::move(*arg);
    (void)reader.eat(",");
  }
  if (!reader.done())
    return "malformed: text after the call";
  FakeCall call(schema, args, reader.tensors, data ? &scope : nullptr);
  call.operandKeys = reader.keys;
  if (failed(propagateCall(call))) {
    message = explain(call);
    return "error " + text(call.category).str();
  }
  finish(call, reader, result);
  std::string all;
  for (const FakeResult &r : call.results)
    all += (all.empty() ? "" : "; ") + text(r);
  return all.empty() ? "nothing" : all;
}

std::string Line::run(StringRef statement, std::string &message) {
  Reader reader(statement, names);
  std::string result = reader.keyword();
  StringRef name = reader.word();
  if (reader.eat("(")) {
    const Schema *schema = findOverload(name);
    return schema ? call(reader, *schema, result, message)
                  : "malformed: no operator '" + name.str() + "'";
  }
  // A tensor with a name.
  Reader literal(statement, names);
  (void)literal.keyword();
  std::optional<Arg> tensor = literal.argument();
  if (result.empty() || !tensor || tensor->kind != Arg::Tensor)
    return "malformed: neither a call nor a tensor";
  names[result] = {literal.tensors.front(), ++nextKey, std::nullopt};
  return "";
}

std::string answerOf(StringRef text, bool dataDependent, std::string *message) {
  Line line(dataDependent);
  SmallVector<StringRef> statements;
  text.split(statements, ';');
  std::string answer, words;
  for (StringRef statement : statements) {
    answer = line.run(statement.trim(), words);
    if (StringRef(answer).starts_with("malformed") || !words.empty())
      break;
  }
  if (message)
    *message = words;
  return answer;
}

/// `?` stands for what is up to the next comma or bracket.
static bool matches(StringRef answer, StringRef wanted) {
  while (!wanted.empty()) {
    if (wanted.consume_front("?")) {
      answer = answer.drop_while([](char c) { return c != ',' && c != ']'; });
      continue;
    }
    if (answer.empty() || answer.front() != wanted.front())
      return false;
    answer = answer.drop_front();
    wanted = wanted.drop_front();
  }
  return answer.empty();
}

bool fits(StringRef answer, StringRef message, StringRef wanted) {
  auto [result, parts] = wanted.split('"');
  result = result.trim();
  if (result == "error any" ? !answer.starts_with("error ")
                            : !matches(answer, result))
    return false;
  while (!parts.empty()) {
    auto [part, rest] = parts.split('"');
    if (!message.contains(part))
      return false;
    parts = rest.split('"').second;
  }
  return true;
}

} // namespace ft
