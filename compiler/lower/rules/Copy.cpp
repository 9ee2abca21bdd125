//===- Copy.cpp - Lowering of copies and conversions -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts are the business of the boundary; inside, a copy is its operand. The
// copying forms of views are in View.cpp.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"

using namespace mlir;

namespace ft {

/// The same elements, converted to the result's dtype if that differs.
static LogicalResult same(LowerCall &c) {
  c.setResult(0, c.cast(c.operand(0), c.resultMeta(0).dtype));
  return success();
}

/// What is written over self: broadcast to its sizes, in its dtype.
static LogicalResult copied(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, c.cast(c.expand(c.operand(1), dimsOf(meta)), meta.dtype));
  return success();
}

/// self, value: the value; what it is a derivative of is settled.
static LogicalResult keepHistory(LowerCall &c) {
  c.setResult(0, c.operand(1));
  return success();
}

static LogicalResult zeros(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, c.filled(dimsOf(meta), meta.dtype, 0));
  return success();
}

static LogicalResult fillScalar(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  const Arg &value = c.call().args[1];
  if (value.kind == Arg::Complex)
    return c.unsupported("a complex fill value");
  if (c.isRuntimeNumber(1)) {
    LoweredTensor number = c.operand(1);
    c.setResult(0, c.pointwise(number, dimsOf(meta), meta.dtype,
                               [&](ScalarBuilder &s, ValueRange v) {
                                 return s.cast(v[0], number.dtype, meta.dtype);
                               }));
    return success();
  }
  if (value.kind == Arg::Int && !value.dim.isStatic())
    c.setResult(0, c.pointwise({}, meta, [&](ScalarBuilder &s, ValueRange) {
      return c.sizeIn(s, value.dim, meta.dtype);
    }));
  else if (value.kind == Arg::Int)
    c.setResult(0, c.filledInt(dimsOf(meta), meta.dtype, value.dim.value()));
  else
    c.setResult(0, c.filled(dimsOf(meta), meta.dtype, c.number(1)));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_keep_history.default", keepHistory),
    anyShape("clone.default", same),
    anyShape("contiguous.default", same),
    anyShape("cpu.default", same),
    anyShape("lift_fresh_copy.default", same),
    anyShape("to.device", same),
    anyShape("to.dtype", same),
    anyShape("to.dtype_layout", same),
    anyShape("to.other", same),
    anyShape("to.prim_Device", same),
    anyShape("to.prim_dtype", same),
    anyShape("to.prim_other", same),
    anyShape("type_as.default", same),
    anyShape("_to_copy.default", same),
    anyShape("_cast_Double.default", same),
    anyShape("_cast_Float.default", same),
    anyShape("_cast_Half.default", same),
    anyShape("_cast_Int.default", same),
    anyShape("_cast_Long.default", same),
    anyShape("copy.default", copied),
    anyShape("fill.Scalar", fillScalar, Numbers::Runtime),
    anyShape("fill.Tensor", copied),
    anyShape("zero.default", zeros),
    anyShape("_cast_Byte.default", same),
    anyShape("_cast_Char.default", same),
    anyShape("_cast_Short.default", same),
    anyShape("_lazy_clone.default", same),
    anyShape("to_dense.default", same),
    anyShape("chalf.default", same),
};

ArrayRef<LowerRuleRow> copyLowerRules() { return kRows; }

} // namespace ft
