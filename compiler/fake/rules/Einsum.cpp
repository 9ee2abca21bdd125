//===- Einsum.cpp - Sums of products by subscripts -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each letter of the equation is a dim; letters that the output does not have
// are summed. Operands are contracted from left to right, each time as a
// batched product whose result is laid out as: dims of both sides, dims of the
// left, dims of the right. The output is a permuted view of the last product.
//
//   "ij,jk->ki": i from the left, k from the right: memory order i, k;
//   the output [k, i] has strides [1, k].

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

namespace {
/// The letters of one operand; dims under "..." are numbers from the right.
using Labels = SmallVector<int, 8>;

struct Equation {
  SmallVector<Labels, 4> operands;
  Labels output;
};
} // namespace

/// Dims under an ellipsis get labels below this, the innermost 0.
static constexpr int kFirstLetter = 64;

/// For messages.
static std::string nameOf(int label) {
  if (label < kFirstLetter)
    return "...";
  return std::string(1, static_cast<char>(label - kFirstLetter));
}

static bool isLetter(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/// The labels of `text` for an operand of `rank` dims (-1: an output, whose
/// ellipsis stands for `ellipsis` dims).
static LogicalResult labelsOf(FakeCall &c, StringRef text, int64_t rank,
                              int64_t &ellipsis, Labels &labels) {
  int64_t letters = 0, dots = 0;
  for (char ch : text) {
    letters += isLetter(ch);
    dots += ch == '.';
    if (!isLetter(ch) && ch != '.')
      return c.fail(FakeError::Other,
                    "'" + Twine(ch) + "' has no meaning in subscripts");
  }
  if (dots != 0 && (dots != 3 || !text.contains("...")))
    return c.fail(FakeError::Other, "subscripts have '...' once or not at all");
  int64_t hidden = dots ? (rank < 0 ? ellipsis : rank - letters) : 0;
  if (hidden < 0 || hidden >= kFirstLetter ||
      (rank >= 0 && letters + hidden != rank))
    return c.fail(FakeError::Dim, "subscripts '" + text +
                                      "' do not fit a tensor of " +
                                      Twine(rank) + " dims");
  if (rank >= 0)
    ellipsis = std::max(ellipsis, hidden);
  for (size_t i = 0; i < text.size(); ++i) {
    if (isLetter(text[i])) {
      labels.push_back(kFirstLetter + text[i]);
      continue;
    }
    for (int64_t d = hidden; d-- > 0;)
      labels.push_back(static_cast<int>(d));
    i += 2;
  }
  return success();
}

static LogicalResult parse(FakeCall &c, ArrayRef<const TensorMeta *> tensors,
                           Equation &equation) {
  std::string text;
  for (char ch : c.text(0))
    if (ch != ' ')
      text += ch;
  auto [inputs, output] = StringRef(text).split("->");
  SmallVector<StringRef, 4> parts;
  inputs.split(parts, ',');
  if (parts.size() != tensors.size())
    return c.fail(FakeError::Other, "the equation has " + Twine(parts.size()) +
                                        " operands, the call " +
                                        Twine(tensors.size()));
  int64_t ellipsis = 0;
  for (auto [part, tensor] : zip(parts, tensors))
    if (failed(labelsOf(c, part, tensor->rank(), ellipsis,
                        equation.operands.emplace_back())))
      return failure();
  if (StringRef(text).contains("->"))
    return labelsOf(c, output, -1, ellipsis, equation.output);
  // Without an output: the ellipsis, then the letters that occur once.
  for (int64_t d = ellipsis; d-- > 0;)
    equation.output.push_back(static_cast<int>(d));
  for (int letter = kFirstLetter + 'A'; letter <= kFirstLetter + 'z';
       ++letter) {
    int64_t uses = 0;
    for (const Labels &labels : equation.operands)
      uses += count(labels, letter);
    if (uses == 1)
      equation.output.push_back(letter);
  }
  return success();
}

/// The size of each label; sizes of 1 broadcast.
static FailureOr<SmallVector<Dim, 0>>
sizesOf(FakeCall &c, ArrayRef<const TensorMeta *> tensors,
        const Equation &equation) {
  SmallVector<Dim, 0> sizes(kFirstLetter + 128, Dim(-1));
  for (auto [tensor, labels] : zip(tensors, equation.operands)) {
    for (auto [size, label] : zip(tensor->sizes, labels)) {
      Dim &have = sizes[label];
      if (have.is(-1) || have.is(1))
        have = size;
      else if (!size.is(1) && !c.mustEq(have, size))
        return c.fail(FakeError::Shape, "subscript '" + nameOf(label) +
                                            "' has size " + size.str() +
                                            " in " + c.nameOf(tensor) +
                                            " and " + have.str() + " before");
    }
  }
  for (int label : equation.output)
    if (sizes[label].is(-1))
      return c.fail(FakeError::Other, "the output has the subscript '" +
                                          nameOf(label) +
                                          "', which no operand has");
  return sizes;
}

/// Labels in the memory order of the last product.
static Labels memoryOrder(ArrayRef<const TensorMeta *> tensors,
                          const Equation &equation) {
  auto spans = [&](size_t operand, int label) {
    for (auto [size, own] :
         zip(tensors[operand]->sizes, equation.operands[operand]))
      if (own == label && !size.is(1))
        return true;
    return false;
  };
  auto left = [&](int label) {
    for (size_t i = 0; i + 1 < tensors.size(); ++i)
      if (spans(i, label))
        return true;
    return false;
  };
  Labels both, onlyLeft, onlyRight;
  for (int label : equation.output) {
    bool l = left(label), r = spans(tensors.size() - 1, label);
    (l && r ? both : l ? onlyLeft : onlyRight).push_back(label);
  }
  both.append(onlyLeft);
  both.append(onlyRight);
  return both;
}

static LogicalResult einsum(FakeCall &c) {
  auto tensors = c.tensors(1);
  if (tensors.empty() || is_contained(tensors, nullptr))
    return c.fail(FakeError::Other, "einsum needs at least one tensor");
  Equation equation;
  if (failed(parse(c, tensors, equation)))
    return failure();
  auto sizes = sizesOf(c, tensors, equation);
  if (failed(sizes))
    return failure();
  for (const TensorMeta *t : tensors)
    if (t->dtype != tensors.front()->dtype)
      return c.fail(FakeError::Dtype, "einsum needs one dtype, not " +
                                          dtypeName(tensors.front()->dtype) +
                                          " and " + dtypeName(t->dtype));
  Labels seen;
  for (int label : equation.output) {
    if (is_contained(seen, label))
      return c.fail(FakeError::Other, "the output has the subscript '" +
                                          nameOf(label) + "' twice");
    seen.push_back(label);
  }
  TensorMeta out;
  out.dtype = tensors.front()->dtype;
  out.device = c.device;
  for (int label : equation.output)
    out.sizes.push_back((*sizes)[label]);
  if (tensors.size() == 1) {
    // Without a sum or a diagonal it only permutes: a view.
    const Labels &own = equation.operands.front();
    bool permutes =
        own.size() == equation.output.size() &&
        all_of(own, [&](int label) { return count(own, label) == 1; });
    out.strides = contiguousStrides(out.sizes);
    if (!permutes)
      return c.fresh(std::move(out));
    for (auto [stride, label] : zip(out.strides, equation.output))
      stride = tensors.front()
                   ->strides[std::distance(own.begin(), find(own, label))];
    out.offset = tensors.front()->offset;
    (void)c.fresh(std::move(out));
    c.results.back().alias = c.arg(1).list.front().operand;
    return success();
  }
  SmallVector<int64_t, 6> order;
  for (int label : memoryOrder(tensors, equation))
    order.push_back(
        std::distance(equation.output.begin(), find(equation.output, label)));
  out.strides = denseStrides(out.sizes, order);
  return c.fresh(std::move(out));
}

ArrayRef<FakeRuleRow> einsumRules() {
  static const FakeRuleRow rows[] = {
      {"einsum.default", einsum},
  };
  return rows;
}

} // namespace ft
