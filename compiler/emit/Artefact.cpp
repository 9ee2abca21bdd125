//===- Artefact.cpp - Consistency of a compiled model ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/Artefact.h"

#include "compiler/emit/Emit.h"
#include "compiler/support/Diagnostics.h"
#include "runtime/src/abi.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdlib>

namespace ft {

/// The runtime keeps the dims of a tensor in arrays of this size.
static constexpr size_t kMaxRank = 64;
static constexpr uint64_t kAlignment = 64;

/// Sizes beyond this are nobody's; below it sums and products that are checked
/// one by one cannot overflow.
static constexpr int64_t kLargest = int64_t(1) << 56;

/// a * b, or kLargest if that is less.
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product) || product > kLargest)
    return kLargest;
  return product;
}

uint64_t Constant::bytes() const {
  int64_t count = elementBytes;
  for (int64_t dim : layout.dims.empty() ? sizes : layout.dims)
    count = times(count, dim);
  return static_cast<uint64_t>(count);
}

static llvm::Error broken(const llvm::Twine &what) {
  return makeError(DiagId::Internal, "", "inconsistent artefact: " + what);
}

static uint64_t layoutBytes(const AbiValue &value) {
  int64_t last = 0;
  for (size_t i = 0; i < value.sizes.size(); ++i) {
    if (value.sizes[i] == 0)
      return 0;
    last += times(value.sizes[i] - 1, value.strides[i]); // at most 64 terms
  }
  return static_cast<uint64_t>(times(last + 1, (value.dtype.bits + 7) / 8));
}

/// `open`: sizes may be left for the call to work out.
static llvm::Error verifyValue(const AbiValue &value, bool open = false) {
  size_t rank = value.sizes.size();
  if (value.strides.size() != rank || rank > kMaxRank ||
      (!value.dims.empty() && value.dims.size() != rank))
    return broken("the rank of '" + value.name + "'");
  for (size_t i = 0; i < rank; ++i)
    if (!open && (value.sizes[i] < 0 || value.strides[i] < 0))
      return broken("'" + value.name + "' has a size that nothing decides");
  return llvm::Error::success();
}

static llvm::Error verifySymbol(const AbiSymbol &symbol,
                                const Artefact &whole) {
  auto small = [](int64_t n) { return n >= -kLargest && n <= kLargest; };
  if (symbol.input < 0)
    return llvm::Error::success();
  auto input = static_cast<size_t>(symbol.input);
  if (symbol.dim < 0 || input >= whole.inputs.size() ||
      static_cast<size_t>(symbol.dim) >= whole.inputs[input].sizes.size())
    return broken("'" + symbol.title + "' is read from no input");
  if (whole.inputs[input].sizes[static_cast<size_t>(symbol.dim)] >= 0)
    return broken("'" + symbol.title + "' is read from a size that is fixed");
  if (symbol.scale < 1 || !small(symbol.scale) || !small(symbol.offset))
    return broken("how '" + symbol.title + "' is read");
  if (symbol.lower > symbol.upper)
    return broken("the range of '" + symbol.title + "' is empty");
  return llvm::Error::success();
}

static bool fits(int64_t offset, uint64_t bytes, uint64_t total) {
  return offset >= 0 && static_cast<uint64_t>(offset) % kAlignment == 0 &&
         static_cast<uint64_t>(offset) <= total &&
         bytes <= total - static_cast<uint64_t>(offset);
}

static llvm::Error verifyState(const AbiState &state, const Artefact &whole) {
  if (llvm::Error error = verifyValue(state))
    return error;
  uint64_t bytes = layoutBytes(state);
  // That of a model that is trained is the caller's.
  bool owned = whole.programs.empty();
  if (owned && state.written &&
      (state.weightsOffset < 0 || state.stateOffset < 0))
    return broken("'" + state.name + "' is written but has no place");
  if (state.weightsOffset >= 0 &&
      !fits(state.weightsOffset, bytes, whole.weightsBytes))
    return broken("'" + state.name + "' does not lie in the weights");
  if (state.stateOffset >= 0 &&
      (!state.written || !fits(state.stateOffset, bytes, whole.stateBytes)))
    return broken("'" + state.name + "' does not lie in the state");
  return llvm::Error::success();
}

static llvm::Error verifyConstant(const Constant &constant, size_t index) {
  auto bad = [&](const llvm::Twine &what) {
    return broken("constant " + llvm::Twine(index) + ": " + what);
  };
  if (constant.offset % kAlignment)
    return bad("its offset");
  switch (constant.elementBytes) {
  case 1:
  case 2:
  case 4:
  case 8:
  case 16:
    break;
  default:
    return bad("its element size");
  }
  if (constant.strides.size() != constant.sizes.size())
    return bad("its strides");
  auto negative = [](int64_t n) { return n < 0; };
  const ConstantLayout &layout = constant.layout;
  if (constant.sizes.size() > kMaxRank || layout.dims.size() > kMaxRank ||
      llvm::any_of(constant.sizes, negative) ||
      llvm::any_of(layout.dims, negative))
    return bad("its sizes");
  if (layout.dims.empty())
    return llvm::Error::success();
  if (layout.coef.size() != constant.sizes.size() ||
      (!layout.base.empty() && layout.base.size() != constant.sizes.size()))
    return bad("its layout");
  for (const std::vector<int64_t> &row : layout.coef) {
    if (row.size() != layout.dims.size())
      return bad("its layout");
    for (size_t i = 0; i < row.size(); ++i)
      if (row[i] < -kLargest || row[i] > kLargest ||
          times(std::abs(row[i]), layout.dims[i]) == kLargest)
        return bad("its layout");
  }
  for (int64_t base : layout.base)
    if (base < -kLargest || base > kLargest)
      return bad("its layout");
  return llvm::Error::success();
}

Artefact Artefact::describedAs(const AbiProgram &program) const {
  Artefact one;
  one.name = name;
  one.cpu = cpu;
  one.inputs = program.inputs;
  one.outputs = program.outputs;
  one.symbols = program.symbols;
  one.arenaBytes = program.arenaBytes;
  return one;
}

/// Each tensor of a program is something to the user.
static llvm::Error verifyProgram(const AbiProgram &program,
                                 const Artefact &whole) {
  if (program.inputPlaces.size() != program.inputs.size() ||
      program.outputPlaces.size() != program.outputs.size())
    return broken("the places of program '" + program.name + "'");
  if (program.weightsBase % kAlignment ||
      program.weightsBase > whole.weightsBytes)
    return broken("the weights of program '" + program.name + "'");
  auto limit = [&](AbiPlace::Kind kind) -> size_t {
    switch (kind) {
    case AbiPlace::Input:
    case AbiPlace::InputGradient:
    case AbiPlace::InputTangent:
      return whole.inputs.size();
    case AbiPlace::Output:
    case AbiPlace::Tangent:
      return whole.outputs.size();
    case AbiPlace::State:
    case AbiPlace::Gradient:
      return whole.state.size();
    case AbiPlace::Saved:
      return static_cast<size_t>(whole.numSaved);
    case AbiPlace::Optimizer:
      return whole.optimizerState.size();
    case AbiPlace::Hyperparameter:
      return FT_NUM_HYPERPARAMETERS;
    }
    return 0;
  };
  for (const std::vector<AbiPlace> *places :
       {&program.inputPlaces, &program.outputPlaces})
    for (const AbiPlace &place : *places)
      if (place.index < 0 ||
          static_cast<size_t>(place.index) >= limit(place.kind))
        return broken("a tensor of program '" + program.name +
                      "' has no place");
  return whole.describedAs(program).verify();
}

llvm::Error Artefact::verify() const {
  if (name.empty() || name != cIdentifier(name))
    return broken("the name '" + name + "' is no C identifier");
  for (const AbiValue &value : inputs)
    if (llvm::Error error = verifyValue(value, /*open=*/!symbols.empty()))
      return error;
  for (const AbiValue &value : outputs)
    if (llvm::Error error = verifyValue(value, /*open=*/true))
      return error;
  for (const AbiSymbol &symbol : symbols)
    if (llvm::Error error = verifySymbol(symbol, *this))
      return error;
  for (const AbiValue &value : optimizerState)
    if (llvm::Error error = verifyValue(value))
      return error;
  for (const AbiState &one : state)
    if (llvm::Error error = verifyState(one, *this))
      return error;
  for (const AbiProgram &program : programs)
    if (llvm::Error error = verifyProgram(program, *this))
      return error;
  uint64_t end = 0;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (llvm::Error error = verifyConstant(constants[i], i))
      return error;
    if (constants[i].offset < end)
      return broken("constants overlap or are not sorted");
    if (constants[i].offset > weightsBytes ||
        constants[i].bytes() > weightsBytes - constants[i].offset)
      return broken("constants exceed the weights");
    end = constants[i].offset + constants[i].bytes();
  }
  return llvm::Error::success();
}

} // namespace ft
