//===- Optimizer.cpp - Lowering of fused optimizer steps -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One parameter after the other, all of its lists in one kernel. The steps
// count from 1 and were incremented before; with `found_inf` set, nothing
// changes. Results are the lists that are written, in their order.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ft {

namespace {

/// One call, one parameter at a time.
class OptimizerStep {
public:
  explicit OptimizerStep(LowerCall &c) : c(c) {}

  size_t count() const { return c.call().args[0].list.size(); }
  bool has(unsigned list) const { return !c.call().args[list].list.empty(); }
  const Arg &named(StringRef name) const { return c.call().arg(name); }
  double number(StringRef name) const {
    const Arg &arg = named(name);
    return arg.kind == Arg::Int ? static_cast<double>(arg.dim.value())
                                : arg.real;
  }
  bool flag(StringRef name) const { return named(name).boolean; }

  /// Element `i` of the parameter, gradient, …: what the formulas work on.
  struct Values {
    ScalarBuilder &s;
    SmallVector<Value> lists; // in `work`, null for empty lists
    Value step, lr;           // in `work`; step null without steps
    Type type;

    Value k(double v) { return s.constant(type, v); }
  };
  using Update = llvm::function_ref<void(Values &)>;

  /// Runs `update`, which changes values.lists, over lists 0 … lists - 1; the
  /// number of the list of steps, or -1.
  LogicalResult run(unsigned lists, int steps, Update update);

private:
  LowerCall &c;

  LoweredTensor at(unsigned list, size_t i) {
    return c.operandOf(c.call().operands[c.call().args[list].list[i].operand]);
  }
  LoweredTensor scalarOf(const Arg &arg) {
    LoweredTensor t = c.operandOf(c.call().operands[arg.operand]);
    return t.rank() ? c.reshape(t, {}) : t;
  }
};

} // namespace

LogicalResult OptimizerStep::run(unsigned lists, int steps, Update update) {
  bool maximize = flag("maximize");
  unsigned next = 0;
  SmallVector<unsigned> first(lists, 0);
  for (unsigned l = 0; l < lists; ++l) {
    first[l] = next;
    next += static_cast<unsigned>(c.call().args[l].list.size());
  }
  for (size_t i = 0; i < count(); ++i) {
    SmallVector<LoweredTensor> ins;
    SmallVector<int> place(lists, -1);
    for (unsigned l = 0; l < lists; ++l)
      if (has(l)) {
        place[l] = static_cast<int>(ins.size());
        ins.push_back(at(l, i));
      }
    DType dtype = ins[0].dtype, work = opmathType(dtype);
    auto extra = [&](const Arg &arg) -> int {
      if (arg.kind != Arg::Tensor)
        return -1;
      ins.push_back(scalarOf(arg));
      return static_cast<int>(ins.size()) - 1;
    };
    int lr = extra(named("lr")), scale = extra(named("grad_scale")),
        inf = extra(named("found_inf")), step = -1;
    if (steps >= 0) {
      LoweredTensor t = at(static_cast<unsigned>(steps), i);
      ins.push_back(t.rank() ? c.reshape(t, {}) : t);
      step = static_cast<int>(ins.size()) - 1;
    }
    for (unsigned l = 0; l < lists; ++l) {
      if (place[l] < 0)
        continue;
      unsigned r = first[l] + static_cast<unsigned>(i);
      if (r >= c.numResults())
        break;
      const TensorMeta &meta = c.resultMeta(r);
      c.setResult(
          r, c.pointwise(ins, meta, [&](ScalarBuilder &s, ValueRange v) {
            auto read = [&](int at) {
              return at < 0 ? Value() : s.cast(v[at], ins[at].dtype, work);
            };
            Values values{s,
                          {},
                          read(step),
                          read(lr),
                          computeType(s.b.getContext(), work)};
            for (int at : place)
              values.lists.push_back(read(at));
            if (!values.lr)
              values.lr = values.k(number("lr"));
            Value old = values.lists[l], &grad = values.lists[1];
            if (scale >= 0)
              grad = s.div(grad, read(scale));
            Value kept = grad;
            if (maximize)
              grad = s.neg(grad);
            update(values);
            grad = kept;
            Value y = values.lists[l];
            if (inf >= 0) {
              Value set = read(inf);
              y = s.select(s.cmp(ScalarBuilder::Cmp::Eq, set, s.one(set)), old,
                           y);
            }
            return s.cast(y, work, meta.dtype);
          }));
    }
    c.newGroup();
  }
  // Lists after the written ones are steps, returned as they are.
  for (unsigned r = next; r < c.numResults(); ++r)
    c.setResult(r, at(static_cast<unsigned>(steps), r - next));
  return success();
}

/// (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr,
/// beta1, beta2, weight_decay, eps, amsgrad, maximize, …). `Decoupled`: AdamW.
template <bool Decoupled>
static LogicalResult adam(LowerCall &c) {
  OptimizerStep o(c);
  double beta1 = o.number("beta1"), beta2 = o.number("beta2");
  double decay = o.number("weight_decay"), eps = o.number("eps");
  bool amsgrad = o.flag("amsgrad");
  return o.run(5, 5, [&](OptimizerStep::Values &v) {
    ScalarBuilder &s = v.s;
    Value &param = v.lists[0], &grad = v.lists[1], &mean = v.lists[2],
          &square = v.lists[3], &most = v.lists[4];
    auto correction = [&](double beta) {
      Value power = math::PowFOp::create(s.b, s.loc, v.k(beta), v.step);
      return s.sub(v.k(1), power);
    };
    if (decay != 0 && Decoupled)
      param = s.sub(param, s.mul(s.mul(v.lr, v.k(decay)), param));
    else if (decay != 0)
      grad = s.add(grad, s.mul(param, v.k(decay)));
    mean = s.add(mean, s.mul(v.k(1 - beta1), s.sub(grad, mean)));
    square = s.add(s.mul(v.k(beta2), square),
                   s.mul(v.k(1 - beta2), s.mul(grad, grad)));
    Value under = square;
    if (amsgrad && most)
      under = most = s.maximum(most, square);
    Value root = s.div(s.sqrt(under), s.sqrt(correction(beta2)));
    Value size = s.div(v.lr, correction(beta1));
    param = s.sub(param, s.div(s.mul(size, mean), s.add(root, v.k(eps))));
  });
}

/// (self, grads, momentum_buffer_list, weight_decay, momentum, lr, dampening,
/// nesterov, maximize, is_first_step, …)
static LogicalResult sgd(LowerCall &c) {
  OptimizerStep o(c);
  double decay = o.number("weight_decay"), momentum = o.number("momentum");
  double dampening = o.number("dampening");
  bool nesterov = o.flag("nesterov"), isFirst = o.flag("is_first_step");
  return o.run(3, -1, [&](OptimizerStep::Values &v) {
    ScalarBuilder &s = v.s;
    Value &param = v.lists[0], grad = v.lists[1], &buffer = v.lists[2];
    if (decay != 0)
      grad = s.add(grad, s.mul(param, v.k(decay)));
    if (momentum != 0 && buffer) {
      buffer = isFirst ? grad
                       : s.add(s.mul(v.k(momentum), buffer),
                               s.mul(v.k(1 - dampening), grad));
      grad = nesterov ? s.add(grad, s.mul(v.k(momentum), buffer)) : buffer;
    }
    param = s.sub(param, s.mul(v.lr, grad));
  });
}

/// (self, grads, state_sums, state_steps, lr, lr_decay, weight_decay, eps,
/// maximize, …)
static LogicalResult adagrad(LowerCall &c) {
  OptimizerStep o(c);
  double decay = o.number("weight_decay"), eps = o.number("eps");
  double slower = o.number("lr_decay");
  return o.run(3, 3, [&](OptimizerStep::Values &v) {
    ScalarBuilder &s = v.s;
    Value &param = v.lists[0], grad = v.lists[1], &sum = v.lists[2];
    if (decay != 0)
      grad = s.add(grad, s.mul(param, v.k(decay)));
    Value by = s.add(s.mul(s.sub(v.step, v.k(1)), v.k(slower)), v.k(1));
    sum = s.add(sum, s.mul(grad, grad));
    Value root = s.add(s.sqrt(sum), v.k(eps));
    param = s.sub(param, s.div(s.mul(s.div(v.lr, by), grad), root));
  });
}

ArrayRef<LowerRuleRow> optimizerLowerRules() {
  static const LowerRuleRow rows[] = {
      {"_fused_adagrad.default", adagrad},
      {"_fused_adagrad.tensor_lr", adagrad},
      {"_fused_adam.default", adam<false>},
      {"_fused_adam.tensor_lr", adam<false>},
      {"_fused_adamw.default", adam<true>},
      {"_fused_adamw.tensor_lr", adam<true>},
      {"_fused_sgd.default", sgd},
      {"_fused_sgd.tensor_lr", sgd},
  };
  return rows;
}

} // namespace ft
