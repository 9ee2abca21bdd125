//===- NamedCall.cpp - A call by the name of its overload ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/trace/Call.h"

#include "compiler/trace/CallSite.h"
#include "dialects/ft/CustomOps.h"

#include <deque>

namespace ft {

using detail::CallSite;
using detail::OpArg;

namespace {
/// Arguments as the schema wants them; refers to those that were given.
class NamedArguments {
public:
  OpArg convert(const Argument &given, const SchemaType &type) {
    return std::visit([&](const auto &v) { return from(v, type); },
                      given.value());
  }

private:
  OpArg from(std::monostate, const SchemaType &) { return {}; }
  OpArg from(const Tensor &v, const SchemaType &) { return OpArg(v); }
  OpArg from(const std::vector<Tensor> &v, const SchemaType &) {
    return OpArg(TensorList(v));
  }
  OpArg from(const Scalar &v, const SchemaType &type) {
    if (type.list && type.kind == SchemaType::Int) {
      // One number for as many as the schema asks for.
      lists.emplace_back(IntsOrOne(v.toInt()));
      return OpArg(lists.back());
    }
    if (type.kind == SchemaType::Float && v.isStatic() &&
        v.kind() == Scalar::Int)
      return OpArg(v.toDouble());
    return OpArg(v);
  }
  OpArg from(const std::vector<SymInt> &v, const SchemaType &) {
    lists.emplace_back(v);
    return OpArg(lists.back());
  }
  OpArg from(const std::vector<double> &v, const SchemaType &) {
    return OpArg(FloatList(v));
  }
  OpArg from(const std::string &v, const SchemaType &) {
    return OpArg(Text(v));
  }
  OpArg from(ScalarType v, const SchemaType &) { return OpArg(v); }
  OpArg from(DeviceId v, const SchemaType &) { return OpArg(v); }

  std::deque<IntList> lists;
};
} // namespace

/// A typed function cannot be called wrongly; a call by name can.
static bool fits(const OpArg &arg, const Argument &given, const Schema &schema,
                 const SchemaType &type) {
  if (arg.kind == OpArg::None)
    return type.optional;
  const auto *number = std::get_if<Scalar>(&given.value());
  auto numberIs = [&](std::initializer_list<Scalar::Kind> kinds) {
    return number && !type.list && llvm::is_contained(kinds, number->kind());
  };
  switch (type.kind) {
  case SchemaType::Tensor:
    if (type.list)
      return arg.kind == OpArg::ManyTensors;
    return arg.kind == OpArg::OneTensor ||
           (number && schema.family == "pointwise" && !type.write);
  case SchemaType::Int:
    return type.list ? arg.kind == OpArg::Ints
                     : numberIs({Scalar::Int, Scalar::Bool});
  case SchemaType::Float:
    return type.list ? arg.kind == OpArg::Floats
                     : numberIs({Scalar::Int, Scalar::Float});
  case SchemaType::Bool:
    return numberIs({Scalar::Bool});
  case SchemaType::Scalar:
    return number && !type.list;
  case SchemaType::Str:
  case SchemaType::Layout:
  case SchemaType::MemoryFormat:
    return arg.kind == OpArg::Str;
  case SchemaType::DType:
    return arg.kind == OpArg::DType;
  case SchemaType::Device:
    return arg.kind == OpArg::Device;
  case SchemaType::Generator:
  case SchemaType::Storage:
    return false;
  }
  return false;
}

Tensors call(const std::string &name, const std::vector<Argument> &arguments,
             Here here) {
  CallSite site(name, here);
  for (const Argument &argument : arguments) {
    if (const auto *t = std::get_if<Tensor>(&argument.value()))
      (void)site.note(*t);
    if (const auto *list = std::get_if<std::vector<Tensor>>(&argument.value()))
      for (const Tensor &t : *list)
        (void)site.note(t);
  }
  const Schema *schema = SchemaTable::get().find(name);
  if (!schema && site.trace)
    if (const CustomOp *op =
            CustomOps::of(site.trace->context.get()).find(name))
      schema = &op->schema;
  size_t most = schema ? schema->args.size() : 0;
  if (!schema)
    site.refuse(DiagId::UnknownOp, "operator '" + name + "' is not known",
                "`foretrace ops` lists those of the compiler; a mode knows "
                "others by FakeMode::loadPlugin and FakeMode::registerOp");
  else if (arguments.size() > most)
    site.refuse(DiagId::FakeOther,
                name + " takes " + llvm::Twine(most) + " arguments, " +
                    llvm::Twine(arguments.size()) + " are given");
  if (!schema || arguments.size() > most)
    return Tensors({}, site.failedResult());
  NamedArguments named;
  std::vector<OpArg> args;
  args.reserve(most);
  for (size_t i = 0; i < most; ++i) {
    const SchemaArg &formal = schema->args[i];
    bool given = i < arguments.size();
    args.push_back(given ? named.convert(arguments[i], formal.type)
                         : OpArg::byDefault());
    if (given ? !fits(args.back(), arguments[i], *schema, formal.type)
              : !formal.hasDefault) {
      site.refuse(DiagId::FakeOther, "argument '" + formal.name + "' of " +
                                         name +
                                         " is missing or of a wrong "
                                         "kind");
      return Tensors({}, site.failedResult());
    }
  }
  return detail::callAll(*schema, args.data(), args.size(), here).tensors(0);
}

} // namespace ft
