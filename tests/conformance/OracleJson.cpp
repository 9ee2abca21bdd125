//===- OracleJson.cpp - The notation of the oracle's files ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/OracleJson.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace ft;
using namespace ft::conformance;

/// Writes {"float": x} for each number token with `.`, `e` or `E`.
static std::string markFloats(llvm::StringRef text) {
  std::string marked;
  marked.reserve(text.size() + text.size() / 8);
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\' && i + 1 < text.size()) {
      marked += c;
      marked += text[++i];
      continue;
    }
    if (c == '"')
      inString = !inString;
    if (inString || !(c == '-' || llvm::isDigit(c))) {
      marked += c;
      continue;
    }
    llvm::StringRef number = text.substr(i).take_while([](char d) {
      return llvm::isDigit(d) || d == '-' || d == '+' || d == '.' || d == 'e' ||
             d == 'E';
    });
    bool isFloat = number.find_first_of(".eE") != llvm::StringRef::npos;
    // Inside {"float": 1.5} the file has said so already.
    if (isFloat && !llvm::StringRef(marked).rtrim().ends_with("\"float\":"))
      marked += ("{\"float\":" + number + "}").str();
    else
      marked += number;
    i += number.size() - 1;
  }
  return marked;
}

llvm::Expected<llvm::json::Value>
ft::conformance::parseJson(llvm::StringRef text) {
  return llvm::json::parse(markFloats(text));
}

static llvm::Error malformed(const llvm::Twine &what) {
  return llvm::createStringError("malformed oracle data: " + what);
}

static std::optional<std::vector<std::string>>
readDims(const llvm::json::Array *array) {
  if (!array)
    return std::nullopt;
  std::vector<std::string> dims;
  for (const llvm::json::Value &value : *array) {
    if (std::optional<llvm::StringRef> text = value.getAsString())
      dims.push_back(text->str());
    else if (std::optional<int64_t> number = value.getAsInteger())
      dims.push_back(std::to_string(*number));
    else
      return std::nullopt;
  }
  return dims;
}

static std::optional<DType> readDType(const llvm::json::Object &object) {
  std::optional<llvm::StringRef> name = object.getString("dtype");
  return name ? dtypeFromName(*name) : std::nullopt;
}

llvm::Expected<TensorSpec>
ft::conformance::readTensorSpec(const llvm::json::Object &object) {
  TensorSpec spec;
  std::optional<DType> dtype = readDType(object);
  std::optional<llvm::StringRef> device = object.getString("device");
  auto sizes = readDims(object.getArray("shape"));
  auto strides = readDims(object.getArray("stride"));
  std::optional<Device> where =
      device ? Device::parse(*device) : std::optional<Device>(Device());
  if (!dtype || !where || !sizes || !strides)
    return malformed("tensor");
  spec.dtype = *dtype;
  spec.device = *where;
  spec.sizes = std::move(*sizes);
  spec.strides = std::move(*strides);
  if (const llvm::json::Value *offset = object.get("offset")) {
    if (std::optional<llvm::StringRef> text = offset->getAsString())
      spec.offset = text->str();
    else
      spec.offset = std::to_string(offset->getAsInteger().value_or(0));
  }
  spec.conj = object.getBoolean("conj").value_or(false);
  spec.neg = object.getBoolean("neg").value_or(false);
  return spec;
}

std::string TensorSpec::str() const {
  std::string text = (dtypeName(dtype) + " [" + llvm::join(sizes, ", ") +
                      "] strides [" + llvm::join(strides, ", ") + "]")
                         .str();
  if (offset != "0")
    text += " offset " + offset;
  text += " " + device.str();
  if (conj)
    text += " conj";
  if (neg)
    text += " neg";
  return text;
}

static bool sameDim(const Dim &dim, llvm::StringRef text, FactBase *facts) {
  int64_t number;
  if (!text.getAsInteger(10, number) && dim.isStatic())
    return dim.is(number);
  if (dim.isStatic() && !facts)
    return false;
  SymContext &symbols =
      dim.isStatic() ? facts->context() : dim.symbolic().context();
  llvm::Expected<SymExpr> other = symbols.parse(text);
  if (!other) {
    llvm::consumeError(other.takeError());
    return false;
  }
  SymExpr mine = dim.toExpr(symbols);
  return mine == *other ||
         (facts && !other->isPredicate() &&
          facts->query(symbols.eq(mine, *other)) == Answer::Proved);
}

bool TensorSpec::describes(const TensorMeta &meta, bool layoutOfData,
                           FactBase *facts) const {
  if (dtype != meta.dtype || device != meta.device || conj != meta.conj ||
      neg != meta.neg || sizes.size() != meta.sizes.size() ||
      strides.size() != meta.strides.size())
    return false;
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sameDim(meta.sizes[i], sizes[i], facts))
      return false;
    empty |= meta.sizes[i].is(0);
  }
  if (layoutOfData && empty)
    return true;
  for (size_t i = 0; i < strides.size(); ++i)
    if (!(layoutOfData && meta.sizes[i].is(1)) &&
        !sameDim(meta.strides[i], strides[i], facts))
      return false;
  return sameDim(meta.offset, offset, facts);
}

llvm::Expected<TensorMeta> TensorSpec::meta(SymContext *symbols) const {
  auto number = [&](llvm::StringRef text, Dim &dim) {
    int64_t value;
    if (!text.getAsInteger(10, value)) {
      dim = Dim(value);
      return true;
    }
    if (!symbols)
      return false;
    llvm::Expected<SymExpr> parsed = symbols->parse(text);
    if (!parsed || parsed->isPredicate()) {
      llvm::consumeError(parsed.takeError());
      return false;
    }
    dim = Dim(*parsed);
    return true;
  };
  TensorMeta meta;
  meta.dtype = dtype;
  meta.device = device;
  meta.conj = conj;
  meta.neg = neg;
  bool ok = number(offset, meta.offset);
  for (llvm::StringRef text : sizes)
    ok &= number(text, meta.sizes.emplace_back());
  for (llvm::StringRef text : strides)
    ok &= number(text, meta.strides.emplace_back());
  if (!ok)
    return llvm::createStringError("symbolic sizes in '" + str() + "'");
  return meta;
}

llvm::Expected<StoredTensor>
ft::conformance::readStoredTensor(const llvm::json::Object &object) {
  StoredTensor tensor;
  std::optional<DType> dtype = readDType(object);
  const llvm::json::Array *shape = object.getArray("shape");
  std::optional<int64_t> offset = object.getInteger("offset");
  std::optional<int64_t> bytes = object.getInteger("nbytes");
  if (!dtype || !shape || !offset || !bytes || *offset < 0 || *bytes < 0)
    return malformed("stored tensor");
  tensor.dtype = *dtype;
  int64_t expected = dtypeBytes(*dtype);
  for (const llvm::json::Value &size : *shape) {
    tensor.shape.push_back(size.getAsInteger().value_or(-1));
    expected *= tensor.shape.back();
  }
  if (expected != *bytes)
    return malformed("size of a stored tensor");
  tensor.offset = static_cast<uint64_t>(*offset);
  tensor.bytes = static_cast<uint64_t>(*bytes);
  return tensor;
}

/// What stands in {"float": …}: a number, or the name of one without digits.
static std::optional<double> readFloat(const llvm::json::Value &value) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  std::optional<llvm::StringRef> name = value.getAsString();
  if (!name)
    return value.getAsNumber();
  if (*name == "inf")
    return kInf;
  if (*name == "-inf")
    return -kInf;
  if (*name == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::optional<double>
ft::conformance::readNumber(const llvm::json::Value &value) {
  if (const llvm::json::Object *object = value.getAsObject()) {
    const llvm::json::Value *number = object->get("float");
    return number ? readFloat(*number) : std::nullopt;
  }
  return value.getAsNumber();
}

/// {"dtype": …} and its like; nothing for a tensor.
static std::optional<llvm::Expected<Arg>>
readTagged(const llvm::json::Object &object) {
  if (object.size() != 1)
    return std::nullopt;
  llvm::StringRef tag = object.begin()->first;
  const llvm::json::Value &value = object.begin()->second;
  if (tag == "float") {
    std::optional<double> number = readFloat(value);
    if (!number)
      return malformed("float");
    return Arg::floating(*number);
  }
  if (tag == "complex") {
    const llvm::json::Array *parts = value.getAsArray();
    if (!parts || parts->size() != 2)
      return malformed("complex number");
    std::optional<double> real = readNumber((*parts)[0]);
    std::optional<double> imag = readNumber((*parts)[1]);
    if (!real || !imag)
      return malformed("complex number");
    return Arg::complex(*real, *imag);
  }
  std::optional<llvm::StringRef> text = value.getAsString();
  if (!text)
    return std::nullopt;
  if (tag == "dtype") {
    if (std::optional<DType> dtype = dtypeFromName(*text))
      return Arg::ofDType(*dtype);
    return malformed("dtype '" + *text + "'");
  }
  if (tag == "device") {
    if (std::optional<Device> device = Device::parse(*text))
      return Arg::ofDevice(*device);
    return malformed("device '" + *text + "'");
  }
  if (tag == "layout" || tag == "memory_format")
    return Arg::string(*text);
  return std::nullopt;
}

llvm::Expected<Arg> ft::conformance::readArg(const llvm::json::Value &value,
                                             TensorReader tensor) {
  if (value.getAsNull())
    return Arg::none();
  if (std::optional<bool> truth = value.getAsBoolean())
    return Arg::truth(*truth);
  if (std::optional<llvm::StringRef> text = value.getAsString())
    return Arg::string(*text);
  if (std::optional<int64_t> number = value.getAsInteger())
    return Arg::integer(*number);
  if (const llvm::json::Array *array = value.getAsArray()) {
    std::vector<Arg> list;
    for (const llvm::json::Value &element : *array) {
      llvm::Expected<Arg> arg = readArg(element, tensor);
      if (!arg)
        return arg.takeError();
      list.push_back(std::move(*arg));
    }
    return Arg::listOf(std::move(list));
  }
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return malformed("argument");
  if (std::optional<llvm::Expected<Arg>> tagged = readTagged(*object))
    return std::move(*tagged);
  return tensor(*object);
}
