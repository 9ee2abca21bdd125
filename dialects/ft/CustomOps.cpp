//===- CustomOps.cpp - Operators that are registered at run time *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/CustomOps.h"

#include "dialects/ft/ArgFit.h"
#include "dialects/ft/FtDialect.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ft {

std::string shownName(const Schema &schema) {
  return customOp(schema) ? schema.name.str() : "aten." + schema.name.str();
}

bool isUnregisteredCall(mlir::Operation *op) {
  return op->getName().getStringRef() == "ft.custom" && !schemaOf(op);
}

CustomOps &CustomOps::of(mlir::MLIRContext *context) {
  auto *dialect = context->getOrLoadDialect<FtDialect>();
  // MLIR hands interfaces out as constants; this one is the dialect's state.
  return const_cast<CustomOps &>(*dialect->getRegisteredInterface<CustomOps>());
}

static Error bad(const Twine &what) {
  return createStringError(inconvertibleErrorCode(), what);
}

static bool isIdentifier(StringRef text) {
  auto letter = [](char c) { return isAlpha(c) || c == '_'; };
  return !text.empty() && letter(text.front()) &&
         all_of(text, [&](char c) { return letter(c) || isDigit(c); });
}

/// Ends the name of a functional form; no operator can be registered so.
static constexpr StringLiteral kFunctional = "#functional";

bool CustomOps::isName(StringRef name) {
  name.consume_back(kFunctional);
  auto [space, rest] = name.split("::");
  auto [base, overload] = rest.split('.');
  return isIdentifier(space) && isIdentifier(base) &&
         (overload.empty() ? !rest.contains('.') : isIdentifier(overload));
}

//===----------------------------------------------------------------------===//
// Schemas
//===----------------------------------------------------------------------===//

/// Where the argument list ends: the parenthesis that closes the first one.
static size_t closing(StringRef text) {
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '(')
      ++depth;
    else if (c == ')' && --depth == 0)
      return i;
  }
  return StringRef::npos;
}

/// What the table's rows may hold, and a registered schema may not.
static Error checkCustom(const Schema &schema) {
  StringSet<> names;
  bool defaults = false, keywords = false;
  for (const SchemaArg &arg : schema.args) {
    if (!isIdentifier(arg.name))
      return bad("'" + arg.name + "' is no name of an argument");
    if (!names.insert(arg.name).second)
      return bad("two arguments are called '" + arg.name + "'");
    if (arg.type.kind == SchemaType::Generator ||
        arg.type.kind == SchemaType::Storage)
      return bad("argument '" + arg.name +
                 "' is of a type that programs do not hold");
    if (arg.keywordOnly && !keywords)
      defaults = false; // behind `*` the order is free
    keywords = arg.keywordOnly;
    if (defaults && !arg.hasDefault && !keywords)
      return bad("argument '" + arg.name +
                 "' without default stands behind one with a default");
    defaults |= arg.hasDefault;
    if (arg.hasDefault && !fitsType(arg.defaultValue, arg.type))
      return bad("the default of '" + arg.name + "' does not fit its type");
    if (arg.type.alias && arg.type.kind != SchemaType::Tensor)
      return bad("argument '" + arg.name + "' cannot be aliased");
    if (arg.type.write && arg.type.list)
      return bad("argument '" + arg.name +
                 "' is a list, which cannot be written");
  }
  for (size_t r = 0; r < schema.returns.size(); ++r) {
    const SchemaType &type = schema.returns[r];
    if (type.kind != SchemaType::Tensor || type.list || type.optional)
      return bad("return " + Twine(r) + " must be a Tensor");
    if (!type.alias)
      continue;
    int arg = schema.aliasedArg(static_cast<unsigned>(r));
    if (arg < 0)
      return bad("return " + Twine(r) + " shares the storage (" +
                 Twine(type.alias) + "), which no argument has");
    if (type.write != schema.args[arg].type.write)
      return bad("return " + Twine(r) + " and argument '" +
                 schema.args[arg].name + "' must both be written, or neither");
  }
  return Error::success();
}

Expected<std::unique_ptr<CustomOp>> CustomOps::parse(StringRef text) {
  auto op = std::make_unique<CustomOp>();
  constexpr size_t kLongest = 16384;
  if (text.size() > kLongest)
    return bad("the schema is longer than " + Twine(kLongest) + " characters");
  text = text.trim();
  size_t open = text.find('('), close = closing(text);
  if (open == StringRef::npos || close == StringRef::npos)
    return bad("'" + text + "' is no schema: it has no argument list");
  StringRef name = text.take_front(open).trim();
  StringRef rest = text.drop_front(close + 1).trim();
  if (!isName(name) || name.contains('#'))
    return bad("'" + name + "' is no name of the form namespace::name");
  if (!rest.consume_front("->") || rest.trim().empty())
    return bad("'" + text + "' is no schema: '->' and the returns are missing");
  name.consume_back(".default");
  op->name = name.str();
  op->argumentText = text.slice(open + 1, close).trim().str();
  op->returnText = rest.trim().str();
  if (Error error =
          parseSchema(op->name, op->argumentText, op->returnText, op->schema))
    return std::move(error);
  auto [base, overload] = StringRef(op->name).split('.');
  op->schema.base = base;
  op->schema.overload = overload.empty() ? "default" : overload;
  op->schema.family = "custom";
  op->schema.mnemonic = op->name;
  op->schema.index = CustomSchema::kNoIndex;
  op->schema.op = op.get();
  if (Error error = checkCustom(op->schema))
    return std::move(error);
  return op;
}

//===----------------------------------------------------------------------===//
// Functional forms
//===----------------------------------------------------------------------===//

/// scale_(Tensor(a!) x, float f) -> Tensor(a!) becomes scale_#functional(
/// Tensor x, float f) -> Tensor. Names of operators cannot hold `#`.
static std::unique_ptr<CustomOp> functionalForm(const CustomOp &op) {
  auto form = std::make_unique<CustomOp>();
  form->name = op.name + kFunctional.str();
  form->original = &op;
  form->source = op.source;
  form->hasEffects = op.hasEffects;
  CustomSchema &schema = form->schema;
  schema = op.schema;
  schema.name = schema.base = schema.mnemonic = form->name;
  schema.overload = "default";
  schema.op = form.get();
  schema.mutates = false;
  std::vector<SchemaType> returns;
  for (SchemaArg &arg : schema.args) {
    if (!arg.type.write)
      continue;
    arg.type.write = false;
    arg.type.alias = 0;
    returns.push_back(SchemaType());
  }
  for (const SchemaType &type : op.schema.returns)
    if (!type.write)
      returns.push_back(type);
  schema.returns = std::move(returns);
  return form;
}

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

Expected<CustomOp *> CustomOps::add(std::unique_ptr<CustomOp> op) {
  if (const CustomOp *known = find(op->name))
    return bad("'" + op->name + "' is registered already" +
               (known->source.empty() ? "" : " by " + known->source));
  CustomOp *result = op.get();
  if (op->schema.mutates) {
    op->functional = functionalForm(*op);
    byName[op->functional->name] = op->functional.get();
  }
  byName[op->name] = result;
  ops.push_back(std::move(op));
  return result;
}

const CustomOp *CustomOps::find(StringRef name) const {
  name.consume_back(".default");
  return byName.lookup(name);
}

} // namespace ft
