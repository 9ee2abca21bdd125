//===- Dim.cpp - One size, stride or offset --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/Dim.h"

#include "llvm/ADT/StringExtras.h"

namespace ft {

std::string Dim::str() const { return llvm::itostr(number); }

static int64_t wrap(uint64_t v) { return static_cast<int64_t>(v); }

Dim operator+(Dim a, Dim b) {
  return wrap(uint64_t(a.value()) + uint64_t(b.value()));
}
Dim operator-(Dim a, Dim b) {
  return wrap(uint64_t(a.value()) - uint64_t(b.value()));
}
Dim operator*(Dim a, Dim b) {
  return wrap(uint64_t(a.value()) * uint64_t(b.value()));
}

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = b == -1 ? wrap(-uint64_t(a)) : a / b;
  return b != -1 && a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

Dim floorDiv(Dim a, Dim b) { return floorDivide(a.value(), b.value()); }
Dim ceilDiv(Dim a, Dim b) {
  return wrap(-uint64_t(floorDivide(wrap(-uint64_t(a.value())), b.value())));
}
Dim mod(Dim a, Dim b) { return a - floorDiv(a, b) * b; }
Dim minDim(Dim a, Dim b) { return a.value() < b.value() ? a : b; }
Dim maxDim(Dim a, Dim b) { return a.value() < b.value() ? b : a; }

Dim product(llvm::ArrayRef<Dim> dims) {
  Dim n = 1;
  for (Dim d : dims)
    n = n * d;
  return n;
}

Dims contiguousStrides(llvm::ArrayRef<Dim> sizes) {
  Dims strides(sizes.size());
  Dim running = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = running;
    running = running * (sizes[i].is(0) ? Dim(1) : sizes[i]);
  }
  return strides;
}

} // namespace ft
