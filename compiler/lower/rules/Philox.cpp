//===- Philox.cpp - Random numbers in generated code -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/Philox.h"

#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/Reducing.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/Promotion.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static Value shiftRight(ScalarBuilder &s, Value v, unsigned count) {
  return arith::ShRUIOp::create(s.b, s.loc, v,
                                s.constantInt(v.getType(), count));
}

static Value xorOf(ScalarBuilder &s, Value x, Value y) {
  return arith::XOrIOp::create(s.b, s.loc, x, y);
}

RandomBits::RandomBits(ScalarBuilder &s, Value seed, Value offset,
                       Value element)
    : ScalarBuilder(s) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto low = [&](Value v) -> Value {
    return arith::TruncIOp::create(b, loc, i32, v);
  };
  auto high = [&](Value v) { return low(shiftRight(*this, v, 32)); };
  auto times = [&](Value v, int64_t factor) {
    return mul(arith::ExtUIOp::create(b, loc, i64, v),
               constantInt(i64, factor));
  };
  Value c0 = low(element), c1 = high(element);
  Value c2 = low(offset), c3 = high(offset);
  Value k0 = low(seed), k1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    Value p0 = times(c0, 0xD2511F53), p1 = times(c2, 0xCD9E8D57);
    c0 = xorOf(*this, xorOf(*this, high(p1), c1), k0);
    c1 = low(p1);
    c2 = xorOf(*this, xorOf(*this, high(p0), c3), k1);
    c3 = low(p0);
    k0 = add(k0, constantInt(i32, static_cast<int32_t>(0x9E3779B9)));
    k1 = add(k1, constantInt(i32, static_cast<int32_t>(0xBB67AE85)));
  }
  words = {c0, c1, c2, c3};
}

Value RandomBits::wide(bool second) {
  Type i64 = b.getI64Type();
  Value low = arith::ExtUIOp::create(b, loc, i64, words[second ? 2 : 0]);
  Value high = arith::ExtUIOp::create(b, loc, i64, words[second ? 3 : 1]);
  return arith::OrIOp::create(
      b, loc, low, arith::ShLIOp::create(b, loc, high, constantInt(i64, 32)));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static unsigned digitsOf(DType dtype) {
  switch (toReal(dtype)) {
  case DType::F64:
    return 53;
  case DType::F16:
    return 11;
  case DType::BF16:
    return 8;
  default:
    return 24;
  }
}

Value RandomBits::uniform(DType dtype, bool second) {
  unsigned digits = digitsOf(dtype);
  Type type = computeType(b.getContext(), toReal(opmathType(dtype)));
  Value bits = digits > 32
                   ? shiftRight(*this, wide(second), 64 - digits)
                   : shiftRight(*this, words[second ? 2 : 0], 32 - digits);
  // At most 53 bits: as a signed number the same, and converted faster.
  Value number = arith::SIToFPOp::create(b, loc, type, bits);
  return mul(number, constant(type, std::ldexp(1.0, -int(digits))));
}

Value RandomBits::open() {
  Type f64 = b.getF64Type();
  Value bits = shiftRight(*this, wide(false), 12);
  Value number = arith::SIToFPOp::create(b, loc, f64, bits);
  number = add(number, constant(f64, 0.5));
  return mul(number, constant(f64, std::ldexp(1.0, -52)));
}

/// Box and Muller: a point at a random angle, whose squared distance from 0 is
/// exponential.
std::array<Value, 2> RandomBits::normal(DType dtype) {
  dtype = toReal(opmathType(dtype));
  Type type = computeType(b.getContext(), dtype);
  Value distance;
  if (dtype == DType::F64) {
    distance = open();
  } else {
    // All 32 bits, for the tail; may round to 1, but is never 0.
    distance = arith::UIToFPOp::create(b, loc, type, words[0]);
    distance = mul(add(distance, constant(type, 0.5)),
                   constant(type, std::ldexp(1.0, -32)));
  }
  Value radius = sqrt(mul(constant(type, -2), log(distance)));
  Value angle = mul(uniform(dtype, true), constant(type, 2 * M_PI));
  return {mul(radius, math::CosOp::create(b, loc, angle)),
          mul(radius, math::SinOp::create(b, loc, angle))};
}

Value RandomBits::chance(double p) {
  Type i64 = b.getI64Type();
  Value bits = arith::ExtUIOp::create(b, loc, i64, words[0]);
  auto limit = static_cast<int64_t>(std::nearbyint(std::ldexp(p, 32)));
  return cmp(Cmp::Lt, bits, constantInt(i64, limit));
}

Value RandomBits::chance(Value p) {
  return cmp(Cmp::Lt, uniform(DType::F64), p);
}

Value RandomBits::below(uint64_t range) {
  Type i64 = b.getI64Type();
  if (range == 0)
    return wide(false);
  if (range <= uint64_t(1) << 32) {
    // The integer part of range * [0, 1).
    Value bits = arith::ExtUIOp::create(b, loc, i64, words[0]);
    bits = mul(bits, constantInt(i64, static_cast<int64_t>(range)));
    return shiftRight(*this, bits, 32);
  }
  return below(constantInt(i64, static_cast<int64_t>(range)));
}

Value RandomBits::below(Value range) {
  return arith::RemUIOp::create(b, loc, wide(false), range);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

SmallVector<LoweredTensor> callRandomKernel(LowerCall &c, StringRef name,
                                            ArrayRef<LoweredTensor> ins,
                                            ArrayRef<Arg> numbers,
                                            const SizeList &sizes, DType dtype,
                                            Dim scratchBytes) {
  SmallVector<LoweredTensor> all = {keyOf(c)};
  llvm::append_range(all, ins);
  return callKernel(c, name, all, numbers, {{sizes, dtype}},
                    {1, maxDim(scratchBytes, 64)});
}

LoweredTensor drawKey(LowerCall &c) {
  auto results =
      callKernel(c, "random_key", {}, {}, {{{2}, DType::I64}}, {1, 64});
  if (auto call = results[0].value.getDefiningOp<KernelCallOp>())
    call.setHasEffects(true);
  return results[0];
}

LoweredTensor keyOf(LowerCall &c) {
  int given = c.call().schema->argIndex("key");
  return given < 0 ? drawKey(c)
                   : c.toRowMajor(c.operand(static_cast<unsigned>(given)));
}

LoweredTensor draw(LowerCall &c, ArrayRef<LoweredTensor> ins,
                   const SizeList &sizes, DType dtype,
                   llvm::function_ref<Value(RandomBits &, ValueRange)> body) {
  LoweredTensor out = c.empty(sizes, dtype);
  if (hasNoElements(sizes))
    return out;
  LoweredTensor key = keyOf(c);
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<AffineExpr, 6> position;
  for (unsigned d = 0; d < rank; ++d)
    position.push_back(c.dim(d));
  SmallVector<Access> inputs;
  for (const LoweredTensor &t : ins) {
    SmallVector<AffineExpr, 6> index;
    Dims own = t.dims();
    for (auto [d, size] : llvm::enumerate(own))
      index.push_back(size.is(1) ? c.constant(0)
                                 : position[rank - own.size() + d]);
    inputs.push_back({t, index});
  }
  inputs.push_back({key, {c.constant(0)}});
  inputs.push_back({key, {c.constant(1)}});
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  size_t count = ins.size();
  return c.generic(inputs, Access{out, position}, iterators,
                   [&](ScalarBuilder &s, ValueRange v) {
                     Value element = s.constantInt(s.b.getI64Type(), 0);
                     for (unsigned d = 0; d < rank; ++d)
                       element = s.add(
                           s.mul(element, c.sizeIn(s, sizes[d], DType::I64)),
                           loopIndex(s, d));
                     RandomBits bits(s, v[count], v[count + 1], element);
                     return SmallVector<Value>{body(bits, v.take_front(count))};
                   })[0];
}

} // namespace ft
