//===- Rnn.cpp - Recurrent networks ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/Refusals.h"

using namespace llvm;

namespace ft {

static LogicalResult needsDims(FakeCall &c, const TensorMeta &t, int64_t rank,
                               StringRef what) {
  if (t.rank() == rank)
    return success();
  return c.fail(FakeError::Dim, "the " + what + " needs " + Twine(rank) +
                                    " dims, it has " + Twine(t.rank()));
}

namespace {
/// Where the arguments of a whole network stand.
struct Network {
  const TensorMeta *input;
  SmallVector<const TensorMeta *, 2> states;
  SmallVector<const TensorMeta *, 8> parameters;
  bool hasBiases;
  Dim layers;
  bool bidirectional, batchFirst;
  /// 4 for LSTM, 3 for GRU, 1 for plain cells.
  int64_t gates;
};
} // namespace

/// The output [time, batch, directions · hidden] (batch first: a transposed
/// view of it) and the last states [layers · directions, batch, hidden].
static LogicalResult network(FakeCall &c, const Network &n) {
  if (failed(needsDims(c, *n.input, 3, "input")))
    return failure();
  Dim directions = n.bidirectional ? 2 : 1;
  Dim batch = n.input->sizes[n.batchFirst ? 0 : 1];
  Dim time = n.input->sizes[n.batchFirst ? 1 : 0];
  for (const TensorMeta *state : n.states) {
    if (!state)
      return c.fail(FakeError::Other, "a state is missing");
    if (failed(needsDims(c, *state, 3, "state")))
      return failure();
    if (!c.mustEq(state->sizes[0], n.layers * directions) ||
        !c.mustEq(state->sizes[1], batch))
      return c.fail(FakeError::Shape,
                    "the state " + c.show(*state) + " must have size [" +
                        (n.layers * directions).str() + ", " + batch.str() +
                        ", …]: layers times directions, and batch");
    if (state->dtype != n.input->dtype)
      return c.fail(FakeError::Dtype,
                    "the state is " + dtypeName(state->dtype) + ", the input " +
                        dtypeName(n.input->dtype));
  }
  if (n.parameters.empty() || is_contained(n.parameters, nullptr))
    return c.fail(FakeError::Other, "the parameters are missing");
  const TensorMeta &first = *n.parameters.front();
  if (failed(needsDims(c, first, 2, "weight")))
    return failure();
  if (!c.mustEq(first.sizes[1], n.input->sizes[2]))
    return c.fail(FakeError::Shape,
                  c.sizeAt(first, 1) + ", " + c.sizeAt(*n.input, 2));
  Dim hidden = n.states.front()->sizes[2];
  // With projections the first state is narrower than the cell's.
  Dim cell = n.states.back()->sizes[2];
  if (!c.mustEq(first.sizes[0], cell * n.gates))
    return c.fail(FakeError::Shape, "the weight " + c.show(first) + " has " +
                                        first.sizes[0].str() +
                                        " rows, a state of size " + cell.str() +
                                        " needs " + (cell * n.gates).str());
  TensorMeta out = TensorMeta::contiguous(
      n.input->dtype, {time, batch, hidden * directions}, c.device);
  if (n.batchFirst) {
    std::swap(out.sizes[0], out.sizes[1]);
    std::swap(out.strides[0], out.strides[1]);
  }
  if (failed(c.fresh(std::move(out))))
    return failure();
  for (const TensorMeta *state : n.states)
    if (failed(c.fresh(
            TensorMeta::contiguous(state->dtype, state->sizes, c.device))))
      return failure();
  return success();
}

static LogicalResult lstm(FakeCall &c) {
  auto states = c.tensors(1);
  if (states.size() != 2)
    return c.fail(FakeError::Other,
                  "an LSTM has 2 states, not " + Twine(states.size()));
  return network(c, {&c.tensor(0),
                     {states.begin(), states.end()},
                     c.tensors(2),
                     c.flag(3),
                     c.dim(4),
                     c.flag(7),
                     c.flag(8),
                     4});
}

template <int64_t Gates>
static LogicalResult oneState(FakeCall &c) {
  return network(c, {&c.tensor(0),
                     {&c.tensor(1)},
                     c.tensors(2),
                     c.flag(3),
                     c.dim(4),
                     c.flag(7),
                     c.flag(8),
                     Gates});
}

/// The packed form: (data [total, features], batch_sizes, …), where entry t of
/// batch_sizes says how many sequences still run at time t. The output is
/// [total, directions · hidden]; how large the batch is, the states say.
template <int64_t Gates>
static LogicalResult packed(FakeCall &c) {
  const TensorMeta &data = c.tensor(0);
  if (failed(needsDims(c, data, 2, "data")) ||
      failed(needsDims(c, c.tensor(1), 1, "batch sizes")))
    return failure();
  SmallVector<const TensorMeta *, 2> states;
  if (Gates == 4) {
    auto list = c.tensors(2);
    states.assign(list.begin(), list.end());
  } else {
    states.push_back(&c.tensor(2));
  }
  if (states.size() != (Gates == 4 ? 2u : 1u) || is_contained(states, nullptr))
    return c.fail(FakeError::Other, "the states are missing");
  if (failed(needsDims(c, *states.front(), 3, "state")))
    return failure();
  // As one step of a network whose batch is that of the states.
  TensorMeta input = data;
  input.sizes = {Dim(1), states.front()->sizes[1], data.sizes[1]};
  if (failed(network(c, {&input, states, c.tensors(3), c.flag(4), c.dim(5),
                         c.flag(8), false, Gates})))
    return failure();
  TensorMeta &out = c.results.front().meta;
  out = TensorMeta::contiguous(out.dtype, {data.sizes[0], out.sizes[2]},
                               c.device);
  return success();
}

/// (grad, input_size, batch_sizes, batch_first): the padded gradient.
static LogicalResult packBackward(FakeCall &c) {
  Dims sizes = c.dims(1);
  const TensorMeta &times = c.tensor(2);
  if (times.rank() != 1 || times.dtype != DType::I64 ||
      times.device.kind != Device::Cpu)
    return c.fail(FakeError::Other, "batch_sizes must be int64 of 1 dim on "
                                    "cpu, not " +
                                        c.show(times));
  if (sizes.size() < 2)
    return c.fail(FakeError::Dim,
                  "sequences need at least 2 dims, not " + Twine(sizes.size()));
  bool batchFirst = c.flag(3);
  if (batchFirst)
    std::swap(sizes[0], sizes[1]);
  TensorMeta out =
      TensorMeta::contiguous(c.tensor(0).dtype, sizes, c.tensor(0).device);
  if (batchFirst) {
    std::swap(out.sizes[0], out.sizes[1]);
    std::swap(out.strides[0], out.strides[1]);
  }
  return c.fresh(std::move(out));
}

/// A fused step of accelerators: gates [batch, Gates · hidden] of input and
/// state, and the state; it keeps a workspace of 5 · hidden for GRUs, of the
/// gates for LSTMs.
template <int64_t Gates>
static LogicalResult fusedCell(FakeCall &c) {
  if (failed(needsAccelerator(c)))
    return failure();
  const TensorMeta &gates = c.tensor(0), &state = c.tensor(2);
  for (unsigned i : {0u, 1u, 2u})
    if (failed(needsDims(c, c.tensor(i), 2, c.schema().args[i].name)))
      return failure();
  Dim hidden = state.sizes[1];
  if (!c.sameSizes(gates.sizes, c.tensor(1).sizes) ||
      !c.mustEq(gates.sizes[1], hidden * Gates) ||
      !c.mustEq(gates.sizes[0], state.sizes[0]))
    return c.fail(FakeError::Shape,
                  "the gates " + c.show(gates) + " and " + c.show(c.tensor(1)) +
                      " do not fit the state " + c.show(state));
  for (unsigned i = 0; i < (Gates == 4 ? 2u : 1u); ++i)
    (void)c.fresh(TensorMeta::contiguous(state.dtype, state.sizes, c.device));
  Dim kept = Gates == 4 ? gates.sizes[1] : hidden * 5;
  return c.fresh(
      TensorMeta::contiguous(gates.dtype, {gates.sizes[0], kept}, c.device));
}

/// One step: the new state(s).
template <int64_t Gates>
static LogicalResult cell(FakeCall &c) {
  const TensorMeta &input = c.tensor(0);
  SmallVector<const TensorMeta *, 2> states;
  if (Gates == 4) {
    auto list = c.tensors(1);
    states.assign(list.begin(), list.end());
  } else {
    states.push_back(&c.tensor(1));
  }
  if (states.size() != (Gates == 4 ? 2u : 1u) || is_contained(states, nullptr))
    return c.fail(FakeError::Other, "the cell's states are missing");
  const TensorMeta &weight = c.tensor(2);
  if (input.sizes.empty() || input.rank() > 2 || weight.rank() != 2 ||
      !c.mustEq(weight.sizes[1], input.sizes.back()))
    return c.fail(
        FakeError::Shape,
        weight.rank() == 2 && !input.sizes.empty() && input.rank() <= 2
            ? c.sizeAt(weight, 1) + ", " + c.sizeAt(input, -1)
            : "the cell needs an input of 1 or 2 dims and a weight of 2, not " +
                  std::to_string(input.rank()) + " and " +
                  std::to_string(weight.rank()));
  for (const TensorMeta *state : states) {
    if (state->rank() != input.rank() ||
        !c.mustEq(weight.sizes[0], state->sizes.back() * Gates))
      return c.fail(FakeError::Shape,
                    c.sizeAt(weight, 0) + ", which is not " + Twine(Gates) +
                        " times the last size of " + c.show(*state));
    if (failed(c.fresh(
            TensorMeta::contiguous(input.dtype, state->sizes, c.device))))
      return failure();
  }
  return success();
}

ArrayRef<FakeRuleRow> rnnRules() {
  static const FakeRuleRow rows[] = {
      {"_pack_padded_sequence_backward.default", packBackward,
       DevicePolicy::First},
      {"_thnn_fused_gru_cell.default", fusedCell<3>},
      {"_thnn_fused_lstm_cell.default", fusedCell<4>},
      {"gru.data", packed<3>},
      {"gru.input", oneState<3>},
      {"gru_cell.default", cell<3>},
      {"lstm.data", packed<4>},
      {"lstm.input", lstm},
      {"lstm_cell.default", cell<4>},
      {"rnn_relu.data", packed<1>},
      {"rnn_relu.input", oneState<1>},
      {"rnn_relu_cell.default", cell<1>},
      {"rnn_tanh.data", packed<1>},
      {"rnn_tanh.input", oneState<1>},
      {"rnn_tanh_cell.default", cell<1>},
  };
  return rows;
}

} // namespace ft
