//===- Schema.cpp - An exported program as the archive has it --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/Schema.h"

#include "compiler/import/pt2/Archive.h"
#include "compiler/import/pt2/GraphReader.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace ft::pt2 {

static constexpr int64_t kMajor = 8;
static constexpr char kReexport[] = "export the model again";

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

/// A constant of the signature: one of the plain members of the union.
static bool readConstantInput(const JsonAt &at, InputSpec &spec) {
  JsonAt value = at.key("value");
  return at.key("name").string(spec.target) && readArgument(value, spec.arg);
}

static bool readInputSpec(const JsonAt &at, InputSpec &spec) {
  llvm::StringRef key;
  const JsonValue *member;
  if (!at.single(key, member))
    return false;
  JsonAt inside = at.member(key, *member);
  auto tensor = [&](InputSpec::Kind kind, llvm::StringRef targetKey) {
    spec.kind = kind;
    return readNamed(inside.key("arg"), Argument::Tensor, spec.arg) &&
           inside.key(targetKey).string(spec.target);
  };
  if (key == "user_input") {
    spec.kind = InputSpec::UserInput;
    return readArgument(inside.key("arg"), spec.arg);
  }
  if (key == "parameter")
    return tensor(InputSpec::Parameter, "parameter_name");
  if (key == "buffer")
    return tensor(InputSpec::Buffer, "buffer_name") &&
           inside.key("persistent").boolean(spec.persistent);
  if (key == "tensor_constant")
    return tensor(InputSpec::TensorConstant, "tensor_constant_name");
  if (key == "custom_obj") {
    spec.kind = InputSpec::CustomObject;
    return readNamed(inside.key("arg"), Argument::CustomObject, spec.arg) &&
           inside.key("custom_obj_name").string(spec.target);
  }
  if (key == "token") {
    spec.kind = InputSpec::Token;
    return readNamed(inside.key("arg"), Argument::CustomObject, spec.arg);
  }
  if (key == "constant_input") {
    spec.kind = InputSpec::ConstantInput;
    return readConstantInput(inside, spec);
  }
  return at.fail("'" + key + "' is no kind of input");
}

static bool readOutputSpec(const JsonAt &at, OutputSpec &spec) {
  llvm::StringRef key;
  const JsonValue *member;
  if (!at.single(key, member))
    return false;
  JsonAt inside = at.member(key, *member);
  JsonAt arg = inside.key("arg");
  auto tensor = [&](OutputSpec::Kind kind, llvm::StringRef targetKey) {
    spec.kind = kind;
    return readNamed(arg, Argument::Tensor, spec.arg) &&
           (targetKey.empty() || inside.key(targetKey).string(spec.target));
  };
  if (key == "user_output") {
    spec.kind = OutputSpec::UserOutput;
    return readArgument(arg, spec.arg);
  }
  if (key == "loss_output")
    return tensor(OutputSpec::LossOutput, "");
  if (key == "buffer_mutation")
    return tensor(OutputSpec::BufferMutation, "buffer_name");
  if (key == "parameter_mutation")
    return tensor(OutputSpec::ParameterMutation, "parameter_name");
  if (key == "gradient_to_parameter")
    return tensor(OutputSpec::GradientToParameter, "parameter_name");
  if (key == "gradient_to_user_input")
    return tensor(OutputSpec::GradientToUserInput, "user_input_name");
  if (key == "user_input_mutation")
    return tensor(OutputSpec::UserInputMutation, "user_input_name");
  if (key == "token")
    return tensor(OutputSpec::Token, "");
  return at.fail("'" + key + "' is no kind of output");
}

template <typename Spec>
static bool readSpecs(const JsonAt &at, std::vector<Spec> &specs,
                      bool (*read)(const JsonAt &, Spec &)) {
  std::optional<llvm::ArrayRef<JsonValue>> a = at.array();
  if (!a)
    return false;
  specs.resize(a->size());
  for (size_t i = 0; i < a->size(); ++i)
    if (!read(at.element(i), specs[i]))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// The exporter writes 2^63 - 2 (its integer infinity) for no upper bound.
static bool readBound(const JsonAt &at, std::optional<int64_t> &bound) {
  if (!at)
    return true;
  int64_t value;
  if (!at.integer(value))
    return false;
  if (value > -INT64_MAX + 1 && value < INT64_MAX - 1)
    bound = value;
  return true;
}

static bool readRanges(const JsonAt &at, std::vector<Range> &ranges) {
  std::optional<llvm::ArrayRef<JsonMember>> o = at.object();
  if (!o)
    return false;
  for (const JsonMember &entry : *o) {
    JsonAt inside = at.member(entry.key, entry.value);
    Range &range = ranges.emplace_back();
    range.symbol = entry.key.str();
    if (!inside.object() ||
        !readBound(inside.optional("min_val"), range.lower) ||
        !readBound(inside.optional("max_val"), range.upper))
      return false;
    if (range.lower && range.upper && *range.lower > *range.upper)
      return inside.fail("the range is empty");
  }
  llvm::sort(ranges, [](const Range &a, const Range &b) {
    return a.symbol < b.symbol;
  });
  return true;
}

static bool readStrings(const JsonAt &at, std::vector<std::string> &out) {
  if (!at)
    return true;
  std::optional<llvm::ArrayRef<JsonValue>> a = at.array();
  if (!a)
    return false;
  out.resize(a->size());
  for (size_t i = 0; i < a->size(); ++i)
    if (!at.element(i).string(out[i]))
      return false;
  return true;
}

static bool readRoot(const JsonAt &root, Program &program) {
  JsonAt module = root.key("graph_module");
  JsonAt signature = module.key("signature");
  std::vector<std::string> verifiers;
  JsonAt torch = root.optional("torch_version");
  if (!readGraph(module.key("graph"), program.graph) ||
      !readSpecs(signature.key("input_specs"), program.inputs, readInputSpec) ||
      !readSpecs(signature.key("output_specs"), program.outputs,
                 readOutputSpec) ||
      !readRanges(root.key("range_constraints"), program.ranges) ||
      !readStrings(root.optional("guards_code"), program.guards) ||
      !readStrings(root.optional("verifiers"), verifiers) ||
      (torch && !torch.string(program.torchVersion)))
    return false;
  if (!verifiers.empty())
    program.dialect = verifiers[0];
  if (program.inputs.size() != program.graph.inputs.size())
    return signature.fail(
        llvm::Twine(program.inputs.size()) + " input specs for " +
        llvm::Twine(program.graph.inputs.size()) + " inputs of the graph");
  if (program.outputs.size() != program.graph.outputs.size())
    return signature.fail(
        llvm::Twine(program.outputs.size()) + " output specs for " +
        llvm::Twine(program.graph.outputs.size()) + " outputs of the graph");
  return true;
}

llvm::Error readProgramJson(llvm::StringRef json, llvm::StringRef where,
                            Program &program) {
  llvm::Expected<JsonDocument> document = JsonDocument::parse(json, where);
  if (!document)
    return document.takeError();
  JsonAt::Errors errors;
  JsonAt root(&document->root(), errors);
  auto broken = [&] {
    return makeError(DiagId::BadSchema, where, errors.message, kReexport);
  };
  // The version first: another major version may look quite different.
  JsonAt version = root.key("schema_version");
  if (!version.key("major").integer(program.major))
    return broken();
  if (program.major != kMajor)
    return makeError(
        DiagId::UnknownSchema, where,
        "the program is of schema version " + llvm::Twine(program.major) +
            "; version " + llvm::Twine(kMajor) + " is read",
        program.major < kMajor
            ? "export the model again with a newer PyTorch"
            : "a newer Foretrace may read it; or export it with PyTorch 2.14");
  if (!version.key("minor").integer(program.minor) || !readRoot(root, program))
    return broken();
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

llvm::Error readTensorConfig(llvm::StringRef json, llvm::StringRef where,
                             llvm::StringRef folder,
                             llvm::StringMap<TensorRecord> &tensors) {
  llvm::Expected<JsonDocument> document = JsonDocument::parse(json, where);
  if (!document)
    return document.takeError();
  JsonAt::Errors errors;
  JsonAt root(&document->root(), errors);
  JsonAt config = root.key("config");
  std::optional<llvm::ArrayRef<JsonMember>> entries = config.object();
  auto broken = [&] {
    return makeError(DiagId::BadSchema, where,
                     folder + "*_config.json: " + errors.message, kReexport);
  };
  if (!entries)
    return broken();
  for (const JsonMember &entry : *entries) {
    llvm::StringRef name = entry.key;
    JsonAt at = config.member(name, entry.value);
    std::string path;
    bool pickled = false;
    JsonAt pickle = at.optional("use_pickle");
    if (!at.key("path_name").string(path) ||
        (pickle && !pickle.boolean(pickled)))
      return broken();
    JsonAt info = at.optional("tensor_meta");
    // Objects of the user's own classes are listed among the constants; a
    // program that uses one is refused where it does.
    if (pickled || !info)
      continue;
    TensorRecord &tensor = tensors[name];
    tensor.record = (folder + path).str();
    JsonAt isParameter = at.optional("is_param");
    if (!readTensorInfo(info, tensor.info) ||
        (isParameter && !isParameter.boolean(tensor.isParameter)))
      return broken();
  }
  return llvm::Error::success();
}

llvm::Error checkExtent(llvm::StringRef name, const TensorRecord &tensor,
                        uint64_t bytes, llvm::StringRef where) {
  auto refuse = [&](const llvm::Twine &message) {
    return makeError(DiagId::BadWeights, where,
                     "tensor '" + name + "' " + message, kReexport);
  };
  const TensorInfo &info = tensor.info;
  if (info.layout != "strided")
    return makeError(DiagId::NotYetSupported, where,
                     "tensor '" + name + "' has the layout " + info.layout +
                         "; only strided tensors are read",
                     "convert it with to_dense() before the export");
  // One past the last element: offset + Σ (size - 1)·stride + 1.
  int64_t last = info.offset.number;
  bool overflow = false, empty = false, symbolic = !info.offset.expr.empty();
  for (auto [size, stride] : llvm::zip_equal(info.sizes, info.strides)) {
    symbolic |= !size.expr.empty() || !stride.expr.empty();
    empty |= size.number == 0;
    int64_t span = 0;
    if (size.number > 0)
      overflow |= llvm::MulOverflow(size.number - 1, stride.number, span) ||
                  llvm::AddOverflow(last, span, last);
  }
  if (symbolic)
    return refuse("has a symbolic shape");
  if (empty)
    return llvm::Error::success();
  int64_t end = 0, needed = 0;
  overflow |= llvm::AddOverflow(last, int64_t(1), end) ||
              llvm::MulOverflow(end, int64_t(info.dtype->bytes), needed);
  if (overflow || static_cast<uint64_t>(needed) > bytes)
    return refuse(
        "needs " +
        (overflow ? std::string("more than 2^63") : std::to_string(needed)) +
        " bytes of its record '" + tensor.record + "', which has " +
        llvm::Twine(bytes));
  return llvm::Error::success();
}

static llvm::Error readTensors(Archive &archive, llvm::StringRef kind,
                               llvm::StringMap<TensorRecord> &tensors) {
  llvm::Expected<std::optional<ZipData>> config = archive.tensorConfig(kind);
  if (!config)
    return config.takeError();
  if (!*config)
    return llvm::Error::success();
  if (llvm::Error error =
          readTensorConfig((*config)->text(), archive.where(),
                           ("data/" + kind + "/").str(), tensors))
    return error;
  // In the order of the names: the same mistake is reported first every time.
  std::vector<llvm::StringRef> names(tensors.keys().begin(),
                                     tensors.keys().end());
  llvm::sort(names);
  for (llvm::StringRef name : names) {
    const TensorRecord &tensor = tensors[name];
    // An archive without its weights can be looked at and estimated; whoever
    // reads them says that they are not there.
    if (kind == "weights" && !archive.hasRecord(tensor.record))
      continue;
    llvm::Expected<uint64_t> bytes = archive.recordBytes(tensor.record);
    if (!bytes)
      return bytes.takeError();
    if (llvm::Error error = checkExtent(name, tensor, *bytes, archive.where()))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<Program> readProgram(Archive &archive) {
  llvm::Expected<ZipData> json = archive.programJson();
  if (!json)
    return json.takeError();
  Program program;
  if (llvm::Error error =
          readProgramJson(json->text(), archive.where(), program))
    return std::move(error);
  if (llvm::Error error = readTensors(archive, "weights", program.weights))
    return std::move(error);
  if (llvm::Error error = readTensors(archive, "constants", program.constants))
    return std::move(error);
  return program;
}

} // namespace ft::pt2
