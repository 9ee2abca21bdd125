//===- Rnn.cpp - Recurrent cells and layers -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Finite.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

namespace {
enum class Kind : uint8_t { Relu, Tanh, Lstm, Gru };

/// The weights of one direction of one layer.
struct Weights {
  const Tensor *input = nullptr, *hidden = nullptr, *inputBias = nullptr,
               *hiddenBias = nullptr, *projection = nullptr;
};

/// What a cell keeps of one sequence.
struct State {
  std::vector<double> h, c;
};
} // namespace

static Kind kindOf(const Call &call) {
  llvm::StringRef base = call.base();
  return base.starts_with("lstm")       ? Kind::Lstm
         : base.starts_with("gru")      ? Kind::Gru
         : base.starts_with("rnn_relu") ? Kind::Relu
                                        : Kind::Tanh;
}

/// W x + b
static std::vector<double> gatesOf(const Tensor &weight, const Tensor *bias,
                                   const std::vector<double> &x) {
  std::vector<double> gates;
  int64_t n = weight.shape[1];
  for (int64_t i = 0; i < weight.shape[0]; ++i) {
    double sum = bias ? bias->real(i) : 0;
    for (int64_t k = 0; k < n; ++k)
      sum += weight.real(i * n + k) * x[k];
    gates.push_back(sum);
  }
  return gates;
}

static State cell(Kind kind, const Weights &w, const std::vector<double> &x,
                  const State &old) {
  std::vector<double> a = gatesOf(*w.input, w.inputBias, x),
                      b = gatesOf(*w.hidden, w.hiddenBias, old.h);
  size_t n = kind == Kind::Lstm  ? a.size() / 4
             : kind == Kind::Gru ? a.size() / 3
                                 : a.size();
  State now;
  for (size_t i = 0; i < n; ++i) {
    switch (kind) {
    case Kind::Relu: {
      double z = a[i] + b[i];
      now.h.push_back(z < 0 ? 0 : z);
      break;
    }
    case Kind::Tanh:
      now.h.push_back(std::tanh(a[i] + b[i]));
      break;
    case Kind::Lstm: { // in, forget, new, out
      double in = sigmoid(a[i] + b[i]), forget = sigmoid(a[n + i] + b[n + i]),
             fresh = std::tanh(a[2 * n + i] + b[2 * n + i]),
             out = sigmoid(a[3 * n + i] + b[3 * n + i]);
      now.c.push_back(forget * old.c[i] + in * fresh);
      now.h.push_back(out * std::tanh(now.c[i]));
      break;
    }
    case Kind::Gru: { // reset, keep, new
      double reset = sigmoid(a[i] + b[i]), keep = sigmoid(a[n + i] + b[n + i]),
             fresh = std::tanh(a[2 * n + i] + reset * b[2 * n + i]);
      now.h.push_back((1 - keep) * fresh + keep * old.h[i]);
      break;
    }
    }
  }
  if (w.projection)
    now.h = gatesOf(*w.projection, nullptr, now.h);
  return now;
}

static std::vector<double> rowOf(const Tensor &x, int64_t row) {
  std::vector<double> values;
  for (int64_t n = x.shape.back(), k = 0; k < n; ++k)
    values.push_back(x.real(row * n + k));
  return values;
}

static void store(Tensor &out, int64_t at, const std::vector<double> &values) {
  for (size_t k = 0; k < values.size(); ++k)
    out.setReal(at + k, values[k]);
}

/// (input, hx, w_ih, w_hh, b_ih, b_hh); hx of an LSTM is a list of two.
static void oneCell(Call &call) {
  openIfNotFinite(call, "an infinite state and a gate that underflows");
  Kind kind = kindOf(call);
  Weights w = {call.optTensor(2), call.optTensor(3), call.optTensor(4),
               call.optTensor(5), nullptr};
  const Tensor &x = call.tensor(0);
  std::vector<const Tensor *> states;
  if (kind == Kind::Lstm)
    states = call.tensors(1);
  else
    states = {call.optTensor(1)};
  int64_t width = states[0]->shape.back();
  for (int64_t row = 0, n = x.rank() == 2 ? x.shape[0] : 1; row < n; ++row) {
    State old = {rowOf(*states[0], row), {}};
    if (kind == Kind::Lstm)
      old.c = rowOf(*states[1], row);
    State now = cell(kind, w, rowOf(x, row), old);
    store(call.out(0), row * width, now.h);
    if (kind == Kind::Lstm)
      store(call.out(1), row * width, now.c);
  }
}

/// (input [T, B, I], hx [layers and directions, B, H], params, has_biases,
/// num_layers, dropout, train, bidirectional, batch_first): all outputs of the
/// last layer, and the last states.
static void layers(Call &call) {
  openIfNotFinite(call, "an infinite state and a gate that underflows");
  Kind kind = kindOf(call);
  const Tensor &input = call.tensor(0);
  std::vector<const Tensor *> states, params = call.tensors(2);
  if (kind == Kind::Lstm)
    states = call.tensors(1);
  else
    states = {call.optTensor(1)};
  bool biases = call.flag(3), batchFirst = call.flag(8);
  int64_t count = call.integer(4), directions = call.flag(7) ? 2 : 1;
  if (call.number(5) != 0 && call.flag(6))
    return call.open("dropout");
  int64_t steps = input.shape[batchFirst ? 1 : 0],
          batch = input.shape[batchFirst ? 0 : 1];
  bool projected =
      kind == Kind::Lstm && states[0]->shape[2] != states[1]->shape[2];
  auto rowAt = [&](int64_t t, int64_t b) {
    return batchFirst ? b * steps + t : t * batch + b;
  };
  size_t next = 0;
  // Of the layer below, for each step and sequence.
  std::vector<std::vector<double>> below(steps * batch);
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t b = 0; b < batch; ++b)
      below[t * batch + b] = rowOf(input, rowAt(t, b));
  for (int64_t layer = 0; layer < count; ++layer) {
    std::vector<std::vector<double>> above(steps * batch);
    for (int64_t d = 0; d < directions; ++d) {
      Weights w;
      w.input = params[next++];
      w.hidden = params[next++];
      if (biases) {
        w.inputBias = params[next++];
        w.hiddenBias = params[next++];
      }
      if (projected)
        w.projection = params[next++];
      for (int64_t b = 0; b < batch; ++b) {
        int64_t row = (layer * directions + d) * batch + b;
        State state = {rowOf(*states[0], row), {}};
        if (kind == Kind::Lstm)
          state.c = rowOf(*states[1], row);
        for (int64_t k = 0; k < steps; ++k) {
          int64_t t = d == 0 ? k : steps - 1 - k;
          state = cell(kind, w, below[t * batch + b], state);
          std::vector<double> &to = above[t * batch + b];
          to.insert(to.end(), state.h.begin(), state.h.end());
        }
        store(call.out(1), row * int64_t(state.h.size()), state.h);
        if (kind == Kind::Lstm)
          store(call.out(2), row * int64_t(state.c.size()), state.c);
      }
    }
    below = above;
  }
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t b = 0; b < batch; ++b)
      store(call.out(0), rowAt(t, b) * call.out(0).shape[2],
            below[t * batch + b]);
}

/// The derivative of a gate that is nearly shut is a difference of two near
/// numbers, of which the rounding is all that is left.
static void openIfSaturated(Call &call, double x) {
  if (!(std::abs(x) < 5))
    call.open("the derivative of a saturated gate");
}

/// Column `k` of the gates of row `row`: a sum of what is there.
static double gate(llvm::ArrayRef<const Tensor *> gates,
                   llvm::ArrayRef<const Tensor *> biases, int64_t row,
                   int64_t k) {
  double sum = 0;
  for (const Tensor *t : gates)
    sum += t->real(row * t->shape[1] + k);
  for (const Tensor *t : biases)
    if (t)
      sum += t->real(k);
  return sum;
}

/// Sums of columns.
static void storeBias(Tensor &out, const std::vector<double> &sums) {
  for (size_t k = 0; k < sums.size() && out.numel(); ++k)
    out.setReal(k, sums[k]);
}

/// (grad_hy, grad_cy, input_gates, hidden_gates, input_bias, hidden_bias, cx,
/// cy): of the gates (twice), cx, the biases (twice).
static void lstmCellBackward(Call &call) {
  const Tensor *gradH = call.optTensor(0), *gradC = call.optTensor(1);
  const Tensor &cx = call.tensor(6), &cy = call.tensor(7);
  int64_t n = cx.shape[1];
  std::vector<double> bias(4 * n);
  for (int64_t row = 0; row < cx.shape[0]; ++row)
    for (int64_t i = 0; i < n; ++i) {
      auto at = [&](int64_t g) {
        return gate({&call.tensor(2), &call.tensor(3)},
                    {call.optTensor(4), call.optTensor(5)}, row, g * n + i);
      };
      double in = sigmoid(at(0)), forget = sigmoid(at(1)),
             fresh = std::tanh(at(2)), out = sigmoid(at(3));
      for (int64_t g = 0; g < 4; ++g)
        openIfSaturated(call, at(g));
      openIfSaturated(call, cy.real(row * n + i));
      double t = std::tanh(cy.real(row * n + i));
      double gh = gradH ? gradH->real(row * n + i) : 0;
      double gc =
          gh * out * (1 - t * t) + (gradC ? gradC->real(row * n + i) : 0);
      double gates[] = {gc * fresh * in * (1 - in),
                        gc * cx.real(row * n + i) * forget * (1 - forget),
                        gc * in * (1 - fresh * fresh),
                        gh * t * out * (1 - out)};
      for (int64_t g = 0; g < 4; ++g) {
        for (unsigned r : {0, 1})
          call.out(r).setReal(row * 4 * n + g * n + i, gates[g]);
        bias[g * n + i] += gates[g];
      }
      call.out(2).setReal(row * n + i, gc * forget);
    }
  storeBias(call.out(3), bias);
  storeBias(call.out(4), bias);
}

/// (grad_hy, input_gates, hidden_gates, hx, input_bias, hidden_bias): of both
/// gates, hx, both biases.
static void gruCellBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &hx = call.tensor(3);
  int64_t n = hx.shape[1];
  std::vector<double> biasA(3 * n), biasB(3 * n);
  for (int64_t row = 0; row < hx.shape[0]; ++row)
    for (int64_t i = 0; i < n; ++i) {
      auto a = [&](int64_t g) {
        return gate({&call.tensor(1)}, {call.optTensor(4)}, row, g * n + i);
      };
      auto b = [&](int64_t g) {
        return gate({&call.tensor(2)}, {call.optTensor(5)}, row, g * n + i);
      };
      double reset = sigmoid(a(0) + b(0)), keep = sigmoid(a(1) + b(1)),
             fresh = std::tanh(a(2) + reset * b(2)), g = grad.real(row * n + i);
      openIfSaturated(call, a(0) + b(0));
      openIfSaturated(call, a(1) + b(1));
      openIfSaturated(call, a(2) + reset * b(2));
      double gk = g * (hx.real(row * n + i) - fresh) * keep * (1 - keep),
             gn = g * (1 - keep) * (1 - fresh * fresh),
             gr = gn * b(2) * reset * (1 - reset);
      double gatesA[] = {gr, gk, gn}, gatesB[] = {gr, gk, gn * reset};
      for (int64_t k = 0; k < 3; ++k) {
        call.out(0).setReal(row * 3 * n + k * n + i, gatesA[k]);
        call.out(1).setReal(row * 3 * n + k * n + i, gatesB[k]);
        biasA[k * n + i] += gatesA[k];
        biasB[k * n + i] += gatesB[k];
      }
      call.out(2).setReal(row * n + i, g * keep);
    }
  storeBias(call.out(3), biasA);
  storeBias(call.out(4), biasB);
}

llvm::ArrayRef<OpRow> ft::interpreter::rnnOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"rnn_relu_cell.default", oneCell, Accumulated},
      {"rnn_tanh_cell.default", oneCell, Accumulated},
      {"lstm_cell.default", oneCell, Accumulated},
      {"gru_cell.default", oneCell, Accumulated},
      {"rnn_relu.input", layers, Accumulated},
      {"rnn_tanh.input", layers, Accumulated},
      {"lstm.input", layers, Accumulated},
      {"gru.input", layers, Accumulated},
      {"_thnn_differentiable_lstm_cell_backward.default", lstmCellBackward,
       Accumulated},
      {"_thnn_differentiable_gru_cell_backward.default", gruCellBackward,
       Accumulated},
  };
  return rows;
}
