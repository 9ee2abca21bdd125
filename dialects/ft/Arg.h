//===- Arg.h - One argument of an ATen call --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_ARG_H
#define FORETRACE_DIALECTS_FT_ARG_H

#include "compiler/shape/Dim.h"
#include "dialects/ft/DType.h"

#include <string>
#include <vector>

namespace ft {

/// The value of one argument, as a schema default, as a decoded `args` entry of
/// an operation, or as an oracle's call gives it. Tensors are indices into the
/// call's flat list of operands; everything else stands here.
struct Arg {
  enum Kind : uint8_t {
    None,
    /// Operand number `operand`, a tensor.
    Tensor,
    /// `dim`: a size, index or integer scalar; may be symbolic. When it came
    /// from an SSA value, `operand` is its number, otherwise -1.
    Int,
    Float,
    Bool,
    Complex,
    /// Also layouts and memory formats ("channels_last").
    Str,
    DType,
    Device,
    List
  };

  Kind kind = None;
  bool boolean = false;
  /// False for a Float or Bool operand whose value is known at run time only:
  /// nothing but its kind may be looked at. A Bool may then have its predicate
  /// in `dim`.
  bool known = true;
  ft::DType dtype = ft::DType::F32;
  ft::Device device;
  int operand = -1;
  Dim dim;
  double real = 0, imag = 0;
  std::string str;
  std::vector<Arg> list;

  bool isNone() const { return kind == None; }
  bool isNumber() const { return kind >= Int && kind <= Complex; }

  static Arg none() { return {}; }
  static Arg tensor(int operand);
  static Arg integer(Dim value);
  static Arg floating(double value);
  static Arg truth(bool value);
  static Arg complex(double real, double imag);
  static Arg string(llvm::StringRef value);
  static Arg ofDType(ft::DType value);
  static Arg ofDevice(ft::Device value);
  static Arg listOf(std::vector<Arg> values);

  /// Equal kinds and values; floats by bits, so that NaN equals itself.
  bool operator==(const Arg &other) const;
};

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_ARG_H
