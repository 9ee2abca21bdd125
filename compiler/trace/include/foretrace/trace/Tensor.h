//===- Tensor.h - A tensor without data ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TRACE_TENSOR_H
#define FORETRACE_TRACE_TENSOR_H

#include "foretrace/trace/Types.h"

#include "compiler/support/Diagnostic.h"

namespace ft {

class RealTensor;
class Tensors;

// Lists are parameters only: what they view lives as long as the call.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif

/// A list argument of tensors; views what it is made from. An undefined tensor
/// in it is an absent element.
class FORETRACE_API TensorList {
public:
  TensorList() = default;
  TensorList(std::initializer_list<Tensor> list)
      : first(list.begin()), count(list.size()) {}
  TensorList(const std::vector<Tensor> &list);
  TensorList(const Tensors &list);

  size_t size() const { return count; }
  const Tensor *data() const { return first; }

private:
  const Tensor *first = nullptr;
  size_t count = 0;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// The right side of an operator that takes a tensor or a number, and the place
/// that the operator stands at: operators take no default arguments, the
/// conversions of their operands do.
class FORETRACE_API Addend {
public:
  Addend(const Tensor &tensor, const char *file = __builtin_FILE(),
         int line = __builtin_LINE())
      : tensor(&tensor), here{file, line} {}
  Addend(const Scalar &number, const char *file = __builtin_FILE(),
         int line = __builtin_LINE())
      : number(number), here{file, line} {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Addend(T number, const char *file = __builtin_FILE(),
         int line = __builtin_LINE())
      : number(number), here{file, line} {}

  const Tensor *tensor = nullptr;
  Scalar number;
  Here here;
};

/// What stands in `x[i]`.
class Index {
public:
  Index(const SymInt &value, const char *file = __builtin_FILE(),
        int line = __builtin_LINE())
      : value(value), here{file, line} {}
  template <typename T, typename = detail::IfInteger<T>>
  Index(T value, const char *file = __builtin_FILE(),
        int line = __builtin_LINE())
      : value(value), here{file, line} {}

  SymInt value;
  Here here;
};

/// A handle of one tensor of a mode: what PyTorch calls a fake tensor. Copies
/// are the same tensor: what is written through one is seen through all. It has
/// no data, and nothing that gives a pointer to any.
///
/// A handle is
/// - undefined: default-constructed; an absent argument;
/// - fake: a value of its mode, which it keeps alive;
/// - real: made from a RealTensor; an argument where the mode allows it;
/// - failed: the result of a call that failed; every use of it fails again.
class FORETRACE_API Tensor {
public:
  Tensor() noexcept {}
  Tensor(const RealTensor &real);

  bool defined() const { return origin != nullptr; }
  /// Fake, and not failed.
  bool ok() const;
  /// What failed; the mode's first error. Null if nothing did.
  const Diagnostic *error() const;
  bool isFake() const;

  //===--- Metadata: answered from the annotation -------------------------===//
  // Of a handle that is not ok(): numbers that are not ok() either, zeros and
  // false.
  int64_t dim() const;
  int64_t rank() const { return dim(); }
  /// Negative dims count from the end; one that is out of range is an error,
  /// and gives a number that is not ok().
  SymInt size(int64_t dim, Here here = Here::current()) const;
  SymInt stride(int64_t dim, Here here = Here::current()) const;
  std::vector<SymInt> sizes() const;
  std::vector<SymInt> strides() const;
  SymInt storage_offset() const;
  SymInt numel() const;
  ScalarType dtype() const;
  int64_t element_size() const;
  DeviceId device() const;
  bool is_cpu() const { return ok() && device().kind == DeviceId::Cpu; }
  bool is_cuda() const { return ok() && device().kind == DeviceId::Cuda; }
  bool is_meta() const { return ok() && device().kind == DeviceId::Meta; }
  bool is_floating_point() const;
  bool is_complex() const;
  bool is_contiguous() const;
  bool is_conj() const;
  bool is_neg() const;
  /// "float32 [2, 16] cpu"
  std::string str() const;

  //===--- Identity -------------------------------------------------------===//
  /// The name of the value in the module.
  std::string name() const;
  /// The same tensor (not: equal elements).
  bool is_same(const Tensor &other) const {
    return origin == other.origin && id == other.id;
  }
  /// Views of one storage, or the same tensor.
  bool shares_storage(const Tensor &other) const;

  //===--- Gradients ------------------------------------------------------===//
  bool requires_grad() const;
  bool is_leaf() const;
  /// Only leaves may be told.
  Tensor requires_grad_(bool requiresGrad = true, Here here = Here::current());

  //===--- Data -----------------------------------------------------------===//
  /// The number in a tensor of one element: known for a constant; a symbol in a
  /// mode with symbols; otherwise an error (FT0306).
  Scalar item(Here here = Here::current()) const;
  /// To branch on data is an error, except for constants: the graph has to
  /// hold both sides. Gives false.
  explicit operator bool() const;

  //===--- The vocabulary -------------------------------------------------===//
  /// `x[i]` selects index i of the first dim.
  Tensor operator[](const Index &index) const;
  /// In place.
  Tensor &operator+=(const Addend &other);
  Tensor &operator-=(const Addend &other);
  Tensor &operator*=(const Addend &other);
  Tensor &operator/=(const Addend &other);

#include "foretrace/trace/TensorMethods.inc"

private:
  friend struct detail::TraceState;
  Tensor(std::shared_ptr<detail::Origin> origin, uint32_t id)
      : origin(std::move(origin)), id(id) {}
  std::shared_ptr<detail::Origin> origin;
  uint32_t id = 0;
};

/// The results of a call that gives a list. Indexing past the end, as after a
/// call that failed, gives a failed tensor.
class FORETRACE_API Tensors {
public:
  Tensors() = default;
  Tensors(std::vector<Tensor> list, Tensor beyond)
      : list(std::move(list)), beyond(std::move(beyond)) {}
  size_t size() const { return list.size(); }
  const Tensor &operator[](size_t i) const {
    return i < list.size() ? list[i] : beyond;
  }
  std::vector<Tensor>::const_iterator begin() const { return list.begin(); }
  std::vector<Tensor>::const_iterator end() const { return list.end(); }
  const std::vector<Tensor> &vector() const { return list; }

private:
  std::vector<Tensor> list;
  Tensor beyond;
};

inline TensorList::TensorList(const std::vector<Tensor> &list)
    : first(list.data()), count(list.size()) {}
inline TensorList::TensorList(const Tensors &list)
    : TensorList(list.vector()) {}

} // namespace ft

#endif // FORETRACE_TRACE_TENSOR_H
