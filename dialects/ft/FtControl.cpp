//===- FtControl.cpp - Ops: branches and loops ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtControl.h"

#include "dialects/ft/OpFamilies.h"

#define GET_OP_CLASSES
#include "dialects/ft/FtControl.cpp.inc"

using namespace mlir;

namespace ft {

void registerFtControl(FtDialect &dialect) {
  OpFamily::add<
#define GET_OP_LIST
#include "dialects/ft/FtControl.cpp.inc"
      >(dialect);
}

bool isControl(Operation *op) { return isa<CondOp, WhileOp, ScanOp>(op); }

static StringAttr entryOf(Operation *op, StringRef list, unsigned i) {
  auto texts = op->getAttrOfType<ArrayAttr>(list);
  auto text =
      texts && i < texts.size() ? dyn_cast<StringAttr>(texts[i]) : StringAttr();
  return text && !text.empty() ? text : StringAttr();
}
StringAttr numberOfResult(OpResult result) {
  return entryOf(result.getOwner(), names::kResultNumbers,
                 result.getResultNumber());
}
StringAttr numberOfCarried(Operation *op, unsigned i) {
  return entryOf(op, names::kCarriedNumbers, i);
}

bool typesAgree(Type a, Type b) {
  auto unknown = [](Type type) {
    auto tensor = dyn_cast<UnrankedTensorType>(type);
    return tensor && isa<UnknownType>(tensor.getElementType());
  };
  return a == b || (unknown(a) && isa<TensorType, NoneType>(b)) ||
         (unknown(b) && isa<TensorType, NoneType>(a));
}

/// How many arguments of each region stand in front of the captured ones.
static unsigned leading(Operation *op) {
  if (auto loop = dyn_cast<WhileOp>(op))
    return loop.getInits().size();
  if (auto scan = dyn_cast<ScanOp>(op))
    return scan.getInits().size() + scan.getXs().size();
  return 0;
}

Value capturedBy(BlockArgument argument) {
  Operation *op = argument.getOwner()->getParentOp();
  unsigned i = argument.getArgNumber();
  if (!op || !isControl(op) || i < leading(op))
    return {};
  unsigned operand = isa<CondOp>(op) ? i + 1 : i;
  return operand < op->getNumOperands() ? op->getOperand(operand) : Value();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult checkCount(Operation *op, Region &region,
                                StringRef regionName, size_t expected) {
  if (region.getNumArguments() == expected)
    return success();
  return op->emitOpError("has ")
         << region.getNumArguments() << " arguments in its region '"
         << regionName << "' for " << expected << " operands";
}

static LogicalResult checkArgument(Operation *op, Region &region,
                                   StringRef regionName, unsigned i,
                                   Type given) {
  Type type = region.getArgument(i).getType();
  if (typesAgree(type, given))
    return success();
  return op->emitOpError("has an argument ")
         << i << " of type " << type << " in its region '" << regionName
         << "' for an operand of type " << given;
}

static LogicalResult checkPredicate(Operation *op, Type type, StringRef what) {
  if (type.isInteger(1) || isa<TensorType>(type))
    return success();
  return op->emitOpError("needs an i1 or a tensor as ")
         << what << ", not " << type;
}

LogicalResult CondOp::verify() {
  if (failed(checkPredicate(*this, getPredicate().getType(), "predicate")))
    return failure();
  for (auto [region, regionName] :
       {std::pair(&getThenRegion(), "then"), {&getElseRegion(), "else"}}) {
    if (failed(checkCount(*this, *region, regionName, getCaptured().size())))
      return failure();
    for (auto [i, operand] : llvm::enumerate(getCaptured()))
      if (failed(
              checkArgument(*this, *region, regionName, i, operand.getType())))
        return failure();
  }
  return success();
}

LogicalResult WhileOp::verify() {
  for (auto [region, regionName] :
       {std::pair(&getCondRegion(), "cond"), {&getBodyRegion(), "do"}}) {
    if (failed(checkCount(*this, *region, regionName, getNumOperands())))
      return failure();
    for (auto [i, operand] : llvm::enumerate(getOperands()))
      if (failed(
              checkArgument(*this, *region, regionName, i, operand.getType())))
        return failure();
  }
  if (getNumResults() != getInits().size())
    return emitOpError("has ") << getNumResults() << " results for "
                               << getInits().size() << " carried values";
  return success();
}

LogicalResult ScanOp::verify() {
  Region &body = getBodyRegion();
  if (getXs().empty())
    return emitOpError("has nothing to run over");
  if (failed(checkCount(*this, body, "do", getNumOperands())))
    return failure();
  size_t first = getInits().size(), last = first + getXs().size();
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    Type type = operand.getType();
    if (i < first || i >= last) {
      if (failed(checkArgument(*this, body, "do", i, type)))
        return failure();
    } else if (!isa<TensorType>(type) ||
               !isa<TensorType>(body.getArgument(i).getType())) {
      return emitOpError("runs over tensors only, not ") << type;
    }
  }
  if (getNumResults() < first)
    return emitOpError("has ")
           << getNumResults() << " results for " << first << " carried values";
  return success();
}

static LogicalResult checkYield(Operation *op, Region &region,
                                StringRef regionName, TypeRange expected,
                                size_t compared) {
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield)
    return op->emitOpError("has a region '")
           << regionName << "' that does not end in ft.yield";
  if (yield.getNumOperands() != expected.size())
    return yield.emitOpError("gives ")
           << yield.getNumOperands() << " values where " << expected.size()
           << " are expected";
  for (size_t i = 0; i < compared; ++i)
    if (!typesAgree(yield.getOperand(i).getType(), expected[i]))
      return yield.emitOpError("gives value ")
             << i << " as " << yield.getOperand(i).getType() << " where "
             << expected[i] << " is expected";
  return success();
}

LogicalResult verifyControlYields(Operation *op) {
  TypeRange results = op->getResultTypes();
  if (auto cond = dyn_cast<CondOp>(op))
    return success(succeeded(checkYield(op, cond.getThenRegion(), "then",
                                        results, results.size())) &&
                   succeeded(checkYield(op, cond.getElseRegion(), "else",
                                        results, results.size())));
  if (auto loop = dyn_cast<WhileOp>(op)) {
    auto goOn = dyn_cast<YieldOp>(loop.getCondRegion().front().getTerminator());
    if (!goOn || goOn.getNumOperands() != 1)
      return op->emitOpError("needs one ft.yield of one value at the end of "
                             "its region 'cond'");
    if (failed(checkPredicate(op, goOn.getOperand(0).getType(), "condition")))
      return failure();
    return checkYield(op, loop.getBodyRegion(), "do", results, results.size());
  }
  auto scan = cast<ScanOp>(op);
  // Stacked results have one dim more than what is yielded for them.
  for (Type stacked : results.drop_front(scan.getInits().size()))
    if (!isa<TensorType>(stacked))
      return op->emitOpError("stacks tensors only, not ") << stacked;
  return checkYield(op, scan.getBodyRegion(), "do", results,
                    scan.getInits().size());
}

/// ft.refine states an equality: two different plain numbers are none.
static bool mayBeEqual(Dim a, Dim b) {
  return a == b || !a.isStatic() || !b.isStatic();
}

LogicalResult RefineOp::verify() {
  std::optional<TensorMeta> from = metaOf(getInput()), to = metaOf(getResult());
  if (!from || !to)
    return success();
  if (from->dtype != to->dtype || from->device != to->device ||
      from->conj != to->conj || from->neg != to->neg ||
      from->rank() != to->rank())
    return emitOpError("cannot turn ") << from->str() << " into " << to->str();
  bool equal = mayBeEqual(from->offset, to->offset);
  for (int64_t d = 0; d < from->rank(); ++d) {
    equal &= mayBeEqual(from->sizes[d], to->sizes[d]);
    bool counts = !from->sizes[d].is(1) && !to->sizes[d].is(1);
    equal &= !counts || mayBeEqual(from->strides[d], to->strides[d]);
  }
  if (!equal)
    return emitOpError("states that ")
           << from->str() << " is " << to->str()
           << ", which no run can bear out; other strides take a copy";
  return success();
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//
//
//   ft.cond `(` predicate (`,` captured)* `)` attr-dict `:` function-type
//     `then` `(` argument,* `)` region `else` `(` argument,* `)` region
//   ft.while `(` init,* `)` [`captured` `(` captured,* `)`] attr-dict `:` …
//     `cond` … `do` …
//   ft.scan `init` `(` init,* `)` `over` `(` x,* `)` [`captured` `(` … `)`] …
//     `do` …

namespace {
using Unresolved = SmallVector<OpAsmParser::UnresolvedOperand>;
}

/// The attributes, the types, and the regions, each behind its keyword.
static ParseResult parseTail(OpAsmParser &parser, OperationState &result,
                             ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                             ArrayRef<StringRef> keywords) {
  FunctionType type;
  SMLoc loc;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.getCurrentLocation(&loc) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  for (StringRef keyword : keywords) {
    SmallVector<OpAsmParser::Argument> arguments;
    if (parser.parseKeyword(keyword) ||
        parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren,
                                 /*allowType=*/true) ||
        parser.parseRegion(*result.addRegion(), arguments,
                           /*enableNameShadowing=*/true))
      return failure();
  }
  return success();
}

static void printTail(OpAsmPrinter &printer, Operation *op,
                      ArrayRef<StringRef> keywords) {
  SmallVector<StringRef, 2> elided = {"operandSegmentSizes"};
  if (auto scan = dyn_cast<ScanOp>(op); scan && scan.getDim() == 0)
    elided.push_back("dim");
  printer.printOptionalAttrDict(op->getAttrs(), elided);
  printer << " : ";
  printer.printFunctionalType(op);
  for (auto [region, keyword] : llvm::zip(op->getRegions(), keywords)) {
    if (keyword == keywords.front())
      printer.printNewline();
    else
      printer << ' ';
    printer << keyword << " (";
    if (!region.empty())
      llvm::interleaveComma(region.getArguments(), printer, [&](auto argument) {
        printer.printRegionArgument(argument);
      });
    printer << ") ";
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
}

static void addSegments(OpAsmParser &parser, OperationState &result,
                        ArrayRef<int32_t> segments) {
  result.addAttribute("operandSegmentSizes",
                      parser.getBuilder().getDenseI32ArrayAttr(segments));
}

/// A list of operands behind `keyword`; its length.
static ParseResult parseGroup(OpAsmParser &parser, Unresolved &operands,
                              SmallVectorImpl<int32_t> &segments) {
  size_t before = operands.size();
  if (parser.parseOperandList(operands, AsmParser::Delimiter::Paren))
    return failure();
  segments.push_back(static_cast<int32_t>(operands.size() - before));
  return success();
}

static ParseResult parseCaptured(OpAsmParser &parser, Unresolved &operands,
                                 SmallVectorImpl<int32_t> &segments) {
  if (succeeded(parser.parseOptionalKeyword("captured")))
    return parseGroup(parser, operands, segments);
  segments.push_back(0);
  return success();
}

static void printCaptured(OpAsmPrinter &printer, ValueRange captured) {
  if (!captured.empty())
    printer << " captured(" << captured << ')';
}

ParseResult CondOp::parse(OpAsmParser &parser, OperationState &result) {
  Unresolved operands;
  return failure(
      parser.parseOperandList(operands, AsmParser::Delimiter::Paren) ||
      parseTail(parser, result, operands, {"then", "else"}));
}

void CondOp::print(OpAsmPrinter &printer) {
  printer << '(' << getOperands() << ')';
  printTail(printer, *this, {"then", "else"});
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  Unresolved operands;
  SmallVector<int32_t> segments;
  if (parseGroup(parser, operands, segments) ||
      parseCaptured(parser, operands, segments))
    return failure();
  addSegments(parser, result, segments);
  return parseTail(parser, result, operands, {"cond", "do"});
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInits() << ')';
  printCaptured(printer, getCaptured());
  printTail(printer, *this, {"cond", "do"});
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  Unresolved operands;
  SmallVector<int32_t> segments;
  if (parser.parseKeyword("init") || parseGroup(parser, operands, segments) ||
      parser.parseKeyword("over") || parseGroup(parser, operands, segments) ||
      parseCaptured(parser, operands, segments))
    return failure();
  addSegments(parser, result, segments);
  return parseTail(parser, result, operands, {"do"});
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << " init(" << getInits() << ") over(" << getXs() << ')';
  printCaptured(printer, getCaptured());
  printTail(printer, *this, {"do"});
}

void controlArgumentNames(Region &region, OpAsmSetValueNameFn setNameFn) {
  auto graphs = region.getParentOp()->getAttrOfType<ArrayAttr>(names::kGraphs);
  unsigned r = region.getRegionNumber();
  auto graph = graphs && r < graphs.size() ? dyn_cast<DictionaryAttr>(graphs[r])
                                           : DictionaryAttr();
  auto list = graph ? graph.getAs<ArrayAttr>("arguments") : ArrayAttr();
  if (!list || region.empty())
    return;
  for (auto [argument, name] : llvm::zip(region.getArguments(), list))
    if (auto text = dyn_cast<StringAttr>(name))
      if (!text.getValue().empty())
        setNameFn(argument, text.getValue());
}

} // namespace ft
