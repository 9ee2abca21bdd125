//===- MetaAttr.cpp - Syntax and verifier of the attributes ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/SymName.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

#define GET_ATTRDEF_CLASSES
#include "dialects/ft/FtAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/ft/FtTypes.cpp.inc"

using namespace mlir;

namespace ft {

void FtDialect::registerFtAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/ft/FtAttrs.cpp.inc"
      >();
}

void FtDialect::registerFtTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/ft/FtTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Pieces of the syntax
//===----------------------------------------------------------------------===//

/// A dim is an integer, the name of a symbol, or an expression in quotes (its
/// own text has `//`, which starts a comment in MLIR).
static ParseResult parseDim(AsmParser &parser, Dim &dim) {
  SymContext &symbols =
      parser.getContext()->getLoadedDialect<FtDialect>()->symbolContext();
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (succeeded(parser.parseOptionalKeyword(&name))) {
    if (!isSymbolName(name))
      return parser.emitError(loc, "'") << name << "' is no name of a size";
    dim = Dim(symbols.symbol(name));
    return success();
  }
  std::string text;
  if (succeeded(parser.parseOptionalString(&text))) {
    llvm::Expected<SymExpr> e = symbols.parse(text);
    if (!e)
      return parser.emitError(loc, llvm::toString(e.takeError()));
    if (e->isPredicate())
      return parser.emitError(loc, "a size cannot be a condition");
    dim = Dim(*e);
    return success();
  }
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  dim = value;
  return success();
}

static void printDim(AsmPrinter &printer, Dim dim) {
  bool quoted = !dim.isStatic() && dim.symbolic().kind() != SymKind::Symbol;
  printer << (quoted ? "\"" : "") << dim.str() << (quoted ? "\"" : "");
}

static void printDims(AsmPrinter &printer, ArrayRef<Dim> dims) {
  printer << '[';
  llvm::interleaveComma(dims, printer, [&](Dim d) { printDim(printer, d); });
  printer << ']';
}

static ParseResult parseDims(AsmParser &parser, SmallVectorImpl<Dim> &dims) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseDim(parser, dims.emplace_back());
  });
}

/// `cpu`, `meta`, `cuda`, `cuda:1`; `keyword` has been read.
static FailureOr<Device> parseDeviceAfter(AsmParser &parser,
                                          StringRef keyword) {
  std::string text = keyword.str();
  if (succeeded(parser.parseOptionalColon())) {
    int64_t index;
    if (parser.parseInteger(index))
      return failure();
    text += ":" + std::to_string(index);
  }
  if (std::optional<Device> device = Device::parse(text))
    return *device;
  parser.emitError(parser.getCurrentLocation(), "unknown device '")
      << text << "'";
  return failure();
}

//===----------------------------------------------------------------------===//
// #ft.meta
//===----------------------------------------------------------------------===//

Attribute MetaAttr::parse(AsmParser &parser, Type) {
  SmallVector<Dim> sizes, strides;
  Dim offset;
  Device device;
  bool conj = false, neg = false;
  if (parser.parseLess())
    return {};
  auto element = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("strides")))
      return failure(parser.parseEqual() || parseDims(parser, strides));
    if (succeeded(parser.parseOptionalKeyword("offset")))
      return failure(parser.parseEqual() || parseDim(parser, offset));
    if (succeeded(parser.parseOptionalKeyword("conj"))) {
      conj = true;
      return success();
    }
    if (succeeded(parser.parseOptionalKeyword("neg"))) {
      neg = true;
      return success();
    }
    StringRef keyword;
    if (succeeded(parser.parseOptionalKeyword(&keyword))) {
      FailureOr<Device> parsed = parseDeviceAfter(parser, keyword);
      if (failed(parsed))
        return failure();
      device = *parsed;
      return success();
    }
    return parseDims(parser, sizes);
  };
  if (parser.parseCommaSeparatedList(element) || parser.parseGreater())
    return {};
  return MetaAttr::get(parser.getContext(), sizes, strides, offset, device,
                       conj, neg);
}

void MetaAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (!getSizes().empty()) {
    printDims(printer, getSizes());
    printer << ", ";
  }
  if (!getStrides().empty()) {
    printer << "strides = ";
    printDims(printer, getStrides());
    printer << ", ";
  }
  if (!getOffset().is(0)) {
    printer << "offset = ";
    printDim(printer, getOffset());
    printer << ", ";
  }
  printer << getDevice().str();
  if (getConj())
    printer << ", conj";
  if (getNeg())
    printer << ", neg";
  printer << '>';
}

LogicalResult
MetaAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                         function_ref<InFlightDiagnostic()> emitError) const {
  // MLIR's parser asks even after it failed to read the element type.
  if (!elementType)
    return emitError() << "the element type is missing";
  if (!dtypeFromType(elementType))
    return emitError() << "no tensor has element type " << elementType;
  auto dynamic = static_cast<size_t>(llvm::count_if(
      shape, [](int64_t d) { return ShapedType::isDynamic(d); }));
  if (getSizes().size() != dynamic)
    return emitError() << "#ft.meta names " << getSizes().size()
                       << " symbolic sizes, the type has " << dynamic
                       << " unknown extents";
  if (!getStrides().empty() && getStrides().size() != shape.size())
    return emitError() << "#ft.meta has " << getStrides().size()
                       << " strides for " << shape.size() << " dims";
  auto negative = [](Dim d) { return d.isStatic() && d.value() < 0; };
  if (llvm::any_of(getStrides(), negative) || negative(getOffset()))
    return emitError() << "strides and offset must not be negative";
  return success();
}

//===----------------------------------------------------------------------===//
// #ft.device
//===----------------------------------------------------------------------===//

Attribute DeviceAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  FailureOr<Device> device = parseDeviceAfter(parser, keyword);
  if (failed(device) || parser.parseGreater())
    return {};
  return DeviceAttr::get(parser.getContext(), *device);
}

void DeviceAttr::print(AsmPrinter &printer) const {
  printer << '<' << getDevice().str() << '>';
}

} // namespace ft
