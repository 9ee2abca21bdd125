//===- Optimizer.cpp - Steps of optimizers on lists of tensors ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functional forms return every list that the in-place forms write, one
// after the other: parameters, gradients (unscaled), then the state.

#include "tests/interpreter/Families.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
/// One fused call: its lists, and its numbers by name.
struct FusedStep {
  Call &call;
  size_t count;

  explicit FusedStep(Call &call) : call(call), count(call.tensors(0).size()) {}

  unsigned position(llvm::StringRef name) const {
    return static_cast<unsigned>(call.schema.argIndex(name));
  }
  double number(llvm::StringRef name) const {
    unsigned i = position(name);
    return call.args[i].kind == Arg::Tensor ? call.tensor(i).real(0)
                                            : call.number(i);
  }
  bool flag(llvm::StringRef name) const { return call.flag(position(name)); }

  /// Calls `update(list index, element, gradient)` for each element, unless the
  /// gradients were found not to be finite. All results start as what the
  /// arguments are.
  template <typename Update>
  void run(unsigned lists, Update update) {
    size_t result = 0;
    for (unsigned l = 0; l < lists; ++l)
      for (const Tensor *tensor : call.tensors(l))
        if (result < call.results.size())
          call.out(result++) = *tensor;
    const Tensor *found = call.optTensor(position("found_inf")),
                 *scale = call.optTensor(position("grad_scale"));
    if (found && found->real(0) == 1)
      return;
    for (size_t k = 0; k < count; ++k)
      for (int64_t i = 0, n = call.out(k).numel(); i < n; ++i) {
        Tensor &grads = call.out(count + k);
        double g = grads.real(i);
        if (scale) {
          g /= scale->real(0);
          grads.setReal(i, g);
        }
        update(k, i, flag("maximize") ? -g : g);
      }
  }
  Tensor &list(unsigned which, size_t k) { return call.out(which * count + k); }
};
} // namespace

/// (params, grads, averages, averages of squares, maxima, steps)
static void adam(Call &call) {
  FusedStep f(call);
  bool decoupled = call.base().contains("adamw"), maxima = f.flag("amsgrad");
  double lr = f.number("lr"), beta1 = f.number("beta1"),
         beta2 = f.number("beta2"), decay = f.number("weight_decay"),
         eps = f.number("eps");
  std::vector<const Tensor *> steps = call.tensors(5);
  f.run(5, [&](size_t k, int64_t i, double g) {
    Tensor &param = f.list(0, k), &mean = f.list(2, k), &square = f.list(3, k);
    double p = param.real(i), step = steps[k]->real(0);
    if (decoupled)
      p *= 1 - lr * decay;
    else
      g += decay * p;
    double m = mean.real(i) + (1 - beta1) * (g - mean.real(i));
    double v = beta2 * square.real(i) + (1 - beta2) * g * g;
    double most = v;
    if (maxima) {
      most = std::max(f.list(4, k).real(i), v);
      f.list(4, k).setReal(i, most);
    }
    double root = std::sqrt(most) / std::sqrt(1 - std::pow(beta2, step)) + eps;
    param.setReal(i, p - lr / (1 - std::pow(beta1, step)) * m / root);
    mean.setReal(i, m);
    square.setReal(i, v);
  });
}

/// (params, grads, momentum buffers)
static void sgd(Call &call) {
  FusedStep f(call);
  double lr = f.number("lr"), decay = f.number("weight_decay"),
         momentum = f.number("momentum"), dampening = f.number("dampening");
  f.run(3, [&](size_t k, int64_t i, double g) {
    Tensor &param = f.list(0, k);
    g += decay * param.real(i);
    if (momentum != 0) {
      Tensor &buffer = f.list(2, k);
      double b = f.flag("is_first_step")
                     ? g
                     : momentum * buffer.real(i) + (1 - dampening) * g;
      buffer.setReal(i, b);
      g = f.flag("nesterov") ? g + momentum * b : b;
    }
    param.setReal(i, param.real(i) - lr * g);
  });
}

/// (params, grads, sums of squares, steps)
static void adagrad(Call &call) {
  FusedStep f(call);
  double lr = f.number("lr"), lrDecay = f.number("lr_decay"),
         decay = f.number("weight_decay"), eps = f.number("eps");
  std::vector<const Tensor *> steps = call.tensors(3);
  f.run(4, [&](size_t k, int64_t i, double g) {
    Tensor &param = f.list(0, k), &sums = f.list(2, k);
    g += decay * param.real(i);
    double sum = sums.real(i) + g * g;
    double rate = lr / (1 + (steps[k]->real(0) - 1) * lrDecay);
    param.setReal(i, param.real(i) - rate * g / (std::sqrt(sum) + eps));
    sums.setReal(i, sum);
  });
}

llvm::ArrayRef<OpRow> ft::interpreter::optimizerOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"_fused_adam.default", adam, Accumulated},
      {"_fused_adam.tensor_lr", adam, Accumulated},
      {"_fused_adamw.default", adam, Accumulated},
      {"_fused_adamw.tensor_lr", adam, Accumulated},
      {"_fused_sgd.default", sgd, Accumulated},
      {"_fused_sgd.tensor_lr", sgd, Accumulated},
      {"_fused_adagrad.default", adagrad, Accumulated},
      {"_fused_adagrad.tensor_lr", adagrad, Accumulated},
  };
  return rows;
}
