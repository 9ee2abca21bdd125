//===- Registration.cpp - Registers custom operators -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/custom/Registration.h"

#include "compiler/custom/Derivative.h"
#include "compiler/custom/FakeView.h"
#include "compiler/custom/LearnRule.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/CustomOps.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace ft {

namespace {
class Registrar {
public:
  Registrar(const ft_op_registration &given, const RegistrationSource &source)
      : given(given), source(source) {}

  Error run(CustomOps &ops);

private:
  Error readStruct();
  Error setFake();
  Error setDerivative();
  Error setKernel();
  Error bad(const Twine &what) const {
    return makeError(DiagId::BadRegistration, source.name,
                     (op ? "'" + op->name + "': " : std::string()) + what.str(),
                     "foretrace/plugin.h says what can be registered");
  }

  const ft_op_registration &given;
  const RegistrationSource &source;
  /// What is given, as far as its struct goes.
  ft_op_registration r = {};
  std::unique_ptr<CustomOp> op;
};
} // namespace

/// An older plug-in's shorter struct is read as far as it goes, a newer one's
/// longer struct only if it says nothing more.
Error Registrar::readStruct() {
  constexpr size_t kFirst = sizeof(ft_op_registration); // of version 1
  // Too short for the version: then that is not one.
  if (given.struct_size < offsetof(ft_op_registration, schema))
    return bad("struct_size is " + Twine(given.struct_size) + ", expected " +
               Twine(kFirst));
  if (given.version != FT_PLUGIN_VERSION)
    return makeError(DiagId::PluginFailed, source.name,
                     "it was built for version " + Twine(given.version) +
                         " of foretrace/plugin.h, this compiler has version " +
                         Twine(FT_PLUGIN_VERSION),
                     "build the plug-in again");
  if (given.struct_size < kFirst)
    return bad("struct_size is " + Twine(given.struct_size) + ", expected " +
               Twine(kFirst));
  memcpy(&r, &given, sizeof r);
  const auto *bytes = reinterpret_cast<const char *>(&given);
  for (size_t i = sizeof r; i < std::min<size_t>(given.struct_size, 4096); ++i)
    if (bytes[i])
      return bad("it uses a field that this compiler does not know");
  return Error::success();
}

Error Registrar::setFake() {
  const Schema &schema = op->schema;
  switch (r.fake_kind) {
  case FT_FAKE_NONE:
    if (r.fake)
      return bad("'fake' is given, fake_kind is FT_FAKE_NONE");
    if (givenResults(schema) == 0)
      op->fake = writtenRule();
    return Error::success();
  case FT_FAKE_CALLBACK:
    if (!r.fake)
      return bad("fake_kind is FT_FAKE_CALLBACK, 'fake' is NULL");
    op->fake = callbackRule(r.fake, r.user);
    return Error::success();
  case FT_FAKE_LIKE:
    if (r.fake_argument < 0 ||
        r.fake_argument >= static_cast<int32_t>(schema.args.size()) ||
        !schema.isTensorArg(r.fake_argument) ||
        schema.args[r.fake_argument].type.list)
      return bad("argument " + Twine(r.fake_argument) +
                 ", which results are like, is no Tensor");
    op->fake = likeRule(static_cast<unsigned>(r.fake_argument));
    return Error::success();
  case FT_FAKE_BROADCAST:
    for (const SchemaArg &arg : schema.args)
      if (arg.type.kind == SchemaType::Tensor && arg.type.list)
        return bad("argument '" + arg.name +
                   "' is a list: FT_FAKE_BROADCAST is for single tensors");
    if (none_of(schema.args, [](const SchemaArg &arg) {
          return arg.type.kind == SchemaType::Tensor;
        }))
      return bad("FT_FAKE_BROADCAST needs a Tensor argument");
    op->fake = broadcastRule();
    return Error::success();
  default:
    return bad("fake_kind is " + Twine(r.fake_kind) +
               ", which is no FT_FAKE_ value");
  }
}

Error Registrar::setDerivative() {
  if (r.derivative && r.derivative_op)
    return bad("both 'derivative' and 'derivative_op' are given");
  if (r.derivative)
    op->derivative = callbackDerivative(r.derivative, r.user);
  if (!r.derivative_op)
    return Error::success();
  op->derivativeOp = r.derivative_op;
  if (!CustomOps::isName(op->derivativeOp))
    return bad("'" + op->derivativeOp + "' is no name of an operator");
  op->derivative = namedDerivative(op->derivativeOp);
  return Error::success();
}

/// A C identifier that generated code and the runtime leave free.
static bool isFreeSymbol(StringRef symbol) {
  bool identifier =
      !symbol.empty() && !isDigit(symbol.front()) &&
      all_of(symbol, [](char c) { return isAlnum(c) || c == '_'; });
  // Kernels of the compiler are k0_linear, k1_softmax…
  bool generated = symbol.size() > 1 && symbol[0] == 'k' && isDigit(symbol[1]);
  return identifier && !generated && !symbol.starts_with("ft_") &&
         !symbol.starts_with("foretrace_");
}

Error Registrar::setKernel() {
  std::vector<std::string> files;
  if (r.kernel_file)
    files.push_back(r.kernel_file);
  if (r.num_kernel_files < 0 || (r.num_kernel_files && !r.kernel_files))
    return bad("kernel_files and num_kernel_files contradict each other");
  for (int32_t i = 0; i < r.num_kernel_files; ++i)
    files.push_back(r.kernel_files[i] ? r.kernel_files[i] : "");
  if (!r.kernel_symbol) {
    if (!files.empty() || r.kernel)
      return bad("a kernel is given without its kernel_symbol");
    return Error::success();
  }
  CustomKernel &kernel = op->kernel;
  kernel.symbol = r.kernel_symbol;
  if (!isFreeSymbol(kernel.symbol))
    return bad("'" + kernel.symbol +
               "' cannot be the name of a kernel: it must be a C identifier, "
               "and not start with ft_, foretrace_ or k and a digit");
  if (files.empty())
    return bad("the kernel '" + kernel.symbol + "' has no kernel_file");
  for (std::string &file : files) {
    SmallString<128> path(file);
    if (sys::path::is_relative(path)) {
      path = source.folder;
      sys::path::append(path, file);
    }
    if (std::error_code code = sys::fs::make_absolute(path))
      return bad(path + ": " + code.message());
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (!sys::fs::is_regular_file(path))
      return makeError(DiagId::BadRegistration, source.name,
                       "'" + op->name + "': the kernel file '" + path +
                           "' does not exist",
                       "relative paths start at the folder of the plug-in");
    kernel.files.push_back(path.str().str());
  }
  kernel.contiguous = r.flags & FT_OP_CONTIGUOUS;
  kernel.address = reinterpret_cast<void *>(r.kernel);
  if (!kernel.address && source.lookup)
    kernel.address = source.lookup(kernel.symbol.c_str());
  return Error::success();
}

Error Registrar::run(CustomOps &ops) {
  if (Error error = readStruct())
    return error;
  if (!r.schema)
    return bad("'schema' is NULL");
  Expected<std::unique_ptr<CustomOp>> parsed = CustomOps::parse(r.schema);
  if (!parsed)
    return bad(toString(parsed.takeError()) + " (in '" + r.schema + "')");
  op = std::move(*parsed);
  op->source = source.name;
  constexpr uint32_t kFlags =
      FT_OP_CONTIGUOUS | FT_OP_EFFECTS | FT_OP_ANY_DEVICE;
  if (r.flags & ~kFlags)
    return bad("flags has bits that this compiler does not know");
  op->hasEffects = r.flags & FT_OP_EFFECTS;
  op->anyDevice = r.flags & FT_OP_ANY_DEVICE;
  if (Error error = setFake())
    return error;
  if (Error error = setDerivative())
    return error;
  if (Error error = setKernel())
    return error;
  if (source.learn && !op->fake && !op->kernel.symbol.empty())
    op->fake = learnRule(*op);
  Expected<CustomOp *> added = ops.add(std::move(op));
  if (!added)
    return bad(toString(added.takeError()));
  if (CustomOp *form = (*added)->functional.get())
    if ((*added)->fake)
      form->fake = functionalRule(**added);
  return Error::success();
}

Error registerCustomOp(CustomOps &ops, const ft_op_registration &registration,
                       const RegistrationSource &source) {
  return Registrar(registration, source).run(ops);
}

} // namespace ft
