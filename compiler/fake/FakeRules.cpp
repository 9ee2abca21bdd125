//===- FakeRules.cpp - Finds and runs the rule of a call -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of all families in one array, indexed by the position of the
// schema, so that finding a rule costs one load.
//
// `add_.Tensor` and `add.out` need no rules of their own: the functional form
// says what would be computed, and what is left to check is that it can be
// written into the argument.
//
// `permute_copy` likewise is `permute` and a row-major copy.
//
//   add_(int32 [2, 3], float32 [3]): add gives float32 [2, 3]; float32 cannot
//   be written into int32: refused.

#include "compiler/fake/ConstantFold.h"
#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/shape/Overflow.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/Promotion.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace ft {

namespace {
enum class Form : uint8_t { Plain, InPlace, Out, ViewCopy };

struct Entry {
  FakeRule rule = nullptr;
  DevicePolicy device = DevicePolicy::Common;
  Form form = Form::Plain;
  /// A number may stand for a tensor.
  bool numbers = false;
};

class RuleTable {
public:
  RuleTable();
  static const RuleTable &get() {
    static const RuleTable table;
    return table;
  }
  const Entry &operator[](unsigned index) const { return entries[index]; }

private:
  std::vector<Entry> entries;
};
} // namespace

/// "add_" + "Tensor" → "add.Tensor": the same arguments without the write.
static bool sameArguments(const Schema &a, const Schema &b) {
  if (a.args.size() < b.args.size())
    return false;
  for (size_t i = 0; i < b.args.size(); ++i)
    if (a.args[i].type.kind != b.args[i].type.kind ||
        a.args[i].type.list != b.args[i].type.list)
      return false;
  return true;
}

RuleTable::RuleTable() {
  const SchemaTable &schemas = SchemaTable::get();
  entries.resize(schemas.all().size());
  auto addFamily = [&](ArrayRef<FakeRuleRow> rows, StringRef family) {
    for (const FakeRuleRow &row : rows)
      if (const Schema *schema = schemas.find(row.name))
        entries[schema->index] = {row.rule, row.device, Form::Plain,
                                  family == "pointwise"};
  };
#define FT_FAMILY(name) addFamily(name##Rules(), #name);
#include "compiler/fake/rules/Families.def"
#undef FT_FAMILY
  for (const Schema &schema : schemas.all()) {
    if (schema.mutates || entries[schema.index].rule ||
        !schema.base.ends_with("_copy"))
      continue;
    std::string view = (schema.base.drop_back(5) + "." + schema.overload).str();
    if (const Schema *other = schemas.find(view)) {
      entries[schema.index] = entries[other->index];
      entries[schema.index].form = Form::ViewCopy;
    }
  }
  for (const Schema &schema : schemas.all()) {
    if (!schema.mutates || entries[schema.index].rule)
      continue;
    // Every overload of the functional form with these arguments will do:
    // `floor_divide_.Tensor` belongs to `floor_divide.default`.
    StringRef base = schema.base;
    Form form = Form::Out;
    if (base.ends_with("_") && !base.ends_with("__")) {
      base = base.drop_back();
      form = Form::InPlace;
    } else if (base.starts_with("__i") && base.ends_with("__")) {
      form = Form::InPlace;
    }
    std::string name = base.str();
    if (base.starts_with("__i"))
      name = "__" + base.drop_front(3).str();
    for (const Schema &other : schemas.all()) {
      // What it writes besides (a noise, say) is written by both forms.
      bool functional = other.args.empty() || !other.args[0].type.write;
      if (other.base != name || !functional || !entries[other.index].rule ||
          !sameArguments(schema, other))
        continue;
      size_t extra = schema.args.size() - other.args.size();
      if (extra != (form == Form::Out ? other.returns.size() : 0))
        continue;
      entries[schema.index] = entries[other.index];
      entries[schema.index].form = form;
      if (other.overload == schema.overload)
        break;
    }
  }
}

/// The rule that was registered with a custom operator.
static LogicalResult runCustomRule(FakeCall &call) {
  return customOp(call.schema())->fake(call);
}

/// What the table has for the overload, or the registry.
static Entry entryOf(const Schema &schema) {
  const CustomOp *custom = customOp(schema);
  if (!custom)
    return RuleTable::get()[schema.index];
  Entry entry;
  entry.rule = custom->fake ? runCustomRule : nullptr;
  entry.device = custom->anyDevice ? DevicePolicy::First : DevicePolicy::Common;
  return entry;
}

FakeRule findFakeRule(const Schema &schema) {
  if (customOp(schema))
    return entryOf(schema).rule;
  return RuleTable::get()[schema.index].rule;
}

//===----------------------------------------------------------------------===//
// Forms that write
//===----------------------------------------------------------------------===//

static LogicalResult castable(FakeCall &call, DType from, DType to) {
  if (canCast(from, to))
    return success();
  return call.fail(FakeError::Dtype,
                   "a result of " + dtypeName(from) +
                       " cannot be written into a tensor of " + dtypeName(to));
}

LogicalResult finishInPlace(FakeCall &call) {
  const TensorMeta &self = call.tensor(0);
  const TensorMeta &computed = call.results.front().meta;
  if (!call.sameSizes(computed.sizes, self.sizes))
    return call.fail(FakeError::Shape,
                     "the result " + call.show(computed) +
                         " does not have the size of the tensor that is "
                         "written, " +
                         call.show(self) + unlike(computed.sizes, self.sizes));
  if (failed(castable(call, computed.dtype, self.dtype)))
    return failure();
  if (self.device != call.device)
    return call.fail(FakeError::Device,
                     "a result on " + call.device.str() +
                         " cannot be written into a tensor on " +
                         self.device.str());
  // masked_fill_ writes the same value to all elements in one place.
  if (overlapsItself(self) && call.schema().base != "masked_fill_")
    return call.fail(FakeError::Other,
                     "the tensor that is written, " + call.show(self) +
                         ", has several elements in one place");
  call.results.resize(1);
  call.results.front() = FakeResult();
  call.results.front().meta = self;
  call.results.front().alias = call.arg(0).operand;
  return success();
}

static LogicalResult finishOut(FakeCall &call) {
  unsigned first = call.arguments().size() - call.results.size();
  for (auto [i, result] : enumerate(call.results)) {
    const TensorMeta &out = call.tensor(first + i);
    // Products are computed in place, so they take no other dtype.
    if (call.schema().family == "matmul" && out.dtype != result.meta.dtype)
      return call.fail(FakeError::Dtype, "the tensor that is written must be " +
                                             dtypeName(result.meta.dtype) +
                                             ", it is " + dtypeName(out.dtype));
    if (failed(castable(call, result.meta.dtype, out.dtype)))
      return failure();
    if (out.device != result.meta.device)
      return call.fail(FakeError::Device,
                       "the result is on " + result.meta.device.str() +
                           ", the tensor that is written on " +
                           out.device.str());
    // Out tensors of another size are resized to the result's layout.
    bool fits = call.sameSizes(result.meta.sizes, out.sizes);
    TensorMeta meta = out;
    if (!fits) {
      meta.sizes = result.meta.sizes;
      meta.strides = result.meta.strides;
    }
    result.meta = meta;
    result.alias = call.arg(first + i).operand;
  }
  return success();
}

static LogicalResult finishViewCopy(FakeCall &call) {
  for (FakeResult &result : call.results) {
    TensorMeta &out = result.meta;
    out.strides = contiguousStrides(out.sizes);
    out.offset = 0;
    out.conj = out.neg = false;
    result.alias = -1;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

/// What every rule may rely on: one entry per argument, and a tensor wherever
/// the schema demands one. A number may stand in for a tensor in pointwise ops
/// (`x + 1` is `add.Tensor(x, 1)`).
static LogicalResult checkArguments(FakeCall &call, bool numbers) {
  const Schema &schema = call.schema();
  if (call.arguments().size() != schema.args.size())
    return call.fail(FakeError::Other,
                     "the call has " + Twine(call.arguments().size()) +
                         " arguments, " + schema.name + " takes " +
                         Twine(schema.args.size()));
  for (auto [i, arg] : enumerate(call.arguments())) {
    const SchemaType &type = schema.args[i].type;
    if (arg.kind == Arg::None && type.optional)
      continue;
    bool fits = true;
    if (type.list)
      fits =
          arg.kind == Arg::List || (type.fixedLength && arg.kind == Arg::Int);
    else if (type.kind == SchemaType::Tensor)
      fits =
          arg.kind == Arg::Tensor || (numbers && arg.isNumber() && !type.write);
    if (!fits)
      return call.fail(FakeError::Other, "argument '" + schema.args[i].name +
                                             "' is missing or of a wrong kind");
  }
  return success();
}

/// What holds for every result, whatever its rule: sizes are not negative, and
/// the number of bytes that a row-major tensor of them takes fits 63 bits.
static LogicalResult checkResults(FakeCall &call) {
  for (const FakeResult &result : call.results) {
    if (result.kind == FakeResult::Int && result.value &&
        isTooLarge(*result.value))
      return call.fail(FakeError::Other, "the result is a number whose "
                                         "expression does not fit 64 bits");
    if (result.kind != FakeResult::Tensor)
      continue;
    for (ArrayRef<Dim> dims :
         {ArrayRef<Dim>(result.meta.sizes), ArrayRef<Dim>(result.meta.strides),
          ArrayRef<Dim>(result.meta.offset)})
      if (any_of(dims, isTooLarge))
        return call.fail(FakeError::Shape,
                         "the result has a size, stride or offset whose "
                         "expression does not fit 64 bits");
    int64_t bytes = dtypeBytes(result.meta.dtype);
    for (Dim d : result.meta.sizes) {
      if (!d.isStatic())
        continue;
      if (d.value() < 0)
        return call.fail(FakeError::Shape,
                         "the result would have the size " + d.str());
      if (llvm::MulOverflow(bytes, std::max<int64_t>(d.value(), 1), bytes))
        return call.fail(FakeError::Shape,
                         "the result " + result.meta.str() + " is too large");
    }
  }
  return success();
}

LogicalResult propagateCall(FakeCall &call) {
  const Entry entry = entryOf(call.schema());
  if (!entry.rule)
    return call.fail(FakeError::Unsupported,
                     "there is no shape rule for '" + call.schema().name + "'");
  if (failed(checkArguments(call, entry.numbers)) ||
      failed(resolveDevice(call, entry.device)))
    return failure();
  LogicalResult done = entry.rule(call);
  if (succeeded(done) && entry.form == Form::InPlace)
    done = finishInPlace(call);
  else if (succeeded(done) && entry.form == Form::Out)
    done = finishOut(call);
  else if (succeeded(done) && entry.form == Form::ViewCopy)
    done = finishViewCopy(call);
  if (succeeded(done))
    done = checkResults(call);
  if (!call.undecided.empty())
    return call.fail(FakeError::Undecided,
                     "it is not known whether " + call.undecided);
  if (call.scope && succeeded(done))
    foldConstants(call);
  return done;
}

} // namespace ft
