//===- Tensor.cpp - What a handle answers by itself ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/trace/Ops.h"

#include "compiler/trace/TraceState.h"

namespace ft {

using detail::TraceState;
using detail::TraceTensor;

std::string scalarTypeName(ScalarType type) {
  return detail::isKnown(type)
             ? dtypeName(detail::internal(type)).str()
             : "ScalarType(" + std::to_string(static_cast<int>(type)) + ")";
}

std::string DeviceId::str() const {
  if (detail::isKnown(*this))
    return detail::internal(*this).str();
  return "DeviceId(" + std::to_string(static_cast<int>(kind)) + ", " +
         std::to_string(index) + ")";
}

Tensor::Tensor(const RealTensor &real)
    : origin(std::make_shared<detail::RealOrigin>(real)) {}

bool Tensor::ok() const { return TraceState::tensorOf(*this) != nullptr; }

bool Tensor::isFake() const { return ok(); }

const Diagnostic *Tensor::error() const {
  if (!origin || ok())
    return nullptr;
  if (const TraceState *trace = TraceState::traceOf(*this))
    return &trace->error;
  if (origin->kind == detail::Origin::Failure)
    return &static_cast<detail::FailureOrigin &>(*origin).error;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

static const TensorMeta &metaOfHandle(const Tensor &tensor) {
  static const TensorMeta none;
  const TraceTensor *known = TraceState::tensorOf(tensor);
  return known ? known->meta : none;
}

/// A symbol becomes a value of the module when it is asked for: `query` is the
/// operator that gives it, of the tensor and, for lists, of an index.
static SymInt dimOf(const Tensor &tensor, Dim dim, const char *query,
                    std::optional<int64_t> index = {}) {
  if (dim.isStatic())
    return SymInt(dim.value());
  TraceState *trace = TraceState::traceOf(tensor);
  if (mlir::Value value = trace->knownNumber(dim))
    return trace->symInt(value, dim);
  const SymInt at(index.value_or(0));
  const detail::OpArg args[] = {detail::OpArg(tensor), detail::OpArg(at)};
  return detail::callNamed(query, args, index ? 2 : 1, {}).number(0).toInt();
}

int64_t Tensor::dim() const { return metaOfHandle(*this).rank(); }

static const Dim *entry(const Tensor &tensor, const Dims &list, int64_t dim,
                        const Here &here) {
  int64_t rank = static_cast<int64_t>(list.size());
  if (dim >= -rank && dim < rank)
    return &list[static_cast<size_t>(dim < 0 ? dim + rank : dim)];
  if (const TraceTensor *known = TraceState::tensorOf(tensor))
    TraceState::traceOf(tensor)->fail(DiagId::FakeIndex, here,
                                      "dim " + llvm::Twine(dim) +
                                          " is out of range for " +
                                          known->meta.str());
  return nullptr;
}

SymInt Tensor::size(int64_t dim, Here here) const {
  const Dim *found = entry(*this, metaOfHandle(*this).sizes, dim, here);
  return found ? dimOf(*this, *found, "sym_size.int", dim)
               : TraceState::failedNumber(origin);
}

SymInt Tensor::stride(int64_t dim, Here here) const {
  const Dim *found = entry(*this, metaOfHandle(*this).strides, dim, here);
  return found ? dimOf(*this, *found, "sym_stride.int", dim)
               : TraceState::failedNumber(origin);
}

static std::vector<SymInt> list(const Tensor &tensor, const Dims &dims,
                                const char *query) {
  std::vector<SymInt> result;
  result.reserve(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    result.push_back(dimOf(tensor, dims[i], query, static_cast<int64_t>(i)));
  return result;
}

std::vector<SymInt> Tensor::sizes() const {
  return list(*this, metaOfHandle(*this).sizes, "sym_size.int");
}
std::vector<SymInt> Tensor::strides() const {
  return list(*this, metaOfHandle(*this).strides, "sym_stride.int");
}
SymInt Tensor::storage_offset() const {
  return ok() ? dimOf(*this, metaOfHandle(*this).offset,
                      "sym_storage_offset.default")
              : TraceState::failedNumber(origin);
}
SymInt Tensor::numel() const {
  return ok() ? dimOf(*this, metaOfHandle(*this).numel(), "sym_numel.default")
              : TraceState::failedNumber(origin);
}
ScalarType Tensor::dtype() const {
  return detail::external(metaOfHandle(*this).dtype);
}
int64_t Tensor::element_size() const {
  return ok() ? dtypeBytes(metaOfHandle(*this).dtype) : 0;
}
DeviceId Tensor::device() const {
  return detail::external(metaOfHandle(*this).device);
}
bool Tensor::is_floating_point() const {
  return ok() && isFloating(metaOfHandle(*this).dtype);
}
bool Tensor::is_complex() const {
  return ok() && isComplex(metaOfHandle(*this).dtype);
}
bool Tensor::is_contiguous() const {
  return ok() && isContiguous(metaOfHandle(*this));
}
bool Tensor::is_conj() const { return metaOfHandle(*this).conj; }
bool Tensor::is_neg() const { return metaOfHandle(*this).neg; }

std::string Tensor::str() const {
  if (!origin)
    return "undefined";
  if (origin->kind == detail::Origin::Real)
    return "a tensor with data";
  return ok() ? metaOfHandle(*this).str() : "failed";
}

//===----------------------------------------------------------------------===//
// Identity, gradients
//===----------------------------------------------------------------------===//

std::string Tensor::name() const {
  const TraceTensor *known = TraceState::tensorOf(*this);
  if (!known || !known->value) // or its region is gone
    return "";
  mlir::Location loc = known->value.getLoc();
  auto named = llvm::dyn_cast<mlir::NameLoc>(loc);
  return named ? named.getName().str() : "";
}

bool Tensor::shares_storage(const Tensor &other) const {
  const TraceTensor *a = TraceState::tensorOf(*this);
  const TraceTensor *b = TraceState::tensorOf(other);
  return a && b && origin == other.origin && a->storage == b->storage;
}

bool Tensor::requires_grad() const {
  const TraceTensor *known = TraceState::tensorOf(*this);
  return known && known->requiresGrad;
}

bool Tensor::is_leaf() const {
  const TraceTensor *known = TraceState::tensorOf(*this);
  return known && known->leaf;
}

Tensor Tensor::requires_grad_(bool requiresGrad, Here here) {
  TraceTensor *known = TraceState::tensorOf(*this);
  if (!known)
    return *this;
  auto refuse = [&](const llvm::Twine &message) {
    TraceState *trace = TraceState::traceOf(*this);
    trace->fail(DiagId::FakeOther, here, message);
    return trace->failedTensor();
  };
  if (!known->leaf && known->requiresGrad != requiresGrad)
    return refuse("requires_grad_ of '" + name() +
                  "', which is not a leaf: it was computed");
  if (requiresGrad && !is_floating_point() && !is_complex())
    return refuse("requires_grad_ of '" + name() + "', a tensor of " +
                  scalarTypeName(dtype()) +
                  ": only floating-point and complex tensors have gradients");
  known->requiresGrad = requiresGrad;
  return *this;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

Scalar Tensor::item(Here here) const {
  if (ok())
    if (std::optional<Scalar> known =
            TraceState::traceOf(*this)->constantOf(TraceState::idOf(*this)))
      return *known;
  const detail::OpArg args[] = {detail::OpArg(*this)};
  return detail::callNamed("item.default", args, 1, here).number(0);
}

Tensor::operator bool() const {
  const TraceTensor *known = TraceState::tensorOf(*this);
  if (!known)
    return false;
  TraceState *trace = TraceState::traceOf(*this);
  if (std::optional<Scalar> constant =
          trace->constantOf(TraceState::idOf(*this)))
    return constant->toBool();
  trace->fail(
      DiagId::FakeDataDependent, {},
      "the program branches on the data of '" + name() + "', " +
          known->meta.str() + ": a graph is traced once, for all data",
      "keep both sides in the graph with ft::cond, or choose element by "
      "element with ops::where");
  return false;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Tensor Tensor::operator[](const Index &index) const {
  return ops::select(*this, 0, index.value, index.here);
}

#define FT_IN_PLACE(symbol, name)                                              \
  Tensor &Tensor::operator symbol(const Addend &other) {                       \
    return *this = other.tensor ? ops::name(*this, *other.tensor, other.here)  \
                                : ops::name(*this, other.number, other.here);  \
  }
#define FT_IN_PLACE_ALPHA(symbol, name)                                        \
  Tensor &Tensor::operator symbol(const Addend &other) {                       \
    return *this = other.tensor                                                \
                       ? ops::name(*this, *other.tensor, 1, other.here)        \
                       : ops::name(*this, other.number, 1, other.here);        \
  }
FT_IN_PLACE_ALPHA(+=, add_)
FT_IN_PLACE_ALPHA(-=, sub_)
FT_IN_PLACE(*=, mul_)
FT_IN_PLACE(/=, div_)
#undef FT_IN_PLACE
#undef FT_IN_PLACE_ALPHA

} // namespace ft
