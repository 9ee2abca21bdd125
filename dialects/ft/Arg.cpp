//===- Arg.cpp - One argument of an ATen call ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Arg.h"

#include "llvm/ADT/bit.h"

namespace ft {

Arg Arg::tensor(int operand) {
  Arg a;
  a.kind = Tensor;
  a.operand = operand;
  return a;
}

Arg Arg::integer(Dim value) {
  Arg a;
  a.kind = Int;
  a.dim = value;
  return a;
}

Arg Arg::floating(double value) {
  Arg a;
  a.kind = Float;
  a.real = value;
  return a;
}

Arg Arg::truth(bool value) {
  Arg a;
  a.kind = Bool;
  a.boolean = value;
  return a;
}

Arg Arg::complex(double real, double imag) {
  Arg a;
  a.kind = Complex;
  a.real = real;
  a.imag = imag;
  return a;
}

Arg Arg::string(llvm::StringRef value) {
  Arg a;
  a.kind = Str;
  a.str = value.str();
  return a;
}

Arg Arg::ofDType(ft::DType value) {
  Arg a;
  a.kind = DType;
  a.dtype = value;
  return a;
}

Arg Arg::ofDevice(ft::Device value) {
  Arg a;
  a.kind = Device;
  a.device = value;
  return a;
}

Arg Arg::listOf(std::vector<Arg> values) {
  Arg a;
  a.kind = List;
  a.list = std::move(values);
  return a;
}

bool Arg::operator==(const Arg &other) const {
  auto bits = [](double d) { return llvm::bit_cast<uint64_t>(d); };
  if (kind != other.kind)
    return false;
  switch (kind) {
  case None:
    return true;
  case Tensor:
    return operand == other.operand;
  case Int:
    return operand == other.operand && dim == other.dim;
  case Float:
    return bits(real) == bits(other.real);
  case Bool:
    return boolean == other.boolean;
  case Complex:
    return bits(real) == bits(other.real) && bits(imag) == bits(other.imag);
  case Str:
    return str == other.str;
  case DType:
    return dtype == other.dtype;
  case Device:
    return device == other.device;
  case List:
    return list == other.list;
  }
  return false;
}

} // namespace ft
