//===- ModelCase.cpp - An exported program with its right values ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/ModelCase.h"

#include "compiler/shape/SymName.h"
#include "tests/conformance/Lines.h"

using namespace ft;
using namespace ft::conformance;

static llvm::Error malformed(llvm::StringRef path, const llvm::Twine &what) {
  return llvm::createStringError(path + ": malformed " + what);
}

static llvm::Expected<llvm::json::Object> readObject(llvm::StringRef path) {
  llvm::Expected<std::string> text = readText(path);
  if (!text)
    return text.takeError();
  llvm::Expected<llvm::json::Value> root = parseJson(*text);
  if (!root)
    return root.takeError();
  if (llvm::json::Object *object = root->getAsObject())
    return std::move(*object);
  return malformed(path, "file");
}

static llvm::Expected<NodeValue> readNodeValue(const llvm::json::Value &value) {
  NodeValue result;
  if (const llvm::json::Array *array = value.getAsArray()) {
    result.kind = NodeValue::List;
    for (const llvm::json::Value &element : *array) {
      llvm::Expected<NodeValue> part = readNodeValue(element);
      if (!part)
        return part.takeError();
      result.list.push_back(std::move(*part));
    }
    return result;
  }
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return result;
  if (std::optional<llvm::StringRef> symbol = object->getString("sym")) {
    result.kind = NodeValue::Symbol;
    result.symbol = symbol->str();
    return result;
  }
  llvm::Expected<TensorSpec> spec = readTensorSpec(*object);
  if (!spec)
    return spec.takeError();
  result.kind = NodeValue::Tensor;
  result.spec = std::move(*spec);
  return result;
}

static llvm::Expected<std::vector<SignatureEntry>>
readSignature(llvm::StringRef path, const llvm::json::Array *array) {
  std::vector<SignatureEntry> entries;
  if (!array)
    return malformed(path, "signature");
  for (const llvm::json::Value &value : *array) {
    const llvm::json::Object *object = value.getAsObject();
    if (!object)
      return malformed(path, "signature");
    entries.push_back({object->getString("kind").value_or("").str(),
                       object->getString("arg").value_or("").str(),
                       object->getString("target").value_or("").str()});
  }
  return entries;
}

static llvm::Error readNodes(llvm::StringRef path, llvm::json::Array *array,
                             std::vector<ModelNode> &nodes) {
  if (!array)
    return malformed(path, "nodes");
  for (llvm::json::Value &value : *array) {
    llvm::json::Object *object = value.getAsObject();
    if (!object)
      return malformed(path, "node");
    ModelNode node;
    node.name = object->getString("name").value_or("").str();
    node.op = object->getString("op").value_or("").str();
    node.target = object->getString("target").value_or("").str();
    if (llvm::json::Array *args = object->getArray("args"))
      node.args = std::move(*args);
    if (llvm::json::Object *kwargs = object->getObject("kwargs"))
      node.kwargs = std::move(*kwargs);
    if (const llvm::json::Value *val = object->get("val")) {
      llvm::Expected<NodeValue> read = readNodeValue(*val);
      if (!read)
        return read.takeError();
      node.value = std::move(*read);
    }
    nodes.push_back(std::move(node));
  }
  return llvm::Error::success();
}

/// {"s77": ["2", "int_oo"], "3*s77": …} and {"s77": "4"}: what is no number is
/// no bound.
static void readSymbols(const llvm::json::Object &root, ModelMeta &meta) {
  auto number = [](const llvm::json::Value &value, int64_t otherwise) {
    int64_t v;
    std::optional<llvm::StringRef> text = value.getAsString();
    return text && !text->getAsInteger(10, v) ? v : otherwise;
  };
  if (const llvm::json::Object *ranges = root.getObject("range_constraints"))
    for (const auto &[name, ends] : *ranges)
      if (const llvm::json::Array *pair = ends.getAsArray();
          pair && pair->size() == 2 && isSymbolName(name))
        meta.ranges[name.str()] = {number((*pair)[0], Interval::kMin),
                                   number((*pair)[1], Interval::kMax)};
  if (const llvm::json::Object *hints = root.getObject("var_hints"))
    for (const auto &[name, value] : *hints)
      meta.hints[name.str()] = number(value, 0);
}

llvm::Expected<ModelMeta> ft::conformance::readModelMeta(llvm::StringRef path) {
  llvm::Expected<llvm::json::Object> root = readObject(path);
  if (!root)
    return root.takeError();
  ModelMeta meta;
  if (llvm::Error error = readNodes(path, root->getArray("nodes"), meta.nodes))
    return std::move(error);
  if (llvm::json::Object *graphs = root->getObject("subgraphs"))
    for (auto &[name, graph] : *graphs)
      if (llvm::Error error =
              readNodes(path, graph.getAsArray(), meta.subgraphs[name.str()]))
        return std::move(error);
  for (auto [key, entries] : {std::pair("inputs", &meta.inputs),
                              std::pair("outputs", &meta.outputs)}) {
    llvm::Expected<std::vector<SignatureEntry>> read =
        readSignature(path, root->getArray(key));
    if (!read)
      return read.takeError();
    *entries = std::move(*read);
  }
  readSymbols(*root, meta);
  if (const llvm::json::Array *verified = root->getArray("verified"))
    for (const llvm::json::Value &value : *verified) {
      std::optional<llvm::StringRef> refusal = value.getAsString();
      meta.refusals.push_back(refusal ? std::optional(refusal->str())
                                      : std::nullopt);
    }
  return meta;
}

static llvm::Expected<std::vector<IoValue>>
readIoValues(llvm::StringRef path, const llvm::json::Array *array) {
  std::vector<IoValue> values;
  if (!array)
    return values;
  for (const llvm::json::Value &value : *array) {
    const llvm::json::Object *object = value.getAsObject();
    if (!object)
      return malformed(path, "value");
    IoValue result;
    if (const llvm::json::Value *scalar = object->get("scalar")) {
      llvm::Expected<Arg> number = readArg(
          *scalar, [&](const llvm::json::Object &) -> llvm::Expected<Arg> {
            return malformed(path, "scalar");
          });
      if (!number)
        return number.takeError();
      result.number = std::move(*number);
    } else {
      llvm::Expected<StoredTensor> stored = readStoredTensor(*object);
      if (!stored)
        return stored.takeError();
      result.tensor = std::move(*stored);
    }
    values.push_back(std::move(result));
  }
  return values;
}

static llvm::Error readNamed(llvm::StringRef path,
                             const llvm::json::Object *object,
                             std::map<std::string, StoredTensor> &named) {
  if (!object)
    return llvm::Error::success();
  for (const auto &[name, value] : *object) {
    const llvm::json::Object *fields = value.getAsObject();
    if (!fields)
      return malformed(path, "tensor");
    llvm::Expected<StoredTensor> stored = readStoredTensor(*fields);
    if (!stored)
      return stored.takeError();
    named[llvm::StringRef(name).str()] = std::move(*stored);
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<ModelRun>>
ft::conformance::readModelRuns(llvm::StringRef path) {
  llvm::Expected<llvm::json::Object> root = readObject(path);
  if (!root)
    return root.takeError();
  const llvm::json::Array *cases = root->getArray("cases");
  if (!cases)
    return malformed(path, "cases");
  std::vector<ModelRun> runs;
  for (const llvm::json::Value &value : *cases) {
    const llvm::json::Object *object = value.getAsObject();
    if (!object)
      return malformed(path, "case");
    ModelRun run;
    for (auto [key, values] : {std::pair("inputs", &run.inputs),
                               std::pair("outputs", &run.outputs)}) {
      llvm::Expected<std::vector<IoValue>> read =
          readIoValues(path, object->getArray(key));
      if (!read)
        return read.takeError();
      *values = std::move(*read);
    }
    if (llvm::Error error =
            readNamed(path, object->getObject("grads"), run.gradients))
      return error;
    if (llvm::Error error = readNamed(path, object->getObject("buffers_after"),
                                      run.buffersAfter))
      return error;
    runs.push_back(std::move(run));
  }
  return runs;
}

HostTensor ft::conformance::numberTensor(const Arg &number) {
  HostTensor result(number.kind == Arg::Int    ? DType::I64
                    : number.kind == Arg::Bool ? DType::Bool
                                               : DType::F64,
                    {});
  if (number.kind == Arg::Int) {
    int64_t value = number.dim.value();
    std::memcpy(result.bytes.data(), &value, sizeof value);
  } else if (number.kind == Arg::Bool) {
    result.bytes[0] = number.boolean;
  } else {
    std::memcpy(result.bytes.data(), &number.real, sizeof number.real);
  }
  return result;
}

llvm::Expected<std::vector<HostTensor>>
ft::conformance::inputsOf(const ModelRun &run, const DataFile &data) {
  std::vector<HostTensor> inputs;
  for (const IoValue &value : run.inputs) {
    if (!value.tensor) {
      inputs.push_back(numberTensor(value.number));
      continue;
    }
    llvm::Expected<HostTensor> input = data.copy(*value.tensor);
    if (!input)
      return input.takeError();
    inputs.push_back(std::move(*input));
  }
  return inputs;
}
