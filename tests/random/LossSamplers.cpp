//===- LossSamplers.cpp - Arguments of losses and of bags -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

#include <cmath>

using namespace ft;
using namespace ft::random;

static DType wideFloat(Sampler &s) {
  return s.rng.chance(75) ? DType::F32 : DType::F64;
}

//===----------------------------------------------------------------------===//
// Margins
//===----------------------------------------------------------------------===//

/// 1 and -1.
static int signs(Sampler &s, const Shape &shape, DType type) {
  int value = s.integers(shape, {0, 1}, type);
  Tensor &data = s.program.values[value].data;
  for (int64_t i = 0, n = data.numel(); i < n; ++i)
    data.setReal(i, data.real(i) * 2 - 1);
  return value;
}

static Arg margin(Sampler &s) {
  return Arg::floating(s.rng.chance(50) ? 1 : s.rng.chance(50) ? 0 : 0.5);
}

/// ([grad,] self, target, p, margin, weight, reduction), and the same with
/// several targets for each row.
static bool classMargin(Sampler &s) {
  bool backward = s.schema.base.ends_with("backward"),
       several = s.schema.base.starts_with("multilabel");
  int64_t rows = s.rng.between(1, 4), classes = s.rng.between(1, 5);
  bool flat = s.rng.chance(25);
  Shape scores = flat ? Shape{classes} : Shape{rows, classes};
  Shape places = flat ? Shape{} : Shape{rows};
  int64_t reduction = s.rng.between(0, 2);
  DType type = wideFloat(s);
  unsigned next = 0;
  if (backward)
    s.set(next++, s.tensor(type, reduction ? Shape{} : places));
  s.set(next++, s.tensor(type, scores));
  int target = several ? s.integers(scores, {-1, classes - 1})
                       : s.integers(places, {0, classes - 1});
  s.set(next++, target);
  if (several) {
    s.setInt(next++, reduction);
    if (backward) { // the classes before the first -1
      int marks = s.integers(scores, {0, 0}, type);
      const Tensor &y = s.program.values[target].data;
      Tensor &data = s.program.values[marks].data;
      for (int64_t i = 0, n = y.numel(); i < n; i += classes)
        for (int64_t c = 0; c < classes && y.integer(i + c) >= 0; ++c)
          data.setReal(i + y.integer(i + c), 1);
      s.set(next, marks);
    }
    return true;
  }
  s.setInt(next++, s.rng.between(1, 2));
  s.set(next++, margin(s));
  if (s.rng.chance(40))
    s.set(next, s.integers({classes}, {1, 4}, type));
  s.setInt(next + 1, reduction);
  return true;
}

static bool hingeEmbedding(Sampler &s) {
  DType type = wideFloat(s);
  Shape shape = s.shape(0, 3);
  s.set(0, s.tensor(type, shape));
  s.set(1, signs(s, shape, type));
  s.set(2, margin(s));
  s.setInt(3, s.rng.between(0, 2));
  return true;
}

static bool marginRanking(Sampler &s) {
  DType type = wideFloat(s);
  Shape shape = s.shape(0, 3);
  s.set(0, s.tensor(type, shape));
  s.set(1, s.tensor(type, shape));
  s.set(2, signs(s, shape, type));
  s.set(3, margin(s));
  s.setInt(4, s.rng.between(0, 2));
  return true;
}

static bool cosineEmbedding(Sampler &s) {
  DType type = wideFloat(s);
  Shape rows = s.rng.chance(75) ? Shape{s.rng.between(1, 4)} : Shape{};
  Shape shape = rows;
  shape.push_back(s.rng.between(1, 6));
  s.set(0, s.tensor(type, shape));
  s.set(1, s.tensor(type, shape));
  s.set(2, signs(s, rows, type));
  s.set(3, margin(s));
  s.setInt(4, s.rng.between(0, 2));
  return true;
}

/// (x1, x2, p, eps, keepdim), and (anchor, positive, negative, margin, p, eps,
/// swap, reduction).
static bool rowDistances(Sampler &s) {
  static const double kOrders[] = {2, 2, 1, 3, HUGE_VAL, 0, 1.5};
  DType type = wideFloat(s);
  Shape shape = s.shape(0, 2);
  shape.push_back(s.rng.between(1, 6));
  bool triplet = s.schema.base.starts_with("triplet");
  unsigned next = 0;
  for (; next < (triplet ? 3 : 2); ++next)
    s.set(next, s.tensor(type, shape));
  if (triplet)
    s.set(next++, margin(s));
  s.set(next++, Arg::floating(s.rng.of(kOrders)));
  s.set(next++, Arg::floating(1e-6));
  s.setBool(next++);
  if (triplet)
    s.setInt(next, s.rng.between(0, 2));
  return true;
}

static bool poissonNll(Sampler &s) {
  DType type = wideFloat(s);
  Shape shape = s.shape(0, 3);
  bool logarithm = s.rng.chance(50);
  s.set(0, logarithm ? s.tensor(type, shape) : s.integers(shape, {0, 6}, type));
  s.set(1, s.integers(s.smaller(shape), {0, 6}, type));
  s.set(2, Arg::truth(logarithm));
  s.setBool(3);
  s.set(4, Arg::floating(1e-8));
  s.setInt(5, s.rng.between(0, 2));
  return true;
}

//===----------------------------------------------------------------------===//
// CTC
//===----------------------------------------------------------------------===//

/// ([grad,] log_probs, targets, input_lengths, target_lengths, [losses, alpha,]
/// blank, [reduction,] zero_infinity). Sequences are longer than their targets,
/// mostly.
static bool ctc(Sampler &s) {
  bool backward = s.schema.base.ends_with("backward"),
       lists = !s.schema.overload.starts_with("Tensor"),
       whole = s.rng.chance(40);
  int64_t batch = s.rng.between(1, 3), most = s.rng.between(1, 3),
          steps = 2 * most + s.rng.between(0, 3), classes = s.rng.between(2, 5);
  int64_t blank = s.rng.chance(70) ? 0 : classes - 1;
  DType type = wideFloat(s);
  Shape inputLengths, targetLengths;
  for (int64_t b = 0; b < batch; ++b) {
    targetLengths.push_back(whole || b == 0 ? most : s.rng.between(0, most));
    inputLengths.push_back(whole || b == 0 ? steps
                                           : s.rng.between(most, steps));
  }
  // Logarithms of probabilities.
  int logs = s.integers({steps, batch, classes}, {0, 0}, type);
  Tensor &data = s.program.values[logs].data;
  for (int64_t i = 0, n = data.numel(); i < n; i += classes) {
    std::vector<double> weights;
    double total = 0;
    for (int64_t c = 0; c < classes; ++c)
      total += weights.emplace_back(s.rng.unit() + 0.05);
    for (int64_t c = 0; c < classes; ++c)
      data.setReal(i + c, std::log(weights[c] / total));
  }
  int64_t labels = batch * most;
  Shape targets = {batch, most};
  if (s.rng.chance(30)) { // one after the other
    labels = 0;
    for (int64_t length : targetLengths)
      labels += length;
    targets = {labels};
  }
  unsigned next = 0;
  if (backward)
    s.set(next++, s.tensor(type, {batch}));
  unsigned first = next;
  s.set(next++, logs);
  Range range = blank == 0 ? Range{1, classes - 1} : Range{0, classes - 2};
  s.set(next++, s.integers(targets, range));
  for (const Shape *lengths : {&inputLengths, &targetLengths}) {
    if (lists) {
      s.setInts(next++, *lengths);
      continue;
    }
    int value = s.integers({batch}, {0, 0});
    for (int64_t b = 0; b < batch; ++b)
      s.program.values[value].data.setInteger(b, (*lengths)[b]);
    s.set(next++, value);
  }
  if (backward) { // of the forward call
    const Schema *forward = SchemaTable::get().find(lists ? "_ctc_loss.default"
                                                          : "_ctc_loss.Tensor");
    std::vector<Arg> args(s.args.begin() + first, s.args.begin() + next);
    args.push_back(Arg::integer(blank));
    args.push_back(Arg::truth(false));
    TensorMeta metas[] = {TensorMeta::contiguous(type, {Dim(batch)}),
                          TensorMeta::contiguous(type, {Dim(batch), Dim(steps),
                                                        Dim(2 * most + 1)})};
    std::vector<Tensor> operands;
    for (int operand : s.operands)
      operands.push_back(s.program.values[operand].data);
    interpreter::CallResult result =
        interpreter::evaluate(*forward, args, operands, metas);
    for (Tensor &tensor : result.results)
      s.set(next++, s.constant(std::move(tensor)));
  }
  s.setInt(next++, blank);
  if (s.schema.argIndex("reduction") >= 0)
    s.setInt(next++, s.rng.between(0, 2));
  s.setBool(next);
  return true;
}

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

namespace {
/// Indices and where their bags start.
struct Bags {
  int64_t rows, width, count, bags;
  DType type, index;
  int indices, offsets;

  Bags(Sampler &s, bool last)
      : rows(s.rng.between(1, 6)), width(s.rng.between(1, 6)),
        count(s.rng.between(0, 9)), bags(s.rng.between(1, 4)),
        type(wideFloat(s)), index(s.rng.chance(75) ? DType::I64 : DType::I32) {
    indices = s.integers({count}, {0, rows - 1}, index);
    offsets = s.integers({bags + last}, {0, 0}, index);
    Tensor &data = s.program.values[offsets].data;
    for (int64_t b = 1, at = 0; b < bags; ++b)
      data.setInteger(b, at = s.rng.between(at, count));
    if (last)
      data.setInteger(bags, count);
  }
  int64_t bagOf(Sampler &s, int64_t i) const {
    const Tensor &data = s.program.values[offsets].data;
    int64_t bag = 0;
    for (int64_t b = 1; b < bags; ++b)
      if (data.integer(b) <= i)
        bag = b;
    return bag;
  }
};
} // namespace

/// (weight, indices, offsets, scale_grad_by_freq, mode, sparse,
/// per_sample_weights, include_last_offset, padding_idx)
static bool embeddingBag(Sampler &s) {
  bool last = s.rng.chance(25);
  Bags b(s, last);
  int64_t mode = s.rng.between(0, 2);
  DType type = s.rng.chance(80) ? b.type : s.floatType();
  s.set(0, s.tensor(type, {b.rows, b.width}));
  s.set(1, b.indices);
  s.set(2, b.offsets);
  s.set(3, Arg::truth(false));
  s.setInt(4, mode);
  s.set(5, Arg::truth(false));
  if (mode == 0 && s.rng.chance(40))
    s.set(6, s.tensor(type, {b.count}));
  s.set(7, Arg::truth(last));
  if (s.args.size() > 8 && s.rng.chance(40))
    s.setInt(8, s.rng.between(0, b.rows - 1));
  else if (s.args.size() > 8 && s.schema.overload != "padding_idx")
    s.setInt(8, -1);
  return true;
}

/// (grad, indices, [offsets,] offset2bag, bag_size, maximum_indices,
/// num_weights, scale_grad_by_freq, mode, [sparse,] per_sample_weights,
/// padding_idx)
static bool embeddingBagBackward(Sampler &s) {
  bool dense = s.schema.base.contains("dense");
  Bags b(s, false);
  int64_t mode = s.rng.between(0, 2), padding = -1;
  if (s.rng.chance(30))
    padding = s.rng.between(0, b.rows - 1);
  int bags = s.integers({b.count}, {0, 0}, b.index),
      sizes = s.integers({b.bags}, {0, 0}, b.index);
  for (int64_t i = 0; i < b.count; ++i) {
    int64_t bag = b.bagOf(s, i);
    s.program.values[bags].data.setInteger(i, bag);
    Tensor &data = s.program.values[sizes].data;
    if (s.program.values[b.indices].data.integer(i) != padding)
      data.setInteger(bag, data.integer(bag) + 1);
  }
  unsigned next = 0;
  s.set(next++, s.tensor(b.type, {b.bags, b.width}));
  s.set(next++, b.indices);
  if (!dense)
    s.set(next++, b.offsets);
  s.set(next++, bags);
  s.set(next++, sizes);
  s.set(next++, mode == 2
                    ? s.integers({b.bags, b.width}, {0, b.rows - 1}, b.index)
                    : sizes);
  s.setInt(next++, b.rows);
  s.set(next++, Arg::truth(mode != 2 && s.rng.chance(40)));
  s.setInt(next++, mode);
  if (!dense)
    s.set(next++, Arg::truth(false));
  if (mode == 0 && s.rng.chance(40))
    s.set(next, s.tensor(b.type, {b.count}));
  s.setInt(next + 1, padding);
  return true;
}

/// (grad, weight, indices, offsets, offset2bag, mode, padding_idx)
static bool perSampleBackward(Sampler &s) {
  Bags b(s, false);
  int bags = s.integers({b.count}, {0, 0}, b.index);
  for (int64_t i = 0; i < b.count; ++i)
    s.program.values[bags].data.setInteger(i, b.bagOf(s, i));
  s.set(0, s.tensor(b.type, {b.bags, b.width}));
  s.set(1, s.tensor(b.type, {b.rows, b.width}));
  s.set(2, b.indices);
  s.set(3, b.offsets);
  s.set(4, bags);
  s.setInt(5, 0);
  s.setInt(6, s.rng.chance(60) ? -1 : s.rng.between(0, b.rows - 1));
  return true;
}

static bool embeddingRenorm(Sampler &s) {
  static const double kOrders[] = {2, 1, HUGE_VAL, 3};
  int64_t rows = s.rng.between(1, 6);
  s.set(0, s.tensor(wideFloat(s), {rows, s.rng.between(1, 6)}));
  s.set(1, s.integers(s.shape(0, 2), {0, rows - 1}));
  s.set(2, margin(s));
  s.set(3, Arg::floating(s.rng.of(kOrders)));
  return true;
}

static bool oneHot(Sampler &s) {
  int64_t classes = s.rng.between(1, 6);
  s.set(0, s.integers(s.shape(0, 3), {0, classes - 1}));
  s.setInt(1, classes);
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::lossSamplers() {
  static const SamplerRow rows[] = {
      {"multi_margin_loss multi_margin_loss_backward multilabel_margin_loss "
       "multilabel_margin_loss_forward multilabel_margin_loss_backward",
       classMargin},
      {"hinge_embedding_loss", hingeEmbedding},
      {"margin_ranking_loss", marginRanking},
      {"cosine_embedding_loss", cosineEmbedding},
      {"pairwise_distance triplet_margin_loss", rowDistances},
      {"poisson_nll_loss", poissonNll},
      {"ctc_loss.IntList ctc_loss.Tensor "
       "_ctc_loss_backward _ctc_loss_backward.Tensor",
       ctc},
      {"_embedding_bag _embedding_bag_forward_only embedding_bag "
       "embedding_bag.padding_idx",
       embeddingBag},
      {"_embedding_bag_backward _embedding_bag_dense_backward",
       embeddingBagBackward},
      {"_embedding_bag_per_sample_weights_backward", perSampleBackward},
      {"embedding_renorm", embeddingRenorm},
      {"one_hot", oneHot},
  };
  return rows;
}
