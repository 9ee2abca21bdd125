//===- FakeReport.cpp - Messages of fake propagation -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/FakeReport.h"

#include "compiler/fake/JoinLayouts.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/Places.h"

#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Refused calls
//===----------------------------------------------------------------------===//

StringRef codeOf(FakeError category) {
  switch (category) {
  case FakeError::Shape:
    return "FT0302";
  case FakeError::Dtype:
    return "FT0303";
  case FakeError::Device:
    return "FT0304";
  case FakeError::Dim:
  case FakeError::Index:
    return "FT0305";
  case FakeError::Other:
    return "FT0307";
  case FakeError::Unsupported:
    return "FT0308";
  case FakeError::DataDependent:
  case FakeError::Undecided:
    return "FT0311";
  }
  return "FT0307";
}

/// "; self is float32 [2, 3] cpu, mat2 is float32 [4, 5] cpu": the tensors of
/// the call by the names of its schema.
static void listOperands(raw_ostream &text, const FakeCall &call) {
  constexpr int kMost = 6;
  int shown = 0;
  auto show = [&](const Twine &name, const Arg &arg) {
    if (arg.kind != Arg::Tensor || ++shown > kMost)
      return;
    text << (shown == 1 ? "; " : ", ") << name << " is "
         << call.tensorOperands()[arg.operand].str();
  };
  for (auto [arg, schema] : llvm::zip(call.arguments(), call.schema().args)) {
    show(schema.name, arg);
    for (auto [i, item] : llvm::enumerate(arg.list))
      show(schema.name + "[" + Twine(i) + "]", item);
  }
  if (shown > kMost)
    text << " and " << shown - kMost << " more";
}

std::string explain(const FakeCall &call) {
  std::string all;
  llvm::raw_string_ostream text(all);
  text << call.message << " (in " << shownName(call.schema());
  listOperands(text, call);
  text << ")";
  return all;
}

/// "self, on cpu, comes from relu, net.py:12; other, on cuda:0, from …": the
/// first tensor of each device. Nothing if all are on one.
static std::string placesOfDevices(Operation *op, const FakeCall &call) {
  SmallVector<Device, 2> seen;
  std::string text;
  auto show = [&](const Twine &name, const Arg &arg) {
    if (arg.kind != Arg::Tensor || arg.operand >= int(op->getNumOperands()))
      return;
    Device device = call.tensorOperands()[arg.operand].device;
    if (llvm::is_contained(seen, device))
      return;
    seen.push_back(device);
    std::string place = placeOf(op->getOperand(arg.operand).getLoc());
    text += (text.empty() ? "" : "; ") + name.str() + ", on " + device.str() +
            ", comes from " + (place.empty() ? "an unnamed place" : place);
  };
  for (auto [arg, schema] : llvm::zip(call.arguments(), call.schema().args)) {
    show(schema.name, arg);
    for (auto [i, item] : llvm::enumerate(arg.list))
      show(schema.name + "[" + Twine(i) + "]", item);
  }
  return seen.size() > 1 ? text : "";
}

void reportFailure(Operation *op, const FakeCall &call) {
  InFlightDiagnostic error = emitError(op->getLoc());
  error << "[" << codeOf(call.category) << "] " << explain(call);
  if (call.category == FakeError::DataDependent)
    error << "\nhelp: the number is known at run time only; give it as an "
             "argument, or use an operator that does not need it";
  else if (call.category == FakeError::Device) {
    std::string places = placesOfDevices(op, call);
    if (!places.empty())
      error << "\nhelp: " << places << "; copy one to the other's device";
  } else if (call.category == FakeError::Undecided)
    error << "\nhelp: state what is known of the symbols, as a range or by "
             "an assertion of the program, or export the model with these "
             "sizes fixed";
}

void reportUnknownOperand(Operation *op, Value operand) {
  bool tensor = isa<TensorType>(operand.getType());
  emitError(op->getLoc())
      << (tensor ? "[FT0107] an operand has no layout"
                 : "[FT0311] the value of an integer argument is not known "
                   "\nhelp: numbers that are computed at run time are not "
                   "supported yet");
}

//===----------------------------------------------------------------------===//
// Missing rules
//===----------------------------------------------------------------------===//

void reportMissingRules(Operation *root) {
  struct Missing {
    unsigned count = 0;
    Operation *first = nullptr;
  };
  llvm::MapVector<StringAttr, Missing> missing;
  bool custom = false;
  root->walk([&](Operation *op) {
    const Schema *schema = schemaOf(op);
    bool unregistered = isUnregisteredCall(op);
    if (schema ? findFakeRule(*schema) != nullptr : !unregistered)
      return;
    custom |= unregistered || customOp(*schema);
    auto name = op->getAttrOfType<StringAttr>("callee");
    if (schema)
      name = StringAttr::get(root->getContext(), shownName(*schema));
    Missing &m = missing[name];
    if (!m.count++)
      m.first = op;
  });
  if (missing.empty())
    return;
  InFlightDiagnostic error = emitError(missing.front().second.first->getLoc());
  error << "[FT0301] " << missing.size()
        << (missing.size() == 1 ? " operator has" : " operators have")
        << " no shape rule: ";
  llvm::interleave(
      missing,
      [&](auto &entry) {
        error << entry.first.getValue() << " (" << entry.second.count
              << (entry.second.count == 1 ? " call" : " calls");
        std::string place = placeOf(entry.second.first->getLoc());
        if (!place.empty())
          error << ", first at " << place;
        error << ")";
      },
      [&] { error << ", "; });
  if (custom)
    error << "\nhelp: register a fake rule with the custom operators "
             "(foretrace/plugin.h), or let --learn-custom run their kernels "
             "on zeros";
}

//===----------------------------------------------------------------------===//
// Comparison with what the archive claims
//===----------------------------------------------------------------------===//

static Attribute elementOf(Attribute attribute, unsigned i) {
  auto list = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!list)
    return i == 0 ? attribute : Attribute();
  return i < list.size() ? list[i] : Attribute();
}

/// The claim with the names that the walk has given: a symbol that data decide
/// has the name of its place in the order of making, and the archive has made
/// others in between. Where it is a number here, more is known than there.
static TensorMeta renamed(TensorMeta claimed, const TensorMeta &ours) {
  llvm::StringMap<SymExpr> names;
  for (auto [theirs, own] : llvm::zip(claimed.sizes, ours.sizes)) {
    SymExpr a = theirs.symbolic(), b = own.symbolic();
    if (a && b && a != b && a.kind() == SymKind::Symbol &&
        b.context().hasUnbacked(b))
      names.try_emplace(a.name(), b);
  }
  auto rename = [&](Dim &d, Dim own) {
    SymExpr e = d.symbolic();
    if (e && own.isStatic() && e.context().hasUnbacked(e))
      d = own;
    else if (e && !names.empty())
      d = Dim(e.context().substitute(
          e, [&](StringRef name) { return names.lookup(name); }));
  };
  for (auto [d, own] : llvm::zip(claimed.sizes, ours.sizes))
    rename(d, own);
  for (auto [d, own] : llvm::zip(claimed.strides, ours.strides))
    rename(d, own);
  rename(claimed.offset, ours.offset);
  return claimed;
}

void compareDeclared(OpResult result, Type ours, Attribute declared,
                     FakeScope *scope) {
  Operation *op = result.getOwner();
  unsigned r = result.getResultNumber();
  auto claim = dyn_cast_or_null<TypeAttr>(elementOf(declared, r));
  // Types are unique: one pointer settles nearly every case.
  if (!claim || claim.getValue() == ours)
    return;
  std::optional<TensorMeta> claimed = metaFromType(claim.getValue());
  std::optional<TensorMeta> meta = metaFromType(ours);
  // Archives do not say whether a value is conjugated or negated lazily.
  if (claimed && meta) {
    claimed->conj = meta->conj;
    claimed->neg = meta->neg;
  }
  if (!claimed || !meta || sameLayout(*meta, *claimed))
    return;
  if (claimed->rank() == meta->rank()) {
    TensorMeta same = renamed(*claimed, *meta);
    if (sameLayout(*meta, same) ||
        (scope && sameLayout(*meta, same, [&](Dim x, Dim y) {
           return scope->equalAsClaimed(x, y);
         })))
      return;
  }
  auto name =
      dyn_cast_or_null<StringAttr>(elementOf(op->getAttr(names::kName), r));
  emitWarning(op->getLoc())
      << "[FT0310] '" << (name ? name.getValue() : StringRef("?")) << "' is "
      << meta->str() << ", the archive claims " << claimed->str();
}

} // namespace ft
