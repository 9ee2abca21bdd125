//===- Npy.h - Reads and writes .npy files ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_NPY_H
#define FORETRACE_COMPILER_SUPPORT_NPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>

namespace ft {

/// One array of a .npy file, versions 1.0 to 3.0, little endian.
///
/// Dtypes stand under numpy's and PyTorch's common names: "bool", "int8" to
/// "int64", "uint8" to "uint64", "float16", "float32", "float64", "complex64",
/// "complex128". numpy has no bfloat16: "bfloat16" is written as two opaque
/// bytes (`<V2`), as numpy does for the ml_dtypes package, and a `V2` array is
/// read as bfloat16. The 8-bit floats and complex32 are refused in both
/// directions.
///
/// `data` points into the bytes that were read; it need not be aligned. In
/// Fortran order the first dim varies fastest; `strides` (in elements) say so.
struct NpyArray {
  llvm::StringRef dtype; // a literal
  uint64_t elementBytes = 0;
  llvm::SmallVector<int64_t, 6> shape;
  llvm::SmallVector<int64_t, 6> strides;
  bool fortranOrder = false;
  llvm::ArrayRef<uint8_t> data;

  int64_t elements() const;
};

/// Reads the whole of `bytes`. FT0106 for a wrong magic, version, header,
/// dtype (objects, strings, big endian) or a size that does not match.
llvm::Expected<NpyArray> readNpy(llvm::ArrayRef<uint8_t> bytes,
                                 llvm::StringRef where);

/// Writes version 1.0 in C order; `data` holds the elements row by row. Fails
/// (FT0106) for a dtype that numpy cannot hold; whether the bytes arrived is
/// the stream's business.
llvm::Error writeNpy(llvm::raw_ostream &os, llvm::StringRef dtype,
                     llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<uint8_t> data, llvm::StringRef where);

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_NPY_H
