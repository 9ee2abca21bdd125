//===- Schema.h - An exported program as the archive has it ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain structs for schema major 8. Unknown fields are ignored: the format adds
// fields within a major version. A missing key or a value of another type is
// FT0201 with its place in the JSON ("graph_module.graph.nodes[3].target: …"),
// another major version FT0205.

#ifndef FORETRACE_COMPILER_IMPORT_PT2_SCHEMA_H
#define FORETRACE_COMPILER_IMPORT_PT2_SCHEMA_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ft::pt2 {

class Archive;

/// An element type: its number in the schema, PyTorch's name, and its width.
struct ScalarType {
  int64_t code;
  llvm::StringLiteral name;
  uint64_t bytes;
};
/// Null for a number that the schema does not have.
const ScalarType *findScalarType(int64_t code);

/// The names of the schema's layouts and memory formats ("strided",
/// "channels_last"); empty for an unknown number.
llvm::StringRef layoutName(int64_t code);
llvm::StringRef memoryFormatName(int64_t code);

/// A size, stride, offset or symbolic scalar: a number, or the text of an
/// expression in sympy's srepr with the value it had when it was exported.
struct SymValue {
  int64_t number = 0;
  std::string expr; // empty: `number`
  std::optional<int64_t> hint;
};

struct Device {
  std::string type;
  std::optional<int64_t> index;
  std::string str() const {
    return index ? type + ":" + std::to_string(*index) : type;
  }
};

/// What the archive says of a tensor. Numbers are not negative.
struct TensorInfo {
  const ScalarType *dtype = nullptr;
  std::vector<SymValue> sizes;
  std::vector<SymValue> strides;
  SymValue offset;
  Device device;
  std::string layout;
  bool requiresGrad = false;
};

struct Graph;

/// One member of the union `Argument`. Lists hold their elements in `list`,
/// which are of the kind that the list's name says, or None where optional; a
/// symbolic number is its name (SymInt, SymFloat, SymBool) or the number (Int,
/// Float, Bool), in lists too.
struct Argument {
  enum Kind : uint8_t {
    None,
    Tensor, // text: the value's name
    SymInt, // text: the value's name
    SymFloat,
    SymBool,
    CustomObject, // text: the value's name
    Int,          // integer
    Float,        // real
    Bool,         // integer
    Complex,      // real, imag
    String,       // text
    ScalarType,   // integer: the schema's number
    MemoryFormat,
    Layout,
    Device,   // device
    Graph,    // graph; text: its name
    Operator, // text
    List,     // list, also nested
    Dict      // text of keys in `keys`, values in `list`
  };
  Kind kind = None;
  int64_t integer = 0;
  double real = 0, imag = 0;
  std::string text;
  pt2::Device device;
  std::vector<Argument> list;
  std::vector<std::string> keys;
  std::shared_ptr<pt2::Graph> graph;
};

struct NamedArgument {
  std::string name; // may be empty: positional
  Argument value;
};

struct Node {
  std::string name;   // empty in older archives
  std::string target; // "torch.ops.aten.add.Tensor", "_operator.mul"
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  std::string stackTrace;
  std::string moduleStack;
};

struct Graph {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<Node> nodes;
  llvm::StringMap<TensorInfo> tensors;
  llvm::StringMap<SymValue> symInts;
  /// Raw text of expressions; these are printed, not computed with.
  llvm::StringMap<std::string> symFloats;
  llvm::StringMap<std::string> symBools;
};

struct InputSpec {
  enum Kind : uint8_t {
    UserInput,
    Parameter,
    Buffer,
    TensorConstant,
    CustomObject,
    Token,
    ConstantInput
  };
  Kind kind = UserInput;
  Argument arg;       // the value's name; a constant of the signature
  std::string target; // "layer.0.weight"
  bool persistent = true;
};

struct OutputSpec {
  enum Kind : uint8_t {
    UserOutput,
    LossOutput,
    BufferMutation,
    ParameterMutation,
    GradientToParameter,
    GradientToUserInput,
    UserInputMutation,
    Token
  };
  Kind kind = UserOutput;
  Argument arg;
  std::string target; // what is written
};

/// The range of a symbol; none: unbounded on that side.
struct Range {
  std::string symbol;
  std::optional<int64_t> lower, upper;
};

/// A tensor of the archive: a view of the storage in a record. Checked: all
/// numbers are static and not negative, and the record is long enough.
struct TensorRecord {
  TensorInfo info;
  std::string record; // "data/weights/weight_0"
  bool isParameter = false;
};

struct Program {
  int64_t major = 0, minor = 0;
  std::string torchVersion;
  std::string dialect; // "TRAINING", "ATEN"
  Graph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<Range> ranges; // sorted by symbol
  std::vector<std::string> guards;
  /// By name in the model; of the weights and the constants.
  llvm::StringMap<TensorRecord> weights;
  llvm::StringMap<TensorRecord> constants;
};

/// Reads the program of an archive; weights are checked but not touched.
llvm::Expected<Program> readProgram(Archive &archive);

/// The pieces of readProgram, for tests and fuzzing.
llvm::Error readProgramJson(llvm::StringRef json, llvm::StringRef where,
                            Program &program);
/// Reads a configuration of tensors into `tensors`; `folder` is the part in
/// front of the record's name ("data/weights/").
llvm::Error readTensorConfig(llvm::StringRef json, llvm::StringRef where,
                             llvm::StringRef folder,
                             llvm::StringMap<TensorRecord> &tensors);
/// Whether a record of `bytes` holds the tensor; FT0202 if not.
llvm::Error checkExtent(llvm::StringRef name, const TensorRecord &tensor,
                        uint64_t bytes, llvm::StringRef where);

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_SCHEMA_H
