//===- OpCase.cpp - One call of an operator with its right answer ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/OpCase.h"

#include "llvm/ADT/StringExtras.h"

using namespace ft;
using namespace ft::conformance;

static llvm::Error malformed(const llvm::Twine &what) {
  return llvm::createStringError("malformed oracle data: " + what);
}

std::string ExpectedResult::str() const {
  switch (kind) {
  case Undefined:
    return "nothing";
  case Tensor: {
    std::string text = spec.str();
    if (alias >= 0)
      text += " sharing argument " + std::to_string(alias);
    return text;
  }
  case Number:
    switch (number.kind) {
    case Arg::Int:
      return number.dim.str();
    case Arg::Bool:
      return number.boolean ? "True" : "False";
    default:
      return llvm::formatv("{0:r}", number.real).str();
    }
  case Symbol:
    return symbol;
  }
  return "";
}

llvm::Expected<std::vector<Arg>> ft::conformance::bindArguments(
    const Schema &schema, std::vector<Arg> positional,
    std::vector<std::pair<std::string, Arg>> keyword) {
  std::vector<Arg> args(schema.args.size());
  std::vector<bool> given(schema.args.size(), false);
  if (positional.size() > args.size())
    return malformed("too many arguments for " + schema.name);
  for (size_t i = 0; i < positional.size(); ++i) {
    args[i] = std::move(positional[i]);
    given[i] = true;
  }
  for (auto &[name, value] : keyword) {
    int i = schema.argIndex(name);
    if (i < 0 || given[i])
      return malformed(schema.name + " has no place for '" + name + "'");
    args[i] = std::move(value);
    given[i] = true;
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const SchemaArg &expected = schema.args[i];
    if (!given[i]) {
      if (!expected.hasDefault)
        return malformed(schema.name + " needs '" + expected.name + "'");
      args[i] = expected.defaultValue;
    }
    if (expected.type.kind == SchemaType::Device && args[i].kind == Arg::Str)
      if (std::optional<Device> device = Device::parse(args[i].str))
        args[i] = Arg::ofDevice(*device);
  }
  return args;
}

/// Reads id, op, args and kwargs; `tensor` takes the tensors in flat order.
///
/// llvm::json does not keep the order of an object's members. The keyword
/// arguments are taken in the schema's order, which is also the files'.
static llvm::Error readCall(const llvm::json::Object &object, OpCase &result,
                            TensorReader tensor) {
  std::optional<int64_t> id = object.getInteger("id");
  std::optional<llvm::StringRef> op = object.getString("op");
  const llvm::json::Array *args = object.getArray("args");
  const llvm::json::Object *kwargs = object.getObject("kwargs");
  if (!id || !op || !args || !kwargs)
    return malformed("call");
  op->consume_front("aten.");
  result.id = *id;
  result.op = op->str();
  result.schema = SchemaTable::get().find(*op);
  if (!result.schema)
    return llvm::Error::success();
  std::vector<Arg> positional;
  for (const llvm::json::Value &value : *args) {
    llvm::Expected<Arg> arg = readArg(value, tensor);
    if (!arg)
      return arg.takeError();
    positional.push_back(std::move(*arg));
  }
  std::vector<std::pair<std::string, Arg>> keyword;
  for (const SchemaArg &expected : result.schema->args) {
    const llvm::json::Value *value = kwargs->get(expected.name);
    if (!value)
      continue;
    llvm::Expected<Arg> arg = readArg(*value, tensor);
    if (!arg)
      return arg.takeError();
    keyword.emplace_back(expected.name.str(), std::move(*arg));
  }
  if (keyword.size() != kwargs->size())
    return malformed("unknown keyword argument of " + *op);
  llvm::Expected<std::vector<Arg>> bound =
      bindArguments(*result.schema, std::move(positional), std::move(keyword));
  if (!bound)
    return bound.takeError();
  result.args = std::move(*bound);
  return llvm::Error::success();
}

static llvm::Expected<ExpectedResult>
readResult(const llvm::json::Value &value) {
  ExpectedResult result;
  if (value.getAsNull())
    return result;
  if (const llvm::json::Object *object = value.getAsObject()) {
    if (const llvm::json::Object *tensor = object->getObject("t")) {
      llvm::Expected<TensorSpec> spec = readTensorSpec(*tensor);
      if (!spec)
        return spec.takeError();
      result.kind = ExpectedResult::Tensor;
      result.spec = std::move(*spec);
      result.alias = object->getInteger("alias").value_or(-1);
      return result;
    }
    if (const llvm::json::Object *tensor = object->getObject("v")) {
      llvm::Expected<StoredTensor> stored = readStoredTensor(*tensor);
      if (!stored)
        return stored.takeError();
      result.kind = ExpectedResult::Tensor;
      result.stored = std::move(*stored);
      return result;
    }
    if (std::optional<llvm::StringRef> symbol = object->getString("sym")) {
      result.kind = ExpectedResult::Symbol;
      result.symbol = symbol->str();
      return result;
    }
  }
  llvm::Expected<Arg> number =
      readArg(value, [](const llvm::json::Object &) -> llvm::Expected<Arg> {
        return malformed("result");
      });
  if (!number)
    return number.takeError();
  result.kind = ExpectedResult::Number;
  result.number = std::move(*number);
  return result;
}

static llvm::Expected<std::vector<ExpectedResult>>
readResults(const llvm::json::Array &array) {
  std::vector<ExpectedResult> results;
  for (const llvm::json::Value &value : array) {
    llvm::Expected<ExpectedResult> result = readResult(value);
    if (!result)
      return result.takeError();
    results.push_back(std::move(*result));
  }
  return results;
}

/// The reader of a call's tensors, which stand under `key`: each goes to the
/// end of `tensors`.
template <typename T>
static auto tensorsInto(std::vector<T> &tensors, llvm::StringRef key,
                        llvm::Expected<T> (*read)(const llvm::json::Object &)) {
  return [=, &tensors](const llvm::json::Object &value) -> llvm::Expected<Arg> {
    const llvm::json::Object *fields = value.getObject(key);
    if (!fields)
      return malformed("argument");
    llvm::Expected<T> tensor = read(*fields);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
    return Arg::tensor(tensors.size() - 1);
  };
}

llvm::Expected<MetaCase> ft::conformance::readMetaCase(llvm::StringRef line) {
  llvm::Expected<llvm::json::Value> root = parseJson(line);
  if (!root)
    return root.takeError();
  const llvm::json::Object *object = root->getAsObject();
  if (!object)
    return malformed("line");
  MetaCase result;
  auto tensor = tensorsInto(result.tensors, "t", readTensorSpec);
  if (llvm::Error error = readCall(*object, result, tensor))
    return error;
  result.shapeEnv = object->getBoolean("shape_env").value_or(false);
  auto category = [](const llvm::json::Object &error) {
    return error.getString("category").value_or("other").str();
  };
  if (const llvm::json::Object *error = object->getObject("error")) {
    result.error = category(*error);
  } else if (const llvm::json::Array *out = object->getArray("out")) {
    llvm::Expected<std::vector<ExpectedResult>> results = readResults(*out);
    if (!results)
      return results.takeError();
    result.results = std::move(*results);
  } else {
    return malformed("neither results nor an error");
  }
  result.realKind = object->getString("real_kind").value_or("").str();
  if (const llvm::json::Object *real = object->getObject("real")) {
    if (const llvm::json::Object *error = real->getObject("error"))
      result.realError = category(*error);
    if (const llvm::json::Array *out = real->getArray("out")) {
      llvm::Expected<std::vector<ExpectedResult>> results = readResults(*out);
      if (!results)
        return results.takeError();
      result.realResults = std::move(*results);
    }
  }
  return result;
}

/// {"0": tensor, "2": null}
template <typename Use>
static llvm::Error readByIndex(const llvm::json::Object *object, Use use) {
  if (!object)
    return llvm::Error::success();
  for (const auto &[key, value] : *object) {
    unsigned index;
    if (llvm::StringRef(key).getAsInteger(10, index))
      return malformed("index");
    if (value.getAsNull()) {
      use(index, std::nullopt);
      continue;
    }
    const llvm::json::Object *fields = value.getAsObject();
    if (!fields)
      return malformed("tensor");
    llvm::Expected<StoredTensor> stored = readStoredTensor(*fields);
    if (!stored)
      return stored.takeError();
    use(index, std::optional<StoredTensor>(std::move(*stored)));
  }
  return llvm::Error::success();
}

llvm::Expected<ValueCase> ft::conformance::readValueCase(llvm::StringRef line) {
  llvm::Expected<llvm::json::Value> root = parseJson(line);
  if (!root)
    return root.takeError();
  const llvm::json::Object *object = root->getAsObject();
  if (!object)
    return malformed("line");
  ValueCase result;
  auto tensor = tensorsInto(result.tensors, "v", readStoredTensor);
  if (llvm::Error error = readCall(*object, result, tensor))
    return error;
  const llvm::json::Array *out = object->getArray("out");
  if (!out)
    return malformed("no results");
  llvm::Expected<std::vector<ExpectedResult>> results = readResults(*out);
  if (!results)
    return results.takeError();
  result.results = std::move(*results);
  result.results64.resize(result.results.size());
  if (const llvm::json::Array *out64 = object->getArray("out64")) {
    llvm::Expected<std::vector<ExpectedResult>> exact = readResults(*out64);
    if (!exact)
      return exact.takeError();
    for (size_t i = 0; i < exact->size() && i < result.results.size(); ++i)
      if ((*exact)[i].kind == ExpectedResult::Tensor)
        result.results64[i] = (*exact)[i].stored;
  }
  if (const llvm::json::Array *gauge = object->getArray("gauge"))
    for (const llvm::json::Value &index : *gauge)
      result.gauge.push_back(index.getAsInteger().value_or(0));
  result.hasGradError = object->get("grad_error") != nullptr;
  result.note = object->getString("note").value_or("").str();
  if (llvm::Error error = readByIndex(
          object->getObject("cotangent"),
          [&](unsigned i, const std::optional<StoredTensor> &stored) {
            if (stored)
              result.cotangents.insert({i, *stored});
          }))
    return error;
  if (llvm::Error error = readByIndex(
          object->getObject("grad"),
          [&](unsigned i, const std::optional<StoredTensor> &stored) {
            result.gradients.insert({i, stored});
          }))
    return error;
  if (llvm::Error error = readByIndex(
          object->getObject("mutated"),
          [&](unsigned i, const std::optional<StoredTensor> &stored) {
            if (stored)
              result.mutated.insert({i, *stored});
          }))
    return error;
  return result;
}
