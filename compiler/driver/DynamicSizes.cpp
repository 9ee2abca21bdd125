//===- DynamicSizes.cpp - Makes sizes of inputs symbols --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/DynamicSizes.h"

#include "compiler/driver/GeneralizeViews.h"
#include "compiler/fake/StrideRules.h"
#include "compiler/shape/SymName.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <numeric>

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static llvm::Error badOption(const Twine &what) {
  return makeError(DiagId::BadCommandLine, "--dynamic", what,
                   "a size is declared as x:0=batch[2..64] or "
                   "x:0=batch{1,2,8}: input, dim, name or expression of "
                   "names, range or list");
}

/// "1,2,8", in any order.
static bool readMembers(StringRef list, DynamicSize &size) {
  SmallVector<StringRef> parts;
  list.split(parts, ',');
  for (StringRef part : parts) {
    int64_t number;
    if (part.trim().getAsInteger(10, number) || number < 0)
      return false;
    size.members.push_back(number);
  }
  llvm::sort(size.members);
  size.members.erase(llvm::unique(size.members), size.members.end());
  size.lower = size.members.front();
  size.upper = size.members.back();
  return true;
}

llvm::Expected<DynamicSize> parseDynamicSize(StringRef text) {
  DynamicSize size;
  auto [place, rest] = text.split('=');
  auto [input, dim] = place.trim().rsplit(':');
  if (input.empty() || dim.getAsInteger(10, size.dim))
    return badOption("'" + text + "' names no dim of an input");
  size.input = input.str();
  StringRef name = rest.trim();
  if (name.consume_back("]")) {
    auto [expression, range] = name.rsplit('[');
    auto [low, high] = range.split("..");
    auto read = [](StringRef end, std::optional<int64_t> &value) {
      end = end.trim();
      int64_t number;
      if (end.empty())
        return true;
      if (end.getAsInteger(10, number) || number < 0)
        return false;
      value = number;
      return true;
    };
    if (!range.contains("..") || !read(low, size.lower) ||
        !read(high, size.upper) ||
        (size.lower && size.upper && *size.lower > *size.upper))
      return badOption("'[" + range + "]' is no range of sizes");
    name = expression.trim();
  } else if (name.consume_back("}")) {
    auto [expression, list] = name.rsplit('{');
    if (!readMembers(list, size))
      return badOption("'{" + list + "}' is no list of sizes");
    name = expression.trim();
  }
  size.size = name.str();
  if (place.size() != text.size() && name.empty() && !size.lower && !size.upper)
    return badOption("'" + text + "' gives the size no name");
  return size;
}

static func::FuncOp forwardOf(ModuleOp module) {
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  return forward && !forward.isExternal() ? forward : func::FuncOp();
}

static StringRef attributeOf(func::FuncOp forward, unsigned i, StringRef key) {
  auto text = forward.getArgAttrOfType<StringAttr>(i, key);
  return text ? text.getValue() : StringRef();
}

static bool isInput(func::FuncOp forward, unsigned i) {
  StringRef kind = attributeOf(forward, i, names::kKind);
  return kind.empty() || kind == "input";
}

static std::string nameOf(func::FuncOp forward, unsigned i) {
  for (StringRef key : {names::kTarget, names::kName})
    if (StringRef name = attributeOf(forward, i, key); !name.empty())
      return name.str();
  return ("arg" + Twine(i)).str();
}

static std::optional<TensorMeta> metaOfArgument(func::FuncOp forward,
                                                unsigned i) {
  Type type = forward.getArgument(i).getType();
  if (auto meta = metaFromType(type))
    return meta;
  auto declared = forward.getArgAttrOfType<TypeAttr>(i, names::kDeclared);
  return declared ? metaFromType(declared.getValue()) : std::nullopt;
}

static llvm::Expected<unsigned> findInput(func::FuncOp forward, StringRef input,
                                          StringRef option) {
  std::string known;
  for (unsigned i = 0; forward && i < forward.getNumArguments(); ++i) {
    if (!isInput(forward, i))
      continue;
    std::string name = nameOf(forward, i);
    if (name == input || attributeOf(forward, i, names::kName) == input)
      return i;
    known += (known.empty() ? "" : ", ") + name;
  }
  return makeError(DiagId::BadCommandLine, option,
                   "the model has no input '" + input + "'",
                   "its inputs are " + known);
}

std::vector<DynamicSize> dynamicBatch(ModuleOp module) {
  std::vector<DynamicSize> sizes;
  func::FuncOp forward = forwardOf(module);
  for (unsigned i = 0; forward && i < forward.getNumArguments(); ++i) {
    std::optional<TensorMeta> meta = metaOfArgument(forward, i);
    if (!isInput(forward, i) || !meta || meta->rank() == 0)
      continue;
    DynamicSize size;
    size.input = nameOf(forward, i);
    size.size = "batch";
    sizes.push_back(std::move(size));
  }
  return sizes;
}

llvm::Expected<std::vector<DynamicSize>> dimsOfExample(ModuleOp module,
                                                       StringRef text) {
  auto [input, shape] = text.split('=');
  func::FuncOp forward = forwardOf(module);
  llvm::Expected<unsigned> at = findInput(forward, input.trim(), "--example");
  if (!at)
    return at.takeError();
  std::optional<TensorMeta> meta = metaOfArgument(forward, *at);
  SmallVector<StringRef> parts;
  shape.trim().split(parts, 'x');
  if (!meta || static_cast<int64_t>(parts.size()) != meta->rank())
    return makeError(DiagId::BadCommandLine, "--example",
                     "'" + text + "' does not have as many dims as " +
                         (meta ? meta->str() : std::string("a number")),
                     "a shape is written x=4x16");
  std::vector<DynamicSize> sizes;
  for (auto [d, part] : llvm::enumerate(parts)) {
    int64_t number;
    if (part.getAsInteger(10, number) || number < 0)
      return makeError(DiagId::BadCommandLine, "--example",
                       "'" + part + "' is no size",
                       "a shape is written x=4x16");
    if (!meta->sizes[d].isStatic() || meta->sizes[d].value() == number)
      continue;
    DynamicSize size;
    size.input = input.trim().str();
    size.dim = static_cast<unsigned>(d);
    sizes.push_back(std::move(size));
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

namespace {
class Declarer {
public:
  explicit Declarer(ModuleOp module)
      : module(module), forward(forwardOf(module)),
        symbols(module.getContext()
                    ->getOrLoadDialect<FtDialect>()
                    ->symbolContext()) {}

  llvm::Error run(ArrayRef<DynamicSize> sizes);

private:
  struct Item {
    const DynamicSize *asked;
    unsigned argument;
    SymExpr size;
    std::string place; // "x:0"
  };
  struct Name {
    std::optional<int64_t> hint;
    Interval range = Interval::atLeast(0);
    std::string source;
    /// A symbol of the module that has been given this name.
    SymbolOp existing;
  };

  llvm::Error read(const DynamicSize &size, Item &item);
  llvm::Error bind(const Item &item);
  llvm::Error bindStatic(const Item &item, int64_t size);
  llvm::Error bindSymbol(const Item &item, SymExpr have);
  llvm::Error setRange(const Item &item);
  llvm::Error retype(unsigned argument);
  SymExpr withNames(SymExpr size);
  std::optional<int64_t> hintOf(SymExpr size) const;
  void addFact(SymExpr relation, const Twine &cause);
  SymbolOp find(StringRef name);
  static llvm::Error refuse(const Item &item, const Twine &why,
                            const Twine &help = "") {
    return makeError(
        DiagId::DeclaredSize, "",
        item.place + " was declared to be " +
            (item.asked->size.empty() ? "dynamic" : item.asked->size) + ": " +
            why,
        help);
  }

  ModuleOp module;
  func::FuncOp forward;
  SymContext &symbols;
  std::map<std::string, Name> names;
  std::map<unsigned, TensorMeta> metas;
  std::vector<std::pair<SymExpr, std::string>> facts;
};
} // namespace

SymbolOp Declarer::find(StringRef name) {
  for (SymbolOp op : module.getOps<SymbolOp>())
    if (op.getSym() == name)
      return op;
  return {};
}

void Declarer::addFact(SymExpr relation, const Twine &cause) {
  if (relation && relation.isPredicate() && !relation.isTrue())
    facts.emplace_back(relation, cause.str());
}

llvm::Error Declarer::read(const DynamicSize &size, Item &item) {
  item.asked = &size;
  item.place = size.input + ":" + std::to_string(size.dim);
  llvm::Expected<unsigned> argument =
      findInput(forward, size.input, "--dynamic");
  if (!argument)
    return argument.takeError();
  item.argument = *argument;
  std::optional<TensorMeta> meta = metaOfArgument(forward, *argument);
  if (!meta || size.dim >= meta->sizes.size())
    return makeError(DiagId::BadCommandLine, "--dynamic",
                     "there is no dim " + Twine(size.dim) + " of '" +
                         size.input + "', which is " +
                         (meta ? meta->str() : std::string("a number")),
                     "dims count from 0");
  metas.try_emplace(*argument, *meta);
  std::string text = size.size;
  if (text.empty())
    text = size.input + "_" + std::to_string(size.dim);
  for (char &c : text)
    if (size.size.empty() && !llvm::isAlnum(c))
      c = '_';
  llvm::Expected<SymExpr> parsed = symbols.parse(text);
  if (!parsed)
    return badOption(takeDiagnostics(parsed.takeError()).front().message);
  if (parsed->isPredicate())
    return badOption("'" + text + "' is a condition, no size");
  item.size = *parsed;
  llvm::Error error = llvm::Error::success();
  forEachSymbol(item.size, [&](SymExpr symbol) {
    StringRef name = symbol.name();
    int64_t number;
    if (!error && name.consume_front("u") && !name.getAsInteger(10, number))
      error = badOption("'" + symbol.name() +
                        "' is a name for sizes that data decide");
    names.try_emplace(symbol.name().str());
  });
  return error;
}

/// The names that stand for symbols of the module, replaced by those.
SymExpr Declarer::withNames(SymExpr size) {
  SymExpr result = symbols.substitute(size, [&](StringRef name) {
    auto it = names.find(name.str());
    return it != names.end() && it->second.existing
               ? symbols.symbol(it->second.existing.getSym())
               : SymExpr();
  });
  return result ? result : size;
}

std::optional<int64_t> Declarer::hintOf(SymExpr size) const {
  SymValue value = SymContext::evaluate(size, [&](StringRef name, int64_t &v) {
    auto it = names.find(name.str());
    if (it == names.end() || !it->second.hint)
      return false;
    v = *it->second.hint;
    return true;
  });
  return value ? std::optional(value.value) : std::nullopt;
}

llvm::Error Declarer::bindStatic(const Item &item, int64_t size) {
  // The one name without an example is what makes the sum the size.
  SymTerm storage;
  SymExpr::Affine sum = item.size.affine(storage);
  SymExpr open;
  int64_t factor = 0, rest = size - sum.constant;
  for (const SymTerm &term : sum.terms) {
    std::optional<int64_t> known = hintOf(term.expr);
    if (known) {
      rest -= term.k * *known;
    } else if (open || term.expr.kind() != SymKind::Symbol) {
      return refuse(item,
                    "the size " + Twine(size) +
                        " of the model does not say what its names are",
                    "declare other dims that are one of the names alone");
    } else {
      open = term.expr;
      factor = term.k;
    }
  }
  if (open) {
    if (rest % factor != 0 || rest / factor < 0)
      return refuse(item, "it is " + Twine(size) + " in the model");
    Name &name = names[open.name().str()];
    name.hint = rest / factor;
    name.source = item.place;
  } else if (rest != 0) {
    return refuse(item,
                  "it is " + Twine(size) + " in the model, the names say " +
                      Twine(size - rest),
                  "declare each input by itself, such as --dynamic x:0=batch "
                  "--dynamic y:0=3*batch");
  }
  if (item.size.kind() == SymKind::Symbol) {
    Name &name = names[item.size.name().str()];
    if (name.source.empty())
      name.source = item.place;
  }
  metas[item.argument].sizes[item.asked->dim] = Dim(withNames(item.size));
  return llvm::Error::success();
}

/// A dim of an archive that has symbols already.
llvm::Error Declarer::bindSymbol(const Item &item, SymExpr have) {
  std::string cause = "declared: " + item.place + " = " + item.asked->size;
  if (item.size.kind() == SymKind::Symbol) {
    Name &name = names[item.size.name().str()];
    if (!name.existing && !name.hint && have.kind() == SymKind::Symbol) {
      SymbolOp op = find(have.name());
      if (op) {
        name.existing = op;
        if (std::optional<uint64_t> hint = op.getHint())
          name.hint = static_cast<int64_t>(*hint);
        if (!item.asked->size.empty())
          op.setTitle(item.size.name());
        return llvm::Error::success();
      }
    }
  }
  // k·_a + c with a name of its own is a multiple.
  SymTerm storage;
  SymExpr::Affine sum = item.size.affine(storage);
  if (sum.terms.size() == 1 && sum.terms[0].expr.kind() == SymKind::Symbol) {
    Name &name = names[sum.terms[0].expr.name().str()];
    if (!name.existing && !name.hint) {
      SymExpr k = symbols.constant(sum.terms[0].k);
      SymExpr moved = symbols.sub(have, symbols.constant(sum.constant));
      addFact(symbols.eq(symbols.mod(moved, k), symbols.constant(0)), cause);
      return llvm::Error::success();
    }
  }
  addFact(symbols.eq(have, withNames(item.size)), cause);
  return llvm::Error::success();
}

llvm::Error Declarer::bind(const Item &item) {
  Dim have = metas[item.argument].sizes[item.asked->dim];
  return have.isStatic() ? bindStatic(item, have.value())
                         : bindSymbol(item, have.symbolic());
}

llvm::Error Declarer::setRange(const Item &item) {
  std::optional<int64_t> lower = item.asked->lower, upper = item.asked->upper;
  if (!lower && !upper)
    return llvm::Error::success();
  ArrayRef<int64_t> members = item.asked->members;
  if (!members.empty()) {
    SymExpr size = withNames(item.size);
    SmallVector<SymExpr> cases;
    for (int64_t member : members)
      cases.push_back(symbols.eq(size, symbols.constant(member)));
    std::optional<int64_t> hint = hintOf(item.size);
    if (hint && !llvm::is_contained(members, *hint))
      return refuse(item, "the size in the model, " + Twine(*hint) +
                              ", is none of those");
    addFact(symbols.logicalOr(cases), item.place);
  }
  if (item.size.kind() != SymKind::Symbol) {
    SymExpr size = withNames(item.size);
    if (lower)
      addFact(symbols.ge(size, symbols.constant(*lower)), item.place);
    if (upper)
      addFact(symbols.le(size, symbols.constant(*upper)), item.place);
    return llvm::Error::success();
  }
  Name &name = names[item.size.name().str()];
  if (SymbolOp op = name.existing) {
    auto number = [](std::optional<uint64_t> v, int64_t otherwise) {
      return v ? static_cast<int64_t>(*v) : otherwise;
    };
    int64_t least = number(op.getLower(), 0);
    int64_t most = number(op.getUpper(), Interval::kMax);
    if ((lower && *lower < least) || (upper && *upper > most))
      return refuse(
          item, "the archive takes " + Interval{least, most}.str() + " there",
          "declare a range inside of it");
    Builder b(module.getContext());
    if (lower)
      op.setLowerAttr(b.getI64IntegerAttr(*lower));
    if (upper)
      op.setUpperAttr(b.getI64IntegerAttr(*upper));
  }
  name.range.lo = std::max(name.range.lo, lower.value_or(0));
  name.range.hi = std::min(name.range.hi, upper.value_or(Interval::kMax));
  if (name.range.lo > name.range.hi)
    return refuse(item, "no size is in all the ranges that it has");
  if (name.hint && (*name.hint < name.range.lo || *name.hint > name.range.hi))
    return refuse(item, "the size in the model, " + Twine(*name.hint) +
                            ", is outside of " + name.range.str());
  return llvm::Error::success();
}

/// Row-major strides follow the sizes, and so do those of any other order
/// without gaps.
llvm::Error Declarer::retype(unsigned argument) {
  TensorMeta old = *metaOfArgument(forward, argument);
  TensorMeta &meta = metas[argument];
  if (meta.sizes == old.sizes)
    return llvm::Error::success();
  SmallVector<int64_t> order(old.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  auto stride = [&](int64_t d) {
    return old.strides[d].isStatic() ? old.strides[d].value() : -1;
  };
  if (old.strides == contiguousStrides(old.sizes))
    meta.strides = contiguousStrides(meta.sizes);
  else {
    llvm::sort(order, [&](int64_t a, int64_t b) {
      if (stride(a) != stride(b))
        return stride(a) > stride(b);
      return old.sizes[a].is(1) == old.sizes[b].is(1) ? a < b
                                                      : old.sizes[b].is(1);
    });
    if (!isDense(old.sizes, old.strides) ||
        !llvm::all_of(old.sizes, [](Dim d) { return d.isStatic(); }))
      return makeError(DiagId::NotYetSupported, "",
                       "input '" + nameOf(forward, argument) + "' is " +
                           old.str() +
                           ": only sizes of inputs without gaps in memory can "
                           "be made dynamic",
                       "export the model with a contiguous example");
    meta.strides = denseStrides(meta.sizes, order);
  }
  forward.getArgument(argument).setType(
      typeFromMeta(module.getContext(), meta));
  forward.removeArgAttr(argument, names::kDeclared);
  return llvm::Error::success();
}

llvm::Error Declarer::run(ArrayRef<DynamicSize> sizes) {
  std::vector<Item> items(sizes.size());
  for (auto [size, item] : llvm::zip(sizes, items))
    if (llvm::Error error = read(size, item))
      return error;
  for (auto &[name, known] : names)
    if (SymbolOp op = find(name)) { // a symbol of the archive by its own name
      known.existing = op;
      if (std::optional<uint64_t> hint = op.getHint())
        known.hint = static_cast<int64_t>(*hint);
    }
  // Names alone first: expressions are made of them.
  for (bool alone : {true, false})
    for (const Item &item : items)
      if ((item.size.kind() == SymKind::Symbol) == alone)
        if (llvm::Error error = bind(item))
          return error;
  for (const Item &item : items)
    if (llvm::Error error = setRange(item))
      return error;
  for (auto &[argument, meta] : metas)
    if (llvm::Error error = retype(argument))
      return error;
  OpBuilder builder(forward);
  auto number = [&](int64_t v, int64_t none) {
    return v == none ? IntegerAttr() : builder.getI64IntegerAttr(v);
  };
  for (auto &[name, known] : names)
    if (!known.existing && known.hint)
      SymbolOp::create(
          builder, builder.getUnknownLoc(), builder.getStringAttr(name),
          number(known.range.lo, Interval::kMin),
          number(known.range.hi, Interval::kMax),
          builder.getI64IntegerAttr(*known.hint),
          builder.getStringAttr(known.source), builder.getStringAttr(name),
          /*traced_lower=*/IntegerAttr());
  for (auto &[relation, cause] : facts)
    FactOp::create(builder, builder.getUnknownLoc(),
                   builder.getStringAttr(relation.str()),
                   builder.getStringAttr(cause), /*id=*/StringAttr(),
                   /*place=*/StringAttr(), /*implied_by=*/ArrayAttr());
  forward.setType(
      FunctionType::get(module.getContext(),
                        llvm::to_vector(forward.getBody().getArgumentTypes()),
                        forward.getResultTypes()));
  module.walk([](Operation *op) { op->removeAttr(names::kDeclared); });
  return llvm::Error::success();
}

llvm::Error makeDynamic(ModuleOp module, ArrayRef<DynamicSize> sizes) {
  if (sizes.empty())
    return llvm::Error::success();
  if (!forwardOf(module))
    return llvm::Error::success(); // the stages say it
  if (llvm::Error error = Declarer(module).run(sizes))
    return error;
  generalizeViews(module);
  return llvm::Error::success();
}

} // namespace ft
