//===- HeaderText.cpp - The C header of a compiled model -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/HeaderText.h"

#include "foretrace/runtime.h"

#include "compiler/emit/Descriptor.h"
#include "compiler/emit/Emit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace ft {

/// runtime/include/foretrace/runtime.h, put here by the build.
static const char kRuntimeHeader[] =
#include "compiler/emit/RuntimeHeaderText.inc"
    ;

std::string cIdentifier(llvm::StringRef text) {
  static const char *const kKeywords[] = {
#define FT_WORD(word) #word,
#include "compiler/emit/Keywords.def"
  };
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  // What the runtime's header declares (ft_status, FT_OK, DLTensor, kDLInt) and
  // takes from the C library.
  bool taken = llvm::is_contained(kKeywords, name) ||
               llvm::StringRef(name + "_").starts_with_insensitive("ft_") ||
               llvm::StringRef(name).starts_with("DL") ||
               llvm::StringRef(name).starts_with("kDL");
  if (name.empty() || llvm::isDigit(name[0]) || name[0] == '_' || taken)
    name = "m_" + name;
  return name;
}

std::string dtypeName(AbiDType dtype) {
  std::string bits = std::to_string(dtype.bits);
  switch (dtype.code) {
  case kDLInt:
    return "int" + bits;
  case kDLUInt:
    return "uint" + bits;
  case kDLFloat:
    return "float" + bits;
  case kDLBfloat:
    return "bfloat" + bits;
  case kDLComplex:
    return "complex" + bits;
  case FT_DL_BOOL:
    return "bool";
  default:
    return "dtype" + std::to_string(dtype.code) + "_" + bits;
  }
}

/// What a C program keeps the elements in.
static std::string cType(AbiDType dtype) {
  std::string bits = std::to_string(dtype.bits);
  switch (dtype.code) {
  case kDLInt:
    return "int" + bits + "_t";
  case kDLUInt:
    return "uint" + bits + "_t";
  case kDLFloat:
    if (dtype.bits == 32)
      return "float";
    if (dtype.bits == 64)
      return "double";
    return "uint" + bits + "_t";
  case kDLComplex:
    if (dtype.bits == 64)
      return "float";
    if (dtype.bits == 128)
      return "double";
    return "void";
  case FT_DL_BOOL:
    return "bool";
  default:
    return dtype.bits == 16 ? "uint16_t" : "void";
  }
}

static std::string dims(const AbiValue &value) {
  std::string text = "[";
  for (size_t i = 0; i < value.sizes.size(); ++i)
    text +=
        (i ? ", " : "") +
        (value.dims.empty() ? std::to_string(value.sizes[i]) : value.dims[i]);
  return text + "]";
}

/// How a reader of the header is told what lies behind a pointer.
static std::string typeNote(const AbiValue &value) {
  std::string text = dtypeName(value.dtype) + " " + dims(value);
  if (value.dtype.code == kDLComplex)
    text += ", pairs of real and imaginary part";
  else if ((value.dtype.code == kDLFloat || value.dtype.code == kDLBfloat) &&
           value.dtype.bits == 16)
    text += ", the bits of each";
  if (value.written)
    text += ", changed by the call";
  if (value.hasGradient)
    text += ", has a gradient";
  return text;
}

/// Names come from the user's model; one that could end the comment may not.
static std::string commentText(llvm::StringRef text) {
  std::string safe;
  for (char c : text) {
    bool ends = c == '/' && !safe.empty() && safe.back() == '*';
    bool starts = c == '*' && !safe.empty() && safe.back() == '/';
    safe += ends || starts || c == '\n' || c == '\r' ? ' ' : c;
  }
  return safe;
}

namespace {
/// A parameter of the typed wrapper.
struct Argument {
  const AbiValue *value;
  std::string name;
};
} // namespace

static std::vector<Argument> nameArguments(llvm::ArrayRef<AbiValue> values,
                                           llvm::StringRef fallback,
                                           llvm::StringSet<> &taken) {
  std::vector<Argument> arguments;
  for (const auto &[i, value] : llvm::enumerate(values)) {
    std::string base = value.name.empty() ? (fallback + llvm::Twine(i)).str()
                                          : cIdentifier(value.name);
    std::string name = base;
    for (int n = 2; taken.contains(name) || taken.contains(name + "_shape");
         ++n)
      name = base + "_" + std::to_string(n);
    taken.insert(name);
    taken.insert(name + "_shape");
    arguments.push_back({&value, name});
  }
  return arguments;
}

/// "2 or more", "at most 64", "2 to 64"; empty for any size.
static std::string rangeText(const AbiSymbol &symbol) {
  bool low = symbol.lower > 0;
  bool high = symbol.upper < std::numeric_limits<int64_t>::max();
  std::string lower = std::to_string(symbol.lower);
  std::string upper = std::to_string(symbol.upper);
  if (low && high)
    return lower + " to " + upper;
  return low ? lower + " or more" : high ? "at most " + upper : "";
}

static void writeTable(llvm::raw_ostream &os, const llvm::Twine &title,
                       llvm::ArrayRef<const AbiValue *> values) {
  if (values.empty())
    return;
  os << " *\n * " << title << ":\n";
  for (const auto &[i, value] : llvm::enumerate(values))
    os << " *   " << i << "  " << commentText(value->name) << "  "
       << commentText(typeNote(*value)) << "\n";
}

static void writeHead(llvm::raw_ostream &os, const Artefact &a,
                      llvm::StringRef compileId, llvm::StringRef file) {
  os << "/* " << commentText(file) << ".h - Calls the compiled model "
     << commentText(file) << ".so.\n * Written by " << compilerVersion()
     << "; compile id " << compileId << ".\n *\n * Built for the CPU "
     << commentText(a.cpu) << "; loading it on one that lacks\n"
     << " * what it uses fails with a sentence. `forward` works in "
     << a.arenaBytes << " bytes for each concurrent call"
     << (a.symbols.empty() ? "" : "\n * of the example's sizes") << ".\n";
  std::vector<const AbiValue *> in, out, state;
  for (const AbiValue &v : a.inputs)
    in.push_back(&v);
  for (const AbiValue &v : a.outputs)
    out.push_back(&v);
  for (const AbiState &s : a.state)
    state.push_back(&s);
  writeTable(os, "Inputs", in);
  writeTable(os, "Outputs", out);
  writeTable(os, "Parameters and buffers (index for read_state)", state);
  std::vector<const AbiValue *> optimizer;
  for (const AbiValue &v : a.optimizerState)
    optimizer.push_back(&v);
  writeTable(os, "State of the optimizer " + a.optimizer, optimizer);
  if (llvm::any_of(a.symbols, [](const AbiSymbol &s) { return s.input >= 0; }))
    os << " *\n * Sizes:\n";
  for (const AbiSymbol &s : a.symbols)
    if (s.input >= 0) {
      std::string range = rangeText(s);
      os << " *   " << commentText(s.title) << "  "
         << (range.empty() ? "any" : range) << "\n";
    }
  if (!a.guards.empty())
    os << " *\n * Sizes must satisfy:\n";
  for (const AbiGuard &g : a.guards)
    os << " *   " << commentText(g.text) << "   (" << commentText(g.source)
       << ")\n";
  os << " */\n";
}

/// The sizes that the caller gives, by their places among the symbols.
static std::vector<std::pair<size_t, std::string>>
nameSizes(const Artefact &a, llvm::StringSet<> &taken) {
  std::vector<std::pair<size_t, std::string>> names;
  for (const auto &[i, symbol] : llvm::enumerate(a.symbols)) {
    if (symbol.input < 0)
      continue;
    std::string base = cIdentifier(symbol.title), name = base;
    for (int n = 2; !taken.insert(name).second; ++n)
      name = base + "_" + std::to_string(n);
    names.emplace_back(i, name);
  }
  return names;
}

namespace {
/// The typed forward: pointers to row-major data, and the sizes of the symbols.
/// Of a model that is trained the typed step, which takes the state and gives
/// gradients besides.
class ForwardWriter {
public:
  ForwardWriter(llvm::raw_ostream &os, const Artefact &a) : os(os), a(a) {
    for (const char *own :
         {"model", "options", "input_tensors", "output_tensors", "status",
          "ft_tensor", "int64_t", "symbol_values", "state", "gradients", "call",
          "memset", "optimizer", "optimizer_options", "input_gradients"})
      taken.insert(own);
    taken.insert(a.name + "_api");
    sizes = nameSizes(a, taken);
    in = nameArguments(a.inputs, "input", taken);
    out = nameArguments(a.outputs, "output", taken);
  }

  void write() {
    writeComment();
    writeParameters();
    writeShapes();
    if (!in.empty())
      os << "  DLTensor input_tensors[" << in.size() << "];\n";
    if (!out.empty())
      os << "  DLTensor output_tensors[" << out.size() << "];\n";
    os << "  ft_status status;\n";
    writeTensors("input_tensors", in);
    writeTensors("output_tensors", out);
    writeCall();
  }

private:
  std::string tensors(bool inputs) const {
    size_t count = (inputs ? in : out).size();
    llvm::StringRef array = inputs ? "input_tensors" : "output_tensors";
    return ((count ? array : "NULL") + ", " + llvm::Twine(count)).str();
  }

  void writeComment() {
    const char *what = !isTrained() ? "/* Runs the model"
                       : hasOptimizer()
                           ? "/* One step, forward, backward and update,"
                           : "/* One step, forward and backward,";
    os << what << " on row-major data";
    if (!sizes.empty())
      os << " of the given sizes";
    os << ".\n";
    for (const auto &[symbol, name] : sizes) {
      const AbiSymbol &size = a.symbols[symbol];
      os << " *   " << name;
      if (name != size.title)
        os << ": " << commentText(size.title);
      if (std::string range = rangeText(size); !range.empty())
        os << (name == size.title ? ": " : ", ") << range;
      os << "\n";
    }
    for (const Argument &arg : llvm::concat<const Argument>(in, out))
      os << " *   " << arg.name << ": " << commentText(typeNote(*arg.value))
         << "\n";
    if (llvm::any_of(a.outputs, [](const AbiValue &v) { return v.found; }))
      os << " * Sizes of some outputs depend on data: the DLTensor has a shape "
            "with room for\n"
         << " * them, and data from the caller (of the sizes that come out) or "
            "NULL, which\n"
         << " * asks options->allocate.\n";
    if (givesInputGradients())
      os << " *   input_gradients: a tensor for each input, written where it "
            "is "
            "flagged\n *   FT_VALUE_GRADIENT\n";
    if (hasOptimizer())
      os << " *   optimizer: its state, as " << a.name
         << "_init_state set it; optimizer_options: NULL for\n *   the "
            "defaults\n";
    if (isTrained())
      os << " *   state, gradients: a tensor for each parameter and buffer, in "
            "the order\n *   above; gradients are written, and buffers that "
            "the "
            "model writes\n * The gradients are those of the sum of the "
            "outputs. options may be NULL. Forward and\n * backward alone, "
            "other "
            "gradients of the outputs: "
         << a.name << "_api()->train. */\n";
    else
      os << " * options may be NULL. Other strides, and outputs from an "
            "allocator:\n"
         << " * " << a.name << "_api()->forward. */\n";
  }

  void writeParameters() {
    os << "static inline ft_status " << a.name
       << (isTrained() ? "_step" : "_forward") << "(ft_model *model";
    for (const auto &[symbol, name] : sizes)
      os << ",\n    int64_t " << name;
    for (const Argument &arg : in)
      os << ",\n    " << (arg.value->written ? "" : "const ")
         << cType(arg.value->dtype) << " *" << arg.name;
    for (const Argument &arg : out)
      os << ",\n    "
         << (arg.value->found ? "DLTensor" : cType(arg.value->dtype)) << " *"
         << arg.name;
    if (isTrained())
      os << ",\n    DLTensor *state,\n    DLTensor *gradients";
    if (givesInputGradients())
      os << ",\n    DLTensor *input_gradients";
    if (hasOptimizer())
      os << ",\n    DLTensor *optimizer,\n    const ft_optimizer_options "
            "*optimizer_options";
    os << ",\n    const ft_call_options *options) {\n";
  }

  bool isTrained() const { return !a.programs.empty(); }
  bool hasOptimizer() const { return !a.optimizer.empty(); }
  bool givesInputGradients() const {
    return llvm::any_of(a.inputs,
                        [](const AbiValue &v) { return v.hasGradient; });
  }

  /// The statement that calls the model.
  std::string call() const {
    if (!isTrained())
      return a.name + "_api()->forward(model, " + tensors(true) + ", " +
             tensors(false) + ", options);\n";
    return a.name + "_api()->train(model, &call);\n";
  }

  /// Sizes that the symbols decide are filled in by the model's own queries.
  void writeShapes() {
    for (const Argument &arg : llvm::concat<const Argument>(in, out)) {
      if (arg.value->sizes.empty() || arg.value->found)
        continue;
      if (!sizes.empty()) {
        os << "  int64_t " << arg.name << "_shape[" << arg.value->sizes.size()
           << "];\n";
        continue;
      }
      os << "  static const int64_t " << arg.name << "_shape[] = {";
      llvm::interleaveComma(arg.value->sizes, os);
      os << "};\n";
    }
    if (sizes.empty())
      return;
    os << "  int64_t symbol_values[" << a.symbols.size() << "] = {0};\n";
  }

  void writeTensors(llvm::StringRef array, llvm::ArrayRef<Argument> arguments) {
    for (const auto &[i, argument] : llvm::enumerate(arguments)) {
      const AbiValue &value = *argument.value;
      if (value.found) {
        os << "  " << array << "[" << i << "] = ";
        // Its shape is the caller's: the query would write into it.
        os << (sizes.empty() ? "*" + argument.name
                             : "ft_tensor(NULL, 0, 0, 0, NULL)")
           << ";\n";
        continue;
      }
      os << "  " << array << "[" << i << "] = ft_tensor(" << argument.name
         << ", " << unsigned(value.dtype.code) << ", "
         << unsigned(value.dtype.bits) << ", " << value.sizes.size() << ", ";
      if (value.sizes.empty())
        os << "NULL";
      else
        os << argument.name << "_shape";
      os << ");\n";
    }
  }

  void writeCall() {
    std::string api = a.name + "_api()->";
    std::string forward = call();
    if (isTrained())
      os << "  ft_train_call call;\n  memset(&call, 0, sizeof call);\n"
         << "  call.struct_size = sizeof call;\n"
         << "  call.phase = FT_TRAIN_STEP;\n"
         << "  call.num_inputs = " << in.size() << ";\n"
         << "  call.num_outputs = " << out.size() << ";\n"
         << "  call.num_state = " << a.state.size() << ";\n"
         << "  call.inputs = " << (in.empty() ? "NULL" : "input_tensors")
         << ";\n  call.outputs = " << (out.empty() ? "NULL" : "output_tensors")
         << ";\n"
         << "  call.state = state;\n  call.gradients = gradients;\n"
         << (givesInputGradients()
                 ? "  call.input_gradients = input_gradients;\n"
                 : "")
         << (hasOptimizer() ? "  call.optimizer = optimizer;\n"
                              "  call.optimizer_options = optimizer_options;\n"
                            : "")
         << "  call.options = options;\n";
    if (sizes.empty()) {
      os << "  status = " << forward;
    } else {
      for (const auto &[symbol, name] : sizes)
        os << "  symbol_values[" << symbol << "] = " << name << ";\n";
      os << "  status = " << api << "input_shapes(model, symbol_values, "
         << a.symbols.size() << ", " << tensors(true) << ");\n"
         << "  if (status.code == FT_OK)\n    status = " << api
         << "output_shapes(model, " << tensors(true) << ", " << tensors(false)
         << ");\n";
      for (const auto &[i, arg] : llvm::enumerate(out))
        if (arg.value->found)
          os << "  output_tensors[" << i << "] = *" << arg.name << ";\n";
      os << "  if (status.code == FT_OK)\n    status = " << forward;
    }
    for (const auto &[i, arg] : llvm::enumerate(out))
      if (arg.value->found)
        os << "  *" << arg.name << " = output_tensors[" << i << "];\n";
    os << "  return status;\n}\n\n";
  }

  llvm::raw_ostream &os;
  const Artefact &a;
  llvm::StringSet<> taken;
  std::vector<std::pair<size_t, std::string>> sizes;
  std::vector<Argument> in, out;
};
} // namespace

/// What a model with an optimizer has besides its step.
static void writeOptimizer(llvm::raw_ostream &os, const Artefact &a) {
  if (a.optimizer.empty())
    return;
  os << "/* The defaults of the optimizer's hyperparameters, to change. */\n"
     << "static inline ft_optimizer_options " << a.name
     << "_optimizer_options(void) {\n  return *" << a.name
     << "_api()->info->optimizer_defaults;\n}\n\n"
     << "/* Sets the caller's state of the optimizer to that before the first "
        "step,\n * one tensor each in the order above. */\n"
     << "static inline ft_status " << a.name
     << "_init_state(ft_model *model,\n    DLTensor *optimizer, int32_t "
        "num_optimizer) {\n  return "
     << a.name
     << "_api()->init_optimizer(model, optimizer,\n    num_optimizer);\n}\n\n"
     << "/* The update alone: changes state and optimizer by gradients. */\n"
     << "static inline ft_status " << a.name
     << "_update(ft_model *model,\n    DLTensor *state, DLTensor *gradients, "
        "DLTensor *optimizer,\n    const ft_optimizer_options "
        "*optimizer_options,\n    const ft_call_options *options) {\n"
     << "  ft_train_call call;\n  memset(&call, 0, sizeof call);\n"
     << "  call.struct_size = sizeof call;\n"
     << "  call.phase = FT_TRAIN_UPDATE;\n"
     << "  call.num_state = " << a.state.size() << ";\n"
     << "  call.state = state;\n  call.gradients = gradients;\n"
     << "  call.optimizer = optimizer;\n"
     << "  call.optimizer_options = optimizer_options;\n"
     << "  call.options = options;\n  return " << a.name
     << "_api()->train(model, &call);\n}\n\n";
}

static bool usesBool(const Artefact &a) {
  auto isBool = [](const AbiValue &v) { return v.dtype.code == FT_DL_BOOL; };
  return llvm::any_of(a.inputs, isBool) || llvm::any_of(a.outputs, isBool);
}

std::string headerText(const Artefact &a, llvm::StringRef compileId,
                       llvm::StringRef file) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string upper = llvm::StringRef(a.name).upper();
  writeHead(os, a, compileId, file);
  os << "#ifndef FORETRACE_MODEL_" << a.name << "_H\n#define FORETRACE_MODEL_"
     << a.name << "_H\n\n";
  if (usesBool(a))
    os << "#include <stdbool.h>\n\n";
  os << kRuntimeHeader << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << "/* All functions, on DLPack tensors: see above. */\n"
     << "const ft_api *" << a.name << "_api(void);\n\n"
     << "#define " << upper << "_NUM_INPUTS " << a.inputs.size() << "\n"
     << "#define " << upper << "_NUM_OUTPUTS " << a.outputs.size() << "\n"
     << "#define " << upper << "_NUM_STATE " << a.state.size() << "\n"
     << "#define " << upper << "_NUM_OPTIMIZER " << a.optimizerState.size()
     << "\n\n"
     << "/* options may be NULL. The caller unloads the model. */\n"
     << "static inline ft_status " << a.name
     << "_load(const ft_load_options *options,\n    ft_model **model) {\n"
     << "  return " << a.name << "_api()->load(options, model);\n}\n\n"
     << "static inline void " << a.name << "_unload(ft_model *model) {\n"
     << "  " << a.name << "_api()->unload(model);\n}\n\n";
  ForwardWriter(os, a).write();
  os << "/* Fills the caller's parameters and buffers, one tensor each in the\n"
     << " * order above; for models compiled with --training. */\n"
     << "static inline ft_status " << a.name
     << "_load_parameters(ft_model *model,\n    DLTensor *state, "
     << "int32_t num_state) {\n"
     << "  return " << a.name
     << "_api()->load_parameters(model, state, num_state);\n}\n\n";
  writeOptimizer(os, a);
  os << "#ifdef __cplusplus\n}\n#endif\n\n#endif /* FORETRACE_MODEL_" << a.name
     << "_H */\n";
  return text;
}

} // namespace ft
