//===- RealTensor.h - A tensor with data, to be made fake ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TRACE_REALTENSOR_H
#define FORETRACE_TRACE_REALTENSOR_H

#include "foretrace/runtime.h"
#include "foretrace/trace/Types.h"

namespace ft {

/// What is known of a tensor without its data. Strides are row-major unless
/// they are given; strides and offset count elements.
///
///   mode.input("ids", {{2, 16}, ft::kInt64})
///   mode.input("x", ft::TensorDesc({8, 4}).strides({1, 8}).on(ft::cuda()))
class TensorDesc {
public:
  TensorDesc(std::initializer_list<int64_t> sizes) : sizeList(sizes) {}
  TensorDesc(std::vector<int64_t> sizes, ScalarType dtype = kFloat32,
             DeviceId device = kCpu)
      : sizeList(std::move(sizes)), type(dtype), place(device) {}

  TensorDesc &strides(std::vector<int64_t> list) {
    strideList = std::move(list);
    return *this;
  }
  TensorDesc &offset(int64_t elements) {
    start = elements;
    return *this;
  }
  TensorDesc &dtype(ScalarType dtype) {
    type = dtype;
    return *this;
  }
  TensorDesc &on(DeviceId device) {
    place = device;
    return *this;
  }
  /// Of an input: a dim that calls may choose, whose size here is the example;
  /// its `size` as in --dynamic: a name, a name with a range, an expression of
  /// names, "" for a name that is made.
  ///
  ///   mode.input("x", TensorDesc({8, 16}).dynamic(0, "batch[1..64]"))
  ///   mode.input("y", TensorDesc({17}).dynamic(0, "2*batch + 1"))
  ///   mode.input("z", TensorDesc({12}).dynamic(0, "4*_rows"))
  ///
  /// x.size(0) is then a symbol. To branch on it takes the side that the
  /// example takes, and the artefact checks that calls take it, too.
  TensorDesc &dynamic(size_t dim, std::string size) {
    dynamicList.emplace_back(dim, std::move(size));
    return *this;
  }

  const std::vector<int64_t> &sizes() const { return sizeList; }
  const Optional<std::vector<int64_t>> &strides() const { return strideList; }
  int64_t offset() const { return start; }
  ScalarType dtype() const { return type; }
  DeviceId device() const { return place; }
  const std::vector<std::pair<size_t, std::string>> &dynamicSizes() const {
    return dynamicList;
  }

private:
  std::vector<int64_t> sizeList;
  std::vector<std::pair<size_t, std::string>> dynamicList;
  Optional<std::vector<int64_t>> strideList;
  int64_t start = 0;
  ScalarType type = kFloat32;
  DeviceId place;
};

/// A view of a tensor that has data, by DLPack. `owner` is what keeps the data
/// alive: while it lives, the same view is the same tensor to a mode; once it
/// is gone, another tensor at the same address is another one. Without an owner
/// the data must outlive every mode that is given the view.
///
/// Two views are of one storage if their `data` are the same pointer or their
/// owners are the same (not null) object.
class FORETRACE_API RealTensor {
public:
  explicit RealTensor(const DLTensor &tensor, std::shared_ptr<void> owner = {});
  /// `data` is where the storage begins, the tensor starts at its offset.
  RealTensor(const void *data, const TensorDesc &desc,
             std::shared_ptr<void> owner = {});

  /// The view; its lists are those of this object.
  DLTensor dlpack() const;
  const std::shared_ptr<void> &holder() const { return owner; }

  RealTensor &requires_grad_(bool value = true) {
    grad = value;
    return *this;
  }
  bool requires_grad() const { return grad; }

private:
  DLTensor view;
  std::shared_ptr<void> owner;
  std::vector<int64_t> sizes, strides;
  bool grad = false;
};

} // namespace ft

#endif // FORETRACE_TRACE_REALTENSOR_H
