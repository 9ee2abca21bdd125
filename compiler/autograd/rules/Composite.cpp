//===- Composite.cpp - Operators composed of others ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What PyTorch itself composes of other operators and a formula cannot say,
// because lists or ranks decide.

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

static std::vector<Term> eachOf(RuleCall &c, llvm::StringRef name) {
  std::vector<Term> results;
  for (const Term &tensor : c.arg("tensors").items())
    results.push_back(c.call(name, {tensor}));
  return results;
}

static std::vector<Term> horizontal(RuleCall &c) {
  std::vector<Term> parts = eachOf(c, "atleast_1d.default");
  bool vectors = RuleCall::rank(parts.front()) == 1;
  return {c.call("cat", {parts, vectors ? 0 : 1})};
}

static std::vector<Term> vertical(RuleCall &c) {
  return {c.call("cat", {eachOf(c, "atleast_2d.default"), 0})};
}

static std::vector<Term> deep(RuleCall &c) {
  return {c.call("cat", {eachOf(c, "atleast_3d.default"), 2})};
}

/// Vectors, and numbers, are columns.
static std::vector<Term> columns(RuleCall &c) {
  std::vector<Term> parts;
  for (const Term &tensor : c.arg("tensors").items()) {
    if (RuleCall::rank(tensor) > 1) {
      parts.push_back(tensor);
      continue;
    }
    Dims sizes = {RuleCall::meta(tensor).numel(), Dim(1)};
    parts.push_back(c.call("reshape", {tensor, sizes}));
  }
  return {c.call("cat", {parts, 1})};
}

static std::vector<Term> flattened(RuleCall &c) {
  std::vector<Term> parts;
  for (const Term &tensor : c.arg("tensors").items())
    parts.push_back(
        c.call("reshape", {tensor, Dims{RuleCall::meta(tensor).numel()}}));
  return {c.call("cat", {parts, 0})};
}

/// Sequences behind one another, all as long as the longest.
static std::vector<Term> padSequence(RuleCall &c) {
  Dims whole = RuleCall::sizes(c.result(0));
  bool batchFirst = c.arg("batch_first").truth();
  bool left = c.schema().argIndex("padding_side") >= 0 &&
              c.arg("padding_side").text() == "left";
  std::vector<Term> rows;
  for (const Term &row : c.arg("sequences").items()) {
    Dim lack = whole[batchFirst ? 1 : 0] - RuleCall::sizes(row)[0];
    std::vector<Term> pad(2 * static_cast<size_t>(RuleCall::rank(row) - 1),
                          Term(0));
    pad.push_back(left ? lack : Dim(0)); // the last dim comes first
    pad.push_back(left ? Dim(0) : lack);
    rows.push_back(
        c.call("constant_pad_nd", {row, pad, c.arg("padding_value")}));
  }
  return {c.call("stack", {rows, batchFirst ? 0 : 1})};
}

/// Each matrix in its own rows and columns, zeros around it.
static std::vector<Term> blockDiagonal(RuleCall &c) {
  std::vector<Term> blocks = eachOf(c, "atleast_2d.default"), rows;
  Dim width = 0, before = 0;
  for (const Term &block : blocks)
    width = width + RuleCall::sizes(block)[1];
  for (const Term &block : blocks) {
    Dim own = RuleCall::sizes(block)[1];
    Term pad = std::vector<Term>{before, width - before - own};
    rows.push_back(c.call("constant_pad_nd", {block, pad, 0}));
    before = before + own;
  }
  return {c.call("cat", {rows, 0})};
}

static std::vector<Term> cartesian(RuleCall &c) {
  std::vector<Term> tensors = c.arg("tensors").items();
  if (tensors.size() == 1)
    return {c.call("alias", {tensors.front()})};
  std::vector<Term> grids =
      c.callAll("meshgrid.default", {c.arg("tensors")}, tensors.size());
  for (Term &grid : grids)
    grid = c.call("reshape", {grid, Dims{RuleCall::meta(grid).numel()}});
  return {c.call("stack", {grids, 1})};
}

template <unsigned rank>
static std::vector<Term> atLeast(RuleCall &c) {
  return eachOf(c, "atleast_" + std::to_string(rank) + "d.default");
}

static std::vector<Term> broadcastTensors(RuleCall &c) {
  Dims sizes = RuleCall::sizes(c.result(0));
  std::vector<Term> results;
  for (const Term &tensor : c.arg("tensors").items())
    results.push_back(c.call("expand", {tensor, sizes}));
  return results;
}

/// All choices of `r` places in their order: of all tuples of places those that
/// rise, of which there are as many as the result has rows.
static std::vector<Term> combinations(RuleCall &c) {
  Term x = c.arg("self");
  Dim n = RuleCall::sizes(x)[0], count = RuleCall::sizes(c.result(0))[0];
  auto r = static_cast<size_t>(c.arg("r").integer());
  if (r == 0)
    return {};
  Term places = c.call("arange", {n});
  auto along = [&](size_t d) {
    Dims sizes(r, Dim(1));
    sizes[d] = n;
    return c.reshape(places, sizes);
  };
  Term rises = c.call("ge", {along(0), 0});
  llvm::StringRef order =
      c.arg("with_replacement").truth() ? "le.Tensor" : "lt.Tensor";
  for (size_t d = 0; d + 1 < r; ++d)
    rises =
        c.call("logical_and", {rises, c.call(order, {along(d), along(d + 1)})});
  Term tuples = c.call("nonzero_static", {rises, Term(count).named("size")});
  Term chosen = c.call(
      "index_select", {x, 0, c.reshape(tuples, Dims{count * Dim(int64_t(r))})});
  return {c.reshape(chosen, RuleCall::sizes(c.result(0)))};
}

/// The parts of one tensor behind another, as the sizes of a list say.
static std::vector<Term> unflattened(RuleCall &c) {
  std::vector<Term> parts;
  Dim start = 0;
  for (const Term &like : c.arg("tensors").items()) {
    Dim count = RuleCall::meta(like).numel();
    Term part = c.call("narrow", {c.arg("flat"), 0, start, count});
    parts.push_back(c.call("reshape", {part, RuleCall::sizes(like)}));
    start = start + count;
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Norms, convolutions
//===----------------------------------------------------------------------===//

static std::vector<Term> normExceptDim(RuleCall &c) {
  Term v = c.arg("v");
  int64_t kept = c.arg("dim").integer();
  llvm::SmallVector<int64_t> dims;
  for (int64_t d = 0; d < RuleCall::rank(v); ++d)
    if (kept == -1 || d != kept)
      dims.push_back(d);
  return {c.call("linalg_vector_norm",
                 {v, c.arg("pow"), llvm::ArrayRef<int64_t>(dims), kept != -1})};
}

static std::vector<Term> convolutionByMode(RuleCall &c) {
  int64_t dims = RuleCall::rank(c.arg("weight")) - 2;
  return {
      c.call("conv" + std::to_string(dims) + "d.padding",
             {c.arg("input"), c.arg("weight"), c.arg("bias"), c.arg("stride"),
              c.arg("padding"), c.arg("dilation"), c.arg("groups")})};
}

llvm::ArrayRef<ExpandRow> compositeExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"_convolution_mode.default", convolutionByMode},
      {"atleast_1d.Sequence", atLeast<1>},
      {"atleast_2d.Sequence", atLeast<2>},
      {"atleast_3d.Sequence", atLeast<3>},
      {"block_diag.default", blockDiagonal},
      {"broadcast_tensors.default", broadcastTensors},
      {"cartesian_prod.default", cartesian},
      {"column_stack.default", columns},
      {"combinations.default", combinations},
      {"dstack.default", deep},
      {"flatten_dense_tensors.default", flattened},
      {"hstack.default", horizontal},
      {"norm_except_dim.default", normExceptDim},
      {"pad_sequence.default", padSequence},
      {"row_stack.default", vertical},
      {"unflatten_dense_tensors.default", unflattened},
      {"vstack.default", vertical},
  };
  return kRows;
}

} // namespace ft
