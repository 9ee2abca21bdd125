//===- VocabularyGen.cpp - AtenOps.def → C++ functions ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ft-vocabulary DIR: writes the vocabulary of the tracing API, one function for
// each overload of the table.
//
//   FT_ATEN(pointwise, "add.Tensor",
//           "Tensor self, Tensor other, *, Scalar alpha=1", "Tensor")
// becomes, in foretrace/trace/ops/pointwise.h,
//   Tensor add(const Tensor &self, const Tensor &other,
//              const Scalar &alpha = Scalar(1), Here here = Here::current());
// a method `add(other, alpha, here)` of Tensor, and their definitions in
// Vocabulary<n>.cpp.
//
// Where C++ differs from the schema:
// - `out=` forms are NAME_out and take the written tensors first.
// - A required argument behind ones with defaults takes their defaults away.
// - Two overloads that C++ could not tell apart when called with few arguments:
//   the later one asks for one argument more (`all(x)` is all.default, not
//   all.dims). One that is never told apart is left out, and named in the
//   header.
// - layout and pin_memory, of which there is one choice each, come last.
// - Generators are left out; names of the form __and__ belong to Python.

#include "dialects/ft/Schema.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cctype>
#include <cmath>

using namespace ft;
using llvm::StringRef;
using llvm::Twine;

namespace {
struct Parameter {
  std::string type, name, defaultText;
  /// Position in the schema.
  unsigned arg = 0;
  bool hasDefault = false;
};

struct Function {
  const Schema *schema = nullptr;
  std::string name, result;
  std::vector<Parameter> parameters;
  bool method = false;
};
} // namespace

static constexpr unsigned kSources = 4;

//===----------------------------------------------------------------------===//
// Types and defaults
//===----------------------------------------------------------------------===//

static std::string listType(const SchemaType &type) {
  switch (type.kind) {
  case SchemaType::Tensor:
    return "TensorList";
  case SchemaType::Int:
    return std::string(type.optional ? "Optional" : "") +
           (type.fixedLength ? "IntsOrOne"
            : type.optional  ? "Ints"
                             : "IntList");
  case SchemaType::Float:
    return type.optional ? "OptionalFloats" : "FloatList";
  case SchemaType::Bool:
    return "BoolList";
  case SchemaType::Scalar:
    return "ScalarList";
  default:
    return "";
  }
}

static std::string cxxType(const SchemaType &type) {
  if (type.list)
    return listType(type);
  std::string name;
  switch (type.kind) {
  case SchemaType::Tensor:
    return "const Tensor &";
  case SchemaType::Int:
    name = "SymInt";
    break;
  case SchemaType::Float:
    name = "double";
    break;
  case SchemaType::Bool:
    name = "Flag";
    break;
  case SchemaType::Scalar:
    return type.optional ? "const Optional<Scalar> &" : "const Scalar &";
  case SchemaType::Str:
    name = "Text";
    break;
  case SchemaType::DType:
    name = "ScalarType";
    break;
  case SchemaType::Layout:
    name = "Layout";
    break;
  case SchemaType::Device:
    name = "DeviceId";
    break;
  case SchemaType::MemoryFormat:
    name = "MemoryFormat";
    break;
  case SchemaType::Generator:
  case SchemaType::Storage:
    return "";
  }
  return type.optional ? "Optional<" + name + ">" : name;
}

static std::string numberText(double value) {
  if (std::isinf(value))
    return value < 0 ? "-__builtin_inf()" : "__builtin_inf()";
  if (std::isnan(value))
    return "__builtin_nan(\"\")";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.17g", value);
  if (StringRef(text).find_first_of(".en") == StringRef::npos)
    text += ".0";
  return text;
}

static std::string defaultText(const Arg &value, const SchemaType &type) {
  std::string text;
  switch (value.kind) {
  case Arg::None:
    return "{}";
  case Arg::Int:
    text = std::to_string(value.dim.value());
    if (value.dim.value() == std::numeric_limits<int64_t>::max())
      text = "INT64_MAX";
    break;
  case Arg::Float:
    text = numberText(value.real);
    break;
  case Arg::Bool:
    text = value.boolean ? "true" : "false";
    break;
  case Arg::Str:
    if (type.kind == SchemaType::MemoryFormat)
      return "MemoryFormat::Contiguous";
    return "\"" + value.str + "\"";
  case Arg::DType:
    return "kInt64";
  case Arg::List:
    for (const Arg &item : value.list)
      text += (text.empty() ? "" : ", ") + defaultText(item, SchemaType(type));
    if (type.kind == SchemaType::Int)
      return value.list.empty() ? "IntList()" : "IntList({" + text + "})";
    return "{" + text + "}";
  default:
    return "{}";
  }
  if (type.kind == SchemaType::Scalar && !type.list)
    return "Scalar(" + text + ")";
  return text;
}

/// A list that has a default is passed by that value's own type.
static std::string listDefault(const Arg &value, const SchemaType &type) {
  std::string text = defaultText(value, type);
  if (!StringRef(text).consume_front("IntList"))
    return text;
  return cxxType(type) + text.substr(7);
}

static std::string resultType(const Schema &schema) {
  auto one = [](const SchemaType &type) -> std::string {
    if (type.kind == SchemaType::Tensor)
      return type.list ? "Tensors" : "Tensor";
    return type.list ? "std::vector<SymInt>" : "Scalar";
  };
  if (schema.returns.empty())
    return "void";
  if (schema.returns.size() == 1)
    return one(schema.returns[0]);
  std::string text = "Tuple<";
  for (size_t i = 0; i < schema.returns.size(); ++i)
    text += (i ? ", " : "") + one(schema.returns[i]);
  return text + ">";
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static std::string identifier(StringRef name) {
  static const llvm::StringSet<> taken{
      "and",  "bool", "const",  "default", "double", "float", "int",
      "long", "not",  "or",     "short",   "signed", "xor",   "std",
      "this", "char", "switch", "union",   "new",    "delete"};
  return taken.contains(name) ? (name + "_").str() : name.str();
}

/// What Tensor answers by itself.
static bool isHandwritten(StringRef name) {
  static const llvm::StringSet<> names{
      "dim",           "item",    "size",
      "stride",        "numel",   "is_floating_point",
      "is_complex",    "is_conj", "is_neg",
      "device",        "dtype",   "storage_offset",
      "is_same",       "is_leaf", "ok",
      "is_cpu",        "is_cuda", "is_meta",
      "is_contiguous", "name",    "str",
      "rank",          "error",   "requires_grad_"};
  return names.contains(name);
}

/// In the order that C++ callers give them: written outputs, then the schema's
/// order with layout and pin_memory last.
static std::vector<unsigned> parameterOrder(const Schema &schema, bool out) {
  std::vector<unsigned> first, middle, last;
  for (unsigned i = 0; i < schema.args.size(); ++i) {
    const SchemaArg &arg = schema.args[i];
    if (out && arg.type.write && arg.keywordOnly)
      first.push_back(i);
    else if (arg.keywordOnly &&
             (arg.name == "layout" || arg.name == "pin_memory"))
      last.push_back(i);
    else
      middle.push_back(i);
  }
  first.insert(first.end(), middle.begin(), middle.end());
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

static bool isOut(const Schema &schema) {
  return llvm::any_of(schema.args, [](const SchemaArg &arg) {
    return arg.keywordOnly && arg.type.write;
  });
}

static Function functionOf(const Schema &schema) {
  Function f;
  f.schema = &schema;
  bool out = isOut(schema);
  f.name = identifier(schema.base) + (out ? "_out" : "");
  f.result = resultType(schema);
  for (unsigned i : parameterOrder(schema, out)) {
    const SchemaArg &arg = schema.args[i];
    Parameter p{cxxType(arg.type), identifier(arg.name), "", i, arg.hasDefault};
    if (p.type.empty())
      continue;
    if (arg.hasDefault)
      p.defaultText = arg.type.list ? listDefault(arg.defaultValue, arg.type)
                                    : defaultText(arg.defaultValue, arg.type);
    f.parameters.push_back(std::move(p));
  }
  bool needed = false;
  for (Parameter &p : llvm::reverse(f.parameters)) {
    needed |= !p.hasDefault;
    p.hasDefault &= !needed;
  }
  f.method = !out && !schema.args.empty() && schema.args[0].name == "self" &&
             schema.args[0].type.kind == SchemaType::Tensor &&
             !schema.args[0].type.list && !schema.args[0].type.optional &&
             !schema.base.starts_with("_") &&
             !schema.base.ends_with("_backward") && !isHandwritten(f.name);
  return f;
}

static size_t requiredOf(const Function &f) {
  size_t n = 0;
  while (n < f.parameters.size() && !f.parameters[n].hasDefault)
    ++n;
  return n;
}

/// Makes `f` differ from `other` at every number of arguments that both take;
/// false if they never do.
static bool tellApart(Function &f, const Function &other) {
  for (;;) {
    size_t least = requiredOf(f);
    bool clash = false;
    for (size_t n = least; n <= f.parameters.size() && !clash; ++n) {
      if (n < requiredOf(other) || n > other.parameters.size())
        continue;
      clash = true;
      for (size_t i = 0; i < n; ++i)
        clash &= f.parameters[i].type == other.parameters[i].type;
    }
    if (!clash)
      return true;
    if (least == f.parameters.size())
      return false;
    f.parameters[least].hasDefault = false;
  }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void writeParameters(llvm::raw_ostream &os, const Function &f,
                            size_t from, bool defaults) {
  StringRef separator = "";
  for (const Parameter &p : llvm::ArrayRef(f.parameters).drop_front(from)) {
    os << separator << p.type << (StringRef(p.type).ends_with("&") ? "" : " ")
       << p.name;
    if (defaults && p.hasDefault)
      os << " = " << p.defaultText;
    separator = ", ";
  }
  os << separator << "Here here" << (defaults ? " = Here::current()" : "");
}

static std::string head(StringRef file, StringRef about) {
  return ("//===- " + file + " - " + about +
          " ---*- C++ -*-===//\n"
          "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
          "//\n// Generated from AtenOps.def by VocabularyGen.cpp.\n\n")
      .str();
}

static void writeBody(llvm::raw_ostream &os, const Function &f) {
  const Schema &schema = *f.schema;
  llvm::SmallVector<StringRef> names(schema.args.size());
  for (const Parameter &p : f.parameters)
    names[p.arg] = p.name;
  os << "  const detail::OpArg args[] = {";
  llvm::interleaveComma(names, os, [&](StringRef name) {
    if (name.empty())
      os << "{}";
    else
      os << "detail::OpArg(" << name << ")";
  });
  if (names.empty())
    os << "{}";
  os << "};\n";
  std::string call = ("(" + Twine(schema.index) + ", args, " +
                      Twine(schema.args.size()) + ", here)")
                         .str();
  if (f.result == "Tensor") {
    os << "  return detail::callTensor" << call << ";\n";
    return;
  }
  os << (f.result == "void" ? "  (void)" : "  detail::CallResults r = ")
     << "detail::callAll" << call << ";\n";
  auto one = [](const SchemaType &type, size_t i) {
    std::string what = type.kind == SchemaType::Tensor
                           ? (type.list ? "tensors" : "tensor")
                           : (type.list ? "integers" : "number");
    return "r." + what + "(" + std::to_string(i) + ")";
  };
  if (schema.returns.size() == 1) {
    os << "  return " << one(schema.returns[0], 0) << ";\n";
  } else if (!schema.returns.empty()) {
    os << "  return {";
    for (size_t i = 0; i < schema.returns.size(); ++i)
      os << (i ? ", " : "") << one(schema.returns[i], i);
    os << "};\n";
  }
}

static bool writeFile(StringRef directory, const Twine &name, StringRef text) {
  std::string path = (directory + "/" + name).str();
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error) {
    llvm::errs() << path << ": " << error.message() << '\n';
    return false;
  }
  os << text;
  return true;
}

static std::string scalarTypes() {
  struct Row {
    const char *name, *torch;
  };
  static const Row rows[] = {
#define FT_DTYPE(name, torchName, bytes, dlpackCode) {#name, torchName},
#include "dialects/ft/DTypes.def"
#undef FT_DTYPE
  };
  std::string text;
  for (const Row &row : rows) {
    // "float8_e4m3fn" → kFloat8E4m3fn
    std::string constant = "k";
    bool upper = true;
    for (char c : StringRef(row.torch)) {
      if (c == '_') {
        upper = true;
        continue;
      }
      constant += upper ? static_cast<char>(std::toupper(c)) : c;
      upper = false;
    }
    text +=
        (Twine("FT_SCALAR_TYPE(") + row.name + ", " + constant + ")\n").str();
  }
  return text;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  StringRef directory = argv[1];
  std::string include = (directory + "/include/foretrace/trace").str();
  if (llvm::sys::fs::create_directories(include + "/ops"))
    return 1;

  std::vector<Function> functions;
  llvm::MapVector<StringRef, std::vector<const Schema *>> leftOut;
  llvm::StringMap<std::vector<size_t>> byName;
  for (const Schema &schema : SchemaTable::get().all()) {
    if (schema.family == "sym" || schema.base.starts_with("__"))
      continue;
    Function f = functionOf(schema);
    std::vector<size_t> &siblings = byName[f.name];
    if (!llvm::all_of(siblings,
                      [&](size_t i) { return tellApart(f, functions[i]); })) {
      leftOut[schema.family].push_back(&schema);
      continue;
    }
    siblings.push_back(functions.size());
    functions.push_back(std::move(f));
  }

  llvm::MapVector<StringRef, std::string> families;
  std::string methods, sources[kSources];
  for (auto [i, f] : llvm::enumerate(functions)) {
    std::string &family = families[f.schema->family];
    llvm::raw_string_ostream header(family), inClass(methods),
        source(sources[i * kSources / functions.size()]);
    header << "FORETRACE_API " << f.result << ' ' << f.name << '(';
    writeParameters(header, f, 0, true);
    header << ");\n";
    source << f.result << " ops::" << f.name << '(';
    writeParameters(source, f, 0, false);
    source << ") {\n";
    writeBody(source, f);
    source << "}\n";
    if (!f.method)
      continue;
    inClass << f.result << ' ' << f.name << '(';
    writeParameters(inClass, f, 1, true);
    inClass << ") const;\n";
    source << f.result << " Tensor::" << f.name << '(';
    writeParameters(source, f, 1, false);
    source << ") const {\n  return ops::" << f.name << "(*this";
    for (const Parameter &p : llvm::ArrayRef(f.parameters).drop_front())
      source << ", " << p.name;
    source << ", here);\n}\n";
  }

  bool ok = writeFile(include, "TensorMethods.inc", methods) &&
            writeFile(include, "ScalarTypes.inc", scalarTypes());
  std::string all;
  for (auto &[family, text] : families) {
    std::string file = (family + ".h").str();
    std::string guard = "FORETRACE_TRACE_OPS_" + family.upper() + "_H";
    std::string body = head(file, "Calls of a family of operators");
    for (const Schema *schema : leftOut.lookup(family))
      body +=
          ("// Not told apart from another overload by C++: " + schema->name +
           "\n")
              .str();
    body += ("#ifndef " + Twine(guard) + "\n#define " + guard +
             "\n\n#include \"foretrace/trace/Tensor.h\"\n\nnamespace ft::ops "
             "{\n" +
             text + "} // namespace ft::ops\n\n#endif\n")
                .str();
    ok = ok && writeFile(include, "ops/" + file, body);
    all += ("#include \"foretrace/trace/ops/" + Twine(file) + "\"\n").str();
  }
  ok = ok &&
       writeFile(include, "Ops.h", head("Ops.h", "The whole vocabulary") + all);
  for (unsigned n = 0; n < kSources; ++n)
    ok = ok &&
         writeFile(directory, "Vocabulary" + Twine(n) + ".cpp",
                   "#include \"compiler/trace/OpArg.h\"\n"
                   "#include \"foretrace/trace/Ops.h\"\n\nnamespace ft {\n" +
                       sources[n] + "} // namespace ft\n");
  return ok ? 0 : 1;
}
