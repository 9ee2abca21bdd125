//===- Derivatives.cpp - Results of derivatives ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derivatives whose results have the sizes of what they are derivatives of:
// row-major tensors of the sizes of an argument, or of sizes that are given.

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"

using namespace llvm;

namespace ft {

/// One result for each argument: its size and dtype; none for an absent one.
template <unsigned... Like>
static LogicalResult shapedLike(FakeCall &c) {
  for (unsigned i : {Like...}) {
    const TensorMeta *like = c.optTensor(i);
    if (like)
      (void)c.fresh(TensorMeta::contiguous(like->dtype, like->sizes, c.device));
    else
      (void)c.undefined();
  }
  return success();
}

/// As before; argument 0, the gradient, must have the size of argument `Of`.
template <unsigned Of, unsigned... Like>
static LogicalResult gradientOf(FakeCall &c) {
  if (!c.sameSizes(c.tensor(0).sizes, c.tensor(Of).sizes))
    return c.fail(FakeError::Shape,
                  "the gradient " + c.show(c.tensor(0)) +
                      " does not have the size of " + c.show(c.tensor(Of)) +
                      unlike(c.tensor(0).sizes, c.tensor(Of).sizes));
  return shapedLike<Like...>(c);
}

/// The gradient's dtype, and the sizes that argument `Sizes` gives.
template <unsigned Sizes>
static LogicalResult ofSizes(FakeCall &c) {
  Dims sizes = c.dims(Sizes);
  for (Dim d : sizes)
    if (c.lt(d, 0))
      return c.fail(FakeError::Shape,
                    "size " + d.str() + " must not be negative");
  return c.fresh(TensorMeta::contiguous(c.tensor(0).dtype, sizes, c.device));
}

/// (grad, dim, indices, sizes, keepdim)
static LogicalResult selectingReduction(FakeCall &c) {
  if (failed(c.wrapDim(1, c.dims(3).size())))
    return failure();
  return ofSizes<3>(c);
}

/// (grad, self_sizes, dim, index): one index for each entry of the dim.
static LogicalResult indexSelect(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &index = c.tensor(3);
  FailureOr<int64_t> dim = c.wrapDim(2, c.dims(1).size());
  if (failed(dim))
    return failure();
  Dim length = *dim < grad.rank() ? grad.sizes[*dim] : Dim(1);
  if (!c.mustEq(index.numel(), length))
    return c.fail(FakeError::Index, "there are " + index.numel().str() +
                                        " indices for a size of " +
                                        length.str() + " at dim " +
                                        Twine(*dim));
  return ofSizes<1>(c);
}

/// (grad, self, dim, index, sparse_grad)
static LogicalResult gather(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &index = c.tensor(3);
  if (c.flag(4))
    return c.fail(FakeError::Unsupported,
                  "sparse gradients are not supported; give "
                  "sparse_grad=False");
  if (failed(c.wrapDim(2, c.tensor(1).rank())))
    return failure();
  for (int64_t d = 0; d < index.rank(); ++d)
    if (index.rank() != grad.rank() || c.lt(grad.sizes[d], index.sizes[d]))
      return c.fail(FakeError::Index,
                    index.rank() != grad.rank()
                        ? c.nameOf(&index) + " has " + Twine(index.rank()) +
                              " dims, " + c.nameOf(&grad) + " " +
                              Twine(grad.rank())
                        : c.sizeAt(index, d) + ", more than " +
                              c.nameOf(&grad) + " has, " + grad.sizes[d].str());
  return shapedLike<1>(c);
}

/// (grad, input, dim, output): of single elements, or none, it is the gradient
/// itself.
static LogicalResult cumprod(FakeCall &c) {
  const TensorMeta &input = c.tensor(1);
  FailureOr<int64_t> dim = c.wrapDim(2, input.rank());
  if (failed(dim))
    return failure();
  if (input.sizes.empty() || input.numel().is(0) || input.sizes[*dim].is(1))
    return c.view(c.tensor(0), 0);
  return gradientOf<1, 1>(c);
}

/// (grad, output, mask, dim)
static LogicalResult maskedSoftmax(FakeCall &c) {
  if (!c.sameSizes(c.tensor(2).sizes, c.tensor(0).sizes))
    return c.fail(FakeError::Shape,
                  "the mask " + c.show(c.tensor(2)) +
                      " does not have the size of " + c.show(c.tensor(0)) +
                      unlike(c.tensor(2).sizes, c.tensor(0).sizes));
  return gradientOf<1, 0>(c);
}

/// (grad_w, v, g, norms, dim): the gradients of v and g, all row-major.
static LogicalResult weightNorm(FakeCall &c) {
  for (unsigned i : {0u, 1u, 2u, 3u})
    if (!isContiguous(c.tensor(i)))
      return c.fail(FakeError::Other, "'" + c.schema().args[i].name +
                                          "' must be row-major, it is " +
                                          c.show(c.tensor(i)));
  return gradientOf<1, 1, 2>(c);
}

/// (grad, sizes): the diagonal of a matrix.
static LogicalResult trace(FakeCall &c) {
  if (c.dims(1).size() != 2)
    return c.fail(FakeError::Dim,
                  "a trace is that of a matrix, the sizes are " +
                      Twine(c.dims(1).size()));
  return ofSizes<1>(c);
}

/// (grad, input, mask): the input, broadcast with the mask.
static LogicalResult maskedSelect(FakeCall &c) {
  DType mask = c.tensor(2).dtype;
  if (mask != DType::Bool && mask != DType::U8)
    return c.fail(FakeError::Dtype,
                  "the mask must be bool, not " + dtypeName(mask));
  FailureOr<Dims> sizes = c.broadcast({&c.tensor(1), &c.tensor(2)});
  if (failed(sizes))
    return failure();
  return c.fresh(TensorMeta::contiguous(c.tensor(0).dtype, *sizes, c.device));
}

/// (grad, self): as self.
static LogicalResult overSelf(FakeCall &c) {
  if (failed(c.broadcastTo(c.tensor(0).sizes, c.tensor(1).sizes, &c.tensor(0))))
    return failure();
  FailureOr<DType> dtype = promotedDType(c, 3);
  if (failed(dtype))
    return failure();
  return elementwise(c, {&c.tensor(1), &c.tensor(0)}, *dtype);
}

/// (grad, self): elementwise over all tensors.
static LogicalResult overAll(FakeCall &c) {
  return pointwise<Promote::Default>(c);
}

/// (grad, [batch, channels, …] sizes, align_corners): [batch, n, n + 1], seen
/// through a transposition of products.
static LogicalResult affineGrid(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0);
  Dims sizes = c.dims(1);
  if (sizes.size() != 4 && sizes.size() != 5)
    return c.fail(FakeError::Dim, "a grid of " + Twine(sizes.size()) +
                                      " dims; it needs 4 or 5");
  Dim n = int64_t(sizes.size()) - 2;
  Dims wanted(sizes.begin() + 2, sizes.end());
  wanted.insert(wanted.begin(), sizes[0]);
  wanted.push_back(n);
  if (!c.sameSizes(grad.sizes, wanted))
    return c.fail(FakeError::Shape,
                  "the gradient " + c.show(grad) + " does not fit the grid " +
                      dimsText(wanted) + unlike(grad.sizes, wanted));
  TensorMeta out =
      TensorMeta::contiguous(grad.dtype, {sizes[0], n, n + 1}, c.device);
  out.strides = {n * (n + 1), Dim(1), n};
  return c.fresh(std::move(out));
}

/// GRU: (grad of the state, input gates, hidden gates, state, biases):
/// gradients of both gates, of the state, and of biases that are there.
static LogicalResult gruCell(FakeCall &c) {
  const TensorMeta &gates = c.tensor(1), &state = c.tensor(3);
  if (gates.rank() != 2 || state.rank() != 2)
    return c.fail(FakeError::Dim, "gates and state need 2 dims, they have " +
                                      Twine(gates.rank()) + " and " +
                                      Twine(state.rank()));
  return shapedLike<1, 2, 3, 4, 5>(c);
}

/// LSTM: (grads of both states, gates twice, biases, old and new cell)
static LogicalResult lstmCell(FakeCall &c) {
  const TensorMeta &gates = c.tensor(2);
  if (gates.rank() != 2 || c.tensor(6).rank() != 2)
    return c.fail(FakeError::Dim, "gates and state need 2 dims, they have " +
                                      Twine(gates.rank()) + " and " +
                                      Twine(c.tensor(6).rank()));
  return shapedLike<2, 3, 6, 4, 5>(c);
}

ArrayRef<FakeRuleRow> derivativesRules() {
  static const FakeRuleRow rows[] = {
      {"_dirichlet_grad.default", overAll},
      {"_masked_softmax_backward.default", maskedSoftmax},
      {"_standard_gamma_grad.default", overAll},
      {"_thnn_differentiable_gru_cell_backward.default", gruCell},
      {"_thnn_differentiable_lstm_cell_backward.default", lstmCell},
      {"_weight_norm_differentiable_backward.default", weightNorm},
      {"_weight_norm_interface_backward.default", gradientOf<1, 1, 2>},
      {"affine_grid_generator_backward.default", affineGrid},
      {"conv_tbc_backward.default", shapedLike<1, 2, 3>},
      {"cummaxmin_backward.default", gradientOf<1, 1>},
      {"cumprod_backward.default", cumprod},
      {"gather_backward.default", gather},
      {"index_select_backward.default", indexSelect},
      {"infinitely_differentiable_gelu_backward.default", overSelf},
      {"masked_select_backward.default", maskedSelect},
      {"trace_backward.default", trace},
      {"value_selecting_reduction_backward.default", selectingReduction},
  };
  return rows;
}

} // namespace ft
