//===- RnnBackward.cpp - Gradients of recurrent cells ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of a cell, from the gates before their activations:
//
//   LSTM   cy = f cx + i g, hy = o tanh(cy)
//   GRU    n = tanh(n_in + r n_hidden), hy = (1 - z) n + z hx
//
// Gates stand side by side in PyTorch's order: i f g o, and r z n.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Reducing.h"

using namespace mlir;

namespace ft {

using Ints = SmallVector<int64_t, 6>;

/// Inside a body: the elements of the gates of one cell.
namespace {
class Gates {
public:
  Gates(LowerCall &c, unsigned gates, unsigned bias, int64_t width)
      : gates(c.operand(gates)), work(opmathType(this->gates.dtype)),
        width(width) {
    if (!c.isNone(bias))
      this->bias = c.operand(bias);
  }
  /// Gate k of cell [row, column].
  Value at(ScalarBuilder &s, Value row, Value column, int64_t k) const {
    Value place = s.add(column, s.constantInt(column.getType(), k * width));
    Value v = s.cast(readAt(s, gates, {row, place}), gates.dtype, work);
    if (bias)
      v = s.add(v, s.cast(readAt(s, *bias, place), bias->dtype, work));
    return v;
  }

private:
  LoweredTensor gates;
  std::optional<LoweredTensor> bias;
  DType work;
  int64_t width;
};
} // namespace

static Value sigmoid(ScalarBuilder &s, Value x) {
  return s.div(s.one(x), s.add(s.one(x), s.exp(s.neg(x))));
}
/// The slopes of sigmoid and tanh in terms of their values.
static Value sigmoidSlope(ScalarBuilder &s, Value y) {
  return s.mul(s.sub(s.one(y), y), y);
}
static Value tanhSlope(ScalarBuilder &s, Value y) {
  return s.sub(s.one(y), s.mul(y, y));
}

/// A tensor [rows, parts * width] whose part k is `part(k)` of the cell.
static LoweredTensor
sideBySide(LowerCall &c, int64_t rows, int64_t width, int64_t parts,
           DType dtype,
           llvm::function_ref<SmallVector<Value>(ScalarBuilder &, Value row,
                                                 Value column)>
               cell) {
  return generate(c, {rows, parts * width}, dtype,
                  [&](ScalarBuilder &s, ArrayRef<Value> at) {
                    Value n = s.constantInt(at[1].getType(), width);
                    Value part = s.div(at[1], n);
                    SmallVector<Value> all =
                        cell(s, at[0], s.sub(at[1], s.mul(part, n)));
                    Value result = all[0];
                    for (size_t k = 1; k < all.size(); ++k)
                      result = s.select(s.cmp(ScalarBuilder::Cmp::Eq, part,
                                              s.constantInt(part.getType(), k)),
                                        all[k], result);
                    return result;
                  });
}

/// Sets result r to the sum over the batch, or to nothing without bias.
static void setBias(LowerCall &c, unsigned r, LoweredTensor gates, bool wanted,
                    DType dtype) {
  if (wanted)
    c.setResult(r, c.cast(sumOf(c, gates, 0U, false, gates.dtype), dtype));
}

/// (grad_hy, grad_cy, input_gates, hidden_gates, input_bias, hidden_bias, cx,
/// cy) -> gradients of both gates (equal), of cx, of both biases.
static LogicalResult lstmCell(LowerCall &c) {
  LoweredTensor cx = c.operand(6), cy = c.operand(7);
  int64_t rows = cx.sizes()[0], width = cx.sizes()[1];
  DType dtype = c.resultMeta(0).dtype, work = opmathType(dtype);
  Gates in(c, 2, 4, width), hidden(c, 3, 5, width);
  auto slopes = [&](ScalarBuilder &s, Value row,
                    Value column) -> SmallVector<Value> {
    auto read = [&](const LoweredTensor &t) {
      return s.cast(readAt(s, t, {row, column}), t.dtype, work);
    };
    auto gate = [&](int64_t k) {
      return s.add(in.at(s, row, column, k), hidden.at(s, row, column, k));
    };
    Value i = sigmoid(s, gate(0)), f = sigmoid(s, gate(1));
    Value g = s.tanh(gate(2)), o = sigmoid(s, gate(3));
    Value t = s.tanh(read(cy)), slope = s.zero(t), ofO = s.zero(t);
    if (!c.isNone(0)) {
      Value gradHy = read(c.operand(0));
      ofO = s.mul(gradHy, t);
      slope = s.mul(s.mul(gradHy, o), tanhSlope(s, t));
    }
    if (!c.isNone(1))
      slope = s.add(slope, read(c.operand(1)));
    return {s.mul(s.mul(slope, g), sigmoidSlope(s, i)),
            s.mul(s.mul(slope, read(cx)), sigmoidSlope(s, f)),
            s.mul(s.mul(slope, i), tanhSlope(s, g)),
            s.mul(ofO, sigmoidSlope(s, o)), s.mul(slope, f)};
  };
  LoweredTensor gates = sideBySide(
      c, rows, width, 4, work, [&](ScalarBuilder &s, Value row, Value column) {
        SmallVector<Value> all = slopes(s, row, column);
        all.pop_back();
        return all;
      });
  c.newGroup();
  c.setResult(0, c.cast(gates, dtype));
  c.setResult(1, c.cast(gates, dtype));
  c.setResult(2, generate(c, {rows, width}, c.resultMeta(2).dtype,
                          [&](ScalarBuilder &s, ArrayRef<Value> at) {
                            return s.cast(slopes(s, at[0], at[1]).back(), work,
                                          c.resultMeta(2).dtype);
                          }));
  c.newGroup();
  setBias(c, 3, gates, !c.isNone(4), dtype);
  setBias(c, 4, gates, !c.isNone(4), dtype);
  return success();
}

/// (grad_hy, input_gates, hidden_gates, hx, input_bias, hidden_bias) ->
/// gradients of both gates, of hx, of both biases.
static LogicalResult gruCell(LowerCall &c) {
  LoweredTensor grad = c.operand(0), hx = c.operand(3);
  int64_t rows = hx.sizes()[0], width = hx.sizes()[1];
  DType dtype = c.resultMeta(0).dtype, work = opmathType(dtype);
  Gates in(c, 1, 4, width), hidden(c, 2, 5, width);
  /// Of r, z, the input's n, the hidden n, hx.
  auto slopes = [&](ScalarBuilder &s, Value row,
                    Value column) -> SmallVector<Value> {
    auto read = [&](const LoweredTensor &t) {
      return s.cast(readAt(s, t, {row, column}), t.dtype, work);
    };
    auto both = [&](int64_t k) {
      return s.add(in.at(s, row, column, k), hidden.at(s, row, column, k));
    };
    Value r = sigmoid(s, both(0)), z = sigmoid(s, both(1));
    Value old = hidden.at(s, row, column, 2), g = read(grad);
    Value n = s.tanh(s.add(in.at(s, row, column, 2), s.mul(r, old)));
    Value ofZ = s.mul(s.mul(g, s.sub(read(hx), n)), sigmoidSlope(s, z));
    Value ofN = s.mul(s.mul(g, s.sub(s.one(z), z)), tanhSlope(s, n));
    return {s.mul(s.mul(ofN, old), sigmoidSlope(s, r)), ofZ, ofN, s.mul(ofN, r),
            s.mul(g, z)};
  };
  LoweredTensor gates[2];
  for (unsigned side : {0U, 1U}) {
    gates[side] = sideBySide(
        c, rows, width, 3, work,
        [&](ScalarBuilder &s, Value row, Value column) -> SmallVector<Value> {
          SmallVector<Value> all = slopes(s, row, column);
          return {all[0], all[1], all[2 + side]};
        });
    c.newGroup();
    c.setResult(side, c.cast(gates[side], dtype));
  }
  c.setResult(2, generate(c, {rows, width}, c.resultMeta(2).dtype,
                          [&](ScalarBuilder &s, ArrayRef<Value> at) {
                            return s.cast(slopes(s, at[0], at[1]).back(), work,
                                          c.resultMeta(2).dtype);
                          }));
  c.newGroup();
  setBias(c, 3, gates[0], !c.isNone(4), dtype);
  setBias(c, 4, gates[1], !c.isNone(5), dtype);
  return success();
}

ArrayRef<LowerRuleRow> rnnBackwardLowerRules() {
  static const LowerRuleRow rows[] = {
      {"_thnn_differentiable_gru_cell_backward.default", gruCell},
      {"_thnn_differentiable_lstm_cell_backward.default", lstmCell},
  };
  return rows;
}

} // namespace ft
