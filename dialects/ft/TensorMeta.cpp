//===- TensorMeta.cpp - What is known of a tensor without data -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/TensorMeta.h"

#include "dialects/ft/FtDialect.h"

namespace ft {

bool TensorMeta::isStatic() const {
  auto fixed = [](Dim d) { return d.isStatic(); };
  return llvm::all_of(sizes, fixed) && llvm::all_of(strides, fixed) &&
         offset.isStatic();
}

bool TensorMeta::operator==(const TensorMeta &other) const {
  return dtype == other.dtype && device == other.device && conj == other.conj &&
         neg == other.neg && sizes == other.sizes && strides == other.strides &&
         offset == other.offset;
}

std::string dimsText(llvm::ArrayRef<Dim> dims) {
  std::string text = "[";
  for (Dim d : dims)
    text += (text.size() > 1 ? ", " : "") + d.str();
  return text + "]";
}

std::string TensorMeta::str() const {
  std::string text = dtypeName(dtype).str() + " " + dimsText(sizes);
  if (strides != contiguousStrides(sizes))
    text += " strides " + dimsText(strides);
  if (!offset.is(0))
    text += " offset " + offset.str();
  text += " " + device.str();
  return text + (conj ? " conj" : "") + (neg ? " neg" : "");
}

TensorMeta TensorMeta::contiguous(DType dtype, llvm::ArrayRef<Dim> sizes,
                                  Device device) {
  TensorMeta meta;
  meta.dtype = dtype;
  meta.device = device;
  meta.sizes.assign(sizes.begin(), sizes.end());
  meta.strides = contiguousStrides(sizes);
  return meta;
}

mlir::RankedTensorType typeFromMeta(mlir::MLIRContext *context,
                                    const TensorMeta &meta) {
  llvm::SmallVector<int64_t, 6> shape;
  Dims symbolic;
  for (Dim d : meta.sizes) {
    shape.push_back(d.isStatic() ? d.value() : mlir::ShapedType::kDynamic);
    if (!d.isStatic())
      symbolic.push_back(d);
  }
  Dims strides;
  if (meta.strides != contiguousStrides(meta.sizes))
    strides = meta.strides;
  auto encoding = MetaAttr::get(context, symbolic, strides, meta.offset,
                                meta.device, meta.conj, meta.neg);
  return mlir::RankedTensorType::get(shape, dtypeToType(context, meta.dtype),
                                     encoding);
}

std::optional<TensorMeta> metaFromType(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  auto encoding = llvm::dyn_cast_or_null<MetaAttr>(tensor.getEncoding());
  std::optional<DType> dtype = dtypeFromType(tensor.getElementType());
  if (!encoding || !dtype)
    return std::nullopt;
  TensorMeta meta;
  meta.dtype = *dtype;
  meta.device = encoding.getDevice();
  meta.conj = encoding.getConj();
  meta.neg = encoding.getNeg();
  meta.offset = encoding.getOffset();
  llvm::ArrayRef<Dim> symbolic = encoding.getSizes();
  for (int64_t extent : tensor.getShape()) {
    if (!mlir::ShapedType::isDynamic(extent)) {
      meta.sizes.push_back(extent);
      continue;
    }
    // The verifier rejects too short a list; a type that was built without it
    // must still not be read past its end.
    if (symbolic.empty())
      return std::nullopt;
    meta.sizes.push_back(symbolic.front());
    symbolic = symbolic.drop_front();
  }
  if (encoding.getStrides().empty())
    meta.strides = contiguousStrides(meta.sizes);
  else
    meta.strides.assign(encoding.getStrides().begin(),
                        encoding.getStrides().end());
  if (meta.strides.size() != meta.sizes.size())
    return std::nullopt;
  return meta;
}

bool isContiguous(const TensorMeta &meta) {
  for (Dim d : meta.sizes)
    if (d.is(0))
      return true;
  Dim running = 1;
  for (size_t i = meta.sizes.size(); i-- > 0;) {
    if (meta.sizes[i].is(1))
      continue;
    if (meta.strides[i] != running)
      return false;
    running = running * meta.sizes[i];
  }
  return true;
}

} // namespace ft
