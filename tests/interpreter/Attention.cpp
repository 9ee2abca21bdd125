//===- Attention.cpp - Scaled dot product attention -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Finite.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

/// softmax(scale Q Kᵀ + mask) V for [B…, L, E], [B…, S, E], [B…, S, Ev]; a row
/// with nothing to attend to has weights of 0, and 0 times an infinite value is
/// NaN. A mask of booleans selects, but the math form adds it as numbers. The
/// flash form also gives the logarithm of each row's sum of exponentials.
static void attention(Call &call) {
  const Tensor &q = call.tensor(0), &k = call.tensor(1), &v = call.tensor(2);
  auto position = [&](llvm::StringRef name) {
    return static_cast<unsigned>(call.schema.argIndex(name));
  };
  const Tensor *mask = call.optTensor(position("attn_mask"));
  if (call.number(position("dropout_p")) != 0)
    return call.open("dropout");
  for (const Tensor &operand : call.operands)
    for (int64_t i = 0, n = operand.numel(); i < n; ++i)
      if (std::isnan(operand.real(i)) || operand.real(i) == HUGE_VAL)
        return call.open("attention to infinities");
  bool causal = call.flag(position("is_causal"));
  Tensor &out = call.out();
  size_t rank = q.shape.size();
  int64_t length = q.shape[rank - 2], width = q.shape[rank - 1];
  int64_t keys = k.shape[rank - 2], values = v.shape[rank - 1];
  double scale = call.has(position("scale")) ? call.number(position("scale"))
                                             : 1 / std::sqrt(double(width));
  Shape batch(out.shape.begin(), out.shape.end() - 2);
  Shape batchK(k.shape.begin(), k.shape.end() - 2);
  Shape batchV(v.shape.begin(), v.shape.end() - 2);
  Shape batchQ(q.shape.begin(), q.shape.end() - 2);
  int gqa = call.schema.argIndex("enable_gqa");
  int64_t repeats = gqa >= 0 && call.flag(gqa) && batchK.size()
                        ? q.shape[rank - 3] / k.shape[rank - 3]
                        : 1;
  forEachIndex(batch, [&](Index index, int64_t b) {
    Shape shared(index.begin(), index.end());
    if (repeats > 1)
      shared.back() /= repeats;
    int64_t qb = flattenBroadcast(batchQ, index) * length * width;
    int64_t kb = flattenBroadcast(batchK, shared) * keys * width;
    int64_t vb = flattenBroadcast(batchV, shared) * keys * values;
    for (int64_t i = 0; i < length; ++i) {
      std::vector<double> scores(keys);
      double most = -HUGE_VAL, total = 0;
      for (int64_t j = 0; j < keys; ++j) {
        double sum = 0;
        for (int64_t e = 0; e < width; ++e)
          sum += q.real(qb + i * width + e) * k.real(kb + j * width + e);
        sum *= scale;
        if (causal && j > i)
          sum = -HUGE_VAL;
        if (mask) {
          Shape at(index.begin(), index.end());
          at.push_back(i);
          at.push_back(j);
          int64_t m = flattenBroadcast(mask->shape, at);
          if (mask->dtype != DType::Bool || call.base().ends_with("_math"))
            sum += mask->real(m);
          else if (!mask->integer(m))
            sum = -HUGE_VAL;
        }
        scores[j] = sum;
        most = std::isnan(sum) ? sum : std::max(most, sum);
      }
      for (double score : scores)
        total += std::exp(score - most);
      bool nothing = most == -HUGE_VAL;
      for (int64_t e = 0; e < values; ++e) {
        double sum = 0;
        for (int64_t j = 0; j < keys; ++j)
          sum += (nothing ? 0 : std::exp(scores[j] - most) / total) *
                 v.real(vb + j * values + e);
        out.setReal((b * length + i) * values + e, sum);
      }
      if (call.base().ends_with("_math"))
        for (int64_t j = 0; j < keys; ++j)
          call.out(1).setReal((b * length + i) * keys + j,
                              nothing ? 0 : std::exp(scores[j] - most) / total);
      else if (call.results.size() > 1)
        call.out(1).setReal(b * length + i,
                            nothing ? 0 : most + std::log(total));
    }
  });
}

/// (grad, query, key, value, out, logsumexp, dropout, causal, mask, scale):
/// with P = exp(scale Q Kᵀ + mask - logsumexp) and D = Σ grad out of each row,
///
///   dV = Pᵀ grad    dS = P (grad Vᵀ - D)    dQ = scale dS K    dK = scale dSᵀ
///   Q
static void attentionBackward(Call &call) {
  openIfNotFinite(call, "attention to infinities");
  const Tensor &grad = call.tensor(0), &q = call.tensor(1), &k = call.tensor(2),
               &v = call.tensor(3), &out = call.tensor(4),
               &logs = call.tensor(5);
  const Tensor *mask = call.optTensor(8);
  int64_t length = q.shape[2], width = q.shape[3], keys = k.shape[2];
  double scale = call.has(9) ? call.number(9) : 1 / std::sqrt(double(width));
  std::vector<double> dq(q.numel()), dk(k.numel()), dv(v.numel());
  Shape batch(q.shape.begin(), q.shape.begin() + 2);
  forEachIndex(batch, [&](Index index, int64_t b) {
    for (int64_t i = 0; i < length; ++i) {
      int64_t row = (b * length + i) * width;
      double total = 0;
      for (int64_t e = 0; e < width; ++e)
        total += grad.real(row + e) * out.real(row + e);
      for (int64_t j = 0; j < keys; ++j) {
        if (call.flag(7) && j > i)
          continue;
        int64_t column = (b * keys + j) * width;
        double score = 0, product = 0;
        for (int64_t e = 0; e < width; ++e) {
          score += q.real(row + e) * k.real(column + e);
          product += grad.real(row + e) * v.real(column + e);
        }
        score *= scale;
        if (mask)
          score += mask->real(
              flattenBroadcast(mask->shape, {index[0], index[1], i, j}));
        double p = std::exp(score - logs.real(b * length + i));
        double ds = p * (product - total) * scale;
        for (int64_t e = 0; e < width; ++e) {
          dv[column + e] += p * grad.real(row + e);
          dq[row + e] += ds * k.real(column + e);
          dk[column + e] += ds * q.real(row + e);
        }
      }
    }
  });
  for (size_t i = 0; i < dq.size(); ++i)
    call.out(0).setReal(i, dq[i]);
  for (size_t i = 0; i < dk.size(); ++i) {
    call.out(1).setReal(i, dk[i]);
    call.out(2).setReal(i, dv[i]);
  }
}

/// (qkv [B, T, 3 D], bias [3 D], heads): three tensors [B, heads, T, D /
/// heads], queries scaled.
static void splitHeads(Call &call) {
  const Tensor &qkv = call.tensor(0), &bias = call.tensor(1);
  for (unsigned r = 0; r < 3; ++r)
    forEachIndex(call.out(r).shape, [&](Index index, int64_t flat) {
      const Shape &shape = call.out(r).shape;
      int64_t width = shape[3], all = 3 * shape[1] * width;
      int64_t column = r * shape[1] * width + index[1] * width + index[3];
      double x = qkv.real((index[0] * shape[2] + index[2]) * all + column) +
                 bias.real(column);
      call.out(r).setReal(flat, r == 0 ? x / std::sqrt(double(width)) : x);
    });
}

llvm::ArrayRef<OpRow> ft::interpreter::attentionOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"scaled_dot_product_attention.default", attention, Accumulated},
      {"_scaled_dot_product_flash_attention_for_cpu.default", attention,
       Accumulated},
      {"_scaled_dot_product_attention_math.default", attention, Accumulated},
      {"_scaled_dot_product_flash_attention_for_cpu_backward.default",
       attentionBackward, Accumulated},
      {"_transform_bias_rescale_qkv.default", splitHeads, Accumulated},
  };
  return rows;
}
