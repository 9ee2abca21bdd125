//===- Descriptor.cpp - The description inside a compiled model -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/Descriptor.h"

#include "compiler/optimizer/Optimizers.h"
#include "compiler/support/Diagnostics.h"
#include "runtime/src/abi.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <optional>

namespace ft {

llvm::StringRef compilerVersion() { return "foretrace " FORETRACE_VERSION; }

/// Rows of the runtime's table; kIgnored for what needs no check.
static constexpr unsigned kIgnored = ~0u;
static std::optional<unsigned> featureRow(llvm::StringRef name) {
  static constexpr llvm::StringLiteral kChecked[] = {
#define FT_CPU_FEATURE(enumerator, name, leaf, subleaf, reg, bit, os) name,
#include "runtime/src/cpu_features.def"
  };
  static constexpr llvm::StringLiteral kNotChecked[] = {
#define FT_CPU_IGNORED(name) name,
#include "runtime/src/cpu_features.def"
  };
  for (unsigned i = 0; i < std::size(kChecked); ++i)
    if (kChecked[i] == name)
      return i;
  for (llvm::StringLiteral ignored : kNotChecked)
    if (ignored == name)
      return kIgnored;
  return std::nullopt;
}

bool isKnownCpuFeature(llvm::StringRef name) {
  return featureRow(name).has_value();
}

namespace {

/// Builds the constants, field by field in the order of the C structs.
class Builder {
public:
  Builder(llvm::Module &module)
      : module(module), context(module.getContext()),
        pointer(llvm::PointerType::get(context, 0)) {}

  using Fields = llvm::SmallVector<llvm::Constant *, 32>;

  llvm::Constant *i8(uint8_t v) { return integer(8, v); }
  llvm::Constant *i16(uint16_t v) { return integer(16, v); }
  llvm::Constant *i32(uint32_t v) { return integer(32, v); }
  llvm::Constant *i64(uint64_t v) { return integer(64, v); }
  llvm::Constant *null() { return llvm::ConstantPointerNull::get(pointer); }

  llvm::Constant *text(llvm::StringRef s) {
    return global(llvm::ConstantDataArray::getString(context, s), 1);
  }

  llvm::Constant *numbers(llvm::ArrayRef<int64_t> values) {
    if (values.empty())
      return null();
    llvm::SmallVector<uint64_t> copy(values.begin(), values.end());
    return global(llvm::ConstantDataArray::get(context, copy), 8);
  }

  llvm::Constant *pointers(llvm::ArrayRef<llvm::Constant *> values) {
    if (values.empty())
      return null();
    auto *type = llvm::ArrayType::get(pointer, values.size());
    return global(llvm::ConstantArray::get(type, values), 8);
  }

  llvm::Constant *structure(Fields fields) {
    return llvm::ConstantStruct::getAnon(context, fields);
  }

  /// A private constant of the module.
  llvm::Constant *global(llvm::Constant *value, unsigned alignment) {
    auto *variable =
        new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                 llvm::GlobalValue::PrivateLinkage, value, "");
    variable->setAlignment(llvm::Align(alignment));
    variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return variable;
  }

  llvm::Constant *value(const AbiValue &v, uint32_t flags);
  llvm::Constant *state(const AbiState &s);
  llvm::Constant *symbol(const AbiSymbol &s);
  llvm::Constant *guard(const AbiGuard &g);
  llvm::Constant *optimizerDefaults(const Artefact &a);
  llvm::Constant *info(const Artefact &a, const DescriptorContent &c);

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::PointerType *pointer;

private:
  llvm::Constant *integer(unsigned bits, uint64_t v) {
    return llvm::ConstantInt::get(llvm::Type::getIntNTy(context, bits), v);
  }
};

} // namespace

/// An ft_value_info.
llvm::Constant *Builder::value(const AbiValue &v, uint32_t flags) {
  llvm::SmallVector<llvm::Constant *> dims;
  for (size_t i = 0; i < v.sizes.size(); ++i)
    dims.push_back(
        text(v.dims.empty() ? std::to_string(v.sizes[i]) : v.dims[i]));
  Fields f = {i64(sizeof(ft_value_info)),
              text(v.name),
              structure({i8(v.dtype.code), i8(v.dtype.bits), i16(1)}),
              structure({i32(v.cuda < 0 ? kDLCPU : kDLCUDA),
                         i32(v.cuda < 0 ? 0 : v.cuda)}),
              i32(v.sizes.size()),
              i32(flags | (v.written ? FT_VALUE_WRITTEN : 0) |
                  (v.inArena ? FT_VALUE_IN_ARENA : 0) |
                  (v.hasGradient ? FT_VALUE_GRADIENT : 0)),
              numbers(v.sizes),
              numbers(v.strides),
              pointers(dims)};
  return global(structure(f), 8);
}

llvm::Constant *Builder::state(const AbiState &s) {
  uint32_t flags = s.isParameter ? FT_VALUE_PARAMETER : FT_VALUE_BUFFER;
  if (s.weightsOffset < 0)
    flags |= FT_VALUE_PACKED;
  return value(s, flags);
}

llvm::Constant *Builder::symbol(const AbiSymbol &s) {
  Fields f = {i64(sizeof(ft_symbol_info)),
              text(s.name),
              text(s.title),
              i64(s.lower),
              i64(s.upper),
              i64(s.hint),
              i32(s.input),
              i32(s.dim),
              i64(s.scale),
              i64(s.offset)};
  return global(structure(f), 8);
}

llvm::Constant *Builder::guard(const AbiGuard &g) {
  return global(
      structure({i64(sizeof(ft_guard_info)), text(g.text), text(g.source)}), 8);
}

/// An ft_optimizer_options; null without an optimizer.
llvm::Constant *Builder::optimizerDefaults(const Artefact &a) {
  const OptimizerInfo *o = findOptimizer(a.optimizer);
  if (!o)
    return null();
  auto real = [&](double v) {
    return llvm::ConstantFP::get(llvm::Type::getDoubleTy(context), v);
  };
  return global(
      structure({i64(sizeof(ft_optimizer_options)), real(o->lr),
                 real(o->momentum), real(0), real(o->weightDecay),
                 real(o->beta1), real(o->beta2), real(o->eps), i32(0), i32(0)}),
      8);
}

/// An ft_model_info, by value.
llvm::Constant *Builder::info(const Artefact &a, const DescriptorContent &c) {
  llvm::SmallVector<llvm::Constant *> inputs, outputs, states, guards, symbols,
      optimizer;
  for (const AbiValue &v : a.optimizerState)
    optimizer.push_back(value(v, 0));
  for (const AbiValue &v : a.inputs)
    inputs.push_back(value(v, 0));
  for (const AbiValue &v : a.outputs)
    outputs.push_back(value(v, 0));
  for (const AbiState &s : a.state)
    states.push_back(state(s));
  for (const AbiGuard &g : a.guards)
    guards.push_back(guard(g));
  for (const AbiSymbol &s : a.symbols)
    symbols.push_back(symbol(s));
  return structure({i64(sizeof(ft_model_info)),
                    i32(FT_ABI_VERSION),
                    i32(inputs.size()),
                    i32(outputs.size()),
                    i32(states.size()),
                    i32(guards.size()),
                    i32(0),
                    text(a.name),
                    text(c.compileId),
                    text(compilerVersion()),
                    text(a.device ? "cuda:sm_" + std::to_string(a.device->sm) +
                                        (a.device->exact ? "a" : "")
                                  : "cpu"),
                    text(a.cpu),
                    text(llvm::join(a.features, ",")),
                    i64(a.weightsBytes),
                    i64(a.stateBytes),
                    i64(a.arenaBytes),
                    pointers(inputs),
                    pointers(outputs),
                    pointers(states),
                    pointers(guards),
                    i32(symbols.size()),
                    i32(optimizer.size()),
                    pointers(symbols),
                    a.optimizer.empty() ? null() : text(a.optimizer),
                    pointers(optimizer),
                    optimizerDefaults(a)});
}

/// A function of the generated code, of `arguments` pointers.
static llvm::Constant *generated(Builder &b, llvm::StringRef name,
                                 unsigned arguments) {
  llvm::SmallVector<llvm::Type *> types(arguments, b.pointer);
  auto *type =
      llvm::FunctionType::get(llvm::Type::getInt32Ty(b.context), types, false);
  auto *function = llvm::Function::Create(
      type, llvm::GlobalValue::ExternalLinkage, name, b.module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return function;
}

/// The functions of a program; empty: it has none.
struct Entries {
  std::string forward, sizes;
};

/// The array of ft_state_place.
static llvm::Constant *statePlaces(Builder &b, const Artefact &a) {
  llvm::SmallVector<int64_t> flat;
  for (const AbiState &s : a.state) {
    flat.push_back(s.weightsOffset);
    flat.push_back(s.stateOffset);
  }
  return b.numbers(flat);
}

static llvm::Expected<llvm::Constant *> features(Builder &b, const Artefact &a,
                                                 uint32_t &count) {
  llvm::SmallVector<uint16_t> rows;
  for (const std::string &name : a.features) {
    std::optional<unsigned> row = featureRow(name);
    if (!row)
      return makeError(DiagId::Internal, "",
                       "the runtime cannot check for the CPU feature '" + name +
                           "'");
    if (*row != kIgnored)
      rows.push_back(*row);
  }
  count = rows.size();
  if (rows.empty())
    return b.null();
  return b.global(llvm::ConstantDataArray::get(b.context, rows), 2);
}

/// const ft_api *NAME_api(void) { return foretrace_model_v1(); }
static void addApiFunction(Builder &b, const Artefact &a) {
  auto *type = llvm::FunctionType::get(b.pointer, false);
  llvm::FunctionCallee target =
      b.module.getOrInsertFunction("foretrace_model_v1", type);
  auto *function = llvm::Function::Create(
      type, llvm::GlobalValue::ExternalLinkage, a.name + "_api", b.module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(b.context, "", function));
  ir.CreateRet(ir.CreateCall(target));
}

/// An ft_cuda_desc; null for a model for the CPU.
static llvm::Constant *deviceCode(Builder &b, const Artefact &a) {
  if (!a.device)
    return b.null();
  const AbiDeviceCode &d = *a.device;
  auto bytes = [&](const std::string &data) {
    return b.global(llvm::ConstantDataArray::getString(b.context, data), 64);
  };
  llvm::SmallVector<llvm::Constant *> names;
  for (const std::string &name : d.kernels)
    names.push_back(b.text(name));
  return b.global(
      b.structure({bytes(d.ptx), d.cubin.empty() ? b.null() : bytes(d.cubin),
                   b.pointers(names), b.i32(d.kernels.size()), b.i32(d.threads),
                   b.i32(d.device), b.i32(d.sm), b.i32(d.exact),
                   b.i32(d.isMixed)}),
      8);
}

/// An ft_model_desc, by value.
static llvm::Constant *
description(Builder &b, const Artefact &a, const DescriptorContent &content,
            llvm::Constant *weights, llvm::Constant *features,
            uint32_t numFeatures, const Entries &entries, uint64_t weightsBase,
            llvm::Constant *training, llvm::Constant *device) {
  return b.structure(
      {b.info(a, content), weights, b.i64(content.weightsDataHash),
       b.i64(content.weightsHeaderHash), statePlaces(b, a), features,
       b.i32(numFeatures),
       entries.sizes.empty() ? b.null() : generated(b, entries.sizes, 3),
       entries.forward.empty() ? b.null() : generated(b, entries.forward, 7),
       b.i64(weightsBase), training, device});
}

/// An array of ft_place.
static llvm::Constant *places(Builder &b, llvm::ArrayRef<AbiPlace> all) {
  static_assert(AbiPlace::Input == int(FT_PLACE_INPUT) &&
                AbiPlace::Output == int(FT_PLACE_OUTPUT) &&
                AbiPlace::State == int(FT_PLACE_STATE) &&
                AbiPlace::Tangent == int(FT_PLACE_TANGENT) &&
                AbiPlace::InputTangent == int(FT_PLACE_INPUT_TANGENT) &&
                AbiPlace::Gradient == int(FT_PLACE_GRADIENT) &&
                AbiPlace::Saved == int(FT_PLACE_SAVED) &&
                AbiPlace::InputGradient == int(FT_PLACE_INPUT_GRADIENT) &&
                AbiPlace::Optimizer == int(FT_PLACE_OPTIMIZER) &&
                AbiPlace::Hyperparameter == int(FT_PLACE_HYPERPARAMETER));
  llvm::SmallVector<uint32_t> flat;
  for (const AbiPlace &place : all) {
    flat.push_back(static_cast<uint32_t>(place.kind));
    flat.push_back(static_cast<uint32_t>(place.index));
  }
  if (flat.empty())
    return b.null();
  return b.global(llvm::ConstantDataArray::get(b.context, flat), 4);
}

/// An ft_training_desc; null for a model that is not trained.
static llvm::Constant *training(Builder &b, const Artefact &a,
                                const DescriptorContent &content) {
  if (a.programs.empty())
    return b.null();
  Builder::Fields fields;
  for (const AbiProgram &program : a.programs) {
    Entries entries{program.entry(),
                    program.symbols.empty() ? "" : program.sizes()};
    llvm::Constant *desc =
        description(b, a.describedAs(program), content, b.null(), b.null(), 0,
                    entries, program.weightsBase, b.null(), b.null());
    fields.push_back(b.global(b.structure({desc, places(b, program.inputPlaces),
                                           places(b, program.outputPlaces)}),
                              8));
  }
  while (fields.size() < FT_TRAIN_PROGRAMS)
    fields.push_back(b.null());
  fields.push_back(b.i32(static_cast<uint32_t>(a.numSaved)));
  fields.push_back(b.i32(0));
  return b.global(b.structure(fields), 8);
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> targetMachine() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeError(DiagId::Internal, "", message);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, "x86-64", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
}

static llvm::Expected<std::string> toObject(llvm::Module &module,
                                            llvm::TargetMachine &machine) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return makeError(DiagId::Internal, "", "objects cannot be written");
  passes.run(module);
  return std::string(bytes);
}

llvm::Expected<std::string> buildDescriptor(const Artefact &artefact,
                                            const DescriptorContent &content) {
  auto machine = targetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Module module("model", context);
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);

  Builder b(module);
  llvm::Constant *weights = b.null();
  if (content.inlineWeights)
    weights = b.global(llvm::ConstantDataArray::getString(
                           context, *content.inlineWeights, false),
                       64);
  uint32_t numFeatures = 0;
  auto featureRows = features(b, artefact, numFeatures);
  if (!featureRows)
    return featureRows.takeError();
  Entries entries;
  if (artefact.programs.empty())
    entries = {"ft_gen_forward",
               artefact.symbols.empty() ? "" : "ft_gen_sizes"};
  llvm::Constant *desc = description(
      b, artefact, content, weights, *featureRows, numFeatures, entries,
      /*weightsBase=*/0, training(b, artefact, content),
      deviceCode(b, artefact));
  if (module.getDataLayout().getTypeAllocSize(desc->getType()) !=
      sizeof(ft_model_desc))
    return makeError(DiagId::Internal, "",
                     "the descriptor differs from runtime/src/abi.h");
  size_t programs = artefact.programs.size();
  if (programs != 0 &&
      programs + artefact.optimizer.empty() != FT_TRAIN_PROGRAMS)
    return makeError(DiagId::Internal, "",
                     "a model that is trained has a forward and a backward");
  auto *variable = new llvm::GlobalVariable(
      module, desc->getType(), /*isConstant=*/true,
      llvm::GlobalValue::ExternalLinkage, desc, "ft_gen_desc");
  variable->setAlignment(llvm::Align(8));
  variable->setVisibility(llvm::GlobalValue::HiddenVisibility);
  addApiFunction(b, artefact);
  return toObject(module, **machine);
}

} // namespace ft
