//===- Conv.cpp - Derivatives of the family conv ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

static constexpr const char *kNames[] = {"input", "weight", "bias"};

/// The arguments that convolution and convolution_backward share, in order.
static std::vector<Term> geometry(RuleCall &c) {
  std::vector<Term> terms;
  for (const char *name : {"stride", "padding", "dilation", "transposed",
                           "output_padding", "groups"})
    terms.push_back(c.arg(name));
  return terms;
}

static Term convolve(RuleCall &c, const Term &input, const Term &weight,
                     const Term &bias) {
  std::vector<Term> terms = {input, weight, bias};
  llvm::append_range(terms, geometry(c));
  return c.call("convolution", terms);
}

/// (input, weight, bias), of which `mask` are asked for.
static std::vector<Term> convolveBackward(RuleCall &c, const Term &grad,
                                          const Term &input, const Term &weight,
                                          const Term &biasSizes,
                                          std::vector<Term> mask) {
  std::vector<Term> terms = {grad, input, weight, biasSizes};
  llvm::append_range(terms, geometry(c));
  terms.push_back(std::move(mask));
  return c.callAll("convolution_backward", terms);
}

static void convolution(GradCall &g) {
  Term bias = g.arg("bias");
  std::vector<Term> grads = convolveBackward(
      g, g.grad(), g.arg("input"), g.arg("weight"),
      bias.isTensor() ? Term(GradCall::sizes(bias)) : Term::none(),
      {g.needs("input"), g.needs("weight"), g.needs("bias")});
  if (grads.size() != 3)
    return;
  for (auto [i, name] : llvm::enumerate(kNames))
    if (g.needs(name))
      g.set(name, grads[i]);
}

/// With (I, W, B) the gradients of its results: the backward is linear in
/// grad_output, so that grad_output gets conv(I, weight) + conv(input, W) + B;
/// input and weight get those of the two convolutions.
static void convolutionBackward(GradCall &g) {
  Term input = g.arg("input"), weight = g.arg("weight"),
       out = g.arg("grad_output");
  Term i = g.gradIfAny(0), w = g.gradIfAny(1), b = g.gradIfAny(2);
  if (g.needs("grad_output")) {
    Term sum;
    if (!i.isZero())
      sum = convolve(g, i, weight, Term::none());
    if (!w.isZero())
      sum = g.add(sum, convolve(g, input, w, Term::none()));
    if (!b.isZero()) {
      Dims sizes(static_cast<size_t>(GradCall::rank(out)), Dim(1));
      if (sizes.size() > 1)
        sizes[1] = GradCall::meta(b).numel();
      sum = g.add(
          sum, g.call("expand", {g.reshape(b, sizes), GradCall::sizes(out)}));
    }
    g.set("grad_output", sum);
  }
  if (g.needs("input") && !w.isZero())
    g.set("input", convolveBackward(g, out, input, w, Term::none(),
                                    {true, false, false})[0]);
  if (g.needs("weight") && !i.isZero())
    g.set("weight", convolveBackward(g, out, i, weight, Term::none(),
                                     {false, true, false})[1]);
}

llvm::ArrayRef<DerivativeRow> convDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"convolution.default", convolution},
      {"convolution_backward.default", convolutionBackward},
  };
  return kRows;
}

//===----------------------------------------------------------------------===//
// Expansions
//===----------------------------------------------------------------------===//

/// One number stands for as many as there are dims.
static Term spread(const Term &list, size_t dims) {
  if (list.items().size() != 1)
    return list;
  return Term(std::vector<Term>(dims, list.items()[0]));
}

/// convNd and conv_transposeNd as a convolution of a batch.
static std::vector<Term> batched(RuleCall &c, Term input, const Term &padding,
                                 bool transposed) {
  Term weight = c.arg("weight");
  size_t dims =
      static_cast<size_t>(std::max<int64_t>(RuleCall::rank(weight) - 2, 0));
  bool single = RuleCall::rank(input) == static_cast<int64_t>(dims) + 1;
  if (single)
    input = c.call("unsqueeze", {input, 0});
  Term none = std::vector<Term>(dims, Term(0));
  Term result = c.call(
      "convolution",
      {input, weight, c.arg("bias"), spread(c.arg("stride"), dims),
       spread(padding, dims), spread(c.arg("dilation"), dims), transposed,
       transposed ? spread(c.arg("output_padding"), dims) : none,
       c.arg("groups")});
  if (single)
    result = c.call("squeeze.dim", {result, 0});
  return {result};
}

static std::vector<Term> forward(RuleCall &c) {
  return batched(c, c.arg("input"), c.arg("padding"), false);
}

static std::vector<Term> transposed(RuleCall &c) {
  return batched(c, c.arg("input"), c.arg("padding"), true);
}

/// padding = 'valid' or 'same': for an odd total the end gets one more, which
/// the convolution itself cannot do.
static std::vector<Term> namedPadding(RuleCall &c) {
  Term input = c.arg("input"), weight = c.arg("weight");
  size_t dims =
      static_cast<size_t>(std::max<int64_t>(RuleCall::rank(weight) - 2, 0));
  std::vector<Term> padding(dims, Term(0)), extra;
  if (c.arg("padding").text() == "same") {
    Term dilation = spread(c.arg("dilation"), dims);
    bool uneven = false;
    for (size_t d = 0; d < dims; ++d) {
      Dim size = RuleCall::sizes(weight)[d + 2];
      if (!size.isStatic()) {
        c.fail("'same' padding with a kernel of a size of the run has none "
               "yet");
        return {};
      }
      int64_t total = dilation.items()[d].integer() * (size.value() - 1);
      padding[d] = total / 2;
      uneven |= total % 2 != 0;
      // constant_pad_nd names the last dim first.
      extra.insert(extra.begin(), {Term(0), Term(total % 2)});
    }
    if (uneven)
      input = c.call("constant_pad_nd", {input, extra, 0});
  }
  return batched(c, input, padding, false);
}

llvm::ArrayRef<ExpandRow> convExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"conv1d.default", forward},
      {"conv1d.padding", namedPadding},
      {"conv2d.default", forward},
      {"conv2d.padding", namedPadding},
      {"conv3d.default", forward},
      {"conv3d.padding", namedPadding},
      {"conv_transpose1d.default", transposed},
      {"conv_transpose2d.input", transposed},
      {"conv_transpose3d.input", transposed},
  };
  return kRows;
}

} // namespace ft
