//===- Pointwise.cpp - One number from the numbers at one place -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Pointwise.h"

#include "dialects/ft/Promotion.h"
#include "tests/interpreter/Families.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <deque>

using namespace ft;
using namespace ft::interpreter;

DType ft::interpreter::computeType(const Call &call, Promote promote,
                                   unsigned operands) {
  TypePromotion promotion;
  unsigned first = promote == Promote::Mask;
  for (unsigned i = first; i < call.size(); ++i)
    if (const Tensor *tensor = call.optTensor(i))
      promotion.add(tensor->dtype, tensor->shape.empty());
    else if (call.args[i].isNumber() && i < operands + first)
      promotion.add(call.args[i]);
  DType dtype = promotion.result().value_or(DType::F32);
  switch (promote) {
  case Promote::Float:
    return toFloat(dtype);
  case Promote::Double:
    return isComplex(dtype) ? DType::C128 : DType::F64;
  case Promote::Result:
    return call.results[0].dtype;
  default:
    return dtype;
  }
}

static thread_local bool computingWide = false;
static thread_local DType computing = DType::F32;

void ft::interpreter::stepIn(DType dtype) {
  computingWide = toReal(dtype) == DType::F64;
  computing = toReal(dtype);
}

double ft::interpreter::stored(double value) {
  return isFloating(computing) ? roundTo(computing, value) : step(value);
}

double ft::interpreter::step(double value) {
  return computingWide ? value : roundTo(DType::F32, value);
}

namespace {
/// The argument of one slot: a tensor in the type of computation, or a number.
struct Slot {
  Tensor tensor;
  bool isTensor = false;
  double real = 0;
  Complex complex;
  int64_t integer = 0;
};
} // namespace

/// A factor or divisor that is a scalar tensor is not rounded to the 16-bit
/// float that the call promotes it to; all other operands are.
static bool scalesUnrounded(const Call &call, unsigned i) {
  static const llvm::StringSet<> kNames = {"mul", "multiply", "div", "divide",
                                           "true_divide"};
  return i == 1 && kNames.contains(call.base()) && call.tensor(i).rank() == 0 &&
         isFloating(call.tensor(i).dtype) && call.schema.overload == "Tensor";
}

static Slot makeSlot(const Call &call, unsigned i, DType dtype, bool operand) {
  Slot slot;
  if (const Tensor *tensor = call.optTensor(i)) {
    slot.isTensor = true;
    // A mask stays what it is.
    slot.tensor = operand ? tensor->to(dtype) : *tensor;
    if (operand && scalesUnrounded(call, i) &&
        (dtype == DType::F16 || dtype == DType::BF16))
      slot.tensor = tensor->to(DType::F32);
    return slot;
  }
  if (!call.has(i)) {
    slot.real = std::nan("");
    slot.complex = slot.real;
    return slot;
  }
  if (operand) {
    // Some arithmetic keeps a number in float32 beside 16-bit floats; the rest,
    // and comparisons, see it as a tensor of them would hold it.
    static const llvm::StringSet<> kRounding = {
        "add",       "sub", "subtract", "rsub",          "fmod",
        "remainder", "pow", "xlogy",    "special_xlogy", "special_xlog1py"};
    bool narrow = dtype == DType::F16 || dtype == DType::BF16;
    if (narrow && call.results[0].dtype != DType::Bool &&
        !kRounding.contains(call.base()))
      dtype = DType::F32;
    Tensor number(dtype, {});
    if (call.args[i].kind == Arg::Complex)
      number.setComplex(0, call.complex(i));
    else if (call.args[i].kind == Arg::Float)
      number.setReal(0, call.number(i));
    else
      number.setInteger(0, call.integer(i));
    slot.real = number.real(0);
    slot.complex = number.complex(0);
    slot.integer = number.integer(0);
    return slot;
  }
  bool wide = toReal(dtype) == DType::F64;
  slot.real = wide ? call.number(i) : roundTo(DType::F32, call.number(i));
  static const llvm::StringSet<> kSums = {"add", "sub", "subtract", "rsub"};
  if ((dtype == DType::F16 || dtype == DType::BF16) &&
      kSums.contains(call.base())) // alpha
    slot.real = roundTo(dtype, call.number(i));
  slot.complex = {slot.real, call.complex(i).imag()};
  slot.integer = call.integer(i);
  if (dtype == DType::Bool) // a factor is a bool too
    slot.integer = slot.integer != 0;
  return slot;
}

void ft::interpreter::evaluatePointwise(Call &call, const PointwiseRow &row) {
  DType dtype = computeType(call, row.promote, row.operands);
  stepIn(dtype);
  std::vector<Slot> slots;
  for (unsigned i = 0; i < call.size(); ++i)
    if (call.args[i].kind != Arg::Str &&
        call.schema.args[i].type.kind != SchemaType::Str)
      slots.push_back(makeSlot(
          call, i, dtype, i < row.operands + (row.promote == Promote::Mask)));
  Tensor &out = call.out();
  bool integral = isIntegral(dtype), complex = isComplex(dtype);
  // Integers are computed as real numbers only to be compared: the kernels of
  // all other functions of reals do not take them.
  bool known = complex    ? row.complex != nullptr
               : integral ? row.integer != nullptr
                          : row.real != nullptr;
  if (!known) {
    call.open("no such function of " + dtypeName(dtype));
    return;
  }
  double reals[8] = {};
  Complex complexes[8] = {};
  int64_t integers[8] = {};
  forEachIndex(out.shape, [&](Index index, int64_t flat) {
    for (size_t i = 0; i < slots.size(); ++i) {
      const Slot &slot = slots[i];
      if (!slot.isTensor) {
        reals[i] = slot.real;
        complexes[i] = slot.complex;
        integers[i] = slot.integer;
        continue;
      }
      int64_t at = flattenBroadcast(slot.tensor.shape, index);
      complexes[i] = slot.tensor.complex(at);
      if (complex)
        continue;
      reals[i] = slot.tensor.real(at);
      integers[i] = slot.tensor.integer(at);
    }
    if (complex)
      out.setComplex(flat, row.complex(complexes));
    else if (integral && row.integer)
      out.setInteger(flat, wrapTo(dtype, row.integer(integers, call)));
    else // 16-bit floats are rounded from float32, not from the exact value
      out.setReal(flat, step(row.real(reals)));
  });
}

static const PointwiseRow *findPointwise(llvm::StringRef name) {
  static const llvm::StringMap<const PointwiseRow *> map = [] {
    llvm::StringMap<const PointwiseRow *> rows;
    for (llvm::ArrayRef<PointwiseRow> table :
         {arithmeticRows(), elementaryRows(), specialRows(), activationRows()})
      for (const PointwiseRow &row : table) {
        llvm::SmallVector<llvm::StringRef> names;
        row.names.split(names, ' ', -1, false);
        for (llvm::StringRef each : names)
          rows[each.contains('.') ? each.str() : each.str() + ".default"] =
              &row;
      }
    return rows;
  }();
  auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

static void pointwise(Call &call) {
  const PointwiseRow *row = findPointwise(call.schema.name);
  if (!row) // an in-place form: computed as the functional one, then converted
    row = findPointwise((call.base() + "." + call.schema.overload).str());
  if (call.base() == "isclose" &&
      (call.number(2) < 0 || call.number(3) < 0 ||
       call.tensor(0).dtype != call.tensor(1).dtype))
    call.open("operands or tolerances that isclose does not take");
  // The annotation keeps an operand's dtype; PyTorch's kernel does not, or it
  // rounds to another one first.
  DType own = computeType(call, row->promote, row->operands);
  if ((call.base() == "threshold_backward" || call.base() == "mish_backward") &&
      own != call.out().dtype)
    call.open("a gradient of another dtype");
  static const llvm::StringSet<> kNotOfBools = {
      "threshold", "threshold_backward",
      "hardtanh",  "relu6",
      "addcmul",   "gcd",
      "lcm",       "pow"};
  if (own == DType::Bool && kNotOfBools.contains(call.base()))
    call.open("no such function of bools");
  // The sign of a NaN that was computed is the machine's choice.
  int sign = call.base() == "signbit" ? 0 : call.base() == "copysign" ? 1 : -1;
  if (const Tensor *tensor = sign < 0 ? nullptr : call.optTensor(sign))
    for (int64_t k = 0; k < tensor->numel(); ++k)
      if (isFloating(tensor->dtype) && std::isnan(tensor->real(k)))
        call.open("the sign of NaN");
  // The asymptotic forms take the phase from a rounded argument.
  bool oscillates =
      call.base().contains("_bessel_") && !call.base().contains("modified");
  if (oscillates || call.base() == "special_airy_ai")
    for (int64_t k = 0; k < call.tensor(0).numel(); ++k)
      if (std::abs(call.tensor(0).real(k)) > 1e3)
        call.open("a Bessel function of a large argument");
  // The empty buffer of another device broadcasts with nothing here.
  if (call.base() == "log_sigmoid_backward" && call.tensor(2).numel() == 0)
    call.open("an empty buffer");
  // Recurrences of such lengths overflow on the way, in ways of their own.
  for (unsigned i = 0; call.base().contains("_polynomial_") && i < 2; ++i)
    if (const Tensor *n = call.optTensor(i))
      for (int64_t k = 0; k < n->numel(); ++k)
        if (n->real(k) > 100)
          call.open("a polynomial of high degree");
  evaluatePointwise(call, *row);
}

llvm::ArrayRef<OpRow> ft::interpreter::pointwiseOps() {
  static std::deque<std::string> names;
  static const std::vector<OpRow> rows = [] {
    std::vector<OpRow> all;
    for (llvm::ArrayRef<PointwiseRow> table :
         {arithmeticRows(), elementaryRows(), specialRows(), activationRows()})
      for (const PointwiseRow &row : table) {
        llvm::SmallVector<llvm::StringRef> list;
        row.names.split(list, ' ', -1, false);
        for (llvm::StringRef each : list) {
          names.push_back(each.contains('.') ? each.str()
                                             : each.str() + ".default");
          all.push_back({names.back(), pointwise, row.opClass});
        }
      }
    llvm::ArrayRef<OpRow> own = ownPointwiseRows();
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }();
  return rows;
}
