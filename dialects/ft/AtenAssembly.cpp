//===- AtenAssembly.cpp - Syntax of calls of ATen overloads ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One syntax for every call, driven by the schema:
//
//   call     ::= mnemonic [string] `(` [argument (`,` argument)*] `)`
//                attr-dict `:` function-type
//   argument ::= [name `=`] value
//   value    ::= %operand | number | `true` | `false` | `none` | `inf` | `nan`
//              | dtype | string | #ft.device<…> | #ft.complex<…>
//              | `[` value,* `]` | `{size = "` expression of sizes `"}`
//
// Arguments equal to their default are left out, the ones after a gap are
// written by name. Types are those of the operands, in the order in which they
// appear. A call of an operator that is not registered is written the same
// way; what cannot be known without a schema is which arguments are missing.

#include "dialects/ft/AtenCall.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtDialect.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// The shortest decimal that reads back as `value`, with a dot so that MLIR's
/// lexer takes it for a float.
static std::string floatText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[40];
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
    if (strtod(buffer, nullptr) == value)
      break;
  }
  std::string text = buffer;
  if (text.find('.') != std::string::npos)
    return text;
  size_t exponent = text.find('e');
  if (exponent == std::string::npos)
    return text + ".0";
  return text.insert(exponent, ".0");
}

static void printArg(OpAsmPrinter &printer, Operation *op, const Arg &arg) {
  if (arg.operand >= 0) {
    printer << op->getOperand(arg.operand);
    return;
  }
  switch (arg.kind) {
  case Arg::None:
  case Arg::Tensor:
    printer << "none";
    break;
  case Arg::Int:
    if (arg.dim.isStatic())
      printer << arg.dim.value();
    else
      printer << encodeArgs(op->getContext(), arg)[0];
    break;
  case Arg::Float:
    printer << floatText(arg.real);
    break;
  case Arg::Bool:
    printer << (arg.boolean ? "true" : "false");
    break;
  case Arg::Complex:
  case Arg::Device:
    printer << encodeArgs(op->getContext(), arg)[0];
    break;
  case Arg::Str:
    printer << '"';
    llvm::printEscapedString(arg.str, printer.getStream());
    printer << '"';
    break;
  case Arg::DType:
    printer << dtypeName(arg.dtype);
    break;
  case Arg::List:
    printer << '[';
    llvm::interleaveComma(arg.list, printer, [&](const Arg &item) {
      printArg(printer, op, item);
    });
    printer << ']';
    break;
  }
}

/// As it was read: by position, then by name.
static void printUnregistered(OpAsmPrinter &printer, Operation *op,
                              const AtenCall &call) {
  auto keywords = op->getAttrOfType<ArrayAttr>(names::kKeywords);
  size_t named = keywords ? keywords.size() : 0;
  // A malformed op is printed as far as it makes sense.
  named = std::min(named, call.args.size());
  size_t first = call.args.size() - named;
  for (auto [i, arg] : llvm::enumerate(call.args)) {
    if (i)
      printer << ", ";
    auto name =
        i >= first ? dyn_cast<StringAttr>(keywords[i - first]) : StringAttr();
    if (name)
      printer << name.getValue() << " = ";
    printArg(printer, op, arg);
  }
}

void printAtenCall(OpAsmPrinter &printer, Operation *op) {
  AtenCall call = AtenCall::decode(op);
  if (auto callee = op->getAttrOfType<StringAttr>("callee"))
    printer << ' ' << callee;
  printer << '(';
  if (!call.schema)
    printUnregistered(printer, op, call);
  bool gap = false, first = true;
  // A malformed op is printed as far as its schema goes.
  size_t count =
      call.schema ? std::min(call.args.size(), call.schema->args.size()) : 0;
  for (size_t i = 0; i < count; ++i) {
    const SchemaArg &formal = call.schema->args[i];
    if (formal.hasDefault && call.args[i] == formal.defaultValue) {
      gap = true;
      continue;
    }
    if (!first)
      printer << ", ";
    first = false;
    if (gap || formal.keywordOnly)
      printer << formal.name << " = ";
    printArg(printer, op, call.args[i]);
  }
  printer << ')';
  printer.printOptionalAttrDict(op->getAttrs(),
                                {"args", "callee", names::kKeywords});
  printer << " : ";
  printer.printFunctionalType(op);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

struct CallParser {
  OpAsmParser &parser;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  /// Bounds the recursion through nested lists.
  int depth = 0;

  ParseResult keywordValue(StringRef word, SMLoc loc, Arg &arg) {
    if (word == "none")
      arg = Arg::none();
    else if (word == "true" || word == "false")
      arg = Arg::truth(word == "true");
    else if (word == "inf" || word == "nan")
      arg = Arg::floating(word == "inf" ? INFINITY : NAN);
    else if (std::optional<DType> dtype = dtypeFromName(word))
      arg = Arg::ofDType(*dtype);
    else
      return parser.emitError(loc, "unknown value '") << word << "'";
    return success();
  }

  ParseResult literal(SMLoc loc, Arg &arg) {
    Attribute attr;
    OptionalParseResult parsed = parser.parseOptionalAttribute(attr);
    if (!parsed.has_value())
      return parser.emitError(loc, "expected an argument");
    if (failed(*parsed))
      return failure();
    if (auto integer = dyn_cast<IntegerAttr>(attr)) {
      if (!integer.getType().isInteger(64) && !isa<BoolAttr>(attr))
        return parser.emitError(loc, "expected a plain integer");
      arg = isa<BoolAttr>(attr) ? Arg::truth(cast<BoolAttr>(attr).getValue())
                                : Arg::integer(integer.getInt());
    } else if (auto real = dyn_cast<FloatAttr>(attr)) {
      arg = Arg::floating(real.getValueAsDouble());
    } else if (auto text = dyn_cast<StringAttr>(attr)) {
      arg = Arg::string(text.getValue());
    } else if (auto device = dyn_cast<DeviceAttr>(attr)) {
      arg = Arg::ofDevice(device.getDevice());
    } else if (auto complex = dyn_cast<ComplexAttr>(attr)) {
      arg = Arg::complex(complex.getReal().getValueAsDouble(),
                         complex.getImag().getValueAsDouble());
    } else if (auto size = dyn_cast<DictionaryAttr>(attr);
               size && size.size() == 1 && size.getAs<StringAttr>("size")) {
      llvm::Expected<SymExpr> e =
          parser.getContext()
              ->getLoadedDialect<FtDialect>()
              ->symbolContext()
              .parse(size.getAs<StringAttr>("size").getValue());
      if (!e)
        return parser.emitError(loc, llvm::toString(e.takeError()));
      if (e->isPredicate())
        return parser.emitError(loc, "a size cannot be a condition");
      arg = Arg::integer(Dim(*e));
    } else {
      return parser.emitError(loc, "cannot be an argument of a call");
    }
    return success();
  }

  ParseResult value(Arg &arg) {
    SMLoc loc = parser.getCurrentLocation();
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (parsed.has_value()) {
      if (failed(*parsed))
        return failure();
      // The kind follows from the operand's type, which comes later.
      arg = Arg::tensor(static_cast<int>(operands.size()));
      operands.push_back(operand);
      return success();
    }
    if (succeeded(parser.parseOptionalLSquare())) {
      if (++depth > 4)
        return parser.emitError(loc, "lists are nested too deeply");
      std::vector<Arg> items;
      if (failed(parser.parseOptionalRSquare()))
        if (parser.parseCommaSeparatedList(
                [&] { return value(items.emplace_back()); }) ||
            parser.parseRSquare())
          return failure();
      --depth;
      arg = Arg::listOf(std::move(items));
      return success();
    }
    StringRef word;
    if (succeeded(parser.parseOptionalKeyword(&word)))
      return keywordValue(word, loc, arg);
    if (succeeded(parser.parseOptionalMinus()))
      return negative(loc, arg);
    return literal(loc, arg);
  }

  ParseResult negative(SMLoc loc, Arg &arg) {
    StringRef word;
    if (succeeded(parser.parseOptionalKeyword(&word))) {
      if (word != "inf")
        return parser.emitError(loc, "expected a number");
      arg = Arg::floating(-INFINITY);
      return success();
    }
    // The most negative integer has no positive counterpart: read it as is.
    if (literal(loc, arg))
      return failure();
    if (arg.kind == Arg::Int)
      arg.dim = Dim(int64_t(0)) - arg.dim;
    else if (arg.kind == Arg::Float)
      arg.real = -arg.real;
    else
      return parser.emitError(loc, "expected a number");
    return success();
  }
};

} // namespace

namespace {

/// The argument list of a call while it is read. Without a schema arguments are
/// taken as they come, and those by name have to stand last.
struct ArgumentList {
  CallParser call;
  const Schema *schema;
  std::vector<Arg> args;
  std::vector<bool> given;
  SmallVector<Attribute> keywords;
  size_t position = 0;

  ArgumentList(OpAsmParser &parser, const Schema *schema)
      : call{parser, {}}, schema(schema) {
    if (schema) {
      args.resize(schema->args.size());
      given.resize(args.size(), false);
    }
  }

  ParseResult place(SMLoc loc, StringRef name, Arg value) {
    OpAsmParser &parser = call.parser;
    if (!schema) {
      if (name.empty() && !keywords.empty())
        return parser.emitError(loc, "a name is missing");
      if (!name.empty())
        keywords.push_back(parser.getBuilder().getStringAttr(name));
      args.push_back(std::move(value));
      return success();
    }
    size_t slot = position;
    if (!name.empty()) {
      int index = schema->argIndex(name);
      if (index < 0)
        return parser.emitError(loc, "no argument '") << name << "'";
      slot = static_cast<size_t>(index);
    }
    if (slot >= args.size() || given[slot])
      return parser.emitError(loc, "one argument too many");
    args[slot] = std::move(value);
    given[slot] = true;
    position = slot + 1;
    return success();
  }

  ParseResult argument() {
    SMLoc loc = call.parser.getCurrentLocation();
    StringRef word, name;
    Arg value;
    if (succeeded(call.parser.parseOptionalKeyword(&word))) {
      if (succeeded(call.parser.parseOptionalEqual())) {
        name = word;
        if (call.value(value))
          return failure();
      } else if (call.keywordValue(word, loc, value)) {
        return failure();
      }
    } else if (call.value(value)) {
      return failure();
    }
    return place(loc, name, std::move(value));
  }

  ParseResult parse(SMLoc loc) {
    OpAsmParser &parser = call.parser;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                       [&] { return argument(); }))
      return failure();
    if (!schema)
      return success();
    for (size_t i = 0; i < args.size(); ++i) {
      if (given[i])
        continue;
      if (!schema->args[i].hasDefault)
        return parser.emitError(loc, "argument '")
               << schema->args[i].name << "' is missing";
      args[i] = schema->args[i].defaultValue;
    }
    return success();
  }
};

} // namespace

/// The schema of the call that is being read; null for a custom operator that
/// is not registered.
static ParseResult parseCallee(OpAsmParser &parser, OperationState &result,
                               const Schema *&schema) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef opName = result.name.getStringRef();
  StringAttr callee;
  if (opName == "ft.custom") {
    if (parser.parseAttribute(callee, "callee", result.attributes))
      return failure();
    if (const CustomOp *op =
            CustomOps::of(parser.getContext()).find(callee.getValue()))
      schema = &op->schema;
    return success();
  }
  if (opName == "ft.aten") {
    if (parser.parseAttribute(callee, "callee", result.attributes))
      return failure();
    schema = SchemaTable::get().find(callee.getValue());
    if (!schema)
      return parser.emitError(loc, "unknown overload '")
             << callee.getValue() << "'";
    return success();
  }
  schema = SchemaTable::get().findMnemonic(opName.drop_front(strlen("ft.")));
  if (!schema)
    return parser.emitError(loc, "names no overload of the table");
  return success();
}

ParseResult parseAtenCall(OpAsmParser &parser, OperationState &result) {
  MLIRContext *context = parser.getContext();
  SMLoc loc = parser.getCurrentLocation();
  const Schema *schema = nullptr;
  if (parseCallee(parser, result, schema))
    return failure();
  ArgumentList list(parser, schema);
  if (list.parse(loc))
    return failure();
  if (!list.keywords.empty())
    result.addAttribute(names::kKeywords,
                        ArrayAttr::get(context, list.keywords));

  // Operands were numbered as written; `args` numbers them in schema order,
  // which differs if names were given out of order.
  SmallVector<OpAsmParser::UnresolvedOperand> ordered;
  SmallVector<int> order;
  std::function<void(Arg &)> renumber = [&](Arg &arg) {
    if (arg.operand >= 0) {
      order.push_back(arg.operand);
      ordered.push_back(list.call.operands[arg.operand]);
      arg.operand = static_cast<int>(ordered.size()) - 1;
    }
    for (Arg &item : arg.list)
      renumber(item);
  };
  for (Arg &arg : list.args)
    renumber(arg);
  result.addAttribute("args", encodeArgs(context, list.args));

  FunctionType type;
  SMLoc typeLoc;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.getCurrentLocation(&typeLoc) || parser.parseColonType(type))
    return failure();
  if (type.getNumInputs() != ordered.size())
    return parser.emitError(typeLoc, "expected ")
           << ordered.size() << " operand types";
  SmallVector<Type> types;
  for (int written : order)
    types.push_back(type.getInput(written));
  result.addTypes(type.getResults());
  return parser.resolveOperands(ordered, types, typeLoc, result.operands);
}

} // namespace ft
