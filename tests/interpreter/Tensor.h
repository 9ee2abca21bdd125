//===- Tensor.h - The tensors that the interpreter computes with -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_INTERPRETER_TENSOR_H
#define FORETRACE_TESTS_INTERPRETER_TENSOR_H

#include "tests/conformance/HostTensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ft::interpreter {

using Complex = std::complex<double>;
using Shape = std::vector<int64_t>;

int64_t numelOf(llvm::ArrayRef<int64_t> shape);

/// A row-major tensor whose elements are held wide: int64 for integers and
/// bool, complex128 for everything else. Whatever is stored is first rounded to
/// the dtype, so that each operation rounds once, as PyTorch's kernels do that
/// compute in a wider type.
class Tensor {
public:
  DType dtype = DType::F32;
  Shape shape;

  Tensor() = default;
  /// Zeros.
  Tensor(DType dtype, llvm::ArrayRef<int64_t> shape);
  explicit Tensor(const conformance::TensorView &host);
  conformance::HostTensor host() const;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t numel() const { return numelOf(shape); }
  bool whole() const { return isIntegral(dtype); }

  /// Element `i` in row-major order, converted as a cast to float64,
  /// complex128 or int64 does it.
  double real(int64_t i) const;
  Complex complex(int64_t i) const;
  int64_t integer(int64_t i) const;

  /// Stores a number, converted to the dtype as a cast does it. A float that no
  /// integer of the dtype holds leaves the element unspecified and sets
  /// `undefined`: what PyTorch gives then depends on the machine.
  void setReal(int64_t i, double value);
  void setComplex(int64_t i, Complex value);
  void setInteger(int64_t i, int64_t value);
  void set(int64_t i, const Tensor &from, int64_t j);
  bool undefined = false;
  /// Set with any tensor's `undefined`: of an operand's conversion, say.
  static thread_local bool overflowed;
  /// Set by any access outside of a tensor, which reads 0 and writes nothing:
  /// the call was not valid, though its metadata were.
  static thread_local bool strayed;
  /// Set where a complex number was asked for its real part only: the function
  /// is one of real numbers, which has no value here.
  static thread_local bool narrowed;

  Tensor to(DType other) const;
  /// The same elements under another shape of as many.
  Tensor reshaped(llvm::ArrayRef<int64_t> other) const;

private:
  bool inside(int64_t i) const {
    bool is = static_cast<size_t>(i) < integers.size() + numbers.size();
    strayed |= !is;
    return is;
  }
  std::vector<int64_t> integers;
  std::vector<Complex> numbers;
};

/// x y and x / y as PyTorch's kernels compute them, which do not look for
/// infinities (C's Annex G): infinity times 1 + 0i is infinity + NaN i, and a
/// divisor with two infinite parts gives NaN.
Complex product(Complex x, Complex y);
Complex quotient(Complex x, Complex y);

/// `value` rounded to the nearest number of a floating dtype.
double roundTo(DType dtype, double value);
/// `value` reduced to the width of an integer dtype; bool: whether not 0.
int64_t wrapTo(DType dtype, int64_t value);

/// Calls `visit` with each index of `shape` in row-major order.
using Index = llvm::ArrayRef<int64_t>;
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(Index index, int64_t flat)> visit);
/// The row-major position of `index` in a tensor of `shape`.
int64_t flatten(llvm::ArrayRef<int64_t> shape, Index index);
/// The same where `shape` broadcasts to the (at least as long) index.
int64_t flattenBroadcast(llvm::ArrayRef<int64_t> shape, Index index);

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_TENSOR_H
