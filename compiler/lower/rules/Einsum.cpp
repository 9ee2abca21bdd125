//===- Einsum.cpp - Lowering of products given by labels -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An equation names the dims of each operand: a label of the result is a
// parallel loop, any other a reduction, and every operand is read at its own
// labels. Two operands are one contraction; more are contracted from the left,
// keeping only the labels that are still needed.
//
//   bij,bjk->ik    loops i k | b j    out[i, k] += a[b, i, j] * b[b, j, k]

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Contract.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

namespace ft {

namespace {

using Ints = Dims;
/// Labels of dims; an ellipsis stands as numbers from kEllipsis on.
using Labels = SmallVector<unsigned, 8>;
constexpr unsigned kEllipsis = 1000;

struct Labelled {
  LoweredTensor tensor;
  Labels labels;
};

} // namespace

/// The labels of one operand of this rank. An ellipsis covers the dims that
/// have no letter, numbered from the right so that they broadcast.
static FailureOr<Labels> parseLabels(StringRef text, unsigned rank) {
  Labels labels;
  size_t letters = 0, dots = text.find("...");
  for (char ch : text)
    letters += ch != '.' && ch != ' ';
  size_t covered = dots == StringRef::npos ? 0 : rank - letters;
  if (letters + covered != rank)
    return failure();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ')
      continue;
    if (i == dots) {
      for (size_t k = covered; k > 0; --k)
        labels.push_back(kEllipsis + static_cast<unsigned>(k));
      i += 2;
      continue;
    }
    labels.push_back(static_cast<unsigned char>(text[i]));
  }
  return labels;
}

/// Sums the product of one or two operands over all labels that are not in
/// `out`.
static LoweredTensor combine(LowerCall &c, ArrayRef<Labelled> ins,
                             ArrayRef<unsigned> out) {
  SmallVector<unsigned> loops(out);
  llvm::DenseMap<unsigned, Dim> extent;
  for (const Labelled &t : ins)
    for (auto [label, size] : llvm::zip(t.labels, t.tensor.dims())) {
      if (!llvm::is_contained(loops, label))
        loops.push_back(label);
      Dim &known = extent.try_emplace(label, 1).first->second;
      if (size != 1)
        known = size;
    }
  auto loopOf = [&](unsigned label) {
    return c.dim(
        static_cast<unsigned>(llvm::find(loops, label) - loops.begin()));
  };
  SmallVector<Access> accesses;
  for (const Labelled &t : ins) {
    Access a{t.tensor, {}};
    for (auto [label, size] : llvm::zip(t.labels, t.tensor.dims()))
      a.index.push_back(size == 1 && extent[label] != 1 ? c.constant(0)
                                                        : loopOf(label));
    accesses.push_back(std::move(a));
  }
  Ints sizes;
  SmallVector<AffineExpr, 6> index;
  for (unsigned label : out) {
    sizes.push_back(extent.lookup(label));
    index.push_back(loopOf(label));
  }
  SmallVector<Iterator> iterators(loops.size(), Iterator::Reduction);
  std::fill_n(iterators.begin(), out.size(), Iterator::Parallel);
  if (ins.size() == 2)
    return contract(c, accesses[0], accesses[1], sizes, index, iterators);
  DType from = ins[0].tensor.dtype, sum = opmathType(from);
  return c.generic(accesses, Access{c.filled(sizes, sum, 0), index}, iterators,
                   [&](ScalarBuilder &s, ValueRange v) {
                     return SmallVector<Value>{
                         s.add(v.back(), s.cast(v[0], from, sum))};
                   })[0];
}

static LogicalResult einsum(LowerCall &c) {
  auto [left, right] = StringRef(c.call().args[0].str).split("->");
  bool isExplicit = StringRef(c.call().args[0].str).contains("->");
  SmallVector<StringRef> texts;
  left.split(texts, ',');
  SmallVector<Value, 4> values = c.call().tensors(1);
  SmallVector<Labelled> operands;
  for (auto [text, value] : llvm::zip(texts, values)) {
    LoweredTensor t = c.operandOf(value);
    FailureOr<Labels> labels = parseLabels(text, t.rank());
    if (failed(labels))
      return c.unsupported("an equation that does not match its operands");
    operands.push_back({t, *labels});
  }

  // Without "->": the ellipsis, then every label that stands once, sorted.
  unsigned ellipsis = 0;
  llvm::DenseMap<unsigned, unsigned> uses;
  for (const Labelled &t : operands)
    for (unsigned label : t.labels) {
      ++uses[label];
      if (label > kEllipsis)
        ellipsis = std::max(ellipsis, label - kEllipsis);
    }
  Labels out;
  if (isExplicit) {
    unsigned rank = ellipsis * right.contains("...");
    for (char ch : right)
      rank += ch != '.' && ch != ' ';
    FailureOr<Labels> labels = parseLabels(right, rank);
    if (failed(labels))
      return c.unsupported("an equation that does not match its operands");
    out = *labels;
  } else {
    for (unsigned k = ellipsis; k > 0; --k)
      out.push_back(kEllipsis + k);
    for (unsigned letter = 0; letter < 256; ++letter)
      if (uses.lookup(letter) == 1)
        out.push_back(letter);
  }

  DType dtype = c.resultMeta(0).dtype;
  Labelled current = operands[0];
  if (operands.size() == 1)
    current.tensor = combine(c, operands, out);
  for (size_t i = 1; i < operands.size(); ++i) {
    bool last = i + 1 == operands.size();
    Labels kept = out;
    if (!last) {
      kept.clear();
      auto needed = [&](unsigned label) {
        return llvm::is_contained(out, label) ||
               llvm::any_of(ArrayRef(operands).drop_front(i + 1),
                            [&](const Labelled &t) {
                              return llvm::is_contained(t.labels, label);
                            });
      };
      for (const Labels *from : {&current.labels, &operands[i].labels})
        for (unsigned label : *from)
          if (needed(label) && !llvm::is_contained(kept, label))
            kept.push_back(label);
    }
    current.tensor = combine(c, {current, operands[i]}, kept);
    current.labels = kept;
    if (!last) {
      current.tensor = c.cast(current.tensor, dtype);
      c.newGroup();
    }
  }
  c.setResult(0, c.cast(current.tensor, dtype));
  return success();
}

/// (self, other, dims_self, dims_other): pairs of dims are summed over.
static LogicalResult tensordot(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  SmallVector<int64_t, 6> left = c.integers(2), right = c.integers(3);
  Labelled x{a, {}}, y{b, {}};
  unsigned next = 0;
  for (unsigned d = 0; d < a.rank(); ++d)
    x.labels.push_back(next++);
  for (unsigned d = 0; d < b.rank(); ++d)
    y.labels.push_back(next++);
  for (auto [l, r] : llvm::zip(left, right))
    y.labels[LowerCall::wrapDim(r, b.rank())] = LowerCall::wrapDim(l, a.rank());
  Labels out;
  for (unsigned label : x.labels)
    if (!llvm::is_contained(y.labels, label))
      out.push_back(label);
  for (unsigned label : y.labels)
    if (!llvm::is_contained(x.labels, label))
      out.push_back(label);
  c.setResult(0, c.cast(combine(c, {x, y}, out), c.resultMeta(0).dtype));
  return success();
}

/// sum over dim of conj(x) * y.
static LogicalResult vecdot(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  if (isComplex(a.dtype))
    a = c.pointwise(a, a.dims(), a.dtype, [](ScalarBuilder &s, ValueRange v) {
      return Value(complex::ConjOp::create(s.b, s.loc, v[0]));
    });
  unsigned rank = std::max(a.rank(), b.rank());
  unsigned dim = LowerCall::wrapDim(c.integer(2), rank);
  Labelled x{a, {}}, y{b, {}};
  Labels out;
  for (unsigned d = 0; d < rank; ++d) {
    if (d + a.rank() >= rank)
      x.labels.push_back(d);
    if (d + b.rank() >= rank)
      y.labels.push_back(d);
    if (d != dim)
      out.push_back(d);
  }
  c.setResult(0, c.cast(combine(c, {x, y}, out), c.resultMeta(0).dtype));
  return success();
}

/// The product of three operands with unit dims inserted at expand1 … 3, summed
/// over sumdim.
static LogicalResult trilinear(LowerCall &c) {
  using Numbers = SmallVector<int64_t, 6>;
  Numbers expanded[] = {c.integers(3), c.integers(4), c.integers(5)};
  Numbers sumDims = c.integers(6);
  unsigned rank =
      c.operand(0).rank() + static_cast<unsigned>(expanded[0].size());
  SmallVector<AffineExpr, 6> outIndex;
  Ints outSizes, extents(rank, 1);
  SmallVector<unsigned> loops(rank);
  SmallVector<Iterator> iterators;
  for (Iterator kind : {Iterator::Parallel, Iterator::Reduction})
    for (unsigned d = 0; d < rank; ++d)
      if (llvm::is_contained(sumDims, d) == (kind == Iterator::Reduction)) {
        loops[d] = static_cast<unsigned>(iterators.size());
        iterators.push_back(kind);
      }
  SmallVector<Access> ins;
  for (unsigned i = 0; i < 3; ++i) {
    LoweredTensor t = c.operand(i);
    Ints sizes = t.dims();
    for (unsigned d = 0, own = 0; d < rank; ++d) {
      if (llvm::is_contained(expanded[i], d))
        continue;
      if (!sizes[own].is(1))
        extents[d] = sizes[own];
      ++own;
    }
    ins.push_back({t, {}});
  }
  for (unsigned i = 0; i < 3; ++i) {
    Ints sizes = ins[i].tensor.dims();
    for (unsigned d = 0, own = 0; d < rank; ++d)
      if (!llvm::is_contained(expanded[i], d))
        ins[i].index.push_back(sizes[own++] == 1 && extents[d] != 1
                                   ? c.constant(0)
                                   : c.dim(loops[d]));
  }
  for (unsigned d = 0; d < rank; ++d)
    if (!llvm::is_contained(sumDims, d)) {
      outSizes.push_back(extents[d]);
      outIndex.push_back(c.dim(loops[d]));
    }
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  LoweredTensor y =
      c.generic(ins, Access{c.filled(outSizes, sum, 0), outIndex}, iterators,
                [&](ScalarBuilder &s, ValueRange v) {
                  Value product = s.cast(v[0], ins[0].tensor.dtype, sum);
                  for (unsigned i = 1; i < 3; ++i)
                    product =
                        s.mul(product, s.cast(v[i], ins[i].tensor.dtype, sum));
                  return SmallVector<Value>{s.add(v[3], product)};
                })[0];
  c.setResult(0, c.cast(y, dtype));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_trilinear.default", trilinear),
    anyShape("einsum.default", einsum),
    anyShape("linalg_vecdot.default", vecdot),
    anyShape("tensordot.default", tensordot),
};

ArrayRef<LowerRuleRow> einsumLowerRules() { return kRows; }

} // namespace ft
