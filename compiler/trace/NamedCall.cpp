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
  for (size_t i = 0; i < most; ++i)
    args.push_back(i < arguments.size()
                       ? named.convert(arguments[i], schema->args[i].type)
                       : OpArg::byDefault());
  return detail::callAll(*schema, args.data(), args.size(), here).tensors(0);
}

} // namespace ft
