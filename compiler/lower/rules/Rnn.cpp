//===- Rnn.cpp - Lowering of recurrent networks ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each layer and direction the input of all steps is projected at once (one
// product over [T, B]), and the steps follow one after another, unrolled:
//
//   gates = projected[t] + h w_hh^T (+ b_hh)      one kernel
//   h, c  = cell(gates, h, c)                     one kernel
//
// Gates stand in PyTorch's order: i f g o (LSTM), r z n (GRU). Work is in
// [T, B, …]; batch_first only permutes, which costs nothing.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Contract.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ft {

namespace {

using Ints = Dims;

enum class Cell { Lstm, Gru, Tanh, Relu };

/// The weights of one layer in one direction, as ft values; null if absent.
struct Weights {
  Value inputHidden, hiddenHidden, inputBias, hiddenBias, projection;
};

struct State {
  LoweredTensor h, c;
};

} // namespace

static int64_t gatesOf(Cell cell) {
  return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1;
}

static Value sigmoid(ScalarBuilder &s, Value x) {
  return s.div(s.one(x), s.add(s.one(x), s.exp(s.neg(x))));
}

/// Joins row-major tensors along their first dim.
static LoweredTensor concatenate(LowerCall &c, ArrayRef<LoweredTensor> parts,
                                 unsigned dim) {
  if (parts.size() == 1)
    return parts[0];
  SmallVector<Value> values;
  for (const LoweredTensor &t : parts)
    values.push_back(c.toRowMajor(t).value);
  LoweredTensor r = c.toRowMajor(parts[0]);
  r.value =
      tensor::ConcatOp::create(c.builder(), c.loc(), dim, values).getResult();
  Dims sizes = parts[0].dims();
  for (const LoweredTensor &t : parts.drop_front())
    sizes[dim] = sizes[dim] + t.dims()[dim];
  r.setDims(sizes);
  return r;
}

/// x[B, K] w[N, K]^T plus biases, in the opmath dtype, as [B, gates, H]: the
/// cell reads its gates at one place of three or four planes.
static LoweredTensor project(LowerCall &c, LoweredTensor x, Value weight,
                             Value bias1, Value bias2, int64_t gates) {
  LoweredTensor y = linearProduct(c, x, {c.operandOf(weight), weight});
  DType sum = y.dtype;
  SmallVector<LoweredTensor> ins = {y};
  for (Value bias : {bias1, bias2})
    if (bias)
      ins.push_back(c.operandOf(bias));
  if (ins.size() > 1)
    y = c.pointwise(ins, y.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
      Value total = v[0];
      for (size_t i = 1; i < ins.size(); ++i)
        total = s.add(total, s.cast(v[i], ins[i].dtype, sum));
      return total;
    });
  c.newGroup();
  Ints sizes = y.dims();
  Dim width = sizes.back();
  sizes.back() = gates;
  sizes.push_back(floorDiv(width, gates));
  return c.reshape(y, sizes);
}

/// One step: `x` and `recurrent` are the two projections [B, gates, H] in the
/// opmath dtype.
static State step(LowerCall &c, Cell cell, LoweredTensor x,
                  LoweredTensor recurrent, const State &old, DType dtype) {
  DType sum = x.dtype;
  Ints sizes = x.dims();
  Dim batch = sizes[0], hidden = sizes[2];
  int64_t gates = sizes[1].value();
  SmallVector<AffineExpr, 6> at = {c.dim(0), c.dim(1)};
  SmallVector<Access> ins;
  for (const LoweredTensor *t : {&x, &recurrent})
    for (int64_t g = 0; g < gates; ++g)
      ins.push_back({*t, {c.dim(0), c.constant(g), c.dim(1)}});
  bool lstm = cell == Cell::Lstm;
  if (cell == Cell::Gru)
    ins.push_back({old.h, at});
  if (lstm)
    ins.push_back({old.c, at});
  SmallVector<Access> outs(lstm ? 2 : 1,
                           Access{c.empty({batch, hidden}, dtype), at});
  SmallVector<LoweredTensor> r = c.generic(
      ins, outs, {Iterator::Parallel, Iterator::Parallel},
      [&](ScalarBuilder &s, ValueRange v) -> SmallVector<Value> {
        auto gate = [&](int64_t g) { return s.add(v[g], v[gates + g]); };
        auto given = [&] { return s.cast(v[2 * gates], dtype, sum); };
        auto result = [&](Value y) { return s.cast(y, sum, dtype); };
        switch (cell) {
        case Cell::Lstm: {
          Value i = sigmoid(s, gate(0)), f = sigmoid(s, gate(1));
          Value g = s.tanh(gate(2)), o = sigmoid(s, gate(3));
          Value next = s.add(s.mul(f, given()), s.mul(i, g));
          return {result(s.mul(o, s.tanh(next))), result(next)};
        }
        case Cell::Gru: {
          Value reset = sigmoid(s, gate(0)), z = sigmoid(s, gate(1));
          Value n = s.tanh(s.add(v[2], s.mul(reset, v[5])));
          return {result(s.add(n, s.mul(z, s.sub(given(), n))))};
        }
        case Cell::Tanh:
          return {result(s.tanh(gate(0)))};
        case Cell::Relu:
          return {result(s.maximum(gate(0), s.zero(v[0])))};
        }
        llvm_unreachable("all cells are handled");
      });
  c.newGroup();
  return {r[0], lstm ? r[1] : LoweredTensor()};
}

/// One layer in one direction over x[T, B, K]; y[T, B, H] in `output`.
static State runLayer(LowerCall &c, Cell cell, LoweredTensor x,
                      const Weights &w, State state, bool reverse, DType dtype,
                      LoweredTensor &output) {
  int64_t gates = gatesOf(cell), steps = x.dims()[0].value();
  // Only GRU needs the two biases apart: one stands inside the reset gate.
  bool apart = cell == Cell::Gru;
  LoweredTensor all = project(c, x, w.inputHidden, w.inputBias,
                              apart ? Value() : w.hiddenBias, gates);
  Ints sizes = all.dims();
  SmallVector<LoweredTensor> outputs(steps);
  for (int64_t i = 0; i < steps; ++i) {
    int64_t t = reverse ? steps - 1 - i : i;
    LoweredTensor now =
        c.reshape(c.slice(all, 0, t, 1), {sizes[1], sizes[2], sizes[3]});
    LoweredTensor recurrent =
        project(c, state.h, w.hiddenHidden, apart ? w.hiddenBias : Value(),
                Value(), gates);
    state = step(c, cell, now, recurrent, state, dtype);
    if (w.projection) {
      LoweredTensor h =
          linearProduct(c, state.h, {c.operandOf(w.projection), w.projection});
      state.h = c.cast(h, dtype);
      c.newGroup();
    }
    Ints one = state.h.dims();
    one.insert(one.begin(), 1);
    outputs[t] = c.reshape(state.h, one);
  }
  output = concatenate(c, outputs, 0);
  c.newGroup();
  return state;
}

/// All layers and directions. Arguments: input, hx (one tensor, or h and c),
/// params, has_biases, num_layers, dropout, train, bidirectional, batch_first.
static LogicalResult network(LowerCall &c, Cell cell) {
  bool lstm = cell == Cell::Lstm;
  bool biased = c.flag(3), bidirectional = c.flag(7), batchFirst = c.flag(8);
  int64_t layers = c.integer(4), directions = bidirectional ? 2 : 1;
  if (c.flag(6) && c.number(5) != 0 && layers > 1)
    return c.unsupported("dropout between layers");
  // Steps are unrolled.
  LoweredTensor sequence = c.operand(0);
  unsigned time = sequence.rank() == 3 && batchFirst ? 1 : 0;
  if (!sequence.dims()[time].isStatic())
    return c.unsupported("a number of steps that is only known at run time");
  DType dtype = c.resultMeta(0).dtype;
  LoweredTensor x = c.operand(0);
  SmallVector<Value, 4> params = c.call().tensors(2);
  LoweredTensor h, cell0;
  if (lstm) {
    SmallVector<Value, 4> given = c.call().tensors(1);
    h = c.operandOf(given[0]);
    cell0 = c.operandOf(given[1]);
  } else {
    h = c.operand(1);
  }
  bool unbatched = x.rank() == 2;
  auto addBatch = [&](LoweredTensor t) {
    Ints sizes = t.dims();
    return c.reshape(t, {sizes[0], 1, sizes[1]});
  };
  if (unbatched) {
    x = addBatch(x);
    h = addBatch(h);
    if (lstm)
      cell0 = addBatch(cell0);
  } else if (batchFirst) {
    x = c.permute(x, {1, 0, 2});
  }
  size_t perLayer = params.size() / static_cast<size_t>(layers * directions);
  bool projected = perLayer == (biased ? 5u : 3u);

  SmallVector<LoweredTensor> lastH, lastC;
  for (int64_t layer = 0; layer < layers; ++layer) {
    SmallVector<LoweredTensor> outputs(directions);
    for (int64_t direction = 0; direction < directions; ++direction) {
      int64_t n = layer * directions + direction;
      ArrayRef<Value> own =
          ArrayRef<Value>(params).slice(n * perLayer, perLayer);
      Weights w{own[0], own[1], biased ? own[2] : Value(),
                biased ? own[3] : Value(), projected ? own.back() : Value()};
      auto initial = [&](LoweredTensor t) {
        Ints sizes = t.dims();
        return c.reshape(c.slice(t, 0, n, 1), {sizes[1], sizes[2]});
      };
      State state{initial(h), lstm ? initial(cell0) : LoweredTensor()};
      state = runLayer(c, cell, x, w, state, direction == 1, dtype,
                       outputs[direction]);
      auto keep = [&](LoweredTensor t) {
        Ints sizes = t.dims();
        return c.reshape(t, {1, sizes[0], sizes[1]});
      };
      lastH.push_back(keep(state.h));
      if (lstm)
        lastC.push_back(keep(state.c));
    }
    x = concatenate(c, outputs, 2);
    c.newGroup();
  }
  LoweredTensor finalH = concatenate(c, lastH, 0), finalC;
  if (lstm)
    finalC = concatenate(c, lastC, 0);
  if (unbatched) {
    auto dropBatch = [&](LoweredTensor t) {
      Ints sizes = t.dims();
      return c.reshape(t, {sizes[0], sizes[2]});
    };
    x = dropBatch(x);
    finalH = dropBatch(finalH);
    if (lstm)
      finalC = dropBatch(finalC);
  } else if (batchFirst) {
    x = c.permute(x, {1, 0, 2});
  }
  c.setResult(0, x);
  c.setResult(1, finalH);
  if (lstm)
    c.setResult(2, finalC);
  return success();
}

template <Cell cell>
static LogicalResult sequence(LowerCall &c) {
  return network(c, cell);
}

/// One step: (input, hx, w_ih, w_hh, b_ih, b_hh).
template <Cell cell>
static LogicalResult single(LowerCall &c) {
  bool lstm = cell == Cell::Lstm;
  LoweredTensor x = c.operand(0);
  State state;
  if (lstm) {
    SmallVector<Value, 4> given = c.call().tensors(1);
    state = {c.operandOf(given[0]), c.operandOf(given[1])};
  } else {
    state.h = c.operand(1);
  }
  bool unbatched = x.rank() == 1;
  auto addBatch = [&](LoweredTensor t) {
    return t.value ? c.reshape(t, {1, t.dims()[0]}) : t;
  };
  if (unbatched) {
    x = addBatch(x);
    state = {addBatch(state.h), addBatch(state.c)};
  }
  const AtenCall &call = c.call();
  LoweredTensor input =
      project(c, x, call.tensor(2), call.tensor(4), Value(), gatesOf(cell));
  LoweredTensor recurrent = project(c, state.h, call.tensor(3), call.tensor(5),
                                    Value(), gatesOf(cell));
  state = step(c, cell, input, recurrent, state, c.resultMeta(0).dtype);
  if (unbatched) {
    state.h = c.reshape(state.h, {state.h.dims()[1]});
    if (lstm)
      state.c = c.reshape(state.c, {state.c.dims()[1]});
  }
  c.setResult(0, state.h);
  if (lstm)
    c.setResult(1, state.c);
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("gru.input", sequence<Cell::Gru>),
    anyShape("gru_cell.default", single<Cell::Gru>),
    anyShape("lstm.input", sequence<Cell::Lstm>),
    anyShape("lstm_cell.default", single<Cell::Lstm>),
    anyShape("rnn_relu.input", sequence<Cell::Relu>),
    anyShape("rnn_relu_cell.default", single<Cell::Relu>),
    anyShape("rnn_tanh.input", sequence<Cell::Tanh>),
    anyShape("rnn_tanh_cell.default", single<Cell::Tanh>),
};

ArrayRef<LowerRuleRow> rnnLowerRules() { return kRows; }

} // namespace ft
