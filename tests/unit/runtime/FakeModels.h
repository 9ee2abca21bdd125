//===- FakeModels.h - Small models written by hand -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The "generated code" of these models is C (models/*.c, compiled with the
// tests); everything after code generation is the real thing.

#ifndef FORETRACE_TESTS_UNIT_RUNTIME_FAKEMODELS_H
#define FORETRACE_TESTS_UNIT_RUNTIME_FAKEMODELS_H

#include "compiler/emit/Emit.h"
#include "compiler/emit/LoadedModel.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ft::test {

/// The bytes of models/NAME.c's object.
std::string modelObject(const std::string &name);

/// y[4, 3] = x[4, 3] * scale[3] + shift[3], float32; scale is the parameter
/// "scale", shift the constant buffer "shift".
Artefact affine();
/// y = total += x, int64 scalars; "total" starts at 100.
Artefact counter();
/// y[8] = table[index[8]] with 5 rows; int64 indices.
Artefact lookup();
/// where[2, found] = the positions of the positive elements of x[2, 3].
Artefact positive();
/// y[batch, half] = mask[batch] * (the halves of x[batch, 2*half], added) +
/// the first elements of tail[half + 1]; y in column order, 1 <= batch <= 64,
/// half up to what memory holds, and batch is not 13.
Artefact halves();
/// y[2, found] = the positive elements of x[n] and their negatives, in column
/// order.
Artefact chosen();

/// A folder of its own for each test, removed at the end.
class ModelTest : public ::testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  /// Emits and opens; the test fails if either does.
  std::unique_ptr<LoadedModel> build(const Artefact &artefact,
                                     const EmitOptions &options = {});
  /// build, then load.
  std::unique_ptr<LoadedModel> loaded(const Artefact &artefact,
                                      const EmitOptions &options = {});
  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }

  std::string folder;
};

/// A DLTensor with its own shape, over memory that the test owns.
struct Tensor {
  std::vector<int64_t> shape, strides;
  DLTensor dl;

  template <typename T>
  Tensor(T *data, std::vector<int64_t> sizes, std::vector<int64_t> steps = {})
      : shape(std::move(sizes)), strides(std::move(steps)) {
    uint8_t code = std::is_same_v<T, bool>       ? FT_DL_BOOL
                   : std::is_floating_point_v<T> ? kDLFloat
                                                 : kDLInt;
    dl = ft_tensor(data, code, sizeof(T) * 8,
                   static_cast<int32_t>(shape.size()), shape.data());
    dl.strides = strides.empty() ? nullptr : strides.data();
  }
  Tensor(const Tensor &) = delete;
};

/// The message of a failed call; the text is the whole contract with users.
std::string messageOf(const ft_status &status);
std::string messageOf(llvm::Error error);

} // namespace ft::test

#endif // FORETRACE_TESTS_UNIT_RUNTIME_FAKEMODELS_H
