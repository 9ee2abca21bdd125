//===- Term.cpp - What a rule computes with --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/Term.h"

#include "compiler/fake/OpCall.h"

#include "mlir/IR/BuiltinTypes.h"

#include <limits>

namespace ft {

Term::Term(mlir::Value value) : operand(value) {
  if (!value)
    return;
  mlir::Type type = value.getType();
  tag = Plain;
  if (type.isInteger(1))
    constant = Arg::truth(false);
  else if (type.isIntOrIndex())
    constant = Arg::integer(annotatedNumber(value).value_or(0));
  else if (mlir::isa<mlir::FloatType>(type))
    constant = Arg::floating(0);
  else
    tag = Tensor;
  constant.known = false;
}

Term::Term(llvm::ArrayRef<Dim> sizes) : tag(List) {
  list.assign(sizes.begin(), sizes.end());
}

Term::Term(llvm::ArrayRef<int64_t> numbers) : tag(List) {
  list.assign(numbers.begin(), numbers.end());
}

Term::Term(const Arg &arg) : tag(Plain), constant(arg) {
  if (arg.kind == Arg::None)
    tag = None;
  if (arg.kind != Arg::List)
    return;
  tag = List;
  constant = Arg();
  for (const Arg &item : arg.list)
    list.push_back(Term(item));
}

Term Term::none() {
  Term t;
  t.tag = None;
  return t;
}

double Term::number() const {
  switch (constant.kind) {
  case Arg::Int:
    return constant.dim.isStatic() ? static_cast<double>(constant.dim.value())
                                   : std::numeric_limits<double>::quiet_NaN();
  case Arg::Bool:
    return constant.boolean;
  case Arg::Float:
  case Arg::Complex:
    return constant.real;
  default:
    return 0;
  }
}

int64_t Term::integer() const {
  if (tag != Plain)
    return 0;
  if (constant.kind == Arg::Bool)
    return constant.boolean;
  return constant.kind == Arg::Int && constant.dim.isStatic()
             ? constant.dim.value()
             : 0;
}

Dim Term::dim() const {
  return constant.kind == Arg::Int ? constant.dim : Dim(integer());
}

bool Term::truth() const {
  switch (tag) {
  case Zero:
  case None:
    return false;
  case Tensor:
    return true;
  case List:
    return !list.empty();
  case Plain:
    break;
  }
  if (constant.kind == Arg::Str)
    return !constant.str.empty();
  return constant.kind == Arg::Bool ? constant.boolean : number() != 0;
}

} // namespace ft
