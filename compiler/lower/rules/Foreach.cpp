//===- Foreach.cpp - Lowering of elementwise operators on lists -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// _foreach_add([a, b], [c, d]) is [add(a, c), add(b, d)]: each entry is a call
// of the operator on tensors, whose formula computes it. A scalar or tensor
// that is no list goes to all entries.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Contract.h"
#include "compiler/lower/rules/PNorm.h"
#include "compiler/lower/rules/PointwiseBody.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace ft {

/// The operator that one entry is a call of: "add.Tensor" for
/// "_foreach_add.List".
static const Schema *entrySchema(const Schema &schema) {
  StringRef base = schema.base;
  base.consume_front("_foreach_");
  std::string overload = schema.overload.str();
  if (base == "pow")
    overload = overload == "List"              ? "Tensor_Tensor"
               : overload == "ScalarAndTensor" ? "Scalar"
                                               : "Tensor_Scalar";
  else if (overload == "List")
    overload = "Tensor";
  else if (overload == "ScalarList")
    overload = "Scalar";
  const SchemaTable &table = SchemaTable::get();
  if (const Schema *own = table.find((base + "." + overload).str()))
    return own;
  return table.find((base + ".default").str());
}

namespace {
/// The call of one entry, and its operands.
struct Entry {
  AtenCall call;
  SmallVector<LoweredTensor> ins;
};
} // namespace

static Entry entryOf(LowerCall &c, const Schema &schema, size_t index) {
  Entry entry;
  entry.call.schema = &schema;
  for (auto [i, formal] : llvm::enumerate(schema.args)) {
    Arg arg = formal.defaultValue;
    if (i < c.call().args.size()) {
      arg = c.call().args[i];
      if (arg.kind == Arg::List)
        arg = Arg(arg.list[index]);
    }
    if (arg.kind == Arg::Tensor) {
      entry.ins.push_back(c.operandOf(c.call().operands[arg.operand]));
      arg.operand = static_cast<int>(entry.ins.size()) - 1;
    }
    entry.call.args.push_back(std::move(arg));
  }
  return entry;
}

static LogicalResult eachEntry(LowerCall &c) {
  const Schema *schema = entrySchema(*c.call().schema);
  const FormulaRow *row = schema ? formulaNamed(schema->name) : nullptr;
  if (!row)
    return c.unsupported("there is no formula for an entry");
  for (unsigned r = 0; r < c.numResults(); ++r) {
    Entry entry = entryOf(c, *schema, r);
    const TensorMeta &meta = c.resultMeta(r);
    FailureOr<LoweredTensor> out =
        applyFormula(c, FormulaCall{entry.call, entry.ins}, row->formula,
                     row->computeIn, staticSizes(meta), meta.dtype);
    if (failed(out))
      return failure();
    c.setResult(r, *out);
    c.newGroup();
  }
  return success();
}

/// self + value * a * b, or a / b: the values of the entries are elements of a
/// tensor.
template <bool Divide>
static LogicalResult addWithFactors(LowerCall &c) {
  LoweredTensor factors = c.operand(3);
  for (unsigned r = 0; r < c.numResults(); ++r) {
    DType dtype = c.resultMeta(r).dtype, work = opmathType(dtype);
    SmallVector<LoweredTensor> ins;
    for (unsigned arg : {0U, 1U, 2U})
      ins.push_back(
          c.operandOf(c.call().operands[c.call().args[arg].list[r].operand]));
    ins.push_back(c.slice(factors, 0, r, 1));
    c.setResult(r, c.pointwise(ins, c.resultMeta(r),
                               [&](ScalarBuilder &s, ValueRange v) {
                                 Value x[4];
                                 for (unsigned i = 0; i < 4; ++i)
                                   x[i] = s.cast(v[i], ins[i].dtype, work);
                                 Value term = s.mul(x[3], x[1]);
                                 term = Divide ? s.div(term, x[2])
                                               : s.mul(term, x[2]);
                                 return s.cast(s.add(x[0], term), work, dtype);
                               }));
    c.newGroup();
  }
  return success();
}

/// Entry `r` of the list `arg`.
static LoweredTensor entryAt(LowerCall &c, unsigned arg, unsigned r) {
  return c.operandOf(c.call().operands[c.call().args[arg].list[r].operand]);
}

static LogicalResult cloneEntries(LowerCall &c) {
  for (unsigned r = 0; r < c.numResults(); ++r)
    c.setResult(r, entryAt(c, 0, r));
  return success();
}

static LogicalResult zeroEntries(LowerCall &c) {
  for (unsigned r = 0; r < c.numResults(); ++r) {
    const TensorMeta &meta = c.resultMeta(r);
    c.setResult(r, c.filled(staticSizes(meta), meta.dtype, 0));
  }
  return success();
}

static LogicalResult maxima(LowerCall &c) {
  for (unsigned r = 0; r < c.numResults(); ++r) {
    LoweredTensor t = entryAt(c, 0, r);
    c.setResult(r, maxOf(c, t, allDims(t.rank()), false));
    c.newGroup();
  }
  return success();
}

/// (self, ord, dtype): the sum of the powers, which is the norm of infinity
/// for that order.
static LogicalResult powerSums(LowerCall &c) {
  double p = c.number(1);
  for (unsigned r = 0; r < c.numResults(); ++r) {
    LoweredTensor t = entryAt(c, 0, r);
    DType dtype = c.resultMeta(r).dtype, acc = opmathType(dtype);
    LoweredTensor y = pNorm(c, t, p, allDims(t.rank()), false, acc);
    if (!std::isinf(p) && p != 0)
      y = c.pointwise(y, {}, acc, [&](ScalarBuilder &s, ValueRange v) {
        return math::PowFOp::create(s.b, s.loc, v[0],
                                    s.constant(v[0].getType(), p));
      });
    c.setResult(r, c.cast(y, dtype));
    c.newGroup();
  }
  return success();
}

/// (self, ord, dtype)
static LogicalResult norms(LowerCall &c) {
  for (unsigned r = 0; r < c.numResults(); ++r) {
    LoweredTensor t = entryAt(c, 0, r);
    c.setResult(r, pNorm(c, t, c.number(1), allDims(t.rank()), false,
                         c.resultMeta(r).dtype));
    c.newGroup();
  }
  return success();
}

static LogicalResult products(LowerCall &c) {
  for (unsigned r = 0; r < c.numResults(); ++r) {
    LoweredTensor y =
        multiply(c, {entryAt(c, 0, r), Value()}, {entryAt(c, 1, r), Value()});
    c.setResult(r, c.cast(y, c.resultMeta(r).dtype));
    c.newGroup();
  }
  return success();
}

/// The second list, in the dtypes and sizes of the first.
static LogicalResult copyEntries(LowerCall &c) {
  for (unsigned r = 0; r < c.numResults(); ++r) {
    LoweredTensor from =
        c.operandOf(c.call().operands[c.call().args[1].list[r].operand]);
    const TensorMeta &meta = c.resultMeta(r);
    c.setResult(r, c.pointwise(from, meta, [&](ScalarBuilder &s, ValueRange v) {
      return s.cast(v[0], from.dtype, meta.dtype);
    }));
    c.newGroup();
  }
  return success();
}

ArrayRef<LowerRuleRow> foreachLowerRules() {
  static const LowerRuleRow rows[] = {
      {"_foreach_add.List", eachEntry},
      {"_foreach_add.Scalar", eachEntry},
      {"_foreach_add.ScalarList", eachEntry},
      {"_foreach_add.Tensor", eachEntry},
      {"_foreach_addcdiv.Scalar", eachEntry},
      {"_foreach_addcdiv.ScalarList", eachEntry},
      {"_foreach_addcdiv.Tensor", addWithFactors<true>},
      {"_foreach_addcmul.Scalar", eachEntry},
      {"_foreach_addcmul.ScalarList", eachEntry},
      {"_foreach_addcmul.Tensor", addWithFactors<false>},
      {"_foreach_copy.default", copyEntries},
      {"_foreach_div.List", eachEntry},
      {"_foreach_div.Scalar", eachEntry},
      {"_foreach_div.ScalarList", eachEntry},
      {"_foreach_div.Tensor", eachEntry},
      {"_foreach_lerp.List", eachEntry},
      {"_foreach_lerp.Scalar", eachEntry},
      {"_foreach_lerp.ScalarList", eachEntry},
      {"_foreach_mul.List", eachEntry},
      {"_foreach_mul.Scalar", eachEntry},
      {"_foreach_mul.ScalarList", eachEntry},
      {"_foreach_mul.Tensor", eachEntry},
      {"_foreach_sqrt.default", eachEntry},
      {"_foreach_sub.List", eachEntry},
      {"_foreach_abs.default", eachEntry},
      {"_foreach_acos.default", eachEntry},
      {"_foreach_asin.default", eachEntry},
      {"_foreach_atan.default", eachEntry},
      {"_foreach_ceil.default", eachEntry},
      {"_foreach_cos.default", eachEntry},
      {"_foreach_cosh.default", eachEntry},
      {"_foreach_erf.default", eachEntry},
      {"_foreach_erfc.default", eachEntry},
      {"_foreach_exp.default", eachEntry},
      {"_foreach_expm1.default", eachEntry},
      {"_foreach_floor.default", eachEntry},
      {"_foreach_frac.default", eachEntry},
      {"_foreach_lgamma.default", eachEntry},
      {"_foreach_log.default", eachEntry},
      {"_foreach_log10.default", eachEntry},
      {"_foreach_log1p.default", eachEntry},
      {"_foreach_log2.default", eachEntry},
      {"_foreach_neg.default", eachEntry},
      {"_foreach_reciprocal.default", eachEntry},
      {"_foreach_round.default", eachEntry},
      {"_foreach_rsqrt.default", eachEntry},
      {"_foreach_sigmoid.default", eachEntry},
      {"_foreach_sign.default", eachEntry},
      {"_foreach_sin.default", eachEntry},
      {"_foreach_sinh.default", eachEntry},
      {"_foreach_tan.default", eachEntry},
      {"_foreach_tanh.default", eachEntry},
      {"_foreach_trunc.default", eachEntry},
      {"_foreach_clamp_max.List", eachEntry},
      {"_foreach_clamp_max.Scalar", eachEntry},
      {"_foreach_clamp_max.ScalarList", eachEntry},
      {"_foreach_clamp_min.List", eachEntry},
      {"_foreach_clamp_min.Scalar", eachEntry},
      {"_foreach_clamp_min.ScalarList", eachEntry},
      {"_foreach_maximum.List", eachEntry},
      {"_foreach_maximum.Scalar", eachEntry},
      {"_foreach_maximum.ScalarList", eachEntry},
      {"_foreach_minimum.List", eachEntry},
      {"_foreach_minimum.Scalar", eachEntry},
      {"_foreach_minimum.ScalarList", eachEntry},
      {"_foreach_pow.List", eachEntry},
      {"_foreach_pow.Scalar", eachEntry},
      {"_foreach_pow.ScalarList", eachEntry},
      {"_foreach_pow.ScalarAndTensor", eachEntry},
      {"_foreach_clone.default", cloneEntries},
      {"_foreach_max.default", maxima},
      {"_foreach_mm.default", products},
      {"_foreach_norm.Scalar", norms},
      {"_foreach_powsum.Scalar", powerSums},
      {"_foreach_zero.default", zeroEntries},
      {"_foreach_sub.Scalar", eachEntry},
      {"_foreach_sub.ScalarList", eachEntry},
  };
  return rows;
}

} // namespace ft
