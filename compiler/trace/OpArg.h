//===- OpArg.h - One argument of a traced call, as given -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_TRACE_OPARG_H
#define FORETRACE_COMPILER_TRACE_OPARG_H

#include "foretrace/trace/Tensor.h"

namespace ft {
struct Schema;
} // namespace ft

namespace ft::detail {

/// Refers to the caller's argument; only good during the call.
struct OpArg {
  enum Kind : uint8_t {
    None,
    /// What the schema says.
    Default,
    OneTensor,
    ManyTensors,
    Int,
    Float,
    Bool,
    Number,
    Str,
    DType,
    Device,
    Ints,
    Floats,
    Bools,
    Numbers
  };

  OpArg() = default;
  static OpArg byDefault() {
    OpArg arg;
    arg.kind = Default;
    return arg;
  }
  explicit OpArg(const Tensor &t) : kind(OneTensor), pointer(&t) {}
  explicit OpArg(const TensorList &list)
      : kind(ManyTensors), pointer(list.data()), size(list.size()) {}
  explicit OpArg(const SymInt &v) : kind(Int), pointer(&v) {}
  explicit OpArg(double v) : kind(Float), real(v) {}
  explicit OpArg(Flag v) : kind(Bool), flag(v) {}
  explicit OpArg(const Scalar &v) : kind(Number), pointer(&v) {}
  explicit OpArg(Text v) : kind(Str), pointer(v.data()), size(v.size()) {}
  explicit OpArg(ScalarType v) : kind(DType), type(v) {}
  explicit OpArg(DeviceId v) : kind(Device), device(v) {}
  explicit OpArg(Layout) : OpArg(Text("strided")) {}
  explicit OpArg(MemoryFormat v)
      : OpArg(Text(v == MemoryFormat::Contiguous     ? "contiguous_format"
                   : v == MemoryFormat::Preserve     ? "preserve_format"
                   : v == MemoryFormat::ChannelsLast ? "channels_last"
                                                     : "channels_last_3d")) {}
  explicit OpArg(const IntList &list)
      : kind(list.isNone() ? None : Ints), pointer(&list) {}
  explicit OpArg(const FloatList &list)
      : kind(list.isNone() ? None : Floats), pointer(list.data()),
        size(list.size()) {}
  explicit OpArg(const BoolList &list)
      : kind(Bools), pointer(list.data()), size(list.size()) {}
  explicit OpArg(const ScalarList &list)
      : kind(Numbers), pointer(list.data()), size(list.size()) {}
  template <typename T>
  explicit OpArg(const Optional<T> &v) : OpArg() {
    if (v)
      *this = OpArg(*v);
  }

  Kind kind = None;
  bool flag = false;
  ScalarType type = kFloat32;
  DeviceId device;
  double real = 0;
  const void *pointer = nullptr;
  size_t size = 0;
};

/// The results of one call. Past what the call gave, and after a failure,
/// everything is failed.
struct CallResults {
  std::vector<Tensor> tensorResults; // absent ones undefined
  std::vector<Scalar> numbers;       // by position; those that are tensors 0
  Tensor failed;

  Tensor tensor(size_t i) const {
    return i < tensorResults.size() ? tensorResults[i] : failed;
  }
  /// Everything from result `i` on.
  Tensors tensors(size_t i) const;
  Scalar number(size_t i) const;
  std::vector<SymInt> integers(size_t i) const;
};

/// The call of row `index` of the table, with one OpArg for each argument of
/// its schema.
Tensor callTensor(unsigned index, const OpArg *args, size_t count,
                  const Here &here);
CallResults callAll(unsigned index, const OpArg *args, size_t count,
                    const Here &here);

CallResults callAll(const Schema &schema, const OpArg *args, size_t count,
                    const Here &here);
/// By the name of the overload, which must be in the table.
Tensor callNamedTensor(const char *name, const OpArg *args, size_t count,
                       const Here &here);
CallResults callNamed(const char *name, const OpArg *args, size_t count,
                      const Here &here);

} // namespace ft::detail

#endif // FORETRACE_COMPILER_TRACE_OPARG_H
