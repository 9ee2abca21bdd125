//===- Rnn.cpp - Derivatives of recurrent networks -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A network is written out as its steps, of operators that have derivatives:
//
//   all   = linear(x, w_ih, b)          the inputs of all steps at once
//   gates = all[t] + linear(h, w_hh)    one step
//   h, c  = cell(gates, h, c)
//
// Gates stand side by side in PyTorch's order: i f g o (LSTM), r z n (GRU). The
// steps are taken apart and put together by unbind and stack, so that their
// gradients meet in one tensor.
//
// Cost: linear in the number of steps, which must be known.

#include "compiler/autograd/DerivativeTable.h"

namespace ft {

namespace {

enum class Cell : uint8_t { Lstm, Gru, Tanh, Relu };

struct State {
  Term h, c;
};

/// Of one layer in one direction; none if absent.
struct Weights {
  Term inputHidden, hiddenHidden, inputBias, hiddenBias, projection;
};

} // namespace

/// The next state, from the gates before their activations. `input` and
/// `recurrent` are their two parts.
static State advance(RuleCall &c, Cell cell, const Term &input,
                     const Term &recurrent, const State &old) {
  auto parts = [&](const Term &gates, int64_t n) {
    return c.callAll("chunk", {gates, n, -1}, static_cast<size_t>(n));
  };
  auto sigmoid = [&](const Term &x) { return c.call("sigmoid", {x}); };
  auto tanh = [&](const Term &x) { return c.call("tanh", {x}); };
  if (cell == Cell::Tanh)
    return {tanh(c.add(input, recurrent)), Term()};
  if (cell == Cell::Relu)
    return {c.call("relu", {c.add(input, recurrent)}), Term()};
  if (cell == Cell::Lstm) {
    std::vector<Term> gates = parts(c.add(input, recurrent), 4);
    if (gates.size() != 4)
      return {};
    Term next = c.add(c.mul(sigmoid(gates[1]), old.c),
                      c.mul(sigmoid(gates[0]), tanh(gates[2])));
    return {c.mul(sigmoid(gates[3]), tanh(next)), next};
  }
  std::vector<Term> in = parts(input, 3), hidden = parts(recurrent, 3);
  if (in.size() != 3 || hidden.size() != 3)
    return {};
  Term reset = sigmoid(c.add(in[0], hidden[0]));
  Term z = sigmoid(c.add(in[1], hidden[1]));
  Term n = tanh(c.add(in[2], c.mul(reset, hidden[2])));
  return {c.add(n, c.mul(z, c.sub(old.h, n))), Term()};
}

static Term linear(RuleCall &c, const Term &x, const Term &weight,
                   const Term &bias) {
  return c.call("linear", {x, weight, bias});
}

/// One layer in one direction over x [T, B, K]; the states of all steps go to
/// `outputs`.
static State runLayer(RuleCall &c, Cell cell, const Term &x, const Weights &w,
                      State state, bool reverse, std::vector<Term> &outputs) {
  size_t steps = outputs.size();
  // Only GRU needs the two biases apart: one stands inside the reset gate.
  bool apart = cell == Cell::Gru || w.inputBias.isNone();
  Term bias = apart ? w.inputBias : c.add(w.inputBias, w.hiddenBias);
  std::vector<Term> all =
      c.callAll("unbind", {linear(c, x, w.inputHidden, bias), 0}, steps);
  for (size_t i = 0; i < steps && !c.failed(); ++i) {
    size_t t = reverse ? steps - 1 - i : i;
    Term recurrent =
        linear(c, state.h, w.hiddenHidden, apart ? w.hiddenBias : Term::none());
    state = advance(c, cell, all[t], recurrent, state);
    if (!w.projection.isNone())
      state.h = linear(c, state.h, w.projection, Term::none());
    outputs[t] = state.h;
  }
  return state;
}

/// The weights of layer and direction n, of `count` in all.
static Weights weightsOf(llvm::ArrayRef<Term> params, size_t n, size_t count,
                         bool biased) {
  size_t each = params.size() / count;
  llvm::ArrayRef<Term> own = params.slice(n * each, each);
  bool projected = each == (biased ? 5U : 3U);
  return {own[0], own[1], biased ? own[2] : Term::none(),
          biased ? own[3] : Term::none(),
          projected ? own.back() : Term::none()};
}

/// (input, hx (one tensor, or h and c), params, has_biases, num_layers,
/// dropout, train, bidirectional, batch_first)
static std::vector<Term> network(RuleCall &c, Cell cell) {
  bool lstm = cell == Cell::Lstm;
  bool biased = c.arg("has_biases").truth();
  bool batchFirst = c.arg("batch_first").truth();
  auto layers = static_cast<size_t>(c.arg("num_layers").integer());
  size_t directions = c.arg("bidirectional").truth() ? 2 : 1;
  Term x = c.arg("input"), hx = c.arg("hx");
  State initial =
      lstm ? State{hx.items()[0], hx.items()[1]} : State{hx, Term()};
  bool unbatched = RuleCall::rank(x) == 2;
  if (unbatched) {
    auto addBatch = [&](const Term &t) {
      return t.isTensor() ? c.call("unsqueeze", {t, 1}) : t;
    };
    x = addBatch(x);
    initial = {addBatch(initial.h), addBatch(initial.c)};
  } else if (batchFirst) {
    x = c.call("transpose", {x, 0, 1});
  }
  Dim time = RuleCall::sizes(x)[0];
  if (!time.isStatic()) {
    c.fail("the number of steps is only known at run time");
    return {};
  }
  auto steps = static_cast<size_t>(time.value());
  auto count = layers * directions;
  std::vector<Term> h = c.callAll("unbind", {initial.h, 0}, count), cs, lastH,
                    lastC;
  if (lstm)
    cs = c.callAll("unbind", {initial.c, 0}, count);
  Term rate = c.arg("dropout");
  for (size_t layer = 0; layer < layers; ++layer) {
    std::vector<Term> sides;
    for (size_t direction = 0; direction < directions; ++direction) {
      size_t n = layer * directions + direction;
      if (c.failed())
        return {};
      std::vector<Term> outputs(steps);
      State last = runLayer(
          c, cell, x, weightsOf(c.arg("params").items(), n, count, biased),
          {h[n], lstm ? cs[n] : Term()}, direction == 1, outputs);
      sides.push_back(c.call("stack", {outputs, 0}));
      lastH.push_back(last.h);
      lastC.push_back(last.c);
    }
    x = sides.size() == 1 ? sides[0] : c.call("cat", {sides, -1});
    if (c.arg("train").truth() && rate.number() > 0 && layer + 1 < layers)
      x = c.call("dropout", {x, rate, true});
  }
  std::vector<Term> results = {x, c.call("stack", {lastH, 0})};
  if (lstm)
    results.push_back(c.call("stack", {lastC, 0}));
  if (unbatched)
    for (Term &t : results)
      t = c.call("squeeze", {t, 1});
  else if (batchFirst)
    results[0] = c.call("transpose", {x, 0, 1});
  return results;
}

template <Cell cell>
static std::vector<Term> sequence(RuleCall &c) {
  return network(c, cell);
}

/// One step: (input, hx, w_ih, w_hh, b_ih, b_hh).
template <Cell cell>
static std::vector<Term> single(RuleCall &c) {
  Term hx = c.arg("hx");
  State old = cell == Cell::Lstm ? State{hx.items()[0], hx.items()[1]}
                                 : State{hx, Term()};
  Term input = linear(c, c.arg("input"), c.arg("w_ih"), c.arg("b_ih"));
  Term recurrent = linear(c, old.h, c.arg("w_hh"), c.arg("b_hh"));
  State next = advance(c, cell, input, recurrent, old);
  if (cell == Cell::Lstm)
    return {next.h, next.c};
  return {next.h};
}

//===----------------------------------------------------------------------===//
// The backward of cells from their gates, written out to be derived once more
//===----------------------------------------------------------------------===//

/// With s = sigmoid(x): s (1 - s), times `grad`.
static Term sigmoidSlope(RuleCall &c, const Term &grad, const Term &s) {
  return c.mul(grad, c.mul(s, c.sub(1, s)));
}
static Term tanhSlope(RuleCall &c, const Term &grad, const Term &t) {
  return c.mul(grad, c.sub(1, c.mul(t, t)));
}

static Term withBias(RuleCall &c, const char *gates, const char *bias) {
  Term b = c.arg(bias);
  return b.isTensor() ? c.add(c.arg(gates), b) : c.arg(gates);
}

/// The gradients of the biases, sums over the batch, behind `results`.
static std::vector<Term> andBiases(RuleCall &c, std::vector<Term> results) {
  for (size_t i : {0U, 1U}) {
    Term sum;
    if (c.result(static_cast<unsigned>(results.size())).isTensor())
      sum =
          c.call("sum.dim_IntList", {results[i], std::vector<Term>{0}, false});
    results.push_back(sum);
  }
  return results;
}

static Term gradOrZero(const Term &grad) {
  return grad.isTensor() ? grad : Term();
}

static std::vector<Term> lstmGatesBackward(RuleCall &c) {
  Term dh = gradOrZero(c.arg("grad_hy")), dc = gradOrZero(c.arg("grad_cy"));
  Term gates = c.add(withBias(c, "input_gates", "input_bias"),
                     withBias(c, "hidden_gates", "hidden_bias"));
  std::vector<Term> parts = c.callAll("chunk", {gates, 4, -1}, 4);
  if (c.failed())
    return {};
  Term i = c.call("sigmoid", {parts[0]}), f = c.call("sigmoid", {parts[1]}),
       n = c.call("tanh", {parts[2]}), o = c.call("sigmoid", {parts[3]});
  Term shown = c.call("tanh", {c.arg("cy")});
  Term cell = c.add(tanhSlope(c, c.mul(dh, o), shown), dc);
  auto part = [&](const Term &grad) { return c.defined(grad, i); };
  Term all = c.call(
      "cat",
      {std::vector<Term>{part(sigmoidSlope(c, c.mul(cell, n), i)),
                         part(sigmoidSlope(c, c.mul(cell, c.arg("cx")), f)),
                         part(tanhSlope(c, c.mul(cell, i), n)),
                         part(sigmoidSlope(c, c.mul(dh, shown), o))},
       1});
  return andBiases(c, {all, all, part(c.mul(cell, f))});
}

static std::vector<Term> gruGatesBackward(RuleCall &c) {
  Term grad = c.arg("grad_hy"), h = c.arg("hx");
  std::vector<Term> in =
      c.callAll("chunk", {withBias(c, "input_gates", "input_bias"), 3, -1}, 3);
  std::vector<Term> hidden = c.callAll(
      "chunk", {withBias(c, "hidden_gates", "hidden_bias"), 3, -1}, 3);
  if (c.failed())
    return {};
  Term reset = c.call("sigmoid", {c.add(in[0], hidden[0])});
  Term z = c.call("sigmoid", {c.add(in[1], hidden[1])});
  Term n = c.call("tanh", {c.add(in[2], c.mul(reset, hidden[2]))});
  Term dz = sigmoidSlope(c, c.mul(grad, c.sub(h, n)), z);
  Term dn = tanhSlope(c, c.mul(grad, c.sub(1, z)), n);
  Term dr = sigmoidSlope(c, c.mul(dn, hidden[2]), reset);
  return andBiases(
      c, {c.call("cat", {std::vector<Term>{dr, dz, dn}, 1}),
          c.call("cat", {std::vector<Term>{dr, dz, c.mul(dn, reset)}, 1}),
          c.mul(grad, z)});
}

llvm::ArrayRef<ExpandRow> rnnExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"_thnn_differentiable_gru_cell_backward.default", gruGatesBackward},
      {"_thnn_differentiable_lstm_cell_backward.default", lstmGatesBackward},
      {"gru.input", sequence<Cell::Gru>},
      {"gru_cell.default", single<Cell::Gru>},
      {"lstm.input", sequence<Cell::Lstm>},
      {"lstm_cell.default", single<Cell::Lstm>},
      {"rnn_relu.input", sequence<Cell::Relu>},
      {"rnn_relu_cell.default", single<Cell::Relu>},
      {"rnn_tanh.input", sequence<Cell::Tanh>},
      {"rnn_tanh_cell.default", single<Cell::Tanh>},
  };
  return kRows;
}

//===----------------------------------------------------------------------===//
// Cells from their gates
//===----------------------------------------------------------------------===//

static void setAll(GradCall &g, llvm::ArrayRef<Term> grads,
                   llvm::ArrayRef<llvm::StringLiteral> names) {
  if (grads.size() != names.size())
    return;
  for (auto [grad, name] : llvm::zip(grads, names))
    if (g.needs(name))
      g.set(name, grad);
}

static void lstmGates(GradCall &g) {
  static constexpr llvm::StringLiteral kNames[] = {
      "input_gates", "hidden_gates", "cx", "input_bias", "hidden_bias"};
  setAll(g,
         g.callAll("_thnn_differentiable_lstm_cell_backward",
                   {g.gradIfAny(0), g.gradIfAny(1), g.arg("input_gates"),
                    g.arg("hidden_gates"), g.arg("input_bias"),
                    g.arg("hidden_bias"), g.arg("cx"), g.result(1)}),
         kNames);
}

static void gruGates(GradCall &g) {
  static constexpr llvm::StringLiteral kNames[] = {
      "input_gates", "hidden_gates", "hx", "input_bias", "hidden_bias"};
  setAll(g,
         g.callAll("_thnn_differentiable_gru_cell_backward",
                   {g.grad(), g.arg("input_gates"), g.arg("hidden_gates"),
                    g.arg("hx"), g.arg("input_bias"), g.arg("hidden_bias")}),
         kNames);
}

llvm::ArrayRef<DerivativeRow> rnnDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"_thnn_fused_gru_cell.default", gruGates},
      {"_thnn_fused_lstm_cell.default", lstmGates},
  };
  return kRows;
}

} // namespace ft
