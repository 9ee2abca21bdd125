//===- Matmul.cpp - Derivatives of the family matmul -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/DerivativeTable.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <map>

namespace ft {

/// All dims but the last as one.
static Term asRows(RuleCall &c, const Term &x) {
  Dims sizes = RuleCall::sizes(x);
  Dim rows = product(llvm::ArrayRef<Dim>(sizes).drop_back());
  return c.reshape(x, Dims{rows, sizes.back()});
}

/// input @ weight^T + bias, input of any rank, weight a matrix or a vector.
static void linear(GradCall &g) {
  Term input = g.arg("input"), weight = g.arg("weight"), grad = g.grad();
  bool isVector = GradCall::rank(weight) == 1;
  if (isVector) {
    grad = g.call("unsqueeze", {grad, -1});
    weight = g.call("unsqueeze", {weight, 0});
  }
  if (g.needs("input"))
    g.set("input", g.call("matmul", {grad, g.conj(weight)}));
  if (g.needs("weight")) {
    Term rows = asRows(g, input), out = asRows(g, grad);
    Term product = g.call("mm", {g.call("t", {out}), g.conj(rows)});
    g.set("weight", g.reshape(product, GradCall::sizes(g.arg("weight"))));
  }
  if (g.needs("bias"))
    g.set("bias", g.grad());
}

/// Vectors stand for matrices of one row (left) or one column (right); batch
/// dims that were broadcast are summed when the gradient is set.
static void matmul(GradCall &g) {
  Term a = g.arg("self"), b = g.arg("other"), grad = g.grad();
  bool row = GradCall::rank(a) == 1, column = GradCall::rank(b) == 1;
  if (row && column) {
    g.set("self", g.mul(grad, g.conj(b)));
    g.set("other", g.mul(grad, g.conj(a)));
    return;
  }
  if (row) {
    a = g.call("unsqueeze", {a, 0});
    grad = g.call("unsqueeze", {grad, -2});
  }
  if (column) {
    b = g.call("unsqueeze", {b, -1});
    grad = g.call("unsqueeze", {grad, -1});
  }
  // A matrix that meets a batch: one product of all rows instead of a product
  // for each matrix and their sum.
  bool flat = GradCall::rank(b) == 2 && GradCall::rank(a) > 2;
  if (g.needs("self")) {
    Term product = g.call("matmul", {grad, g.adjoint(b)});
    if (row)
      product = g.call("squeeze.dim",
                       {g.sumTo(product, Dims(GradCall::sizes(a))), 0});
    g.set("self", product);
  }
  if (g.needs("other")) {
    Term product =
        flat ? g.call("mm", {g.adjoint(asRows(g, a)), asRows(g, grad)})
             : g.call("matmul", {g.adjoint(a), grad});
    if (column)
      product = g.call("squeeze.dim",
                       {g.sumTo(product, Dims(GradCall::sizes(b))), -1});
    g.set("other", product);
  }
}

/// d sqrt(|x|^2 + |y|^2 - 2 x y), 0 where the distance is 0.
static void euclideanDistance(GradCall &g) {
  Term x1 = g.arg("x1"), x2 = g.arg("x2"), result = g.result(0);
  Term ratio = g.call("masked_fill",
                      {g.div(g.grad(), result), g.call("eq", {result, 0}), 0});
  auto one = [&](const char *name, const Term &from, const Term &to,
                 const Term &r) {
    if (!g.needs(name))
      return;
    Term total = g.call("sum.dim_IntList", {r, std::vector<Term>{-1}, true});
    g.set(name, g.sub(g.mul(from, total), g.call("matmul", {r, to})));
  };
  one("x1", x1, x2, ratio);
  one("x2", x2, x1, g.call("transpose", {ratio, -2, -1}));
}

//===----------------------------------------------------------------------===//
// einsum
//===----------------------------------------------------------------------===//

namespace {
/// "ij,jk->ik" of operands of known ranks. `...` has letters of its own, chosen
/// from those that the equation does not use.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;

  static std::optional<Equation> parse(llvm::StringRef text,
                                       llvm::ArrayRef<int64_t> ranks);
};
} // namespace

/// The letters of `part` for a tensor of `rank` dims, `...` filled in with the
/// last ones of `fill`.
static std::optional<std::string> letters(llvm::StringRef part, int64_t rank,
                                          llvm::StringRef fill) {
  size_t dots = part.find("...");
  if (dots == llvm::StringRef::npos)
    return part.str();
  llvm::StringRef before = part.take_front(dots),
                  after = part.drop_front(dots + 3);
  int64_t missing =
      rank < 0 ? static_cast<int64_t>(fill.size())
               : rank - static_cast<int64_t>(before.size() + after.size());
  if (missing < 0 || missing > static_cast<int64_t>(fill.size()))
    return std::nullopt;
  return (before + fill.take_back(missing) + after).str();
}

std::optional<Equation> Equation::parse(llvm::StringRef text,
                                        llvm::ArrayRef<int64_t> ranks) {
  std::string compact;
  for (char c : text)
    if (c != ' ')
      compact += c;
  auto [left, right] = llvm::StringRef(compact).split("->");
  bool hasOutput = llvm::StringRef(compact).contains("->");
  llvm::SmallVector<llvm::StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != ranks.size())
    return std::nullopt;
  // How many dims `...` stands for, at most.
  int64_t most = 0;
  for (auto [part, rank] : llvm::zip(parts, ranks))
    if (part.contains("..."))
      most = std::max(most, rank - static_cast<int64_t>(part.size() - 3));
  std::string fill;
  for (char c = 'Z'; c >= 'A' && static_cast<int64_t>(fill.size()) < most; --c)
    if (!llvm::StringRef(compact).contains(c))
      fill += c;
  Equation e;
  for (auto [part, rank] : llvm::zip(parts, ranks)) {
    std::optional<std::string> word = letters(part, rank, fill);
    if (!word || static_cast<int64_t>(word->size()) != rank)
      return std::nullopt;
    e.inputs.push_back(*word);
  }
  if (hasOutput) {
    std::optional<std::string> word = letters(right, -1, fill);
    if (!word)
      return std::nullopt;
    e.output = *word;
    return e;
  }
  // Letters that stand once, in the order of the alphabet, after `...`.
  std::map<char, int> counts;
  for (llvm::StringRef part : parts)
    for (char c : part)
      if (llvm::isAlpha(c))
        ++counts[c];
  e.output = fill;
  std::string capitals, smalls;
  for (auto [c, count] : counts)
    if (count == 1)
      (llvm::isUpper(c) ? capitals : smalls) += c;
  e.output += capitals + smalls;
  return e;
}

/// The gradient of one operand is the einsum of the output's gradient and the
/// conjugates of all others, with its own letters as the output. Letters that
/// only it has were summed: there the gradient is the same everywhere. It has
/// no letter twice (einsumExpansion).
static Term einsumGradient(GradCall &g, const Equation &e,
                           llvm::ArrayRef<Term> tensors, size_t i) {
  std::string known = e.output, equation = e.output;
  std::vector<Term> operands = {g.grad()};
  for (size_t j = 0; j < tensors.size(); ++j) {
    if (j == i)
      continue;
    known += e.inputs[j];
    equation += "," + e.inputs[j];
    operands.push_back(g.conj(tensors[j]));
  }
  const std::string &own = e.inputs[i];
  std::string found;
  for (char c : own)
    if (known.find(c) != std::string::npos)
      found += c;
  equation += "->" + found;
  Term grad = g.call("einsum", {equation.c_str(), Term(std::move(operands))});
  for (auto [d, c] : llvm::enumerate(own))
    if (found.find(c) == std::string::npos)
      grad = g.call("unsqueeze", {grad, static_cast<int64_t>(d)});
  Dims sizes = GradCall::sizes(tensors[i]);
  // A dim of size 1 that others broadcast.
  grad = g.sumTo(grad, sizes);
  grad = g.call("expand", {grad, sizes});
  return grad;
}

static void einsum(GradCall &g) {
  Term equation = g.arg("equation"), tensors = g.arg("tensors");
  llvm::SmallVector<int64_t> ranks;
  for (const Term &tensor : tensors.items())
    ranks.push_back(GradCall::rank(tensor));
  std::optional<Equation> e = Equation::parse(equation.text(), ranks);
  if (!e)
    return g.fail("its equation is not understood");
  for (size_t i = 0; i < ranks.size(); ++i)
    if (g.needsItem("tensors", i))
      g.setItem("tensors", i, einsumGradient(g, *e, tensors.items(), i));
}

llvm::ArrayRef<DerivativeRow> matmulDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"_euclidean_dist.default", euclideanDistance},
      {"einsum.default", einsum},
      {"linear.default", linear},
      {"matmul.default", matmul},
  };
  return kRows;
}

//===----------------------------------------------------------------------===//
// Expansions
//===----------------------------------------------------------------------===//

/// A letter twice in one operand: its diagonal has it once.
static std::vector<Term> einsumExpansion(RuleCall &c) {
  std::vector<Term> tensors;
  llvm::SmallVector<int64_t> ranks;
  for (const Term &tensor : c.arg("tensors").items()) {
    tensors.push_back(tensor);
    ranks.push_back(RuleCall::rank(tensor));
  }
  std::optional<Equation> e = Equation::parse(c.arg("equation").text(), ranks);
  if (!e)
    return {};
  bool changed = false;
  for (auto [tensor, word] : llvm::zip(tensors, e->inputs))
    for (size_t d = 0; d < word.size(); ++d) {
      size_t first = word.find(word[d]);
      if (first == d)
        continue;
      // The diagonal comes last.
      tensor = c.call("diagonal", {tensor, 0, static_cast<int64_t>(first),
                                   static_cast<int64_t>(d)});
      char letter = word[d];
      word.erase(d, 1);
      word.erase(first, 1);
      word += letter;
      changed = true;
      d = static_cast<size_t>(-1);
    }
  if (!changed)
    return {};
  std::string equation = llvm::join(e->inputs, ",") + "->" + e->output;
  return {c.call("einsum", {equation.c_str(), Term(std::move(tensors))})};
}

/// out[o] = sum_ij x1[i] w[o, i, j] x2[j]
static std::vector<Term> bilinear(RuleCall &c) {
  auto unsqueezed = [&](const Term &x) {
    return c.call("unsqueeze", {c.call("unsqueeze", {x, -2}), -2});
  };
  Term left = c.call("matmul", {unsqueezed(c.arg("input1")), c.arg("weight")});
  Term both = c.mul(left, unsqueezed(c.arg("input2")));
  Term result =
      c.call("sum.dim_IntList", {both, std::vector<Term>{-2, -1}, false});
  Term bias = c.arg("bias");
  return {bias.isTensor() ? c.add(result, bias) : result};
}

/// The product of three tensors, each with dims of size 1 put in, summed.
static std::vector<Term> trilinear(RuleCall &c) {
  auto expanded = [&](const char *name, const char *dims) {
    Term x = c.arg(name), at = c.arg(dims);
    for (const Term &dim : at.items())
      x = c.call("unsqueeze", {x, dim});
    return x;
  };
  Term product =
      c.mul(c.mul(expanded("i1", "expand1"), expanded("i2", "expand2")),
            expanded("i3", "expand3"));
  if (c.arg("sumdim").items().empty())
    return {product};
  return {c.call("sum.dim_IntList", {product, c.arg("sumdim"), false})};
}

/// x1 . x2 / (max(|x1|, eps) max(|x2|, eps)); a norm below eps is held at it,
/// and has the gradient of the norm.
static std::vector<Term> cosineSimilarity(RuleCall &c) {
  Term dims = std::vector<Term>{c.arg("dim")};
  auto unit = [&](const char *name) {
    Term x = c.arg(name);
    Term norm = c.call("linalg_vector_norm", {x, 2, dims, true});
    return c.div(x, c.call("clamp_min", {norm, c.arg("eps")}));
  };
  return {
      c.call("sum.dim_IntList", {c.mul(unit("x1"), unit("x2")), dims, false})};
}

llvm::ArrayRef<ExpandRow> matmulExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"_trilinear.default", trilinear},
      {"bilinear.default", bilinear},
      {"cosine_similarity.default", cosineSimilarity},
      {"einsum.default", einsumExpansion},
  };
  return kRows;
}

} // namespace ft
